"""The server: textual-serve restricted to guests, with one predictor for all visits and
scheduled trainings.

textual-serve provides the scripts and fonts of the page, the packets between a child and a
page, and downloads. This module adds access control, limits, the check of messages, and an
orderly end of each visit and of the server. No shell runs the children.
"""

import asyncio
import logging
import os
import signal
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path

from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

from nfh_db.errors import StoreError
from nfh_db.store import Store
from nfh_tui.jobs.runner import ensure_runner
from nfh_tui.jobs.training import queue_due
from nfh_tui.services.guidelines import first_text
from nfh_tui.services.predictor_client import PredictorClient, PredictorState
from nfh_tui.serving import access
from nfh_tui.serving.visit import (
    LARGEST,
    Focus,
    Message,
    Ping,
    TerminalInput,
    TerminalSize,
    Visit,
    WireError,
    command,
    parse,
    size_of,
)

# Connections that are counted, and aiohttp's own responses, which must not repeat the request.


class Runner(web.AppRunner):
    """Runs the application; reports each connection to `connections`."""

    def __init__(
        self,
        app: web.Application,
        connections: access.GuestConnections,
        *,
        shutdown_timeout: float,
    ) -> None:
        super().__init__(app, access_log=None, shutdown_timeout=shutdown_timeout)
        self._connections = connections

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        server = _Server(
            made.request_handler,
            request_factory=made.request_factory,
            access_log=None,
            debug=False,
            keepalive_timeout=access.SECONDS_TO_ASK,
            lingering_time=access.LINGERING,
        )
        server.held = self._connections
        return server


class _Server(web.Server):
    held: access.GuestConnections

    def __call__(self) -> web.RequestHandler:
        made = _Connection(self, loop=self._loop, **self._kwargs)
        made.held = self.held
        return made


class _Connection(web.RequestHandler):
    """A counted connection, whose errors are answered with a short page."""

    __slots__ = ("held",)
    held: access.GuestConnections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start counting the connection."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.held.opened(self, str(peer[0]) if peer else "")

    def connection_lost(self, exc: BaseException | None) -> None:
        """Stop counting the connection."""
        self.held.remove(self)
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close it immediately; unsent data is lost."""
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Log an error and answer with our own page: aiohttp's repeats the request."""
        super().handle_error(request, status, exc, message)
        answer = access.plain(
            access.FAULT if status >= HTTPStatus.INTERNAL_SERVER_ERROR else access.UNREADABLE,
            status,
        )
        answer.headers.update(access.HEADERS)
        answer.force_close()
        return answer


class PageSocket(web.WebSocketResponse):
    """The socket of a page."""

    async def close(
        self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True
    ) -> bool:
        """Close it; too large a message, for which aiohttp gives no reason, gets one."""
        if code == WSCloseCode.MESSAGE_TOO_BIG and not message:
            message = access.TOO_LARGE.reason.encode()
        return await super().close(code=code, message=message, drain=drain)


log = logging.getLogger("nfh_tui.serving")

OFF_VARIABLE = "NFH_TUI_PREDICTOR"
MOST = 64
"""Anchors in the queue; the oldest requests are dropped first."""

Make = Callable[
    [Path, Callable[[int], object], Callable[[PredictorState], object]], PredictorClient
]


class SharedPredictor:
    """One predictor child for all visits; the latest requests are served first.

    The child starts at the first request. Predictions reach the workbenches through the
    database, like the writes of other people.
    """

    def __init__(self, database: Path, make: Make = PredictorClient) -> None:
        self._client = make(database, self._done, self._changed)
        self._waiting: list[int] = []
        self._task: asyncio.Task[None] | None = None
        self._off = os.environ.get(OFF_VARIABLE) == "off"

    def request(self, anchors: list[int]) -> None:
        """Queue anchors in front of all earlier requests. Does not block."""
        if self._off:
            return
        kept = [one for one in self._waiting if one not in anchors]
        self._waiting = [*anchors, *kept][:MOST]
        self._client.ask(self._waiting)
        if self._task is None:
            self._task = asyncio.create_task(self._client.start(), name="predictions")

    async def stop(self) -> None:
        """Stop the child, and ignore further requests."""
        self._off = True
        if self._task is not None:
            await self._task
            await self._client.stop()

    def _done(self, anchor: int) -> None:
        if anchor in self._waiting:
            self._waiting.remove(anchor)

    def _changed(self, state: PredictorState) -> None:
        level = logging.INFO if state.status in {"ready", "starting"} else logging.WARNING
        log.log(level, "predictor: %s", state.sentence)


