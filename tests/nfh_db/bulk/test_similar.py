"""Items that are like one that was decided, and what each would be given."""

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import Annotator, Role
from nfh_db.similar_items import Likeness, SimilarAnswer
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, Origin, Relation, reference_answer
from tests.nfh_db.bulk.conftest import given, one, to

AGE, TIME = Kind.AGE, Kind.TIME
FAR = "\n".join(["My pump leaks"] + ["so so so"] * 5 + ["bring one"])
PASSAGES = (
    one(1, "My pump leaks so bring one", 5, to(1), to(1), AGE),
    one(2, "Pumps leak\ngive me one and pump on", 4, to(0), to(0), AGE),
    one(3, "She turned one last week", 2, AGE, AGE, TIME),
    one(4, "She was One or so", 2, AGE, AGE, TIME),
    one(5, "It was one then", 2, TIME, AGE, TIME),
    one(6, FAR, 19),
    one(7, "A pump and two more", 3, to(1), to(1), AGE),
    one(8, "He turned one last week", 2, TIME),
)


@pytest.fixture
def store(path):
    with Store.open(path, create=True) as opened:
        opened.imports.load(IncomingFile("alike", "2" * 64, "gold"), PASSAGES)
        again = one(1, "She turned one last week", 2, AGE)
        # The same words, said by somebody else: another passage.
        from dataclasses import replace

        from nfh_models.domain import Passage, Turn

        words = again.passage
        other = Passage(words.text, words.tokens, (Turn(0, "Bob", 0, len(words.tokens)),))
        opened.imports.load(
            IncomingFile("again", "3" * 64, "gold"), [replace(again, passage=other)]
        )
        yield opened


@pytest.fixture
def ids(store: Store, me: Annotator) -> list[int]:
    return [anchor_id for chunk in store.queue.ids(parse(""), me) for anchor_id in chunk]


def like(
    store: Store, me: Annotator, anchor_id: int, answer: Answer
) -> dict[Likeness, SimilarAnswer]:
    item = store.items.read(anchor_id, me, Role.ADJUDICATOR)
    assert item is not None
    return {a.likeness: a for a in store.similar.find(anchor_id, item.passage, answer, me)}


def test_repeats_and_votes_alike_get_the_class(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    found = like(store, me, ids[2], given(AGE))
    assert [one.anchor_id for one in found[Likeness.REPEAT].items] == [ids[8]]
    voted = found[Likeness.VOTES].items
    assert [(one.anchor_id, one.answer, one.pattern) for one in voted] == [
        (ids[3], given(AGE), "2-1")
    ]
    assert found[Likeness.NOUN].items == ()


def test_a_reference_goes_where_its_noun_stands(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    found = like(store, me, ids[0], to(1))
    # In the second passage the noun stands before the number and after it.
    (near,) = found[Likeness.NOUN].items
    assert near.anchor_id == ids[1]
    assert [(m.head, m.origin) for m in near.answer.heads[0].mentions] == [
        (0, Origin.MARKED),
        (6, Origin.ADDED),
    ]
    assert [one.anchor_id for one in found[Likeness.VOTES].items] == [ids[1]]


def test_where_a_noun_does_not_stand_nothing_is_offered(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    found = like(store, me, ids[2], to(4))
    assert found[Likeness.VOTES].items == ()
    assert found[Likeness.VOTES].left == 1


def test_several_heads_all_have_to_stand_there(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    from nfh_models.domain import Mention

    two = reference_answer(
        [[Mention(1, 2, 1)], [Mention(2, 3, 2)]], Relation.AND
    )  # pump and leak
    found = like(store, me, ids[0], two)
    answers = [one.answer for one in found[Likeness.VOTES].items]
    assert [[head.mentions[0].head for head in a.heads] for a in answers] == [[0, 1]]
    assert answers[0].relation is Relation.AND


def test_others_decisions_are_not_offered_and_the_last_one_is_known(
    store: Store, me: Annotator, ids: list[int]
) -> None:
    assert store.similar.last_decided(me) is None
    other = store.people.ensure("other")
    store.edits.commit_answer(ids[3], other, Role.ADJUDICATOR, given(TIME))
    store.edits.commit_answer(ids[2], me, Role.ADJUDICATOR, given(AGE))
    found = like(store, me, ids[2], given(AGE))
    assert (found[Likeness.VOTES].items, found[Likeness.VOTES].left) == ((), 1)
    assert store.similar.last_decided(me) == ids[2]
