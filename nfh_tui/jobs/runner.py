"""The job runner, `python -m nfh_tui.jobs.runner --db PATH`: works the queue until it is
empty. Its start, heartbeat, cancellation, log, and ends in sentences.

It is a process of its own, detached from whoever started it, and has the machine after
everybody else. What it is killed in is marked as interrupted by whoever reads the queue next,
and taken up by the next runner.
"""

import _thread
import argparse
import errno
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self, TypeVar

from nfh_db.connection import sqlite3
from nfh_db.errors import BusyError, ExportError, FormatError, FullError, QueryError, StoreError
from nfh_db.jobs import CANCELLED, Job, JobGoneError, JobState
from nfh_db.messages import lines_visible
from nfh_db.serialization import UNREADABLE
from nfh_db.store import Store
from nfh_db.system import path_beside
from nfh_models.errors import ModelsError
from nfh_tui.jobs.descriptions import (
    CHECK,
    EVALUATE,
    IMPORT,
    KINDS,
    LOG,
    PATHS,
    PREDICT,
    TRAIN,
    called,
    claimable,
    find_folder,
    forget,
    give_room,
    job_folder,
    jobs_folder,
    keep_room,
    text_of,
    texts_of,
    tidy,
)
from nfh_tui.jobs.logs import log_path, open_private
from nfh_tui.jobs.reporting import JobReporter, Progress
from nfh_tui.process_signals import EndedError, tidily

# What the arguments of a job may be: a row of the database may hold anything.
#
# Bodies of jobs read them leniently. This is looked at before a body begins, so that what was
# damaged, or written by another program, is told, and not done in another way than was asked.

IDENTIFICATION, RESOLUTION, BOTH = "identification", "resolution", "both"

SHOWN = 60
"""Characters of a value that are told."""


class ArgumentsError(ModelsError):
    """A job that asks for nothing that can be done; the sentence says why."""


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """What an argument may be. words: the same for a person. needed: it may not be missing."""

    fits: Callable[[object], bool]
    words: str
    needed: bool = False


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


TEXT, WANTED_TEXT = (
    ArgumentType(_is_text, "a text"),
    ArgumentType(_is_text, "a text", needed=True),
)
TEXTS, WANTED_TEXTS = (
    ArgumentType(_are_texts, "texts"),
    ArgumentType(_are_texts, "texts", needed=True),
)
FLAG, COUNT = ArgumentType(_is_flag, "true or false"), ArgumentType(_is_count, "a whole number")

FORMS: Mapping[str, Mapping[str, ArgumentType]] = {
    TRAIN: {
        "recipe": WANTED_TEXT,
        "words": TEXTS,
        "query": TEXT,
        "split": TEXT,
        "parser": TEXT,
        "promote": FLAG,
        "scheduler": TEXT,
    },
    PREDICT: {
        "query": WANTED_TEXT,
        "model": TEXT,
        "parser": TEXT,
        "force": FLAG,
        "scheduler": TEXT,
    },
    CHECK: {
        "recipe": WANTED_TEXT,
        "words": TEXTS,
        "query": TEXT,
        "folds": COUNT,
        "parser": TEXT,
    },
    IMPORT: {
        "files": WANTED_TEXTS,
        "format": TEXT,
        "split": TEXT,
        "annotator": TEXT,
        "replace_gold": FLAG,
        "newer_answers": FLAG,
    },
    EVALUATE: {
        "task": WANTED_TEXT,
        "models": TEXTS,
        "query": TEXT,
        "split": TEXT,
        "report": TEXT,
        "file": TEXT,
        "format": TEXT,
        "parser": TEXT,
        "train": TEXT,
        "folds": COUNT,
        "sets": TEXTS,
        "errors": COUNT,
        "resamples": COUNT,
        "seed": COUNT,
        "several_heads": FLAG,
        "ablation": FLAG,
        "oracle": FLAG,
        "baselines": FLAG,
        "blind": FLAG,
    },
}
"""By a kind's name and the argument's."""

