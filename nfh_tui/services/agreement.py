"""Agreement and audits: from the store's ballots to what agreement is measured on, and from
an audit's sample to what its answers show.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.query import Query
from nfh_db.records import Annotator, Ballot, Role, Rule, Vote
from nfh_models.agreement.audit import (
    Advice,
    Stratum,
    advice,
    draw,
    interval,
    upper_bound,
    weighted,
)
from nfh_models.agreement.measure import AnsweredAnchor, Timed
from nfh_models.domain import Kind, Passage, anchor_id

if TYPE_CHECKING:
    from nfh_db.audits import Audit, AuditItem, AuditSample
    from nfh_db.batches import SettleReport
    from nfh_db.store import Store
    from nfh_models.agreement.bootstrap import Resampling
    from nfh_models.agreement.coefficients import Skill
    from nfh_models.agreement.report import Agreement
    from nfh_models.parsing.spacy_parser import Tagger


@dataclass(frozen=True, slots=True)
class NewAudit:
    """An audit just drawn. run: its name. frame: items it could have been drawn from."""

    run: str
    auditor: str
    items: int
    frame: int
    seed: int
    wanted: int
    voted: int
    strata: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class StratumReport:
    """A stratum: how many there were, were drawn, were decided, and are wrong."""

    size: int
    drawn: int
    decided: int
    wrong: int


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit shows. Shares are fractions, None until everything is decided.

    frame: items that it was drawn from. left: still to be decided. returned, gone: given
    back, and numbers that got another span: they say nothing. wrong: of those decided; in
    kinds by how they differ. rate: of all, strata weighted by their sizes, which cover
    `covered` items. share: of those decided. interval: of the share, exact, 95 %. bound:
    above it the share lies with 5 % at most. why: why there is no rate.
    """

    run: str
    auditor: str
    frame: int | None
    drawn: int
    decided: int
    left: int
    returned: int
    gone: int
    wrong: int
    kinds: dict[str, int]
    rate: float | None
    covered: int | None
    share: float | None
    interval: tuple[float, float] | None
    bound: float | None
    why: str | None
    strata: dict[str, StratumReport]
    seed: int | None = None
    by: str | None = None
    voted: int = 0
    query: str | None = None
    act: int | None = None


def draw_audit(
    store: "Store",
    query: "Query",
    wanted: int,
    seed: int,
    me: "Annotator",
    auditor: "Annotator",
    settled: "SettleReport | None" = None,
) -> NewAudit | None:
    """Draw a sample of what rules settled and give it to the auditor; None if of nothing.

    settled: only of what this settlement did.
    """
    from nfh_db.audits import Sample

    if not (frame := store.audits.frame(query, me, auditor, settled)):
        return None
    strata: dict[str, list[int]] = {}
    for anchor, stratum in frame:
        strata.setdefault(stratum, []).append(anchor)
    sample = Sample(
        draw(strata, wanted, seed),
        seed,
        wanted,
        {name: len(strata[name]) for name in sorted(strata)},
        query.text,
        settled.act_id if settled else None,
    )
    run, drawn = store.audits.assign(sample, auditor, me)
    return NewAudit(
        run,
        auditor.name,
        sum(drawn.sampled.values()),
        len(frame),
        seed,
        wanted,
        drawn.voted,
        {name: (drawn.sizes[name], drawn.sampled[name]) for name in drawn.sizes},
    )


OF_SAMPLE = ("seed", "by", "voted", "query", "act")
"""Fields of a report that are those of the sample, where it is known."""


