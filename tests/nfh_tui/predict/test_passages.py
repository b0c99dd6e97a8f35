"""Passages out of raw text and of labelled rows, read once, in bounded pieces."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.registry import by_name
from nfh_tui.services import predict_sources
from nfh_tui.services.predict_sources import Stream, format_of, opened, passages

Read = Callable[..., list[tuple[list[str], list[list[str]]]]]


class Pipe(io.BytesIO):
    """Bytes that cannot be gone back to, and the most that were ever asked for."""

    def seek(self, *_: object) -> int:
        raise OSError("a pipe")


def stream(content: bytes) -> Stream:
    return Stream(Pipe(content), Path("pipe"), "pipe")


def test_dialog_turns_speakers_and_passages(read: Read) -> None:
    found = read("Ann: Two tickets?\r\nBen: No, three.\r\n\r\nNothing.\r\n\r\nI have 4.\r\n")
    assert [numbers for _, numbers in found] == [[["Two"], ["three"]], [["4"]]]
    assert found[0][0] == ["Two", "tickets", "?", "No", ",", "three", "."]


def test_dialog_is_read_as_an_import_reads_it(home: Path) -> None:
    """So that predictions go with the anchors of a database."""
    text = "Ann: Two tickets?\nBen: No, three.\n\nold man: One.\nAnd\ttwo 👍.\n"
    (home / "a.txt").write_text(text, "utf-8")
    from nfh_db.formats.files import Source
    from nfh_tui.services.imports import PassageMaker

    source = Source(home / "a.txt")
    wanted = [
        one.passage
        for one in PassageMaker(source, None, None).passages(by_name("dialog").read(source))
    ]
    with opened("a.txt") as found:
        assert [one.passage for one in passages(found, "dialog", "given")] == wanted
        assert found.warnings == source.warnings


def test_running_text(read: Read) -> None:
    text = (
        "I saw two\ndogs. She: had one.\n\nThen three\ncame.\n\n\n" + "x " * 800 + "\n\nFour.\n"
    )
    found = read(text, "text")
    assert [numbers for _, numbers in found] == [[["two"], ["one"], ["three"]], [["Four"]]]
    assert found[0][0][:5] == ["I", "saw", "two", "dogs", "."]


def test_a_paragraph_is_a_turn_of_nobody() -> None:
    (one,) = passages(stream(b"She: had one.\nAnd two.\n\nThen three.\n"), "text", "given")
    assert [(turn.speaker, turn.start, turn.end) for turn in one.passage.turns] == [
        (None, 0, 8),
        (None, 8, 11),
    ]


@pytest.mark.parametrize("format_name", ["dialog", "text"])
@pytest.mark.parametrize("ends", ["\n", " "])
def test_what_has_no_end_is_cut(
    format_name: str, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict_sources, "LONGEST", 100)
    source = stream(("I have two of them. " + ends).encode() * 30)
    found = list(passages(source, format_name, "given"))
    assert sum(len(one.anchors) for one in found) == 30
    assert max(len(one.passage.text) for one in found) <= 100
    assert all(one.passage.word(0) == "I" for one in found)
    if format_name == "dialog" or ends == "\n":
        assert any("were cut" in warning for warning in source.warnings)


def test_labelled_rows(read: Read) -> None:
    row = by_name("nfh").example
    assert [numbers for _, numbers in read(row, "nfh")] == [[["three"]]]
    found = read(f"{row}\n{row}\n", "nfh", "found")
    assert [numbers for _, numbers in found] == [[["Two"], ["three"]]]
    ident = f"text\tind_s\tind_e\ty\n{by_name('nfh-ident').example}\n"
    assert [numbers for _, numbers in read(ident, "nfh-ident")] == [[["three"]]]


@pytest.mark.parametrize(
    ("content", "format_name"),
    [
        (b"Ann: Two?\n", "dialog"),
        (b"\n\n  \nAnn: Two?\n", "dialog"),
        (by_name("nfh").example.encode(), "nfh"),
        (by_name("gold").example.encode(), "gold"),
        (b"text\tind_s\tind_e\ty\n", "nfh-ident"),
    ],
)
def test_the_first_line_shows_the_format(content: bytes, format_name: str) -> None:
    source = stream(content)
    assert format_of(source) == format_name
    assert [text for _, text in source.lines() if text.strip()] == [
        text for text in content.decode().split("\n") if text.strip()
    ]


def test_answers_are_refused() -> None:
    header = (
        "WorkerId,Input.text_reduced,Input.target,Answer.ans,Answer.reference,Answer.offset"
    )
    from nfh_db.formats.amt import NEEDED

    header = ",".join(NEEDED) or header
    with pytest.raises(FormatError, match=r"file of amt, which holds answers.*dialog, text"):
        format_of(stream(header.encode()))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"two\nthree \xff four", "line 2: byte 7 of the line .0xFF. is not UTF-8"),
        ("two of them".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        (b"two\n\0", "line 2: is binary"),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        list(stream(content).lines())


def test_a_folder_and_a_file_that_is_gone(home: Path) -> None:
    for name, message in ((".", "is a folder"), ("gone", "there is no such file")):
        with pytest.raises(FormatError, match=message), opened(name):
            pass


def test_memory_does_not_grow_with_the_text() -> None:
    """Each passage is let go before the next is read."""

    class Endless(io.RawIOBase):
        lines = 0

        def readline(self, _size: int | None = -1) -> bytes:
            self.lines += 1
            return b"\n" if self.lines % 3 == 0 else b"Ann: I have two.\n"

    endless = Endless()
    found = passages(Stream(endless, Path("-"), "endless"), "dialog", "given")  # type: ignore[arg-type]
    for _ in range(50):
        assert len(next(found).anchors) == 2
    assert endless.lines <= 3 * 51
