"""The list of views, with what each finds counted while one looks at it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from nfh_tui.desk.standing_views import View
from nfh_tui.desk.work import start
from nfh_tui.screens.list_dialog import ListDialog
from nfh_tui.visible import clip, visible

Count = Callable[[str], Awaitable[str]]
"""What a query finds, in words."""

MOST_NAME = 28


@dataclass(frozen=True, slots=True)
class Picked:
    """What was chosen of a view: to open, rename or delete it."""

    act: str
    view: View


class ViewDialog(ListDialog[Picked | None]):
    """Views to open; one's own can be renamed and deleted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "pick('rename')", show=False),
        Binding("x,delete", "pick('delete')", show=False),
        Binding("at", "close", show=False),
    ]

    def __init__(self, views: Sequence[View], count: Count) -> None:
        hint = "enter opens · r renames and x deletes one of your own (•) · esc closes"
        super().__init__("Views", None, hint)
        self._views = views
        self._count = count
        self._counts: dict[int, str] = {}

    def on_mount(self) -> None:
        """Fill the list and begin to count."""
        start(self, self._count_all, group="counts", description="what each view finds")

    async def _count_all(self) -> None:
        for place, view in enumerate(self._views):
            self._counts[place] = await self._count(view.query)
            if self.is_attached:
                self.fill()

    def entries(self) -> Sequence[Text]:
        """A line for each view: its name, how many it finds, its query."""
        names = [clip(visible(view.name), MOST_NAME) for view in self._views]
        longest = max(map(len, names))
        counts = [self._counts.get(place, "…") for place in range(len(names))]
        wide = max(map(len, counts))
        lines = []
        for view, name, count in zip(self._views, names, counts, strict=True):
            line = Text(f"{'•' if view.saved else ' '} {name:<{longest}}  {count:>{wide}}  ")
            rest = max(0, self.room - len(line.plain))
            line.append(clip(visible(view.query), rest), "dim")
            lines.append(line)
        return lines

    def chosen(self, place: int) -> None:
        """Open it."""
        self.dismiss(Picked("open", self._views[place]))

    def action_pick(self, act: str) -> None:
        """Rename or delete one of one's own."""
        place = self.list.highlighted
        if place is not None and self._views[place].saved:
            self.dismiss(Picked(act, self._views[place]))
        else:
            self.query_one("#hint").update(  # type: ignore[attr-defined]  # a Static
                "This one is always there; only your own (•) can be renamed or deleted."
            )
