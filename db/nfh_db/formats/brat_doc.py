"""One brat document of one folder: its text, its marks, and what is said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nfh_db.formats.brat_ann import (
    NOTES,
    Attribute,
    LineError,
    Standoff,
    parse,
    span_id,
)
from nfh_db.formats.brat_carried import Part, part_of
from nfh_db.formats.brat_side import Party, Side
from nfh_db.formats.brat_text import counting, covering, restored_text
from nfh_db.formats.brat_write import ATTRIBUTES, NOUN, with_equiv
from nfh_db.formats.grid import MarkError
from nfh_db.formats.marked import ANCHOR, ANSWERS, HEAD, Graph, Link, Spot, translated
from nfh_db.formats.options import IGNORE, LabelMap, Reading, Span
from nfh_db.records import FlagName

FLAGS: Mapping[str, FlagName] = {name: flag for flag, name in ATTRIBUTES.items()}


@dataclass(frozen=True, slots=True)
class Document:
    """A document as one folder has it.

    ann: the name of its `.ann` file. text: as it was exported. graph: in our own names.
    flags, comments, nouns: by the spot of a number. torn: how many spans have other words
    between their fragments; unused: how many lines say nothing here; besides: both, to be
    carried along. split: that the folder's name says.
    """

    ann: str
    party: Party
    side: Side | None
    text: str
    graph: Graph
    flags: Mapping[int, tuple[FlagName, ...]]
    comments: Mapping[int, str]
    nouns: Mapping[int, str]
    torn: int
    unused: int
    besides: Part | None
    split: str | None = None

    @property
    def numbers(self) -> bool:
        """A number is marked in it."""
        return any(spot.label in ANSWERS for spot in self.graph.spots)


def document(
    ann: str, content: str, text: str, party: Party, side: Side | None, how: Reading
) -> Document:
    """The document that an `.ann` file and its text make. Raises MarkError, LineError."""
    found = parse(content)
    way = counting(text, how.offsets, tuple(found.spans.values()))
    place = {id_: rank for rank, id_ in enumerate(found.spans)}
    spots, torn = [], list[tuple[Span, ...]]()
    pieces = {
        id_: tuple((way.to_points(start), way.to_points(end)) for start, end in span.fragments)
        for id_, span in found.spans.items()
    }
    for id_, span in found.spans.items():
        (start, end), gap = covering(text, pieces[id_])
        if gap:
            torn.append(pieces[id_])
        spots.append(Spot(start, end, span.label))
        if gap and _ours(span.label, how.labels) in ANSWERS:
            raise LineError(
                span.line,
                f"the number {span.label} has fragments with other words between them; a "
                "number is one stretch of text",
            )
    labels = with_equiv(how.labels)
    spots = _labelled(spots, found, place, how.labels)
    links = [
        link
        for link in _links(found, place)
        if IGNORE not in (_ours(spots[end].label, labels) for end in (link.source, link.target))
    ]
    graph = _translated(found, Graph(tuple(spots), tuple(links)), labels)
    words = _Words(found, place, graph)
    return Document(
        ann,
        party,
        side,
        restored_text(text, side.replaced if side else ()),
        graph,
        words.flags,
        words.notes(NOTES),
        words.notes(NOUN),
        len(torn),
        len(words.unused),
        part_of(party, content, found, words.unused, words.own, pieces, torn),
    )


def _translated(found: Standoff, graph: Graph, labels: LabelMap) -> Graph:
    """The graph in our own names. Raises LineError for the line with a name of no meaning."""
    try:
        return translated(graph, labels)
    except MarkError:
        for span, spot in zip(found.spans.values(), graph.spots, strict=True):
            _check(span.line, Graph((spot,)), labels)
        two = (Spot(0, 1, ANCHOR), Spot(0, 1, HEAD))
        names = [(arc.line, arc.label) for arc in found.arcs]
        names += [(line, label) for line, label, _ in found.equivs]
        for line, label in names:
            _check(line, Graph(two, (Link(0, 1, label),)), LabelMap({}, labels.relations))
        raise


def _check(line: int, graph: Graph, labels: LabelMap) -> None:
    try:
        translated(graph, labels)
    except MarkError as error:
        raise LineError(line, str(error)) from error


def _ours(label: str, labels: LabelMap) -> str:
    return labels.labels.get(label, label)


def _labelled(
    spots: Sequence[Spot], found: Standoff, place: Mapping[str, int], labels: LabelMap
) -> list[Spot]:
    """The spots, numbers with the kind that an attribute gives them: "Class T1 YEAR"."""
    spots = list(spots)
    for attribute in found.attributes:
        kind = _kind(attribute, labels)
        here = place.get(span_id(found, attribute.target))
        if kind and here is not None and _ours(spots[here].label, labels) == ANCHOR:
            spots[here] = replace(spots[here], label=kind)
    return spots


def _kind(attribute: Attribute, labels: LabelMap) -> str | None:
    ours = _ours(attribute.value, labels)
    return ours if ours in ANSWERS else None


def _links(found: Standoff, place: Mapping[str, int]) -> list[Link]:
    links = [
        Link(place[span_id(found, arc.source)], place[span_id(found, arc.target)], arc.label)
        for arc in found.arcs
    ]
    for _, label, members in found.equivs:
        first, *others = (place[span_id(found, id_)] for id_ in members)
        links += [Link(other, first, label) for other in others]
    return links


class _Words:
    """What attributes and notes say of numbers."""

    def __init__(self, found: Standoff, place: Mapping[str, int], graph: Graph) -> None:
        self._found = found
        self._numbers = {
            id_: rank for id_, rank in place.items() if graph.spots[rank].label in ANSWERS
        }
        spots = graph.spots
        self.own = {
            id_: (spots[rank].start, spots[rank].end)
            for id_, rank in place.items()
            if spots[rank].label != IGNORE
        }
        self.flags: dict[int, tuple[FlagName, ...]] = {}
        self.unused = {line for line, _ in found.others}
        self.unused |= {one.line for id_, one in found.spans.items() if id_ not in self.own}
        self._read_links()
        self._read_attributes()
        self.unused |= {
            note.line
            for note in found.notes
            if self._number(note.target) is None or note.type not in (NOTES, NOUN)
        }

    def _read_links(self) -> None:
        """Links of spans to be ignored are of no use either."""
        found = self._found
        ends: list[tuple[int, tuple[str, ...]]] = [
            (arc.line, (arc.source, arc.target)) for arc in found.arcs
        ]
        ends += [(line, members) for line, _, members in found.equivs]
        ends += [(line, (trigger,)) for line, trigger in found.events]
        self.unused |= {
            line
            for line, members in ends
            if any(span_id(found, id_) not in self.own for id_ in members)
        }

    def _number(self, target: str) -> int | None:
        return self._numbers.get(span_id(self._found, target))

    def _read_attributes(self) -> None:
        for attribute in self._found.attributes:
            here = self._number(attribute.target)
            flag = FLAGS.get(attribute.name)
            if here is not None and flag is not None:
                self.flags[here] = (*self.flags.get(here, ()), flag)
            elif here is None or attribute.value not in ANSWERS:
                self.unused.add(attribute.line)

    def notes(self, type_: str) -> dict[int, str]:
        """The notes of a type on numbers; several on one stand behind each other."""
        found: dict[int, str] = {}
        for note in self._found.notes:
            here = self._number(note.target)
            if note.type == type_ and here is not None:
                found[here] = f"{found[here]}; {note.words}" if here in found else note.words
        return found


def marks_in(document: Document) -> list[tuple[int, int]]:
    """The spans of its marks, without those to be ignored."""
    return [(s.start, s.end) for s in document.graph.spots if s.label != IGNORE]


class Numbers:
    """The numbers of a graph, each with all mentions that links lead to."""

    def __init__(self, graph: Graph) -> None:
        self._spots = graph.spots
        self._near: dict[int, list[Link]] = {}
        for link in graph.links:
            for end in {link.source, link.target}:
                self._near.setdefault(end, []).append(link)

    def alone(self, place: int) -> Graph:
        """The graph of one number, with its mentions and the links among them."""
        near, waiting = {place}, [place]
        while waiting:
            here = waiting.pop()
            for link in self._near.get(here, ()):
                other = link.target if link.source == here else link.source
                if other not in near and self._spots[other].label not in ANSWERS:
                    near.add(other)
                    waiting.append(other)
        order = sorted(near, key=lambda spot: (spot != place, spot))
        rank = {spot: index for index, spot in enumerate(order)}
        return Graph(
            tuple(self._spots[spot] for spot in order),
            tuple(
                Link(rank[link.source], rank[link.target], link.label)
                for spot in order
                for link in self._near.get(spot, ())
                if link.source == spot and link.target in rank
            ),
        )
