"""Answers as graphs of labelled spans and links, the form that annotation tools use: alignment
of spans with tokens, answers to graphs and back, project names of labels, and UTF-16 offsets.

All offsets are code points, ends exclusive, unless a name says otherwise.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from nfh_db.errors import ExportError
from nfh_db.formats.base import Reader
from nfh_db.formats.dialog import split_speaker
from nfh_db.formats.fields import NO_HALVES, turns_fit, unpaired_surrogate
from nfh_db.formats.files import FileOrigin
from nfh_db.formats.rows import (
    IGNORE,
    NO_NUMBER,
    NOT_KNOWN,
    OTHERS,
    LabelMap,
    LabelTally,
    Lemmatize,
    RawPassage,
    ReadOptions,
    Row,
    Span,
)
from nfh_db.messages import shown, tallied
from nfh_db.records import ExportRecord
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    Turn,
)
from nfh_models.domain.compare import components


class MarkError(ValueError):
    """Annotations of a file that cannot be interpreted, or contradict each other.

    The message is the end of a sentence that begins with the file's name and line.
    """


class TokenAlignment:
    """The tokens of a passage, found by the offsets at which they begin and end."""

    __slots__ = ("_first", "_stop", "passage")

    def __init__(self, passage: RawPassage) -> None:
        self.passage = passage
        self._first = {start: index for index, start in enumerate(passage.starts)}
        self._stop = {end: index + 1 for index, end in enumerate(passage.ends)}

    @property
    def words(self) -> Sequence[str]:
        """The words of the tokens."""
        return self.passage.words

    def tokens(self, start: int, end: int) -> Span:
        """The tokens [first, stop) of code points [start, end), which may have white space at
        its ends. Raises MarkError unless the span holds whole tokens.
        """
        text = self.passage.text
        _check_inside(text, start, end)
        first, stop = self._first.get(start), self._stop.get(end)
        if first is not None and stop is not None:
            return first, stop
        inner = without_space(text, start, end)
        if inner is None:
            raise MarkError(f"the span {start} to {end} holds nothing but white space")
        if inner != (start, end):
            return self.tokens(*inner)
        words = shown(text[start:end])
        raise MarkError(f"the span {start} to {end}, {words}, cuts through a token")


def _check_inside(text: str, start: int, end: int, more: str = "") -> None:
    if not 0 <= start < end <= len(text):
        raise MarkError(
            f"the span {start} to {end} is outside a text of {len(text)} characters{more}"
        )


def without_space(text: str, start: int, end: int) -> Span | None:
    """A span of `text` without white space at its ends; None if it holds only white space."""
    words = text[start:end]
    behind = words.lstrip()
    if not behind:
        return None
    return end - len(behind), start + len(words.rstrip())


def checked(text: str, span: Span, surface: str) -> None:
    """Raise MarkError unless `text` has `surface` at the span."""
    start, end = span
    _check_inside(text, start, end, f"; expected {shown(surface)} there")
    if text[start:end] != surface:
        raise MarkError(
            f"at {start} to {end}: expected {shown(surface)}, found {shown(text[start:end])}"
        )


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text with tokens on whose bounds all annotated spans lie."""

    alignment: TokenAlignment
    tokenizer: str | None
    """What made the tokens; None if they came with the text."""
    cut: int
    """How many tokens were split because a span begins or ends inside them."""

    @property
    def grid(self) -> TokenAlignment:
        """The old name of `alignment`, for plug-ins that use it."""
        return self.alignment


def based(
    text: str,
    marks: Iterable[Span],
    how: ReadOptions,
    tokens: Sequence[Span] | None = None,
    turns: Sequence[Turn] | None = None,
) -> TokenizedText:
    """Tokenize a text so that all annotated spans (`marks`) begin and end at token bounds.

    tokens: those that came with the text; `how.tokenize` makes them otherwise. turns: those
    that came with the text; otherwise each line is a turn, which may name its speaker as in the
    format `dialog`. Raises MarkError where a span lies outside the text, where tokens or turns
    do not fit the text, and where the text has no word.
    """
    marks = list(marks)
    _check(text, marks, tokens, turns)
    marks = _tight(text, marks, tokens or ())
    lines = _lines(text, marks) if tokens is None or turns is None else []
    spans = (
        list(tokens)
        if tokens is not None
        else [
            (line.words + start, line.words + end)
            for line in lines
            for start, end in how.tokenize(text[line.words : line.end])
        ]
    )
    cut = _cut(spans, marks)
    if not cut:
        raise MarkError("the text holds no word")
    starts = [start for start, _ in cut]
    if turns is None:
        turns = _turns(starts, lines)
    elif len(cut) > len(spans):
        turns = _moved(turns, [start for start, _ in spans], starts)
    raw = RawPassage.of(text, cut, tuple(turns))
    tokenizer = how.tokenizer() if tokens is None else None
    return TokenizedText(TokenAlignment(raw), tokenizer, len(cut) - len(spans))