def report(audit: "Audit") -> AuditReport:
    """The result of an audit so far."""
    items, known = audit.items, audit.drawn
    decided = [item for item in items if item.decided]
    wrong = sum(item.blocking is not None for item in decided)
    left = sum(item.state in ("open", "done") and not item.decided for item in items)
    gone = sum(item.state == "gone" for item in items)
    drawn = sum(known.sampled.values()) if known else len(items)
    strata = _strata(items, known)
    why = _why_no_rate(left, len(items), len(decided))
    rate, covered = None, None
    if why is None and known is not None:
        found = weighted([Stratum(s.size, s.decided, s.wrong) for s in strata.values()])
        rate, covered = found.rate, found.covered
    return AuditReport(
        run=audit.run,
        auditor=audit.auditor.name,
        frame=sum(known.sizes.values()) if known else None,
        drawn=drawn,
        decided=len(decided),
        left=left,
        # An item that was given back may have been drawn again, for another audit.
        returned=drawn - len(decided) - left - gone,
        gone=gone,
        wrong=wrong,
        kinds=_kinds(decided),
        rate=rate,
        covered=covered,
        share=None if why else wrong / len(decided),
        interval=None if why else interval(wrong, len(decided)),
        bound=None if why else upper_bound(wrong, len(decided)),
        why=why,
        strata=strata,
        **{name: getattr(known, name) for name in OF_SAMPLE if known},
    )


def _why_no_rate(left: int, items: int, decided: int) -> str | None:
    if left:
        return (
            f"{left:,} of {items:,} items are still to be decided: those decided first are "
            "not a random sample"
        )
    return None if decided else "no item was decided"


def _kinds(decided: "list[AuditItem]") -> dict[str, int]:
    found = Counter(item.blocking.value for item in decided if item.blocking is not None)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _strata(
    items: "tuple[AuditItem, ...]", known: "AuditSample | None"
) -> dict[str, StratumReport]:
    drawn = Counter(item.stratum for item in items)
    decided = Counter(item.stratum for item in items if item.decided)
    wrong = Counter(item.stratum for item in items if item.blocking is not None)
    names = sorted(known.sizes if known else drawn)
    return {
        name: StratumReport(
            known.sizes[name] if known else 0,
            known.sampled.get(name, 0) if known else drawn[name],
            decided[name],
            wrong[name],
        )
        for name in names
    }


@dataclass(frozen=True, slots=True)
class SettledStratum:
    """Golds that rules made of one kind and pattern of votes, and how right audits found them.

    name: "AGE, 2-1", or "AGE, 2-1, weighted". interval: of the share that is wrong, exact,
    95 %. find: a query for the golds.
    """

    name: str
    kind: str
    pattern: str
    golds: int
    audited: int
    wrong: int
    interval: tuple[float, float] | None
    advice: Advice
    find: str


def settled_strata(
    audits: "Iterable[Audit]", golds: Mapping[str, int], base: str = ""
) -> list[SettledStratum]:
    """The strata of these golds, those to decide by hand first; audits count when finished.

    golds: number by the name of a stratum. base: the query that found them.
    """
    from nfh_db.batches import stratum

    audited, wrong = Counter[str](), Counter[str]()
    for audit in audits:
        if not any(item.state in ("open", "done") and not item.decided for item in audit.items):
            for item in audit.items:
                rule, kind, pattern = (*item.stratum.split(", "), "", "")[:3]
                name = stratum(rule, kind, pattern)
                audited[name] += item.decided
                wrong[name] += item.blocking is not None
    found = []
    for name, count in golds.items():
        kind, pattern, *rules = name.split(", ")
        of, bad = audited[name], wrong[name]
        of_rules = ",".join(rules or (Rule.UNANIMOUS, Rule.MAJORITY))
        query = f"{base} rule:{of_rules} class:{kind} pattern:{pattern}".strip()
        between = interval(bad, of) if of else None
        found.append(
            SettledStratum(name, kind, pattern, count, of, bad, between, advice(bad, of), query)
        )
    return sorted(found, key=lambda one: (one.advice is not Advice.BY_HAND, -one.golds))


SAMPLED_PAIRS = 3_000
"""Items whose closest nouns are looked for. Tagging is slow, and with 3,000 items a share
is known to within two points (95 %)."""

TAGGED_AT_ONCE = 256

Progress = Callable[[int], None]


