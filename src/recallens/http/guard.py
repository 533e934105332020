"""Who may come in: by the host that is asked for, the page that asks, and the token that is shown."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recallens.engine import Engine
from recallens.errors import NotAllowed, RecallensError, TokenRefused
from recallens.http.entrance import LINK, Entrance, of_another_user
from recallens.http.limits import Allowance
from recallens.http.problems import Refused, problem_of
from recallens.http.requests import worked
from recallens.model.audit import Token
from recallens.model.memory import Zone
from recallens.operations import Caller, Right
from recallens.operations.operation import refused, without_places

COOKIE = "recallens_session"
LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
API = ("/v1", "/engram", "/mcp")
OPEN_TO_ALL = frozenset(("/healthz", "/session"))
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HINT = "`recallens token create --namespace NAME` makes one; send it as `Authorization: Bearer rcl_…`."
NO_OPERATION = "no operation"  # as the audit log names what came to none
_NOT_KNOWN = "this token is not known"


class Doors(Struct, frozen=True):
    hosts: frozenset[str] = LOOPBACK_NAMES  # the names under which it may be asked for
    private: bool = False  # only its owner can reach it, as a Unix socket of theirs: they need no token
    public: frozenset[str] = frozenset()  # paths that need no token; one that ends in / stands for all below it
    sign_in: str | None = None  # the page to which a browser without a token is sent


def doors(
    host: str, allowed: Iterable[str] = (), *, private: bool = False, public: Collection[str] = (),
    sign_in: str | None = None,
) -> Doors:  # fmt: skip
    names = {host.strip("[]").lower(), *(name.strip("[]").lower() for name in allowed)}
    return Doors(LOOPBACK_NAMES | names, private, frozenset((LINK, *public)), sign_in)


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Lets nobody past without `request.state.caller`: by a token, a browser's session or this run's own key."""

    def __init__(self, app: ASGIApp, engine: Engine, doors: Doors, entrance: Entrance, allowance: Allowance) -> None:
        self.app, self.engine, self.doors, self.entrance, self.allowance = app, engine, doors, entrance, allowance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            await self._let_in(request, receive, self._written_down(request, send))
        except (RecallensError, Refused) as error:
            await self._write_down(request, error)
            raise

    async def _let_in(self, request: Request, receive: Receive, send: Send) -> None:
        scope = request.scope
        self._asked_for_us(request)
        if not self._is_open(request.url.path):
            try:
                request.state.caller = self._caller(request)
            except TokenRefused:
                wants_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
                if not wants_page or self.doors.sign_in is None:
                    raise
                onward = quote(f"{request.url.path}?{request.url.query}".rstrip("?"))
                await RedirectResponse(f"{self.doors.sign_in}?next={onward}", 303)(scope, receive, send)
                return
            if (owner := request.state.caller.owner) is not None:
                self.allowance.check(owner)
                send = self._counted(send, owner)
        try:
            await self.app(scope, receive, send)
        except RecallensError as error:
            caller: Caller | None = getattr(request.state, "caller", None)
            raise (error if caller is not None and caller.local else without_places(error, self.engine)) from error

    def _written_down(self, request: Request, send: Send) -> Send:
        async def written_down(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= HTTPStatus.BAD_REQUEST:
                await self._write_down(request, HTTPException(message["status"]))
            await send(message)

        return written_down

    async def _write_down(self, request: Request, error: Exception) -> None:
        """What is refused before anything was worked on has no entry in the audit log yet. It gets one where a token
        that holds was shown; who shows none, or a wrong one, fills no log.
        """
        is_shown = _bearer(request) is not None or COOKIE in request.cookies
        if getattr(request.state, "worked_on", False) or isinstance(error, TokenRefused) or not is_shown:
            return
        what = f"{NO_OPERATION} ({problem_of(error, trace_id='').status})"

        def write() -> None:
            if (token := self._token(request)) is not None:
                refused(self.engine, caller_with(token), what, error)

        await worked(request, write)

    def _token(self, request: Request) -> Token | None:
        """The token that a request shows, wherever it comes from and whatever it asks."""
        if (shown := _bearer(request)) is not None:
            return self.engine.tokens.find(shown)
        session = self.entrance.find(request.cookies.get(COOKIE, ""), host_of(request))
        return self.engine.tokens.live(session.token) if session is not None and session.token is not None else None

    def _counted(self, send: Send, owner: str) -> Send:
        async def counted(message: Message) -> None:
            self.allowance.spend(owner, len(message.get("body", b"")))
            await send(message)

        return counted

    def _is_open(self, path: str) -> bool:
        below = tuple(folder for folder in self.doors.public if folder.endswith("/"))
        return path in OPEN_TO_ALL or path in self.doors.public or path.startswith(below)

    def _asked_for_us(self, request: Request) -> None:
        """A page elsewhere can make a browser ask us, under a name of its own (DNS rebinding) or under ours."""
        host = request.headers.get("host", "")
        name, port = _parts(f"//{host}")
        if name not in self.doors.hosts:
            raise Refused(421, "UnknownHost", f"this server is not {host[:200]!r}", hint="See --allow-host.")
        origin = request.headers.get("origin")
        foreign = origin is not None and _parts(origin) != (name, port or _DEFAULT_PORTS.get(urlsplit(origin).scheme))
        # An image or a form of a page elsewhere names no origin, but a browser says that it is one. Following a link
        # to a page of ours is no harm; to the API it would be, where asking is recorded.
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            followed = request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"
            foreign = foreign or not followed or request.url.path.startswith(API)
        if foreign:
            raise NotAllowed("a page from elsewhere may not ask this server", hint="Cross-origin use is off.")

    def _caller(self, request: Request) -> Caller:
        if (shown := _bearer(request)) is not None:
            if (token := self.engine.tokens.find(shown)) is not None:
                return caller_with(token)
            if self.entrance.has_key(shown):
                return self._person()
            raise TokenRefused(_NOT_KNOWN, hint=_HINT)
        if (caller := self._by_session(request)) is not None:
            return caller
        if self.doors.private:
            return self._person()
        raise TokenRefused("a token is needed", hint=_HINT)

    def _by_session(self, request: Request) -> Caller | None:
        session = self.entrance.find(request.cookies.get(COOKIE, ""), host_of(request))
        if session is None:
            return None
        request.state.signed_in = True
        if request.method not in SAFE_METHODS and request.headers.get("origin") is None:
            raise NotAllowed("a change that a page asks for must say which page", hint="Send Origin.")
        if session.token is not None:
            token = self.engine.tokens.live(session.token)  # one that is revoked ends its sessions
            return None if token is None else caller_with(token)
        return None if of_another_user(request.scope.get("client"), request.scope.get("server")) else self._person()

    def _person(self) -> Caller:
        """Whoever started this server, and the pages that they opened."""
        return Caller(home=self.engine.core.settings.namespace, zone=Zone.WORKING, sees_withheld=True)


def _bearer(request: Request) -> str | None:
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else None


def host_of(request: Request) -> str:
    return request.headers.get("host", "").lower()


def caller_with(token: Token) -> Caller:
    scopes = frozenset(token.scopes)
    return Caller(Right(token.right), frozenset(token.namespaces), owner=token.id, zone=Zone.WORKING, scopes=scopes)


def _parts(url: str) -> tuple[str | None, int | None]:
    """Host and port; nothing fits a malformed one."""
    try:
        split = urlsplit(url)
        return split.hostname, split.port or _DEFAULT_PORTS.get(split.scheme)
    except ValueError:
        return None, None
