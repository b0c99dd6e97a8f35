"""Format `gold`: the workbench's own JSON lines. Keys are written in the order of KEYS and read
strictly.

Each line of version "nfh-gold/1" has its whole passage. In the compact version, "nfh-gold/2",
only the first line of a passage has it; the others lack PASSAGE_KEYS. Each line names the
passage by its digest, and means the one that was written last.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from nfh_db.formats.fields import Fields, sound_digest
from nfh_db.formats.files import Source
from nfh_db.formats.rows import GoldRow, RawPassage, per_token, release_head, runs
from nfh_db.messages import shown
from nfh_db.records import (
    BY_RULE,
    PERSON,
    RULE,
    ExportRecord,
    FlagMark,
    FlagName,
    Gold,
    Role,
    Rule,
    Vote,
)
from nfh_db.records import MODEL as BY_MODEL
from nfh_models.domain import (
    Anchor,
    Answer,
    AnswerError,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    PassageError,
    Relation,
    Sort,
    Turn,
    anchor_id,
)

# `times` of a `gold` line: one entry for each turn, in order. Turns are the runs of equal
# `line_indices` and `speakers`. An entry is [begin, until] in milliseconds from the start of
# the recording, either of them null if it is not known; null for a turn without both. A line
# without any time has no such key.

TIMES = "times"

Time = tuple[int | None, int | None]


def times_of(turns: Sequence[Turn]) -> list[Time | None] | None:
    """The times of the turns; None if none of them has a time."""
    times = [None if t.begin is t.until is None else (t.begin, t.until) for t in turns]
    return times if any(times) else None


def with_times(fields: Fields, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The turns with the times of a line, if it has the key.

    Raises FormatError unless there is one entry for each turn, and at least one time.
    """
    if TIMES not in fields.values:
        return turns
    entries = fields.items(TIMES)
    if len(entries) != len(turns):
        raise fields.refuse(TIMES, f"{len(turns)} entries, one a turn")
    times = [_checked(fields, entry) for entry in entries]
    if not any(times):
        raise fields.refuse(TIMES, "a time, or no such key")
    return tuple(
        turn if time is None else replace(turn, begin=time[0], until=time[1])
        for turn, time in zip(turns, times, strict=True)
    )


def _checked(fields: Fields, entry: object) -> Time | None:
    if entry is None:
        return None
    if not isinstance(entry, list) or len(entry) != 2 or entry == [None, None]:
        raise fields.refuse(TIMES, "pairs of milliseconds, or null", entry)
    for place in entry:
        if place is not None and (type(place) is not int or not 0 <= place < 1 << 53):
            raise fields.refuse(TIMES, "whole milliseconds from 0 on, or null", entry)
    begin, until = entry
    return begin, until


FORMAT = "nfh-gold/1"
COMPACT = "nfh-gold/2"

SEAL = len(',"digest":""}') + 64
"""Characters of a line from its digest to its end."""

KEYS = tuple(
    "tokens line_indices speakers anchors_indices head format id passage text offsets times "
    "kind heads relation sort noun flags split rule adjudicator decided_at settled_on votes "
    "comment model scores digest".split()
)
SETTLED_ON = "settled_on"
"""The answers of which a rule made the gold."""
MODEL = "model"
"""Only in a predicted line: kind and heads are the model's answer then, not gold."""
SCORES = "scores"
"""The model's scores, if they were requested."""
OPTIONAL = (TIMES, SETTLED_ON, MODEL, SCORES)
PASSAGE = "passage"
"""The digest of the passage, only in a compact line."""
PASSAGE_KEYS = ("tokens", "line_indices", "speakers", "text", "offsets", TIMES)

