"""History and clipboard of an item, and the guideline rule on which a decision turns."""

import asyncio
import errno
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from nfh_db.errors import StoreError
from nfh_db.formats.gold import GoldWriter
from nfh_db.records import AnchorItem, ExportRecord
from nfh_tui.display_text import clip
from nfh_tui.editor.commands import gold_vote, set_tag
from nfh_tui.editor.state import answer
from nfh_tui.editor.votes import describe
from nfh_tui.services.guidelines import GuidelineRule, guide_of
from nfh_tui.services.history import told
from nfh_tui.textual_support import one_line
from nfh_tui.widgets.status_bar import Foot
from nfh_tui.workbench.answering import Changing
from nfh_tui.workbench.availability import NOTHING
from nfh_tui.workbench.completion import NO_TAG, RuleChooser, name_of

SHOWN = 40
"""Cells of what was copied that are shown."""

PARTS = (
    ("s", "turn", "turn"),
    ("p", "passage", "passage"),
    ("n", "number", "number"),
    ("a", "answer", "answer"),
    ("j", "JSON", "JSON"),
    ("f", "file", "file"),
    ("i", "id", "id"),
)


class Copying(Changing):
    """What takes the item elsewhere."""

    async def do_history(self) -> None:
        """Show who changed what of this item."""
        item = self.state.stored_item
        if item is None:
            self.refuse(NOTHING)
            return
        lines = await self.client.seen_history(item.anchor_id, self.state.me, self.state.role)
        told_ = told(lines, item.passage, named=not self.state.blind)
        await self.show_text("History of this item", told_)

    async def do_copy(self) -> None:
        """Ask what, and copy it by the terminal's own means (OSC 52), or write it to a file."""
        item = self.state.visible_item
        if item is None:
            self.refuse(NOTHING)
            return
        part = await self.choose("Copy", PARTS)
        if part is None:
            return
        if part == "file":
            names = [name for _, _, name in PARTS if name != "file"]
            everything = "\n\n".join(self._part(item, name) for name in names)
            await self.hand_over(f"item-{item.public_id[:12]}.txt", everything + "\n")
            return
        text = self._part(item, part)
        self.app.copy_to_clipboard(text)
        said = clip(one_line(" ".join(text.split())), SHOWN)
        self.announce(f"{part} copied, if this terminal can: “{said}”. Y f writes a file")

    async def hand_over(self, name: str, text: str) -> None:
        """Write a file beside the database, and say where, or why it is not there."""
        path = self.client.store.path.parent / name
        try:
            path = await asyncio.to_thread(_write, path, text)
        except OSError as error:
            await self.show_error(_not_written(path, error))
            return
        self.announce(f"written to {path}")

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
    """The number with its place: tokens as indices, characters as code points."""
    start, end = item.anchor.start, item.anchor.end
    first, last = item.passage.tokens[start], item.passage.tokens[end - 1]
    words = " ".join(item.passage.words(start, end).split())
    return (
        f"{words}  (tokens {start}:{end}, characters {first.start}:{last.end}, "
        f"turn {item.passage.turn_of(start) + 1} of {item.document})"
    )


def record_line(item: AnchorItem) -> str:
    """The item as a line of the format `gold`, with what this person may see of it."""
    record = ExportRecord(
        item.public_id,
        item.passage,
        item.anchor,
        item.split,
        item.gold,
        item.votes,
        item.flags,
    )
    return GoldWriter().line(record).rstrip("\n")


def _write(wanted: Path, text: str) -> Path:
    """Write all of it or nothing, to a new file; half a file would be taken for a whole one.

    What has the name already stays, and the new file has a number behind its name.
    """
    for number in count(1):
        path = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
        with suppress(FileExistsError):
            file = path.open("x", encoding="utf-8")
            break
    try:
        with file:
            file.write(text)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
    return path


