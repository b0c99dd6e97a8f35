"""The form of a `gold` line ("nfh-gold/1"): its keys in order, its spelling, its digest."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence

from nfh_db.formats.gold_times import TIMES, times_of
from nfh_db.formats.release import Mentions, release_head
from nfh_db.formats.rows import per_token
from nfh_db.records import BY_RULE, PERSON, ExportRecord, FlagMark, Gold, Vote
from nfh_models.domain import Anchor, Answer, Head

FORMAT = "nfh-gold/1"

SEAL = len(',"digest":""}') + 64
"""Characters of a line from its digest on."""

KEYS = (
    "tokens",
    "line_indices",
    "speakers",
    "anchors_indices",
    "head",
    "format",
    "id",
    "text",
    "offsets",
    "times",
    "kind",
    "heads",
    "relation",
    "sort",
    "noun",
    "flags",
    "split",
    "rule",
    "adjudicator",
    "decided_at",
    "settled_on",
    "votes",
    "comment",
    "model",
    "scores",
    "digest",
)
SETTLED_ON = "settled_on"
"""Of what answers a rule made the gold."""
MODEL = "model"
"""Only of a line that a model predicted: kind and heads are the model's then, not gold."""
SCORES = "scores"
"""The model's scores, where it was asked for them."""
OPTIONAL = (TIMES, SETTLED_ON, MODEL, SCORES)
"""The keys that a line need not have."""

MODEL_KEYS = (
    "name",
    "recipe",
    "version",
    "identifier",
    "rule",
    "score",
    "pattern",
    "second",
    "margin",
    "several",
)
HEAD_KEYS = ("mentions",)
MENTION_KEYS = ("start", "end", "head", "origin")
FLAG_KEYS = ("name", "annotator", "at")
SPAN = "span"
"""Only of a flag `anchor` that proposes another span: tokens [start, end)."""
VOTE_KEYS = (
    "annotator",
    "role",
    "kind",
    "heads",
    "relation",
    "sort",
    "noun",
    "comment",
    "seconds",
    "saw_model",
    "saw_votes",
    "guideline_version",
    "rule_tag",
    "at",
)
TYPE = "type"
"""Only of a vote that no person gave: "model" or "rule"."""


class GoldWriter:
    """Makes `gold` lines of records; none is left out. The same record, the same line."""

    def __init__(self, mentions: Mentions = "all") -> None:  # noqa: ARG002
        self.left_out: Counter[str] = Counter()

    def line(self, record: ExportRecord) -> str:
        """The record's line, with its end."""
        return seal(_values(record))


def prediction_line(
    record: ExportRecord, model: Mapping[str, object], scores: object | None = None
) -> str:
    """The line, with its end, of a model's answer: the one vote of a record without gold.

    The answer stands where gold would, so that what reads the release reads it; that `model`
    is there says that it is none. model: MODEL_KEYS with what is known of the model and of
    this prediction; its "name" is the vote's annotator. scores: left out if None.
    """
    (vote,) = record.votes
    values = _values(record) | _as_gold(vote.answer, record.anchor) | {MODEL: model}
    return seal(values if scores is None else values | {SCORES: scores})


def _as_gold(answer: Answer, anchor: Anchor) -> dict[str, object]:
    return {
        "head": release_head(answer, anchor) or [],
        "kind": answer.kind.value,
        "heads": _heads(answer.heads),
        "relation": answer.relation,
        "sort": answer.sort,
        "noun": answer.noun,
        "comment": answer.comment,
    }


def seal(values: Mapping[str, object]) -> str:
    """The line, with its end, of values in KEYS' order without their digest, which is added."""
    body = spelled(values)
    return f'{body[:-1]},"digest":"{_sha256(body)}"}}\n'


def is_sealed(line: str) -> bool:
    """True if a line, without its end, is to the character what `seal` made."""
    body, digest = line[:-SEAL], line[-SEAL:]
    return digest.startswith(',"digest":"') and digest == (
        f',"digest":"{_sha256(body + "}")}"}}'
    )


def spelled(value: object) -> str:
    """JSON without white space, characters as they are, keys in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest_of(values: Mapping[str, object]) -> str:
    """The digest that a line of these values has to name, whatever order its keys came in."""
    content = {key: values[key] for key in KEYS if key in values and key != "digest"}
    for key, keys in (("flags", (*FLAG_KEYS, SPAN)), ("votes", (*VOTE_KEYS, TYPE))):
        content[key] = [_ordered(item, keys) for item in _list(content[key])]
    content["heads"] = _ordered_heads(content["heads"])
    if MODEL in content:
        content[MODEL] = _ordered(content[MODEL], MODEL_KEYS)
    for vote in _list(content["votes"]):
        if isinstance(vote, dict):
            vote["heads"] = _ordered_heads(vote["heads"])
    return _sha256(spelled(content))


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
    passage, anchor, gold = record.passage, record.anchor, record.gold
    answer = gold.answer if gold else None
    numbers, speakers = per_token(passage.turns)
    times = times_of(passage.turns)
    return {
        "tokens": [passage.text[token.start : token.end] for token in passage.tokens],
        "line_indices": numbers,
        "speakers": speakers,
        "anchors_indices": list(range(anchor.start, anchor.end)),
        "head": release_head(answer, anchor) or [],
        "format": FORMAT,
        "id": record.public_id,
        "text": passage.text,
        "offsets": [(token.start, token.end) for token in passage.tokens],
        **({} if times is None else {TIMES: times}),
        "kind": answer.kind.value if answer else None,
        "heads": _heads(answer.heads if answer else ()),
        "relation": answer.relation if answer else None,
        "sort": answer.sort if answer else None,
        "noun": answer.noun if answer else None,
        "flags": [_flag(flag) for flag in sorted(record.flags, key=_flag_order)],
        "split": record.split,
        **_decision(gold),
        "votes": [_vote(vote) for vote in sorted(record.votes, key=_vote_order)],
        "comment": answer.comment if answer else "",
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


def _heads(heads: Sequence[Head]) -> list[object]:
    return [
        {
            "mentions": [
                {"start": m.start, "end": m.end, "head": m.head, "origin": m.origin}
                for m in head.mentions
            ]
        }
        for head in heads
    ]


def _flag(flag: FlagMark) -> dict[str, object]:
    proposed = {} if flag.ends is None else {SPAN: flag.ends}
    return {
        "name": flag.name,
        "annotator": flag.annotator,
        "at": flag.flagged_at,
        **proposed,
    }


def _flag_order(flag: FlagMark) -> tuple[str, str]:
    return flag.name, flag.annotator


def _vote_order(vote: Vote) -> tuple[str, str]:
    return vote.annotator, vote.role


def _vote(vote: Vote) -> dict[str, object]:
    answer = vote.answer
    by_whom = {} if vote.type == PERSON else {TYPE: vote.type}
    return {
        "annotator": vote.annotator,
        "role": vote.role,
        "kind": answer.kind,
        "heads": _heads(answer.heads),
        "relation": answer.relation,
        "sort": answer.sort,
        "noun": answer.noun,
        "comment": answer.comment,
        "seconds": vote.seconds,
        "saw_model": vote.saw_model,
        "saw_votes": vote.saw_votes,
        "guideline_version": vote.guideline_version,
        "rule_tag": vote.rule_tag,
        "at": vote.answered_at,
        **by_whom,
    }
