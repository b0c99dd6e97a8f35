"""The box of the tour: a few words beside the thing that they are about."""

from rich.text import Text
from textual.geometry import Region, Size
from textual.widgets import Static

from nfh_tui.widgets.enduring import EnduringPane

WIDEST = 46
"""Most cells of the box."""


class TourBox(EnduringPane, Static):
    """Lies over the screen, takes no focus and no key by itself."""

    DEFAULT_CSS = f"""
    TourBox {{
        display: none;
        layer: tour;
        position: absolute;
        width: auto;
        max-width: {WIDEST};
        height: auto;
        padding: 0 1;
        border: round $accent;
        background: $panel;
        color: $foreground;
    }}
    """

    def __init__(self) -> None:
        super().__init__(id="tour", markup=False)

    def tell(self, title: str, words: str, foot: str) -> None:
        """Fill the box."""
        self.update(Text.assemble((title, "bold"), "\n", words, "\n", (foot, "dim")))
        self.display = True

    def stand_by(self, target: Region, screen: Size) -> None:
        """Go where the target is not hidden: beside it, over or under it, else upon it."""
        width = min(WIDEST, screen.width)
        self.styles.width = width
        height = self.get_content_height(screen, screen, width - 4) + 2
        x = max(0, min(target.x + 2, screen.width - width))
        if target.bottom + height <= screen.height - 2:
            y = target.bottom
        elif target.y >= height:
            y = target.y - height
        else:
            y = max(0, min(target.bottom, screen.height - 2) - height)
            x = self._beside(target, screen.width, width, x)
        self.styles.offset = (x, y)

    @staticmethod
    def _beside(target: Region, whole: int, width: int, otherwise: int) -> int:
        """Left or right of a target as high as the screen, where there is room."""
        if target.right + width <= whole:
            return target.right
        return target.x - width if target.x >= width else otherwise
