"""Who named what, counted by noun and by mention apart: "pump by 3 of 3, two mentions"."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nfh_db.records import Item, Vote
from nfh_models.domain import Head, Kind, Origin
from nfh_models.domain.compare import same_head
from nfh_tui.editing.describe import KIND_WORDS
from nfh_tui.editing.state import live
from nfh_tui.editing.votes import lemmas
from nfh_tui.rows import Part, Rows

COUNTS = "no one two three four five six seven eight nine ten eleven twelve".split()
"""Small numbers in words."""


@dataclass(slots=True)
class _Noun:
    """Heads that are one noun by what somebody said, and who named it."""

    heads: list[Head] = field(default_factory=list)
    voters: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of those who answered named this. mentions: different ones that they marked,
    0 for what is no noun of the passage."""

    votes: int
    of: int
    what: str
    mentions: int = 0

    @property
    def words(self) -> str:
        """As one reads it."""
        several = f", {_count(self.mentions)} mentions" if self.mentions > 1 else ""
        return f"{self.what} by {self.votes} of {self.of}{several}"


def tally(item: Item) -> tuple[Tally, ...]:
    """What people's answers come to: nouns one by one, then kinds; the most voted first."""
    votes = [v for v in item.votes if v.counts and v.answer.kind is not Kind.NFH]
    of = len(votes)
    nouns = [
        Tally(len(noun.voters), of, _word(item, noun), len(_marked(noun)))
        for noun in _nouns(votes, item)
    ]
    kinds = [vote.answer.kind for vote in votes if vote.answer.kind is not Kind.REFERENCE]
    said = [Tally(kinds.count(kind), of, KIND_WORDS[kind]) for kind in dict.fromkeys(kinds)]
    return tuple(sorted([*nouns, *said], key=lambda one: -one.votes))


def _nouns(votes: Sequence[Vote], item: Item) -> list[_Noun]:
    """Heads joined into nouns: one that is the same as two others makes all three one."""
    words = lemmas(item)
    found: list[_Noun] = []
    for number, vote in enumerate(votes):
        for head in vote.answer.heads:
            same = [
                noun
                for noun in found
                if any(same_head(head, other, words) for other in noun.heads)
            ]
            joined = same[0] if same else _Noun()
            for other in same[1:]:
                joined.heads += other.heads
                joined.voters |= other.voters
                found.remove(other)
            if not same:
                found.append(joined)
            joined.heads.append(head)
            joined.voters.add(number)
    return found


def _marked(noun: _Noun) -> set[int]:
    """Where people put their marks; what the tool added is not counted."""
    mentions = [m for head in noun.heads for m in live(head.mentions)]
    marked = {m.head for m in mentions if m.origin is Origin.MARKED}
    return marked or {m.head for m in mentions}


def _word(item: Item, noun: _Noun) -> str:
    first = live(noun.heads[0].mentions)[0]
    return " ".join(item.passage.word(first.head).split())


def _count(number: int) -> str:
    return COUNTS[number] if number < len(COUNTS) else f"{number}"


def add_tally(rows: Rows, item: Item) -> None:
    """The tally in a paragraph, where two people answered or more."""
    found = tally(item)
    if not found or found[0].of < 2:
        return
    parts: list[Part] = [("named: ", "note")]
    for place, one in enumerate(found):
        parts += [("; ", "note")] if place else []
        parts += [(one.what, "kind"), (_unbroken(f" by {one.votes} of {one.of}"), "note")]
        if one.mentions > 1:
            parts.append((f", {_count(one.mentions)} mentions", "note"))
    rows.text(parts, indent=1, hang=3)


def _unbroken(text: str) -> str:
    """A count is not parted at the end of a line: "by 2 of 3" stays together."""
    return text.replace("by ", "by\u00a0").replace(" of ", "\u00a0of\u00a0")
