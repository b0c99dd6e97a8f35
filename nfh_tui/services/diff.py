"""What changed between two sides, a release, a file or a database: by kind, one number at a
time, and in words.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from nfh_db.comparisons import DifferentPair, Entry, Pairing
from nfh_db.errors import StoreError
from nfh_db.formats import gold, nfh
from nfh_db.formats.base import First
from nfh_db.formats.fields import sound_digest
from nfh_db.formats.files import FileOrigin, Source
from nfh_db.formats.gold import times_of
from nfh_db.formats.registry import GOLD, NFH, formats, sniffed
from nfh_db.formats.rows import GoldRow, LabelledRow, per_token, release_head, source_head
from nfh_db.messages import shown, visible
from nfh_db.records import Ballot, ExportRecord, Role, Vote
from nfh_db.serialization import Marks, heads_of, marks_of
from nfh_models.domain import (
    Anchor,
    Answer,
    Blocking,
    Kind,
    Mention,
    Relation,
    Turn,
    anchor_id,
    compare,
    reference_answer,
)
from nfh_models.domain import Sort as AnswerSort
from nfh_models.text.tokens import lemmas
from nfh_tui.services.release import GOLD_END, NFH_END

if TYPE_CHECKING:
    from nfh_db.store import Store


BEFORE, BEHIND = 32, 24
"""Characters of the text around a number that are kept for display."""

KEY_BYTES = 16

_encoder = msgspec.msgpack.Encoder()


class DiffAnswer(msgspec.Struct, frozen=True, array_like=True):
    """An answer."""

    kind: str
    heads: Marks
    relation: str | None
    sort: str | None
    noun: str | None
    comment: str

    @classmethod
    def of(cls, answer: Answer) -> "DiffAnswer":
        relation = answer.relation.value if answer.relation else None
        sort = answer.sort.value if answer.sort else None
        kind, heads = answer.kind.value, marks_of(answer)
        return cls(kind, heads, relation, sort, answer.noun, answer.comment)

    def answer(self) -> Answer:
        """The answer of the domain."""
        relation = Relation(self.relation) if self.relation else None
        sort = AnswerSort(self.sort) if self.sort else None
        kind, heads = Kind(self.kind), heads_of(self.heads)
        return Answer(kind, heads, relation, sort, self.noun, self.comment)


class VoteEntry(msgspec.Struct, frozen=True, array_like=True):
    """An answer of a person. more: type of annotator, time, seconds, what was in view,
    guidelines."""

    annotator: str
    role: str
    said: DiffAnswer
    more: tuple[str, str, float | None, bool, bool, int | None, str | None, bool]


class Flag(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A flag of a person. span: tokens [start, stop) that it proposes, if any."""

    name: str
    annotator: str
    at: str
    span: tuple[int, int] | None = None

    @property
    def what(self) -> tuple[str, str, tuple[int, int] | None]:
        """The flag without its time."""
        return self.name, self.annotator, self.span


class Body(msgspec.Struct, frozen=True, array_like=True):
    """Gold, votes and flags of a number. said: the gold, None while undecided.

    decision: adjudicator, time, and the votes it was made of. times: of the turns.
    """

    said: DiffAnswer | None
    rule: str | None
    decision: tuple[str | None, str | None, tuple[tuple[str, str], ...]]
    voices: tuple[VoteEntry, ...]
    flags: tuple[Flag, ...]
    split: str | None
    times: tuple[tuple[int | None, int | None] | None, ...] | None


class ItemDisplay(msgspec.Struct, frozen=True, array_like=True):
    """How a number is displayed. place: the file. line: its line, or the anchor's id in a
    database.

    words: of the tokens that any answer names as a head.
    """

    place: str
    line: int
    before: str
    number: str
    behind: str
    words: dict[int, str]


# --- items from files and databases -----------------------------------------------------------


def id_of(row: GoldRow) -> str:
    """The public id of a row of a `gold` file."""
    return anchor_id(sound_digest(row.passage), row.anchor)


def of_row(row: GoldRow, place: str) -> Entry:
    """A line of a `gold` file."""
    raw, body = row.passage, _body(row, row.passage.turns)
    bounds = (raw.starts[row.anchor.start], raw.ends[row.anchor.end - 1])
    look = _look(place, row.line, raw.text, bounds, _words(body, raw.words))
    return _item(sound_digest(raw), row.anchor, spot_of(raw.text, bounds), body, look)