def _check(
    text: str,
    marks: Iterable[Span],
    tokens: Sequence[Span] | None,
    turns: Sequence[Turn] | None,
) -> None:
    if unpaired_surrogate(text):
        raise MarkError(f"the text holds half a surrogate pair; wanted {NO_HALVES}")
    for start, end in marks:
        _check_inside(text, start, end)
    if tokens is None:
        return
    last = 0
    for rank, (start, end) in enumerate(tokens):
        if not last <= start < end <= len(text):
            raise MarkError(
                f"token {rank} is stated at {start} to {end}; wanted one character or more "
                f"between {last} and {len(text)}, the end of the text"
            )
        last = end
    if turns is not None and not turns_fit(turns, tokens):
        raise MarkError(
            f"the turns do not fit: wanted each of the {len(tokens)} tokens in one of them, in "
            "order, and numbers that never fall"
        )


def _tight(text: str, marks: Iterable[Span], tokens: Sequence[Span]) -> list[Span]:
    """Spans without white space at their ends, except where a token has the same bounds."""
    starts, ends = {start for start, _ in tokens}, {end for _, end in tokens}
    return [
        (start, end)
        if start in starts and end in ends
        else without_space(text, start, end) or (start, end)
        for start, end in marks
    ]


@dataclass(frozen=True, slots=True)
class _Line:
    speaker: str | None
    words: int
    end: int


def _lines(text: str, marks: Sequence[Span]) -> list[_Line]:
    """The lines of a text: the speaker of each, and the offsets of what is said."""
    lines = []
    place = 0
    starts = sorted(start for start, _ in marks)
    ends = sorted(end - 1 for _, end in marks)
    for line in text.split("\n"):
        end = place + len(line)
        speaker, begin = split_speaker(line)
        if any(
            bisect_left(bounds, place + begin) > bisect_left(bounds, place)
            for bounds in (starts, ends)
        ):
            speaker, begin = None, 0  # An annotated span is part of what is said.
        lines.append(_Line(speaker, place + begin, end))
        place = end + 1
    return lines


def _cut(tokens: Sequence[Span], marks: Iterable[Span]) -> list[Span]:
    """The tokens, split where a span begins or ends inside one."""
    bounds = sorted({place for mark in marks for place in mark})
    if not bounds:
        return list(tokens)
    cut: list[Span] = []
    at = 0
    for start, end in tokens:
        begin = start
        while at < len(bounds) and bounds[at] < end:
            if bounds[at] > begin:
                cut.append((begin, bounds[at]))
                begin = bounds[at]
            at += 1
        cut.append((begin, end))
    return cut


def _turns(starts: Sequence[int], lines: Sequence[_Line]) -> list[Turn]:
    """One turn for each line that has a token; `starts` are the offsets of all tokens."""
    turns = []
    token = 0
    for number, line in enumerate(lines):
        first = token
        while token < len(starts) and starts[token] < line.end:
            token += 1
        if token > first:
            turns.append(Turn(number, line.speaker, first, token))
    return turns


def _moved(turns: Sequence[Turn], old: Sequence[int], new: Sequence[int]) -> list[Turn]:
    """The turns after some tokens were split; old, new: offsets of tokens before and after."""
    rank = {start: index for index, start in enumerate(new)}
    places = [*(rank[start] for start in old), len(new)]
    return [replace(t, start=places[t.start], end=places[t.end]) for t in turns]


# The span graph of an answer.
#
# A number is a span whose label is its kind (with its sort for OTHER: OTHER_NUMBER, OTHER_CODE,
# OTHER_MEASURE, OTHER_NOUN), or ANCHOR if it has no answer. Each mention of a head is a span
# HEAD. Links lead from the number to each mention: HEAD if a person marked it, ADDED if the
# tool proposed it, REMOVED if a person removed it. SAME leads from a further mention of a noun
# to its first mention; AND, OR or UNSTATED from the first mention of a head to that of the next
# head.
#
# A LabelMap translates a project's own names. Readers accept more than this: links in either
# direction; HEAD_AND and HEAD_OR for HEAD with a relation; mentions without a link if the graph
# has one number; mentions that only SAME or a relation links to another mention of the number.
# Where no link tells which mentions are of one noun, those with the same lemma are.

