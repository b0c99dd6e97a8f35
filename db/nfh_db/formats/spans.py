"""Answers as other tools draw them: labelled spans and links between them, aligned with
tokens, with offsets in code points or UTF-16 units.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nfh_db.errors import ExportError
from nfh_db.formats.dialog import split_speaker
from nfh_db.formats.fields import NO_HALVES, turns_fit, unpaired_surrogate
from nfh_db.formats.rows import IGNORE, LabelMap, Lemmatize, RawPassage, ReadOptions, Span
from nfh_db.messages import shown
from nfh_models.domain import Anchor, Answer, Head, Kind, Mention, Origin, Relation, Sort, Turn


class MarkError(ValueError):
    """Marks of a file that mean nothing here, or contradict each other. A sentence's end."""


class Grid:
    """The tokens of a passage, by the characters where they begin and end."""

    __slots__ = ("_at", "_until", "passage")

    def __init__(self, passage: RawPassage) -> None:
        self.passage = passage
        self._at = {start: index for index, start in enumerate(passage.starts)}
        self._until = {end: index + 1 for index, end in enumerate(passage.ends)}

    @property
    def words(self) -> Sequence[str]:
        """The words of the tokens."""
        return self.passage.words

    def tokens(self, start: int, end: int) -> Span:
        """The tokens [first, stop) of code points [start, end); white space around them may
        be in the span. Raises MarkError where the span is none of whole tokens.
        """
        text = self.passage.text
        if not 0 <= start < end <= len(text):
            raise MarkError(
                f"the span {start} to {end} is outside a text of {len(text)} characters"
            )
        first, stop = self._at.get(start), self._until.get(end)
        if first is not None and stop is not None:
            return first, stop
        inner = without_space(text, start, end)
        if inner is None:
            raise MarkError(f"the span {start} to {end} holds nothing but white space")
        if inner != (start, end):
            return self.tokens(*inner)
        words = shown(text[start:end])
        raise MarkError(f"the span {start} to {end}, {words}, cuts through a token")


def without_space(text: str, start: int, end: int) -> Span | None:
    """A span of `text` without white space at its ends; None if it holds nothing else."""
    words = text[start:end]
    behind = words.lstrip()
    if not behind:
        return None
    return end - len(behind), start + len(words.rstrip())


def checked(text: str, span: Span, surface: str) -> None:
    """Raise MarkError unless `surface` is what stands at a span of `text`."""
    start, end = span
    if not 0 <= start < end <= len(text):
        raise MarkError(
            f"the span {start} to {end} is outside a text of {len(text)} characters; "
            f"expected {shown(surface)} there"
        )
    if text[start:end] != surface:
        raise MarkError(
            f"at {start} to {end}: expected {shown(surface)}, found {shown(text[start:end])}"
        )


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text ready for its marks. tokenizer: what made the tokens; None if they came with it.

    cut: how many tokens were cut in two, since a mark begins or ends inside them.
    """

    grid: Grid
    tokenizer: str | None
    cut: int


def based(
    text: str,
    marks: Iterable[Span],
    how: ReadOptions,
    tokens: Sequence[Span] | None = None,
    turns: Sequence[Turn] | None = None,
) -> TokenizedText:
    """A text with tokens on whose bounds all `marks` (code points) lie.

    tokens: those that came with the text; without them `how` makes some. turns: as they came;
    without them each line is one, which may name its speaker as a dialog's lines do. Raises
    MarkError where a mark is outside the text, tokens or turns do not fit it, or no word is
    in it.
    """
    marks = list(marks)
    _check(text, marks, tokens, turns)
    marks = _tight(text, marks, tokens or ())
    lines = _lines(text, marks) if tokens is None or turns is None else []
    made = tokens is None
    spans = _made(text, lines, how) if tokens is None else list(tokens)
    cut = _cut(spans, marks)
    if not cut:
        raise MarkError("the text holds no word")
    starts, ends = [start for start, _ in cut], [end for _, end in cut]
    words = [text[start:end] for start, end in cut]
    if turns is None:
        turns = _turns(starts, lines)
    elif len(cut) > len(spans):
        turns = _moved(turns, [start for start, _ in spans], starts)
    raw = RawPassage(text, words, starts, ends, tuple(turns))
    return TokenizedText(Grid(raw), how.tokenizer() if made else None, len(cut) - len(spans))


def _check(
    text: str,
    marks: Iterable[Span],
    tokens: Sequence[Span] | None,
    turns: Sequence[Turn] | None,
) -> None:
    if unpaired_surrogate(text):
        raise MarkError(f"the text holds half a surrogate pair; wanted {NO_HALVES}")
    for start, end in marks:
        if not 0 <= start < end <= len(text):
            raise MarkError(
                f"the span {start} to {end} is outside a text of {len(text)} characters"
            )
    if tokens is None:
        return
    last = 0
    for rank, (start, end) in enumerate(tokens):
        if not last <= start < end <= len(text):
            raise MarkError(
                f"token {rank} is said to stand at {start} to {end}; wanted one character or "
                f"more between {last} and {len(text)}, the end of the text"
            )
        last = end
    if turns is not None and not turns_fit(turns, tokens):
        raise MarkError(
            f"the turns do not fit: wanted each of the {len(tokens)} tokens in one of them, in "
            "order, and numbers that never fall"
        )


def _tight(text: str, marks: Iterable[Span], tokens: Sequence[Span]) -> list[Span]:
    """Marks without white space at their ends, but where a token has it, too."""
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
    start: int
    words: int
    end: int


def _lines(text: str, marks: Sequence[Span]) -> list[_Line]:
    """The lines of a text: where each starts, where its words do, and where it ends."""
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
            speaker, begin = None, 0  # What is marked is part of what is said.
        lines.append(_Line(speaker, place, place + begin, end))
        place = end + 1
    return lines


def _made(text: str, lines: Sequence[_Line], how: ReadOptions) -> list[Span]:
    return [
        (line.words + start, line.words + end)
        for line in lines
        for start, end in how.tokenize(text[line.words : line.end])
    ]


def _cut(tokens: Sequence[Span], marks: Iterable[Span]) -> list[Span]:
    """The tokens, cut where a mark begins or ends inside one."""
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
    """The turns of tokens that start there: a line each, those without a token left out."""
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
    """Turns of tokens that started at `old`, now that some were cut in two."""
    rank = {start: index for index, start in enumerate(new)}
    places = [*(rank[start] for start in old), len(new)]
    return [replace(t, start=places[t.start], end=places[t.end]) for t in turns]


def components(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Places 0 to count - 1 in groups of those that pairs join, directly or over others.

    Each group is in order; groups go by their first place.
    """
    owner = list(range(count))

    def root(place: int) -> int:
        while owner[place] != place:
            owner[place] = owner[owner[place]]
            place = owner[place]
        return place

    for pair in pairs:
        one, two = map(root, pair)
        owner[max(one, two)] = min(one, two)
    groups: dict[int, list[int]] = {}
    for place in range(count):
        groups.setdefault(root(place), []).append(place)
    return tuple(map(tuple, groups.values()))


