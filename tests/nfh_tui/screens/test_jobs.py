"""The screen of jobs and models, worked by its keys."""

import asyncio
from contextlib import closing

import pytest

from nfh_db.connection import connect
from nfh_db.jobs import JobPoint, JobProgress, JobState, NewJob
from nfh_db.store import Store
from nfh_db.system import now
from nfh_tui.cli.retrain import TRAINABLE
from nfh_tui.jobs.descriptions import LOG, at_clock, claimable, job_folder
from nfh_tui.jobs.training import new_job
from nfh_tui.screens.jobs import NO, JobsScreen
from nfh_tui.screens.training_form import RECIPES
from nfh_tui.services.reports import R
from nfh_tui.widgets.figure_lines import MARK
from tests.nfh_tui.screens.conftest import some, until
from tests.nfh_tui.screens.test_agreement import stand_on
from tests.nfh_tui.workbench.test_bursts import burst

LINEAR = new_job("resolution", "linear", asked_by="eva")


@pytest.fixture(autouse=True)
def no_runner(monkeypatch) -> None:
    """Jobs stay as the tests make them."""
    monkeypatch.setenv("NFH_TUI_RUNNER", "off")


async def opened(desk) -> JobsScreen:
    await desk.press("f4")
    screen = desk.app.screen
    assert isinstance(screen, JobsScreen)
    await until(desk, lambda: screen.listed is not None and screen.subject)
    return screen


def running(store: Store, *points: JobPoint) -> int:
    """A job that this process runs, with points of its curve."""
    job_id = store.jobs.add(LINEAR)
    job = store.jobs.claim(claimable(), 9)
    assert job is not None and job.id == job_id
    for point in points:
        store.jobs.update(job_id, JobProgress("epoch 1", point.done, 100, point.metrics), point)
    return job_id


async def no_figures(arguments, database, kind: type[R]) -> R:
    """In place of a command that compares two models."""
    return some(kind, {})


