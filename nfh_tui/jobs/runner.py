"""The job runner, `python -m nfh_tui.jobs.runner --db PATH`, which runs the queued jobs until
none is left: its start, heartbeat, cancellation, log and error messages.

The runner is a detached process of low priority. If it is killed, the next reader of the queue
marks its job as interrupted, and the next runner continues the job.
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
from dataclasses import dataclass, replace
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
from nfh_models import ModelsError
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
    give_room,
    job_folder,
    jobs_folder,
    keep_room,
    remove_files,
    remove_old,
    text_of,
    texts_of,
)
from nfh_tui.jobs.logs import log_path, open_private
from nfh_tui.jobs.reporting import JobReporter, Progress
from nfh_tui.process_signals import EndedError, ended_by_signals

# The check of a job's arguments, since a row of the database may hold anything.
#
# The jobs themselves read their arguments leniently. The check runs first, so that arguments
# which are damaged or were written by another program are an error, and not misunderstood.

IDENTIFICATION, RESOLUTION, BOTH = "identification", "resolution", "both"

SHOWN = 60
"""Characters of a value that are shown in an error."""


class ArgumentsError(ModelsError):
    """The arguments of a job are not valid; the message says why."""


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """The type of an argument."""

    fits: Callable[[object], bool]
    words: str
    """Its name in errors."""
    needed: bool = False
    """Whether the argument is required."""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


TEXT = ArgumentType(_is_text, "a text")
WANTED_TEXT = replace(TEXT, needed=True)
TEXTS = ArgumentType(_are_texts, "texts")
WANTED_TEXTS = replace(TEXTS, needed=True)
FLAG = ArgumentType(lambda value: isinstance(value, bool), "true or false")
COUNT = ArgumentType(_is_count, "a whole number")

FORMS: Mapping[str, Mapping[str, ArgumentType]] = {
    TRAIN: {
        "recipe": WANTED_TEXT,
        "words": TEXTS,
        "promote": FLAG,
        **dict.fromkeys(("query", "split", "parser", "scheduler"), TEXT),
    },
    PREDICT: {
        "query": WANTED_TEXT,
        "force": FLAG,
        **dict.fromkeys(("model", "parser", "scheduler"), TEXT),
    },
    CHECK: {
        "recipe": WANTED_TEXT,
        "words": TEXTS,
        "folds": COUNT,
        **dict.fromkeys(("query", "parser"), TEXT),
    },
    IMPORT: {
        "files": WANTED_TEXTS,
        **dict.fromkeys(("format", "split", "annotator"), TEXT),
        **dict.fromkeys(("replace_gold", "newer_answers", "new_person"), FLAG),
        "count_rejected": FLAG,
    },
    EVALUATE: {
        "task": WANTED_TEXT,
        **dict.fromkeys(("models", "sets"), TEXTS),
        **dict.fromkeys(("query", "split", "report", "file", "format"), TEXT),
        **dict.fromkeys(("parser", "train"), TEXT),
        **dict.fromkeys(("folds", "errors", "resamples", "seed"), COUNT),
        **dict.fromkeys(("several_heads", "ablation", "oracle", "baselines", "blind"), FLAG),
    },
}
"""The types of arguments, by kind of job and name."""

TASKS: Mapping[str, tuple[str, ...]] = {
    TRAIN: (IDENTIFICATION, RESOLUTION, BOTH),
    CHECK: (IDENTIFICATION, RESOLUTION),
    EVALUATE: (IDENTIFICATION, RESOLUTION),
}

READS, WRITES = "reads", "writes"

FILES: Mapping[str, str] = {"files": READS, "file": READS, "train": READS, "report": WRITES}
"""Arguments that are always paths, with the kind of access."""

NAMES_OR_PATHS = ("models", "words", "sets", "parser")
"""Arguments that may be paths or names."""


def job_paths(job: "Job") -> Iterator[tuple[str, str]]:
    """The paths in the arguments of a job, as pairs ("reads" or "writes", path)."""
    for key, does in FILES.items():
        for path in filter(None, (text_of(job.arguments, key), *texts_of(job.arguments, key))):
            yield does, path
    for key in NAMES_OR_PATHS:
        words = filter(None, (text_of(job.arguments, key), *texts_of(job.arguments, key)))
        for path in map(_value, words) if key != "models" else words:
            if _is_path(path):
                yield READS, path


def check_arguments(job: "Job") -> None:
    """Raise ArgumentsError unless the arguments of a job have the types of its kind, and each
    path in them is absolute and free of symbolic links, as when the job was queued."""
    given = job.arguments
    if given is UNREADABLE:
        raise ArgumentsError(
            "its arguments cannot be read, because its row is damaged. Run its command again"
        )
    for key, form in FORMS.get(job.kind, {}).items():
        value = given.get(key)
        if value is None and form.needed:
            raise ArgumentsError(f"its arguments lack “{key}”{AGAIN}")
        if value is not None and not form.fits(value):
            raise ArgumentsError(
                f"its argument “{key}” is {_short(value)}, wanted {form.words}{AGAIN}"
            )
    wanted = TASKS.get(job.kind)
    task = given.get("task") if job.kind == EVALUATE else job.task
    if wanted is not None and task not in wanted:
        raise ArgumentsError(f"{_short(task)} is not a task: wanted {' or '.join(wanted)}")
    for does, path in job_paths(job):
        if not Path(path).is_absolute() or os.path.realpath(path) != path:
            raise ArgumentsError(
                f"it {does} {_short(path)}, which is not an absolute path, or leads to "
                f"another place than before{AGAIN}"
            )


def _value(word: str) -> str:
    """The possible path in a setting, "base=FOLDER", or a parser, "stanza:FOLDER"."""
    key, equals, value = word.partition("=")
    if equals:
        return value if key in PATHS else ""
    return word.partition(":")[2]


def _is_path(word: str) -> bool:
    """Whether a word is a path and not a name; names of models may contain slashes."""
    path = Path(word)
    return path.is_absolute() or ".." in path.parts or word.startswith(("./", "~"))


AGAIN = ": run its command again"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


READABLE = (ModelsError, StoreError, FormatError, QueryError, ExportError)
"""Errors whose messages are written for users."""

FULL = (errno.ENOSPC, errno.EDQUOT)

OUT_OF_MEMORY = ("OutOfMemoryError", "can't allocate memory", "not enough memory")
"""Parts of torch's errors; torch is not imported only to compare their class."""