def _not_written(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: {path} was not written. Make room, and press Y f again."
    return f"{path} was not written: {error.strerror or error}."


SUGGESTED = 6
"""Rules that stand at the foot while one is typed."""

NO_RULES = "There are no guidelines here to take a rule from: F5 shows why."


class Ruling(Copying):
    """What tags decisions, and knows the guidelines that hold."""

    def on_mount(self) -> None:
        """Read the guidelines once the queue is open."""
        self.in_turn(self.learn_rules)

    async def learn_rules(self) -> None:
        """Read the guidelines, if others hold by now; a database without any gets the first.

        A file that cannot be written stays without.
        """
        last = await self.client.guideline()
        if last is None:
            from nfh_tui.services.guidelines import first_text

            with suppress(StoreError):
                await self.client.begin_guidelines(await asyncio.to_thread(first_text))
                last = await self.client.guideline()
        if last is None or last.version == self.state.guidelines.version:
            return
        self.state.guidelines = guide_of(await self.client.guidelines())
        self.paint_edit()

    # --- the tag ------------------------------------------------------------------------

    async def do_rule_tag(self) -> None:
        """Ask for the rule on which the decision turns."""
        if self.writable() is None:
            return
        if not self.state.guidelines.rules:
            self.refuse(self.state.guidelines.trouble or NO_RULES)
            return
        chooser = RuleChooser(self.state.guidelines.rules)
        now = self.state.edit.tag

        def typed(text: str) -> None:
            self._offer(chooser.offers(text), text, now)

        def begin() -> None:
            if self.bar.is_open:
                typed(self.bar.text)

        # Opening the bar clears what it says.
        self.call_later(begin)
        text = await self.ask("Rule", changed=typed, complete=chooser.tab)
        if text is None:
            return
        if text.strip().casefold() in NO_TAG:
            self._tag(None)
            return
        found = await self._rule_of(text.strip(), chooser)
        if found is not None:
            self._tag(found or None)

    def _offer(self, rules: Sequence[GuidelineRule], text: str, now: str | None) -> None:
        """Show which rules fit what is typed so far."""
        self.key_line.foot = Foot(
            "tab" if rules else "no rule has this; enter alone lists them all",
            tuple((rule.id, "") for rule in rules[:SUGGESTED]),
        )
        if text.strip():
            self.bar.note = name_of(rules[0]) if rules else "no such rule"
        else:
            kept = (
                f"{self.state.guidelines.words(now)}; - takes it away" if now else "id or words"
            )
            self.bar.note = f"{kept}; enter lists all"

    async def _rule_of(self, text: str, chooser: RuleChooser) -> str | None:
        """The id of the rule that a text names, "" for none at all, None if none is chosen."""
        exact = chooser.exact(text)
        if exact is not None:
            return exact.id
        fits = chooser.offers(text)
        if not fits:
            self.refuse(f"No rule has “{text}”. R and enter alone list them all.")
            return None
        if len(fits) == 1:
            return fits[0].id
        options = [(name_of(rule), "", rule.id) for rule in fits]
        if self.state.edit.tag is not None and not text:
            options.append(("No rule", f"takes {self.state.edit.tag} away", ""))
        return await self.choose_from(
            "The rule it turns on", options, start=self.state.edit.tag
        )

    def _tag(self, tag: str | None) -> None:
        before = self.state.edit.tag
        if tag == before:
            same = f"by {self.state.guidelines.words(tag)} already" if tag else "it had no rule"
            self.say(f"unchanged: {same}")
            return
        self.apply(set_tag(self.state.edit, tag))
        words = (
            f"by rule {self.state.guidelines.words(tag)}"
            if tag
            else f"no rule; it was {before}"
        )
        self.say(f"{words} · enter saves it")

    # --- decisions under an older text --------------------------------------------------

    def _decided_so(self, item: AnchorItem) -> bool:
        """As below, but a decision whose rule reads otherwise by now is made again.

        So one can look through such decisions: enter says that they hold under the new text.
        """
        return super()._decided_so(item) and not self.was_outdated(item)

    def was_outdated(self, item: AnchorItem) -> bool:
        """True if the gold was decided by a rule whose text is another one by now."""
        made_of = gold_vote(item)
        return made_of is not None and self.state.guidelines.is_outdated(
            made_of.rule_tag, made_of.guideline_version
        )