ANCHOR, HEAD, SAME = "ANCHOR", "HEAD", "SAME"
ORIGINS: Mapping[str, Origin] = {
    HEAD: Origin.MARKED,
    "ADDED": Origin.ADDED,
    "REMOVED": Origin.REMOVED,
}
LINKS: Mapping[Origin, str] = {origin: label for label, origin in ORIGINS.items()}
RELATIONS = tuple(Relation)
WITH_RELATION = {f"{HEAD}_{one}": one for one in (Relation.AND, Relation.OR)}

ANSWERS: Mapping[str, tuple[Kind | None, Sort | None]] = {
    ANCHOR: (None, None),
    **{kind.value: (kind, None) for kind in Kind},
    **{f"{Kind.OTHER}_{sort}": (Kind.OTHER, sort) for sort in Sort},
}
"""Kind and sort for each label of a number."""

SPAN_LABELS = (*ANSWERS, HEAD)
MENTION_LINK_LABELS = (SAME, *(relation.value for relation in Relation))
"""Labels of links between mentions."""
LINK_LABELS = (*ORIGINS, *MENTION_LINK_LABELS)
KNOWN_LINKS = (*LINK_LABELS, *WITH_RELATION)
"""Labels of links that are read."""
KNOWN_SPAN_SET, KNOWN_LINK_SET = frozenset(SPAN_LABELS), frozenset(KNOWN_LINKS)


@dataclass(frozen=True, slots=True)
class Spot:
    """A labelled span: code points [start, end) of a text."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Link:
    """A labelled link between two spots, given by their indices in the graph."""

    source: int
    target: int
    label: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Spots and the links between them. In a graph that `graph_of` makes, spot 0 is the
    number.
    """

    spots: tuple[Spot, ...]
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkedNumber:
    """One number of a graph, with its mentions in the order of their spots."""

    spot: int
    """The index of its spot in the graph."""
    graph: Graph
    """The part of the graph that shows it: the number, its mentions, and the links of these."""
    anchor: Span
    kind: Kind | None
    sort: Sort | None
    mentions: tuple[tuple[Span, Origin], ...]
    groups: tuple[tuple[int, ...], ...]
    """Indices of mentions that are of one noun; empty where no link tells."""
    relation: Relation | None


# --- from answers to graphs ------------------------------------------------------------------


def label_of(answer: Answer | None) -> str:
    """The label of a number with this answer."""
    if answer is None:
        return ANCHOR
    return f"{answer.kind}_{answer.sort}" if answer.sort else answer.kind.value


def record_graph(record: ExportRecord, answer: Answer | None) -> Graph:
    """The graph of an answer to the number of a record."""
    tokens = record.passage.tokens
    return graph_of(
        answer, record.anchor, lambda i, stop: (tokens[i].start, tokens[stop - 1].end)
    )


def graph_of(answer: Answer | None, anchor: Anchor, span: Callable[[int, int], Span]) -> Graph:
    """The graph of an answer. span: the code points of tokens [start, stop)."""
    number = Spot(*span(anchor.start, anchor.end), label_of(answer))
    if answer is None or not answer.heads:
        return Graph((number,))
    spots, links = [number], []
    first_before: int | None = None
    for head in answer.heads:
        first = len(spots)
        for mention in head.mentions:
            here = len(spots)
            spots.append(Spot(*span(mention.start, mention.end), HEAD))
            links.append(Link(0, here, LINKS[mention.origin]))
            if here > first:
                links.append(Link(here, first, SAME))
        if first_before is not None and answer.relation is not None:
            links.append(Link(first_before, first, answer.relation.value))
        first_before = first
    return Graph(tuple(spots), tuple(links))


def renamed(graph: Graph, labels: LabelMap) -> Graph:
    """The graph with the labels that a project uses.

    Raises ExportError for a label that the mapping would read back as another one.
    """
    if not labels.labels and not labels.relations:
        return graph
    return Graph(
        tuple(Spot(s.start, s.end, _theirs(s.label, labels.labels)) for s in graph.spots),
        tuple(
            Link(k.source, k.target, _theirs(k.label, labels.relations)) for k in graph.links
        ),
    )


