"""One thing for everything in the queue, by its keys: look first, then do, then undo."""

from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import IncomingAnchor, IncomingPassage, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer
from tests.nfh_tui.workbench.conftest import passage_of, vote


def count(path: Path, query: str, me: str = "edith") -> int:
    with Store.open(path) as store:
        return store.queue.count(parse(query), store.people.ensure(me))


async def pick(desk, words: str) -> None:
    """Choose an entry of a list by its words."""
    await desk.press("home")
    for _ in range(20):
        line = next(line for line in desk.text().split("\n") if words in line)
        options = desk.app.screen.query_one("OptionList")
        at = options.highlighted
        prompt = str(options.get_option_at_index(at).prompt)
        if prompt.startswith(words):
            await desk.press("enter")
            return
        assert line
        await desk.press("j")
    raise AssertionError(words)


async def test_a_flag_is_looked_at_set_on_all_and_taken_back(open_desk, database) -> None:
    async with open_desk(query="state:open") as desk:
        await desk.press("E")
        assert "All items of state:open" in desk.text()
        await pick(desk, "Set a flag")
        await desk.press("enter")
        shown = desk.text()
        assert "Flag guideline set" in shown
        assert "3 items of 3 would change." in shown
        assert "sixty" in shown
        # Enter, held from the list before, does nothing.
        await desk.press("enter")
        assert count(database, "flag:guideline") == 0
        await desk.press("y")
        assert count(database, "flag:guideline") == 3
        assert "flag guideline set on 3 items, saved" in desk.said
        await desk.press("z")
        assert "Undo again undoes all of this" in desk.said
        assert count(database, "flag:guideline") == 3
        await desk.press("z")
        assert count(database, "flag:guideline") == 0


async def test_escape_leaves_all_as_it_is_and_y_what_is_begun(open_desk, database) -> None:
    async with open_desk(query="state:open") as desk:
        await desk.press("E")
        await pick(desk, "Give all items one answer")
        await pick(desk, "Time")
        assert "no gold → Time" in desk.text()
        await desk.press("escape")
        assert count(database, "class:TIME") == 0
        await desk.press("E", "escape")
        assert count(database, "by:edith") == 0
        await desk.press("y")
        await desk.press("E")
        await pick(desk, "Give all items one answer")
        await pick(desk, "Time")
        assert "1 you have begun an answer" in desk.text()
        await desk.press("y")
        assert count(database, "class:TIME") == 2
        assert desk.state.edit.kind is Kind.YEAR


async def test_all_are_decided_but_what_others_decided(open_desk, database) -> None:
    with Store.open(database) as store:
        other = store.people.ensure("[red]other")
        first = next(store.queue.ids(parse(""), other))[0]
        store.edits.commit_answer(first, other, Role.ADJUDICATOR, class_answer(Kind.YEAR))
    async with open_desk() as desk:
        await desk.press("E")
        assert "All items" in desk.text()
        await pick(desk, "Give all items one answer")
        await pick(desk, "Time")
        shown = desk.text()
        assert "5 items of 6 would change." in shown
        assert "1 in place of gold from a file" in shown
        assert "1 decided by [red]other" in shown
        assert "Age → Time" in shown
        await desk.press("y")
        assert count(database, "class:TIME rule:expert") == 5
        assert count(database, "class:YEAR") == 1
        assert desk.state.stored_item.gold.rule is Rule.EXPERT


async def test_agreed_answers_that_were_adopted_say_that_votes_were_in_view(
    open_desk, tmp_path: Path
) -> None:
    age = class_answer(Kind.AGE)
    anchor = IncomingAnchor(1, Anchor(2, 3), votes=(vote("ann1", age), vote("ann2", age)))
    path = tmp_path / "agreed.db"
    with Store.open(path, create=True) as store:
        words = passage_of(("Per", "She turned forty ."))
        coming = IncomingPassage(words, "words", (anchor,))
        store.imports.load(IncomingFile("agreed", "0" * 64, "gold"), [coming])
    async with open_desk(path=path) as desk:
        await desk.press("E")
        await pick(desk, "Adopt agreed answers")
        assert "no gold → Age" in desk.text()
        await desk.press("y")
        item = desk.state.stored_item
    (mine,) = (v for v in item.votes if v.role is Role.ADJUDICATOR)
    assert (mine.saw_votes, item.gold.rule) == (True, Rule.EXPERT)


async def test_an_annotator_is_offered_no_decisions(open_desk, database) -> None:
    async with open_desk(mode="annotate") as desk:
        await desk.press("E")
        shown = desk.text()
        assert "Withdraw my answers" in shown
        assert "Adopt what" not in shown
        await pick(desk, "Skip")
        await desk.press("y")
        assert count(database, "state:skipped") == 5


async def test_who_only_reads_is_told_how_to_change_the_mode(open_desk) -> None:
    async with open_desk(mode="browse") as desk:
        await desk.press("E")
        assert "You are reading" in desk.said
        await desk.press("A")
        assert "You are reading" in desk.said


async def test_nothing_to_do_and_another_import_under_way_are_said(
    open_desk, database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nfh_db import batches
    from nfh_db.errors import StoreError

    def busy(*_: object) -> None:
        raise StoreError("other.jsonl is being imported by process 1: wait")

    async with open_desk() as desk:
        await desk.press("E")
        await pick(desk, "Clear a flag")
        await desk.press("enter")
        assert "0 items of 6 would change." in desk.text()
        await desk.press("y")
        assert len(desk.app.screen_stack) == 1
        await desk.press("E")
        await pick(desk, "Set a flag")
        await desk.press("enter")
        monkeypatch.setattr(batches, "refuse_beside_another", busy)
        await desk.press("y")
        assert "other.jsonl is being imported" in desk.text()
        await desk.press("escape")
    assert count(database, "flag:guideline") == 0


@pytest.mark.parametrize("size", [pytest.param((80, 24), marks=pytest.mark.long), (60, 20)])
async def test_the_preview_fits_small_terminals(open_desk, size) -> None:
    async with open_desk(size=size) as desk:
        await desk.press("E")
        await pick(desk, "Give all items one answer")
        await pick(desk, "Time")
        shown = desk.text()
        assert "would change." in shown
        assert "y applies it" in shown
        await desk.press("j", "j", "escape")