TASKS: Mapping[str, tuple[str, ...]] = {
    TRAIN: (IDENTIFICATION, RESOLUTION, BOTH),
    CHECK: (IDENTIFICATION, RESOLUTION),
    EVALUATE: (IDENTIFICATION, RESOLUTION),
}

READS, WRITES = "reads", "writes"

FILES: Mapping[str, str] = {"files": READS, "file": READS, "train": READS, "report": WRITES}
"""Arguments that are paths, whatever they hold, with what is done there."""

NAMES_OR_PATHS = ("models", "words", "sets", "parser")
"""Arguments that may hold a path, or a name of something else."""


def job_paths(job: "Job") -> Iterator[tuple[str, str]]:
    """The paths that a job was given: what is done there, "reads" or "writes", and the path."""
    for key, does in FILES.items():
        for path in filter(None, (text_of(job.arguments, key), *texts_of(job.arguments, key))):
            yield does, path
    for key in NAMES_OR_PATHS:
        words = filter(None, (text_of(job.arguments, key), *texts_of(job.arguments, key)))
        for path in map(_value, words) if key != "models" else words:
            if _is_path(path):
                yield READS, path


def check_arguments(job: "Job") -> None:
    """Raise ArgumentsError unless a job's arguments are of its kind's form, and each path in
    them leads where it led when it was given."""
    given = job.arguments
    if given is UNREADABLE:
        raise ArgumentsError(
            "its arguments cannot be read: its row is damaged. Give the command that asked for "
            "it again"
        )
    for key, form in FORMS.get(job.kind, {}).items():
        value = given.get(key)
        if value is None and form.needed:
            raise ArgumentsError(f"its arguments do not say “{key}”{_again()}")
        if value is not None and not form.fits(value):
            raise ArgumentsError(
                f"its argument “{key}” is {_short(value)}, wanted {form.words}{_again()}"
            )
    wanted = TASKS.get(job.kind)
    task = given.get("task") if job.kind == EVALUATE else job.task
    if wanted is not None and task not in wanted:
        raise ArgumentsError(f"{_short(task)} is no task: wanted {' or '.join(wanted)}")
    for does, path in job_paths(job):
        if not Path(path).is_absolute() or os.path.realpath(path) != path:
            raise ArgumentsError(
                f"it {does} {_short(path)}, which is no whole path, or leads elsewhere than "
                f"when it was given{_again()}"
            )


def _value(word: str) -> str:
    """What of a setting, "base=FOLDER", or of a parser, "stanza:FOLDER", may be a path."""
    key, equals, value = word.partition("=")
    if equals:
        return value if key in PATHS else ""
    return word.partition(":")[2]


def _is_path(word: str) -> bool:
    """Whether a word is a path, and no name: names of models may have a slash in them."""
    path = Path(word)
    return path.is_absolute() or ".." in path.parts or word.startswith(("./", "~"))


def _again() -> str:
    return ": give the command that asked for it again"


def _short(value: object) -> str:
    said = repr(value)
    return said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"


TOLD = (ModelsError, StoreError, FormatError, QueryError, ExportError)
"""Errors whose words are meant for a person."""

FULL = (errno.ENOSPC, errno.EDQUOT)

OUT_OF_MEMORY = ("OutOfMemoryError", "can't allocate memory", "not enough memory")
"""By these the errors of torch are known, which is not loaded to ask for their class."""


def sentence(error: BaseException, job_id: int, folder: Path) -> str:
    """What to tell of an error that a job failed with. folder: the job's own."""
    again = f"`nfh-tui jobs retry {job_id}`"
    if _full(error):
        where = getattr(error, "filename", None) or folder
        return (
            f"the disk that holds {where} is full. Make room, then {again}: it goes on from "
            "what was saved before"
        )
    if isinstance(error, TOLD):
        return str(error) or type(error).__name__
    if isinstance(error, MemoryError) or _says(error, OUT_OF_MEMORY):
        return f"the machine has not enough memory left for it. Make room there, then {again}"
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename is not None else ""
        return f"the system reports “{error.strerror or error}”{where}. Mend it, then {again}"
    return (
        f"a fault of the program: {type(error).__name__}: {str(error) or 'no words'}. "
        f"`nfh-tui jobs log {job_id}` says where"
    )


