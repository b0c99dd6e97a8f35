"""Access to the served workbench: addresses, invitations, access control, limits on connections
and messages, close codes, logging without secrets, and the pages without data.
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

# Addresses under which the server accepts requests, and pages from which it does.
#
# A foreign page can make a browser send requests here. It cannot choose the Host and Origin
# headers that the browser sends with them, so these two are checked.

ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens, and the URL under which it is reached."""

    host: str
    port: int
    public_url: str | None = None
    """Of a proxy in front, without path: scheme, name and optional port."""

    @property
    def url(self) -> str:
        """The part of links before the path."""
        if self.public_url is not None:
            return self.public_url
        host = socket.gethostname() if self.host in ANYWHERE else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return self.host == "localhost" or _is_loopback(self.host)

    @property
    def is_secure(self) -> bool:
        """Whether browsers connect by https."""
        return self.url.startswith("https:")

    @property
    def cookie_name(self) -> str:
        """Different for each port: browsers share cookies between the ports of a host."""
        name = f"nfh-tui-{self.port}"
        return f"__Host-{name}" if self.is_secure else name

    def trusts_host(self, host: str) -> bool:
        """Whether a Host header cannot come from a foreign name for this server.

        The port is not compared: a proxy or a forwarding (ssh -L) may have another. IP
        addresses are trusted, since DNS rebinding needs a name.
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
        """Whether the requesting page was served by us: its origin is the address requested."""
        wanted = self.public_url if self.public_url is not None else f"http://{host}"
        return origin is not None and origin.lower() == wanted.lower()


def public_url(given: str) -> str:
    """Normalize the URL of a proxy to the form of an Origin header. Raises ValueError."""
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("wanted an address such as https://nfh.example.org")
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise ValueError(
            "wanted only scheme and name, without a path: the proxy forwards everything"
        )
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


# Reasons for closing a socket. Codes from 4000 on are free for applications.


@dataclass(frozen=True, slots=True)
class CloseCode:
    """A close code and its reason."""

    code: int
    reason: str
    """A sentence for the guest, at most 123 bytes as the protocol demands."""


LEFT = CloseCode(1000, "You left the workbench. Your answers and drafts are saved.")
SERVER_ENDS = CloseCode(1001, "The server has ended. Your answers and drafts are saved.")
BAD_MESSAGE = CloseCode(1008, "The page sent something that cannot be read.")
TOO_MUCH = CloseCode(1008, "The page sent more than a person can type.")
TOO_LARGE = CloseCode(1009, "The page sent more at once than the workbench takes: paste less.")
FELL_OVER = CloseCode(
    4500, "The workbench ended unexpectedly. What was saved is kept; its log says why."
)
NO_START = CloseCode(4501, "The workbench could not be opened; the server's log says why.")
TOO_MANY_OF_YOURS = CloseCode(
    4429, "You have the most workbenches open that one person may have: close one."
)
TOO_MANY = CloseCode(4503, "Too many workbenches are open. Try again when somebody has left.")


SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Guest:
    """An invited person."""

    name: str
    mode: str
    """In which their workbench opens: browse, annotate or adjudicate."""
    admin: bool = False
    """Whether they may do everything that the person who started the server may do."""

    @property
    def words(self) -> str:
        """What they were invited for."""
        return f"{self.mode}, admin" if self.admin else self.mode


class Invitations:
    """The invitations of one run of the server. No secret is written to disk.

    Each guest has two secrets. The token is part of the link sent to them; only its hash is
    kept. The cookie identifies their browser from then on; it is an HMAC under a key generated
    in each run. Neither is accepted in place of the other.
    """

    def __init__(self, guests: Sequence[Guest]) -> None:
        self.guests = tuple(guests)
        self._key = secrets.token_bytes(SECRET_BYTES)
        self._hashes: dict[Guest, bytes] = {}

    def invite(self, guest: Guest) -> str:
        """Generate a token for one of `guests`; it invalidates their previous one."""
        token = secrets.token_urlsafe(SECRET_BYTES)
        self._hashes[guest] = _hashed(token)
        return token

    def by_token(self, token: str) -> Guest | None:
        """The guest with this token; None if there is none."""
        return _whose(_hashed(token), self._hashes)

    def cookie(self, guest: Guest) -> str:
        """The value of the guest's cookie."""
        return hmac.new(self._key, guest.name.encode(), hashlib.sha256).hexdigest()

    def by_cookie(self, cookie: str) -> Guest | None:
        """The guest with this cookie; None if there is none."""
        given = cookie.encode("utf-8", "replace")
        return _whose(given, {guest: self.cookie(guest).encode() for guest in self._hashes})


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _whose(given: bytes, known: dict[Guest, bytes]) -> Guest | None:
    # All are compared, each in constant time, so that the duration reveals nothing.
    found = None
    for guest, secret in known.items():
        if hmac.compare_digest(given, secret):
            found = guest
    return found


