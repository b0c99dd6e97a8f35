"""The evaluation screen, worked by its keys."""

from pathlib import Path

import pytest

from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.sample import corpus_path
from nfh_tui.screens.evaluation import EvaluationScreen
from nfh_tui.workbench.completion import completed
from tests.nfh_tui.screens.conftest import some, until
from tests.nfh_tui.screens.test_agreement import stand_on

MODELS = [
    {"id": 1, "name": "alpha", "recipe": "r", "state": "active",
     "created_at": "2026-03-01T10:00", "accuracy_inclusive": 0.7, "f1": None},
    {"id": 2, "name": "beta", "recipe": "r", "state": "candidate",
     "created_at": "2026-04-01T10:00", "accuracy_inclusive": 0.75, "f1": None},
]  # fmt: skip


@pytest.fixture(autouse=True)
def commands(monkeypatch) -> None:
    """Commands that answer at once."""

    async def listed(arguments, database, kind):
        del database
        assert list(arguments) == ["models"]
        return some(kind, {"models": MODELS})

    async def printed(arguments, database):
        del database
        return f"the card of {arguments[-1]} [red]"

    monkeypatch.setattr("nfh_tui.screens.evaluation.report", listed)
    monkeypatch.setattr("nfh_tui.screens.evaluation.output", printed)


async def opened(desk) -> EvaluationScreen:
    await desk.press("f3")
    screen = desk.app.screen
    assert isinstance(screen, EvaluationScreen), desk.text()
    await until(desk, lambda: screen.found is not None and screen.models is not None)
    await desk.settle()
    return screen


async def choose(desk, screen, side: str, words: str) -> None:
    """Choose a side by its words in the list."""
    await stand_on(desk, screen, f"choose {side}")
    await desk.press("enter")
    dialog = desk.app.screen
    place = next(
        n for n, option in enumerate(dialog._options) if words in option[0] + option[1]
    )
    await desk.press("home", *["j"] * place, "enter")


async def test_a_cell_of_model_and_gold_opens_exactly_its_items(open_desk, corpus) -> None:
    async with open_desk(path=corpus, size=(80, 24)) as desk:
        screen = await opened(desk)
        assert (
            "alpha" in desk.text() and "inclusive" in desk.text() and "nearest" in desk.text()
        )
        await desk.press("tab")
        await stand_on(desk, screen, "cell REFERENCE REF-WRONG")
        number = screen.found.counts["REFERENCE", "REF-WRONG"]
        await desk.press("enter")
        query = "predicted:alpha/REFERENCE class:REFERENCE model!=gold"
        assert desk.state.query.text == query
        assert len(desk.state.ids) == number > 0


async def test_two_models_and_a_person_are_compared(open_desk, corpus) -> None:
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await choose(desk, screen, "right", "beta")
        await until(desk, lambda: screen.found is not None)
        assert "alpha against beta" in desk.text() and "same choice" in desk.text()
        await choose(desk, screen, "left", "ann2")
        await until(desk, lambda: screen.found is not None)
        assert "ann2 against gold" in desk.text() and "whole answer" in desk.text()
        await stand_on(desk, screen, "class REFERENCE")
        await desk.press("enter")
        assert desk.state.query.text == "class:REFERENCE wrong:ann2"
        assert len(desk.state.ids) > 0
        again = await opened(desk)
        assert (
            again.sides.left.name == "ann2" and again.panes.sheet.stop.name == "class REFERENCE"
        )


async def test_gold_is_compared_with_an_earlier_export(open_desk, corpus) -> None:
    with Store.open(corpus) as store:
        me = store.people.ensure("edith")
        anchor = next(iter(store.queue.ids(parse("class:AGE"), me)))[0]
        store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, class_answer(Kind.TIME))
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await choose(desk, screen, "right", "earlier export")
        await until(desk, lambda: screen.bar.is_open)
        screen.bar._input.value = str(corpus_path())
        await desk.pilot.press("enter")
        await until(desk, lambda: screen.found is not None)
        assert "174 rows in the file" in desk.text()
        await stand_on(desk, screen, "change class")
        await desk.press("enter")
        assert desk.state.query.text == f"id:{anchor}"


async def test_a_path_is_typed_and_a_bad_file_is_told(
    open_desk, corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q[b].jsonl").write_text("{}\n", encoding="utf-8")
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await choose(desk, screen, "right", "earlier export")
        await until(desk, lambda: screen.bar.is_open)
        screen.bar._input.value = "./"
        screen.bar._input.cursor_position = len(screen.bar.text)
        await desk.pilot.press("q", "tab", "enter")
        await until(desk, lambda: "line 1" in desk.text())
        assert desk.app.screen is screen and screen.bar.is_open, "the line stays, with the text"
        assert screen.bar.text == "./q[b].jsonl" and "line 1" in screen.bar.note
        await desk.pilot.press("x")
        assert not screen.bar.note and "line 1" not in screen.status_line.status.say
        await desk.pilot.press("enter")
        await until(desk, lambda: bool(screen.bar.note))
        assert screen.bar.is_open and screen.bar.text.endswith("jsonlx")
        await desk.press("escape")
        await until(desk, lambda: screen.found is not None)
        assert "alpha against gold" in desk.text() and not screen.bar.is_open


async def test_the_curve_and_a_card(open_desk, corpus) -> None:
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await desk.press("tab", "G")
        assert screen.panes.sheet.stop.name == "model 2" and "75.0" in desk.text()
        await desk.press("enter")
        await until(desk, lambda: "the card of 2 [red]" in desk.text())
        await desk.press("escape", "escape")
        assert desk.app.screen is desk.screen


async def test_without_predictions_people_are_compared_and_without_them_it_is_said(
    open_desk, database
) -> None:
    async with open_desk() as desk:
        screen = await opened(desk)
        assert screen.sides.left.what == "person"
    with Store.open(database) as store:
        for name in ("ann1", "ann2", "ann3"):
            who = store.people.ensure(name)
            for anchor in next(iter(store.queue.ids(parse(f"by:{name}"), who)), ()):
                store.edits.withdraw(anchor, who, Role.ANNOTATOR)
    async with open_desk() as desk:
        await desk.press("f3")
        await until(desk, lambda: "No model has answered" in desk.text())


def test_paths_are_completed_as_far_as_they_agree(tmp_path: Path) -> None:
    (tmp_path / "gold-one.jsonl").touch()
    (tmp_path / "gold-two.jsonl").touch()
    (tmp_path / "other").mkdir()
    base = f"{tmp_path}/"
    assert completed(base + "g", len(base) + 1) == (base + "gold-", len(base) + 5)
    assert completed(base + "o", len(base) + 1) == (base + "other/", len(base) + 6)
    assert completed(base + "x", len(base) + 1) is None
    assert completed(f"{base}none/x", len(base) + 6) is None