def _no_progress(done: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class AgreementResult:
    """Agreement, and on what it was measured.

    sample_corpus: true if any item is of the sample corpus. eligible:
    items in which two annotators say REFERENCE; sampled: how many of them were looked at for
    the closest noun. tagger: that found the nouns; None if none was used.
    """

    agreement: "Agreement"
    sample_corpus: bool
    eligible: int
    sampled: int
    tagger: str | None


def split_votes(ballot: Ballot) -> AnsweredAnchor:
    """A ballot as agreement is measured on it: votes and experts' answers apart."""
    gold = ballot.gold
    return AnsweredAnchor(
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
    most: int = SAMPLED_PAIRS
    seen: int = 0
    items: list[tuple[AnsweredAnchor, Passage]] = field(default_factory=list)
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 - a sample, no secret

    def offer(self, item: AnsweredAnchor, passage: Passage) -> None:
        """Offer an item; it may enter the sample if two annotators say REFERENCE."""
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
    """Detects items of the sample corpus."""

    found: bool = False
    _path: Path = field(init=False)
    _ids: frozenset[str] | None = None

    def __post_init__(self) -> None:
        from nfh_tui.sample import corpus_path

        self._path = corpus_path()

    def look(self, ballot: Ballot) -> None:
        """Look at an item; only documents of that name are compared by id."""
        if self.found or ballot.document != self._path.name:
            return
        if self._ids is None:
            with self._path.open(encoding="utf-8") as lines:
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
) -> AgreementResult:
    """Measure agreement on the items that a query finds, as they are at one moment.

    progress: called with the items read; tagging: with the passages tagged. The database is
    released before tagging and resampling.
    """
    from nfh_models.agreement.coefficients import no_skill
    from nfh_models.agreement.pairs import collect
    from nfh_models.agreement.report import measure_agreement

    sample, corpus = ReferenceSample(resampling.seed), SampleCorpus()
    tables = collect(_passing_pairs(store.items.ballots(query, me), sample, corpus, progress))
    if with_skill:
        skill, tagger = _skill(sample, resampling, tagging)
    else:
        skill, tagger = no_skill("Skill was not measured."), None
    sampled = len(sample.items) if tagger else 0
    agreement = measure_agreement(tables, skill, resampling)
    return AgreementResult(agreement, corpus.found, sample.seen, sampled, tagger)


def _passing_pairs(
    ballots: Iterable[Ballot], sample: ReferenceSample, corpus: SampleCorpus, progress: Progress
) -> Iterator[AnsweredAnchor]:
    for number, ballot in enumerate(ballots, 1):
        item = split_votes(ballot)
        sample.offer(item, ballot.passage)
        corpus.look(ballot)
        progress(number)
        yield item


def _skill(
    sample: ReferenceSample, resampling: "Resampling", tagging: Progress
) -> tuple["Skill", str | None]:
    """Skill, and the name of the tagger; None without one."""
    from nfh_models.agreement.coefficients import no_skill, noun_skill

    if not sample.items:
        return noun_skill((), resampling), None
    from nfh_models.parsing.spacy_parser import NoPipelineError, load_tagger

    try:
        tagger = load_tagger()
    except NoPipelineError as error:
        return no_skill(f"No parser finds the closest noun here. {error}"), None
    return noun_skill(with_nearest(sample.items, tagger, tagging), resampling), tagger.name


def with_nearest(
    items: Sequence[tuple[AnsweredAnchor, Passage]],
    tagger: "Tagger",
    tagging: Progress = _no_progress,
) -> list[AnsweredAnchor]:
    """The items with the noun that recipe `nearest-noun` chooses; None where there is none.

    A stretch of a passage that several anchors need is tagged once.
    """
    from nfh_models.parsing.base import WordSpan
    from nfh_models.resolution import base

    wanted = {
        (item.passage, *base.tag_span(passage, item.anchor)): passage for item, passage in items
    }
    places = list(wanted)
    tags: dict[tuple[int, int, int], list[str]] = {}
    for first in range(0, len(places), TAGGED_AT_ONCE):
        some = places[first : first + TAGGED_AT_ONCE]
        word_spans = [WordSpan.of(wanted[place], *place[1:]) for place in some]
        tags.update(zip(some, tagger.tag(word_spans), strict=True))
        tagging(len(tags))
    found = []
    for item, passage in items:
        tagged = tags[item.passage, *base.tag_span(passage, item.anchor)]
        choice = base.predict(passage, item.anchor, tagged).choice
        found.append(replace(item, nearest=int(choice) if choice.isdigit() else None))
    return found
