"""The labels of a job as a file, and their hash."""

from dataclasses import replace
from pathlib import Path

import pytest

from nfh_models.domain import Kind, class_answer
from nfh_tui.jobs.snapshot import Snapshot, SnapshotError, SnapshotLabel, SnapshotPassage
from tests.nfh_models.encoder.handmade import item, reference

TEXTS = ("A: i have dogs , you want [ two ] .", "B: he is [ six ] or more “ \u2028 ” 😀 .")


def snapshot() -> Snapshot:
    sheets = []
    for place, text in enumerate(TEXTS):
        one = item(text)
        answer = reference(one, "dogs").gold if not place else class_answer(Kind.AGE)
        start, end = one.anchor.start, one.anchor.end
        label = SnapshotLabel(start, end, f"anchor {place}", answer, True, bool(place))
        sheets.append(SnapshotPassage(one.passage, (label,), f"unit {place}", bool(place)))
    return Snapshot("both", tuple(sheets), {"no": 3}, "a half", ("a note",))


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    made = snapshot()
    made.write(path)
    found = Snapshot.read(path)
    assert found == made
    assert (found.train, found.dev) == (made.train, made.dev)
    assert (found.numbers, found.dev_numbers) == (made.numbers, made.dev_numbers)
    assert found.digest == made.digest
    assert list(tmp_path.iterdir()) == [path]


def test_sides_and_units_are_told_of_each_example() -> None:
    made = snapshot()
    (train,), (dev,) = made.train, made.dev
    assert (train.gold.kind, dev.gold.kind) == (Kind.REFERENCE, Kind.AGE)
    assert (train.saw_model, dev.saw_model) == (False, True)
    assert train.group == train.item.passage.digest
    assert made.units[train.group] == "unit 0"
    assert [one.group for one in made.training_sets.train] == ["unit 0"]
    assert [one.group for one in made.training_sets.dev_numbers] == ["unit 1"]
    assert made.passages == 1


def test_a_third_of_what_is_kept_out_chooses_a_networks_epoch() -> None:
    made = snapshot()
    learnt, judges = made.sheets
    units = [replace(judges, unit=f"unit {place}") for place in range(300)]
    whole = replace(made, sheets=(learnt, *units, *units))
    chooses = whole.choosing
    assert 0.25 < (len(chooses.sheets) - 1) / 600 < 0.42
    assert chooses.train == whole.train
    names = [sheet.unit for sheet in chooses.sheets if sheet.dev]
    assert names[: len(names) // 2] == names[len(names) // 2 :], "a unit is on one side"
    others = replace(whole, sheets=(learnt, *units[:100]))
    assert set(others.choosing.sheets) <= set(chooses.sheets), "whatever else is kept out"
    alone = next(one for one in units if one not in chooses.sheets)
    only = replace(made, sheets=(learnt, alone))
    assert only.choosing == only, "without an example to choose by, all choose"


def test_the_hash_is_that_of_what_is_learnt_from_alone() -> None:
    made = snapshot()
    learnt, judges = made.sheets
    assert replace(made, sheets=(learnt,)).digest == made.digest
    both = (learnt, replace(judges, dev=False))
    assert replace(made, sheets=both).digest != made.digest
    assert replace(made, sheets=both[::-1]).digest == replace(made, sheets=both).digest
    other = replace(learnt, labels=(replace(learnt.labels[0], gold=class_answer(Kind.AGE)),))
    assert replace(made, sheets=(other, judges)).digest != made.digest
    elsewhere = replace(learnt, unit="another")
    assert replace(made, sheets=(elsewhere, judges)).digest == made.digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"AGE"', '"YEAR"'),
        ('"AGE"', '"NONE"'),
        ('"both"', "7"),
        ("[0,1", "[5,1"),
        ("{", ""),
        ("a half", "a third"),
        ("unit 1", "unit 0"),
        ('"no":3', '"no":4'),
        ("a note", "a word"),
    ],
)
def test_a_damaged_file_is_a_sentence(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "snapshot.json"
    made = snapshot()
    sheets = tuple(replace(sheet, dev=False) for sheet in made.sheets)
    replace(made, sheets=sheets).write(path)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(SnapshotError, match=r"snapshot\.json"):
        Snapshot.read(path)


def test_what_judges_is_looked_at_too(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    snapshot().write(path)
    text = path.read_text("utf-8")
    assert text.count('"AGE"') == 1  # the side that is kept out
    path.write_text(text.replace('"AGE"', '"YEAR"'), "utf-8")
    with pytest.raises(SnapshotError, match="damaged"):
        Snapshot.read(path)


def test_a_newer_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    snapshot().write(path)
    text = path.read_text("utf-8")
    path.write_text(text.replace('"format_version":2', '"format_version":3'), "utf-8")
    with pytest.raises(SnapshotError, match="its format is 3"):
        Snapshot.read(path)
