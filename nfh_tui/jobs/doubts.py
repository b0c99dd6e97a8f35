"""The job "check": finds doubtful gold by cross-validation of identification and resolution."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from nfh_db.answers import Doubt
from nfh_db.connection import WriteSize
from nfh_db.jobs import NewJob
from nfh_db.query import parse
from nfh_models import ModelsError
from nfh_models.domain import IMPLICIT_KINDS, Answer, Kind
from nfh_models.identification import svm
from nfh_models.identification.base import Example, parse_cases
from nfh_models.parsing.base import Parser
from nfh_models.resolution.base import Choice, ResolutionExample
from nfh_models.resolution.recipes import LINEAR, SMALL
from nfh_tui.jobs.descriptions import (
    CHECK,
    KINDS,
    inner_folder,
    job_folder,
    text_of,
    texts_of,
    words_of,
)
from nfh_tui.jobs.reporting import Phase, TrainingStep, drive, loaded_parser
from nfh_tui.jobs.runner import write_whole
from nfh_tui.jobs.snapshot import (
    IDENTIFICATION,
    Snapshot,
    SnapshotError,
    SnapshotLabel,
    SnapshotSpec,
    check_resolution,
    take,
)
from nfh_tui.services.examples import resolution_gold
from nfh_tui.services.models import is_packaged
from nfh_tui.services.training import (
    WARM,
    Base,
    General,
    Trainer,
    TrainingSets,
    base_for,
    general_of,
    packaged_base,
    trainer_for,
)

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.jobs.reporting import JobReporter


FOLDS = 5
LEAST_PARTS, MOST_PARTS = 2, 50


class TrialError(ModelsError):
    """The arguments of a check are invalid, or there is too little gold; the message says what
    would work.
    """


class Opinion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model that did not learn from an anchor's gold says about it."""

    anchor_id: int
    choice: str
    """The answer of the model: a class name, or the token index of a head in digits."""
    likely: float | None
    """The probability that the model gives to gold; None if gold is not among its candidates.
    """
    margin: float
    right: bool
    """The model's answer agrees with gold."""


@dataclass(frozen=True, slots=True)
class DoubtRequest:
    """The arguments of a check."""

    recipe: str
    general: General
    which: SnapshotSpec
    folds: int
    parser: str | None


def asked_of(task: str, given: Mapping[str, object]) -> DoubtRequest:
    """Parse the arguments of a job. Raises QueryError, ModelsError."""
    general = general_of(texts_of(given, "words"))
    if general.dev_split is not None or general.dev is not None:
        raise TrialError("the parts of the gold judge each other: leave out dev and dev_split")
    folds = given.get("folds", FOLDS)
    if not isinstance(folds, int) or not LEAST_PARTS <= folds <= MOST_PARTS:
        raise TrialError(f"{folds} parts: wanted {LEAST_PARTS} to {MOST_PARTS}")
    which = SnapshotSpec(task, parse(words_of(given, "query")), dev=0)
    recipe = words_of(given, "recipe") or LINEAR
    return DoubtRequest(recipe, general, which, folds, text_of(given, "parser"))


def anchor_of(label: SnapshotLabel) -> int:
    return id_of(label.where)


def id_of(where: str) -> int:
    """Parse the anchor id from the location of an example."""
    return int(where.removeprefix("anchor "))


def same_gold(label: SnapshotLabel, answer: Answer) -> bool:
    """Return True if gold is still what the label was made from."""
    if label.gold is not None:
        return resolution_gold(answer) == label.gold
    return answer.kind.identification == label.nfh


# Identification: does this number lack its noun?
#
# A linear SVM returns a distance instead of a probability. A logistic curve that is fitted to
# the distances and the gold of a part converts them into probabilities (Platt 1999).

BATCH = 256
"""Numbers that are parsed in one batch."""