# Answers as other tools draw them: labelled spans, and labelled links between them.
#
# A number is a span whose label is its kind (OTHER_NUMBER, OTHER_CODE, OTHER_MEASURE and
# OTHER_NOUN with its sort), ANCHOR where nothing is said of it. Each mention of a head is a
# span HEAD. Links go from the number to each mention: HEAD if a person marked it, ADDED if the
# tool offered it, REMOVED if a person took it away. SAME goes from a further mention of a noun
# to its first one; AND, OR or UNSTATED from one head's first mention to the next head's.
#
# A project's own names are translated by a LabelMap. Read with tolerance where the meaning is
# plain: links may be drawn the other way round; HEAD_AND and HEAD_OR are HEAD with a relation;
# mentions of an only number need no link, and those that SAME or a relation joins to a mention
# need none to the number. Where no link says which mentions are one noun, those of one lemma
# are.

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


def part(graph: Graph, places: Collection[int]) -> Graph:
    """The spots at those places, in their order, with the links between them."""
    kept = sorted(places)
    rank = {place: index for index, place in enumerate(kept)}
    return Graph(
        tuple(graph.spots[place] for place in kept),
        tuple(
            Link(rank[link.source], rank[link.target], link.label)
            for link in graph.links
            if link.source in rank and link.target in rank
        ),
    )


def alone(graph: Graph, number: int) -> Graph:
    """The part of a translated graph that is about the number at that place: itself, what it
    is linked to, and the links between those. A graph of one number is its own part. Spots to
    be ignored are left out.
    """
    if sum(spot.label in ANSWERS for spot in graph.spots) == 1:
        kept = {i for i, spot in enumerate(graph.spots) if spot.label != IGNORE}
        return graph if len(kept) == len(graph.spots) else part(graph, kept)
    near: dict[int, set[int]] = {}
    for link in graph.links:
        near.setdefault(link.source, set()).add(link.target)
        near.setdefault(link.target, set()).add(link.source)
    ours, waiting = {number}, [number]
    others = {i for i, s in enumerate(graph.spots) if s.label in ANSWERS} - ours
    while waiting:
        here = waiting.pop()
        for place in near.get(here, set()) - ours - others:
            # What only a mention leads to is another number's, if that is linked to it.
            if here == number or not near[place] & others:
                ours.add(place)
                waiting.append(place)
    return part(graph, ours)


def check_kinds(graph: Graph) -> None:
    """Raise MarkError where somebody marks one number as two kinds."""
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


# Offsets in UTF-16 code units, as browsers and UIMA count, to code points and back, exactly.
#
# A character beyond U+FFFF is one code point and two units (a surrogate pair; The Unicode
# Standard, section 3.9, D91). Texts without one have the same offsets in both.

LAST_OF_ONE_UNIT = "\uffff"


class SplitPairError(ValueError):
    """An offset that stands between the two halves of one character."""


class Units:
    """The offsets of one text. wide: code points at which a character of two units stands."""

    __slots__ = ("_ends", "length", "wide")

    def __init__(self, text: str) -> None:
        self.wide: Sequence[int] = ()
        if not text.isascii() and max(text, default="") > LAST_OF_ONE_UNIT:
            self.wide = [i for i, character in enumerate(text) if character > LAST_OF_ONE_UNIT]
        # In units, where the second half of each wide character begins.
        self._ends = [place + rank + 1 for rank, place in enumerate(self.wide)]
        self.length = len(text) + len(self.wide)

    def to_units(self, place: int) -> int:
        """The offset in units of a code point offset."""
        return place + bisect_left(self.wide, place) if self.wide else place

    def to_points(self, place: int) -> int:
        """The code point offset of an offset in units.

        Raises SplitPairError if it stands inside a character; offsets past the end stay so.
        """
        if not self.wide:
            return place
        rank = bisect_left(self._ends, place)
        if rank < len(self._ends) and self._ends[rank] == place:
            raise SplitPairError(f"offset {place} stands inside a character of two units")
        return place - rank
