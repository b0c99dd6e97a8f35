"""Fountain screenplays: who says what in which scene, and what is no screenplay."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.registry import opened
from nfh_db.formats.rows import ReadOptions
from tests.nfh_db.formats.subtitle_files import Heard, words

Write = Callable[..., Path]

SCREENPLAY = """Title: Pots and
    pans
Author: Nobody

INT. KITCHEN - DAY #1#

Three pots stand on the stove. /* five
of them

once */
Steam rises.

ANNA (V.O.)
How many *pots* do you
want? [[count again]]
(after a while)
Two?

@McBen (CONT'D)
No, **three**.
\x20\x20
And one more.

CLARA ^
Four!

CUT TO:

.THE GARDEN

# Act two

= They meet.

BEN
One for me.

> THE END <
"""

SAID = [
    [
        (None, "Three pots stand on the stove. Steam rises."),
        ("ANNA", "How many pots do you want? Two?"),
        ("McBen", "No, three. And one more."),
        ("CLARA", "Four!"),
    ],
    [("BEN", "One for me."), (None, "THE END")],
]


def test_a_screenplay(write: Write) -> None:
    heard = Heard(write(SCREENPLAY, "pots.txt"))
    assert heard.format == "fountain"
    assert heard.reason == "it has scene headings and characters, as screenplays do"
    assert [[turn[:2] for turn in scene] for scene in heard.turns] == SAID
    assert {turn[2:] for scene in heard.turns for turn in scene} == {(None, None)}
    assert heard.lines == [[7, 13, 19, 24], [35, 38]]
    assert heard.warnings == [
        "left out: 2 comments, 1 parenthetical, 2 scene headings, 2 sections or synopses, "
        "1 title page, 1 transition"
    ]


def test_crlf_and_a_mark_change_nothing(write: Write) -> None:
    raw = b"\xef\xbb\xbf" + SCREENPLAY.replace("\n", "\r\n").encode()
    assert Heard(write(raw, "b.fountain")).blocks == Heard(write(SCREENPLAY, "a.txt")).blocks


def said(write: Write, text: str) -> list[tuple[str | None, str]]:
    return list(words(Heard(write(text, "a.fountain"))))


ELEMENTS = [
    ("ANNA\nTwo.", [("ANNA", "Two.")]),
    ("\tANNA\n\t\tTwo.", [("ANNA", "Two.")]),
    ("MAN 2 (on the phone) (O.S.)\nTwo.", [("MAN 2", "Two.")]),
    ("23\nTwo.", [(None, "23 Two.")]),
    ("ANNA\n\nTwo.", [(None, "ANNA"), (None, "Two.")]),
    ("Some words.\nANNA\nTwo.", [(None, "Some words. ANNA Two.")]),
    ("!ANNA\nTwo.", [(None, "ANNA Two.")]),
    ("@anna\nTwo.", [("anna", "Two.")]),
    ("ANNA\n~Two by two", [("ANNA", "Two by two")]),
    ("~Two by two", [(None, "Two by two")]),
    ("FADE IN:\nTwo.", [(None, "FADE IN: Two.")]),
    ("SMASH CUT TO:\n\nTwo.", [(None, "Two.")]),
    ("> Fade to two.", []),
    ("===\n\nTwo.", [(None, "Two.")]),
    ("...two.", [(None, "...two.")]),
    (".snap two\n\nTwo.", [(None, "Two.")]),
    ("Exterior two.", [(None, "Exterior two.")]),
    ("ANNA\n***Two*** _of_ **_us_**, 2 * 3 * 4", [("ANNA", "Two of us, 2 * 3 * 4")]),
    ("ANNA\n\\*two\\* snake_case_name *a", [("ANNA", "*two* snake_case_name *a")]),
    ("ANNA\nTwo [[not\nthree]] four.", [("ANNA", "Two four.")]),
    ("ANNA\nTwo [[not\n\nThree.", [("ANNA", "Two"), (None, "Three.")]),
    ("ANNA\nTwo. /* not\n\nthree */ Four.", [("ANNA", "Two. Four.")]),
    ("ANNA\n[[a note]]\nTwo.", [("ANNA", "Two.")]),
    ("ANNA\n(beat)", []),
    ("ÉMILIE\nDeux.", [("ÉMILIE", "Deux.")]),
    ("BERNARDO.\nTwo.", [("BERNARDO", "Two.")]),
    ("J.R.\nTwo.", [("J.R.", "Two.")]),
    ("ROBERT JR.\nTwo.", [("ROBERT JR.", "Two.")]),
]


@pytest.mark.parametrize(("text", "found"), ELEMENTS)
def test_elements(write: Write, text: str, found: list[tuple[str | None, str]]) -> None:
    whole = f"INT. A ROOM\n\n{text}\n\nZOE\nThe end.\n"
    assert said(write, whole) == [*found, ("ZOE", "The end.")]


HEADINGS = ["INT. ROOM", "ext. street - night", "EST ROOM", "INT./EXT. CAR", "INT/EXT CAR",
            "I/E. CAR", ".ROOM"]  # fmt: skip


@pytest.mark.parametrize("heading", HEADINGS)
def test_headings_part_scenes(write: Write, heading: str) -> None:
    heard = Heard(write(f"ANNA\nTwo.\n\n{heading}\n\nBEN\nThree.\n", "a.fountain"))
    assert [[turn[1] for turn in scene] for scene in heard.turns] == [["Two."], ["Three."]]


PROSE = "It was a cold day in April, and the clocks were striking thirteen. Two of them."

REFUSED = [
    (
        f"{PROSE}\n\n{PROSE}\n",
        "no character speaks in it; wanted a screenplay: a name in",
    ),
    (f"CHAPTER TWO\nHe left.\n\n{PROSE}\n", "has no scene heading, and hardly anybody speaks"),
    ("Ann: Two tickets?\nBen: Three.\n", "no character speaks.*--format dialog"),
    ("Title: Nothing\n\n", "holds no spoken words"),
    ("ANNA\nTwo.\n\nBEN\n/* three\n\nfour\n", r'line 5: a comment "/\*" starts here and never'),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_what_is_no_screenplay_is_refused(write: Write, text: str, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        Heard(write(text, "a.fountain"))


def test_a_screenplay_may_do_without_headings(write: Write) -> None:
    assert said(write, "Two enter.\n\nANNA\nThree.\n") == [
        (None, "Two enter."),
        ("ANNA", "Three."),
    ]


def test_a_dialog_is_not_taken_for_a_screenplay(write: Write) -> None:
    text = "INT. ROOM: two\n\nANNA: Two.\nBEN: Three.\n\nANNA:\nFour\n"
    assert opened(write(text, "a.txt")).format.name == "dialog"


@pytest.mark.parametrize("line", ["Est ce que tu en veux deux ?", "Int. two", "ext. two"])
def test_words_that_begin_as_headings_are_not_taken_for_a_screenplay(
    write: Write, line: str
) -> None:
    assert opened(write(f"{line}\n\nOK\nTrois.\n", "a.txt")).format.name == "dialog"


def test_another_encoding_is_asked_for(write: Write) -> None:
    path = write(SCREENPLAY.replace("ANNA", "ÉMILIE").encode("latin-1"), "a.fountain")
    with pytest.raises(FormatError, match=r"line 13: .* is not UTF-8; .* with --encoding"):
        Heard(path)
    assert Heard(path, ReadOptions(encoding="latin-1")).turns[0][1][0] == "ÉMILIE"


def test_marks_without_end_take_no_time(write: Write) -> None:
    line = "*a _b " * 20_000 + "(" * 50_000
    assert said(write, f"INT. ROOM\n\nANNA\n{line}\n")[0][0] == "ANNA"