def sentence(error: BaseException, job_id: int, folder: Path) -> str:
    """The message for the error that a job failed with. folder: of the job."""
    again = f"`nfh-tui jobs retry {job_id}`"
    if _full(error):
        where = getattr(error, "filename", None) or folder
        return (
            f"the disk that holds {where} is full. Make room, then {again}: it continues from "
            "what was saved"
        )
    if isinstance(error, READABLE):
        return str(error) or type(error).__name__
    text = f"{type(error).__name__} {error}"
    if isinstance(error, MemoryError) or any(part in text for part in OUT_OF_MEMORY):
        return f"the machine has too little free memory for it. Free some, then {again}"
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename is not None else ""
        return (
            f"the system reports “{error.strerror or error}”{where}. Correct that, then {again}"
        )
    return (
        f"an error in the program: {type(error).__name__}: {str(error) or 'no words'}. "
        f"`nfh-tui jobs log {job_id}` says where"
    )


def our_fault(error: BaseException) -> bool:
    """Whether an error is a fault of the program, whose traceback belongs into the log."""
    return not isinstance(error, (*READABLE, OSError))


def _full(error: BaseException | None) -> bool:
    """Whether a disk was full. Some libraries report that only in the text of their errors."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        if not isinstance(error, READABLE) and "No space left on device" in str(error):
            return True
        error = error.__cause__
    return False


ATTEMPT = ", attempt "
"""Precedes the number in the first line of each attempt."""


class JobLog:
    """Appends to the log of a job. While it is open, standard error is redirected to it.

    Errors in writing the log are ignored, so that they do not end the job.
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
        """Write a line with the time."""
        if self._file is None:
            return
        at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
        with suppress(OSError):
            os.write(self._file, f"{at} {words}\n".encode("utf-8", "replace"))

    def logged(self, progress: "Progress") -> "Progress":
        """Wrap `progress` to write a line for each new phase."""

        def tell(phase: str, done: int, total: int) -> None:
            if phase != self._phase:
                self._phase = phase
                self.say(phase)
            progress(phase, done, total)

        return tell

    def _redirect(self, file: int) -> None:
        """Redirect standard error to the log, if it is a file descriptor."""
        with suppress(OSError, ValueError, AttributeError):
            if sys.stderr.fileno() == 2:
                self._before = os.dup(2)
                os.dup2(file, 2)


