"""Gold taken out of a database: which of it, and on which side."""

from dataclasses import replace

import pytest

from nfh_db import holdout
from nfh_db.holdout import SplitSide
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_tui.jobs import snapshot
from nfh_tui.jobs.reporting import Phase
from nfh_tui.jobs.snapshot import BOTH_SIDES, Snapshot, SnapshotSpec, SplitError, take

from .handmade import LONG, OTHER, Load, passages

RESOLUTION = SnapshotSpec("resolution")


class Report:
    """Nobody to report to."""

    def step(self, step: Phase) -> None:
        """Not heeded."""


def taken(store: Store, which: SnapshotSpec = RESOLUTION) -> Snapshot:
    return take(store, which, Report())  # type: ignore[arg-type]


def out(snapshot: Snapshot) -> set[str]:
    return {sheet.passage.digest for sheet in snapshot.sheets if sheet.dev}


def test_sides_are_kept_and_extended_never_reshuffled(store: Store, load: Load) -> None:
    load("a", count=50)
    first = taken(store)
    assert len(out(first)) == 10
    assert first.judged_on.startswith("20 % of the labels")
    assert out(taken(store)) == out(first)
    load("b", count=50, start=50)
    second = taken(store)
    assert len(out(second)) == 20
    learnt = {sheet.passage.digest for sheet in first.sheets} - out(first)
    assert out(first) < out(second)
    assert not out(second) & learnt
    assert second.digest != first.digest


def test_a_query_finds_the_same_sides_and_other_labels(store: Store, load: Load) -> None:
    load("a", count=60)
    everything = taken(store)
    ages = taken(store, SnapshotSpec("resolution", parse("class:AGE")))
    assert len(ages.sheets) == 30
    assert out(ages) == out(everything) & {sheet.passage.digest for sheet in ages.sheets}


def test_each_task_takes_what_says_something_of_it(store: Store, load: Load) -> None:
    load("a", count=20)
    load("b", count=10, start=100, only=Kind.NOT_NFH)
    load("c", count=5, start=200, only=Kind.BROKEN)
    load("d", count=3, start=300, only=Kind.UNKNOWN)
    resolution, numbers, both = (
        taken(store, SnapshotSpec(task)) for task in ("resolution", "identification", "both")
    )
    assert len(resolution.train) + len(resolution.dev) == 23
    assert not resolution.numbers
    assert not resolution.dev_numbers
    assert resolution.left_out == {
        "gold says no noun is missing": 10,
        "gold says the text is damaged": 5,
    }
    assert not numbers.train
    assert len(numbers.numbers) + len(numbers.dev_numbers) == 33
    assert numbers.left_out == {"gold says the text is damaged": 5}
    assert len(both.train) + len(both.dev) == 23
    assert len(both.numbers) + len(both.dev_numbers) == 33
    assert out(resolution) <= out(both)


def test_a_split_that_judges_is_kept_out_of_later_trainings_too(
    store: Store, load: Load
) -> None:
    load("a", count=40, split="train")
    load("b", count=20, start=100, split="dev")
    load("c", count=5, start=38, split="test")  # two of them are among those of train
    named = taken(store, SnapshotSpec("resolution", split="train", dev_split="dev"))
    assert (len(named.train), len(named.dev)) == (38, 20)
    assert named.judged_on == "split dev"
    assert named.left_out == {"in a passage of the split test": 2}
    later = taken(store)
    assert out(later) == out(named)
    assert len(later.train) == 38


def test_a_split_that_judges_wins_over_what_was_kept_out_and_says_so(
    store: Store, load: Load
) -> None:
    load("a", count=40, split="train")
    assert len(taken(store).dev) == 8
    load("b", count=20, start=100, split="dev")
    named = taken(store, SnapshotSpec("resolution", split="train", dev_split="dev"))
    assert len(named.train) == 40
    (note,) = named.notes
    assert note.startswith("8 passages that other trainings keep out")


@pytest.mark.parametrize(
    ("which", "words"),
    [
        (
            SnapshotSpec("resolution", split="dev", dev_split="dev"),
            "cannot be both learnt from and used to judge",
        ),
        (SnapshotSpec("resolution", dev_split="dev"), "the split dev has no gold"),
    ],
)
def test_a_split_that_cannot_judge_is_a_sentence(
    store: Store, load: Load, which: SnapshotSpec, words: str
) -> None:
    load("a", count=20)
    with pytest.raises(SplitError, match=words):
        taken(store, which)
    assert store.holdout.sides() == ()


def test_scenes_with_a_long_turn_in_common_are_not_parted(store: Store, load: Load) -> None:
    load("a", count=60)
    load("b", count=8, start=100, turns=(LONG,))
    first = taken(store)
    together = {s.passage.digest for s in first.sheets if LONG[:-2] in s.passage.text}
    assert len(together) == 8
    assert together <= out(first) or not together & out(first)
    load("c", count=8, start=200, turns=(LONG,))
    second = taken(store)
    every = {s.passage.digest for s in second.sheets if LONG[:-2] in s.passage.text}
    assert len(every) == 16
    assert every <= out(second) or not every & out(second)


def test_what_has_long_turns_of_both_sides_is_left_out(store: Store, load: Load) -> None:
    load("a", [*passages(1, turns=(LONG,)), *passages(1, 2, turns=(OTHER,))])
    one, other = (ballot.passage_id for ballot in store.holdout.labelled(parse("")))
    assert store.holdout.write_sides(
        [SplitSide(one, True, "one"), SplitSide(other, False, "other")], 0
    )
    load("b", passages(1, 4, turns=(LONG, OTHER)))
    load("c", [*passages(1, 6, turns=(LONG,))])
    snapshot = taken(store)
    assert snapshot.left_out == {BOTH_SIDES: 1}
    assert len(out(snapshot)) == 2  # with what was loaded last and has a turn of the one
    assert len(store.holdout.sides()) == 3


def test_what_somebody_deals_meanwhile_is_not_dealt_again(
    store: Store, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("a", count=40)
    others: list[Snapshot] = []
    plan = snapshot.plan

    def planned(*some: object) -> object:
        found = plan(*some)  # type: ignore[arg-type]
        if not others:
            monkeypatch.setattr(snapshot, "plan", plan)
            load("b", count=20, start=100)
            others.append(taken(store))
        return found

    monkeypatch.setattr(snapshot, "plan", planned)
    mine = taken(store)
    assert (len(mine.sheets), len(others[0].sheets)) == (40, 60)
    assert len(store.holdout.sides()) == 60
    kept_out = out(others[0])
    learnt = {sheet.passage.digest for sheet in others[0].sheets} - kept_out
    assert not out(mine) & learnt
    assert not kept_out & ({sheet.passage.digest for sheet in mine.sheets} - out(mine))


def test_dealing_many_passages_is_many_short_writes(
    store: Store, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Writes of a slow disk: the next one is smaller, as far down as it may be.
    slow = replace(holdout.WRITE_SIZE, seconds=0.0, smallest=30)
    monkeypatch.setattr(holdout, "WRITE_SIZE", slow)
    load("a", count=180)
    sizes = []
    deal = holdout.write_sides

    def dealt(connection: object, some: list[SplitSide], known: int) -> bool:
        sizes.append(len(some))
        return deal(connection, some, known)  # type: ignore[arg-type]

    monkeypatch.setattr(holdout, "write_sides", dealt)
    taken(store)
    assert sizes == [50, 30, 30, 30, 30, 10]
    assert len(store.holdout.sides()) == 180
