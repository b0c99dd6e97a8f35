"""Jobs: what their rows say of them holds together, and nothing waits for ever."""

from collections.abc import Iterator

from nfh_db import job_queue
from nfh_db.doctor.finding import Fault, Where
from nfh_db.doctor.patient import Patient

NOBODYS = """
SELECT id FROM job WHERE state = 'running' AND pid IS NULL ORDER BY id"""
WAITS_FOR_EVER = "SELECT id, after_id FROM job WHERE after_id >= id ORDER BY id"
NOT_ENDED = "SELECT id FROM job WHERE state = 'done' AND finished_at IS NULL ORDER BY id"
MODEL_TOO_EARLY = """
SELECT id, state, model_id FROM job WHERE model_id IS NOT NULL AND state <> 'done'
ORDER BY id"""
NEGATIVE = "SELECT id FROM job WHERE attempts < 0 OR done < 0 OR total < 0 ORDER BY id"
RESULTS = """
SELECT id FROM job
WHERE CASE WHEN json_valid(result) THEN json_type(result) ELSE '' END <> 'object' ORDER BY id"""
POINTS = """
SELECT job_id, number FROM job_point
WHERE CASE WHEN json_valid(metrics) THEN json_type(metrics) ELSE '' END <> 'object'
ORDER BY job_id, number"""


def jobs(patient: Patient) -> Iterator[Fault]:
    """The rows of jobs, and of their curves; jobs that were left by their process are noted."""
    run = patient.connection.execute
    for (id_,) in run(NOBODYS):
        yield Fault("it is running, and names no process", Where("job", id_))
    for id_, after in run(WAITS_FOR_EVER):
        what = f"it waits for job {after}, which was not asked for before it"
        yield Fault(what, Where("job", id_))
    for (id_,) in run(NOT_ENDED):
        yield Fault("it is done, and does not say when", Where("job", id_))
    for id_, state, model in run(MODEL_TOO_EARLY):
        yield Fault(f"it is {state}, and names model {model} as made", Where("job", id_))
    for (id_,) in run(NEGATIVE):
        yield Fault("one of its numbers is below nothing", Where("job", id_))
    for (id_,) in run(RESULTS):
        yield Fault("what came of it cannot be read", Where("job", id_))
    for id_, number in run(POINTS):
        yield Fault("a point of a curve cannot be read", Where("job_point", f"{id_}, {number}"))
    for id_, pid in job_queue.lost(patient.connection):
        if pid is not None:
            patient.notes.append(
                f"job {id_} was left by its process {pid}; the next runner goes on with it, as "
                f"by `nfh-tui jobs wait {id_}`"
            )
