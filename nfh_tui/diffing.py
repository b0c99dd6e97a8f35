"""What changed between two sides, by kind, one number at a time."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from nfh_db.pairing import Pair, Pairing
from nfh_db.records import Role
from nfh_models.domain import Answer, Blocking, compare
from nfh_models.text.lemmas import lemmas
from nfh_tui.diffing_items import Body, Look, Said


class Change(StrEnum):
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
    """A number as one side has it."""

    body: Body
    look: Look


@dataclass(frozen=True, slots=True)
class Changed:
    """A number that is not the same. changes: in the order of Change. voices: what was
    changed of votes: whose, before, after; None where there is none.
    """

    key: bytes
    changes: tuple[Change, ...]
    left: OneSide | None
    right: OneSide | None
    voices: tuple[tuple[str, Said | None, Said | None], ...] = ()


@dataclass(slots=True)
class Counts:
    """Numbers by what changed; one may be in several of them.

    changed: numbers in any. kinds: by the two kinds. undecided: of one side, without gold, that
    the other side does not have: no gold came or went.
    """

    items: Counter[Change] = field(default_factory=Counter)
    changed: int = 0
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)

    def add(self, one: Changed) -> None:
        """Take in a number."""
        self.changed += 1
        self.items.update(one.changes)
        before, after = _said(one.left), _said(one.right)
        if Change.KIND in one.changes and before and after:
            self.kinds[before.kind, after.kind] += 1


ADJUDICATOR = Role.ADJUDICATOR.value

_bodies = msgspec.msgpack.Decoder(Body)
_looks = msgspec.msgpack.Decoder(Look)


def changed(pairs: Pairing, undecided: Counter[str]) -> Iterator[Changed]:
    """Each number that is not the same. undecided: counts what is left out, by side."""
    olds, taken = _moved(pairs)
    for pair in pairs.different():
        if pair.key in taken:
            # What comes again of it has nothing that took its place.
            taken.discard(pair.key)
            continue
        old, how = olds.pop(pair.key, (None, None))
        before = None if old is None else _side(pairs.of_a(old))
        found = _changed(pair, before, how)
        if found is None:
            undecided["a" if pair.right is None else "b"] += 1
        else:
            yield found


def _moved(pairs: Pairing) -> tuple[dict[bytes, tuple[bytes, Change]], set[bytes]]:
    """Of each new item the old one that it took the place of and how, and all old ones."""
    olds: dict[bytes, tuple[bytes, Change]] = {}
    taken: set[bytes] = set()
    for how, found in ((Change.SPAN, pairs.moved()), (Change.PASSAGE, pairs.recut())):
        for old, new in found:
            if old not in taken and new not in olds:
                olds[new] = (old, how)
                taken.add(old)
    return olds, taken


def _side(found: tuple[bytes, bytes]) -> OneSide:
    return OneSide(_bodies.decode(found[0]), _looks.decode(found[1]))


def _said(side: OneSide | None) -> Said | None:
    return None if side is None else side.body.said


def _changed(pair: Pair, before: OneSide | None, how: Change | None) -> Changed | None:
    """A number with its changes; None where it is undecided and on one side only.

    before: what it took the place of, and how it did: SPAN or PASSAGE.
    """
    left = before or (None if pair.left is None else _side(pair.left))
    right = None if pair.right is None else _side(pair.right)
    if left is None or right is None:
        only = left or right
        if only is None or only.body.said is None:
            return None
        kind = Change.ADDED if left is None else Change.REMOVED
        return Changed(pair.key, (kind,), left, right)
    voices = () if before else tuple(_voices(left.body, right.body))
    found = {how} if how else set[Change]()
    found |= _gold_changes(left, right, recut=how is Change.PASSAGE)
    found.update(_other_changes(left.body, right.body, voices=bool(voices), moved=bool(before)))
    changes = tuple(change for change in Change if change in found) or (Change.DETAILS,)
    return Changed(pair.key, changes, left, right, voices)


def _gold_changes(left: OneSide, right: OneSide, *, recut: bool) -> set[Change]:
    """How the gold differs. recut: the two sides' tokens are not the same ones."""
    before, after = left.body.said, right.body.said
    if before is None or after is None:
        if before is after:
            return set()
        return {Change.DECIDED if before is None else Change.UNDECIDED}
    if recut:
        found = set(recut_changes(before, after, left.look.words, right.look.words))
    else:
        found = set(answer_changes(before, after, left.look.words | right.look.words))
    if not found and left.body.rule != right.body.rule:
        found.add(Change.RULE)
    if before.comment != after.comment:
        found.add(Change.COMMENT)
    return found


def answer_changes(before: Said, after: Said, words: dict[int, str]) -> Iterator[Change]:
    """How two answers differ. words: of the tokens that they name."""
    if before.kind == after.kind and before.heads != after.heads:
        yield _head_change(before.answer(), after.answer(), words)
    yield from _class_changes(before, after)


def recut_changes(
    before: Said, after: Said, words: dict[int, str], others: dict[int, str]
) -> Iterator[Change]:
    """How two answers differ that name tokens of their own: heads are the same by words."""
    if before.kind == after.kind and nouns(before, words) != nouns(after, others):
        yield Change.HEADS
    yield from _class_changes(before, after)


def nouns(said: Said, words: dict[int, str]) -> list[set[str]]:
    """The words of each head, however often they are marked."""
    return [
        {words.get(head, "") for _, _, head, origin in mentions if origin != "removed"}
        for mentions in said.heads
    ]


def _class_changes(before: Said, after: Said) -> Iterator[Change]:
    same = before.kind == after.kind
    if not same:
        yield Change.KIND
    if before.relation and after.relation and before.relation != after.relation:
        yield Change.RELATION
    if same and before.sort != after.sort:
        yield Change.SORT
    if before.noun != after.noun and (same or (before.noun and after.noun)):
        yield Change.NOUN


def _head_change(before: Answer, after: Answer, words: dict[int, str]) -> Change:
    """Whether other nouns are named, or other places of the same ones."""
    size = max(words, default=-1) + 1
    by_token = [""] * size
    named = sorted(words)
    for token, lemma in zip(named, lemmas(words[token] for token in named), strict=True):
        by_token[token] = lemma
    blocking = compare(before, after, by_token).blocking
    return Change.HEADS if blocking in (Blocking.NOUN, Blocking.PARTIAL) else Change.MENTIONS


def _other_changes(left: Body, right: Body, *, voices: bool, moved: bool) -> Iterator[Change]:
    if left.split != right.split:
        yield Change.SPLIT
    if voices:
        yield Change.VOTES
    if not moved and {f.what for f in left.flags} != {f.what for f in right.flags}:
        yield Change.FLAGS


def _voices(left: Body, right: Body) -> Iterator[tuple[str, Said | None, Said | None]]:
    """Whose answers came, went, or say something else."""
    before = {(one.annotator, one.role): one.said for one in left.voices}
    after = {(one.annotator, one.role): one.said for one in right.voices}
    for who in sorted(before.keys() | after.keys()):
        old, new = before.get(who), after.get(who)
        if old != new and not (_is_gold(who, old, left) and _is_gold(who, new, right)):
            yield who[0], old, new


def _is_gold(who: tuple[str, str], said: Said | None, body: Body) -> bool:
    """True for an adjudicator's answer that is the gold, and where there is no answer."""
    return said is None or (who == (body.decision[0], ADJUDICATOR) and said == body.said)
