"""The screen of the guidelines: reading them, and making a new version."""

import json
from dataclasses import dataclass
from functools import partial

from textual.app import SuspendNotSupported

from nfh_db.errors import StoreError
from nfh_db.guidelines import Guideline
from nfh_tui.desk.faults import sentence_of
from nfh_tui.desk.keeper import Keeper
from nfh_tui.guidelines import BEGUN as SETTING
from nfh_tui.guidelines import GuidelinesError, checked, outside, rules_of
from nfh_tui.guidelines.guide import RuleCount
from nfh_tui.guidelines.parts import changes_of
from nfh_tui.guidelines.words import changed_words
from nfh_tui.screens.guidelines_reading import Reading
from nfh_tui.widgets.status_line import Tone

DELAY = 0.3
"""Seconds after a change until what is typed is written."""

SAVE, EDIT, KEEP, DROP = "save", "edit", "keep", "drop"


@dataclass(frozen=True, slots=True)
class Begun:
    """A text on its way to be a version. after: the version that it was made from."""

    after: int
    text: str

    def dump(self) -> str:
        """As JSON, for a setting."""
        return json.dumps({"after": self.after, "text": self.text})


def begun_of(body: str | None) -> Begun | None:
    """The text that `dump` wrote; None where there is none, or nothing that can be read."""
    try:
        value = json.loads(body or "")
        return Begun(int(value["after"]), str(value["text"]))
    except (ValueError, KeyError, TypeError):
        return None


class GuidelinesScreen(Reading):
    """The guidelines, with what changes them."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._keeper = Keeper(DELAY, self._not_kept)
        self._begun = Begun(0, "")

    # --- what is begun ------------------------------------------------------------------

    def _keep(self, begun: Begun | None) -> None:
        """Have a text kept soon, so that a crash does not lose it; None forgets it."""
        name = f"{SETTING}.{self.me.name}"
        body = "" if begun is None else begun.dump()
        self._keeper.keep("begun", partial(self.client.set_setting, name, body))

    def _not_kept(self, error: Exception) -> None:
        self.refuse(f"What you typed is not on disk. {sentence_of(error)}")

    async def _where_to_begin(self, shown: Guideline) -> Begun | None:
        """The text begun before, or the one shown; None if the person leaves it."""
        last = self.versions[-1].version
        fresh = Begun(last, shown.body)
        kept = begun_of(await self.client.setting(f"{SETTING}.{self.me.name}"))
        if kept is None or kept.text == shown.body:
            return fresh
        since = ""
        if kept.after != last:
            since = f"version {last} was saved since, and yours would take its place"
        options = (
            ("Go on with what you began", since or changed_words_of(shown, kept), EDIT),
            (f"Begin anew from version {shown.version}", "what you began is dropped", DROP),
        )
        chosen = await self.choose_from("You have changed the guidelines before", options)
        if chosen is None:
            return None
        return fresh if chosen == DROP else Begun(last, kept.text)

    # --- editing ------------------------------------------------------------------------

    async def do_side_edit(self) -> None:
        """Change the text: in $VISUAL or $EDITOR where it can be opened, else here."""
        if self.shown is None:
            self.refuse("This file has no guidelines, and none could be written to it.")
            return
        begun = await self._where_to_begin(self.shown)
        trouble = ""
        while begun is not None:
            text = await self._typed(begun, trouble)
            if text is None:
                break
            begun = Begun(begun.after, text)
            if text == self.versions[-1].body:
                self._keep(None)
                self.say("nothing changed")
                break
            self._keep(begun)
            await self._keeper.flush()
            trouble = trouble_of(text)
            chosen = await self._ask(begun, trouble)
            if chosen == SAVE:
                await self._save(begun)
                break
            if chosen == DROP:
                self._keep(None)
                self.say("thrown away; the guidelines are as they were")
                break
            if chosen != EDIT:
                self.say("kept, but no version yet: e goes on with it")
                break
        await self._keeper.flush()

    async def _typed(self, begun: Begun, trouble: str) -> str | None:
        """The text after the person worked on it; None while the program ends."""
        command = outside.editor()
        if command is not None:
            try:
                # The program waits meanwhile: the terminal is the editor's.
                with self.app.suspend():
                    text, failed = _edited(begun.text, command)
            except SuspendNotSupported:
                pass
            else:
                if failed:
                    self.show_error(f"{failed}.")
                return text
        from nfh_tui.screens.guidelines_editor import GuidelinesEditor

        def typed(text: str) -> None:
            self._keep(Begun(begun.after, text))

        title, line = f"from version {begun.after}", self._line_in(begun.text)
        shown = GuidelinesEditor(begun.text, title, typed, trouble, line, self.early)
        return await self.app.push_screen_wait(shown)

    def _line_in(self, text: str) -> int:
        """Where the rule begins, in a text, on which one stands; its first line if nowhere."""
        try:
            lines = {rule.id: rule.line for rule in rules_of(text)}
        except GuidelinesError:
            return 1
        return lines.get(self.part.id, 1) if self.part is not None else 1

    async def _ask(self, begun: Begun, trouble: str) -> str | None:
        """What becomes of the text."""
        changed = changed_words(changes_of(self.versions[-1].body, begun.text))
        options = [
            (f"Save as version {begun.after + 1}", changed, SAVE),
            ("Go on editing", "", EDIT),
            ("Keep it for later", "e brings it again", KEEP),
            ("Throw it away", "", DROP),
        ]
        if trouble:
            del options[0]
        return await self.choose_from(trouble or "What shall become of this text?", options)

    async def _save(self, begun: Begun) -> None:
        """Make the text a version; where that cannot be, it is kept, and why is said."""
        try:
            saved, new = await self.client.add_guideline(begun.text, self.me, begun.after)
        except StoreError as error:
            await self.load()
            self.refuse(f"{error}. Yours is kept: e goes on with it, d shows the difference.")
            return
        changes = changes_of(self.versions[-1].body, saved.body)
        self._keep(None)
        await self.load()
        older = sum(self.counts.get(c.id, RuleCount()).older for c in changes if c.id)
        words = f"version {saved.version} saved: {changed_words(changes)}"
        if older:
            words += f". {older:,} decided under the old text: o opens a rule's"
        self.say(words if new else "this is what holds already", Tone.DONE)


def _edited(text: str, command: str) -> tuple[str, str]:
    """The text behind the editor, and what went wrong, "" for nothing.

    It raises nothing: an error would leave the terminal to the shell.
    """
    try:
        return outside.edited(text, command), ""
    except (GuidelinesError, OSError) as error:
        return text, str(error)


def trouble_of(text: str) -> str:
    """What is wrong with a text, as a sentence; "" if it can be a version."""
    try:
        checked(text)
    except GuidelinesError as error:
        return f"This cannot be a version yet: {error}."
    return ""


def changed_words_of(shown: Guideline, begun: Begun) -> str:
    """What a text changes, in one line."""
    return changed_words(changes_of(shown.body, begun.text))
