"""F5: the rules and their use, the way to their items, words, versions; nothing is markup."""

from pathlib import Path

import pytest
from textual.widgets.markdown import MarkdownBlock

from nfh_db.query import parse
from nfh_db.records import Exposure, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.screens.dialogs import TextDialog
from nfh_tui.screens.guidelines import GuidelinesScreen
from nfh_tui.services.guidelines import first_text
from nfh_tui.widgets.guideline_text import drawable, parser

AGE = class_answer(Kind.AGE)


@pytest.fixture
def used(guided: Path, text: str) -> Path:
    """Version 2 says R12 otherwise; one decision by R12 before that, one after, one by R5."""
    with Store.open(guided) as store:
        me = store.people.ensure("edith")
        anchors = next(store.queue.ids(parse(""), me))
        store.edits.commit_answer(
            anchors[1], me, Role.ADJUDICATOR, AGE, Exposure(rule_tag="12")
        )
        store.edits.commit_answer(
            anchors[2], me, Role.ADJUDICATOR, AGE, Exposure(rule_tag="R5")
        )
        store.guidelines.add(text.replace("by OR", "by OR, always"), store.people.ensure("eva"))
        store.edits.commit_answer(
            anchors[4], me, Role.ADJUDICATOR, AGE, Exposure(rule_tag="R12")
        )
    return guided


def screen_of(desk) -> GuidelinesScreen:
    screen = desk.app.screen
    assert isinstance(screen, GuidelinesScreen)
    return screen


async def drawn(desk) -> None:
    """Wait until the screen has read and drawn all."""
    for _ in range(200):
        await desk.settle()
        screen = desk.app.screen
        if not isinstance(screen, GuidelinesScreen):
            return
        if screen.shown is not None and screen.text.settled and screen.text.children:
            return
    raise AssertionError("the guidelines are not drawn")


async def test_rules_are_listed_with_their_use(used, open_desk) -> None:
    async with open_desk(query="id:1", path=used) as desk:
        await desk.press("f5")
        await drawn(desk)
        said = desk.text()
        assert "version 2 · eva" in said
        assert "Few rules" in said
        assert "Read these." in said
        await desk.press("G", "k")
        await drawn(desk)
        said = desk.text()
        assert "▸ R12    2↺ One of them" in said
        assert "Join them by OR, always." in said
        assert "R12: 2 tagged, 1 decided under another text (o)" in said
        await desk.press("g", "j")
        await drawn(desk)
        assert "▸ R1" in desk.text()
        await desk.press("enter")
        assert "Nothing is tagged with R1 yet" in desk.text()
        await desk.press("k", "enter")
        assert "Only a rule has items" in desk.text()
        await desk.press("escape")
        assert desk.state.query.text == "id:1"


async def test_the_items_of_a_rule_open(used, open_desk, read) -> None:
    places = [read(place).anchor_id for place in (1, 4)]
    async with open_desk(query="id:5", path=used) as desk:

        def shown() -> tuple[str, list[int]]:
            ids = desk.state.ids
            return desk.state.query.text, [ids[n] for n in range(len(ids))]

        # The item has R12, so that is where the screen opens.
        await desk.press("f5")
        await drawn(desk)
        await desk.press("o")
        assert shown() == ("tagged:R12 guideline:1", places[:1])
        await desk.press("f5")
        await drawn(desk)
        await desk.press("enter")
        assert shown() == ("tagged:R12", places)
        await desk.press("f5")
        await drawn(desk)
        # No rule: what was decided by any that reads otherwise.
        await desk.press("g", "o")
        assert shown() == (f"id:{places[0]}", places[:1])


async def test_words_are_found(used, open_desk) -> None:
    async with open_desk(query="id:1", path=used) as desk:
        await desk.press("f5")
        await drawn(desk)
        await desk.press("n")
        assert "Press / first" in desk.text()
        await desk.press("slash", *"say", "enter")
        await drawn(desk)
        screen = screen_of(desk)
        assert screen.part is not None
        assert screen.part.id == "R5"
        assert [str(b.content) for b in screen.text.query(MarkdownBlock).filter(".-found")] == [
            "Say AGE, or CURRENCY."
        ]
        assert "“say” is in 1 of 5" in desk.text()
        await desk.press("slash", *"them", "enter", "N")
        assert screen.part is not None
        assert screen.part.id == "R12"
        await desk.press("slash", *"zebra", "enter")
        assert "“zebra” is not in" in screen.bar.note
        assert screen.bar.is_open and screen.bar.text == "zebra"
        await desk.press(*["backspace"] * 5, *"say", "enter")
        assert not screen.bar.is_open and screen.search.words == "say"


async def test_versions_and_what_changed(used, open_desk) -> None:
    async with open_desk(query="id:1", path=used) as desk:
        await desk.press("f5")
        await drawn(desk)
        await desk.press("d")
        assert isinstance(desk.app.screen, TextDialog)
        assert "R12 One of them: changed" in desk.text()
        assert "+Join them by OR, always." in desk.text()
        await desk.press("escape", "v", "j", "enter")
        await drawn(desk)
        assert "version 1 · came with the program" in desk.text()
        assert "2 is in force" in desk.text()
        await desk.press("d")
        assert "From version 1 to version 2" in desk.text()


async def test_the_first_text_can_be_read_where_there_is_little_room(open_desk) -> None:
    async with open_desk(size=(60, 20)) as desk:
        await desk.press("f5")
        await drawn(desk)
        await desk.press("d")
        assert "There is only one version" in desk.text()
        await desk.press("o")
        assert "Nothing was decided" in desk.text()
        await desk.press("j", "j", "j", "o")
        await drawn(desk)
        assert "No earlier version" in desk.text()
        assert "▸ R2" in desk.text()
        assert "Answer NOT_NFH" in desk.text()
        await desk.press("question_mark")
        assert "Items under the old text" in desk.text()


HOSTILE = (
    "## R1 [red]A[/] \x1b[31m title [@click=app.quit]\n\n"
    "[link](http://x) ![img](y) <b>tag</b> &#x202e; \u202e [bold]*b*[/] \x07\n\n"
    "```python\n\x1b]0;evil\x07[red]\n```\n"
)


async def test_hostile_text_is_text(database, open_desk) -> None:
    with Store.open(database) as store:
        store.guidelines.add_first(HOSTILE)
    async with open_desk(query="id:2") as desk:
        await desk.press("f5")
        await drawn(desk)
        said = desk.text()
        assert "[red]A[/] ␛[31m title [@click=app.quit]" in said
        assert "[link](http://x) ![img](y) <b>tag</b> &#x202e;" in said
        assert not {"\x1b", "\x07", "\u202e"} & set(said)
        await desk.press("escape", "R", "enter")
        assert "[red]A[/] ␛[31m title" in desk.text()
        await desk.press("enter")
        assert "[red]A[/] ␛[31m title" in desk.text()


def test_nothing_in_the_first_text_is_lost_by_the_parser() -> None:
    tokens = parser().parse(drawable(first_text()))
    assert not [token.type for token in tokens if "html" in token.type]
    assert drawable("a\tb\r\nc\x00") == "a   b\nc␀"
