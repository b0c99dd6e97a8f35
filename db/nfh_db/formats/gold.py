"""`gold`: the workbench's own JSONL, read strictly: what contradicts itself is refused."""

import re
from collections.abc import Iterator
from datetime import datetime

from nfh_db.errors import FormatError
from nfh_db.formats.fields import Fields
from nfh_db.formats.gold_form import (
    FLAG_KEYS,
    FORMAT,
    HEAD_KEYS,
    KEYS,
    MENTION_KEYS,
    MODEL,
    MODEL_KEYS,
    OPTIONAL,
    SCORES,
    SETTLED_ON,
    SPAN,
    TYPE,
    VOTE_KEYS,
    digest_of,
    is_sealed,
    spelled,
)
from nfh_db.formats.gold_times import with_times
from nfh_db.formats.reading import Source
from nfh_db.formats.release import release_head
from nfh_db.formats.rows import GoldRow, RawPassage, runs
from nfh_db.formats.soundness import sound_digest
from nfh_db.formats.wording import shown
from nfh_db.records import BY_RULE, PERSON, RULE, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_db.records import MODEL as BY_MODEL
from nfh_models.domain import (
    Anchor,
    Answer,
    AnswerError,
    Head,
    Kind,
    Mention,
    Origin,
    PassageError,
    Relation,
    Sort,
    anchor_id,
)

KINDS = tuple(Kind)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
NOBODY = (BY_MODEL, RULE)
"""Types of annotators that are no person."""

UNDECIDED = ("relation", "sort", "noun", "rule", "adjudicator", "decided_at")
"""Keys that are null while the kind is."""


def read(source: Source) -> Iterator[GoldRow]:
    """The rows of a `gold` file. Raises FormatError at the first line that does not hold."""
    for number, text in source.rows():
        yield _row(Fields.of_line(source, number, text), text)


def _row(fields: Fields, line: str) -> GoldRow:
    _check_format(fields)
    fields.expect_keys([key for key in KEYS if key not in OPTIONAL or key in fields.values])
    passage = _passage(fields)
    count = len(passage.words)
    anchor = fields.anchor(count)
    _check_id(fields, passage, anchor)
    predicted = MODEL in fields.values
    if SCORES in fields.values and not predicted:
        raise fields.refuse(SCORES, f'no such key without "{MODEL}"')
    row = GoldRow(
        line=fields.line,
        passage=passage,
        anchor=anchor,
        split=fields.optional_text("split"),
        gold=None if predicted else _gold(fields, count, anchor),
        votes=_votes(fields, count, anchor, predicted=predicted),
        flags=_flags(fields, count, anchor),
    )
    if predicted:
        _check_prediction(fields, row)
    else:
        _check_head(fields, row.gold.answer if row.gold else None, anchor)
    if not is_sealed(line):
        _check_digest(fields)
    return row


def _check_format(fields: Fields) -> None:
    """Say first if the line is of another version: its keys may differ, rightly."""
    found = fields.values.get("format", FORMAT)
    if found != FORMAT:
        wanted = f'"{FORMAT}", the only version that this program reads'
        raise fields.refuse("format", wanted)


def _passage(fields: Fields) -> RawPassage:
    words = fields.strings("tokens")
    speakers, had_nan = fields.speakers()
    if had_nan:
        raise fields.refuse("speakers", "strings or null")
    numbers = fields.turn_numbers()
    for key in ("line_indices", "speakers", "offsets"):
        fields.same_length(key, len(words))
    text = fields.text("text")
    starts, ends = _offsets(fields, text, words)
    turns = with_times(fields, runs(numbers, speakers))
    return RawPassage(text, words, starts, ends, turns)


def _offsets(fields: Fields, text: str, words: list[str]) -> tuple[list[int], list[int]]:
    """Starts and ends, each pair checked against text and token. Raises FormatError."""
    starts: list[int] = []
    ends: list[int] = []
    for index, (pair, word) in enumerate(zip(fields.items("offsets"), words, strict=True)):
        if not isinstance(pair, list) or [type(place) for place in pair] != [int, int]:
            raise fields.refuse("offsets", f"a pair of whole numbers for token {index}", pair)
        start, end = pair
        if start < 0 or text[start:end] != word:
            there = text[start:end] if start >= 0 else ""
            wanted = f"where token {index}, {shown(word)}, stands; there stands {shown(there)}"
            raise fields.refuse("offsets", wanted, pair)
        starts.append(start)
        ends.append(end)
    return starts, ends


