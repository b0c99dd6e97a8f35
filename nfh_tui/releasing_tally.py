"""What a release holds, counted while its items pass by; and what was in view."""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from nfh_db.activations import Activation
from nfh_db.records import BY_RULE, Ballot, FlagName, Gold, Role, Rule, State, Vote
from nfh_models.domain import Kind, Relation, Sort


class View(StrEnum):
    """What those had in view who gave the answers of which a gold is made."""

    MODEL = "a model's answer"
    NOTHING = "no model's answer"
    UNKNOWN = "not known"


class ModelsInUse:
    """Which models answered at a time, by the log of what was put to use when."""

    def __init__(self, activations: Iterable[Activation]) -> None:
        self._times: dict[str, list[str]] = {}
        self._models: dict[str, list[str]] = {}
        for one in activations:
            self._times.setdefault(one.task, []).append(one.at)
            self._models.setdefault(one.task, []).append(one.model)

    def at(self, time: str) -> set[str]:
        """Names of the models in use; none where that was before the log begins."""
        found = set()
        for task, times in self._times.items():
            place = bisect_right(times, time)
            if place:
                found.add(self._models[task][place - 1])
        return found


@dataclass(slots=True)
class Tally:
    """Counts of numbers, unless said otherwise.

    kinds: by kind and split. passages: the first split of each, by its words, however they are
    spaced or cut; in_two: those that stand in a second one. places, tokens: passages and their
    tokens by split. heads: of Reference, by how many heads. views: by rule and what was in
    view; votes_seen: with others' answers in view. models: that were in use while an answer was
    given with a model in view; unlogged: such answers of a time or a place of which the models
    are not known. guidelines: expert gold by the version it was decided under. undecided: left
    out, by state; disputed: of these, those on which annotators differ. answers: of each
    person, by name and role; machines: by name and type, of what is no person. own_versions:
    answers given here, by the version of the guidelines that held. anchors: in the release.
    """

    in_use: ModelsInUse
    kinds: Counter[tuple[Kind, str | None]] = field(default_factory=Counter)
    splits: Counter[str | None] = field(default_factory=Counter)
    passages: dict[bytes, str | None] = field(default_factory=dict)
    in_two: set[bytes] = field(default_factory=set)
    places: Counter[str | None] = field(default_factory=Counter)
    tokens: Counter[str | None] = field(default_factory=Counter)
    heads: Counter[int] = field(default_factory=Counter)
    relations: Counter[Relation] = field(default_factory=Counter)
    sorts: Counter[Sort | None] = field(default_factory=Counter)
    rules: Counter[Rule] = field(default_factory=Counter)
    views: Counter[tuple[Rule, View]] = field(default_factory=Counter)
    votes_seen: Counter[Rule] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    unlogged: int = 0
    guidelines: Counter[str] = field(default_factory=Counter)
    own_versions: Counter[int] = field(default_factory=Counter)
    undecided: Counter[State] = field(default_factory=Counter)
    disputed: int = 0
    flags: Counter[FlagName] = field(default_factory=Counter)
    comments: int = 0
    answers: Counter[tuple[str, Role]] = field(default_factory=Counter)
    machines: Counter[tuple[str, str]] = field(default_factory=Counter)
    anchors: set[int] = field(default_factory=set)
    _seen_places: set[tuple[bytes, str | None]] = field(default_factory=set)

    @property
    def items(self) -> int:
        """Numbers that are in the release."""
        return self.rules.total()

    def add(self, ballot: Ballot) -> None:
        """Take in an item that a query found."""
        gold = ballot.gold
        if gold is None:
            self.undecided[ballot.state] += 1
            self.disputed += ballot.state is State.DISAGREE
            return
        self.anchors.add(ballot.anchor_id)
        self.kinds[gold.answer.kind, ballot.split] += 1
        self.splits[ballot.split] += 1
        self._place(ballot)
        self._answer(gold)
        self._decision(gold, ballot.votes)
        self._people(ballot)

    def _place(self, ballot: Ballot) -> None:
        words = _words(ballot.passage.text)
        if self.passages.setdefault(words, ballot.split) != ballot.split:
            self.in_two.add(words)
        place = (words, ballot.split)
        if place not in self._seen_places:
            self._seen_places.add(place)
            self.places[ballot.split] += 1
            self.tokens[ballot.split] += len(ballot.passage.tokens)

    def _answer(self, gold: Gold) -> None:
        answer = gold.answer
        if answer.kind is Kind.REFERENCE:
            self.heads[len(answer.heads)] += 1
        if answer.relation is not None:
            self.relations[answer.relation] += 1
        if answer.kind is Kind.OTHER:
            self.sorts[answer.sort] += 1

    def _decision(self, gold: Gold, votes: Sequence[Vote]) -> None:
        self.rules[gold.rule] += 1
        made_of = deciding(gold, votes)
        seen = [vote for vote in made_of if vote.saw_model]
        self.views[gold.rule, _view(made_of)] += 1
        self.votes_seen[gold.rule] += any(vote.saw_votes for vote in made_of)
        if seen:
            self._models(seen)
        if gold.rule is Rule.EXPERT:
            self.guidelines[_guideline(made_of)] += 1

    def _models(self, seen: Sequence[Vote]) -> None:
        """The models that were in use while answers of one number were given."""
        found: set[str] = set()
        for vote in seen:
            if not vote.imported:
                found |= self.in_use.at(vote.answered_at)
        self.models.update(found)
        self.unlogged += not found

    def _people(self, ballot: Ballot) -> None:
        for vote in ballot.votes:
            if vote.type == "person":
                self.answers[vote.annotator, vote.role] += 1
                if vote.guideline_version is not None and not vote.imported:
                    self.own_versions[vote.guideline_version] += 1
            else:
                self.machines[vote.annotator, vote.type] += 1
        self.flags.update({flag.name for flag in ballot.flags})
        said = [vote.answer.comment for vote in ballot.votes if vote.answer.comment]
        own = ballot.gold.answer.comment if ballot.gold else ""
        # That of a gold is mostly the one of the answer that it was made of.
        self.comments += len(said) + (bool(own) and own not in said)


def _words(text: str) -> bytes:
    """What is the same of two texts that differ in spaces and capitals only."""
    said = "".join(text.split()).casefold()
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _guideline(made_of: Sequence[Vote]) -> str:
    """The version under which an expert decided, in words."""
    version = made_of[0].guideline_version if made_of else None
    if version is None:
        return "not noted"
    return "other guidelines, of a file" if made_of[0].imported else f"version {version}"


def _view(made_of: Sequence[Vote]) -> View:
    """What was in view. Most files say nothing of it, so of their answers it is not known."""
    if any(vote.saw_model for vote in made_of):
        return View.MODEL
    known = made_of and not any(vote.imported for vote in made_of)
    return View.NOTHING if known else View.UNKNOWN


def deciding(gold: Gold, votes: Sequence[Vote]) -> list[Vote]:
    """The answers that a gold is made of, as far as they are known: an expert's, or votes.

    Of gold that came with a file none is.
    """
    if gold.rule is Rule.EXPERT:
        return [
            vote
            for vote in votes
            if vote.role is Role.ADJUDICATOR and vote.annotator == gold.adjudicator
        ]
    if gold.rule not in BY_RULE:
        return []
    named = {name for name, _ in gold.votes}
    return [vote for vote in votes if vote.counts and (not named or vote.annotator in named)]
