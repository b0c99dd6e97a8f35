"""Plain text: what a block is, and what counts as a speaker."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import dialog
from nfh_db.formats.dialog import split_speaker
from nfh_db.formats.files import Source
from nfh_db.formats.rows import DialogBlock

Rows = Callable[[str, str | bytes], list[DialogBlock]]

SPEAKERS = [
    ("Anna: two", "Anna"),
    ("bob: two", "bob"),
    ("ann1:\ttwo", "ann1"),
    ("Speaker 1: two", "Speaker 1"),
    ("MAN #2: two", "MAN #2"),
    ("Man of the House: two", "Man of the House"),
    ("Dr. Ray: two", "Dr. Ray"),
    ("J.R. Ewing: two", "J.R. Ewing"),
    ("O'Brien: two", "O'Brien"),
    ("Anna & Bob: two", "Anna & Bob"),
    ("ANNA (on the phone): two", "ANNA (on the phone)"),
    ("Anna (V.O.): two", "Anna (V.O.)"),
    ("José García: two", "José García"),
    ("e\u0301milie: two", "e\u0301milie"),
    ("小明: two", "小明"),
    ("דוד: two", "דוד"),
    ("  Anna : two", "Anna"),
    ("Anna: to Bob: two", "Anna"),
    ("Anna:", "Anna"),
    ("Anna\u00a0: two", "Anna"),
    ("Anna:\u00a0two", "Anna"),
    ("\u3000Anna:\u2003two", "Anna"),
]
NO_SPEAKERS = [
    "two of them",
    "10:30 is fine",
    "10: ten",
    "(2): two",
    "http://two",
    "Anna:two",
    "He said: two",
    "Here are the options: two",
    "Wait, Anna: two",
    "Two of them left. So: one",
    "Who? Anna: two",
    "One Two Three Four Five: six",
    "[red]Anna: two",
    "\x1b[31mAnna: two",
    "<b>: two",
    ": two",
    "A" * 61 + ": two",
]


@pytest.mark.parametrize(("line", "speaker"), SPEAKERS)
def test_a_name_before_a_colon_is_the_speaker(line: str, speaker: str) -> None:
    found, start = split_speaker(line)
    assert found == speaker
    assert line[start:] in ("two", "to Bob: two", "")


@pytest.mark.parametrize("line", NO_SPEAKERS)
def test_other_words_before_a_colon_are_words(line: str) -> None:
    assert split_speaker(line) == (None, 0)


def test_blank_lines_part_blocks_and_text_is_kept_as_it_came(rows: Rows) -> None:
    first, second = rows("dialog", "\n \nAnn: [red] two\t\x1b[1m \nthree\n\t\n\nBen: 四 one\n")
    assert first.text == "Ann: [red] two\t\x1b[1m \nthree"
    assert [
        (t.line, t.number, t.speaker, first.text[t.start : t.end]) for t in first.turns
    ] == [
        (3, 0, "Ann", "[red] two\t\x1b[1m "),
        (4, 1, None, "three"),
    ]
    assert second.text == "Ben: 四 one"
    assert [(turn.line, turn.number) for turn in second.turns] == [(7, 0)]


def test_byte_order_mark_and_crlf_are_accepted(rows: Rows) -> None:
    (block,) = rows("dialog", b"\xef\xbb\xbfAnn: two\r\nBen: three\r\n")
    assert block.text == "Ann: two\nBen: three"
    assert [turn.speaker for turn in block.turns] == ["Ann", "Ben"]


def test_a_file_of_blanks_is_refused(rows: Rows) -> None:
    with pytest.raises(FormatError, match="nothing but white space; wanted lines of dialog"):
        rows("dialog", "\n \n")


ODD = [
    ("[Anna]: two", "*MOT:\tthree"),
    ("**Anna:** two", "<Ben> : three"),
    ("[12:30:01] Anna: two", "12/31/20, 10:30 - Ben: three"),
    ("[31.12.20, 10:30:00] Anna: two", "10:30 PM Ben: three"),
    ("Anna:two", "Ben：three"),
    ("HAMLET. To be", "LADY MACBETH. Two"),
    ("[Anna] Two?", "[Dr. Ben] Three."),
]
PLAIN = [
    ("Look at http://two.org", "10:30 is fine"),
    ("At 10:30 he said: two", "1:2"),
    ("OK. Two", "I. Two"),
    ("[two] of them", "*two* of them"),
]


def warned(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "d.txt"
    path.write_text(text, "utf-8")
    source = Source(path)
    list(dialog.read(source))
    return source.warnings


@pytest.mark.parametrize("lines", ODD)
def test_names_that_stand_otherwise_are_said(tmp_path: Path, lines: tuple[str, str]) -> None:
    (warning,) = warned(tmp_path, "Anna: one\n" + "\n".join(lines))
    assert warning.startswith("2 lines read without a speaker though they seem to name one")
    assert "line 2: " in warning
    assert warned(tmp_path, lines[0]) == []


@pytest.mark.parametrize("lines", PLAIN)
def test_other_lines_are_said_nothing_of(tmp_path: Path, lines: tuple[str, str]) -> None:
    assert warned(tmp_path, "\n".join(lines)) == []


def test_names_above_what_is_said_are_said(tmp_path: Path) -> None:
    speeches = "ANNA\nTwo cups?\n\nLADY BEN.\nThree.\n\n"
    (warning,) = warned(tmp_path, speeches)
    assert warning.startswith(
        "2 passages begin with a line in capitals that may say who speaks"
    )
    assert 'line 1: "ANNA"; --format fountain' in warning
    assert warned(tmp_path, speeches + "two\n\nthree\n\n") == []
    assert warned(tmp_path, "ANNA\nTWO CUPS?\n\nBEN\nTHREE.\n") == []


def test_an_endless_passage_is_refused(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialog, "LINE_LIMIT", 40)
    assert len(rows("dialog", "one\n\n" * 20)) == 20
    with pytest.raises(
        FormatError, match="line 3: a passage of more than 40 characters starts here; wanted a"
    ):
        rows("dialog", "one\n\n" + "two of them\n" * 4)


def test_a_name_that_the_rule_does_not_take_for_one_is_said(tmp_path: Path) -> None:
    path = tmp_path / "d.txt"
    path.write_text("Anna: one\nOld man: two\nhe said: three\nThe other one: four\n", "utf-8")
    source = Source(path)
    assert [turn.speaker for turn in next(dialog.read(source)).turns] == [
        "Anna",
        None,
        None,
        None,
    ]
    list(dialog.read(source))
    (warning,) = set(source.warnings)
    assert warning.startswith("2 lines read without a speaker")
    assert 'line 2: "Old man"' in warning