MODEL_KEYS = tuple(
    "name recipe version identifier rule score pattern second margin several".split()
)
HEAD_KEYS = ("mentions",)
MENTION_KEYS = ("start", "end", "head", "origin")
FLAG_KEYS = ("name", "annotator", "at")
SPAN = "span"
"""Only of a flag `anchor` that proposes another span: tokens [start, end)."""
ANSWER_KEYS = ("kind", "heads", "relation", "sort", "noun", "comment")
VOTE_KEYS = (
    "annotator", "role", *ANSWER_KEYS, "seconds", "saw_model", "saw_votes", "guideline_version",
    "rule_tag", "at",
)  # fmt: skip
TYPE = "type"
"""Only of a vote that no person gave: "model" or "rule"."""
IN_SHEET = "in_sheet"
"""Only of an expert's decision in a review sheet: true."""
TIMED = "timed"
"""Only of a vote that came without a time, whose `at` is that of its import: false."""


class GoldWriter:
    """Makes `gold` lines of records, whose passages follow one another.

    Equal records give equal lines, unless they are compact. left_out: stays empty.
    """

    def __init__(self, *, compact: bool = False) -> None:
        self.left_out: Counter[str] = Counter()
        self._format = COMPACT if compact else FORMAT
        self._passage = ""
        self._words = self._text = ""
        """JSON of the keys of the last passage."""

    def line(self, record: ExportRecord) -> str:
        """The record's line, with its end."""
        passage = record.passage
        new = passage.digest != self._passage
        if new:
            self._passage = passage.digest
            self._words, self._text = _members(_words(passage)), _members(_text(passage))
        number, decision = _number(record), _members(_decided(record))
        if self._format == COMPACT:
            number |= {"format": COMPACT, PASSAGE: passage.digest}
        parts = (self._words, _members(number), self._text, decision)
        whole = new or self._format == FORMAT
        return _sealed(f"{{{','.join(parts if whole else parts[1::2])}}}")


def prediction_line(
    record: ExportRecord, model: Mapping[str, object], scores: object | None = None
) -> str:
    """The line, with its end, of a model's answer: the only vote of a record without gold.

    The answer is in the place of the gold, where readers of the release expect it; the key
    `model` marks it as a prediction. model: values of MODEL_KEYS; its "name" is the vote's
    annotator. scores: left out if None.
    """
    (vote,) = record.votes
    head = {"head": release_head(vote.answer, record.anchor) or []}
    values = _values(record) | head | _answer_values(vote.answer) | {MODEL: model}
    return seal(values if scores is None else values | {SCORES: scores})


def _answer_values(answer: Answer | None) -> dict[str, object]:
    """The values of ANSWER_KEYS."""
    if answer is None:
        return {**dict.fromkeys(ANSWER_KEYS), "heads": [], "comment": ""}
    heads = [
        {"mentions": [{key: getattr(m, key) for key in MENTION_KEYS} for m in head.mentions]}
        for head in answer.heads
    ]
    return {
        "kind": answer.kind.value,
        "heads": heads,
        "relation": answer.relation,
        "sort": answer.sort,
        "noun": answer.noun,
        "comment": answer.comment,
    }


def seal(values: Mapping[str, object]) -> str:
    """The line, with its end, of values in the order of KEYS, with their digest."""
    return _sealed(compact_json(values))


def _sealed(body: str) -> str:
    """The line, with its end, of JSON in the order of KEYS, with its digest."""
    return f'{body[:-1]},"digest":"{_sha256(body)}"}}\n'


def _members(values: Mapping[str, object]) -> str:
    """The members of an object as JSON, without its braces."""
    return compact_json(values)[1:-1]


def is_sealed(line: str) -> bool:
    """True if a line, without its end, is exactly what `seal` made."""
    body, digest = line[:-SEAL], line[-SEAL:]
    return digest.startswith(',"digest":"') and digest == (
        f',"digest":"{_sha256(body + "}")}"}}'
    )


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compact_json(value: object) -> str:
    """JSON without white space and escapes, keys in the given order."""
    return _ENCODER.encode(value)


