"""The job "check": gold that a model doubts which has not seen it.

The gold is dealt into parts, so that passages that belong together are in one. A model learns
from all parts but one and says of that one what it would answer; so each gold is looked at by
a model that never saw it. What the models are made of is dropped; how likely each took the gold
to be is stored (`nfh_db.doubts`), which queries then find as doubt>0.9 and sort:doubt.

The labels are read once and lie in the job's folder, and so does what is known of each part: a
job that was killed goes on with the part that it was at.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db.doubts import Doubt
from nfh_db.jobs import NewJob
from nfh_db.pace import PAUSE_SECONDS, next_stretch
from nfh_models.domain import Answer
from nfh_tui.jobs.check_opinions import (
    FOLDS,
    LINEAR,
    Asked,
    Opinion,
    anchor_of,
    asked_of,
    same_gold,
)
from nfh_tui.jobs.check_parts import notes_of, trial_of
from nfh_tui.jobs.job_files import inner_folder, job_folder
from nfh_tui.jobs.kinds import CHECK, KINDS
from nfh_tui.jobs.snapshot import Snapshot, SnapshotError
from nfh_tui.jobs.taking import take
from nfh_tui.jobs.whole_files import write_whole
from nfh_tui.training_jobs import Phase

if TYPE_CHECKING:
    from nfh_db.doubts_store import Holds
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter

SNAPSHOT = "snapshot.json"
PART = "part-{number}.json"

DOUBTED = 0.1
"""Gold that the model takes to be less likely counts as doubted: what doubt>0.9 finds."""

WANTED_SECONDS = 0.01
SMALLEST, FIRST, LARGEST = 10, 100, 500
"""Rows of one write."""

Opinions = list[Opinion]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a part. snapshot: hash of the labels."""

    snapshot: str
    opinions: Opinions


def asked(
    task: str = "resolution",
    recipe: str = LINEAR,
    *,
    words: tuple[str, ...] = (),
    query: str = "",
    folds: int = FOLDS,
    parser: str | None = None,
    asked_by: str = "",
) -> NewJob:
    """A check to be queued. words: settings of the recipe, "key=value". folds: parts."""
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
    """Ask about all gold of a query, and store what is doubted; the job's result.

    Raises ModelsError where nothing can be learnt or parsed, StoreError, OSError, and
    JobGoneError and KeyboardInterrupt, after which it can be gone on with.
    """
    begun = time.perf_counter()
    given = asked_of(job.task, job.arguments)
    folder = job_folder(store.path, job)
    snapshot = _labels(store, given, folder / SNAPSHOT, report)
    store.set_job_snapshot(job.id, snapshot.digest)
    opinions = _opinions(store, given, snapshot, folder, report)
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


def _labels(store: "Store", given: Asked, path: Path, report: "JobReporter") -> Snapshot:
    """The labels as they were when the job was first begun."""
    with suppress(FileNotFoundError, SnapshotError):
        return Snapshot.read(path)
    snapshot = take(store, given.which, report)
    snapshot.write(path)
    return snapshot


def _opinions(
    store: "Store", given: Asked, snapshot: Snapshot, folder: Path, report: "JobReporter"
) -> Opinions:
    """What is said of each label, part by part; parts that are known already are read."""
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
    """What is known of a part of these labels; None if nothing is."""
    with suppress(OSError, msgspec.MsgspecError):
        part = msgspec.json.decode(path.read_bytes(), type=_Part)
        return part.opinions if part.snapshot == snapshot.digest else None
    return None


def _left_out(snapshot: Snapshot, opinions: Opinions) -> dict[str, int]:
    left_out = dict(snapshot.left_out)
    unreachable = sum(one.likely is None for one in opinions)
    if unreachable:
        left_out["the head is no candidate of the recipe"] = unreachable
    return left_out


# --- storing --------------------------------------------------------------------------------


def _save(
    store: "Store",
    job_id: int,
    snapshot: Snapshot,
    opinions: Opinions,
    report: "JobReporter",
) -> int:
    """Store in short writes what still is about the gold that there is; how many were."""
    rows = [
        Doubt(one.anchor_id, one.choice, one.likely, one.margin)
        for one in sorted(opinions, key=lambda one: one.anchor_id)
        if one.likely is not None
    ]
    holds = _holding(snapshot)
    saved, place, size = 0, 0, FIRST
    while place < len(rows):
        begun = time.perf_counter()
        some = rows[place : place + size]
        saved += store.save_doubts(job_id, some, holds)
        place += len(some)
        seconds = time.perf_counter() - begun
        size = next_stretch(
            size, seconds, wanted=WANTED_SECONDS, smallest=SMALLEST, largest=LARGEST
        )
        time.sleep(PAUSE_SECONDS)
        report.step(Phase("saving", place, len(rows)))
    return saved


def _holding(snapshot: Snapshot) -> "Holds":
    labels = {anchor_of(one): one for sheet in snapshot.sheets for one in sheet.labels}

    def holds(anchor_id: int, answer: Answer) -> bool:
        return anchor_id in labels and same_gold(labels[anchor_id], answer)

    return holds
