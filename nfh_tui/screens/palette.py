"""Every act by its name, for the palette; those that cannot be done now say why."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from nfh_tui.actions import Action
from nfh_tui.widgets.enduring import Enduring

if TYPE_CHECKING:
    from nfh_tui.screens.workbench import Workbench


SIGN = "✗ "
"""Before an act that cannot be done now."""


class Acts(Provider):
    """The registry's acts; user text never stands among them. Does one of them, once."""

    _chosen = False

    async def discover(self) -> Hits:
        """All acts, in the order of the registry."""
        for action in self._acts:
            if action.id != "palette":
                name = Content(self._name(action))
                shown, words = self._shown(action, name)
                yield DiscoveryHit(shown, self._run(action), text=str(name), help=words)

    async def search(self, query: str) -> Hits:
        """The acts whose name or id fits."""
        matcher = self.matcher(query)
        for action in self._acts:
            name = self._name(action)
            score = max(matcher.match(name), matcher.match(action.id))
            if score > 0 and action.id != "palette":
                shown, words = self._shown(action, matcher.highlight(name))
                yield Hit(score, shown, self._run(action), text=name, help=words)

    def _name(self, action: Action) -> str:
        return f"{action.title}  ({action.shown})" if action.shown else action.title

    def _shown(self, action: Action, name: Content) -> tuple[Content, str]:
        """Name and help of an act; a sign and the reason where it cannot be done now."""
        why = self._workbench.why_not(action)
        if not why:
            return name, action.description
        return Content.assemble(Content(SIGN), name).stylize("dim"), f"Not now: {why}"

    def _run(self, action: Action) -> Callable[[], None]:
        return partial(self._do, action.id)

    def _do(self, action_id: str) -> None:
        # Held enter chooses again before the palette has closed.
        if not self._chosen:
            self._chosen = True
            self._workbench.action_act(action_id)

    @property
    def _acts(self) -> list[Action]:
        return [action for action in self._workbench.keymap.actions if not action.where]

    @property
    def _workbench(self) -> "Workbench":
        workbench: Workbench = self.screen  # type: ignore[assignment]  # its only screen
        return workbench


class Palette(Enduring, CommandPalette):
    """The palette, which takes one choice only, however long enter is held."""

    DEFAULT_CSS = "Palette SearchIcon { display: none; }"

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close, once: Textual would take the screen below away the second time."""
        return super().dismiss(result) if self.is_current else AwaitComplete()
