"""Curves, the list of jobs and models, and one of them in full, as lines."""

from dataclasses import replace

from nfh_db.jobs import Job, JobPoint, JobState
from nfh_db.models import Model
from nfh_tui.display_text import width_of
from nfh_tui.jobs.descriptions import read_summary, span_between, state_words
from nfh_tui.screens.job_figures import (
    RECENT,
    JobView,
    Listed,
    ModelComparisonRow,
    job_lines,
    list_lines,
    log_parts,
    model_lines,
)
from nfh_tui.services.reports import ModelComparisonReport
from nfh_tui.widgets.figure_lines import MARK, curve_lines, curve_of, stops
from tests.nfh_tui.screens.conftest import plain, some

NOW = "2026-03-02T12:00:00.000Z"

JOB = Job(
    7, "resolution", "train", 2, JobState.RUNNING, {"recipe": "linear", "words": []}, "eva",
    None, 1, "1", "here", NOW, 1, "epoch 2", 30, 120, {}, None, None, {}, None, None,
    "2026-03-02T11:58:00.000Z", "2026-03-02T11:58:50.000Z", None,
)  # fmt: skip
MODEL = Model(
    3, "small-2", "both", "small", "1", "candidate", "small-2", "d", {"base": "small"},
    {"accuracy_inclusive": 0.75, "f1": 0.9, "dev_examples": 40, "examples": 300}, "s", NOW,
)  # fmt: skip


def curve(points, width=40, **about):
    return plain(curve_lines(curve_of("loss", points, **about), "k", width)).splitlines()


def test_a_curve_has_its_highest_and_lowest_figure_at_the_axis_and_fits() -> None:
    points = [(n, 3.0 - n / 50) for n in range(101)]
    head, *rows, axis, steps = curve(points, lower=True)
    assert "now 1.00, lowest 1.00" in head
    assert "3.00 │" in rows[0] and "1.00 │" in rows[-1]
    assert "└─" in axis and steps.split() == ["0", "100", "steps"]
    assert all(width_of(line) <= 40 for line in (head, *rows, axis, steps))
    # It falls: the first row's dots stand left of the last one's.
    left_of = [line.split("│")[1].rstrip() for line in rows]
    assert len(left_of[0]) < len(left_of[-1])
    assert [len(line) for line in left_of] == sorted(len(line) for line in left_of)


def test_few_points_are_marked_and_one_alone_is_seen() -> None:
    text = "\n".join(curve([(1, 0.5), (2, 0.75), (3, 0.7)], percent=True))
    assert text.count(MARK) == 3
    assert "now 70.0 %, best 75.0 %" in text and "50.0 │" in text
    assert "\n".join(curve([(4, 2.0)])).count(MARK) == 1
    assert curve([]) == []
    assert "nan" not in "\n".join(curve([(1, float("nan")), (2, 1.0)]))


def test_while_a_job_runs_the_axis_reaches_to_its_end() -> None:
    *_, steps = curve([(0, 1.0), (10, 0.5)], whole=200.0)
    assert steps.split() == ["0", "200", "steps"]
    drawn = [line.split("│")[1].rstrip() for line in curve([(0, 1.0), (10, 0.5)], whole=200.0)
             if "│" in line]  # fmt: skip
    assert max(map(len, drawn)) < 6


def test_the_list_shows_what_is_to_do_and_the_newest_that_ended() -> None:
    ended = [replace(JOB, id=n, state=JobState.DONE, finished_at=NOW) for n in range(40, 0, -1)]
    waiting = replace(JOB, id=5, state=JobState.QUEUED, started_at=None)
    jobs = [job if job.id != 5 else waiting for job in ended]
    lines = list_lines(Listed(jobs, (MODEL,), {}, NOW), 52)
    names = [stop.name for _, _, stop in stops(lines)]
    assert names == [f"job {n}" for n in range(40, 40 - RECENT, -1)] + [
        "job 5", "older", "model 3",
    ]  # fmt: skip
    assert f"{40 - RECENT - 1} older" in plain(lines)
    every = [s.name for _, _, s in stops(list_lines(Listed(jobs, (), {}, NOW, True), 52))]
    assert every[-1] == "older" and len(every) == 41
    assert all(width_of(line) <= 52 for line in plain(lines).splitlines())


