"""What an annotation's results draw: regions and relations as spots and links.

A region may have several results of one id: its labels, choices, and what was typed for it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nfh_db.formats.graph_parts import part
from nfh_db.formats.grid import MarkError
from nfh_db.formats.labelstudio_json import Result
from nfh_db.formats.labelstudio_text import Canvas
from nfh_db.formats.marked import ANCHOR, ANSWERS, HEAD, Graph, Link, Spot, translated
from nfh_db.formats.options import IGNORE, LabelMap
from nfh_db.formats.wording import shown

REGIONS = frozenset({"labels", "paragraphlabels", "hypertextlabels"})
NOUN, COMMENT = "noun", "comment"

Key = str | int


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one annotation shows. graph: translated, without what is ignored.

    said: of a spot, what was typed for it, by NOUN and COMMENT; of None what was typed for
    the whole text.
    """

    graph: Graph
    said: Mapping[tuple[int | None, str], str] = field(default_factory=dict)

    def words(self, place: int, what: str) -> str:
        """What was typed of a number at that spot; "" if nothing was."""
        if not self.said:
            return ""
        own = self.said.get((place, what))
        return own if own is not None else self.said.get((None, what), "")


@dataclass(slots=True)
class _Region:
    """A region on its way. names: of its labels; kinds: that were chosen for it."""

    start: int
    end: int
    names: list[str]
    kinds: list[str] = field(default_factory=list)
    typed: list[tuple[str, str]] = field(default_factory=list)
    spots: list[int] = field(default_factory=list)


def sheet_of(
    results: Iterable[Result], canvas: Canvas, labels: LabelMap, left: Counter[str]
) -> Sheet:
    """What results show. left: counts what is none of it, by its type.

    Raises MarkError for labels and relations that mean nothing here, and for what
    contradicts itself.
    """
    return _Drawing(canvas, labels, left).of(results)


class _Drawing:
    def __init__(self, canvas: Canvas, labels: LabelMap, left: Counter[str]) -> None:
        self.canvas = canvas
        self.labels = labels
        self.left = left
        self.regions: dict[Key, _Region] = {}
        self.whole = _Region(0, 0, [])

    def of(self, results: Iterable[Result]) -> Sheet:
        relations, rest = [], []
        for rank, result in enumerate(results):
            if result.type in REGIONS:
                self._label(result, rank)
            elif result.type == "relation":
                relations.append(result)
            else:
                rest.append(result)
        for result in rest:
            self._say(result)
        spots = self._spots()
        links = [link for result in relations for link in self._links(result, spots)]
        return _without_ignored(
            translated(Graph(tuple(spots), tuple(links)), self.labels), self
        )

    def _label(self, result: Result, rank: int) -> None:
        value = result.value
        if value is None or not value.names:
            self.left[f"{result.type} without a label"] += 1
            return
        start, end = self.canvas.span(value)
        key: Key = rank - 1_000_000 if result.id is None else result.id
        known = self.regions.setdefault(key, _Region(start, end, []))
        if (known.start, known.end) != (start, end):
            raise MarkError(
                f"the region {shown(key)} stands at {known.start} to {known.end} and at "
                f"{start} to {end}"
            )
        known.names += value.names
        if result.meta is not None and result.meta.words:
            self._note(known, result.meta.words)

    def _note(self, region: _Region, words: str) -> None:
        """A note on a number is a comment; those on other regions are counted."""
        if any(self._ours(name) in ANSWERS for name in region.names):
            region.typed.append((COMMENT, words))
        else:
            self.left["note on a region that is no number"] += 1

    def _say(self, result: Result) -> None:
        """What was chosen or typed of a region, or of the whole text."""
        region = self.whole if result.id is None else self.regions.get(result.id, self.whole)
        value = result.value
        if result.type == "choices" and value is not None:
            kinds = [one for one in value.choices if self._ours(one) in ANSWERS]
            region.kinds += kinds
            self.left["choices"] += len(value.choices) - len(kinds)
            return
        field_ = self.labels.layer.get(result.from_name, result.from_name)
        if result.type == "textarea" and value is not None and field_ in (NOUN, COMMENT):
            typed = value.text if isinstance(value.text, list) else [value.text or ""]
            region.typed.append((field_, "\n".join(typed)))
            return
        self.left[result.type] += 1

    def _ours(self, name: str) -> str:
        return self.labels.labels.get(name, name)

    def _spots(self) -> list[Spot]:
        self._choose_for_only_number()
        spots: list[Spot] = []
        for key, region in self.regions.items():
            for name in self._names(key, region):
                region.spots.append(len(spots))
                spots.append(Spot(region.start, region.end, name))
        return spots

    def _choose_for_only_number(self) -> None:
        """A kind chosen for the whole text is that of its only number."""
        if not self.whole.kinds:
            return
        numbers = [
            region
            for region in self.regions.values()
            if any(self._ours(name) in ANSWERS for name in region.names)
        ]
        if len(numbers) == 1:
            numbers[0].kinds += self.whole.kinds
        else:
            self.left["choices"] += len(self.whole.kinds)

    def _names(self, key: Key, region: _Region) -> list[str]:
        """The labels of a region's spots: at most one of a number, its kind if it is said."""
        if len(region.names) == 1 and not region.kinds:
            return region.names
        answers = [one for one in region.names if self._ours(one) in ANSWERS]
        if region.kinds and not answers:
            self.left["choices"] += len(region.kinds)
        said = {
            self._ours(one): one
            for one in (*answers, *(region.kinds if answers else ()))
            if self._ours(one) != ANCHOR
        }
        if len(said) > 1:
            raise MarkError(f"the region {shown(key)} is both {' and '.join(said.values())}")
        number = list(said.values()) or answers[:1]
        rest = [one for one in region.names if self._ours(one) not in ANSWERS]
        return [*number, *dict.fromkeys(rest)]

    def _links(self, result: Result, spots: list[Spot]) -> list[Link]:
        source = self._end(result.from_id)
        target = self._end(result.to_id)
        if result.direction == "left":
            source, target = target, source
        names = result.labels or [self._plain(spots[source], spots[target])]
        return [Link(source, target, name) for name in names]

    def _end(self, key: Key | None) -> int:
        region = None if key is None else self.regions.get(key)
        if region is None or not region.spots:
            raise MarkError(f"a relation ends at the region {shown(key)}, which is not there")
        return region.spots[0]

    def _plain(self, one: Spot, two: Spot) -> str:
        """What a relation without a label is: HEAD, if it joins a number to one."""
        ours = {self._ours(one.label), self._ours(two.label)}
        return HEAD if HEAD in ours and ours & ANSWERS.keys() else ""

    def said(self) -> dict[tuple[int | None, str], str]:
        """What was typed, by the first spot of its region."""
        said: dict[tuple[int | None, str], str] = {}
        for region in (*self.regions.values(), self.whole):
            place = region.spots[0] if region.spots else None
            for what, words in region.typed:
                before = said.get((place, what))
                said[place, what] = words if before is None else f"{before}\n{words}"
        return said


def _without_ignored(graph: Graph, drawing: _Drawing) -> Sheet:
    said = drawing.said()
    kept = [i for i, spot in enumerate(graph.spots) if spot.label != IGNORE]
    drawing.left["ignored label"] += len(graph.spots) - len(kept)
    if len(kept) == len(graph.spots):
        return Sheet(graph, said)
    rank = {place: here for here, place in enumerate(kept)}
    return Sheet(
        part(graph, kept),
        {
            (place if place is None else rank[place], what): words
            for (place, what), words in said.items()
            if place is None or place in rank
        },
    )
