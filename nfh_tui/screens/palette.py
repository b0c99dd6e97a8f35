"""The command palette: every action by name; an unavailable one says why."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.screen import Screen

from nfh_tui.actions import BY_ID, Action
from nfh_tui.screens.base import BACK_AND_ON, SideScreen
from nfh_tui.textual_support import Enduring
from nfh_tui.workbench.availability import denied

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench


SIGN = "✗ "
"""Before an action that cannot be done now."""

PALETTES = frozenset({"palette", "side.palette"})
OF_EACH = frozenset({"help", *BACK_AND_ON.values()})
"""Actions of the workbench that the other screens have as their own, too."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """An action as the palette has it. words: what it does. why: why not now, "" if it can."""

    action: Action
    run: Callable[[], None]
    words: str
    why: str

    @property
    def name(self) -> str:
        """What is looked for, and shown."""
        shown = self.action.shown
        return f"{self.action.title}  ({shown})" if shown else self.action.title


def offers(screen: Screen[Any]) -> Sequence[PaletteEntry]:
    """All actions there are: those of the screen first, then those that lead away from it."""
    if isinstance(screen, SideScreen):
        return [*_of_side(screen), *_back(screen)]
    bench: Workbench = screen  # type: ignore[assignment]  # the only other one with a palette
    return [*_of_workbench(bench), *_elsewhere(bench)]


def _of_workbench(bench: "Workbench") -> Iterator[PaletteEntry]:
    for action in bench.keymap.actions:
        if not action.where and action.id not in PALETTES:
            run = partial(bench.action_act, action.id)
            yield PaletteEntry(action, run, action.description, bench.why_not(action))


def _elsewhere(bench: "Workbench") -> Iterator[PaletteEntry]:
    """What only another screen does: it is opened, and its name and key are told."""
    titles = {action.id: f"{action.title} ({action.shown})" for action in bench.keymap.actions}
    for action in bench.keymap.actions:
        if action.of:
            there = " or ".join(titles[screen] for screen in action.of)
            words = f"{action.description} On the screen {there}, which this opens."
            opener = action.of[0]
            run = partial(bench.action_act, opener)
            why = denied(bench.state.access, action.access) or bench.why_not(BY_ID[opener])
            yield PaletteEntry(action, run, words, why)


def _of_side(screen: SideScreen) -> Iterator[PaletteEntry]:
    for action in screen.own_actions():
        if action.id not in PALETTES:
            run = partial(screen.action_side, action.id)
            yield PaletteEntry(action, run, action.description, screen.reason(action))


def _back(screen: SideScreen) -> Iterator[PaletteEntry]:
    """What the workbench does: the screen is closed for it."""
    bench = screen.bench
    if bench is None:
        return
    for action in screen.keymap.actions:
        if not action.where and action.id not in PALETTES | OF_EACH:
            run = partial(screen.go_to, action.id)
            words = f"{action.description} In the workbench."
            yield PaletteEntry(action, run, words, bench.why_not(action))


class ActionProvider(Provider):
    """The registry's actions; user text never stands among them. Does one of them, once."""

    _chosen = False

    async def discover(self) -> Hits:
        """All actions, in the order of the registry, the screen's own first."""
        for offer in offers(self.screen):
            shown, words = self._shown(offer, Content(offer.name))
            yield DiscoveryHit(shown, self._run(offer), text=offer.name, help=words)

    async def search(self, query: str) -> Hits:
        """The actions whose name or id fits."""
        matcher = self.matcher(query)
        for offer in offers(self.screen):
            score = max(matcher.match(offer.name), matcher.match(offer.action.id))
            if score > 0:
                shown, words = self._shown(offer, matcher.highlight(offer.name))
                yield Hit(score, shown, self._run(offer), text=offer.name, help=words)

    def _shown(self, offer: PaletteEntry, name: Content) -> tuple[Content, str]:
        """Name and help of an action; a sign and the reason where it cannot be done now."""
        if not offer.why:
            return name, offer.words
        return Content.assemble(Content(SIGN), name).stylize("dim"), f"Not now: {offer.why}"

    def _run(self, offer: PaletteEntry) -> Callable[[], None]:
        return partial(self._do, offer)

    def _do(self, offer: PaletteEntry) -> None:
        # Held enter chooses again before the palette has closed.
        if not self._chosen:
            self._chosen = True
            offer.run()


class Palette(Enduring, CommandPalette):
    """The palette, which takes one choice only, however long enter is held."""

    DEFAULT_CSS = "Palette SearchIcon { display: none; }"

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close, once: Textual would take the screen below away the second time."""
        return super().dismiss(result) if self.is_current else AwaitComplete()