def test_a_job_says_how_far_it_is_and_how_long_it_took() -> None:
    assert state_words(JOB) == " 25 % epoch 2"
    text = plain(list_lines(Listed((JOB,), (), {}, NOW), 60))
    assert "train linear" in text and "1:10" in text and "25 % epoch 2" in text
    # A clock that was set back.
    assert span_between(NOW, "2026-03-02T11:00:00.000Z") == "0:00"
    assert span_between("odd", NOW) == ""


def test_a_job_in_full_has_curves_facts_and_the_end_of_its_log() -> None:
    points = [JobPoint(n, {"loss": 1 / n, "score": 0.5 + (n // 10) / 100})
              for n in range(1, 31)]  # fmt: skip
    log = [f"2026-03-02T11:58:{n:02}+00:00 line {n}" for n in range(50)]
    listed = Listed((JOB,), (), {}, NOW)
    text = plain(job_lines(JOB, JobView(points, log), listed, 62, 36))
    for words in ("Job 7: train linear", "running · 1:10", "30 of 120", "eva", "loss",
                  "score on dev", "line 49"):  # fmt: skip
        assert words in text
    assert "line 3 " not in text
    # A score that is repeated at each step is one judgement.
    assert text.count(MARK) == 4
    # One that came to the same is a judgement too: it stands without a loss.
    again = [JobPoint(n, {"score": 0.5}) for n in (10, 20, 30)]
    text = plain(job_lines(JOB, JobView(again, log), listed, 62, 36))
    assert text.count(MARK) == 3
    failed = replace(JOB, state=JobState.FAILED, error="no gold", finished_at=NOW)
    text = plain(job_lines(failed, JobView((), ()), listed, 62, 36))
    assert "no gold" in text and "r puts it" in text and "It has no log" in text
    never = replace(JOB, state=JobState.CANCELLED, started_at=None, finished_at=NOW)
    text = plain(job_lines(never, JobView((), ()), listed, 62, 36))
    assert "It never began, so it has no log." in text and "the command that made" not in text


def test_a_training_that_is_done_says_what_became_of_it_and_few_items_stand_with_figures():
    made = {"model": "linear-3", "verdict": {"verdict": "rejected", "reason": "worse"}}
    done = replace(JOB, state=JobState.DONE, finished_at=NOW, result=made)
    assert state_words(done) == "linear-3: rejected"
    assert state_words(replace(done, result={})) == "done"
    few = replace(MODEL, metrics={"accuracy_inclusive": 0.75, "dev_examples": 12})
    lines = plain(list_lines(Listed((done,), (few,), {}, NOW), 52))
    assert "linear-3: rejected" in lines and "75.0 n=12" in lines
    assert "incl" in plain(list_lines(Listed((), (MODEL,), {}, NOW), 52))
    # Names as long as their column do not touch the next one.
    long = plain(list_lines(Listed((), (replace(MODEL, name="x" * 60),), {}, NOW), 52))
    assert "… heads" in long or "… both" in long


def test_gold_that_saw_a_model_is_told_once_and_what_is_not_predicted_with_its_number():
    reason = "4 of them have gold that was decided with a model's answer in view."
    judged = replace(MODEL, verdict={"verdict": "candidate", "reason": reason, "saw_model": 4})
    listed = Listed((), (judged,), {}, NOW)
    counts = {"both": 60, "only": 25, "other": 5, "neither": 10}
    said = some(ModelComparisonReport, {"low": 0.1, "high": 0.3, "missing": [0, 7]})
    beside = ModelComparisonRow("small", "", counts, report=said)
    text = " ".join(plain(model_lines(judged, beside, listed, 62)).split())
    assert text.count("answer in view") == 1
    assert "small has not answered 7 items with gold" in text and "small-2 has" not in text


def test_a_model_in_full_has_figures_verdict_and_what_stands_beside() -> None:
    judged = replace(
        MODEL, verdict={"verdict": "promoted", "reason": "75.0 against 70.0", "saw_model": 4}
    )
    counts = {"both": 60, "only": 25, "other": 5, "neither": 10}
    said = some(ModelComparisonReport, {"low": 0.11, "high": 0.29})
    beside = ModelComparisonRow("small", "", counts, report=said)
    lines = model_lines(judged, beside, Listed((), (judged,), {}, NOW), 62)
    text = plain(lines)
    for words in ("small-2", "candidate", "300 examples", "promoted", "75.0 against 70.0",
                  "on 40 items", "only small-2", "25.0", "[+11.0, +29.0]"):  # fmt: skip
        assert words in text
    assert "may be chance" not in text
    queries = [stop.find for _, _, stop in stops(lines) if stop.find]
    assert queries == [
        "hit:small-2 hit:small", "hit:small-2 miss:small",
        "miss:small-2 hit:small", "miss:small-2 miss:small",
    ]  # fmt: skip
    said = some(ModelComparisonReport, {"low": -0.01, "high": 0.2})
    unsure = replace(beside, report=said)
    assert "may be chance" in plain(model_lines(MODEL, unsure, Listed((), (), {}, NOW), 62))


def test_what_the_command_says_of_two_models_stands_beside_the_counts() -> None:
    counts = {"both": 60, "only": 25, "other": 5, "neither": 10}
    apart = {"n": 23, "figures": [{"difference": -0.5, "low": None, "high": None}]}
    known = {"low": 0.1, "high": 0.3, "learnt": [95, 0], "unseen": apart}
    said = some(ModelComparisonReport, known)
    beside = ModelComparisonRow("small", "", counts, report=said)
    text = plain(model_lines(MODEL, beside, Listed((), (), {}, NOW), 62))
    assert "[+10.0, +30.0]" in text and "−50.0  no interval" in text
    assert "small-2 has seen the passages of 95" in text and "small has seen" not in text
    bare = ModelComparisonRow("small", "", counts, report=some(ModelComparisonReport, {}))
    text = plain(model_lines(MODEL, bare, Listed((), (), {}, NOW), 62))
    assert "no interval" in text and "has seen the passages" not in text


def test_a_model_of_both_tasks_says_in_which_it_gave_way() -> None:
    whole = replace(MODEL, state="active")
    heads = replace(MODEL, id=9, name="linear-1", task="resolution", state="active")
    listed = Listed((), (whole, heads), {}, NOW)
    assert "in use for identification alone" in plain(
        model_lines(whole, ModelComparisonRow(), listed, 62)
    )
    assert "alone" not in plain(model_lines(heads, ModelComparisonRow(), listed, 62))


def test_odd_rows_are_shown_as_they_are() -> None:
    odd = replace(
        JOB, kind="dream\x1b[31m", arguments={}, task="", phase="[red]x", total=-3, error="[b]",
        state=JobState.INTERRUPTED,
    )  # fmt: skip
    listed = Listed((odd,), (replace(MODEL, name="a\x07b", metrics={"f1": "x"}),), {}, NOW)
    text = plain([*list_lines(listed, 52), *job_lines(odd, JobView(), listed, 52, 30)])
    assert "\x1b" not in text and "\x07" not in text and "[b]" in text
    assert (
        read_summary("{")
        == read_summary(7)
        == read_summary({"verdict": 3})
        == read_summary(None)
    )
    assert log_parts("no time at all", NOW) == ("", "no time at all")
