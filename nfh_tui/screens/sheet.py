"""The review sheet: one line an item; the ticked ones are accepted as one act."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING

from textual import _time, events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from nfh_db.bulk_plan import SheetDone
from nfh_db.records import AnchorItem, Annotator, Exposure, FlagName, Role
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, class_answer, compare
from nfh_tui.display_text import clip, cut_left, isolate, visible, width_of
from nfh_tui.editor import votes
from nfh_tui.editor.commands import act, first_state, key, prompt
from nfh_tui.editor.state import (
    AnswerSource,
    EditOutcome,
    EditState,
    Pending,
    answer,
    normalized,
    without_pending,
)
from nfh_tui.textual_support import (
    Painter,
    Tolerant,
    TolerantPane,
    Typed,
    pad,
    sentence_of,
    start,
)
from nfh_tui.widgets.evidence_rows import answer_words, sentence_parts
from nfh_tui.widgets.passage import PassageView
from nfh_tui.widgets.passage_render import Roles, Run
from nfh_tui.widgets.queue_list import FLAG_SIGNS, HERE, KIND_SHORT
from nfh_tui.widgets.status_bar import (
    Foot,
    KeyLine,
    Level,
    PaneTitle,
    StatusLine,
    Title,
)
from nfh_tui.widgets.substitution import fill
from nfh_tui.workbench.changes import undo_words
from nfh_tui.workbench.command_queue import Callback, CommandQueue, KeyPress
from nfh_tui.workbench.controller import RefusedError
from nfh_tui.workbench.display import local_time
from nfh_tui.workbench.session import ItemClock

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench

AT_ONCE = 2_000
"""Items of the queue that are looked through at a time."""

PAGE_READ = 4
"""A sheet is accepted at the earliest after so many times the seconds that one item takes."""

KIND, VOTES, MODEL, SIGNS = 11, 9, 8, 2
"""Cells of the columns after the sentence."""

TICK_END = 6
"""Cells of a row's number and tick."""

NO_NOUN = class_answer(Kind.NOT_NFH)
"""With this answer a sentence is shown unchanged."""

EDITS = frozenset({
    *(f"kind.{kind}" for kind in ("reference", "year", "age", "currency", "people", "time")),
    *("kind.other", "kind.unknown", "kind.not_nfh", "kind.broken", "hint.start"),
    *("relation.and", "relation.or", "head.drop_last", "adopt.model", "adopt.nobody"),
    *("cursor.next_turn", "cursor.previous_turn"),
})  # fmt: skip
"""Actions of the editor that a sheet has."""

TICKS = frozenset({"head.toggle", "mentions.all"})

EARLY = "Too early: this sheet is not accepted. Read it, then press the key again."
UNSEEN = "Too early: the key came before this sheet was in view. Press it again."
NOUN_ELSEWHERE = "The noun is written in the workbench: esc goes there, and keeps this answer."
NONE_TICKED = "No row is ticked: space ticks one, pgdn continues without."
NONE_HERE = "No item from here on fits a review sheet: none is undecided with a proposal."
KEYS = """\
j k, or a row's number   go to a row
]                        the next row that waits for your answer
space                    tick or untick
*                        tick all, or none
r y a c p t o n x d      give another answer
f                        letters on the nouns of the passage; } { show its other turns
m                        the model's answer
0                        clear the answer
enter                    accept what is ticked, as one act; the next sheet follows
z                        undo the change of this row, else the last sheet
pgdn pgup                the next sheet, the one before, without accepting
esc                      back to the workbench, at this item

Rows that say “decide” are left blank on purpose, 1 in 8, so that you judge unprompted: they
show neither votes nor the model before they are saved. No sheet has items of an audit or a
double, items without a proposal, or items that you skipped or have begun.
"""


@dataclass(slots=True)
class SheetRow:
    """An item of the sheet."""

    place: int
    """In the queue."""
    stored: AnchorItem
    item: AnchorItem
    """As it is shown; of an item left blank on purpose without what others say."""
    edit: EditState
    initial: EditState
    votes: str
    """How many gave the proposal; "" of an item left blank on purpose."""
    ticked: bool

    @property
    def made(self) -> Answer | str:
        """The answer, or what is missing."""
        return answer(without_pending(self.edit), self.item)

    @property
    def is_changed(self) -> bool:
        return self.edit.content != self.initial.content

    @property
    def waits(self) -> bool:
        """Whether the row has no answer yet."""
        return isinstance(self.made, str)


