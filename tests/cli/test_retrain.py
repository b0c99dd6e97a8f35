"""`nfh-tui retrain`: a job that leaves a model, or nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.errors import StoreError
from nfh_db.jobs import JobState
from nfh_db.store import Store
from nfh_models.identification.svm_settings import plan_of
from nfh_models.identification.svm_training import Step
from nfh_models.model_files import digest_of, read_config
from nfh_tui.training import JobReporter, Wanted, retrain

Call = Callable[..., Result]
Make = Callable[..., Path]

WORDS_ONLY = ("--set", "features=anchor,window")
"""Needs no parser, and so takes no second to load one."""


def rows(count: int, tail: str = "") -> str:
    """Rows of an `nfh-ident` file, every second one a fused head, none like another."""
    lines = ["text\tind_s\tind_e\ty"]
    for number in range(count):
        what = ("of", "them") if number % 2 else ("old", "chairs")
        words = ["Bring", "me", "two", *what, f"said-{number}{tail}", "."]
        lines.append(f"{'_SEP_'.join(words)}\t2\t3\t{number % 2}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def filled(call: Call, home: Path) -> Make:
    """Makes a database of so many labelled rows, by an import."""

    def make(count: int = 60, name: str = "dev.tsv", **more: str) -> Path:
        (home / name).write_text(rows(count, **more), encoding="utf-8")
        result = call("import", name, "--db", "w.db")
        assert result.exit_code == 0, result.output
        return home / "w.db"

    return make


def report(result: Result) -> dict[str, object]:
    """The one object on standard output."""
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def train(call: Call, *more: object) -> dict[str, object]:
    """The report of a training on words alone."""
    return report(
        call(
            "retrain", "identification", "--wait", "--json", "--db", "w.db", *WORDS_ONLY, *more
        )
    )


def test_a_model_is_made_registered_and_active(call: Call, filled: Make, home: Path) -> None:
    path = filled()
    found = train(call, "--recipe", "svm")
    assert (found["state"], found["model"], found["model_state"]) == ("done", "svm-1", "active")
    metrics = found["metrics"]
    assert isinstance(metrics, dict)
    assert (metrics["examples"], metrics["nfh"], metrics["folds"]) == (60, 30, 5)
    assert metrics["f1"] == 1.0
    folder = home / "w-models" / "svm-1"
    assert found["folder"] == str(folder)
    with Store.open(path) as store:
        model = store.model("svm-1")
        assert model is not None
        assert model.path == "w-models/svm-1"
        assert model.digest == digest_of(folder)
        assert model.snapshot == found["snapshot"]
        assert model.version == read_config(folder).version
        assert model.metrics == metrics
        job_id = found["id"]
        assert isinstance(job_id, int)
        job = store.job(job_id)
        assert job is not None
        assert (job.state, job.model_id) == (JobState.DONE, model.id)
        assert job.arguments["settings"]["features"] == ["anchor", "window"]  # type: ignore[index]
        assert [one.name for one in store.models()] == ["svm-1", "rules"]


def test_the_same_gold_gives_the_same_model_under_the_next_name(
    call: Call, filled: Make
) -> None:
    filled()
    first, second = train(call), train(call)
    assert second["model"] == "svm-2"
    assert second["model_state"] == "candidate"
    for same in ("version", "snapshot"):
        assert first[same] == second[same]
    assert train(call, "--set", "c=0.01")["version"] != first["version"]


def test_a_person_is_told_the_figures_and_what_to_do_next(call: Call, filled: Make) -> None:
    filled()
    asked = ("retrain", "identification", "--db", "w.db", *WORDS_ONLY)
    first = call(*asked)
    assert "learnt from 60 numbers in 60 passages, 30 of them fused heads" in first.stdout
    assert "these figures are rough" in first.stdout
    assert "In 5 folds" in first.stdout
    assert "100.0 ± 0.0" in first.stdout
    assert "active model of identification" in first.stdout
    assert first.stderr.splitlines()[-1].startswith("There is no job runner yet")
    second = call(*asked, "--wait")
    assert "nfh-tui models activate svm-2" in second.stdout
    assert "job runner" not in second.stderr
    assert max(map(len, first.stdout.splitlines()[:9])) <= 80


def test_query_and_split_choose_what_is_learnt_from(call: Call, filled: Make) -> None:
    filled()
    found = train(call, "-text:said-1")["metrics"]
    assert isinstance(found, dict)
    assert found["examples"] == 49
    assert found["query"] == "-text:said-1"
    named = train(call, "--query", "-text:said-1", "--split", "dev")["metrics"]
    assert isinstance(named, dict)
    assert (named["examples"], named["split"]) == (49, "dev")


def test_passages_of_a_split_to_be_tried_on_are_left_out(
    call: Call, filled: Make, home: Path
) -> None:
    filled()
    # Thirty of the sixty stand in the test file, too, with thirty more of its own.
    own = rows(30, tail="x").split("\n", 1)[1]
    (home / "test.tsv").write_text(rows(30) + own, encoding="utf-8")
    assert call("import", "test.tsv", "--db", "w.db").exit_code == 0
    found = train(call)["metrics"]
    assert isinstance(found, dict)
    assert found["examples"] == 30
    assert found["left_out"] == {"in a passage of the split test": 60}
    beside = train(call, "--split", "dev")["metrics"]
    assert isinstance(beside, dict)
    assert beside["examples"] == 30
    assert beside["left_out"] == {"in a passage of the split test": 30}


def test_too_few_of_a_label_is_a_failed_job(call: Call, filled: Make, home: Path) -> None:
    path = filled(3)
    result = call("retrain", "identification", "--db", "w.db", *WORDS_ONLY)
    assert result.exit_code == 1
    assert "too few labels to learn from: 1 of 3 numbers are fused heads" in result.stderr
    assert not (home / "w-models").exists()
    with Store.open(path) as store:
        assert store.models() == ()
        (job,) = store.jobs()
        assert job.state is JobState.FAILED
        assert job.error is not None
        assert "too few labels" in job.error


def test_an_empty_database_has_nothing_to_learn_from(call: Call) -> None:
    call("init", "--db", "w.db")
    result = call("retrain", "identification", "--db", "w.db")
    assert result.exit_code == 1
    assert "no number found here has gold" in result.stderr


def test_thirty_labels_are_learnt_from(call: Call, filled: Make) -> None:
    filled(30)
    found = train(call)["metrics"]
    assert isinstance(found, dict)
    assert (found["examples"], found["folds"]) == (30, 5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("resolution", "--recipe", "cues"), "'cues' of resolution learns nothing"),
        (("resolution", "--recipe", "small"), "'small' of resolution cannot be trained"),
        (("cooking",), "'cooking' is no task"),
        (("identification", "--recipe", "rules"), "'rules' of identification learns nothing"),
        (("identification", "--recipe", "encoder"), "'encoder' of identification cannot"),
        (("identification", "--set", "width=3"), "'width=3' is no setting of svm"),
        (("identification", "--set", "c=much"), "'c=much': wanted a number above 0"),
        (("identification", "class:"), "at character"),
    ],
)
def test_what_is_called_wrongly_makes_no_job(
    call: Call, filled: Make, arguments: tuple[str, ...], says: str
) -> None:
    path = filled(4)
    result = call("retrain", *arguments, "--db", "w.db")
    assert result.exit_code == 2
    assert says in result.stderr
    with Store.open(path) as store:
        assert store.jobs() == ()


def test_a_parser_that_is_none_fails_the_job(call: Call, filled: Make) -> None:
    filled(8)
    result = call("retrain", "identification", "--parser", "latin", "--db", "w.db")
    assert result.exit_code == 1
    assert "'latin' is no parser" in result.stderr


def test_all_four_features_with_the_installed_pipeline(call: Call, filled: Make) -> None:
    filled(20)
    found = report(call("retrain", "identification", "--wait", "--json", "--db", "w.db"))
    assert isinstance(found["parser"], str)
    assert found["parser"].startswith("en_core_web")


# --- stopped ---------------------------------------------------------------------------------

WANTED = Wanted(plan=plan_of(["features=anchor,window"]))


@pytest.mark.parametrize("phase", ["parsing", "fold 2", "fitting", "saving"])
def test_stopped_anywhere_it_leaves_nothing_but_a_cancelled_job(
    filled: Make, home: Path, phase: str
) -> None:
    def stop(reached: str, done: int, total: int) -> None:
        if reached == phase:
            raise KeyboardInterrupt

    with Store.open(filled()) as store:
        with pytest.raises(KeyboardInterrupt):
            retrain(store, WANTED, stop)
        assert store.models() == ()
        (job,) = store.jobs()
        assert (job.state, job.error) == (JobState.CANCELLED, "stopped")
    assert not list(home.glob("w-models/*"))


def test_a_model_that_cannot_be_registered_is_not_left_on_the_disk(
    filled: Make, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(store: Store, *arguments: object) -> None:
        store.end_job(1, JobState.CANCELLED, "by somebody else")
        return real(store, *arguments)  # type: ignore[no-any-return]

    real = Store.finish_training
    monkeypatch.setattr(Store, "finish_training", cancel)
    with Store.open(filled()) as store:
        with pytest.raises(StoreError, match="cancelled"):
            retrain(store, WANTED, lambda *_: None)
        assert store.models() == ()
        (job,) = store.jobs()
        assert job.error == "by somebody else"
    assert list((home / "w-models").iterdir()) == []


def test_control_c_is_told_in_one_word(filled: Make, home: Path) -> None:
    path = filled(4_000)
    command = [sys.executable, "-m", "nfh_tui", "retrain", "identification", "--db", str(path)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    with Store.open(path) as store:
        deadline = time.monotonic() + 60
        while not [job for job in store.jobs() if job.phase] and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGINT)
        _, told = running.communicate(timeout=60)
        assert running.returncode == 1
        assert told == "nfh-tui: stopped.\n"
        assert [job.state for job in store.jobs()] == [JobState.CANCELLED]
        assert store.models() == ()
    assert not list(home.glob("w-models/*"))


def test_what_a_killed_process_left_half_written_is_swept_away(
    call: Call, filled: Make, home: Path
) -> None:
    filled()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = home / "w-models" / f".svm-1.{ended.pid}.new"
    left.mkdir(parents=True)
    train(call)
    assert [path.name for path in (home / "w-models").iterdir()] == ["svm-1"]


def test_a_jobs_row_is_written_ten_times_a_second_at_most(
    filled: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = []
    told = []
    now = 100.0
    with Store.open(filled(4)) as store:
        job_id = store.begin_job("identification", {})
        monkeypatch.setattr(store, "note_job", lambda _, progress, point=None: noted.append(progress))
        reporter = JobReporter(store, job_id, lambda *one: told.append(one), lambda: now)
        for number in range(1_000):
            now += 0.01
            reporter.step(Step("parsing", number, 1_000))
    assert len(told) == 1_000
    assert 90 <= len(noted) <= 101
