"""The palette, the help and unknown keys of the screens beside the workbench."""

from textual.command import DiscoveryHit

from nfh_db.query import parse
from nfh_db.records import Role
from nfh_models.domain import Kind, class_answer
from nfh_tui.actions import ACTIONS
from nfh_tui.screens.dialogs import SIGN, ActionProvider
from nfh_tui.screens.evaluation_figures import INCLUSIVE, PLAIN, accuracy_of, learning_lines
from nfh_tui.services.reports import ModelSummary
from tests.nfh_tui.screens.conftest import plain, some
from tests.nfh_tui.screens.test_side import visit

LISTED = [
    {"id": 1, "name": "small", "recipe": "small", "state": "active",
     "created_at": "2026-01", "accuracy": 0.77, "accuracy_inclusive": 0.78},
    {"id": 2, "name": "linear-1", "recipe": "linear", "state": "candidate",
     "created_at": "2026-02", "accuracy": 0.554, "accuracy_inclusive": None},
]  # fmt: skip


async def told(screen) -> dict[str, tuple[str, str]]:
    found = [
        hit async for hit in ActionProvider(screen).discover() if isinstance(hit, DiscoveryHit)
    ]
    return {str(hit.text): (str(hit.display), str(hit.help)) for hit in found}


async def test_the_workbench_lists_what_other_screens_do_and_opens_them(open_desk) -> None:
    async with open_desk() as desk:
        found = await told(desk.screen)
        for action in ACTIONS:
            if action.of:
                assert "It opens the screen" in found[f"{action.title}  ({action.shown})"][1]
    async with open_desk(mode="annotate") as desk:
        shown, words = (await told(desk.screen))["All, or the query  (a)"]
        assert shown.startswith(SIGN) and "not while annotating" in words


async def test_a_screen_has_its_own_acts_first_and_does_them(open_desk) -> None:
    async with open_desk() as desk:
        screen = await visit(desk)
        names = list(await told(screen))
        assert names.index("End  (G end)") < names.index("Next item  (j)")
        await desk.press("ctrl+p")
        await desk.pilot.press(*"open")
        await desk.pilot.pause(0.3)
        await desk.pilot.press("enter")
        await desk.pilot.pause(0.3)
        assert desk.app.screen is desk.screen
        assert desk.state.query.text == "class:AGE"


async def test_help_has_the_pane_first_and_says_why_not(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("f5", "question_mark")
        text = desk.text()
        assert text.index("Open") < text.index("Edit")
        assert "not now: Press / first to search for words." in text


async def test_a_key_that_nothing_has_and_a_query_of_the_first_items_say_so(open_desk) -> None:
    async with open_desk() as desk:
        for key, name in (("X", "X"), ("f12", "F12")):
            await desk.press(key)
            assert desk.said == f"{name} does nothing here; ? shows the keys."
        screen = await visit(desk)
        await desk.press("X")
        assert screen.status_line.status.say == "X does nothing here; ? shows the keys."
        screen.meant = 9
        await desk.press("enter")
        assert desk.said == "the first 1 of 9: a query cannot name more"


def test_the_curve_takes_accuracy_where_no_inclusive_one_is_known() -> None:
    models = [some(ModelSummary, one) for one in LISTED]
    assert [accuracy_of(one) for one in models] == [
        (0.78, INCLUSIVE), (0.554, PLAIN),
    ]  # fmt: skip
    text = plain(learning_lines(models, {}, 62))
    assert "│" in text and "inclusive where the table says incl" in text
    assert "55.4 acc" in text


def test_withdrawn_decisions_say_what_gold_they_had_replaced(store, me) -> None:
    from nfh_db.bulk_plan import BulkOperation, OperationKind

    ids = [one for chunk in store.queue.ids(parse("rule:majority"), me) for one in chunk][:2]
    for anchor in ids:
        store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, class_answer(Kind.YEAR))
        store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, class_answer(Kind.TIME))
    found = store.bulk.preview(parse(""), BulkOperation(OperationKind.WITHDRAW), me)
    words = "had gold made by a rule before you decided, which is not restored"
    assert found.notes == {words: 2}
