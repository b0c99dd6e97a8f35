"""Encodes and decodes the values of the event log, and the blobs and JSON of the tables.

A value is the whole state of an answer, gold, flag or anchor, as canonical JSON: two states are
equal if and only if their texts are.
"""

import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from nfh_db.records import PERSON, Exposure, Gold, Prediction, Role, Rule, Vote
from nfh_models.domain import (
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Sort,
    Token,
    Turn,
)

Mark = tuple[int, int, int, str]
"""A mention: first token, token after the last, head token, origin."""

Marks = tuple[tuple[Mark, ...], ...]
"""The mentions of each head, in order."""


# The order of the fields is the order in the JSON: do not change it.
class AnswerValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer in the form of the log."""

    kind: str
    at: str
    heads: Marks = ()
    relation: str | None = None
    sort: str | None = None
    noun: str | None = None
    comment: str = ""
    seconds: float | None = None
    saw_model: bool = False
    saw_votes: bool = False
    guideline: int | None = None
    rule_tag: str | None = None
    batch: int | None = None
    """The import that brought the answer; None if a person gave it here."""

    in_sheet: bool = False
    timed: bool = True
    """False for an answer of a file without times: `at` is the time of its import."""


class GoldValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A gold in the form of the log."""

    kind: str
    rule: str
    heads: Marks = ()
    relation: str | None = None
    sort: str | None = None
    noun: str | None = None
    comment: str = ""
    by: str | None = None
    """The adjudicator's name."""

    at: str | None = None
    batch: int | None = None
    votes: tuple[tuple[str, str], ...] = ()
    """Annotator's name and time of each answer from which a rule made the gold."""


class FlagValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A flag that is set, in the form of the log."""

    at: str
    batch: int | None = None
    span: tuple[int, int] | None = None
    """The tokens, [start, stop), that an `anchor` flag proposes."""


class AnchorValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """An anchor that is not removed, in the form of the log."""

    passage: int
    start: int
    stop: int
    replaces: int | None = None
    replaced_by: int | None = None


class TurnRow(msgspec.Struct, frozen=True, array_like=True):
    """A turn in the form of the table: a JSON array of 4, or of 6 if it has times."""

    number: int
    speaker: str | None
    start: int
    end: int
    """Tokens: [start, end)."""

    begin: int | None = None
    until: int | None = None
    """Begin and end of the turn, in milliseconds from the start of the recording."""


Value = AnswerValue | GoldValue | FlagValue | AnchorValue

_encoder = msgspec.json.Encoder()
_answers = msgspec.json.Decoder(AnswerValue)
_golds = msgspec.json.Decoder(GoldValue)
_flags = msgspec.json.Decoder(FlagValue)
_anchors = msgspec.json.Decoder(AnchorValue)
_strings = msgspec.json.Decoder(list[str])
_objects = msgspec.json.Decoder(dict[str, Any])
_gold_votes = msgspec.json.Decoder(tuple[tuple[str, str], ...])
_turns = msgspec.json.Decoder(list[TurnRow])


def encode(value: Value | None) -> str | None:
    """Return the canonical JSON of a value; None for an absent or removed one."""
    return None if value is None else _encoder.encode(value).decode()


def json_of(content: object) -> str:
    """Return compact JSON of plain data."""
    return _encoder.encode(content).decode()


def decode_answer(text: str | None) -> AnswerValue | None:
    """Decode an answer. Raises msgspec.MsgspecError for other text; so do the ones below."""
    return None if text is None else _answers.decode(text)


def decode_gold(text: str | None) -> GoldValue | None:
    return None if text is None else _golds.decode(text)


def decode_flag(text: str | None) -> FlagValue | None:
    return None if text is None else _flags.decode(text)


def decode_anchor(text: str | None) -> AnchorValue | None:
    return None if text is None else _anchors.decode(text)


def encode_gold_votes(votes: Sequence[tuple[str, str]]) -> str:
    """Return the JSON of the votes of a gold for the table; "" for none."""
    return json_of(list(votes)) if votes else ""


def decode_gold_votes(text: str) -> tuple[tuple[str, str], ...]:
    """The inverse of `encode_gold_votes`."""
    return _gold_votes.decode(text) if text else ()


# --- answers ----------------------------------------------------------------------------


def marks_of(answer: Answer) -> Marks:
    """Return the mentions of each head as plain tuples."""
    if not answer.heads:
        return ()
    return tuple(
        tuple((m.start, m.end, m.head, m.origin.value) for m in head.mentions)
        for head in answer.heads
    )


def heads_of(marks: Marks) -> tuple[Head, ...]:
    """The inverse of `marks_of`."""
    return tuple(
        Head(
            tuple(
                Mention(start, stop, token, Origin(origin))
                for start, stop, token, origin in head
            )
        )
        for head in marks
    )


def answer_of(value: AnswerValue | GoldValue) -> Answer:
    """Return the answer that a value holds."""
    return Answer(
        Kind(value.kind),
        heads_of(value.heads),
        Relation(value.relation) if value.relation else None,
        Sort(value.sort) if value.sort else None,
        value.noun,
        value.comment,
    )


def _seconds(seconds: float | None) -> float | None:
    """Return seconds as the table returns them: a float, without a negative zero.

    Otherwise the text of the log would differ from that of the table, and undo would refuse it.
    """
    return None if seconds is None else float(seconds) + 0.0


def _fields(answer: Answer) -> dict[str, Any]:
    """Return the fields that hold an answer, in a value of an answer and of a gold."""
    return {
        "kind": answer.kind.value,
        "heads": marks_of(answer),
        "relation": answer.relation and answer.relation.value,
        "sort": answer.sort and answer.sort.value,
        "noun": answer.noun,
        "comment": answer.comment,
    }


def content_of(value: AnswerValue | GoldValue) -> tuple[object, ...]:
    """Return what an answer says: without author, time, circumstances and comment."""
    return value.kind, value.heads, value.relation, value.sort, value.noun


def answer_value(answer: Answer, at: str, seen: Exposure, guideline: int | None) -> AnswerValue:
    """Return the value of an answer that a person gives at the time `at`."""
    return AnswerValue(
        **_fields(answer),
        at=at,
        seconds=_seconds(seen.seconds),
        saw_model=seen.saw_model,
        saw_votes=seen.saw_votes,
        guideline=guideline,
        rule_tag=seen.rule_tag,
        in_sheet=seen.in_sheet,
    )


def vote_value(vote: Vote, batch: int | None) -> AnswerValue:
    """Return the value of an answer from an imported file."""
    return AnswerValue(
        **_fields(vote.answer),
        at=vote.answered_at,
        seconds=_seconds(vote.seconds),
        saw_model=vote.saw_model,
        saw_votes=vote.saw_votes,
        guideline=vote.guideline_version,
        rule_tag=vote.rule_tag,
        batch=batch,
        in_sheet=vote.in_sheet,
        timed=vote.timed,
    )


def gold_value(gold: Gold, batch: int | None) -> GoldValue:
    """Return the value of a gold. batch: of the import that brings it; None for none."""
    return GoldValue(
        **_fields(gold.answer),
        rule=gold.rule.value,
        by=gold.adjudicator,
        at=gold.decided_at,
        batch=batch,
        votes=gold.votes,
    )


def vote_of(value: AnswerValue, annotator: str, role: Role, type_: str = PERSON) -> Vote:
    """Return a value as a vote. type_: of the annotator."""
    return Vote(
        annotator,
        role,
        answer_of(value),
        value.at,
        value.seconds,
        value.saw_model,
        value.saw_votes,
        value.guideline,
        value.rule_tag,
        type_,
        value.in_sheet,
        imported=value.batch is not None,
        timed=value.timed,
    )


def gold_of(value: GoldValue) -> Gold:
    return Gold(answer_of(value), Rule(value.rule), value.by, value.at, value.votes)


# --- passages ---------------------------------------------------------------------------


def _little_endian(numbers: "array[int] | array[float]") -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def encode_lemmas(tokens: Iterable[Token]) -> str:
    """Return the lemmas as a JSON array."""
    return _encoder.encode([token.lemma for token in tokens]).decode()


def encode_turns(turns: Iterable[Turn]) -> str:
    """Return the turns as a JSON array of [number, speaker, start, end].

    A turn with times has two more elements, begin and until.
    """
    return _encoder.encode(list(map(_turn_row, turns))).decode()


def _turn_row(turn: Turn) -> tuple[int | str | None, ...]:
    row = (turn.number, turn.speaker, turn.start, turn.end)
    timed = turn.begin is not None or turn.until is not None
    return (*row, turn.begin, turn.until) if timed else row


def turn_rows(turns: Iterable[Turn]) -> tuple[TurnRow, ...]:
    return tuple(TurnRow(t.number, t.speaker, t.start, t.end, t.begin, t.until) for t in turns)


def turns_of(rows: Iterable[TurnRow]) -> tuple[Turn, ...]:
    """The inverse of `turn_rows`."""
    return tuple(Turn(r.number, r.speaker, r.start, r.end, r.begin, r.until) for r in rows)


def decode_lemmas(lemmas: str) -> list[str]:
    """The inverse of `encode_lemmas`."""
    return _strings.decode(lemmas)


def decode_passage(text: str, offsets: bytes, lemmas: str, turns: str) -> Passage:
    """Return a passage from its columns.

    offsets: uint32 pairs start, end, little-endian, in code points. Raises PassageError if the
    columns contradict each other, and MsgspecError for invalid JSON.
    """
    flat = array("I")
    flat.frombytes(offsets)
    if sys.byteorder == "big":
        flat.byteswap()
    tokens = tuple(map(Token, flat[::2], flat[1::2], _strings.decode(lemmas)))
    return Passage(text, tokens, tuple(turns_of(_turns.decode(turns))))


# --- JSON of models and jobs ------------------------------------------------------------


UNREADABLE: Mapping[str, Any] = {}
"""Stands for invalid JSON. Compare by identity: a valid empty object is equal to it."""


def object_of(text: str) -> Mapping[str, Any]:
    """Return the JSON object that a column holds; UNREADABLE for any other text.

    Such objects are figures and settings for display: a damaged one, which the doctor reports,
    must not make the rest unusable.
    """
    try:
        return _objects.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return UNREADABLE


# --- predictions ------------------------------------------------------------------------


def encode_scores(scores: Sequence[float | None]) -> bytes:
    """Return scores as little-endian float32; None becomes NaN."""
    return _little_endian(
        array("f", [float("nan") if score is None else score for score in scores])
    )


def decode_scores(blob: bytes) -> tuple[float | None, ...]:
    """The inverse of `encode_scores`."""
    scores = array("f")
    scores.frombytes(blob)
    if sys.byteorder == "big":
        scores.byteswap()
    return tuple(None if score != score else score for score in scores)


def prediction_of(
    model: str, choice: str, second: str | None, margin: float | None, scores: bytes
) -> Prediction:
    return Prediction(model, choice, second, margin, decode_scores(scores))
