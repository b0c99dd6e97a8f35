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

from nfh_db.jobs import Jobs, JobState
from nfh_db.store import Store
from nfh_models.model_files import digest_of, read_config
from nfh_models.training.plan import PhaseProgress
from nfh_tui.jobs.reporting import JobReporter
from nfh_tui.jobs.runner import work
from nfh_tui.jobs.training import new_job

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


def test_a_model_is_made_judged_and_registered(call: Call, filled: Make, home: Path) -> None:
    path = filled()
    found = train(call, "--recipe", "svm")
    # Twelve are kept out of learning: too few to take the place of the rules.
    assert (found["state"], found["model"], found["model_state"]) == (
        "done", "svm-1", "candidate",
    )  # fmt: skip
    metrics, verdict = found["metrics"], found["verdict"]
    assert isinstance(metrics, dict)
    assert (metrics["examples"], metrics["nfh"], metrics["folds"]) == (48, 24, 5)
    assert metrics["f1"] == 1.0
    assert isinstance(verdict, dict)
    assert (verdict["verdict"], verdict["against"], verdict["n"]) == ("candidate", "rules", 12)
    folder = home / "w-models" / "svm-1"
    assert found["folder"] == str(folder)
    with Store.open(path) as store:
        model = store.models.named("svm-1")
        assert model is not None
        assert model.path == "w-models/svm-1"
        assert model.digest == digest_of(folder)
        assert model.snapshot == found["snapshot"]
        assert model.version == read_config(folder).version
        assert model.metrics == metrics
        job_id = found["id"]
        assert isinstance(job_id, int)
        job = store.jobs.read(job_id)
        assert job is not None
        assert (job.state, job.model_id) == (JobState.DONE, model.id)
        assert job.arguments["words"] == ["features=anchor,window"]
        assert job.snapshot == model.snapshot


def test_without_wait_it_is_queued_and_nothing_else(call: Call, filled: Make) -> None:
    path = filled()
    asked = ("retrain", "identification", "-text:said-1", *WORDS_ONLY, "--no-promote")
    told = call(*asked, "--db", path)
    assert told.stdout == f"job 1 is queued; nfh-tui jobs wait 1 --db {path} follows it\n"
    found = report(call(*asked, "--json", "--db", path))
    assert found == {
        "id": 2,
        "kind": "train",
        "task": "identification",
        "recipe": "svm",
        "state": "queued",
    }
    with Store.open(path) as store:
        second, first = store.jobs.all()
        assert first.arguments == second.arguments
        assert first.arguments["query"] == "-text:said-1"
        assert first.arguments["promote"] is False
        assert store.models.named("svm-1") is None
    assert report(call("jobs", "run", "--json", "--db", path)) == {
        "run": 2,
        "left": 0,
        "foreign": 0,
    }
    waited = call("jobs", "wait", "2", "--db", path)
    assert waited.stdout.startswith("svm-2: learnt from ")
    assert report(call("jobs", "wait", "1", "--json", "--db", path))["model"] == "svm-1"


def test_a_training_comes_round_when_asked_to(call: Call, filled: Make) -> None:
    path = filled()
    asked = ("retrain", "identification", *WORDS_ONLY, "--db", path, "--every")
    told = call(*asked, "50").stdout
    assert told == "identification (svm) is retrained after every 50 decisions: 0 so far\n"
    assert told in call("jobs", "--db", path).stdout
    assert report(call(*asked, "9", "--json")) == {"task": "identification", "every": 9}
    assert call(*asked, "0").stdout == "identification: trained on demand only\n"
    assert call(*asked, "9", "--wait").exit_code == 2
    with Store.open(path) as store:
        assert store.jobs.all() == ()
        assert store.retraining.all() == ()


def test_the_same_gold_gives_the_same_model_under_the_next_name(
    call: Call, filled: Make
) -> None:
    filled()
    first, second = train(call), train(call)
    assert second["model"] == "svm-2"
    for same in ("version", "snapshot"):
        assert first[same] == second[same]
    assert train(call, "--set", "c=0.01")["version"] != first["version"]


