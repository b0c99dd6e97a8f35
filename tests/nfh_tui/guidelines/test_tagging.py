"""R tags a decision: typed or chosen, kept as a draft, saved with the answer, taken away."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.query import parse
from nfh_db.records import AnchorItem, Exposure, Role, Vote
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.editor.commands import dump, first_state, load
from nfh_tui.screens.dialogs import ChooseDialog
from nfh_tui.services.guidelines import first_text, rules_of
from nfh_tui.workbench.completion import RuleChooser

AGE = class_answer(Kind.AGE)


def mine(item: AnchorItem, me: str = "edith", role: Role = Role.ADJUDICATOR) -> Vote:
    return next(vote for vote in item.votes if vote.annotator == me and vote.role is role)


async def test_a_rule_is_chosen_or_typed_and_saved_with_the_answer(
    guided, open_desk, read
) -> None:
    async with open_desk(query="id:2", path=guided) as desk:
        await desk.press("R", "enter")
        assert isinstance(desk.app.screen, ChooseDialog)
        assert "R12 One of them" in desk.text()
        await desk.press("j", "enter")
        assert desk.state.edit.tag == "R5"
        await desk.press("R", "enter", "escape")
        assert desk.state.edit.tag == "R5"
        await desk.press("R", "escape")
        assert desk.state.edit.tag == "R5"
        # The last line of the list takes the tag away.
        await desk.press("R", "enter", "end", "enter")
        assert desk.state.edit.tag is None
        await desk.press("R", *"money")
        assert "R5 Age and money" in desk.screen.bar.note
        assert "R5 Age and money" in desk.text().splitlines()[-1]
        await desk.press("tab")
        assert desk.screen.bar.text == "R5 Age and money"
        await desk.press("enter")
        assert desk.state.edit.tag == "R5"
        await desk.press("R", *"zebra", "enter")
        assert desk.state.edit.tag == "R5"
        assert "No rule has “zebra”" in desk.said
        await desk.press("a")
        assert desk.screen.bar.text == "zebraa"
        await desk.press("escape", "a", "R", "1", "2", "enter")
        assert desk.state.edit.tag == "R12"
        assert "by rule R12 One of them" in desk.said
        await desk.press("enter")
    vote = mine(read(1))
    assert (vote.rule_tag, vote.guideline_version) == ("R12", 1)


async def test_the_tag_is_part_of_the_draft(guided, open_desk, read) -> None:
    async with open_desk(query="id:2", path=guided) as desk:
        await desk.press("a", "R", "5", "enter")
        await desk.press("z")
        assert desk.state.edit.tag is None
        await desk.press("Z")
        assert desk.state.edit.tag == "R5"
        await desk.screen.answers.draft_writer.flush()
    # As after a crash: the draft alone brings it back.
    assert '"tag":"R5"' in (read(1).draft.body if read(1).draft else "")
    async with open_desk(query="id:2", path=guided) as desk:
        assert (desk.state.edit.tag, desk.state.edit.kind) == ("R5", Kind.AGE)
        await desk.press("R", "minus", "enter")
        assert desk.state.edit.tag is None
        await desk.press("enter")
    assert mine(read(1)).rule_tag is None


async def test_a_saved_tag_comes_back_and_can_be_changed_alone(guided, open_desk, read) -> None:
    tag(guided, 2, "12")
    async with open_desk(query="id:3", me="edith", path=guided) as desk:
        assert desk.state.edit.tag == "R12"
        assert not desk.state.edit.changed
        await desk.press("R", "5", "enter", "enter")
    assert mine(read(2)).rule_tag == "R5"


async def test_a_tag_of_a_rule_that_is_gone_stays(guided, open_desk, read) -> None:
    tag(guided, 2, "R77")
    async with open_desk(query="id:3", path=guided) as desk:
        assert desk.state.edit.tag == "R77"
        await desk.press("t", "enter")
    assert (mine(read(2)).rule_tag, mine(read(2)).answer.kind) == ("R77", Kind.TIME)


async def test_reading_tags_nothing_and_annotating_does(guided, open_desk, read) -> None:
    async with open_desk(mode="browse", query="id:2", path=guided) as desk:
        await desk.press("R")
        assert not desk.screen.bar.is_open
        assert "M switches" in desk.said
        await desk.press("M")
        await desk.press("a", "R", "1", "enter", "enter")
    assert mine(read(1), role=Role.ANNOTATOR).rule_tag == "R1"


async def test_a_database_without_guidelines_gets_the_first_text(database, open_desk) -> None:
    async with open_desk(mode="browse"):
        pass
    with Store.open(database) as store:
        found = store.guidelines.read()
        assert found is not None
        assert (found.version, found.body) == (1, first_text())


async def test_a_decision_under_an_older_text_is_confirmed_by_enter(
    guided: Path, text: str, open_desk: Callable[..., object], read: Callable[..., AnchorItem]
) -> None:
    tag(guided, 2, "R12")
    async with open_desk(query="id:3", path=guided) as desk:
        await desk.press("enter")
        assert "unchanged" in desk.said
    assert mine(read(2)).guideline_version == 1
    with Store.open(guided) as store:
        store.guidelines.add(text.replace("by OR", "by OR, always"), store.people.ensure("eva"))
    async with open_desk(query="id:3", path=guided) as desk:
        await desk.press("enter")
        assert desk.said.startswith("saved")
        await desk.press("enter")
        assert "unchanged" in desk.said
    assert (mine(read(2)).rule_tag, mine(read(2)).guideline_version) == ("R12", 2)


def tag(path: Path, place: int, rule: str) -> None:
    """Have edith decide an item as AGE by a rule."""
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        anchor = next(store.queue.ids(parse(""), me))[place]
        store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, AGE, Exposure(rule_tag=rule))


# --- without a screen -------------------------------------------------------------------


def test_old_drafts_have_no_tag_and_are_read(read: Callable[..., AnchorItem]) -> None:
    item = read(1)
    body = dump(first_state(item, "edith", Role.ADJUDICATOR))
    assert load(body, item).tag is None
    without = body.replace(',"tag":null', "")
    assert "tag" not in without
    assert load(without, item).tag is None


@pytest.mark.parametrize(
    ("typed", "ids"),
    [
        ("1", "R1 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19"),
        ("r20", "R20"),
        ("R7 One", "R7"),
        ("noun", "R2 R6 R7 R9 R10 R16 R17 R19"),
        ("the noun alone", "R9"),
        ("donkey", "R10"),
        ("99", ""),
        ("zebra", ""),
    ],
)
def test_rules_that_fit(typed: str, ids: str) -> None:
    chooser = RuleChooser(rules_of(first_text()))
    assert " ".join(rule.id for rule in chooser.offers(typed)) == ids


def test_tab_goes_round() -> None:
    chooser = RuleChooser(rules_of(first_text()))
    first = chooser.tab("OR", 2)
    assert first is not None
    seen = [first[0]]
    while (made := chooser.tab(seen[-1], 0)) is not None and made[0] != seen[0]:
        seen.append(made[0])
    assert len(seen) == len(chooser.offers("OR"))
    assert chooser.tab("zebra", 5) is None
