"""A model of resolution, or of both tasks, out of the gold of a database.

Read, parsed where the recipe needs it, trained, judged on what was kept out, saved and
registered, as a job.
"""

import hashlib
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nfh_db.formats.wording import counted
from nfh_db.models import Model, NewModel
from nfh_db.query import Query
from nfh_models.errors import ModelsError
from nfh_models.identification.example import Example
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution.item import ResolutionExample
from nfh_tui.choosing_models import ensure_built_in
from nfh_tui.examples import examples_of_store
from nfh_tui.model_folders import stored_path
from nfh_tui.resolution_examples import resolution_examples_of_store
from nfh_tui.training_jobs import (
    JobReporter,
    Phase,
    Progress,
    as_job,
    held_out_passages,
    held_out_splits,
    save_model,
)
from nfh_tui.training_judging import Judgement, judged, metrics_of
from nfh_tui.training_trainers import BOTH, Lessons, Trained, Trainer
from nfh_tui.training_work import work_folder

if TYPE_CHECKING:
    from nfh_db.store import Store

LEAST = 10
"""Examples, fewer of which make no model."""

PART_SEED = "kept out"

Labelled = TypeVar("Labelled", Example, ResolutionExample)


class TooFewError(ModelsError):
    """Not enough gold to learn from; the sentence says what there is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be trained on what.

    parser: as --parser has it, None for the default. dev_split: whose examples judge it;
    without one a share of the passages (`dev`) is kept out, the recipe's own by default.
    """

    task: str
    trainer: Trainer
    query: Query = field(default_factory=Query)
    split: str | None = None
    parser: str | None = None
    dev_split: str | None = None
    dev: float | None = None

    @property
    def share(self) -> float:
        """Of the passages, kept out."""
        if self.dev_split is not None:
            return 0.0
        return self.trainer.share if self.dev is None else self.dev


@dataclass(frozen=True, slots=True)
class Material:
    """What is learnt from. left_out: anchors that are not, by reason. judged_on: in words."""

    lessons: Lessons
    left_out: Mapping[str, int]
    judged_on: str

    @property
    def passages(self) -> int:
        """That the examples are of."""
        return len(_groups(self.lessons.train, self.lessons.numbers))


@dataclass(frozen=True, slots=True)
class Retrained:
    """A job that is done. seconds: of all of it."""

    job_id: int
    model: Model
    folder: Path
    judgement: Judgement | None
    material: Material
    notes: Sequence[str]
    seconds: float


def retrain(store: "Store", wanted: Wanted, progress: Progress) -> Retrained:
    """Train on the gold of a database, in this process.

    The model is a candidate, or active where its task has no active model. A training that
    was broken off goes on where it was when the same is asked for again. Raises ModelsError
    where nothing can be learnt or parsed, StoreError, OSError, KeyboardInterrupt; the job then
    is failed or cancelled, and there is no model.
    """
    ensure_built_in(store)
    return as_job(
        store,
        wanted.task,
        arguments_of(wanted),
        progress,
        lambda job_id, report: train_for(store, job_id, wanted, report),
    )


def train_for(store: "Store", job_id: int, wanted: Wanted, report: JobReporter) -> Retrained:
    """The work of a job that is running. Raises as `retrain`."""
    begun = time.perf_counter()
    material = read(store, wanted, report)
    check(material, wanted)
    parser = _parser(wanted, report)
    snapshot = snapshot_of(material.lessons)
    asked = arguments_of(wanted) | {"snapshot": snapshot, "passages": material.passages}
    with work_folder(store.path, asked) as folder:
        trained = train(material.lessons, wanted.trainer, folder, parser, report)
        report.step(Phase("judging"))
        judgement = judged(trained, material.lessons.dev, parser)
        report.step(Phase("saving", 0, 1))
        model, place = _save(store, job_id, wanted, material, trained, judgement, snapshot)
    seconds = time.perf_counter() - begun
    return Retrained(job_id, model, place, judgement, material, trained.notes, seconds)


