"""The kinds of jobs, the folders of their files, and descriptions of jobs and models for
people.
"""

import errno
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from itertools import count as itertools_count
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nfh_db.connection import Connection, readable, transaction
from nfh_db.database import Along
from nfh_db.errors import StoreError
from nfh_db.jobs import Job, JobState
from nfh_db.jobs import read_all as read_jobs
from nfh_db.models import Model, note_place
from nfh_db.models import read_all as read_models
from nfh_db.system import path_beside, sweep, sync_folder
from nfh_models import ModelsError
from nfh_models.model_files import ModelFileError
from nfh_tui.display_figures import clock

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.jobs.reporting import JobReporter


# The files of a job lie beside the database: job 7 of `nfh.db` uses `nfh-jobs/7/`.
#
# A job creates its folder and writes a marker file into it at once. A folder of that name
# without the marker belongs to somebody else: it is left alone, and the job uses `7-2` instead.
# Links below the database's folder are not followed. Only files with names that jobs use are
# removed, and only in a marked folder.
#
# The log is never removed. The other files let a job resume. They are removed when the job is
# done; those of a failed or cancelled job are removed after KEPT_SECONDS if nobody retried it.

LOG = "log.txt"

STAMP = "asked-at"
"""The marker file. It holds the creation time of the job and the suffix of the database's name.

A job number alone identifies no job: a new database in place of an older one counts from 1
again, and a copy called nfh.bak shares the folder nfh-jobs. The marker keeps a job from
resuming from the files of another one.
"""

LONGEST_STAMP = 400
"""Bytes; a longer file is not a marker."""

ROOM = "room"
"""A file that reserves space while a job runs, so that a full disk has some left at the end."""

ROOM_BYTES = 1 << 18
"""Bytes; more than the database needs to record how a job ended."""

KEPT_SECONDS = 30 * 24 * 3600.0
"""Seconds for which the files of a failed or cancelled job are kept after its last write."""

_FOLDERS = r"work(-[0-9]+)?|model"
_FILES = r"room|(snapshot|spec|made|part-[0-9]+|placed-[0-9]+)\.json"
KEPT = re.compile(
    rf"{_FILES}|{_FOLDERS}|\.({_FILES}|{_FOLDERS})\.[0-9]+(\.[0-9a-f]{{16}})?\.new"
)
"""Names of the files from which jobs resume, and of partly written ones that a kill leaves."""

_NUMBERED = re.compile(r"([0-9]+)(-[0-9]+)?")


class JobFolderError(ModelsError, OSError):
    """The folder for a job's files cannot be created because something else has its name.

    It is an OSError, too, so that a job that can work without files handles it as one.
    """


def jobs_folder(database: Path) -> Path:
    """Return the path of the folder for all jobs of a database; does not create it."""
    real = Path(os.path.realpath(database))
    return real.parent / f"{real.stem}-jobs"


def find_folder(database: Path, job: Job) -> Path | None:
    """Return the folder that a job has created; None if it has none. Raises OSError."""
    above = jobs_folder(database)
    usual = above / str(job.id)
    if not _is_folder(above):
        return None
    mark = _mark(database, job)
    if _is_marked(usual, mark):
        return usual
    others = (path for path in sorted(above.iterdir()) if _number(path) == job.id)
    return next((path for path in others if _is_marked(path, mark)), None)


def job_folder(database: Path, job: Job) -> Path:
    """Return the folder of a job; creates it if needed. Raises OSError, JobFolderError."""
    if (found := find_folder(database, job)) is not None:
        return found
    above = inner_folder(jobs_folder(database))
    for place in itertools_count(1):
        folder = above / (f"{job.id}-{place}" if place > 1 else str(job.id))
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            break
    try:
        with (folder / STAMP).open("x", encoding="utf-8") as stamp:
            stamp.write(_mark(database, job))
    except OSError:
        with suppress(OSError):
            (folder / STAMP).unlink(missing_ok=True)
            folder.rmdir()
        raise
    return folder


def inner_folder(path: Path) -> Path:
    """Create a folder of the program if needed. Raises OSError, and JobFolderError if a link or
    a file has its name.
    """
    try:
        path.mkdir(mode=0o700)
    except FileExistsError as error:
        if not _is_folder(path):
            what = "a link" if path.is_symlink() else "no folder"
            raise JobFolderError(
                f"{path} is {what}, but jobs need a folder of that name for their files. Move "
                "it away, then retry the job"
            ) from error
    return path