class IdentificationOpinions:
    """Cross-validates identification."""

    def __init__(self, given: DoubtRequest, snapshot: Snapshot, report: "JobReporter") -> None:
        """Parse all examples and extract their features. Raises ModelsError."""
        self._examples = snapshot.training_sets.numbers
        plan = svm.plan_of(given.general.words)
        parser = loaded_parser(given.parser, plan.settings.layers, report.step)
        table = _table(self._examples, plan, parser, report)
        self._folds = svm.run_folds(table, given.folds, plan.settings.seed)
        self._known: dict[int, svm.Fold] = {}

    def part(self, number: int, work: Path, report: "JobReporter") -> list[Opinion]:  # noqa: ARG002 - takes seconds: no checkpoints
        """Return the opinions of an SVM that learnt from all other parts; empty past the last
        part.
        """
        while number not in self._known:
            report.step(Phase(f"part {len(self._known) + 1}: fitting"))
            if (fold := next(self._folds, None)) is None:
                return []
            self._known[fold.number] = fold
        return list(_fold_opinions(self._known[number], self._examples))


def _table(
    examples: Sequence[Example], plan: svm.SvmPlan, parser: Parser | None, report: "JobReporter"
) -> svm.SvmTable:
    extractor = svm.Extractor(plan.settings)
    found: list[list[str]] = []
    for start in range(0, len(examples), BATCH):
        cases = [one.case for one in examples[start : start + BATCH]]
        ready = cases if parser is None else parse_cases(cases, parser)
        found.extend(extractor.features(case) for case in ready)
        report.step(Phase("parsing", len(found), len(examples)))
    name = None if parser is None else parser.name
    labels, groups = [one.nfh for one in examples], [one.group for one in examples]
    return svm.table_from(found, labels, groups, plan.settings, name)


def _fold_opinions(fold: svm.Fold, examples: Sequence[Example]) -> Iterator[Opinion]:
    asked = [examples[place] for place in fold.places]
    scores = [decision.score or 0.0 for decision in fold.decisions]
    chances = probabilities(scores, [one.nfh for one in asked])
    for example, decision, chance in zip(asked, fold.decisions, chances, strict=True):
        yield Opinion(
            id_of(example.where),
            (Kind.NFH if decision.nfh else Kind.NOT_NFH).value,
            chance if example.nfh else 1.0 - chance,
            abs(2.0 * chance - 1.0),
            decision.nfh is example.nfh,
        )