def our_fault(error: BaseException) -> bool:
    """Whether the place in the program belongs into the log."""
    return not isinstance(error, (*TOLD, OSError))


def _full(error: BaseException | None) -> bool:
    """Whether a disk was full; libraries that write only say so in their own words."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        if not isinstance(error, TOLD) and "No space left on device" in str(error):
            return True
        error = error.__cause__
    return False


def _says(error: BaseException, words: tuple[str, ...]) -> bool:
    told = f"{type(error).__name__} {error}"
    return any(one in told for one in words)


ATTEMPT = ", attempt "
"""In the line with which each attempt begins, before its number."""


class JobLog:
    """The log of a job, appended to. While it is open, standard error goes there, too.

    A log that cannot be written is done without: the job is worth more.
    """

    def __init__(self, store: "Store", job: "Job") -> None:
        self._store = store
        self._job = job
        self._file: int | None = None
        self._before: int | None = None
        self._phase = ""

    def __enter__(self) -> Self:
        number = self._job.attempts
        with suppress(OSError):
            path = job_folder(self._store.path, self._job) / LOG
            number = max(number, 1 + _begun(path))
            self._file = open_private(path)
            self._redirect(self._file)
            self._store.jobs.set_log(self._job.id, str(path))
        self.say(
            " ".join(filter(None, (called(self._job.kind), self._job.task)))
            + f"{ATTEMPT}{number}"
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            sys.stderr.flush()
            os.dup2(self._before, 2)
            os.close(self._before)
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def say(self, words: str) -> None:
        """A line, with the time."""
        if self._file is None:
            return
        at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
        with suppress(OSError):
            os.write(self._file, f"{at} {words}\n".encode("utf-8", "replace"))

    def telling(self, progress: "Progress") -> "Progress":
        """What tells `progress`, and has a line in the log for each new phase."""

        def tell(phase: str, done: int, total: int) -> None:
            if phase != self._phase:
                self._phase = phase
                self.say(phase)
            progress(phase, done, total)

        return tell

    def _redirect(self, file: int) -> None:
        """Standard error into the log, where it is a file of the system."""
        with suppress(OSError, ValueError, AttributeError):
            if sys.stderr.fileno() == 2:
                self._before = os.dup(2)
                os.dup2(file, 2)


def _begun(path: "Path") -> int:
    """How many attempts a log tells of: one put back into the queue is counted from there."""
    try:
        with path.open("rb") as file:
            return sum(ATTEMPT.encode() in line for line in file)
    except FileNotFoundError:
        return 0


MODULE = "nfh_tui.jobs.runner"
LOG_NAME = "runner.log"

VARIABLE = "NFH_TUI_RUNNER"
"""An environment variable: "off" starts no runner (jobs wait for `nfh-tui jobs run`), "here"
has a command that waits for its job work the queue itself."""

OFF, HERE = "off", "here"

BETWEEN_STARTS = 5.0
"""Seconds that a runner has to begin a job, before another one is started by the way."""

_started: list[tuple[subprocess.Popen[bytes], float]] = []
"""Runners of this process, with when they were started: those that ended are let go of."""


def asked_for(value: str) -> bool:
    """Whether the environment asks for this way of running jobs."""
    return os.environ.get(VARIABLE, "") == value


def ensure_runner(store: "Store") -> bool:
    """Start a runner where a job waits that could be run now; whether one was started.

    To be called by whatever opens a database, or waits for a job, as often as it looks: a
    runner that was killed comes back by that. Raises StoreError, and OSError where none can be
    started.
    """
    _let_go()
    if _starting() or store.jobs.waiting(claimable()) is None:
        return False
    return start_runner(store.path)


def _let_go() -> None:
    """Forget the runners of this process that have ended."""
    _started[:] = [(one, at) for one, at in _started if one.poll() is None or _recent(at)]


def _starting() -> bool:
    """Whether a runner was started just now."""
    return any(_recent(at) for _, at in _started)


def _recent(at: float) -> bool:
    return time.monotonic() - at < BETWEEN_STARTS


def start_runner(database: Path, trainings: int = 1) -> bool:
    """Start a runner that works the queue until it is empty; False where none is wanted.

    One that finds nothing to do ends at once, so this may be called whenever a job is queued.
    trainings: so many heavy jobs may run at a time. Raises OSError.
    """
    if asked_for(OFF) or asked_for(HERE):
        return False
    _let_go()
    log = open_private(log_path(LOG_NAME))
    try:
        # -P: a module of the folder one stands in must not shadow one of ours.
        command = [sys.executable, "-P", "-m", MODULE, "--db", str(database.absolute())]
        runner = subprocess.Popen(
            [*command, "--trainings", str(trainings)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        _started.append((runner, time.monotonic()))
    finally:
        os.close(log)
    return True


Handler = Callable[[int, FrameType | None], object] | int | None

BETWEEN_BEATS = 1.0
"""Seconds between two beats."""

GRACE = 20.0
"""Seconds for a cancelled job to come to a place where it can be left. Some computations of
libraries cannot be left at all: the process ends then, and the next runner goes on."""

NUDGE = 0.05
"""Seconds between two tries to interrupt a job that is loading a module."""

LOADING = "<frozen importlib._bootstrap"
"""How the places in the program begin that load modules."""

KILLED = 75
"""Exit status of a process that was ended so."""

CUT_OFF = "it could not be left where it was: its process ends"


class JobHeartbeat:
    """Beats in a thread while a job runs in the main one.

    Where the job is ended by somebody else, or another process has it, its work is interrupted,
    and leaving the block raises JobGoneError in place of the KeyboardInterrupt. It is not
    interrupted while it loads a module: half a one would stay, for whatever comes after in this
    process. say: told what belongs into the job's log.
    """

    def __init__(
        self,
        store: "Store",
        job: "Job",
        say: Callable[[str], None] = lambda _words: None,
        between: float = BETWEEN_BEATS,
        grace: float = GRACE,
    ) -> None:
        self._store = store
        self._job = job
        self._say = say
        self._between = between
        self._grace = grace
        self._stop = threading.Event()
        self._gone = False
        self._interrupted = False
        self._before: Handler = None
        self._thread = threading.Thread(target=self._beat, daemon=True, name="heart")

    @property
    def interrupted(self) -> bool:
        """Whether the work was interrupted: what libraries had begun may be half done."""
        return self._interrupted

    def caused(self, error: BaseException | None) -> bool:
        """Whether an error is the interruption of a job that was ended by somebody else.

        What a signal to the process raised is not.
        """
        return (
            self._gone
            and isinstance(error, KeyboardInterrupt)
            and not isinstance(error, EndedError)
        )

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        if callable(self._before) and _in_main():
            signal.signal(signal.SIGINT, self._heard)
        self._thread.start()
        return self

    def _heard(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-C, or our own signal: that one waits while a module is being loaded."""
        if self._gone and (self._interrupted or _loading(frame)):
            return
        self._interrupted = True
        if callable(self._before):
            self._before(number, frame)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._stop.set()
            self._thread.join()
        except KeyboardInterrupt as interrupt:
            if not self.caused(interrupt):
                raise
        finally:
            if callable(self._before) and _in_main():
                signal.signal(signal.SIGINT, self._before)
        if self._gone and (error is None or self.caused(error)):
            raise JobGoneError(CANCELLED) from error

    def _beat(self) -> None:
        while not self._stop.wait(self._between):
            try:
                if self._store.jobs.beat(self._job.id):
                    continue
            except (StoreError, sqlite3.Error):
                continue  # a full disk, a locked file: the work itself will meet it
            if self._stop.is_set():
                return
            self._gone = True
            if not self._ended():
                self._cut_off()
            return

    def _ended(self) -> bool:
        """Interrupt the work, as soon as that can be done; whether it came to an end."""
        until = time.monotonic() + self._grace
        while not self._interrupted and time.monotonic() < until:
            _interrupt()
            if self._stop.wait(NUDGE):
                return True
            if signal.getsignal(signal.SIGINT) != self._heard:
                self._interrupted = True  # somebody else hears it, and was told once
        return self._stop.wait(max(0.0, until - time.monotonic()))

    def _cut_off(self) -> None:
        """End the process on the spot; a new one works what else is in the queue."""
        self._say(CUT_OFF)
        with suppress(OSError):
            give_room(self._store.path, self._job)
        with suppress(OSError):
            start_runner(self._store.path)
        os._exit(KILLED)