def test_a_person_is_told_the_figures_and_what_to_do_next(call: Call, filled: Make) -> None:
    filled()
    told = call("retrain", "identification", "--db", "w.db", *WORDS_ONLY, "--wait")
    assert "learnt from 48 numbers in 48 passages, 24 of them fused heads" in told.stdout
    assert "these figures are rough" in told.stdout
    assert "In 5 folds" in told.stdout
    assert "100.0 ± 0.0" in told.stdout
    assert "\nIt is kept as a candidate: " in told.stdout
    assert "nfh-tui models activate svm-1" in told.stdout
    assert told.stderr == ""
    lines = [line for line in told.stdout.splitlines() if not line.startswith("Saved in ")]
    assert max(map(len, lines)) <= 80


def test_query_and_split_choose_what_is_learnt_from(call: Call, filled: Make) -> None:
    filled()
    found = train(call, "-text:said-1")
    assert numbers(found) == 49
    assert found["metrics"]["query"] == "-text:said-1"  # type: ignore[index]
    named = train(call, "--query", "-text:said-1", "--split", "dev")
    assert numbers(named) == 49
    assert named["metrics"]["split"] == "dev"  # type: ignore[index]


def numbers(found: dict[str, object]) -> int:
    """What was learnt from, and what was kept out to judge it."""
    metrics, verdict = found["metrics"], found["verdict"]
    assert isinstance(metrics, dict)
    assert isinstance(verdict, dict)
    return int(metrics["examples"] + verdict["n"])


def test_passages_of_a_split_to_be_tried_on_are_left_out(
    call: Call, filled: Make, home: Path
) -> None:
    filled()
    # Thirty of the sixty stand in the test file, too, with thirty more of its own.
    own = rows(30, tail="x").split("\n", 1)[1]
    (home / "test.tsv").write_text(rows(30) + own, encoding="utf-8")
    assert call("import", "test.tsv", "--db", "w.db").exit_code == 0
    found = train(call)
    assert numbers(found) == 30
    left_out = {"in a passage of the split test": 60}
    assert found["metrics"]["left_out"] == left_out  # type: ignore[index]
    beside = train(call, "--split", "dev")
    assert numbers(beside) == 30
    left_out = {"in a passage of the split test": 30}
    assert beside["metrics"]["left_out"] == left_out  # type: ignore[index]


def test_too_few_of_a_label_is_a_failed_job(call: Call, filled: Make, home: Path) -> None:
    path = filled(3)
    result = call("retrain", "identification", "--db", "w.db", "--wait", *WORDS_ONLY)
    assert result.exit_code == 1
    assert "too few labels to learn from: 1 of 2 numbers are fused heads" in result.stderr
    assert not (home / "w-models").exists()
    with Store.open(path) as store:
        assert "svm-1" not in [model.name for model in store.models.all()]
        (job,) = store.jobs.all()
        assert job.state is JobState.FAILED
        assert job.error is not None
        assert "too few labels" in job.error


def test_an_empty_database_has_nothing_to_learn_from(call: Call) -> None:
    call("init", "--db", "w.db")
    result = call("retrain", "identification", "--wait", "--db", "w.db")
    assert result.exit_code == 1
    assert "no number here has gold" in result.stderr


def test_thirty_labels_are_learnt_from(call: Call, filled: Make) -> None:
    filled(30)
    found = train(call)
    assert numbers(found) == 30
    assert found["metrics"]["folds"] == 5  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("resolution", "--recipe", "cues"), "'cues' of resolution learns nothing"),
        (("resolution", "--recipe", "small"), "'small' of resolution cannot be trained"),
        (("cooking",), "'cooking' is not a task"),
        (("identification", "--recipe", "rules"), "'rules' of identification learns nothing"),
        (("identification", "--recipe", "encoder"), "'encoder' of identification cannot"),
        (("identification", "--set", "width=3"), "'width=3' is not a setting of svm"),
        (("identification", "--set", "c=much"), "'c=much': wanted a number above 0"),
        (("identification", "class:"), "at character"),
        (("identification", "--parser", "latin"), "'latin' is not a parser: wanted spacy"),
        (("identification", "--scheduler", "tcp://a:b"), "is not an address"),
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
        assert store.jobs.all() == ()


def test_all_four_features_with_the_installed_pipeline(call: Call, filled: Make) -> None:
    filled(20)
    found = report(call("retrain", "identification", "--wait", "--json", "--db", "w.db"))
    assert isinstance(found["parser"], str)
    assert found["parser"].startswith("en_core_web")


