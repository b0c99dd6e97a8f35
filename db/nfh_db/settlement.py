"""Settlement: makes gold from annotators' answers by a rule, as one act that can be undone.

`nfh_models.domain.settlement` defines the rules; this module defines which gold they may
change. An expert's gold and gold from a file are kept, except an `NFH` from a file, which
leaves the number open: it is replaced by an answer that does not contradict it. Gold that an
earlier settlement made is checked again: it is replaced if the votes now settle on something
else, and taken back if they settle on nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from nfh_db import answers, models, system
from nfh_db.batches import SettleReport, stratum
from nfh_db.bulk_run import BulkAct, bulk_connection, finish_leftovers
from nfh_db.connection import Connection, Repository, readable, translated, with_path
from nfh_db.database import connect_to_read
from nfh_db.query import Query
from nfh_db.query import compile as compile_query
from nfh_db.records import BY_RULE, Annotator, Gold, Rule
from nfh_db.serialization import (
    GoldValue,
    content_of,
    decode_gold,
    decode_lemmas,
    encode,
    gold_value,
    json_of,
)
from nfh_models.domain import Answer, Kind, Settled, SettlingRule, settle, weight

# The order of the unique index on spans, so that nothing has to be sorted.
ANCHORS = """
SELECT a.id, a.passage_id, a.pattern FROM anchor AS a WHERE {where}
ORDER BY a.passage_id, a.start, a.stop"""
LEMMAS = """
SELECT passage_id, lemmas FROM passage_token
WHERE passage_id IN (SELECT value FROM json_each(:ids))"""
BEFORE = """
SELECT e.before FROM event AS e JOIN act AS c ON c.id = e.act_id
LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id = :anchor AND e.entity = 'gold' AND coalesce(b.state, '') <> 'loading'
ORDER BY e.id DESC"""

AT_ONCE = 1_000
"""Anchors that are read and decided at a time."""

LONGEST_QUERY = 60
"""Code points of the query that the summary of the act repeats."""

BY_EXPERT = "decided by an adjudicator"
BY_FILE = "gold from a file"
CONTRADICTED = "contradicts the NFH of a file"
"""Reasons to skip an anchor, in addition to those of the rules."""

IS_NO_NFH = (Kind.NOT_NFH, Kind.BROKEN)

Progress = Callable[[str, int], None]
"""Called with the phase of the work and the number of anchors done in it."""


def ignore(phase: str, done: int) -> None:
    """Ignore the progress."""


Vote = tuple[str, str, Answer]
"""Annotator's name, time of the answer, and answer."""


@dataclass(frozen=True, slots=True)
class SettledGold:
    """The outcome of a settlement for one anchor."""

    what: str
    """The field of SettleReport that counts the anchor."""

    reason: str = ""
    """Why the anchor is skipped; "" if it is not."""

    gold: GoldValue | None = None
    """The gold afterwards, for "new", "replaced" and "taken_back"."""


@dataclass(slots=True)
class _Tally:
    """The counts of a run."""

    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    patterns: Counter[str] = field(default_factory=Counter)
    strata: Counter[str] = field(default_factory=Counter)
    anchors: int = 0
    planned: dict[int, tuple[str, str, str, str]] = field(default_factory=dict)
    """Outcome, kind of gold, pattern of votes and rule of each anchor that the run changes."""

    def add(
        self, anchor_id: int, outcome: SettledGold, kind: str, pattern: str, rule: str
    ) -> None:
        """Count an anchor. kind: of its gold after the run; "" for none."""
        self.anchors += 1
        if outcome.what == "skipped":
            self.skipped[outcome.reason] += 1
            return
        self.counts[outcome.what] += 1
        if kind:
            self.classes[kind] += 1
            self.patterns[pattern] += 1
            self.strata[stratum(rule, kind, pattern)] += 1
        if outcome.what != "same":
            self.planned[anchor_id] = (outcome.what, kind, pattern, rule)

    def leave(self, anchor_ids: Sequence[int]) -> None:
        """Count planned anchors as "changed": they were left, because somebody changed them."""
        for anchor_id in anchor_ids:
            what, kind, pattern, rule = self.planned[anchor_id]
            self.counts[what] -= 1
            self.counts["changed"] += 1
            if kind:
                self.classes[kind] -= 1
                self.patterns[pattern] -= 1
                self.strata[stratum(rule, kind, pattern)] -= 1

    def report(self, base: SettleReport) -> SettleReport:
        """Return `base` with these counts; mappings have the most frequent entry first."""
        return replace(
            base,
            anchors=self.anchors,
            new=self.counts["new"],
            same=self.counts["same"],
            replaced=self.counts["replaced"],
            taken_back=self.counts["taken_back"],
            changed=self.counts["changed"],
            skipped=_ranked(self.skipped),
            classes=_ranked(self.classes),
            patterns=_ranked(self.patterns),
            strata=_ranked(self.strata),
        )


