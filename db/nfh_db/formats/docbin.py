"""Format of spaCy's DocBin: passages as Docs with numbers and mentions as span groups, and
such Docs read, one .spacy file or a folder of several.

A .spacy file is msgpack packed by zlib (https://spacy.io/api/docbin); it is held in memory
while it is read or written, so a large set is a folder of files of PART passages each.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

import msgspec

from nfh_db.errors import ExportError
from nfh_db.formats.annotation_tasks import Claim, outcome
from nfh_db.formats.base import First, Format, How, InputKind, holds
from nfh_db.formats.dialog import block_of
from nfh_db.formats.files import (
    CHUNK,
    LINE_LIMIT,
    OBJECTS,
    TOKENS,
    Binary,
    FileOrigin,
    Folder,
    LimitError,
    check_rows,
    held_limit,
    split_of_name,
)
from nfh_db.formats.rows import (
    IGNORE,
    DialogBlock,
    DialogTurn,
    GoldRow,
    LabelMap,
    ReadOptions,
    Row,
    Span,
    Writing,
)
from nfh_db.formats.spans import (
    ANCHOR,
    HEAD,
    SAME,
    WITH_RELATION,
    Graph,
    Link,
    MarkError,
    Spot,
    TokenizedText,
    based,
    graph_of,
    numbers,
    renamed,
    translated,
)
from nfh_db.formats.stored_annotation import KEY, Restored, StoredItem, restored, stored
from nfh_db.messages import counted, shown, tallied, visible
from nfh_db.records import MODEL, ExportRecord
from nfh_models.domain import IMPLICIT_KINDS, Anchor, Answer, Kind, Passage, Relation, Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Span as DocSpan
    from spacy.vocab import Vocab

    from nfh_models.spacy_component.attributes import FusedHead


# Passages as spaCy Docs: numbers and mentions as span groups, the rest in user_data.
#
# doc.spans["nfh"] has the numbers: label is the kind (ANCHOR where nothing is said), id the
# rank of the number, kb_id the relation between its heads. doc.spans["nfh_heads"] has the
# mentions: label HEAD, ADDED or REMOVED, id "NUMBER:NOUN", so that mentions of one noun have
# one id. doc.spans["nfh_turns"] has the turns, labelled by speaker. doc.user_data["nfh"] is
# JSON of all that is known besides. Offsets are tokens; what stands between the passage's
# tokens and is more than one space is a token of its own (https://spacy.io/api/docbin,
# /api/spangroup).

RULE = "gold"
"""What the component's attribute nfh_rule says of numbers with gold."""


class DocExtras(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag="nfh-doc/1"
):
    """What goes along with a Doc. between: tokens that are none of the passage's."""

    between: tuple[int, ...]
    items: tuple[StoredItem, ...]


_kept = msgspec.json.Decoder(DocExtras)


def kept_of(doc: "Doc") -> DocExtras | None:
    """What went along with a Doc; None where it is another's. Raises MarkError."""
    value = doc.user_data.get(KEY)
    if value is None:
        return None
    if not isinstance(value, str):
        raise MarkError(f'user_data["{KEY}"]: found {shown(str(value))}, wanted our JSON')
    try:
        return _kept.decode(value)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise MarkError(f'user_data["{KEY}"]: {error}') from error


