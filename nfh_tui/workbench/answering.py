"""Answers given in the workbench: the editor's keys, the draft, the way to disk, undo and
redo, and the number's span changed.
"""

import asyncio
from dataclasses import replace
from functools import partial

from nfh_db.errors import ChangedSinceError, NotAllowedError, StaleLabelsError
from nfh_db.records import AnchorItem, Exposure, FlagName, Role, Rule, StaleLabels, Undone
from nfh_models.domain import Anchor, Answer
from nfh_tui.display_text import width_of
from nfh_tui.editor.commands import MOVES, act, dump, follow, key, prompt, set_comment, set_noun
from nfh_tui.editor.state import EditOutcome, EditState, Pending, answer
from nfh_tui.editor.votes import after_deciding, proposals, proposed_by
from nfh_tui.services.history import partners
from nfh_tui.textual_support import sentence_of, start
from nfh_tui.widgets.status_bar import Tone
from nfh_tui.workbench.availability import NO_PROPOSAL, NOTHING, unchanged
from nfh_tui.workbench.command_queue import KeyPress, RunAction
from nfh_tui.workbench.rescue import Rescue
from nfh_tui.workbench.state import Unsaved

FLAGS = (
    ("a", "span wrong", FlagName.ANCHOR.value),
    ("m", "ambiguous", FlagName.AMBIGUOUS.value),
    ("g", "no rule", FlagName.GUIDELINE.value),
)


