"""The guidelines screen: the text, the use of each rule, the versions, and the editor."""

import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from textual import events
from textual.app import ComposeResult, SuspendNotSupported
from textual.await_complete import AwaitComplete
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import OptionList, TextArea

from nfh_db.errors import StoreError
from nfh_db.guidelines import Guideline
from nfh_db.records import Annotator, Role
from nfh_tui.actions import Action
from nfh_tui.screens.base import PANE_ACTIONS, Handlers, SideScreen
from nfh_tui.services import guidelines
from nfh_tui.textual_support import Typed, sentence_of, type_into
from nfh_tui.widgets.guideline_text import GuidelineText, PlainArea, RuleList
from nfh_tui.widgets.input_bar import InputBar, Wrong
from nfh_tui.widgets.status_bar import (
    Foot,
    KeyLine,
    Level,
    PaneTitle,
    Status,
    StatusLine,
    Title,
)
from nfh_tui.workbench.command_queue import DebouncedWriter

DONE = frozenset({"escape", "ctrl+s"})
"""Keys that close the editor and return the text."""

ABSENT = "“{words}” is not in this version."
_PLACE = re.compile(r"\bline (?P<line>[0-9]+)\b")


class GuidelinesEditor(Screen[str | None]):
    """The editor of the guidelines; returns the text when it is closed.

    typed: called with the text after each change. trouble: what is wrong with the text, as a
    sentence; empty for nothing. line: initial line of the cursor, from 1, unless `trouble`
    names one. early: returns the keys that arrived before the editor was open, one per call.
    """

    AUTO_FOCUS = "#guidelines-area"
    DEFAULT_CSS = """
    GuidelinesEditor {
        background: $background;
        & TextArea, & TextArea:focus {
            height: 1fr;
            border: none;
            padding: 0;
            background: $background;
        }
    }
    """

    def __init__(
        self,
        text: str,
        title: str,
        typed: Callable[[str], None],
        trouble: str = "",
        line: int = 1,
        early: Callable[[], Typed | None] | None = None,
    ) -> None:
        super().__init__()
        self._typed = typed
        self._trouble = trouble
        self._heading = PaneTitle(id="editor-title")
        self._note = title
        self._line = line
        self._early = early
        self._waiting: deque[Typed] | None = deque()
        self._area = PlainArea(
            text, id="guidelines-area", soft_wrap=True, show_line_numbers=True,
            tab_behavior="indent",
        )  # fmt: skip
        self._state = StatusLine()
        self._keys = KeyLine()

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self._area
        yield self._state
        yield self._keys

    async def on_mount(self) -> None:
        """Show the trouble, move the cursor to its line, and type the keys that arrived
        early.
        """
        self._heading.title = Title("Guidelines", self._note, active=True)
        level = Level.REFUSED if self._trouble else Level.PLAIN
        words = self._trouble or "saved as a draft while you type; ## R7 Title begins a rule"
        self._state.status = Status(mode="EDIT", say=words, level=level)
        self._keys.foot = Foot("", (("esc", "done: save it or not"),))
        found = _PLACE.search(self._trouble)
        line = self._line if found is None else int(found["line"])
        self._area.move_cursor((line - 1, 0), center=True)
        waiting, self._waiting = self._waiting or deque(), None
        while self._early is not None and (event := self._early()) is not None:
            await self.take(event)
        while waiting:
            await self.take(waiting.popleft())

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Pass the text to `typed`."""
        event.stop()
        self._typed(self._area.text)

    async def take(self, event: Typed) -> bool:
        """Apply a key or a paste to the text; returns False if the text does not use it."""
        if self._waiting is not None:
            self._waiting.append(event)
            return True
        if isinstance(event, events.Key) and event.key in DONE:
            self.dismiss(self._area.text)
            return True
        return await type_into(self._area, event)

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Close the editor once; later calls are ignored."""
        return super().dismiss(result) if self.is_current else AwaitComplete()


MOST_IDS = 150
"""Maximum number of ids in a query."""

NONE = "This database has no guidelines, and cannot be written."

RULE = "rule"
"""Key of the screen's memory: the id of a rule to show."""


