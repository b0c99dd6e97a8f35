"""What an annotator asks: refused, or the same whatever others answered and models say."""

from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import pytest

from nfh_db.connection import Connection
from nfh_db.errors import QueryError
from nfh_db.query import (
    KEYS,
    SORTS,
    KeyArgument,
    asked_by,
    complete,
    keys_for,
    parse,
    sorts_for,
)
from nfh_db.queue import queue_count, queue_ids, queue_rows, queue_values
from nfh_db.records import Role
from tests.nfh_db.query.conftest import ANN2, ME, fill, make

ANNOTATOR = Role.ANNOTATOR

NOTHING_OF_OTHERS = f"""
    UPDATE gold SET answer_id = NULL;
    DELETE FROM mention; DELETE FROM head; DELETE FROM gold;
    DELETE FROM prediction; DELETE FROM identification; DELETE FROM doubt;
    DELETE FROM difference; DELETE FROM expert_difference; DELETE FROM gold_difference;
    DELETE FROM answer WHERE annotator_id <> {ME};
    DELETE FROM flag WHERE annotator_id <> {ME};
    DELETE FROM assignment WHERE annotator_id <> {ME} OR role <> 'annotator';
    UPDATE anchor SET state = 'open', kind = NULL, heads = 0, votes = 0, strongest = NULL,
        blocking = '', notes = '', pattern = '';
"""

REFUSED = frozenset(
    "class heads votes disagree pattern differs rule experts right wrong audit model predicted "
    "hit miss margin conf entropy doubt nfh nfhrule".split()
)


def database(path: Path) -> Connection:
    connection = make(path)
    fill(connection)
    connection.execute(
        "UPDATE answer SET rule_tag = 'R5', guideline_version = 1 "
        f"WHERE anchor_id = 4 AND annotator_id = {ME}"
    )
    return connection


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Connection, Connection]]:
    """Two databases alike in what ME did; in the second nobody else did anything."""
    folder = tmp_path_factory.mktemp("both")
    made = database(folder / "full.db"), database(folder / "bare.db")
    made[1].executescript(NOTHING_OF_OTHERS)
    yield made
    for one in made:
        one.close()


def asked() -> list[str]:
    """Every key and order with its examples, all its values, names, and each sign."""
    texts = [example for key in KEYS for example in key.examples]
    texts += [f"sort:{name}" for name in SORTS] + [f"-sort:{name}" for name in SORTS]
    texts += ["sort:models/old", "-sort:models/old"]
    for key in KEYS:
        if key.takes is KeyArgument.SORT:
            continue
        values = list(key.values)
        if key.takes is KeyArgument.PEOPLE:
            values += ["me", "Ann2", *(f"me/{w}" for w in key.after)]
            values += [f"Ann2/{w}" for w in key.after]
        if key.name in ("hit", "miss"):
            values += ["new", "old"]
        if key.name == "by":
            values += ["me", "Ann2", "Eva"]
        if key.name in ("split", "doc"):
            values += ["dev", "test", "nfh"]
        texts += [
            f"{sign}{key.name}{op}{v}" for v in values for sign in ("", "-") for op in ":="
        ]
        if "!=" in key.operators:
            texts += [f"{key.name}!={value}" for value in values]
    return texts + [f"{one} OR {other}" for one, other in pairwise(texts[::3])]


def ids(connection: Connection, text: str, role: Role = ANNOTATOR) -> list[int] | None:
    """What a query finds for ME; None where it is refused."""
    try:
        query = asked_by(parse(text), role, "me")
    except QueryError:
        return None
    found = list(chain.from_iterable(queue_ids(connection, query, ME, role)))
    assert queue_count(connection, query, ME, role) == len(found)
    return found


def understood(texts: list[str]) -> Iterator[str]:
    for text in texts:
        try:
            parse(text)
        except QueryError:
            continue
        yield text


