"""Annotate mode: no query, order, view or rule tells what others answered or a model says."""

from pathlib import Path

import pytest

from nfh_db.query import parse
from nfh_db.records import Exposure, QueuePosition, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from tests.nfh_tui.guidelines.conftest import TEXT

AGE = class_answer(Kind.AGE)


@pytest.fixture
def tagged(database: Path) -> Path:
    """Two items that others tagged with R5, and a saved view of edith's that asks for gold."""
    with Store.open(database) as store:
        store.guidelines.add_first(TEXT)
        eva, edith = store.people.ensure("eva"), store.people.ensure("edith")
        anchors = next(store.queue.ids(parse(""), eva))
        for anchor in anchors[:2]:
            store.edits.commit_answer(anchor, eva, Role.ANNOTATOR, AGE, Exposure(rule_tag="R5"))
        store.workspace.save_view(edith, "ages", "class:AGE")
        store.workspace.save_position(edith, "annotate", QueuePosition("class:AGE", anchors[2]))
    return database


async def test_orders_views_and_queries_about_others_tell_nothing(open_desk, tagged) -> None:
    async with open_desk(mode="annotate", query="text:one") as desk:
        await desk.press("S")
        shown = desk.text()
        assert "random" in shown
        assert not [name for name in ("disagree", "uncertain", "conflict") if name in shown]
        await desk.press("escape", "at")
        line = next(line for line in desk.text().split("\n") if "ages" in line)
        assert "?" in line
        await desk.press("enter")
        assert "class: shows" in desk.said
        assert desk.state.query.text == "text:one"
        for text in ("class:AGE", "said:ann1/AGE", "heads>1"):
            await desk.press("colon")
            await desk.pilot.press("ctrl+u", *text)
            for _ in range(200):
                await desk.settle()
                if desk.screen.bar.note.startswith(text[:4]):
                    break
            assert {"shows", "about"} & set(desk.screen.bar.note.split())
            assert " item" not in desk.screen.bar.note
            await desk.press("enter")
            assert {"shows", "about"} & set(desk.said.split())
            assert desk.state.query.text == "text:one"
        await desk.press("colon", "ctrl+u", *"state:open", "enter")
        assert len(desk.state.ids) == 6
        await desk.press("colon", "ctrl+u", *"by:")
        assert [label for label, _ in desk.screen.key_line.foot.keys] == ["me"]
        await desk.press("escape")


# Each on a file of its own: whoever stays a while is noted at what is shown instead.
@pytest.mark.parametrize("query", ["class:AGE", None])
async def test_neither_the_first_query_nor_a_place_tells(
    open_desk, tagged, query: str | None
) -> None:
    async with open_desk(mode="annotate", query=query) as desk:
        assert "class: shows" in desk.said
        assert (desk.state.query.text, len(desk.state.ids)) == ("", 6)


async def test_a_query_is_left_when_the_mode_is(open_desk, tagged) -> None:
    async with open_desk(mode="browse", query="class:AGE") as desk:
        assert len(desk.state.ids) == 1
        await desk.press("M")
        assert "Everything is shown instead" in desk.said
        assert (desk.state.query.text, len(desk.state.ids)) == ("", 6)
        await desk.press("escape")
        assert desk.state.query.text == ""
    async with open_desk(mode="annotate", query="state:open") as desk:
        assert len(desk.state.ids) == 6
        await desk.press("M")
        # Another role, in which the same words say something else.
        assert (desk.state.query.text, len(desk.state.ids)) == ("state:open", 2)


async def test_the_guidelines_count_only_what_is_ones_own(open_desk, tagged, read) -> None:
    third = read(2).anchor_id
    async with open_desk(mode="annotate", query="text:one") as desk:

        async def at_the_rule() -> None:
            await desk.press("f5")
            for _ in range(200):
                await desk.settle()
                if getattr(desk.app.screen, "shown", None) is not None:
                    break
            await desk.press("g", "j", "j")

        await at_the_rule()
        assert "R5: 0 tagged by you" in desk.text()
        await desk.press("enter")
        assert "Nothing of yours is tagged with R5 yet" in desk.text()
        await desk.press("escape")
        with Store.open(tagged) as store:
            me = store.people.ensure("edith")
            store.edits.commit_answer(third, me, Role.ANNOTATOR, AGE, Exposure(rule_tag="R5"))
            store.guidelines.add(
                TEXT.replace("*CURRENCY*", "nothing"), store.people.ensure("eva")
            )
        await at_the_rule()
        assert "R5: 1 tagged by you, 1 answered under another text (o)" in desk.text()
        await desk.press("o")
        assert desk.state.query.text == "tagged:R5 guideline:1"
        assert [desk.state.ids[n] for n in range(len(desk.state.ids))] == [third]
