"""Every page by its address, and the one that needs no token: where a browser is given one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from recallens.http.endpoints import ended, keep, own_path
from recallens.http.entrance import LINK
from recallens.http.guard import host_of
from recallens.http.requests import engine_of, entrance_of, worked
from recallens.web import ratings, recalls, search, store, upkeep
from recallens.web.page import HEADERS, ICON, Shown, addresses, page, serve_asset, serve_icon, templates
from recallens.web.visit import Visit, by_itself

SIGN_IN: Final = "/sign-in"
SIGN_OUT: Final = "/sign-out"
MOST_FORM: Final = 4_096
_UNKNOWN: Final = "This token is not known. `recallens token list` shows which are in force."
_USED: Final = "This link was used before, or is another run's. The command prints a new one when one is used."


def routes() -> list[BaseRoute]:
    pages: dict[str, Callable[[Visit], Shown]] = {
        "/": search.search, "/xray": recalls.fresh, "/xray/download": recalls.download_fresh,
        "/snapshots/{id}": recalls.recorded, "/snapshots/{id}/download": recalls.download_recorded,
        "/why-not": recalls.why_not, "/sandbox": recalls.sandbox, "/sandbox/ranking": recalls.ranking,
        "/diff": recalls.compare, "/memories/{id}": store.memory, "/timeline/{id}": store.timeline,
        "/vault": store.vault, "/stats": store.stats, "/rate": ratings.rating, "/review": upkeep.queue,
        "/forget": upkeep.topic,
    }  # fmt: skip
    forms: dict[str, Callable[[Visit], Shown]] = {
        "/rate": ratings.rated, "/memories/{id}/{action}": upkeep.changed, "/review": upkeep.decided,
        "/forget": upkeep.topic_forgotten, "/undo": upkeep.undone,
    }  # fmt: skip
    return [
        *(Route(address, page(work)) for address, work in pages.items()),
        *(Route(address, page(work, sent=True), methods=["POST"]) for address, work in forms.items()),
        Route(SIGN_IN, sign_in),
        Route(SIGN_IN, signed_in, methods=["POST"]),
        Route(SIGN_OUT, sign_out, methods=["POST"]),
        Route(LINK + "{key}", opened),
        Route("/static/{digest}/{name}", serve_asset),
        Route(ICON, serve_icon),
    ]


def public() -> frozenset[str]:
    """What a browser may load before it has shown a token."""
    return frozenset((SIGN_IN, SIGN_OUT, *addresses()))


async def sign_in(request: Request) -> Response:
    return _shown(request.query_params.get("next", "/"))


async def signed_in(request: Request) -> Response:
    body = await request.body()
    fields = dict(parse_qsl(body[:MOST_FORM].decode("utf-8", "replace"), max_num_fields=8))
    token, onward = fields.get("token", "").strip(), own_path(fields.get("next", "/"))
    known = await worked(request, lambda: engine_of(request).tokens.find(token))
    if known is None:
        return _shown(onward, _UNKNOWN)
    session = entrance_of(request).begin(known.id, host_of(request))
    return keep(RedirectResponse(onward, 303, headers=HEADERS), request, session)


async def opened(request: Request) -> Response:
    """The link that the command printed. What a browser or a chat looks up beforehand does not use it up."""
    if request.method != "GET" or by_itself(request):
        return Response(status_code=204, headers=HEADERS)
    session = entrance_of(request).redeem(request.path_params["key"], host_of(request))
    if session is None:
        return _shown("/", _USED)
    # Led on by a page of ours: after a redirect from another site the browser would not send the cookie.
    return keep(HTMLResponse('<a href="/">Recallens</a>', headers={**HEADERS, "Refresh": "0; url=/"}), request, session)


async def sign_out(request: Request) -> Response:
    return ended(RedirectResponse(SIGN_IN, 303, headers=HEADERS), request)


def _shown(onward: str, refused: str | None = None) -> Response:
    text = templates().get_template("sign_in.html").render(refused=refused, onward=own_path(onward))
    return HTMLResponse(text, 200 if refused is None else 401, headers=HEADERS)
