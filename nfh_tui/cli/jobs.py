"""`nfh-tui jobs`: the queue of long work, one job followed, its log, and what became of it."""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import click

from nfh_db.jobs import JobState
from nfh_db.messages import visible
from nfh_db.system import now
from nfh_tui.cli.options import (
    MESSAGE_LIMIT,
    Failure,
    as_option,
    command,
    db_option,
    echo,
    emit,
    on_database,
    open_database,
    picked,
    reporting,
    say,
    start,
    tell_lines,
    user,
)
from nfh_tui.cli.report import Steps, wrapped
from nfh_tui.cli.retrain import sentence_lines
from nfh_tui.jobs import descriptions
from nfh_tui.jobs.runner import READS, WRITES, job_paths
from nfh_tui.process_signals import EndedError

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.models import Model
    from nfh_db.store import Store


BETWEEN_LOOKS = 0.1
"""Seconds between two reads of a job."""

LOOKED_AFTER = 5.0
"""Seconds between two checks whether a runner is needed: one may have been killed."""

PHASE_SHOWN = 40
"""Characters of a phase: with its figures it fits on a line."""


class ProgressAside(Steps):
    """Progress that shows also while standard error goes to the log of a job."""

    _file: IO[str] | None = None

    def __enter__(self) -> Self:
        if self.watched:
            self._file = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)
            self._file.flush()


def follow(store: "Store", job_id: int, db: Path | None, name: str) -> "Job":
    """Wait until a job has ended, and return it; an interrupted job is resumed.

    name: the title of the progress on a terminal. Raises Failure for a job that nobody can run
    here, and at Ctrl-C; StoreError; EndedError, with a note on what becomes of the job.
    """
    from nfh_tui.jobs.runner import HERE, asked_for

    if asked_for(HERE):
        return _work_here(store, job_id, db, name)
    wait, cancel = command(f"jobs wait {job_id}", db), command(f"jobs cancel {job_id}", db)
    try:
        return _watch(store, job_id, db, name)
    except EndedError as ended:
        ended.add_note(f"Job {job_id} continues: {wait} follows it.")
        raise
    except KeyboardInterrupt as interrupt:
        raise Failure(
            f"stopped following; job {job_id} continues.\n{wait} follows it,\n{cancel} ends it."
        ) from interrupt


def wait_and_report(
    store: "Store", job_id: int, db: Path | None, name: str, *, as_json: bool
) -> None:
    """Follow a job that waits or runs, and print its report. Raises as `follow`, and Failure
    for a job that is not done in the end."""

    job = read(store, job_id, db)
    if job.state in (JobState.QUEUED, JobState.INTERRUPTED):
        _check_runnable(job, db)
        start(store, db, waits=True)
    job = follow(store, job_id, db, name)
    check_done(job, db)
    if as_json:
        emit(done_json(store, job))
        return
    tell_lines(done_lines(store, job, db))


def read(store: "Store", job_id: int, db: Path | None) -> "Job":
    """A job by its number. db: the value of --db. Raises Failure if there is none."""
    if (found := store.jobs.read(job_id)) is None:
        raise Failure(f"there is no job {job_id}; {command('jobs', db)} lists them")
    return found


def foreign_words(job: "Job", db: Path | None) -> str:
    """Why no runner of this user starts a job, and what to do. db: the value of --db."""
    return (
        f"job {job.id} was not queued from here, so no runner starts it.\n"
        f"{command(f'jobs show {job.id}', db)} says what it would do,\n"
        f"{command(f'jobs run --accept {job.id}', db)} starts it"
    )


def check_done(job: "Job", db: Path | None) -> None:
    """Raise Failure, with why, unless an ended job is done."""
    if job.state is JobState.DONE:
        return
    if job.state is JobState.CANCELLED:
        by = f" ({visible(job.error)})" if job.error else ""
        raise Failure(f"job {job.id} was cancelled{by}")
    log = command(f"jobs log {job.id}", db)
    said = visible(job.error or "it failed without a message", MESSAGE_LIMIT)
    raise Failure(f"{said}\nJob {job.id} has failed; its log: {log}")


def how_far(job: "Job") -> str:
    """The phase of a job, its progress and its loss, in words."""
    words = visible(descriptions.phase_words(job.phase or "") or "starting", PHASE_SHOWN)
    if job.total:
        words += f": {job.done:,} of {job.total:,}"
    elif job.done:
        words += f": {job.done:,}"
    loss = job.metrics.get("loss")
    return f"{words}, loss {loss:.3f}" if isinstance(loss, float) else words


