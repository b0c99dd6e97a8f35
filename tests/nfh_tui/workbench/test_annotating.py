"""Annotating: nothing of others, nothing of models until one has answered, rules beside it."""

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import Identified, IncomingAnchor, IncomingPassage, Prediction, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer
from nfh_tui.config import config_files
from nfh_tui.workbench.session import ItemClock
from tests.nfh_tui.workbench.conftest import passage_of

SMALL, LARGE = (80, 24), (120, 40)


@pytest.fixture
def guessed(database):
    """Of the first item, a model says that it is an age, and rules that a noun is missing."""
    with Store.open(database) as store:
        anchor_id = next(store.queue.ids(parse(""), store.people.ensure("x")))[0]
        tokens = (0.5,) * 13
        model = store.models.ensure("guesser", "resolution", "guesser", "1")
        found = Prediction("guesser", "AGE", "1", 0.5, (None, 9.0, *(None,) * 4, *tokens))
        store.predictions.save(model, [(anchor_id, found)])
        rules = store.models.ensure("ruler", "identification", "ruler", "1")
        said = Identified("ruler", True, "no-one")
        store.identifications.save(
            rules, store.identifications.decide_with(rules, "p"), [(anchor_id, said)]
        )
    return anchor_id


def shows_model(desk) -> bool:
    """True if anything of the models stands on the screen, or bars of the heat map do."""
    text = desk.text()
    return "guesser" in text or "ruler" in text or "▄" in text


async def looks(desk) -> list[bool]:
    """Whether a model is to be seen in each pane, with the heat map and without."""
    seen = []
    for _ in range(2):
        for _ in range(3):
            seen.append(shows_model(desk))
            await desk.press("tab")
        await desk.press("H")
    return seen


@pytest.mark.parametrize(
    ("size", "guide"),
    [
        (SMALL, True),
        (LARGE, False),
        pytest.param(SMALL, False, marks=pytest.mark.long),
        pytest.param(LARGE, True, marks=pytest.mark.long),
    ],
)
async def test_the_model_is_hidden_until_one_has_answered(
    open_desk, guessed, read, size, guide
):
    async with open_desk(mode="annotate", size=size) as desk:
        if not guide:
            await desk.press("I")
        assert not any(await looks(desk))
        await desk.press("m")
        assert "hidden until you have answered" in desk.said
        await desk.press("y", "enter", "k")
        if guide:
            await desk.press("I")
        assert any(await looks(desk))
    (mine,) = read(0, role=Role.ANNOTATOR).votes[-1:]
    assert mine.answer.kind is Kind.YEAR
    assert not mine.saw_model


async def test_what_was_seen_after_answering_counts_for_the_next_answer(
    open_desk, guessed, database
):
    async with open_desk(mode="annotate") as desk:
        await desk.press("I", "y", "enter", "k", "a", "enter")
    with Store.open(database) as store:
        item = store.items.read_for_annotator(guessed, store.people.ensure("edith"))
    assert item.votes[0].answer.kind is Kind.AGE
    assert item.votes[0].saw_model


async def test_a_key_shows_the_model_and_that_is_kept(open_desk, guessed, database):
    async with open_desk(mode="annotate", size=SMALL) as desk:
        await desk.press("O", "tab", "I")
        assert shows_model(desk)
        await desk.press("escape", "y", "enter", "O")
        assert desk.said.startswith("The model is hidden")
    with Store.open(database) as store:
        item = store.items.read_for_annotator(guessed, store.people.ensure("edith"))
    assert item.votes[0].saw_model


async def test_elsewhere_there_is_nothing_hidden_to_show(open_desk, guessed):
    async with open_desk() as desk:
        assert shows_model(desk)
        await desk.press("O")
        assert "here it is visible" in desk.said
        assert shows_model(desk)
        await desk.press("M", "M")
        assert not shows_model(desk)


async def test_letters_do_not_tell_what_the_model_says(open_desk, guessed, database):
    async def letters(me):
        async with open_desk(mode="annotate", query="", me=me) as desk:
            await desk.press("f")
            return desk.state.edit.hints

    annotating = await letters("edith")
    with Store.open(database) as store:
        model = store.models.ensure("guesser", "resolution", "guesser", "1")
        other = Prediction("guesser", "11", "1", 0.5, (None,) * 6 + (0.1,) * 11 + (9.0, 0.1))
        store.predictions.save(model, [(guessed, other)])
    assert await letters("otto") == annotating


