"""From the store to the statistics: each number with what is said of it, one pass."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from nfh_db.errors import StoreError
from nfh_db.query import Query
from nfh_db.records import Annotator, Ballot, Rule
from nfh_models.statistics.counting import GroupOf, Statistics, count
from nfh_models.statistics.number import Number

if TYPE_CHECKING:
    from nfh_db.store import Store

GOLD = "gold"
IDENTIFIED = "identified"
SPLIT = "split"

AT_ONCE = 1_000
"""Numbers whose origins are looked up together."""

IDENTIFICATION_FORMAT = "nfh-ident"
RESOLUTION_FORMAT = "nfh"
"""Formats whose files say of some numbers only what they are, by their names."""

Progress = Callable[[int], None]


class NoModelError(StoreError):
    """Nothing is identified, since no model is active."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the report was asked for. of: gold or identified. by: split, doc or None. top: how
    many anchors are listed."""

    query: str
    of: str = GOLD
    by: str | None = None
    top: int = 10


@dataclass(slots=True)
class Found:
    """The statistics, and where what is said comes from.

    model: name of the identification model that spoke; None for gold. one_a_sentence,
    nfh_only: numbers whose gold an identification or resolution file brought. with_gold: of
    numbers that a model spoke of, those that have gold.
    """

    statistics: Statistics = field(default_factory=Statistics)
    model: str | None = None
    one_a_sentence: int = 0
    nfh_only: int = 0
    with_gold: int = 0


def read(
    store: "Store", query: Query, me: Annotator | None, asked: Asked, progress: Progress
) -> Found:
    """Count what a query finds, in bounded memory; progress is called with the numbers read.

    Raises NoModelError where what is identified is asked for and no model is active.
    """
    found = Found()
    ballots = _passing(store.ballots(query, me), progress)
    if asked.of == IDENTIFIED:
        model = store.identifying()
        if model is None:
            raise NoModelError(
                f"{store.path} has no active model of identification, so nothing is identified "
                "there: `nfh-tui identify` decides by rules, and makes them the active model"
            )
        found.model = model.name
        numbers = _of_model(store, ballots, model.model_id, found)
    else:
        numbers = _of_gold(store, ballots, found)
    found.statistics = count(numbers, _group_of(asked.by))
    return found


def _group_of(by: str | None) -> GroupOf | None:
    if by is None:
        return None
    return (lambda number: number.split) if by == SPLIT else (lambda number: number.document)


def _passing(ballots: Iterable[Ballot], progress: Progress) -> Iterator[Ballot]:
    for number, ballot in enumerate(ballots, 1):
        progress(number)
        yield ballot


def _of_gold(store: "Store", ballots: Iterator[Ballot], found: Found) -> Iterator[Number]:
    while some := list(islice(ballots, AT_ONCE)):
        imported = [
            one.anchor_id for one in some if one.gold and one.gold.rule is Rule.IMPORTED
        ]
        for rows in store.source_rows(imported).values():
            formats = {row.format for row in rows}
            found.one_a_sentence += IDENTIFICATION_FORMAT in formats
            found.nfh_only += RESOLUTION_FORMAT in formats
        for one in some:
            answer = one.gold.answer if one.gold else None
            yield Number.of_gold(
                one.passage_id, one.document, one.split, one.passage, one.anchor, answer
            )


def _of_model(
    store: "Store", ballots: Iterator[Ballot], model_id: int, found: Found
) -> Iterator[Number]:
    while some := list(islice(ballots, AT_ONCE)):
        passages = sorted({one.passage_id for one in some})
        said = {
            number.id: number.said[0]
            for passage in store.numbered(passages, model_id)
            for number in passage.numbers
            if number.said is not None
        }
        for one in some:
            nfh = said.get(one.anchor_id)
            found.with_gold += nfh is not None and one.gold is not None
            yield Number(one.passage_id, one.document, one.split, one.passage, one.anchor, nfh)
