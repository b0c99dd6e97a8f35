"""Jobs whose rows say what nobody asked for: told before anything is done."""

from typing import Any

import pytest

from nfh_db.jobs import Job, JobState, NewJob
from nfh_db.store import Store
from nfh_tui.jobs import doubts, runner, tasks, training
from nfh_tui.jobs.runner import ArgumentsError, check_arguments


@pytest.fixture
def store(tmp_path: Any) -> Any:
    with Store.open(tmp_path / "a.db", create=True) as opened:
        yield opened


def queued(store: Store, new: NewJob) -> Job:
    found = store.jobs.read(store.jobs.add(new))
    assert found is not None
    return found


def test_what_commands_ask_for_is_of_the_form(store: Store) -> None:
    for new in (
        training.new_job("both", "encoder", words=("epochs=1",), split="dev"),
        tasks.evaluation_asked("resolution", ("small",), more={"errors": 3, "oracle": True}),
        tasks.prediction_asked("state:open", model="small"),
        doubts.new_doubts_job(),
        tasks.import_asked([store.path]),
    ):
        check_arguments(queued(store, new))


@pytest.mark.parametrize(
    ("kind", "task", "given", "words"),
    [
        ("evaluate", "", {}, "lack “task”"),
        ("evaluate", "", {"task": "job"}, "'job' is not a task"),
        ("evaluate", "", {"task": "resolution", "errors": True}, "“errors” is True"),
        ("train", "nothing", {"recipe": "linear"}, "'nothing' is not a task"),
        ("train", "resolution", {"recipe": "linear", "words": "a=b"}, "“words” is 'a=b'"),
        ("predict", "resolution", {}, "lack “query”"),
        ("predict", "resolution", {"query": "", "force": 1}, "“force” is 1, wanted true"),
        ("check", "resolution", {"recipe": 7}, "“recipe” is 7, wanted a text"),
        ("import", "", {"files": [1]}, r"“files” is \[1\], wanted texts"),
    ],
)
def test_other_arguments_are_a_sentence(
    store: Store, kind: str, task: str, given: dict[str, object], words: str
) -> None:
    with pytest.raises(ArgumentsError, match=words):
        check_arguments(queued(store, NewJob(kind, 2, task, given)))


def test_what_cannot_be_read_fails_and_the_rest_goes_on(store: Store) -> None:
    damaged = queued(store, tasks.prediction_asked("")).id
    with store.connections.durable_write() as connection:
        connection.execute("UPDATE job SET arguments = '{' WHERE id = 1")
    shown = store.jobs.read(damaged)
    assert shown is not None
    assert store.jobs.accept(shown)  # What was edited by hand counts as foreign until then.
    other = queued(store, NewJob("evaluate", 2, "", {})).id
    assert runner.work(store, lambda *_: None) == 2
    for job_id, words in ((damaged, "its arguments cannot be read"), (other, "“task”")):
        job = store.jobs.read(job_id)
        assert job is not None
        assert job.state is JobState.FAILED
        assert job.error is not None
        assert words in job.error
        assert "error in the program" not in job.error