def arguments_of(wanted: Wanted) -> dict[str, object]:
    """What was asked for, as a job's row keeps it."""
    return {
        "recipe": wanted.trainer.recipe,
        "query": wanted.query.text,
        "split": wanted.split,
        "parser": wanted.parser,
        "dev_split": wanted.dev_split,
        "dev": wanted.share,
        "settings": dict(wanted.trainer.settings),
    }


# --- reading --------------------------------------------------------------------------------


def read(store: "Store", wanted: Wanted, report: JobReporter) -> Material:
    """The examples, less the passages that also stand in a split that is held out."""
    if wanted.dev_split is not None and wanted.dev_split == wanted.split:
        raise TooFewError(
            f"the split {wanted.split} cannot be learnt from and judge the model, too: name "
            "another with --set dev_split=…"
        )
    judging = () if wanted.dev_split is None else (wanted.dev_split,)
    splits = dict.fromkeys((*held_out_splits(wanted.split), *judging))
    held_out = held_out_passages(store, tuple(splits))
    report.step(Phase("reading"))
    source = resolution_examples_of_store(store, wanted.query, wanted.split)
    train, dropped = _apart(list(source), held_out)
    left_out = Counter(source.left_out) + dropped
    numbers: list[Example] = []
    if wanted.task == BOTH:
        report.step(Phase("reading numbers"))
        labelled = examples_of_store(store, wanted.query, wanted.split)
        numbers, _ = _apart(list(labelled), held_out)
        # What says nothing of a head may still say whether there is one.
        left_out = Counter(labelled.left_out) + dropped
    if wanted.dev_split is not None:
        lessons = _with_split(store, wanted, train, numbers)
        return Material(lessons, dict(left_out), f"split {wanted.dev_split}")
    lessons = _in_parts(train, numbers, wanted.share)
    return Material(lessons, dict(left_out), _said(wanted.share))


def _apart(
    examples: list[Labelled], held_out: Mapping[str, str]
) -> tuple[list[Labelled], Counter[str]]:
    dropped: Counter[str] = Counter()
    for example in examples:
        if example.group in held_out:
            dropped[f"in a passage of the split {held_out[example.group]}"] += 1
    return [example for example in examples if example.group not in held_out], dropped


def _with_split(
    store: "Store",
    wanted: Wanted,
    train: Sequence[ResolutionExample],
    numbers: Sequence[Example],
) -> Lessons:
    split = wanted.dev_split
    dev = list(resolution_examples_of_store(store, None, split))
    dev_numbers = list(examples_of_store(store, None, split)) if wanted.task == BOTH else []
    if not dev and not dev_numbers:
        raise TooFewError(
            f"the split {split} holds no gold to judge a model by: name another with "
            "--set dev_split=…, or leave it out, and a part of the passages is kept out"
        )
    return Lessons(train, dev, numbers, dev_numbers)


def _in_parts(
    train: Sequence[ResolutionExample], numbers: Sequence[Example], share: float
) -> Lessons:
    """Some passages kept out, the same ones whenever they are there."""
    if not share:
        return Lessons(train, (), numbers, ())
    out = {
        group
        for group in _groups(train, numbers)
        if random.Random(f"{PART_SEED} {group}").random() < share  # noqa: S311 - no secret
    }
    return Lessons(
        [one for one in train if one.group not in out],
        [one for one in train if one.group in out],
        [one for one in numbers if one.group not in out],
        [one for one in numbers if one.group in out],
    )


def _groups(train: Sequence[ResolutionExample], numbers: Sequence[Example]) -> set[str]:
    """The passages of examples."""
    return {one.group for one in train} | {one.group for one in numbers}


def _said(share: float) -> str:
    return f"{100 * share:g} % of the passages" if share else ""