def probabilities(scores: Sequence[float], labels: Sequence[bool]) -> list[float]:
    """Return, for each score, the probability that its label is true."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    if len(set(labels)) < 2:
        return [float(labels[0])] * len(scores) if labels else []
    column = np.asarray(scores).reshape(-1, 1)
    curve = LogisticRegression().fit(column, np.asarray(labels))
    return [float(chance) for chance in curve.predict_proba(column)[:, 1]]


# Resolution: how probable is gold to a model that learnt from all other parts?
#
# A model gives probabilities to all candidates. The probability of gold is that of its class,
# or the sum over all words that count as correct in the inclusive accuracy (any word with the
# form of a gold head). Northcutt et al. (2021) call this the self-confidence of a label.

KEPT_PARSES = 20_000
"""Up to this many examples, parses are kept for all parts; with more, each part parses again.
"""

SEED = "parts of the gold"

HAS_LEARNT = "each model starts from {name}: gold that it has learnt from looks too likely"


class DoubtTrial(Protocol):
    """Asks models about parts of the gold."""

    def part(self, number: int, work: Path, report: "JobReporter") -> list[Opinion]:
        """Return the opinions of a model that learnt from all other parts. work: folder for
        checkpoints.
        """
        ...


def parts_of(units: Sequence[str], folds: int) -> list[int]:
    """Return the part of each example, from 0; examples of one unit are in the same part.

    units: the unit of each example. Units are assigned by decreasing size, each to the part
    with the fewest examples. Raises TrialError if there are fewer units than parts.
    """
    sizes = Counter(units)
    if len(sizes) < folds:
        raise TrialError(
            f"{len(units):,} labels are in {len(sizes)} groups of passages that belong "
            f"together, too few for {folds} parts: ask for fewer parts, or label more passages"
        )
    names = sorted(sizes)
    random.Random(SEED).shuffle(names)  # noqa: S311 - no secret
    filled = [0] * folds
    part: dict[str, int] = {}
    for name in sorted(names, key=lambda name: -sizes[name]):
        part[name] = filled.index(min(filled))
        filled[part[name]] += sizes[name]
    return [part[unit] for unit in units]


def trial_of(
    store: "Store", given: DoubtRequest, snapshot: Snapshot, report: "JobReporter"
) -> DoubtTrial:
    """Build the cross-validation for these labels. Raises ModelsError if it is impossible."""
    if given.which.task == IDENTIFICATION:
        return IdentificationOpinions(given, snapshot, report)
    check_resolution(snapshot, kept_out=False)
    trainer = _trainer(store, given)
    if trainer.share and given.folds < 3:
        raise TrialError(
            f"{given.recipe} keeps one part to judge its training: wanted 3 parts or more"
        )
    parser = loaded_parser(given.parser, trainer.needs, report.step)
    examples = list(snapshot.training_sets.train)
    if trainer.needs and len(examples) <= KEPT_PARSES:
        examples = _parsed(examples, trainer, parser, report)
        parser = None
    parts = parts_of([one.group for one in examples], given.folds)
    return ResolutionOpinions(trainer, examples, parts, parser)


def notes_of(store: "Store", given: DoubtRequest) -> Iterator[str]:
    """Yield remarks for people."""
    base = start_of(store, given)
    if isinstance(base, Base):
        yield HAS_LEARNT.format(name=base.name)


# --- resolution -----------------------------------------------------------------------------


def start_of(store: "Store", given: DoubtRequest) -> Base | str | None:
    """Return what each part's model starts from: a model that learnt nothing from this
    database.

    Raises TrialError if the setting names a model of this database.
    """
    general = given.general
    if (
        given.which.task == IDENTIFICATION
        or given.recipe not in WARM
        or (general.base is None and any(one.startswith("encoder=") for one in general.words))
    ):
        return general.base
    if general.base in (None, SMALL):
        return packaged_base(SMALL) if is_packaged(SMALL) else None
    found = base_for(store, given.recipe, general)
    if isinstance(found, Base) and not Path(general.base or "").is_dir():
        raise TrialError(
            f"'base={general.base}': {found.name} may have learnt from this gold, and would "
            f"find none of it unlikely. Start from {SMALL}, or from a pretrained encoder"
        )
    return found


def _trainer(store: "Store", given: DoubtRequest) -> Trainer:
    words = given.general.words
    if given.recipe == LINEAR:
        # It need not cross-validate in folds of its own.
        words = (*(one for one in words if not one.startswith("folds=")), "folds=0")
    base = start_of(store, given)
    return trainer_for(given.which.task, given.recipe, words, base, given.general.device)


def _parsed(
    examples: Sequence[ResolutionExample],
    trainer: Trainer,
    parser: Parser | None,
    report: "JobReporter",
) -> list[ResolutionExample]:
    """Return the examples with their parses, which all parts share."""
    from nfh_models.resolution.base import parsing_items

    ready = []
    items = parsing_items((one.item for one in examples), trainer.needs, parser)
    for one, item in zip(examples, items, strict=True):
        ready.append(replace(one, item=item))
        report.step(Phase("parsing", len(ready), len(examples)))
    return ready


@dataclass(frozen=True, slots=True)
class ResolutionOpinions:
    """Cross-validates resolution."""

    trainer: Trainer
    examples: Sequence[ResolutionExample]
    parts: Sequence[int]
    """The part of each example."""
    parser: Parser | None
    """None if all examples are parsed already."""

    def part(self, number: int, work: Path, report: "JobReporter") -> list[Opinion]:
        from nfh_models.resolution.base import resolve_items

        count = max(self.parts) + 1
        dev = (number + 1) % count if self.trainer.share else None
        sides: dict[str, list[ResolutionExample]] = {"asked": [], "dev": [], "train": []}
        for example, part in zip(self.examples, self.parts, strict=True):
            side = "asked" if part == number else "dev" if part == dev else "train"
            sides[side].append(example)
        name = f"part {number + 1} of {count}"
        lessons = TrainingSets(sides["train"], sides["dev"])

        def tell(step: TrainingStep) -> None:
            report.step(Phase(f"{name}: {step.phase}", step.done, step.total))

        trained = drive(self.trainer.train(lessons, work, self.parser), tell)
        found = []
        items = (one.item for one in sides["asked"])
        choices = resolve_items(items, trained.resolver, self.parser)
        for example, (_, choice) in zip(sides["asked"], choices, strict=True):
            if choice is not None:
                found.append(opinion(example, choice))
            report.step(Phase(f"{name}: asking", len(found), len(sides["asked"])))
        return found


def opinion(example: ResolutionExample, choice: Choice) -> Opinion:
    """Return what a model's choice says about the gold of an example."""
    from nfh_models.resolution.scoring import judge_one

    return Opinion(
        id_of(example.where),
        choice.choice,
        likely(example, choice),
        choice.margin or 0.0,
        judge_one(example, choice).inclusive,
    )


