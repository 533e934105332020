"""Who may come in: by the host that is asked for, the page that asks, and the token that is shown."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable
from urllib.parse import quote, urlsplit

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recallens.engine import Engine
from recallens.errors import NotAllowed, TokenRefused
from recallens.http.problems import Refused
from recallens.model.audit import Token
from recallens.model.memory import Zone
from recallens.operations import Caller, Right

COOKIE = "recallens_token"
LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
API = ("/v1", "/engram", "/mcp")
OPEN_TO_ALL = frozenset(("/healthz", "/session"))
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HINT = "`recallens token create --namespace NAME` makes one; send it as `Authorization: Bearer rcl_…`."


class Doors(Struct, frozen=True):
    hosts: frozenset[str] = LOOPBACK_NAMES  # the names under which it may be asked for
    loopback: bool = True  # only this machine reaches it
    public: frozenset[str] = frozenset()  # paths that need no token; one that ends in / stands for all below it
    sign_in: str | None = None  # the page to which a browser without a token is sent


def doors(host: str, allowed: Iterable[str] = (), *, public: Collection[str] = (), sign_in: str | None = None) -> Doors:
    names = {host.strip("[]").lower(), *(name.strip("[]").lower() for name in allowed)}
    return Doors(LOOPBACK_NAMES | names, is_loopback(host), frozenset(public), sign_in)


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Lets nobody past without `request.state.caller`. Once a token was there, this process stays shut without one."""

    def __init__(self, app: ASGIApp, engine: Engine, doors: Doors) -> None:
        self.app, self.engine, self.doors = app, engine, doors
        self.shut = not doors.loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
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
        await self.app(scope, receive, send)

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
        shown, by_cookie = _shown(request)
        token = self.engine.tokens.find(shown) if shown is not None else None
        if token is not None:
            self.shut = True
            if by_cookie and request.method not in SAFE_METHODS and request.headers.get("origin") is None:
                raise NotAllowed("a change that a page asks for must say which page", hint="Send Origin.")
            return caller_with(token)
        self.shut = self.shut or self.engine.tokens.guarded()
        if self.shut or (shown is not None and not by_cookie):
            raise TokenRefused("this token is not known" if shown is not None else "a token is needed", hint=_HINT)
        return Caller(home=self.engine.core.settings.namespace, zone=Zone.WORKING, sees_withheld=True)


def caller_with(token: Token) -> Caller:
    scopes = frozenset(token.scopes)
    return Caller(Right(token.right), frozenset(token.namespaces), owner=token.id, zone=Zone.WORKING, scopes=scopes)


def _shown(request: Request) -> tuple[str | None, bool]:
    """The token that came along, and whether the browser sent it by itself."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip(), False
    kept = request.cookies.get(COOKIE)
    return kept, kept is not None


def _parts(url: str) -> tuple[str | None, int | None]:
    """Host and port; nothing fits a malformed one."""
    try:
        split = urlsplit(url)
        return split.hostname, split.port or _DEFAULT_PORTS.get(split.scheme)
    except ValueError:
        return None, None