@pytest.mark.parametrize("size", [SMALL, pytest.param(LARGE, marks=pytest.mark.long)])
async def test_nothing_of_others_is_on_any_screen(open_desk, database, size):
    with Store.open(database) as store:
        zoe = store.people.ensure("zoe")
        first = next(store.queue.ids(parse(""), zoe))[0]
        given = class_answer(Kind.OTHER, noun="bicycles", comment="surely bicycles")
        store.edits.commit_answer(first, zoe, Role.ADJUDICATOR, given)
    async with open_desk(mode="annotate", size=size) as desk:
        for keys in (["tab"], ["tab"], ["tab"], ["I", "tab"], ["tab"], ["tab"], ["L"]):
            await desk.press(*keys)
            text = desk.text()
            assert not [word for word in ("zoe", "bicycles", "ann1", "2-1") if word in text]
        await desk.press("escape")
        for key in ("1", "u", "i", "0", "f2", "f3"):
            await desk.press(key)
            assert len(desk.app.screen_stack) == 1
            assert desk.said.startswith(("Only adjudicators see", "This shows others'"))


async def test_the_record_that_is_copied_has_nothing_of_others(open_desk):
    async with open_desk(mode="annotate") as desk:
        await desk.press("Y", "j")
        assert '"votes":[]' in desk.app.clipboard
        assert "ann1" not in desk.app.clipboard


# --- the guidelines -----------------------------------------------------------------------


async def test_at_80_columns_the_guidelines_are_one_tab_away(open_desk):
    async with open_desk(mode="annotate", size=SMALL) as desk:
        assert "tab: guidelines, queue" in desk.text()
        assert "two" in desk.text()
        await desk.press("tab")
        assert "Numbers whose noun is missing" in desk.text()
        await desk.press("pagedown", "pagedown")
        assert "Numbers whose noun is missing" not in desk.text()
        top = desk.screen.guide.scroll_offset.y
        await desk.press("escape", "j", "tab")
        assert desk.screen.guide.scroll_offset.y == top
        await desk.press("I")
        assert "Evidence" in desk.text()


async def test_the_answer_stands_under_the_passage_while_the_guidelines_do(open_desk):
    async with open_desk(mode="annotate", size=LARGE) as desk:
        await desk.press("y")
        assert "Numbers whose noun" in desk.text()
        assert "Year" in desk.text()
        await desk.press("M")
        assert "Numbers whose noun" not in desk.text()
        assert desk.said.startswith("adjudicating")


# --- the clock ----------------------------------------------------------------------------


class Now:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def clock_of(desk, now: Now) -> ItemClock:
    """A clock of the item on the screen that goes by `now`."""
    clock = ItemClock(now, desk.screen.config.options.idle_seconds)
    clock.start(desk.state.stored_item.anchor_id)
    return clock


async def test_dialogs_other_screens_and_other_windows_do_not_count(open_desk, read):
    now = Now()
    async with open_desk(mode="annotate") as desk:
        desk.screen.clock = clock_of(desk, now)
        now.at += 5
        for opens in ("L", "ctrl+p"):
            await desk.press(opens)
            now.at += 30
            await desk.press("escape")
        desk.app.on_app_blur(None)
        now.at += 40
        desk.app.on_app_focus(None)
        now.at += 2
        await desk.press("y")
        now.at += 1000
        desk.app.app_resume_signal.publish(desk.app)
        await desk.press("y", "semicolon")
        for letter in "slow":
            now.at += 50
            await desk.press(letter)
        await desk.press("enter", "enter")
    assert read(0, role=Role.ANNOTATOR).votes[-1].seconds == 5 + 2 + 4 * 50


async def test_who_comes_back_to_an_item_goes_on_counting(open_desk, read):
    now = Now()
    async with open_desk(mode="annotate") as desk:
        desk.screen.clock = clock_of(desk, now)
        for key, seconds in (("j", 7), ("k", 100), ("y", 3), ("enter", 1)):
            now.at += seconds
            await desk.press(key)
        await desk.press("k", "a", "enter")
    assert read(0, role=Role.ANNOTATOR).votes[-1].seconds == 0


async def test_the_idle_limit_is_a_setting(open_desk):
    path = config_files()[0]
    path.parent.mkdir(parents=True)
    path.write_text("[workbench]\nidle_seconds = 20", encoding="utf-8")
    now = Now()
    async with open_desk(mode="annotate") as desk:
        desk.screen.clock = clock_of(desk, now)
        now.at += 100
        assert desk.screen.clock.seconds == 20


async def test_the_number_answered_before_is_answered_beside_the_next(open_desk, tmp_path):
    path = tmp_path / "two.db"
    numbers = (IncomingAnchor(1, Anchor(0, 1)), IncomingAnchor(2, Anchor(2, 3)))
    passage = passage_of(("Ida", "One or two ?"))
    with Store.open(path, create=True) as store:
        incoming = [IncomingPassage(passage, "words", numbers)]
        store.imports.load(IncomingFile("made up", "0" * 64, "dialog"), incoming)
    async with open_desk(mode="annotate", path=path) as desk:
        await desk.press("I", "y", "enter")
        assert desk.state.position.index == 1
        assert "◐ One t1 answered" in desk.text()
        await desk.press("y", "enter", "k")
        assert "◐ two t1 answered" in desk.text()
