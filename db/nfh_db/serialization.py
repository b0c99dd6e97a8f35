"""What the store writes into blobs and into the log, and how it reads them back.

A value is the whole of one answer, gold, flag or anchor as the log keeps it: canonical
JSON, so that two states are the same exactly if their texts are.
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


class AnswerValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer as the log keeps it. batch: the import that gave it, if one did."""

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


class GoldValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A gold as the log keeps it. by: the adjudicator's name.

    votes: name and time of each answer that a rule made it of.
    """

    kind: str
    rule: str
    heads: Marks = ()
    relation: str | None = None
    sort: str | None = None
    noun: str | None = None
    comment: str = ""
    by: str | None = None
    at: str | None = None
    batch: int | None = None
    votes: tuple[tuple[str, str], ...] = ()


class FlagValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A flag that is set. span: tokens [start, stop) that it proposes for its number."""

    at: str
    batch: int | None = None
    span: tuple[int, int] | None = None


class AnchorValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """An anchor that is not removed; it is live unless another replaced it."""

    passage: int
    start: int
    stop: int
    replaces: int | None = None
    replaced_by: int | None = None


class TurnRow(msgspec.Struct, frozen=True, array_like=True):
    """A turn as the table has it: an array, of six where it is known when it was said."""

    number: int
    speaker: str | None
    start: int
    end: int
    begin: int | None = None
    until: int | None = None


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
    """The canonical JSON of a value; None for what is absent or removed."""
    return None if value is None else _encoder.encode(value).decode()


def json_of(content: object) -> str:
    """Compact JSON of plain data."""
    return _encoder.encode(content).decode()


def decode_answer(text: str | None) -> AnswerValue | None:
    """The inverse of `encode` for an answer."""
    return None if text is None else _answers.decode(text)


def decode_gold(text: str | None) -> GoldValue | None:
    """The inverse of `encode` for a gold."""
    return None if text is None else _golds.decode(text)


def decode_flag(text: str | None) -> FlagValue | None:
    """The inverse of `encode` for a flag."""
    return None if text is None else _flags.decode(text)


def decode_anchor(text: str | None) -> AnchorValue | None:
    """The inverse of `encode` for an anchor."""
    return None if text is None else _anchors.decode(text)


def encode_gold_votes(votes: Sequence[tuple[str, str]]) -> str:
    """The answers that a rule made a gold of, as the table keeps them; "" for none."""
    return json_of(list(votes)) if votes else ""


def decode_gold_votes(text: str) -> tuple[tuple[str, str], ...]:
    """The inverse of `encode_gold_votes`."""
    return _gold_votes.decode(text) if text else ()


# --- answers ----------------------------------------------------------------------------


def marks_of(answer: Answer) -> Marks:
    """The mentions of each head as plain tuples."""
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
    """The answer that a value of the log holds."""
    return Answer(
        Kind(value.kind),
        heads_of(value.heads),
        Relation(value.relation) if value.relation else None,
        Sort(value.sort) if value.sort else None,
        value.noun,
        value.comment,
    )


def _seconds(seconds: float | None) -> float | None:
    """As the table keeps them: a whole number as a float, and no negative zero.

    Else the log would spell a state otherwise than the table, and undo would refuse it.
    """
    return None if seconds is None else float(seconds) + 0.0


def answer_value(answer: Answer, at: str, seen: Exposure, guideline: int | None) -> AnswerValue:
    """A person's answer, given now."""
    return AnswerValue(
        kind=answer.kind.value,
        at=at,
        heads=marks_of(answer),
        relation=answer.relation and answer.relation.value,
        sort=answer.sort and answer.sort.value,
        noun=answer.noun,
        comment=answer.comment,
        seconds=_seconds(seen.seconds),
        saw_model=seen.saw_model,
        saw_votes=seen.saw_votes,
        guideline=guideline,
        rule_tag=seen.rule_tag,
    )


