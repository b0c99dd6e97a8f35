"""Format `docbin`: spaCy's DocBin (https://spacy.io/api/docbin), one .spacy file or a folder of
several.

A Doc is a passage. Numbers, mentions and turns are span groups
(https://spacy.io/api/spangroup):

    doc.spans["nfh"]        numbers; label: kind, or ANCHOR without an answer; id: rank of the
                            number; kb_id: relation of its heads
    doc.spans["nfh_heads"]  mentions; label: HEAD, ADDED or REMOVED; id: "NUMBER:NOUN", equal
                            for mentions of one noun
    doc.spans["nfh_turns"]  turns; label: speaker
    doc.user_data["nfh"]    JSON of the stored items

Offsets are tokens. Text between the passage's tokens, other than one space, is a token of its
own. A .spacy file is msgpack packed by zlib and is held in memory while it is read or written,
so a large set is a folder of files of PART passages each.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

import msgspec

from nfh_db.errors import ExportError, raised_as
from nfh_db.formats import files
from nfh_db.formats.annotation_tasks import Claim, outcome
from nfh_db.formats.base import First, Format, How, InputKind, each, holds
from nfh_db.formats.dialog import block_of
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
    by_passage,
)
from nfh_db.formats.spans import (
    ANCHOR,
    HEAD,
    RELATIONS,
    LinkedMention,
    LinkedNumber,
    MarkError,
    TokenizedText,
    based,
    graph_of,
    numbers,
    read_graph,
    refusing_strays,
    renamed,
    translated,
)
from nfh_db.formats.stored_annotation import KEY, Restored, StoredItem, restored, stored
from nfh_db.messages import counted, reason_of, shown, tallied, visible
from nfh_db.records import MODEL, ExportRecord
from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Passage, Relation, Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Span as DocSpan
    from spacy.vocab import Vocab

    from nfh_models.spacy_component.attributes import FusedHead


# --- passages to Docs ------------------------------------------------------------------------

RULE = "gold"
"""The value of the component's attribute nfh_rule for numbers with gold."""


class DocExtras(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag="nfh-doc/1"
):
    """What the export stores in a Doc."""

    between: tuple[int, ...]
    """Tokens of the Doc that are none of the passage's."""
    items: tuple[StoredItem, ...]


_kept = msgspec.json.Decoder(DocExtras)


def kept_of(doc: "Doc") -> DocExtras | None:
    """What the export stored in a Doc; None for a Doc of other origin. Raises MarkError."""
    value = doc.user_data.get(KEY)
    if value is None:
        return None
    if not isinstance(value, str):
        raise MarkError(f'user_data["{KEY}"]: found {shown(str(value))}, wanted our JSON')
    try:
        return _kept.decode(value)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise MarkError(f'user_data["{KEY}"]: {reason_of(error)}') from error


@dataclass(frozen=True, slots=True)
class SpanGroupNames:
    """The names of the span groups."""

    number: str = "nfh"
    head: str = "nfh_heads"
    turn: str = "nfh_turns"

    @classmethod
    def of(cls, labels: LabelMap) -> "SpanGroupNames":
        """With a project's names. Raises MarkError for an unknown key of the mapping."""
        known = ("number", "head", "turn")
        for ours in labels.layer:
            if ours not in known:
                raise MarkError(
                    f"the mapping's table [layer] holds {shown(ours)}; wanted one of "
                    f"{', '.join(known)}, each with the name of a span group"
                )
        return cls(**dict(labels.layer))


