"""What `nfh-tui doubts` says once it is done, out of its job's result."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from nfh_db.formats.wording import counted
from nfh_tui.cli.queueing import command
from nfh_tui.cli.retrain_text import left_out_lines, percent, wrapped
from nfh_tui.sheets.job_words import count, fraction

MOSTLY_RIGHT = 0.8
"""Agreement below which a model's doubts are mostly its own mistakes."""

OWN_MISTAKES = (
    "It agrees with so little of the gold that most of its doubts are its own mistakes. "
    "Begin with the most doubted: where this was measured (66 % agreed), 25 of the 40 most "
    "doubted ones were doubtful gold, and of 20 drawn from all 1"
)
"""The measurement stands in docs/label-trouble.md."""

ROUGH = 300
"""Labels, of fewer of which it is said that what comes out is rough."""

FIND = "adjudicate 'doubt>0.9 sort:doubt'"


def checked_lines(result: Mapping[str, object], db: Path | None) -> Iterator[str]:
    """How many were looked at, how many are doubted, and how to see them."""
    anchors = counted(count(result.get("anchors")), "number")
    doubted = count(result.get("doubted"))
    yield f"{anchors} with gold, each answered by a model that had not seen it"
    right = fraction(result.get("accuracy"))
    if right is not None:
        yield f"  {percent(right)} % of the answers agree with the gold"
    yield f"  {doubted:,} doubted: to the model the gold has less than one chance in ten"
    found = count(result.get("anchors"))
    if found < ROUGH:
        yield from wrapped(
            f"Of {counted(found, 'label')} only, this is rough: models of so few know little",
            "  ",
        )
    if right is not None and right < MOSTLY_RIGHT and doubted:
        yield from wrapped(OWN_MISTAKES, "  ")
    left_out = result.get("left_out")
    if isinstance(left_out, Mapping):
        yield from left_out_lines({str(why): count(n) for why, n in left_out.items()})
    notes = result.get("notes")
    for note in notes if isinstance(notes, list) else []:
        yield from wrapped(str(note), "  ")
    if doubted:
        yield f"Look at them: {command(FIND, db)}"