def _watch(store: "Store", job_id: int, db: Path | None, name: str) -> "Job":
    from nfh_tui.jobs.runner import ensure_runner

    looked = time.monotonic()
    with Steps(name) as steps:
        while not (job := read(store, job_id, db)).state.ended:
            _check_runnable(job, db)
            running = job.state is JobState.RUNNING
            steps.step(how_far(job) if running else _waiting(store, job), 0, 0)
            time.sleep(BETWEEN_LOOKS)
            if time.monotonic() - looked > LOOKED_AFTER:
                looked = time.monotonic()
                with suppress(OSError):  # reported when the job was queued
                    ensure_runner(store)
        return job


def _work_here(store: "Store", job_id: int, db: Path | None, name: str) -> "Job":
    """Work the queue until the job has ended."""
    from nfh_tui.jobs.runner import work

    def ended() -> bool:
        return read(store, job_id, db).state.ended

    try:
        with ProgressAside(name) as steps:
            while not (job := read(store, job_id, db)).state.ended:
                _check_runnable(job, db)
                if not work(store, steps.step, enough=ended):
                    time.sleep(BETWEEN_LOOKS)
            return job
    except KeyboardInterrupt as interrupt:
        wait = command(f"jobs wait {job_id}", db)
        interrupt.add_note(f"Job {job_id} is interrupted; {wait} continues it.")
        raise


def _waiting(store: "Store", job: "Job") -> str:
    said = "waits" if job.state is JobState.QUEUED else "was interrupted, and waits"
    other = None if job.after is None else store.jobs.read(job.after)
    behind = "" if other is None or other.state.ended else f" for job {other.id}"
    return f"job {job.id} {said}{behind}"


def _check_runnable(job: "Job", db: Path | None) -> None:
    """Raise Failure for a waiting job that no runner of this program can start."""
    from nfh_db.jobs import IN_PLACE
    from nfh_tui.jobs.descriptions import known

    if job.state is JobState.RUNNING:
        return
    if job.held:
        raise Failure(foreign_words(job, db))
    if known(job.kind, job.version):
        return
    if job.version == IN_PLACE:
        raise Failure(
            f"job {job.id} was interrupted. The command that made it ran it:\nrun that "
            "command again"
        )
    raise Failure(
        f"job {job.id} has a kind that this program does not know ({visible(job.kind, 20)} "
        f"{job.version}):\na newer nfh-tui made it, and can run it"
    )


LISTED = 20

job_argument = click.argument("number", metavar="ID", type=click.IntRange(1))


@click.group(invoke_without_command=True)
@click.option(
    "--all", "every", is_flag=True, help=f"List all jobs, not only the newest {LISTED}."
)
@on_database
def jobs(every: bool, db: Path | None, as_json: bool) -> None:
    """List the jobs of the database; with a command: show, follow, cancel or retry one.

    A job is work in the background: a training, an evaluation, a
    prediction, an import. `nfh-tui retrain` makes one; others do with --background.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    from nfh_tui.jobs.training import schedule_line

    with open_database(db) as store:
        found = store.jobs.all()
        names = _names(store)
        again = [schedule_line(one) for one in store.retraining.all()]
    if as_json:
        emit({"jobs": [job_report(job, names) for job in found]})
        return
    tell_lines(listed(found if every else found[:LISTED], names, db))
    if len(found) > LISTED and not every:
        echo(f"and {len(found) - LISTED:,} older ones: {command('jobs --all', db)}")
    tell_lines((*left_over(found, db), *again))


@jobs.command(short_help="Show a job in full.")
@job_argument
@on_database
def show(number: int, db: Path | None, as_json: bool) -> None:
    """Show a job: its arguments, its progress, its result."""

    with open_database(db) as store:
        job = read(store, number, db)
        names, points = _names(store), store.jobs.points(number)
    if as_json:
        own = "version arguments asked_by after attempts heartbeat log snapshot result"
        paths = {
            which: [path for does, path in job_paths(job) if does == of]
            for which, of in (("reads", READS), ("writes", WRITES))
        }
        emit(job_report(job, names) | picked(job, own) | paths | {"points": points})
        return
    tell_lines(full_lines(job, names, db))


@jobs.command(short_help="Print a job's log.")
@job_argument
@click.option("--follow", is_flag=True, help="Go on until the job has ended.")
@db_option
@click.pass_obj
@reporting
def log(outer: tuple[Path | None, bool], number: int, follow: bool, db: Path | None) -> None:
    """Print what a job's process wrote: its phases with times, and messages of libraries."""

    db = db or outer[0]
    with open_database(db) as store:
        job = read(store, number, db)
        tell_lines(followed(store, job, db) if follow else log_lines(store, job))


