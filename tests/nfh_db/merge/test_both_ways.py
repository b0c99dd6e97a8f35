"""Two copies, worked on at random by the same and by other people, merged both ways."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.connection import connect
from nfh_db.errors import ChangedSinceError, StoreError
from nfh_db.merge.log_diff import ConflictReason, MergeReport
from nfh_db.query import parse
from nfh_db.records import FlagName, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, anchor_id, class_answer

Content = dict[str, set[tuple[object, ...]]]

WORDS = "the dogs saw one or two cats"
PEOPLE = ("eva", "bob", "zoe")
ANCHORS = 1
"""Few, so that both copies change the same."""

people = st.sampled_from(PEOPLE)
anchors = st.integers(1, ANCHORS + 2)
roles = st.sampled_from(Role)
answers = st.sampled_from([class_answer(Kind.AGE), class_answer(Kind.NFH), 1, 6])
spans = st.sampled_from([Anchor(3, 4), Anchor(3, 5), Anchor(2, 4), Anchor(3, 6)])
acts = st.one_of(
    st.tuples(st.just("answer"), people, anchors, roles, answers),
    st.tuples(st.just("answer"), people, anchors, roles, answers),
    st.tuples(st.just("withdraw"), people, anchors, roles),
    st.tuples(st.just("flag"), people, anchors, st.sampled_from(FlagName), st.booleans()),
    st.tuples(st.just("propose"), people, anchors, spans | st.none()),
    st.tuples(st.just("span"), people, anchors, spans),
    st.tuples(st.just("undo"), people),
    st.tuples(st.just("undo"), people),
    st.tuples(st.just("redo"), people),
    st.tuples(
        st.just("import"), st.integers(0, ANCHORS), spans, answers, st.booleans(), people
    ),
    st.tuples(st.just("settle"), people, st.sampled_from([Rule.UNANIMOUS, Rule.MAJORITY])),
)
sequences = st.lists(acts, max_size=10)


def do(store: Store, kit, act: tuple) -> None:
    """Do one thing; a refusal is as good as a success."""
    what, *rest = act
    if what == "import":
        place, span, said, gold, who = rest
        row = kit.one(
            WORDS + " !" * place,
            span.start,
            stop=span.end,
            gold=kit.gold(said) if gold else None,
            votes=[kit.vote(who, said)],
        )
        kit.load(store, row, name=f"{place} {span} {said} {gold} {who}", replace_gold=gold)
        return
    person = store.people.ensure(rest[0])
    if what == "answer":
        store.edits.commit_answer(rest[1], person, rest[2], kit.said(rest[3]))
    elif what == "withdraw":
        store.edits.withdraw(rest[1], person, rest[2])
    elif what == "flag":
        store.edits.set_flag(rest[1], person, rest[2], rest[3])
    elif what == "propose":
        store.edits.propose_span(rest[1], person, rest[2])
    elif what == "span":
        store.edits.replace_anchor(
            rest[1],
            person,
            Role.ADJUDICATOR,
            rest[2],
            store.edits.stale_labels(rest[1], person),
        )
    elif what == "undo":
        store.edits.undo(person)
    elif what == "redo":
        store.edits.redo(person)
    else:
        store.settlement.run(parse(""), rest[1], person)


def work(path: Path, kit, sequence: list[tuple]) -> None:
    with Store.open(path, create=True) as store:
        for act in sequence:
            with suppress(StoreError, ValueError):
                do(store, kit, act)


def start(path: Path, kit) -> None:
    """A database with one file."""
    with Store.open(path, create=True) as store:
        rows = [kit.one(WORDS + " !" * place, line=place + 1) for place in range(ANCHORS)]
        kit.load(store, *rows, name="first")


def merge(path: Path, other: Path) -> MergeReport:
    with Store.open(path) as store:
        return store.merge.run(other, "merger")


EVENTS = """
SELECT hex(p.digest), a.start, a.stop, e.entity, e.name, n.name, m.name, c.acted_at, c.kind,
    e.before, e.after
