"""Runners that are killed, or come in numbers: nothing runs twice, and nothing is stuck."""

import random
import signal

from nfh_db.jobs import JobState

from .conftest import Queue, until

STEPS = 40


def test_killed_at_any_moment_each_job_is_done_once_and_goes_on_where_it_was(
    queue: Queue,
) -> None:
    source = random.Random(1)
    jobs = [queue.add(steps=STEPS, each=0.002) for _ in range(2)]
    kills = 0
    while True:
        before = len(queue.traced("step"))
        runner = queue.start()
        # Each has come some way: what gets nowhere five times is not tried for ever.
        far = before + source.randint(12, 30)
        until(
            lambda far=far, it=runner: len(queue.traced("step")) >= far or it.poll() is not None
        )
        if runner.poll() is not None:
            break
        runner.kill()
        runner.wait()
        kills += 1
        assert JobState.RUNNING not in queue.states()
        # None is left where it was killed after its last job had ended.
        left = queue.store.jobs.find_next({"probe": (2, 2, False)})
        assert left in jobs or set(queue.states()) == {JobState.DONE}
    assert kills >= 2
    assert queue.states() == [JobState.DONE] * 2
    for job_id in jobs:
        steps = [int(line[3]) for line in queue.traced("step") if line[0] == str(job_id)]
        # Only the step in which it was killed was made again.
        assert sorted(set(steps)) == list(range(STEPS))
        job = queue.job(job_id)
        assert len(steps) - STEPS <= job.attempts - 1
        assert (job.result, job.error) == ({"said": STEPS}, None)
        points = [point.done for point in queue.store.jobs.points(job_id)]
        assert points == sorted(set(points))


def test_five_runners_begun_at_once_run_each_job_once(queue: Queue) -> None:
    light = [queue.add(steps=3, each=0.01) for _ in range(6)]
    heavy = [queue.add(kind="heavy", steps=5, each=0.02) for _ in range(3)]
    runners = [queue.start() for _ in range(5)]
    assert [runner.wait(300) for runner in runners] == [0] * 5
    assert queue.states() == [JobState.DONE] * 9
    begun = [int(line[0]) for line in queue.traced("begin")]
    assert sorted(begun) == light + heavy
    times = sorted(
        (float(line[-1]), line[2])
        for line in queue.traced("begin", "end")
        if int(line[0]) in heavy
    )
    assert [what for _, what in times] == ["begin", "end"] * 3  # never two at a time


def test_so_many_heavy_jobs_at_a_time_as_asked_for(queue: Queue) -> None:
    for _ in range(2):
        queue.add(kind="heavy", steps=400, each=0.02)
    queue.start("--trainings", "2")
    until(lambda: queue.states() == [JobState.RUNNING, JobState.QUEUED])
    third = queue.start()
    assert third.wait(300) == 0
    assert queue.states() == [JobState.RUNNING, JobState.QUEUED]
    queue.start("--trainings", "2")
    until(lambda: queue.states() == [JobState.RUNNING, JobState.RUNNING])


def test_a_job_waits_for_another_however_that_ends(queue: Queue) -> None:
    first = queue.add("breaks")
    second = queue.add(after=first)
    last = queue.add(kind="unheard-of")
    third = queue.add(after=last)
    queue.work()
    assert [queue.job(one).state for one in (first, second)] == [
        JobState.FAILED,
        JobState.DONE,
    ]
    assert [queue.job(one).state for one in (third, last)] == [JobState.QUEUED] * 2


def test_what_ends_its_process_each_time_is_given_up_and_the_rest_goes_on(queue: Queue) -> None:
    crashes, other = queue.add("dies"), queue.add()
    assert queue.start().wait(300) == -signal.SIGKILL
    assert queue.job(crashes).state is JobState.INTERRUPTED
    queue.change("UPDATE job SET attempts = 4 WHERE kind = 'probe' AND state = 'interrupted'")
    assert queue.start().wait(300) == -signal.SIGKILL
    queue.work()
    job = queue.job(crashes)
    assert job.state is JobState.FAILED
    assert job.error is not None
    assert "ended 5 times" in job.error
    assert "“dying”" in job.error
    assert queue.job(other).state is JobState.DONE
    assert queue.store.jobs.retry(crashes)
    assert queue.job(crashes).attempts == 0


def test_asked_to_end_it_says_so_and_the_next_goes_on(queue: Queue) -> None:
    job_id = queue.add(steps=200, each=0.02)
    for _ in range(2):
        seen = len(queue.traced("step"))
        runner = queue.start()
        until(lambda seen=seen: len(queue.traced("step")) > seen)
        runner.terminate()
        assert runner.wait(300) == 1
        job = queue.job(job_id)
        assert (job.state, job.error) == (JobState.INTERRUPTED, "ended by SIGTERM")
    assert job.attempts == 0  # however often: this is no way to die without a word
    steps = [line[3] for line in queue.traced("step")]
    assert len(steps) - len(set(steps)) <= 2
