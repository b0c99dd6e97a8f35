"""Panes whose scrolling size stays the same while what they show fits into them.

Each change of a scrolling size makes Textual lay the whole screen out anew, which costs more
than drawing an item; most items fit, and then nothing about the layout has changed.
"""

from textual.geometry import Size

from nfh_tui.widgets.evidence import EvidenceView
from nfh_tui.widgets.passage_view import PassageView


class SteadyPassage(PassageView):
    """The passage, for going through many items."""

    def validate_virtual_size(self, size: Size) -> Size:
        """At least as high as the pane."""
        return Size(size.width, max(size.height, self.size.height))


class SteadyEvidence(EvidenceView):
    """The evidence, for going through many items."""

    def validate_virtual_size(self, size: Size) -> Size:
        """At least as high as the pane."""
        return Size(size.width, max(size.height, self.size.height))
