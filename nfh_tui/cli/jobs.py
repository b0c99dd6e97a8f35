"""`nfh-tui jobs`: the queue of long work, and what became of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_tui import places
from nfh_tui.cli.common import (
    Failure,
    as_option,
    db_option,
    emit,
    json_option,
    open_to_read,
    reporting,
    say,
    tell,
    user,
)
from nfh_tui.cli.queueing import command

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store

LISTED = 20

Given = tuple[Path | None, bool]
"""--db and --json as they stand before the command's name."""

job_argument = click.argument("number", metavar="ID", type=click.IntRange(1))


@click.group(invoke_without_command=True, short_help="List jobs; follow or cancel one.")
@click.option(
    "--all", "every", is_flag=True, help=f"List all jobs, not only the newest {LISTED}."
)
@db_option
@json_option
@click.pass_context
@reporting
def jobs(ctx: click.Context, every: bool, db: Path | None, as_json: bool) -> None:
    """List the jobs of the database; with a command: show, follow, cancel or retry one.

    A job is work that goes on while you do something else: a training, an evaluation, a
    prediction, an import. `nfh-tui retrain` makes one; others do with --background.
    """
    ctx.obj = (db, as_json)
    if ctx.invoked_subcommand is not None:
        return
    from nfh_tui.cli.jobs_text import left_over, listed, summary_json
    from nfh_tui.jobs.every import told

    with open_to_read(places.database(db)) as store:
        found = store.jobs()
        names = _names(store)
        again = [told(one) for one in store.every()]
    if as_json:
        emit({"jobs": [summary_json(job, names) for job in found]})
        return
    for line in listed(found if every else found[:LISTED], names, db):
        tell(line)
    if len(found) > LISTED and not every:
        tell(f"and {len(found) - LISTED:,} older ones: {command('jobs --all', db)}")
    for line in (*left_over(found, db), *again):
        tell(line)


@jobs.command(short_help="Show a job in full.")
@job_argument
@db_option
@json_option
@click.pass_context
@reporting
def show(ctx: click.Context, number: int, db: Path | None, as_json: bool) -> None:
    """Show a job: what was asked for, how far it is, what came of it."""
    from nfh_tui.cli.jobs_text import full_json, full_lines

    db, as_json = _given(ctx, db, as_json)
    with open_to_read(places.database(db)) as store:
        job = _one(store, number, db)
        names, points = _names(store), store.job_points(number)
    if as_json:
        emit(full_json(job, names, points))
        return
    for line in full_lines(job, names, db):
        tell(line)


@jobs.command(short_help="Print a job's log.")
@job_argument
@click.option("--follow", is_flag=True, help="Go on until the job has ended.")
@db_option
@click.pass_context
@reporting
def log(ctx: click.Context, number: int, follow: bool, db: Path | None) -> None:
    """Print what a job's process wrote: when it was at what, and what its libraries said."""
    from nfh_tui.cli.jobs_log import followed, written

    db, _ = _given(ctx, db, False)
    with open_to_read(places.database(db)) as store:
        job = _one(store, number, db)
        lines = followed(store, job, db) if follow else written(store, job)
        for line in lines:
            tell(line)


@jobs.command(short_help="End a job, or take it out of the queue.")
@job_argument
@as_option
@db_option
@json_option
@click.pass_context
@reporting
def cancel(
    ctx: click.Context, number: int, me: str | None, db: Path | None, as_json: bool
) -> None:
    """End a job that runs, or take one that waits out of the queue.

    It leaves no model. What was stored before stays: predictions, files that came in.
    """
    from nfh_db.jobs import JobState
    from nfh_db.store import Store

    db, as_json = _given(ctx, db, as_json)
    with Store.open(places.database(db)) as store:
        before = _one(store, number, db)
        if not store.end_job(number, JobState.CANCELLED, f"by {me or user()}"):
            raise Failure(
                f"job {number} has ended before: it is {_one(store, number, db).state}"
            )
    if as_json:
        emit({"id": number, "state": "cancelled", "before": before.state.value})
        return
    ends = "; its process ends shortly" if before.state is JobState.RUNNING else ""
    tell(f"job {number} is cancelled{ends}")


@jobs.command(short_help="Follow a job until it has ended.")
@job_argument
@db_option
@json_option
@click.pass_context
@reporting
def wait(ctx: click.Context, number: int, db: Path | None, as_json: bool) -> None:
    """Follow a job until it has ended: exit status 0 if it is done, 1 if not.

    One that was interrupted is taken up again. Ctrl-C stops following; the job goes on.
    """
    from nfh_db.store import Store
    from nfh_tui.cli.following import wait_and_report

    db, as_json = _given(ctx, db, as_json)
    with Store.open(places.database(db)) as store:
        wait_and_report(store, number, db, f"job {number}", as_json=as_json)


