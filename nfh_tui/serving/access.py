"""Who may use the served workbench: addresses, invitations, access control, limits on
connections and messages, close codes, log lines without secrets, and the pages that hold
nothing of the database.
"""

import asyncio
import errno
import hashlib
import hmac
import ipaddress
import logging
import re
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from aiohttp import web

from nfh_tui.display_text import clip

# Under which addresses the server may be asked for, and from which pages.
#
# A page of somebody else's can make a browser send requests here. It cannot choose the Host
# and Origin that the browser sends with them, so these two are what is looked at.

ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - named to be told apart, not to be bound


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens, and how it is reached if not there.

    public_url: scheme, name and perhaps port of a proxy in front; None if there is none.
    """

    host: str
    port: int
    public_url: str | None = None

    @property
    def url(self) -> str:
        """What stands before the path in links."""
        if self.public_url is not None:
            return self.public_url
        host = socket.gethostname() if self.host in ANYWHERE else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """True if only this machine can connect."""
        return self.host == "localhost" or _is_loopback(self.host)

    @property
    def is_secure(self) -> bool:
        """True if browsers come by https."""
        return self.url.startswith("https:")

    @property
    def cookie_name(self) -> str:
        """Of its own for each port: browsers do not keep those of two ports apart."""
        name = f"nfh-tui-{self.port}"
        return f"__Host-{name}" if self.is_secure else name

    def trusts_host(self, host: str) -> bool:
        """True for a Host that nobody else can make a browser send.

        The port may be another one: that of a forwarding (ssh -L), or a proxy's. A number
        needs no look-up, so no look-up can have been turned to us (DNS rebinding).
        """
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        if not name:
            return False
        own = {"localhost", self.host.lower(), (urlsplit(self.url).hostname or "").lower()}
        return name in own or _is_number(name)

    def trusts_origin(self, origin: str | None, host: str) -> bool:
        """True if the page that asks is ours: it came from the very address it asks now."""
        wanted = self.public_url if self.public_url is not None else f"http://{host}"
        return origin is not None and origin.lower() == wanted.lower()


def public_url(given: str) -> str:
    """The address of a proxy as browsers name it in Origin. Raises ValueError."""
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("wanted an address such as https://nfh.example.org")
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise ValueError("wanted scheme and name only, without path: the proxy passes all on")
    usual = {"http": 80, "https": 443}[parts.scheme]
    port = "" if parts.port in {None, usual} else f":{parts.port}"
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}{port}"


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return _is_number(name) and ipaddress.ip_address(name).is_loopback


# Why a socket is closed: a number for the page, and a sentence for the person.
#
# Numbers from 4000 on are free for programs. The sentence must fit into 123 bytes.


@dataclass(frozen=True, slots=True)
class Closing:
    """code: of the socket. reason: a sentence of at most 123 bytes."""

    code: int
    reason: str


LEFT = Closing(1000, "You left the workbench. Your answers and drafts are saved.")
SERVER_ENDS = Closing(1001, "The server was ended. Your answers and drafts are saved.")
BAD_MESSAGE = Closing(1008, "The page sent something that cannot be read.")
TOO_MUCH = Closing(1008, "The page sent more than a person can type.")
TOO_LARGE = Closing(1009, "The page sent more at once than the workbench takes: paste less.")
FELL_OVER = Closing(
    4500, "The workbench ended by itself. What was saved is kept; its log says why."
)
NO_START = Closing(4501, "The workbench could not be opened; the server's log says why.")
TOO_MANY_OF_YOURS = Closing(
    4429, "You have as many workbenches open as one person may: close one."
)
TOO_MANY = Closing(4503, "Too many people are here. Wait until somebody leaves.")


SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody invited. mode: why their workbench opens: browse, annotate or adjudicate.

    admin: they may do all that whoever started the server may do in a workbench.
    """

    name: str
    mode: str
    admin: bool = False

    @property
    def words(self) -> str:
        """What they were invited for."""
        return f"{self.mode}, admin" if self.admin else self.mode