async def test_without_jobs_it_says_how_to_make_one(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("f4")
        await until(desk, lambda: "There are no jobs yet" in desk.text())
        await desk.press("x")
        assert "t starts a training" in desk.app.screen.status_line.status.say


async def test_a_job_of_another_installation_is_shown_with_the_command_that_runs_it(
    open_desk, corpus, store
) -> None:
    store.jobs.add(LINEAR)
    with closing(connect(store.path, "rw")) as writer:
        writer.execute("UPDATE job SET mark = ''")
    async with open_desk(path=corpus) as desk:
        await opened(desk)
        await until(desk, lambda: "1 foreign" in desk.text())
        assert "jobs run --accept 1" in desk.words()
        await desk.press("y")
        assert store.jobs.all()[0].state is JobState.QUEUED


async def test_figures_come_by_themselves_and_the_cursor_stays(
    open_desk, corpus, store
) -> None:
    first = running(store, JobPoint(10, {"loss": 2.5}), JobPoint(20, {"loss": 2.0}))
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await until(desk, lambda: "now 2.00, lowest 2.00" in desk.text())
        assert screen.subject == f"job {first}" and "20 %" in desk.text()
        store.jobs.update(
            first, JobProgress("epoch 2", 60, 100), JobPoint(60, {"loss": 0.5, "score": 0.4})
        )
        store.jobs.add(LINEAR)
        await until(desk, lambda: "now 0.50, lowest 0.50" in desk.text())
        await until(desk, lambda: "1 running, 1 waiting" in desk.text())
        assert "score on dev" in desk.text() and MARK in desk.text()
        # The new job stands above; the cursor is where it was.
        assert screen.panes.sheet.stop.name == f"job {first}"
        store.jobs.end(first, JobState.FAILED, "no [gold] here")
        await until(desk, lambda: "no [gold] here" in desk.text())


async def test_what_has_not_changed_is_not_drawn(open_desk, corpus, store, monkeypatch) -> None:
    store.jobs.add(LINEAR)
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await until(desk, lambda: "It has not begun" in desk.text())
        # The workbench itself writes where one stands.
        await desk.screen.queue.position_writer.flush()
        await until(desk, lambda: not screen.reader._looking)
        screen.reader._tick()
        await until(desk, lambda: not screen.reader._looking)
        drawn: list[str] = []
        for name, sheet in screen.panes.sheets.items():
            monkeypatch.setattr(sheet, "show", lambda *_, name=name: drawn.append(name))
        reads = []
        monkeypatch.setattr(screen.reader, "read_now", lambda: reads.append(1))
        for _ in range(3):
            screen.reader._tick()
            await until(desk, lambda: not screen.reader._looking)
        assert (drawn, reads) == ([], [])


async def test_a_job_is_cancelled_after_one_question(open_desk, corpus, store) -> None:
    job_id = running(store)
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await desk.press("x", "escape")
        assert store.jobs.read(job_id).state is JobState.RUNNING
        await desk.press("x")
        assert f"Cancel job {job_id}, train linear?" in desk.text()
        await desk.press("enter")
        await until(desk, lambda: store.jobs.read(job_id).state is JobState.CANCELLED)
        await until(desk, lambda: "is cancelled" in screen.status_line.status.say)
        await until(desk, lambda: "cancelled" in screen.job.state)
        await desk.press("x")
        assert screen.status_line.status.say == "It has already ended."
        await desk.press("r")
        await until(desk, lambda: store.jobs.read(job_id).state is JobState.QUEUED)


async def test_keys_in_one_go_do_what_they_do_one_by_one(
    open_desk, corpus, store, monkeypatch
) -> None:
    first, second = running(store), store.jobs.add(LINEAR)
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        assert screen.subject == f"job {first}"  # the one that runs
        await desk.press("g")
        assert screen.subject == f"job {second}"
        answers, choose = [], screen.choose_from

        async def noted(*about):
            answers.append(await choose(*about))
            return answers[-1]

        monkeypatch.setattr(screen, "choose_from", noted)
        burst(desk, "x", "j", "enter")
        await until(desk, lambda: answers == [NO] and not screen.runner._acting)
        # The act is about the job that the cursor has just gone to.
        burst(desk, "j", "x", "enter")
        await until(desk, lambda: store.jobs.read(first).state is JobState.CANCELLED)
        assert store.jobs.read(second).state is JobState.QUEUED
        await until(desk, lambda: desk.app.screen is screen and not screen.runner._acting)
        # Task, recipe and what becomes of it: the third choice of each, then the others.
        burst(desk, "t", "j", "l", "l", "j", "l", "G", "h", "enter")
        await until(desk, lambda: len(store.jobs.all()) == 3)
        new = store.jobs.all()[0]
        assert (new.task, new.arguments["recipe"], new.asked_by) == (
            "resolution", "encoder", "edith",
        )  # fmt: skip
        assert new.arguments["promote"] is False
        await until(desk, lambda: screen.subject == f"job {new.id}")


async def test_a_training_is_asked_for_in_two_keys_and_again_with_the_same(
    open_desk, corpus, store
) -> None:
    async with open_desk(path=corpus, query="-class:AGE") as desk:
        screen = await opened(desk)
        await desk.press("t")
        await until(desk, lambda: "with gold" in desk.text())
        assert "nfh-tui retrain resolution --recipe encoder" in desk.text()
        await desk.press("G", "k", "l")
        assert "class:AGE" in desk.text()
        await desk.press("enter")
        await until(desk, lambda: len(store.jobs.all()) == 1)
        await desk.press("t", "enter")
        await until(desk, lambda: len(store.jobs.all()) == 2)
        one, other = store.jobs.all()
        assert one.arguments == other.arguments and one.arguments["query"] == "-class:AGE"
        await until(desk, lambda: screen.panes.sheet.stop.name == f"job {one.id}")


async def test_a_training_that_would_find_too_few_labels_is_not_queued(
    open_desk, corpus, store
) -> None:
    async with open_desk(path=corpus, query="class:AGE") as desk:
        await opened(desk)
        await desk.press("t")
        await until(desk, lambda: "with gold" in desk.text())
        await desk.press("G", "k", "l", "enter")
        await until(desk, lambda: "too few examples to learn resolution" in desk.text())
        assert "please report" not in desk.text()
        assert store.jobs.all() == ()


async def test_without_a_runner_the_job_stays_and_it_is_said(
    open_desk, corpus, store, monkeypatch
) -> None:
    async def fails():
        raise OSError("no more processes")

    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        monkeypatch.setattr(screen.client, "start_runner", fails)
        await desk.press("t", "enter")
        await until(desk, lambda: "no more processes. r tries" in desk.text())
        await until(desk, lambda: screen.subject == f"job {store.jobs.all()[0].id}")
        assert store.jobs.all()[0].state is JobState.QUEUED


async def test_the_log_is_shown_as_it_is(open_desk, corpus, store) -> None:
    job_id = running(store)
    log = job_folder(corpus, store.jobs.all()[0]) / LOG
    log.write_bytes(b"2026-03-02T11:58:00+00:00 [red]loss\x1b[31m\n\xff odd\n")
    async with open_desk(path=corpus) as desk:
        await opened(desk)
        await until(desk, lambda: "[red]loss" in desk.text())
        assert "\x1b" not in desk.text()
        with log.open("a", encoding="utf-8") as file:
            file.write("a further line\n")
        await until(desk, lambda: "a further line" in desk.text())
        with log.open("a", encoding="utf-8") as file:
            file.writelines(f"line {n}\n" for n in range(100))
        await desk.press("L")
        await until(desk, lambda: f"Log of job {job_id}" in desk.text())
        scroll = desk.app.screen._scroll
        await until(desk, lambda: 0 < scroll.scroll_offset.y == scroll.max_scroll_y)
        await desk.press("g")
        # Its times are those of the pane.
        assert at_clock("2026-03-02T11:58:00+00:00", now()) in desk.text()
        assert "T11:58" not in desk.text()


async def test_of_a_long_log_the_end_is_read_from_the_start_of_a_line(
    open_desk, corpus, store
) -> None:
    job_id = running(store)
    log = job_folder(corpus, store.jobs.all()[0]) / LOG
    log.write_text("".join(f"line {n} of many\n" for n in range(10_000)), encoding="utf-8")
    async with open_desk(path=corpus) as desk:
        found = await desk.screen.client.job_log(job_id)
        assert found is not None
        mark, lines = found
        assert lines[-1] == "line 9999 of many" and lines[0].startswith("line ")
        assert 1_000 < len(lines) < 5_000
        assert await desk.screen.client.job_log(job_id, mark) is None
        assert await desk.screen.client.job_log(77) == (None, ())


async def test_on_a_narrow_screen_enter_opens_and_escape_steps_back(
    open_desk, corpus, store
) -> None:
    store.jobs.add(LINEAR)
    async with open_desk(path=corpus, size=(80, 24)) as desk:
        screen = await opened(desk)
        assert "tab: Details" in desk.text() and "asked for" not in desk.text()
        await desk.press("enter")
        assert "asked for    eva" in desk.text() and desk.app.screen is screen
        await desk.press("escape")
        assert desk.app.screen is screen and "asked for" not in desk.text()
        await desk.press("escape")
        assert desk.app.screen is desk.screen


async def test_two_models_are_compared_and_a_group_opens_its_items(
    open_desk, corpus, monkeypatch
) -> None:
    calls = []

    async def compared(arguments, database, kind):
        calls.append(list(arguments))
        return some(kind, {"difference": 0.1, "low": 0.05, "high": 0.15})

    monkeypatch.setattr("nfh_tui.screens.jobs.report", compared)
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await stand_on(desk, screen, "model 1")
        await until(desk, lambda: screen.beside.report is not None)
        text = desk.text()
        for words in ("both right", "only alpha", "only beta", "neither", "[+5.0, +15.0]"):
            assert words in text
        assert calls[0] == ["models", "compare", "1", "2", "--as", "edith"]
        await desk.press("tab")
        await stand_on(desk, screen, "model 1 compare only")
        wanted = screen.beside.counts["only"]
        before = desk.state.visible_item.anchor_id
        await desk.press("enter")
        assert desk.state.query.text == "hit:alpha miss:beta"
        assert len(desk.state.ids) == wanted > 0
        # Wherever one went among them, escape goes back to where one came from.
        await desk.press("G", "escape")
        assert desk.state.query.text == ""
        assert desk.state.visible_item.anchor_id == before
        assert desk.state.ids[desk.state.position.index] == before
        again = await opened(desk)
        assert again.subject == "model 1" and again.panes.pane == "details"


async def test_a_model_is_put_to_use_by_the_command_that_tries_it(
    open_desk, corpus, monkeypatch
) -> None:
    calls = []

    async def said(arguments, database):
        calls.append(list(arguments))
        return "beta is now the active model\n"

    # The real one would list the models of the package, at some time.
    monkeypatch.setattr("nfh_tui.screens.jobs.report", no_figures)
    monkeypatch.setattr("nfh_tui.screens.jobs.output", said)
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await stand_on(desk, screen, "model 1")
        await desk.press("u")
        assert screen.status_line.status.say == "It is already active."
        await desk.press("j", "u")
        await until(desk, lambda: "now the active" in screen.status_line.status.say)
        await desk.press("b", "enter", "i")
        await until(desk, lambda: "Model beta" in desk.text())
        assert [call[:3] for call in calls] == [
            ["models", "activate", "2"],
            ["models", "back", "resolution"],
            ["models", "show", "2"],
        ]


async def test_keys_do_not_wait_for_a_command(open_desk, corpus, monkeypatch) -> None:
    may_end = asyncio.Event()

    async def said(arguments, database):
        await may_end.wait()
        return "beta is now the active model\n"

    monkeypatch.setattr("nfh_tui.screens.jobs.report", no_figures)
    monkeypatch.setattr("nfh_tui.screens.jobs.output", said)
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await stand_on(desk, screen, "model 2")
        await desk.press("b", "enter")
        await until(desk, lambda: screen.status_line.status.busy == "going back…")
        await desk.press("k")
        assert screen.subject == "model 1"
        await desk.press("b", "enter")
        assert screen.status_line.status.say == "Wait a moment: going back is still running."
        may_end.set()
        await until(desk, lambda: "now the active" in screen.status_line.status.say)
        assert screen.status_line.status.busy == ""
        await desk.press("j")
        assert "now the active" not in screen.status_line.status.say


async def test_a_job_of_a_later_version_is_listed_and_why_models_are_not_compared(
    open_desk, corpus, store
) -> None:
    store.jobs.add(NewJob("dream [b]", 9, "", {"of": "sheep"}))
    store.models.ensure("svm-1", "identification", "svm", "1")
    store.models.ensure("linear-9", "resolution", "linear", "1")
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        assert "dream [b]" in desk.text()
        await stand_on(desk, screen, "model 1")
        await desk.press("c")
        text = desk.text()
        assert "svm-1  says only whether a number is an NFH" in text
        assert "linear-9  has answered no item yet" in text
        await desk.press("escape")
        assert desk.app.screen is screen


async def test_a_runner_is_started_and_what_it_says_comes_back(
    open_desk, corpus, store, monkeypatch, tmp_path
) -> None:
    """A real one; the job fails at once, since its recipe wants vectors."""
    monkeypatch.delenv("NFH_TUI_RUNNER")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    job_id = store.jobs.add(new_job("resolution", "bilstm"))
    store.jobs.end(job_id, JobState.CANCELLED)
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await desk.press("r")
        assert "in the queue again" in screen.status_line.status.say
        for _ in range(120):  # Starting takes its time on a busy machine.
            if store.jobs.read(job_id).state is JobState.FAILED:
                break
            await asyncio.sleep(0.05)
        await until(desk, lambda: "word vectors" in desk.text())
        await until(desk, lambda: "attempt 1" in desk.text())


def test_the_form_offers_what_the_command_takes() -> None:
    assert {task: set(one) for task, one in RECIPES.items()} == {
        task: set(one) for task, one in TRAINABLE.items()
    }
