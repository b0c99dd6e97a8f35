"""Every act by its name, for the palette."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from nfh_tui.actions import Action

if TYPE_CHECKING:
    from nfh_tui.screens.workbench import Workbench


class Acts(Provider):
    """The registry's acts; user text never stands among them. Does one of them, once."""

    _chosen = False

    async def discover(self) -> Hits:
        """All acts, in the order of the registry."""
        for action in self._workbench.keymap.actions:
            if action.id != "palette":
                yield DiscoveryHit(
                    Content(self._name(action)), self._run(action), help=action.description
                )

    async def search(self, query: str) -> Hits:
        """The acts whose name or id fits."""
        matcher = self.matcher(query)
        for action in self._workbench.keymap.actions:
            name = self._name(action)
            score = max(matcher.match(name), matcher.match(action.id))
            if score > 0 and action.id != "palette":
                yield Hit(
                    score, matcher.highlight(name), self._run(action), help=action.description
                )

    def _name(self, action: Action) -> str:
        return f"{action.title}  ({action.shown})" if action.shown else action.title

    def _run(self, action: Action) -> Callable[[], None]:
        return partial(self._do, action.id)

    def _do(self, action_id: str) -> None:
        # Held enter chooses again before the palette has closed.
        if not self._chosen:
            self._chosen = True
            self._workbench.action_act(action_id)

    @property
    def _workbench(self) -> "Workbench":
        workbench: Workbench = self.screen  # type: ignore[assignment]  # its only screen
        return workbench


class Palette(CommandPalette):
    """The palette, which takes one choice only, however long enter is held."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close, once: Textual would take the screen below away the second time."""
        return super().dismiss(result) if self.is_current else AwaitComplete()