def _theirs(ours: str, names: Mapping[str, str]) -> str:
    theirs = next((name for name, meant in names.items() if meant == ours), ours)
    if names.get(theirs, theirs) != ours:
        raise ExportError(
            f"{ours} cannot be written: by the mapping, {shown(ours)} means "
            f"{shown(names[theirs])}; give {ours} a name of its own there"
        )
    return theirs


# --- from graphs to answers ------------------------------------------------------------------


CLASSES = frozenset(label for label, (kind, _) in ANSWERS.items() if kind in IMPLICIT_KINDS)
"""Labels of numbers that other projects use as well, of other things than numbers."""


def meaning(name: str, names: Mapping[str, str], known: Collection[str]) -> str | None:
    """What a project's name means: ours, or IGNORE; None for a name that is not known."""
    unnamed = name if name in known else IGNORE if OTHERS in names else None
    return names.get(name, unnamed)


def span_label(name: str, labels: LabelMap) -> str | None:
    """The `meaning` of a label of spans."""
    return meaning(name, labels.labels, SPAN_LABELS)


def read_graph(
    graph: Graph, how: ReadOptions, text: str, where: str, *, exported: bool = False
) -> Graph:
    """`translated`, of a graph of a file. Adds to `how.tally` what is left out by the map, and
    what the file is to be refused for at its end; the graph then has no marks.

    where: of the text, for a message. exported: by this program, so that the labels are ours.
    Else a class of ours on a span without a number may be a project's name of something else,
    unless the map names it. Raises MarkError.
    """
    from nfh_models.text.numbers import may_hold_number

    tally, labels = how.tally, how.labels
    spots, links = {s.label for s in graph.spots}, {k.label for k in graph.links}
    if (
        spots <= KNOWN_SPAN_SET
        and links <= KNOWN_LINK_SET
        and spots.isdisjoint(labels.labels)
        and links.isdisjoint(labels.relations)
        and (exported or CLASSES.isdisjoint(spots))
    ):
        return graph
    ours = [span_label(spot.label, labels) for spot in graph.spots]
    kept = [k for k in graph.links if IGNORE not in (ours[k.source], ours[k.target])]
    relations = [meaning(k.label, labels.relations, KNOWN_LINKS) for k in kept]
    strange = False
    for spot, label in zip(graph.spots, ours, strict=True):
        words = text[spot.start : spot.end]
        guessed = label in CLASSES and not exported and spot.label not in labels.labels
        if label is None or (guessed and not may_hold_number(words)):
            strange = True
            why = NOT_KNOWN if label is None else NO_NUMBER
            tally.stray("labels", spot.label, why, f"{shown(words)} in {where}")
    for link, label in zip(kept, relations, strict=True):
        if label is None:
            strange = True
            one, two = graph.spots[link.source], graph.spots[link.target]
            pair = (
                f"from {shown(text[one.start : one.end])} to {shown(text[two.start : two.end])}"
            )
            tally.stray("relations", link.label, NOT_KNOWN, f"{pair} in {where}")
    if strange:
        return Graph(tuple(replace(spot, label=IGNORE) for spot in graph.spots))
    read = translated(Graph(graph.spots, tuple(kept)), labels)
    tally.ignored["mark"] += ours.count(IGNORE)
    tally.ignored["relation"] += len(graph.links) - len(read.links)
    return read


def refusing_strays(read: Reader) -> Reader:
    """A reader that refuses a file, when it was read, for all labels and relations that are not
    known, and warns of what it left out by the map.
    """

    def reader(source: FileOrigin, how: ReadOptions) -> Iterator[Row]:
        how = replace(how, tally=LabelTally())
        yield from read(source, how)
        if how.tally.strays:
            error = source.error(None, how.tally.sentence())
            ours = {"labels": SPAN_LABELS, "relations": LINK_LABELS}
            error.mapping = how.tally.mapping(how.labels, ours)
            raise error
        source.warnings += tallied(
            (count, thing, "left out, by the map") for thing, count in how.tally.ignored.items()
        )

    return reader