class _DocTokens:
    """The tokens of a Doc, from the text of a passage."""

    def __init__(self, passage: Passage) -> None:
        self.words: list[str] = []
        self.spaces: list[bool] = []
        self.place: list[int] = []
        """For each token of the passage its index in the Doc."""
        self.between: list[int] = []
        """Indices of tokens that are none of the passage's."""
        at = 0
        for token in passage.tokens:
            self._fill(passage.text[at : token.start])
            self.place.append(len(self.words))
            self.words.append(passage.text[token.start : token.end])
            self.spaces.append(False)
            at = token.end
        self._fill(passage.text[at:])

    def _fill(self, gap: str) -> None:
        """Add the text between two tokens. A first space belongs to the token before, as in
        spaCy; the end of a line and what follows are two tokens.
        """
        if gap.startswith(" ") and self.words:
            self.spaces[-1] = True
            gap = gap[1:]
        line, _, rest = gap.rpartition("\n")
        gaps = [f"{line}\n", rest] if rest.strip() and len(rest) < len(gap) else [gap]
        for word in filter(None, gaps):
            space = word.endswith(" ") and not word.isspace()
            self.between.append(len(self.words))
            self.words.append(word[:-1] if space else word)
            self.spaces.append(space)

    def first_of(self, turn: Turn) -> int:
        """The index of the first token of a turn, the name of its speaker included."""
        place = self.place[turn.start]
        between = set(self.between)
        while place - 1 in between and not self.words[place - 1].isspace():
            place -= 1
        return place


def doc_of(
    records: Sequence[ExportRecord], vocab: "Vocab", groups: SpanGroupNames, labels: LabelMap
) -> "Doc":
    """The Doc of a passage with all its numbers."""
    from spacy.tokens import Doc

    from nfh_models.spacy_component.attributes import store

    passage = records[0].passage
    pieces = _DocTokens(passage)
    firsts = {pieces.first_of(turn) for turn in passage.turns}
    doc = Doc(
        vocab,
        words=pieces.words,
        spaces=pieces.spaces,
        sent_starts=[at in firsts or at == 0 for at in range(len(pieces.words))],
    )
    if doc.text != passage.text:
        raise ExportError(
            f"the passage of {records[0].public_id} cannot be made from spaCy's tokens"
        )
    _add_groups(doc, records, pieces.place, groups, labels)
    store(doc, [one for record in records if (one := _attributes(record, pieces.place))])
    kept = DocExtras(
        tuple(pieces.between), tuple(stored(one, offsets=False) for one in records)
    )
    doc.user_data[KEY] = msgspec.json.encode(kept).decode()
    return doc


def _add_groups(
    doc: "Doc",
    records: Sequence[ExportRecord],
    place: Sequence[int],
    groups: SpanGroupNames,
    labels: LabelMap,
) -> None:
    from spacy.tokens import Span

    passage = records[0].passage
    numbers, heads = [], []

    def span(first: int, stop: int, label: str, id_: str, kb_id: str = "") -> Span:
        return Span(
            doc, place[first], place[stop - 1] + 1, label=label, span_id=id_, kb_id=kb_id
        )

    for rank, record in enumerate(records):
        answer = record.gold.answer if record.gold else None
        graph = graph_of(answer, record.anchor, lambda first, stop: (first, stop))
        named = renamed(graph, labels)
        labelled = list(zip(graph.links, named.links, strict=True))
        relation = next((name.label for link, name in labelled if link.label in RELATIONS), "")
        first, *spots = named.spots
        numbers.append(span(first.start, first.end, first.label, str(rank), relation))
        roles = (name.label for link, name in labelled if not link.source)
        nouns = (
            (noun for noun, head in enumerate(answer.heads) for _ in head.mentions)
            if answer
            else ()
        )
        for spot, role, noun in zip(spots, roles, nouns, strict=True):
            heads.append(span(spot.start, spot.end, role, f"{rank}:{noun}"))
    doc.spans[groups.number] = numbers
    doc.spans[groups.head] = heads
    doc.spans[groups.turn] = [
        span(turn.start, turn.end, turn.speaker or "", str(turn.number))
        for turn in passage.turns
    ]