def _begun(path: "Path") -> int:
    """The number of attempts in a log: a job that is queued again counts on from there."""
    try:
        with path.open("rb") as file:
            return sum(ATTEMPT.encode() in line for line in file)
    except FileNotFoundError:
        return 0


MODULE = "nfh_tui.jobs.runner"
LOG_NAME = "runner.log"

VARIABLE = "NFH_TUI_RUNNER"
"""Environment variable: "off" starts no runners (jobs wait for `nfh-tui jobs run`); with "here"
a command that waits for its job runs the queue itself."""

OFF, HERE = "off", "here"

BETWEEN_STARTS = 5.0
"""Seconds for a runner to claim a job before `ensure_runner` starts another one."""

_started: list[tuple[subprocess.Popen[bytes], float]] = []
"""Runners that this process has started, with their monotonic start times."""


def asked_for(value: str) -> bool:
    """Whether the environment variable has this value."""
    return os.environ.get(VARIABLE, "") == value


def ensure_runner(store: "Store") -> bool:
    """Start a runner if a queued job could run now; returns whether one was started.

    Processes that open a database or wait for a job call this regularly, which replaces a
    runner that was killed. Raises StoreError, and OSError if no process can be started.
    """
    _drop_ended()
    if any(_recent(at) for _, at in _started) or store.jobs.find_next(claimable()) is None:
        return False
    return start_runner(store.path)


def _drop_ended() -> None:
    _started[:] = [(one, at) for one, at in _started if one.poll() is None or _recent(at)]


def _recent(at: float) -> bool:
    return time.monotonic() - at < BETWEEN_STARTS


def start_runner(database: Path, trainings: int = 1) -> bool:
    """Start a runner, unless VARIABLE forbids it; returns whether one was started.

    A runner that finds no job ends at once, so this may be called after each new job.
    trainings: how many heavy jobs may run at the same time. Raises OSError.
    """
    if asked_for(OFF) or asked_for(HERE):
        return False
    _drop_ended()
    log = open_private(log_path(LOG_NAME))
    try:
        # -P: a module in the current folder must not shadow one of ours.
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
"""Seconds between two heartbeats."""

GRACE = 20.0
"""Seconds for a cancelled job to react to an interrupt. Some computations of libraries cannot
be interrupted: the process is then ended, and the next runner continues with the queue."""

NUDGE = 0.05
"""Seconds between two attempts to interrupt a job that is importing a module."""

LOADING = "<frozen importlib._bootstrap"
"""Prefix of the file names of stack frames that import modules."""

KILLED = 75
"""Exit status of a process that was ended because its job could not be interrupted."""

CUT_OFF = "it could not be interrupted: its process ends"


