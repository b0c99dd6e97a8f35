"""The item as it is shown blind: nobody is named, and the order tells nothing."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nfh_db.records import Item, Role, Vote

SOMEBODY = "…"
"""What stands in a comment for the name of somebody who is no letter."""

_FILE = re.compile(r"^.*\.(jsonl?|csv|tsv|xlsx?|txt)$", re.IGNORECASE | re.DOTALL)
"""A document called by the file that it came with, which often has somebody's name."""


def blinded(item: Item) -> Item:
    """The item with annotators' names replaced by letters and their order mixed.

    The order is the same each time, and another for each item. Who is behind gold, flags,
    decisions and stale answers is left out as well, and so is how often they are right.
    A comment that names one of them has the letter instead: people sign.
    """

    of_annotators = (vote for vote in item.votes if vote.role is Role.ANNOTATOR)
    mixed = mixed_order(item, of_annotators)
    stale = mixed_order(item, item.stale_votes)
    others = [vote for vote in item.votes if vote.role is not Role.ANNOTATOR]
    names = _people(item)
    names |= {vote.annotator: letter(n) for n, vote in enumerate(mixed)}
    gold = item.gold
    return replace(
        item,
        document=_FILE.sub(SOMEBODY, item.document),
        votes=(*_lettered(mixed, names), *(_unsigned(vote, "", names) for vote in others)),
        stale_votes=_lettered(stale, names),
        gold=gold
        and replace(
            gold,
            answer=replace(gold.answer, comment=without_names(gold.answer.comment, names)),
            adjudicator=None,
            votes=(),
        ),
        flags=tuple(replace(flag, annotator="") for flag in item.flags),
        competences=(),
        blind=True,
    )


def mixed_order(item: Item, votes: Iterable[Vote]) -> list[Vote]:
    """Votes with their names in the order in which they stand blind."""

    def place(vote: Vote) -> bytes:
        content = f"{item.public_id}\0{vote.annotator}".encode("utf-8", "replace")
        return hashlib.sha256(content).digest()

    return sorted(votes, key=place)


def _people(item: Item) -> dict[str, str]:
    """Everybody who has had to do with the item, none of them a letter yet."""
    named = {vote.annotator for vote in (*item.votes, *item.stale_votes)}
    named |= {flag.annotator for flag in item.flags}
    if item.gold is not None:
        named |= {item.gold.adjudicator or "", *(name for name, _ in item.gold.votes)}
    return dict.fromkeys(named - {""}, SOMEBODY)


def _lettered(votes: Sequence[Vote], names: Mapping[str, str]) -> tuple[Vote, ...]:
    return tuple(_unsigned(vote, letter(n), names) for n, vote in enumerate(votes))


def _unsigned(vote: Vote, name: str, names: Mapping[str, str]) -> Vote:
    comment = without_names(vote.answer.comment, names)
    return replace(vote, annotator=name, answer=replace(vote.answer, comment=comment))


def without_names(comment: str, names: Mapping[str, str]) -> str:
    """The comment with letters for names, in whatever case they stand there."""
    if not comment or not names:
        return comment
    folded = {name.casefold(): other for name, other in names.items()}
    return _any_of(names).sub(lambda found: folded.get(found[0].casefold(), SOMEBODY), comment)


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """The names as whole words, the longest first."""
    longest = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)", re.IGNORECASE)


def letter(place: int) -> str:
    """The blind name of the annotator in that place: A to Z, then A2 and so on."""
    again, at = divmod(place, 26)
    return chr(ord("A") + at) + (str(again + 1) if again else "")
