"""Applying a decision to similar items, and precedents, by their keys."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import Exposure, IncomingAnchor, IncomingPassage, Role, Rule
from nfh_db.similar_items import Likeness, Precedent, Similar, SimilarAnswer
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, anchor_id, class_answer, reference_answer
from nfh_tui.editor.votes import is_one_in_eight, proposal
from nfh_tui.services.vectors import HEADER, Header, identity, path_of, row_type
from nfh_tui.workbench.bulk import without_left_blank
from tests.nfh_tui.workbench.conftest import noun, passage_of, vote
from tests.nfh_tui.workbench.test_evidence_pane import pane

AGE, TIME = class_answer(Kind.AGE), class_answer(Kind.TIME)


def pump(line: int, *turns: tuple[str, str], at: int, votes=()) -> IncomingPassage:
    return IncomingPassage(
        passage_of(*turns), "words", (IncomingAnchor(line, Anchor(at, at + 1), votes=votes),)
    )


@pytest.fixture
def alike(tmp_path: Path) -> Path:
    """Four numbers "one": three with a pump near, two of these voted on alike."""
    path = tmp_path / "alike.db"
    votes = (vote("ann1", reference_answer([noun(1)])), vote("ann2", AGE))
    passages = (
        pump(1, ("Ida", "My pump leaks"), ("Per", "Take one ."), at=4, votes=votes),
        pump(2, ("Ida", "My pump broke"), ("Per", "Buy one ."), at=4, votes=votes),
        pump(3, ("Ida", "A pump or one or so"), at=3),
        pump(4, ("Ida", "Be there at one ."), at=3),
    )
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("alike", "0" * 64, "gold"), passages)
    return path


def golds(path: Path) -> list[str]:
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        items = [
            store.items.read(anchor_id, me, Role.ADJUDICATOR)
            for anchor_id in next(store.queue.ids(parse(""), me))
        ]
        return ["" if i is None or i.gold is None else str(i.gold.answer.kind) for i in items]


async def test_the_last_decision_is_given_to_what_is_ticked(open_desk, alike: Path) -> None:
    async with open_desk(path=alike) as desk:
        await desk.press("1", "enter")
        assert golds(alike) == ["REFERENCE", "", "", ""]
        # The screen has gone on to the second item, which is not decided.
        await desk.press("A")
        shown = desk.text()
        assert "Like “one”, decided Reference: pump" in shown
        assert "the same number, voted on alike: 1, 1 ticked" in shown
        assert "no gold → Reference: pump" in shown
        await desk.press("tab")
        assert "☑ A pump or [one] or so" in desk.text()
        await desk.press("space", "enter")
        # The tick of the first of the two was taken away.
        assert golds(alike) == ["REFERENCE", "", "REFERENCE", ""]
        await desk.press("z", "z")
        assert golds(alike) == ["REFERENCE", "", "", ""]


async def test_all_at_once_and_what_was_in_view_is_stored(open_desk, alike: Path) -> None:
    async with open_desk(path=alike) as desk:
        await desk.press("1", "enter", "k", "A", "tab", "enter")
        assert golds(alike) == ["REFERENCE", "REFERENCE", "REFERENCE", ""]
        await desk.press("G", "k")
        item = desk.state.stored_item
        (mine,) = (v for v in item.votes if v.role is Role.ADJUDICATOR)
        assert mine.answer == reference_answer([noun(1)])
    with Store.open(alike) as store:
        me = store.people.ensure("edith")
        ids = next(store.queue.ids(parse(""), me))
        seen = [
            [
                v.saw_votes
                for v in store.items.read(i, me, Role.ADJUDICATOR).votes
                if not v.counts
            ]
            for i in ids
        ]
    assert seen == [[True], [True], [False], []]


async def test_without_a_decision_and_with_nothing_ticked_it_is_refused(
    open_desk, alike: Path
) -> None:
    async with open_desk(path=alike) as desk:
        await desk.press("A")
        assert "There is no decision yet to apply" in desk.said
        await desk.press("1", "enter", "A", "asterisk", "enter")
        assert "Nothing is ticked" in desk.text()
        await desk.press("escape")
        assert golds(alike) == ["REFERENCE", "", "", ""]


async def test_precedents_are_listed_and_opened_beside_the_queue(
    open_desk, alike: Path
) -> None:
    with Store.open(alike) as store:
        other = store.people.ensure("[b]other")
        ids = next(store.queue.ids(parse(""), other))
        seen = Exposure(rule_tag="R5")
        store.edits.commit_answer(ids[3], other, Role.ADJUDICATOR, TIME, seen)
    async with open_desk(path=alike) as desk:
        await desk.press("P")
        shown = desk.text()
        assert "Precedents" in shown
        assert "Time · [b]other" in shown
        assert "R5 · same number" in shown
        assert "Be there at one [o'clock]." in shown, "read as the evidence reads it"
        await desk.press("enter")
        assert (
            desk.state.stored_item.anchor_id,
            desk.state.position.is_detached,
        ) == (ids[3], True)
        await desk.press("escape")
        assert (
            desk.state.stored_item.anchor_id,
            desk.state.position.is_detached,
        ) == (ids[0], False)
        # Blind, nobody is named.
        await desk.press("B", "P")
        assert "other" not in desk.text()
        assert "an adjudicator" in desk.text()
        await desk.press("escape")


async def test_without_any_it_is_said_and_annotators_see_none(open_desk, alike: Path) -> None:
    async with open_desk(path=alike) as desk:
        await desk.press("P")
        assert "No earlier decision" in desk.said
    async with open_desk(path=alike, mode="annotate") as desk:
        await desk.press("P")
        assert desk.screen.is_current
        assert "annotating" in desk.said


def write_vectors(path: Path, vectors: dict[int, tuple[float, float]]) -> None:
    """The file of vectors that the predictor would have written."""
    with Store.open(path) as store:
        checks = dict(store.similar.places())
        name = identity(store.models.active("resolution"))
    rows = np.array([(i, checks[i], vector) for i, vector in vectors.items()], row_type(2))
    header = msgspec.json.encode(Header(name, 2, len(rows), len(checks)))
    path_of(path).write_bytes(header.ljust(HEADER) + rows.tobytes())


async def test_precedents_by_meaning_say_how_near_they_are(open_desk, alike: Path) -> None:
    with Store.open(alike) as store:
        other = store.people.ensure("other")
        store.edits.commit_answer(4, other, Role.ADJUDICATOR, TIME, Exposure())
        store.models.activate(store.models.ensure("own", "resolution", "encoder", "1"))
    async with open_desk(path=alike) as desk:
        await desk.press("P")
        assert (
            "Ranked by rule, number and noun: vectors are being made, none so far."
            in desk.text()
        )
        assert "other · " in desk.text()
        await desk.press("escape")
        like = (0.934, 0.357)
        write_vectors(alike, {1: (1.0, 0.0), 3: like, 4: like})
        await desk.press("P")
        assert "Ranked by rule" not in desk.text()
        assert "like this one: 0.93 · same number" in desk.text()
        await desk.press("escape")
        # What is offered by meaning alone is not ticked.
        await desk.press("a", "enter", "A", "tab", "tab")
        assert "▸ like this one: 1, 0 ticked " in desk.text()
        assert "→ Age · like this one: 0.93" in desk.text()
        assert "☐" in desk.text()


async def test_no_precedent_beside_an_item_that_is_left_blank(
    open_desk, read, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [read(place) for place in range(6)]
    blank = next(one.anchor_id for one in items if proposal(one) and one.gold is None)
    async with open_desk() as desk:
        await desk.screen.item.show(blank)
        await desk.press("P")
        assert "1 in 8" not in desk.said
        await desk.press("escape")
        one, why = items[0], ("number",)
        earlier = Precedent(
            one.anchor_id, one.passage, one.anchor, AGE, "anna", None, Rule.EXPERT, why
        )
        desk.state.precedents = (earlier,)
        desk.screen.ui.refresh_evidence()
        assert any("earlier case" in row for row in pane(desk))
        monkeypatch.setattr("nfh_tui.editor.votes.is_withheld", lambda *_: True)
        await desk.press("P")
        assert "left blank on purpose, 1 in 8" in desk.said
        assert await desk.screen.item.find_precedents(desk.state.stored_item) == ((), "")
        desk.screen.ui.refresh_evidence()
        assert not any("earlier case" in row for row in pane(desk)), "read while browsing"
        await desk.press("a", "enter")
        await desk.screen.item.show(blank)
        await desk.press("P")
        assert "1 in 8" not in desk.said


def test_what_is_left_blank_is_offered_no_answer_by_meaning() -> None:
    def similar(number: int, pattern: str) -> Similar:
        passage = passage_of(("Ida", f"Passage {number} has one ."))
        return Similar(number, passage, Anchor(3, 4), AGE, None, pattern)

    made = tuple(similar(n, "2-1") for n in range(40))
    ids = [anchor_id(one.passage.digest, one.anchor) for one in made]
    blank = {number for number, id_ in enumerate(ids) if is_one_in_eight(id_, "me")}
    assert 0 < len(blank) < 20
    kept = without_left_blank(SimilarAnswer(Likeness.MEANING, made, 1), "me")
    assert {one.anchor_id for one in kept.items} == set(range(40)) - blank
    assert kept.left == 1 + len(blank)
    unvoted = SimilarAnswer(Likeness.MEANING, tuple(similar(n, "") for n in range(40)), 0)
    assert without_left_blank(unvoted, "me") == unvoted
    repeats = SimilarAnswer(Likeness.REPEAT, made, 0)
    assert without_left_blank(repeats, "me") == repeats
