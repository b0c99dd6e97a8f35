"""Pictures of a screen in a form that stays the same while the screen does.

Rich's SVG has ids made of the content, numbers its styles in the order of their use, and
fetches a font. Here styles are named after what they are, clips and fonts are left out, and
each piece of text stands on a line of its own, so that a change of one word changes one line
of the file.
"""

import html
import re
from collections.abc import Iterator

from textual.app import App

_STYLE = re.compile(r"\.terminal-\d+-(r\d+) \{ (.*?) ?\}")
_RECT = re.compile(
    r'<rect fill="(#[0-9a-f]{6})" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" '
    r'height="([\d.]+)" shape-rendering="crispEdges"/>'
)
_TEXT = re.compile(
    r'<text class="terminal-\d+-(r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"'
    r' clip-path="[^"]*">(.*?)</text>',
    re.DOTALL,
)
_LINE_HEIGHT, _CHARACTER = 24.4, 12.2
_RECTANGLES = f"rect {{ height: {_LINE_HEIGHT + 0.2}px; shape-rendering: crispEdges }}"
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
    'font-family="Fira Code, DejaVu Sans Mono, monospace" font-size="20" xml:space="preserve">'
)


def picture(app: App[object]) -> str:
    """The current screen as a steady SVG."""
    return steady(app.export_screenshot(simplify=True), *app.size)


def steady(svg: str, columns: int, rows: int) -> str:
    """Rich's SVG in the steady form."""
    styles = {name: _named(css) for name, css in _STYLE.findall(svg)}
    body = svg[svg.index("</defs>") :]
    used: dict[str, str] = {}
    drawn = [*_rectangles(body), *_texts(body, styles, used)]
    head = _HEAD.format(width=round(columns * _CHARACTER), height=round(rows * _LINE_HEIGHT))
    css = [_RECTANGLES, *(f".{name} {{ {rule} }}" for name, rule in sorted(used.items()))]
    return "\n".join([head, "<style>", *css, "</style>", *drawn, "</svg>", ""])


def _named(css: str) -> tuple[str, str]:
    """A name that tells the style, and the style."""
    colour = re.search(r"fill: #([0-9a-f]{6})", css)
    name = "c" + (colour[1] if colour else "none")
    for letter, sign in (("b", "bold"), ("i", "italic"), ("u", "underline"), ("s", "line-thr")):
        name += f"-{letter}" if sign in css else ""
    return name, css


def _rectangles(body: str) -> Iterator[str]:
    """Backgrounds; those of one colour side by side are one."""
    drawn: list[tuple[str, float, float, float]] = []
    for fill, *numbers in _RECT.findall(body):
        x, y, width, _ = map(float, numbers)
        if drawn:
            last_fill, last_x, last_y, last_width = drawn[-1]
            beside = abs(last_x + last_width - x) < _CHARACTER / 2
            if (fill, y) == (last_fill, last_y) and beside:
                drawn[-1] = (fill, last_x, y, x + width - last_x)
                continue
        drawn.append((fill, x, y, width))
    for fill, x, y, width in drawn:
        yield f'<rect fill="{fill}" x="{_short(x)}" y="{_short(y)}" width="{_short(width)}"/>'


def _texts(
    body: str, styles: dict[str, tuple[str, str]], used: dict[str, str]
) -> Iterator[str]:
    for style, x, y, length, text in _TEXT.findall(body):
        if text == "\n":
            continue
        name, css = styles[style]
        used[name] = css
        words = text.replace("&#160;", "\u00a0")
        yield (
            f'<text class="{name}" x="{_short(x)}" y="{_short(y)}" '
            f'textLength="{_short(length)}">{words}</text>'
        )


def _short(number: float | str) -> str:
    return f"{float(number):.1f}".removesuffix(".0")


_STEADY_TEXT = re.compile(r'<text class="[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>')


def plain(svg: str) -> list[str]:
    """The words of a steady picture, line by line as on the screen."""
    rows: dict[int, dict[int, str]] = {}
    for x, y, words in _STEADY_TEXT.findall(svg):
        row = round((float(y) - 20) / _LINE_HEIGHT)
        column = round(float(x) / _CHARACTER)
        rows.setdefault(row, {})[column] = html.unescape(words).replace("\u00a0", " ")
    return [_joined(rows.get(row, {})) for row in range(max(rows, default=-1) + 1)]


def _joined(pieces: dict[int, str]) -> str:
    line = ""
    for column, words in sorted(pieces.items()):
        line = line.ljust(column) + words
    return line.rstrip()
