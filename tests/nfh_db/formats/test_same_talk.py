"""The same talk is the same passage, whatever file it comes in."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.registry import formats, opened
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_tui.services.imports import PassageMaker

Write = Callable[..., Path]

TALK = [
    ("ANNA", "How many tickets do you want?"),
    ("BEN", 'Three, or "four" – 3,000 e\u0301 \U0001f44d & co.'),
    ("MAN 2", "No, five: two and three."),
]
DIALOG = "".join(f"{who}: {words}\n" for who, words in TALK)


def cues(mark: str, voice: str) -> str:
    return "\n".join(
        f"00:00:0{at}{mark}000 --> 00:00:0{at}{mark}900\n{voice.format(who)}{words}\n"
        for at, (who, words) in enumerate(TALK)
    )


def utterances() -> str:
    return "".join(
        json.dumps(
            {
                "id": f"k{at}",
                "speaker": who,
                "conversation_id": "k0",
                "reply-to": f"k{at - 1}" if at else None,
                "timestamp": None,
                "text": f" {words}\r\n",
            }
        )
        + "\n"
        for at, (who, words) in enumerate(TALK)
    )


def rows() -> str:
    escaped = [(who, words.replace('"', '""')) for who, words in TALK]
    return "speaker,text\n" + "".join(f'{who},"{words} "\n' for who, words in escaped)


FILES = {
    "subrip": cues(",", "{}: "),
    "webvtt": f"WEBVTT\n\n{cues('.', '<v {}>')}",
    "fountain": "INT. A ROOM - DAY\n\n" + "".join(f"{w}\n{words}\n\n" for w, words in TALK),
    "table": rows(),
    "convokit": utterances(),
}


def blocks(path: Path) -> list[DialogBlock]:
    found = opened(path)
    assert isinstance(found.source, Source)
    return list(found.format.read(found.source, ReadOptions()))


def digests(path: Path) -> list[tuple[str, int]]:
    maker = PassageMaker(Source(path), None, None)
    return [(one.passage.digest, len(one.anchors)) for one in maker.passages(blocks(path))]


@pytest.mark.parametrize("name", FILES)
def test_a_file_makes_the_passage_that_a_dialog_makes(write: Write, name: str) -> None:
    path = write(FILES[name], "talk.txt")
    assert opened(path).format.name == name
    (block,) = blocks(path)
    assert block.text + "\n" == DIALOG
    (passage,) = digests(write(DIALOG, "dialog.txt"))
    assert digests(path) == [passage]
    assert passage[1] >= 4


def test_all_formats_of_raw_dialogs_are_here() -> None:
    raw = {one.name for one in formats() if not one.labelled}
    # The words of `chat` stand with a blank before each stop.
    assert raw == {*FILES, "dialog", "chat"}