def vote_value(vote: Vote, batch: int | None) -> AnswerValue:
    """An answer as an imported file gives it."""
    answer = vote.answer
    return AnswerValue(
        kind=answer.kind.value,
        at=vote.answered_at,
        heads=marks_of(answer),
        relation=answer.relation and answer.relation.value,
        sort=answer.sort and answer.sort.value,
        noun=answer.noun,
        comment=answer.comment,
        seconds=_seconds(vote.seconds),
        saw_model=vote.saw_model,
        saw_votes=vote.saw_votes,
        guideline=vote.guideline_version,
        rule_tag=vote.rule_tag,
        batch=batch,
    )


def gold_value(gold: Gold, batch: int | None) -> GoldValue:
    """A gold, given by an import if `batch` names one."""
    answer = gold.answer
    return GoldValue(
        kind=answer.kind.value,
        rule=gold.rule.value,
        heads=marks_of(answer),
        relation=answer.relation and answer.relation.value,
        sort=answer.sort and answer.sort.value,
        noun=answer.noun,
        comment=answer.comment,
        by=gold.adjudicator,
        at=gold.decided_at,
        batch=batch,
        votes=gold.votes,
    )


def vote_of(value: AnswerValue, annotator: str, role: Role, type_: str = PERSON) -> Vote:
    """An answer of the log as the screens see it. type_: of the annotator."""
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
        imported=value.batch is not None,
    )


def gold_of(value: GoldValue) -> Gold:
    """A gold of the log as the screens see it."""
    return Gold(answer_of(value), Rule(value.rule), value.by, value.at, value.votes)


# --- passages ---------------------------------------------------------------------------


def _little_endian(numbers: "array[int] | array[float]") -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def encode_lemmas(tokens: Iterable[Token]) -> str:
    """The lemmas as a JSON array."""
    return _encoder.encode([token.lemma for token in tokens]).decode()


def encode_turns(turns: Iterable[Turn]) -> str:
    """The turns as a JSON array of [number, speaker, start, end], begin and until behind it
    where they are known.
    """
    return _encoder.encode(list(map(_turn_row, turns))).decode()


def _turn_row(turn: Turn) -> tuple[int | str | None, ...]:
    row = (turn.number, turn.speaker, turn.start, turn.end)
    timed = turn.begin is not None or turn.until is not None
    return (*row, turn.begin, turn.until) if timed else row


def turn_rows(turns: Iterable[Turn]) -> tuple[TurnRow, ...]:
    """The turns as rows."""
    return tuple(TurnRow(t.number, t.speaker, t.start, t.end, t.begin, t.until) for t in turns)


def turns_of(rows: Iterable[TurnRow]) -> tuple[Turn, ...]:
    """The inverse of `turn_rows`."""
    return tuple(Turn(r.number, r.speaker, r.start, r.end, r.begin, r.until) for r in rows)


def decode_lemmas(lemmas: str) -> list[str]:
    """The inverse of `encode_lemmas`."""
    return _strings.decode(lemmas)


def decode_passage(text: str, offsets: bytes, lemmas: str, turns: str) -> Passage:
    """A passage from its columns. Raises PassageError if they contradict each other."""
    flat = array("I")
    flat.frombytes(offsets)
    if sys.byteorder == "big":
        flat.byteswap()
    tokens = tuple(map(Token, flat[::2], flat[1::2], _strings.decode(lemmas)))
    return Passage(text, tokens, tuple(turns_of(_turns.decode(turns))))


# --- what models and jobs note ----------------------------------------------------------


UNREADABLE: Mapping[str, Any] = {}
"""What stands for JSON that is none: this one object, for whoever must know."""


def object_of(text: str) -> Mapping[str, Any]:
    """The JSON object that a column holds; UNREADABLE where it holds anything else.

    Figures and settings are for people to look at: a damaged one, of which the doctor tells,
    is to keep nobody from the rest.
    """
    try:
        return _objects.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return UNREADABLE


# --- predictions ------------------------------------------------------------------------


def encode_scores(scores: Sequence[float | None]) -> bytes:
    """Scores as little-endian float32; NaN where a candidate has none."""
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
    """A prediction from its columns."""
    return Prediction(model, choice, second, margin, decode_scores(scores))