def copy_along(source: Path, copy: Connection, place: Path) -> Along:
    """Copy the folders of models and jobs that a copy of a database names, beside its place.

    copy: a connection to the copy, which is told of its models' folder. place: its final path.
    A model whose files are not those that were registered, and a job that runs, are left out.
    Raises OSError and StoreError; no folder remains then.
    """
    from nfh_tui.services.models import models_folder

    made: list[Path] = []
    left_out: list[str] = []
    with readable(source):
        all_models, all_jobs = read_models(copy), read_jobs(copy)
    try:
        models = _copy_all(
            *(models_folder(source), models_folder(place)),
            _models_of(source, all_models),
            made,
            left_out,
        )
        jobs = _copy_all(
            *(jobs_folder(source), jobs_folder(place)),
            _jobs_of(source, all_jobs, place),
            made,
            left_out,
        )
        if models:
            with transaction(copy):
                note_place(copy, str(models_folder(place)))
    except BaseException:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return Along(tuple(made), models, jobs, tuple(left_out))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A folder to be copied. stamp: its marker in the copy. trouble: why it cannot be."""

    what: str
    folder: Path
    stamp: str = ""
    trouble: str = ""


def _copy_all(
    source: Path, above: Path, all_kept: Iterable[_Kept], made: list[Path], left_out: list[str]
) -> int:
    """Copy folders into a new one, `above`, which is added to `made`; their number."""
    if source == above:  # nfh.bak beside nfh.db has the same folders
        return 0
    beside, copied = path_beside(above, "tmp"), 0
    for kept in all_kept:
        if kept.trouble:
            left_out.append(f"{kept.what} is left out: {kept.trouble}")
            continue
        if os.path.lexists(above):
            raise StoreError(
                f"{above} already exists, and a backup never replaces anything. Name another "
                "file, or leave out models and jobs with --data-only"
            )
        if not copied:
            made.append(beside)
        copy = beside / kept.folder.name
        _copy_folder(kept.folder, copy)
        if kept.stamp:
            (copy / STAMP).write_text(kept.stamp, "utf-8")
        copied += 1
    if copied:
        made[-1] = beside.rename(above)
        sync_folder(above.parent)
    return copied


def _models_of(source: Path, models: Iterable[Model]) -> Iterator[_Kept]:
    from nfh_tui.services.models import checked_folder

    for model in models:
        if model.path is not None:
            what = f"the model {model.name}"
            try:
                yield _Kept(what, checked_folder(source, model))
            except ModelFileError as error:
                yield _Kept(what, source, trouble=str(error))


def _jobs_of(source: Path, jobs: Iterable[Job], place: Path) -> Iterator[_Kept]:
    for job in jobs:
        what = f"the folder of job {job.id}"
        try:
            folder = find_folder(source, job)
        except OSError as error:
            yield _Kept(what, source, trouble=f"{error.filename}: {error.strerror}")
            continue
        if folder is not None:
            runs = "it runs, and its files change" if job.state is JobState.RUNNING else ""
            yield _Kept(what, folder, _mark(place, job), runs)


def _copy_folder(folder: Path, place: Path) -> None:
    """Copy the files of a folder to the disk; links are left out."""
    place.mkdir(parents=True)
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            _copy_folder(path, place / path.name)
        elif path.is_file() and not path.is_symlink():
            with path.open("rb") as read, (place / path.name).open("xb") as file:
                shutil.copyfileobj(read, file)
                file.flush()
                os.fsync(file.fileno())


def log_of(database: Path, job: Job) -> Path:
    """Return the path of a job's log, which may not exist. Raises OSError."""
    above = jobs_folder(database)
    usual = above / str(job.id)
    found = find_folder(database, job)
    if found is None and job.log is not None and Path(job.log).parent.name == usual.name:
        # Older versions removed the marker when a job was done.
        found = usual if _is_folder(above) and _is_folder(usual) else None
    return (found or usual) / LOG


def keep_room(database: Path, job: Job) -> None:
    """Reserve ROOM_BYTES on the disk. Raises OSError."""
    path = job_folder(database, job) / ROOM
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(bytes(ROOM_BYTES))


def give_room(database: Path, job: Job) -> None:
    """Free what `keep_room` reserved. Raises OSError."""
    if (folder := find_folder(database, job)) is not None:
        (folder / ROOM).unlink(missing_ok=True)