class GuidelinesScreen(SideScreen):
    """The text of the guidelines and its versions."""

    NAME = "Guidelines"
    PANE_ACTIONS = (
        *PANE_ACTIONS,
        *("side.older", "side.search", "side.search_next", "side.search_back"),
    )
    DEFAULT_CSS = """
    GuidelinesScreen {
        & #rules-panes { height: 1fr; }
        & #rules-text { width: 1fr; height: 1fr; }
        &.-narrow #rules-list { width: 16; }
        &.-medium #rules-list { width: 42; }
        &.-wide #rules-list { width: 48; }
    }
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as a side screen takes them
        self.versions: tuple[Guideline, ...] = ()
        """All versions; the last one is in force."""
        self.shown: Guideline | None = None
        """The version that is shown."""
        self.guide = guidelines.Guide()
        self.counts: Mapping[str, guidelines.RuleCount] = {}
        """By rule id."""
        self.parts: Sequence[guidelines.GuidelineSection] = ()
        self.list = RuleList(id="rules-list")
        self.text = GuidelineText(id="rules-text")
        self.bar = InputBar(id="bar")
        self.search = GuidelineSearch(self)
        self.editing = GuidelineEditing(self)

    def body(self) -> ComposeResult:
        """Yield the list of rules, the text of the selected one, and an input."""
        with Horizontal(id="rules-panes"):
            yield self.list
            yield self.text
        yield self.bar

    def handlers(self) -> Handlers:
        """Actions that open items, search, and read or edit versions."""
        return {
            **super().handlers(),
            "side.open": self.open_tagged,
            "side.older": self.open_older,
            "side.search": self.search.ask,
            "side.search_next": partial(self.search.find, 1, 1),
            "side.search_back": partial(self.search.find, -1, 1),
            "side.versions": self.choose_version,
            "side.difference": self.show_difference,
            "side.edit": self.editing.edit,
        }

    def read(self) -> None:
        """Start reading; actions wait until it is done."""
        self.runner.act(self.load, group="load")

    @property
    def scroller(self) -> VerticalScroll:
        """The scrollable text of the selected section."""
        return self.text

    async def load(self, version: int | None = None) -> None:
        """Read all versions and counts, and show a version; None for the last one."""
        self.versions = await self.client.read(self.store.guidelines.all)
        self.guide = guidelines.guide_of(self.versions)
        tagged = await self.client.read(
            self.store.guidelines.tagged_decisions, self._only, self.me
        )
        items = await self.client.read(self.store.guidelines.tagged_items, self._only, self.me)
        self.counts = guidelines.counts_of(self.guide, items, tagged)
        there = {one.version: one for one in self.versions}
        last = self.versions[-1] if self.versions else None
        self.shown = last if version is None else there.get(version, last)
        self._show_parts()

    @property
    def _only(self) -> Annotator | None:
        """Return the annotator to whom the counts are limited; None for everybody."""
        return self.me if self.role is Role.ANNOTATOR else None

    def _show_parts(self) -> None:
        """Show the sections of the version; the selected rule stays selected."""
        if (shown := self.shown) is None:
            self.title_note("")
            self.refuse(NONE)
            return
        try:
            self.parts = guidelines.parts_of(shown.body)
        except guidelines.GuidelinesError as error:
            self.parts = (guidelines.GuidelineSection("", "The text", shown.body),)
            self.refuse(f"The rules cannot be read: {error}. e edits the text.")
        wanted = self.memory.get(RULE)
        ids = [part.id or part.title for part in self.parts]
        place = ids.index(str(wanted)) if wanted in ids else 0
        self.list.show(self.parts, self.counts, place)
        self.title_note(guidelines.version_words(shown, self.versions))
        self.show_part(place)

    def show_part(self, place: int) -> None:
        if not self.parts:
            return
        part = self.parts[place]
        self.memory[RULE] = part.id or part.title
        self.text.show(part.markdown, self.search.words)
        self._refresh_state(part)

    def _refresh_state(self, part: guidelines.GuidelineSection) -> None:
        """Show the use of the selected rule in the status line."""
        count = self.counts.get(part.id, guidelines.RuleCount())
        by, done = (" by you", "answered") if self._only else ("", "decided")
        words = f"{part.id}: {count.items:,} tagged{by}" if part.id else ""
        if count.older:
            words += f", {count.older:,} {done} under another text (o)"
        self.set_status(mode=self.NAME.upper(), place=words)

    @property
    def part(self) -> guidelines.GuidelineSection | None:
        """The selected section."""
        return self.parts[self.list.place] if self.parts else None

    # --- moving -------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """Select the next section, or the previous one."""
        self.list.go(self.list.place + by)

    def edge(self, *, last: bool) -> None:
        """Select the last section, or the first one."""
        self.list.go(len(self.parts) if last else 0)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the selected section."""
        if event.option_index < len(self.parts):
            self.show_part(event.option_index)

    # --- reasons ------------------------------------------------------------------------

    def why_not(self, action: Action) -> str:
        """Add the reasons that depend on the rule and the versions."""
        if action.id in {"side.edit", "side.versions"} and self.shown is None:
            return NONE
        if action.id in {"side.search_next", "side.search_back"} and not self.search.words:
            return "Press / first to search for words."
        if action.id == "side.difference" and len(self.versions) < 2:
            return "There is only one version, so nothing has changed yet."
        if action.id == "side.open":
            return self._no_items()
        return self._no_older() if action.id == "side.older" else super().why_not(action)

    def _no_items(self) -> str:
        part = self.part
        if part is None or not part.id:
            return "Only a rule has items: j goes to the next one."
        if self.counts.get(part.id, guidelines.RuleCount()).items:
            return ""
        what = "Nothing of yours" if self._only else "Nothing"
        return f"{what} is tagged with {part.id} yet: R in the workbench tags."

    def _no_older(self) -> str:
        part = self.part
        if part is None or not part.id:
            return ""  # for all rules, only the store knows
        if guidelines.outdated_query(self.guide, part.id) is None:
            return "No earlier version has another text of this."
        if self.counts.get(part.id, guidelines.RuleCount()).older:
            return ""
        return f"Nothing was decided under an earlier text of {part.id}."

    # --- the items of a rule ------------------------------------------------------------

    def open_tagged(self) -> None:
        """Close the screen with the items that have the rule."""
        if self.part is not None:
            self.dismiss(guidelines.query_of(self.part.id))

    async def open_older(self) -> None:
        """Close with the items that were decided under an earlier text of the rule, or of any
        rule.
        """
        part = self.part
        if part is None or not part.id:
            await self._open_all_older()
            return
        self.dismiss(guidelines.outdated_query(self.guide, part.id))

    async def _open_all_older(self) -> None:
        ids = await self.client.read(
            self.store.guidelines.tagged_anchors, self.guide.outdated, self._only, self.me
        )
        if not ids:
            self.refuse("Nothing was decided under an earlier text of a rule.")
        elif len(ids) > MOST_IDS:
            self.refuse(
                f"{len(ids):,} decisions: too many for one list. Open them rule by rule."
            )
        else:
            self.dismiss(f"id:{','.join(map(str, ids))}")

    # --- versions -----------------------------------------------------------------------

    async def choose_version(self) -> None:
        """Choose a version to read."""
        if not self.versions or self.shown is None:
            return
        options = [
            (f"Version {one.version}", guidelines.by_words(one), str(one.version))
            for one in reversed(self.versions)
        ]
        chosen = await self.choose_from("Versions", options, start=str(self.shown.version))
        if chosen is not None:
            await self.load(int(chosen))
            self.say("d shows what changed; v goes back to another one")

    def show_difference(self) -> None:
        """Show the difference between the version shown and the current one.

        For the current version: the difference from the one before.
        """
        if self.shown is None:
            return
        last = self.versions[-1]
        earlier = self.versions[-2] if self.shown.version == last.version else self.shown
        found = guidelines.changes_of(earlier.body, last.body)
        title = f"From version {earlier.version} to version {last.version}"
        self.show_text(
            title, "\n".join(guidelines.change_lines(found)) or "Only white space changed."
        )


