"""Answers as other tools draw them: labelled spans, and labelled links between them.

A number is a span whose label is its kind (OTHER_NUMBER, OTHER_CODE, OTHER_MEASURE and
OTHER_NOUN with its sort), ANCHOR where nothing is said of it. Each mention of a head is a
span HEAD. Links go from the number to each mention: HEAD if a person marked it, ADDED if the
tool offered it, REMOVED if a person took it away. SAME goes from a further mention of a noun
to its first one; AND, OR or UNSTATED from one head's first mention to the next head's.

A project's own names are translated by a LabelMap. Read with tolerance where the meaning is
plain: links may be drawn the other way round; HEAD_AND and HEAD_OR are HEAD with a relation;
mentions of an only number need no link, and those that SAME or a relation joins to a mention
need none to the number. Where no link says which mentions are one noun, those of one lemma are.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nfh_db.errors import ExportError
from nfh_db.formats.grid import Grid, MarkError
from nfh_db.formats.joining import components
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
JOINTS = (SAME, *(relation.value for relation in Relation))
"""Labels of links between mentions."""
LINK_LABELS = (*ORIGINS, *JOINTS)


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

    spot: the number's place in the graph. mentions: by their places in it. groups: which of
    them, by rank, are of one noun; empty where no link tells.
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
    """The graph with a project's own names, where it has some.

    Raises ExportError for a name that would be read back as another one.
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
    if ours in known or (ours == IGNORE and name in names):
        return ours
    if name in names:
        raise MarkError(
            f"the {what} {shown(name)} is {shown(ours)} by the map, which is not known; wanted "
            f"one of {', '.join(known)}, or {IGNORE}"
        )
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
    web = _Web.of(graph.spots, links, places)
    found = [_number(web, place) for place in places]
    loose = next((here for here in heads if here not in web.reached), None)
    if loose is not None:
        spot = graph.spots[loose]
        raise MarkError(
            f"the span {spot.start} to {spot.end}, {HEAD}, is linked to no number of "
            f"{len(places)}"
        )
    for one, two, label in web.inner:
        if not web.reached[one] & web.reached[two]:
            raise MarkError(
                f"{label} joins heads of different numbers, the spans "
                f"{web.spots[one].start} to {web.spots[one].end} and "
                f"{web.spots[two].start} to {web.spots[two].end}"
            )
    return found


Joint = tuple[int, int, str]
"""A link between mentions: both places and the label."""


@dataclass(frozen=True, slots=True)
class _Web:
    """A graph by what its links join. near: of each number, its links to mentions, by their
    places. inner: links between mentions; joints: the same by mention. owned: mentions that
    some number is linked to. reached: numbers that each mention turned out to belong to.
    """

    spots: Sequence[Spot]
    near: Mapping[int, Sequence[tuple[int, str]]]
    inner: Sequence[Joint]
    joints: Mapping[int, Sequence[Joint]]
    owned: Collection[int]
    reached: dict[int, set[int]]

    @classmethod
    def of(cls, spots: Sequence[Spot], links: Iterable[Link], places: Iterable[int]) -> "_Web":
        """Raises MarkError for a link that joins mentions as only numbers are joined to one."""
        near: dict[int, list[tuple[int, str]]] = {place: [] for place in places}
        inner: list[Joint] = []
        joints: dict[int, list[Joint]] = {}
        for link in links:
            if link.source in near or link.target in near:
                number = link.source if link.source in near else link.target
                other = link.target if number == link.source else link.source
                near[number].append((other, link.label))
                continue
            if link.label not in JOINTS:
                one, two = spots[link.source], spots[link.target]
                raise MarkError(
                    f"{link.label} goes from the {one.label} at {one.start} to {one.end} to "
                    f"the {two.label} at {two.start} to {two.end}; wanted a number at one end"
                )
            joint = (link.source, link.target, link.label)
            inner.append(joint)
            for end in {link.source, link.target}:
                joints.setdefault(end, []).append(joint)
        owned = {other for ends in near.values() for other, _ in ends}
        return cls(spots, near, inner, joints, owned, {})


def _number(web: _Web, place: int) -> Marked:
    origins: dict[int, Origin] = {}
    relations: set[Relation] = set()
    for other, label in web.near[place]:
        origin = _origin(label, web.spots[other], relations)
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
    rank = {spot: index for index, spot in enumerate(mentions)}
    ours = [(rank[one], rank[two], label) for one, two, label in inner]
    relations |= {Relation(label) for _, _, label in ours if label in RELATIONS}
    if len(relations) > 1:
        raise MarkError(
            f"the heads of one number are joined by {' and '.join(sorted(relations))}"
        )
    kind, sort = ANSWERS[web.spots[place].label]
    return Marked(
        place,
        (web.spots[place].start, web.spots[place].end),
        kind,
        sort,
        tuple(((web.spots[i].start, web.spots[i].end), origins[i]) for i in mentions),
        components(len(mentions), [(a, b) for a, b, label in ours if label == SAME])
        if ours
        else (),
        relations.pop() if relations else None,
    )


def _joined(web: _Web, origins: dict[int, Origin]) -> list[Joint]:
    """Links between mentions of a number. Those that no number is linked to, but one of its
    mentions, are its too: they are added, as marked.
    """
    inner: dict[Joint, None] = {}
    waiting = list(origins)
    while waiting:
        here = waiting.pop()
        for joint in web.joints.get(here, ()):
            other = joint[1] if joint[0] == here else joint[0]
            if other not in origins and other not in web.owned:
                origins[other] = Origin.MARKED
                waiting.append(other)
            if other in origins:
                inner[joint] = None
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
    marked: Marked,
    grid: Grid,
    lemmatize: Lemmatize,
    *,
    noun: str | None = None,
    comment: str = "",
) -> Answer | None:
    """The answer that was marked; None where nothing is said of the number.

    REFERENCE without a mention is NFH: is one, head not given; NFH with mentions is REFERENCE.
    Raises MarkError, and AnswerError where it contradicts itself.
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
            (grid.tokens(*span), origin) for span, origin in marked.mentions
        )
    ]
    groups = marked.groups or _by_lemma([grid.words[m.head] for m in mentions], lemmatize)
    heads = tuple(Head(_marked_first([mentions[i] for i in group])) for group in groups)
    if marked.relation and len(heads) < 2:
        raise MarkError(f"{marked.relation} joins heads of a number that has only one")
    relation = (marked.relation or Relation.UNSTATED) if len(heads) > 1 else None
    return Answer(Kind.REFERENCE, heads, relation, None, None, comment)


def _marked_first(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """In their order, but that one goes first that is marked, or else was not taken away."""
    first = min(mentions, key=lambda m: (*Origin,).index(m.origin))
    return (first, *(m for m in mentions if m is not first))


def _by_lemma(words: Sequence[str], lemmatize: Lemmatize) -> tuple[tuple[int, ...], ...]:
    groups: dict[str, list[int]] = {}
    for index, lemma in enumerate(lemmatize(words)):
        groups.setdefault(lemma.casefold(), []).append(index)
    return tuple(map(tuple, groups.values()))
