"""Panes whose scrolling size stays the same while what they show fits into them.

Each change of a scrolling size makes Textual lay the whole screen out anew, which costs more
than drawing an item; most items fit, and then nothing about the layout has changed.
"""

from textual.geometry import Size
from textual.scroll_view import ScrollView

from nfh_tui.widgets.evidence import EvidenceView
from nfh_tui.widgets.passage_view import PassageView


class SteadyPassage(PassageView):
    """The passage, for going through many items."""

    def watch_virtual_size(self) -> None:
        """Let go of a scrollbar that nothing needs."""
        keep_bar(self)

    def validate_virtual_size(self, size: Size) -> Size:
        """At least as high as the pane."""
        return Size(size.width, max(size.height, self.size.height))


class SteadyEvidence(EvidenceView):
    """The evidence, for going through many items."""

    def watch_virtual_size(self) -> None:
        """Let go of a scrollbar that nothing needs."""
        keep_bar(self)

    def validate_virtual_size(self, size: Size) -> Size:
        """At least as high as the pane."""
        return Size(size.width, max(size.height, self.size.height))


def keep_bar(view: ScrollView) -> None:
    """Have a scrollbar only where a pane is longer than it is high.

    Of a pane that has become lower Textual looks at its scrolling size of before, which was as
    high as the pane was, and does not look again once that is put right.
    """
    needed = view.virtual_size.height > view.container_size.height
    if view.show_vertical_scrollbar and not needed:
        view._refresh_scrollbars()  # noqa: SLF001  # there is no other way to have it look