def of_ballot(ballot: Ballot) -> Entry:
    """An item of a database."""
    passage, anchor = ballot.passage, ballot.anchor
    body = _body(ballot, passage.turns)
    words = {token: passage.word(token) for token in _tokens(body)}
    bounds = passage.code_points(anchor)
    look = _look(ballot.document, ballot.anchor_id, passage.text, bounds, words)
    return _item(passage.digest, anchor, spot_of(passage.text, bounds), body, look)


def _item(digest: str, anchor: Anchor, spot: bytes, body: Body, look: ItemDisplay) -> Entry:
    key = bytes.fromhex(anchor_id(digest, anchor))
    return _entry(key, bytes.fromhex(digest)[:KEY_BYTES], anchor, spot, body, look)


def _entry(
    key: bytes, passage: bytes, anchor: Anchor, spot: bytes, body: Body, look: ItemDisplay
) -> Entry:
    """An item to be paired. passage: equal for the same passage; spot: see `spot_of`."""
    told = _encoder.encode(body), _encoder.encode(look)
    return Entry(key, passage, anchor.start, anchor.end, spot, *told)


def _body(found: GoldRow | Ballot, turns: Sequence[Turn]) -> Body:
    gold, times = found.gold, times_of(turns)
    return Body(
        None if gold is None else DiffAnswer.of(gold.answer),
        None if gold is None else gold.rule.value,
        (None, None, ())
        if gold is None
        else (gold.adjudicator, gold.decided_at, tuple(sorted(gold.votes))),
        tuple(sorted(map(_voice_of, found.votes), key=lambda one: (one.annotator, one.role))),
        tuple(
            sorted(
                (Flag(m.name.value, m.annotator, m.flagged_at, m.ends) for m in found.flags),
                key=lambda one: (one.name, one.annotator),
            )
        ),
        found.split,
        None if times is None else tuple(times),
    )


def _voice_of(vote: Vote) -> VoteEntry:
    return VoteEntry(
        vote.annotator,
        vote.role.value,
        DiffAnswer.of(vote.answer),
        (
            vote.type,
            vote.answered_at,
            vote.seconds,
            vote.saw_model,
            vote.saw_votes,
            vote.guideline_version,
            vote.rule_tag,
            vote.in_sheet,
        ),
    )


# --- in the form of nfh ---------------------------------------------------------------------


def form_of_row(head: Sequence[object], row: LabelledRow | GoldRow, place: str) -> Entry:
    """A line of an `nfh` file, or of a `gold` file as `nfh` has it. head: as in `nfh`."""
    raw, anchor = row.passage, row.anchor
    bounds = (raw.starts[anchor.start], raw.ends[anchor.end - 1])
    return _form_item(head, raw.words, raw.turns, anchor, raw.text, bounds, place, row.line)


def form_of_record(record: ExportRecord, number: int, place: str) -> Entry | None:
    """What a database writes as a row of `nfh`; None where it has no form for it."""
    head: Sequence[object] | None = source_head(record.labels)
    if head is None:
        head = release_head(record.gold.answer if record.gold else None, record.anchor)
    if head is None:
        return None
    passage = record.passage
    words = [passage.word(index) for index in range(len(passage.tokens))]
    anchor, bounds = record.anchor, passage.code_points(record.anchor)
    return _form_item(head, words, passage.turns, anchor, passage.text, bounds, place, number)


def _form_item(
    head: Sequence[object],
    words: Sequence[str],
    turns: Sequence[Turn],
    anchor: Anchor,
    text: str,
    bounds: tuple[int, int],
    place: str,
    line: int,
) -> Entry:
    """An item whose key is made of what a row of `nfh` holds of the passage.

    head: a class, or tokens without the information which of them name one noun.
    """
    tokens = [token for token in head if isinstance(token, int)]
    if tokens:
        answer = reference_answer([Mention(token, token + 1, token)] for token in tokens)
    else:
        answer = Answer(Kind(str(head[0])))
    body = Body(DiffAnswer.of(answer), None, (None, None, ()), (), (), None, None)
    look = _look(place, line, text, bounds, _words(body, words))
    said = hashlib.sha256(json.dumps([list(words), *per_token(turns)]).encode("ascii"))
    passage = said.digest()[:KEY_BYTES]
    span = hashlib.sha256(passage + f":{anchor.start}:{anchor.end}".encode("ascii"))
    key, spot = span.digest()[:KEY_BYTES], spot_of(text, bounds)
    return _entry(key, passage, anchor, spot, body, look)


