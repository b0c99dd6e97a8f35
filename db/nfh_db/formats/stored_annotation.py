"""Everything known of an anchor as one JSON object ("nfh-item/1"), which exports to annotation
tools store in the tool's files.

The tool's own objects hold what the tool can display and change; this object holds the rest,
and the tool preserves it. When the file is read back, the tool's objects win: a stored answer
counts only if its span graph is the one that the file shows.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import msgspec

from nfh_db.formats.fields import A_NAME, INTEGER_LIMIT, is_a_name, sound_digest
from nfh_db.formats.gold import is_a_time
from nfh_db.formats.rows import GoldRow, RawPassage
from nfh_db.formats.spans import Graph, MarkError, graph_of
from nfh_db.messages import reason_of, shown
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_db.serialization import Marks, TurnRow, heads_of, marks_of, turn_rows, turns_of
from nfh_models.domain import Anchor, Answer, Kind, PassageError, Relation, Sort, anchor_id

KEY = "nfh"
"""The key of the object in the JSON of other tools."""


class StoredVote(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A vote; spans are tokens of the passage; defaults are left out."""

    annotator: str
    kind: Kind
    at: str
    role: Role = Role.ANNOTATOR
    type: Literal["person", "model", "rule"] = "person"
    heads: Marks = ()
    relation: Relation | None = None
    sort: Sort | None = None
    noun: str | None = None
    comment: str = ""
    seconds: float | None = None
    saw_model: bool = False
    saw_votes: bool = False
    guideline_version: int | None = None
    rule_tag: str | None = None
    in_sheet: bool = False
    timed: bool = True


