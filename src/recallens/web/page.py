"""From a visit to a page: templates, assets, the headers that hold a page to its word, errors for people."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recallens.errors import AccessError, InvalidInput, NotAllowed, NotFound, RecallensError, StoreBusy
from recallens.http.requests import worked
from recallens.model.terms import ordinal, plain
from recallens.model.times import age, day, instant, moment, second
from recallens.render.formats import cited, counted, first_line, headline
from recallens.render.formats import printable as visible
from recallens.render.records import marked
from recallens.text.scripts import LANGUAGE_OF, script_of
from recallens.web.visit import Visit, from_here, visit_of

log = logging.getLogger(__name__)

# Nothing runs and nothing loads but what this site serves; no style and no script may stand in the page itself.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-store",
    "Vary": "Authorization, Cookie",
}
# A rating of a thousand results is far below this.
MOST_FORM: Final = 262_144
MOST_FIELDS: Final = 2_000
# A text's script shows in its beginning.
_READ: Final = 400


@dataclass(frozen=True, slots=True)
class ShownPage:
    """`sends` is a page whose form changes something: under `no-referrer` a browser would not say where it is from."""

    template: str
    shown: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    sends: bool = False


@dataclass(frozen=True, slots=True)
class Download:
    name: str
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """After something was sent: the page to look at, so that looking again sends nothing."""

    address: str


Shown = ShownPage | Download | Elsewhere
Endpoint = Callable[[Request], Awaitable[Response]]


def page(work: Callable[[Visit], Shown]) -> Endpoint:
    """A page that is looked at. The work and the writing of it happen in a thread."""

    async def endpoint(request: Request) -> Response:
        visit = visit_of(request)
        return await worked(request, lambda: _answered(visit, work))

    return endpoint


def sent(work: Callable[[Visit], Shown]) -> Endpoint:
    """A form that changes something: only from a page of this site."""

    async def endpoint(request: Request) -> Response:
        visit = visit_of(request, _form(await request.body()))

        def checked(visit: Visit) -> Shown:
            from_here(request)
            return work(visit)

        return await worked(request, lambda: _answered(visit, checked))

    return endpoint


def _form(body: bytes) -> dict[str, str]:
    """A form as browsers send it by default. What is larger, or no text, holds nothing that a page asks for."""
    if len(body) > MOST_FORM:
        return {}
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS))


def _answered(visit: Visit, work: Callable[[Visit], Shown]) -> Response:
    try:
        return _response(visit, work(visit))
    except RecallensError as error:
        return _failed(visit, error.message, error.hint, _status(error))
    except Exception:
        log.exception("the page %s failed", visit.where)
        told = "Something went wrong here, and nothing was changed. The log of the server says what."
        return _failed(visit, told, None, 500)


def _response(visit: Visit, shown: Shown) -> Response:
    match shown:
        case ShownPage():
            own = {**HEADERS, "Referrer-Policy": "same-origin"} if shown.sends else dict(HEADERS)
            return HTMLResponse(rendered(visit, shown), shown.status, headers=own)
        case Elsewhere():
            return RedirectResponse(shown.address, 303, headers=dict(HEADERS))
        case Download():
            held = {**HEADERS, "Content-Disposition": f'attachment; filename="{shown.name}"'}
            held["Content-Security-Policy"] = "default-src 'none'; sandbox"
            return Response(shown.text, media_type=shown.type, headers=held)


def _status(error: RecallensError) -> int:
    match error:
        case InvalidInput():
            return 400
        case NotAllowed():
            return 403
        case AccessError():
            return 401
        case NotFound():
            return 404
        case StoreBusy():
            return 503
        case _:
            return 500


def _failed(visit: Visit, message: str, hint: str | None, status: int) -> Response:
    try:
        namespace: str | None = visit.namespace
    except RecallensError:  # the namespace itself may be what was wrong
        namespace = None
    shown = {"message": message, "hint": hint, "status": status, "known": namespace}
    fallback = Visit(visit.engine, visit.caller, visit.where, {} if namespace is None else visit.given)
    return _response(fallback, ShownPage("error.html", shown, status))


def rendered(visit: Visit, shown: ShownPage) -> str:
    now = visit.engine.core.clock()
    return (
        templates()
        .get_template(shown.template)
        .render(visit=visit, link=visit.link, params=visit.params(), now=now, **shown.shown)
    )


@cache
def templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_finalized,
    )  # fmt: skip
    made.globals.update(asset=asset)
    made.filters.update(
        age=age, cited=cited, counted=counted, day=day, first_line=first_line, headline=headline, instant=instant,
        iso=second, lang=_lang, marked=marked, moment=moment, ordinal=ordinal, plain=plain, signed=_signed,
        spaced=_spaced,
    )  # fmt: skip
    return made


def _finalized(value: object) -> object:
    """What steers a screen or turns the direction of text is spelled out, whatever page it stands on."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _lang(text: str) -> Markup:
    """The attribute where a text is plainly in another language than the page."""
    known = LANGUAGE_OF.get(script_of(text[:_READ]))
    return Markup(f' lang="{known}"') if known else Markup()


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").replace(":", " · ")


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


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
