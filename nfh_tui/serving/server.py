"""The server: textual-serve's, for people who were invited, without a shell.

Of textual-serve come the page's scripts and fonts, the packets between a child and a page,
and downloads. What it leaves open is closed here: who may come, from which page, what may be
said, how many, and how each visit and the server itself end.
"""

import asyncio
import logging
import os
import socket
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

from nfh_tui.serving import pages
from nfh_tui.serving.address import Address
from nfh_tui.serving.answering import PageSocket, Runner
from nfh_tui.serving.closing import (
    BAD_MESSAGE,
    NO_START,
    SERVER_ENDS,
    TOO_MANY,
    TOO_MANY_OF_YOURS,
    TOO_MUCH,
    Closing,
)
from nfh_tui.serving.connections import Connections, limits_of, open_files
from nfh_tui.serving.gate import ENTER, GUEST, make_gate, put_headers, refused, shown
from nfh_tui.serving.guests import Guest, Guests
from nfh_tui.serving.meter import Meter
from nfh_tui.serving.predictions import Predictions
from nfh_tui.serving.visit import Visit, command
from nfh_tui.serving.wire import (
    LARGEST,
    Focus,
    Message,
    Ping,
    Size,
    Typed,
    WireError,
    parse,
    size_of,
)

log = logging.getLogger("nfh_tui.serving")

FOR_ONE_PERSON = 4
"""Workbenches that one person may have open: tabs, and those that are just ending."""

HEARTBEAT = 30.0
"""Seconds between looks whether a page is still there; half as many may it take to answer."""

GOODBYE = 2.0
"""Seconds a page may take to answer that its socket is closed."""

PER_SECOND, AT_ONCE = 400.0, 2000.0
"""Messages of one page. A mouse that is moved fast sends a hundred a second."""

FEWER = (
    "--at-most %d needs more open files than the system allows: %d workbenches can be open at "
    "once. Raise the limit (ulimit -n), and start again"
)

SHUTDOWN = 15.0
"""Seconds for all visits to end: longer than a child may take."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is served. query: of the queue, None for what each person was given.

    at_most: workbenches open at once, of all people together.
    """

    database: Path
    address: Address
    query: str | None = None
    at_most: int = 24