DELAY = 0.3
"""Seconds between a change and the write of the draft."""

SAVE, EDIT, KEEP, DROP = "save", "edit", "keep", "drop"


@dataclass(frozen=True, slots=True)
class GuidelineDraft:
    """A text that is to become a version."""

    after: int
    """The version from which it was made."""
    text: str

    def dump(self) -> str:
        """Serialize to JSON."""
        return json.dumps({"after": self.after, "text": self.text})


def draft_of(body: str | None) -> GuidelineDraft | None:
    """Parse the output of `dump`; None for no text, or an invalid one."""
    try:
        value = json.loads(body or "")
        return GuidelineDraft(int(value["after"]), str(value["text"]))
    except (ValueError, KeyError, TypeError):
        return None


class GuidelineSearch:
    """Searches the guidelines."""

    def __init__(self, screen: GuidelinesScreen) -> None:
        self._screen = screen
        self.words = ""
        """The words of the last search."""

    async def ask(self) -> None:
        """Ask for words and go to their next occurrence."""
        keys = (("enter", "find"), ("esc", "as it was"))
        words = await self._screen.ask("/", self.words, keys, self._wrong)
        if words is None:
            return
        self.words = words.strip()
        if self.words:
            self.find(1, 0)
        else:
            self._screen.show_part(self._screen.list.place)

    async def _wrong(self, words: str) -> Wrong | None:
        return None if self._places(words) else Wrong(ABSENT.format(words=words))

    def _places(self, words: str) -> Sequence[int]:
        """Return the places of the sections with these words."""
        wanted = words.casefold()
        parts = enumerate(self._screen.parts)
        return [at for at, one in parts if wanted in f"{one.name}\n{one.body}".casefold()]

    def find(self, step: int, first: int) -> None:
        """Go to the next section with the words, past the end to the start.

        step: 1 or -1. first: distance of the first section that is tried.
        """
        screen = self._screen
        found, total = self._places(self.words), len(screen.parts)
        for distance in range(first, total + first):
            place = (screen.list.place + step * distance) % total
            if place in found:
                screen.list.go(place)
                screen.show_part(place)
                screen.say(f"“{self.words}” is in {len(found)} of {total}; n goes to the next")
                return
        screen.refuse(ABSENT.format(words=self.words))