def _attributes(record: ExportRecord, place: Sequence[int]) -> "FusedHead | None":
    """The attributes that the spaCy component sets for this gold; None if it is no NFH."""
    from nfh_models.spacy_component.attributes import FusedHead

    if record.gold is None or not record.gold.answer.kind.identification:
        return None
    answer = record.gold.answer
    heads: tuple[int | str, ...] = (answer.kind.value,)
    if answer.kind not in IMPLICIT_KINDS:
        heads = tuple(place[head.mentions[0].head] for head in answer.heads)
    return FusedHead(
        place[record.anchor.start],
        place[record.anchor.end - 1] + 1,
        RULE,
        heads,
        relation=None if answer.relation is Relation.UNSTATED else answer.relation,
    )


# --- limits, checked before spaCy reads a file -----------------------------------------------
#
# 60 KB of msgpack packed by zlib can contain 60 million empty lists, or as many Docs without a
# word, or a word of a megabyte a million times.

UNPACKED = 1024 * 1024 * 1024
"""Bytes of an unpacked file: 40 million tokens with three attributes."""

DOCS = 100_000
"""Docs of one file; an export writes at most half as many."""

LONGEST_TEXT = files.LINE_LIMIT
"""Characters of a Doc's text, or of all texts of a span group."""

HARMLESS = 32 * 1024
"""Bytes of msgpack in which values are not counted. Nested lists may each claim as many items
as there are bytes, 512 deep, and msgpack allocates them all: 8 * 512 * 32 KB are 134 MB.
"""


class _File(msgspec.Struct):
    """What is read before spaCy reads a file."""

    lengths: bytes
    """Tokens of each Doc, as 32-bit integers."""


def check_file(content: bytes) -> None:
    """Raise LimitError for a .spacy file that would unpack to too much, or is damaged."""
    import numpy as np

    unpacked = _unpacked(content)
    check_objects(unpacked)
    try:
        lengths = np.frombuffer(msgspec.msgpack.decode(unpacked, type=_File).lengths, "<i4")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise files.LimitError(
            f"cannot be read as a DocBin of spaCy: {reason_of(error)}"
        ) from error
    files.check_count(len(lengths), DOCS, "Docs")
    if len(lengths) and lengths.min() < 0:
        raise files.LimitError(
            "cannot be read as a DocBin of spaCy: a Doc has a negative number of tokens"
        )
    if len(lengths) and lengths.max() > files.TOKENS:
        raise files.LimitError(
            f"Doc {int(lengths.argmax()) + 1:,} has {lengths.max():,} tokens; wanted at most "
            f"{files.TOKENS:,}: split it"
        )


def _unpacked(content: bytes) -> bytes:
    """The msgpack. Raises LimitError for what is not packed by zlib, or unpacks to too much."""
    limit = files.held_limit(len(content), UNPACKED)
    unpacking = zlib.decompressobj()
    size, left = 0, content
    try:
        while left and size <= limit:
            size += len(unpacking.decompress(left, files.CHUNK))
            left = unpacking.unconsumed_tail
        if size > limit:
            raise files.LimitError(
                f"has more than {limit:,} bytes packed in {len(content):,}; wanted no more: "
                "split it"
            )
        if not unpacking.eof:
            raise files.LimitError("is not a complete DocBin of spaCy: it ends too early")
        return zlib.decompress(content, bufsize=max(size, 1))
    except zlib.error as error:
        raise files.LimitError(f"is not a DocBin of spaCy: {reason_of(error)}") from error


def check_parts(parts: Iterable[bytes | None]) -> None:
    """Raise LimitError for a part of a Doc, itself msgpack, with too many values."""
    for part in parts:
        if isinstance(part, bytes) and len(part) > HARMLESS:
            check_objects(part)


def check_text(doc: "Doc") -> int:
    """The characters of a Doc. Raises LimitError for more than LONGEST_TEXT."""
    length = int(doc.to_array("LENGTH").sum()) + len(doc)
    files.check_count(length, LONGEST_TEXT, "characters")
    return length


# --- msgpack --------------------------------------------------------------------------------