def _ranked(counts: Counter[str]) -> dict[str, int]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {name: count for name, count in ordered if count}


def run(
    path: Path,
    query: Query,
    rule: Rule,
    me: Annotator,
    *,
    least: int = 2,
    dry_run: bool = False,
    progress: Progress = ignore,
) -> SettleReport:
    """Settle the votes on the anchors of a query, as one act of `me`.

    rule: one of BY_RULE. least: votes that an anchor needs. progress: called with the
    phase and the number of anchors done in it. The plan is of one state of the database;
    anchors that others change meanwhile are left and counted. If the process is killed before
    the act is visible, the next start removes it; if later, the next start applies the rest.
    Raises StoreError while an import or another bulk operation is unfinished; a dry run does
    not.
    """
    base = SettleReport(rule, least, system.now(), dry_run=dry_run)
    tally = _Tally()
    if dry_run:
        for _ in _planned(path, query, me, base, tally, progress):
            pass
        return tally.report(base)
    with bulk_connection(path) as connection:
        finish_leftovers(connection)
        with BulkAct(
            connection, "settle", me.id, _summary(query, rule), "settle", by_votes=True
        ) as act:
            base = replace(base, at=act.at, act_id=act.act_id)
            for change in _planned(path, query, me, base, tally, progress):
                act.change(*change)
            if not tally.planned:
                return tally.report(replace(base, act_id=None))
            act.show(tally.report(base))
            tally.leave(act.apply(lambda done: progress("written", done)))
            report = tally.report(base)
            act.report(report)
            return report


def _summary(query: Query, rule: Rule) -> str:
    """Return the summary of the act, as the history and undo show it."""
    text = query.text.strip()
    if len(text) > LONGEST_QUERY:
        text = text[:LONGEST_QUERY] + "…"
    return f"settlement by rule {rule}" + (f" of {text}" if text else "")


def _planned(
    path: Path,
    query: Query,
    me: Annotator,
    base: SettleReport,
    tally: _Tally,
    progress: Progress,
) -> Iterator[tuple[int, str | None, str | None]]:
    """Yield (anchor id, encoded gold before, encoded gold after) for each change.

    Everything is read in one read transaction.
    """
    compiled = compile_query(query, me.id)
    reading = closing(connect_to_read(path))
    with translated(path), readable(path), reading as connection:
        connection.execute("BEGIN")
        cursor = connection.execute(ANCHORS.format(where=compiled.where), compiled.parameters)
        while rows := cursor.fetchmany(AT_ONCE):
            yield from _some(connection, rows, base, tally)
            progress("looked at", tally.anchors)


