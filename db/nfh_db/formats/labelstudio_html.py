"""The text of a HyperText task, as the editor counts its characters.

The editor counts the characters of the page's text nodes, and a `br` as one line feed (its
source, RichText/domManager). Scripts and styles are taken out before.
"""

from html.parser import HTMLParser

UNSEEN = frozenset({"head", "script", "style", "iframe", "title"})


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag in UNSEEN:
            self._within.append(tag)
        elif tag == "br" and not self._within:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._within and tag == self._within[-1]:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.pieces.append(data)


def rendered(html: str) -> str:
    """The characters that regions of a page count in."""
    page = _Page()
    page.feed(html)
    page.close()
    return "".join(page.pieces)
