"""Style and script as files of the package. An address holds the hash of what it gives, so it may be kept for good."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

FOLDER: Final = Path(__file__).parent / "static"
TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
ICON: Final = "/favicon.ico"
_KEPT: Final = "public, max-age=31536000, immutable"


@cache
def _held(name: str) -> tuple[bytes, str]:
    data = (FOLDER / name).read_bytes()
    return data, hashlib.sha256(data).hexdigest()[:16]


@cache
def _names() -> frozenset[str]:
    return frozenset(path.name for path in FOLDER.iterdir() if path.suffix in TYPES)


def asset(name: str) -> str:
    return f"/static/{_held(name)[1]}/{name}"


def addresses() -> list[str]:
    return [asset(name) for name in sorted(_names())] + [ICON]


async def serve_icon(request: Request) -> Response:
    """Where browsers look by themselves."""
    return Response(_held("icon.svg")[0], media_type=TYPES[".svg"], headers={"X-Content-Type-Options": "nosniff"})


async def serve_asset(request: Request) -> Response:
    name, digest = request.path_params["name"], request.path_params["digest"]
    if name not in _names() or _held(name)[1] != digest:
        raise HTTPException(404)
    headers = {"Cache-Control": _KEPT, "X-Content-Type-Options": "nosniff"}
    return Response(_held(name)[0], media_type=TYPES[Path(name).suffix], headers=headers)
