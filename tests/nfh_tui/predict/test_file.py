"""`nfh-tui predict --file`, called."""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
from click.testing import Result

from nfh_models.parsing.base import load_parser
from nfh_models.parsing.spacy_parser import NoPipelineError, installed_pipelines
from nfh_tui.cli import predict
from nfh_tui.services.models import SelectedModel
from nfh_tui.services.predict_sources import FORMATS
from tests.nfh_tui.predict.conftest import Stub

Call = Callable[..., Result]

TEXT = "Ann: Two tickets?\nBen: No, three. No one came.\n\nThree of the spoons are gone.\n"
_loaded = lru_cache(load_parser)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """A stub in the place of the model in the package, and no parser."""
    stub = Stub()
    monkeypatch.setattr(
        "nfh_tui.services.predict.resolver_for",
        lambda _store, _spec, **_: SelectedModel(stub, "small"),
    )
    monkeypatch.setattr(
        "nfh_tui.services.predict.identifier_for",
        lambda _store, _spec, **_: SelectedModel(stub, "small"),
    )

    def none(*_: object) -> object:
        raise NoPipelineError("no pipeline")

    monkeypatch.setattr("nfh_tui.services.predict.load_parser", none)
    return stub


@pytest.fixture
def text(home: Path) -> Path:
    (home / "a.txt").write_text(TEXT, encoding="utf-8")
    return home / "a.txt"


def heads(output: str) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for line in output.splitlines():
        values = json.loads(line)
        number = " ".join(values["tokens"][at] for at in values["anchors_indices"])
        head = values["head"]
        named = [values["tokens"][at] if isinstance(at, int) else at for at in head]
        found.append((number, *named))
    return found


def test_no_parser_and_no_database_are_needed(text: Path, home: Path, call: Call) -> None:
    result = call("predict", "--file", text)
    assert heads(result.stdout) == [("three", "tickets"), ("one", "PEOPLE"), ("Three", "OTHER")]
    assert result.stderr == ""
    assert not list(home.glob("*.db"))
    quiet = call("predict", "--file", text, "--no-deterministic")
    assert heads(quiet.stdout)[1] == ("one", "tickets")
    assert quiet.stderr == ""


@pytest.mark.parametrize(
    "options", [("--deterministic",), ("--parser", "spacy"), ("--parser", "stanza:x")]
)
def test_who_asks_for_a_parser_gets_none_without_a_word(
    text: Path, call: Call, options: tuple[str, ...]
) -> None:
    result = call("predict", "--file", text, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no pipeline" in result.stderr


def test_patterns_with_a_parser(
    text: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not installed_pipelines():
        pytest.skip("needs an English spaCy pipeline with a parser")
    monkeypatch.setattr("nfh_tui.services.predict.load_parser", _loaded)
    result = call("predict", "--file", text, "--deterministic")
    assert heads(result.stdout)[2] == ("Three", "spoons")
    assert result.stderr == ""


def test_standard_input_a_file_and_all_numbers(text: Path, home: Path, call: Call) -> None:
    wanted = heads(call("predict", "--file", text, "--all").stdout)
    assert wanted[0] == ("Two",)
    piped = call("predict", "--file", "-", "--all", input=TEXT)
    assert heads(piped.stdout) == wanted
    crlf = call("predict", "--file", "-", "--all", input=TEXT.replace("\n", "\r\n"))
    assert heads(crlf.stdout) == wanted
    result = call("predict", "--file", text, "--all", "--out", "o.jsonl")
    assert heads((home / "o.jsonl").read_text("utf-8")) == wanted
    assert "4 numbers, 3 without a noun (NFH): 1 with a head in the text" in result.stdout


def test_one_object(text: Path, call: Call) -> None:
    told = json.loads(call("predict", "--file", text, "--out", "o", "--json").stdout)
    assert (told["model"], told["identifier"], told["parser"]) == ("small", "small", None)
    assert (told["passages"], told["numbers"], told["nfh"]) == (2, 4, {"yes": 3, "no": 1})
    assert told["kinds"] == {"REFERENCE": 1, "PEOPLE": 1, "OTHER": 1}
    assert told["patterns"] == {"no-one": 1}
    assert (told["several"], told["beyond_window"], told["format"]) == (0, 0, "dialog")


def test_its_own_lines_are_labelled_rows(text: Path, home: Path, call: Call) -> None:
    """Their numbers are taken as they are, or found and decided anew."""
    (home / "p").write_text(call("predict", "--file", text).stdout, "utf-8")
    told = json.loads(call("predict", "--file", "p", "--out", "o", "--json").stdout)
    assert (told["format"], told["identifier"], told["numbers"]) == ("gold", None, 3)
    found = call("predict", "--file", "p", "--out", "o", "--json", "--anchors", "found")
    told = json.loads(found.stdout)
    assert (told["identifier"], told["numbers"], told["nfh"]["no"]) == ("small", 4, 1)
    decided = call("predict", "--file", "p", "--out", "o", "--json", "--identifier", "x")
    assert json.loads(decided.stdout)["identifier"] == "small"


def test_what_was_not_looked_at_is_said(
    text: Path, call: Call, small: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small, "_window", 1)
    result = call("predict", "--file", text, "--out", "o")
    assert "1 of 3 have longer passages than small looks at: a head outside" in result.stderr
    assert all(len(line) <= 80 for line in result.stderr.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("class:AGE", "--file", "a.txt"), "give a QUERY or --file, not both"),
        (("--file", "a.txt", "--force"), "--force is about the database"),
        (("--scores",), "go with --file"),
        (("--no-deterministic",), "go with --file"),
        (("--file", "a.txt", "--out", "a.txt"), "which is an input"),
        (("--file", "a.txt", "--out", "n.db", "--db", "n.db"), "overwrite the database"),
    ],
)
def test_calls_that_are_wrong(
    text: Path, call: Call, arguments: tuple[str, ...], message: str
) -> None:
    result = call("predict", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert text.read_text("utf-8") == TEXT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"two\nthree \xff four", "line 2: byte 7 of the line (0xFF) is not UTF-8"),
        (b"I have two\n\x00", "binary"),
        (b'{"tokens": ["two"]}\n', 'line 1: key "line_indices" is missing'),
    ],
)
def test_what_cannot_be_read_leaves_no_file(
    home: Path, call: Call, content: bytes, message: str
) -> None:
    (home / "bad").write_bytes(content)
    result = call("predict", "--file", "bad", "--out", "out")
    assert result.exit_code == 1
    assert message in result.stderr
    assert not (home / "out").exists()
    assert [path.name for path in home.iterdir()] == ["bad"]