LOOK = 10.0
"""Seconds between two checks for due trainings."""


class TrainingRounds:
    """Queues due trainings and starts a job runner."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._too_few_at: tuple[int, int] | None = None

    async def run(self) -> None:
        """Check every LOOK seconds until cancelled."""
        while True:
            try:
                queued = await asyncio.to_thread(self.look)
            except (StoreError, OSError) as error:
                log.warning("trainings that come round: %s", error)
            else:
                if queued:
                    log.info("queued trainings that were due: %s", ", ".join(map(str, queued)))
            await asyncio.sleep(LOOK)

    def look(self) -> tuple[int, ...]:
        """Queue due trainings and return the numbers of the jobs. Raises StoreError, OSError.

        If nothing could be queued for lack of gold, checks again only after answers change.
        """
        with Store.open(self._database) as store:
            version = store.comparisons.answers_version()
            queued: tuple[int, ...] = ()
            if version != self._too_few_at and store.retraining.schedule().to_do:
                queued = queue_due(store)
                self._too_few_at = None if queued else version
            ensure_runner(store)
        return queued


FOR_ONE_PERSON = 4
"""Open workbenches of one guest, including those that are ending."""

HEARTBEAT = 30.0
"""Seconds between pings of a page; it has half as many to answer."""

GOODBYE = 2.0
"""Seconds for a page to confirm the closing of its socket."""

PER_SECOND, AT_ONCE = 400.0, 2000.0
"""Rate and burst of messages of one page. A fast mouse sends 100 a second, a held key 30."""

FEWER = (
    "--at-most %d needs more open files than the system allows: %d workbenches can be open at "
    "once. Raise the limit (ulimit -n), and start again"
)

SHUTDOWN = 15.0
"""Seconds for all visits to end; more than one child may take."""


@dataclass(frozen=True, slots=True)
class ServedQueue:
    """What is served, and where."""

    database: Path
    address: access.Address
    query: str | None = None
    """Of the queue; None for the items assigned to each guest."""
    at_most: int = 24
    """Open workbenches, over all guests."""


class GuestServer(Server):
    """Serves the workbench on one database to guests, each under their own name."""

    def __init__(
        self, plan: ServedQueue, guests: access.Invitations, predictions: SharedPredictor
    ) -> None:
        super().__init__("", plan.address.host, plan.address.port, "nfh-tui", plan.address.url)
        self.plan = plan
        self.guests = guests
        self.predictions = predictions
        self.visits: dict[Visit, web.WebSocketResponse] = {}
        limits = access.limits_of(access.open_files(), plan.at_most, len(guests.guests))
        behind_proxy = plan.address.public_url is not None
        self.connections = access.GuestConnections(limits, behind_proxy=behind_proxy)

    # --- the application ----------------------------------------------------------------

    async def _make_app(self) -> web.Application:
        app = web.Application(
            middlewares=[
                access.access_control(self.plan.address, self.guests, self.connections)
            ]
        )
        own = Path(str(files("nfh_tui.serving"))) / "static"
        app.add_routes(
            [
                web.get("/", self.show_page),
                web.get(access.ENTER, self.handle_enter),
                web.get("/ws", self.handle_websocket),
                web.get("/download/{key}", self.handle_download),
                web.static("/static", self.statics_path),
                web.static("/page", own),
            ]
        )
        app.on_response_prepare.append(access.put_headers)
        app.on_shutdown.append(self.on_shutdown)
        return app

    async def run(self, listening: socket.socket, stop: asyncio.Event) -> None:
        """Serve on a listening socket until `stop` is set; then end all visits."""
        if (fitting := self.connections.limits.visits) < self.plan.at_most:
            log.warning(FEWER, self.plan.at_most, fitting)
        app = await self._make_app()
        runner = Runner(app, self.connections, shutdown_timeout=SHUTDOWN)
        await runner.setup()
        try:
            await web.SockSite(runner, listening).start()
            await stop.wait()
        finally:
            await runner.cleanup()
            await self.predictions.stop()

    def serve(self, debug: bool = False) -> None:
        """Not supported: use `run`."""
        raise NotImplementedError("use run")

    async def on_shutdown(self, app: web.Application) -> None:  # noqa: ARG002
        """Close the sockets of all pages; their handlers then end the children."""
        closing = [_close(page, access.SERVER_ENDS) for page in self.visits.values()]
        await asyncio.gather(*closing, return_exceptions=True)

    # --- pages --------------------------------------------------------------------------

    async def handle_enter(self, request: web.Request) -> web.StreamResponse:
        """Set the cookie of the guest whose token is in the query."""
        if (guest := self.guests.by_token(request.query.get("token", ""))) is None:
            access.log_refusal(request, "a link of nobody invited")
            return access.plain(access.NO_SUCH_LINK, 403)
        response = access.entry_page(guest)
        address = self.plan.address
        response.set_cookie(
            address.cookie_name,
            self.guests.cookie(guest),
            httponly=True,
            samesite="Strict",
            secure=address.is_secure,
        )
        log.info("%s came by their link", guest.name)
        return response

    async def show_page(self, request: web.Request) -> web.Response:
        """The page of the terminal. Only the query's font size is used."""
        if any(name != "fontsize" for name in request.query):
            return web.Response(status=303, headers={"Location": "/"})
        return access.workbench(request[access.GUEST], request.query.get("fontsize", ""))

    async def handle_download(self, request: web.Request) -> web.StreamResponse:
        """Send a file that one of the guest's own workbenches offers, as an attachment."""
        key = request.match_info["key"]
        for visit in [one for one in self.visits if one.guest == request[access.GUEST]]:
            try:
                found = await visit.downloads.get_download_metadata(key)
            except KeyError:
                continue
            response = web.StreamResponse()
            response.content_type = "application/octet-stream"
            response.headers["Content-Disposition"] = (
                f'attachment; filename="{_ascii(found.file_name)}"'
            )
            await response.prepare(request)
            async for chunk in visit.downloads.download(key):
                await response.write(chunk)
            await response.write_eof()
            return response
        raise web.HTTPNotFound

    # --- visits -------------------------------------------------------------------------

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run one visit until its child has ended."""
        if not self.plan.address.trusts_origin(request.headers.get("Origin"), request.host):
            origin = access.loggable(request.headers.get("Origin", "of nobody"))
            access.log_refusal(request, f"from the page {origin!r}")
            raise web.HTTPForbidden(text=access.ELSEWHERE[0])
        size = _asked_size(request.query)
        page = PageSocket(timeout=GOODBYE, heartbeat=HEARTBEAT, max_msg_size=LARGEST)
        await page.prepare(request)
        guest = request[access.GUEST]
        if (full := self._full(guest)) is not None:
            log.warning("%s: %s", guest.name, full.reason)
            await _close(page, full)
            return page
        # From here on the connection counts as a visit, which has a limit of its own.
        self.connections.remove(request.protocol)
        visit = self._visit(guest, page)
        self.visits[visit] = page
        log.info("%s opened a workbench; %d open", guest.name, len(self.visits))
        try:
            await visit.start(size.width, size.height)
            await self._process_messages(page, visit)
        except OSError as error:
            log.warning("%s: no child could be started: %s", guest.name, error)
            await _close(page, access.NO_START)
        finally:
            await visit.stop()
            del self.visits[visit]
            log.info("%s left a workbench; %d open", guest.name, len(self.visits))
        return page

    def _full(self, guest: access.Guest) -> access.CloseCode | None:
        if Counter(visit.guest for visit in self.visits)[guest] >= FOR_ONE_PERSON:
            return access.TOO_MANY_OF_YOURS
        return access.TOO_MANY if len(self.visits) >= self.connections.limits.visits else None

    def _visit(self, guest: access.Guest, page: web.WebSocketResponse) -> Visit:
        return Visit(
            guest,
            command(guest, self.plan.database, self.plan.query),
            send=page.send_bytes,
            tell=page.send_str,
            close=lambda closing: _close(page, closing),
            # Predictions are written to the database: readers must not cause writes.
            wanted=(lambda _anchors: None)
            if guest.mode == "browse" and not guest.admin
            else self.predictions.request,
        )

    async def _process_messages(
        self, websocket: web.WebSocketResponse, app_service: AppService
    ) -> None:
        """Forward messages of the page until it closes, or breaks the protocol or a limit."""
        limit = access.RateLimit(PER_SECOND, AT_ONCE)
        clock = asyncio.get_running_loop().time
        guest = app_service.guest.name if isinstance(app_service, Visit) else ""
        async for message in websocket:
            if not limit.allows(clock()):
                log.warning("%s: closed, for it says too much", guest)
                await _close(websocket, access.TOO_MUCH)
                return
            if message.type is WSMsgType.ERROR:
                log.warning("%s: closed, for it said %s", guest, message.data)
                return
            try:
                if message.type is not WSMsgType.TEXT:
                    raise WireError("no text")
                await _pass_on(parse(message.data), websocket, app_service)
            except WireError as error:
                log.warning("%s: closed, for it said %s", guest, error)
                await _close(websocket, access.BAD_MESSAGE)
                return


async def _pass_on(message: Message, page: web.WebSocketResponse, child: AppService) -> None:
    match message:
        case TerminalInput(text):
            await child.send_bytes(text.encode("utf-8"))
        case TerminalSize(width, height):
            await child.set_terminal_size(width, height)
        case Ping(text):
            await page.send_json(["pong", text])
        case Focus(on):
            await (child.focus() if on else child.blur())


async def _close(page: web.WebSocketResponse, closing: access.CloseCode) -> None:
    await page.close(code=closing.code, message=closing.reason.encode())


def _asked_size(query: Mapping[str, str]) -> TerminalSize:
    try:
        return size_of(query.get("width", "80"), query.get("height", "24"))
    except WireError:
        return TerminalSize(80, 24)


def _ascii(name: str) -> str:
    """A file name for a header: all but ASCII letters, digits, dot and dash becomes _."""
    return "".join(c if c.isascii() and (c.isalnum() or c in ".-") else "_" for c in name)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 selects a free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        what = f"{why}: choose another --port, or another --host"
        raise OSError(error.errno, what, f"{host}:{port}") from error


SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of `nfh-tui serve`."""

    database: Path
    guests: tuple[access.Guest, ...]
    host: str
    port: int
    """0 for a free one."""
    public_url: str | None
    query: str | None
    at_most: int


