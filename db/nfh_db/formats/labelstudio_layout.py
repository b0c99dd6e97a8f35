"""How a passage's text lies in a task that is written: as it came, if it came of one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from nfh_db.formats.grid import MarkError
from nfh_db.formats.json_parts import Parts
from nfh_db.formats.labelstudio_json import Result, Tags
from nfh_db.formats.labelstudio_text import TEXT, Canvas, paragraphs_of
from nfh_db.formats.options import LabelMap, Reading
from nfh_db.formats.utf16 import Units

OURS = Tags()
DIALOGS = Tags(type="paragraphlabels")
"""Names as the labelling configuration has them that docs/formats-label-studio.md shows, and
those of a dialog's paragraphs.
"""

_parts = msgspec.json.Decoder(Parts)
_string = msgspec.json.Decoder(str)
_tags = msgspec.json.Decoder(Tags)


@dataclass(frozen=True)
class Layout:
    """data: of a task, with its text and what else it came with. canvas: its paragraphs, if the
    text lies in some. tags: names that its results bear.
    """

    text: str
    data: Mapping[str, Any]
    canvas: Canvas | None = None
    tags: Tags = OURS

    def region(self, start: int, end: int, label: str | None = None) -> dict[str, Any]:
        """Where code points [start, end) are, and their label, as a result's value says it."""
        value: dict[str, Any]
        if self.canvas is None:
            value = {"start": start, "end": end, "text": self.text[start:end]}
        else:
            first, begin = self._in_paragraph(start, last=False)
            last, until = self._in_paragraph(end, last=True)
            value = {"start": str(first), "end": str(last)}
            value |= {"startOffset": begin, "endOffset": until, "text": self.text[start:end]}
        if label is not None:
            value[self.tags.type] = [label]
        return value

    @cached_property
    def _units(self) -> list[Units]:
        assert self.canvas is not None  # noqa: S101 - asked of paragraphs only
        return [Units(self.text[one.start : one.end]) for one in self.canvas.paragraphs]

    def _in_paragraph(self, place: int, *, last: bool) -> tuple[int, int]:
        """The paragraph of a place and the UTF-16 units before it there. last: the place is a
        region's end, which is at the end of a paragraph rather than at the start of the next.
        """
        assert self.canvas is not None  # noqa: S101 - asked of paragraphs only
        fit = [
            rank
            for rank, one in enumerate(self.canvas.paragraphs)
            if one.start <= place <= one.end
        ]
        rank = fit[0] if last else fit[-1]
        inside = place - self.canvas.paragraphs[rank].start
        return rank, self._units[rank].to_units(inside)


def tags_of(canvas: Canvas, first: Result | None) -> Tags | None:
    """The names of a project's own tags, by its first region; None where they are ours."""
    if first is None or canvas.page:
        return None
    tags = Tags(first.from_name or OURS.control, first.to_name or OURS.object, first.type)
    return None if tags == (DIALOGS if canvas.paragraphs else OURS) else tags


def layout_of(text: str, carried: Parts, labels: LabelMap) -> Layout:
    """How a text lies in its task: under its key and beside what it was imported with."""
    key = next((theirs for theirs, ours in labels.layer.items() if ours == TEXT), TEXT)
    if not carried:
        return Layout(text, {key: text})
    data = _parts.decode(carried["data"]) if "data" in carried else {}
    tags = _tags.decode(carried["tags"]) if "tags" in carried else None
    if "key" in carried:
        key = _string.decode(carried["key"])
    if key not in data:
        return Layout(text, {key: text, **data}, tags=tags or OURS)
    try:
        canvas = paragraphs_of(key, msgspec.json.decode(data[key]), Reading(labels=labels))
    except MarkError:
        canvas = None
    if canvas is not None and canvas.text == text:
        return Layout(text, data, canvas, tags or DIALOGS)
    return Layout(text, {TEXT: text, **{k: raw for k, raw in data.items() if k != TEXT}})
