"""A job that is put back into the queue: its time, what it says it is at, and its log."""

import time

from nfh_db.jobs import JobProgress, JobState
from nfh_db.store import Store
from nfh_tui.jobs.descriptions import LOG, claimable, job_folder
from nfh_tui.jobs.runner import JobLog
from nfh_tui.jobs.training import new_job


def test_its_time_and_progress_begin_anew_and_its_attempts_are_counted_on(tmp_path) -> None:
    with Store.open(tmp_path / "a.db", create=True) as store:
        job_id = store.jobs.add(new_job("resolution", "linear"))
        first = store.jobs.claim(claimable())
        assert first is not None
        with JobLog(store, first):
            store.jobs.update(job_id, JobProgress("fitting", 3, 10))
        store.jobs.end(job_id, JobState.FAILED, "no")
        assert store.jobs.retry(job_id)
        waiting = store.jobs.read(job_id)
        assert waiting is not None and waiting.started_at is None
        time.sleep(0.01)
        again = store.jobs.claim(claimable())
        assert again is not None
        assert (again.phase, again.done, again.total) == (None, 0, None)
        assert again.started_at is not None and again.started_at > str(first.started_at)
        with JobLog(store, again):
            pass
        log = (job_folder(store.path, again) / LOG).read_text("utf-8")
        assert [line.rpartition(" ")[2] for line in log.splitlines()] == ["1", "2"]
