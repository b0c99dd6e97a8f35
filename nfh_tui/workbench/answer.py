"""The answer of the current item: keys of the editor, drafts, saving, flags."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from nfh_db.errors import StoreError
from nfh_db.records import AnchorItem, Exposure, FlagName, Role, Rule
from nfh_models.domain import Answer
from nfh_tui.actions import BY_ID
from nfh_tui.display_text import told_apart
from nfh_tui.editor.commands import ACTIONS as EDITOR_ACTIONS
from nfh_tui.editor.commands import (
    MOVES,
    act,
    adopt,
    dump,
    follow,
    gold_vote,
    key,
    prompt,
    set_comment,
    set_noun,
)
from nfh_tui.editor.state import (
    EditOutcome,
    EditState,
    Pending,
    answer,
    normalized,
    without_pending,
)
from nfh_tui.editor.votes import adoptable, after_deciding, describe
from nfh_tui.textual_support import sentence_of, start
from nfh_tui.widgets.passage_render import MOST_LANES
from nfh_tui.widgets.status_bar import Level
from nfh_tui.workbench.availability import NOTHING, no_change
from nfh_tui.workbench.command_queue import DebouncedWriter, KeyPress, RunAction
from nfh_tui.workbench.controller import Controller, Handler, RefusedError
from nfh_tui.workbench.display import local_time
from nfh_tui.workbench.session import ItemKey
from nfh_tui.workbench.state import Unsaved

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench


DRAFT_DELAY = 0.1
"""Seconds between a change and the write of the draft."""
REPEAT_BEGINS, REPEAT_PAUSE = 1.0, 0.1
"""Seconds after which a held key repeats at the latest, and at most from repeat to repeat."""
GUARD_VARIABLE = "NFH_TUI_GUARD"
"""An environment variable; "off" has a key that accepts count at once."""
KEYS_TITLE, KEY_CELLS, LEAST_NAME = 8, 5, 3
"""Cells of the question which answer, of a key beside its name, and least ones of the name."""
SEEN_NOW = "This is the item; press the key again to accept."
EARLY = "Too early: this item is not accepted. Press the key again."
FLAGS = (
    ("a", "span wrong", FlagName.ANCHOR.value),
    ("m", "ambiguous", FlagName.AMBIGUOUS.value),
    ("g", "no rule", FlagName.GUIDELINE.value),
)


class AnswerController(Controller):
    """Edits the answer of the current item, and saves it and its draft."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self.draft_writer = DebouncedWriter(
            DRAFT_DELAY, self._draft_failed, self._draft_written
        )
        off = os.environ.get(GUARD_VARIABLE) == "off"
        self.least_in_view = 0.0 if off else bench.config.options.accept_after
        self._accept_keys = frozenset(
            key
            for action in bench.keymap.actions
            if action.id == "accept" or action.id.startswith("adopt.go")
            for key in action.keys
        )
        self._accept_pressed_at = -inf

    def handlers(self) -> Mapping[str, Handler]:
        """The editor does most of these actions."""
        edits = {
            action_id: partial(self.run_editor_action, action_id)
            for action_id in EDITOR_ACTIONS & BY_ID.keys()
        }
        return {
            **edits,
            "noun": self.ask_noun,
            "comment": self.ask_comment,
            "accept": self.accept,
            "adopt.list": self.adopt_from_list,
            "adopt.go": self.adopt_and_go_on,
            **{f"adopt.go.{n}": partial(self.adopt_and_go_on, n) for n in range(1, 10)},
            "skip": self.skip,
            "flag": self.flag,
            "withdraw": self.withdraw,
            "draft.clear": self.clear_draft,
        }

    def writable(self) -> AnchorItem:
        """Return the stored item if it may be changed. Raises RefusedError."""
        if self.state.is_reading:
            raise RefusedError(self.ui.read_only_reason)
        if self.state.stored_item is None:
            raise RefusedError(NOTHING)
        return self.state.stored_item

    # --- the answer in the editor -----------------------------------------------------------

    def intercept(self, press: KeyPress) -> bool:
        """Pass a key to the editor while it waits for one."""
        if self.state.visible_item is None or self.state.is_reading:
            return False
        outcome = key(
            self.state.edit,
            self.state.visible_item,
            press.key,
            press.character,
            self.bench.passage.tokens_in_view,
        )
        if outcome is None:
            return False
        self.apply(outcome)
        return True

    def run_editor_action(self, action_id: str) -> None:
        """Run an action of the editor. Raises RefusedError."""
        if self.state.visible_item is None:
            raise RefusedError(NOTHING)
        if self.state.is_reading and action_id not in MOVES:
            raise RefusedError(self.ui.read_only_reason)
        if action_id not in MOVES:
            # An answer that cannot be seen is not changed.
            self.ui.bring_into_view()
            # Also a key that names the answer which is there.
            self.state.answer_given = True
        before, view = self.state.edit, self.bench.passage.tokens_in_view
        outcome = act(self.state.edit, self.state.visible_item, action_id, view=view)
        self.apply(outcome)
        if outcome.state == before and not outcome.say:
            self.ui.notify(no_change(action_id, before), Level.REFUSED)

    async def adopt_from_list(self) -> None:
        """Adopt one of all answers, chosen from a list."""
        self.writable()
        if (number := await self._choose_answer("Adopt", in_list=True)) is not None:
            self._adopt(number)

    async def adopt_and_go_on(self, number: int | None = None) -> None:
        """Adopt an answer, save it and go on. number: None asks for it.

        Nothing is adopted where it came too early to be accepted.
        """
        self.writable()
        if self._was_unseen():
            return
        if await self._is_early():
            raise RefusedError(EARLY)
        if number is None:
            number = await self._choose_answer("Adopt and go on", in_list=False)
        if number is not None and self._adopt(number):
            await self.accept()

    def _was_unseen(self) -> bool:
        """Bring the answer into view; True, with a notice, if it was not."""
        if moved := self.ui.bring_into_view():
            self.bench.item.await_drawing()
            self.ui.notify(SEEN_NOW)
        return moved

    async def _choose_answer(self, title: str, *, in_list: bool) -> int | None:
        """Ask for an answer by its number, from a list where a digit is not enough."""
        item = self.state.visible_item
        found = () if item is None else adoptable(item)
        if item is None or not found:
            raise RefusedError("Nobody has answered this item.")
        if in_list or len(found) > MOST_LANES:
            rows = tuple(
                (
                    f"{number:>2} {vote.annotator}",
                    describe(vote.answer, item.passage),
                    f"{number}",
                )
                for number, vote in enumerate(found, 1)
            )
            chosen = await self.bench.prompts.choose_from(title, rows)
        else:
            room = (self.bench.size.width - KEYS_TITLE) // len(found) - KEY_CELLS
            names = told_apart([vote.annotator for vote in found], max(LEAST_NAME, room))
            keys = tuple((f"{n}", name, f"{n}") for n, name in enumerate(names, 1))
            chosen = await self.bench.prompts.choose("Adopt", keys)
        return None if chosen is None else int(chosen)

    def _adopt(self, number: int) -> bool:
        """Adopt an answer; returns False if it cannot be."""
        if self.state.visible_item is None:
            return False
        self.state.answer_given = True
        outcome = adopt(self.state.edit, self.state.visible_item, number)
        self.apply(outcome)
        return not outcome.refused

    def apply(self, outcome: EditOutcome) -> None:
        """Apply the outcome of an action of the editor: state, message, draft."""
        state = self.state
        if outcome.refused:
            self.ui.notify(outcome.say or "", Level.REFUSED)
            self.ui.refresh_keys()
            return
        before, state.edit = state.edit, outcome.state
        if before.content != state.edit.content:
            state.past.append(before)
            state.future.clear()
        self._edited(before)
        # The footer shows the prompt of the editor; the message would repeat it.
        waits = prompt(state.edit) is not None and state.edit.pending is not Pending.HINT
        self.ui.notify("" if waits else outcome.say or "")
        if outcome.ask == "noun":
            self.bench.commands.put_back(RunAction("noun"))

    def _edited(self, before: EditState) -> None:
        """Redraw the answer; save the draft and the cursor's position if they have changed."""
        self.ui.refresh_edit()
        self.state.answer_given |= before.content != self.state.edit.content
        if replace(before, cursor=self.state.edit.cursor) != self.state.edit:
            self._keep_draft()
        if before.cursor != self.state.edit.cursor:
            self.bench.queue.keep_position()

    def step_back(self, source: list[EditState], target: list[EditState], words: str) -> bool:
        """Restore the last state of `source` and push the current one onto `target`.

        Returns False if `source` is empty. Used for undo and redo.
        """
        if not source or self.state.is_reading:
            return False
        before = self.state.edit
        target.append(before)
        self.state.edit = replace(source.pop(), pending=None, hints=(), typed="", review=None)
        self._edited(before)
        self.ui.notify(words, Level.DONE)
        return True

    def follow_letters(self) -> None:
        """Assign letters to words that have come into view, while letters are shown."""
        state = self.state
        view = self.bench.passage.tokens_in_view
        if state.visible_item is None or view is None or state.edit.pending is not Pending.HINT:
            return
        outcome = follow(state.edit, state.visible_item, view)
        if outcome.state.hints != state.edit.hints:
            state.edit = outcome.state
            self.ui.refresh_edit()

    # --- the draft --------------------------------------------------------------------------

    def _keep_draft(self) -> None:
        """Save the answer as a draft after DRAFT_DELAY; delete the draft if nothing has
        changed.
        """
        item = self.state.stored_item
        if item is None or self.state.is_reading:
            return
        key = (item.anchor_id, self.state.role)
        edit = self.state.edit
        begun = edit.span is not None or edit.pending is not None
        state = edit if begun or edit.content != self.state.initial.content else None
        if state is not None or self.state.drafts.get(key, item.draft) is not None:
            self.state.drafts[key] = state
            self.write_draft(key, state)

    def write_draft(self, key: ItemKey, state: EditState | None) -> None:
        """Save a draft after DRAFT_DELAY; None deletes it."""
        body = None if state is None else dump(state)
        anchor_id, role = key

        async def write() -> None:
            await self.client.write(
                self.store.workspace.save_draft, anchor_id, self.state.me, role, body
            )

        self.draft_writer.keep(key, write)

    def _draft_failed(self, error: Exception) -> None:
        """Report once why drafts are not saved; the status line shows it until they are."""
        self.ui.refresh_status()

        async def tell() -> None:
            # By now the drafts may be on disk, or a failed answer has been reported.
            if self.draft_writer.lost() and not self.state.unsaved_reported:
                self.state.unsaved_reported = True
                await self.bench.prompts.show_error(f"The draft is not saved. {error}")
                await self.bench.rescue.offer(error)

        self.bench.enqueue(tell)

    def _draft_written(self) -> None:
        if not self.draft_writer.lost():
            self.state.unsaved_reported = False
        self.ui.refresh_status()

    # --- noun and comment -------------------------------------------------------------------

    async def ask_noun(self) -> None:
        """Ask for the noun of an answer that is a class. Raises RefusedError."""
        state = self.state
        self.writable()
        if state.visible_item is None:
            return
        # A trial shows whether a noun can be set here, before it is asked for.
        tried = set_noun(state.edit, state.visible_item, state.edit.noun or "noun")
        if tried.refused:
            raise RefusedError(tried.say or "")
        text = await self.bench.prompts.ask("Noun", state.edit.noun or "")
        if text is not None and state.visible_item is not None:
            self.apply(set_noun(state.edit, state.visible_item, text))

    async def ask_comment(self) -> None:
        """Ask for the comment; the draft contains what is typed so far."""
        state = self.state
        self.writable()
        before = state.edit

        def typed(text: str) -> None:
            if state.visible_item is not None:
                state.edit = set_comment(state.edit, state.visible_item, text).state
                self.ui.refresh_edit()
                self._keep_draft()

        kept = await self.bench.prompts.ask("Comment", state.edit.comment, changed=typed)
        if state.edit.content == before.content:
            return
        state.answer_given = True
        state.past.append(before)
        state.future.clear()
        if kept is None:
            # Escape discards the comment like undo; redo restores it.
            self.step_back(
                state.past, state.future, "the comment is unchanged; Z restores your text"
            )

    # --- saving -----------------------------------------------------------------------------

    async def accept(self) -> None:
        """Save the answer and go to the next item; the status line reports the commit.

        Raises RefusedError if the answer is incomplete.
        """
        state = self.state
        item = self.writable()
        if state.visible_item is None:
            return
        if self._was_unseen():
            return
        if state.edit.pending is Pending.SORT:
            self.apply(EditOutcome(normalized(without_pending(state.edit))))
        made = answer(state.edit, state.visible_item)
        if isinstance(made, str):
            raise RefusedError(made)
        if await self._is_early():
            raise RefusedError(EARLY)
        item = await self._as_it_is_now(item)
        if not await self._may_replace(item, made):
            return
        if self._decided_so(item):
            self.bench.item.leave()
            await self.go_on()
            self._just_accepted(item)
            self.ui.notify(self._unchanged_words(item, made))
            return
        key = (item.anchor_id, state.role)
        state.drafts[key] = state.saving[key] = state.edit
        self.bench.clock.done()
        # From here on, undo takes back the saved answer instead of a step of its draft.
        state.past.clear()
        state.future.clear()
        self.bench.item.leave()
        self.ui.notify("")
        handed_over = asyncio.Event()
        one = Unsaved(state.edit, made, self._exposure(item))
        commit = partial(self._commit, item, one, handed_over)
        start(self.bench, commit, group="commit", description="saving an answer")
        # The next key may write, above all an undo; its write must come after this one.
        await handed_over.wait()
        await self.go_on()
        self._just_accepted(item)

    async def _as_it_is_now(self, item: AnchorItem) -> AnchorItem:
        """Return an adjudicator's item as it is stored: somebody may just have decided it."""
        if self.state.role is Role.ANNOTATOR:
            return item
        try:
            now = await self.client.item(item.anchor_id, self.state.me, self.state.role)
        except StoreError:
            return item  # saving reports the trouble, and keeps the answer
        return now or item

    async def _may_replace(self, item: AnchorItem, made: Answer) -> bool:
        """Return True if the answer may be saved; asks once about a decision that this person
        has not seen.
        """
        state, gold = self.state, item.gold
        whose = self._decided_by(item)
        if gold is None or not whose or gold == state.known_gold or gold.answer == made:
            return True
        question = (
            f"{whose} just decided this: {describe(gold.answer, item.passage)}. You say: "
            f"{describe(made, item.passage)}"
        )
        choices = (("y", "replace it", "replace"), ("n", "keep that decision", "stand"))
        chosen = await self.bench.prompts.choose(question, choices)
        if state.anchor_id != item.anchor_id or chosen is None:
            return False
        state.known_gold = gold
        if chosen == "replace":
            return True
        await self.reload_written(item.anchor_id)
        self.ui.notify(f"The decision of {whose} stands; your answer is a draft.", Level.DONE)
        return False

    def _decided_by(self, item: AnchorItem) -> str:
        """Return the name of another adjudicator whose decision an answer replaces; else ""."""
        gold = item.gold
        if self.state.role is Role.ANNOTATOR or gold is None or gold.rule is not Rule.EXPERT:
            return ""
        if gold.adjudicator == self.state.me.name:
            return ""
        return (None if self.state.blind else gold.adjudicator) or "another adjudicator"

    async def _is_early(self) -> bool:
        """Return True if the key to accept came before the item could be read.

        A key that gave or changed the answer shows that it was. Each early key begins the time
        again, so that a held key accepts one item.
        """
        state = self.state
        least, pressed, before = self.least_in_view, state.pressed_at, self._accept_pressed_at
        self._accept_pressed_at = pressed
        if not least or state.answer_given or pressed == inf:
            return False
        early = state.drawn_at is None or pressed - state.drawn_at < least
        if not early and pressed - before < REPEAT_BEGINS:
            # Held, a key repeats after a while, and then without a pause.
            await asyncio.sleep(REPEAT_PAUSE)
            early = self.bench.commands.waits(self._accept_keys)
        if early and state.drawn_at is not None:
            state.drawn_at = max(state.drawn_at, pressed)
        return early

    def _just_accepted(self, item: AnchorItem) -> None:
        """Remember the item that was accepted right before the current one."""
        if self.state.anchor_id not in (None, item.anchor_id):
            self.state.last_accepted = item.anchor_id

    def _decided_so(self, item: AnchorItem) -> bool:
        """Return True if the editor holds an adjudicator's decision unchanged, whose author it
        keeps.

        Gold that no person decided becomes your own decision when you accept it. So does a
        decision whose rule has a new text: you decide it again under that text.
        """
        gold = item.gold
        expert = gold is not None and gold.rule is Rule.EXPERT
        same = self.state.edit.content == self.state.initial.content
        decided = expert and same and self.state.role is Role.ADJUDICATOR
        return decided and not self._is_outdated(item)

    def _is_outdated(self, item: AnchorItem) -> bool:
        """Return True if the text of the rule has changed since the gold was decided."""
        made_of = gold_vote(item)
        return made_of is not None and self.state.guidelines.is_outdated(
            made_of.rule_tag, made_of.guideline_version
        )

    def _unchanged_words(self, item: AnchorItem, made: Answer) -> str:
        """Say whose decision stands if you accept it unchanged."""
        gold = item.gold
        whose = (
            None if gold is None or self.state.blind else gold.adjudicator
        ) or "an adjudicator"
        if gold is None or gold.answer.without_comment() == made.without_comment():
            return f"unchanged: already decided this way by {whose}"
        return f"unchanged: your decision is kept beside the one by {whose}, which counts"

    def _exposure(self, item: AnchorItem) -> Exposure:
        return Exposure(
            saw_model=self.bench.item.exposure.of_model(item.anchor_id),
            saw_votes=self.bench.item.exposure.of_others(item.anchor_id),
            seconds=round(self.bench.clock.seconds, 2),
            rule_tag=self.state.edit.tag,
        )

    async def _commit(self, item: AnchorItem, one: Unsaved, handed_over: asyncio.Event) -> None:
        state, edit, made = self.state, one.edit, one.answer
        key = (item.anchor_id, edit.role)
        try:
            try:
                how = item.anchor_id, state.me, edit.role, made, one.exposure
                writing = self.client.write(self.store.edits.commit_answer, *how)
            finally:
                handed_over.set()
            saved = await writing
        except Exception as error:  # noqa: BLE001  # no error may lose the answer
            self._no_longer_saving(key, edit)
            # The cause of the failure affects the draft as well; one report is enough.
            state.unsaved_reported = True
            self.write_draft(key, edit)
            state.unsaved[key] = one
            self.ui.refresh_status()
            failed = error
            self.bench.enqueue(lambda: self._commit_failed(key, failed))
            return
        state.unsaved.pop(key, None)
        self._no_longer_saving(key, edit)
        if state.drafts.get(key) is edit:
            state.drafts[key] = None
            self.draft_writer.drop(key)
        self.ui.refresh_status()
        words = f"saved {local_time(saved.at)}"
        if edit.role is Role.ADJUDICATOR:
            if whose := self._decided_by(item):
                words = f"{words}, in place of the decision of {whose}"
            words = ". ".join(filter(None, [words, after_deciding(item, state.me.name, made)]))
        if self.bench.status_line.status.say.startswith(EARLY):
            self.ui.notify(f"{EARLY} {words}", Level.REFUSED)
        else:
            self.ui.notify(words, Level.DONE)
        await self.reload_written(item.anchor_id)
        rest = self.bench.queue.rest_words()
        if rest and self.bench.status_line.status.say == words:
            self.ui.notify(f"{words}. {rest}", Level.DONE)

    def _no_longer_saving(self, key: ItemKey, edit: EditState) -> None:
        # The same item may have been accepted again in the meantime.
        if self.state.saving.get(key) is edit:
            del self.state.saving[key]

    async def _commit_failed(self, key: ItemKey, error: Exception) -> None:
        """Report the failure and show the item again with the answer in the editor."""
        anchor_id, _ = key
        await self.draft_writer.flush()
        kept = "It is kept as a draft, and the item is shown again."
        if self.draft_writer.lost(key):
            kept = (
                "The draft is not on disk either: the answer is only in this window, which "
                "shows the item again. Keep the window open until it can be saved, or write "
                "everything to another file (ctrl+p, Rescue)."
            )
        await self.bench.prompts.show_error(
            f"The answer is not saved. {sentence_of(error)}\n\n{kept}"
        )
        self.bench.item.cache.forget(anchor_id)
        await self.bench.item.show(anchor_id)
        await self.bench.rescue.offer(error)

    async def reload_written(self, anchor_id: int) -> None:
        """Reload all views of an anchor that was just written."""
        self.bench.item.cache.forget(anchor_id)
        # The item in view may be another number of the passage, which shows this one's state.
        shown = self.state.stored_item
        if shown is not None and any(one.anchor_id == anchor_id for one in shown.siblings):
            await self.bench.item.reload()
        await self.bench.queue_list.refresh_rows([anchor_id])
        await self.bench.queue.count_left()

    async def go_on(self) -> None:
        """Go to the next item; stay at the end of the queue."""
        bench = self.bench
        await bench.queue.placed.wait()
        if self.state.position.next_index < len(self.state.ids):
            await bench.queue.go(self.state.position.next_index)
            return
        if not self.state.saving:
            self.ui.notify(bench.queue.rest_words() or "That was the last item of the queue.")

    # --- flags ------------------------------------------------------------------------------

    async def skip(self) -> None:
        """Flag the item as skipped and go to the next one."""
        item = self.writable()
        self.bench.item.leave()
        await self.client.write(
            self.store.edits.set_flag, item.anchor_id, self.state.me, FlagName.SKIP, True
        )
        self.ui.notify("skipped for now", Level.DONE)
        await self.reload_written(item.anchor_id)
        await self.go_on()

    async def flag(self) -> None:
        """Ask for a flag, and set or remove it."""
        item = self.writable()
        mine = {mark.name.value for mark in item.flags if mark.annotator == self.state.me.name}
        choices = tuple(
            (key, ("withdraw: " if name in mine else "") + words, name)
            for key, words, name in FLAGS
        )
        if (name := await self.bench.prompts.choose("Flag", choices)) is None:
            return
        on = name not in mine
        saved = await self.client.write(
            self.store.edits.set_flag, item.anchor_id, self.state.me, FlagName(name), on
        )
        words = "set" if on else "taken back"
        self.ui.notify(f"flag “{name}” {words}, saved {local_time(saved.at)}", Level.DONE)
        await self.reload_written(item.anchor_id)

    async def withdraw(self) -> None:
        """Withdraw your saved answer."""
        item = self.writable()
        saved = await self.client.write(
            self.store.edits.withdraw, item.anchor_id, self.state.me, self.state.role
        )
        self.ui.notify(
            f"answer withdrawn, saved {local_time(saved.at)}; z undoes it", Level.DONE
        )
        await self.reload_written(item.anchor_id)

    def clear_draft(self) -> None:
        """Delete the draft of the item; undo restores it while the item is shown."""
        self.writable()
        self.apply(EditOutcome(replace(self.state.initial, cursor=self.state.edit.cursor)))
        self.ui.notify("draft discarded", Level.DONE)