def likely(example: ResolutionExample, choice: Choice) -> float | None:
    """Return the probability that a model gives to gold; None if gold is not among its
    candidates.
    """
    gold, classes = example.gold, len(IMPLICIT_KINDS)
    if gold.kind is not Kind.REFERENCE:
        return choice.scores[IMPLICIT_KINDS.index(gold.kind)]
    passage = example.item.passage
    heads = gold.head_tokens()
    forms = {passage.word(head).lower() for head in heads}
    places = [place for place in range(len(passage.tokens)) if _form(example, place) in forms]
    scores = [choice.scores[classes + place] for place in places]
    given = [score for score in scores if score is not None]
    return min(1.0, sum(given)) if given else None


def _form(example: ResolutionExample, place: int) -> str:
    return example.item.passage.word(place).lower()


# The job "check": finds gold that is improbable to a model that did not learn from it.
#
# The gold is divided into parts; related passages are in the same part. For each part, a model
# learns from all other parts and answers this one. The models are discarded. The probabilities
# of gold are stored (`nfh_db.answers`); the queries doubt>0.9 and sort:doubt use them.
#
# The labels are read once and kept in the job's folder, as are the results of each part. A job
# that was killed resumes with the part on which it worked.

SNAPSHOT = "snapshot.json"
PART = "part-{number}.json"

DOUBTED = 0.1
"""Gold with a lower probability counts as doubted; doubt>0.9 finds the same items."""

WRITE_SIZE = WriteSize(first=100, smallest=10, largest=500, seconds=0.01, pause=0.003)
"""Rows of doubts in one write transaction."""