def spot_of(text: str, bounds: tuple[int, int]) -> bytes:
    """Characters of a text, counted without spaces, so that those of `nfh` do not matter."""
    start, end = (len("".join(text[:bound].split())) for bound in bounds)
    said = f"{start}:{end}:{''.join(text.split())}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


# --- display ---------------------------------------------------------------------------------


def _look(
    place: str, line: int, text: str, bounds: tuple[int, int], words: dict[int, str]
) -> ItemDisplay:
    start, end = bounds
    before, behind = text[max(0, start - BEFORE) : start], text[end : end + BEHIND]
    return ItemDisplay(
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


class NumberChange(StrEnum):
    """How a number changed, from one side to the other; the first that holds is its first.

    ADDED, REMOVED: it has gold on one side only, and is not on the other. SPAN: one was removed
    and one added that overlap. PASSAGE: the same text is cut into other tokens or turns.
    DECIDED, UNDECIDED: on both, with gold on one. KIND: another kind. HEADS: other nouns.
    RELATION: of the same nouns. MENTIONS: other places or spans of the same nouns. RULE: the
    answer is the same and came to count by another rule. SPLIT, VOTES (given, taken back, or
    saying something else; an adjudicator's that is the gold is no vote), FLAGS, COMMENT: as
    they say. DETAILS: when, by whom, how long, what was in view, when it was said, and nothing
    else.
    """

    ADDED = "added"
    REMOVED = "removed"
    SPAN = "span"
    PASSAGE = "passage"
    DECIDED = "decided"
    UNDECIDED = "undecided"
    KIND = "kind"
    HEADS = "heads"
    RELATION = "relation"
    MENTIONS = "mentions"
    SORT = "sort"
    NOUN = "noun"
    RULE = "rule"
    SPLIT = "split"
    VOTES = "votes"
    FLAGS = "flags"
    COMMENT = "comment"
    DETAILS = "details"


@dataclass(frozen=True, slots=True)
class OneSide:
    """A number on one side."""

    body: Body
    look: ItemDisplay


@dataclass(frozen=True, slots=True)
class Changed:
    """A number that differs. changes: in the order of NumberChange. voices: votes that differ:
    annotator, before, after; None where there is none.
    """

    key: bytes
    changes: tuple[NumberChange, ...]
    left: OneSide | None
    right: OneSide | None
    voices: tuple[tuple[str, DiffAnswer | None, DiffAnswer | None], ...] = ()


@dataclass(slots=True)
class DiffCounts:
    """Numbers by change; a number may count in several.

    changed: numbers with any change. kinds: by the two kinds. undecided: numbers without gold
    that are on one side only, by side.
    """

    items: Counter[NumberChange] = field(default_factory=Counter)
    changed: int = 0
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)

    def add(self, one: Changed) -> None:
        self.changed += 1
        self.items.update(one.changes)
        before, after = _said(one.left), _said(one.right)
        if NumberChange.KIND in one.changes and before and after:
            self.kinds[before.kind, after.kind] += 1


ADJUDICATOR = Role.ADJUDICATOR.value

_bodies = msgspec.msgpack.Decoder(Body)
_looks = msgspec.msgpack.Decoder(ItemDisplay)


def changed(pairs: Pairing, undecided: Counter[str]) -> Iterator[Changed]:
    """Each number that differs. undecided: counts those left out, by side."""
    olds, taken = _moved(pairs)
    for pair in pairs.different():
        if pair.key in taken:
            # A repeat of it is not matched again.
            taken.discard(pair.key)
            continue
        old, how = olds.pop(pair.key, (None, None))
        before = None if old is None else _side(pairs.of_a(old))
        if (found := _changed(pair, before, how)) is None:
            undecided["a" if pair.right is None else "b"] += 1
        else:
            yield found


def _moved(pairs: Pairing) -> tuple[dict[bytes, tuple[bytes, NumberChange]], set[bytes]]:
    """The old item that each new one replaces, with the change, and all replaced items."""
    olds: dict[bytes, tuple[bytes, NumberChange]] = {}
    taken: set[bytes] = set()
    for how, found in (
        (NumberChange.SPAN, pairs.moved()),
        (NumberChange.PASSAGE, pairs.recut()),
    ):
        for old, new in found:
            if old not in taken and new not in olds:
                olds[new] = (old, how)
                taken.add(old)
    return olds, taken