def check(material: Material, wanted: Wanted) -> None:
    """Raise TooFewError unless something can be learnt and judged."""
    lessons = material.lessons
    found = len(lessons.train)
    if not found and not lessons.dev:
        dropped = sum(n for why, n in material.left_out.items() if why.startswith("in a "))
        why = (
            f"the {counted(dropped, 'example')} found are in passages of a split that is kept "
            "to be tried on"
            if dropped
            else "no number found here has gold that says what its noun is. Settle some "
            "anchors first, or ask for others"
        )
        raise TooFewError(f"there is nothing to learn resolution from: {why}")
    if found < LEAST:
        raise TooFewError(
            f"too few examples to learn resolution from: {found:,} "
            f"{'is' if found == 1 else 'are'} left to learn from, wanted {LEAST} or more"
        )
    kinds = {one.gold.kind for one in lessons.train}
    if len(kinds) < 2:
        raise TooFewError(
            f"there is nothing to tell apart: all {found:,} examples are {kinds.pop()}"
        )
    if wanted.trainer.share and not lessons.dev:
        raise TooFewError(
            f"nothing is left to judge the training by: {counted(found, 'example')} in "
            f"{counted(material.passages, 'passage')}, and none is kept out. Take more "
            "examples, a larger --set dev=SHARE, or --set dev_split=SPLIT"
        )
    if wanted.task == BOTH and len({one.nfh for one in lessons.numbers}) < 2:
        which = "fused heads" if lessons.numbers and lessons.numbers[0].nfh else "none"
        raise TooFewError(
            f"identification has nothing to tell apart: of {len(lessons.numbers):,} numbers "
            f"all are {which}. Train resolution alone: nfh-tui retrain resolution --recipe "
            f"{wanted.trainer.recipe}"
        )


def snapshot_of(lessons: Lessons) -> str:
    """SHA-256 (hex) of what is learnt from, whatever its order.

    Hashed are the sorted SHA-256 of each passage's digest, span and answer.
    """
    told = [
        (one.group, one.item.anchor.start, one.item.anchor.end, repr(one.gold))
        for one in lessons.train
    ]
    told += [
        (one.group, one.case.start, one.case.end, repr((one.case.stretch.words, one.nfh)))
        for one in lessons.numbers
    ]
    each = sorted(
        hashlib.sha256(repr(one).encode("utf-8", "surrogatepass")).digest() for one in told
    )
    return hashlib.sha256(b"".join(each)).hexdigest()


# --- training and saving --------------------------------------------------------------------


def _parser(wanted: Wanted, report: JobReporter) -> Parser | None:
    needs = wanted.trainer.needs
    if not needs:
        return None
    from nfh_models.parsing import load_parser

    report.step(Phase("loading the parser"))
    return load_parser(wanted.parser, needs)


def train(
    lessons: Lessons,
    trainer: Trainer,
    folder: Path,
    parser: Parser | None,
    report: JobReporter,
) -> Trained:
    """Go through the training, and report each step."""
    report.step(Phase("preparing"))
    steps = trainer.train(lessons, folder, parser)
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as stop:
                made: Trained = stop.value
                return made
            report.step(step)
    finally:
        steps.close()  # a network's training saves where it is


def _save(
    store: "Store",
    job_id: int,
    wanted: Wanted,
    material: Material,
    trained: Trained,
    judgement: Judgement | None,
    snapshot: str,
) -> tuple[Model, Path]:
    from nfh_tui.training_card import card_of

    metrics = metrics_of(material.lessons, trained, judgement) | {
        "passages": material.passages,
        "judged_on": material.judged_on or "folds",
        "left_out": dict(Counter(material.left_out) + Counter(trained.left_out)),
        "query": wanted.query.text,
        "split": wanted.split,
        "dev_split": wanted.dev_split,
    }

    def write(folder: Path, at: str) -> NewModel:
        card = card_of(folder.name, at, wanted.trainer, metrics, trained.notes)
        written = trained.write(folder, at, metrics, card)
        return NewModel(
            name=folder.name,
            task=wanted.task,
            recipe=wanted.trainer.recipe,
            version=written.config.version,
            path=stored_path(store.path, folder),
            digest=written.digest,
            config=dict(wanted.trainer.settings) | {"parser": written.config.parser},
            metrics=metrics,
            snapshot=snapshot,
        )

    return save_model(store, job_id, wanted.trainer.recipe, write)
