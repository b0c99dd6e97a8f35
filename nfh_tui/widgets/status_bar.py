"""The status line and the line of keys at the foot of the screen, pane titles, the keys of the
kinds under the passage, and the tour's box.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from rich.text import Text
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from nfh_tui.display_text import clip, isolate, width_of
from nfh_tui.textual_support import Painter, Tolerant, TolerantPane, one_line, pad
from nfh_tui.widgets.passage_render import Run


class Level(StrEnum):
    """The importance of a message; each level has a sign as well as a colour."""

    PLAIN = "plain"
    DONE = "done"
    REFUSED = "refused"


ROOMY = 78
"""Cells; a line of keys at least this wide has more space between its keys."""

MOST_NAME, LEAST_NAME = 16, 8
"""Maximum cells of the person's name on a wide line and on a narrow one."""

MOST_ROWS = 3
"""Maximum rows of a message on the status line."""

NEWS = "● "
"""Prefix of news."""

SIGNS = {Level.PLAIN: "", Level.DONE: "✓ ", Level.REFUSED: "✗ "}


@dataclass(frozen=True, slots=True)
class Status:
    """The content of the status line."""

    mode: str = ""
    place: str = ""
    """Position in the queue, "12/345"."""
    say: str = ""
    """The last message."""
    level: Level = Level.PLAIN
    busy: str = ""
    """What is in progress ("saving…"); empty for nothing."""
    model: str = ""
    """The state of the predictor."""
    job: str = ""
    """The running job."""
    me: str = ""
    """The person's name."""
    news: tuple[str, ...] = ()
    """Messages of background work, newest first. The newest one is shown in rows of its own,
    the others are counted."""


class OneLine(TolerantPane, Widget, can_focus=False):
    """A widget with one line of runs, which a subclass returns."""

    ALLOW_SELECT = False
    PREFIX: ClassVar[str]
    ROLES: ClassVar[tuple[str, ...]]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._painter = Painter(self, self.PREFIX, self.ROLES)

    def runs(self, width: int) -> Sequence[Run]:
        """Return the runs for a width in cells; longer ones are cut."""
        del width
        return ()

    def render_line(self, y: int) -> Strip:
        del y
        width = self.size.width
        return self._painter.row([self.runs(width)], 0, width)


