"""Rescue: all there is, and what cannot be saved, written to another file."""

from collections.abc import Callable
from functools import partial

from nfh_db.errors import GoneError, StoreError
from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_tui.editor.commands import dump
from nfh_tui.editor.state import EditState
from nfh_tui.workbench.navigation import Walking
from nfh_tui.workbench.state import Unsaved

QUESTION = "Write all there is to another file?"
CHOICES = (("y", "write it", "yes"), ("n", "not now", "no"))

WRITTEN = """{place}

This file holds all that was saved in the database, and what could not be saved. Leave this
program (q), have it looked through, and go on there:

  nfh-tui doctor --db FILE
  nfh-tui {mode} --db FILE

What is still done in this window is in neither; {again} writes a newer file."""
AGAIN = "Rescue in the palette (ctrl+p)"


class Rescue(Walking):
    """What writes to another file."""

    async def tell_lost(self, sentence: str) -> None:
        """Say that what is written would not be found again, before anything is."""
        self.paint_status()
        if self.state.unsaved_reported:
            return
        self.state.unsaved_reported = True
        error = GoneError(sentence)
        await self.show_error(str(error), "A file of the database is gone")
        await self.offer_rescue(error)

    async def offer_rescue(self, error: Exception) -> None:
        """Ask whether to write all to another file, where an open file is lost."""
        if not isinstance(error, GoneError) or self.state.question_open:
            return
        if await self.choose(QUESTION, CHOICES) == "yes":
            await self.do_rescue()

    async def do_rescue(self) -> None:
        """Write all there is, and what cannot be saved, to another file, and say which."""
        begun = {key: state for key, state in self.state.drafts.items() if state is not None}
        try:
            place = await self.client.rescue([self._saving(*one) for one in begun.items()])
        except StoreError as error:
            await self.show_error(f"Nothing was written to another file. {error}")
            return
        for key in begun:
            self.draft_writer.drop(key)
        self.paint_status()
        words = WRITTEN.format(place=place, mode=self.state.mode.value, again=AGAIN)
        await self.show_text("All of it is written", words)

    def _saving(self, key: tuple[int, Role], state: EditState) -> Callable[[Store], object]:
        """What saves the answer that was to be saved, else what is begun as a draft."""
        found = self.state.unsaved.get(key)
        if found is not None and found.edit is state:
            return partial(_answer, key=key, me=self.state.me, unsaved=found)
        return partial(_draft, key=key, me=self.state.me, body=dump(state))


def _answer(copy: Store, key: tuple[int, Role], me: Annotator, unsaved: Unsaved) -> None:
    copy.commit_answer(key[0], me, key[1], unsaved.answer, unsaved.exposure)


def _draft(copy: Store, key: tuple[int, Role], me: Annotator, body: str) -> None:
    copy.save_draft(key[0], me, key[1], body)