def translated(graph: Graph, labels: LabelMap) -> Graph:
    """The inverse of `renamed`: the graph with our labels, spots at the same indices.

    Spots to be ignored keep their index, with the label IGNORE; links to be ignored, and links
    of such spots, are left out. Raises MarkError for an unknown label.
    """
    spots = [
        Spot(s.start, s.end, _ours(s.label, labels.labels, SPAN_LABELS, "label"))
        for s in graph.spots
    ]
    links = [
        Link(k.source, k.target, _ours(k.label, labels.relations, KNOWN_LINKS, "relation"))
        for k in graph.links
    ]
    kept = [
        k
        for k in links
        if IGNORE not in (k.label, spots[k.source].label, spots[k.target].label)
    ]
    return Graph(tuple(spots), tuple(kept))


def _ours(name: str, names: Mapping[str, str], known: Sequence[str], what: str) -> str:
    ours = meaning(name, names, known)
    if ours is not None and (ours in known or ours == IGNORE):
        return ours
    if ours is not None:
        raise MarkError(
            f"the {what} {shown(name)} is {shown(ours)} in the map, which is not known; "
            f"wanted one of {', '.join(known)}, or {IGNORE}"
        )
    raise MarkError(
        f"the {what} {shown(name)} is not known; wanted one of {', '.join(known)}, or a file "
        f"that says what it means (--map)"
    )


def numbers(graph: Graph) -> list[MarkedNumber]:
    """The numbers of a translated graph, in the order of their spots.

    Raises MarkError for contradictory links, and for a mention that is linked to no number.
    """
    places = [i for i, spot in enumerate(graph.spots) if spot.label in ANSWERS]
    heads = [i for i, spot in enumerate(graph.spots) if spot.label == HEAD]
    links = graph.links
    if len(places) == 1 and not links:
        links = tuple(Link(places[0], here, HEAD) for here in heads)
    web = _LinkIndex.of(graph.spots, links, places)
    found = [_number(web, place) for place in places]
    loose = next((here for here in heads if here not in web.reached), None)
    if loose is not None:
        spot = graph.spots[loose]
        raise MarkError(
            f"the span {spot.start} to {spot.end}, {HEAD}, is linked to no number of "
            f"{len(places)}"
        )
    for link in web.inner:
        if not web.reached[link.source] & web.reached[link.target]:
            one, two = web.spots[link.source], web.spots[link.target]
            raise MarkError(
                f"{link.label} joins heads of different numbers, the spans "
                f"{one.start} to {one.end} and {two.start} to {two.end}"
            )
    return found


@dataclass(frozen=True, slots=True)
class _LinkIndex:
    """The links of a graph by their ends."""

    spots: Sequence[Spot]
    near: Mapping[int, Sequence[Link]]
    """The links of each number."""
    inner: Sequence[Link]
    """The links between mentions."""
    joints: Mapping[int, Sequence[Link]]
    """`inner` by each of the two mentions."""
    owned: Collection[int]
    """Mentions that a number is linked to."""
    reached: dict[int, set[int]]
    """For each mention the numbers that it was found to belong to."""

    @classmethod
    def of(
        cls, spots: Sequence[Spot], links: Iterable[Link], places: Iterable[int]
    ) -> "_LinkIndex":
        """Raises MarkError for a link between mentions with a label that only numbers have."""
        near: dict[int, list[Link]] = {place: [] for place in places}
        inner: list[Link] = []
        joints: dict[int, list[Link]] = {}
        owned: set[int] = set()
        for link in links:
            if link.source in near or link.target in near:
                number, other = link.source, link.target
                if number not in near:
                    number, other = other, number
                near[number].append(link)
                owned.add(other)
                continue
            if link.label not in MENTION_LINK_LABELS:
                one, two = spots[link.source], spots[link.target]
                raise MarkError(
                    f"{link.label} goes from the {one.label} at {one.start} to {one.end} to "
                    f"the {two.label} at {two.start} to {two.end}; wanted a number at one end"
                )
            inner.append(link)
            for end in {link.source, link.target}:
                joints.setdefault(end, []).append(link)
        return cls(spots, near, inner, joints, owned, {})