@jobs.command(short_help="Put a job that did not come to its end into the queue again.")
@job_argument
@db_option
@json_option
@click.pass_context
@reporting
def retry(ctx: click.Context, number: int, db: Path | None, as_json: bool) -> None:
    """Put a job that failed, was cancelled or interrupted into the queue again.

    It goes on from what it saved, where it saved something.
    """
    from nfh_db.store import Store
    from nfh_tui.cli.following import foreign_words
    from nfh_tui.cli.queueing import start
    from nfh_tui.jobs.kinds import known

    db, as_json = _given(ctx, db, as_json)
    with Store.open(places.database(db)) as store:
        job = _one(store, number, db)
        if not known(job.kind, job.version):
            raise Failure(
                f"job {number} was never in the queue, or is of a newer nfh-tui: it cannot be "
                "tried again; give the command that made it again"
            )
        if job.foreign:
            raise Failure(foreign_words(job, db))
        if not store.retry_job(number):
            raise Failure(f"job {number} is {job.state}: there is nothing to try again")
        if as_json:
            emit({"id": number, "state": "queued", "before": job.state.value})
        else:
            wait_for = command(f"jobs wait {number}", db)
            tell(f"job {number} is queued again; {wait_for} follows it")
        start(store, db)


@jobs.command("run", short_help="Work the queue in this process.")
@click.option(
    "--trainings",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="So many heavy jobs (trainings, predictions, checks) may run at a time.",
)
@click.option(
    "--accept",
    type=click.IntRange(1),
    metavar="ID",
    help="Show this foreign job, take it over, and run it alone.",
)
@db_option
@json_option
@click.pass_context
@reporting
def run_(
    ctx: click.Context, trainings: int, accept: int | None, db: Path | None, as_json: bool
) -> None:
    """Work the queue in this process until it is empty.

    Other commands start a runner by themselves; this is for machines where none should be
    left running, and for a second training at a time. Jobs that you did not queue, as in a
    database that was sent to you, are left alone; with --accept one of them is run.
    """
    from nfh_db.store import Store
    from nfh_tui.cli.following import ProgressAside
    from nfh_tui.jobs.runner import work

    db, as_json = _given(ctx, db, as_json)
    with Store.open(places.database(db)) as store:
        if accept is not None:
            _accept(store, accept, db, as_json=as_json)
        with ProgressAside("jobs") as steps:
            number = work(store, steps.step, trainings=trainings, only=accept)
        waiting = [job for job in store.jobs() if job.state.value in ("queued", "interrupted")]
        foreign = sum(job.held for job in waiting)
        left = len(waiting) - foreign
    if as_json:
        emit({"run": number, "left": left, "foreign": foreign})
        return
    tell(f"{number} {'job' if number == 1 else 'jobs'} run")
    if left:
        say(f"{left} left in the queue: they wait for others, or this program cannot run them")
    if foreign:
        say(f"{foreign} foreign, so not run: {command('jobs', db)} lists them")


def _accept(store: "Store", number: int, db: Path | None, *, as_json: bool) -> None:
    """Show a foreign job and make it this installation's own, as it was shown."""
    from nfh_tui.cli.jobs_text import full_lines

    job = _one(store, number, db)
    if not job.held:
        raise Failure(
            f"job {number} is {job.state}, and not foreign: there is nothing to accept"
            if not job.foreign
            else f"job {number} is {job.state}: only a job that waits can be accepted"
        )
    if not as_json:
        for line in full_lines(job, _names(store), db):
            tell(line)
    if not store.accept_job(job):
        raise Failure(
            f"job {number} has changed meanwhile: {command(f'jobs show {number}', db)}"
        )


def _given(ctx: click.Context, db: Path | None, as_json: bool) -> Given:
    """The options, whether they stand before or behind the command's name."""
    outer_db, outer_json = ctx.obj
    return db or outer_db, as_json or outer_json


def _one(store: "Store", number: int, db: Path | None) -> "Job":
    """A job by its number, with the state that it has now. Raises Failure for none."""
    found = next((job for job in store.jobs() if job.id == number), None)
    if found is None:
        raise Failure(f"there is no job {number}; {command('jobs', db)} lists them")
    return found


def _names(store: "Store") -> dict[int, str]:
    """Models' names by their numbers."""
    return {model.id: model.name for model in store.models()}