def _in_main() -> bool:
    """Whether this is the thread that hears signals."""
    return threading.current_thread() is threading.main_thread()


def _loading(frame: FrameType | None) -> bool:
    """Whether a place in the program is within the loading of a module."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(LOADING):
            return True
        frame = frame.f_back
    return False


def _interrupt() -> None:
    """Have KeyboardInterrupt raised in the main thread.

    By a real signal where there are such: only that ends a wait for a child, a lock, a socket.
    """
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main and callable(signal.getsignal(signal.SIGINT)):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


Told = TypeVar("Told")

PATIENCE = 12
"""So often a write is tried again that another program's writes keep out, ten seconds each."""

NICENESS = 10
"""The lowest priority but those that ask for even less: people at the screen come first."""

GROWN = 1_500_000_000
"""Bytes of memory that a runner may hold between two jobs; with more it begins anew. What
libraries keep of one job is of no use to the next. It also begins anew behind a job that was
interrupted: libraries may be in the middle of something."""


def work(
    store: Store,
    progress: Progress,
    *,
    trainings: int = 1,
    enough: Callable[[], bool] = lambda: False,
    fresh: bool = False,
    only: int | None = None,
) -> int:
    """Run what is in the queue until nothing is left that can be run now; how many were run.

    trainings: so many heavy jobs may run at a time, others' included. enough: asked after each
    job whether to leave the rest. fresh: leave it to a new process where this one is no place
    for a further job. only: the number of the one job that is run. Raises StoreError where the
    queue cannot be read or written, and KeyboardInterrupt, which leaves the job interrupted.
    """
    done = 0
    while (
        job := _patiently(lambda: store.jobs.claim(claimable(), trainings, only))
    ) is not None:
        interrupted = run(store, job, progress)
        done += 1
        if enough() or (fresh and (interrupted or _grown())):
            break
    return done


