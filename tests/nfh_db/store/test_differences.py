"""How answers differ, pair by pair: the table says at all times what comparing them says."""

import json
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import AnchorState, Ballot, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Blocking, DifferenceNote, Kind, class_answer, compare
from nfh_tui.cli.main import commands
from tests.nfh_db.store.older_database import older_database

WORDS = "the dogs saw one or two dogs and cats near cats"
PEOPLE = ("eva", "bob", "Zoë", "ada")
ROWS = """
SELECT d.anchor_id, l.name, r.name, d.left_id, d.right_id, d.blocking, d.notes
FROM difference AS d JOIN annotator AS l ON l.id = d.left_id
JOIN annotator AS r ON r.id = d.right_id"""
EXPERTS = "SELECT anchor_id, blocking FROM expert_difference ORDER BY anchor_id"
ANCHORS = "SELECT id FROM anchor ORDER BY id"

Pairs = dict[tuple[int, frozenset[str]], tuple[str | None, frozenset[str]]]


def stored(path: Path) -> Pairs:
    """The rows of the table, by anchor and pair of names."""
    with closing(connect(path, "ro")) as connection:
        rows = connection.execute(ROWS).fetchall()
    assert all(left < right for _, _, _, left, right, _, _ in rows)
    found = {
        (anchor, frozenset((left, right))): (blocking, frozenset(notes.split()))
        for anchor, left, right, _, _, blocking, notes in rows
    }
    assert len(found) == len(rows)
    return found


def compared(ballot: Ballot) -> Pairs:
    """What comparing each two annotators' answers says, where they differ in anything."""
    words = [token.lemma for token in ballot.passage.tokens]
    found = {}
    for left, right in combinations(ballot.votes, 2):
        if left.role is right.role is Role.ANNOTATOR:
            one = compare(left.answer, right.answer, words)
            if one.blocking or one.notes:
                pair = frozenset((left.annotator, right.annotator))
                blocking = one.blocking and one.blocking.value
                notes = frozenset(note.value for note in one.notes)
                found[ballot.anchor_id, pair] = (blocking, notes)
    return found


def strongest_of_experts(ballot: Ballot) -> list[tuple[int, str | None]]:
    """The row that an anchor decided by several adjudicators has to have."""
    words = [token.lemma for token in ballot.passage.tokens]
    answers = [vote.answer for vote in ballot.votes if vote.role is Role.ADJUDICATOR]
    if len(answers) < 2:
        return []
    found = {compare(left, right, words).blocking for left, right in combinations(answers, 2)}
    strongest = next((kind for kind in Blocking if kind in found), None)
    return [(ballot.anchor_id, strongest and strongest.value)]


def check(path: Path, store: Store) -> int:
    """The tables of those anchors that are seen are right; the number of pairs."""
    ballots = list(store.items.ballots(parse("")))
    seen = {ballot.anchor_id for ballot in ballots}
    expected: Pairs = {}
    experts = []
    for ballot in sorted(ballots, key=lambda one: one.anchor_id):
        expected |= compared(ballot)
        experts += strongest_of_experts(ballot)
    found = stored(path)
    assert {key: row for key, row in found.items() if key[0] in seen} == expected
    with closing(connect(path, "ro")) as connection:
        rows = connection.execute(EXPERTS).fetchall()
    assert [row for row in rows if row[0] in seen] == experts
    return len(found)


people = st.sampled_from(PEOPLE)
anchors = st.integers(1, 4)
answers = st.one_of(
    st.sampled_from([class_answer(Kind.AGE), class_answer(Kind.OTHER, noun="cat")]),
    st.sampled_from([class_answer(kind) for kind in (Kind.NOT_NFH, Kind.BROKEN, Kind.NFH)]),
    st.sampled_from([1, 6, 8, 10]),
    st.tuples(st.sampled_from([1, 6]), st.sampled_from([8, 10])),
)
acts = st.one_of(
    st.tuples(st.just("answer"), people, anchors, st.sampled_from(Role), answers),
    st.tuples(st.just("answer"), people, anchors, st.just(Role.ANNOTATOR), answers),
    st.tuples(st.just("withdraw"), people, anchors, st.sampled_from(Role)),
    st.tuples(st.just("span"), people, anchors, st.sampled_from([(3, 5), (5, 6), (3, 4)])),
    st.tuples(st.just("undo"), people),
    st.tuples(st.just("redo"), people),
    st.tuples(st.just("import"), st.integers(0, 3), st.lists(answers, min_size=4, max_size=4)),
)


def said(kit, answer):
    """An answer of the strategies above."""
    if isinstance(answer, int):
        return kit.to(answer)
    return kit.to(*answer) if isinstance(answer, tuple) else answer


