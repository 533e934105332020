"""The page: where people look at an X-ray. Server-rendered, strict, with a little script."""
