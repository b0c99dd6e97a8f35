"""Deciding: the answer in the editor, its draft, its way to disk, and the way back."""

from dataclasses import replace

from nfh_db.errors import ChangedSinceError, StoreError
from nfh_db.records import FlagName, Item, Role, Seen, Undone
from nfh_models.domain import Anchor, Answer, AnswerError
from nfh_tui.actions import Mode
from nfh_tui.desk.history import partners
from nfh_tui.desk.keys import Act, KeyPress
from nfh_tui.editing import (
    EditState,
    Outcome,
    act,
    after_deciding,
    answer,
    dump,
    key,
    prompt,
    set_comment,
    set_noun,
)
from nfh_tui.screens.walking import Walking
from nfh_tui.widgets.status_line import Tone

SWITCH = "This is for reading. M changes to annotating, M again to adjudicating."
NOTHING = "There is no item here to do that with."

MOVES = frozenset(
    f"cursor.{name}"
    for name in (
        "left",
        "right",
        "next_noun",
        "previous_noun",
        "next_turn",
        "previous_turn",
        "anchor",
        "next_head",
    )
)
"""Acts of the editor that change no answer, so that reading allows them."""

FLAGS = (
    ("a", "the span is wrong", FlagName.ANCHOR.value),
    ("m", "ambiguous", FlagName.AMBIGUOUS.value),
    ("g", "guidelines silent", FlagName.GUIDELINE.value),
)


