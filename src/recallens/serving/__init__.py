"""What `recallens serve` runs: HTTP, MCP and the page as one application."""
