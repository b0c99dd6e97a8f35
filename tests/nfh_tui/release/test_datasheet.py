"""The datasheet: what it says is so, and what has to be said is said."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.query import parse
from nfh_db.records import Exposure, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.services.datasheet import plain
from tests.nfh_tui.release.conftest import gold_lines, ids


def sheet_of(folder: Path) -> str:
    """The datasheet on one line, as a reader takes it in."""
    return " ".join((folder / "DATASHEET.md").read_text("utf-8").split())


def row(sheet: str, first: str) -> list[str]:
    """The cells of the table's row that begins so."""
    found = re.search(rf"\| {re.escape(first)} \|([^|]*\|)+", sheet)
    assert found, first
    return [cell.strip() for cell in found[0].strip("|").split("|")][1:]


def test_it_counts_what_the_files_hold(hostile: Path, frozen: Callable[..., Path]) -> None:
    folder = frozen("one", hostile)
    sheet, lines = sheet_of(folder), gold_lines(folder)
    text = (folder / "DATASHEET.md").read_text("utf-8")
    for kind, count in Counter(line["kind"] for line in lines).items():
        assert re.search(rf"^\| {kind} \|.* \| {count} \|$", text, re.MULTILINE)
    for rule, count in Counter(line["rule"] for line in lines).items():
        assert re.search(rf"^\| {rule} \| {count} \|", text, re.MULTILINE)
    for path in folder.glob("*.jsonl"):
        lines_of = path.read_bytes().count(b"\n")
        assert f"| `{path.name}` | {lines_of} |" in text
    texts = {"".join(line["text"].split()).casefold() for line in lines}
    assert f"{len(lines)} numbers in {len(texts)} passages" in sheet


def test_passages_in_two_splits_are_said_first(
    hostile: Path, sample: Path, frozen: Callable[..., Path]
) -> None:
    folder = frozen("one", hostile)
    places: dict[str, set[str | None]] = {}
    for line in gold_lines(folder):
        places.setdefault(line["text"], set()).add(line["split"])
    two = sum(len(splits) > 1 for splits in places.values())
    assert two
    assert f"* **{two} passage" in sheet_of(folder)
    assert "more than one split" not in sheet_of(frozen("two", sample))


def test_agreement_is_what_the_command_reports(
    sample: Path, frozen: Callable[..., Path], call: Callable[..., Result]
) -> None:
    sheet = sheet_of(frozen("one", sample))
    found = json.loads(call("agreement", "--no-skill", "--db", sample, "--json").stdout)
    alpha = found["alpha"]
    assert row(sheet, "Krippendorff's alpha, kinds")[:2] == [
        f"{alpha['value']:.2f}",
        f"{alpha['low']:.2f} to {alpha['high']:.2f}",
    ]
    assert "50 numbers undecided and left out. Annotators differ on 40 of them," in sheet
    assert "written as a demonstration" in sheet


def beginning(sheet: str) -> str:
    """What stands before the list of warnings, in one line."""
    return " ".join(sheet.partition("Before you use it")[0].split())


@pytest.mark.long
def test_an_audit_is_told_with_its_interval(
    sample: Path, frozen: Callable[..., Path], call: Callable[..., Result]
) -> None:
    before = sheet_of(frozen("one", sample))
    assert "no sample of the 79 answers made by a rule was audited" in before
    assert "How many are wrong is not known: no sample was audited." in beginning(before)
    call("audit", "--draw", "20", "--as", "eva", "--seed", "7", "--db", sample)
    unfinished = sheet_of(frozen("two", sample))
    assert "No error rate: 20 of 20 items" in unfinished
    assert (
        "made from votes by a rule. How many are wrong is not known: no audit of them is "
        "finished."
    ) in beginning(unfinished)
    with Store.open(sample) as store:
        eva = store.people.ensure("eva")
        golds = {
            one.anchor_id: one.gold.answer for one in store.items.ballots(parse("")) if one.gold
        }
        for number, anchor in enumerate(ids(store, "audit:open", eva)):
            wrong = class_answer(Kind.BROKEN)
            answer = wrong if number == 0 else golds[anchor]
            store.edits.commit_answer(anchor, eva, Role.ADJUDICATOR, answer)
    sheet = sheet_of(frozen("three", sample))
    reported = json.loads(call("audit", "--db", sample, "--json").stdout)["audits"][0]
    low, high = reported["interval"]
    assert "eva decided 20 of 79 answers of rules without seeing them (20 are in this" in sheet
    assert "1 was wrong (damage 1)" in sheet
    assert f"{100 * reported['rate']:.1f} %" in sheet
    assert f"95 % interval {100 * low:.1f} % to {100 * high:.1f} %" in sheet
    assert "no sample was audited" not in sheet
    assert (
        "An audit of 20 of these answers found 1 wrong and corrected them. It estimates that "
        f"{100 * reported['rate']:.1f} % of the others are wrong "
        f"(95 % interval {100 * low:.1f} % to {100 * high:.1f} %)."
    ) in beginning(sheet)


def test_what_was_in_view_is_told_with_the_model(
    sample: Path, frozen: Callable[..., Path]
) -> None:
    with Store.open(sample) as store:
        store.models.ensure("first-model", "resolution", "cues", "7")
        eva = store.people.ensure("eva")
        some = ids(store, "state:disagree", eva)[:3]
        for anchor, seen in zip(some, (True, True, False), strict=True):
            store.edits.commit_answer(
                anchor,
                eva,
                Role.ADJUDICATOR,
                class_answer(Kind.TIME),
                Exposure(saw_model=seen, in_sheet=seen),
            )
    sheet = sheet_of(frozen("one", sample))
    assert row(sheet, "expert")[:4] == ["48", "2", "1", "45"]
    assert "2 of 127 answers (1.6 %) were decided with a model's answer in view" in sheet
    assert "Model in use for 2 numbers: first-model (recipe cues, version 7)" in sheet
    assert row(sheet, "unanimous")[:4] == ["61", "0", "0", "61"]