@jobs.command(short_help="Cancel a job, or remove it from the queue.")
@job_argument
@as_option
@on_database
def cancel(number: int, me: str | None, db: Path | None, as_json: bool) -> None:
    """Cancel a job that runs, or remove one that waits from the queue.

    It leaves no model. What it has stored stays: predictions, imported files.
    """

    with open_database(db, writes=True) as store:
        before = read(store, number, db)
        if not store.jobs.end(number, JobState.CANCELLED, f"by {me or user()}"):
            raise Failure(
                f"job {number} has already ended: it is {read(store, number, db).state}"
            )
    if as_json:
        emit({"id": number, "state": "cancelled", "before": before.state.value})
        return
    ends = "; its process ends shortly" if before.state is JobState.RUNNING else ""
    echo(f"job {number} is cancelled{ends}")


@jobs.command(short_help="Follow a job until it has ended.")
@job_argument
@on_database
def wait(number: int, db: Path | None, as_json: bool) -> None:
    """Follow a job until it ends: exit status 0 if it is done, 1 if not.

    An interrupted job is continued. Ctrl-C stops following; the job continues.
    """

    with open_database(db, writes=True) as store:
        wait_and_report(store, number, db, f"job {number}", as_json=as_json)


@jobs.command(short_help="Put an unfinished job into the queue again.")
@job_argument
@on_database
def retry(number: int, db: Path | None, as_json: bool) -> None:
    """Put a job that failed, was cancelled or interrupted into the queue again.

    It continues from what it saved, if anything.
    """
    from nfh_tui.jobs.descriptions import known

    with open_database(db, writes=True) as store:
        job = read(store, number, db)
        if not known(job.kind, job.version):
            raise Failure(
                f"job {number} was never in the queue, or is of a newer nfh-tui, and cannot "
                "be retried: run the command that made it again"
            )
        if job.foreign:
            raise Failure(foreign_words(job, db))
        if not store.jobs.retry(number):
            raise Failure(f"job {number} is {job.state}: there is nothing to retry")
        if as_json:
            emit({"id": number, "state": "queued", "before": job.state.value})
        else:
            wait_for = command(f"jobs wait {number}", db)
            echo(f"job {number} is queued again; {wait_for} follows it")
        start(store, db)


@jobs.command("run", short_help="Work the queue in this process.")
@click.option(
    "--trainings",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="This many heavy jobs (trainings, predictions, checks) may run at a time.",
)
@click.option(
    "--accept",
    type=click.IntRange(1),
    metavar="ID",
    help="Show this foreign job, take it over, and run it alone.",
)
@on_database
def run_(trainings: int, accept: int | None, db: Path | None, as_json: bool) -> None:
    """Work the queue in this process until it is empty.

    Other commands start a runner by themselves; this is for machines where none should be
    left running, and for a second training at a time. Jobs that you did not queue, as in a
    database that was sent to you, are left alone; with --accept one of them is run.
    """
    from nfh_tui.jobs.runner import work

    with open_database(db, writes=True) as store:
        if accept is not None:
            _accept(store, accept, db, as_json=as_json)
        with ProgressAside("jobs") as steps:
            number = work(store, steps.step, trainings=trainings, only=accept)
        waiting = [
            job for job in store.jobs.all() if job.state.value in ("queued", "interrupted")
        ]
        foreign = sum(job.held for job in waiting)
        left = len(waiting) - foreign
    if as_json:
        emit({"run": number, "left": left, "foreign": foreign})
        return
    echo(f"{number} {'job' if number == 1 else 'jobs'} run")
    if left:
        say(f"{left} left in the queue: they wait for others, or this program cannot run them")
    if foreign:
        say(f"{foreign} foreign, so not run: {command('jobs', db)} lists them")


def _accept(store: "Store", number: int, db: Path | None, *, as_json: bool) -> None:
    """Show a foreign job and make it this installation's own, as it was shown."""

    job = read(store, number, db)
    if not job.held:
        raise Failure(
            f"job {number} is {job.state}, and not foreign: there is nothing to accept"
            if not job.foreign
            else f"job {number} is {job.state}: only a job that waits can be accepted"
        )
    if not as_json:
        tell_lines(full_lines(job, _names(store), db))
    if not store.jobs.accept(job):
        raise Failure(
            f"job {number} has changed since then: {command(f'jobs show {number}', db)}"
        )


def _names(store: "Store") -> dict[int, str]:
    return {model.id: model.name for model in store.models.all()}


BETWEEN_LINES = 0.2
"""Seconds between two reads of the file."""

LONGEST = 4_000
"""Code points of a line that are printed."""


