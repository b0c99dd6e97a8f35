"""The gate: who may pass, and what every answer forbids the browser to do."""

import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from nfh_tui.serving.address import Address
from nfh_tui.serving.connections import Connections
from nfh_tui.serving.guests import Guest, Guests
from nfh_tui.serving.logs import masked
from nfh_tui.serving.pages import NOT_INVITED, NOTHING_HERE, WRONG_ADDRESS, plain
from nfh_tui.visible import clip

log = logging.getLogger("nfh_tui.serving")

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
