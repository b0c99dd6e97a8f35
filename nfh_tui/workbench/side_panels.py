"""The clipboard, the guidelines pane, and access to other screens."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from nfh_db.errors import StoreError
from nfh_db.formats.gold import GoldWriter
from nfh_db.messages import counted
from nfh_db.records import AnchorItem, ExportRecord
from nfh_tui.actions import Mode
from nfh_tui.display_text import clip
from nfh_tui.editor.commands import set_tag
from nfh_tui.editor.state import answer
from nfh_tui.editor.votes import describe
from nfh_tui.services.guidelines import GuidelineRule, first_text, guide_of
from nfh_tui.textual_support import one_line
from nfh_tui.widgets.input_bar import Wrong
from nfh_tui.widgets.status_bar import Foot, Level
from nfh_tui.workbench.availability import NOTHING
from nfh_tui.workbench.completion import NO_TAG, RuleChooser, name_of
from nfh_tui.workbench.controller import Controller, Handler, RefusedError

if TYPE_CHECKING:
    from nfh_tui.screens.base import SideScreen
    from nfh_tui.workbench.screen import Workbench


SHOWN = 40
"""Maximum width of the copied text in a message, in cells."""
PARTS = (
    ("s", "turn", "turn"),
    ("p", "passage", "passage"),
    ("n", "number", "number"),
    ("a", "answer", "answer"),
    ("j", "JSON", "JSON"),
    ("f", "file", "file"),
    ("i", "id", "id"),
)


class ClipboardController(Controller):
    """Copies parts of the item to the clipboard or to a file."""

    def handlers(self) -> Mapping[str, Handler]:
        return {"copy": self.copy}

    async def copy(self) -> None:
        """Ask for a part; copies it with OSC 52, or writes a file."""
        if (item := self.state.visible_item) is None:
            raise RefusedError(NOTHING)
        if (part := await self.bench.prompts.choose("Copy", PARTS)) is None:
            return
        if part == "file":
            names = [name for _, _, name in PARTS if name != "file"]
            everything = "\n\n".join(self._part(item, name) for name in names)
            await self.bench.host.deliver(
                self.bench, f"item-{item.public_id[:12]}.txt", everything + "\n"
            )
            return
        text = self._part(item, part)
        self.bench.app.copy_to_clipboard(text)
        said = clip(one_line(" ".join(text.split())), SHOWN)
        self.ui.notify(
            f"{part} copied, if this terminal can: “{said}”. Y f writes a file", Level.DONE
        )

    def _part(self, item: AnchorItem, name: str) -> str:
        passage = item.passage
        if name == "turn":
            turn = passage.turns[passage.turn_of(item.anchor.start)]
            return passage.words(turn.start, turn.end)
        if name == "passage":
            return passage.text
        if name == "answer":
            made = answer(self.state.edit, item)
            return made if isinstance(made, str) else describe(made, passage)
        if name == "number":
            return anchor_words(item)
        return item.public_id if name == "id" else record_line(item)


def anchor_words(item: AnchorItem) -> str:
    """Return the anchor's words and location: token indices and code point offsets, ends
    exclusive.
    """
    start, end = item.anchor.start, item.anchor.end
    first, last = item.passage.tokens[start], item.passage.tokens[end - 1]
    words = " ".join(item.passage.words(start, end).split())
    return (
        f"{words}  (tokens {start}:{end}, characters {first.start}:{last.end}, "
        f"turn {item.passage.turn_of(start) + 1} of {item.document})"
    )


def record_line(item: AnchorItem) -> str:
    """Return the item as a line of the format `gold`, limited to what this person may see."""
    record = ExportRecord(
        item.public_id, item.passage, item.anchor, item.split, item.gold, item.votes, item.flags
    )
    return GoldWriter().line(record).rstrip("\n")


SUGGESTED = 6
"""Rules in the footer while one is typed."""
LONGEST_TITLE = 40
"""Cells of a rule's title there."""
NO_SUCH_RULE = "No rule has “{text}”; enter on an empty line lists all rules."
NO_RULES = "There are no guidelines here with rules: F5 shows why."


