"""The evidence as lines of text, for the tests of its parts."""

import re

from nfh_tui.display_text import width_of
from nfh_tui.widgets.evidence_rows import LEAST, evidence

ISOLATES = re.compile("[\u2066\u2069]")


def rows_of(made, width):
    """Rows as text, each checked to fit."""
    rows = []
    for row in made:
        assert sum(width_of(run.text) for run in row) <= max(LEAST, width)
        text = "".join(run.text for run in row).replace("\u00a0", " ")
        rows.append(ISOLATES.sub("", text).rstrip())
    return rows


def shown(item, state, width=44, **how):
    """The evidence of an item in a pane so many columns wide."""
    return rows_of(evidence(item, state, width, **how), width)
