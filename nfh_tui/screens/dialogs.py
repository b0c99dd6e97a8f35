"""The dialogs: texts, questions, lists, keys, bulk operations, views, trainings, and the
command palette. None of them interprets markup.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from nfh_db.bulk_plan import BulkPreview, OperationKind, Sampled
from nfh_db.similar_items import Precedent, Similar, SimilarAnswer
from nfh_models.domain import Answer, Kind, Passage, class_answer
from nfh_tui.actions import (
    ACTIONS,
    BY_ID,
    GROUPS,
    PANE_GROUPS,
    Action,
    KeyTableLine,
    Mode,
    table_lines,
)
from nfh_tui.config import LEGEND
from nfh_tui.display_text import clip, isolate, visible
from nfh_tui.editor.votes import describe
from nfh_tui.screens.base import BACK_AND_ON, SideScreen
from nfh_tui.screens.training_form import (
    FIELDS,
    RECIPE_WORDS,
    SETTINGS,
    TASKS,
    Choices,
    TrainingForm,
    command_of,
    turned,
)
from nfh_tui.services.history import local
from nfh_tui.services.report_process import ReportError
from nfh_tui.textual_support import Tolerant, start
from nfh_tui.widgets.evidence_rows import fitted, sentence_parts
from nfh_tui.widgets.input_bar import BarInput
from nfh_tui.widgets.substitution import sentence
from nfh_tui.workbench.availability import no_access, preview_lines
from nfh_tui.workbench.completion import NamedQuery

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench

FRAME_ROWS = 8
"""Rows of a dialog without text: border, title, hint, margins, and space around it."""

LIST_FRAME = 5
"""Rows of a dialog with a list without entries: border, hint, margins."""

BOX = """
    align: center middle;
    & .box {
        width: 90%;
        max-width: 96;
        height: auto;
        max-height: 100%;
        background: $surface;
        color: $foreground;
        border: round $primary;
        padding: 0 1;
    }
    & .title { color: $text-accent; text-style: bold; height: auto; margin-bottom: 1; }
    & .hint { text-style: dim; height: 1; margin-top: 1; }
