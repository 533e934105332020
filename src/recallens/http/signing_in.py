"""A browser's way in: the token is shown once, and then a cookie that no script and no other site can use brings it."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from recallens.errors import InvalidInput, TokenRefused
from recallens.http.guard import COOKIE
from recallens.http.requests import engine_of, worked

_FORM = "application/x-www-form-urlencoded"


async def sign_in(request: Request) -> Response:
    """From a form (`token`, and `next` to go to) or JSON (`{"token": …}`)."""
    token, onward = await _said(request)
    if await worked(request, lambda: engine_of(request).tokens.find(token)) is None:
        raise TokenRefused("this token is not known", hint="`recallens token list` shows which are in force.")
    response = Response(status_code=204) if onward is None else RedirectResponse(onward, 303)
    return keep(response, request, token)


def keep(response: Response, request: Request, token: str) -> Response:
    """The cookie ends with the browser; no script reads it, and no other site makes the browser send it."""
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, token, path="/", httponly=True, samesite="strict", secure=secure)
    response.headers["Cache-Control"] = "no-store"
    return response


async def sign_out(request: Request) -> Response:
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


async def _said(request: Request) -> tuple[str, str | None]:
    raw = (await request.body()).decode("utf-8", "replace")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        said = {name: values[-1] for name, values in parse_qs(raw).items()} if kind == _FORM else json.loads(raw)
        token, onward = said["token"], said.get("next")
        if not isinstance(token, str) or not isinstance(onward, str | None):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput("give the token, as a form or as JSON", hint='{"token": "rcl_…"}') from error
    return token.strip(), None if onward is None else own_path(onward)


def own_path(onward: str) -> str:
    """Only a path of our own: `//elsewhere` and a backslash are other sites to a browser."""
    return onward if onward.startswith("/") and not onward.startswith(("//", "/\\")) else "/"


def routes() -> list[BaseRoute]:
    return [Route("/session", sign_in, methods=["POST"]), Route("/session", sign_out, methods=["DELETE"])]
