"""What stands in a corpus more than once, and whose kinds shift."""

from typing import Any

import pytest

from nfh_models.domain import Kind, class_answer
from nfh_models.label_checks.base import ImportedRow, LabelFinding
from nfh_models.label_checks.checks import LabelKey, OverTime, Repeats


def row(
    line: int, kind: Kind | None = None, split: str = "train", file: str = "a"
) -> ImportedRow:
    return ImportedRow(file, line, split, None if kind is None else class_answer(kind))


def across(*scenes: Any) -> dict[str, list[LabelFinding]]:
    repeats = Repeats()
    for scene in scenes:
        repeats.add(scene)
    found: dict[str, list[LabelFinding]] = {}
    for finding in repeats.findings():
        found.setdefault(finding.check, []).append(finding)
    return found


@pytest.mark.parametrize(
    ("left", "right", "contradict"),
    [
        (LabelKey(Kind.AGE), LabelKey(Kind.YEAR), True),
        (LabelKey(Kind.AGE), LabelKey(Kind.AGE), False),
        (LabelKey(Kind.NFH), LabelKey(Kind.AGE), False),
        (LabelKey(Kind.NFH), LabelKey(Kind.NOT_NFH), True),
        (LabelKey(Kind.REFERENCE, frozenset({"dog"})), LabelKey(Kind.AGE), True),
        (
            LabelKey(Kind.REFERENCE, frozenset({"dog", "cat"})),
            LabelKey(Kind.REFERENCE, frozenset({"dog"})),
            False,
        ),
        (
            LabelKey(Kind.REFERENCE, frozenset({"dog"})),
            LabelKey(Kind.REFERENCE, frozenset({"cat"})),
            True,
        ),
    ],
)
def test_which_labels_contradict(left: LabelKey, right: LabelKey, contradict: bool) -> None:
    assert left.contradicts(right) is right.contradicts(left) is contradict


def test_two_rows_with_other_labels(kit: Any) -> None:
    rows = (row(3, Kind.AGE), row(9, Kind.YEAR))
    found = kit.found("She is *nine* .", Kind.AGE, rows=rows)
    assert found["two-golds"] == "a line 3 says AGE; a line 9 says YEAR"
    assert found["repeated-row"] == "it is in a line 3, a line 9"
    same = kit.found("She is *nine* .", Kind.AGE, rows=(row(3, Kind.AGE), row(9, Kind.AGE)))
    assert set(same) == {"repeated-row"}


def test_several_peoples_rows_of_one_anchor_are_no_repetition(kit: Any) -> None:
    people = tuple(
        ImportedRow(f"{name}.jsonl", 3, "train", who=name) for name in ("ann1", "ann2")
    )
    assert kit.found("She is *nine* .", Kind.AGE, rows=(*people, row(3, Kind.AGE))) == {}
    tasks = tuple(ImportedRow("batch.csv", line, None, vote=True) for line in (2, 3, 4))
    assert kit.found("She is *nine* .", Kind.AGE, rows=tasks) == {}
    again = ImportedRow("more.jsonl", 7, "train", who="ann1")
    found = kit.found("She is *nine* .", Kind.AGE, rows=(*people, *tasks, again))
    assert found == {"repeated-row": "it is in ann1.jsonl line 3, more.jsonl line 7"}


def test_one_row_in_each_split_is_no_repetition_but_a_leak(kit: Any) -> None:
    rows = (row(3, Kind.AGE), row(9, Kind.AGE, "dev", "b"))
    found = kit.found("She is *nine* .", Kind.AGE, rows=rows)
    assert found == {"two-splits": "the passage is in dev and train"}


def test_passages_equal_but_for_case_white_space_and_turns(kit: Any) -> None:
    first = kit.scene("She is *nine* .", Kind.AGE, key=1)
    second = kit.scene("SHE / is *nine* .", Kind.YEAR, key=2, glue="  ")
    (finding,) = across(first, second)["two-golds"]
    assert finding.keys == (100, 200)
    assert finding.note.endswith("gold is AGE and YEAR")
    third = kit.scene("She is *Nine* .", Kind.AGE, key=3)
    assert set(across(first, third)) == {"repeated-row"}
    assert across(first, kit.scene("He is *nine* .", Kind.YEAR, key=4)) == {}


def test_tokens_cut_otherwise_are_the_same_place(kit: Any) -> None:
    first = kit.scene("Is n't she *nine* ?", Kind.AGE, key=1)
    second = kit.scene("Isn't she *nine* ?", Kind.YEAR, key=2)
    assert set(across(first, second)) == {"two-golds"}


def test_equal_passages_in_two_splits(kit: Any) -> None:
    first = kit.scene("She is *nine* .", Kind.AGE, key=1, rows=(row(1),))
    second = kit.scene("she is *nine* .", Kind.AGE, key=2, rows=(row(1, split="dev"),))
    assert set(across(first, second)) == {"repeated-row", "two-splits"}


def test_a_long_turn_shared_by_two_splits(kit: Any) -> None:
    long = "I told you so again and again , did n't I"
    first = kit.scene(f"{long} / She is *nine* .", Kind.AGE, key=1, rows=(row(1),))
    second = kit.scene(
        f"Well / {long} / Buy *two* .", Kind.OTHER, key=2, rows=(row(1, split="dev"),)
    )
    (finding,) = across(first, second)["shared-turn"]
    assert finding.keys == (100, 200)
    alike = kit.scene(f"Well / {long} / Buy *two* .", Kind.OTHER, key=3, rows=(row(2),))
    assert across(first, alike) == {}


def test_kinds_that_shift_over_time() -> None:
    over_time = OverTime()
    for i in range(200):
        at = f"2026-01-01T{i // 60:02}:{i % 60:02}:00.000Z"
        over_time.add("ann", i, Kind.OTHER if i % 200 > 20 + i % 7 * 20 else Kind.AGE, at)
        over_time.add("bob", i, Kind.OTHER if i % 3 else Kind.AGE, at)
        over_time.add("cyd", i, Kind.OTHER if i > 99 else Kind.AGE, "2026-01-01T00:00:00.000Z")
    found = list(over_time.findings())
    assert {finding.who for finding in found} == {"ann"}
    assert found[0].keys == ()
    assert "of the first half of 200 answers" in found[0].note