def _side(found: tuple[bytes, bytes]) -> OneSide:
    return OneSide(_bodies.decode(found[0]), _looks.decode(found[1]))


def _said(side: OneSide | None) -> DiffAnswer | None:
    return None if side is None else side.body.said


def _changed(
    pair: DifferentPair, before: OneSide | None, how: NumberChange | None
) -> Changed | None:
    """A number with its changes; None where it is undecided and on one side only.

    before: the item that it replaces. how: SPAN or PASSAGE.
    """
    left = before or (None if pair.left is None else _side(pair.left))
    right = None if pair.right is None else _side(pair.right)
    if left is None or right is None:
        only = left or right
        if only is None or only.body.said is None:
            return None
        kind = NumberChange.ADDED if left is None else NumberChange.REMOVED
        return Changed(pair.key, (kind,), left, right)
    voices = () if before else tuple(_voices(left.body, right.body))
    found = {how} if how else set[NumberChange]()
    found |= _gold_changes(left, right, recut=how is NumberChange.PASSAGE)
    if left.body.split != right.body.split:
        found.add(NumberChange.SPLIT)
    if voices:
        found.add(NumberChange.VOTES)
    flags = [{flag.what for flag in side.body.flags} for side in (left, right)]
    if not before and flags[0] != flags[1]:
        found.add(NumberChange.FLAGS)
    changes = tuple(change for change in NumberChange if change in found) or (
        NumberChange.DETAILS,
    )
    return Changed(pair.key, changes, left, right, voices)


def _gold_changes(left: OneSide, right: OneSide, *, recut: bool) -> set[NumberChange]:
    """How the gold differs. recut: the sides have different tokens."""
    before, after = left.body.said, right.body.said
    if before is None or after is None:
        if before is after:
            return set()
        return {NumberChange.DECIDED if before is None else NumberChange.UNDECIDED}
    if recut:
        found = set(recut_changes(before, after, left.look.words, right.look.words))
    else:
        found = set(answer_changes(before, after, left.look.words | right.look.words))
    if not found and left.body.rule != right.body.rule:
        found.add(NumberChange.RULE)
    if before.comment != after.comment:
        found.add(NumberChange.COMMENT)
    return found


def answer_changes(
    before: DiffAnswer, after: DiffAnswer, words: dict[int, str]
) -> Iterator[NumberChange]:
    """How two answers differ. words: of the tokens that they name."""
    if before.kind == after.kind and before.heads != after.heads:
        yield _head_change(before.answer(), after.answer(), words)
    yield from _class_changes(before, after)


def recut_changes(
    before: DiffAnswer, after: DiffAnswer, words: dict[int, str], others: dict[int, str]
) -> Iterator[NumberChange]:
    """How two answers over different tokens differ: heads are compared by words."""
    if before.kind == after.kind and nouns(before, words) != nouns(after, others):
        yield NumberChange.HEADS
    yield from _class_changes(before, after)


def nouns(said: DiffAnswer, words: dict[int, str]) -> list[set[str]]:
    """The words of each head, however often they are marked."""
    return [
        {words.get(head, "") for _, _, head, origin in mentions if origin != "removed"}
        for mentions in said.heads
    ]


def _class_changes(before: DiffAnswer, after: DiffAnswer) -> Iterator[NumberChange]:
    same = before.kind == after.kind
    if not same:
        yield NumberChange.KIND
    if before.relation and after.relation and before.relation != after.relation:
        yield NumberChange.RELATION
    if same and before.sort != after.sort:
        yield NumberChange.SORT
    if before.noun != after.noun and (same or (before.noun and after.noun)):
        yield NumberChange.NOUN


def _head_change(before: Answer, after: Answer, words: dict[int, str]) -> NumberChange:
    """Whether other nouns are named, or other places of the same ones."""
    size = max(words, default=-1) + 1
    by_token = [""] * size
    named = sorted(words)
    for token, lemma in zip(named, lemmas(words[token] for token in named), strict=True):
        by_token[token] = lemma
    blocking = compare(before, after, by_token).blocking
    return (
        NumberChange.HEADS
        if blocking in (Blocking.NOUN, Blocking.PARTIAL)
        else NumberChange.MENTIONS
    )