@dataclass(frozen=True, slots=True)
class SpanGroupNames:
    """The names of the span groups, ours or a project's own."""

    number: str = "nfh"
    head: str = "nfh_heads"
    turn: str = "nfh_turns"

    @classmethod
    def of(cls, labels: LabelMap) -> "SpanGroupNames":
        """With a project's own names. Raises MarkError for a name of nothing known here."""
        known = ("number", "head", "turn")
        for ours in labels.layer:
            if ours not in known:
                raise MarkError(
                    f"the mapping's table [layer] holds {shown(ours)}; wanted one of "
                    f"{', '.join(known)}, each with the name of a span group"
                )
        return cls(**dict(labels.layer))


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A text cut into a Doc's tokens. place: of each of the passage's tokens among them."""

    words: list[str]
    spaces: list[bool]
    place: list[int]
    between: list[int]


def _pieces(passage: Passage) -> _Pieces:
    found = _Pieces([], [], [], [])
    at = 0
    for token in passage.tokens:
        _fill(found, passage.text[at : token.start])
        found.place.append(len(found.words))
        found.words.append(passage.text[token.start : token.end])
        found.spaces.append(False)
        at = token.end
    _fill(found, passage.text[at:])
    return found


def _fill(found: _Pieces, gap: str) -> None:
    """Add what stands between two tokens: a space is the first one's, as spaCy has it."""
    if gap.startswith(" ") and found.words:
        found.spaces[-1] = True
        gap = gap[1:]
    line, _, rest = gap.rpartition("\n")
    if rest.strip() and len(rest) < len(gap):
        _add(found, f"{line}\n")
        gap = rest
    if gap:
        _add(found, gap)


def _add(found: _Pieces, gap: str) -> None:
    """Add a token that is none of the passage's."""
    space = gap.endswith(" ") and not gap.isspace()
    found.between.append(len(found.words))
    found.words.append(gap[:-1] if space else gap)
    found.spaces.append(space)


def _first(pieces: _Pieces, place: int) -> int:
    """Where a turn begins whose first token stands there: with the name of who speaks."""
    between = set(pieces.between)
    while place - 1 in between and not pieces.words[place - 1].isspace():
        place -= 1
    return place


def doc_of(
    records: Sequence[ExportRecord], vocab: "Vocab", groups: SpanGroupNames, labels: LabelMap
) -> "Doc":
    """The Doc of a passage with all its numbers."""
    from spacy.tokens import Doc

    from nfh_models.spacy_component.attributes import store

    passage = records[0].passage
    pieces = _pieces(passage)
    firsts = {_first(pieces, pieces.place[turn.start]) for turn in passage.turns}
    doc = Doc(
        vocab,
        words=pieces.words,
        spaces=pieces.spaces,
        sent_starts=[at in firsts or at == 0 for at in range(len(pieces.words))],
    )
    if doc.text != passage.text:
        raise ExportError(
            f"the passage of {records[0].public_id} cannot be made of spaCy's tokens"
        )
    _draw(doc, records, pieces.place, groups, labels)
    store(doc, [one for record in records if (one := _attributes(record, pieces.place))])
    kept = DocExtras(
        tuple(pieces.between), tuple(stored(one, offsets=False) for one in records)
    )
    doc.user_data[KEY] = msgspec.json.encode(kept).decode()
    return doc


def _draw(
    doc: "Doc",
    records: Sequence[ExportRecord],
    place: Sequence[int],
    groups: SpanGroupNames,
    labels: LabelMap,
) -> None:
    """Put the span groups on a Doc."""
    from spacy.tokens import Span

    passage = records[0].passage
    starts = list(range(len(passage.tokens)))
    ends = [start + 1 for start in starts]
    numbers, heads = [], []

    def span(first: int, stop: int, label: str, id_: str, kb_id: str = "") -> Span:
        return Span(
            doc, place[first], place[stop - 1] + 1, label=label, span_id=id_, kb_id=kb_id
        )

    for rank, record in enumerate(records):
        answer = record.gold.answer if record.gold else None
        graph = graph_of(answer, record.anchor, starts, ends)
        named = renamed(graph, labels)
        role = {
            link.target: name.label
            for link, name in zip(graph.links, named.links, strict=True)
            if not link.source
        }
        noun = {k.source: k.target for k in graph.links if k.label == SAME}
        relation = next(
            (
                n.label
                for k, n in zip(graph.links, named.links, strict=True)
                if k.source and k.label != SAME
            ),
            "",
        )
        first = named.spots[0]
        numbers.append(span(first.start, first.end, first.label, str(rank), relation))
        nouns: dict[int, int] = {}
        for at, spot in enumerate(named.spots[1:], 1):
            own = nouns.setdefault(noun.get(at, at), len(nouns))
            heads.append(span(spot.start, spot.end, role[at], f"{rank}:{own}"))
    doc.spans[groups.number] = numbers
    doc.spans[groups.head] = heads
    doc.spans[groups.turn] = [
        span(turn.start, turn.end, turn.speaker or "", str(turn.number))
        for turn in passage.turns
    ]