_SIZED = {
    0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0),
    0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1),
    0xD9: (1, 0), 0xDA: (2, 0), 0xDB: (4, 0),
}  # fmt: skip
"""Bytes, extensions and strings: the size of their length, and bytes in addition to the length.
"""

_PLAIN = {
    0xC0: 0, 0xC1: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8,
    0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17,
}  # fmt: skip
"""Values of fixed size: the bytes after the first."""

_NESTED = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""Lists and maps: the size of their length, and values for each item."""


def check_objects(content: bytes) -> None:
    """Raise LimitError for msgpack whose lists and maps claim more values than OBJECTS.

    Truncated content is not reported here; decoding it fails.
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
        files.check_count(claimed, files.OBJECTS, "values or more")


# --- Docs to passages ------------------------------------------------------------------------

DIGITS = 9
"""Digits that the number of a turn may have."""


def tokens_and_turns(doc: "Doc", group: str) -> tuple[list[Span], list[Turn] | None]:
    """The tokens of a Doc, in code points, and its turns; turns are None without the group.

    White space, and words outside all turns such as names of speakers, are no tokens. The id of
    a span is the number of its turn if it is a number; else the rank is. Raises MarkError for
    turns that overlap.
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
            known = id_.isascii() and id_.isdigit() and len(id_) <= DIGITS
            turns.append(Turn(int(id_) if known else rank, label or None, first, len(found)))
    return found, turns


def _names(span: "DocSpan") -> tuple[str, str]:
    """The label and id of a span. Raises MarkError if the file lacks their strings."""
    try:
        return span.label_, span.id_
    except (KeyError, IndexError, ValueError) as error:
        raise MarkError(f"the names of a turn are invalid: {reason_of(error)}") from error


def check_speakers(doc: "Doc", group: str, turns: Sequence[Turn]) -> None:
    """Raise MarkError if an exported Doc has other speakers now."""
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


# Numbers come from span groups, which are gold, or from the attributes of the component `nfh`,
# which are the answers of a model named COMPONENT. Offsets are code points of the Doc's text.

COMPONENT = "spaCy component nfh"
ENTS = "ents"
"""The name that means `doc.ents` in a mapping, unless a span group has it."""

WARNINGS = {
    "empty": ("Doc", "without a word left out"),
    "unspaced": ("Doc", "where spaces are not known: one is put between words"),
    "gone": ("number", "whose span was taken out: of those the gold is left out"),
    "changed": ("gold", "changed since it was exported: what the spans show counts"),
    "cut": ("token", "cut in two, where a mark begins or ends inside"),
}
"""What is counted, and the warning of each count."""


class DocReader:
    """Makes rows of Docs, one after another."""

    split: str | None = None
    """From the name of the file, for Docs that were not exported."""

    def __init__(self, how: ReadOptions) -> None:
        self._how = how
        self._groups = SpanGroupNames.of(how.labels)
        self._counts: Counter[str] = Counter()
        self._other: Counter[str] = Counter()
        """Spans of groups that are not read, by group."""
        self._line = 0
        self._has_group = False

    def warnings(self) -> Iterator[str]:
        """A sentence for each count that is not 0."""
        if self._other:
            groups = ", ".join(visible(name) for name in sorted(self._other)[:8])
            total = counted(self._other.total(), "span")
            yield f"{total} of groups that are not about numbers left out: {groups}"
        yield from tallied((self._counts[key], *words) for key, words in WARNINGS.items())

    def missing(self, labels: LabelMap) -> str | None:
        """A sentence if the mapping names a group of numbers that no Doc has."""
        if self._has_group or "number" not in labels.layer:
            return None
        there = ", ".join(shown(name) for name in sorted(self._other)[:8]) or "none"
        return (
            f'no Doc has the spans {shown(self._groups.number)} that [layer] number = "…" '
            f"names; spans that are there: {there}"
        )

    def rows(self, doc: "Doc") -> Iterator[GoldRow | DialogBlock]:
        """The rows of a Doc. Raises MarkError."""
        self._line += 1
        if not doc.text.strip():
            self._counts["empty"] += 1
            return
        self._counts["unspaced"] += doc.has_unknown_spaces
        groups = self._groups
        for name, count in spans_in(doc).items():
            if name not in (groups.number, groups.head, groups.turn):
                self._other[name] += count
        kept = kept_of(doc)
        in_group = groups.number in spans_in(doc)
        self._has_group |= in_group
        found = _group_numbers(doc, groups) if in_group else _component_numbers(doc)
        if not found and kept is None:
            tokens, turns = tokens_and_turns(doc, groups.turn)
            block = dialog(doc.text, self._line, tokens, turns) if turns else None
            block = block or block_of(doc.text, self._line)
            yield replace(block, split=self.split)
        elif kept:
            yield from self._exported(doc, found, kept)
        else:
            yield from self._foreign(doc, found, in_group)

    def _exported(
        self, doc: "Doc", found: Sequence[LinkedNumber], kept: DocExtras
    ) -> Iterator[GoldRow]:
        between = set(kept.between)
        offsets = [
            (token.idx, token.idx + len(token)) for token in doc if token.i not in between
        ]
        items = [restored(item, doc.text, offsets) for item in kept.items]
        if not items:
            raise MarkError("the data beside the Doc name no number")
        turns = items[0].passage.turns
        check_speakers(doc, self._groups.turn, turns)
        made = based(doc.text, (), self._how, offsets, turns)
        by_anchor = {(one.anchor.start, one.anchor.end): one for one in items}
        for number in found:
            of_number = by_anchor.pop(made.alignment.tokens(*number.span), None)
            yield from self._rows(number, made, Claim(None, gold=True), of_number)
        self._counts["gone"] += len(by_anchor)
        for one in by_anchor.values():
            yield one.row(self._line, None, one.votes, one.flags)

    def _foreign(
        self, doc: "Doc", found: Sequence[LinkedNumber], in_group: bool
    ) -> Iterator[GoldRow]:
        tokens, turns = tokens_and_turns(doc, self._groups.turn)
        marks = [span for one in found for span in one.spans]
        made = based(doc.text, marks, self._how, tokens, turns)
        self._counts["cut"] += made.cut
        claim = Claim(None, gold=True) if in_group else Claim(COMPONENT, type=MODEL)
        for number in found:
            yield from self._rows(number, made, claim)

    def _rows(
        self,
        number: LinkedNumber,
        made: TokenizedText,
        claim: Claim,
        kept: Restored | None = None,
    ) -> Iterator[GoldRow]:
        how, alignment = self._how, made.alignment
        ours = kept is not None or claim.who is not None
        text = alignment.passage.text
        exact = read_graph(number.graph(), how, text, f"Doc {self._line}", exported=ours)
        if exact.spots[0].label == IGNORE:
            return
        marked = numbers(translated(number.tolerant_graph(how.labels), how.labels))[0]
        found = outcome(claim, marked, exact, alignment, how, kept)
        self._counts["changed"] += found.changed
        if kept is not None:
            yield kept.row(self._line, found.gold, kept.votes, kept.flags)
            return
        yield GoldRow(
            self._line,
            alignment.passage,
            Anchor(*alignment.tokens(*number.span)),
            self.split,
            found.gold,
            found.votes,
            (),
            tokenizer=made.tokenizer,
        )


# --- span groups ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _GroupSpan:
    """A span of a group, in code points."""

    span: Span
    text: str
    label: str
    id: str
    kb_id: str


def spans_in(doc: "Doc") -> dict[str, int]:
    """How many spans each group of a Doc has; ENTS are its entities, if it has any."""
    found = {name: len(spans) for name, spans in doc.spans.items()}
    return found if ENTS in found or not doc.ents else {**found, ENTS: len(doc.ents)}


def _group(doc: "Doc", name: str) -> list[_GroupSpan]:
    """The spans of a group. Raises MarkError if the file lacks their strings."""
    spans = doc.ents if name == ENTS and ENTS not in doc.spans else doc.spans.get(name, ())
    try:
        if (length := sum(one.end_char - one.start_char for one in spans)) > LONGEST_TEXT:
            raise MarkError(
                f'doc.spans["{visible(name)}"] has {length:,} characters in all; '
                f"wanted at most {LONGEST_TEXT:,}"
            )
        return [
            _GroupSpan(
                (one.start_char, one.end_char), one.text, one.label_, one.id_, one.kb_id_
            )
            for one in spans
        ]
    except (KeyError, IndexError, ValueError) as error:
        where = f'doc.spans["{visible(name)}"]'
        raise MarkError(f"{where} is invalid: {reason_of(error)}") from error


def _group_numbers(doc: "Doc", groups: SpanGroupNames) -> list[LinkedNumber]:
    """The numbers of the span groups, in order."""
    spans = _group(doc, groups.number)
    heads: dict[int, list[tuple[_GroupSpan, str]]] = {}
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
        heads.setdefault(known[0], []).append((head, noun))
    by_span: dict[Span, LinkedNumber] = {}
    for place, one in enumerate(spans):
        own = heads.get(place, [])
        nouns = [noun for _, noun in own]
        mentions = tuple(
            LinkedMention(head.span, head.label or HEAD, _first_before(nouns, rank))
            for rank, (head, _) in enumerate(own)
        )
        label = one.label or ANCHOR
        number = LinkedNumber(one.span, label, mentions, one.kb_id, grouped=all(nouns))
        if by_span.setdefault(one.span, number) != number:
            start, end = one.span
            raise MarkError(f"two numbers at {start} to {end} say different things; wanted one")
    return sorted(by_span.values(), key=lambda number: number.span)


def _first_before(nouns: Sequence[str], rank: int) -> int | None:
    """The index of the first mention with the noun of this one; None if it is this one."""
    first = nouns.index(nouns[rank]) if nouns[rank] else rank
    return None if first == rank else first


# --- the attributes of the component ---------------------------------------------------------


def _component_numbers(doc: "Doc") -> list[LinkedNumber]:
    """The fused heads that the component `nfh` stored in a Doc's user_data, in order."""
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
        found.append(_component_number(doc, (start, end), heads, str(relation)))
    return sorted(found, key=lambda one: one.span)