def _voices(
    left: Body, right: Body
) -> Iterator[tuple[str, DiffAnswer | None, DiffAnswer | None]]:
    """Votes that were added, removed or changed."""
    before = {(one.annotator, one.role): one.said for one in left.voices}
    after = {(one.annotator, one.role): one.said for one in right.voices}
    for who in sorted(before.keys() | after.keys()):
        old, new = before.get(who), after.get(who)
        if old != new and not (_is_gold(who, old, left) and _is_gold(who, new, right)):
            yield who[0], old, new


def _is_gold(who: tuple[str, str], said: DiffAnswer | None, body: Body) -> bool:
    """True for an adjudicator's answer that is the gold, and where there is no answer."""
    return said is None or (who == (body.decision[0], ADJUDICATOR) and said == body.said)


SQLITE = b"SQLite format 3\0"
"""How a database's file begins (https://www.sqlite.org/fileformat.html)."""

WHAT = "wanted the folder of a release, a gold or nfh file, or a database"

Sort = Literal["release", "gold", "nfh", "database"]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One of the two sides. name: for display. files: of a release, or the one file."""

    path: Path
    name: str
    sort: Sort
    files: tuple[Path, ...] = ()


def side_of(path: Path) -> DiffSide:
    """The side at a path. Raises FormatError for what cannot be compared."""
    origin = FileOrigin(path)
    if path.is_dir():
        if not (files := sorted(path.glob(f"*{GOLD_END}"))):
            raise origin.error(None, f"is a folder without any file *{GOLD_END}; {WHAT}")
        return DiffSide(path, origin.name, "release", tuple(files))
    if _is_database(path):
        return DiffSide(path, origin.name, "database")
    return DiffSide(path, origin.name, _sort_of(Source(path)), (path,))


def _is_database(path: Path) -> bool:
    """True for a file of SQLite; one that cannot be read is refused when it is read as text."""
    try:
        # Only a regular file: a pipe can be read once, and opening one may block.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def rules_of(side: DiffSide) -> tuple[int, str] | None:
    """Version and text of the guidelines that a side names; None where it names none."""
    if side.sort == "database":
        with _whole(side.path) as store:
            held = store.guidelines.read()
        return None if held is None else (held.version, held.body)
    if side.sort != "release":
        return None
    found = {}
    for path in side.path.glob("guidelines-v*.md"):
        number = path.stem.removeprefix("guidelines-v")
        if number.isascii() and number.isdigit():
            found[int(number)] = path
    if not found:
        return None
    last = max(found)
    return last, found[last].read_bytes().decode("utf-8", "replace")


def _sort_of(source: Source) -> Literal["gold", "nfh"]:
    """Which of the two formats a file is of. Raises FormatError."""
    first = First.of(source)
    if (found := sniffed(source, first, formats())) is None:
        raise source.error(None, f"it starts with {shown(first.text)}; {WHAT}")
    format_, _ = found
    if format_ not in (GOLD, NFH):
        raise source.error(
            None,
            f"is of the format {format_.name}; {WHAT}. Import it, and compare the database",
        )
    return "gold" if format_ is GOLD else "nfh"


def in_form(left: DiffSide, right: DiffSide) -> bool:
    """True where no more can be compared than the release's form has."""
    return "nfh" in (left.sort, right.sort)


def entries(side: DiffSide, *, form: bool, progress: Progress) -> Iterator[Entry]:
    """The items of a side, to be paired. form: only what the release's form has.

    Raises FormatError for a line that does not hold, StoreError for a database that cannot
    be read.
    """
    for number, item in enumerate(_items(side, form=form), 1):
        progress(number)
        yield item


def _items(side: DiffSide, *, form: bool) -> Iterator[Entry]:
    if side.sort == "database":
        yield from _of_database(side.path, form=form)
        return
    of_release = side.sort == "release"
    files = sorted(side.path.glob(f"*{NFH_END}")) if form and of_release else side.files
    for path in files:
        # A file of a release goes by its own name, others by the path as typed.
        place = visible(path.name) if of_release else side.name
        yield from _of_file(path, place, form=form)