def _attributes(record: ExportRecord, place: Sequence[int]) -> "FusedHead | None":
    """What the spaCy component would say of a number with this gold; None for no NFH."""
    from nfh_models.spacy_component.attributes import FusedHead

    if record.gold is None or not record.gold.answer.kind.identification:
        return None
    answer = record.gold.answer
    return FusedHead(
        place[record.anchor.start],
        place[record.anchor.end - 1] + 1,
        RULE,
        _heads(answer, place),
        relation=None if answer.relation is Relation.UNSTATED else answer.relation,
    )


def _heads(answer: Answer, place: Sequence[int]) -> tuple[int | str, ...]:
    if answer.kind in IMPLICIT_KINDS:
        return (answer.kind.value,)
    return tuple(place[head.mentions[0].head] for head in answer.heads)


# What a DocBin would become, counted before spaCy makes it.
#
# A .spacy file is msgpack packed by zlib. 60 KB of it can say 60 million empty lists, or as
# many Docs without a word, or one word of a megabyte a million times.

UNPACKED = 1024 * 1024 * 1024
"""Bytes of a file once unpacked: 40 million tokens with three attributes."""

DOCS = 100_000
"""Docs of one file; an export writes half as many at most."""

LONGEST_TEXT = LINE_LIMIT
"""Characters of a Doc's text, or of all texts of a span group: as many as a line has."""

HARMLESS = 32 * 1024
"""Bytes of msgpack that are not counted. Lists in lists may each claim as many items as there
are bytes, 512 deep, and msgpack makes room for all: 8 * 512 * 32 KB are 134 MB.
"""


class _File(msgspec.Struct):
    """What is read before spaCy reads a file. lengths: tokens of each Doc, in 32 bits."""

    lengths: bytes


def check_file(content: bytes) -> None:
    """Raise LimitError for a .spacy file that would become too much, or that is none."""
    import numpy as np

    unpacked = _unpacked(content)
    check_objects(unpacked)
    try:
        lengths = np.frombuffer(msgspec.msgpack.decode(unpacked, type=_File).lengths, "<i4")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise LimitError(f"cannot be read as a DocBin of spaCy: {error}") from error
    if len(lengths) > DOCS:
        raise LimitError(f"has {len(lengths):,} Docs; wanted at most {DOCS:,}: split it")
    if len(lengths) and lengths.min() < 0:
        raise LimitError("cannot be read as a DocBin of spaCy: a Doc has less than no tokens")
    if len(lengths) and lengths.max() > TOKENS:
        raise LimitError(
            f"Doc {int(lengths.argmax()) + 1:,} has {lengths.max():,} tokens; wanted at most "
            f"{TOKENS:,}: split it"
        )


def _unpacked(content: bytes) -> bytes:
    """The msgpack. Raises LimitError for what zlib did not pack, or packed too much in."""
    limit = held_limit(len(content), UNPACKED)
    unpacking = zlib.decompressobj()
    size, left = 0, content
    try:
        while left and size <= limit:
            size += len(unpacking.decompress(left, CHUNK))
            left = unpacking.unconsumed_tail
        if size > limit:
            raise LimitError(
                f"has more than {limit:,} bytes packed in {len(content):,}; wanted no more: "
                "split it"
            )
        if not unpacking.eof:
            raise LimitError("is no whole DocBin of spaCy: it ends too early")
        return zlib.decompress(content, bufsize=max(size, 1))
    except zlib.error as error:
        raise LimitError(f"is no DocBin of spaCy: {error}") from error


