"""What is served beside the API: the page and MCP are mounted here."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from starlette.applications import Starlette

from recollect.http.limits import Limits
from recollect.serving.app import build

if TYPE_CHECKING:
    from recollect.engine import Engine


def whole(
    engine: Engine, *, host: str, allow_hosts: Collection[str], limits: Limits, spans: bool, access_log: bool
) -> Starlette:
    return build(engine, host=host, allow_hosts=allow_hosts, limits=limits, spans=spans, access_log=access_log)
