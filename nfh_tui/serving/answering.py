"""What is answered where aiohttp would answer by itself: never a word of the request."""

from http import HTTPStatus

from aiohttp import WSCloseCode, web

from nfh_tui.serving.closing import TOO_LARGE
from nfh_tui.serving.gate import HEADERS
from nfh_tui.serving.pages import FAULT, UNREADABLE, plain


class Runner(web.AppRunner):
    """Runs the application on connections of our own kind."""

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return _Server(
            made.request_handler,
            request_factory=made.request_factory,
            access_log=None,
            debug=False,
        )


class _Server(web.Server):
    def __call__(self) -> web.RequestHandler:
        return _Connection(self, loop=self._loop, **self._kwargs)


class _Connection(web.RequestHandler):
    """A connection whose errors are told in a short page."""

    __slots__ = ()

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