class Deciding(Walking):
    """What changes answers, flags and anchors."""

    def _writable(self) -> Item | None:
        """The item, if it may be changed; else why not is said."""
        if self.reading:
            self.refuse(SWITCH)
            return None
        if self.whole is None:
            self.refuse(NOTHING)
        return self.whole

    def wants(self, press: KeyPress) -> bool:
        """Give a key to the editor while it waits for one."""
        if self.item is None or self.reading:
            return False
        outcome = key(self.edit, self.item, press.key, press.character)
        if outcome is None:
            return False
        self.apply(outcome)
        return True

    # --- the answer in the editor -------------------------------------------------------

    async def do_edit(self, action_id: str) -> None:
        """An act of the editor, by its id."""
        if self.item is None:
            self.refuse(NOTHING)
        elif self.reading and action_id not in MOVES:
            self.refuse(SWITCH)
        else:
            self.apply(act(self.edit, self.item, action_id))

    def apply(self, outcome: Outcome) -> None:
        """Take over what an act of the editor gave: state, sentence, draft."""
        if outcome.refused:
            self.refuse(outcome.say or "")
            self.paint_keys()
            return
        before, self.edit = self.edit, outcome.state
        if before.content != self.edit.content:
            self.past.append(before)
            self.future.clear()
        self._edited(before)
        # What the editor waits for stands at the foot; it need not be said twice.
        self.say("" if prompt(self.edit) is not None else outcome.say or "")
        if outcome.ask == "noun":
            self.turns.put_back(Act("noun"))

    def _edited(self, before: EditState) -> None:
        """Draw the answer anew, and keep it: as a draft, or only the cursor's place."""
        self.paint_edit()
        if replace(before, cursor=self.edit.cursor) != self.edit:
            self._keep_draft()
        else:
            self.keep_place()

    def _keep_draft(self) -> None:
        """Save the answer soon as a draft; forget the draft where nothing is begun."""
        item = self.whole
        if item is None or self.reading:
            return
        key = (item.anchor_id, self.role)
        begun = self.edit.span is not None or self.edit.pending is not None
        state = self.edit if begun or self.edit.content != self.fresh.content else None
        if state is not None or self.begun.get(key, item.draft) is not None:
            self.begun[key] = state
            self._write_draft(key, state)

    def _write_draft(self, key: tuple[int, Role], state: EditState | None) -> None:
        body = None if state is None else dump(state)
        anchor_id, role = key

        async def write() -> None:
            await self.client.save_draft(anchor_id, self.me, role, body)

        self.drafts.keep(key, write)

    # --- noun and comment ---------------------------------------------------------------

    async def do_noun(self) -> None:
        """Ask for the noun that a class stands for."""
        item = self._writable()
        if item is None or self.item is None:
            return
        # An empty noun tells whether one can be written here, before it is asked for.
        tried = set_noun(self.edit, self.item, self.edit.noun or "noun")
        if tried.refused:
            self.refuse(tried.say or "")
            return
        text = await self.ask("Noun", self.edit.noun or "")
        if text is not None and self.item is not None:
            self.apply(set_noun(self.edit, self.item, text))

    async def do_comment(self) -> None:
        """Ask for the comment; what is typed is part of the draft at once."""
        if self._writable() is None:
            return
        before = self.edit

        def typed(text: str) -> None:
            if self.item is not None:
                self.edit = set_comment(self.edit, self.item, text).state
                self.paint_edit()
                self._keep_draft()

        await self.ask("Comment", self.edit.comment, changed=typed)
        if self.edit.content != before.content:
            self.past.append(before)
            self.future.clear()
        self.paint_keys()

    # --- saving -------------------------------------------------------------------------

    async def do_accept(self) -> None:
        """Save the answer and go on; the line of state says when it is on disk."""
        item = self._writable()
        if item is None or self.item is None:
            return
        made = answer(self.edit, self.item)
        if isinstance(made, str):
            self.refuse(made)
            return
        key = (item.anchor_id, self.role)
        self.begun[key] = self.saving[key] = self.edit
        self.leave()
        self.say("")
        self.run_worker(
            self._commit(item, self.edit, made, self._seen(item)),
            group="commit",
            description="saving an answer",
            exit_on_error=False,
        )
        await self._go_on()

    def _seen(self, item: Item) -> Seen:
        return Seen(
            saw_model=item.prediction is not None and self._evidence_shown(),
            saw_votes=self.mode is not Mode.ANNOTATE and bool(item.votes),
            seconds=round(self.clock.seconds, 2),
        )

    def _evidence_shown(self) -> bool:
        return self.heat or self.pane == "evidence" or not self.has_class("-one-pane")

    async def _commit(self, item: Item, edit: EditState, made: Answer, seen: Seen) -> None:
        key = (item.anchor_id, edit.role)
        try:
            saved = await self.client.commit_answer(
                item.anchor_id, self.me, edit.role, made, seen
            )
        except (StoreError, AnswerError) as error:
            self.saving.pop(key, None)
            self.paint_status()
            self._write_draft(key, edit)
            sentence = str(error)
            self.in_turn(lambda: self._commit_failed(item.anchor_id, sentence))
            return
        self.saving.pop(key, None)
        if self.begun.get(key) is edit:
            self.begun[key] = None
        self.paint_status()
        words = f"saved {self.local_time(saved.at)}"
        if edit.role is Role.ADJUDICATOR:
            words = ". ".join(filter(None, [words, after_deciding(item, self.me.name, made)]))
        self.say(words, Tone.DONE)
        await self.changed(item.anchor_id)

    async def _commit_failed(self, anchor_id: int, sentence: str) -> None:
        """Say what happened and show the item again, with the answer still in the editor."""
        await self.show_error(
            f"The answer is not saved. {sentence}\n\n"
            "It is kept as a draft, and the item is shown again."
        )
        self.cache.forget(anchor_id)
        await self.show_anchor(anchor_id)

    async def changed(self, anchor_id: int) -> None:
        """Read anew what shows an anchor that was just written."""
        self.cache.forget(anchor_id)
        if self.whole is not None and self.whole.anchor_id == anchor_id:
            await self.refresh_item()
        await self.queue_list.refresh_rows([anchor_id])

    async def _go_on(self) -> None:
        """The next item; at the end of the queue the same one again."""
        await self._placed.wait()
        if self.beside or self.place + 1 < len(self.ids):
            await self.go(self.place if self.beside else self.place + 1)
            return
        if not self.saving:
            self.say("That was the last item of the queue.")

    async def do_skip(self) -> None:
        """Mark the item as skipped and go on."""
        item = self._writable()
        if item is not None:
            self.leave()
            await self.client.set_flag(item.anchor_id, self.me, FlagName.SKIP, True)
            self.announce("skipped for now")
            await self.changed(item.anchor_id)
            await self._go_on()

    async def do_flag(self) -> None:
        """Ask which flag, and set it or take it away."""
        item = self._writable()
        if item is None:
            return
        mine = {mark.name.value for mark in item.flags if mark.annotator == self.me.name}
        choices = tuple(
            (key, ("take back: " if name in mine else "") + words, name)
            for key, words, name in FLAGS
        )
        name = await self.choose("Flag", choices)
        if name is None:
            return
        on = name not in mine
        saved = await self.client.set_flag(item.anchor_id, self.me, FlagName(name), on)
        words = "set" if on else "taken back"
        self.announce(f"flag “{name}” {words}, saved {self.local_time(saved.at)}")
        await self.changed(item.anchor_id)

    async def do_withdraw(self) -> None:
        """Take one's saved answer back."""
        item = self._writable()
        if item is not None:
            saved = await self.client.withdraw(item.anchor_id, self.me, self.role)
            self.announce(f"answer withdrawn, saved {self.local_time(saved.at)}; z undoes it")
            await self.changed(item.anchor_id)

    def do_draft_clear(self) -> None:
        """Forget what is begun of this item; undo brings it back while it is shown."""
        if self._writable() is not None:
            self.apply(Outcome(replace(self.fresh, cursor=self.edit.cursor)))
            self.announce("draft thrown away")

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
        """Replace the anchor by one with other ends; what is begun goes along."""
        item = self._writable()
        if item is None:
            return
        start, end = item.anchor.start + start_by, item.anchor.end + end_by
        turn = item.passage.turns[item.passage.turn_of(item.anchor.start)]
        if start >= end:
            self.refuse("A number keeps one word at least.")
            return
        if start < turn.start or end > turn.end:
            self.refuse("A number stays in its turn: there is no further word here.")
            return
        await self.drafts.flush()
        saved = await self.client.replace_anchor(item.anchor_id, self.me, Anchor(start, end))
        self.begun.pop((item.anchor_id, self.role), None)
        self.begun.pop((saved.anchor_id, self.role), None)
        place = self.ids.find(item.anchor_id, self.place)
        if place is not None:
            self.ids.replace(place, saved.anchor_id)
        self.cache.clear()
        await self.show_anchor(saved.anchor_id)
        self.queue_list.refresh()
        words = item.passage.words(start, end)
        self.announce(f"the number is “{words}”, saved {self.local_time(saved.at)}")

    # --- back and forth -----------------------------------------------------------------

    async def do_undo(self) -> None:
        """Take back the last change of the draft, else the last saved act."""
        if self._back(self.past, self.future, "taken back in the draft"):
            return
        await self._travel("undone", await self._saved_act(undo=True))

    async def do_redo(self) -> None:
        """Do again what was taken back, in the draft or saved."""
        if self._back(self.future, self.past, "done again in the draft"):
            return
        await self._travel("done again", await self._saved_act(undo=False))

    def _back(self, source: list[EditState], target: list[EditState], words: str) -> bool:
        if not source or self.reading:
            return False
        before = self.edit
        target.append(before)
        self.edit = replace(source.pop(), pending=None, hints=(), typed="", review=None)
        self._edited(before)
        self.announce(words)
        return True

    async def _saved_act(self, *, undo: bool) -> Undone | None:
        """Undo or redo in the store; where that cannot be, the reason is said."""
        if self.reading:
            self.refuse(SWITCH)
            return None
        await self.drafts.flush()
        try:
            done = await (self.client.undo(self.me) if undo else self.client.redo(self.me))
        except ChangedSinceError as error:
            self.refuse(str(error))
            return None
        if done is None:
            self.refuse("Nothing is left to undo." if undo else "Nothing was undone last.")
        return done

    async def _travel(self, how: str, done: Undone | None) -> None:
        """Show the item that an undo or redo was about, and say what it was."""
        if done is None:
            return
        self.cache.clear()
        if done.anchor_id is not None:
            self.begun.pop((done.anchor_id, self.role), None)
            await self._take_place_of_gone(done.anchor_id)
            await self.show_anchor(done.anchor_id)
        more = f" ({done.anchors} items)" if done.anchors > 1 else ""
        self.announce(f"{how}: {done.summary}{more}, saved {self.local_time(done.at)}")
        await self.queue_list.refresh_visible()

    async def _take_place_of_gone(self, anchor_id: int) -> None:
        """What an undo brought back stands in the queue where its replacement stood."""
        if self.ids.find(anchor_id, self.place) is not None:
            return
        for partner in partners(await self.client.history(anchor_id)):
            place = self.ids.find(partner, self.place)
            if place is not None:
                self.ids.replace(place, anchor_id)
                return