def digest_of(values: Mapping[str, object]) -> str:
    """The digest of a line with these values, whatever the order of its keys."""
    content = {key: values[key] for key in KEYS if key in values and key != "digest"}
    votes = (*VOTE_KEYS, TYPE, IN_SHEET, TIMED)
    for key, keys in (("flags", (*FLAG_KEYS, SPAN)), ("votes", votes)):
        content[key] = [_ordered(item, keys) for item in _list(content[key])]
    content["heads"] = _ordered_heads(content["heads"])
    if MODEL in content:
        content[MODEL] = _ordered(content[MODEL], MODEL_KEYS)
    for vote in _list(content["votes"]):
        if isinstance(vote, dict):
            vote["heads"] = _ordered_heads(vote["heads"])
    return _sha256(compact_json(content))


def _ordered_heads(heads: object) -> list[object]:
    return [
        {"mentions": [_ordered(mention, MENTION_KEYS) for mention in _list(head["mentions"])]}
        for head in _list(heads)
        if isinstance(head, dict)
    ]


def _ordered(item: object, keys: Sequence[str]) -> dict[str, object]:
    return {key: item[key] for key in keys if key in item} if isinstance(item, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _values(record: ExportRecord) -> dict[str, object]:
    passage = record.passage
    return _words(passage) | _number(record) | _text(passage) | _decided(record)


def _words(passage: Passage) -> dict[str, object]:
    numbers, speakers = per_token(passage.turns)
    words = [passage.text[token.start : token.end] for token in passage.tokens]
    return {"tokens": words, "line_indices": numbers, "speakers": speakers}


def _number(record: ExportRecord) -> dict[str, object]:
    anchor, answer = record.anchor, record.gold.answer if record.gold else None
    return {
        "anchors_indices": list(range(anchor.start, anchor.end)),
        "head": release_head(answer, anchor) or [],
        "format": FORMAT,
        "id": record.public_id,
    }


def _text(passage: Passage) -> dict[str, object]:
    times = times_of(passage.turns)
    offsets = [(token.start, token.end) for token in passage.tokens]
    values: dict[str, object] = {"text": passage.text, "offsets": offsets}
    return values if times is None else values | {TIMES: times}


def _decided(record: ExportRecord) -> dict[str, object]:
    gold = record.gold
    values = _answer_values(gold.answer if gold else None)
    return {
        **{key: values[key] for key in ANSWER_KEYS if key != "comment"},
        "flags": [_flag(f) for f in sorted(record.flags, key=lambda f: (f.name, f.annotator))],
        "split": record.split,
        **_decision(gold),
        "votes": [_vote(v) for v in sorted(record.votes, key=lambda v: (v.annotator, v.role))],
        "comment": values["comment"],
    }


def _decision(gold: Gold | None) -> dict[str, object]:
    decision: dict[str, object] = {
        "rule": gold.rule if gold else None,
        "adjudicator": gold.adjudicator if gold else None,
        "decided_at": gold.decided_at if gold else None,
    }
    if gold is not None and gold.votes and gold.rule in BY_RULE:
        decision[SETTLED_ON] = [[name, at] for name, at in sorted(gold.votes)]
    return decision


def _flag(flag: FlagMark) -> dict[str, object]:
    proposed = {} if flag.ends is None else {SPAN: flag.ends}
    named = {"name": flag.name, "annotator": flag.annotator}
    return {**named, "at": flag.flagged_at, **proposed}


def _vote(vote: Vote) -> dict[str, object]:
    given = (vote.seconds, vote.saw_model, vote.saw_votes, vote.guideline_version)
    values = (*_answer_values(vote.answer).values(), *given, vote.rule_tag, vote.answered_at)
    by_whom = {} if vote.type == PERSON else {TYPE: vote.type}
    return {
        **dict(zip(VOTE_KEYS, (vote.annotator, vote.role, *values), strict=True)),
        **by_whom,
        **({IN_SHEET: True} if vote.in_sheet else {}),
        **({} if vote.timed else {TIMED: False}),
    }


KINDS = tuple(Kind)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
NOBODY = (BY_MODEL, RULE)
"""Types of annotators that are no person."""

UNDECIDED = ("relation", "sort", "noun", "rule", "adjudicator", "decided_at")
"""Keys that are null if the kind is."""


def read(source: Source) -> Iterator[GoldRow]:
    """The rows of a `gold` file. Raises FormatError at the first invalid line."""
    last = None
    for number, text in source.rows():
        fields = Fields.of_line(source, number, text)
        last = _passage_of_line(fields, last)
        yield _row(fields, text, *last)


def _passage_of_line(
    fields: Fields, last: tuple[RawPassage, str] | None
) -> tuple[RawPassage, str]:
    """The passage of a line and its digest. last: those of the line before."""
    values = fields.values
    _check_format(fields)
    compact = values.get("format") == COMPACT
    refers = compact and not any(key in values for key in PASSAGE_KEYS)
    left_out = PASSAGE_KEYS if refers else () if compact else (PASSAGE,)
    fields.expect_keys(
        [key for key in KEYS if key not in left_out and (key not in OPTIONAL or key in values)]
    )
    if not refers:
        raw = _passage(fields)
        try:
            last = raw, sound_digest(raw)
        except PassageError as error:
            raise fields.source.error(fields.line, f'key "offsets": {error}') from error
    if last is None or (compact and fields.text(PASSAGE) != last[1]):
        wanted = (
            "the digest of the passage that was written last: the lines of a passage stay "
            "together, the first one with its text"
        )
        raise fields.refuse(PASSAGE, wanted)
    return last


def _row(fields: Fields, line: str, passage: RawPassage, digest: str) -> GoldRow:
    count = len(passage.words)
    anchor = fields.anchor(count)
    public_id = anchor_id(digest, anchor)
    if fields.text("id") != public_id:
        raise fields.refuse("id", f'"{public_id}", the hash of this passage and anchor')
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
    # Checked before the keys, which may differ in another version.
    found = fields.values.get("format", FORMAT)
    if found not in (FORMAT, COMPACT):
        wanted = f'"{FORMAT}" or "{COMPACT}", the versions that this program reads'
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
    """Starts and ends. Raises FormatError for a pair that does not fit text and token."""
    starts: list[int] = []
    ends: list[int] = []
    for index, (pair, word) in enumerate(zip(fields.items("offsets"), words, strict=True)):
        if not isinstance(pair, list) or [type(place) for place in pair] != [int, int]:
            raise fields.refuse("offsets", f"a pair of whole numbers for token {index}", pair)
        start, end = pair
        if start < 0 or text[start:end] != word:
            there = text[start:end] if start >= 0 else ""
            wanted = f"where token {index}, {shown(word)}, is; found {shown(there)} there"
            raise fields.refuse("offsets", wanted, pair)
        starts.append(start)
        ends.append(end)
    return starts, ends


def _gold(fields: Fields, count: int, anchor: Anchor) -> Gold | None:
    values = fields.values
    if values["kind"] is None:
        for key in UNDECIDED:
            if values[key] is not None:
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
        adjudicator=None if values["adjudicator"] is None else fields.name("adjudicator"),
        decided_at=None if values["decided_at"] is None else _time(fields, "decided_at"),
        votes=_settled_on(fields),
    )