def _check_id(fields: Fields, raw: RawPassage, anchor: Anchor) -> None:
    """Raise FormatError unless the offsets make a passage and `id` is its anchor's."""
    try:
        digest = sound_digest(raw)
    except PassageError as error:
        raise fields.source.error(fields.line, f'key "offsets": {error}') from error
    public_id = anchor_id(digest, anchor)
    if fields.text("id") != public_id:
        raise fields.refuse("id", f'"{public_id}", the hash of this passage and anchor')


def _gold(fields: Fields, count: int, anchor: Anchor) -> Gold | None:
    if fields.values["kind"] is None:
        for key in UNDECIDED:
            if fields.values[key] is not None:
                raise fields.refuse(key, "null, since the kind is null")
        if fields.items("heads"):
            raise fields.refuse("heads", "an empty list, since the kind is null")
        if fields.text("comment"):
            raise fields.refuse("comment", "an empty string, since the kind is null")
        if SETTLED_ON in fields.values:
            raise fields.refuse(SETTLED_ON, "no such key, since the kind is null")
        return None
    return Gold(
        answer=_answer(fields, count, anchor),
        rule=Rule(fields.choice("rule", tuple(Rule))),
        adjudicator=_optional_name(fields, "adjudicator"),
        decided_at=_optional_time(fields, "decided_at"),
        votes=_settled_on(fields),
    )


def _settled_on(fields: Fields) -> tuple[tuple[str, str], ...]:
    """Name and time of each answer that a rule made the gold of; none if it is not said."""
    if SETTLED_ON not in fields.values:
        return ()
    if fields.values["rule"] not in BY_RULE:
        wanted = f"no such key, since the rule is not {' or '.join(BY_RULE)}"
        raise fields.refuse(SETTLED_ON, wanted)
    votes = [_settled_vote(fields, index) for index in range(len(fields.items(SETTLED_ON)))]
    names = [name for name, _ in votes]
    if not names or names != sorted(set(names)):
        raise fields.refuse(SETTLED_ON, "each name once, in order, and at least one")
    return tuple(votes)


def _settled_vote(fields: Fields, index: int) -> tuple[str, str]:
    """One pair, checked as a vote's own name and time are."""
    pair = fields.items(SETTLED_ON)[index]
    if not isinstance(pair, list) or len(pair) != 2:
        raise fields.refuse(SETTLED_ON, "pairs of a name and a time", pair)
    values = {"annotator": pair[0], "at": pair[1]}
    inner = Fields(fields.source, fields.line, values, f"{SETTLED_ON}[{index}].")
    return inner.name("annotator"), _time(inner, "at")


def _answer(fields: Fields, count: int, anchor: Anchor) -> Answer:
    """The answer that an object's kind, heads, relation, sort, noun and comment make."""
    kind = Kind(fields.choice("kind", KINDS))
    relation = fields.optional_choice("relation", tuple(Relation))
    sort = fields.optional_choice("sort", tuple(Sort))
    try:
        answer = Answer(
            kind=kind,
            heads=tuple(map(_head, fields.objects("heads", HEAD_KEYS))),
            relation=Relation(relation) if relation else None,
            sort=Sort(sort) if sort else None,
            noun=fields.optional_text("noun"),
            comment=fields.text("comment"),
        )
        answer.check(count, anchor.start, anchor.end)
    except AnswerError as error:
        where = f'key "{fields.path[:-1]}"' if fields.path else "the gold answer"
        raise fields.source.error(fields.line, f"{where}: {error}") from error
    return answer


def _head(fields: Fields) -> Head:
    return Head(tuple(map(_mention, fields.objects("mentions", MENTION_KEYS))))


def _mention(fields: Fields) -> Mention:
    return Mention(
        start=fields.integer("start"),
        end=fields.integer("end"),
        head=fields.integer("head"),
        origin=Origin(fields.choice("origin", tuple(Origin))),
    )


def _votes(fields: Fields, count: int, anchor: Anchor, *, predicted: bool) -> tuple[Vote, ...]:
    """The votes. predicted: a line that a model wrote, whose one vote is the model's."""
    by_default = BY_MODEL if predicted else PERSON
    votes = []
    seen: set[tuple[str, Role]] = set()
    for inner in fields.objects("votes", VOTE_KEYS, TYPE):
        vote = Vote(
            annotator=inner.name("annotator"),
            role=Role(inner.choice("role", tuple(Role))),
            answer=_answer(inner, count, anchor),
            answered_at=_time(inner, "at"),
            seconds=inner.optional_seconds("seconds"),
            saw_model=inner.boolean("saw_model"),
            saw_votes=inner.boolean("saw_votes"),
            guideline_version=inner.optional_integer("guideline_version"),
            rule_tag=inner.optional_text("rule_tag"),
            type=inner.choice(TYPE, NOBODY) if TYPE in inner.values else by_default,
        )
        if (vote.annotator, vote.role) in seen:
            raise inner.refuse("annotator", f"one vote of each {vote.role}")
        seen.add((vote.annotator, vote.role))
        votes.append(vote)
    return tuple(votes)


