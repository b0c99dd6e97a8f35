"""Taking a snapshot: the gold of a query as it is now, and which of it is kept out."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_db.query import Match, Query
from nfh_db.records import Ballot
from nfh_models.domain import Kind, Passage, identified
from nfh_models.errors import ModelsError
from nfh_tui.jobs.dealing import Found, Plan, long_turns, plan
from nfh_tui.jobs.snapshot import Label, Sheet, Snapshot
from nfh_tui.labelled import BROKEN, Labelled
from nfh_tui.resolution_examples import NO_HEAD, NOT_NFH, resolution_gold
from nfh_tui.training_jobs import Phase, held_out_splits

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter

IDENTIFICATION, RESOLUTION = "identification", "resolution"

BOTH_SIDES = "in a passage that has long turns of both sides in common"

REPORT_EVERY = 500
"""Passages between two reports."""


class SplitError(ModelsError):
    """A split that cannot judge a training; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Which:
    """Which gold is taken. task: identification, resolution or both.

    split: only of anchors that an imported row put there. dev_split: what judges, in place of
    what the database keeps out. dev: the share of the labels that is to be kept out, None for
    the usual one; 0 keeps nothing out.
    """

    task: str
    query: Query = field(default_factory=Query)
    split: str | None = None
    dev_split: str | None = None
    dev: float | None = None


@dataclass(slots=True)
class _Read:
    """A passage with its labels, and the kinds of all its gold."""

    passage_id: int
    passage: Passage
    labels: list[Label]
    kinds: Counter[str]


def take(store: "Store", which: Which, report: "JobReporter") -> Snapshot:
    """The gold that is asked for, as it is now; what has no side yet is dealt.

    The labels are of one moment. Raises SplitError, StoreError, and what `report` raises.
    """
    if which.dev_split is not None and which.dev_split == which.split:
        raise SplitError(
            f"the split {which.split} cannot be learnt from and judge the model, too: name "
            "another with --set dev_split=…"
        )
    judging = () if which.dev_split is None else (which.dev_split,)
    held_out = store.passages_of_splits(
        tuple(dict.fromkeys((*held_out_splits(which.split), *judging)))
    )
    left_out: Counter[str] = Counter()
    read = _read(store, which, within(which.query, which.split), left_out, report)
    if which.split is not None and not any(one.kinds for one in read):
        raise SplitError(
            f"nothing can be learnt from the split {which.split}: no number found there has "
            "gold. Name another with --split, or leave it out"
        )
    learnt = []
    for one in read:
        if one.passage_id in held_out:
            left_out[f"in a passage of the split {held_out[one.passage_id]}"] += len(one.labels)
        elif one.labels:
            learnt.append(one)
    if which.dev_split is not None:
        return _by_split(store, which, learnt, left_out, report)
    return _by_side(store, which, learnt, left_out, report)


def within(query: Query, split: str | None) -> Query:
    """A query, of the anchors of a split alone where one is named."""
    if split is None:
        return query
    return replace(query, terms=(*query.terms, Match("split", (split,))))


# --- reading --------------------------------------------------------------------------------


def _read(
    store: "Store",
    which: Which,
    query: Query,
    left_out: Counter[str],
    report: "JobReporter",
) -> list[_Read]:
    found: list[_Read] = []
    for ballot in store.labelled(query):
        if not found or found[-1].passage_id != ballot.passage_id:
            if not len(found) % REPORT_EVERY:
                report.step(Phase("reading", len(found)))
            found.append(_Read(ballot.passage_id, ballot.passage, [], Counter()))
        gold = ballot.gold
        if gold is None:
            continue
        found[-1].kinds[gold.answer.kind.value] += 1
        label = _label(ballot, which.task)
        if isinstance(label, Label):
            found[-1].labels.append(label)
        else:
            left_out[label] += 1
    report.step(Phase("reading", len(found), len(found)))
    return found


def _label(ballot: Ballot, task: str) -> Label | str:
    """What a number's gold teaches of a task; why it teaches nothing."""
    assert ballot.gold is not None  # noqa: S101 - whoever calls has looked
    answer = ballot.gold.answer
    where = f"anchor {ballot.anchor_id}"
    heads = None if task == IDENTIFICATION else resolution_gold(answer)
    nfh = None if task == RESOLUTION else identified(answer.kind)
    if heads is None and nfh is None:
        if answer.kind is Kind.BROKEN:
            return BROKEN
        return NOT_NFH if answer.kind is Kind.NOT_NFH else NO_HEAD
    saw_model = Labelled(ballot.anchor, ballot.gold, ballot.votes, where).saw_model
    return Label(ballot.anchor.start, ballot.anchor.end, where, heads, nfh, saw_model)