def _number(web: _LinkIndex, place: int) -> MarkedNumber:
    origins: dict[int, Origin] = {}
    relations: set[Relation] = set()
    for link in web.near[place]:
        other = link.target if link.source == place else link.source
        origin = _origin(link.label, web.spots[other], relations)
        if origins.setdefault(other, origin) is not origin:
            spot = web.spots[other]
            raise MarkError(
                f"the {HEAD} at {spot.start} to {spot.end} is both "
                f"{LINKS[origins[other]]} and {LINKS[origin]} of one number"
            )
    inner = _joined(web, origins)
    mentions = sorted(origins)
    for mention in mentions:
        web.reached.setdefault(mention, set()).add(place)
    places = (place, *mentions)
    rank = {spot: index for index, spot in enumerate(places)}
    graph = Graph(
        tuple(web.spots[spot] for spot in places),
        tuple(
            Link(rank[link.source], rank[link.target], link.label)
            for link in (*web.near[place], *inner)
        ),
    )
    ours = graph.links[len(web.near[place]) :]
    relations |= {Relation(link.label) for link in ours if link.label in RELATIONS}
    if len(relations) > 1:
        raise MarkError(
            f"the heads of one number are joined by {' and '.join(sorted(relations))}"
        )
    kind, sort = ANSWERS[web.spots[place].label]
    return MarkedNumber(
        place,
        graph,
        (web.spots[place].start, web.spots[place].end),
        kind,
        sort,
        tuple(((web.spots[i].start, web.spots[i].end), origins[i]) for i in mentions),
        components(
            len(mentions),
            [(link.source - 1, link.target - 1) for link in ours if link.label == SAME],
        )
        if ours
        else (),
        relations.pop() if relations else None,
    )


def _joined(web: _LinkIndex, origins: dict[int, Origin]) -> list[Link]:
    """The links between mentions of a number. Adds to `origins`, as marked, the mentions that
    are linked to one of these and to no number.
    """
    inner: dict[Link, None] = {}
    waiting = list(origins)
    while waiting:
        here = waiting.pop()
        for link in web.joints.get(here, ()):
            other = link.target if link.source == here else link.source
            if other not in origins and other not in web.owned:
                origins[other] = Origin.MARKED
                waiting.append(other)
            if other in origins:
                inner[link] = None
    return list(inner)


def _origin(label: str, spot: Spot, relations: set[Relation]) -> Origin:
    known = label in ORIGINS or label in WITH_RELATION
    if not known or spot.label != HEAD:
        raise MarkError(
            f"a number is linked by {label} to the {spot.label} at {spot.start} to {spot.end}; "
            f"wanted {', '.join(ORIGINS)} to a {HEAD}"
        )
    if label in WITH_RELATION:
        relations.add(WITH_RELATION[label])
        return Origin.MARKED
    return ORIGINS[label]


def answer_of(
    marked: MarkedNumber,
    alignment: TokenAlignment,
    lemmatize: Lemmatize,
    *,
    noun: str | None = None,
    comment: str = "",
) -> Answer | None:
    """The answer of a number; None if it has neither kind nor mention.

    REFERENCE without a mention becomes NFH (the head is not given); NFH with mentions becomes
    REFERENCE. Raises MarkError, and AnswerError for what is no valid answer.
    """
    kind = marked.kind
    if not marked.mentions:
        kind = Kind.NFH if kind is Kind.REFERENCE else kind
        return None if kind is None else Answer(kind, (), None, marked.sort, noun, comment)
    if kind not in (None, Kind.REFERENCE, Kind.NFH):
        raise MarkError(
            f"{kind} has no head in the passage, but {len(marked.mentions)} are marked; wanted "
            f"{Kind.REFERENCE}, or no {HEAD}"
        )
    mentions = [
        Mention(first, stop, stop - 1, origin)
        for (first, stop), origin in (
            (alignment.tokens(*span), origin) for span, origin in marked.mentions
        )
    ]
    groups = marked.groups or _by_lemma([alignment.words[m.head] for m in mentions], lemmatize)
    heads = tuple(Head(_marked_first([mentions[i] for i in group])) for group in groups)
    if marked.relation and len(heads) < 2:
        raise MarkError(f"{marked.relation} joins heads of a number that has only one")
    relation = (marked.relation or Relation.UNSTATED) if len(heads) > 1 else None
    return Answer(Kind.REFERENCE, heads, relation, None, None, comment)


