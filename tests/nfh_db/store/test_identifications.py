"""What models say of missing nouns: kept by model, forgotten with it, and nobody's answer."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nfh_db import predictions
from nfh_db import predictions as db_predictions
from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.predictions import decode_weights, encode_weights
from nfh_db.query import parse
from nfh_db.records import Annotator, Identified, Identifying, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind
from tests.nfh_db.store.older_database import older_database

BY_RULE = Identified("rules", True, "no-one")
BY_SCORE = Identified(
    "svm-1", False, "svm", -0.25, (("window:-1=the", -0.5), ('a "b" é\0', 0.125))
)


@pytest.fixture
def eva(store: Store, kit) -> Annotator:
    """Somebody, in a database of two anchors."""
    kit.load(store, kit.one("a one", 1), kit.one("b one", 1, line=2))
    return store.people.ensure("eva")


def shown(store: Store, eva: Annotator, anchor: int = 1) -> Identified | None:
    """What the active model says of an anchor, as the screen is told."""
    item = store.items.read(anchor, eva, Role.ANNOTATOR)
    assert item is not None
    return item.identification


def rules(store: Store, version: str = "1", parser: str = "p 1") -> tuple[int, str]:
    """The rules, registered, with a parser: their id and version."""
    model = store.models.ensure("rules", "identification", "rules", version)
    return model, store.identifications.decide_with(model, parser)


def test_decisions_come_back_whole(store: Store, eva: Annotator) -> None:
    model, version = rules(store)
    store.identifications.save(model, version, [(1, BY_RULE)])
    assert shown(store, eva) == BY_RULE
    assert shown(store, eva, 2) is None
    other = Identified("rules", False, "currency")
    store.identifications.save(model, version, [(1, other)])
    assert shown(store, eva) == other


def test_only_the_active_model_is_shown(store: Store, eva: Annotator) -> None:
    model, version = rules(store)
    svm = store.models.ensure("svm-1", "identification", "svm", "9")
    store.identifications.save(svm, "9", [(1, BY_SCORE)])
    assert shown(store, eva) is None
    store.identifications.save(model, version, [(1, BY_RULE)])
    assert shown(store, eva) == BY_RULE
    with store.connections.fast_write() as writer:
        writer.execute("UPDATE model SET state = 'retired' WHERE id = ?", (model,))
        writer.execute("UPDATE model SET state = 'active' WHERE id = ?", (svm,))
    assert shown(store, eva) == BY_SCORE
    assert store.identifications.active() == Identifying(svm, "svm-1", "9")


def test_another_version_forgets_and_what_it_said_late_is_refused(
    store: Store, eva: Annotator
) -> None:
    model, old = rules(store)
    store.identifications.save(model, old, [(1, BY_RULE), (2, BY_RULE)])
    assert store.models.ensure("rules", "identification", "rules", "2") == model
    assert shown(store, eva) is None
    with pytest.raises(StoreError, match="another version of this model"):
        store.identifications.save(model, old, [(1, BY_RULE)])
    assert [shown(store, eva, anchor) for anchor in (1, 2)] == [None, None]


def test_what_a_parser_led_to_that_is_another_by_now_is_refused(
    store: Store, eva: Annotator
) -> None:
    model, version = rules(store)
    store.identifications.save(model, version, [(1, BY_RULE)], "p 1")
    assert store.identifications.decided_with(model) == "p 1"
    store.identifications.decide_with(model, "p 2")
    with pytest.raises(StoreError, match="another parser since then"):
        store.identifications.save(model, version, [(2, BY_RULE)], "p 1")
    assert [shown(store, eva, anchor) for anchor in (1, 2)] == [None, None]
    store.identifications.save(model, version, [(2, BY_RULE)], "p 2")
    assert shown(store, eva, 2) == BY_RULE


def test_another_parser_forgets_and_the_same_one_keeps(store: Store, eva: Annotator) -> None:
    model, version = rules(store)
    store.identifications.save(model, version, [(1, BY_RULE)])
    rules(store)
    assert shown(store, eva) == BY_RULE
    assert store.identifications.decide_with(model, "p 2", "stanza:here") == version
    assert shown(store, eva) is None
    assert store.identifications.active() == Identifying(
        model, "rules", "1", "stanza:here", "p 2"
    )


def test_many_are_saved_in_several_writes(
    store: Store, eva: Annotator, kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.load(store, *(kit.one(f"{n} one", 1, line=n + 1) for n in range(9)))
    few = replace(db_predictions.WRITE_SIZE, first=2, smallest=2, largest=3)
    monkeypatch.setattr(db_predictions, "WRITE_SIZE", few)
    sizes: list[int] = []
    save = predictions.save_identifications

    def counted(writer, model, version, found, parser):
        sizes.append(len(found))
        save(writer, model, version, found, parser)

    monkeypatch.setattr(predictions, "save_identifications", counted)
    model, version = rules(store)
    store.identifications.save(model, version, [(n, BY_RULE) for n in range(1, 12)])
    assert sum(sizes) == 11
    assert max(sizes) <= 3
    assert [shown(store, eva, anchor) for anchor in range(1, 12)] == [BY_RULE] * 11


def test_a_decision_is_no_answer_no_vote_and_no_gold(
    store: Store, eva: Annotator, path: Path
) -> None:
    def rest() -> list[list[tuple[object, ...]]]:
        reader = connect(path, "ro")
        tables = ("anchor", "answer", "gold", "act", "event", "flag", "prediction", "batch")
        found = [reader.execute(f"SELECT * FROM {name}").fetchall() for name in tables]
        reader.close()
        return found

    before = rest()
    model, version = rules(store)
    store.identifications.save(model, version, [(1, BY_RULE), (2, BY_RULE)])
    assert rest() == before


def test_passages_with_their_numbers(store: Store, eva: Annotator, kit) -> None:
    gold = kit.gold(Kind.AGE)
    kit.load(store, kit.one("one two", 0, split="dev", gold=gold), kit.one("one two", 1))
    model, version = rules(store)
    store.identifications.save(model, version, [(3, BY_RULE)])
    store.edits.replace_anchor(
        4, eva, Role.ADJUDICATOR, Anchor(0, 2), store.edits.stale_labels(4, eva)
    )
    (found,) = store.identifications.numbered([3], model)
    assert found.passage == kit.passage("one two")
    assert found.tokenizer == "test 1"
    known = {number.id: number for number in found.numbers}
    assert (known[3].kind, known[3].split, known[3].said) == (Kind.AGE, "dev", (True, "no-one"))
    assert (known[4].seen, known[5].seen, known[5].said) == (False, True, None)
    assert list(store.identifications.passage_ids(parse("class:AGE"))) == [3]
    assert list(store.identifications.passage_ids(parse(""))) == [1, 2, 3]


def test_weights_are_kept_as_they_are() -> None:
    assert decode_weights(encode_weights(BY_SCORE.weights)) == BY_SCORE.weights
    assert encode_weights(()) == ""
    assert decode_weights("") == ()


@pytest.mark.parametrize("version", [1, 2])
def test_a_database_of_an_older_version_gets_the_table(
    path: Path, kit, version: int, clock: Callable[[str], None]
) -> None:
    with older_database(path, version) as old:
        old.execute("PRAGMA journal_mode = WAL")
        old.execute("INSERT INTO annotator (name, created_at) VALUES ('eva', '2026')")
        tables = old.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'identification'")
        assert tables.fetchone()[0] == 0
    with Store.open(path) as store:
        kit.load(store, kit.one("a one", 1))
        model, stamp = rules(store)
        store.identifications.save(model, stamp, [(1, BY_RULE)])
        assert shown(store, store.people.ensure("eva")) == BY_RULE
    assert list(path.parent.glob(f"nfh.db.backup-v{version}-*"))
