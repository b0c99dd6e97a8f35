"""What `nfh-tui diff` compares, in the release's form too, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.comparisons import Entry, pairing
from nfh_tui.services.release import ModelsInUse
from tests.nfh_tui.release.conftest import Line


def test_the_form_of_nfh_is_the_same_on_all_sides(
    hostile: Path, frozen: Callable[..., Path], compared: Callable[..., Line]
) -> None:
    folder = frozen("one", hostile)
    rows = sum(path.read_bytes().count(b"\n") for path in folder.glob("*.nfh.jsonl"))
    whole = folder.parent / "whole.jsonl"
    whole.write_bytes(
        b"".join(path.read_bytes() for path in sorted(folder.glob("*.nfh.jsonl")))
    )
    gold = folder.parent / "whole.gold.jsonl"
    gold.write_bytes(
        b"".join(path.read_bytes() for path in sorted(folder.glob("*.gold.jsonl")))
    )
    for other in (folder, hostile, gold, whole):
        found = compared(whole, other)
        assert found["form"] == "nfh"
        assert (found["same"], found["changed"]) == (rows, 0), other


@pytest.mark.long
def test_the_published_files_and_the_database_of_them(
    data_dir: Path, home: Path, call: Callable[..., Result], compared: Callable[..., Line]
) -> None:
    dev = data_dir / "resolution" / "nfh_dev.jsonl"
    db = home / "dev.db"
    assert call("import", dev, "--db", db).exit_code == 0
    found = compared(dev, db)
    assert (found["same"], found["changed"]) == (1000, 0)
    lines = dev.read_text("utf-8").split("\n")[:-1]
    changed = json.loads(lines[10])
    changed["head"] = ["YEAR"] if changed["head"] == ["AGE"] else ["AGE"]
    (home / "changed.jsonl").write_text(
        "\n".join([*lines[:10], json.dumps(changed), *lines[11:-1]]) + "\n", "utf-8"
    )
    found = compared(home / "changed.jsonl", db)
    assert (found["same"], found["changed"]) == (998, 2)
    assert found["changes"]["kind"] == found["changes"]["added"] == 1


def test_rows_that_come_again_are_paired_one_by_one(
    home: Path, compared: Callable[..., Line]
) -> None:
    from nfh_db.formats.registry import NFH

    once, twice = home / "once.jsonl", home / "twice.jsonl"
    once.write_text(f"{NFH.example}\n", "utf-8")
    twice.write_text(f"{NFH.example}\n" * 2, "utf-8")
    found = compared(once, twice)
    assert (found["same"], found["changes"]["added"], found["b"]["repeats"]) == (1, 1, 1)


def test_other_guidelines_are_told(
    sample: Path, frozen: Callable[..., Path], call: Callable[..., Result]
) -> None:
    from nfh_db.store import Store

    folder = frozen("one", sample)
    with Store.open(sample) as store:
        store.guidelines.add("# Rules\n\n## R1 New\n\nNew.\n", store.people.ensure("eva"))
    assert "guidelines: version 1 in A, version 2 in B" in call("diff", folder, sample).stdout


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"Ann: two\n", "not JSON"),
        (b"text\tind_s\tind_e\ty\n", "is of the format nfh-ident; wanted the folder of"),
        (b"", "is empty"),
        (b'{"format": "nfh-gold/1"}\n', 'key "tokens" is missing'),
        (b"\0\1", "binary"),
        (b"SQLite format 3\0 and no more", "not a database"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    home: Path, call: Callable[..., Result], content: bytes, wanted: str
) -> None:
    name = "a.tsv" if b"\t" in content else "a.jsonl"
    (home / name).write_bytes(content)
    result = call("diff", home / name, home / name)
    assert result.exit_code == 1
    assert wanted in result.output
    assert name in result.output


def test_what_is_not_there_is_refused(home: Path, call: Callable[..., Result]) -> None:
    (home / "folder").mkdir()
    assert "without any file *.gold.jsonl" in call("diff", home / "folder", home / "x").output
    assert "there is no such file" in call("diff", home / "x", home / "y").output
    assert call("diff", home / "x").exit_code == 2


def entry(key: bytes, body: bytes, span: tuple[int, int] = (0, 1), spot: bytes = b"") -> Entry:
    """An item of one passage."""
    return Entry(key, b"p", *span, spot or key, body, b"")


def test_pairs_come_in_the_order_of_the_second() -> None:
    with pairing() as pairs:
        pairs.fill("a", [entry(key, b"1") for key in (b"k1", b"k2", b"k3", b"k4", b"k5")])
        pairs.fill(
            "b",
            [entry(b"k5", b"2"), entry(b"k2", b"1"), entry(b"k9", b"1"), entry(b"k4", b"2")],
        )
        assert [pair.key for pair in pairs.different()] == [b"k5", b"k9", b"k4", b"k1", b"k3"]
        assert pairs.same() == 1


def test_only_what_overlaps_has_moved() -> None:
    with pairing() as pairs:
        pairs.fill("a", [entry(b"old", b"1", (3, 4)), entry(b"far", b"1", (8, 9))])
        pairs.fill("b", [entry(b"new", b"1", (3, 5)), entry(b"next", b"1", (4, 5))])
        assert list(pairs.moved()) == [(b"old", b"new")]


def test_the_same_characters_are_paired_once() -> None:
    with pairing() as pairs:
        pairs.fill("a", [entry(b"old", b"1", (3, 4), b"s"), entry(b"same", b"1", spot=b"s")])
        pairs.fill("b", [entry(b"new", b"1", (9, 10), b"s"), entry(b"same", b"1", spot=b"s")])
        assert list(pairs.recut()) == [(b"old", b"new")]
        assert pairs.of_a(b"old") == (b"1", b"")


def test_models_in_use_before_the_log_begins_are_not_known() -> None:
    assert ModelsInUse([]).at("2026-01-01T00:00:00.000Z") == set()
