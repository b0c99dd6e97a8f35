"""Connections as this server holds them, and what aiohttp would answer by itself.

That is never a word of the request.
"""

import asyncio
from http import HTTPStatus

from aiohttp import WSCloseCode, web

from nfh_tui.serving.closing import TOO_LARGE
from nfh_tui.serving.connections import LINGERING, SECONDS_TO_ASK, Connections
from nfh_tui.serving.gate import HEADERS
from nfh_tui.serving.pages import FAULT, UNREADABLE, plain


class Runner(web.AppRunner):
    """Runs the application on connections of our own kind.

    connections: told of each.
    """

    def __init__(
        self, app: web.Application, connections: Connections, *, shutdown_timeout: float
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
            keepalive_timeout=SECONDS_TO_ASK,
            lingering_time=LINGERING,
        )
        server.held = self._connections
        return server


class _Server(web.Server):
    held: Connections

    def __call__(self) -> web.RequestHandler:
        made = _Connection(self, loop=self._loop, **self._kwargs)
        made.held = self.held
        return made


class _Connection(web.RequestHandler):
    """A connection that counts, and whose errors are told in a short page."""

    __slots__ = ("held",)
    held: Connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to count."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.held.came(self, str(peer[0]) if peer else "")

    def connection_lost(self, exc: BaseException | None) -> None:
        """Count no more."""
        self.held.gone(self)
        super().connection_lost(exc)

    def drop(self) -> None:
        """End it at once, whatever was to be said yet."""
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Log it, and answer in our own words: aiohttp's repeat the request."""
        super().handle_error(request, status, exc, message)
        answer = plain(
            FAULT if status >= HTTPStatus.INTERNAL_SERVER_ERROR else UNREADABLE, status
        )
        answer.headers.update(HEADERS)
        answer.force_close()
        return answer


class PageSocket(web.WebSocketResponse):
    """A page's socket; one that is closed for the size of a message tells so."""

    async def close(
        self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True
    ) -> bool:
        """Close it, with a reason where aiohttp has none."""
        if code == WSCloseCode.MESSAGE_TOO_BIG and not message:
            message = TOO_LARGE.reason.encode()
        return await super().close(code=code, message=message, drain=drain)