def _some(
    connection: Connection,
    rows: Sequence[tuple[int, int, str]],
    base: SettleReport,
    tally: _Tally,
) -> Iterator[tuple[int, str | None, str | None]]:
    ids = [row[0] for row in rows]
    golds = answers.read_all_gold(connection, ids)
    votes: dict[int, list[Vote]] = {
        id_: [(vote.annotator, vote.answered_at, vote.answer) for vote in given if vote.counts]
        for id_, given in answers.votes(connection, ids).items()
    }
    stored = models.read_weights(connection)
    weights = {one.annotator: weight(one.accuracy) for one in stored.people} if stored else {}
    lemmas = _lemmas(
        connection, {row[1] for row in rows if _gives_heads(votes.get(row[0], ()))}
    )
    for id_, passage_id, pattern in rows:
        present = golds.get(id_)
        outcome = decide(present, votes.get(id_, ()), lemmas.get(passage_id, ()), base, weights)
        if outcome.what == "taken_back":
            outcome = replace(outcome, gold=_stood_before(connection, id_))
        after = present if outcome.what in ("same", "skipped") else outcome.gold
        kind, rule = (after.kind, after.rule) if after is not None else ("", "")
        tally.add(id_, outcome, "" if outcome.what == "taken_back" else kind, pattern, rule)
        if after is not present:
            yield id_, encode(present), encode(after)


def _gives_heads(votes: Sequence[Vote]) -> bool:
    return any(answer.heads for _, _, answer in votes)


def _lemmas(connection: Connection, passage_ids: set[int]) -> dict[int, list[str]]:
    if not passage_ids:
        return {}
    found = connection.execute(LEMMAS, {"ids": json_of(sorted(passage_ids))})
    return {id_: decode_lemmas(lemmas) for id_, lemmas in found}


def decide(
    present: GoldValue | None,
    votes: Sequence[Vote],
    lemmas: Sequence[str],
    base: SettleReport,
    weights: Mapping[str, float],
) -> SettledGold:
    """Return the outcome for one anchor by the rule of `base`.

    lemmas: one per token of the passage; needed only if an answer has heads. weights: of the
    annotators whose competence is known. For "taken_back"
    `gold` is not set: the caller looks up the gold that an import gave.
    """
    by_rule = present is not None and present.rule in BY_RULE
    if present is not None and not by_rule:
        if present.rule == Rule.EXPERT:
            return SettledGold("skipped", BY_EXPERT)
        if present.kind != Kind.NFH:
            return SettledGold("skipped", BY_FILE)
    rule, settled = _settled(present, votes, lemmas, base, weights)
    if settled.answer is None:
        if by_rule:
            return SettledGold("taken_back")
        return SettledGold("skipped", str(settled.reason))
    if present is not None and not by_rule and settled.answer.kind in IS_NO_NFH:
        return SettledGold("skipped", CONTRADICTED)
    of = tuple(sorted((name, at) for name, at, _ in votes))
    made = gold_value(Gold(settled.answer, rule, None, base.at, of), None)
    if present is None:
        return SettledGold("new", gold=made)
    if by_rule and present.votes == of and content_of(present) == content_of(made):
        return SettledGold("same")
    return SettledGold("replaced", gold=made)


def _settled(
    present: GoldValue | None,
    votes: Sequence[Vote],
    lemmas: Sequence[str],
    base: SettleReport,
    weights: Mapping[str, float],
) -> tuple[Rule, Settled]:
    """Return what the votes settle on, by the run's rule or by the rule of the present gold.

    A unanimous gold stays unanimous in any run; other gold is kept by its own rule where that
    of the run settles nothing.
    """
    rules = [base.rule, Rule(present.rule)] if present is not None else [base.rule]
    said = [(name, answer) for name, _, answer in votes]
    found = Settled()
    for rule in sorted(rules, key=lambda one: one is not Rule.UNANIMOUS):
        if rule in BY_RULE:
            found = settle(said, lemmas, SettlingRule(rule), base.least, weights)
            if found.answer is not None:
                return rule, found
    return base.rule, found


def _stood_before(connection: Connection, anchor_id: int) -> GoldValue | None:
    """Return the gold that the anchor had before rules made gold: an NFH of a file, or None."""
    for (before,) in connection.execute(BEFORE, {"anchor": anchor_id}):
        value = decode_gold(before)
        if value is None or value.rule not in BY_RULE:
            return value if value is not None and value.kind == Kind.NFH else None
    return None


class Settlement(Repository):
    run = with_path(run)
