"""Which files are read, and as what."""

import gzip
import os
import threading
from pathlib import Path

import pytest

from nfh_tui.scanning.blocks import UnreadableError, distinct, opened
from nfh_tui.scanning.worker import BlockProcessor

from .conftest import Inline, scanned


def read(path: Path) -> bytes:
    with opened(str(path)) as reader:
        return b"".join(iter(lambda: reader.read(1_000), b""))


@pytest.mark.parametrize("data", [b"", b"x", b"\x1f one, or two", b"One left.\n" * 20_000])
def test_plain_and_packed_hold_the_same(tmp_path: Path, data: bytes) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "a.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data[:7]) + gzip.compress(data[7:]))
    assert read(plain) == read(packed) == data
    for path in (plain, packed):
        with opened(str(path)) as reader:
            reader.skip_to(5)
            assert reader.read(4) == data[5:9]


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_a_file_that_grows_is_read_up_to_where_it_ended(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"One left.")
    with opened(str(path), size) as reader:
        assert reader.read(9) == b"One left."[:size]
        assert reader.read(9) == b""
    with opened(str(path), size) as reader:
        reader.skip_to(7)  # it has shrunk since
        assert reader.read(9) == b""


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UnreadableError, match="closed"), opened("-"):
        pass


def test_one_file_under_several_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("one")
    (tmp_path / "link").symlink_to("a.txt")
    (tmp_path / "loop").symlink_to("loop")
    os.link("b.txt", "hard")
    names = ["-", "link", "a.txt", "./a.txt", "loop", "b.txt", "hard", "gone", "\0", "-", "."]
    assert distinct(names) == (
        ["-", "link", "loop", "b.txt", "gone", "\0", "."],
        [("a.txt", "link"), ("./a.txt", "link"), ("hard", "b.txt")],
    )


def test_a_pipe_is_read_too(tmp_path: Path, engine: BlockProcessor) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"He has one.",))
    writer.start()
    job = scanned(Inline(engine), tmp_path / "home", pipe)
    writer.join()
    assert (job.files[0].tally.total.numbers, job.files[0].size) == (1, None)
    assert not (tmp_path / "home").exists()  # what is gone when read cannot be gone on with


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("He has one.".encode("utf-16"), "UTF-16"),
        (b"version https://git-lfs.github.com/spec/v1\noid 7\n", "a Git LFS pointer"),
        ("He has one.".encode("utf-32"), "iconv -f UTF-32"),
        ("He has one of them.".encode("utf-16-le"), "UTF-16"),
        (bytes(range(256)) * 9, "not UTF-8 text"),
        (b"\x7fELF" + bytes(500), "not text"),
        (b"\x89PNG\r\n" + bytes(range(128, 256)) * 3 + b"abcdefghijkl" * 20, "not UTF-8 text"),
        (gzip.compress(b"He has one." * 900, mtime=0)[:-20], "too early"),
        (gzip.compress(b"He has one.", mtime=0)[:-6] + b"123456", "damaged"),
        (b"\x1f\x8bno gzip at all", "damaged"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(UnreadableError, match=why):
        read(path)


def test_marks_nul_and_bytes_that_are_no_utf8(tmp_path: Path, engine: BlockProcessor) -> None:
    path = tmp_path / "file"
    path.write_bytes(
        b"\xef\xbb\xbfTwo\0left. caf\xe9 \xef\xbf\xbd one\0\0of them\xff" + b"\0" * 9
    )
    tally = scanned(Inline(engine), None, path).files[0].tally
    assert (tally.nul, tally.undecodable, tally.words) == (12, 2, 7)
    assert set(tally.anchors) == {"two", "one"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n \0 \n",
        "Er hat zwei, sie hat drei. 他有三个。 Она взяла один.",
        "." * 1_200 + " one" + "'" * 1_200,
        "one " * 1_000,
        "1" * 3_000 + "!" * 3_000,
        "٣ of them (३ left) ߅.",
        "one‑two‑three‑" * 100,
        "\u202eone\u202c \x07 [bold]two[/bold]",
    ],
)
def test_any_text_can_be_scanned(tmp_path: Path, engine: BlockProcessor, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    free, lines = (
        scanned(Inline(engine), None, path, per_line=per_line) for per_line in (False, True)
    )
    assert [one.failed for one in (*free.files, *lines.files)] == ["", ""]
    assert (
        free.files[0].tally.words
        == lines.files[0].tally.words
        == len(text.replace("\0", " ").split())
    )


@pytest.mark.long
def test_five_megabytes_in_one_line(tmp_path: Path, engine: BlockProcessor) -> None:
    line = "the quiet garden behind the house was green , and so on and on " * 80_000
    path = tmp_path / "line.txt"
    path.write_text(line + "with one of them")
    tally = scanned(Inline(engine), None, path, per_line=True).files[0].tally
    assert tally.bytes > 5_000_000
    assert (tally.words, tally.total.numbers) == (len(line.split()) + 4, 1)