def test_nothing_that_is_asked_tells_of_others(both) -> None:
    texts = list(understood(asked()))
    answered = [text for text in texts if ids(both[0], text) is not None]
    assert 100 < len(answered) < len(texts) - 100
    for text in answered:
        assert ids(both[0], text) == ids(both[1], text), text
    # The two do differ, for whoever may ask.
    decider = Role.ADJUDICATOR
    differ = set[str]()
    for text in texts:
        keys = {term.key for term in parse(text).each_term()}
        if not keys <= differ and ids(both[0], text, decider) != ids(both[1], text, decider):
            differ |= keys
    assert differ >= REFUSED - {"heads"}


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_each_key_is_known_to_be_refused_or_not(both, key) -> None:
    texts = [t for t in key.examples if len(parse(t).terms) == 1]
    if key.name in REFUSED:
        assert [ids(both[0], text) for text in texts] == [None] * len(texts)
        assert key.name not in [one.name for one in keys_for(ANNOTATOR)]
    else:
        assert key.name in [one.name for one in keys_for(ANNOTATOR)]


def test_no_query_passes_by_the_check(both) -> None:
    for text in ("class:AGE", "by:Ann2", "sort:votes", "todo:Ann2", "said:AGE"):
        with pytest.raises(QueryError, match=r"about others|shows"):
            list(queue_ids(both[0], parse(text), ME, ANNOTATOR))
        with pytest.raises(QueryError, match=r"about others|shows"):
            queue_count(both[0], parse(text), ME, ANNOTATOR)


def test_what_is_offered_tells_nothing_either(both) -> None:
    for key in KEYS:
        known = [queue_values(one, key.name, ME, ANNOTATOR) for one in both]
        assert known[0] == known[1], key.name
        assert not {"Ann2", "Zoë", "2-1", "new"} & set(known[0]), key.name

    def offers(text: str) -> list[str]:
        def values(key: str) -> tuple[str, ...]:
            return queue_values(both[0], key, ME, ANNOTATOR)

        return [one.insert for one in complete(text, len(text), values, ANNOTATOR).options]

    assert offers("c") == []
    assert offers("by:") == ["me"]
    assert offers("said:") == ["me/"]
    assert offers("todo:") == ["me"]
    assert offers("tagged:") == ["R5"]
    assert offers("state:") == ["open", "answered", "skipped"]
    assert (
        offers("sort:")
        == list(sorts_for(ANNOTATOR))
        == ["order", "anchor", "random", "assigned"]
    )
    assert "class:" not in offers("")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("state:answered", [4]),
        ("-state:open", [4]),
        # The skip mark on 6, which is decided, is there as any other.
        ("state:skipped", [3, 6]),
        ("by:me", [4]),
        ("by:ME -said:me/AGE", [4]),
        ("said:me/REFERENCE", [4]),
        ("flag:anchor", [5]),
        ("flag:guideline", []),
        ("tagged:5", [4]),
        ("tagged:12", []),
        ("guideline:1", [4]),
        ("guideline>1", []),
        ("todo:me", [3]),
        ("assigned:me sort:assigned", [4, 3]),
        # Passages 2 and 4 have numbers that were given to this person.
        ("split:dev", [1, 2]),
        ("split:train,test", [2]),
        ("-split:train", [14, 1, 5, 6, 11]),
        ("doc:nfh", [14, 1, 2]),
        ("-doc:nfh", [5, 6, 11]),
    ],
)
def test_what_is_asked_is_of_oneself(both, text: str, found: list[int]) -> None:
    assert ids(both[0], text) == found


def test_another_name_finds_its_own(both) -> None:
    query = asked_by(parse("by:ann2"), ANNOTATOR, "Ann2")
    assert list(chain(*queue_ids(both[0], query, ANN2, ANNOTATOR))) == [4, 5, 13]


def test_lines_of_the_queue_tell_nothing(both) -> None:
    rows = [queue_rows(one, range(1, 15), ME, ANNOTATOR) for one in both]
    assert rows[0] == rows[1]


def test_sentences_say_what_may_be_asked() -> None:
    for text, words in {
        "class:AGE": "class: shows what others answered or decided. While annotating ask for",
        "predicted:AGE": "predicted: shows what a model says",
        "-sort:conflict": "sort:conflict shows what a model says",
        "state:decided": "one of open, answered or skipped",
        "id:1 said:lee/CURRENCY": "ask only for said:me/AGE",
        "todo:me/adjudicator": "todo:me",
    }.items():
        with pytest.raises(QueryError, match=words):
            asked_by(parse(text), ANNOTATOR, "kim")