class StatusLine(OneLine):
    """Mode, person, position, message, predictor; a long message takes more rows."""

    PREFIX = "status"
    ROLES = ("mode", "plain", "done", "refused", "faint")
    DEFAULT_CSS = """
    StatusLine {
        height: auto;
        background: $panel;
        & > .status--mode { color: $text-accent; text-style: bold; }
        & > .status--done { color: $text-success; text-style: bold; }
        & > .status--refused { color: $text-error; text-style: bold; }
        & > .status--faint { text-style: dim; }
    }
    """
    status: reactive[Status] = reactive(Status)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the current message, at least one."""
        del container, viewport
        return len(self.lines(width))

    def watch_status(self) -> None:
        """Resize for a new message; the screen is laid out again only if the number of rows
        changes.
        """
        if self.size.width and len(self.lines(self.size.width)) != self.size.height:
            self.refresh(layout=True)

    def render_line(self, y: int) -> Strip:
        return self._painter.row(self.lines(self.size.width), y, self.size.width)

    def lines(self, width: int) -> Sequence[Sequence[Run]]:
        """Return mode, name, position, message, and predictor, which is left out if it does not
        fit.
        """
        status = self.status
        first = [Run(f" {status.mode} ", ("mode",))]
        if status.me:
            name = clip(one_line(status.me), MOST_NAME if width >= ROOMY else LEAST_NAME)
            first.append(Run(isolate(name) + " ", ("plain",)))
        first.append(Run(f" {status.place}  ", ("faint",)))
        said = SIGNS[status.level] + one_line(status.say) if status.say else ""
        words = f"{status.busy} {said}" if status.busy else said
        room = max(0, width - sum(width_of(run.text) for run in first))
        model = _first_that_fits(status, room - width_of(words))
        level = (Level.PLAIN if status.busy else status.level).value
        start, *rest = _broken(words, room - width_of(model), width - 2)
        head = [
            *first,
            Run(pad(start, room - width_of(model)), (level,)),
            Run(model, ("faint",)),
        ]
        news = _news(status.news, width - 2)
        return [
            *([Run(f" {line}", ("done",))] for line in news),
            head,
            *([Run(f" {line}", (level,))] for line in rest),
        ]


def _news(news: Sequence[str], width: int) -> list[str]:
    """Return the newest message in at most MOST_ROWS lines, with the number of others."""
    if not news:
        return []
    more = f"  (+{len(news) - 1} more)" if len(news) > 1 else ""
    return _broken(f"{NEWS}{one_line(news[0])}{more}", width, width)


def _first_that_fits(status: Status, room: int) -> str:
    """Return the job and the predictor, the predictor alone, or nothing: the first that
    fits.
    """
    both = " · ".join(filter(None, [status.job, status.model]))
    shown = (f" {one_line(words)} " for words in (both, status.model) if words)
    return next((words for words in shown if width_of(words) <= room), "")


def _broken(words: str, first: int, others: int) -> list[str]:
    """Break a drawn sentence at spaces into at most MOST_ROWS lines; the last one may be
    cut.
    """
    lines = [""]
    for word in words.split(" "):
        room = first if len(lines) == 1 else others
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if width_of(longer) <= room or len(lines) == MOST_ROWS or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    last = first if len(lines) == 1 else others
    return [*lines[:-1], clip(lines[-1], max(0, last))]


@dataclass(frozen=True, slots=True)
class Foot:
    """The content of the line of keys."""

    title: str = ""
    """The question; empty for the usual keys."""
    keys: tuple[tuple[str, str], ...] = ()
    """Keys and their labels."""


class KeyLine(OneLine):
    """At most six keys with their actions, or the choices of a question."""

    PREFIX = "keys"
    ROLES = ("key", "word", "title")
    DEFAULT_CSS = """
    KeyLine {
        height: 1;
        background: $surface;
        & > .keys--key { color: $text-primary; text-style: bold; }
        & > .keys--word { text-style: dim; }
        & > .keys--title { color: $text-accent; text-style: bold; }
    }
    """
    foot: reactive[Foot] = reactive(Foot)

    def runs(self, width: int) -> Sequence[Run]:
        """Return the line without the entries that do not fit."""
        made = [Run(" ", ())]
        room = width - 1
        for entry in self._entries(self.foot, room):
            cells = sum(width_of(run.text) for run in entry)
            if cells > room + 1 and len(made) > 1:
                break
            made.extend(entry)
            room -= cells
        return made

    def _entries(self, foot: Foot, room: int) -> Iterable[Sequence[Run]]:
        if foot.title:
            yield [Run(clip(one_line(foot.title), room) + "  ", ("title",))]
        gap = "   " if room >= ROOMY else "  "
        for key, word in foot.keys:
            parts = [Run(one_line(key), ("key",))]
            yield [*parts, Run(f" {one_line(word)}{gap}" if word else "  ", ("word",))]


@dataclass(frozen=True, slots=True)
class Title:
    """The content of a pane title."""

    name: str = ""
    note: str = ""
    """Text at the right end."""
    active: bool = False
    hint: str = ""
    """Faint text after the name."""


class PaneTitle(OneLine):
    """A pane title: name, note, and a bar while the pane has the focus."""

    PREFIX = "title"
    ROLES = ("active", "idle", "note")
    DEFAULT_CSS = """
    PaneTitle {
        height: 1;
        background: $panel;
        & > .title--active { color: $text-accent; text-style: bold; }
        & > .title--idle { text-style: dim; }
        & > .title--note { text-style: dim; }
    }
    """
    title: reactive[Title] = reactive(Title)

    def runs(self, width: int) -> Sequence[Run]:
        """Return the line; a note that does not fit is cut at its end."""
        title = self.title
        mark = "▌" if title.active else " "
        name = mark + clip(one_line(title.name), max(0, width - 3)) + "  "
        hint = f"{title.hint}  " if title.hint else ""
        note = clip(one_line(title.note), max(0, width - width_of(name + hint) - 1))
        gap = " " * max(0, width - width_of(name + hint + note) - 1)
        style = "active" if title.active else "idle"
        return [Run(name, (style,)), Run(hint + gap + note, ("note",))]


LEAST_ROWS = 2
"""Rows in which the kinds have their full names, where one is not enough."""


@dataclass(frozen=True, slots=True)
class KindKey:
    """A key that chooses a kind of answer, with its name and its short name."""

    key: str
    name: str
    short: str
    lit: bool = False
    """The answer in the editor is of this kind."""


class KindStrip(OneLine):
    """The keys of the kinds with their names; several rows where they do not fit in one."""

    PREFIX = "kinds"
    ROLES = ("key", "word", "lit")
    DEFAULT_CSS = """
    KindStrip {
        height: auto;
        background: $surface;
        & > .kinds--key { color: $text-primary; text-style: bold; }
        & > .kinds--word { text-style: dim; }
        & > .kinds--lit { color: $text-success; text-style: bold reverse; }
    }
    """
    kinds: reactive[tuple[KindKey, ...]] = reactive(())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return len(self.rows(width))

    def watch_kinds(self) -> None:
        """Resize if the number of rows changes."""
        if len(self.rows(self.size.width)) != self.size.height:
            self.refresh(layout=True)

    def render_line(self, y: int) -> Strip:
        return self._painter.row(self.rows(self.size.width), y, self.size.width)

    def rows(self, width: int) -> Sequence[Sequence[Run]]:
        """Return one row, with short names for the longest where needed; else two with full
        names; else as many as short names need.
        """
        longest = sorted(
            self.kinds, key=lambda kind: width_of(kind.short) - width_of(kind.name)
        )
        for many in range(len(longest) + 1):
            made = self._rows(longest[:many], width)
            if len(made) <= 1:
                return made
        full = self._rows([], width)
        return full if len(full) == LEAST_ROWS else made

    def _rows(self, short: Sequence[KindKey], width: int) -> Sequence[Sequence[Run]]:
        words = [kind.short if kind in short else kind.name for kind in self.kinds]
        cells = [width_of(f"{k.key} {w}") for k, w in zip(self.kinds, words, strict=True)]
        # The spaces that are left, shared out.
        left = (width - 1 - sum(cells)) // max(1, len(cells) - 1)
        gap = max(1, min(3, left))
        rows: list[list[Run]] = []
        at = width
        for kind, word, size in zip(self.kinds, words, cells, strict=True):
            if at + gap + size > width:
                rows.append([])
                at = 1 - gap
            rows[-1].append(Run(" " * (gap if rows[-1] else 1), ()))
            key, name = ("lit", "lit") if kind.lit else ("key", "word")
            rows[-1] += [Run(kind.key, (key,)), Run(f" {word}", (name,))]
            at += gap + size
        return rows


WIDEST = 46
"""Maximum width of the box in cells."""


class TourBox(Tolerant, Static):
    """A box over the screen, without focus and keys."""

    DEFAULT_CSS = f"""
    TourBox {{
        display: none;
        layer: tour;
        position: absolute;
        width: auto;
        max-width: {WIDEST};
        height: auto;
        padding: 0 1;
        border: round $accent;
        background: $panel;
        color: $foreground;
    }}
    """

    def __init__(self) -> None:
        super().__init__(id="tour", markup=False)

    def tell(self, title: str, words: str, foot: str) -> None:
        self.update(Text.assemble((title, "bold"), "\n", words, "\n", (foot, "dim")))
        self.display = True

    def stand_by(self, target: Region, screen: Size) -> None:
        """Move the box so that it does not hide the target: beside, above or below it, else
        onto it.
        """
        width = min(WIDEST, screen.width)
        self.styles.width = width
        height = self.get_content_height(screen, screen, width - 4) + 2
        x = max(0, min(target.x + 2, screen.width - width))
        if target.bottom + height <= screen.height - 2:
            y = target.bottom
        elif target.y >= height:
            y = target.y - height
        else:
            y = max(0, min(target.bottom, screen.height - 2) - height)
            x = self._beside(target, screen.width, width, x)
        self.styles.offset = (x, y)

    @staticmethod
    def _beside(target: Region, whole: int, width: int, otherwise: int) -> int:
        """Return the column left or right of a full-height target, if there is room."""
        if target.right + width <= whole:
            return target.right
        return target.x - width if target.x >= width else otherwise
