"""The line of state and the line of keys at the foot of the screen, and the box of the tour."""

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

from nfh_tui.display_text import clip, isolated, width_of
from nfh_tui.textual_support import EnduringPane, Painter, one_line, pad
from nfh_tui.widgets.passage_render import Run


class Level(StrEnum):
    """How much a sentence wants to be seen; each has its sign besides its colour."""

    PLAIN = "plain"
    DONE = "done"
    REFUSED = "refused"


ROOMY = 78
"""Cells from which on the keys at the foot stand further apart."""

MOST_NAME, LEAST_NAME = 16, 8
"""Most cells of the name of who works, on a wide line and on a narrow one."""

MOST_ROWS = 3
"""Rows that a sentence on the line of state may take."""

NEWS = "● "
"""Before what is new."""

SIGNS = {Level.PLAIN: "", Level.DONE: "✓ ", Level.REFUSED: "✗ "}


@dataclass(frozen=True, slots=True)
class Status:
    """What the line of state shows.

    say: the last sentence. busy: what is under way ("saving…"), "" for nothing.
    place: "12/345" in the queue. model: the predictor's state. job: the one that runs. me: who
    is working. news: of work that went on by itself, the latest first, which has rows of its
    own; of the others it is said that they are there.
    """

    mode: str = ""
    place: str = ""
    say: str = ""
    level: Level = Level.PLAIN
    busy: str = ""
    model: str = ""
    job: str = ""
    me: str = ""
    news: tuple[str, ...] = ()


class OneLine(EnduringPane, Widget, can_focus=False):
    """A widget of one line, drawn of runs that a subclass gives."""

    ALLOW_SELECT = False
    PREFIX: ClassVar[str]
    ROLES: ClassVar[tuple[str, ...]]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._painter = Painter(self, self.PREFIX, self.ROLES)

    def notify_style_update(self) -> None:
        """Colours changed: make all looks anew."""
        super().notify_style_update()
        self._painter.forget()

    def runs(self, width: int) -> Sequence[Run]:
        """What the line shows in so many cells; what is longer is cut."""
        del width
        return ()

    def render_line(self, y: int) -> Strip:
        """The line."""
        del y
        width = self.size.width
        strip = self._painter.strip(self.runs(width))
        return strip.adjust_cell_length(width, self._painter.base)


class StatusLine(OneLine):
    """Mode, person, place, what was said last, the model: more lines for a long sentence."""

    PREFIX = "status"
    ROLES = ("mode", "plain", "done", "refused", "faint")
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"status--{role}" for role in ROLES}
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
        """Rows for the sentence as it is, at least one."""
        del container, viewport
        return len(self.lines(width))

    def watch_status(self) -> None:
        """Take the rows that the sentence needs; the screen is laid out only if they change."""
        if self.size.width and len(self.lines(self.size.width)) != self.size.height:
            self.refresh(layout=True)

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        width = self.size.width
        lines = self.lines(width)
        strip = self._painter.strip(lines[y] if y < len(lines) else ())
        return strip.adjust_cell_length(width, self._painter.base)

    def lines(self, width: int) -> Sequence[Sequence[Run]]:
        """Mode, name, place, sentence, model; no model where the sentence needs its room."""
        status = self.status
        first = [Run(f" {status.mode} ", ("mode",))]
        if status.me:
            name = clip(one_line(status.me), MOST_NAME if width >= ROOMY else LEAST_NAME)
            first.append(Run(isolated(name) + " ", ("plain",)))
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
    """The latest news, in MOST_ROWS lines at most."""
    if not news:
        return []
    more = f"  (+{len(news) - 1} more)" if len(news) > 1 else ""
    return _broken(f"{NEWS}{one_line(news[0])}{more}", width, width)


def _first_that_fits(status: Status, room: int) -> str:
    """The job and the model, the model alone, or nothing."""
    both = " · ".join(filter(None, [status.job, status.model]))
    shown = (f" {one_line(words)} " for words in (both, status.model) if words)
    return next((words for words in shown if width_of(words) <= room), "")


def _broken(words: str, first: int, others: int) -> list[str]:
    """A drawn sentence in at most MOST_ROWS lines, broken at spaces; the last may be cut."""
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
    """The line of keys. title: what is asked, "" for the usual keys. keys: key and word."""

    title: str = ""
    keys: tuple[tuple[str, str], ...] = ()


class KeyLine(OneLine):
    """At most six keys with what they do, or the choices of a question."""

    PREFIX = "keys"
    ROLES = ("key", "word", "title")
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"keys--{role}" for role in ROLES}
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
        """The line; whole entries are left out where they do not fit."""
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
    """The line over a pane. note stands at the right, hint faintly behind the name."""

    name: str = ""
    note: str = ""
    active: bool = False
    hint: str = ""


class PaneTitle(OneLine):
    """One line over a pane: its name, a note, and a bar while the pane is in use."""

    PREFIX = "title"
    ROLES = ("active", "idle", "note")
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"title--{role}" for role in ROLES}
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
        """The line; of a note that does not fit the start is shown."""
        title = self.title
        mark = "▌" if title.active else " "
        name = mark + clip(one_line(title.name), max(0, width - 3)) + "  "
        hint = f"{title.hint}  " if title.hint else ""
        note = clip(one_line(title.note), max(0, width - width_of(name + hint) - 1))
        gap = " " * max(0, width - width_of(name + hint + note) - 1)
        style = "active" if title.active else "idle"
        return [Run(name, (style,)), Run(hint + gap + note, ("note",))]


WIDEST = 46
"""Most cells of the box."""


class TourBox(EnduringPane, Static):
    """Lies over the screen, takes no focus and no key by itself."""

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
        """Fill the box."""
        self.update(Text.assemble((title, "bold"), "\n", words, "\n", (foot, "dim")))
        self.display = True

    def stand_by(self, target: Region, screen: Size) -> None:
        """Go where the target is not hidden: beside it, over or under it, else upon it."""
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
        """Left or right of a target as high as the screen, where there is room."""
        if target.right + width <= whole:
            return target.right
        return target.x - width if target.x >= width else otherwise
