"""Jobs: what their rows say of them holds together, and nothing waits for ever."""

from collections.abc import Iterator

from nfh_db import clock, job_queue
from nfh_db.connection import Connection
from nfh_db.doctor.finding import Fault, Repair, Where
from nfh_db.doctor.patient import Patient

READABLE = "CASE WHEN json_valid({column}) THEN json_type({column}) ELSE '' END = 'object'"
NOBODYS = """
SELECT id FROM job WHERE state = 'running' AND pid IS NULL ORDER BY id"""
WAITS_FOR_EVER = "SELECT id, after_id FROM job WHERE after_id >= id ORDER BY id"
NOT_ENDED = "SELECT id FROM job WHERE state = 'done' AND finished_at IS NULL ORDER BY id"
MODEL_TOO_EARLY = """
SELECT id, state, model_id FROM job WHERE model_id IS NOT NULL AND state <> 'done'
ORDER BY id"""
NEGATIVE = "SELECT id FROM job WHERE attempts < 0 OR done < 0 OR total < 0 ORDER BY id"
UNREADABLE = {
    column: f"SELECT id FROM job WHERE NOT {READABLE.format(column=column)} ORDER BY id"  # noqa: S608
    for column in ("arguments", "metrics", "result")
}
WORDS = {
    "arguments": "what it was asked for cannot be read",
    "metrics": "its figures cannot be read",
    "result": "what came of it cannot be read",
}
LOST = "its arguments could not be read, and were emptied by a repair"
MEND = (
    f"""UPDATE job SET arguments = '{{}}', state = CASE
        WHEN state IN ('queued', 'running', 'interrupted') THEN 'failed' ELSE state END,
        error = coalesce(error, :error), finished_at = coalesce(finished_at, :at)
    WHERE id = :id AND NOT {READABLE.format(column="arguments")}""",  # noqa: S608
    *(
        f"UPDATE job SET {column} = '{{}}' "  # noqa: S608
        f"WHERE id = :id AND NOT {READABLE.format(column=column)}"
        for column in ("metrics", "result")
    ),
    """UPDATE job SET attempts = max(attempts, 0), done = max(done, 0), total = max(total, 0),
        after_id = (SELECT b.id FROM job AS b WHERE b.id = job.after_id AND b.id < job.id)
    WHERE id = :id""",
    """UPDATE job SET finished_at = :at
    WHERE id = :id AND state = 'done' AND finished_at IS NULL""",
    """UPDATE job SET model_id = NULL
    WHERE id = :id AND model_id IS NOT NULL AND (state <> 'done'
        OR NOT EXISTS (SELECT 1 FROM model AS m WHERE m.id = job.model_id))""",
    "UPDATE job SET state = 'interrupted' WHERE id = :id AND state = 'running' AND pid IS NULL",
    f"""DELETE FROM job_point
    WHERE job_id = :id AND NOT {READABLE.format(column="metrics")}""",  # noqa: S608
)
"""What is set right of a job, one after the other."""

POINTS = """
SELECT job_id, number FROM job_point
WHERE CASE WHEN json_valid(metrics) THEN json_type(metrics) ELSE '' END <> 'object'
ORDER BY job_id, number"""


def jobs(patient: Patient) -> Iterator[Fault]:
    """The rows of jobs, and of their curves; jobs that were left by their process are noted."""
    run = patient.connection.execute
    for (id_,) in run(NOBODYS):
        yield _fault("it is running, and names no process", id_)
    for id_, after in run(WAITS_FOR_EVER):
        yield _fault(f"it waits for job {after}, which was not asked for before it", id_)
    for (id_,) in run(NOT_ENDED):
        yield _fault("it is done, and does not say when", id_)
    for id_, state, model in run(MODEL_TOO_EARLY):
        yield _fault(f"it is {state}, and names model {model} as made", id_)
    for (id_,) in run(NEGATIVE):
        yield _fault("one of its numbers is below nothing", id_)
    for column, statement in UNREADABLE.items():
        for (id_,) in run(statement):
            yield _fault(WORDS[column], id_)
    yield from _points(patient)
    for id_, pid in job_queue.lost(patient.connection):
        if pid is not None:
            patient.notes.append(
                f"job {id_} was left by its process {pid}; the next runner goes on with it, as "
                f"by `nfh-tui jobs wait {id_}`"
            )


def _points(patient: Patient) -> Iterator[Fault]:
    for id_, number in patient.connection.execute(POINTS):
        where = Where("job_point", f"{id_}, {number}")
        yield Fault("a point of a curve cannot be read", where, Repair.JOBS, str(id_))


def _fault(what: str, job_id: int) -> Fault:
    return Fault(what, Where("job", job_id), Repair.JOBS, str(job_id))


def mend(connection: Connection, job_id: int) -> None:
    """Set right what a job's row says, in the transaction there is.

    It is a note about work, and no work of people: what cannot be read is emptied, and a job
    whose arguments were lost has failed, unless it had ended.
    """
    for statement in MEND:
        connection.execute(statement, {"id": job_id, "at": clock.now(), "error": LOST})