# Limits on open connections, which keep room for guests.
#
# Anyone who can reach the port can open connections and stay silent. Each takes a file
# descriptor, and at the system's limit no guest can connect any more. So connections on which
# no guest has identified themselves are limited, in total and per address. Beyond the limit the
# oldest one is closed for the new one, which may be a guest's.

log = logging.getLogger("nfh_tui.serving")

SECONDS_TO_ASK = 20.0
"""Seconds that a connection may stay open without a complete request."""

LINGERING = 2.0
"""Seconds for reading the rest of a request that has already been answered."""

FILES_WANTED = 65_536
"""Limit of open files to request from the system; more are never used."""

FILES_UNKNOWN = 1024
"""The assumed limit on systems that do not tell it."""

SPARE_FILES = 320
"""For connections being accepted, twice the backlog of 128, and for the program itself."""

FILES_OF_VISIT = 8
"""A socket, three pipes to the child, and files open during its start."""

LEAST_REST = 64
MOST_STRANGERS, MOST_OF_ADDRESS, MOST_OF_GUEST = 256, 64, 16
LEAST_OF_GUEST = 2
IPV6_NETWORK = 64
"""Leading bits of an address that one household shares."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest numbers of open connections."""

    strangers: int
    """Without an identified guest, in total."""
    of_address: int
    """Without an identified guest, from one address."""
    of_guest: int
    visits: int
    """Open workbenches."""


