"""An annotator proposes a span; whoever adjudicates takes it over, asked what that costs."""

from collections.abc import Callable

import pytest

from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer

SMALL = (80, 24)
WIDER, WIDEST = Anchor(4, 6), Anchor(4, 7)


@pytest.fixture
def propose(database) -> Callable[..., None]:
    """Somebody proposes a span for the second number, “sixty” of “sixty two”."""

    def run(who: str, span: Anchor = WIDER) -> None:
        with Store.open(database) as store:
            store.edits.propose_span(2, store.people.ensure(who), span)

    return run


def answered(database, who: str, role: Role = Role.ANNOTATOR) -> None:
    """Somebody answers that number."""
    with Store.open(database) as store:
        store.edits.commit_answer(2, store.people.ensure(who), role, class_answer(Kind.YEAR))


def span_of(desk) -> Anchor:
    return desk.state.visible_item.anchor


def exported(database) -> list:
    """Spans and kinds of the gold that an export writes."""
    with Store.open(database) as store:
        rows = store.items.records(parse("state:decided"), None, "gold")
        return [(row.anchor.start, row.anchor.end, row.gold.answer.kind) for row in rows]


async def test_an_annotators_key_leaves_experts_gold_in_exports(open_desk, database):
    async with open_desk(size=SMALL) as desk:
        await desk.press("j", "y", "enter")
    before = exported(database)
    async with open_desk("annotate", me="ann1", size=SMALL) as desk:
        await desk.press("g", "j", "plus")
    assert len(before) == 2
    assert exported(database) == before


async def test_a_proposal_is_seen_and_changed_and_taken_back(open_desk, read):
    async with open_desk("annotate", me="ann1", size=SMALL) as desk:
        await desk.press("g", "j", "y", "plus")
        assert desk.said.startswith("you propose “sixty two” for the number, saved ")
        await desk.press("I")
        assert "you propose the span “sixty two”" in desk.text()
        assert "▸sixty◂ two›" in desk.text()
        assert desk.state.edit.kind is Kind.YEAR
        assert span_of(desk) == Anchor(4, 5)
        await desk.press("plus", "greater_than_sign")
        assert "you propose the span “two,”" in desk.text()
        await desk.press("less_than_sign", "minus", "minus")
        assert "proposal withdrawn" in desk.said
        assert "you propose the span" not in desk.text()
    assert read(1).flags == ()


async def test_undo_takes_a_proposal_back_in_another_session(open_desk, read):
    async with open_desk("annotate", me="ann1", size=SMALL) as desk:
        await desk.press("g", "j", "plus")
    async with open_desk("annotate", me="ann1", size=SMALL) as desk:
        await desk.press("g", "j", "z")
        assert "undone: span “sixty two” proposed for “sixty”" in desk.said
        assert "you propose" not in desk.text()
    assert read(1).flags == ()


async def test_one_who_adjudicates_sees_it_and_takes_it(open_desk, propose, read):
    propose("ann1")
    async with open_desk(size=SMALL) as desk:
        await desk.press("T")
        assert desk.said == "Nobody proposes another span for this number."
        await desk.press("j")
        assert "ann1 proposes the span “sixty two” · T takes it" in desk.text()
        await desk.press("y", "T")
        assert desk.said.startswith("the number is “sixty two”, saved ")
        assert desk.state.edit.kind is Kind.YEAR
        assert span_of(desk) == WIDER
        await desk.press("z")
        await desk.press("z")
        assert span_of(desk) == Anchor(4, 5)
    assert [flag.span for flag in read(1).flags] == [WIDER]


async def test_of_several_spans_one_is_chosen(open_desk, propose):
    propose("ann1")
    propose("ann2", WIDEST)
    propose("ann3")
    async with open_desk(size=SMALL) as desk:
        await desk.press("j")
        assert "ann1, ann3 propose the span “sixty two”" in desk.text()
        await desk.press("T")
        assert "1 “sixty two”" in desk.text()
        await desk.press("2")
        assert span_of(desk) == WIDEST


@pytest.mark.parametrize("key", ["T", pytest.param("plus", marks=pytest.mark.long)])
async def test_what_becomes_stale_is_named_first(open_desk, propose, database, key):
    propose("ann1")
    for who in ("ann1", "ann2"):
        answered(database, who)
    answered(database, "eva", Role.ADJUDICATOR)
    words = "Gold by eva and the answers of ann1, ann2 become stale."
    async with open_desk(size=SMALL) as desk:
        await desk.press("j", key)
        foot = desk.text().splitlines()[-1]
        assert words in foot
        assert "y replace" in foot
        assert "n keep" in foot
        await desk.press("n")
        assert "the number stays “sixty”" in desk.said
        assert (4, 5, Kind.YEAR) in exported(database)
        await desk.press(key, "y")
        assert span_of(desk) == WIDER
    assert (4, 5, Kind.YEAR) not in exported(database)


async def test_blind_the_question_names_nobody(open_desk, propose, database):
    propose("ann1")
    answered(database, "ann1")
    answered(database, "eva", Role.ADJUDICATOR)
    async with open_desk(size=SMALL) as desk:
        await desk.press("j", "B")
        assert "somebody proposes the span “sixty two”" in desk.text()
        await desk.press("T")
        assert "Gold and one answer become stale." in desk.text().splitlines()[-1]
        assert "eva" not in desk.text()


async def test_reading_and_annotating_take_nothing(open_desk, propose):
    propose("ann2")
    async with open_desk("browse", size=SMALL) as desk:
        await desk.press("j")
        assert "ann2 proposes the span “sixty two”" in desk.text()
        assert "T takes it" not in desk.text()
        await desk.press("T")
        assert "You are reading" in desk.said
        await desk.press("plus")
        assert "You are reading" in desk.said
    async with open_desk("annotate", me="ann1", size=SMALL) as desk:
        await desk.press("j")
        assert "proposes the span" not in desk.text()
        await desk.press("T")
        assert span_of(desk) == Anchor(4, 5)
