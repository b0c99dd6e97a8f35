"""The agreement screen, worked by its keys."""

import asyncio

import pytest

from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.screens.agreement import AgreementScreen
from nfh_tui.services.agreement import draw_audit
from nfh_tui.services.report_process import ReportError, output, report
from nfh_tui.services.reports import AgreementReport, ModelsReport
from tests.nfh_tui.screens.conftest import some, until

MEASURE = {"value": 0.585, "low": 0.508, "high": 0.656, "n": 174, "why": None}
UNDEFINED = {"value": None, "low": None, "high": None, "n": 0, "why": "Nobody marked a head."}
REPORT = {
    "alpha": MEASURE,
    "ac1": MEASURE,
    "fleiss": {"kappa": MEASURE},
    "pairs": {
        "equal": MEASURE,
        "same_kind": MEASURE,
        "nouns": {"exact": UNDEFINED, "f1": UNDEFINED},
    },
    "kinds": [{"kind": "AGE", "agreement": MEASURE}],
    "annotators": {"twos": [{"left": "ann1", "right": "ann2", "kappa": MEASURE}]},
    "caveat": None,
}


@pytest.fixture
def asked(monkeypatch) -> list[list[str]]:
    """What the command was asked for; it answers at once."""
    calls: list[list[str]] = []

    async def answer(arguments, database, kind):
        del database
        calls.append(list(arguments))
        return some(kind, REPORT)

    monkeypatch.setattr("nfh_tui.screens.agreement.report", answer)
    return calls


async def opened(desk) -> AgreementScreen:
    await desk.press("f2")
    screen = desk.app.screen
    assert isinstance(screen, AgreementScreen)
    await until(desk, lambda: screen.measured.figures is not None)
    await desk.settle()
    return screen


async def stand_on(desk, screen, name: str) -> None:
    """Go by a key to a stop of the sheet in use, from the one before it."""
    stops = screen.panes.sheet._stops
    names = [stop.name for _, _, stop in stops]
    place = names.index(name)
    screen.panes.sheet._at = max(0, place - 1)
    same_line = place > 0 and stops[place - 1][0] == stops[place][0]
    await desk.pilot.press("g" if place == 0 else "l" if same_line else "j")
    while screen.panes.sheet.stop.name != name:
        # The nearest column of that line may be a later one.
        await desk.pilot.press("h")


async def test_a_cell_opens_exactly_its_items(open_desk, corpus, asked) -> None:
    async with open_desk(path=corpus, size=(80, 24)) as desk:
        screen = await opened(desk)
        await desk.press("tab")
        assert screen.panes.pane == "pairs"
        await stand_on(desk, screen, "pair ann1\tann2")
        await desk.press("enter")
        assert screen.pair == ("ann1", "ann2") and "● ann1, ann2" in desk.text()
        await stand_on(desk, screen, "cell AGE OTHER")
        number = screen.counts.pairs["ann1", "ann2"]["AGE", "OTHER"]
        assert f"ann1: AGE, ann2: OTHER: {number} item" in screen.status_line.status.say
        await desk.press("enter")
        assert desk.state.query.text == "said:ann1/AGE said:ann2/OTHER"
        assert len(desk.state.ids) == number > 0
        await desk.press("escape")
        assert desk.state.query.text == ""


async def test_coming_back_is_where_one_stood_and_measures_nothing_anew(
    open_desk, corpus, asked
) -> None:
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await stand_on(desk, screen, "kind noun")
        await desk.press("enter")
        assert desk.state.query.text == "disagree:noun"
        screen = await opened(desk)
        assert screen.panes.sheet.stop.name == "kind noun" and len(asked) == 1
        await desk.press("escape")
        anchor = desk.state.stored_item.anchor_id
        with Store.open(corpus) as store:
            me = store.people.ensure("edith")
            store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, class_answer(Kind.AGE))
        await opened(desk)
        assert len(asked) == 2


async def test_only_the_queues_query_is_looked_at_when_asked_to(
    open_desk, corpus, asked
) -> None:
    async with open_desk(path=corpus, query="anchor:one") as desk:
        screen = await opened(desk)
        assert sum(screen.counts.votes.values()) == 174 and "everything" in desk.text()
        await desk.press("a")
        await until(desk, lambda: screen.measured.figures is not None)
        with Store.open(corpus) as store:
            found = store.queue.count(parse("anchor:one"), store.people.ensure("edith"))
        assert sum(screen.counts.votes.values()) == found
        assert asked[1][-2:] == ["--", "anchor:one"]
        await stand_on(desk, screen, "kind class")
        await desk.press("enter")
        assert desk.state.query.text == "anchor:one disagree:class"