def remove_files(database: Path, job: Job) -> None:
    """Remove all files of a job except its log and marker; it cannot resume then. Raises
    OSError.
    """
    if (folder := find_folder(database, job)) is not None:
        remove(*_kept(folder))
        sweep(folder)


def remove_old(database: Path, ended: Iterable[Job]) -> None:
    """Remove the files of ended jobs that nobody resumed within KEPT_SECONDS. Raises
    OSError.
    """
    oldest = time.time() - KEPT_SECONDS
    above = jobs_folder(database)
    numbers = {_number(folder) for folder in above.iterdir()} if _is_folder(above) else set()
    for job in ended:
        if job.id not in numbers:
            continue
        # A copy of the folder that a person made has the marker, too; it is left alone.
        folder = find_folder(database, job)
        kept = [] if folder is None else _kept(folder)
        if (
            folder is not None
            and kept
            and max(_written(path) for path in (folder, *kept)) < oldest
        ):
            remove(*kept)
            sweep(folder)


def remove(*paths: Path) -> None:
    """Remove files and folders of jobs; a link is removed, not its target. Raises OSError."""
    for path in paths:
        if _is_folder(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _kept(folder: Path) -> list[Path]:
    """Return what a job has put into its folder, except its log and marker."""
    return [path for path in folder.iterdir() if KEPT.fullmatch(path.name)]


def _number(folder: Path) -> int:
    """Return the number of the job to which a folder's name belongs; -1 for other names."""
    found = _NUMBERED.fullmatch(folder.name)
    return -1 if found is None else int(found[1])


def _mark(database: Path, job: Job) -> str:
    return f"{job.created_at} {Path(os.path.realpath(database)).suffix}"


def _is_marked(folder: Path, mark: str) -> bool:
    """Return True if this job created the folder. Older versions wrote the time alone."""
    stamp = folder / STAMP
    with suppress(FileNotFoundError, UnicodeDecodeError):
        if _is_folder(folder) and stat.S_ISREG(stamp.lstat().st_mode):
            with stamp.open("rb") as file:
                return file.read(LONGEST_STAMP).decode("utf-8") in (
                    mark,
                    mark.partition(" ")[0],
                )
    return False


def _is_folder(path: Path) -> bool:
    """Return True for a folder, False for a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return False
        raise


def _written(path: Path) -> float:
    """Modification time of a file or folder in seconds since the epoch; 0.0 if unknown."""
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0


# The kinds of jobs and the modules that run them.
#
# A kind names a module and a function `run(store, job, report)`. The function returns the job's
# result, a JSON object, or None if it has recorded the end of the job itself. It raises
# ModelsError, StoreError or OSError if the work cannot be done; the job then fails with that
# message. An interrupted job is run again with `job.attempts` increased. It resumes from the
# files in its folder and from the database.

Run = Callable[["Store", "Job", "JobReporter"], Mapping[str, object] | None]

QUEUED_SINCE = 2
"""The lowest version of a queued job; jobs of version nfh_db.jobs.IN_PLACE are not queued."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job and the function that runs it."""

    name: str
    version: int
    """The newest version of the arguments that this program can read."""
    title: str
    """What the job does, for people."""
    module: str
    """Name of a module of `nfh_tui.jobs`."""
    heavy: bool = False
    """Few of these jobs run at the same time."""
    function: str = "run"
    """Name of a function of the module."""

    def run(
        self, store: "Store", job: "Job", report: "JobReporter"
    ) -> Mapping[str, object] | None:
        """Run a job and return its result. Raises what the function of the kind raises."""
        found = import_module(f"nfh_tui.jobs.{self.module}")
        return cast("Run", getattr(found, self.function))(store, job, report)


TRAIN, EVALUATE, PREDICT, CHECK, IMPORT = "train", "evaluate", "predict", "check", "import"

KINDS = {
    one.name: one
    for one in (
        JobKind(TRAIN, 2, "train a model", "training", heavy=True),
        JobKind(EVALUATE, 2, "evaluate a model", "tasks", function="run_evaluation"),
        JobKind(PREDICT, 2, "predict", "tasks", heavy=True, function="run_prediction"),
        JobKind(CHECK, 2, "find unlikely gold", "doubts", heavy=True),
        JobKind(IMPORT, 2, "import files", "tasks", function="run_import"),
    )
}


def claimable() -> dict[str, tuple[int, int, bool]]:
    """Per kind: oldest and newest version of the arguments, and whether it is heavy."""
    return {one.name: (QUEUED_SINCE, one.version, one.heavy) for one in KINDS.values()}


def known(kind: str, version: int) -> bool:
    """Return True if this program can run a job of this kind and version."""
    found = KINDS.get(kind)
    return found is not None and QUEUED_SINCE <= version <= found.version


PATHS = ("base", "encoder", "vectors")
"""Settings whose value may be a path."""

ACTIVE_BASE = "base=active"

CALLED = {CHECK: "doubts"}
"""Kinds that are shown under the name of the command that queues them."""

SHORT = 12
"""Characters of a phase where it is shown beside other words."""


def job_title(kind: str, recipe: str, task: str) -> str:
    """Return what a job does, as all lists show it: "train encoder", "doubts linear".

    The models or files that the job concerns are not included.
    """
    named = (recipe or task) if kind in (TRAIN, CHECK) else ""
    return " ".join(filter(None, (called(kind), named)))


def called(kind: str) -> str:
    """Return the name of a kind as people see it."""
    return CALLED.get(kind, kind)


def phase_words(phase: str) -> str:
    """Return the description of a phase without the colon that precedes a count."""
    return phase.rstrip(": ")


def short_phase(phase: str) -> str:
    """Return a phase in at most SHORT characters, such as "training" or "part 2 of 5"."""
    words = phase_words(phase).partition(",")[0].partition(":")[0]
    return words if len(words) <= SHORT else words.partition(" ")[0][:SHORT]


def text_of(arguments: Mapping[str, object], key: str) -> str | None:
    """Return a string argument; None if there is none."""
    value = arguments.get(key)
    return value if isinstance(value, str) else None


def words_of(arguments: Mapping[str, object], key: str) -> str:
    """Return a string argument; the empty string if there is none."""
    return text_of(arguments, key) or ""


def texts_of(arguments: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Return a list of strings; empty if there is none."""
    value = arguments.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def whole_path(word: str) -> str:
    """Make the path of an existing file or folder absolute, because jobs run in other folders.

    Other words, such as names of models, are returned unchanged.
    """
    path = Path(word)
    try:
        return str(path.resolve()) if word and path.exists() else word
    except OSError:
        return word


def whole_model(word: str, known: Container[str]) -> str:
    """Make the path of a model's folder absolute. Words in `known` are names, not paths."""
    return word if word in known else whole_path(word)


def whole_setting(word: str) -> str:
    """Make the path in a setting "key=value" absolute, if it has one."""
    key, equals, value = word.partition("=")
    if not equals or key not in PATHS or word == ACTIVE_BASE:
        return word
    return f"{key}={whole_path(value)}"


def whole_parser(spec: str | None) -> str | None:
    """Make the path in a parser's description "stanza:FOLDER" absolute, if it has one."""
    if spec is None:
        return None
    kind, colon, name = spec.partition(":")
    return f"{kind}:{whole_path(name)}" if colon else spec


SIGNS = {
    JobState.QUEUED: "○",
    JobState.RUNNING: "◐",
    JobState.DONE: "✓",
    JobState.FAILED: "✗",
    JobState.CANCELLED: "–",
    JobState.INTERRUPTED: "↺",
}
"""Signs that precede the word for a job's state; the word is always shown, too."""

ROLES = {JobState.DONE: ("good",), JobState.FAILED: ("bad",)}

FOREIGN = "foreign"
"""State of a job that somebody else queued, and that no runner of this user claims."""

ACTIVE = "active"

FIGURES = (
    ("accuracy_inclusive", "incl", "inclusive accuracy"),
    ("accuracy", "acc", "accuracy, without other words of the same form"),
    ("f1", "F1", "F1 of identification"),
)
"""Metrics of a model, by priority: name, short name, and description."""


@dataclass(frozen=True, slots=True)
class PromotionSummary:
    """The outcome of judging a new model, as the `models` table keeps it."""

    word: str = ""
    """One of "promoted", "candidate", "rejected", "first"; empty for a model that was not
    judged."""
    reason: str = ""
    """Sentences with the figures."""
    against: str = ""
    """Name of the model with which it was compared."""
    n: int = 0
    """Gold items that both models answered."""
    figure: str = ""
    """Name of the metric of `difference`."""
    difference: float | None = None
    """New model minus the other, as a fraction; `low` and `high` bound its 95 % interval."""
    low: float | None = None
    high: float | None = None
    saw: int = 0
    """Items whose gold was given with a model's answer in view."""


def ruling_of(model: Model) -> PromotionSummary:
    """Return the outcome for a model; empty if it has none, or none that can be read."""
    return read_summary(getattr(model, "verdict", None))


def read_summary(kept: object) -> PromotionSummary:
    """Parse an outcome from a JSON value or from JSON text; empty if it cannot be read."""
    if isinstance(kept, str):
        try:
            kept = json.loads(kept or "null")
        except (ValueError, RecursionError):
            return PromotionSummary()
    if not isinstance(kept, Mapping) or not isinstance(kept.get("verdict"), str):
        return PromotionSummary()
    return PromotionSummary(
        kept["verdict"],
        text(kept.get("reason")),
        text(kept.get("against")),
        count(kept.get("n")),
        text(kept.get("figure")),
        fraction(kept.get("difference")),
        fraction(kept.get("low")),
        fraction(kept.get("high")),
        count(kept.get("saw_model")),
    )


def text(value: object) -> str:
    """Return a string; the empty string for any other type."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """Return an int; 0 for any other type, bool included."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def fraction(value: object) -> float | None:
    """Return a float; None for anything that is not a number."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known else None  # type: ignore[arg-type]  # narrowed above


def figure_of(metrics: Mapping[str, object]) -> tuple[float | None, str]:
    """Return the most important metric of a model, as a fraction, and its short name."""
    for name, short, _ in FIGURES:
        value = fraction(metrics.get(name))
        if value is not None and -1 <= value <= 1:
            return value, short
    return None, ""


def job_name(names: Mapping[int, str], job: Job) -> str:
    """Return what a job does, with its models or files. names: of models, by id."""
    given = job.arguments
    title = job_title(job.kind, text(given.get("recipe")), job.task)
    if job.kind == PREDICT:
        return " ".join(filter(None, [title, _model(names, given.get("model"))]))
    if job.kind == EVALUATE:
        models = given.get("models")
        tried = models if isinstance(models, list) else []
        shown = ", ".join(_model(names, one) for one in tried) or job.task
        return f"{title} {shown}"
    if job.kind == IMPORT:
        files = given.get("files")
        named = (
            [str(one).rpartition("/")[2] for one in files] if isinstance(files, list) else []
        )
        return f"{title} {', '.join(named) or 'files'}"
    return title


def _model(names: Mapping[int, str], value: object) -> str:
    return names.get(value, str(value)) if isinstance(value, int) else text(value)


def state_words(job: Job) -> str:
    """Return the state of a job in a few words.

    A running job shows its phase and the share done; a finished training shows the model that
    it made and the outcome of judging it.
    """
    if job.state is JobState.DONE and job.kind == TRAIN:
        made, word = text(job.result.get("model")), read_summary(job.result.get("verdict")).word
        return ": ".join(filter(None, (made, word))) or job.state.value
    if job.state is not JobState.RUNNING:
        return FOREIGN if job.held else job.state.value
    share = share_done(job)
    phase = phase_of(job)
    return phase if share is None else f"{100 * share:3.0f} % {phase}"


def phase_of(job: Job) -> str:
    """Return what a running job does now."""
    return phase_words(job.phase or "") or "starting"


def share_done(job: Job) -> float | None:
    """Return the share of the current phase that is done, 0 to 1; None if it is unknown."""
    if not job.total or job.total <= 0:
        return None
    return max(0.0, min(1.0, job.done / job.total))


def run_time(job: Job, now: str) -> str:
    """Return how long a job has run or ran, as m:ss; empty before its start."""
    if job.started_at is None:
        return ""
    running = job.state is JobState.RUNNING
    return span_between(job.started_at, now if running else job.finished_at or job.heartbeat)


def span_between(start: str, end: str | None) -> str:
    """Return the time between two timestamps of the store as m:ss; empty if one is invalid.

    It is 0:00 if the clock was set back meanwhile.
    """
    try:
        passed = datetime.fromisoformat(end or "") - datetime.fromisoformat(start)
    except (ValueError, TypeError):
        return ""
    return clock(max(0, int(passed.total_seconds())))


def at_clock(at: str | None, now: str) -> str:
    """Convert a timestamp of the store to local time: HH:MM:SS if it is today, else with the
    date.
    """
    try:
        here = datetime.fromisoformat(at or "").astimezone()
        today = datetime.fromisoformat(now).astimezone().date()
    except ValueError:
        return at or ""
    form = "%H:%M:%S" if here.date() == today else "%Y-%m-%d %H:%M"
    return here.strftime(form)
