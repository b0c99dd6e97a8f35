"""Files that would pass for plain text, and are none, are refused with what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.errors import FormatError
from nfh_db.formats.files import Folder, FolderMember, Source
from nfh_db.formats.registry import opened

Write = Callable[..., Path]
Call = Callable[..., Result]

STRANGERS = [
    ("{100}{200}How many?|Three.\n", "subtitles of MicroDVD"),
    ("[100][200]How many?|Three.\n", "subtitles of MPL2"),
    ("[Script Info]\nTitle: two\n", "subtitles of SubStation Alpha"),
    ("\ufeff\n[Script Info]\n", "subtitles of SubStation Alpha"),
    ("0:00:01.000,0:00:04.000\nTwo cups?\n", "subtitles of SubViewer"),
    ("[INFORMATION]\n[TITLE]two\n", "subtitles of SubViewer"),
    ("[ti:Two]\n[00:12.00]Two birds\n", "lyrics with their times"),
    ("<?xml version='1.0'?>\n<tt>Two</tt>\n", "XML or HTML"),
    ("<!DOCTYPE html>\n<p>Ann: two</p>\n", "XML or HTML"),
    ("{\\rtf1\\ansi Ann: two\\par}\n", "a document in RTF"),
    ("%PDF-1.4\n1 0 obj\n", "a PDF document"),
    ("T1\tNUM 0 3\ttwo\n", "annotations of brat"),
]


@pytest.mark.parametrize(("content", "what"), STRANGERS)
def test_what_is_no_plain_text_is_refused(write: Write, content: str, what: str) -> None:
    with pytest.raises(
        FormatError, match=f"seems to be {what}.*, which no format here reads; "
    ):
        opened(write(content, "a.txt"))
    assert opened(write(content, "a.txt"), "dialog").format.name == "dialog"


@pytest.mark.parametrize(
    "content",
    [
        "{laughs} Ann: two\n",
        "[100] two\n",
        "[Script] two\n",
        "[12:30] Ann: two\n",
        "[12:30:01] Ann: two\n",
        "0:00:01 two\n",
        "<Ann> two\n",
        "T1 is two\n",
        "Ann: 2 + 3 $ two\n",
        "A scene\n{1}{2} two\n",
    ],
)
def test_dialogs_are_no_strangers(write: Write, content: str) -> None:
    assert opened(write(content, "a.txt")).format.name == "dialog"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("name", ["a.txt", "a.srt", "a.csv"])
def test_carriage_returns_alone_end_no_line(write: Write, name: str, encoding: str) -> None:
    path = write("Ann: two?\rBen: three.\r".encode(encoding), name)
    with pytest.raises(FormatError, match=r"end in carriage returns alone.*with line feeds"):
        opened(path, encoding=None if encoding == "utf-8" else encoding)
    assert opened(write("Ann: two?\r", "a.txt")).format.name == "dialog"


LINES = ["Ann: two", "Ben: three", "Cid: caf\xe9 four"]


@pytest.mark.parametrize(
    ("written", "encoding", "line"),
    [
        ("latin-1", "ascii", 3),
        ("latin-1", "cp932", 3),
        ("utf-8", "utf-16", 1),
        ("latin-1", "utf-8-sig", 3),
    ],
)
def test_the_line_that_is_in_another_encoding_is_named(
    write: Write, written: str, encoding: str, line: int
) -> None:
    text = ("\r\n".join(LINES) + "\r\n").encode(written)
    path = write(text, "a.txt")
    for source in (
        Source(path, encoding),
        FolderMember(Folder(path.parent), "a.txt", encoding),
    ):
        with pytest.raises(FormatError, match=f"line {line}: is not text in .*--encoding"):
            list(source.lines())


def test_the_line_is_right_far_into_a_file(write: Write) -> None:
    path = write(b"Ann: two cups of it\n" * 60_000 + b"Ben: caf\xe9\n" + b"x\n" * 10, "a.txt")
    with pytest.raises(FormatError, match="line 60001: is not text in ascii"):
        list(Source(path, "ascii").lines())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_wide_encoding_is_read_as_the_refusal_says(
    write: Write, home: Path, call: Call, encoding: str
) -> None:
    path = write("Ann: zwei für 3\n".encode(encoding), "a.txt")
    refused = call("import", path, "--db", "x.db")
    advised = refused.stderr.strip().rpartition("--encoding ")[2]
    assert (refused.exit_code, advised) == (1, encoding)
    done = call("import", path, "--db", "x.db", "--encoding", advised)
    assert (done.exit_code, "1 item new" in done.stdout) == (0, True)


@pytest.mark.parametrize("pause", ["nan", "inf", "-1", "0"])
def test_a_pause_is_a_number_of_seconds(
    write: Write, home: Path, call: Call, pause: str
) -> None:
    path = write("1\n00:00:01,000 --> 00:00:02,000\nTwo.\n", "a.srt")
    refused = call("import", path, "--pause", pause, "--db", "x.db")
    assert (refused.exit_code, "--pause" in refused.stderr) == (2, True)
