"""How undecided a model was: stored with what it says, and filled in for older databases."""

import math
from pathlib import Path

import pytest

from nfh_db import connection
from nfh_db.predictions import entropy
from nfh_db.query import parse
from nfh_db.records import Prediction
from nfh_db.serialization import encode_scores
from nfh_db.store import Store
from tests.nfh_db.store.older_database import older_database

EVEN = (0.25, 0.25, 0.0, 0.0, 0.0, 0.0, 0.25, 0.25)
SURE = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, None, 0.0)
RANKS = (None, None, None, None, None, None, 1.0, 0.5)
"""As nearest-noun has them: they do not sum up to 1."""


def test_it_is_the_share_of_the_most_there_can_be() -> None:
    assert entropy((0.25,) * 4) == pytest.approx(1.0)
    assert entropy(SURE) == 0.0
    assert entropy((0.5, 0.5, 0.0, 0.0)) == pytest.approx(0.5)
    assert entropy((0.5, None, 0.5, None)) == pytest.approx(1.0)
    wanted = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / math.log(3)
    assert entropy((0.75, 0.25, 0.0)) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "scores", [RANKS, (), (1.0,), (None, 1.0), (-0.5, 1.5), (0.4, 0.4), (math.inf, 0.0)]
)
def test_what_is_no_probability_has_none(scores: tuple[float | None, ...]) -> None:
    assert entropy(scores) is None


def test_it_is_stored_with_a_prediction(store: Store, kit) -> None:
    kit.load(
        store, *(kit.one(f"{word} one", 1, line=line) for line, word in enumerate("abc", 1))
    )
    eva, model = store.people.ensure("eva"), store.models.ensure("m", "resolution", "r", "1")
    for anchor, scores in enumerate((SURE, EVEN, RANKS), 1):
        store.predictions.save(model, [(anchor, Prediction("m", "YEAR", None, 0.5, scores))])
    (ids,) = store.queue.ids(parse("sort:entropy"), eva)
    assert list(ids) == [2, 1, 3]
    assert store.queue.count(parse("entropy<0.1"), eva) == 1
    # What the model says now counts, not what it said before.
    store.predictions.save(model, [(2, Prediction("m", "YEAR", None, 0.5, SURE))])
    assert store.queue.count(parse("entropy<0.1"), eva) == 2


def test_an_upgrade_fills_it_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # More rows than are filled at a time, of two models.
    monkeypatch.setattr("nfh_db.predictions.FILLED_AT_ONCE", 4)
    with older_database(path, 4) as old:
        old.execute("INSERT INTO document VALUES (1, 'd', NULL)")
        old.execute("INSERT INTO passage VALUES (1, 1, NULL, x'dd', 'a one')")
        old.executemany(
            "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word) "
            "VALUES (?,1,?,?,2,5,'one')",
            [(id_, id_, id_ + 1) for id_ in range(1, 7)],
        )
        old.executemany(
            "INSERT INTO model (id, name, task, recipe, version, state, created_at) "
            "VALUES (?,?,'resolution','r','1',?,'')",
            [(1, "a", "active"), (2, "b", "candidate")],
        )
        kinds = {1: SURE, 2: EVEN, 3: RANKS, 4: EVEN, 5: RANKS, 6: SURE}
        old.executemany(
            "INSERT INTO prediction VALUES (?,?,'YEAR',NULL,0.5,?,'',0.5)",
            [
                (id_, model, encode_scores(scores))
                for id_, scores in kinds.items()
                for model in (1, 2)
            ],
        )
        old.execute(
            "INSERT INTO prediction VALUES (1,1,'AGE',NULL,0.5,x'00','',0.5) "
            "ON CONFLICT DO UPDATE SET scores = x'00'"
        )
    with Store.open(path) as store:
        store.people.ensure("eva")
    with connection.sqlite3.connect(path) as new:
        found = new.execute(
            "SELECT anchor_id, round(entropy, 6) FROM prediction WHERE entropy IS NOT NULL "
            "ORDER BY anchor_id, model_id"
        ).fetchall()
    new.close()
    even = round(math.log(4) / math.log(8), 6)
    # Damaged scores, and ranks, have none.
    assert found == [(1, 0.0), (2, even), (2, even), (4, even), (4, even), (6, 0.0), (6, 0.0)]