def log_lines(store: "Store", job: "Job") -> Iterator[str]:
    """The lines of a job's log. Raises Failure where there is no log."""
    path = descriptions.log_of(store.path, job)
    try:
        with path.open("rb") as file:
            yield from map(_line, file)
    except FileNotFoundError as error:
        if job.attempts == 0 and not job.state.ended:
            raise Failure(f"job {job.id} has not begun, and so has no log yet") from error
        raise Failure(
            f"job {job.id} has no log: there is no {visible(str(path), 200)}"
        ) from error


def followed(store: "Store", job: "Job", db: Path | None) -> Iterator[str]:
    """The lines of a job's log, and those written until the job has ended."""
    place = 0
    while True:
        job = read(store, job.id, db)
        ended, path = job.state.ended, descriptions.log_of(store.path, job)
        if path.is_file():
            with path.open("rb") as file:
                file.seek(place)
                for line in file:
                    if not line.endswith(b"\n") and not ended:
                        break  # the rest of it comes
                    place += len(line)
                    yield _line(line)
        if ended:
            return
        time.sleep(BETWEEN_LINES)


def _line(raw: bytes) -> str:
    return visible(raw.decode("utf-8", "replace").rstrip("\r\n"), LONGEST)


WIDTH = 80
LABEL = 10
MINUTES = 16
"""Characters of a time as far as its minutes."""

NAME_WIDTH, STATE_WIDTH, OUTCOME_WIDTH, ASKED_WIDTH = 21, 11, 28, 11

FOREIGN = "foreign"
NOT_FROM_HERE = (
    "your installation did not queue it, or its arguments were changed since then, so no "
    "runner starts it."
)

CALLED = {"words": "settings", "report": "page", "replace_gold": "replaces", "sets": "settings"}
"""Clearer names of arguments."""

SHOWN = 2_000

Names = Mapping[int, str]
"""Models' names by their numbers."""


# --- JSON -----------------------------------------------------------------------------------


def job_report(job: "Job", names: Names) -> dict[str, Any]:
    """A job as JSON, in a list. names: of models; "model" is the one that it made."""
    return {
        **picked(job, "id kind"),
        "task": job.task or None,
        "recipe": job.arguments.get("recipe"),
        **picked(job, "state foreign pid"),
        "progress": picked(job, "phase done total metrics"),
        "model": names.get(job.model_id or 0),
        **picked(job, "model_id error created_at started_at finished_at"),
    }


# --- lines ----------------------------------------------------------------------------------


def listed(found: Sequence["Job"], names: Names, db: Path | None) -> Iterator[str]:
    """A header and a line for each job. db: the value of --db."""
    if not found:
        yield f"no jobs yet: {command('retrain TASK', db)} makes one"
        return
    yield (
        f"{'id':>4}  {'job':{NAME_WIDTH}} {'state':{STATE_WIDTH}} "
        f"{'how far':{OUTCOME_WIDTH}} {'asked (UTC)':>{ASKED_WIDTH}}"
    )
    for job in found:
        yield (
            f"{job.id:>4}  {_cut(descriptions.job_name(names, job), NAME_WIDTH)} "
            f"{_state(job):{STATE_WIDTH}} {_cut(outcome(job, names), OUTCOME_WIDTH)} "
            f"{_cut(_minutes(job.created_at)[5:], ASKED_WIDTH)}"
        )


def _state(job: "Job") -> str:
    """The state of a job; FOREIGN for one that no runner starts."""
    return FOREIGN if job.held else job.state.value


def left_over(found: Sequence["Job"], db: Path | None) -> Iterator[str]:
    """How to resume interrupted jobs and how to accept foreign ones, a line each."""
    if held := [job.id for job in found if job.held]:
        number = held[-1]
        yield (
            f"foreign: not queued from here, so not run; {command(f'jobs show {number}', db)} "
            f"says what job {number} would do"
        )
    left = [job.id for job in found if job.state is JobState.INTERRUPTED and not job.held]
    if left:
        number = left[-1]
        yield f"interrupted: {command(f'jobs wait {number}', db)} continues job {number}"


def outcome(job: "Job", names: Names) -> str:
    """The progress of a job or its result, in a few words."""
    if job.state is JobState.RUNNING:
        share = f"{100 * min(job.done / job.total, 1):.0f} % " if job.total else ""
        return share + descriptions.phase_of(job)
    if job.state is not JobState.DONE:
        return job.error or ""
    if job.model_id is not None:
        word = descriptions.read_summary(job.result.get("verdict")).word
        name = names.get(job.model_id, f"model {job.model_id}")
        return f"{name}, {word}" if word else name
    return result_words(job)


