"""People's names in a release: as they are, or numbers in their place."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from nfh_db.query import parse
from nfh_db.query.registry import NONE
from nfh_db.query.terms import Compare, Match, Named, People, Query
from nfh_db.records import PERSON, Annotator, Ballot, Gold

PREFIX = "person-"

Term = Match | People | Compare
BY = "by"
"""The key of queries that has nothing but names."""

NOT_SHOWN = "(not shown: it names people)"
"""Stands for a query in which names could not be replaced without changing what it says."""


def asked_of(query: Query) -> set[str]:
    """The people that a query names, as it writes them; ME among them for whoever asks."""
    return {name for term in query.terms for name in _names(term)}


def _names(term: Term) -> Iterator[str]:
    if isinstance(term, People):
        for value in term.values:
            yield from value.names
    elif isinstance(term, Match) and term.key == BY:
        yield from term.values


class Names:
    """Names as they are."""

    hidden = False

    def name(self, name: str) -> str:
        """What is written for a person."""
        return name

    def ballot(self, ballot: Ballot) -> Ballot:
        """An item with the names that are written."""
        return ballot

    def query(self, query: Query) -> str:
        """A query as it is written down."""
        return query.text


class Pseudonyms(Names):
    """person-1, person-2 and so on, in the order in which people came to the database.

    That order never changes, so that a person has one number in all releases of a database.
    Models and rules keep their names. A person of whom the database knows only the name, as
    files tell of who voted, gets the next number when met.
    """

    hidden = True

    def __init__(self, people: Iterable[Annotator]) -> None:
        self._numbers: dict[str, str] = {}
        self._taken: set[str] = set()
        persons = []
        for one in people:
            if one.type == PERSON:
                persons.append(one.name)
            else:
                self._taken.add(one.name)
        self._next = 1
        for name in persons:
            self.name(name)

    def name(self, name: str) -> str:
        """The number that stands for a person."""
        if name not in self._numbers:
            while f"{PREFIX}{self._next}" in self._taken:
                self._next += 1
            self._numbers[name] = f"{PREFIX}{self._next}"
            self._next += 1
        return self._numbers[name]

    def query(self, query: Query) -> str:
        """A query with numbers for the names of people, or a remark in its place."""
        named = {name: self._asked(name) for name in asked_of(query)}
        if not named:
            return query.text
        longest = sorted(named, key=len, reverse=True)
        pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest)
        text = re.sub(pattern, lambda match: named[match[0]], query.text)
        wanted = tuple(_renamed(term, named) for term in query.terms)
        return text if parse(text).terms == wanted else NOT_SHOWN

    def _asked(self, name: str) -> str:
        """What is written for a name that a query has in any case; machines keep theirs."""
        if name == NONE:
            return name
        same = name.casefold()
        if any(one.casefold() == same for one in self._taken):
            return name
        known = (one for one in self._numbers if one.casefold() == same)
        return self.name(next(known, name))

    def ballot(self, ballot: Ballot) -> Ballot:
        """An item with numbers for people's names, wherever there are any."""
        votes = tuple(
            replace(vote, annotator=self.name(vote.annotator)) if vote.type == PERSON else vote
            for vote in ballot.votes
        )
        flags = tuple(
            replace(flag, annotator=self.name(flag.annotator)) for flag in ballot.flags
        )
        gold = None if ballot.gold is None else self._gold(ballot.gold)
        return replace(ballot, votes=votes, flags=flags, gold=gold)

    def _gold(self, gold: Gold) -> Gold:
        by = None if gold.adjudicator is None else self.name(gold.adjudicator)
        votes = tuple((self.name(name), at) for name, at in gold.votes)
        return replace(gold, adjudicator=by, votes=votes)


def _renamed(term: Term, names: dict[str, str]) -> Term:
    """A part of a query with other names."""
    if isinstance(term, People):
        values = (Named(tuple(names[one] for one in v.names), v.what) for v in term.values)
        return replace(term, values=tuple(values))
    if isinstance(term, Match) and term.key == BY:
        return replace(term, values=tuple(names[one] for one in term.values))
    return term
