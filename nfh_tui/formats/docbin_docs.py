"""Passages as spaCy Docs: numbers and mentions as span groups, the rest in user_data.

doc.spans["nfh"] has the numbers: label is the kind (ANCHOR where nothing is said), id the
rank of the number, kb_id the relation between its heads. doc.spans["nfh_heads"] has the
mentions: label HEAD, ADDED or REMOVED, id "NUMBER:NOUN", so that mentions of one noun have one
id. doc.spans["nfh_turns"] has the turns, labelled by speaker. doc.user_data["nfh"] is JSON of
all that is known besides. Offsets are tokens; what stands between the passage's tokens and is
more than one space is a token of its own (https://spacy.io/api/docbin, /api/spangroup).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from nfh_db.errors import ExportError
from nfh_db.formats.grid import MarkError
from nfh_db.formats.marked import SAME, graph_of, renamed
from nfh_db.formats.options import LabelMap
from nfh_db.formats.stored import KEY, StoredItem, stored
from nfh_db.formats.wording import shown
from nfh_db.records import ExportRecord
from nfh_models.domain import IMPLICIT_KINDS, Answer, Passage, Relation

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from nfh_models.component.attributes import Anchor as Found

RULE = "gold"
"""What the component's attribute nfh_rule says of numbers with gold."""


class Kept(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag="nfh-doc/1"
):
    """What goes along with a Doc. between: tokens that are none of the passage's."""

    between: tuple[int, ...]
    items: tuple[StoredItem, ...]


_kept = msgspec.json.Decoder(Kept)


def kept_of(doc: "Doc") -> Kept | None:
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
class Groups:
    """The names of the span groups, ours or a project's own."""

    number: str = "nfh"
    head: str = "nfh_heads"
    turn: str = "nfh_turns"

    @classmethod
    def of(cls, labels: LabelMap) -> "Groups":
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
    records: Sequence[ExportRecord], vocab: "Vocab", groups: Groups, labels: LabelMap
) -> "Doc":
    """The Doc of a passage with all its numbers."""
    from spacy.tokens import Doc

    from nfh_models.component.attributes import store

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
    kept = Kept(tuple(pieces.between), tuple(stored(one, offsets=False) for one in records))
    doc.user_data[KEY] = msgspec.json.encode(kept).decode()
    return doc


def _draw(
    doc: "Doc",
    records: Sequence[ExportRecord],
    place: Sequence[int],
    groups: Groups,
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


def _attributes(record: ExportRecord, place: Sequence[int]) -> "Found | None":
    """What the spaCy component would say of a number with this gold; None for no NFH."""
    from nfh_models.component.attributes import Anchor

    if record.gold is None or not record.gold.answer.kind.identification:
        return None
    answer = record.gold.answer
    return Anchor(
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