def _marked_first(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """The mentions in order, after the first marked one (else the first that is not
    removed).
    """
    first = min(mentions, key=lambda m: (*Origin,).index(m.origin))
    return (first, *(m for m in mentions if m is not first))


def _by_lemma(words: Sequence[str], lemmatize: Lemmatize) -> tuple[tuple[int, ...], ...]:
    groups: dict[str, list[int]] = {}
    for index, lemma in enumerate(lemmatize(words)):
        groups.setdefault(lemma.casefold(), []).append(index)
    return tuple(map(tuple, groups.values()))


# --- numbers whose mentions come without a graph ---------------------------------------------

HEAD_WITH = {relation: label for label, relation in WITH_RELATION.items()}


@dataclass(frozen=True, slots=True)
class LinkedMention:
    """A mention that a number is linked to, in a format that stores no graph."""

    span: Span
    role: str
    """The label of the link."""
    same: int | None = None
    """The index, among the number's mentions, of the first mention of the same noun."""


@dataclass(frozen=True, slots=True)
class LinkedNumber:
    """A number with its mentions, and the relation of its heads ("" if none is given)."""

    span: Span
    label: str
    mentions: tuple[LinkedMention, ...]
    relation: str = ""
    grouped: bool = False
    """The file tells which mentions are of one noun."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """Of the number and its mentions."""
        return (self.span, *(mention.span for mention in self.mentions))

    def _with_links(self, links: Iterable[Link]) -> Graph:
        heads = (Spot(*mention.span, HEAD) for mention in self.mentions)
        return Graph((Spot(*self.span, self.label), *heads), tuple(links))

    def graph(self) -> Graph:
        """The graph with a link for each mention, each pair of one noun, and the relation."""
        links = [Link(0, at, one.role) for at, one in enumerate(self.mentions, 1)]
        firsts = []
        for at, one in enumerate(self.mentions, 1):
            if one.same is None:
                firsts.append(at)
            else:
                links.append(Link(at, one.same + 1, SAME))
        if self.relation:
            links += [Link(one, two, self.relation) for one, two in pairwise(firsts)]
        return self._with_links(links)

    def tolerant_graph(self, labels: LabelMap) -> Graph:
        """The graph to read the answer from. If the file does not tell which mentions are of
        one noun, the relation does not either: it then stands at the link of the first mention.
        """
        if self.grouped:
            return self.graph()
        roles = [one.role for one in self.mentions]
        relation = labels.relations.get(self.relation, self.relation)
        if relation in HEAD_WITH and HEAD in roles:
            roles[roles.index(HEAD)] = HEAD_WITH[Relation(relation)]
        return self._with_links(Link(0, at, role) for at, role in enumerate(roles, 1))


def check_kinds(graph: Graph) -> None:
    """Raise MarkError if one span is marked as numbers of two kinds."""
    kinds: dict[Span, str] = {}
    for spot in graph.spots:
        if spot.label not in ANSWERS or spot.label == ANCHOR:
            continue
        kind = kinds.setdefault((spot.start, spot.end), spot.label)
        if kind != spot.label:
            raise MarkError(
                f"the number at {spot.start} to {spot.end} is marked both as {kind} and as "
                f"{spot.label}; wanted one of them"
            )


# Offsets in UTF-16 code units, as browsers and UIMA count, to code points and back.
#
# A character beyond U+FFFF is one code point and two units (a surrogate pair; The Unicode
# Standard, section 3.9, D91). Texts without one have the same offsets in both.

LAST_OF_ONE_UNIT = "\uffff"


class SplitPairError(ValueError):
    """An offset between the two halves of a surrogate pair."""


class Units:
    """UTF-16 offsets of one text."""

    __slots__ = ("_ends", "length", "wide")
    length: int
    """Of the text, in units."""
    wide: Sequence[int]
    """Code points at which a character of two units stands, ascending."""

    def __init__(self, text: str) -> None:
        self.wide = ()
        if not text.isascii() and max(text, default="") > LAST_OF_ONE_UNIT:
            self.wide = [i for i, character in enumerate(text) if character > LAST_OF_ONE_UNIT]
        # The offsets, in units, of the second half of each wide character.
        self._ends = [place + rank + 1 for rank, place in enumerate(self.wide)]
        self.length = len(text) + len(self.wide)

    def to_units(self, place: int) -> int:
        """A code point offset in units."""
        return place + bisect_left(self.wide, place) if self.wide else place

    def to_points(self, place: int) -> int:
        """An offset in units in code points; one past the end of the text stays past it.

        Raises SplitPairError for an offset inside a surrogate pair.
        """
        if not self.wide:
            return place
        rank = bisect_left(self._ends, place)
        if rank < len(self._ends) and self._ends[rank] == place:
            raise SplitPairError(f"offset {place} is inside a character of two units")
        return place - rank
