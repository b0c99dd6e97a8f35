"""`release --pseudonyms`: nobody's name is in any file, and a person stays one person."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.formats.registry import NFH
from nfh_db.query import parse
from nfh_db.records import Annotator
from nfh_tui.services.release import NOT_SHOWN, Pseudonyms
from tests.nfh_tui.release.conftest import gold_lines

NAMES = ("ann1", "ann2", "ann3", "editor")


def test_no_name_is_left(sample: Path, frozen: Callable[..., Path]) -> None:
    plain, hidden = frozen("plain", sample), frozen("hidden", sample, "--pseudonyms")
    for path in hidden.iterdir():
        assert not any(f'"{name}"' in path.read_text("utf-8") for name in NAMES), path
    sheet = (hidden / "DATASHEET.md").read_text("utf-8")
    assert not any(name in sheet for name in NAMES)
    assert "Names of people are replaced" in sheet
    mapping: dict[str, str] = {}
    for before, after in zip(gold_lines(plain), gold_lines(hidden), strict=True):
        votes = {vote["at"] + vote["kind"]: vote["annotator"] for vote in before["votes"]}
        assert len(before["votes"]) == len(after["votes"])
        assert before["id"] == after["id"]
        for vote in after["votes"]:
            if list(votes).count(vote["at"] + vote["kind"]) == 1:
                mapping.setdefault(vote["annotator"], "")
    assert set(mapping) == {"person-1", "person-2", "person-3", "person-4"}


def test_a_release_under_pseudonyms_is_whole_and_comes_in(
    sample: Path, frozen: Callable[..., Path], call: Callable[..., Result], home: Path
) -> None:
    folder = frozen("hidden", sample, "--pseudonyms")
    assert call("release", folder, "--check").exit_code == 0
    result = call("import", folder / "unsplit.gold.jsonl", "--db", home / "new.db")
    assert result.exit_code == 0, result.output


def test_files_called_after_people_are_not_named(
    frozen: Callable[..., Path], call: Callable[..., Result], home: Path
) -> None:
    for name in ("train", "Zoe"):
        (home / f"{name}.jsonl").write_text(f"{NFH.example}\n", "utf-8")
    db = home / "rows.db"
    call("import", home / "train.jsonl", "--db", db)
    assert call("import", home / "Zoe.jsonl", "--annotator", "Zoe", "--db", db).exit_code == 0
    assert "| Zoe.jsonl | nfh | 0 | 0 | 1 |" in (
        (frozen("plain", db) / "DATASHEET.md").read_text("utf-8")
    )
    hidden = (frozen("hidden", db, "--pseudonyms") / "DATASHEET.md").read_text("utf-8")
    assert "Zoe" not in hidden
    assert "| without a name: answers of person-1 | nfh | 0 | 0 | 1 |" in hidden


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("by:ANN -flag:skip", "by:person-1 -flag:skip"),
        ('by:"Ben Ünal",ann rule:expert', 'by:"person-2",person-1 rule:expert'),
        ("said:ann/AGE", "said:person-1/AGE"),
        ('differs:"ben Ünal"~ann', 'differs:"person-2"~person-1'),
        ("by:robot wrong:none todo:new/adjudicator", None),
        ("class:AGE anna", "class:AGE anna"),
        # What else is called so cannot be told apart.
        ("by:ann ann", NOT_SHOWN),
        ("by:ann OR state:open", "by:person-1 OR state:open"),
    ],
)
def test_a_query_names_nobody(query: str, written: str | None) -> None:
    people = [
        Annotator(1, "ann"),
        Annotator(2, "Ben Ünal"),
        Annotator(3, "robot", "model"),
    ]
    wanted = "by:robot wrong:none todo:person-3/adjudicator" if written is None else written
    assert Pseudonyms(people).query(parse(query)) == wanted


def test_the_datasheet_names_nobody_in_its_query(
    sample: Path, frozen: Callable[..., Path]
) -> None:
    folder = frozen("hidden", sample, "by:Ann1", "class:AGE", "--pseudonyms")
    sheet = (folder / "DATASHEET.md").read_text("utf-8")
    assert "\n    by:person-1 class:AGE\n" in sheet
    assert "ann1" not in sheet.casefold()


def test_numbers_are_given_in_the_order_of_coming() -> None:
    names = Pseudonyms(
        [Annotator(1, "zoe"), Annotator(2, "person-2", "model"), Annotator(3, "al")]
    )
    assert [names.name(name) for name in ("al", "zoe", "new", "al")] == [
        "person-3",
        "person-1",
        "person-4",
        "person-3",
    ]
