"""From a visit to a page: templates, assets, the headers that hold a page to its word, errors for people."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct, structs
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recallens.errors import AccessError, InvalidInput, NotAllowed, NotFound, RecallensError, StoreBusy, TooLate
from recallens.http.requests import worked
from recallens.model.ledger import Ledger
from recallens.model.memory import Kind, Memory, Sector
from recallens.model.state import Sight
from recallens.model.terms import ordinal, plain
from recallens.model.times import age, day, instant, moment, second
from recallens.operations.operation import filed_under, without_places
from recallens.render.brief import warnings_of
from recallens.render.formats import cited, counted, first_line, headline, how_it_failed
from recallens.render.formats import printable as visible
from recallens.render.markup import to_html
from recallens.render.records import marked
from recallens.render.verdict import highlighted, how_sure, marked_excerpt
from recallens.text.scripts import LANGUAGE_OF, script_of
from recallens.web.visit import Visit, from_here, visit_of

log = logging.getLogger(__name__)

# Nothing runs and nothing loads but what this site serves; no style and no script may stand in the page itself.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final[dict[str, str]] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # others learn nothing, and a form of ours says that it is ours
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
# The first that fits counts, so that the narrower stands before the wider.
_STATUS: Final = (
    (InvalidInput, 400),
    (NotAllowed, 403),
    (AccessError, 401),
    (NotFound, 404),
    (StoreBusy, 503),
    (TooLate, 504),
)


class ShownPage(Struct, frozen=True):
    template: str
    values: Mapping[str, Any] = {}
    status: int = 200


Shown = ShownPage | Response


def show(template: str, /, **values: object) -> ShownPage:
    return ShownPage(template, values)


def page(work: Callable[[Visit], Shown], *, sent: bool = False) -> Callable[[Request], Awaitable[Response]]:
    """A page that is looked at, or a form that is `sent` to change something, which only a page of this site may do."""

    async def endpoint(request: Request) -> Response:
        visit = visit_of(request, _form(await request.body()) if sent else {})

        def answered() -> Response:
            try:
                if sent:
                    from_here(request)
                return _watched(visit, work)
            except RecallensError as error:
                if not visit.caller.local:
                    error = without_places(error, visit.engine)
                status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
                return _failed(visit, error.message, error.hint, status)
            except Exception:
                log.exception("the page %s failed", visit.where)
                message = "Something went wrong here, and nothing was changed. The log of the server says what."
                return _failed(visit, message, None, 500)

        return await worked(request, answered)

    return endpoint


_ATTRIBUTE = re.compile(r'[a-z]="([^"]*)"')


def _watched(visit: Visit, work: Callable[[Visit], Shown]) -> Response:
    """The page; what a token's caller is shown stands in the audit log before it leaves."""
    with visit.engine.core.acting(visit.caller.actor):
        return _witnessed(visit, work)


def _witnessed(visit: Visit, work: Callable[[Visit], Shown]) -> Response:
    owner = visit.caller.owner
    if owner is None:
        return _response(visit, work(visit))
    namespace = filed_under(visit.caller, visit.form.get("namespace") or visit.given.get("namespace"))
    watched = visit.engine.audit.watched
    with watched(who=owner, what=f"page {work.__name__}", namespace=namespace, question=visit.query) as witness:
        response = _response(visit, work(visit))
        # A page names its memories where it leads to them; what a text mentions is not shown by that.
        for named in _ATTRIBUTE.findall(bytes(response.body).decode("utf-8", "replace")):
            witness.given.add_text(named)
        return response


def _form(body: bytes) -> dict[str, str]:
    """A form as browsers send it by default. What is larger, or no text, holds nothing that a page asks for."""
    if len(body) > MOST_FORM:
        return {}
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS))


def download(name: str, media_type: str, text: str) -> Response:
    headers = HEADERS | {"Content-Disposition": f'attachment; filename="{name}"'}
    headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return Response(text, media_type=media_type, headers=headers)


def elsewhere(address: str) -> Response:
    """After something was sent: the page to look at, so that looking again sends nothing."""
    return RedirectResponse(address, 303, headers=HEADERS)


def _response(visit: Visit, shown: Shown) -> Response:
    if isinstance(shown, Response):
        return shown
    names = {"visit": visit, "link": visit.link, "params": visit.params(), "now": visit.engine.core.clock()}
    values = shown.values if visit.caller.sees_withheld else gated(shown.values, visit.caller.sight)
    text = templates().get_template(shown.template).render(**names, **values)
    return HTMLResponse(text, shown.status, headers=HEADERS)