def run(store: Store, job: Job, progress: Progress) -> bool:
    """Run a job that this process has claimed, and say how it ended; whether it was
    interrupted, since somebody else ended it.

    Raises KeyboardInterrupt where the process is to end; the job then is interrupted. Raises
    StoreError where it cannot be said how the job ended: the process is to end then, for its
    being there says that it is at the job.
    """
    with JobLog(store, job) as log, _room(store, job):
        report = JobReporter(store, job.id, log.telling(progress))
        heart = JobHeartbeat(store, job, log.say)
        try:
            with heart:
                check_arguments(job)
                result = KINDS[job.kind].run(store, job, report)
            log.say("done" if _done(store, job, result) else f"ended: {CANCELLED}")
        except BaseException as error:
            if heart.caused(error):
                error = JobGoneError(CANCELLED)
            _end(store, job, error, log)
            if isinstance(error, KeyboardInterrupt):
                raise
    found = store.jobs.read(job.id)
    if found is not None and found.state is JobState.DONE:
        with suppress(OSError):
            tidy(store.path, job)
    return heart.interrupted


def _done(store: Store, job: Job, result: Mapping[str, object] | None) -> bool:
    """Say that a job is done, unless its body did; False if somebody ended it meanwhile."""
    if result is None:
        return True
    return _patiently(lambda: store.jobs.end(job.id, JobState.DONE, result=result))


