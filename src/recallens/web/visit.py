"""One visit to a page: who comes, what for, and the words that the address says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode, urlsplit

from msgspec import Struct
from starlette.requests import Request

from recallens.engine import Engine
from recallens.errors import NotAllowed, NotFound
from recallens.http.requests import caller_of, engine_of
from recallens.model.ledger import Ledger
from recallens.model.query import ASKED, json_name
from recallens.model.reversal import Reversal
from recallens.operations import Call, Caller, Right
from recallens.operations.arguments import Question, checked
from recallens.operations.operation import allowed
from recallens.operations.search import seen

# What of a question an address can say, by the operations' own names; `q` is the question and `w.NAME` a weight.
SAID = tuple(json_name(name) for name, option in ASKED.items() if option.on_page)
WEIGHT = "w."
NEUTRAL = 1.0
_DIGITS = 7
# A page that the browser opened by itself, or that another site led to, is looked at and not written down.
_OTHERS = frozenset(("cross-site", "same-site"))


# What a form did that leaves nothing to take back.
DONE = ("done", "proposed", "undone")


class Visit(Struct, frozen=True):
    """`given` are the words of the address, `named` the parts of its path, `form` what was sent with a POST."""

    engine: Engine
    caller: Caller
    where: str
    given: Mapping[str, str]
    named: Mapping[str, str] = {}
    form: Mapping[str, str] = {}
    led_here: bool = False
    signed_in: bool = False

    def may(self, right: Right) -> Call:
        """In the namespace that is named; else in the caller's own, or the first of those that are granted."""
        named = self.form.get("namespace") or self.given.get("namespace") or None
        at_home = self.caller.home is not None and self.caller.sees(self.caller.home)
        if named is None and not at_home:
            named = min(self.caller.namespaces or (), default=None) or self.engine.core.namespace(None)
        return allowed(self.caller, right, named)

    @property
    def is_person(self) -> bool:
        """The one whose machine it is, who decides."""
        return self.caller.local and self.caller.sees_withheld

    @property
    def may_write(self) -> bool:
        return self.caller.writes and not self.engine.core.store.read_only

    @property
    def done(self) -> Reversal | str | None:
        """What the form before this page did: a change that can be taken back, or a word of its own."""
        word = self.given.get("done", "")
        last = self.engine.memories.reversals.last(self.namespace) if self.is_person else None
        return last if last is not None and last.group == word else word if word in DONE else None

    @property
    def namespace(self) -> str:
        return self.may(Right.READ).namespace

    def namespaces(self) -> list[str]:
        if self.caller.namespaces is not None:
            return sorted(self.caller.namespaces)
        return sorted({name for name, _ in self.engine.maintenance.namespaces()} | {self.namespace})

    @property
    def query(self) -> str:
        return (self.form.get("q") or self.given.get("q") or "").strip()

    @property
    def records(self) -> bool | None:
        """Whether a search is written down: as for everyone, unless another site or a prefetch led here."""
        return False if self.led_here else self.may(Right.READ).caller.records

    def captured(self) -> None:
        if not self.engine.core.settings.capture:
            raise NotFound("there is no X-ray to see: the setting `capture` is off")

    def recorded(self, id: str) -> tuple[Ledger, Mapping[str, str]]:
        """A recorded recall that the caller may look into; one that another token made is not there."""
        self.captured()
        seen(self.engine, self.may(Right.READ), id)
        return self.engine.recalls.recorded(id, sight=self.caller.sight, namespace=self.namespace)

    def params(self) -> dict[str, str]:
        """The question with all that is said beside it, for links that lead on with the same."""
        options = {name: value for name in SAID if (value := self.given.get(name, "").strip())}
        weights = {WEIGHT + name: f"{weight:g}" for name, weight in self._weights()}
        return ({"q": self.query} if self.query else {}) | options | weights

    def arguments(self) -> dict[str, object]:
        options = {name: value for name, value in self.params().items() if name in SAID}
        return {"query": self.query, **options, "weights": dict(self._weights()), "namespace": self.namespace}

    def question(self) -> Question:
        """Checked as on every surface; a wrong value is an error that lists the right ones."""
        return checked(Question, self.arguments())

    def options(self, question: Question) -> dict[str, Any]:
        """As the engine takes them, asked from the contexts that the caller holds."""
        return self.may(Right.READ).options(question, self.engine.core.clock())

    def _weights(self) -> Iterator[tuple[str, float]]:
        for name, value in self.given.items():
            with suppress(ValueError):
                if name.startswith(WEIGHT) and (weight := float(value)) != NEUTRAL:
                    yield name.removeprefix(WEIGHT), weight

    def whole(self, name: str, default: int, most: int) -> int:
        """A number that the address says, within 1 and `most`; anything else is the default."""
        digits = self.given.get(name, "")
        return min(max(int(digits), 1), most) if digits.isdecimal() and len(digits) < _DIGITS else default

    def link(self, path: str, /, **params: object) -> str:
        """An address on this site in the same namespace; what is empty is left out."""
        words = {name: str(value) for name, value in params.items() if value not in (None, "", False)}
        if self.given.get("namespace"):
            words.setdefault("namespace", self.namespace)
        return f"{path}?{urlencode(words)}" if words else path


def visit_of(request: Request, form: Mapping[str, str]) -> Visit:
    headers = request.headers
    led_here = headers.get("sec-fetch-site") in _OTHERS or by_itself(request)
    return Visit(
        engine_of(request), caller_of(request), request.url.path, dict(request.query_params), dict(request.path_params),
        form, led_here, getattr(request.state, "signed_in", False),
    )  # fmt: skip


def by_itself(request: Request) -> bool:
    """Whether the browser opens a page before anybody wants to see it."""
    return any("prefetch" in request.headers.get(name, "") for name in ("sec-purpose", "purpose", "x-purpose"))


def from_here(request: Request) -> None:
    """What changes something comes from a page of this site: a form elsewhere cannot send it."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    same = origin is not None and urlsplit(origin).netloc == request.headers.get("host", "")
    if site in (None, "same-origin") and (same or (origin is None and site is not None)):
        return
    raise NotAllowed("this was sent from another site", hint="Open the page itself and send it from there.")
