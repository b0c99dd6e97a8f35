"""Jobs in words: one name wherever they are told, and what they are at."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from nfh_db.jobs import Job, JobNow, JobProgress, JobState
from nfh_tui.cli.doubts import checked_lines
from nfh_tui.cli.jobs import listed
from nfh_tui.jobs.descriptions import (
    CHECK,
    EVALUATE,
    IMPORT,
    PREDICT,
    TRAIN,
    job_name,
    job_title,
    short_phase,
)
from nfh_tui.jobs.reporting import JobReporter, Phase
from nfh_tui.screens.job_figures import Listed, list_lines
from nfh_tui.workbench.background import end_message, job_words

NOW = "2026-03-02T12:00:00.000Z"
JOB = Job(
    7, "resolution", "train", 2, JobState.RUNNING, {"recipe": "linear"}, "eva",
    None, 1, "1", "here", NOW, 1, "judging identification", 99, 100, {}, None, None, {}, None,
    None, "2026-03-02T11:58:00.000Z", "2026-03-02T11:58:50.000Z", None,
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "recipe", "title"),
    [
        (TRAIN, "encoder", "train encoder"),
        (TRAIN, "", "train resolution"),
        (CHECK, "linear", "doubts linear"),
        (PREDICT, "", "predict"),
        (EVALUATE, "", "evaluate"),
        (IMPORT, "", "import"),
    ],
)
def test_a_job_has_one_name(kind: str, recipe: str, title: str) -> None:
    assert job_title(kind, recipe, "resolution") == title
    job = replace(JOB, kind=kind, arguments={"recipe": recipe}, state=JobState.FAILED)
    assert job_name({}, job).startswith(title)
    assert end_message(job).startswith(f"Job 7 ({title}) failed")
    now = JobNow(7, kind, "resolution", JobState.QUEUED, recipe)
    assert job_words([now]) == f"{title} waits"


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("training, epoch 12:", "training"),
        ("judging identification", "judging"),
        ("part 2 of 5: training, epoch 1", "part 2 of 5"),
        ("saving", "saving"),
        ("", ""),
    ],
)
def test_a_phase_is_told_in_a_word_beside_others(phase: str, words: str) -> None:
    assert short_phase(phase) == words


def test_the_share_is_told_with_what_it_is_of() -> None:
    job = JobNow(1, CHECK, "resolution", JobState.RUNNING, "linear", "judging resolution", 2, 9)
    assert job_words([job]) == "doubts linear: judging 22 %"
    assert job_words([replace(job, total=0)]) == "doubts linear: judging"
    assert job_words([replace(job, phase="", total=0)]) == "doubts linear …"


def test_a_line_of_a_job_is_whole_at_eighty_columns() -> None:
    made = replace(
        JOB, state=JobState.DONE, model_id=3, result={"verdict": {"verdict": "candidate"}}
    )
    check = replace(JOB, kind="check", state=JobState.QUEUED, error="")
    lines = list(listed([JOB, made, check], {3: "encoder-12"}, None))
    assert max(map(len, lines)) <= 80
    assert "99 % judging identification " in lines[1]
    assert "encoder-12, candidate " in lines[2]
    assert " doubts linear " in lines[3]


def test_name_and_state_do_not_touch_on_the_screen() -> None:
    job = replace(JOB, state=JobState.QUEUED, kind="import", arguments={"files": ["a" * 90]})
    (line,) = [
        "".join(cell.text for cell in cells)
        for cells in list_lines(Listed((job,), (), {}, NOW), 40)
        if any("queued" in cell.text for cell in cells)
    ]
    assert " queued" in line


def test_no_phase_ends_in_a_colon() -> None:
    told: list[str] = []
    notes: list[JobProgress] = []

    class Jobs:
        def update(self, job_id: int, noted: JobProgress, *more: object) -> None:
            notes.append(noted)

    rows = SimpleNamespace(jobs=Jobs())
    report = JobReporter(rows, 1, lambda phase, *_: told.append(phase))  # type: ignore[arg-type]
    report.step(Phase("passages decided:", 3, 9))
    assert told == ["passages decided"]
    assert [one.phase for one in notes] == told


def test_doubts_of_a_model_that_agrees_with_little_are_said_to_be_its_own() -> None:
    found = {"anchors": 900, "doubted": 40, "accuracy": 0.66, "folds": 5}
    told = " ".join(" ".join(checked_lines(found, None)).split())
    assert "most of its findings are its own mistakes" in told
    right = "\n".join(checked_lines(found | {"accuracy": 0.96}, None))
    assert "its own mistakes" not in right
    none = "\n".join(checked_lines(found | {"doubted": 0}, None))
    assert "its own mistakes" not in none


def test_doubts_of_few_labels_are_said_to_be_rough() -> None:
    found = {"anchors": 299, "doubted": 3, "accuracy": 0.96, "folds": 5}
    assert "  Of 299 labels only, this is rough: models of so few know little" in list(
        checked_lines(found, None)
    )
    assert "rough" not in "\n".join(checked_lines(found | {"anchors": 300}, None))
