"""The evidence pane on the screen: what is seen at one glance, and what a key makes of it."""

import pytest

from nfh_db.records import CompetenceWeight, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Kind, Relation, class_answer
from nfh_tui.editor.votes import annotators_votes
from nfh_tui.widgets.evidence_rows import evidence


def pane(desk):
    """What stands in the evidence pane, row by row."""
    view = desk.screen.evidence
    return ["".join(run.text for run in row) for row in view._rows]


@pytest.mark.parametrize(("size", "keys"), [((120, 40), ()), ((80, 24), ("tab",))])
async def test_answer_table_and_readings_stand_in_the_first_screenful(open_desk, size, keys):
    async with open_desk(size=size) as desk:
        await desk.press(*keys)
        text = desk.text().replace("\u00a0", " ")
        for wanted in (
            "proposal · 2 of 3",
            "ann2",
            "[boots]",
            "[boots and",
            "boots by 3 of 3",
        ):
            assert wanted in text, wanted
        assert "2-1" in text
        # Adopting another answer marks what differs from it now.
        await desk.press("2")
        rows = pane(desk)
        assert any(row.startswith(" 1 ann1") and "≠" in row for row in rows)
        assert any(row.startswith(" 2 ann2") and " = " in row for row in rows)
        assert not any(row.startswith(" = you") for row in rows)


async def test_sixty_columns_are_enough(open_desk):
    async with open_desk(size=(60, 20)) as desk:
        await desk.press("tab")
        assert " 2 ann2 " in desk.text()
        assert "[boots and coat]" in desk.text()


async def test_a_competent_minority_is_proposed_saved_by_enter_and_unnamed_when_blind(
    database, open_desk, read
):
    people = [
        CompetenceWeight(name, right, 40) for name, right in (("ann1", 0.4), ("ann3", 0.4))
    ]
    with Store.open(database) as store:
        store.competences.remember("a test", [*people, CompetenceWeight("ann2", 0.95, 40)])
    async with open_desk() as desk:
        assert "1 of 3, weight 0.59" in desk.text()
        assert "95 %" in "\n".join(pane(desk)).replace("\u00a0", " ")
        await desk.press("B")
        seen = desk.text()
        for hidden in ("ann1", "ann2", "ann3", "weight", "right in"):
            assert hidden not in seen, hidden
        assert "1 of 3" in seen
        await desk.press("enter")
    gold = read(0).gold
    assert gold.rule is Rule.EXPERT
    assert len(gold.answer.heads) == 2
    assert gold.answer.relation is Relation.AND


async def test_forgotten_competence_counts_votes_again(database, open_desk):
    people = [
        CompetenceWeight(f"ann{n}", right, 40) for n, right in ((1, 0.4), (2, 0.95), (3, 0.4))
    ]
    with Store.open(database) as store:
        store.competences.remember("a test", people)
        store.competences.delete()
    async with open_desk() as desk:
        assert "proposal · 2 of 3" in desk.text()
        assert "weight" not in desk.text()


async def test_a_signed_comment_is_unsigned_when_blind(database, open_desk):
    with Store.open(database) as store:
        for name in ("ann2", "ann9"):
            answer = class_answer(Kind.PEOPLE, comment=f"as ann1 said, {name}")
            ids = next(store.queue.ids(_everything(), store.people.ensure(name)))
            store.edits.commit_answer(ids[0], store.people.ensure(name), Role.ANNOTATOR, answer)
    async with open_desk() as desk:
        assert "as ann1 said" in "\n".join(pane(desk))
        await desk.press("B")
        hidden = "\n".join(pane(desk))
        assert "ann" not in hidden.replace("cannot", "")
        assert " said, " in hidden
        letters = {vote.annotator for vote in annotators_votes(desk.state.visible_item)}
        assert letters == {"A", "B", "C", "D"}


def _everything():
    from nfh_db.query import parse

    return parse("")


async def test_an_annotator_reads_only_the_answer_of_their_own_again(open_desk):
    async with open_desk(mode="annotate", me="zoe") as desk:
        desk.screen.guidelines.show(False)
        await desk.press("p")
        rows = pane(desk)
        assert any("[people]" in row for row in rows)
        assert not any("boots" in row for row in rows)
        assert not any("ann1" in row for row in rows)


async def test_earlier_decisions_come_once_one_stays_on_an_item(open_desk):
    async with open_desk() as desk:
        await desk.press("enter", "k")
        screen = desk.screen
        await screen.item._read_precedents(screen.state.stored_item)
        assert not any(row.startswith("Earlier") for row in pane(desk)), "not of itself"
        screen.state.precedents = await _decided(desk)
        screen.ui.refresh_evidence()
        rows = pane(desk)
        start = next(n for n, row in enumerate(rows) if row.startswith("Earlier"))
        assert "earlier case" in rows[start + 1]


async def _decided(desk):
    """The decisions that bear on another item that names the same noun."""
    others = [id_ for id_ in desk.state.ids[:6] if id_ != desk.state.stored_item.anchor_id]
    return await desk.screen.client.read(
        desk.screen.store.similar.precedents,
        others[0],
        desk.state.me,
        frozenset({"boot"}),
        None,
    )


async def test_an_item_is_told_once_and_again_only_if_something_is_new(open_desk, monkeypatch):
    built = []

    def counted(*item, **how):
        built.append(item)
        return evidence(*item, **how)

    monkeypatch.setattr("nfh_tui.widgets.evidence.evidence", counted)
    async with open_desk(size=(120, 40)) as desk:
        before, times = pane(desk), len(built)
        desk.screen.ui.refresh_evidence()
        assert len(built) == times
        await desk.press("2")
        assert len(built) == times + 1
        assert pane(desk) != before
