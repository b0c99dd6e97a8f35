"""Answers as other tools draw them: labelled spans, and labelled links between them.

A number is a span whose label is its kind (OTHER_NUMBER, OTHER_CODE, OTHER_MEASURE and
OTHER_NOUN with its sort), ANCHOR where nothing is said of it. Each mention of a head is a
span HEAD. Links go from the number to each mention: HEAD if a person marked it, ADDED if the
tool offered it, REMOVED if a person took it away. SAME goes from a further mention of a noun
to its first one; AND, OR or UNSTATED from one head's first mention to the next head's.

A project's own names are translated by a LabelMap. Read with tolerance where the meaning is
plain: links may be drawn the other way round; HEAD_AND and HEAD_OR are HEAD with a relation;
mentions of an only number need no link. Where no link says which mentions are one noun, those
of one lemma are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nfh_db.formats.grid import Grid, MarkError
from nfh_db.formats.options import IGNORE, LabelMap, Lemmatize, Span
from nfh_db.formats.wording import shown
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
)

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
"""What a number's label says of it."""

SPAN_LABELS = (*ANSWERS, HEAD)
LINK_LABELS = (*ORIGINS, SAME, *(relation.value for relation in Relation))


@dataclass(frozen=True, slots=True)
class Spot:
    """A labelled span: code points [start, end) of a text."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Link:
    """A labelled link from one spot to another, by their places in the list."""

    source: int
    target: int
    label: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Spots and the links between them. Of our making, the first spot is the number."""

    spots: tuple[Spot, ...]
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Marked:
    """What a graph says of one number, in code points.

    spot: the number's place in the graph. heads: for each the spans of its mentions, the first
    one marked; origins alike. told: links say which mentions are one noun.
    """

    spot: int
    anchor: Span
    kind: Kind | None
    sort: Sort | None
    mentions: tuple[tuple[Span, Origin], ...]
    groups: tuple[tuple[int, ...], ...]
    relation: Relation | None

    @property
    def told(self) -> bool:
        """Links say which mentions are one noun, or there is only one mention."""
        return bool(self.groups) or len(self.mentions) < 2


# --- out ------------------------------------------------------------------------------------


def label_of(answer: Answer | None) -> str:
    """The label of a number with this answer."""
    if answer is None:
        return ANCHOR
    return f"{answer.kind}_{answer.sort}" if answer.sort else answer.kind.value


def graph_of(
    answer: Answer | None, anchor: Anchor, starts: Sequence[int], ends: Sequence[int]
) -> Graph:
    """The graph of an answer; token i is code points [starts[i], ends[i])."""
    number = Spot(starts[anchor.start], ends[anchor.end - 1], label_of(answer))
    if answer is None or not answer.heads:
        return Graph((number,))
    spots, links = [number], []
    first_before: int | None = None
    for head in answer.heads:
        first = len(spots)
        for mention in head.mentions:
            here = len(spots)
            spots.append(Spot(starts[mention.start], ends[mention.end - 1], HEAD))
            links.append(Link(0, here, LINKS[mention.origin]))
            if here > first:
                links.append(Link(here, first, SAME))
        if first_before is not None and answer.relation is not None:
            links.append(Link(first_before, first, answer.relation.value))
        first_before = first
    return Graph(tuple(spots), tuple(links))


def renamed(graph: Graph, labels: LabelMap) -> Graph:
    """The graph with a project's own names, where it has some."""
    spans = {ours: theirs for theirs, ours in labels.labels.items()}
    links = {ours: theirs for theirs, ours in labels.relations.items()}
    if not spans and not links:
        return graph
    return Graph(
        tuple(Spot(s.start, s.end, spans.get(s.label, s.label)) for s in graph.spots),
        tuple(Link(k.source, k.target, links.get(k.label, k.label)) for k in graph.links),
    )


# --- in -------------------------------------------------------------------------------------


def translated(graph: Graph, labels: LabelMap) -> Graph:
    """The graph in our own names, without what is to be ignored, at the same places.

    A spot to be ignored keeps its place, with the label IGNORE. Raises MarkError for a name
    that means nothing here.
    """
    spots = [
        Spot(s.start, s.end, _ours(s.label, labels.labels, SPAN_LABELS, "label"))
        for s in graph.spots
    ]
    known = (*LINK_LABELS, *WITH_RELATION)
    links = [
        Link(k.source, k.target, _ours(k.label, labels.relations, known, "relation"))
        for k in graph.links
    ]
    kept = [
        k
        for k in links
        if IGNORE not in (k.label, spots[k.source].label, spots[k.target].label)
    ]
    return Graph(tuple(spots), tuple(kept))


def _ours(name: str, names: Mapping[str, str], known: Sequence[str], what: str) -> str:
    ours = names.get(name, name)
    if ours in known or ours == IGNORE:
        return ours
    raise MarkError(
        f"the {what} {shown(name)} is not known; wanted one of {', '.join(known)}, or a file "
        f"that says what it means (--map)"
    )