def _of_file(path: Path, place: str, *, form: bool) -> Iterator[Entry]:
    source = Source(path)
    if form and (path.name.endswith(NFH_END) or _sort_of(source) == "nfh"):
        for label in nfh.read(source):
            yield form_of_row(json.loads(label.labels), label, place)
        return
    for row in gold.read(source):
        if not form:
            yield of_row(row, place)
            continue
        head = release_head(row.gold.answer if row.gold else None, row.anchor)
        if head is not None:
            yield form_of_row(head, row, place)


def _whole(path: Path) -> "Store":
    """Open a database that can be read completely: missing parts would count as changes."""
    from nfh_db.store import Store

    store = Store.open_to_read(path)
    if store.unseen:
        store.close()
        raise StoreError(store.unseen)
    return store


def _of_database(path: Path, *, form: bool) -> Iterator[Entry]:
    from nfh_db.query import parse

    with _whole(path) as store, store.items.frozen() as frozen:
        if not form:
            for ballot in frozen.ballots(parse("")):
                yield of_ballot(ballot)
            return
        for number, record in enumerate(frozen.rows(parse("")), 1):
            if (item := form_of_record(record, number, visible(path.name))) is not None:
                yield item


MOST_HEADS = 4


def changes_in_words(one: Changed) -> Iterator[str]:
    """The changes of a number in words, the first change first."""
    left, right = one.left, one.right
    if left is None or right is None:
        only = left or right
        if only is not None and only.body.said is not None:
            yield answer_words(only.body.said, only.look.words)
            if only.body.rule:
                yield f"by {rule_words(only.body)}"
        return
    for change in one.changes:
        yield from _change_words(change, one, left, right)
    if NumberChange.RULE not in one.changes and left.body.rule and right.body.rule:
        before, after = rule_words(left.body), rule_words(right.body)
        if before != after and NumberChange.DETAILS not in one.changes:
            yield f"{before} to {after}"


def _change_words(
    change: NumberChange, one: Changed, left: OneSide, right: OneSide
) -> Iterator[str]:
    words = left.look.words | right.look.words
    if change is NumberChange.SPAN:
        yield f"[{visible(left.look.number)}] to [{visible(right.look.number)}]"
        if left.body.said != right.body.said:
            yield _between(left.body.said, right.body.said, words)
    elif change is NumberChange.PASSAGE:
        yield "other tokens or turns"
        if not set(one.changes).isdisjoint(ANSWERS):
            sides = ((side.body.said, side.look.words) for side in (left, right))
            old, new = (answer_words(said, w) if said else "nothing" for said, w in sides)
            yield f"{old} to {new}"
    elif change is NumberChange.VOTES:
        said = (
            f"{visible(name)} {_voice_words(old, new, words)}" for name, old, new in one.voices
        )
        yield f"votes: {', '.join(said)}"
    elif change in BESIDE:
        yield BESIDE[change](left.body, right.body)
    elif not {NumberChange.SPAN, NumberChange.PASSAGE} & set(one.changes):
        yield from _answers(change, one, left, right, words)


BESIDE: Mapping[NumberChange, Callable[[Body, Body], str]] = {
    NumberChange.RULE: lambda left, right: f"{rule_words(left)} to {rule_words(right)}",
    NumberChange.SPLIT: lambda left, right: f"split {_split(left)} to {_split(right)}",
    NumberChange.FLAGS: lambda left, right: f"flags: {', '.join(_flags(left, right))}",
    NumberChange.COMMENT: lambda left, right: f"comment {_comment(left)} to {_comment(right)}",
    NumberChange.DETAILS: lambda left, right: ", ".join(_details(left, right)),
}
"""Changes beside the answer, in words."""


def _answers(
    change: NumberChange, one: Changed, left: OneSide, right: OneSide, words: Mapping[int, str]
) -> Iterator[str]:
    """Both answers, under the first change that is one of the answer."""
    if change is next(found for found in one.changes if found in ANSWERS):
        places = change is NumberChange.MENTIONS
        yield _between(left.body.said, right.body.said, words, places=places)


ANSWERS = (
    NumberChange.DECIDED,
    NumberChange.UNDECIDED,
    NumberChange.KIND,
    NumberChange.HEADS,
    NumberChange.RELATION,
    NumberChange.MENTIONS,
    NumberChange.SORT,
    NumberChange.NOUN,
)
"""Changes that are shown as two answers."""