# --- stopped ---------------------------------------------------------------------------------

ASKED = new_job("identification", "svm", words=("features=anchor,window",))


@pytest.mark.parametrize(
    "phase",
    [
        "reading",
        pytest.param("parsing", marks=pytest.mark.long),
        "fold 2",
        pytest.param("fitting", marks=pytest.mark.long),
        "saving",
    ],
)
def test_stopped_anywhere_it_leaves_no_model_and_is_done_by_the_next_runner(
    filled: Make, home: Path, phase: str
) -> None:
    def stop(reached: str, done: int, total: int) -> None:
        if reached == phase:
            raise KeyboardInterrupt

    with Store.open(filled()) as store:
        number = store.jobs.add(ASKED)
        with pytest.raises(KeyboardInterrupt):
            work(store, stop)
        job = store.jobs.read(number)
        assert job is not None
        assert (job.state, job.error) == (JobState.INTERRUPTED, "stopped")
        assert store.models.named("svm-1") is None
        assert not list(home.glob("w-models/*"))
        assert work(store, lambda *_: None) == 1
        job = store.jobs.read(number)
        assert job is not None
        assert job.state is JobState.DONE
        assert [path.name for path in home.glob("w-models/*")] == ["svm-1"]


def test_a_model_that_cannot_be_registered_is_not_left_on_the_disk(
    filled: Make, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(jobs: Jobs, *arguments: object, **more: object) -> object:
        jobs.end(1, JobState.CANCELLED, "by somebody else")
        return real(jobs, *arguments, **more)  # type: ignore[arg-type]

    real = Jobs.finish_training
    monkeypatch.setattr(Jobs, "finish_training", cancel)
    with Store.open(filled()) as store:
        store.jobs.add(ASKED)
        work(store, lambda *_: None)
        assert store.models.named("svm-1") is None
        (job,) = store.jobs.all()
        assert (job.state, job.error) == (JobState.CANCELLED, "by somebody else")
    assert not list(home.glob("w-models/*"))


def test_control_c_where_it_is_worked_here_leaves_a_job_to_go_on_with(
    filled: Make, home: Path
) -> None:
    path = filled(1_000)
    command = [sys.executable, "-m", "nfh_tui", "retrain", "identification", "--wait"]
    running = subprocess.Popen(
        [*command, *WORDS_ONLY, "--db", str(path)], stderr=subprocess.PIPE, text=True
    )
    with Store.open(path) as store:
        deadline = time.monotonic() + 300
        while (
            not [job for job in store.jobs.all() if job.phase] and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGINT)
        _, told = running.communicate(timeout=300)
        assert running.returncode == 1
        wait = f"nfh-tui jobs wait 1 --db {path}"
        assert told == f"nfh-tui: stopped. Job 1 is interrupted; {wait} continues it.\n"
        assert [job.state for job in store.jobs.all()] == [JobState.INTERRUPTED]
        assert store.models.named("svm-1") is None
    assert not list(home.glob("w-models/*"))


def test_what_a_killed_process_left_half_written_is_swept_away(
    call: Call, filled: Make, home: Path
) -> None:
    filled()
    (home / "w-models").mkdir()
    # The name tells who writes there, and that process has to be gone.
    code = "import sys; from pathlib import Path; from nfh_db.system import path_beside; "
    code += "path_beside(Path(sys.argv[1]), 'tmp').mkdir()"
    place = str(home / "w-models" / "svm-1")
    subprocess.run([sys.executable, "-c", code, place], check=True)
    assert len(list((home / "w-models").iterdir())) == 1
    train(call)
    assert [path.name for path in (home / "w-models").iterdir()] == ["svm-1"]


def test_a_jobs_row_is_written_ten_times_a_second_at_most(
    filled: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = []
    told = []
    now = 100.0
    with Store.open(filled(4)) as store:
        job_id = store.jobs.begin("identification", {})
        monkeypatch.setattr(
            store.jobs, "update", lambda _, progress, point=None: noted.append(progress)
        )
        reporter = JobReporter(store, job_id, lambda *one: told.append(one), lambda: now)
        for number in range(1_000):
            now += 0.01
            reporter.step(PhaseProgress("parsing", number, 1_000))
    assert len(told) == 1_000
    assert 90 <= len(noted) <= 101