def numbers(graph: Graph) -> list[Marked]:
    """What a translated graph says of each number in it, in order of its spots.

    Raises MarkError where it contradicts itself.
    """
    places = [i for i, spot in enumerate(graph.spots) if spot.label in ANSWERS]
    heads = [i for i, spot in enumerate(graph.spots) if spot.label == HEAD]
    links = graph.links
    if len(places) == 1 and not links:
        links = tuple(Link(places[0], here, HEAD) for here in heads)
    linked = {end for link in links for end in (link.source, link.target)}
    loose = next((here for here in heads if here not in linked), None)
    if loose is not None:
        spot = graph.spots[loose]
        raise MarkError(
            f"the span {spot.start} to {spot.end}, {HEAD}, is linked to no number of "
            f"{len(places)}"
        )
    return [_number(graph.spots, links, place) for place in places]


def _number(spots: Sequence[Spot], links: Iterable[Link], place: int) -> Marked:
    origins: dict[int, Origin] = {}
    relations: set[Relation] = set()
    inner: list[tuple[int, int, str]] = []
    for link in links:
        if place in (link.source, link.target):
            other = link.target if link.source == place else link.source
            origins[other] = _origin(link.label, spots[other], relations)
        else:
            inner.append((link.source, link.target, link.label))
    mentions = sorted(origins)
    rank = {spot: index for index, spot in enumerate(mentions)}
    ours = [(rank[a], rank[b], label) for a, b, label in inner if a in rank and b in rank]
    told = bool(ours)
    relations |= {Relation(label) for _, _, label in ours if label in RELATIONS}
    if len(relations) > 1:
        raise MarkError(
            f"the heads of one number are joined by {' and '.join(sorted(relations))}"
        )
    kind, sort = ANSWERS[spots[place].label]
    return Marked(
        place,
        (spots[place].start, spots[place].end),
        kind,
        sort,
        tuple(((spots[i].start, spots[i].end), origins[i]) for i in mentions),
        _components(len(mentions), ours) if told else (),
        relations.pop() if relations else None,
    )


def _origin(label: str, spot: Spot, relations: set[Relation]) -> Origin:
    if label in WITH_RELATION:
        relations.add(WITH_RELATION[label])
        return Origin.MARKED
    if label not in ORIGINS or spot.label != HEAD:
        raise MarkError(
            f"a number is linked by {label} to the {spot.label} at {spot.start} to {spot.end}; "
            f"wanted {', '.join(ORIGINS)} to a {HEAD}"
        )
    return ORIGINS[label]


def _components(
    count: int, links: Iterable[tuple[int, int, str]]
) -> tuple[tuple[int, ...], ...]:
    """Mentions that SAME joins, each group in order, groups by their first mention."""
    owner = list(range(count))
    for one, two, label in links:
        if label == SAME:
            a, b = owner[one], owner[two]
            owner = [min(a, b) if group in (a, b) else group for group in owner]
    groups: dict[int, list[int]] = {}
    for mention, group in enumerate(owner):
        groups.setdefault(group, []).append(mention)
    return tuple(map(tuple, groups.values()))


def answer_of(
    marked: Marked,
    grid: Grid,
    lemmatize: Lemmatize,
    *,
    noun: str | None = None,
    comment: str = "",
) -> Answer | None:
    """The answer that was marked; None where nothing is said of the number.

    REFERENCE without a mention is NFH: is one, head not given. Raises MarkError, and
    AnswerError where it contradicts itself.
    """
    kind = marked.kind
    if not marked.mentions:
        kind = Kind.NFH if kind is Kind.REFERENCE else kind
        return None if kind is None else Answer(kind, (), None, marked.sort, noun, comment)
    if kind not in (None, Kind.REFERENCE):
        raise MarkError(
            f"{kind} has no head in the passage, but {len(marked.mentions)} are marked"
        )
    mentions = [
        Mention(first, stop, stop - 1, origin)
        for (first, stop), origin in (
            (grid.tokens(*span), origin) for span, origin in marked.mentions
        )
    ]
    groups = marked.groups or _by_lemma([grid.words[m.head] for m in mentions], lemmatize)
    heads = tuple(Head(_marked_first([mentions[i] for i in group])) for group in groups)
    relation = (marked.relation or Relation.UNSTATED) if len(heads) > 1 else None
    return Answer(Kind.REFERENCE, heads, relation, None, None, comment)


def _marked_first(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    return tuple(sorted(mentions, key=lambda m: m.origin is not Origin.MARKED))


def _by_lemma(words: Sequence[str], lemmatize: Lemmatize) -> tuple[tuple[int, ...], ...]:
    groups: dict[str, list[int]] = {}
    for index, lemma in enumerate(lemmatize(words)):
        groups.setdefault(lemma.casefold(), []).append(index)
    return tuple(map(tuple, groups.values()))
