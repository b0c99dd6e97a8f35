"""Visiting: the screens beside the workbench, and the queries that they give back."""

from typing import TYPE_CHECKING

from nfh_tui.actions import Mode
from nfh_tui.desk.reasons import OTHERS as HIDDEN
from nfh_tui.screens.bulk import Bulk

if TYPE_CHECKING:
    from nfh_tui.screens.side import SideScreen


class Visiting(Bulk):
    """What opens other screens. memories: by screen, what it wants to know next time."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.memories: dict[str, dict[str, object]] = {}

    async def do_screen_agreement(self) -> None:
        """How far annotators agree."""
        if self._may_see():
            from nfh_tui.screens.agreement import AgreementScreen

            await self.visit(AgreementScreen)

    async def do_screen_evaluation(self) -> None:
        """Models, gold and people against each other."""
        if self._may_see():
            from nfh_tui.screens.evaluation import EvaluationScreen

            await self.visit(EvaluationScreen)

    async def do_screen_jobs(self) -> None:
        """Jobs and models."""
        if self._may_see():
            from nfh_tui.screens.jobs import JobsScreen

            await self.visit(JobsScreen)

    async def do_screen_guidelines(self) -> None:
        """The guidelines, at the rule of the answer in the editor."""
        from nfh_tui.screens.guidelines import GuidelinesScreen
        from nfh_tui.screens.guidelines_reading import RULE

        if self.edit.tag is not None:
            self.memories.setdefault(GuidelinesScreen.__name__, {})[RULE] = self.edit.tag
        await self.visit(GuidelinesScreen)
        await self.learn_rules()

    def _may_see(self) -> bool:
        if self.mode is Mode.ANNOTATE:
            self.refuse(HIDDEN)
            return False
        return True

    async def visit(self, screen: "type[SideScreen]") -> None:
        """Show a screen until it is closed, then what the query finds that it gives back."""
        self.leave()
        memory = self.memories.setdefault(screen.__name__, {})
        made = screen(self.client, self.me, self.keymap, memory, self.query_now.text)
        made.role, made.access = self.role, self.access
        text = await self.app.push_screen_wait(made)
        await self._ran(text, back=True)
        if text is not None and made.meant > len(self.ids) > 0:
            self.say(f"the first {len(self.ids):,} of {made.meant:,}: a query names no more")