def _component_number(doc: "Doc", span: Span, heads: object, relation: str) -> LinkedNumber:
    known = heads if isinstance(heads, list | tuple) else ()
    classes = [one for one in known if isinstance(one, str)]
    places = [one for one in known if type(one) is int]
    if classes and classes[0] not in IMPLICIT_KINDS:
        raise MarkError(f"the component's head {shown(classes[0])} is not a class")
    if classes and not places:
        return LinkedNumber(span, classes[0], (), grouped=True)
    mentions = []
    for distance in places:
        word = doc.char_span(
            span[0] + distance, span[0] + distance + 1, alignment_mode="expand"
        )
        if word is None:
            raise MarkError(
                f"a head of the component is {distance} from {span[0]}, which is not a word"
            )
        mentions.append(LinkedMention((word.start_char, word.end_char), HEAD))
    label = Kind.REFERENCE if mentions else Kind.NFH
    return LinkedNumber(span, label, tuple(mentions), relation if len(mentions) > 1 else "")


PART = 2_000
"""Passages of one file of a folder."""

WHOLE = 50_000
"""Passages that a single file may have."""

ATTRS = ("ORTH", "SPACY", "SENT_START")


# --- files: reading -------------------------------------------------------------------------


def read(origin: files.Binary | files.Folder, how: ReadOptions) -> Iterator[Row]:
    """The rows of a .spacy file, or of a folder of them. Raises FormatError."""
    with origin.refusing(MarkError):
        reader = DocReader(how)
    if isinstance(origin, files.Folder):
        names = list(origin.named(".spacy"))
        if not names:
            raise origin.error(None, "holds no .spacy file")
        for name in names:
            reader.split = files.split_of_name(PurePosixPath(name).stem)
            with origin.refusing_member(name, MarkError):
                yield from _rows(origin.read(name), reader)
    else:
        reader.split = files.split_of_name(origin.path.stem)
        with origin.refusing(MarkError):
            yield from _rows(origin.content(), reader)
    if (missing := reader.missing(how.labels)) is not None:
        raise origin.error(None, missing)
    origin.warnings.extend(reader.warnings())