def row_of(place: int, item: AnchorItem, me: str) -> SheetRow | None:
    """The row of an item; None for one without a proposal, and for one to be decided blind."""
    found = votes.proposal(item)
    edit = first_state(item, me, Role.ADJUDICATOR)
    begun = edit.source not in (AnswerSource.PROPOSAL, AnswerSource.EMPTY)
    if item.withheld or found is None or begun:
        return None
    held = votes.is_withheld(item, me)
    flagged = any(flag.name != FlagName.SKIP for flag in item.flags)
    row = SheetRow(place, item, item, edit, edit, found.votes, ticked=False)
    if held:
        row.item, row.votes = unprompted(item), ""
    row.ticked = not (held or flagged or row.waits)
    return row


def read_rows(
    store: Store,
    ids: Sequence[int],
    first: int,
    me: Annotator,
    seen: Callable[[AnchorItem], AnchorItem],
    most: int,
) -> tuple[list[SheetRow], int]:
    """Read the rows of these items, and the place in the queue to read on from.

    first: the place of the first item. seen: returns an item as the person may see it. most:
    maximum number of rows.
    """
    rows: list[SheetRow] = []
    places = {anchor_id: first + n for n, anchor_id in enumerate(ids)}
    for anchor_id in store.bulk.for_sheet(ids, me):
        if len(rows) == most:
            return rows, places[anchor_id]
        item = store.items.read(anchor_id, me, Role.ADJUDICATOR)
        if item is not None and (row := row_of(places[anchor_id], seen(item), me.name)):
            rows.append(row)
    return rows, first + len(ids)


def unprompted(item: AnchorItem) -> AnchorItem:
    """The item without anything that annotators or models say of it."""
    return replace(
        item, votes=(), stale_votes=(), flags=(), notes=(), blocking=(), pattern="",
        prediction=None, identification=None, others=(), doubted=None, competences=(),
        model_hidden=True,
    )  # fmt: skip