def test_nothing_to_predict(home: Path, call: Call) -> None:
    result = call("predict", "--file", "-", "--no-deterministic", input="Nothing here.\n")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_a_line_is_a_line_to_everybody(home: Path, call: Call) -> None:
    result = call("predict", "--file", "-", input="I saw\u2028two\x85or\x9b31m four\u2029.\n")
    assert len(result.stdout.splitlines()) == len(result.stdout.split("\n")) - 1 == 2
    (home / "p.jsonl").write_text(result.stdout, "utf-8")
    assert call("import", "--db", "n.db", "p.jsonl").exit_code == 0


def test_a_person_reads_sentences_and_a_program_lines(
    text: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = call("predict", "--file", text).stdout
    monkeypatch.setattr(predict, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    result = call("predict", "--file", text, "--all")
    assert result.stdout.splitlines()[3:] == [
        "Ann: Two tickets? Ben: No, [three]. No one came.",
        "    The noun is “tickets” (small is 75 % sure), or else",
        "    Other (25 %).",
        "Ann: Two tickets? Ben: No, three. No [one] came.",
        "    No noun in the text, but the class People, by a pattern",
        "    of words (no-one).",
        "[Three] of the spoons are gone.",
        "    No noun in the text, but the class Other (small is over",
        "    99 % sure).",
    ]
    assert "4 numbers, 3 without a noun (NFH)" in result.stderr
    told = call("predict", "--file", text, "--json")
    assert heads(told.stdout) == heads(piped)
    assert told.stderr == ""


def test_a_format_that_is_unknown_is_refused_with_all_there_are(call: Call) -> None:
    result = call("predict", "--file", "e.txt", "--format", "words")
    assert result.exit_code == 2
    assert all(f"'{name}'" in result.stderr for name in (*FORMATS, "hf-parquet"))


@pytest.mark.parametrize("more", [(), ("--format", "dialog"), ("--format", "text")])
@pytest.mark.parametrize(
    ("content", "says"), [("", "is empty"), ("\n \n", "holds nothing but white space; wanted")]
)
def test_a_file_without_a_word_is_told(
    home: Path, call: Call, content: str, says: str, more: tuple[str, ...]
) -> None:
    (home / "e.txt").write_text(content)
    result = call("predict", "--file", "e.txt", "--out", "o", *more)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"nfh-tui: e.txt: {says}" in result.stderr
    assert not (home / "o").exists()
    piped = call("predict", "--file", "-", *more, input=content)
    assert (piped.exit_code, piped.stdout) == (1, "")
    assert f"nfh-tui: standard input: {says}" in piped.stderr