class GuestServer(Server):
    """Serves the workbench to `guests`, each under their own name, on one database."""

    def __init__(self, plan: Plan, guests: Guests, predictions: Predictions) -> None:
        super().__init__("", plan.address.host, plan.address.port, "nfh-tui", plan.address.url)
        self.plan = plan
        self.guests = guests
        self.predictions = predictions
        self.visits: dict[Visit, web.WebSocketResponse] = {}
        limits = limits_of(open_files(), plan.at_most, len(guests.guests))
        behind_proxy = plan.address.public_url is not None
        self.connections = Connections(limits, behind_proxy=behind_proxy)

    # --- the application ----------------------------------------------------------------

    async def _make_app(self) -> web.Application:
        app = web.Application(
            middlewares=[make_gate(self.plan.address, self.guests, self.connections)]
        )
        own = Path(str(files("nfh_tui.serving"))) / "static"
        app.add_routes(
            [
                web.get("/", self.show_page),
                web.get(ENTER, self.handle_enter),
                web.get("/ws", self.handle_websocket),
                web.get("/download/{key}", self.handle_download),
                web.static("/static", self.statics_path),
                web.static("/page", own),
            ]
        )
        app.on_response_prepare.append(put_headers)
        app.on_shutdown.append(self.on_shutdown)
        return app

    async def run(self, listening: socket.socket, stop: asyncio.Event) -> None:
        """Serve on a socket that listens, until `stop`; then end all visits."""
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
        """Not here: `run` is given a loop, and told when to end."""
        raise NotImplementedError("use run")

    async def on_shutdown(self, app: web.Application) -> None:  # noqa: ARG002
        """Tell every page why it ends; its handler then ends the child."""
        closing = [_close(page, SERVER_ENDS) for page in self.visits.values()]
        await asyncio.gather(*closing, return_exceptions=True)

    # --- pages --------------------------------------------------------------------------

    async def handle_enter(self, request: web.Request) -> web.StreamResponse:
        """Give the cookie of whose link it is."""
        guest = self.guests.by_token(request.query.get("token", ""))
        if guest is None:
            refused(request, "a link of nobody invited")
            return pages.plain(pages.NO_SUCH_LINK, 403)
        response = pages.entered(guest)
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
        """The page of the terminal. Of the query only the size of letters counts."""
        if any(name != "fontsize" for name in request.query):
            return web.Response(status=303, headers={"Location": "/"})
        return pages.workbench(request[GUEST], request.query.get("fontsize", ""))

    async def handle_download(self, request: web.Request) -> web.StreamResponse:
        """A file that one of the guest's own workbenches has ready: always saved, once."""
        key = request.match_info["key"]
        for visit in [one for one in self.visits if one.guest == request[GUEST]]:
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
        """One visit, from the first picture to the end of its child."""
        if not self.plan.address.trusts_origin(request.headers.get("Origin"), request.host):
            origin = shown(request.headers.get("Origin", "of nobody"))
            refused(request, f"from the page {origin!r}")
            raise web.HTTPForbidden(text=pages.ELSEWHERE[0])
        size = _asked_size(request.query)
        page = PageSocket(timeout=GOODBYE, heartbeat=HEARTBEAT, max_msg_size=LARGEST)
        await page.prepare(request)
        guest = request[GUEST]
        full = self._full(guest)
        if full is not None:
            log.warning("%s: %s", guest.name, full.reason)
            await _close(page, full)
            return page
        # From here on it counts as a workbench, of which there are few enough.
        self.connections.gone(request.protocol)
        visit = self._visit(guest, page)
        self.visits[visit] = page
        log.info("%s opened a workbench; %d open", guest.name, len(self.visits))
        try:
            await visit.start(size.width, size.height)
            await self._process_messages(page, visit)
        except OSError as error:
            log.warning("%s: no child could be started: %s", guest.name, error)
            await _close(page, NO_START)
        finally:
            await visit.stop()
            del self.visits[visit]
            log.info("%s left a workbench; %d open", guest.name, len(self.visits))
        return page

    def _full(self, guest: Guest) -> Closing | None:
        if Counter(visit.guest for visit in self.visits)[guest] >= FOR_ONE_PERSON:
            return TOO_MANY_OF_YOURS
        return TOO_MANY if len(self.visits) >= self.connections.limits.visits else None

    def _visit(self, guest: Guest, page: web.WebSocketResponse) -> Visit:
        return Visit(
            guest,
            command(guest, self.plan.database, self.plan.query),
            send=page.send_bytes,
            tell=page.send_str,
            close=lambda closing: _close(page, closing),
            # What is predicted is written down, and who only reads has nothing written.
            wanted=_nothing
            if guest.mode == "browse" and not guest.admin
            else self.predictions.want,
        )

    async def _process_messages(
        self, websocket: web.WebSocketResponse, app_service: AppService
    ) -> None:
        """Pass on what the page says until it is gone, or says what no page of ours does."""
        meter = Meter(PER_SECOND, AT_ONCE)
        clock = asyncio.get_running_loop().time
        guest = app_service.guest.name if isinstance(app_service, Visit) else ""
        async for message in websocket:
            if not meter.allows(clock()):
                log.warning("%s: closed, for it says too much", guest)
                await _close(websocket, TOO_MUCH)
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
                await _close(websocket, BAD_MESSAGE)
                return


def _nothing(anchors: list[int]) -> None:
    """Have nothing predicted."""


async def _pass_on(message: Message, page: web.WebSocketResponse, child: AppService) -> None:
    match message:
        case Typed(text):
            await child.send_bytes(text.encode("utf-8"))
        case Size(width, height):
            await child.set_terminal_size(width, height)
        case Ping(text):
            await page.send_json(["pong", text])
        case Focus(on):
            await (child.focus() if on else child.blur())


async def _close(page: web.WebSocketResponse, closing: Closing) -> None:
    await page.close(code=closing.code, message=closing.reason.encode())


def _asked_size(query: Mapping[str, str]) -> Size:
    try:
        return size_of(query.get("width", "80"), query.get("height", "24"))
    except WireError:
        return Size(80, 24)


def _ascii(name: str) -> str:
    """A file's name for a header: letters, digits, dot and dash."""
    return "".join(c if c.isascii() and (c.isalnum() or c in ".-") else "_" for c in name)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 becomes one that is free. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        what = f"{why}: choose another --port, or another --host"
        raise OSError(error.errno, what, f"{host}:{port}") from error