def check_parts(parts: Iterable[bytes | None]) -> None:
    """Raise LimitError for a part of a Doc, msgpack by itself, with too many values."""
    for part in parts:
        if isinstance(part, bytes) and len(part) > HARMLESS:
            check_objects(part)


def check_text(doc: "Doc") -> int:
    """How many characters a Doc has. Raises LimitError for more than a text may have."""
    length = int(doc.to_array("LENGTH").sum()) + len(doc)
    if length > LONGEST_TEXT:
        raise LimitError(
            f"has {length:,} characters; wanted at most {LONGEST_TEXT:,}: split it"
        )
    return length


# --- msgpack --------------------------------------------------------------------------------

_SIZED = {
    0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0),
    0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1),
    0xD9: (1, 0), 0xDA: (2, 0), 0xDB: (4, 0),
}  # fmt: skip
"""Bytes, extensions and strings: bytes of their length, and bytes beyond what it says."""

_PLAIN = {
    0xC0: 0, 0xC1: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8,
    0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17,
}  # fmt: skip
"""Values of one size: the bytes behind the first."""

_NESTED = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""Lists and maps: bytes of their length, and values of each of their items."""


def check_objects(content: bytes) -> None:
    """Raise LimitError for msgpack that says it has more values than OBJECTS.

    Counted is what lists and maps claim to hold, before any of it is looked at. What is cut
    short is left to the reader.
    """
    at, left, claimed = 0, 1, 1
    while left and at < len(content):
        first = content[at]
        at += 1
        left -= 1
        items = 0
        if 0x80 <= first < 0xA0:
            items = (first & 15) * (1 if first >= 0x90 else 2)
        elif 0xA0 <= first < 0xC0:
            at += first & 31
        elif first in _SIZED:
            width, more = _SIZED[first]
            at += int.from_bytes(content[at : at + width], "big") + width + more
        elif first in _PLAIN:
            at += _PLAIN[first]
        elif first in _NESTED:
            width, each = _NESTED[first]
            items = int.from_bytes(content[at : at + width], "big") * each
            at += width
        left += items
        claimed += items
        if claimed > OBJECTS:
            raise LimitError(
                f"has {claimed:,} values or more; wanted at most {OBJECTS:,}: split it"
            )


# Turns of spaCy Docs: the spans of a group, labelled by who speaks.
#
# What stands in no turn, the name of a speaker before it say, is text and no token of the
# passage. A span's id is the turn's number where it is one, else its rank counts.

DIGITS = 9
"""Digits that the number of a turn may have."""


def spoken(doc: "Doc", group: str) -> tuple[list[Span], list[Turn] | None]:
    """The tokens of a Doc, code points, and its turns; None where the group is not there.

    White space is no token. Raises MarkError for turns that overlap.
    """
    tokens = [token for token in doc if not token.text.isspace()]
    if not doc.spans.get(group):
        return [(token.idx, token.idx + len(token)) for token in tokens], None
    found: list[Span] = []
    turns: list[Turn] = []
    end = 0
    for rank, span in enumerate(sorted(doc.spans[group], key=lambda one: one.start)):
        if span.start < end:
            raise MarkError(
                f"the turn at {span.start_char} to {span.end_char} overlaps the one before; "
                "wanted each word in one turn"
            )
        end = span.end
        first = len(found)
        found += [
            (token.idx, token.idx + len(token)) for token in span if not token.text.isspace()
        ]
        if len(found) > first:
            label, id_ = _names(span)
            turns.append(Turn(_number(id_, rank), label or None, first, len(found)))
    return found, turns


def _names(span: "DocSpan") -> tuple[str, str]:
    """The label and id of a span. Raises MarkError if the file has no strings for them."""
    try:
        return span.label_, span.id_
    except (KeyError, IndexError, ValueError) as error:
        raise MarkError(f"the names of a turn do not hold: {shown(str(error))}") from error


def _number(id_: str, rank: int) -> int:
    return int(id_) if id_.isascii() and id_.isdigit() and len(id_) <= DIGITS else rank


def check_shown(doc: "Doc", group: str, turns: Sequence[Turn]) -> None:
    """Raise MarkError where a Doc that came from here shows another speaker of a turn."""
    labels = [_names(span)[0] for span in doc.spans.get(group, ())]
    wanted = [turn.speaker or "" for turn in turns]
    if labels and labels != wanted:
        raise MarkError(
            f'doc.spans["{group}"]: found the speakers {shown(labels)}, expected '
            f"{shown(wanted)}: they were changed since the export"
        )


def dialog(text: str, line: int, tokens: Sequence[Span], turns: Sequence[Turn]) -> DialogBlock:
    """A Doc without a number as a dialog of its turns."""
    return DialogBlock(
        text,
        tuple(
            DialogTurn(
                line, turn.number, turn.speaker, tokens[turn.start][0], tokens[turn.end - 1][1]
            )
            for turn in turns
        ),
    )


# spaCy Docs read: numbers from span groups, or from the attributes of the component `nfh`.
#
# Span groups say what is gold. What the component found is the answer of a model, whose name
# is COMPONENT. A Doc counts in tokens; here offsets are code points of its text.

COMPONENT = "spaCy component nfh"
ENTS = "ents"
"""The name by which a mapping means `doc.ents`, unless a span group is called so."""

JOINED = {relation: label for label, relation in WITH_RELATION.items()}


@dataclass(frozen=True, slots=True)
class SpanMention:
    """A span of a head. noun: which of its number's nouns it is; "" where none is told."""

    span: Span
    role: str
    noun: str


