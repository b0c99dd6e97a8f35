"""spaCy Docs read: numbers from span groups, or from the attributes of the component `nfh`.

Span groups say what is gold. What the component found is the answer of a model, whose name is
COMPONENT. A Doc counts in tokens; here offsets are code points of its text.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from nfh_db.formats.claims import Claim, outcome
from nfh_db.formats.dialog import block_of
from nfh_db.formats.grid import Based, MarkError, based
from nfh_db.formats.marked import (
    ANCHOR,
    HEAD,
    SAME,
    WITH_RELATION,
    Graph,
    Link,
    Spot,
    numbers,
    translated,
)
from nfh_db.formats.options import IGNORE, LabelMap, Reading, Span
from nfh_db.formats.rows import DialogBlock, GoldRow
from nfh_db.formats.stored import Restored, restored
from nfh_db.formats.wording import counted, shown, tallied, visible
from nfh_db.records import MODEL
from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Relation
from nfh_tui.formats.docbin_docs import Groups, Kept, kept_of
from nfh_tui.formats.docbin_limits import LONGEST_TEXT
from nfh_tui.formats.docbin_turns import check_shown, dialog, spoken

if TYPE_CHECKING:
    from spacy.tokens import Doc

COMPONENT = "spaCy component nfh"
ENTS = "ents"
"""The name by which a mapping means `doc.ents`, unless a span group is called so."""

JOINED = {relation: label for label, relation in WITH_RELATION.items()}


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a head. noun: which of its number's nouns it is; "" where none is told."""

    span: Span
    role: str
    noun: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a Doc with its mentions."""

    span: Span
    label: str
    relation: str
    heads: tuple[Mention, ...]


@dataclass(slots=True)
class Counts:
    """What was left out of the Docs, for the sentences at the end."""

    other: Counter[str] = field(default_factory=Counter)
    empty: int = 0
    unspaced: int = 0
    gone: int = 0
    ignored: int = 0
    changed: int = 0
    cut: int = 0

    def warnings(self) -> Iterator[str]:
        """One sentence on each that there was."""
        if self.other:
            groups = ", ".join(visible(name) for name in sorted(self.other)[:8])
            total = counted(sum(self.other.values()), "span")
            yield f"{total} of groups that say nothing of numbers left out: {groups}"
        said = (
            (self.empty, "Doc", "without a word left out"),
            (self.unspaced, "Doc", "where spaces are not known: one stands between words"),
            (self.gone, "number", "whose span was taken out: of those the gold is left out"),
            (self.ignored, "number", "left out, as the mapping says"),
            (self.changed, "gold", "changed since it was exported: what the spans show counts"),
            (self.cut, "token", "cut in two, where a mark begins or ends inside"),
        )
        yield from tallied(said)


class DocReader:
    """Makes rows of Docs, one after another. counts: of all so far. split: that the name of
    the file says, for Docs that did not come from here.
    """

    def __init__(self, how: Reading) -> None:
        self.counts = Counts()
        self.split: str | None = None
        self._how = how
        self._groups = Groups.of(how.labels)
        self._line = 0
        self._drawn = False

    def missing(self, labels: LabelMap) -> str | None:
        """Why a mapping does not fit: it names a group of numbers that no Doc has."""
        if self._drawn or "number" not in labels.layer:
            return None
        there = ", ".join(shown(name) for name in sorted(self.counts.other)[:8]) or "none"
        return (
            f'no Doc has the spans {shown(self._groups.number)} that [layer] number = "…" '
            f"names; spans that are there: {there}"
        )

    def rows(self, doc: "Doc") -> Iterator[GoldRow | DialogBlock]:
        """The rows of a Doc. Raises MarkError."""
        self._line += 1
        if not doc.text.strip():
            self.counts.empty += 1
            return
        self.counts.unspaced += doc.has_unknown_spaces
        groups = self._groups
        for name, count in spans_in(doc).items():
            if name not in (groups.number, groups.head, groups.turn):
                self.counts.other[name] += count
        kept = kept_of(doc)
        drawn = groups.number in spans_in(doc)
        self._drawn |= drawn
        found = _drawn(doc, groups) if drawn else _component(doc)
        if not found and kept is None:
            tokens, turns = spoken(doc, groups.turn)
            block = dialog(doc.text, self._line, tokens, turns) if turns else None
            block = block or block_of(doc.text, self._line)
            yield replace(block, split=self.split)
            return
        yield from self._ours(doc, found, kept) if kept else self._foreign(doc, found, drawn)

    # --- a Doc that came from here --------------------------------------------------------

    def _ours(self, doc: "Doc", found: Sequence[Number], kept: Kept) -> Iterator[GoldRow]:
        between = set(kept.between)
        offsets = [
            (token.idx, token.idx + len(token)) for token in doc if token.i not in between
        ]
        items = [restored(item, doc.text, offsets) for item in kept.items]
        if not items:
            raise MarkError("what went along with the Doc names no number")
        turns = items[0].passage.turns
        check_shown(doc, self._groups.turn, turns)
        made = based(doc.text, (), self._how, offsets, turns)
        by_anchor = {(one.anchor.start, one.anchor.end): one for one in items}
        for number in found:
            span = made.grid.tokens(*number.span)
            of_number = by_anchor.pop(span, None)
            row = self._row(number, made, of_number)
            if row is not None:
                yield row
        for rest in by_anchor.values():
            self.counts.gone += 1
            yield self._of(rest)

    def _of(self, kept: Restored) -> GoldRow:
        """A row of what goes along, without gold."""
        return GoldRow(
            self._line, kept.passage, kept.anchor, kept.split, None, kept.votes, kept.flags
        )

    # --- any Doc --------------------------------------------------------------------------

    def _foreign(self, doc: "Doc", found: Sequence[Number], drawn: bool) -> Iterator[GoldRow]:
        tokens, turns = spoken(doc, self._groups.turn)
        marks = [span for one in found for span in (one.span, *(h.span for h in one.heads))]
        made = based(doc.text, marks, self._how, tokens, turns)
        self.counts.cut += made.cut
        claim = Claim(None, gold=True) if drawn else Claim(COMPONENT, type=MODEL)
        for number in found:
            row = self._row(number, made, None, claim)
            if row is not None:
                yield row

    def _row(
        self,
        number: Number,
        made: Based,
        kept: Restored | None,
        claim: Claim = Claim(None, gold=True),  # noqa: B008 - it is frozen
    ) -> GoldRow | None:
        how, grid = self._how, made.grid
        exact = translated(_graph(number), how.labels)
        if exact.spots[0].label == IGNORE:
            self.counts.ignored += 1
            return None
        marked = numbers(translated(_tolerant(number, how), how.labels))[0]
        found = outcome(claim, marked, exact, grid, how, kept)
        self.counts.changed += found.changed
        if kept is not None:
            return replace(self._of(kept), gold=found.gold)
        first, stop = grid.tokens(*number.span)
        return GoldRow(
            self._line,
            grid.passage,
            Anchor(first, stop),
            self.split,
            found.gold,
            found.votes,
            (),
            tokenizer=made.tokenizer,
        )


# --- span groups ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shown:
    """A span of a group as plain values."""

    span: Span
    text: str
    label: str
    id: str
    kb_id: str


def spans_in(doc: "Doc") -> dict[str, int]:
    """How many spans each group of a Doc has; ENTS is its entities, if it has any."""
    found = {name: len(spans) for name, spans in doc.spans.items()}
    return found if ENTS in found or not doc.ents else {**found, ENTS: len(doc.ents)}


def _group(doc: "Doc", name: str) -> list[_Shown]:
    """The spans of a group. Raises MarkError for one that the file has no strings for."""
    spans = doc.ents if name == ENTS and ENTS not in doc.spans else doc.spans.get(name, ())
    try:
        if (length := sum(one.end_char - one.start_char for one in spans)) > LONGEST_TEXT:
            raise MarkError(
                f'doc.spans["{visible(name)}"] has {length:,} characters in all; '
                f"wanted at most {LONGEST_TEXT:,}"
            )
        return [
            _Shown((one.start_char, one.end_char), one.text, one.label_, one.id_, one.kb_id_)
            for one in spans
        ]
    except (KeyError, IndexError, ValueError) as error:
        said = visible(str(error), 120)
        raise MarkError(f'doc.spans["{visible(name)}"] does not hold: {said}') from error


def _drawn(doc: "Doc", groups: Groups) -> list[Number]:
    """The numbers that span groups show."""
    spans = _group(doc, groups.number)
    heads: dict[int, list[Mention]] = {}
    for head in _group(doc, groups.head):
        rank, _, noun = head.id.rpartition(":")
        known = [place for place, one in enumerate(spans) if rank and one.id == rank]
        if not known and len(spans) == 1:
            known, noun = [0], ""
        if len(known) != 1:
            start, end = head.span
            raise MarkError(
                f"the mention at {start} to {end}, {shown(head.text)}, in "
                f'doc.spans["{groups.head}"] belongs to {len(known)} of {len(spans)} numbers; '
                'wanted the id "NUMBER:NOUN", where NUMBER is the id of one number\'s span'
            )
        heads.setdefault(known[0], []).append(Mention(head.span, head.label or HEAD, noun))
    found = [
        Number(one.span, one.label or ANCHOR, one.kb_id, tuple(heads.get(place, ())))
        for place, one in enumerate(spans)
    ]
    return _once(found)


def _once(found: Sequence[Number]) -> list[Number]:
    """Each number once, by place. Raises MarkError for two that say something else."""
    by_span: dict[Span, Number] = {}
    for number in found:
        if by_span.setdefault(number.span, number) != number:
            start, end = number.span
            raise MarkError(f"two numbers at {start} to {end} say different things; wanted one")
    return sorted(by_span.values(), key=lambda one: one.span)


def _graph(number: Number) -> Graph:
    """The graph that is drawn."""
    links = [Link(0, at, head.role) for at, head in enumerate(number.heads, 1)]
    firsts: dict[str, int] = {}
    for at, head in enumerate(number.heads, 1):
        first = firsts.setdefault(head.noun or f" {at}", at)
        if first != at:
            links.append(Link(at, first, SAME))
    if number.relation:
        links += [Link(one, two, number.relation) for one, two in pairwise(firsts.values())]
    return Graph(_spots(number), tuple(links))


def _tolerant(number: Number, how: Reading) -> Graph:
    """The graph that is meant where no id says which mentions are one noun."""
    if all(head.noun for head in number.heads):
        return _graph(number)
    relation = how.labels.relations.get(number.relation, number.relation)
    roles = [head.role for head in number.heads]
    if relation in JOINED and HEAD in roles:
        roles[roles.index(HEAD)] = JOINED[Relation(relation)]
    return Graph(_spots(number), tuple(Link(0, at, role) for at, role in enumerate(roles, 1)))


def _spots(number: Number) -> tuple[Spot, ...]:
    return (
        Spot(*number.span, number.label),
        *(Spot(*head.span, HEAD) for head in number.heads),
    )


# --- what the component found ---------------------------------------------------------------


def _component(doc: "Doc") -> list[Number]:
    """The fused heads that the component `nfh` left in a Doc's user_data."""
    from nfh_models.component.attributes import HEADS_AT, IS_NFH, MARK

    data = cast("Mapping[object, object]", doc.user_data)
    found = []
    for key, value in data.items():
        if not (isinstance(key, tuple) and len(key) == 4 and key[:2] == (MARK, IS_NFH)):
            continue
        start, end = key[2:]
        if not value or type(start) is not int or type(end) is not int:
            continue
        heads = data.get((MARK, HEADS_AT, start, end)) or ()
        relation = data.get((MARK, "nfh_relation", start, end)) or ""
        found.append(_found(doc, (start, end), heads, str(relation)))
    return sorted(found, key=lambda one: one.span)


def _found(doc: "Doc", span: Span, heads: object, relation: str) -> Number:
    known = heads if isinstance(heads, list | tuple) else ()
    classes = [one for one in known if isinstance(one, str)]
    places = [one for one in known if type(one) is int]
    if classes and classes[0] not in IMPLICIT_KINDS:
        raise MarkError(f"the component's head {shown(classes[0])} is no class")
    if classes and not places:
        return Number(span, classes[0], "", ())
    mentions = []
    for distance in places:
        word = doc.char_span(
            span[0] + distance, span[0] + distance + 1, alignment_mode="expand"
        )
        if word is None:
            raise MarkError(
                f"a head of the component stands {distance} from {span[0]}: no word"
            )
        mentions.append(Mention((word.start_char, word.end_char), HEAD, ""))
    label = Kind.REFERENCE if mentions else Kind.NFH
    return Number(span, label, relation if len(mentions) > 1 else "", tuple(mentions))