def _rows(content: bytes, reader: DocReader) -> Iterator[Row]:
    unpacked = 0
    for number, doc in enumerate(_docs(content), 1):
        try:
            unpacked += check_text(doc)
            files.check_rows(unpacked, len(content))
            yield from reader.rows(doc)
        except (files.LimitError, MarkError) as error:
            raise MarkError(f"Doc {number}: {error}") from error


def _docs(content: bytes) -> Iterator["Doc"]:
    """The Docs of a file. Raises MarkError for one that is no DocBin, or too large."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        check_file(content)
        file = DocBin().from_bytes(content)
        check_parts((*file.span_groups, *file.user_data))
        yield from file.get_docs(Vocab())
    except files.LimitError as error:
        raise MarkError(str(error)) from error
    except Exception as error:  # spaCy raises errors of many types on damaged files
        raise MarkError(
            f"cannot be read as a DocBin of spaCy: write it again with DocBin.to_disk "
            f"({reason_of(error)})"
        ) from error


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


# --- files: writing -------------------------------------------------------------------------


class DocBinWriter:
    """Makes .spacy files. left_out: stays empty."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._labels: LabelMap = how.labels
        with raised_as(ExportError, MarkError):
            self._groups = SpanGroupNames.of(how.labels)

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """One file. Raises ExportError for more than WHOLE passages."""
        passages = by_passage(records)
        first = list(islice(passages, WHOLE))
        if next(passages, None) is not None:
            raise ExportError(
                f"there are more than {WHOLE:,} passages, too many for one .spacy file: name "
                "a folder, or a query that finds fewer"
            )
        yield self._file(first)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """part-0001.spacy and so on, of PART passages each."""
        passages = by_passage(records)
        rank = 0
        while part := list(islice(passages, PART)):
            for content in self._files(part):
                rank += 1
                yield f"part-{rank:05d}.spacy", content

    def _files(self, passages: Sequence[Sequence[ExportRecord]]) -> Iterator[bytes]:
        """One file, or more if one could not be read again."""
        try:
            made = [self._file(passages)]
        except ExportError:
            half = len(passages) // 2
            if not half:
                raise
            made = [*self._files(passages[:half]), *self._files(passages[half:])]
        yield from made

    def _file(self, passages: Sequence[Sequence[ExportRecord]]) -> bytes:
        """Raises ExportError for a file that could not be read again."""
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab

        vocab = Vocab()
        file = DocBin(attrs=ATTRS, store_user_data=True)
        for records in passages:
            file.add(doc_of(records, vocab, self._groups, self._labels))
        content: bytes = file.to_bytes()
        try:
            check_file(content)
        except files.LimitError as error:
            raise ExportError(
                f"the passages make a .spacy file that cannot be read again: it {error}; name "
                "a folder, or a query that finds fewer"
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
    read=refusing_strays(read),
    sniff=_sniff,
    chunks=DocBinWriter,
    members=DocBinWriter,
    carries_split=True,
    takes=(InputKind.BYTES, InputKind.FOLDER),
    holds=holds(How.BESIDE, **each(How.OWN, "KIND HEADS RELATION ORIGIN SORT GOLD")),
    settings=frozenset({"map", "window"}),
)
