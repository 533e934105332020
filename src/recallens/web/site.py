"""Every page by its address, and the one that needs no token: where a browser is given one."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from recallens.http.endpoints import keep, own_path
from recallens.http.requests import engine_of, worked
from recallens.web import ratings, recalls, search, store
from recallens.web.page import HEADERS, ICON, addresses, page, serve_asset, serve_icon, templates

SIGN_IN: Final = "/sign-in"
MOST_FORM: Final = 4_096


def routes() -> list[BaseRoute]:
    return [
        Route("/", page(search.search)),
        Route("/xray", page(recalls.fresh)),
        Route("/xray/download", page(recalls.download_fresh)),
        Route("/snapshots/{id}", page(recalls.recorded)),
        Route("/snapshots/{id}/download", page(recalls.download_recorded)),
        Route("/why-not", page(recalls.why_not)),
        Route("/sandbox", page(recalls.sandbox)),
        Route("/sandbox/ranking", page(recalls.ranking)),
        Route("/diff", page(recalls.compare)),
        Route("/memories/{id}", page(store.memory)),
        Route("/timeline/{id}", page(store.timeline)),
        Route("/vault", page(store.vault)),
        Route("/stats", page(store.stats)),
        Route("/rate", page(ratings.rating)),
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
