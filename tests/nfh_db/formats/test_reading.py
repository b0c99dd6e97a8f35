"""Reading files safely: what is refused before a format looks at it, and what is accepted."""

import bz2
import gzip
import lzma
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import files
from nfh_db.formats.files import Source

Write = Callable[..., Path]


def lines(path: Path) -> list[tuple[int, str]]:
    return list(Source(path).lines())


def test_lines_come_numbered_and_without_their_ends(write: Write) -> None:
    assert lines(write("one\ntwo\r\n\nfour")) == [(1, "one"), (2, "two"), (3, ""), (4, "four")]


def test_only_newline_ends_a_line(write: Write) -> None:
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\rg"
    assert lines(write(text + "\n")) == [(1, text)]


def test_a_byte_order_mark_is_left_out_at_the_start_only(write: Write) -> None:
    path = write(b"\xef\xbb\xbfone\r\n\xef\xbb\xbftwo\r\n")
    assert lines(path) == [(1, "one"), (2, "\ufefftwo")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file.jsonl: is empty"),
        (b"\xef\xbb\xbf", "file.jsonl: is empty"),
        (b"ab\0cd\n", r"is a binary file \(NUL at byte 3\); wanted UTF-8 text"),
        (b"ab\n" * 700_000 + b"\0", r"binary file \(NUL at byte 2,100,001\)"),
        (
            gzip.compress(b"two\n", mtime=0),
            "is packed with gzip: unpack it first",
        ),
        (lzma.compress(b"two\n"), "is packed with xz: unpack it first"),
        (bz2.compress(b"two\n"), "is packed with bzip2: unpack it first"),
        (b"BZh is short for a game\n\0", "is a binary file"),
        ("two\n".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        ("two of them\n".encode("utf-16-le"), "is UTF-16 text"),
        ("two of them\n".encode("utf-16-be"), "is UTF-16 text"),
        ("two\n".encode("utf-32"), "is UTF-32 text"),
    ],
)
def test_what_is_no_text_is_refused(write: Write, content: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Source(write(content))


def test_bytes_that_are_no_utf8_are_refused_with_line_and_byte(write: Write) -> None:
    path = write(b"first\n" + b"caf\xe9\n")
    with pytest.raises(
        FormatError, match=r"file.jsonl, line 2: byte 4 of the line \(0xE9\) is not UTF-8"
    ):
        lines(path)


def test_a_line_of_fifty_megabytes_is_refused_without_being_read_whole(write: Write) -> None:
    path = write(b"short\n" + b"x" * 50_000_000 + b"\nmore\n")
    source = Source(path)
    tracemalloc.start()
    try:
        with pytest.raises(
            FormatError, match=r"line 2: the line is 50,000,001 bytes long; wanted at most"
        ):
            list(source.lines())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * files.LINE_LIMIT


def test_a_line_just_within_the_limit_is_read(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LINE_LIMIT", 10)
    assert lines(write("123456789\nx\n")) == [(1, "123456789"), (2, "x")]
    with pytest.raises(
        FormatError, match="line 1: the line is 11 bytes long; wanted at most 10"
    ):
        lines(write("1234567890\nx\n"))


def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="nothing: there is no such file"):
        Source(tmp_path / "nothing")
    with pytest.raises(FormatError, match="is a folder; name the files in it"):
        Source(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FormatError, match="is not a regular file; save its content"):
        Source(pipe)


def test_a_file_that_may_not_be_read_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests run as root, whom no permission stops.
    path = write("text\n")

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FormatError, match="cannot be read: permission denied"):
        Source(path)


def test_a_file_changed_between_the_two_passes_is_refused(write: Write) -> None:
    path = write("one\ntwo\n")
    source = Source(path)
    path.write_text("one\nTWO\n")
    with pytest.raises(FormatError, match="changed while it was read; import it again"):
        list(source.lines())


def test_the_hash_is_of_the_bytes(write: Write) -> None:
    import hashlib

    content = b"\xef\xbb\xbfone\r\n" * 100_000
    assert Source(write(content)).sha256 == hashlib.sha256(content).hexdigest()


def test_an_empty_line_is_accepted_at_the_end_only(write: Write) -> None:
    assert [text for _, text in Source(write("one\ntwo\n\n \n")).rows()] == ["one", "two"]
    with pytest.raises(FormatError, match="line 2: the line is empty; wanted one row"):
        list(Source(write("one\n\n\ntwo\n")).rows())
    with pytest.raises(FormatError, match="nothing but white space; wanted at least one row"):
        list(Source(write("\n \n")).rows())


def test_a_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        Source(tmp_path / "evil\x1b[31m\n.txt")
    assert "evil␛[31m␊.txt: there is no such file" in str(caught.value)