def result_words(job: "Job") -> str:
    """The result of a job that makes no model, in a few words."""
    result = job.result
    for key, what in (("predicted", "predicted"), ("doubted", "doubted"), ("n", "examples")):
        value = result.get(key)
        if isinstance(value, int):
            return f"{value:,} {what}"
    files = result.get("files")
    if isinstance(files, list):
        return f"{len(files)} {'file' if len(files) == 1 else 'files'}"
    return ""


def full_lines(job: "Job", names: Names, db: Path | None) -> Iterator[str]:
    """A job in full. db: the value of --db."""
    yield f"job {job.id}: {visible(descriptions.job_name(names, job), 60)}, {_state(job)}"
    if job.held:
        accept = command(f"jobs run --accept {job.id}", db)
        yield from _labelled("foreign", f"{NOT_FROM_HERE} {accept} starts it.")
        for label, path in job_paths(job):
            yield from _labelled(label, path)
    yield from _times(job)
    if job.state is JobState.RUNNING:
        yield from _labelled("process", f"{job.pid}")
        yield from _labelled("how far", how_far(job))
    yield from _labelled("task", job.task)
    for key, value in job.arguments.items():
        if key != "task":
            yield from _labelled(CALLED.get(key, key.replace("_", " ")), _said(value))
    yield from _labelled("waits for", "" if job.after is None else f"job {job.after}")
    yield from _labelled("log", job.log or "")
    yield from _labelled("error", job.error or "")
    if job.state is JobState.DONE:
        yield from _labelled("result", outcome(job, names))
    yield from _labelled("verdict", descriptions.read_summary(job.result.get("verdict")).reason)


def _times(job: "Job") -> Iterator[str]:
    by = f" by {visible(job.asked_by)}" if job.asked_by else ""
    yield from _labelled("asked", f"{_minutes(job.created_at)} UTC{by}")
    if job.started_at is None:
        return
    times = "once" if job.attempts <= 1 else f"{job.attempts} times"
    ran = descriptions.run_time(job, now())
    took_words = f"; {ran} (m:ss){'' if job.state.ended else ' so far'}" if ran else ""
    yield from _labelled("begun", f"{_minutes(job.started_at)} UTC, {times}{took_words}")


def _labelled(label: str, text: str) -> Iterator[str]:
    """A text as wrapped lines after a label; none for an empty text."""
    yield from wrapped(visible(text, SHOWN), f"  {label:{LABEL}}", " " * (LABEL + 2))


def _said(value: object) -> str:
    """An argument in words; "" for one without a value."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={said}" for key, one in value.items() if (said := _said(one)))
    if value is None or value is False:
        return ""
    return "yes" if value is True else str(value)


def _minutes(at: str) -> str:
    return at[:MINUTES].replace("T", " ")


def _cut(text: str, width: int) -> str:
    shown = visible(text, width)
    return f"{shown if len(shown) <= width else shown[: width - 1] + '…':{width}}"


def done_json(store: "Store", job: "Job") -> object:
    """The report of a training as `retrain` prints it; of other jobs the row with its
    result."""
    if job.model_id is not None:
        from nfh_tui.cli.retrain import training_report

        return training_report(job, model_of(store, job), store.path)
    return job_report(job, {}) | {"result": job.result}


def done_lines(store: "Store", job: "Job", db: Path | None) -> Iterator[str]:
    """The result in words. db: the value of --db."""
    if job.model_id is not None:
        from nfh_tui.cli.retrain import retrained_lines

        yield from retrained_lines(job, model_of(store, job), store.path, db)
    elif job.kind == descriptions.PREDICT:
        from nfh_tui.cli.predict import predicted_lines

        yield from predicted_lines(job.result, db)
    elif job.kind == descriptions.IMPORT:
        from nfh_tui.cli.files import imported_lines

        files = job.result.get("files")
        for one in files if isinstance(files, list) else []:
            if isinstance(one, Mapping):
                for line in imported_lines(one):
                    yield from sentence_lines(line)
    elif job.kind == descriptions.EVALUATE:
        from nfh_tui.cli.evaluate_call import evaluated_lines

        yield from evaluated_lines(job, db)
    elif job.kind == descriptions.CHECK:
        from nfh_tui.cli.doubts import checked_lines

        yield from checked_lines(job.result, db)
    else:
        yield f"job {job.id} is done"


def model_of(store: "Store", job: "Job") -> "Model":
    """The model that a job made. Raises Failure for one that is gone."""
    found = next((model for model in store.models.all() if model.id == job.model_id), None)
    if found is None:
        raise Failure(f"the model that job {job.id} made is no longer in the database")
    return found