class GuidelinesController(Controller):
    """The guidelines in the right pane, and the rule of an answer."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self.note = ""
        """Title of the guidelines pane: their version."""

    def handlers(self) -> Mapping[str, Handler]:
        return {"guide": self.toggle, "rule.tag": self.ask_rule}

    async def learn(self) -> None:
        """Read the guidelines in force if they have changed.

        A database without guidelines gets the initial text; if it cannot be written, there are
        none.
        """
        if (last := await self.client.read(self.store.guidelines.read)) is None:
            with suppress(StoreError):
                await self.client.write(
                    self.store.guidelines.add_first, await asyncio.to_thread(first_text)
                )
                last = await self.client.read(self.store.guidelines.read)
        if last is None or last.version == self.state.guidelines.version:
            return
        self.state.guidelines = guide_of(await self.client.read(self.store.guidelines.all))
        self.ui.refresh_edit()
        if self.state.guide_shown:
            await self._read()

    # --- the right pane ---------------------------------------------------------------------

    def toggle(self) -> None:
        """Switch the right pane between guidelines and evidence."""
        self.show(not self.state.guide_shown)
        self.ui.notify("the guidelines" if self.state.guide_shown else "the evidence")

    def show(self, on: bool) -> None:
        """Show the guidelines or the evidence in the right pane."""
        self.state.guide_shown = on
        self.bench.set_class(on, "-guide")
        if on:
            self.run_latest(self._read, "guide", "reading the guidelines")
        self.ui.refresh_titles()
        self.ui.note_exposure()

    async def _read(self) -> None:
        now = await self.client.read(self.store.guidelines.read)
        self.note = "" if now is None else f"version {now.version}"
        self.bench.guide.show(first_text() if now is None else now.body)
        self.ui.refresh_titles()

    def show_as_usual(self) -> None:
        """Show what the mode and the settings demand."""
        wanted = self.state.mode is Mode.ANNOTATE and self.bench.config.options.guidelines
        if wanted != self.state.guide_shown:
            self.show(wanted)

    # --- the rule of an answer --------------------------------------------------------------

    async def ask_rule(self) -> None:
        """Ask for the rule that decides the answer. Raises RefusedError."""
        self.bench.answers.writable()
        if not self.state.guidelines.rules:
            raise RefusedError(self.state.guidelines.trouble or NO_RULES)
        chooser = RuleChooser(self.state.guidelines.rules)
        now = self.state.edit.tag

        def typed(text: str) -> None:
            self._offer(chooser.offers(text), text, now)

        def begin() -> None:
            if self.bench.bar.is_open:
                typed(self.bench.bar.text)

        # Opening the bar clears its note.
        self.bench.call_later(begin)

        async def wrong(text: str) -> Wrong | None:
            typed = text.strip()
            known = typed.casefold() in NO_TAG or chooser.exact(typed) or chooser.offers(typed)
            return None if known else Wrong(NO_SUCH_RULE.format(text=typed), 0)

        text = await self.bench.prompts.ask(
            "Rule", changed=typed, complete=chooser.tab, check=wrong
        )
        if text is None:
            return
        if text.strip().casefold() in NO_TAG:
            self._tag(None)
            return
        if (found := await self._rule_of(text.strip(), chooser)) is not None:
            self._tag(found or None)

    def _offer(self, rules: Sequence[GuidelineRule], text: str, now: str | None) -> None:
        """Show the rules that match the input so far."""
        self.bench.key_line.foot = Foot(
            "tab" if rules else "no rule has this; enter alone lists all rules",
            # The line leaves out the last ones that do not fit.
            tuple((rule.id, clip(rule.title, LONGEST_TITLE)) for rule in rules[:SUGGESTED]),
        )
        if text.strip():
            one = name_of(rules[0]) if len(rules) == 1 else counted(len(rules), "rule")
            self.bench.bar.note = one if rules else "no such rule"
        else:
            kept = f"{self.state.guidelines.words(now)}; - removes it" if now else "id or words"
            self.bench.bar.note = f"{kept}; enter lists all"

    async def _rule_of(self, text: str, chooser: RuleChooser) -> str | None:
        """Return the id of the rule that a text names; empty for no rule, None if none is
        chosen.
        """
        if (exact := chooser.exact(text)) is not None:
            return exact.id
        fits = chooser.offers(text)
        if len(fits) == 1:
            return fits[0].id
        options = [(name_of(rule), "", rule.id) for rule in fits]
        if self.state.edit.tag is not None and not text:
            options.append(("No rule", f"takes {self.state.edit.tag} away", ""))
        return await self.bench.prompts.choose_from(
            "The rule that decides", options, start=self.state.edit.tag
        )

    def _tag(self, tag: str | None) -> None:
        state = self.state
        before = state.edit.tag
        if tag == before:
            same = f"by {state.guidelines.words(tag)} already" if tag else "it had no rule"
            self.ui.notify(f"unchanged: {same}")
            return
        self.bench.answers.apply(set_tag(state.edit, tag))
        words = f"by rule {state.guidelines.words(tag)}" if tag else f"no rule; it was {before}"
        self.ui.notify(f"{words} · enter saves it")


class ScreenController(Controller):
    """Opens other screens, and the queries that they return."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self.memories: dict[str, dict[str, object]] = {}
        """Per screen, what it keeps for the next time it is opened."""

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "screen.agreement": self.show_agreement,
            "screen.evaluation": self.show_evaluation,
            "screen.jobs": self.show_jobs,
            "screen.guidelines": self.show_guidelines,
        }

    async def show_agreement(self) -> None:
        from nfh_tui.screens.agreement import AgreementScreen

        await self.visit(AgreementScreen)

    async def show_evaluation(self) -> None:
        from nfh_tui.screens.evaluation import EvaluationScreen

        await self.visit(EvaluationScreen)

    async def show_jobs(self) -> None:
        from nfh_tui.screens.jobs import JobsScreen

        await self.visit(JobsScreen)

    async def show_guidelines(self) -> None:
        """Open the guidelines at the rule of the current answer."""
        from nfh_tui.screens.guidelines import RULE, GuidelinesScreen

        if self.state.edit.tag is not None:
            self.memories.setdefault(GuidelinesScreen.__name__, {})[RULE] = self.state.edit.tag
        await self.visit(GuidelinesScreen)
        await self.bench.guidelines.learn()

    async def visit(self, screen: "type[SideScreen]") -> None:
        """Show a screen until it is closed; then show the items of the query that it
        returns.
        """
        state = self.state
        self.bench.item.leave()
        memory = self.memories.setdefault(screen.__name__, {})
        made = screen(self.client, state.me, self.bench.keymap, memory, state.query.text)
        made.role, made.access = state.role, state.access
        text = await self.bench.app.push_screen_wait(made)
        await self.bench.queries.run(text, back=True)
        if text is not None and made.meant > len(state.ids) > 0:
            self.ui.notify(
                f"the first {len(state.ids):,} of {made.meant:,}: a query cannot name more"
            )
