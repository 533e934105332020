"""The page's routes, to be mounted at the root of the site."""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from recallens.web import comparing, memories, rating, reasons, sandbox, searching, stats, vault, xrays
from recallens.web.answering import page, sent
from recallens.web.assets import ICON, addresses, serve_asset, serve_icon
from recallens.web.signing_in import PATH as SIGN_IN
from recallens.web.signing_in import sign_in, signed_in


def routes() -> list[BaseRoute]:
    return [
        Route("/", page(searching.search)),
        Route("/xray", page(xrays.fresh)),
        Route("/xray/download", page(xrays.download_fresh)),
        Route("/snapshots/{id}", page(xrays.recorded)),
        Route("/snapshots/{id}/download", page(xrays.download_recorded)),
        Route("/why-not", page(reasons.why_not)),
        Route("/sandbox", page(sandbox.sandbox)),
        Route("/sandbox/ranking", page(sandbox.ranking)),
        Route("/diff", page(comparing.compare)),
        Route("/memories/{id}", page(memories.memory)),
        Route("/timeline/{id}", page(memories.timeline)),
        Route("/vault", page(vault.vault)),
        Route("/stats", page(stats.stats)),
        Route("/rate", page(rating.rating)),
        Route("/rate", sent(rating.rated), methods=["POST"]),
        Route(SIGN_IN, sign_in),
        Route(SIGN_IN, signed_in, methods=["POST"]),
        Route("/static/{digest}/{name}", serve_asset),
        Route(ICON, serve_icon),
    ]


def public() -> frozenset[str]:
    """What a browser may load before it has shown a token."""
    return frozenset((SIGN_IN, *addresses()))