async def test_what_audits_found_wrong_is_told_and_opened_by_strata(
    open_desk, corpus, asked
) -> None:
    async with open_desk(path=corpus, size=(80, 60)) as desk:
        await opened(desk)
        await desk.press("G")
        assert "no audit of these is" in desk.text()
    with Store.open(corpus) as store:
        otto = store.people.ensure("otto")
        draw_audit(store, parse(""), 40, 1, otto, otto)
        for ids in store.queue.ids(parse("todo:me"), otto):
            for anchor in ids:
                broken = class_answer(Kind.BROKEN)
                store.edits.commit_answer(anchor, otto, Role.ADJUDICATOR, broken)
        (drawn,) = store.audits.all()
        of = sum(item.stratum == "unanimous, REFERENCE, 3-0" for item in drawn.items)
    async with open_desk(path=corpus, size=(80, 60)) as desk:
        screen = await opened(desk)
        await desk.press("G")
        row = next(line for line in desk.text().splitlines() if "REFERENCE, 3-0" in line)
        assert f" {of}/{of} " in row and row.rstrip().endswith(" by hand")
        await stand_on(desk, screen, "stratum REFERENCE, 3-0")
        golds = next(one.golds for one in screen.strata if one.pattern == "3-0")
        await desk.press("enter")
        assert desk.state.query.text == "rule:unanimous,majority class:REFERENCE pattern:3-0"
        assert len(desk.state.ids) == golds


async def test_what_is_undefined_is_told_and_what_fails_leaves_the_counts(
    open_desk, corpus, asked, monkeypatch
) -> None:
    async with open_desk(path=corpus) as desk:
        await opened(desk)
        text = desk.text()
        assert "0.585 [0.508, 0.656]" in text and "Nobody marked a head." in text

        async def fail(arguments, database, kind):
            raise ReportError("the [b] disk is full")

        monkeypatch.setattr("nfh_tui.screens.agreement.report", fail)
        desk.screen.screens.memories.clear()
        await desk.press("escape", "f2")
        await until(desk, lambda: "the [b] disk is full" in desk.text())
        await desk.press("escape")
        assert "Not measured: the [b] disk is full" in desk.text()
        assert "answerability" in desk.text()


async def test_escape_ends_what_is_measured(open_desk, corpus, monkeypatch) -> None:
    ended: list[bool] = []

    async def forever(arguments, database, kind):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    monkeypatch.setattr("nfh_tui.screens.agreement.report", forever)
    async with open_desk(path=corpus) as desk:
        await desk.press("f2")
        await until(desk, lambda: "measuring…" in desk.text())
        await desk.press("j", "escape")
        assert desk.app.screen is desk.screen
        await until(desk, lambda: ended == [True])


async def test_names_are_text_on_this_screen(open_desk, corpus, asked) -> None:
    name = "[/b] 漢 a/b"
    with Store.open(corpus) as store:
        who = store.people.ensure(name)
        anchor = next(iter(store.queue.ids(parse("said:ann1/AGE"), who)))[0]
        store.edits.commit_answer(anchor, who, Role.ANNOTATOR, class_answer(Kind.TIME))
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await desk.press("tab")
        await stand_on(desk, screen, f"pair {name}\tann1")
        await desk.press("enter")
        await stand_on(desk, screen, "cell TIME AGE")
        assert "[/b] 漢 a/b: TIME, ann1: AGE: 1 item" in screen.status_line.status.say
        await desk.press("enter")
        assert len(desk.state.ids) == 1


async def test_a_command_answers_fails_and_ends_with_whoever_asked(corpus) -> None:
    found = await report(["models"], corpus, ModelsReport)
    assert {one.name for one in found.models} >= {"alpha", "beta"}
    with pytest.raises(ReportError, match="another report"):
        await report(["models"], corpus, AgreementReport)
    with pytest.raises(ReportError, match="99"):
        await output(["models", "show", "99"], corpus)
    task = asyncio.create_task(output(["agreement"], corpus))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