"""


def visible_lines(text: str) -> str:
    """Return the visible form of a text with several lines."""
    return "\n".join(visible(line) for line in text.splitlines())


def indented(text: str) -> Group:
    """Return a text with several lines; wrapped lines keep the indentation of their start."""
    lines = visible_lines(text).split("\n")
    return Group(
        *(
            Padding(Text(line.lstrip(" ")), (0, 0, 0, len(line) - len(line.lstrip(" "))))
            for line in lines
        )
    )


class _LaidOut:
    """A text that is laid out once for each width; Textual asks for it about five times."""

    def __init__(self, body: Group | Table) -> None:
        self._body = body
        self._segments: dict[int, list[Segment]] = {}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        if width not in self._segments:
            self._segments[width] = list(console.render(self._body, options))
        return self._segments[width]


class TextDialog(Tolerant, ModalScreen[None]):
    """Shows a text; enter, escape or q closes it. end: it is scrolled to its end."""

    DEFAULT_CSS = f"""
    TextDialog {{
        {BOX}
        & VerticalScroll {{ height: auto; scrollbar-size-vertical: 1; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,question_mark,f1", "close", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup,b", "page(-1)", show=False),
        Binding("g,home", "edge(0)", show=False),
        Binding("G,end", "edge(1)", show=False),
    ]

    def __init__(
        self, title: str, body: str | Table, *, trouble: bool = False, end: bool = False
    ) -> None:
        super().__init__()
        self._at_end = end
        self._title = title
        self._body = _LaidOut(indented(body) if isinstance(body, str) else body)
        self._trouble = trouble

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            sign = "✗ " if self._trouble else ""
            yield Static(visible(sign + self._title), classes="title", markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(self._body, id="body", markup=False)
            yield Static("j k scroll · esc closes", classes="hint", markup=False)

    def on_mount(self) -> None:
        """Scroll to the end of the text if `end` is set."""
        if self._at_end:
            self.call_after_refresh(self.action_edge, 1)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the dialog once; Textual would close the screen below on a second call."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    @property
    def _scroll(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    def on_resize(self) -> None:
        """Give the text the rows that the frame leaves."""
        self._scroll.styles.max_height = max(3, self.app.size.height - FRAME_ROWS)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        self._scroll.scroll_relative(y=pages * self._scroll.size.height, animate=False)

    def action_edge(self, end: int) -> None:
        """Scroll to the start (0) or the end (1)."""
        self._scroll.scroll_to(y=self._scroll.max_scroll_y if end else 0, animate=False)


CLOSING = "ctrl+p has every action, too. To select text with the mouse, hold shift."

Why = Callable[[Action], str]
"""Returns why an action is unavailable; empty if it is available."""


def help_table(
    pane: str, mode: Mode, actions: Sequence[Action] = ACTIONS, why: Why | None = None
) -> Table:
    """Return all keys in two columns. why: returns why an action is unavailable."""
    return _in_columns(help_rows(pane, mode, actions, why))


def _in_columns(rows: Iterable[tuple[Text, Text]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for keys, words in rows:
        table.add_row(keys, words)
    return table


def help_rows(
    pane: str, mode: Mode, actions: Sequence[Action] = ACTIONS, why: Why | None = None
) -> Iterator[tuple[Text, Text]]:
    """Yield keys and their actions by group; actions of other modes name their modes."""
    reasons = {} if why is None else {action.id: why(action) for action in actions}
    first = PANE_GROUPS[pane]
    for group in (*first, *(group for group in GROUPS if group not in first)):
        lines = list(table_lines([group], actions))
        elsewhere = all(mode not in line.modes for line in lines)
        heading = Text(group, "bold underline")
        if elsewhere:
            heading = Text.assemble(heading, (f"  in {_modes(lines[0].modes)}", "italic"))
        now = [""] * len(lines) if elsewhere else [_now(line, mode, reasons) for line in lines]
        if len(set(now)) == 1 and now[0]:
            heading = Text.assemble(heading, (f"  not now: {now[0]}", "italic"))
            now = [""] * len(lines)
        yield Text(), heading
        for line, reason in zip(lines, now, strict=True):
            yield Text(line.keys, "bold"), _words(line, mode, reason, told=elsewhere)
        yield Text(), Text()
    yield Text(), Text("Signs", "bold underline")
    for sign, meaning in LEGEND:
        yield Text(sign, "bold"), Text(meaning)
    yield Text(), Text()
    yield Text(), Text(CLOSING)


def side_table(pane: str, first: Sequence[str], acts: Sequence[Action], why: Why) -> Table:
    """Return the keys of a screen beside the workbench in two columns.

    pane: name of the focused pane. first: ids of the actions on a pane. acts: the actions of
    the screen. why: returns why an action is unavailable.
    """
    by_id = {act.id: act for act in acts}
    here = [by_id[one] for one in first if one in by_id]
    # Actions that are unavailable in the pane follow those that are available.
    here.sort(key=lambda act: bool(why(act)))
    rest = [act for act in acts if act.id not in first]
    rows: list[tuple[Text, Text]] = []
    for heading, group in ((pane, here), ("This screen", rest)):
        rows += [(Text(), Text(heading, "bold underline")), *_side_rows(group, why)]
        rows.append((Text(), Text()))
    return _in_columns([*rows, (Text(), Text(CLOSING))])


def _side_rows(acts: Sequence[Action], why: Why) -> Iterator[tuple[Text, Text]]:
    """Yield a row per action; actions with the same `listed` share a row."""
    told: set[str] = set()
    for act in acts:
        if act.listed in told:
            continue
        words = Text(act.listed or act.title)
        reason = "" if act.listed else why(act)
        if act.listed:
            told.add(act.listed)
        if reason:
            words.append(f"  not now: {reason}", "italic")
        if act.description and not act.listed:
            words.append(f"  {act.description}", "dim")
        yield Text(act.shown, "bold"), words


def _now(line: KeyTableLine, mode: Mode, reasons: Mapping[str, str]) -> str:
    """Return why no action of a line is available; empty for other modes, which the row
    names.
    """
    told = [reasons.get(action_id, "") for action_id in line.ids]
    return told[0] if mode in line.modes and all(told) else ""


def _words(line: KeyTableLine, mode: Mode, now: str, *, told: bool) -> Text:
    """Return title and description. told: the group has named the modes already."""
    text = Text(line.title)
    if mode not in line.modes and not told:
        text.append(f"  in {_modes(line.modes)}", "italic")
    if now:
        text.append(f"  not now: {now}", "italic")
    if line.description:
        text.append(f"  {line.description}", "dim")
    return text


def _modes(modes: frozenset[Mode]) -> str:
    return " and ".join(mode.value for mode in Mode if mode in modes)


Count = Callable[[str], Awaitable[str]]
"""Counts the items of a query; returns a text."""

SIDES = 7
"""Cells of a dialog's width without text: border, padding, and the padding of the list."""


class ListDialog(Tolerant, ModalScreen[ScreenResultType]):
    """A dialog with a title, some lines, a list, and a hint. Subclasses define its actions."""

    DEFAULT_CSS = f"""
    ListDialog {{
        {BOX}
        & .head {{ height: auto; margin-bottom: 1; }}
        & OptionList {{
            height: auto; border: none; padding: 0; background: $surface;
            scrollbar-size-vertical: 1;
            &:focus {{ border: none; background-tint: $surface 0%; }}
        }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("j", "step(1)", show=False),
        Binding("k", "step(-1)", show=False),
        Binding("g", "edge(0)", show=False),
        Binding("G", "edge(1)", show=False),
    ]

    def __init__(self, title: str, head: Text | None, hint: str) -> None:
        super().__init__()
        self._title = title
        self._head = head
        self._hint = hint
        self.counts: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(visible(self._title), classes="title", markup=False)
            if self._head is not None:
                yield Static(self._head, classes="head", id="head", markup=False)
            yield OptionList(markup=False)
            yield Static(self._hint, classes="hint", id="hint", markup=False)

    def on_mount(self) -> None:
        self.fill()
        self.list.focus()

    def on_resize(self) -> None:
        """Give the list the rows that the frame leaves, and format its entries for the new
        width.
        """
        self.list.styles.max_height = max(3, self.app.size.height - self.frame_rows)
        # In a dialog that grows the bar of before would take cells from entries, which then
        # need more rows, and so the bar.
        self.list.show_vertical_scrollbar = False
        self.fill()

    @property
    def frame_rows(self) -> int:
        """Rows of the dialog without the list."""
        return FRAME_ROWS + (0 if self._head is None else self._rows_of(self._head) + 1)

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the dialog once; Textual would close the screen below on a second call."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    def _rows_of(self, text: Text) -> int:
        """Return the rows of a text, with wrapped lines."""
        return sum(max(1, -(-len(line) // self.room)) for line in text.plain.split("\n"))

    @property
    def list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def room(self) -> int:
        """Cells in a line of the list."""
        return max(20, min(96, self.app.size.width * 9 // 10) - SIDES)

    def entries(self) -> Sequence[Text]:
        """Return the entries of the list."""
        raise NotImplementedError

    def fill(self, at: int | None = None) -> None:
        """Format the entries again; the highlight stays, or moves to index `at`."""
        place = self.list.highlighted if at is None else at
        self.list.set_options([Option(text) for text in self.entries()])
        if self.list.option_count:
            self.list.highlighted = min(place or 0, self.list.option_count - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """React to enter on an entry."""
        event.stop()
        self.chosen(event.option_index)

    def chosen(self, place: int) -> None:
        """React to enter on the entry at an index."""
        raise NotImplementedError

    def count_soon(self, queries: Iterable[str], count: Count) -> None:
        """Count what each query finds, in the background; entries are formatted again."""

        async def count_all() -> None:
            for query in queries:
                self.counts[query] = await count(query)
                if self.is_attached:
                    self.fill()

        start(self, count_all, group="counts", description="what queries find")

    def action_close(self) -> None:
        """Close without choosing."""
        self.dismiss(None)

    def action_step(self, by: int) -> None:
        (self.list.action_cursor_down if by > 0 else self.list.action_cursor_up)()

    def action_edge(self, end: int) -> None:
        """Go to the first entry (0) or the last one (1)."""
        (self.list.action_last if end else self.list.action_first)()


class ChooseDialog(ListDialog[str | None]):
    """A list from which one entry is chosen; returns its value, or None on escape.

    options: label, secondary text, value. moved: called with the value of the highlighted
    entry.
    """

    DEFAULT_CSS = """
    ChooseDialog OptionList {
        padding: 0 1;
        scrollbar-size-vertical: 2;
        &:focus { background-tint: $foreground 5%; }
    }
    """

    def __init__(
        self,
        title: str,
        options: Sequence[tuple[str, str, str]],
        *,
        start: str | None = None,
        moved: Callable[[str], None] | None = None,
    ) -> None:
        self._values = [value for _, _, value in options]
        self._numbers = {
            value: place
            for place, (words, _, value) in enumerate(options)
            if value.isdigit() and words.split()[0] == value
        }
        move = "j k or a number" if self._numbers else "j k"
        super().__init__(title, None, f"{move} move · enter chooses · esc closes")
        self._options = options
        self._typed = ""
        self._start = start
        self._moved = moved

    def on_mount(self) -> None:
        """Highlight the current value."""
        self.fill(self._values.index(self._start) if self._start in self._values else 0)

    @property
    def frame_rows(self) -> int:
        """Rows of the frame and the title, which may be long."""
        width = min(96, self.app.size.width * 9 // 10) - 4
        return LIST_FRAME + max(1, -(-len(self._title) // max(1, width)))

    def entries(self) -> Sequence[Text]:
        """Return the labels with their secondary texts."""
        return [
            Text.assemble(visible(words), (f"  {visible(faint)}", "dim"))
            for words, faint, _ in self._options
        ]

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Report the highlighted value."""
        if self._moved is not None:
            self._moved(self._options[event.option_index][2])

    def on_key(self, event: events.Key) -> None:
        """Go to the entry with the number that is typed digit by digit."""
        here = self._numbers.get(self._typed) == self.list.highlighted
        for typed in (self._typed * here + (event.character or ""), event.character or ""):
            if typed in self._numbers:
                self._typed, self.list.highlighted = typed, self._numbers[typed]
                return

    def chosen(self, place: int) -> None:
        self.dismiss(self._options[place][2])


NO_GOLD = "no gold"
INDENT = 4
NO_NOUN = class_answer(Kind.NOT_NFH)
"""With this answer a sentence is shown unchanged."""

RULE_WORDS = {
    "unanimous": "all agreed",
    "majority": "a majority",
    "weighted": "weighted votes",
    "imported": "a file",
}


def answer_line(answer: Answer | None, passage: Passage, absent: str = NO_GOLD) -> str:
    """Return an answer in words, without control characters."""
    return visible(describe(answer, passage)) if answer is not None else absent


FLAGGING = frozenset(
    {OperationKind.FLAG, OperationKind.UNFLAG, OperationKind.SKIP, OperationKind.UNSKIP}
)
"""Operations that change no answer."""


class PreviewDialog(ListDialog[bool | None]):
    """Previews a bulk operation; the key y returns True."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "do", show=False)]

    def __init__(self, preview: BulkPreview) -> None:
        words = preview.wish.words
        head = Text("\n".join(visible(line) for line in preview_lines(preview)))
        self._preview = preview
        count = len(preview.ids)
        shown = len(preview.sample)
        if count:
            head.append(f"\n{'All of them' if shown == count else f'{shown} of them'}:", "bold")
        hint = "y applies it, z twice undoes it · j k scroll · esc cancels"
        super().__init__(words[:1].upper() + words[1:], head, hint if count else "esc closes")

    def entries(self) -> Sequence[Text]:
        """Return the sampled items: the sentence, and below it what changes."""
        return [self._entry(one) for one in self._preview.sample]

    def _entry(self, one: Sampled) -> Text:
        text = sentence(one.passage, one.anchor, self.room)
        if change := self._change(one):
            text.append(f"\n{' ' * INDENT}{clip(change, self.room - INDENT)}", "dim")
        return text

    def _change(self, one: Sampled) -> str:
        if self._preview.wish.deed in FLAGGING:
            return ""
        before = answer_line(one.before, one.passage)
        after = answer_line(one.after, one.passage, absent="withdrawn")
        return f"{before} → {after}"

    def chosen(self, place: int) -> None:
        """Ignore enter: a key that is held down since the previous list would confirm
        unread.
        """
        del place
        if self._preview.ids:
            self.query_one("#hint", Static).update("y applies it · esc cancels")

    def action_do(self) -> None:
        self.dismiss(bool(self._preview.ids))

    def action_close(self) -> None:
        """Close without doing anything."""
        self.dismiss(False)


class SimilarDialog(ListDialog[tuple[Similar, ...] | None]):
    """Similar items, one kind of similarity at a time; returns the ticked ones."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", show=False),
        Binding("asterisk", "tick_all", show=False),
        Binding("tab,l,right", "turn(1)", show=False),
        Binding("shift+tab,h,left", "turn(-1)", show=False),
    ]

    def __init__(self, title: str, alike: Sequence[SimilarAnswer]) -> None:
        hint = "space ticks · * all, none · tab next kind · enter applies · esc closes"
        super().__init__(title, Text(), hint)
        self._alike = alike
        self._at = next((n for n, one in enumerate(alike) if one.items), 0)
        # Items that would lose gold are not ticked initially.
        self._ticked = {s.anchor_id for one in alike for s in one.items if not s.note}

    @property
    def _items(self) -> tuple[Similar, ...]:
        return self._alike[self._at].items

    def entries(self) -> Sequence[Text]:
        """Return the items: tick, sentence, and what changes."""
        self._paint_head()
        return [self._entry(one) for one in self._items] or [
            Text("There are no similar items of this sort.")
        ]

    def _entry(self, one: Similar) -> Text:
        mark = "☑" if one.anchor_id in self._ticked else "☐"
        text = Text(f"{mark} ")
        text.append_text(sentence(one.passage, one.anchor, self.room - 2))
        before = answer_line(one.before, one.passage)
        votes = f"votes {one.pattern} · " if one.pattern else ""
        note = f" · {one.note}" if one.note else ""
        change = f"{votes}{before} → {answer_line(one.answer, one.passage)}{note}"
        text.append(f"\n{' ' * INDENT}{clip(change, self.room - INDENT)}", "dim")
        return text

    def _paint_head(self) -> None:
        head = Text()
        for place, one in enumerate(self._alike):
            here = place == self._at
            ticked = sum(s.anchor_id in self._ticked for s in one.items)
            head.append("▸ " if here else "  ")
            head.append(
                f"{one.likeness}: {len(one.items):,}, {ticked:,} ticked",
                "bold" if here else "dim",
            )
            left = f" · {one.left:,} more cannot take it" if one.left else ""
            head.append(f"{left}\n", "dim")
        head.rstrip()
        self._head = head
        self.query_one("#head", Static).update(head)

    def action_tick(self) -> None:
        """Tick or untick an item, and go to the next one."""
        place = self.list.highlighted
        if place is not None and place < len(self._items):
            self._ticked ^= {self._items[place].anchor_id}
            self.fill(min(place + 1, len(self._items) - 1))

    def action_tick_all(self) -> None:
        """Tick all items of the list; untick them if all are ticked."""
        ids = {one.anchor_id for one in self._items}
        self._ticked = self._ticked - ids if ids <= self._ticked else self._ticked | ids
        self.fill()

    def action_turn(self, by: int) -> None:
        """Go to another kind of similarity."""
        self._at = (self._at + by) % len(self._alike)
        self.fill(0)

    def chosen(self, place: int) -> None:
        """Return the ticked items of the list."""
        del place
        if ticked := tuple(one for one in self._items if one.anchor_id in self._ticked):
            self.dismiss(ticked)
        else:
            self.query_one("#hint", Static).update("Nothing is ticked here: space ticks one.")


def _read_again(one: Precedent, room: int) -> Text:
    """Return the sentence with the number in bold and the noun in brackets, as the evidence has
    it.
    """
    made = fitted(one, one.answer, room, 0, 1) or fitted(one, NO_NOUN, room, 0, 1)
    text = Text()
    for part, role in sentence_parts(made) if made is not None else ():
        text.append(isolate(visible(part)), "bold" if role in ("number", "put") else "")
    return text


class PrecedentDialog(ListDialog[int | None]):
    """Earlier decisions; returns the anchor of the chosen one."""

    def __init__(self, precedents: Sequence[Precedent], why: str, *, named: bool) -> None:
        """why: the reason why they are not ranked by meaning; "" if they are."""
        head = Text(f"Ranked by rule, number and noun: {why}.", "dim") if why else None
        super().__init__("Precedents", head, "enter opens it beside the queue · esc closes")
        self._precedents = precedents
        self._named = named

    def entries(self) -> Sequence[Text]:
        """Return the decisions: answer, author, time and reason; the sentence below."""
        return [self._entry(one) for one in self._precedents]

    def _entry(self, one: Precedent) -> Text:
        who = RULE_WORDS.get(one.rule.value, "an adjudicator")
        if self._named and one.by:
            who = visible(one.by)
        when = local(one.at)[:10] if one.at else ""
        tag = one.tag if one.tag and f"rule {one.tag}" not in one.why else ""
        notes = " · ".join(filter(None, [who, when, tag, *one.reasons]))
        said = clip(answer_line(one.answer, one.passage), max(10, self.room - len(notes) - 3))
        text = Text()
        text.append(said, "bold")
        text.append(f" · {notes}", "dim")
        text.append(f"\n{' ' * INDENT}")
        text.append_text(_read_again(one, self.room - INDENT))
        return text

    def chosen(self, place: int) -> None:
        self.dismiss(self._precedents[place].anchor_id)


Begin = Callable[[TrainingForm], Awaitable[int]]
"""Validates a form and queues its training; returns the job's id. Raises ReportError."""

LABELS = {
    "task": "task",
    "recipe": "recipe",
    "base": "starts from",
    "settings": "settings",
    "split": "of the split",
    "query": "learns from",
    "promote": "activates",
}
LABEL = 14
NOTHING = "nothing: this recipe learns from scratch"
USUAL_WORDS = "as usual: the active model, but small in place of base"
HINT = "enter starts it · h l change · j k move · esc closes"
TYPING = "key=value, separated by spaces · enter or esc: back to the form"
CHECKING = "checking it…"
UNSET = "the recipe's defaults"


class TrainingDialog(ListDialog[TrainingForm | None]):
    """The form of a training; returns the form when enter is pressed.

    form: the initial values. job_id: of the queued job, if `begin` has queued it.
    """

    DEFAULT_CSS = """
    TrainingDialog BarInput { display: none; margin-top: 1; background: $boost; }
    TrainingDialog .hint { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right,space", "turn(1)", show=False),
        Binding("h,left", "turn(-1)", show=False),
    ]

    def __init__(
        self, form: TrainingForm, choices: Choices, count: Count, begin: Begin
    ) -> None:
        super().__init__("Train a model", _head(form), HINT)
        self.form = form
        self.job_id: int | None = None
        self._begin = begin
        self._checking = False
        self._input = BarInput()
        self._choices = choices
        self._count = count

    def on_mount(self) -> None:
        """Fill the list and count the gold."""
        # The input is visible only while it is used.
        self.query_one(".box").mount(self._input, before="#hint")
        self.count_soon(self._choices.queries, self._count)

    def entries(self) -> Sequence[Text]:
        """Return a line per field: its name, value, and explanation."""
        return [self._entry(field) for field in FIELDS]

    def _entry(self, field: str) -> Text:
        value, faint = self._said(field)
        text = Text(f"{LABELS[field]:{LABEL}}")
        fixed = field == "base" and not self.form.from_model
        shown = f"{visible(value)}" if fixed else f"‹ {visible(value)} ›"
        text.append(clip(shown, self.room - LABEL), "dim" if fixed else "bold")
        rest = self.room - len(text.plain) - 2
        if faint and rest > 8:
            text.append(f"  {clip(visible(faint), rest)}", "dim")
        return text

    def _said(self, field: str) -> tuple[str, str]:
        form = self.form
        never = "never", "it stays a candidate until you press u"
        better = "if it is better", "on gold that neither has seen"
        return {
            "task": (form.task, TASKS[form.task]),
            "recipe": (form.recipe, RECIPE_WORDS.get(form.recipe, "")),
            "base": ((form.base or USUAL_WORDS) if form.from_model else NOTHING, ""),
            SETTINGS: (form.settings or UNSET, "" if form.settings else "l types some"),
            "split": (form.split or "any", ""),
            "query": (form.query or "all gold", self.counts.get(form.query, "…")),
            "promote": better if form.promote else never,
        }[field]

    def action_turn(self, by: int) -> None:
        """Select the next value of the field; the settings are typed in the input below."""
        field = FIELDS[self.list.highlighted or 0]
        if self._checking:
            return
        if field == SETTINGS:
            self._input.value = self.form.settings
            self._input.display = True
            self._input.focus()
            self._hint_is(TYPING)
        else:
            self._is(turned(self.form, field, by, self._choices))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Accept the typed settings."""
        event.stop()
        try:
            _ = replace(self.form, settings=self._input.value).words
        except ValueError as error:
            self._hint_is(f"! {error} {TYPING}")
            return
        self._typed()

    def action_close(self) -> None:
        """Close without starting a training; escape in the input returns to the form."""
        if self._input.display:
            self._typed()
        else:
            super().action_close()

    def _typed(self) -> None:
        self._input.display = False
        self.list.focus()
        self._is(replace(self.form, settings=self._input.value.strip()))

    def _is(self, form: TrainingForm) -> None:
        self.form = form
        self.query_one("#head", Static).update(_head(form))
        self._hint_is(HINT)
        self.fill()

    def _hint_is(self, words: str) -> None:
        self.query_one("#hint", Static).update(visible(" ".join(words.split())))

    def chosen(self, place: int) -> None:
        """Start the training. Typed values are validated first; an error leaves the form
        open.
        """
        del place
        if self.form.simple:
            self.dismiss(self.form)
        elif not self._checking:
            self._checking = True
            self._hint_is(CHECKING)
            start(self, self._check, group="checking", description="checking a training")

    async def _check(self) -> None:
        try:
            self.job_id = await self._begin(self.form)
        except (ReportError, ValueError) as error:
            self._hint_is(f"! {_sentence(str(error))}")
        else:
            self.dismiss(self.form)
        finally:
            self._checking = False


def _sentence(said: str) -> str:
    """Return the error message of a command without its usage."""
    return said.rpartition("Error: ")[2].removeprefix("nfh-tui: ")


def _head(form: TrainingForm) -> Text:
    return Text(visible(command_of(form)), "dim")


MOST_NAME = 28


@dataclass(frozen=True, slots=True)
class Picked:
    """What to do with a view: open, rename or delete it."""

    act: str
    view: NamedQuery


class ViewDialog(ListDialog[Picked | None]):
    """Views to open; your own can be renamed and deleted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "pick('rename')", show=False),
        Binding("x,delete", "pick('delete')", show=False),
        Binding("at", "close", show=False),
    ]

    def __init__(self, views: Sequence[NamedQuery], count: Count) -> None:
        hint = "enter opens · r renames and x deletes one of your own (•) · esc closes"
        super().__init__("Views", None, hint)
        self._views = views
        self._count = count

    def on_mount(self) -> None:
        """Fill the list and start counting."""
        self.count_soon([view.query for view in self._views], self._count)

    def entries(self) -> Sequence[Text]:
        """Return a line per view: name, number of items, query."""
        names = [clip(visible(view.name), MOST_NAME) for view in self._views]
        longest = max(map(len, names))
        counts = [self.counts.get(view.query, "…") for view in self._views]
        wide = max(map(len, counts))
        lines = []
        for view, name, count in zip(self._views, names, counts, strict=True):
            line = Text(f"{'•' if view.saved else ' '} {name:<{longest}}  {count:>{wide}}  ")
            rest = max(0, self.room - len(line.plain))
            line.append(clip(visible(view.query), rest), "dim")
            lines.append(line)
        return lines

    def chosen(self, place: int) -> None:
        self.dismiss(Picked("open", self._views[place]))

    def action_pick(self, act: str) -> None:
        """Rename or delete one of your own views."""
        place = self.list.highlighted
        if place is not None and self._views[place].saved:
            self.dismiss(Picked(act, self._views[place]))
        else:
            self.query_one("#hint").update(  # type: ignore[attr-defined]  # a Static
                "This view is built in; you can rename or delete only your own (•)."
            )


SIGN = "✗ "
"""Prefix of an action that is unavailable."""

PALETTES = frozenset({"palette", "side.palette"})
OF_EACH = frozenset({"help", *BACK_AND_ON.values()})
"""Actions of the workbench that the other screens have, too."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """An action in the palette."""

    action: Action
    run: Callable[[], None]
    words: str
    """What the action does."""
    why: str
    """Why it is unavailable; empty if it is available."""

    @property
    def name(self) -> str:
        """The text that is searched and shown."""
        shown = self.action.shown
        return f"{self.action.title}  ({shown})" if shown else self.action.title


def offers(screen: Screen[Any]) -> Sequence[PaletteEntry]:
    """Return all actions: those of the screen, then those of other screens."""
    if isinstance(screen, SideScreen):
        return [*_of_side(screen), *_back(screen)]
    bench: Workbench = screen  # type: ignore[assignment]  # the only other one with a palette
    return [*_of_workbench(bench), *_elsewhere(bench)]


def _of_workbench(bench: "Workbench") -> Iterator[PaletteEntry]:
    for action in bench.keymap.actions:
        if not action.where and action.id not in PALETTES:
            run = partial(bench.action_act, action.id)
            yield PaletteEntry(action, run, action.description, bench.why_not(action))


def _elsewhere(bench: "Workbench") -> Iterator[PaletteEntry]:
    """Yield actions of other screens; they open the screen and report its name and key."""
    titles = {action.id: f"{action.title} ({action.shown})" for action in bench.keymap.actions}
    for action in bench.keymap.actions:
        if action.of:
            there = " or ".join(titles[screen] for screen in action.of)
            words = f"{action.description} It opens the screen {there}."
            opener = action.of[0]
            run = partial(bench.action_act, opener)
            why = no_access(bench.state.access, action.access) or bench.why_not(BY_ID[opener])
            yield PaletteEntry(action, run, words, why)


def _of_side(screen: SideScreen) -> Iterator[PaletteEntry]:
    for action in screen.own_actions():
        if action.id not in PALETTES:
            run = partial(screen.action_side, action.id)
            yield PaletteEntry(action, run, action.description, screen.reason(action))


def _back(screen: SideScreen) -> Iterator[PaletteEntry]:
    """Yield actions of the workbench; they close the screen first."""
    if (bench := screen.bench) is None:
        return
    for action in screen.keymap.actions:
        if not action.where and action.id not in PALETTES | OF_EACH:
            run = partial(screen.go_to, action.id)
            words = f"{action.description} In the workbench."
            yield PaletteEntry(action, run, words, bench.why_not(action))


class ActionProvider(Provider):
    """Offers the registered actions, without any text of users. Runs one of them, once."""

    _chosen = False

    async def discover(self) -> Hits:
        """Yield all actions in the order of the registry, those of the screen first."""
        for offer in offers(self.screen):
            shown, words = self._shown(offer, Content(offer.name))
            yield DiscoveryHit(shown, self._run(offer), text=offer.name, help=words)

    async def search(self, query: str) -> Hits:
        """Yield the actions whose name or id matches."""
        matcher = self.matcher(query)
        for offer in offers(self.screen):
            score = max(matcher.match(offer.name), matcher.match(offer.action.id))
            if score > 0:
                shown, words = self._shown(offer, matcher.highlight(offer.name))
                yield Hit(score, shown, self._run(offer), text=offer.name, help=words)

    def _shown(self, offer: PaletteEntry, name: Content) -> tuple[Content, str]:
        """Return name and help of an action, with a sign and the reason if it is
        unavailable.
        """
        if not offer.why:
            return name, offer.words
        return Content.assemble(Content(SIGN), name).stylize("dim"), f"Not now: {offer.why}"

    def _run(self, offer: PaletteEntry) -> Callable[[], None]:
        return partial(self._do, offer)

    def _do(self, offer: PaletteEntry) -> None:
        # A held enter key chooses again before the palette has closed.
        if not self._chosen:
            self._chosen = True
            offer.run()


class Palette(Tolerant, CommandPalette):
    """A palette that accepts one choice, even if enter is held down."""

    DEFAULT_CSS = "Palette SearchIcon { display: none; }"

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the dialog once; Textual would close the screen below on a second call."""
        return super().dismiss(result) if self.is_current else AwaitComplete()
