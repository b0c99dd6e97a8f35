"""The parts of the guidelines as a list: a line for each, with how often it was used."""

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from nfh_tui.guidelines.guide import RuleCount
from nfh_tui.guidelines.parts import Part
from nfh_tui.visible import clip

HERE = "▸"
WIDEST = 48
OLDER = "↺"
"""Behind the number of items of which some were decided while the rule read otherwise."""


class RuleList(OptionList, can_focus=False, inherit_bindings=False):
    """Shows parts. Where one stands, a sign stands too."""

    DEFAULT_CSS = """
    RuleList {
        width: 34;
        height: 1fr;
        border: none;
        padding: 0;
        background: $surface;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .option-list--option { padding: 0 1 0 0; }
        & > .option-list--option-highlighted {
            background: $boost;
            color: $foreground;
            text-style: bold;
        }
        &:focus > .option-list--option-highlighted { background: $boost; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id, markup=False)
        self._parts: Sequence[Part] = ()
        self._counts: Mapping[str, RuleCount] = {}
        self._marked: int | None = None

    def show(
        self, parts: Sequence[Part], counts: Mapping[str, RuleCount], place: int = 0
    ) -> None:
        """Show parts with the counts of their ids, and stand on one of them."""
        self._parts, self._counts = parts, counts
        self._marked = place if parts else None
        self.clear_options()
        self.add_options(Option(self._line(n)) for n in range(len(parts)))
        if parts:
            self.highlighted = place

    @property
    def place(self) -> int:
        """Where one stands."""
        return self.highlighted or 0

    def go(self, place: int) -> None:
        """Stand on a part; outside the list, on its end."""
        if self._parts:
            self.highlighted = max(0, min(place, len(self._parts) - 1))

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Move the sign along."""
        super().watch_highlighted(highlighted)
        before, self._marked = self._marked, highlighted
        for place in {before, highlighted} - {None}:
            if place is not None and place < self.option_count:
                self.replace_option_prompt_at_index(place, self._line(place))

    def _line(self, place: int) -> Text:
        part = self._parts[place]
        sign = HERE if place == self._marked else " "
        # Before the first layout nothing is known of the width, and nothing is seen either.
        width = (self.scrollable_content_region.width or WIDEST) - 1
        text = Text(f"{sign} ")
        if not part.id:
            text.append(clip(part.title, width - 2), "italic")
            return text
        count = self._counts.get(part.id, RuleCount())
        items = f"{count.items:,}" if count.items else "·"
        text.append(f"{part.id:<4}", "bold")
        text.append(f"{items:>4}", "" if count.items else "dim")
        text.append(f"{OLDER if count.older else ' '} ")
        text.append(clip(part.title, width - text.cell_len))
        return text

    def on_resize(self) -> None:
        """Another width cuts titles elsewhere."""
        for place in range(self.option_count):
            self.replace_option_prompt_at_index(place, self._line(place))