class Deciding(Rescue):
    """What changes answers, flags and anchors."""

    def writable(self) -> AnchorItem | None:
        """The item, if it may be changed; else why not is said."""
        if self.state.is_reading:
            self.refuse(self.for_reading)
            return None
        if self.state.stored_item is None:
            self.refuse(NOTHING)
        return self.state.stored_item

    def wants(self, press: KeyPress) -> bool:
        """Give a key to the editor while it waits for one."""
        if self.state.visible_item is None or self.state.is_reading:
            return False
        outcome = key(
            self.state.edit,
            self.state.visible_item,
            press.key,
            press.character,
            self.passage.tokens_in_view,
        )
        if outcome is None:
            return False
        self.apply(outcome)
        return True

    # --- the answer in the editor -------------------------------------------------------

    async def do_edit(self, action_id: str) -> None:
        """An act of the editor, by its id."""
        if self.state.visible_item is None:
            self.refuse(NOTHING)
        elif self.state.is_reading and action_id not in MOVES:
            self.refuse(self.for_reading)
        else:
            if action_id not in MOVES:
                # Nobody changes an answer that cannot be seen.
                self.bring_into_view()
            before, view = self.state.edit, self.passage.tokens_in_view
            outcome = act(self.state.edit, self.state.visible_item, action_id, view=view)
            self.apply(outcome)
            if outcome.state == before and not outcome.say:
                self.refuse(unchanged(action_id, before))

    def apply(self, outcome: EditOutcome) -> None:
        """Take over what an act of the editor gave: state, sentence, draft."""
        if outcome.refused:
            self.refuse(outcome.say or "")
            self.paint_keys()
            return
        before, self.state.edit = self.state.edit, outcome.state
        if before.content != self.state.edit.content:
            self.state.past.append(before)
            self.state.future.clear()
        self._edited(before)
        # What the editor waits for stands at the foot; it need not be said twice.
        waits = (
            prompt(self.state.edit) is not None and self.state.edit.pending is not Pending.HINT
        )
        self.say("" if waits else outcome.say or "")
        if outcome.ask == "noun":
            self.commands.put_back(RunAction("noun"))

    def _edited(self, before: EditState) -> None:
        """Draw the answer anew, and keep what changed: the draft, the cursor's place."""
        self.paint_edit()
        if replace(before, cursor=self.state.edit.cursor) != self.state.edit:
            self._keep_draft()
        if before.cursor != self.state.edit.cursor:
            self.keep_place()

    def _keep_draft(self) -> None:
        """Save the answer soon as a draft; forget the draft where nothing is begun."""
        item = self.state.stored_item
        if item is None or self.state.is_reading:
            return
        key = (item.anchor_id, self.state.role)
        begun = self.state.edit.span is not None or self.state.edit.pending is not None
        state = (
            self.state.edit
            if begun or self.state.edit.content != self.state.initial.content
            else None
        )
        if state is not None or self.state.drafts.get(key, item.draft) is not None:
            self.state.drafts[key] = state
            self._write_draft(key, state)

    def _write_draft(self, key: tuple[int, Role], state: EditState | None) -> None:
        body = None if state is None else dump(state)
        anchor_id, role = key

        async def write() -> None:
            await self.client.save_draft(anchor_id, self.state.me, role, body)

        self.draft_writer.keep(key, write)

    def step_back(self, source: list[EditState], target: list[EditState], words: str) -> bool:
        """Go to the last state of `source`; False if there is none. This one joins `target`."""
        if not source or self.state.is_reading:
            return False
        before = self.state.edit
        target.append(before)
        self.state.edit = replace(source.pop(), pending=None, hints=(), typed="", review=None)
        self._edited(before)
        self.announce(words)
        return True

    # --- noun and comment ---------------------------------------------------------------

    async def do_noun(self) -> None:
        """Ask for the noun that a class stands for."""
        item = self.writable()
        if item is None or self.state.visible_item is None:
            return
        # An empty noun tells whether one can be written here, before it is asked for.
        tried = set_noun(
            self.state.edit, self.state.visible_item, self.state.edit.noun or "noun"
        )
        if tried.refused:
            self.refuse(tried.say or "")
            return
        text = await self.ask("Noun", self.state.edit.noun or "")
        if text is not None and self.state.visible_item is not None:
            self.apply(set_noun(self.state.edit, self.state.visible_item, text))

    async def do_comment(self) -> None:
        """Ask for the comment; what is typed is part of the draft at once."""
        if self.writable() is None:
            return
        before = self.state.edit

        def typed(text: str) -> None:
            if self.state.visible_item is not None:
                self.state.edit = set_comment(
                    self.state.edit, self.state.visible_item, text
                ).state
                self.paint_edit()
                self._keep_draft()

        kept = await self.ask("Comment", self.state.edit.comment, changed=typed) is not None
        if self.state.edit.content == before.content:
            return
        self.state.past.append(before)
        self.state.future.clear()
        if not kept:
            # Escape takes the words back, as undo would; redo still brings them.
            self.step_back(
                self.state.past,
                self.state.future,
                "the comment stays as it was; Z brings it back",
            )

    def letters_follow(self) -> None:
        """Give the words that have come into view letters, while letters are on show."""
        view = self.passage.tokens_in_view
        if (
            self.state.visible_item is None
            or view is None
            or self.state.edit.pending is not Pending.HINT
        ):
            return
        outcome = follow(self.state.edit, self.state.visible_item, view)
        if outcome.state.hints != self.state.edit.hints:
            self.state.edit = outcome.state
            self.paint_edit()

    # --- saving -------------------------------------------------------------------------

    async def do_accept(self) -> None:
        """Save the answer and go on; the line of state says when it is on disk."""
        item = self.writable()
        if item is None or self.state.visible_item is None:
            return
        if self.bring_into_view():
            self.say("This is the item; the key once more accepts.")
            return
        made = answer(self.state.edit, self.state.visible_item)
        if isinstance(made, str):
            self.refuse(made)
            return
        if self._decided_so(item):
            self.leave()
            await self._go_on()
            self._just_accepted(item)
            self.say(self._unchanged_words(item, made))
            return
        key = (item.anchor_id, self.state.role)
        self.state.drafts[key] = self.state.saving[key] = self.state.edit
        self.clock.done()
        # From here on, undo takes the saved answer back, not a step of its draft.
        self.state.past.clear()
        self.state.future.clear()
        self.leave()
        self.say("")
        handed_over = asyncio.Event()
        start(
            self,
            partial(self._commit, item, self.state.edit, made, self._seen(item), handed_over),
            group="commit",
            description="saving an answer",
        )
        # What the next key writes, an undo above all, must come after it.
        await handed_over.wait()
        await self._go_on()
        self._just_accepted(item)

    def _just_accepted(self, item: AnchorItem) -> None:
        """Remember what was accepted right before the item that is shown now."""
        if (
            self.state.stored_item is not None
            and self.state.stored_item.anchor_id != item.anchor_id
        ):
            self.state.last_accepted = item.anchor_id

    def _decided_so(self, item: AnchorItem) -> bool:
        """True if an expert's decision stands in the editor as it is: it stays that expert's.

        Gold that no person decided is another matter: accepting it makes it one's own.
        """
        gold = item.gold
        expert = gold is not None and gold.rule is Rule.EXPERT
        same = self.state.edit.content == self.state.initial.content
        return expert and same and self.state.role is Role.ADJUDICATOR

    def _unchanged_words(self, item: AnchorItem, made: Answer) -> str:
        """Whose decision stands, where accepting it changes nothing."""
        gold = item.gold
        whose = (None if gold is None or self.state.blind else gold.adjudicator) or "an expert"
        if gold is None or gold.answer.without_comment() == made.without_comment():
            return f"unchanged: {whose} decided that one so"
        return f"unchanged: your decision stands beside that of {whose}, which counts"

    def _seen(self, item: AnchorItem) -> Exposure:
        return Exposure(
            saw_model=self.sight.of_model(item.anchor_id),
            saw_votes=self.sight.of_others(item.anchor_id),
            seconds=round(self.clock.seconds, 2),
            rule_tag=self.state.edit.tag,
        )

    async def _commit(
        self,
        item: AnchorItem,
        edit: EditState,
        made: Answer,
        seen: Exposure,
        handed_over: asyncio.Event,
    ) -> None:
        key = (item.anchor_id, edit.role)
        try:
            try:
                writing = self.client.commit_answer(
                    item.anchor_id, self.state.me, edit.role, made, seen
                )
            finally:
                handed_over.set()
            saved = await writing
        except Exception as error:  # noqa: BLE001  # whatever it is, the answer must not go
            self._no_longer_saving(key, edit)
            # What keeps the answer from the disk keeps the draft too; it is said once.
            self.state.unsaved_reported = True
            self._write_draft(key, edit)
            self.state.unsaved[key] = Unsaved(edit, made, seen)
            self.paint_status()
            failed = error
            self.in_turn(lambda: self._commit_failed(key, failed))
            return
        self.state.unsaved.pop(key, None)
        self._no_longer_saving(key, edit)
        if self.state.drafts.get(key) is edit:
            self.state.drafts[key] = None
            self.draft_writer.drop(key)
        self.paint_status()
        words = f"saved {self.local_time(saved.at)}"
        if edit.role is Role.ADJUDICATOR:
            words = ". ".join(
                filter(None, [words, after_deciding(item, self.state.me.name, made)])
            )
        self.say(words, Tone.DONE)
        await self.changed(item.anchor_id)
        rest = self.rest_words()
        if rest and self.status_line.status.say == words:
            self.say(f"{words}. {rest}", Tone.DONE)

    def _no_longer_saving(self, key: tuple[int, Role], edit: EditState) -> None:
        # The same item may have been accepted again meanwhile.
        if self.state.saving.get(key) is edit:
            del self.state.saving[key]

    async def _commit_failed(self, key: tuple[int, Role], error: Exception) -> None:
        """Say what happened and show the item again, with the answer still in the editor."""
        anchor_id, _ = key
        await self.draft_writer.flush()
        kept = "It is kept as a draft, and the item is shown again."
        if self.draft_writer.lost(key):
            kept = (
                "The draft is not on disk either: the answer stands in this window only, which "
                "shows the item again. Leave the window open until it can be saved, or have "
                "all of it written to another file (ctrl+p, Rescue)."
            )
        await self.show_error(f"The answer is not saved. {sentence_of(error)}\n\n{kept}")
        self.cache.forget(anchor_id)
        await self.show_anchor(anchor_id)
        await self.offer_rescue(error)

    async def changed(self, anchor_id: int) -> None:
        """Read anew what shows an anchor that was just written."""
        self.cache.forget(anchor_id)
        if self.state.stored_item is not None and self.state.stored_item.anchor_id == anchor_id:
            await self.refresh_item()
        await self.queue_list.refresh_rows([anchor_id])
        await self.count_left()

    async def _go_on(self) -> None:
        """The next item; at the end of the queue the same one again."""
        await self._placed.wait()
        if self.state.position.next_index < len(self.state.ids):
            await self.go(self.state.position.next_index)
            return
        if not self.state.saving:
            self.say(self.rest_words() or "That was the last item of the queue.")

    async def do_skip(self) -> None:
        """Mark the item as skipped and go on."""
        item = self.writable()
        if item is not None:
            self.leave()
            await self.client.set_flag(item.anchor_id, self.state.me, FlagName.SKIP, True)
            self.announce("skipped for now")
            await self.changed(item.anchor_id)
            await self._go_on()

    async def do_flag(self) -> None:
        """Ask which flag, and set it or take it away."""
        item = self.writable()
        if item is None:
            return
        mine = {mark.name.value for mark in item.flags if mark.annotator == self.state.me.name}
        choices = tuple(
            (key, ("take back: " if name in mine else "") + words, name)
            for key, words, name in FLAGS
        )
        name = await self.choose("Flag", choices)
        if name is None:
            return
        on = name not in mine
        saved = await self.client.set_flag(item.anchor_id, self.state.me, FlagName(name), on)
        words = "set" if on else "taken back"
        self.announce(f"flag “{name}” {words}, saved {self.local_time(saved.at)}")
        await self.changed(item.anchor_id)

    async def do_withdraw(self) -> None:
        """Take one's saved answer back."""
        item = self.writable()
        if item is not None:
            saved = await self.client.withdraw(item.anchor_id, self.state.me, self.state.role)
            self.announce(f"answer withdrawn, saved {self.local_time(saved.at)}; z undoes it")
            await self.changed(item.anchor_id)

    def do_draft_clear(self) -> None:
        """Forget what is begun of this item; undo brings it back while it is shown."""
        if self.writable() is not None:
            self.apply(EditOutcome(replace(self.state.initial, cursor=self.state.edit.cursor)))
            self.announce("draft thrown away")