def do(store: Store, kit, act: tuple) -> None:
    """Do one thing; a refusal is as good as a success."""
    what, *rest = act
    if what == "import":
        votes = [
            kit.vote(name, said(kit, answer))
            for name, answer in zip(PEOPLE, rest[1], strict=True)
        ]
        votes += [
            kit.vote(name, said(kit, answer), Role.ADJUDICATOR)
            for name, answer in zip(PEOPLE, rest[1][2:], strict=False)
        ]
        kit.load(store, kit.one(WORDS + " !" * rest[0], 3, votes=votes))
        return
    person = store.people.ensure(rest[0])
    if what == "answer":
        store.edits.commit_answer(rest[1], person, rest[2], said(kit, rest[3]))
    elif what == "withdraw":
        store.edits.withdraw(rest[1], person, rest[2])
    elif what == "span":
        store.edits.replace_anchor(
            rest[1],
            person,
            Role.ADJUDICATOR,
            Anchor(*rest[2]),
            store.edits.stale_labels(rest[1], person),
        )
    else:
        (store.edits.undo if what == "undo" else store.edits.redo)(person)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(acts, min_size=1, max_size=20))
def test_the_tables_follow_every_change(kit, sequence: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nfh.db"
        with Store.open(path, create=True) as store:
            kit.load(store, *(kit.one(WORDS + " !" * i, 3, line=i) for i in range(2)))
            for act in sequence:
                with suppress(StoreError, ValueError):
                    do(store, kit, act)
                check(path, store)


def test_votes_of_a_new_anchor_and_of_a_known_one_differ_alike(
    path: Path, store: Store, kit
) -> None:
    votes = [kit.vote("eva", kit.to(1)), kit.vote("bob", kit.to(8)), kit.vote("ada", Kind.AGE)]
    kit.load(store, kit.one(WORDS, 3, votes=votes))
    kit.load(store, kit.one(WORDS + " !", 3))
    kit.load(store, kit.one(WORDS + " !", 3, votes=votes))
    found = stored(path)
    by_anchor = [
        {pair: row for (anchor, pair), row in found.items() if anchor == id_} for id_ in (1, 2)
    ]
    assert by_anchor[0] == by_anchor[1]
    assert len(by_anchor[0]) == 3
    assert check(path, store) == 6


def test_a_failed_import_leaves_no_difference_behind(path: Path, store: Store, kit) -> None:
    votes = [kit.vote("eva", kit.to(1)), kit.vote("bob", Kind.AGE)]
    experts = [kit.vote(name, kit.to(8), Role.ADJUDICATOR) for name in ("eva", "bob")]

    def breaks():
        for number in range(150):
            row = kit.one(WORDS + " !" * number, 3, line=number, votes=[*votes, *experts])
            yield row
        raise ValueError("the file ends in the middle of a line")

    with pytest.raises(ValueError, match="in the middle"):
        store.imports.load(kit.file(), breaks())
    with closing(connect(path, "ro")) as connection:
        for table in ("difference", "expert_difference", "anchor"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_rows_of_a_span_that_was_corrected_follow_its_answers(
    path: Path, store: Store, kit
) -> None:
    votes = [kit.vote("eva", kit.to(1)), kit.vote("bob", Kind.AGE)]
    kit.load(store, kit.one(WORDS, 3, votes=votes))
    eva = store.people.ensure("eva")
    new = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(3, 5), store.edits.stale_labels(1, eva)
    ).anchor_id
    assert [key[0] for key in stored(path)] == [1]
    store.edits.commit_answer(new, eva, Role.ANNOTATOR, kit.to(1))
    store.edits.commit_answer(new, store.people.ensure("bob"), Role.ANNOTATOR, kit.to(8))
    assert stored(path)[new, frozenset(("eva", "bob"))] == ("noun", frozenset())
    store.edits.undo(store.people.ensure("bob"))
    assert [key[0] for key in stored(path)] == [1]


# --- three people, whole answers ------------------------------------------------------------

NOUNS = ("boots", "coats", "hats")
TOKENS = ["my", "boots", ",", "boots", "coats", "and", "hats", ":", "two", "boots", "?"]
DIFFERENT, SAME = (1, 4, 6), (1, 3, 9)
"""Head tokens of three people: three nouns, and three mentions of one."""


def nfh_row(head: int, tokens: list[str]) -> str:
    """A row of an `nfh` file whose number is token 8."""
    return json.dumps(
        {
            "tokens": tokens,
            "line_indices": [0] * len(tokens),
            "head": [head],
            "speakers": ["Ann"] * len(tokens),
            "anchors_indices": [8],
        }
    )


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """Three `nfh` files of two items each, imported as the answers of three people."""
    path = tmp_path / "cli.db"
    for person, heads in enumerate(zip(DIFFERENT, SAME, strict=True)):
        file = tmp_path / f"person{person}.jsonl"
        rows = [nfh_row(head, [*TOKENS, f"!{n}"]) for n, head in enumerate(heads)]
        file.write_text("\n".join(rows) + "\n", encoding="utf-8")
        asked = ["import", str(file), "--db", str(path), "--annotator", f"ann {person}"]
        result = CliRunner().invoke(commands, asked, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def typed(path: Path, store: Store, kit) -> Path:
    """The same answers, committed one by one as the workbench does."""
    for number in range(2):
        kit.load(store, kit.one(" ".join([*TOKENS, f"!{number}"]), 8))
    for person, heads in enumerate(zip(DIFFERENT, SAME, strict=True)):
        who = store.people.ensure(f"ann {person}")
        for anchor, head in enumerate(heads, start=1):
            store.edits.commit_answer(anchor, who, Role.ANNOTATOR, kit.to(head))
    return path


@pytest.fixture(params=["imported", "typed"])
def answered(request: pytest.FixtureRequest) -> Path:
    """Two items with three people's answers, come by either way."""
    return request.getfixturevalue(request.param)


def asked(path: Path, query: str) -> list[int]:
    """The anchors that a query finds."""
    with Store.open(path) as store:
        me = store.people.ensure("editor")
        return [id_ for chunk in store.queue.ids(parse(query), me) for id_ in chunk]


def test_three_nouns_are_a_disagreement_and_three_mentions_of_one_are_none(
    answered: Path,
) -> None:
    with Store.open(answered) as store:
        me = store.people.ensure("editor")
        nouns, mentions = (store.items.read(id_, me, Role.ADJUDICATOR) for id_ in (1, 2))
    assert nouns and mentions
    assert (nouns.state, nouns.pattern) == (AnchorState.DISAGREE, "1-1-1")
    assert nouns.blocking == (Blocking.NOUN,)
    assert (mentions.state, mentions.pattern) == (AnchorState.ANSWERED, "3-0")
    assert (mentions.blocking, mentions.notes) == ((), (DifferenceNote.MENTION,))


def test_queries_find_the_pairs(answered: Path) -> None:
    assert asked(answered, "state:disagree disagree:noun pattern:1-1-1") == [1]
    assert asked(answered, 'differs:"ann 0"~"ann 2"/noun') == [1]
    assert asked(answered, 'differs:"ann 0"') == [1]
    assert asked(answered, 'differs:"ann 1"~"ann 2"/mention') == [2]
    assert asked(answered, "disagree:mention -disagree:any pattern:3-0") == [2]


def test_every_pair_has_its_row(answered: Path) -> None:
    found = stored(answered)
    pairs = {frozenset(pair) for pair in combinations(("ann 0", "ann 1", "ann 2"), 2)}
    assert found == {
        **{(1, pair): ("noun", frozenset()) for pair in pairs},
        **{(2, pair): (None, frozenset({"mention"})) for pair in pairs},
    }


# --- an older database ----------------------------------------------------------------------


def test_an_upgrade_fills_the_tables(path: Path, kit) -> None:
    """What was answered before there were such tables is compared when they are made."""
    answer = (
        "INSERT INTO answer (anchor_id, annotator_id, role, kind, answered_at) "
        "VALUES (1, ?, ?, ?, '')"
    )
    with older_database(path, 1) as old:
        with Store.open(path.with_name("other.db"), create=True) as other:
            kit.load(other, kit.one(WORDS, 3))
        old.execute("ATTACH ? AS other", (str(path.with_name("other.db")),))
        for table in ("batch", "document", "passage", "anchor"):
            old.execute(f"INSERT INTO {table} SELECT * FROM other.{table}")
        old.execute(
            "INSERT INTO passage_token "
            "SELECT passage_id, offsets, lemmas, turns, tokenizer FROM other.passage_token"
        )
        old.executemany(
            "INSERT INTO annotator (id, name, created_at) VALUES (?, ?, '')",
            enumerate(PEOPLE, start=1),
        )
        old.executemany(answer, [(1, "annotator", "AGE"), (2, "annotator", "YEAR")])
        old.executemany(answer, [(3, "adjudicator", "AGE"), (4, "adjudicator", "NOT_NFH")])
    with Store.open(path) as store:
        assert check(path, store) == 1
        assert asked(path, "experts:differ") == [1]
        assert asked(path, "differs:eva~bob/class state:disagree") == [1]
    with closing(connect(path, "ro")) as new:
        assert new.execute("SELECT id FROM passage_text_docsize").fetchall() == [(1,)]


def test_a_file_of_one_person_makes_no_pair(
    path: Path, store: Store, kit, clock: Callable[[str], None]
) -> None:
    votes = [kit.vote("eva", kit.to(1)), kit.vote("eva", Kind.AGE, Role.ADJUDICATOR)]
    store.imports.load(IncomingFile("one", "1", "gold"), [kit.one(WORDS, 3, votes=votes)])
    assert stored(path) == {}
    assert check(path, store) == 0
