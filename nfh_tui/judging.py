"""From the store's ballots to what agreement is measured on, and the measuring of it all."""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nfh_db.query import Query
from nfh_db.records import Annotator, Ballot, Role, Rule, Vote
from nfh_models.agreement.judged import Judged, Timed
from nfh_models.domain import Anchor, Kind, Passage, anchor_id

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.agreement.bootstrap import Resampling
    from nfh_models.agreement.report import Agreement
    from nfh_models.agreement.skill import Skill
    from nfh_models.parsing import Tagger

SAMPLED = 3_000
"""Items whose closest nouns are looked for. Tagging is slow, and with 3,000 items a share
is known to within two points (95 %)."""

TAGGED_AT_ONCE = 256

Progress = Callable[[int], None]


def _no_progress(done: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Judgement:
    """Agreement, and on what it was measured.

    sample_corpus: true if any item is of the corpus that is written for showing. eligible:
    items in which two annotators say REFERENCE; sampled: how many of them were looked at for
    the closest noun. tagger: that found the nouns; None if none was used.
    """

    agreement: "Agreement"
    sample_corpus: bool
    eligible: int
    sampled: int
    tagger: str | None


def judged(ballot: Ballot) -> Judged:
    """A ballot as agreement is measured on it: votes and experts' answers apart."""
    gold = ballot.gold
    return Judged(
        ballot.anchor_id,
        ballot.passage_id,
        ballot.anchor,
        [token.lemma for token in ballot.passage.tokens],
        _by_name(vote for vote in ballot.votes if vote.counts),
        _by_name(vote for vote in ballot.votes if vote.role is Role.ADJUDICATOR),
        gold.answer if gold else None,
        gold is not None and gold.rule is Rule.EXPERT,
    )


def _by_name(votes: Iterable[Vote]) -> dict[str, Timed]:
    return {
        vote.annotator: Timed(vote.answer, vote.answered_at, vote.seconds) for vote in votes
    }


@dataclass(slots=True)
class ReferenceSample:
    """A random sample of the items in which two say REFERENCE, drawn while they pass by.

    Each is in it with the same probability (reservoir sampling: Vitter 1985, ACM
    Transactions on Mathematical Software 11:37-57, algorithm R). The same items in the same
    order with the same seed give the same sample.
    """

    seed: int
    most: int = SAMPLED
    seen: int = 0
    items: list[tuple[Judged, Passage]] = field(default_factory=list)
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 - a sample, no secret

    def offer(self, item: Judged, passage: Passage) -> None:
        """Take the item in, perhaps, if two say REFERENCE."""
        said = sum(vote.answer.kind is Kind.REFERENCE for vote in item.votes.values())
        if said < 2:
            return
        self.seen += 1
        if len(self.items) < self.most:
            self.items.append((item, passage))
            return
        place = self._random.randrange(self.seen)
        if place < self.most:
            self.items[place] = (item, passage)


@dataclass(slots=True)
class SampleCorpus:
    """Notices items of the corpus that is written for showing."""

    found: bool = False
    _name: str = field(init=False)
    _ids: frozenset[str] | None = None

    def __post_init__(self) -> None:
        from nfh_tui.sample import corpus_path

        self._name = corpus_path().name

    def look(self, ballot: Ballot) -> None:
        """Notice one item. Only a document of that name is looked at more closely."""
        if self.found or ballot.document != self._name:
            return
        if self._ids is None:
            from nfh_tui.sample import corpus_path

            with corpus_path().open(encoding="utf-8") as lines:
                self._ids = frozenset(json.loads(line)["id"] for line in lines)
        self.found = anchor_id(ballot.passage.digest, ballot.anchor) in self._ids


def measure(
    store: "Store",
    query: Query,
    me: Annotator | None,
    resampling: "Resampling",
    *,
    with_skill: bool = True,
    progress: Progress = _no_progress,
    tagging: Progress = _no_progress,
) -> Judgement:
    """Measure agreement on the items that a query finds, as they are at one moment.

    progress is called with the number of items read, tagging with that of passages tagged.
    The database is free again before anything is tagged or resampled.
    """
    from nfh_models.agreement.report import measure_agreement
    from nfh_models.agreement.skill import no_skill
    from nfh_models.agreement.tables import collect

    sample, corpus = ReferenceSample(resampling.seed), SampleCorpus()
    tables = collect(_passing(store.ballots(query, me), sample, corpus, progress))
    if with_skill:
        skill, tagger = _skill(sample, resampling, tagging)
    else:
        skill, tagger = no_skill("Skill was not asked for."), None
    sampled = len(sample.items) if tagger else 0
    agreement = measure_agreement(tables, skill, resampling)
    return Judgement(agreement, corpus.found, sample.seen, sampled, tagger)


def _passing(
    ballots: Iterable[Ballot], sample: ReferenceSample, corpus: SampleCorpus, progress: Progress
) -> Iterator[Judged]:
    for number, ballot in enumerate(ballots, 1):
        item = judged(ballot)
        sample.offer(item, ballot.passage)
        corpus.look(ballot)
        progress(number)
        yield item


def _skill(
    sample: ReferenceSample, resampling: "Resampling", tagging: Progress
) -> tuple["Skill", str | None]:
    """Skill, and the name of the tagger; its sentence where there is none."""
    from nfh_models.agreement.skill import no_skill, noun_skill

    if not sample.items:
        return noun_skill((), resampling), None
    from nfh_models.parsing import NoPipelineError, load_tagger

    try:
        tagger = load_tagger()
    except NoPipelineError as error:
        return no_skill(f"Nothing finds the closest noun here. {error}"), None
    return noun_skill(with_nearest(sample.items, tagger, tagging), resampling), tagger.name


def with_nearest(
    items: Sequence[tuple[Judged, Passage]], tagger: "Tagger", tagging: Progress = _no_progress
) -> list[Judged]:
    """The items with the noun that recipe `nearest-noun` chooses; None where there is none.

    A stretch of a passage that several anchors need is tagged once.
    """
    from nfh_models.parsing import Stretch
    from nfh_models.resolution import nearest_noun

    wanted = {
        (item.passage, *nearest_noun.reach(passage, item.anchor)): passage
        for item, passage in items
    }
    places = list(wanted)
    tags: dict[tuple[int, int, int], list[str]] = {}
    for first in range(0, len(places), TAGGED_AT_ONCE):
        some = places[first : first + TAGGED_AT_ONCE]
        stretches = [Stretch.of(wanted[place], *place[1:]) for place in some]
        tags.update(zip(some, tagger.tag(stretches), strict=True))
        tagging(len(tags))
    return [
        replace(item, nearest=_nearest(passage, item.anchor, tags, item.passage))
        for item, passage in items
    ]


def _nearest(
    passage: Passage,
    anchor: Anchor,
    tags: dict[tuple[int, int, int], list[str]],
    passage_id: int,
) -> int | None:
    from nfh_models.resolution import nearest_noun

    found = tags[passage_id, *nearest_noun.reach(passage, anchor)]
    choice = nearest_noun.predict(passage, anchor, found).choice
    return int(choice) if choice.isdigit() else None