def test_guidelines_are_those_that_answers_were_given_under(
    sample: Path, frozen: Callable[..., Path]
) -> None:
    text = "# Rules\n\n## R1 Say it\n\nSay it.\r\n"
    with Store.open(sample) as store:
        eva = store.people.ensure("eva")
        some = ids(store, "state:disagree", eva)[:2]
        first = store.guidelines.read()
        store.edits.commit_answer(some[0], eva, Role.ADJUDICATOR, class_answer(Kind.TIME))
        store.guidelines.add("# In between\n\n## R1 No\n\nNo.\n", eva)
        store.guidelines.add(text, eva)
        store.edits.commit_answer(some[1], eva, Role.ADJUDICATOR, class_answer(Kind.TIME))
    folder = frozen("one", sample)
    assert first is not None
    assert (folder / "guidelines-v1.md").read_bytes().decode() == first.body
    assert (folder / "guidelines-v3.md").read_bytes().decode() == text
    assert not (folder / "guidelines-v2.md").exists()
    assert "version 3 by eva" in sheet_of(folder)


def test_what_is_said_of_the_data_stands_first(
    sample: Path, frozen: Callable[..., Path], home: Path
) -> None:
    (home / "about.md").write_bytes(b"\xef\xbb\xbf# Corpus 1.0\r\n\r\nCC0.\r\n")
    sheet = (frozen("one", sample, "--about", home / "about.md") / "DATASHEET.md").read_bytes()
    assert sheet.startswith(b"# Corpus 1.0\n\nCC0.\n\n# Datasheet\n")
    assert b"not stated" not in sheet


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * 1_000_001, b"a\n\x1b[2J", b"\0"])
def test_an_about_that_is_no_text_is_refused(
    sample: Path, call: Callable[..., Result], home: Path, content: bytes
) -> None:
    (home / "about.md").write_bytes(content)
    result = call("release", home / "one", "--about", home / "about.md", "--db", sample)
    assert result.exit_code == 1
    assert "about.md" in result.output
    assert not (home / "one").exists()


def test_names_are_no_markup() -> None:
    assert plain("a|b") == "a\\|b"
    assert plain("<script>`x`*") == "\\<script\\>\\`x\\`\\*"
    assert plain("two\nlines\x1b") == "two␊lines␛"


def test_rows_that_come_twice_are_told(
    home: Path, call: Callable[..., Result], frozen: Callable[..., Path]
) -> None:
    from nfh_db.formats.registry import NFH

    (home / "train.jsonl").write_text(f"{NFH.example}\n" * 3, "utf-8")
    (home / "dev.jsonl").write_text(f"{NFH.example}\n", "utf-8")
    db = home / "rows.db"
    assert call("import", home / "train.jsonl", home / "dev.jsonl", "--db", db).exit_code == 0
    folder = frozen("one", db)
    sheet = sheet_of(folder)
    assert "2 rows of the `nfh` files repeat a number of the same file" in sheet
    assert "1 row of the `nfh` files in another split" in sheet
    assert (folder / "train.nfh.jsonl").read_bytes() == (home / "train.jsonl").read_bytes()


def test_files_are_told_by_what_of_them_is_here(
    sample: Path, frozen: Callable[..., Path], call: Callable[..., Result], home: Path
) -> None:
    from nfh_db.formats.registry import NFH

    (home / "train.jsonl").write_text(f"{NFH.example}\n", "utf-8")
    call("import", home / "train.jsonl", "--db", sample)
    sheet = (frozen("one", sample) / "DATASHEET.md").read_text("utf-8")
    (corpus,) = re.findall(r"\| corpus.jsonl \| gold \| (.*) \|", sheet)
    lines = gold_lines(home / "one")
    votes = sum(len(line["votes"]) for line in lines if line["split"] is None)
    assert corpus.split(" | ")[:3] == ["124", "124", str(votes)]
    assert "| train.jsonl | nfh | 1 | 1 | 0 |" in sheet
    # A file of which nothing is here is not named.
    assert "train.jsonl" not in sheet_of(frozen("two", sample, "-split:train"))


def test_comments_of_gold_and_of_votes_are_counted_once(
    hostile: Path, frozen: Callable[..., Path]
) -> None:
    folder = frozen("one", hostile)
    wanted = 0
    for line in gold_lines(folder):
        said = [vote["comment"] for vote in line["votes"] if vote.get("comment")]
        own = line.get("comment")
        wanted += len(said) + bool(own and own not in said)
    assert wanted
    assert f"{wanted} comments, published as written" in sheet_of(folder)


def test_new_guidelines_are_a_change(sample: Path, frozen: Callable[..., Path]) -> None:
    with Store.open(sample) as store:
        store.guidelines.add("# R\n\n## R1 A\n\nB.\n", store.people.ensure("eva"))
        with store.items.frozen() as held:
            latest = held.guidelines()[-1]
    assert f"after the last change of {latest.at}" in sheet_of(frozen("one", sample))


def test_whoever_asks_is_in_no_query(
    sample: Path, call: Callable[..., Result], home: Path
) -> None:
    result = call("release", home / "one", "todo:me", "--db", sample)
    assert result.exit_code == 1
    assert "name the person instead of me" in result.output