@dataclass(frozen=True, slots=True)
class DocNumber:
    """A number of a Doc with its mentions."""

    span: Span
    label: str
    relation: str
    heads: tuple[SpanMention, ...]


@dataclass(slots=True)
class DocCounts:
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

    def __init__(self, how: ReadOptions) -> None:
        self.counts = DocCounts()
        self.split: str | None = None
        self._how = how
        self._groups = SpanGroupNames.of(how.labels)
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

    def _ours(
        self, doc: "Doc", found: Sequence[DocNumber], kept: DocExtras
    ) -> Iterator[GoldRow]:
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
            span = made.alignment.tokens(*number.span)
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

    def _foreign(
        self, doc: "Doc", found: Sequence[DocNumber], drawn: bool
    ) -> Iterator[GoldRow]:
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
        number: DocNumber,
        made: TokenizedText,
        kept: Restored | None,
        claim: Claim = Claim(None, gold=True),  # noqa: B008 - it is frozen
    ) -> GoldRow | None:
        how, alignment = self._how, made.alignment
        exact = translated(_graph(number), how.labels)
        if exact.spots[0].label == IGNORE:
            self.counts.ignored += 1
            return None
        marked = numbers(translated(_tolerant(number, how), how.labels))[0]
        found = outcome(claim, marked, exact, alignment, how, kept)
        self.counts.changed += found.changed
        if kept is not None:
            return replace(self._of(kept), gold=found.gold)
        first, stop = alignment.tokens(*number.span)
        return GoldRow(
            self._line,
            alignment.passage,
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


def _drawn(doc: "Doc", groups: SpanGroupNames) -> list[DocNumber]:
    """The numbers that span groups show."""
    spans = _group(doc, groups.number)
    heads: dict[int, list[SpanMention]] = {}
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
        heads.setdefault(known[0], []).append(SpanMention(head.span, head.label or HEAD, noun))
    found = [
        DocNumber(one.span, one.label or ANCHOR, one.kb_id, tuple(heads.get(place, ())))
        for place, one in enumerate(spans)
    ]
    return _once(found)


def _once(found: Sequence[DocNumber]) -> list[DocNumber]:
    """Each number once, by place. Raises MarkError for two that say something else."""
    by_span: dict[Span, DocNumber] = {}
    for number in found:
        if by_span.setdefault(number.span, number) != number:
            start, end = number.span
            raise MarkError(f"two numbers at {start} to {end} say different things; wanted one")
    return sorted(by_span.values(), key=lambda one: one.span)


def _graph(number: DocNumber) -> Graph:
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


def _tolerant(number: DocNumber, how: ReadOptions) -> Graph:
    """The graph that is meant where no id says which mentions are one noun."""
    if all(head.noun for head in number.heads):
        return _graph(number)
    relation = how.labels.relations.get(number.relation, number.relation)
    roles = [head.role for head in number.heads]
    if relation in JOINED and HEAD in roles:
        roles[roles.index(HEAD)] = JOINED[Relation(relation)]
    return Graph(_spots(number), tuple(Link(0, at, role) for at, role in enumerate(roles, 1)))


def _spots(number: DocNumber) -> tuple[Spot, ...]:
    return (
        Spot(*number.span, number.label),
        *(Spot(*head.span, HEAD) for head in number.heads),
    )


# --- what the component found ---------------------------------------------------------------


def _component(doc: "Doc") -> list[DocNumber]:
    """The fused heads that the component `nfh` left in a Doc's user_data."""
    from nfh_models.spacy_component.attributes import HEADS_AT, IS_NFH, MARK

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


def _found(doc: "Doc", span: Span, heads: object, relation: str) -> DocNumber:
    known = heads if isinstance(heads, list | tuple) else ()
    classes = [one for one in known if isinstance(one, str)]
    places = [one for one in known if type(one) is int]
    if classes and classes[0] not in IMPLICIT_KINDS:
        raise MarkError(f"the component's head {shown(classes[0])} is no class")
    if classes and not places:
        return DocNumber(span, classes[0], "", ())
    mentions = []
    for distance in places:
        word = doc.char_span(
            span[0] + distance, span[0] + distance + 1, alignment_mode="expand"
        )
        if word is None:
            raise MarkError(
                f"a head of the component stands {distance} from {span[0]}: no word"
            )
        mentions.append(SpanMention((word.start_char, word.end_char), HEAD, ""))
    label = Kind.REFERENCE if mentions else Kind.NFH
    return DocNumber(span, label, relation if len(mentions) > 1 else "", tuple(mentions))


PART = 2_000
"""Passages of one file of a folder."""

WHOLE = 50_000
"""Passages that one file alone may have."""

ATTRS = ("ORTH", "SPACY", "SENT_START")


# --- in -------------------------------------------------------------------------------------


def read(origin: FileOrigin, how: ReadOptions) -> Iterator[Row]:
    """The rows of a .spacy file, or of a folder of them. Raises FormatError."""
    try:
        reader = DocReader(how)
    except MarkError as error:
        raise origin.error(None, str(error)) from error
    if isinstance(origin, Folder):
        names = list(origin.named(".spacy"))
        if not names:
            raise origin.error(None, "holds no .spacy file")
        for name in names:
            reader.split = split_of_name(PurePosixPath(name).stem)
            try:
                yield from _rows(origin.read(name), reader)
            except MarkError as error:
                raise origin.member_error(name, None, str(error)) from error
    elif isinstance(origin, Binary):
        reader.split = split_of_name(origin.path.stem)
        try:
            yield from _rows(origin.content(), reader)
        except MarkError as error:
            raise origin.error(None, str(error)) from error
    if (missing := reader.missing(how.labels)) is not None:
        raise origin.error(None, missing)
    origin.warnings.extend(reader.counts.warnings())


def _rows(content: bytes, reader: DocReader) -> Iterator[Row]:
    unpacked = 0
    for number, doc in enumerate(_docs(content), 1):
        try:
            unpacked += check_text(doc)
            check_rows(unpacked, len(content))
            yield from reader.rows(doc)
        except (LimitError, MarkError) as error:
            raise MarkError(f"Doc {number}: {error}") from error


def _docs(content: bytes) -> Iterator["Doc"]:
    """The Docs of a file. Raises MarkError for one that is no DocBin, or would be too large."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        check_file(content)
        file = DocBin().from_bytes(content)
        check_parts((*file.span_groups, *file.user_data))
        yield from file.get_docs(Vocab())
    except LimitError as error:
        raise MarkError(str(error)) from error
    except Exception as error:  # spaCy raises what it comes upon
        said = visible(f"{type(error).__name__}: {error}", 200)
        raise MarkError(f"cannot be read as a DocBin of spaCy: {said}") from error


def _sniff(first: First) -> str | None:
    if first.folder is not None:
        names = list(first.folder.named(".spacy"))
        if names and _is_docbin(first.folder.head(names[0])):
            return f"it is a folder or zip of spaCy's DocBin files such as {visible(names[0])}"
        return None
    if first.takes is InputKind.BYTES and _is_docbin(first.head):
        return "it is packed as spaCy's DocBin is, and begins with a DocBin's keys"
    return None


def _is_docbin(head: bytes) -> bool:
    try:
        start = zlib.decompressobj().decompress(head[:4096], 64)
    except zlib.error:
        return False
    return b"\xa7version" in start and b"\xa5attrs" in start


# --- out ------------------------------------------------------------------------------------


class DocBinWriter:
    """Makes .spacy files. left_out: nothing."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._labels: LabelMap = how.labels
        try:
            self._groups = SpanGroupNames.of(how.labels)
        except MarkError as error:
            raise ExportError(str(error)) from error

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """One file. Raises ExportError for more passages than it may have."""
        passages = self._passages(records)
        first = list(islice(passages, WHOLE))
        if next(passages, None) is not None:
            raise ExportError(
                f"there are more than {WHOLE:,} passages, too many for one .spacy file: name "
                "a folder, or a query that finds fewer"
            )
        yield self._file(first)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """part-0001.spacy and so on, of PART passages each."""
        passages = self._passages(records)
        rank = 0
        while part := list(islice(passages, PART)):
            for content in self._files(part):
                rank += 1
                yield f"part-{rank:05d}.spacy", content

    @staticmethod
    def _passages(records: Iterable[ExportRecord]) -> Iterator[list[ExportRecord]]:
        groups = groupby(records, lambda record: record.passage.digest)
        return (list(group) for _, group in groups)

    def _files(self, passages: Sequence[Sequence[ExportRecord]]) -> Iterator[bytes]:
        """As few files as can be read again: long passages need more."""
        try:
            made = [self._file(passages)]
        except ExportError:
            half = len(passages) // 2
            if not half:
                raise
            made = [*self._files(passages[:half]), *self._files(passages[half:])]
        yield from made

    def _file(self, passages: Sequence[Sequence[ExportRecord]]) -> bytes:
        """Raises ExportError for one that could not be read again."""
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab

        vocab = Vocab()
        file = DocBin(attrs=ATTRS, store_user_data=True)
        for records in passages:
            file.add(doc_of(records, vocab, self._groups, self._labels))
        content: bytes = file.to_bytes()
        try:
            check_file(content)
        except LimitError as error:
            raise ExportError(
                f"the passages make a .spacy file that could not be read again: it {error}; "
                "name a folder, or a query that finds fewer"
            ) from error
        return content


DOCBIN = Format(
    name="docbin",
    extensions=(".spacy",),
    description=(
        "spaCy's DocBin: a Doc for each passage, gold as span groups and as the attributes of "
        "the component nfh, the rest in user_data; one .spacy file or a folder of several"
    ),
    example="",
    read=read,
    sniff=_sniff,
    chunks=DocBinWriter,
    members=DocBinWriter,
    carries_split=True,
    takes=(InputKind.BYTES, InputKind.FOLDER),
    holds=holds(
        How.BESIDE,
        KIND=How.OWN,
        HEADS=How.OWN,
        RELATION=How.OWN,
        ORIGIN=How.OWN,
        SORT=How.OWN,
        GOLD=How.OWN,
    ),
    settings=frozenset({"map"}),
)