class JobHeartbeat:
    """Writes a job's heartbeat in a thread, while the job runs in the main thread.

    If somebody else ends the job, or another process has claimed it, the job is interrupted,
    and the block raises JobGoneError in place of KeyboardInterrupt. A job that is importing a
    module is interrupted afterwards: a partial import would break later jobs of this process.
    say: writes to the job's log.
    """

    def __init__(self, store: "Store", job: "Job", say: Callable[[str], None]) -> None:
        self._store = store
        self._job = job
        self._say = say
        self._stop = threading.Event()
        self._gone = False
        self._interrupted = False
        self._before: Handler = None
        self._thread = threading.Thread(target=self._beat, daemon=True, name="heartbeat")

    @property
    def interrupted(self) -> bool:
        """Whether the job was interrupted, which may leave libraries in an undefined state."""
        return self._interrupted

    def caused(self, error: BaseException | None) -> bool:
        """Whether an error is this object's interrupt, and not that of a signal."""
        return (
            self._gone
            and isinstance(error, KeyboardInterrupt)
            and not isinstance(error, EndedError)
        )

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        if callable(self._before) and _in_main():
            signal.signal(signal.SIGINT, self._on_sigint)
        self._thread.start()
        return self

    def _on_sigint(self, number: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C and our own interrupt, which is ignored during an import."""
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
        while not self._stop.wait(BETWEEN_BEATS):
            try:
                if self._store.jobs.write_heartbeat(self._job.id):
                    continue
            except (StoreError, sqlite3.Error):
                continue  # full disk or locked file: the job itself will fail on it
            if self._stop.is_set():
                return
            self._gone = True
            if not self._interrupt_job():
                self._end_process()
            return

    def _interrupt_job(self) -> bool:
        """Interrupt the job as soon as possible; returns whether it ended within the grace."""
        until = time.monotonic() + GRACE
        while not self._interrupted and time.monotonic() < until:
            _interrupt()
            if self._stop.wait(NUDGE):
                return True
            if signal.getsignal(signal.SIGINT) != self._on_sigint:
                self._interrupted = True  # another handler has received the signal
        return self._stop.wait(max(0.0, until - time.monotonic()))

    def _end_process(self) -> None:
        """End the process at once; a new runner continues with the queue."""
        self._say(CUT_OFF)
        with suppress(OSError):
            give_room(self._store.path, self._job)
        with suppress(OSError):
            start_runner(self._store.path)
        os._exit(KILLED)


def _in_main() -> bool:
    """Whether this is the main thread, which alone handles signals."""
    return threading.current_thread() is threading.main_thread()


def _loading(frame: FrameType | None) -> bool:
    """Whether a stack frame is within an import."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(LOADING):
            return True
        frame = frame.f_back
    return False


def _interrupt() -> None:
    """Raise KeyboardInterrupt in the main thread."""
    # Only a real signal ends a wait for a child process, a lock or a socket.
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main and callable(signal.getsignal(signal.SIGINT)):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


Told = TypeVar("Told")

PATIENCE = 12
"""How often a write is repeated while another program locks the file, ten seconds each."""

NICENESS = 10
"""The nice value of runners, so that interactive programs come first."""

GROWN = 1_500_000_000
"""Bytes of memory above which a runner restarts between two jobs: caches of libraries are of no
use to the next job. It also restarts after an interrupted job, which may leave libraries in an
undefined state."""


def work(
    store: Store,
    progress: Progress,
    *,
    trainings: int = 1,
    enough: Callable[[], bool] = lambda: False,
    fresh: bool = False,
    only: int | None = None,
) -> int:
    """Run queued jobs until none can be run now; returns how many were run.

    trainings: how many heavy jobs may run at the same time, in all processes. enough: called
    after each job; True leaves the rest. fresh: leave the rest if this process should restart
    (see GROWN). only: the number of the one job to run. Raises StoreError if the queue cannot
    be read or written, and KeyboardInterrupt, after which the job is interrupted.
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
    """Run a job that this process has claimed and write its end; returns whether it was
    interrupted because somebody else ended it.

    Raises KeyboardInterrupt if the process shall end; the job is then interrupted. Raises
    StoreError if the end of the job cannot be written. The process must end then, since as
    long as it lives the job counts as running.
    """
    with JobLog(store, job) as log, _room(store, job):
        report = JobReporter(store, job.id, log.logged(progress))
        heartbeat = JobHeartbeat(store, job, log.say)
        try:
            with heartbeat:
                check_arguments(job)
                result = KINDS[job.kind].run(store, job, report)
            log.say("done" if _done(store, job, result) else f"ended: {CANCELLED}")
        except BaseException as error:
            if heartbeat.caused(error):
                error = JobGoneError(CANCELLED)
            _end(store, job, error, log)
            if isinstance(error, KeyboardInterrupt):
                raise
    found = store.jobs.read(job.id)
    if found is not None and found.state is JobState.DONE:
        with suppress(OSError):
            remove_files(store.path, job)
    return heartbeat.interrupted


def _done(store: Store, job: Job, result: Mapping[str, object] | None) -> bool:
    """Mark a job as done, unless it did so itself; False if somebody else has ended it."""
    if result is None:
        return True
    return _patiently(lambda: store.jobs.end(job.id, JobState.DONE, result=result))


def _patiently(write: Callable[[], Told]) -> Told:
    """Repeat a write while the database is locked, longer than interactive programs do."""
    for _ in range(PATIENCE):
        with suppress(BusyError):
            return write()
    return write()


def _end(store: Store, job: Job, error: BaseException, log: JobLog) -> None:
    """Write how a job failed or was interrupted, unless somebody else has ended it."""
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
        with suppress(StoreError):  # the end of the process has the same effect
            store.jobs.end(job.id, state, said)
        return
    try:
        _patiently(lambda: store.jobs.end(job.id, state, said))
    except FullError:
        give_room(store.path, job)
        log.say(f"{state}: {said}")
        store.jobs.end(job.id, state, said)


def _folder(store: Store, job: Job) -> Path:
    """The folder of a job; that of all jobs if it has none."""
    with suppress(OSError):
        return find_folder(store.path, job) or jobs_folder(store.path)
    return jobs_folder(store.path)


@contextmanager
def _room(store: Store, job: Job) -> Iterator[None]:
    """Reserve room on the disk inside the block, for writing the end of the job."""
    with suppress(OSError):
        keep_room(store.path, job)
    try:
        yield
    finally:
        with suppress(OSError):
            give_room(store.path, job)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the queue. Exit status 1 if the database cannot be used or a signal ended it."""
    parser = argparse.ArgumentParser(prog="nfh_tui.jobs.runner")
    parser.add_argument("--db", type=Path, required=True, help="the database")
    parser.add_argument("--trainings", type=int, default=1, help="heavy jobs at a time")
    asked = parser.parse_args(arguments)
    _step_back()
    # Background jobs of a shell ignore SIGINT, but cancelling a job needs it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with ended_by_signals(), Store.open(asked.db) as store:
            _forget(store)
            work(store, _nobody, trainings=asked.trainings, fresh=True)
            anew = store.jobs.find_next(claimable(), asked.trainings) is not None
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
    """Remove the files of jobs that ended long ago."""
    with suppress(OSError):
        remove_old(store.path, [job for job in store.jobs.all() if job.state.ended])


def _nobody(phase: str, done: int, total: int) -> None:
    """Progress is not shown here; the job's row has it."""


def _grown() -> bool:
    """Whether this process uses more memory than GROWN; False except on Linux."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    except OSError:
        return False
    return int(pages) * os.sysconf("SC_PAGE_SIZE") > GROWN


def _step_back() -> None:
    """Lower the priority of this process."""
    # Spinning threads of neural networks starve next to other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with suppress(OSError, AttributeError):
        # Not os.nice: it would lower the priority further at each restart.
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, max(mine, NICENESS))
    # Linux' scheduler shares the CPU between sessions first: the group needs the value, too. A
    # runner that a shell has started shares its session with other programs.
    with suppress(OSError):
        if os.getsid(0) == os.getpid():
            Path("/proc/self/autogroup").write_text(str(NICENESS), "ascii")


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file atomically, with an fsync before the rename. Raises OSError."""
    temporary = path_beside(path, "tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