def limits_of(files: int, visits: int, guests: int) -> Limits:
    """The limits that fit into `files` open files: at most `visits` visits, at least one."""
    fitting = (files - SPARE_FILES - LEAST_REST) // FILES_OF_VISIT
    visits = max(1, min(visits, fitting))
    half = max(LEAST_REST, files - SPARE_FILES - visits * FILES_OF_VISIT) // 2
    strangers = min(MOST_STRANGERS, half)
    of_guest = max(LEAST_OF_GUEST, min(MOST_OF_GUEST, half // max(1, guests)))
    return Limits(strangers, min(MOST_OF_ADDRESS, strangers), of_guest, visits)


def open_files() -> int:
    """Raise this process's limit of open files, if possible, and return it."""
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
    """A connection that can be closed."""

    def drop(self) -> None:
        """Close it immediately."""


Group = str | Guest
"""The guest of a connection, or the address it comes from while no guest is known."""

PROXY = "a proxy"


class GuestConnections:
    """The open connections, grouped by guest or address; oldest first in each group.

    behind_proxy: whether a proxy on this machine forwards requests; connections from this
    machine then do not count as those of one address.
    """

    def __init__(self, limits: Limits, *, behind_proxy: bool = False) -> None:
        self.limits = limits
        self._behind_proxy = behind_proxy
        self._group_of: dict[Held, Group] = {}
        self._groups: dict[Group, dict[Held, None]] = {}
        self._strangers = 0

    def opened(self, connection: Held, address: str) -> None:
        """Add a new connection. Drops the oldest one if there are too many."""
        group = self._address_group(address)
        self._put(connection, group)
        if group != PROXY and len(self._groups[group]) > self.limits.of_address:
            self._drop_oldest(group)
        elif self._strangers > self.limits.strangers:
            addresses = [one for one in self._groups if isinstance(one, str)]
            self._drop_oldest(max(addresses, key=lambda one: len(self._groups[one])))

    def identified(self, connection: object, guest: Guest | None, address: str) -> None:
        """Assign a connection to the sender of a request on it; guest: None for a stranger."""
        if not isinstance(connection, Held) or connection not in self._group_of:
            return
        group = self._address_group(address) if guest is None else guest
        if group == self._group_of[connection]:
            return
        self.remove(connection)
        self._put(connection, group)
        if guest is not None and len(self._groups[guest]) > self.limits.of_guest:
            self._drop_oldest(guest)

    def remove(self, connection: object) -> None:
        """Stop counting a connection: it has ended, or now belongs to a visit."""
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
        self.remove(oldest)
        oldest.drop()
        whose = group if isinstance(group, str) else group.name
        log.warning(
            "closed the oldest idle connection of %s: too many are open",
            whose,
            extra={"uninvited": True},
        )

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
class RateLimit:
    """A token bucket: `rate` events a second on average, `burst` at once."""

    rate: float
    burst: float
    _left: float = -1.0
    _at: float = 0.0

    def allows(self, now: float) -> bool:
        """Whether one more event is allowed; counts it. now: monotonic seconds."""
        if self._left < 0:
            self._left, self._at = self.burst, now
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


# The log on standard error: who comes and goes, without secrets.
#
# Strangers can send anything, in any quantity. Messages of aiohttp about their requests are cut
# to one line that repeats nothing of the request, and the number of lines is limited.

TOKEN = re.compile(r"(token(?:=|%3d))[^&\s'\"]+", re.IGNORECASE)
"""A token in a link, complete or not."""

SECRET = re.compile(r"(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2}){43,}")
"""Anything as long as a token (43 characters) or a cookie (64), also percent-encoded."""

REQUEST_FIELD = re.compile(r"%[-#0 +.\d]*[a-zA-Z]")
"""A format field of a log message, which may be filled from a request."""

LOGGERS = {
    "nfh_tui.serving": logging.INFO,
    "aiohttp": logging.WARNING,
    "asyncio": logging.ERROR,
}

PER_SECOND, AT_ONCE = 0.5, 20.0
"""Rate and burst of lines about strangers, and the same again about the event loop."""

OUT_OF = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""Exhausted system resources; asyncio accepts connections again after a second."""


def redacted(text: str) -> str:
    """Replace whatever may be a secret by …"""
    return SECRET.sub("…", TOKEN.sub(r"\1…", text))


class RedactingFormatter(logging.Formatter):
    """Time and message on one line, without secrets."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s  %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """The line; only errors of our own code are followed by a traceback."""
        if record.name.partition(".")[0] in {"aiohttp", "asyncio"}:
            record = _without_request(record)
        return redacted(super().format(record))


def _without_request(record: logging.LogRecord) -> logging.LogRecord:
    """A record of aiohttp or asyncio without any content of the request."""
    message = REQUEST_FIELD.sub("…", str(record.msg)).partition("\n")[0]
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        message += f" ({type(error).__name__}{_location(error)})"
    fields = {"name": record.name, "levelno": record.levelno, "msg": message}
    return logging.makeLogRecord(fields | {"created": record.created})


def _location(error: BaseException) -> str:
    """File and line that raised an error, to find faults of this program."""
    if (trace := error.__traceback__) is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


class LogRateLimit(logging.Filter):
    """Limits the rate of lines that strangers can cause, and counts those left out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._limits = {name: RateLimit(PER_SECOND, AT_ONCE) for name in ("stranger", "loop")}
        self._left_out = dict.fromkeys(self._limits, 0)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a record. The first one after a gap tells how many were left out."""
        if record.name.startswith("asyncio"):
            kind = "loop"
        elif record.name.startswith("aiohttp") or getattr(record, "uninvited", False):
            kind = "stranger"
        else:
            return True
        if not self._limits[kind].allows(self._clock()):
            self._left_out[kind] += 1
            return False
        if left_out := self._left_out[kind]:
            record.msg = f"({left_out} lines like this left out) {record.msg}"
            self._left_out[kind] = 0
        return True


def note_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001
    """The event loop's exception handler: logs one line."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in OUT_OF:
        words = f"no connection can be taken just now: {error.strerror}"
        logging.getLogger("asyncio").error(words)
        return
    what = str(context.get("message", "an error that nobody waited for"))
    logging.getLogger("asyncio").error(what, exc_info=error)


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Write the log to standard error inside the block."""
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter())
    handler.addFilter(LogRateLimit())
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
    "Open exactly the link that was sent to you. Behind a proxy, start the server with "
    "--public-url.",
)
NOTHING_HERE = ("Nothing here", "The workbench is at the start of this address.")
ELSEWHERE = ("Only from the page itself", "This page cannot be opened.")

UNREADABLE = ("Not understood", "The server cannot read this request.")
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


def entry_page(guest: Guest) -> web.Response:
    """A page that opens the workbench by a script.

    A redirect would not do: a browser that came from a mail or another site follows it without
    the cookie just set (SameSite=Strict), but a request from this page carries it. The script
    also replaces the link with the token in the address bar and the history.
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
    # All in one pass: a name that looks like a field must not be replaced.
    text = PAGE_FIELD.sub(lambda found: escape(said[found[1]]), page)
    return web.Response(text=text, content_type=TEXT)


def _size(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) < 4):
        return USUAL_FONT_SIZE
    return min(max(int(given), FONT_SIZES[0]), FONT_SIZES[1])


GUEST: web.RequestKey[Guest] = web.RequestKey("guest", Guest)
ENTER = "/enter"
OURS = frozenset({"/", ENTER, "/ws"})
"""Paths that may appear in the log as requested."""

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
    """Signal handler of aiohttp: adds HEADERS to every response, errors and files included."""
    response.headers.update(HEADERS)


def access_control(
    address: Address, guests: Invitations, connections: GuestConnections
) -> Callable[..., Awaitable[web.StreamResponse]]:
    """Make the middleware that checks every request.

    Without the cookie of a guest every path gives the same page, which says so; the handler of
    `ENTER`, which sets the cookie, checks the token itself. connections: told who sends; that
    of a stranger is closed after one response.
    """

    def forbidden(words: tuple[str, str]) -> web.Response:
        response = plain(words, 403)
        response.force_close()
        return response

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not address.trusts_host(request.host):
            log_refusal(request, f"it asks for the host {loggable(request.host)!r}")
            return forbidden(WRONG_ADDRESS)
        guest = guests.by_cookie(request.cookies.get(address.cookie_name, ""))
        connections.identified(request.protocol, guest, request.remote or "")
        if request.path != ENTER:
            if guest is None:
                log_refusal(request, "no cookie of anybody invited")
                return forbidden(NOT_INVITED)
            request[GUEST] = guest
        try:
            return await handler(request)
        except web.HTTPException as error:
            if error.status in {404, 405}:
                return plain(NOTHING_HERE, error.status)
            raise

    return check


def log_refusal(request: web.Request, why: str) -> None:
    """Log that a request was refused, and why."""
    # A token may be anywhere in an unknown path.
    path = request.path if request.path in OURS else "a page that there is not"
    log.warning("refused %s from %s: %s", path, request.remote, why, extra={"uninvited": True})


def loggable(text: str) -> str:
    """The beginning of a stranger's text, without secrets."""
    return clip(redacted(text), 60)