def _patiently(write: Callable[[], Told]) -> Told:
    """A write that waits for others for longer than those do that a person waits for."""
    for _ in range(PATIENCE):
        with suppress(BusyError):
            return write()
    return write()


def _end(store: Store, job: Job, error: BaseException, log: JobLog) -> None:
    """Note how a job ended early; one that somebody else ended is left as it is."""
    if isinstance(error, JobGoneError):
        log.say(f"ended: {error}")
        return
    state = JobState.FAILED
    if isinstance(error, KeyboardInterrupt):
        state = JobState.INTERRUPTED
        said = str(error) if isinstance(error, EndedError) else "stopped"
    else:
        if our_fault(error):
            log.say("".join(traceback.format_exception(error)))
        said = sentence(error, job.id, _folder(store, job))
    log.say(f"{state}: {said}")
    if state is JobState.INTERRUPTED:
        with suppress(StoreError):  # the process ends, and that says the same
            store.jobs.end(job.id, state, said)
        return
    try:
        _patiently(lambda: store.jobs.end(job.id, state, said))
    except FullError:
        give_room(store.path, job)
        log.say(f"{state}: {said}")
        store.jobs.end(job.id, state, said)


def _folder(store: Store, job: Job) -> Path:
    """Where a job's files are; where they would be, if it has none."""
    with suppress(OSError):
        return find_folder(store.path, job) or jobs_folder(store.path)
    return jobs_folder(store.path)


@contextmanager
def _room(store: Store, job: Job) -> Iterator[None]:
    """Room on the disk that is set aside, to note how the job ended."""
    with suppress(OSError):
        keep_room(store.path, job)
    try:
        yield
    finally:
        with suppress(OSError):
            give_room(store.path, job)


def main(arguments: Sequence[str] | None = None) -> int:
    """Work the queue; 0, or 1 where the database cannot be used or the process was to end."""
    parser = argparse.ArgumentParser(prog="nfh_tui.jobs.runner")
    parser.add_argument("--db", type=Path, required=True, help="the database")
    parser.add_argument("--trainings", type=int, default=1, help="heavy jobs at a time")
    asked = parser.parse_args(arguments)
    _step_back()
    # A shell's background ignores it, and a job that is cancelled is interrupted by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with tidily(), Store.open(asked.db) as store:
            _forget(store)
            work(store, _nobody, trainings=asked.trainings, fresh=True)
            anew = store.jobs.waiting(claimable(), asked.trainings) is not None
    except StoreError as error:
        sys.stderr.write(f"{lines_visible(str(error))}\n")
        return 1
    except KeyboardInterrupt as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if anew:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - itself
    return 0


def _forget(store: Store) -> None:
    """Remove what is left of jobs that nobody went on with for long."""
    with suppress(OSError):
        forget(store.path, [job for job in store.jobs.all() if job.state.ended])


def _nobody(phase: str, done: int, total: int) -> None:
    """Nobody watches: the row in the database says it."""


def _grown() -> bool:
    """Whether this process holds more memory than it should; only Linux says."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    except OSError:
        return False
    return int(pages) * os.sysconf("SC_PAGE_SIZE") > GROWN


def _step_back() -> None:
    """Let everybody else go first."""
    # Networks' threads that spin while they wait for each other starve beside other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with suppress(OSError, AttributeError):
        # Not os.nice: a runner that begins anew would go down further each time.
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, max(mine, NICENESS))
    # A session of its own is a group of its own to Linux' scheduler, which weighs groups.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS), "ascii")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, have it on the disk, and rename it. Raises OSError."""
    beside = path_beside(path, "tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