@dataclass(frozen=True, slots=True)
class Service:
    """A server that listens but does not answer before `run`."""

    plan: ServedQueue
    guests: access.Invitations
    links: Mapping[access.Guest, str]
    """The URL that invites each guest."""
    listening: socket.socket

    def run(self) -> None:
        """Serve until Ctrl-C, SIGTERM or SIGHUP; a second one ends the process at once."""
        with access.logging_to_stderr():
            asyncio.run(self._run())

    async def _run(self) -> None:
        asyncio.get_running_loop().set_exception_handler(access.note_loop_error)
        stop = asyncio.Event()
        server = GuestServer(self.plan, self.guests, SharedPredictor(self.plan.database))
        rounds = asyncio.create_task(
            TrainingRounds(self.plan.database).run(), name="retraining"
        )
        try:
            with _stop_on_signal(stop):
                await server.run(self.listening, stop)
        finally:
            rounds.cancel()


@contextmanager
def opened(call: ServeOptions) -> Iterator[Service]:
    """Open the service of some options; the socket closes at the end of the block.

    Opens the database and registers the guests first, so that errors occur here and not in
    their browsers. Raises StoreError and OSError.
    """
    with Store.open(call.database) as store:
        for guest in call.guests:
            store.people.ensure(guest.name)
        # The first guest may be a reader, who cannot write the guidelines.
        store.guidelines.add_first(first_text())
    with listen(call.host, call.port) as listening:
        address = access.Address(call.host, listening.getsockname()[1], call.public_url)
        guests = access.Invitations(call.guests)
        enter = f"{address.url}/enter?token="
        links = {guest: f"{enter}{guests.invite(guest)}" for guest in call.guests}
        plan = ServedQueue(call.database.resolve(), address, call.query, call.at_most)
        yield Service(plan, guests, links, listening)


@contextmanager
def _stop_on_signal(stop: asyncio.Event) -> Iterator[None]:
    """Set `stop` at the first signal; later ones have their default effect."""
    loop = asyncio.get_running_loop()
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]

    def end() -> None:
        stop.set()
        forget()

    def forget() -> None:
        for number in numbers:
            with suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(number)

    for number in numbers:
        # Windows has no such handlers; Ctrl-C raises KeyboardInterrupt there.
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, end)
    try:
        yield
    finally:
        forget()
