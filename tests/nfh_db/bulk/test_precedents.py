"""Earlier decisions that bear on an item."""

import pytest

from nfh_db.connection import connect
from nfh_db.records import Annotator, Exposure, Role, Rule
from nfh_db.similar_items import MOST_PRECEDENTS, Precedent
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind
from tests.nfh_db.bulk.conftest import given, to


def decide(
    store: Store, who: Annotator, anchor_id: int, answer: Answer, tag: str | None = None
) -> None:
    store.edits.commit_answer(anchor_id, who, Role.ADJUDICATOR, answer, Exposure(rule_tag=tag))


def told(found: tuple[Precedent, ...]) -> list[tuple[int, str | None, tuple[str, ...]]]:
    return [(one.anchor_id, one.by, one.why) for one in found]


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each decision a minute after the one before."""
    minutes = iter(range(60))
    monkeypatch.setattr(
        "nfh_db.system.now", lambda: f"2026-05-06T12:{next(minutes):02}:00.000Z"
    )


def test_experts_first_then_the_newest(
    store: Store, me: Annotator, ids: list[int], times: None
) -> None:
    other = store.people.ensure("other")
    decide(store, me, ids[0], given(Kind.AGE))
    decide(store, other, ids[2], given(Kind.TIME))
    found = store.similar.precedents(ids[5], me)
    # The fourth has gold from a file.
    assert told(found) == [
        (ids[2], "other", ("number",)),
        (ids[0], "edith", ("number",)),
        (ids[3], None, ("number",)),
    ]
    assert [one.rule for one in found] == [Rule.EXPERT, Rule.EXPERT, Rule.IMPORTED]
    assert found[0].sentence == ("Be there at ", "one", " or so")
    assert found[0].answer == given(Kind.TIME)


def test_a_rule_and_a_noun_say_more_than_a_number(
    store: Store, me: Annotator, ids: list[int], times: None
) -> None:
    decide(store, me, ids[1], to(1), tag="12")
    decide(store, me, ids[0], given(Kind.AGE))
    found = store.similar.precedents(ids[4], me, nouns=["Pump"], tag="R12")
    assert told(found)[:2] == [
        (ids[1], "edith", ("rule R12", "number", "noun")),
        (ids[0], "edith", ("number",)),
    ]
    assert found[0].tag == "R12"
    assert store.similar.precedents(ids[4], me, nouns=["dog"], tag="R1")[0].why == ("number",)


def test_what_is_to_be_decided_blind_is_no_precedent(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    other = store.people.ensure("other")
    decide(store, other, ids[1], to(1), tag="R3")
    writer = connect(store.path, "rw")
    writer.execute(
        "INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, run, "
        "assigned_at) VALUES (?, ?, 'adjudicator', 'double', 1, '', '')",
        (ids[1], me.id),
    )
    writer.close()
    found = store.similar.precedents(ids[4], me, nouns=["pump"], tag="R3")
    assert ids[1] not in [one.anchor_id for one in found]
    seen = store.similar.precedents(ids[4], other, nouns=["pump"], tag="R3")
    assert seen[0].anchor_id == ids[1]


def test_the_item_itself_is_none_and_there_are_not_too_many(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    decide(store, me, ids[0], given(Kind.AGE))
    assert ids[0] not in [one.anchor_id for one in store.similar.precedents(ids[0], me)]
    assert len(store.similar.precedents(ids[0], me)) <= MOST_PRECEDENTS
    assert store.similar.precedents(12_345, me) == ()