def _flags(fields: Fields, count: int, anchor: Anchor) -> tuple[FlagMark, ...]:
    flags = []
    seen: set[tuple[str, str]] = set()
    for inner in fields.objects("flags", FLAG_KEYS, SPAN):
        name = FlagName(inner.choice("name", tuple(FlagName)))
        flag = FlagMark(name, inner.name("annotator"), _time(inner, "at"), _span(inner))
        trouble = flag.trouble(anchor, count)
        if trouble:
            raise inner.refuse(SPAN, f"another one, since {trouble}")
        if (flag.name, flag.annotator) in seen:
            raise inner.refuse("name", "each flag of an annotator once")
        seen.add((flag.name, flag.annotator))
        flags.append(flag)
    return tuple(flags)


def _span(fields: Fields) -> Anchor | None:
    """The span that a flag proposes, if it does."""
    if SPAN not in fields.values:
        return None
    span = fields.integers(SPAN)
    if len(span) != 2:
        raise fields.refuse(SPAN, "two token indices: start and end")
    return Anchor(*span)


def _time(fields: Fields, key: str) -> str:
    value = fields.text(key)
    if not is_a_time(value):
        raise fields.refuse(key, 'a UTC time such as "2025-01-31T12:00:00.000Z"')
    return value


def is_a_time(value: str) -> bool:
    """True for a UTC time to the millisecond that the calendar and the clock have."""
    if not TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _optional_time(fields: Fields, key: str) -> str | None:
    return None if fields.values[key] is None else _time(fields, key)


def _optional_name(fields: Fields, key: str) -> str | None:
    return None if fields.values[key] is None else fields.name(key)


def _check_prediction(fields: Fields, row: GoldRow) -> None:
    """Raise FormatError unless a line says what a model answered, once as its vote and once
    where gold would stand, and nothing of gold."""
    model = fields.values[MODEL]
    if not isinstance(model, dict):
        raise fields.refuse(MODEL, "an object")
    inner = Fields(fields.source, fields.line, model, f"{MODEL}.")
    inner.expect_keys(MODEL_KEYS)
    if [vote.annotator for vote in row.votes] != [inner.name("name")]:
        raise inner.refuse("name", "the annotator of the line's only vote")
    for key in ("rule", "adjudicator", "decided_at"):
        if fields.values[key] is not None:
            raise fields.refuse(key, f'null beside "{MODEL}": a prediction is no gold')
    if SETTLED_ON in fields.values:
        raise fields.refuse(SETTLED_ON, f'no such key beside "{MODEL}"')
    _check_plain(fields)
    answer = row.votes[0].answer
    if _answer(fields, len(row.passage.words), row.anchor) != answer:
        raise fields.refuse("kind", "what the vote says, heads and all")
    _check_head(fields, answer, row.anchor)


def _check_plain(fields: Fields) -> None:
    """Raise FormatError where a prediction's figures hold what no JSON can (NaN, 1e999)."""
    for key in (MODEL, SCORES):
        try:
            spelled(fields.values.get(key)).encode("utf-8")
        except (TypeError, ValueError) as error:
            raise fields.refuse(key, "finite numbers and text") from error


def _check_head(fields: Fields, answer: Answer | None, anchor: Anchor) -> None:
    """Raise FormatError unless `head` is the release's form of kind and heads."""
    wanted = release_head(answer, anchor) or []
    found = fields.items("head")
    if found != wanted or list(map(type, found)) != list(map(type, wanted)):
        raise fields.refuse("head", f"{shown(wanted)}, the release's form of kind and heads")


def _check_digest(fields: Fields) -> None:
    """Raise FormatError if the line was changed after it was written."""
    if fields.text("digest") != digest_of(fields.values):
        raise _changed(fields)


def _changed(fields: Fields) -> FormatError:
    return fields.source.error(
        fields.line,
        'key "digest": does not fit the line, so the line was changed after it was written; '
        "wanted the line as it was exported",
    )