class StoredGold(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A gold; spans as in StoredVote."""

    kind: Kind
    rule: Rule
    heads: Marks = ()
    relation: Relation | None = None
    sort: Sort | None = None
    noun: str | None = None
    comment: str = ""
    adjudicator: str | None = None
    decided_at: str | None = None
    votes: tuple[tuple[str, str], ...] = ()


class StoredFlag(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A flag."""

    name: FlagName
    annotator: str
    at: str
    span: tuple[int, int] | None = None
    """The tokens [start, end) that it proposes."""


class StoredItem(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a file stores of one anchor."""

    format: Literal["nfh-item/1"]
    id: str
    """The public id: the hash of passage and anchor."""
    anchor: tuple[int, int]
    """Tokens [start, end)."""
    turns: tuple[TurnRow, ...]
    """Of the passage."""
    offsets: tuple[tuple[int, int], ...] = ()
    """Code points of each token; empty if the format itself has tokens."""
    split: str | None = None
    gold: StoredGold | None = None
    votes: tuple[StoredVote, ...] = ()
    flags: tuple[StoredFlag, ...] = ()


# --- writing --------------------------------------------------------------------------------


def stored(
    record: ExportRecord,
    *,
    offsets: bool = True,
    gold: bool = True,
    votes: Sequence[Vote] | None = None,
    flags: Sequence[FlagMark] | None = None,
) -> StoredItem:
    """The item of a record, or a part of it.

    offsets, gold: whether to include them. votes, flags: in place of those of the record.
    Encode it with `msgspec.json.encode` or `msgspec.to_builtins`.
    """
    passage = record.passage
    return StoredItem(
        format="nfh-item/1",
        id=record.public_id,
        anchor=(record.anchor.start, record.anchor.end),
        turns=turn_rows(passage.turns),
        offsets=tuple((t.start, t.end) for t in passage.tokens) if offsets else (),
        split=record.split,
        gold=_stored_gold(record.gold) if gold and record.gold else None,
        votes=tuple(map(stored_vote, record.votes if votes is None else votes)),
        flags=tuple(
            StoredFlag(flag.name, flag.annotator, flag.flagged_at, flag.ends)
            for flag in (record.flags if flags is None else flags)
        ),
    )


def stored_vote(vote: Vote) -> StoredVote:
    """A vote."""
    answer = vote.answer
    kind_of_annotator: Any = vote.type
    return StoredVote(
        vote.annotator,
        answer.kind,
        vote.answered_at,
        vote.role,
        kind_of_annotator,
        marks_of(answer),
        answer.relation,
        answer.sort,
        answer.noun,
        answer.comment,
        vote.seconds,
        vote.saw_model,
        vote.saw_votes,
        vote.guideline_version,
        vote.rule_tag,
        vote.in_sheet,
        vote.timed,
    )


def _stored_gold(gold: Gold) -> StoredGold:
    answer = gold.answer
    return StoredGold(
        answer.kind,
        gold.rule,
        marks_of(answer),
        answer.relation,
        answer.sort,
        answer.noun,
        answer.comment,
        gold.adjudicator,
        gold.decided_at,
        tuple(sorted(gold.votes)),
    )


# --- reading --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restored:
    """A stored item that was read back, as records of the store."""

    passage: RawPassage
    anchor: Anchor
    split: str | None
    gold: Gold | None
    votes: tuple[Vote, ...]
    flags: tuple[FlagMark, ...]

    @property
    def span(self) -> tuple[int, int]:
        """The code points of the number."""
        return self.passage.span(self.anchor.start, self.anchor.end)

    def row(
        self,
        line: int,
        gold: Gold | None,
        votes: tuple[Vote, ...],
        flags: tuple[FlagMark, ...],
        labels: str | None = None,
    ) -> GoldRow:
        """The row of the stored anchor, with what the file shows now."""
        where = (self.passage, self.anchor, self.split)
        return GoldRow(line, *where, gold, votes, flags, labels)


def item_of(value: object) -> StoredItem:
    """The item that a JSON value is. Raises MarkError with the wrong key."""
    try:
        return msgspec.convert(value, StoredItem)
    except msgspec.ValidationError as error:
        raise MarkError(f'key "{KEY}": {reason_of(error)}') from error


def restored(
    item: StoredItem, text: str, offsets: Sequence[tuple[int, int]] | None = None
) -> Restored:
    """The records of an item. offsets: code points of the tokens, if the format has tokens.

    Raises MarkError if text or tokens were changed since the export, and for invalid answers.
    """
    pairs = item.offsets if offsets is None else tuple(offsets)
    raw, digest = _passage(text, item.turns, pairs)
    anchor = Anchor(*item.anchor)
    _check_id(item, digest, anchor, len(raw.words))
    try:
        gold = _gold(item.gold) if item.gold else None
        votes = tuple(map(_vote, item.votes))
        for answer in ([gold.answer] if gold else []) + [vote.answer for vote in votes]:
            answer.check(len(raw.words), anchor.start, anchor.end)
    except MarkError:
        raise
    except ValueError as error:  # AnswerError, or an unknown origin
        raise MarkError(f'key "{KEY}": {error}') from error
    flags = tuple(_flag(flag, anchor, len(raw.words)) for flag in item.flags)
    return Restored(raw, anchor, item.split, gold, votes, flags)


@lru_cache(maxsize=4)
def _passage(
    text: str, rows: tuple[TurnRow, ...], pairs: tuple[tuple[int, int], ...]
) -> tuple[RawPassage, str]:
    """A passage and its digest. Cached, since the numbers of a passage follow each other."""
    _check_turns(rows)
    raw = RawPassage.of(text, pairs, turns_of(rows))
    try:
        return raw, sound_digest(raw)
    except PassageError as error:
        raise MarkError(
            f'key "{KEY}": {error}; was the text changed since it was exported?'
        ) from error


def _check_turns(turns: Sequence[TurnRow]) -> None:
    """Refuse integers that JSON readers may round; the hash does not cover times."""
    for turn in turns:
        begin, until = turn.begin or 0, turn.until or 0
        if max(abs(turn.number), begin, until) > INTEGER_LIMIT or begin < 0 or until < 0:
            times = [time for time in (turn.begin, turn.until) if time is not None]
            found = shown([turn.number, *times])
            raise MarkError(
                f'key "{KEY}.turns": found {found}, a number and when it is said; wanted '
                f"nothing above {INTEGER_LIMIT:,}, and times of 0 or more milliseconds"
            )


def _check_id(item: StoredItem, digest: str, anchor: Anchor, count: int) -> None:
    if not 0 <= anchor.start < anchor.end <= count:
        raise MarkError(
            f'key "{KEY}.anchor": found tokens {anchor.start} to {anchor.end} of {count}; was '
            "the text changed since it was exported?"
        )
    found = anchor_id(digest, anchor)
    if found != item.id:
        raise MarkError(
            f'key "{KEY}.id": found "{found}", the hash of this text, its tokens and number, '
            f"expected {shown(item.id)}: the text was changed since it was exported"
        )


def _answer(kept: StoredVote | StoredGold) -> Answer:
    return _answered(kept.kind, kept.heads, kept.relation, kept.sort, kept.noun, kept.comment)


@lru_cache(maxsize=64)
def _answered(
    kind: Kind,
    heads: Marks,
    relation: Relation | None,
    sort: Sort | None,
    noun: str | None,
    comment: str,
) -> Answer:
    """Cached, since answers to one number are often equal."""
    return Answer(kind, heads_of(heads), relation, sort, noun, comment)


def _vote(kept: StoredVote) -> Vote:
    _check_name(kept.annotator)
    _check_time(kept.at)
    if kept.seconds is not None and not 0 <= kept.seconds < float("inf"):
        raise MarkError(f'key "{KEY}": found {kept.seconds} seconds, wanted 0 or more')
    version = kept.guideline_version
    if version is not None and abs(version) > INTEGER_LIMIT:
        raise MarkError(f'key "{KEY}": found the guideline version {version}')
    return Vote(
        kept.annotator,
        kept.role,
        _answer(kept),
        kept.at,
        kept.seconds,
        kept.saw_model,
        kept.saw_votes,
        kept.guideline_version,
        kept.rule_tag,
        kept.type,
        kept.in_sheet,
        timed=kept.timed,
    )


def _gold(kept: StoredGold) -> Gold:
    if kept.adjudicator is not None:
        _check_name(kept.adjudicator)
    if kept.decided_at is not None:
        _check_time(kept.decided_at)
    for name, at in kept.votes:
        _check_name(name)
        _check_time(at)
    return Gold(_answer(kept), kept.rule, kept.adjudicator, kept.decided_at, kept.votes)


def _flag(kept: StoredFlag, anchor: Anchor, count: int) -> FlagMark:
    _check_name(kept.annotator)
    _check_time(kept.at)
    mark = FlagMark(kept.name, kept.annotator, kept.at, kept.span and Anchor(*kept.span))
    trouble = mark.problem(anchor, count)
    if trouble:
        raise MarkError(f'key "{KEY}.flags": {trouble}')
    return mark


_is_a_name = lru_cache(maxsize=256)(is_a_name)


def _check_name(name: str) -> None:
    if not _is_a_name(name):
        raise MarkError(f'key "{KEY}": found {shown(name)}, wanted {A_NAME}')


def _check_time(at: str) -> None:
    if not is_a_time(at):
        wanted = 'a UTC time such as "2025-01-31T12:00:00.000Z"'
        raise MarkError(f'key "{KEY}": found {shown(at)}, wanted {wanted}')


# --- comparison with the tool's graph -------------------------------------------------------


def shows_answer(answer: Answer | None, restored_: Restored, graph: Graph) -> bool:
    """True if a file's graph is that of the answer: nobody changed it in the tool.

    The order of spots and links, and the direction of links, are ignored.
    """
    own = graph_of(answer, restored_.anchor, restored_.passage.span)
    return own == graph or _content(own) == _content(graph)


def _content(graph: Graph) -> tuple[Collection[object], Collection[object]]:
    spots = sorted((s.start, s.end, s.label) for s in graph.spots)
    links = sorted(
        (sorted((_ends(graph, link.source), _ends(graph, link.target))), link.label)
        for link in graph.links
    )
    return spots, links


def _ends(graph: Graph, place: int) -> tuple[int, int]:
    spot = graph.spots[place]
    return spot.start, spot.end
