"""Views and orders, by their keys."""

from pathlib import Path

from nfh_db.query import Completion
from nfh_db.query.parser import sorts_in, with_sort
from nfh_db.store import Store
from nfh_tui.actions import Mode
from nfh_tui.workbench.completion import built_in, fit_offers, views


def saved(path: Path) -> dict[str, str]:
    with Store.open(path) as store:
        return dict(store.workspace.views(store.people.ensure("edith")))


async def test_a_new_person_finds_views_with_counts(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("at")
        shown = desk.text()
        assert "to decide" in shown
        assert "model against gold" in shown
        lines = [line for line in shown.split("\n") if "flagged guideline" in line]
        assert " 0 " in lines[0]
        await desk.press("enter")
        assert desk.state.query.text == "-state:decided sort:disagree"


async def test_a_view_is_saved_renamed_and_deleted_after_a_question(
    open_desk, database: Path
) -> None:
    async with open_desk(query="state:open") as desk:
        desk.screen.action_act("view.save")
        await desk.settle()
        await desk.press(*"mine", "enter")
        assert saved(database) == {"mine": "state:open"}
        await desk.press("at", "r")
        await desk.press("backspace", "s", "enter")
        assert saved(database) == {"mins": "state:open"}
        # The list is there again.
        await desk.press("x", "n")
        assert "mins" in saved(database)
        await desk.press("x", "y")
        assert saved(database) == {}
        await desk.press("x")
        assert "is built in" in desk.text()
        await desk.press("escape")


async def test_a_view_of_that_name_is_not_lost(open_desk, database: Path) -> None:
    with Store.open(database) as store:
        store.workspace.save_view(store.people.ensure("edith"), "a", "class:AGE")
    async with open_desk(query="state:open") as desk:
        desk.screen.action_act("view.save")
        await desk.settle()
        await desk.press("enter", "a", "enter", "n")
        assert desk.screen.bar.is_open and desk.screen.bar.text == "a", "the name stays"
        assert saved(database) == {"a": "class:AGE"}
        await desk.press("b", "enter")
        assert saved(database) == {"a": "class:AGE", "ab": "state:open"}
        desk.screen.action_act("view.save")
        await desk.settle()
        await desk.press("a", "enter", "y")
        assert saved(database) == {"a": "state:open", "ab": "state:open"}


async def test_an_order_is_chosen_turned_round_and_shuffled(open_desk) -> None:
    async with open_desk(query="text:one sort:votes") as desk:
        await desk.press("S", "enter")
        assert desk.state.query.text == "text:one -sort:votes"
        await desk.press("S", "j", "j", "enter")
        assert desk.state.query.text == "text:one sort:random"
        await desk.press("S", "enter")
        assert desk.state.query.text == "text:one sort:random/1"
        await desk.press("S", "home", "enter")
        assert desk.state.query.text == "text:one"


async def test_a_view_by_its_name_and_what_an_offer_means_in_the_query_line(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("colon", "ctrl+u", *"@disagree", "enter")
        assert desk.state.query.text == "state:disagree sort:disagree"
        await desk.press("colon", "ctrl+u", *"pre")
        assert "predicted:" in desk.text()
        assert "what the active resolution model chose" in desk.text()
        await desk.press("tab")
        assert desk.screen.bar.text == "predicted:"
        await desk.press("escape")


def test_an_annotator_s_views_say_nothing_of_others() -> None:
    for view in built_in(Mode.ANNOTATE, "ann 2"):
        assert not {"disagree", "model", "class:", "rule:"} & set(view.query.split(":"))
    assert [v.query for v in built_in(Mode.ANNOTATE, "ann 2")][1] == '-by:"ann 2"'


def test_one_s_own_view_stands_for_one_of_its_name() -> None:
    every = views([("disagree", "x")], Mode.ADJUDICATE, "me")
    assert [v.query for v in every if v.name == "disagree"] == ["x"]


def test_a_meaning_gives_way_where_there_is_no_room() -> None:
    offers = (Completion("state:", "state:", "the state of the anchor"), Completion("x", "x"))
    assert fit_offers(offers, 60) == (("state:", "the state of the anchor"), ("x", ""))
    assert fit_offers(offers, 30)[0] == ("state:", "the state of the a…")
    assert fit_offers(offers, 20)[0] == ("state:", "")


def test_orders_are_replaced_in_the_text() -> None:
    assert sorts_in('a "sort:x" -sort:votes SORT:anchor') == ("-sort:votes", "SORT:anchor")
    assert (
        with_sort('a "sort:x" -sort:votes b', "sort:random/3") == 'a "sort:x" b sort:random/3'
    )
    assert with_sort("sort:votes", "") == ""
