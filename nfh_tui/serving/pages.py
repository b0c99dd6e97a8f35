"""The pages that hold nothing of the database, and the one that holds the terminal."""

import re
from html import escape
from importlib.resources import files

from aiohttp import web

from nfh_tui.serving.guests import Guest

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

FIELD = re.compile(r"\{(name|mode|font-size)\}")

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
    text = FIELD.sub(lambda found: escape(said[found[1]]), page)
    return web.Response(text=text, content_type=TEXT)


def _size(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) < 4):
        return USUAL_FONT_SIZE
    return min(max(int(given), FONT_SIZES[0]), FONT_SIZES[1])