STALE_CHOICES = (("y", "replace", "y"), ("n", "keep", "n"))
ROOM_OF_CHOICES = 24
"""Cells that those take at the foot."""

MOST_CHOICES = 9
"""Spans to choose from: a digit each."""


def worded(done: Undone) -> str:
    """What was taken back or done again, with the number of items where that says something.

    What was done to many items often names their number itself.
    """
    items = f"{done.anchors:,} items"
    parts = [items] if done.anchors != 1 and items not in done.summary else []
    if done.skipped:
        parts.append(f"{done.skipped:,} left, changed since")
    return f"{done.summary} ({', '.join(parts)})" if parts else done.summary


def _words(item: AnchorItem, span: Anchor) -> str:
    return item.passage.words(span.start, span.end)


class Changing(Deciding):
    """What replaces an anchor or proposes another span for it, and what undoes."""

    # --- the number's span --------------------------------------------------------------

    async def do_anchor_widen(self) -> None:
        """Take the next word on the right into the number."""
        await self._respan(0, 1)

    async def do_anchor_narrow(self) -> None:
        """Leave the last word out."""
        await self._respan(0, -1)

    async def do_anchor_widen_left(self) -> None:
        """Take the word before into the number."""
        await self._respan(-1, 0)

    async def do_anchor_narrow_left(self) -> None:
        """Leave the first word out."""
        await self._respan(1, 0)

    async def _respan(self, start_by: int, end_by: int) -> None:
        """Move the ends of the number, as an annotator those of the span proposed for it."""
        item = self.writable()
        if item is None:
            return
        annotating = self.state.role is Role.ANNOTATOR
        now = (proposed_by(item, self.state.me.name) if annotating else None) or item.anchor
        start, end = now.start + start_by, now.end + end_by
        turn = item.passage.turns[item.passage.turn_of(item.anchor.start)]
        if start >= end:
            self.refuse("A number keeps one word at least.")
        elif start < turn.start or end > turn.end:
            self.refuse("A number stays in its turn: there is no further word here.")
        elif annotating:
            await self._propose(item, Anchor(start, end))
        else:
            await self._replace(item, Anchor(start, end))

    async def _propose(self, item: AnchorItem, span: Anchor) -> None:
        """Propose a span to whoever adjudicates; the number's own takes the proposal back."""
        saved = await self.client.propose_span(item.anchor_id, self.state.me, span)
        words = _words(item, span)
        said = f"you propose “{words}” for the number"
        if span == item.anchor:
            said = f"proposal taken back: the number is “{words}”"
        self.announce(f"{said}, saved {self.local_time(saved.at)}")
        await self.changed(item.anchor_id)

    async def do_anchor_take(self) -> None:
        """Give the number a span that annotators propose; asked which of several."""
        item = self.writable()
        if item is None:
            return
        spans = list(proposals(item))
        if not spans:
            self.refuse(NO_PROPOSAL)
            return
        chosen: str | None = "1"
        if len(spans) > 1:
            choices = [
                (str(number), f"“{_words(item, span)}”", str(number))
                for number, span in enumerate(spans[:MOST_CHOICES], 1)
            ]
            chosen = await self.choose("Which span?", choices)
        if chosen is not None:
            await self._replace(item, spans[int(chosen) - 1])

    async def _replace(self, item: AnchorItem, span: Anchor) -> None:
        """Replace the anchor by one of another span; what is begun goes along.

        Where gold or others' answers become stale by it, that is asked first.
        """
        await self.draft_writer.flush()
        try:
            saved = await self.client.replace_anchor(
                item.anchor_id, self.state.me, self.state.role, span
            )
        except StaleLabelsError as error:
            question = self._stale_words(item, error.labels)
            if await self.choose(question, STALE_CHOICES) != "y":
                self.say(f"the number stays “{_words(item, item.anchor)}”")
                return
            saved = await self.client.replace_anchor(
                item.anchor_id, self.state.me, self.state.role, span, error.labels
            )
        self.state.drafts.pop((item.anchor_id, self.state.role), None)
        self.state.drafts.pop((saved.anchor_id, self.state.role), None)
        self.steps.forget(item.anchor_id)
        self.steps.forget(saved.anchor_id)
        place = self.state.ids.find(item.anchor_id, self.state.position.index)
        if place is not None:
            self.state.ids.replace(place, saved.anchor_id)
        self.cache.clear()
        await self.show_anchor(saved.anchor_id)
        self.queue_list.refresh()
        words = _words(item, span)
        self.announce(f"the number is “{words}”, saved {self.local_time(saved.at)}")

    def _stale_words(self, item: AnchorItem, labels: StaleLabels) -> str:
        """What becomes stale, in as many names as the line has room for.

        Nobody is named to one who works blind; of what is withheld not even how much it is.
        """
        if item.withheld:
            return "What others said, shown to you or not, becomes stale."
        room = self.size.width - ROOM_OF_CHOICES
        for most in range(len(labels.annotators), 0, -1):
            words = f"{labels.said(most, named=not self.state.blind)}."
            if width_of(words) <= room:
                return words
        return f"{labels.said(0, named=not self.state.blind)}."

    # --- back and forth -----------------------------------------------------------------

    async def do_undo(self) -> None:
        """Take back the last change of the draft shown, else the last saved act."""
        words = "taken back in the draft"
        if not self.state.past and self._holds_draft():
            # Of a draft that another session began, only what it began from is known.
            self.state.past.append(self.state.initial)
            words = "draft taken back"
        if self.step_back(self.state.past, self.state.future, words):
            return
        if not self.state.is_reading and await self._asks_before_many():
            return
        await self._travel("taken back", await self._saved_act(undo=True))

    def _holds_draft(self) -> bool:
        """True if a draft stands in the editor that differs from what is saved."""
        item = self.state.stored_item
        if item is None or self.state.is_reading or not self.is_begun(item):
            return False
        return self.state.edit.content != self.state.initial.content

    async def _asks_before_many(self) -> bool:
        """True if a settlement is next, and this is the first time that it would be undone.

        It is many items in the place of one: the key is wanted twice.
        """
        found = await self.client.settlement_to_undo(self.state.me)
        if found is None or found[0] == self.state.warned_of:
            self.state.warned_of = 0
            return False
        self.state.warned_of, words = found
        self.say(f"Undo once more takes all of this back: {words}")
        return True

    async def do_redo(self) -> None:
        """Do again what was taken back, in the draft or saved."""
        if self.step_back(self.state.future, self.state.past, "done again in the draft"):
            return
        await self._travel("done again", await self._saved_act(undo=False))

    async def _saved_act(self, *, undo: bool) -> Undone | None:
        """Undo or redo in the store; where that cannot be, the reason is said."""
        if self.state.is_reading:
            self.refuse(self.for_reading)
            return None
        await self.draft_writer.flush()
        # A settlement of many items takes seconds; keys pressed meanwhile wait for it.
        self.state.busy = "taking back…" if undo else "doing it again…"
        self.paint_status()
        try:
            done = await (
                self.client.undo(self.state.me) if undo else self.client.redo(self.state.me)
            )
        except (ChangedSinceError, NotAllowedError) as error:
            self.refuse(str(error))
            return None
        finally:
            self.state.busy = ""
            self.paint_status()
        if done is None:
            self.refuse("Nothing is left to undo." if undo else "Nothing was undone last.")
        return done

    async def _travel(self, how: str, done: Undone | None) -> None:
        """Show the item that an undo or redo was about, and say what it was."""
        if done is None:
            return
        self.cache.clear()
        if done.anchor_id is not None:
            self.state.drafts.pop((done.anchor_id, self.state.role), None)
            self.steps.forget(done.anchor_id)
            await self._take_place_of_gone(done.anchor_id)
            await self.show_anchor(done.anchor_id)
        self.announce(f"{how}: {worded(done)}, on disk {self.local_time(done.at)}")
        await self.queue_list.refresh_visible()
        await self.count_left()

    async def _take_place_of_gone(self, anchor_id: int) -> None:
        """What an undo brought back stands in the queue where its replacement stood."""
        if self.state.ids.find(anchor_id, self.state.position.index) is not None:
            return
        for partner in partners(await self.client.history(anchor_id)):
            place = self.state.ids.find(partner, self.state.position.index)
            if place is not None:
                self.state.ids.replace(place, anchor_id)
                return