class Guests:
    """The people invited, for as long as this object lives: no secret is ever written down.

    Each has two secrets. The token stands in the link that is sent to them; only its hash is
    kept. The cookie is what their browser shows from then on; it is computed from a key that
    is made anew each time. Neither does in the place of the other.
    """

    def __init__(self, guests: Sequence[Guest]) -> None:
        self.guests = tuple(guests)
        self._key = secrets.token_bytes(SECRET_BYTES)
        self._hashes: dict[Guest, bytes] = {}

    def invite(self, guest: Guest) -> str:
        """A new token for one of `guests`; the one they had before is worth nothing now."""
        token = secrets.token_urlsafe(SECRET_BYTES)
        self._hashes[guest] = _hashed(token)
        return token

    def by_token(self, token: str) -> Guest | None:
        """Whose link this is; None if nobody's."""
        return _whose(_hashed(token), self._hashes)

    def cookie(self, guest: Guest) -> str:
        """What the guest's browser is given to show."""
        return hmac.new(self._key, guest.name.encode(), hashlib.sha256).hexdigest()

    def by_cookie(self, cookie: str) -> Guest | None:
        """Whose cookie this is; None if nobody's."""
        given = cookie.encode("utf-8", "replace")
        return _whose(given, {guest: self.cookie(guest).encode() for guest in self._hashes})


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _whose(given: bytes, known: dict[Guest, bytes]) -> Guest | None:
    """Compared with everybody's, each in constant time: how long it takes tells nothing."""
    found = None
    for guest, secret in known.items():
        if hmac.compare_digest(given, secret):
            found = guest
    return found


# How many connections are held, and whose end first: those invited always find room.
#
# Whoever can reach the port can open connections and say nothing. Each is a file that the
# process has open, and at the system's limit nobody gets in any more. So connections on which
# nobody invited has been seen are few, in all and of one address; beyond that the oldest of
# them is ended for the new one, which may be somebody's who was invited.

log = logging.getLogger("nfh_tui.serving")

SECONDS_TO_ASK = 20.0
"""Seconds that a connection may be open, or stay open, without a whole request on it."""

LINGERING = 2.0
"""Seconds in which the rest of a request is read that has been answered already."""

FILES_WANTED = 65_536
"""Open files, if the system gives so many; more are never of use."""

FILES_UNKNOWN = 1024
"""Where the system does not say."""

SPARE_FILES = 320
"""For what is just being accepted, twice the queue of 128, and for the program itself."""

FILES_OF_VISIT = 8
"""A socket, three pipes to the child, and what is open while it starts."""

LEAST_REST = 64
MOST_STRANGERS, MOST_OF_ADDRESS, MOST_OF_GUEST = 256, 64, 16
LEAST_OF_GUEST = 2
IPV6_NETWORK = 64
"""Leading bits of an address that one household shares."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Connections held at most: without an invitation in all and of an address; of a guest.

    visits: workbenches open at once.
    """

    strangers: int
    of_address: int
    of_guest: int
    visits: int


