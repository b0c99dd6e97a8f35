"""Items as two sides are compared by: what is said of a number, apart from where it stands."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from nfh_db.formats.gold_times import times_of
from nfh_db.formats.release import release_head, source_head
from nfh_db.formats.rows import GoldRow, LabelledRow, per_token
from nfh_db.formats.soundness import sound_digest
from nfh_db.records import Ballot, ExportRecord, FlagMark, Gold, Vote
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Sort,
    Turn,
    anchor_id,
    reference_answer,
)

BEFORE, BEHIND = 32, 24
"""Characters of the text that are kept around a number, to be shown."""

KEY_BYTES = 16

Spans = tuple[tuple[tuple[int, int, int, str], ...], ...]
"""The mentions of each head: first token, token after the last, head token, origin."""


class Said(msgspec.Struct, frozen=True, array_like=True):
    """An answer."""

    kind: str
    heads: Spans
    relation: str | None
    sort: str | None
    noun: str | None
    comment: str

    @classmethod
    def of(cls, answer: Answer) -> "Said":
        """An answer of the domain."""
        heads = tuple(
            tuple((m.start, m.end, m.head, m.origin.value) for m in head.mentions)
            for head in answer.heads
        )
        relation = answer.relation.value if answer.relation else None
        sort = answer.sort.value if answer.sort else None
        return cls(answer.kind.value, heads, relation, sort, answer.noun, answer.comment)

    def answer(self) -> Answer:
        """The same in the domain's terms."""
        heads = tuple(
            Head(
                tuple(Mention(start, end, head, Origin(o)) for start, end, head, o in mentions)
            )
            for mentions in self.heads
        )
        relation = Relation(self.relation) if self.relation else None
        sort = Sort(self.sort) if self.sort else None
        return Answer(Kind(self.kind), heads, relation, sort, self.noun, self.comment)


class Voice(msgspec.Struct, frozen=True, array_like=True):
    """Somebody's answer. more: when, how long, what was in view, by which guidelines."""

    annotator: str
    role: str
    said: Said
    more: tuple[str, str, float | None, bool, bool, int | None, str | None]