def _between(
    before: DiffAnswer | None,
    after: DiffAnswer | None,
    words: Mapping[int, str],
    *,
    places: bool = False,
) -> str:
    old = "nothing" if before is None else answer_words(before, words, places=places)
    new = "nothing" if after is None else answer_words(after, words, places=places)
    return f"{old} to {new}"


def _voice_words(
    before: DiffAnswer | None, after: DiffAnswer | None, words: Mapping[int, str]
) -> str:
    """Two answers of one person; with places or comments where the words are equal."""
    told = _between(before, after, words)
    if before is None or after is None or _differs(before, after, words, places=False):
        return told
    if _differs(before, after, words, places=True):
        return _between(before, after, words, places=True)
    if before.comment != after.comment:
        return f"comment {_quoted(before.comment)} to {_quoted(after.comment)}"
    return f"{answer_words(before, words)}, written differently"


def _differs(
    before: DiffAnswer, after: DiffAnswer, words: Mapping[int, str], *, places: bool
) -> bool:
    old = answer_words(before, words, places=places)
    return old != answer_words(after, words, places=places)


def _quoted(text: str) -> str:
    return f'"{visible(text)}"'


def answer_words(said: DiffAnswer, words: Mapping[int, str], *, places: bool = False) -> str:
    """An answer: "AGE", "OTHER CODE", "REFERENCE boots and coat".

    places: name every mention, with the number of its token: "boots@3/boots@9".
    """
    if not said.heads:
        more = [said.sort or "", f'"{visible(said.noun)}"' if said.noun else ""]
        return " ".join([said.kind, *(one for one in more if one)])
    nouns = [_noun(mentions, words, places=places) for mentions in said.heads[:MOST_HEADS]]
    joint = {"AND": " and ", "OR": " or "}.get(said.relation or "", ", ")
    more_heads = f"{joint}…" if len(said.heads) > MOST_HEADS else ""
    return f"{said.kind} {joint.join(nouns)}{more_heads}"


def _noun(
    mentions: tuple[tuple[int, int, int, str], ...], words: Mapping[int, str], *, places: bool
) -> str:
    """A head by the word of its first mention, or by those of all that nobody removed."""
    if not places:
        return visible(words.get(mentions[0][2], "?"))
    shown = [
        f"{visible(words.get(head, '?'))}@{start}"
        + (f"-{stop - 1}" if stop > start + 1 else "")
        for start, stop, head, origin in mentions
        if origin != "removed"
    ]
    return "/".join(shown[:MOST_HEADS])


def rule_words(body: Body) -> str:
    """The rule of the gold and its adjudicator: "majority", "expert eva"."""
    by = body.decision[0]
    return f"{body.rule or 'none'}{f' {visible(by)}' if by else ''}"


def _split(body: Body) -> str:
    return "none" if body.split is None else visible(body.split)


def _comment(body: Body) -> str:
    return _quoted(body.said.comment if body.said else "")


def _flags(left: Body, right: Body) -> Iterator[str]:
    before, after = ({flag.what: flag for flag in body.flags} for body in (left, right))
    for flag in after.values():
        if flag.what not in before:
            span = "" if flag.span is None else f", proposing tokens {_span(flag.span)}"
            yield f"{flag.name} set by {visible(flag.annotator)}{span}"
    for flag in before.values():
        if flag.what not in after:
            span = "" if flag.span is None else f", which proposed tokens {_span(flag.span)},"
            yield f"{flag.name} of {visible(flag.annotator)}{span} cleared"


def _span(span: tuple[int, int]) -> str:
    start, stop = span
    return f"{start}" if stop == start + 1 else f"{start} to {stop - 1}"


def _details(left: Body, right: Body) -> Iterator[str]:
    """Differences in times, views and the spelling of the answer."""
    if left.decision != right.decision:
        before, after = rule_words(left), rule_words(right)
        yield f"{before} to {after}" if before != after else "when it was decided, and on what"
    old, new = ({(v.annotator, v.role): v.more for v in body.voices} for body in (left, right))
    if any(old[who] != new[who] for who in old.keys() & new.keys()):
        yield "when votes were given, how long they took, what was in view, or by which rules"
    if left.flags != right.flags:
        yield "when flags were set"
    if left.times != right.times:
        yield "when it was said"
    if left.said != right.said:
        yield "how the answer is written"