class SheetList(TolerantPane, Widget, can_focus=False):
    """The rows of a sheet, without scrolling: what is accepted is in view."""

    ALLOW_SELECT = False
    ROLES = ("around", "current", "mark", "word", "put", "note", "differs", "waits")
    DEFAULT_CSS = """
    SheetList {
        height: 1fr;
        min-height: 3;
        background: $surface;
        color: $foreground;
        & > .sheet--around { text-style: dim; }
        & > .sheet--current { background: $panel; }
        & > .sheet--mark { color: $text-accent; text-style: bold; }
        & > .sheet--word { text-style: bold not dim; }
        & > .sheet--put { color: $text-success; text-style: not dim; }
        & > .sheet--note { text-style: dim; }
        & > .sheet--differs { color: $text-warning; text-style: bold; }
        & > .sheet--waits { color: $text-accent; text-style: bold; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[SheetRow] = ()
        self.at = 0
        self._painter = Painter(self, "sheet", self.ROLES)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y >= len(self.rows):
            return self._painter.blank(width)
        row, lies = self.rows[y], (("current",) if y == self.at else ())
        made = row.made
        runs = [
            Run(f"{HERE if lies else ' '}{y + 1:>2} ", (*lies, "mark" if lies else "note")),
            Run("☑ " if row.ticked else "☐ ", (*lies, "mark" if row.waits else "word")),
            *self._sentence(row, made, max(10, width - 7 - KIND - VOTES - MODEL - SIGNS), lies),
            *self._columns(row, made, lies),
        ]
        return self._painter.strip(runs).crop_extend(0, width, self._painter.look(lies))

    def _sentence(
        self, row: SheetRow, made: Answer | str, room: int, lies: Roles
    ) -> Iterator[Run]:
        """Yield the sentence in exactly `room` cells; the numbers stand below each other."""
        said = NO_NOUN if isinstance(made, str) else made
        filled = fill(row.item, said, room) or fill(row.item, NO_NOUN, room)
        if filled is None:
            yield Run(" " * room, lies)
            return
        left = room * 2 // 5
        lead = cut_left(visible(f"{filled.before}{filled.gap}"), left)
        yield Run(" " * (left - width_of(lead)) + isolate(lead), (*lies, "around"))
        room -= left
        for words, role in sentence_parts(replace(filled, before="", after="")):
            text = clip(visible(words), room)
            room -= width_of(text)
            part = {"number": ("word",), "put": ("put",)}.get(role, ())
            yield Run(isolate(text), (*lies, *part))
        yield Run(isolate(pad(visible(filled.after), room)) + " ", (*lies, "around"))

    def _columns(self, row: SheetRow, made: Answer | str, lies: Roles) -> Iterator[Run]:
        if isinstance(made, str):
            yield Run(pad("decide", KIND), (*lies, "waits"))
        else:
            yield Run(pad(KIND_SHORT[made.kind], KIND), lies)
        yield Run(pad("yours" if row.is_changed else row.votes, VOTES), (*lies, "note"))
        says = votes.model_answer(row.item)
        if says is None or isinstance(made, str):
            yield Run(" " * MODEL, lies)
        elif compare(made, says, row.item.passage.lemmas).blocking is None:
            yield Run(pad("model =", MODEL), (*lies, "note"))
        else:
            yield Run(pad("model ≠", MODEL), (*lies, "differs"))
        names = {flag.name for flag in row.item.flags}
        signs = "".join(sign for name, sign in FLAG_SIGNS.items() if name in names)
        yield Run(pad(signs, SIGNS), (*lies, "differs"))


class SheetScreen(Tolerant, Screen[int | None]):
    """Sheets of the queue, one after the other; returns the item where the workbench goes on.

    told: what was done, for the workbench.
    """

    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    SheetScreen {
        background: $background;
        & PassageView { height: 25%; min-height: 5; padding: 0 1; color: $foreground; }
    }
    """

    def __init__(self, bench: "Workbench") -> None:
        super().__init__()
        self.told, self.level = "", Level.PLAIN
        self._count, self._last = 0, ""
        """Decided in all; what the last act said."""
        self.rows: list[SheetRow] = []
        """Of this sheet; a window that became lower shows the first of them."""
        self.commands = CommandQueue()
        self._bench, self._store = bench, bench.client.store
        self._start = self._next = bench.state.position.index
        self._before: list[int] = []
        self._accepted: list[tuple[int, int, list[SheetRow]]] = []
        """Act, place of the next sheet, and rows of what was accepted."""
        self._typed = ""
        self._drawn_at: float | None = None
        self._runs = False
        self._pressed_at = 0.0
        options = bench.config.options
        self._clock = ItemClock(idle=options.idle_seconds)
        self._least = PAGE_READ * bench.answers.least_in_view
        self._list = SheetList()
        self._title = PaneTitle(id="sheet-title")
        self._answer = PaneTitle(id="sheet-answer")
        self.passage = PassageView(id="sheet-passage")
        self.status = StatusLine()
        self._keys = KeyLine()
        self._handlers: Mapping[str, Callable[[], Awaitable[None] | None]] = {
            **dict.fromkeys(("queue.next", "cursor.down"), partial(self._move, 1)),
            **dict.fromkeys(("queue.previous", "cursor.up"), partial(self._move, -1)),
            "queue.first": partial(self._go, 0),
            "queue.last": partial(self._go, -1),
            "queue.next_undecided": partial(self._to_waiting, 1),
            "queue.previous_undecided": partial(self._to_waiting, -1),
            "head.toggle": self._tick,
            "mentions.all": self._tick_all,
            "accept": self._accept,
            "undo": self._undo,
            "page.down": self._leave,
            "page.up": self._back,
            "help": partial(bench.prompts.show_text, "Keys of the review sheet", KEYS),
            **dict.fromkeys(("out", "quit"), self._leave_sheets),
        }

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._list
        yield self._answer
        yield self.passage
        yield self.status
        yield self._keys

    def on_mount(self) -> None:
        """Take over the keys that came right after the one that opened the sheet."""
        for press in reversed(list(self._bench.commands.presses())):
            self.commands.put_back(press)

    def on_resize(self) -> None:
        """Fill the new height."""
        self.call_after_refresh(self._fit_soon)

    def _fit_soon(self) -> None:
        """Fill the height; the command loop starts once the list has one, with the first
        sheet.
        """
        if self._runs:
            self.commands.put(Callback(self._fit))
            return
        self._runs = True
        self.commands.put_back(Callback(self._fit))
        start(self, self._run, group="commands", description="the keys of the review sheet")

    def on_click(self, event: events.Click) -> None:
        """Go to the row that is clicked; a click on its tick ticks or unticks it."""
        if event.widget is self._list and event.y < len(self.shown):
            self._go(event.y)
            if event.x < TICK_END:
                self.commands.put(KeyPress("space", " ", event.time))

    # --- keys -------------------------------------------------------------------------------

    async def take(self, event: Typed) -> bool:
        """Queue a key; returns False for keys of the app."""
        if not isinstance(event, events.Key):
            return True
        if self._bench.keymap.action_of(event.key) is None and not event.is_printable:
            return False
        self.commands.put(KeyPress(event.key, event.character, event.time))
        return True

    async def _run(self) -> None:
        while True:
            command = await self.commands.get()
            try:
                if isinstance(command, Callback):
                    await command.run()
                elif isinstance(command, KeyPress):
                    self._clock.touch()
                    self._say("")
                    await self._press(command)
            except RefusedError as refused:
                self._say(str(refused), Level.REFUSED)
            except Exception as error:  # noqa: BLE001  # a fault must not lose the ticks
                self._set(busy="")
                await self._bench.prompts.show_error(sentence_of(error))

    async def _press(self, press: KeyPress) -> None:
        row, digit = self.row, press.character or ""
        self._pressed_at = press.at
        view = self.passage.tokens_in_view
        outcome = None
        if row is not None:
            outcome = key(row.edit, row.item, press.key, press.character, view)
            if outcome and outcome.refused and row.edit.pending is Pending.SORT:
                # The sort is optional: any other key ends the question, and does what it does.
                row.edit, outcome = normalized(without_pending(row.edit)), None
        if row is not None and outcome is not None:
            self._apply(row, outcome)
            return
        if digit and digit in ("0123456789" if self._typed else "123456789"):
            self._to_number(digit)
            return
        self._typed = ""
        action = self._bench.keymap.action_of(press.key) or ""
        drawn = self._drawn_at
        if self._least and action in EDITS | TICKS and (drawn is None or press.at < drawn):
            raise RefusedError(UNSEEN)
        if row is not None and action in EDITS:
            self._apply(row, act(row.edit, row.item, action, view=view))
        elif (handler := self._handlers.get(action)) is None:
            raise RefusedError("This key does nothing in a review sheet. ? lists the keys.")
        elif isawaitable(done := handler()):
            await done

    def _apply(self, row: SheetRow, outcome: EditOutcome) -> None:
        """Apply what the editor made of a row; a row with a new answer is ticked."""
        if outcome.refused:
            raise RefusedError(outcome.say or "")
        before, row.edit = row.edit.content, outcome.state
        if before != row.edit.content:
            row.ticked = not row.waits
            self._keep(row)
        self._say(NOUN_ELSEWHERE if outcome.ask else outcome.say or "")
        self._show()

    def _keep(self, row: SheetRow) -> None:
        """Keep the answer of a row as a draft, until it is accepted."""
        draft = (row.item.anchor_id, Role.ADJUDICATOR)
        edit = row.edit if row.is_changed else None
        self._bench.state.drafts[draft] = edit
        self._bench.answers.write_draft(draft, edit)

    # --- rows -------------------------------------------------------------------------------

    @property
    def shown(self) -> Sequence[SheetRow]:
        """The rows in view."""
        return self.rows[: self._list.size.height]

    @property
    def rests(self) -> bool:
        """Whether a sheet is drawn and nothing is being read or saved."""
        return self._drawn_at is not None and not self.status.status.busy

    @property
    def row(self) -> SheetRow | None:
        """The current row."""
        return self.shown[self._list.at] if self._list.at < len(self.shown) else None

    def _go(self, at: int) -> None:
        self._list.at = at % len(self.shown) if self.shown else 0
        self._show()

    def _move(self, by: int) -> None:
        self._go(min(max(self._list.at + by, 0), len(self.shown) - 1))

    def _to_waiting(self, by: int) -> None:
        rows, at = self.shown, self._list.at
        places = range(at + 1, len(rows)) if by > 0 else range(at - 1, -1, -1)
        found = next((place for place in places if rows[place].waits), None)
        if found is None:
            raise RefusedError("No other row of this sheet needs your answer.")
        self._go(found)

    def _to_number(self, digit: str) -> None:
        """Go to a row by its number, typed digit by digit."""
        for typed in (self._typed + digit, digit):
            if 0 < int(typed) <= len(self.shown):
                self._typed = typed
                self._go(int(typed) - 1)
                return
        raise RefusedError(f"There is no row {digit}.")

    def _tick(self) -> None:
        """Tick or untick the row."""
        if (row := self.row) is None:
            return
        if isinstance(made := row.made, str) and not row.ticked:
            raise RefusedError(made)
        row.ticked = not row.ticked
        self._move(1)

    def _tick_all(self) -> None:
        """Tick all rows that have an answer; untick them if all are ticked."""
        able = [row for row in self.shown if not row.waits]
        ticked = not all(row.ticked for row in able)
        for row in able:
            row.ticked = ticked
        self._show()

    # --- sheets -----------------------------------------------------------------------------

    async def _fit(self) -> None:
        """Show as many rows as there is room for, with those that were read before."""
        if not self.rows:
            await self._load(self._start)
        elif len(self._list.rows) < self._list.size.height:
            await self._fill()
            if len(self.shown) > len(self._list.rows):
                self._await_drawing()
        self._go(min(self._list.at, max(0, len(self.shown) - 1)))

    async def _fill(self) -> None:
        """Read rows until the list is full or the queue ends."""
        state, most = self._bench.state, self._list.size.height
        self._set(busy="looking…")
        while len(self.rows) < most and self._next < len(state.ids):
            ids = state.ids.slice(self._next, self._next + AT_ONCE)
            rows, self._next = await self._bench.client.read(
                read_rows, self._store, ids, self._next, state.me, state.blinding.visible,
                most - len(self.rows),
            )  # fmt: skip
            self.rows += rows
        self._set(busy="")
        for row in self.rows:
            self._bench.item.exposure.note(
                row.item, state.me.name, judging=True, evidence=False, scores=True
            )

    async def _load(self, place: int) -> None:
        """Show the sheet that begins at a place of the queue; close after the last one."""
        self.rows, self._start, self._next = [], place, place
        await self._fill()
        await self._begin()

    async def _begin(self) -> None:
        waiting = (place for place, row in enumerate(self.shown) if row.waits)
        self._list.at = next(waiting, 0)
        if not self.rows:
            # The queue has no further item for a sheet.
            self._close()
            return
        self._clock.start()
        self._await_drawing()
        self._show()

    def _await_drawing(self) -> None:
        """Begin the time for which the rows are in view."""

        def drawn() -> None:
            # The clock by which the times of keys are taken.
            self._drawn_at = _time.get_time()

        self._drawn_at = None
        self.call_after_refresh(drawn)

    async def _leave(self) -> None:
        """Go to the next sheet without accepting; begun answers stay as drafts."""
        self._before.append(self._start)
        await self._load(self._following)

    @property
    def _following(self) -> int:
        """The place at which the next sheet begins."""
        shown = len(self.shown)
        return self.rows[shown].place if shown < len(self.rows) else self._next

    async def _back(self) -> None:
        if not self._before:
            raise RefusedError("This is the first sheet.")
        await self._load(self._before.pop())

    async def _accept(self) -> None:
        """Decide the ticked rows as one act, and show the next sheet."""
        given = {
            row.item.anchor_id: made
            for row in self.shown
            if row.ticked and isinstance(made := row.made, Answer)
        }
        if not given:
            raise RefusedError(NONE_TICKED)
        drawn, pressed = self._drawn_at, self._pressed_at
        if self._least and (drawn is None or pressed - drawn < self._least):
            # Each early key starts the time again, so that a held key accepts nothing.
            self._drawn_at = None if drawn is None else max(drawn, pressed)
            raise RefusedError(EARLY)
        state, rows, following = self._bench.state, self.rows, self._following
        seconds = round(self._clock.seconds / len(self.shown), 2)
        self._set(busy="saving…")
        await self._bench.answers.draft_writer.flush()
        done = await self._bench.client.write(
            self._store.bulk.accept_sheet, given, state.me, partial(self._exposure, seconds)
        )
        for anchor_id in done.decided:
            state.drafts[anchor_id, Role.ADJUDICATOR] = None
        self._count, self._last = self._count + len(done.decided), self._done_words(done)
        if done.act_id is not None:
            self._accepted.append((done.act_id, following, rows))
        self._before.append(self._start)
        await self._load(following)
        self._say(self._last, Level.DONE if done.decided else Level.REFUSED)

    def _exposure(self, seconds: float, anchor_id: int) -> Exposure:
        seen = self._bench.item.exposure
        return Exposure(
            seen.of_model(anchor_id), seen.of_others(anchor_id), seconds, in_sheet=True
        )

    def _done_words(self, done: SheetDone) -> str:
        """Say what was saved and left, and how the answers to rows left blank compare."""
        rows = {row.item.anchor_id: row for row in self.shown}
        parts = [f"{len(done.decided):,} decided, saved {local_time(done.at)}"]
        for anchor_id, why in done.left.items():
            named = "already decided" if self._bench.state.blind else why
            parts.append(f"item {rows[anchor_id].place + 1:,} is left as it is: {named}")
        compared = [
            votes.with_withheld(row.stored, self._bench.state.me.name, made)
            for row in map(rows.__getitem__, done.decided)
            if isinstance(made := row.made, Answer)
        ]
        if differences := [one[1] for one in compared if one is not None]:
            same = differences.count(None)
            parts.append(f"left blank: {same} of {len(differences)} as the votes say")
        return "; ".join(parts)

    async def _undo(self) -> None:
        """Take back the change of the row, else the last sheet that was accepted."""
        row, state = self.row, self._bench.state
        if row is not None and row.is_changed:
            row.edit, row.ticked = row.initial, bool(row.votes) and not row.waits
            self._keep(row)
            self._show()
            return
        if not self._accepted:
            raise RefusedError("There is nothing of these sheets to undo.")
        act_id, following, rows = self._accepted[-1]
        found = await self._bench.client.read(self._store.edits.settlement_to_undo, state.me)
        if found is None or found[0] != act_id:
            raise RefusedError("Your last act is not of this sheet: press esc, then z.")
        undone = await self._bench.client.write(self._store.edits.undo, state.me)
        self._accepted.pop()
        self.rows, self._next = rows, following
        self._start = self._before.pop() if self._before else rows[0].place
        for row in rows:
            if row.is_changed:
                self._keep(row)
        await self._begin()
        if undone is not None:
            self._count -= undone.anchors
            self._last = f"undone: {undo_words(undone)}"
            self._say(self._last, Level.DONE)

    # --- leaving ----------------------------------------------------------------------------

    def _leave_sheets(self) -> None:
        """Close the screen; keys that follow are the workbench's."""
        for press in self.commands.presses():
            self._bench.commands.put(press)
        self._close()

    def _close(self) -> None:
        if self._last:
            several = f" {self._count:,} decided in all;" if len(self._accepted) > 1 else ""
            self.told, self.level = f"review sheet:{several} {self._last}", Level.DONE
        elif not self.rows:
            self.told, self.level = NONE_HERE, Level.REFUSED
        if self.is_current:  # a second call would close the screen below
            self.dismiss(None if (row := self.row) is None else row.item.anchor_id)

    # --- drawing ----------------------------------------------------------------------------

    def _say(self, sentence: str, level: Level = Level.PLAIN) -> None:
        self._set(say=sentence, level=level)

    def _set(self, **changes: object) -> None:
        self.status.status = replace(self.status.status, **changes)  # type: ignore[arg-type]  # names and types are Status's own

    def _show(self) -> None:
        """Draw the sheet, and the passage of the current row."""
        rows, row = self.shown, self.row
        ticked, waiting = sum(one.ticked for one in rows), sum(one.waits for one in rows)
        note = f"{ticked} of {len(rows)} ticked"
        note += f" · {waiting} to decide" if waiting else ""
        self._title.title = Title("Review sheet", note, active=True)
        self._list.rows = rows
        self._list.refresh()
        if row is None:
            self.passage.show(None, None)
            self._answer.title = Title()
            self._set(place="")
            return
        self.passage.show(row.item, row.edit)
        words, source = answer_words(row.item, row.edit, reading=False)
        self._answer.title = Title(words, source)
        place = f"{row.place + 1:,}/{len(self._bench.state.ids):,}"
        self._set(mode="SHEET", place=place)
        asked = prompt(row.edit)
        usual = (
            ("enter", f"accept {ticked}"), ("space", "untick" if row.ticked else "tick"),
            ("a…x f", "answer"), *((("]", "decide"),) if waiting else ()), ("?", "keys"),
            ("esc", "back"), ("z", "undo"),
        )  # fmt: skip
        self._keys.foot = Foot(asked) if asked else Foot("", usual)
