"""The kinds of jobs, where each keeps its files, and jobs and models in words."""

import errno
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from itertools import count as itertools_count
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nfh_db.jobs import Job, JobState
from nfh_db.models import Model
from nfh_db.system import sweep
from nfh_models.errors import ModelsError

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.jobs.reporting import JobReporter


# Where a job keeps its files: beside the database, `nfh.db` has `nfh-jobs/7/` for job 7.
#
# A job makes its folder and marks it at once. What has that name and not the mark is somebody
# else's: it stays as it is, and the job's folder is called `7-2`. No link is followed below
# the database's folder, and only files of the names that jobs give are removed, in a marked
# folder.
#
# The log stays. The rest, what a job can go on from, goes when the job is done, and after a
# while where it failed or was cancelled and nobody tried it again.

LOG = "log.txt"

STAMP = "asked-at"
"""The mark: a file that says when the job was asked for, and how the database's name ends.
Numbers are given again in a new database that takes the place of an older one, and a copy
called nfh.bak has nfh-jobs, too: nothing goes on from another job's files."""

LONGEST_STAMP = 400
"""Bytes; a file that is longer is no mark."""

ROOM = "room"
"""A file that takes up room while a job runs, so that there is some on a disk that is full."""

ROOM_BYTES = 1 << 18
"""More than the database takes to note how a job ended."""

KEPT_SECONDS = 30 * 24 * 3600.0
"""How long the files of a job that did not end well are kept, from when it last wrote one."""

_FOLDERS = r"work(-[0-9]+)?|model"
_FILES = r"room|(snapshot|spec|made|part-[0-9]+|placed-[0-9]+)\.json"
KEPT = re.compile(
    rf"{_FILES}|{_FOLDERS}|\.({_FILES}|{_FOLDERS})\.[0-9]+(\.[0-9a-f]{{16}})?\.new"
)
"""The names of what jobs keep to go on from, and of what a killed one leaves half written."""

_NUMBERED = re.compile(r"([0-9]+)(-[0-9]+)?")


class JobFolderError(ModelsError, OSError):
    """No place for a job's files, since something of somebody else's stands there.

    An OSError, too: a job that can do without files does without them.
    """


def jobs_folder(database: Path) -> Path:
    """The folder for the jobs of a database, beside it; not made yet."""
    real = Path(os.path.realpath(database))
    return real.parent / f"{real.stem}-jobs"


def find_folder(database: Path, job: Job) -> Path | None:
    """The folder that a job has made; None if it has none. Raises OSError."""
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
    """The folder of a job, made where it is missing. Raises OSError, JobFolderError."""
    found = find_folder(database, job)
    if found is not None:
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
    """A folder of the program's, made where it is missing. Raises OSError, JobFolderError."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError as error:
        if not _is_folder(path):
            what = "a link" if path.is_symlink() else "no folder"
            raise JobFolderError(
                f"{path} is {what}, and jobs keep their files in a folder of that name. Move "
                "it away, then try the job again"
            ) from error
    return path


def log_of(database: Path, job: Job) -> Path:
    """A job's log; it may be there or not. Raises OSError."""
    above = jobs_folder(database)
    usual = above / str(job.id)
    found = find_folder(database, job)
    if found is None and job.log is not None and Path(job.log).parent.name == usual.name:
        # Versions before this one took the mark away from a job that was done.
        found = usual if _is_folder(above) and _is_folder(usual) else None
    return (found or usual) / LOG


def keep_room(database: Path, job: Job) -> None:
    """Set some room aside. Raises OSError."""
    path = job_folder(database, job) / ROOM
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(bytes(ROOM_BYTES))


def give_room(database: Path, job: Job) -> None:
    """Give back what was set aside. Raises OSError."""
    folder = find_folder(database, job)
    if folder is not None:
        (folder / ROOM).unlink(missing_ok=True)


def tidy(database: Path, job: Job) -> None:
    """Remove what a job kept but its log: nothing goes on from it any more. Raises OSError."""
    folder = find_folder(database, job)
    if folder is not None:
        remove(*_kept(folder))
        sweep(folder)