def _settled_on(fields: Fields) -> tuple[tuple[str, str], ...]:
    """Name and time of each answer of which a rule made the gold."""
    if SETTLED_ON not in fields.values:
        return ()
    if fields.values["rule"] not in BY_RULE:
        wanted = f"no such key, since the rule is not {' or '.join(BY_RULE)}"
        raise fields.refuse(SETTLED_ON, wanted)
    votes = []
    for index, pair in enumerate(fields.items(SETTLED_ON)):
        if not isinstance(pair, list) or len(pair) != 2:
            raise fields.refuse(SETTLED_ON, "pairs of a name and a time", pair)
        values = {"annotator": pair[0], "at": pair[1]}
        inner = Fields(fields.source, fields.line, values, f"{SETTLED_ON}[{index}].")
        votes.append((inner.name("annotator"), _time(inner, "at")))
    names = [name for name, _ in votes]
    if not names or names != sorted(set(names)):
        raise fields.refuse(SETTLED_ON, "each name once, in order, and at least one")
    return tuple(votes)


def _answer(fields: Fields, count: int, anchor: Anchor) -> Answer:
    """The answer of an object with ANSWER_KEYS."""
    kind = Kind(fields.choice("kind", KINDS))
    relation = fields.optional_choice("relation", tuple(Relation))
    sort = fields.optional_choice("sort", tuple(Sort))
    try:
        answer = Answer(
            kind=kind,
            heads=tuple(
                Head(tuple(map(_mention, head.objects("mentions", MENTION_KEYS))))
                for head in fields.objects("heads", HEAD_KEYS)
            ),
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


def _mention(fields: Fields) -> Mention:
    return Mention(
        start=fields.integer("start"),
        end=fields.integer("end"),
        head=fields.integer("head"),
        origin=Origin(fields.choice("origin", tuple(Origin))),
    )


def _votes(fields: Fields, count: int, anchor: Anchor, *, predicted: bool) -> tuple[Vote, ...]:
    """The votes. predicted: the line is a prediction, whose only vote is the model's."""
    by_default = BY_MODEL if predicted else PERSON
    votes = []
    seen: set[tuple[str, Role]] = set()
    for inner in fields.objects("votes", VOTE_KEYS, TYPE, IN_SHEET, TIMED):
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
            in_sheet=IN_SHEET in inner.values and inner.boolean(IN_SHEET),
            timed=TIMED not in inner.values or inner.boolean(TIMED),
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
        trouble = flag.problem(anchor, count)
        if trouble:
            raise inner.refuse(SPAN, f"another one, since {trouble}")
        if (flag.name, flag.annotator) in seen:
            raise inner.refuse("name", "each flag of an annotator once")
        seen.add((flag.name, flag.annotator))
        flags.append(flag)
    return tuple(flags)


def _span(fields: Fields) -> Anchor | None:
    """The span that a flag proposes."""
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
    """True for a valid UTC time to the millisecond."""
    if not TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _check_prediction(fields: Fields, row: GoldRow) -> None:
    """Raise FormatError unless a predicted line has the model's answer both as its vote and in
    the place of the gold, and no decision.
    """
    model = fields.values[MODEL]
    if not isinstance(model, dict):
        raise fields.refuse(MODEL, "an object")
    inner = Fields(fields.source, fields.line, model, f"{MODEL}.")
    inner.expect_keys(MODEL_KEYS)
    if [vote.annotator for vote in row.votes] != [inner.name("name")]:
        raise inner.refuse("name", "the annotator of the line's only vote")
    for key in ("rule", "adjudicator", "decided_at"):
        if fields.values[key] is not None:
            raise fields.refuse(key, f'null beside "{MODEL}": a prediction is not gold')
    if SETTLED_ON in fields.values:
        raise fields.refuse(SETTLED_ON, f'no such key beside "{MODEL}"')
    for key in (MODEL, SCORES):
        try:
            compact_json(fields.values.get(key)).encode("utf-8")
        except (TypeError, ValueError) as error:  # NaN, 1e999
            raise fields.refuse(key, "finite numbers and text") from error
    answer = row.votes[0].answer
    if _answer(fields, len(row.passage.words), row.anchor) != answer:
        raise fields.refuse("kind", "what the vote says, heads and all")
    _check_head(fields, answer, row.anchor)


def _check_head(fields: Fields, answer: Answer | None, anchor: Anchor) -> None:
    """Raise FormatError unless `head` is the release's form of kind and heads."""
    wanted = release_head(answer, anchor) or []
    found = fields.items("head")
    if found != wanted or list(map(type, found)) != list(map(type, wanted)):
        raise fields.refuse("head", f"{shown(wanted)}, the release's form of kind and heads")


def _check_digest(fields: Fields) -> None:
    """Raise FormatError if the line was changed after it was written."""
    if fields.text("digest") != digest_of(fields.values):
        raise fields.source.error(
            fields.line,
            'key "digest": does not fit the line, so the line was changed after it was '
            "written; wanted the line as it was exported",
        )
