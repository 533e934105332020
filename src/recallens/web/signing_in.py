"""The one page that needs no token: where a browser is given one."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recallens.http.endpoints import keep, own_path
from recallens.http.requests import engine_of, worked
from recallens.web.answering import HEADERS, templates

PATH: Final = "/sign-in"
MOST_FORM: Final = 4_096


async def sign_in(request: Request) -> Response:
    return _shown(request.query_params.get("next", "/"), refused=False)


async def signed_in(request: Request) -> Response:
    body = await request.body()
    fields = dict(parse_qsl(body[:MOST_FORM].decode("utf-8", "replace"), max_num_fields=8))
    token, onward = fields.get("token", "").strip(), own_path(fields.get("next", "/"))
    if await worked(request, lambda: engine_of(request).token_of(token)) is None:
        return _shown(onward, refused=True)
    return keep(RedirectResponse(onward, 303, headers=dict(HEADERS)), request, token)


def _shown(onward: str, *, refused: bool) -> Response:
    text = templates().get_template("sign_in.html").render(refused=refused, onward=own_path(onward))
    # A page that sends a form must let the browser say which page it was.
    return HTMLResponse(text, 401 if refused else 200, headers={**HEADERS, "Referrer-Policy": "same-origin"})