def forget(database: Path, ended: Iterable[Job]) -> None:
    """Tidy up behind ended jobs that nobody went on with for long. Raises OSError."""
    oldest = time.time() - KEPT_SECONDS
    above = jobs_folder(database)
    numbers = {_number(folder) for folder in above.iterdir()} if _is_folder(above) else set()
    for job in ended:
        if job.id not in numbers:
            continue
        # A copy that a person made of the folder has the mark, too, and is theirs.
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
    """Remove files and folders that jobs have made; of a link, the link. Raises OSError."""
    for path in paths:
        if _is_folder(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _kept(folder: Path) -> list[Path]:
    """What a job has put into its folder, but its log and mark."""
    return [path for path in folder.iterdir() if KEPT.fullmatch(path.name)]


def _number(folder: Path) -> int:
    """Of the job that a folder's name is for; -1 of another name."""
    found = _NUMBERED.fullmatch(folder.name)
    return -1 if found is None else int(found[1])


def _mark(database: Path, job: Job) -> str:
    return f"{job.created_at} {Path(os.path.realpath(database)).suffix}"


def _is_marked(folder: Path, mark: str) -> bool:
    """Whether a job has made this folder. Older versions marked with the time alone."""
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
    """Whether this is a folder, and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return False
        raise


def _written(path: Path) -> float:
    """When a file, or a folder's list of files, last changed; in seconds."""
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0


# The kinds of jobs that this program knows, and where the work of each is.
#
# A kind names a module and its function `run(store, job, report)`. It gives what is to be kept
# as the job's result, a JSON object, or None where it has said itself how the job ended. It
# raises ModelsError, StoreError or OSError where the work cannot be done: the job then is
# failed, with the sentence. It is run again where it was interrupted, with `job.attempts`
# counted up: what it can go on from lies in the job's own folder, and in the
# database.

Run = Callable[["Store", "Job", "JobReporter"], Mapping[str, object] | None]

QUEUED_SINCE = 2
"""The lowest version of a job that was ever in the queue; see training_store.IN_PLACE."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job. version: the newest form of its arguments that is known.

    title: what it does, in words. heavy: few of these run at a time. function: of the module.
    """

    name: str
    version: int
    title: str
    module: str
    heavy: bool = False
    function: str = "run"

    def run(
        self, store: "Store", job: "Job", report: "JobReporter"
    ) -> Mapping[str, object] | None:
        """Do the work of a job; its result."""
        found = import_module(f"nfh_tui.jobs.{self.module}")
        return cast("Run", getattr(found, self.function))(store, job, report)


TRAIN, EVALUATE, PREDICT, CHECK, IMPORT = "train", "evaluate", "predict", "check", "import"

KINDS = {
    one.name: one
    for one in (
        JobKind(TRAIN, 2, "train a model", "training", heavy=True),
        JobKind(EVALUATE, 2, "evaluate a model", "tasks", function="run_evaluation"),
        JobKind(PREDICT, 2, "predict", "tasks", heavy=True, function="run_prediction"),
        JobKind(CHECK, 2, "look for doubtful gold", "doubts", heavy=True),
        JobKind(IMPORT, 2, "import files", "tasks", function="run_import"),
    )
}


def claimable() -> dict[str, tuple[int, int, bool]]:
    """The kinds as the store's queue wants them."""
    return {one.name: (QUEUED_SINCE, one.version, one.heavy) for one in KINDS.values()}


def known(kind: str, version: int) -> bool:
    """Whether this program can run such a job."""
    found = KINDS.get(kind)
    return found is not None and QUEUED_SINCE <= version <= found.version


PATHS = ("base", "encoder", "vectors")
"""Settings whose value may be a file or a folder."""

ACTIVE_BASE = "base=active"

CALLED = {CHECK: "doubts"}
"""Kinds that are told by the name of the command which asks for them."""

SHORT = 12
"""Characters of a phase that is told beside other words."""


def job_title(kind: str, recipe: str, task: str) -> str:
    """What a job does, as every list and line names it: "train encoder", "doubts linear".

    Which models or files it is about, where it is about such, is not in it.
    """
    named = (recipe or task) if kind in (TRAIN, CHECK) else ""
    return " ".join(filter(None, (called(kind), named)))


def called(kind: str) -> str:
    """A kind of job, as people are told it."""
    return CALLED.get(kind, kind)


def phase_words(phase: str) -> str:
    """What a job is at, without the colon that stands before a count."""
    return phase.rstrip(": ")


def short_phase(phase: str) -> str:
    """The same in a word, or a few: "training", "part 2 of 5"."""
    words = phase_words(phase).partition(",")[0].partition(":")[0]
    return words if len(words) <= SHORT else words.partition(" ")[0][:SHORT]


def text_of(arguments: Mapping[str, object], key: str) -> str | None:
    """A text, None where there is none."""
    value = arguments.get(key)
    return value if isinstance(value, str) else None


def words_of(arguments: Mapping[str, object], key: str) -> str:
    """A text, "" where there is none."""
    return text_of(arguments, key) or ""


def texts_of(arguments: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A list of texts, empty where there is none."""
    value = arguments.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def whole_path(word: str) -> str:
    """A file or folder that is there, by its whole path: a job may run in another folder.

    Other words, names of models among them, stay as they are.
    """
    path = Path(word)
    try:
        return str(path.resolve()) if word and path.exists() else word
    except OSError:
        return word


def whole_model(word: str, known: Container[str]) -> str:
    """A model's folder by its whole path; what is among the known words is none."""
    return word if word in known else whole_path(word)


def whole_setting(word: str) -> str:
    """A setting, "key=value", with a path in it made whole."""
    key, equals, value = word.partition("=")
    if not equals or key not in PATHS or word == ACTIVE_BASE:
        return word
    return f"{key}={whole_path(value)}"


def whole_parser(spec: str | None) -> str | None:
    """A parser's description, "stanza:FOLDER", with a path in it made whole."""
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
"""Before the word for a job's state, which always stands there, too."""

ROLES = {JobState.DONE: ("good",), JobState.FAILED: ("bad",)}

FOREIGN = "foreign"
"""Where a job stands that somebody else queued, and that no runner of this user takes."""

ACTIVE = "active"

FIGURES = (
    ("accuracy_inclusive", "incl", "inclusive accuracy"),
    ("accuracy", "acc", "accuracy, which does not count other words of the same form"),
    ("f1", "F1", "F1 of identification"),
)
"""Figures of a model, the one that counts first: its name, a short one, and in words."""


@dataclass(frozen=True, slots=True)
class PromotionSummary:
    """What became of a new model, and why, as its row keeps it.

    word: "promoted", "candidate", "rejected" or "first"; "" for a model that nobody judged.
    reason: a sentence with the figures. against: the model that it was compared with. n:
    gold items that both were tried on. difference, low, high: of `figure`, as fractions, with
    the interval; None where there is none. saw: items whose gold was made with a model's
    answer in view.
    """

    word: str = ""
    reason: str = ""
    against: str = ""
    n: int = 0
    figure: str = ""
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    saw: int = 0


def ruling_of(model: Model) -> PromotionSummary:
    """The verdict on a model; an empty one where it has none, or none that can be read."""
    return ruled(getattr(model, "verdict", None))


def ruled(kept: object) -> PromotionSummary:
    """A verdict out of JSON, or of its text."""
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
    """A text; "" for anything else."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """A whole number; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def fraction(value: object) -> float | None:
    """A number; None for anything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known else None  # type: ignore[arg-type]  # narrowed above


def figure_of(metrics: Mapping[str, object]) -> tuple[float | None, str]:
    """The figure of a model that counts, as a fraction, with its short name."""
    for name, short, _ in FIGURES:
        value = fraction(metrics.get(name))
        if value is not None and -1 <= value <= 1:
            return value, short
    return None, ""


def job_name(names: Mapping[int, str], job: Job) -> str:
    """What a job does, in few words. names: of models, by number."""
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
    """Where a job stands, in few words: a running one says its phase and how much is done, a
    training that is done which model it made, and what became of that."""
    if job.state is JobState.DONE and job.kind == TRAIN:
        made, word = text(job.result.get("model")), ruled(job.result.get("verdict")).word
        return ": ".join(filter(None, (made, word))) or job.state.value
    if job.state is not JobState.RUNNING:
        return FOREIGN if job.held else job.state.value
    share = share_done(job)
    phase = phase_of(job)
    return phase if share is None else f"{100 * share:3.0f} % {phase}"


def phase_of(job: Job) -> str:
    """What a running job does now."""
    return phase_words(job.phase or "") or "starting"


def share_done(job: Job) -> float | None:
    """How much of its phase a job has done, as a fraction; None where that is not known."""
    if not job.total or job.total <= 0:
        return None
    return max(0.0, min(1.0, job.done / job.total))


def took(job: Job, now: str) -> str:
    """How long a job has run, or ran; "" before it began."""
    if job.started_at is None:
        return ""
    running = job.state is JobState.RUNNING
    return span_between(job.started_at, now if running else job.finished_at or job.heartbeat)


def span_between(start: str, end: str | None) -> str:
    """The time between two times of the store; "" where that cannot be told.

    Clocks may have been set back meanwhile: no time at all then.
    """
    try:
        passed = datetime.fromisoformat(end or "") - datetime.fromisoformat(start)
    except (ValueError, TypeError):
        return ""
    return clocked(max(0, int(passed.total_seconds())))


def clocked(seconds: int) -> str:
    """Seconds as m:ss, from an hour on as h:mm:ss."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def at_clock(at: str | None, now: str) -> str:
    """A time of the store in the time of this place: only the clock's if it is of today."""
    try:
        here = datetime.fromisoformat(at or "").astimezone()
        today = datetime.fromisoformat(now).astimezone().date()
    except ValueError:
        return at or ""
    form = "%H:%M:%S" if here.date() == today else "%Y-%m-%d %H:%M"
    return here.strftime(form)