FROM event AS e JOIN act AS c ON c.id = e.act_id JOIN anchor AS a ON a.id = e.anchor_id
JOIN passage AS p ON p.id = a.passage_id LEFT JOIN annotator AS n ON n.id = e.annotator_id
LEFT JOIN annotator AS m ON m.id = c.annotator_id ORDER BY e.id"""


def events(path: Path) -> list[tuple[object, ...]]:
    """The events: of what, by whom, when, of which kind, from what to what."""
    with closing(connect(path, "ro")) as reader:
        return reader.execute(EVENTS).fetchall()


def log(path: Path) -> set[tuple[object, ...]]:
    """What people and rules did: of what, by whom, when."""
    return {row[:8] for row in events(path) if row[8] != "import"}


def open_passages(path: Path, report: MergeReport) -> set[str]:
    """The passages of the conflicts, by digest."""
    with closing(connect(path, "ro")) as reader:
        digests = [row[0] for row in reader.execute("SELECT lower(hex(digest)) FROM passage")]
    public = {
        anchor_id(digest, Anchor(start, start + length)): digest
        for digest in digests
        for start in range(12)
        for length in range(1, 6)
    }
    return {public[conflict.public_id] for conflict in report.conflicts}


OUT_OF_SIGHT = """
SELECT lower(hex(p.digest)) FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
WHERE a.removed = 1 AND (
    EXISTS (SELECT 1 FROM answer AS w WHERE w.anchor_id = a.id AND w.removed = 0)
    OR EXISTS (SELECT 1 FROM gold AS g WHERE g.anchor_id = a.id AND g.removed = 0))"""


def out_of_sight(*paths: Path) -> set[str]:
    """Passages where an undo gave an answer back to a span that is gone: nobody sees it."""
    found = set()
    for path in paths:
        with closing(connect(path, "ro")) as reader:
            found |= {row[0] for row in reader.execute(OUT_OF_SIGHT)}
    return found


def check_nothing_lost(
    there: Path, here: Path, report: MergeReport, said: dict[str, Content]
) -> None:
    """Each change there came in, is listed, says what is here, or was taken back."""
    brought = log(here)
    listed = open_passages(here, report)
    chains: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
    for event in events(there):
        chains.setdefault(event[:6], []).append(event)
    for thing, chain in chains.items():
        lost = [event for event in chain if event[8] != "import" and event[:8] not in brought]
        if not lost or str(thing[0]).lower() in listed:
            continue
        taken_back = lost[0][9] == chain[-1][10]
        assert taken_back or says_the_same(thing, said), thing


def says_the_same(thing: tuple[object, ...], said: dict[str, Content]) -> bool:
    """True if both copies say the same of a thing, or this one has what an expert decided."""
    digest, start, stop, entity, name, owner = thing
    table, more = {
        "answer": ("answers", (owner, name)),
        "gold": ("golds", ()),
        "flag": ("flags", (owner, name)),
        "anchor": ("anchors", ()),
    }[str(entity)]
    key = (digest, start, stop, *more)
    mine, theirs = (
        {
            row[:7] if table == "anchors" else row
            for row in said[copy][table]
            if row[: len(key)] == key
        }
        for copy in ("here", "there")
    )
    return mine == theirs or (entity == "gold" and {row[8] for row in mine} == {1})


def check_undo(path: Path, sound: Callable[[Path], None]) -> None:
    """Everybody can take back what can be taken back, and do it again."""
    with Store.open(path) as store:
        for person in store.people.all():
            for turn in (store.edits.undo, store.edits.redo):
                with suppress(ChangedSinceError):
                    while turn(person):
                        pass
    sound(path)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder in memory, where there is one: each example commits some hundred times.

    The clock goes on by a millisecond each time it is asked: nobody does two things in one.
    """
    memory = Path("/dev/shm")
    seconds = count(1_800_000_000_000)

    def now() -> str:
        at = datetime.fromtimestamp(next(seconds) / 1_000, UTC)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    with (
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name,
        patch("nfh_db.system.now", now),
    ):
        yield Path(name)


EXAMPLES = int(os.environ.get("NFH_MERGE_EXAMPLES", "40"))
"""Of each property; the long form is a matter of setting this."""

FEW = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FEW
@given(sequences, sequences, sequences, st.booleans())
def test_two_copies_come_together(
    kit, saying, sound, whole, before, mine, theirs, common: bool
) -> None:
    with folder() as place:
        one, other = place / "one.db", place / "other.db"
        start(one, kit)
        work(one, kit, before)
        if common:
            shutil.copyfile(one, other)
        else:
            start(other, kit)
        work(one, kit, mine)
        work(other, kit, theirs)
        both = {"one": saying(one), "other": saying(other)}
        was_one, was_other = place / "was one.db", place / "was other.db"
        shutil.copyfile(one, was_one)
        shutil.copyfile(other, was_other)
        into_one, into_other = merge(one, was_other), merge(other, was_one)
        sound(one)
        sound(other)
        check_nothing_lost(
            was_other, one, into_one, {"here": saying(one), "there": both["other"]}
        )
        for report in (into_one, into_other):
            assert ConflictReason.MEANWHILE not in {
                conflict.why for conflict in report.conflicts
            }
        left, hidden = open_passages(one, into_one), out_of_sight(was_one, was_other)
        assert left - hidden == open_passages(other, into_other) - hidden
        left |= hidden
        assert saying(one, left) == saying(other, left)
        for path, source in ((one, was_other), (other, was_one)):
            was = whole(path)
            again = merge(path, source)
            assert not again.changes
            assert whole(path) == was
        check_undo(one, sound)
        check_undo(other, sound)


ORDER = ("ab", "ac", "ba", "ca", "bc", "ab", "ac", "ca", "ba")
"""Who merges whom: b works on after the second."""


@pytest.mark.long
@settings(FEW, max_examples=max(EXAMPLES // 4, 1))
@given(sequences, sequences, sequences, sequences, sequences)
def test_three_copies_come_together(
    kit, saying, sound, whole, before, first, second, third, later
) -> None:
    with folder() as place:
        paths = {name: place / f"{name}.db" for name in "abc"}
        start(paths["a"], kit)
        work(paths["a"], kit, before)
        for name in "bc":
            shutil.copyfile(paths["a"], paths[name])
        for name, sequence in zip("abc", (first, second, third), strict=True):
            work(paths[name], kit, sequence)
        left = out_of_sight(*paths.values())
        for number, (name, other) in enumerate(ORDER):
            report = merge(paths[name], paths[other])
            sound(paths[name])
            left |= open_passages(paths[name], report)
            was = whole(paths[name])
            assert not merge(paths[name], paths[other]).changes
            assert whole(paths[name]) == was
            if number == 1:
                work(paths["b"], kit, later)
                left |= out_of_sight(paths["b"])
        left |= out_of_sight(*paths.values())
        found = [saying(path, left) for path in paths.values()]
        assert found[0] == found[1] == found[2]
        for path in paths.values():
            check_undo(path, sound)
