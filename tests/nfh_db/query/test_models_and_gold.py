"""Keys about what models chose, how votes compare with gold, and rules of the guidelines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import QueryError
from nfh_db.predictions import confidence
from nfh_db.query import parse
from nfh_db.queue import queue_values
from nfh_db.records import Prediction
from nfh_db.store import Store
from nfh_models.domain import Kind

Found = Callable[[str], list[int]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("predicted:AGE", [1, 5, 11]),
        ("predicted:age class:AGE", [1]),
        ("predicted:AGE class:NOT_NFH", [11]),
        ("predicted:REFERENCE", [2, 12]),
        ("predicted:none", [3, 4, 7, 13]),
        ("predicted:old/OTHER", [14]),
        ("predicted:OLD/AGE,YEAR", [14, 3]),
        ('predicted:"put away"/YEAR', [1]),
        ("predicted:old/none -predicted:none", [1, 2, 5, 6, 12, 11]),
        ("predicted:nobody/AGE", []),
        ('predicted:"other task"/AGE', []),
        ("-predicted:AGE", [14, 2, 3, 4, 6, 12, 7, 13]),
        ("margin<0.3", [2, 11]),
        ("margin<=.3", [2, 5, 11]),
        ("margin:0.5", [1]),
        ("margin!=0.5 margin>=0", [14, 2, 5, 6, 11]),
        ("margin>1", []),
        ("conf<0.6", [14, 2, 11]),
        ("conf>=0.7", [1, 6]),
        ("right:me", [1]),
        ("right:ann2", []),
        ("right:ANN2,Zoë", [6]),
        ("right:nobody", [2]),
        ("right:nobody,me", [1, 2]),
        ("wrong:me", [2]),
        ("wrong:ann2", [1, 2]),
        ("wrong:ann2/class", [1]),
        ("wrong:ann2/noun,me/noun", [2]),
        ("-wrong:ann2 state:decided", [14, 6, 12, 11]),
        ("tagged:R5", [1]),
        ("tagged:r5,12", [1, 2]),
        ("tagged:R12", [2]),
        ("tagged:none state:decided", [14, 6, 12, 11]),
        ("guideline<3", [2]),
        ("guideline<2", []),
        ("guideline:2", [2]),
    ],
)
def test_what_is_found(found: Found, text: str, expected: list[int]) -> None:
    assert sorted(found(text)) == sorted(expected)


def test_the_surest_contradiction_comes_first(found: Found) -> None:
    # 14 is said to be a YEAR and is OTHER; of the others that have a wrong model, none is.
    assert found("model!=gold") == [14, 12]
    assert found("sort:conflict")[:2] == [14, 12]
    assert found("-sort:conflict")[:2] == [12, 14]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("margin<2", "margin takes a number from 0 to 1, as in margin<0.3"),
        ("conf<60%", "conf takes a number from 0 to 1"),
        ("margin<0.1,0.2", "compares with one number"),
        ("tagged:soon", "not a number of a rule, as in tagged:R5 or tagged:5,12, or none"),
        ("right:ann2/class", "right takes a name only, as in right:ann2"),
        ("predicted:cat", "no, or predicted:NAME/KIND"),
        ("wrong:ann2/cat", "after / comes"),
        ("wrong:a~b", "wanted NAME or NAME/WHAT"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert words.removeprefix("no, ") in str(caught.value)


def test_values_for_completion(hand_made) -> None:
    assert queue_values(hand_made, "predicted") == ("new", "old", "put away")
    assert queue_values(hand_made, "tagged") == ("12", "R5")
    assert "Ann2" in queue_values(hand_made, "wrong")


def test_confidence_is_the_score_of_the_choice() -> None:
    scores = (0.1, 0.5, None, 0.0, 0.0, 0.0, 0.25, 0.15)
    assert confidence("AGE", scores) == 0.5
    assert confidence("CURRENCY", scores) is None
    assert confidence("1", scores) == 0.15
    assert confidence("2", scores) is None
    assert confidence("SPOON", scores) is None


def test_it_is_stored_with_a_prediction(tmp_path: Path) -> None:
    from nfh_db.import_run import IncomingFile
    from nfh_db.records import IncomingAnchor, IncomingPassage
    from nfh_models.domain import Anchor, Passage, Token, Turn

    words = Passage("one", (Token(0, 3, "one"),), (Turn(0, None, 0, 1),))
    with Store.open(tmp_path / "own.db", create=True) as store:
        coming = IncomingPassage(words, "t", (IncomingAnchor(1, Anchor(0, 1)),))
        store.imports.load(IncomingFile("a", "a", "gold"), [coming])
        model = store.models.ensure("m", "resolution", "r", "1")
        scores = (0.0, 0.75, 0.0, 0.0, 0.0, 0.25, None)
        said = Prediction("m", Kind.AGE.value, Kind.OTHER.value, 0.5, scores)
        me = store.people.ensure("me")
        (ids,) = store.queue.ids(parse(""), me)
        store.predictions.save(model, [(ids[0], said)])
        assert store.queue.count(parse("conf:0.75 margin:0.5 predicted:m/AGE"), me) == 1