class Flag(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """Somebody's flag. span: tokens [start, stop) that it proposes, if it does."""

    name: str
    annotator: str
    at: str
    span: tuple[int, int] | None = None

    @property
    def what(self) -> tuple[str, str, tuple[int, int] | None]:
        """All but when it was set."""
        return self.name, self.annotator, self.span


class Body(msgspec.Struct, frozen=True, array_like=True):
    """Everything said of a number. said: the gold, None while undecided.

    decision: by whom and when, and the votes it was made of. times: of the turns.
    """

    said: Said | None
    rule: str | None
    decision: tuple[str | None, str | None, tuple[tuple[str, str], ...]]
    voices: tuple[Voice, ...]
    flags: tuple[Flag, ...]
    split: str | None
    times: tuple[tuple[int | None, int | None] | None, ...] | None


class Look(msgspec.Struct, frozen=True, array_like=True):
    """How a number is shown. place: the file. line: of it, or the anchor's id in a database.

    words: of the tokens that any answer names as a head.
    """

    place: str
    line: int
    before: str
    number: str
    behind: str
    words: dict[int, str]


@dataclass(frozen=True, slots=True)
class Item:
    """A number of one side. key: the same for the same number of the same passage.

    passage, start, stop: which passage, and where in it, so that corrected spans are found.
    spot: which characters of which text, so that it is found where tokens are others.
    """

    key: bytes
    passage: bytes
    start: int
    stop: int
    spot: bytes
    body: Body
    look: Look


# --- everything known of a number -----------------------------------------------------------


def id_of(row: GoldRow) -> str:
    """The public id of a row of a `gold` file."""
    return anchor_id(sound_digest(row.passage), row.anchor)


def of_row(row: GoldRow, place: str) -> Item:
    """A line of a `gold` file."""
    raw = row.passage
    digest = sound_digest(raw)
    body = _body(row.gold, row.votes, row.flags, row.split, raw.turns)
    bounds = (raw.starts[row.anchor.start], raw.ends[row.anchor.end - 1])
    look = _look(place, row.line, raw.text, bounds, _words(body, raw.words))
    return _item(digest, row.anchor, spot_of(raw.text, bounds), body, look)


def of_ballot(ballot: Ballot) -> Item:
    """An item of a database."""
    passage, anchor = ballot.passage, ballot.anchor
    body = _body(ballot.gold, ballot.votes, ballot.flags, ballot.split, passage.turns)
    words = {token: passage.word(token) for token in _tokens(body)}
    bounds = _bounds(passage, anchor)
    look = _look(ballot.document, ballot.anchor_id, passage.text, bounds, words)
    return _item(passage.digest, anchor, spot_of(passage.text, bounds), body, look)


def _item(digest: str, anchor: Anchor, spot: bytes, body: Body, look: Look) -> Item:
    key = bytes.fromhex(anchor_id(digest, anchor))
    passage = bytes.fromhex(digest)[:KEY_BYTES]
    return Item(key, passage, anchor.start, anchor.end, spot, body, look)


def _body(
    gold: Gold | None,
    votes: Iterable[Vote],
    flags: Iterable[FlagMark],
    split: str | None,
    turns: Sequence[Turn],
) -> Body:
    times = times_of(turns)
    return Body(
        None if gold is None else Said.of(gold.answer),
        None if gold is None else gold.rule.value,
        (None, None, ())
        if gold is None
        else (gold.adjudicator, gold.decided_at, tuple(sorted(gold.votes))),
        tuple(sorted(map(_voice, votes), key=lambda one: (one.annotator, one.role))),
        tuple(sorted(map(_flag, flags), key=lambda one: (one.name, one.annotator))),
        split,
        None if times is None else tuple(times),
    )


def _flag(mark: FlagMark) -> Flag:
    return Flag(mark.name.value, mark.annotator, mark.flagged_at, mark.ends)


def _voice(vote: Vote) -> Voice:
    return Voice(
        vote.annotator,
        vote.role.value,
        Said.of(vote.answer),
        (
            vote.type,
            vote.answered_at,
            vote.seconds,
            vote.saw_model,
            vote.saw_votes,
            vote.guideline_version,
            vote.rule_tag,
        ),
    )


# --- the release's form ---------------------------------------------------------------------


def form_of_label(row: LabelledRow, place: str) -> Item:
    """A line of an `nfh` file."""
    raw = row.passage
    bounds = (raw.starts[row.anchor.start], raw.ends[row.anchor.end - 1])
    head: list[object] = json.loads(row.labels)
    body = _form(head)
    look = _look(place, row.line, raw.text, bounds, _words(body, raw.words))
    spot = spot_of(raw.text, bounds)
    return _form_item(raw.words, raw.turns, row.anchor, spot, body, look)


def form_of_row(row: GoldRow, place: str) -> Item | None:
    """A line of a `gold` file as `nfh` has it; None where it has no form for it."""
    head = release_head(row.gold.answer if row.gold else None, row.anchor)
    if head is None:
        return None
    raw = row.passage
    bounds = (raw.starts[row.anchor.start], raw.ends[row.anchor.end - 1])
    body = _form(head)
    look = _look(place, row.line, raw.text, bounds, _words(body, raw.words))
    spot = spot_of(raw.text, bounds)
    return _form_item(raw.words, raw.turns, row.anchor, spot, body, look)


def form_of_record(record: ExportRecord, number: int, place: str) -> Item | None:
    """What a database writes as a row of `nfh`; None where it has no form for it."""
    head: Sequence[object] | None = source_head(record.labels)
    if head is None:
        head = release_head(record.gold.answer if record.gold else None, record.anchor)
    if head is None:
        return None
    passage = record.passage
    words = [passage.word(index) for index in range(len(passage.tokens))]
    body = _form(head)
    bounds = _bounds(passage, record.anchor)
    look = _look(place, number, passage.text, bounds, _words(body, words))
    spot = spot_of(passage.text, bounds)
    return _form_item(words, passage.turns, record.anchor, spot, body, look)


def _form(head: Sequence[object]) -> Body:
    """A `head` list: a class, or tokens of which it is not said which name one noun."""
    tokens = [token for token in head if isinstance(token, int)]
    if tokens:
        answer = reference_answer([Mention(token, token + 1, token)] for token in tokens)
    else:
        answer = Answer(Kind(str(head[0])))
    return Body(Said.of(answer), None, (None, None, ()), (), (), None, None)


def _form_item(
    words: Sequence[str],
    turns: Sequence[Turn],
    anchor: Anchor,
    spot: bytes,
    body: Body,
    look: Look,
) -> Item:
    """An item whose key is made of what a row of `nfh` says of the passage."""
    said = hashlib.sha256(json.dumps([list(words), *per_token(turns)]).encode("ascii"))
    passage = said.digest()[:KEY_BYTES]
    span = hashlib.sha256(passage + f":{anchor.start}:{anchor.end}".encode("ascii"))
    return Item(span.digest()[:KEY_BYTES], passage, anchor.start, anchor.end, spot, body, look)


def spot_of(text: str, bounds: tuple[int, int]) -> bytes:
    """Characters of a text, counted without spaces, so that those of `nfh` do not matter."""
    start, end = (len("".join(text[:bound].split())) for bound in bounds)
    said = f"{start}:{end}:{''.join(text.split())}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


# --- how it is shown ------------------------------------------------------------------------


def _bounds(passage: Passage, anchor: Anchor) -> tuple[int, int]:
    return passage.tokens[anchor.start].start, passage.tokens[anchor.end - 1].end


def _look(
    place: str, line: int, text: str, bounds: tuple[int, int], words: dict[int, str]
) -> Look:
    start, end = bounds
    before, behind = text[max(0, start - BEFORE) : start], text[end : end + BEHIND]
    return Look(
        place,
        line,
        f"…{before}" if start > BEFORE else before,
        text[start:end],
        f"{behind}…" if len(text) > end + BEHIND else behind,
        words,
    )


def _tokens(body: Body) -> set[int]:
    """Tokens that any answer names as a head."""
    said = [voice.said for voice in body.voices]
    if body.said is not None:
        said.append(body.said)
    return {head for one in said for mentions in one.heads for _, _, head, _ in mentions}


def _words(body: Body, words: Sequence[str]) -> dict[int, str]:
    return {token: words[token] for token in sorted(_tokens(body))}