Opinions = list[Opinion]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The results of one part."""

    snapshot: str
    """Hash of the labels."""
    opinions: Opinions


def new_doubts_job(
    task: str = "resolution",
    recipe: str = LINEAR,
    *,
    words: tuple[str, ...] = (),
    query: str = "",
    folds: int = FOLDS,
    parser: str | None = None,
    asked_by: str = "",
) -> NewJob:
    """Build a check job. words: settings of the recipe, "key=value". folds: number of parts."""
    arguments = {
        "task": task,
        "recipe": recipe,
        "words": list(words),
        "query": query,
        "folds": folds,
        "parser": parser,
    }
    return NewJob(CHECK, KINDS[CHECK].version, task, arguments, asked_by)


def run(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object]:
    """Check all gold of a query and store the doubts; returns the job's result.

    Raises ModelsError if nothing can be learnt or parsed, StoreError, OSError, and JobGoneError
    and KeyboardInterrupt, after which the job can be resumed.
    """
    begun = time.perf_counter()
    given = asked_of(job.task, job.arguments)
    folder = job_folder(store.path, job)
    snapshot = _labels(store, given, folder / SNAPSHOT, report)
    store.jobs.set_snapshot(job.id, snapshot.digest)
    opinions = _all_opinions(store, given, snapshot, folder, report)
    saved = _save(store, job.id, snapshot, opinions, report)
    return {
        "anchors": len(opinions),
        "doubted": sum(one.likely is not None and one.likely < DOUBTED for one in opinions),
        "accuracy": sum(one.right for one in opinions) / len(opinions) if opinions else None,
        "saved": saved,
        "folds": given.folds,
        "recipe": given.recipe,
        "left_out": _left_out(snapshot, opinions),
        "notes": list(notes_of(store, given)),
        "seconds": time.perf_counter() - begun,
    }


def _labels(store: "Store", given: DoubtRequest, path: Path, report: "JobReporter") -> Snapshot:
    """Return the labels as they were when the job started first."""
    with suppress(FileNotFoundError, SnapshotError):
        return Snapshot.read(path)
    snapshot = take(store, given.which, report)
    snapshot.write(path)
    return snapshot


def _all_opinions(
    store: "Store", given: DoubtRequest, snapshot: Snapshot, folder: Path, report: "JobReporter"
) -> Opinions:
    """Return the opinions on each label, part by part; results of finished parts are read from
    files.
    """
    known = {
        number: found
        for number in range(given.folds)
        if (found := _read(folder / PART.format(number=number + 1), snapshot)) is not None
    }
    if len(known) < given.folds:
        trial = trial_of(store, given, snapshot, report)
        for number in range(given.folds):
            if number not in known:
                work = inner_folder(folder / f"work-{number + 1}")
                found = trial.part(number, work, report)
                content = msgspec.json.encode(_Part(snapshot.digest, found))
                write_whole(folder / PART.format(number=number + 1), content)
                known[number] = found
    return [one for number in sorted(known) for one in known[number]]


def _read(path: Path, snapshot: Snapshot) -> Opinions | None:
    """Return the stored results of a part for these labels; None if there are none."""
    with suppress(OSError, msgspec.MsgspecError):
        part = msgspec.json.decode(path.read_bytes(), type=_Part)
        return part.opinions if part.snapshot == snapshot.digest else None
    return None


def _left_out(snapshot: Snapshot, opinions: Opinions) -> dict[str, int]:
    left_out = dict(snapshot.left_out)
    if unreachable := sum(one.likely is None for one in opinions):
        left_out["the head is not a candidate of the recipe"] = unreachable
    return left_out


# --- storing --------------------------------------------------------------------------------


def _save(
    store: "Store",
    job_id: int,
    snapshot: Snapshot,
    opinions: Opinions,
    report: "JobReporter",
) -> int:
    """Store doubts whose gold is unchanged, in short transactions; returns their number."""
    rows = [
        Doubt(one.anchor_id, one.choice, one.likely, one.margin)
        for one in sorted(opinions, key=lambda one: one.anchor_id)
        if one.likely is not None
    ]
    holds = _holding(snapshot)
    saved, place, size = 0, 0, WRITE_SIZE.first
    while place < len(rows):
        begun = time.perf_counter()
        some = rows[place : place + size]
        saved += store.answers.save_doubts(job_id, some, holds)
        place += len(some)
        size = WRITE_SIZE.next(size, time.perf_counter() - begun)
        time.sleep(WRITE_SIZE.pause)
        report.step(Phase("saving", place, len(rows)))
    return saved


def _holding(snapshot: Snapshot) -> Callable[[int, Answer], bool]:
    labels = {anchor_of(one): one for sheet in snapshot.sheets for one in sheet.labels}

    def holds(anchor_id: int, answer: Answer) -> bool:
        return anchor_id in labels and same_gold(labels[anchor_id], answer)

    return holds
