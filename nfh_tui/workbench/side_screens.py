"""The screens beside the workbench and the queries that they give back; and what is kept
back until an annotator has answered.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import events

from nfh_tui.actions import Mode
from nfh_tui.services.guidelines import first_text
from nfh_tui.textual_support import start
from nfh_tui.workbench.availability import IN_VIEW
from nfh_tui.workbench.bulk import Bulk

if TYPE_CHECKING:
    from nfh_tui.screens.base import SideScreen


class Visiting(Bulk):
    """What opens other screens. memories: by screen, what it wants to know next time."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.memories: dict[str, dict[str, object]] = {}

    async def do_screen_agreement(self) -> None:
        """How far annotators agree."""
        from nfh_tui.screens.agreement import AgreementScreen

        await self.visit(AgreementScreen)

    async def do_screen_evaluation(self) -> None:
        """Models, gold and people against each other."""
        from nfh_tui.screens.evaluation import EvaluationScreen

        await self.visit(EvaluationScreen)

    async def do_screen_jobs(self) -> None:
        """Jobs and models."""
        from nfh_tui.screens.jobs import JobsScreen

        await self.visit(JobsScreen)

    async def do_screen_guidelines(self) -> None:
        """The guidelines, at the rule of the answer in the editor."""
        from nfh_tui.screens.guidelines import RULE, GuidelinesScreen

        if self.state.edit.tag is not None:
            self.memories.setdefault(GuidelinesScreen.__name__, {})[RULE] = self.state.edit.tag
        await self.visit(GuidelinesScreen)
        await self.learn_rules()

    async def visit(self, screen: "type[SideScreen]") -> None:
        """Show a screen until it is closed, then what the query finds that it gives back."""
        self.leave()
        memory = self.memories.setdefault(screen.__name__, {})
        made = screen(self.client, self.state.me, self.keymap, memory, self.state.query.text)
        made.role, made.access = self.state.role, self.state.access
        text = await self.app.push_screen_wait(made)
        await self._ran(text, back=True)
        if text is not None and made.meant > len(self.state.ids) > 0:
            self.say(
                f"the first {len(self.state.ids):,} of {made.meant:,}: a query names no more"
            )


# Annotating: what is kept back until one has answered, and the guidelines beside the text.
#
# What models say is kept back in the same way from an adjudicator who has to decide blind.


class Annotating(Visiting):
    """What is special to giving one's own answers."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._guide_note = ""

    def on_mount(self) -> None:
        """Begin with the guidelines in view, where one annotates."""
        self._guide_as_usual()
        self.app.app_resume_signal.subscribe(self, lambda _: self.clock.skip())

    # --- what is kept back ----------------------------------------------------------------

    def do_sight_model(self) -> None:
        """Show or hide what models say of items that are not answered yet."""
        if not self.state.blinding.can_hide_model(self.state.stored_item):
            self.refuse(IN_VIEW)
            return
        self.state.model_shown = not self.state.model_shown
        self.paint_item()
        where = " I puts it in the place of the guidelines." if self.state.guide_shown else ""
        self.say(
            f"The model is shown, and your answers say that you saw it.{where}"
            if self.state.model_shown
            else "The model is hidden until you have answered."
        )

    # --- the guidelines -------------------------------------------------------------------

    def do_guide(self) -> None:
        """Put the guidelines in the place of the evidence, or the evidence back."""
        self.show_guide(not self.state.guide_shown)
        self.say("the guidelines" if self.state.guide_shown else "the evidence")

    def show_guide(self, on: bool) -> None:
        """Show the guidelines or the evidence in the right pane."""
        self.state.guide_shown = on
        self.set_class(on, "-guide")
        if on:
            start(
                self,
                self._read_guide,
                group="guide",
                description="reading the guidelines",
                exclusive=True,
            )
        self.paint_titles()
        self.note_sight()

    async def _read_guide(self) -> None:
        now = await self.client.guideline()
        self._guide_note = "" if now is None else f"version {now.version}"
        self.guide.show(first_text() if now is None else now.body)
        self.paint_titles()

    async def learn_rules(self) -> None:
        """Read the guidelines, also those in view: they are stored only now in a new file."""
        before = self.state.guidelines.version
        await super().learn_rules()
        if self.state.guide_shown and self.state.guidelines.version != before:
            await self._read_guide()

    def right_note(self, note: str) -> str:
        """Over the guidelines, which version they are."""
        return self._guide_note if self.state.guide_shown else note

    def _guide_as_usual(self) -> None:
        wanted = self.state.mode is Mode.ANNOTATE and self.config.options.guidelines
        if wanted != self.state.guide_shown:
            self.show_guide(wanted)

    async def set_mode(self, mode: Mode) -> None:
        """Change what the workbench is for, and with it what stands on the right."""
        await super().set_mode(mode)
        said = self.status_line.status
        self._guide_as_usual()
        self.status_line.status = replace(said, mode=self.status_line.status.mode)

    # --- the clock ------------------------------------------------------------------------

    def on_screen_suspend(self, event: events.ScreenSuspend) -> None:
        """Another screen or a dialog stands over this one: the item's clock stands still."""
        del event
        self.clock.pause()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """The item is in view again."""
        del event
        self.clock.resume()
