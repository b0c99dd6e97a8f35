"""What goes on beside the work, in words: jobs, and models that came into use."""

from collections.abc import Iterable, Mapping, Sequence

from nfh_db.activations import Activation
from nfh_db.jobs import TRAIN, Job, JobState
from nfh_db.pulse import JobNow
from nfh_tui.jobs.words import job_title, short_phase

DOES = {"identification": "identifies", "resolution": "resolves"}
KEPT = {"candidate": "kept as a candidate", "rejected": "rejected"}


def job_words(jobs: Sequence[JobNow]) -> str:
    """The jobs that wait or run, for the line of state; "" for none.

    One that runs goes before those that wait, and is told with what it is at, and how much of
    that is done.
    """
    running = [job for job in jobs if job.state is JobState.RUNNING]
    told = (running or list(jobs))[:1]
    words = "".join(
        f"{job_title(job.kind, job.recipe, job.task)}{_how_far(job)}" for job in told
    )
    more = len(jobs) - len(told)
    return f"{words} +{more}" if more else words


def _how_far(job: JobNow) -> str:
    if job.state is JobState.QUEUED:
        return " waits"
    if job.state is JobState.INTERRUPTED:
        return " interrupted"
    share = f" {min(100, 100 * job.done // job.total)} %" if job.total > 0 else ""
    phase = short_phase(job.phase)
    return f": {phase}{share}" if phase else share or " …"


def taken_over(changes: Iterable[Activation]) -> tuple[str, ...]:
    """Which models took over from others, and why: a sentence for each.

    One that took over both tasks at one moment is told once. What came into use where nothing
    was, as in a new database, is no news.
    """
    found: dict[tuple[int, str], list[Activation]] = {}
    for one in changes:
        if one.before is not None:
            found.setdefault((one.model_id, one.at), []).append(one)
    return tuple(_taken_over(some) for some in found.values())


def _taken_over(some: Sequence[Activation]) -> str:
    first = some[0]
    does = " and ".join(DOES[one.task] for one in some)
    before = " and ".join(dict.fromkeys(one.before or "" for one in some))
    by = f"put to use by {first.who}" if first.who else "put to use"
    return f"{first.model} now {does} in place of {before}: {first.reason or by}"


def ended(job: Job) -> str:
    """What is to be said of a job that has just ended; "" for nothing.

    That a model took over is told by the change itself.
    """
    recipe = job.arguments.get("recipe")
    what = job_title(job.kind, recipe if isinstance(recipe, str) else "", job.task)
    if job.state is JobState.FAILED:
        return f"Job {job.id} ({what}) failed: {job.error or 'its log may say why'}"
    if job.state is JobState.CANCELLED:
        return f"Job {job.id} ({what}) was cancelled{f' {job.error}' if job.error else ''}"
    if job.state is not JobState.DONE or job.kind != TRAIN:
        return ""
    verdict, model = job.result.get("verdict"), job.result.get("model")
    if not isinstance(verdict, Mapping) or verdict.get("verdict") not in KEPT:
        return ""
    named = model if isinstance(model, str) else f"the model of job {job.id}"
    return f"{named} is {KEPT[str(verdict['verdict'])]}: {verdict.get('reason') or 'no reason'}"


def come_round(jobs: Sequence[int]) -> str:
    """That trainings were queued since enough was decided."""
    numbers = " and ".join(map(str, jobs))
    return f"Enough is decided for another training: job {numbers} is queued"