def gated(value: Any, sight: Sight) -> Any:
    """What a page shows, with every memory in it as the caller may see it: the one gate of all pages."""
    if isinstance(value, Memory):
        reason = sight.withholds(value)
        if reason is None:
            return value
        return structs.replace(sight.shown(value), title=f"{value.handle} (withheld: {reason})")
    if isinstance(value, Mapping):
        return {name: gated(each, sight) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(gated(each, sight) for each in value)
    if isinstance(value, Struct) and not isinstance(value, Ledger):  # a ledger holds no text
        fields = {name: (own := getattr(value, name), gated(own, sight)) for name in value.__struct_fields__}
        changed = {name: after for name, (before, after) in fields.items() if after is not before and after != before}
        return structs.replace(value, **changed) if changed else value
    return value


def _failed(visit: Visit, message: str, hint: str | None, status: int) -> Response:
    try:
        namespace: str | None = visit.namespace
    except RecallensError:  # the namespace itself may be what was wrong
        namespace = None
    values = {"message": message, "hint": hint, "status": status, "known": namespace}
    fallback = Visit(visit.engine, visit.caller, visit.where, {} if namespace is None else visit.given)
    return _response(fallback, ShownPage("error.html", values, status))


@cache
def templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_finalized,
    )  # fmt: skip
    environment.globals.update(asset=asset, kinds=tuple(map(str, Kind)), sectors=tuple(map(str, Sector)))
    environment.filters.update(
        age=age, cited=cited, counted=counted, day=day, first_line=first_line, headline=headline, instant=instant,
        how_it_failed=how_it_failed, how_sure=how_sure, warnings=warnings_of, handles=_handles,
        highlighted=_highlighted, iso=second, lang=_lang, marked=marked,
        marked_excerpt=_marked_excerpt, rendered=_rendered, moment=moment, ordinal=ordinal, plain=plain,
        signed=lambda value: f"{value:+.4f}".replace("-", "−"),
        spaced=lambda name: name.replace("_", " ").replace("-", " ").replace(":", " · "),
    )  # fmt: skip
    return environment


def _finalized(value: object) -> object:
    """What steers a screen or turns the direction of text is spelled out, whatever page it stands on."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _marked_excerpt(memory: Memory, question: str) -> str:
    return marked_excerpt(memory, question).replace("`", "")  # the page shows code by its letters


def _handles(text: str) -> list[tuple[str, bool]]:
    """A sentence of ours in pieces, and whether each is the handle of a memory."""
    return [(piece, place % 2 == 1) for place, piece in enumerate(re.split(r"\b(m\d+)\b", text))]


def _highlighted(text: str, question: str) -> str:
    return highlighted(text, question).replace("`", "")


def _rendered(memory: Memory) -> Markup:
    """Its markdown as elements; what is dangerous in a text is spelled out or escaped on the way."""
    return Markup(to_html(visible(memory.content), memory.title))  # nosec B704: see above


def _lang(text: str) -> Markup:
    """The attribute where a text is plainly in another language than the page."""
    known = LANGUAGE_OF.get(script_of(text[:_READ]))
    return Markup(f' lang="{known}"') if known else Markup()  # nosec B704: a constant of ours


FOLDER: Final = Path(__file__).parent / "static"
TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
ICON: Final = "/favicon.ico"
_KEPT: Final = "public, max-age=31536000, immutable"


@cache
def _assets() -> dict[str, tuple[bytes, str]]:
    """Each file by its name, with the digest that its address holds."""
    files = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in TYPES}
    return {name: (data, hashlib.sha256(data).hexdigest()[:16]) for name, data in files.items()}


def asset(name: str) -> str:
    return f"/static/{_assets()[name][1]}/{name}"


def addresses() -> list[str]:
    return [*map(asset, _assets()), ICON]


async def serve_icon(request: Request) -> Response:
    """Where browsers look by themselves."""
    return Response(_assets()["icon.svg"][0], media_type=TYPES[".svg"], headers={"X-Content-Type-Options": "nosniff"})


async def serve_asset(request: Request) -> Response:
    name, digest = request.path_params["name"], request.path_params["digest"]
    data, known = _assets().get(name, (b"", None))
    if digest != known:
        raise HTTPException(404)
    headers = {"Cache-Control": _KEPT, "X-Content-Type-Options": "nosniff"}
    return Response(data, media_type=TYPES[Path(name).suffix], headers=headers)
