"""Examples of subtitles, screenplays and transcripts are read, and told apart."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.registry import formats, opened
from tests.nfh_db.formats.subtitle_files import CHAT, FOUNTAIN, SUBRIP, WEBVTT, Heard

Write = Callable[..., Path]

EXAMPLES = {"subrip": SUBRIP, "webvtt": WEBVTT, "fountain": FOUNTAIN, "chat": CHAT}
SAID = {
    "subrip": [
        [(None, "How many tickets?"), (None, "Three, I think."), ("ANNA", "Give me two.")],
        [(None, "How many? 3")],
    ],
    "webvtt": [
        [("Anna", "How many tickets & seats?"), ("Ben O'Hara", "Three, I think.")],
        [(None, "Four?"), (None, "No, five.")],
    ],
    "fountain": [
        [
            (None, "Three pots stand on the stove."),
            ("ANNA", "How many pots do you want? Two?"),
            ("McBen", "No, three."),
        ],
        [("BEN", "One for me.")],
    ],
    "chat": [
        [("MOT", "how many cookies do you want ?"), ("MAR", "I want two ...")],
        [("MAR", "nine .")],
    ],
}


@pytest.mark.parametrize("name", SAID)
def test_an_example_is_recognised_and_read(write: Write, name: str) -> None:
    heard = Heard(write(EXAMPLES[name], "example.txt"))
    assert heard.format == name
    assert [[turn[:2] for turn in scene] for scene in heard.turns] == SAID[name]


@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("other", SAID)
def test_read_as_another_format_an_example_is_refused(
    write: Write, name: str, other: str
) -> None:
    if name != other:
        with pytest.raises(FormatError):
            Heard(write(EXAMPLES[name], "example.txt"), name=other)


@pytest.mark.parametrize("one", [one for one in formats() if one.example])
def test_no_line_of_another_format_is_taken_for_one_of_these(write: Write, one) -> None:
    try:
        found = opened(write(one.example + "\n", "example.txt"))
    except FormatError:
        return
    assert found.format.name not in SAID