class GuidelineEditing:
    """Creates a new version of the guidelines."""

    def __init__(self, screen: GuidelinesScreen) -> None:
        self._screen = screen
        self._writer = DebouncedWriter(DELAY, self._not_kept)

    # --- the draft ----------------------------------------------------------------------

    def _keep(self, draft: GuidelineDraft | None) -> None:
        """Schedule the write of a draft, so that a crash does not lose it; None deletes the
        draft.
        """
        name = f"{guidelines.BEGUN}.{self._screen.me.name}"
        body = "" if draft is None else draft.dump()
        self._writer.keep(
            "draft",
            partial(self._screen.client.write, self._screen.store.settings.write, name, body),
        )

    def _not_kept(self, error: Exception) -> None:
        self._screen.refuse(f"Your text is not on disk. {sentence_of(error)}")

    async def _where_to_begin(self, shown: Guideline) -> GuidelineDraft | None:
        """Return the saved draft or the version shown; None if the person cancels."""
        screen = self._screen
        last = screen.versions[-1].version
        fresh = GuidelineDraft(last, shown.body)
        kept = draft_of(
            await screen.client.read(
                screen.store.settings.read, f"{guidelines.BEGUN}.{screen.me.name}"
            )
        )
        if kept is None or kept.text == shown.body:
            return fresh
        since = ""
        if kept.after != last:
            since = f"version {last} was saved since then, and yours would replace it"
        options = (
            ("Continue with your draft", since or draft_changes(shown, kept), EDIT),
            (f"Start again from version {shown.version}", "your draft is discarded", DROP),
        )
        chosen = await screen.choose_from("You have a draft of the guidelines", options)
        if chosen is None:
            return None
        return fresh if chosen == DROP else GuidelineDraft(last, kept.text)

    # --- editing ------------------------------------------------------------------------

    async def edit(self) -> None:
        """Edit the text in $VISUAL or $EDITOR if it can be opened, else in the built-in
        editor.
        """
        if self._screen.shown is None:
            self._screen.refuse("This database has no guidelines, and cannot be written.")
            return
        draft = await self._where_to_begin(self._screen.shown)
        trouble = ""
        while draft is not None:
            if (text := await self._typed(draft, trouble)) is None:
                break
            draft = GuidelineDraft(draft.after, text)
            if text == self._screen.versions[-1].body:
                self._keep(None)
                self._screen.say("nothing changed")
                break
            self._keep(draft)
            await self._writer.flush()
            trouble = trouble_of(text)
            chosen = await self._ask(draft, trouble)
            if chosen == SAVE:
                await self._save(draft)
                break
            if chosen == DROP:
                self._keep(None)
                self._screen.say("discarded; the guidelines are unchanged")
                break
            if chosen != EDIT:
                self._screen.say("kept as a draft: e continues it")
                break
        await self._writer.flush()

    async def _typed(self, draft: GuidelineDraft, trouble: str) -> str | None:
        """Return the edited text; None while the program exits."""
        screen = self._screen
        if (command := guidelines.editor()) is not None:
            try:
                # The external editor uses the terminal; the program waits for it.
                with screen.app.suspend():
                    text, failed = _edited(draft.text, command)
            except SuspendNotSupported:
                pass
            else:
                if failed:
                    screen.show_error(f"{failed}.")
                return text

        def typed(text: str) -> None:
            self._keep(GuidelineDraft(draft.after, text))

        title, line = f"from version {draft.after}", self._line_in(draft.text)
        shown = GuidelinesEditor(draft.text, title, typed, trouble, line, screen.runner.early)
        return await screen.app.push_screen_wait(shown)

    def _line_in(self, text: str) -> int:
        """Return the first line of the selected rule in a text; 1 if the text lacks it."""
        try:
            lines = {rule.id: rule.line for rule in guidelines.rules_of(text)}
        except guidelines.GuidelinesError:
            return 1
        return lines.get(self._screen.part.id, 1) if self._screen.part is not None else 1

    async def _ask(self, draft: GuidelineDraft, trouble: str) -> str | None:
        """Ask what to do with the text."""
        screen = self._screen
        changed = guidelines.changed_words(
            guidelines.changes_of(screen.versions[-1].body, draft.text)
        )
        options = [
            (f"Save as version {draft.after + 1}", changed, SAVE),
            ("Continue editing", "", EDIT),
            ("Keep it as a draft", "e opens it again", KEEP),
            ("Discard it", "", DROP),
        ]
        if trouble:
            del options[0]
        return await screen.choose_from(trouble or "What should happen to this text?", options)

    async def _save(self, draft: GuidelineDraft) -> None:
        """Save the text as a version. If that fails, the draft is kept and the error is
        shown.
        """
        screen = self._screen
        try:
            saved, new = await screen.client.write(
                screen.store.guidelines.add, draft.text, screen.me, draft.after
            )
        except StoreError as error:
            await screen.load()
            screen.refuse(f"{error}. Your draft is kept: e opens it, d compares.")
            return
        changes = guidelines.changes_of(screen.versions[-1].body, saved.body)
        self._keep(None)
        await screen.load()
        older = sum(
            screen.counts.get(c.id, guidelines.RuleCount()).older for c in changes if c.id
        )
        words = f"version {saved.version} saved: {guidelines.changed_words(changes)}"
        if older:
            words += f". {older:,} decided under the old text: o opens those of a rule"
        screen.say(words if new else "this text is already in force", Level.DONE)


def _edited(text: str, command: str) -> tuple[str, str]:
    """Return the edited text and an error message, empty for none.

    Raises nothing, because an exception would leave the terminal in the state of the shell.
    """
    try:
        return guidelines.edited(text, command), ""
    except (guidelines.GuidelinesError, OSError) as error:
        return text, str(error)


def trouble_of(text: str) -> str:
    """Return why a text cannot become a version; empty if it can."""
    try:
        guidelines.checked(text)
    except guidelines.GuidelinesError as error:
        return f"This cannot be a version yet: {error}."
    return ""


def draft_changes(shown: Guideline, draft: GuidelineDraft) -> str:
    """Summarize the changes of a draft in one line."""
    return guidelines.changed_words(guidelines.changes_of(shown.body, draft.text))
