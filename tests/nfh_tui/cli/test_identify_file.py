"""`nfh-tui identify --file`: the numbers of a text, without a database."""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nfh_models.identification.base import Decision
from nfh_models.identification.rules import RULES
from nfh_models.parsing.base import load_parser
from nfh_models.parsing.spacy_parser import installed_pipelines
from nfh_tui.cli import identify
from nfh_tui.cli.main import commands

TEXT = 'I have two tents, and Ann has\none. "No one," she said, "owes me $5."\n🙂 Take three.\n'
NAMES = {rule.name for rule in RULES}

_loaded = lru_cache(load_parser)


@pytest.fixture(autouse=True)
def parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real parser, loaded once for all of these tests."""
    if not installed_pipelines():
        pytest.skip("needs an English spaCy pipeline (en_core_web_sm or a re-upload of it)")
    monkeypatch.setattr("nfh_models.parsing.base.load_parser", _loaded)


@pytest.fixture
def text(home: Path) -> Path:
    (home / "a.txt").write_text(TEXT, encoding="utf-8")
    return home / "a.txt"


def lines_of(output: str) -> list[dict]:
    return [json.loads(line) for line in output.splitlines()]


def test_a_text_gives_a_line_for_each_number(text: Path, home: Path, call) -> None:
    result = call("identify", "--file", text)
    found = lines_of(result.stdout)
    assert [one["text"] for one in found] == ["two", "one", "one", "5", "three"]
    for one in found:
        assert TEXT[one["start"] : one["end"]] == one["text"]
        assert one["sentence"] in TEXT
        assert one["text"] in one["sentence"]
        assert one["rule"] in NAMES
        assert one["score"] is None
    assert [one["nfh"] for one in found] == [False, True, True, False, True]
    assert result.stderr == ""
    assert not list(home.glob("*.db"))


def test_standard_input_one_object_and_a_file_say_the_same(
    text: Path, home: Path, call
) -> None:
    found = lines_of(call("identify", "--file", text).stdout)
    piped = CliRunner().invoke(commands, ["identify", "--file", "-", "--json"], input=TEXT)
    told = json.loads(piped.stdout)
    assert told["found"] == found
    assert (told["file"], told["numbers"]) == ("standard input", 5)
    assert told["nfh"] == {"yes": 3, "no": 2}
    result = call("identify", "--file", text, "--out", home / "o.jsonl", "--json")
    assert lines_of((home / "o.jsonl").read_text("utf-8")) == found
    told = json.loads(result.stdout)
    assert "found" not in told
    assert told["out"] == str(home / "o.jsonl")
    said = call("identify", "--file", text, "--out", home / "o.jsonl").stdout
    assert "5 numbers, 3 without a noun (NFH), 2 with" in said


def test_each_line_may_be_a_text_of_its_own(text: Path, call) -> None:
    found = lines_of(call("identify", "--file", text, "--per-line").stdout)
    assert [one["sentence"] for one in found][:2] == ["I have two tents, and Ann has", "one."]
    for one in found:
        assert TEXT[one["start"] : one["end"]] == one["text"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"two\nthree \xff four", "line 2: byte 11 of the file (0xFF) is not UTF-8"),
        ("two of them".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        (b"version https://git-lfs.github.com/spec/v1\nsize 7\n", "is a Git LFS pointer"),
    ],
)
def test_what_is_no_text_is_refused(
    home: Path, call: Callable[..., Result], content: bytes, words: str
) -> None:
    (home / "bad").write_bytes(content)
    result = call("identify", "--file", home / "bad", "--out", home / "out")
    assert result.exit_code == 1
    assert words in result.stderr
    assert not (home / "out").exists()


@pytest.mark.parametrize("more", [(), ("--per-line",), ("--json",)])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("\ufeff", "is empty"),
        ("\n \n", "holds nothing but white space; wanted a dialog, or other text"),
    ],
)
def test_a_file_without_a_word_is_told(
    home: Path, call: Callable[..., Result], content: str, says: str, more: tuple[str, ...]
) -> None:
    (home / "e.txt").write_text(content, encoding="utf-8")
    result = call("identify", "--file", "e.txt", "--out", "o", *more)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"nfh-tui: e.txt: {says}\n"
    assert not (home / "o").exists()
    piped = call("identify", "--file", "-", *more, input=content)
    assert (piped.exit_code, piped.stdout) == (1, "")
    assert piped.stderr == f"nfh-tui: standard input: {says}\n"


def test_hostile_text_is_read(home: Path, call: Callable[..., Result]) -> None:
    long = "x" * 200_000 + " two of them " + "[" * 3_000 + " three\0\x1b[31m "
    (home / "odd").write_bytes(b"\xef\xbb\xbf" + long.encode("utf-8"))
    found = lines_of(call("identify", "--file", home / "odd").stdout)
    assert found[0]["text"] == "two"
    assert all(long[one["start"] : one["end"]] == one["text"] for one in found)
    (home / "none").write_text("Nothing here.\n")
    assert call("identify", "--file", home / "none").stdout == ""
    assert call("identify", "--file", home / "gone").exit_code == 1


def test_a_person_reads_sentences(
    text: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identify, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    result = call("identify", "--file", text)
    rows = result.stdout.splitlines()
    assert max(map(len, rows)) <= 60
    assert "[two]" in rows[0]
    assert rows[1].startswith("    Not an NFH: the noun is there (noun-next). A noun")
    assert sum(row.startswith("    NFH: the noun is missing (") for row in rows) == 3
    assert "5 numbers, 3 without a noun (NFH), 2 with" in result.stderr


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (Decision(True, "small", 5.0), "NFH: the noun is missing (m is over 99 % sure)."),
        (Decision(False, "small", -1.0), "Not an NFH: the noun is there (m is 73 % sure)."),
        (
            Decision(True, "svm", 0.5),
            "NFH: the noun is missing (m gives it a score of +0.50, and above 0 is an NFH).",
        ),
        (
            Decision(False, "no-one", -1.0, (("small", -3.64), ("no-one", 2.64))),
            "Not an NFH: the noun is there (m is 73 % sure: small -3.64; no-one +2.64). “No "
            "one” means nobody: the missing noun is people.",
        ),
    ],
)
def test_how_sure_a_model_is(decision: Decision, said: str) -> None:
    assert identify.decided(decision, "m") == said


def test_the_text_around_a_number_ends_between_words() -> None:
    around = identify.fitting("Nobody has ever seen ", "two", " of all these people", 30)
    assert "".join(around) == "… ever seen [two] of all …"
    assert "".join(identify.fitting("We saw ", "two", " of all these", 30)) == (
        "We saw [two] of all these"
    )


def test_a_line_of_json_is_a_line_to_everybody(home: Path, call) -> None:
    text = "I saw two\u2028three\x85or\x9b31m four\u2029."
    (home / "odd.txt").write_text(text, encoding="utf-8")
    lines = call("identify", "--file", home / "odd.txt").stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert [text[one["start"] : one["end"]] for one in found] == [one["text"] for one in found]
    assert len(found) == 2
    assert "\x9b" not in "".join(lines)
