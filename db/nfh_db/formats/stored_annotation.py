"""All that is known of an anchor in one JSON object, which other tools' files carry along.

A file of another tool says in its own terms what that tool can show and change. What it has
no terms for stands here ("nfh-item/1"), where the tool hands it on untouched. Read back, the
tool's own marks win: an answer kept here counts only while drawing it again gives what the
tool's file shows.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import msgspec

from nfh_db.formats.fields import A_NAME, INTEGER_LIMIT, is_a_name, sound_digest
from nfh_db.formats.gold import is_a_time
from nfh_db.formats.rows import RawPassage
from nfh_db.formats.spans import Graph, MarkError, graph_of
from nfh_db.messages import shown
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_db.serialization import Marks, TurnRow, heads_of, marks_of
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    PassageError,
    Relation,
    Sort,
    Turn,
    anchor_id,
)

KEY = "nfh"
"""The key under which other tools' JSON carries it."""


class StoredVote(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An answer whole, token spans of the passage; defaults are left out."""

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


class StoredGold(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A gold whole."""

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
    """A flag that somebody set. span: tokens [start, end) that it proposes, if it does."""

    name: FlagName
    annotator: str
    at: str
    span: tuple[int, int] | None = None


class StoredItem(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a file carries of one anchor.

    id: the public id, the hash of passage and span. anchor: tokens [start, end). turns: of the
    passage. offsets: code points of each token; left out where the format has tokens itself.
    gold, votes, flags: of them what this item of the file is to bring.
    """

    format: Literal["nfh-item/1"]
    id: str
    anchor: tuple[int, int]
    turns: tuple[TurnRow, ...]
    offsets: tuple[tuple[int, int], ...] = ()
    split: str | None = None
    gold: StoredGold | None = None
    votes: tuple[StoredVote, ...] = ()
    flags: tuple[StoredFlag, ...] = ()


# --- out ------------------------------------------------------------------------------------


def stored(
    record: ExportRecord,
    *,
    offsets: bool = True,
    gold: bool = True,
    votes: Sequence[Vote] | None = None,
    flags: Sequence[FlagMark] | None = None,
) -> StoredItem:
    """What is known of a record, or the part of it that is asked for.

    offsets: with those of the tokens. votes, flags: instead of all of the record's. As JSON
    it is written by `msgspec.json.encode` or `msgspec.to_builtins`.
    """
    passage = record.passage
    return StoredItem(
        format="nfh-item/1",
        id=record.public_id,
        anchor=(record.anchor.start, record.anchor.end),
        turns=tuple(
            TurnRow(t.number, t.speaker, t.start, t.end, t.begin, t.until)
            for t in passage.turns
        ),
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
    """One answer whole."""
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


# --- in -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restored:
    """What a file carried, as the store knows it."""

    passage: RawPassage
    anchor: Anchor
    split: str | None
    gold: Gold | None
    votes: tuple[Vote, ...]
    flags: tuple[FlagMark, ...]


def item_of(value: object) -> StoredItem:
    """The object that a JSON value is. Raises MarkError naming the key that is wrong."""
    try:
        return msgspec.convert(value, StoredItem)
    except msgspec.ValidationError as error:
        raise MarkError(f'key "{KEY}": {error}') from error


def restored(
    item: StoredItem, text: str, offsets: Sequence[tuple[int, int]] | None = None
) -> Restored:
    """What an item says of its text. offsets: of the tokens, where the file has them itself.

    Raises MarkError where the text or its tokens are not those that were exported, or what is
    said of them does not hold.
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
    except ValueError as error:  # AnswerError, or an origin that there is none of
        raise MarkError(f'key "{KEY}": {error}') from error
    flags = tuple(_flag(flag, anchor, len(raw.words)) for flag in item.flags)
    return Restored(raw, anchor, item.split, gold, votes, flags)


@lru_cache(maxsize=4)
def _passage(
    text: str, rows: tuple[TurnRow, ...], pairs: tuple[tuple[int, int], ...]
) -> tuple[RawPassage, str]:
    """A passage with its digest. Numbers of one passage stand next to each other in a file."""
    _check_turns(rows)
    starts, ends = zip(*pairs, strict=True) if pairs else ((), ())
    raw = RawPassage(
        text,
        [text[start:end] for start, end in pairs],
        starts,
        ends,
        tuple(Turn(t.number, t.speaker, t.start, t.end, t.begin, t.until) for t in rows),
    )
    try:
        return raw, sound_digest(raw)
    except PassageError as error:
        raise MarkError(
            f'key "{KEY}": {error}; was the text changed since it was exported?'
        ) from error


def _check_turns(turns: Sequence[TurnRow]) -> None:
    """Refuse numbers that no JSON reader is sure to keep; the hash has no times in it."""
    for turn in turns:
        if turn.begin is None and turn.until is None and 0 <= turn.number <= INTEGER_LIMIT:
            continue
        times = [time for time in (turn.begin, turn.until) if time is not None]
        if abs(turn.number) > INTEGER_LIMIT or not all(
            0 <= time <= INTEGER_LIMIT for time in times
        ):
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
    """An answer; those to one number are often the same."""
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
    trouble = mark.trouble(anchor, count)
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


# --- who is right, the tool or what was kept ------------------------------------------------


def as_drawn(answer: Answer | None, restored_: Restored, graph: Graph) -> bool:
    """True if drawing the answer gives the graph that a file shows: nobody changed it there.

    The order of spots and links does not count, nor which way a link goes.
    """
    passage = restored_.passage
    drawn = graph_of(answer, restored_.anchor, passage.starts, passage.ends)
    return drawn == graph or _content(drawn) == _content(graph)


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