def limits_of(files: int, visits: int, guests: int) -> Limits:
    """What fits into so many open files. visits: wanted; fewer, at least one, where need be."""
    fitting = (files - SPARE_FILES - LEAST_REST) // FILES_OF_VISIT
    visits = max(1, min(visits, fitting))
    half = max(LEAST_REST, files - SPARE_FILES - visits * FILES_OF_VISIT) // 2
    strangers = min(MOST_STRANGERS, half)
    of_guest = max(LEAST_OF_GUEST, min(MOST_OF_GUEST, half // max(1, guests)))
    return Limits(strangers, min(MOST_OF_ADDRESS, strangers), of_guest, visits)


def open_files() -> int:
    """How many files this process may have open, after asking the system for more."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return FILES_UNKNOWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return FILES_WANTED if soft == resource.RLIM_INFINITY else soft


@runtime_checkable
class Held(Protocol):
    """A connection that can be ended."""

    def drop(self) -> None:
        """End it at once."""


Group = str | Guest
"""Whose a connection is: a guest's, or nobody's known, from an address."""

PROXY = "a proxy"


class Connections:
    """All connections that are open, by whose they are, in each group the oldest first.

    behind_proxy: a proxy on this machine passes on what others send, so that connections from
    here are not counted as those of one address.
    """

    def __init__(self, limits: Limits, *, behind_proxy: bool = False) -> None:
        self.limits = limits
        self._behind_proxy = behind_proxy
        self._group_of: dict[Held, Group] = {}
        self._groups: dict[Group, dict[Held, None]] = {}
        self._strangers = 0

    def came(self, connection: Held, address: str) -> None:
        """A connection was opened; nobody knows yet by whom."""
        group = self._address_group(address)
        self._put(connection, group)
        if group != PROXY and len(self._groups[group]) > self.limits.of_address:
            self._drop_oldest(group)
        elif self._strangers > self.limits.strangers:
            self._drop_oldest(
                max(self._address_groups(), key=lambda one: len(self._groups[one]))
            )

    def asked(self, connection: object, guest: Guest | None, address: str) -> None:
        """A request came on a connection: by somebody invited, or by None of them."""
        if not isinstance(connection, Held) or connection not in self._group_of:
            return
        group = self._address_group(address) if guest is None else guest
        if group == self._group_of[connection]:
            return
        self.gone(connection)
        self._put(connection, group)
        if guest is not None and len(self._groups[guest]) > self.limits.of_guest:
            self._drop_oldest(guest)

    def gone(self, connection: object) -> None:
        """A connection has ended, or is a workbench's from now on and counted as one."""
        if not isinstance(connection, Held) or connection not in self._group_of:
            return
        group = self._group_of.pop(connection)
        del self._groups[group][connection]
        if not self._groups[group]:
            del self._groups[group]
        self._strangers -= isinstance(group, str)

    def _put(self, connection: Held, group: Group) -> None:
        self._group_of[connection] = group
        self._groups.setdefault(group, {})[connection] = None
        self._strangers += isinstance(group, str)

    def _drop_oldest(self, group: Group) -> None:
        oldest = next(iter(self._groups[group]))
        self.gone(oldest)
        oldest.drop()
        whose = group if isinstance(group, str) else group.name
        log.warning(
            "closed the oldest idle connection of %s: too many are open",
            whose,
            extra={"uninvited": True},
        )

    def _address_groups(self) -> list[Group]:
        return [group for group in self._groups if isinstance(group, str)]

    def _address_group(self, address: str) -> Group:
        try:
            number = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return address
        if self._behind_proxy and number.is_loopback:
            return PROXY
        if number.version == 4:
            return address
        return str(ipaddress.ip_network((number, IPV6_NETWORK), strict=False))


@dataclass(slots=True)
class Meter:
    """So many a second in the long run, so many at once.

    A mouse that is moved fast says a hundred things a second; a held key thirty.
    """

    rate: float
    burst: float
    _left: float = -1.0
    _at: float = 0.0

    def allows(self, now: float) -> bool:
        """True if one more may come. now: seconds of a clock that never goes back."""
        if self._left < 0:
            self._left, self._at = self.burst, now
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


# What the server tells on standard error: who came and went, and no secret.
#
# Whoever was not invited can send anything, and as much of it as they like: what aiohttp says
# of that is cut down to a line without a word of theirs, and only so many lines are written.

TOKEN = re.compile(r"(token(?:=|%3d))[^&\s'\"]+", re.IGNORECASE)
"""A token in a link, whole or not."""

SECRET = re.compile(r"(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2}){43,}")
"""What is as long as a token, or as a cookie: 43 and 64 characters. Also percent-encoded."""

REQUEST_FIELD = re.compile(r"%[-#0 +.\d]*[a-zA-Z]")
"""A place in a line to be logged where something of the request would stand."""

LOGGERS = {
    "nfh_tui.serving": logging.INFO,
    "aiohttp": logging.WARNING,
    "asyncio": logging.ERROR,
}

PER_SECOND, AT_ONCE = 0.5, 20.0
"""Lines about people who were not invited, and as many about the event loop."""

OUT_OF = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""Errors of a system that has no more of something; asyncio tries again after a second."""


def masked(text: str) -> str:
    """A text in which … stands for whatever could be a secret."""
    return SECRET.sub("…", TOKEN.sub(r"\1…", text))


class WithoutTokens(logging.Formatter):
    """Time and words on one line, tokens left out."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s  %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with what follows it of an error that is ours."""
        if record.name.partition(".")[0] in {"aiohttp", "asyncio"}:
            record = _without_request(record)
        return masked(super().format(record))


def _without_request(record: logging.LogRecord) -> logging.LogRecord:
    """A line of aiohttp's or asyncio's, without what stands in the request."""
    words = REQUEST_FIELD.sub("…", str(record.msg)).partition("\n")[0]
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        words += f" ({type(error).__name__}{_place(error)})"
    told = {"name": record.name, "levelno": record.levelno, "msg": words}
    return logging.makeLogRecord(told | {"created": record.created})


def _place(error: BaseException) -> str:
    """Where in the program an error was raised, for whoever looks for a fault of ours."""
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


class Sparing(logging.Filter):
    """Lets only so many lines pass that anybody can cause, and tells how many it left out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._meters = {name: Meter(PER_SECOND, AT_ONCE) for name in ("stranger", "loop")}
        self._left_out = dict.fromkeys(self._meters, 0)

    def filter(self, record: logging.LogRecord) -> bool:
        """True for what is to be written."""
        if record.name.startswith("asyncio"):
            kind = "loop"
        elif record.name.startswith("aiohttp") or getattr(record, "uninvited", False):
            kind = "stranger"
        else:
            return True
        if not self._meters[kind].allows(self._clock()):
            self._left_out[kind] += 1
            return False
        if left_out := self._left_out[kind]:
            record.msg = f"({left_out} lines like this left out) {record.msg}"
            self._left_out[kind] = 0
        return True


def note_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001
    """Log in a line what the event loop could not do, or nobody waited for."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in OUT_OF:
        words = f"no connection can be taken just now: {error.strerror}"
        logging.getLogger("asyncio").error(words)
        return
    what = str(context.get("message", "an error that nobody waited for"))
    logging.getLogger("asyncio").error(what, exc_info=error)


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Tell what happens while the block runs."""
    handler = logging.StreamHandler()
    handler.setFormatter(WithoutTokens())
    handler.addFilter(Sparing())
    before = {name: logging.getLogger(name).level for name in LOGGERS}
    for name, level in LOGGERS.items():
        logging.getLogger(name).setLevel(level)
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
            logging.getLogger(name).removeHandler(handler)


TEXT = "text/html"
FONT_SIZES = (8, 40)
USUAL_FONT_SIZE = 16

WHO_SENT_IT = (
    "Open the link that you were sent. If it is old, ask for a new one: links last as long "
    "as the server runs."
)
NOT_INVITED = ("Not invited", WHO_SENT_IT)
NO_SUCH_LINK = ("This link is not valid", WHO_SENT_IT)
WRONG_ADDRESS = (
    "Not under this address",
    "Open the link as it was sent to you. Behind a proxy, the server must be started with "
    "--public-url.",
)
NOTHING_HERE = ("Nothing here", "The workbench is at the start of this address.")
ELSEWHERE = ("Only from the page itself", "This is no page to open.")

UNREADABLE = ("Not understood", "This server was asked for something that it cannot read.")
FAULT = ("That did not work", "The server could not answer. Try again.")

PAGE_FIELD = re.compile(r"\{(name|mode|font-size)\}")

STYLE = (
    "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;"
    "color:#1c2024;background:#fff}"
    "@media(prefers-color-scheme:dark){body{color:#e4e6e8;background:#14181b}a{color:#9cc4e4}}"
)


def _whole(title: str, body: str, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f'<link rel="icon" href="data:,">{head}<style>{STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>{body}</body></html>"
    )


def plain(words: tuple[str, str], status: int) -> web.Response:
    """A short page: a title and a sentence."""
    title, sentence = words
    text = _whole(title, f"<p>{escape(sentence)}</p>")
    return web.Response(text=text, status=status, content_type=TEXT)


def entered(guest: Guest) -> web.Response:
    """A page that goes on to the workbench by itself.

    No redirect: a browser that came from a link in a mail or on another site would follow it
    without the cookie that it was just given (SameSite=Strict). From this page it comes from
    here. The link with the token is replaced in the address bar and in the history.
    """
    body = '<p>One moment. If nothing happens: <a href="/">open the workbench</a>.</p>'
    head = '<script src="/page/enter.js" defer></script>'
    head += '<noscript><meta http-equiv="refresh" content="0;url=/"></noscript>'
    text = _whole(f"Welcome, {guest.name}", body, head)
    return web.Response(text=text, content_type=TEXT)


def workbench(guest: Guest, font_size: str) -> web.Response:
    """The page of the terminal."""
    page = files("nfh_tui.serving").joinpath("static/page.html").read_text("utf-8")
    said = {"name": guest.name, "mode": guest.mode, "font-size": str(_size(font_size))}
    # All at once: a name may look like a field, and stays what it is.
    text = PAGE_FIELD.sub(lambda found: escape(said[found[1]]), page)
    return web.Response(text=text, content_type=TEXT)


def _size(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) < 4):
        return USUAL_FONT_SIZE
    return min(max(int(given), FONT_SIZES[0]), FONT_SIZES[1])


GUEST: web.RequestKey[Guest] = web.RequestKey("guest", Guest)
ENTER = "/enter"
OURS = frozenset({"/", ENTER, "/ws"})
"""Paths that are logged as they are asked for."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEADERS = {
    # Scripts and fonts of this server only; styles also as the terminal writes them itself.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "nfh-tui",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


async def put_headers(request: web.Request, response: web.StreamResponse) -> None:  # noqa: ARG001
    """On every answer, errors and files included."""
    response.headers.update(HEADERS)


def make_gate(
    address: Address, guests: Guests, connections: Connections
) -> Callable[..., Awaitable[web.StreamResponse]]:
    """What every request goes through first.

    Without the cookie of somebody invited there is one page, which says so, at every path;
    `ENTER`, where the cookie is given, looks at the token itself. connections: told who asks;
    on that of a stranger nothing is answered a second time.
    """

    def turned_away(words: tuple[str, str]) -> web.Response:
        response = plain(words, 403)
        response.force_close()
        return response

    @web.middleware
    async def gate(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not address.trusts_host(request.host):
            refused(request, f"it asks for the host {shown(request.host)!r}")
            return turned_away(WRONG_ADDRESS)
        guest = guests.by_cookie(request.cookies.get(address.cookie_name, ""))
        connections.asked(request.protocol, guest, request.remote or "")
        if request.path != ENTER:
            if guest is None:
                refused(request, "no cookie of anybody invited")
                return turned_away(NOT_INVITED)
            request[GUEST] = guest
        try:
            return await handler(request)
        except web.HTTPException as error:
            if error.status in {404, 405}:
                return plain(NOTHING_HERE, error.status)
            raise

    return gate


def refused(request: web.Request, why: str) -> None:
    """Log that somebody was not let in. A token may stand in the query, and anywhere."""
    path = request.path if request.path in OURS else "a page that there is not"
    log.warning("refused %s from %s: %s", path, request.remote, why, extra={"uninvited": True})


def shown(said: str) -> str:
    """A part of what a stranger says, for the log."""
    return clip(masked(said), 60)
