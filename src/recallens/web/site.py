"""Every page by its address, and the one that needs no token: where a browser is given one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from recallens.http.endpoints import keep, own_path
from recallens.http.requests import engine_of, worked
from recallens.web import ratings, recalls, search, store
from recallens.web.page import HEADERS, ICON, Shown, addresses, page, serve_asset, serve_icon, templates
from recallens.web.visit import Visit

SIGN_IN: Final = "/sign-in"
MOST_FORM: Final = 4_096


def routes() -> list[BaseRoute]:
    pages: dict[str, Callable[[Visit], Shown]] = {
        "/": search.search, "/xray": recalls.fresh, "/xray/download": recalls.download_fresh,
        "/snapshots/{id}": recalls.recorded, "/snapshots/{id}/download": recalls.download_recorded,
        "/why-not": recalls.why_not, "/sandbox": recalls.sandbox, "/sandbox/ranking": recalls.ranking,
        "/diff": recalls.compare, "/memories/{id}": store.memory, "/timeline/{id}": store.timeline,
        "/vault": store.vault, "/stats": store.stats, "/rate": ratings.rating,
    }  # fmt: skip
    return [
        *(Route(address, page(work)) for address, work in pages.items()),
        Route("/rate", page(ratings.rated, sent=True), methods=["POST"]),
        Route(SIGN_IN, sign_in),
        Route(SIGN_IN, signed_in, methods=["POST"]),
        Route("/static/{digest}/{name}", serve_asset),
        Route(ICON, serve_icon),
    ]


def public() -> frozenset[str]:
    """What a browser may load before it has shown a token."""
    return frozenset((SIGN_IN, *addresses()))


async def sign_in(request: Request) -> Response:
    return _shown(request.query_params.get("next", "/"), refused=False)


async def signed_in(request: Request) -> Response:
    body = await request.body()
    fields = dict(parse_qsl(body[:MOST_FORM].decode("utf-8", "replace"), max_num_fields=8))
    token, onward = fields.get("token", "").strip(), own_path(fields.get("next", "/"))
    if await worked(request, lambda: engine_of(request).tokens.find(token)) is None:
        return _shown(onward, refused=True)
    return keep(RedirectResponse(onward, 303, headers=HEADERS), request, token)


def _shown(onward: str, *, refused: bool) -> Response:
    text = templates().get_template("sign_in.html").render(refused=refused, onward=own_path(onward))
    # A page that sends a form must let the browser say which page it was.
    return HTMLResponse(text, 401 if refused else 200, headers={**HEADERS, "Referrer-Policy": "same-origin"})
