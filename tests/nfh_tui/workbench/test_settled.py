"""A settlement in the workbench: the same person's z takes it back, and says what it left."""

import pytest

from nfh_db.edits import Edits
from nfh_db.errors import StoreError
from nfh_db.query import parse
from nfh_db.records import Annotator, Role, Rule, Undone
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.workbench.changes import undo_words


@pytest.fixture
def settled(database):
    """A database in which edith settled three numbers, and otto decided one of them since."""
    with Store.open(database) as store:
        ids = next(store.queue.ids(parse("-state:decided"), store.people.ensure("otto")))[:3]
        for name in ("ann7", "ann8"):
            who = store.people.ensure(name)
            for anchor in ids[1:]:
                store.edits.commit_answer(anchor, who, Role.ANNOTATOR, class_answer(Kind.YEAR))
        vote = class_answer(Kind.YEAR)
        store.edits.commit_answer(ids[0], store.people.ensure("ann8"), Role.ANNOTATOR, vote)
        report = store.settlement.run(
            parse("votes:2"), Rule.UNANIMOUS, store.people.ensure("edith")
        )
        otto = store.people.ensure("otto")
        store.edits.commit_answer(ids[2], otto, Role.ADJUDICATOR, class_answer(Kind.TIME))
    return report


async def test_z_takes_a_settlement_back_and_capital_z_makes_it_again(
    open_desk, read, settled
) -> None:
    assert settled.new == 2
    async with open_desk(query="votes:2") as desk:
        assert desk.state.visible_item.gold.rule is Rule.UNANIMOUS
        await desk.press("z")
        assert (
            "Undo again undoes all of this: settlement by rule unanimous of votes:2"
            in desk.said
        )
        assert desk.state.visible_item.gold.rule is Rule.UNANIMOUS
        await desk.press("z")
        assert "undone: settlement by rule unanimous of votes:2" in desk.said
        assert "1 skipped, because they have changed" in desk.said
        assert desk.state.visible_item.gold is None
        await desk.press("z")
        assert "There is nothing to undo" in desk.said
        await desk.press("Z")
        assert "redone: settlement by rule unanimous of votes:2" in desk.said
        assert desk.state.visible_item.gold.rule is Rule.UNANIMOUS
        await desk.press("L")
        # The history, in a dialog over the screen.
        assert desk.text().count("settlement by rule unanimous of votes:2") >= 3
    rules = [item.gold.rule for item in map(read, range(6)) if item.gold]
    assert sorted(rules) == [Rule.EXPERT, Rule.IMPORTED, Rule.UNANIMOUS]


async def test_while_it_is_taken_back_the_line_says_so(open_desk, settled, monkeypatch) -> None:
    said = []
    undo = Edits.undo

    def watched(edits: Edits, me: Annotator) -> Undone | None:
        said.append(desk.screen.status_line.status.busy)
        return undo(edits, me)

    monkeypatch.setattr(Edits, "undo", watched)
    async with open_desk(query="votes:2") as desk:
        await desk.press("z", "z")
        assert said == ["undoing…"]
        assert desk.screen.status_line.status.busy == ""


async def test_beside_another_settlement_it_is_a_sentence(
    open_desk, settled, monkeypatch
) -> None:
    def refuse(edits: Edits, me: Annotator) -> None:
        raise StoreError("A settlement is being written by process 7: wait until that is done")

    monkeypatch.setattr(Edits, "undo", refuse)
    async with open_desk(query="votes:2") as desk:
        await desk.press("z", "z")
        assert "A settlement is being written by process 7" in desk.text()
        await desk.press("escape")
        assert desk.screen.status_line.status.busy == ""
        assert desk.state.visible_item.gold.rule is Rule.UNANIMOUS


@pytest.mark.parametrize(
    ("anchors", "skipped", "said"),
    [
        (1, 0, "gold YEAR"),
        (2, 0, "gold YEAR (2 items)"),
        (1, 3, "gold YEAR (3 skipped, because they have changed)"),
        (1200, 1, "gold YEAR (1,200 items, 1 skipped, because they have changed)"),
        (1, 0, "gold YEAR"),
        (0, 1200, "gold YEAR (0 items, 1,200 skipped, because they have changed)"),
    ],
)
def test_what_is_said_of_it(anchors: int, skipped: int, said: str) -> None:
    assert undo_words(Undone("gold YEAR", None, anchors, "", skipped)) == said


def test_a_number_that_is_told_already_is_told_once() -> None:
    done = Undone("the model's answers adopted on 17 items", None, 17, "", 2)
    assert undo_words(done) == (
        "the model's answers adopted on 17 items (2 skipped, because they have changed)"
    )
