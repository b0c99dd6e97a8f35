"""Looking through a database: real files, real imports, what is printed."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nfh_db.connection import connect
from nfh_db.formats.registry import NFH
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_models.label_checks.checks import CHECKS
from nfh_models.parsing.base import WordSpan
from nfh_models.parsing.spacy_parser import NoPipelineError
from nfh_tui.cli.doctor import run_corpus
from nfh_tui.cli.main import commands
from nfh_tui.services import label_checks
from nfh_tui.services.label_checks import find_trouble

WORDS = "It cost four hundred , tax and all .".split()


def release_row(words: list[str], anchor: int, head: list[object], **more: Any) -> str:
    row = json.loads(NFH.example) | {
        "tokens": words,
        "line_indices": [0] * len(words),
        "speakers": [None] * len(words),
        "anchors_indices": [anchor],
        "head": head,
    }
    return json.dumps(row | more) + "\n"


@pytest.fixture(autouse=True)
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """No parser, unless a test takes that back: it takes seconds to load."""

    def fail() -> None:
        raise NoPipelineError("No parser here.")

    monkeypatch.setattr(label_checks, "load_tagger", fail)


@pytest.fixture
def bring(tmp_path: Path) -> Callable[..., Result]:
    """Imports rows as a file."""

    def run(name: str, *rows: str, more: tuple[str, ...] = ()) -> Result:
        (tmp_path / name).write_text("".join(rows), "utf-8")
        arguments = ["import", str(tmp_path / name), "--db", str(tmp_path / "x.db"), *more]
        result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result

    return run


@pytest.fixture
def store(tmp_path: Path, bring: Callable[..., Result]) -> Iterator[Store]:
    """One cut anchor, in the train split."""
    bring("a_train.jsonl", release_row(WORDS, 2, ["CURRENCY"]))
    with Store.open(tmp_path / "x.db") as opened:
        yield opened


def hits(found: label_checks.LabelProblems) -> dict[str, tuple[label_checks.Hit, ...]]:
    return {result.check.name: result.hits for result in found.results if result.hits}


def test_a_finding_says_where_it_is(store: Store) -> None:
    found = find_trouble(store, parse(""))
    assert (found.passages, found.anchors, found.tagger) == (1, 1, None)
    (hit,) = hits(found)["number-beside"]
    (place,) = hit.places
    assert (place.before, place.word, place.after) == (
        "It cost ",
        "four",
        " hundred , tax and all .",
    )
    assert [(row.file, row.line, row.split) for row in place.rows] == [
        ("a_train.jsonl", 1, "train")
    ]
    assert len(place.public_id) == 32


def test_its_query_finds_its_anchors_and_nothing_else(
    store: Store, bring: Callable[..., Result]
) -> None:
    hostile = 'He said " four \\ , [red] " hundred \U0001f600 .'.split()
    bring("b.jsonl", release_row(hostile, 3, ["OTHER"]))
    me = store.people.ensure("me")
    for hit in hits(find_trouble(store, parse("")))["number-beside"]:
        place = hit.places[0]
        ids = [key for some in store.queue.ids(parse(place.query), me) for key in some]
        assert ids == [place.anchor_id]
    bring("c.jsonl", release_row([word.upper() for word in WORDS], 2, ["AGE"]))
    (hit,) = hits(find_trouble(store, parse("")))["two-golds"]
    found = [key for some in store.queue.ids(parse(hit.query), me) for key in some]
    assert sorted(found) == sorted(place.anchor_id for place in hit.places)
    assert len(found) == 2


def test_rows_of_two_files_that_contradict(store: Store, bring: Callable[..., Result]) -> None:
    bring("b_dev.jsonl", release_row(WORDS, 2, ["AGE"]), release_row(WORDS, 2, [0]))
    found = hits(find_trouble(store, parse("")))
    assert found["two-golds"][0].note == (
        "a_train.jsonl line 1 says CURRENCY; b_dev.jsonl line 1 says AGE"
    )
    assert found["two-splits"][0].note == "the passage is in dev and train"
    assert "import-conflict" not in found


def test_rows_given_as_somebody_s_answers_are_no_golds(
    store: Store, bring: Callable[..., Result]
) -> None:
    row = release_row(WORDS, 2, ["AGE"])
    bring("b.jsonl", row, more=("--annotator", "ann1", "--split", "train"))
    bring("c.jsonl", row, more=("--annotator", "ann2", "--split", "train"))
    found = hits(find_trouble(store, parse("")))
    assert not {"two-golds", "repeated-row"} & set(found)


def test_the_workers_of_one_task_are_no_repetition(
    tmp_path: Path, bring: Callable[..., Result]
) -> None:
    rows = "".join(f'A{worker},"Ann: We took two.",two,6,,,\n' for worker in range(3))
    header = "WorkerId,Input.text_reduced,Input.target,Answer.ans,Answer.reference"
    bring("batch.csv", f"{header},Answer.offset,Answer.other\n{rows}")
    with Store.open(tmp_path / "x.db") as store:
        assert store.queue.count(parse("votes:3"), store.people.ensure("me")) == 1
        assert "repeated-row" not in hits(find_trouble(store, parse("votes:3")))


def test_what_an_import_of_other_formats_did_not_take_over(
    tmp_path: Path, store: Store, bring: Callable[..., Result]
) -> None:
    (tmp_path / "age.jsonl").write_text(release_row(WORDS, 2, ["AGE"]), "utf-8")
    elsewhere = ["--db", str(tmp_path / "y.db")]
    gold = ["export", "--format", "gold", "--out", str(tmp_path / "other.jsonl")]
    for arguments in (["import", str(tmp_path / "age.jsonl")], gold):
        assert CliRunner().invoke(commands, [*arguments, *elsewhere]).exit_code == 0
    bring("other.jsonl", (tmp_path / "other.jsonl").read_text("utf-8"))
    (hit,) = hits(find_trouble(store, parse("")))["import-conflict"]
    assert hit.note.startswith("other.jsonl line 1: gold CURRENCY was kept")
    assert hit.places[0].word == "four"


def test_a_query_narrows_what_is_looked_at(store: Store, bring: Callable[..., Result]) -> None:
    bring("b.jsonl", release_row("No one came".split(), 1, ["OTHER"]))
    assert set(hits(find_trouble(store, parse("anchor:one")))) == {"no-one"}
    assert find_trouble(store, parse("class:AGE")).anchors == 0


def test_votes_are_looked_at_where_there_is_no_gold(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("No one came.\n", "utf-8")
    arguments = ["import", str(tmp_path / "d.txt"), "--db", str(tmp_path / "y.db")]
    assert CliRunner().invoke(commands, arguments).exit_code == 0
    with Store.open(tmp_path / "y.db") as store:
        ids = [key for some in store.items.by_passage(parse("")) for key in some]
        for name, kind in (("ann1", Kind.OTHER), ("ann2", Kind.PEOPLE)):
            person = store.people.ensure(name)
            store.edits.commit_answer(ids[0], person, Role.ANNOTATOR, class_answer(kind))
        assert [hit.who for hit in hits(find_trouble(store, parse("")))["no-one"]] == ["ann1"]
        eve = store.people.ensure("eve")
        store.edits.commit_answer(ids[0], eve, Role.ADJUDICATOR, class_answer(Kind.PEOPLE))
        assert hits(find_trouble(store, parse(""))) == {}


def test_a_replaced_anchor_keeps_its_row_and_not_its_label(store: Store) -> None:
    from nfh_models.domain import Anchor

    (ids,) = store.items.by_passage(parse(""))
    saved = store.edits.replace_anchor(
        ids[0],
        store.people.ensure("me"),
        Role.ADJUDICATOR,
        Anchor(2, 4),
        store.edits.stale_labels(ids[0], store.people.ensure("me")),
    )
    ((row,),) = store.items.source_rows([saved.anchor_id]).values()
    assert (row.file, row.line, row.labels) == ("a_train.jsonl", 1, None)
    assert "number-beside" not in hits(find_trouble(store, parse("")))


def test_checks_that_need_a_parser_are_named(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    run_corpus(store, parse(""), as_json=False)
    out = capsys.readouterr().out
    tail = out[out.index("Not checked, because there is no parser") :]
    for check in CHECKS:
        assert (check.name in tail) is check.tagged
    assert "No parser here." in tail


def test_json_is_one_object_with_every_check(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    run_corpus(store, parse(""), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [one["check"] for one in found["checks"]] == [check.name for check in CHECKS]
    (cut,) = (one for one in found["checks"] if one["check"] == "number-beside")
    assert cut["findings"][0]["query"] == cut["findings"][0]["anchors"][0]["query"] == "id:1"
    assert cut["anchors"] == 1
    assert {one["skipped"] for one in found["checks"] if one["check"] == "noun-after"} == {True}


def test_the_text_fits_eighty_columns_and_obeys_nothing(
    store: Store, bring: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    wild = ["\x1b[31m", "[b]", "four", "hundred", "\u202e", "\x07", "\u4e2d" * 30]
    bring("b.jsonl", release_row(wild, 2, ["OTHER"]))
    run_corpus(store, parse(""), as_json=False)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert not set(out) & {"\x1b", "\u202e", "\x07"}
    assert "[b]" in out


def test_only_some_findings_are_printed(
    store: Store, bring: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [release_row([*WORDS, str(i)], 2, ["OTHER"]) for i in range(9)]
    bring("b.jsonl", *rows)
    run_corpus(store, parse(""), as_json=False, limit=2)
    assert "and 8 more; --json lists all of them" in capsys.readouterr().out
    run_corpus(store, parse(""), as_json=False, limit=0)
    assert "more; --json" not in capsys.readouterr().out


def test_names_of_checks_are_all_different() -> None:
    names = [check.name for check in CHECKS]
    assert len(names) == len(set(names))


REPORTS = [
    "{",
    "",
    "[]",
    "7",
    "null",
    '{"conflicts": [1, {}]}',
    '{"conflicts": ["line 1: x", null]}',
    '{"conflicts": [["line 1: x"]]}',
    "[" * 100_000,
]


@pytest.mark.parametrize("report", REPORTS, ids=range(len(REPORTS)))
def test_a_report_that_no_import_made_is_told(
    report: str, bring: Callable[..., Result], tmp_path: Path
) -> None:
    bring("a.jsonl", release_row(WORDS, 3, ["CURRENCY"]))
    connection = connect(tmp_path / "x.db", "rw")
    connection.execute("UPDATE batch SET report = ?", (report,))
    connection.close()
    call = [*("--db", str(tmp_path / "x.db"))]
    told = CliRunner().invoke(commands, ["doctor", "--corpus", *call], catch_exceptions=False)
    assert told.exit_code == 1
    assert told.stderr.startswith(
        "nfh-tui: What the import 1 of a.jsonl reported cannot be read"
    )
    assert told.stderr.count("\n") == 1
    plain = CliRunner().invoke(commands, ["doctor", *call], catch_exceptions=False)
    assert plain.exit_code == 1
    assert "JSON that it keeps cannot be read" in plain.stdout


@pytest.mark.parametrize(
    "report",
    [
        "{}",
        '{"conflicts": {}}',
        '{"conflicts": ["line 99999999999999999999: x", "and 3 more"]}',
    ],
)
def test_a_report_that_names_no_row_tells_nothing(
    report: str, bring: Callable[..., Result], tmp_path: Path
) -> None:
    bring("a.jsonl", release_row(WORDS, 3, ["CURRENCY"]))
    connection = connect(tmp_path / "x.db", "rw")
    connection.execute("UPDATE batch SET report = ?", (report,))
    connection.close()
    call = ["doctor", "--corpus", "--db", str(tmp_path / "x.db")]
    told = CliRunner().invoke(commands, call, catch_exceptions=False)
    assert told.exit_code == 0


@pytest.mark.parametrize("labels", ["[", "[99]", '[1, "x"]', "[0, -99]", '[{"a": 1}]', "NaN"])
def test_what_a_row_says_and_cannot_be_read_is_told(
    labels: str, bring: Callable[..., Result], tmp_path: Path
) -> None:
    bring("a.jsonl", release_row(WORDS, 3, ["CURRENCY"]))
    connection = connect(tmp_path / "x.db", "rw")
    connection.execute("UPDATE source_row SET labels = ?", (labels,))
    connection.close()
    call = ["doctor", "--corpus", "--db", str(tmp_path / "x.db")]
    told = CliRunner().invoke(commands, call, catch_exceptions=False)
    if told.exit_code:
        where = "nfh-tui: Line 1 of a.jsonl cannot be read: "
        assert told.stderr.startswith(where)
    assert labels not in ("[", "[99]", '[1, "x"]', "[0, -99]") or told.exit_code == 1


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_passages_that_are_tagged_ahead_get_their_own_tags(
    store: Store, bring: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    class Tagger:
        name = "made up"

        def tag(self, spans: Iterable[WordSpan]) -> list[list[str]]:
            return [["NOUN" if word in nouns else "X" for word in one.words] for one in spans]

    monkeypatch.setattr(label_checks, "load_tagger", Tagger)
    monkeypatch.setattr(label_checks, "PASSAGES_AT_ONCE", at_once)
    words = [f"It cost four {word} .".split() for word in ("tents", "sadly", "boats", "there")]
    bring("b.jsonl", *(release_row(one, 2, ["OTHER"]) for one in words))
    nouns = {"tents", "boats"}
    told: list[tuple[int, int]] = []
    found = hits(find_trouble(store, parse(""), lambda *done: told.append(done)))
    behind = [hit.places[0].after.split()[0] for hit in found["noun-after"]]
    assert behind == ["tents", "boats"]
    assert told[-1] == (5, 5)
    monkeypatch.setattr(Tagger, "tag", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        find_trouble(store, parse(""))