# --- sides ----------------------------------------------------------------------------------


def _by_side(
    store: "Store",
    which: Which,
    learnt: list[_Read],
    left_out: Counter[str],
    report: "JobReporter",
) -> Snapshot:
    """Kept out is what the database keeps out of every training."""
    report.step(Phase("dealing", 0, len(learnt)))
    dealt = _dealt(store, learnt, which.dev)
    sides = {one.passage_id: one.dev for one in store.sides()} if which.dev != 0 else {}
    sheets = []
    for one in learnt:
        if one.passage_id in dealt.both:
            left_out[BOTH_SIDES] += len(one.labels)
            continue
        dev = sides.get(one.passage_id, False)
        unit = dealt.units[one.passage_id]
        sheets.append(Sheet(one.passage, tuple(one.labels), unit, dev))
    return Snapshot(which.task, tuple(sheets), dict(left_out), _said(sheets))


def _said(sheets: Iterable[Sheet]) -> str:
    """What is kept out, in words; "" for nothing."""
    counts = Counter({True: 0, False: 0})
    for sheet in sheets:
        counts[sheet.dev] += len(sheet.labels)
    if not counts[True]:
        return ""
    share = 100 * counts[True] / counts.total()
    return f"{share:.0f} % of the labels, in passages that are kept out of every training"


def _dealt(store: "Store", learnt: list[_Read], share: float | None) -> Plan:
    """What `learnt` is dealt to, with what is new among it dealt now."""
    documents = _documents(store, learnt)
    found = [
        Found(
            one.passage_id,
            one.passage.digest,
            documents[one.passage_id],
            one.kinds,
            long_turns(one.passage),
        )
        for one in learnt
    ]
    there = {one.passage_id for one in found}
    while True:
        dealt = store.sides()
        elsewhere: dict[int, frozenset[str]] = {}
        if there - {one.passage_id for one in dealt}:
            others = [one.passage_id for one in dealt if one.passage_id not in there]
            elsewhere = {key: long_turns(text) for key, text in store.passage_texts(others)}
        known = elsewhere | {one.passage_id: one.turns for one in found}
        planned = plan(found, dealt, known, store.side_labels(), share)
        if store.deal_sides(planned.new, len(dealt)):
            return planned


def _documents(store: "Store", learnt: list[_Read]) -> dict[int, int]:
    found: dict[int, int] = {}
    for start in range(0, len(learnt), REPORT_EVERY):
        some = [one.passage_id for one in learnt[start : start + REPORT_EVERY]]
        found.update(store.documents_of(some))
    return found


# --- a split that judges --------------------------------------------------------------------


def _by_split(
    store: "Store",
    which: Which,
    learnt: list[_Read],
    left_out: Counter[str],
    report: "JobReporter",
) -> Snapshot:
    """Kept out is a split; what has no side yet is dealt accordingly, for later trainings."""
    nothing: Counter[str] = Counter()
    judging = _read(store, which, within(Query(), which.dev_split), nothing, report)
    dev = [one for one in judging if one.labels]
    if not dev:
        raise SplitError(
            f"the split {which.dev_split} holds no gold to judge a model by: name another "
            "with --set dev_split=…, or leave it out, and a part of the passages is kept out"
        )
    both = [*learnt, *dev]
    units = _dealt(store, both, 0.0).units
    out = {one.passage_id for one in dev}
    kept_out = _note(store, units, {one.passage_id: one.passage_id in out for one in both})
    notes = []
    if kept_out:
        notes.append(
            f"{counted(kept_out, 'passage')} that other trainings keep out to judge by "
            f"{'was' if kept_out == 1 else 'were'} learnt from, since the split "
            f"{which.dev_split} was to judge"
        )
    sheets = tuple(
        Sheet(one.passage, tuple(one.labels), units[one.passage_id], one.passage_id in out)
        for one in both
    )
    said = f"split {which.dev_split}"
    return Snapshot(which.task, sheets, dict(left_out), said, tuple(notes))


def _note(store: "Store", units: Mapping[int, str], dev: Mapping[int, bool]) -> int:
    """Deal what was not dealt yet; how many passages are learnt from that were kept out."""
    from nfh_db.sides import Side

    while True:
        dealt = {one.passage_id: one.dev for one in store.sides()}
        new = [Side(key, out, units[key]) for key, out in dev.items() if key not in dealt]
        if store.deal_sides(new, len(dealt)):
            return sum(dealt.get(key, False) and not out for key, out in dev.items())
