"""Touring: showing round who is new to a database, in under a minute.

The tour never stands in the way: enter goes on to its next step and escape leaves it, all
other keys do what they always do.
"""

import asyncio

from nfh_tui.desk.keys import KeyPress
from nfh_tui.desk.tour import SETTING, Step, steps, words_of
from nfh_tui.desk.toured import first_time
from nfh_tui.screens.annotating import Annotating
from nfh_tui.screens.desk import PANES
from nfh_tui.widgets.tour_box import TourBox

ON, OUT = frozenset({"enter", "space"}), "escape"


class Touring(Annotating):
    """What shows round. tour_step: where the tour is, None while there is none."""

    def __init__(self, *args: object, tour: bool = False, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._tour_wanted = tour
        self.tour_step: int | None = None
        self._tour: tuple[Step, ...] = ()
        self._tour_box = TourBox()

    async def tour_if_new(self) -> None:
        """Show round, once, a person who was never here; it does not come by itself again."""
        # The box would stand over what an empty queue says.
        seen = self.client.read_only or not self.keeps_own
        if not self._tour_wanted or self.item is None or seen:
            return
        name = f"{SETTING}.{self.me.name}"
        if await self.client.setting(name) is None:
            await self.client.set_setting(name, "shown")
            if await asyncio.to_thread(first_time, self.me.name):
                await self.do_tour()

    async def do_tour(self) -> None:
        """Begin the tour at its first step."""
        if not self._tour_box.is_attached:
            await self.mount(self._tour_box)
        self._tour = steps(self.mode, self._keys_of)
        self._go_to_step(0)

    def _keys_of(self, action_id: str) -> str:
        shown = next((a.shown for a in self.keymap.actions if a.id == action_id), "")
        return shown.split()[0] if shown else "the palette"

    def wants(self, press: KeyPress) -> bool:
        """Take the keys that go on with the tour or leave it."""
        if super().wants(press):
            return True
        if self.tour_step is None or press.key not in {*ON, OUT}:
            return False
        self._go_to_step(None if press.key == OUT else self.tour_step + 1)
        return True

    def _go_to_step(self, number: int | None) -> None:
        if number is None or number >= len(self._tour):
            self.tour_step = None
            self._tour_box.display = False
            self.show_pane("passage")
            return
        self.tour_step = number
        step = self._tour[number]
        goes = "enter goes on" if number + 1 < len(self._tour) else "enter ends it"
        foot = f"{number + 1} of {len(self._tour)} · {goes} · esc leaves"
        self._tour_box.tell(step.title, words_of(step, self.mode, self._keys_of), foot)
        if step.target.lstrip("#") in {*PANES, "guide"}:
            pane = step.target.lstrip("#").replace("guide", "evidence")
            self.show_pane(pane)
        self.call_after_refresh(self._place_box)

    def _place_box(self) -> None:
        if self.tour_step is None:
            return
        target = self.query_one(self._tour[self.tour_step].target)
        self._tour_box.stand_by(target.region, self.size)

    def on_resize(self) -> None:
        """The thing that a step points at may stand elsewhere now."""
        self.call_after_refresh(self._place_box)
