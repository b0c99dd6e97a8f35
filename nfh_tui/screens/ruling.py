"""Ruling: the rule of the guidelines on which a decision turns."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from nfh_db.errors import StoreError
from nfh_db.records import Item
from nfh_tui.desk.choosing_rules import NO_TAG, RuleChooser, name_of
from nfh_tui.editing import gold_vote, set_tag
from nfh_tui.guidelines import Rule
from nfh_tui.guidelines.guide import guide_of
from nfh_tui.screens.copying import Copying
from nfh_tui.widgets.status_line import Foot

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
            from nfh_tui.guidelines import first_text

            with suppress(StoreError):
                await self.client.begin_guidelines(await asyncio.to_thread(first_text))
                last = await self.client.guideline()
        if last is None or last.version == self.rules.version:
            return
        self.rules = guide_of(await self.client.guidelines())
        self.paint_edit()

    # --- the tag ------------------------------------------------------------------------

    async def do_rule_tag(self) -> None:
        """Ask for the rule on which the decision turns."""
        if self.writable() is None:
            return
        if not self.rules.rules:
            self.refuse(self.rules.trouble or NO_RULES)
            return
        chooser = RuleChooser(self.rules.rules)
        now = self.edit.tag

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

    def _offer(self, rules: Sequence[Rule], text: str, now: str | None) -> None:
        """Show which rules fit what is typed so far."""
        self.key_line.foot = Foot(
            "tab" if rules else "no rule has this; enter alone lists them all",
            tuple((rule.id, "") for rule in rules[:SUGGESTED]),
        )
        if text.strip():
            self.bar.note = name_of(rules[0]) if rules else "no such rule"
        else:
            kept = f"{self.rules.words(now)}; - takes it away" if now else "id or words"
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
        if self.edit.tag is not None and not text:
            options.append(("No rule", f"takes {self.edit.tag} away", ""))
        return await self.choose_from("The rule it turns on", options, start=self.edit.tag)

    def _tag(self, tag: str | None) -> None:
        before = self.edit.tag
        if tag == before:
            same = f"by {self.rules.words(tag)} already" if tag else "it had no rule"
            self.say(f"unchanged: {same}")
            return
        self.apply(set_tag(self.edit, tag))
        words = f"by rule {self.rules.words(tag)}" if tag else f"no rule; it was {before}"
        self.say(f"{words} · enter saves it")

    # --- decisions under an older text --------------------------------------------------

    def _decided_so(self, item: Item) -> bool:
        """As below, but a decision whose rule reads otherwise by now is made again.

        So one can look through such decisions: enter says that they hold under the new text.
        """
        return super()._decided_so(item) and not self.was_outdated(item)

    def was_outdated(self, item: Item) -> bool:
        """True if the gold was decided by a rule whose text is another one by now."""
        made_of = gold_vote(item)
        return made_of is not None and self.rules.is_outdated(
            made_of.rule_tag, made_of.guideline_version
        )
