"""Passages with numbers, out of raw dialog, of running text, or of labelled rows, as they come.

Nothing here holds more than one passage: a dialog without an empty line in it, and a paragraph
without end, are cut where a line or a sentence ends.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from nfh_db.errors import FormatError
from nfh_db.formats import dialog, gold, nfh, nfh_ident
from nfh_db.formats.registry import DIALOG, GOLD, NFH, NFH_IDENT, First, Format, recognise
from nfh_db.formats.rows import DialogBlock, DialogTurn, Row
from nfh_db.formats.wording import counted
from nfh_models.domain import Anchor, Passage
from nfh_models.identification.numbers import numbers_of
from nfh_models.text.prefilter import may_hold_number
from nfh_models.text.sentences import sentence_spans
from nfh_tui.incoming import PassageMaker
from nfh_tui.predicting_source import Stream

TEXT = "text"
"""The one format of ours that is not imported: running text."""

FORMATS = (DIALOG.name, TEXT, NFH.name, NFH_IDENT.name, GOLD.name)
LABELLED = (NFH.name, NFH_IDENT.name, GOLD.name)

LONGEST = 40_000
"""Code points of a passage, some 8,000 words: each number of a passage is written with all of
it, so that the output grows with the square of its length."""

GATHERED = 1_500
"""Code points of running text, some 300 words: so many paragraphs are one passage, since a
number's noun may stand in the paragraph before."""

REMEMBERED = 10_000
"""Passages that are known to have been searched for numbers already."""

Anchors = Literal["given", "found"]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A passage with numbers of it, ascending. split: as its row said."""

    passage: Passage
    anchors: tuple[Anchor, ...]
    split: str | None = None


def format_of(stream: Stream) -> str:
    """The format that the first line shows. Raises FormatError for one that has no passages,
    and for a file without a line."""
    if not First.of(stream).text:
        raise stream.nothing()
    found, _ = recognise(stream)
    if found.name not in FORMATS:
        raise _no_passages(stream, found)
    return found.name


def _no_passages(stream: Stream, found: Format) -> FormatError:
    return stream.error(
        None,
        f"is a file of {found.name}, which holds answers, and numbers are wanted; "
        f"predict reads {', '.join(FORMATS)}",
    )


def passages(stream: Stream, format_name: str, anchors: Anchors) -> Iterator[Numbers]:
    """The passages of a file that have numbers, in order.

    anchors: of labelled rows, the number that a row gives, or all that are found in its
    passage, each passage once. What a person should know of the file stands in the stream's
    warnings at the end. Raises FormatError at a row that does not hold.
    """
    maker = PassageMaker(stream, None, None)
    found = (
        Numbers(
            one.passage, tuple(anchor.anchor for anchor in one.anchors), _split(one.anchors)
        )
        for one in maker.passages(_rows(stream, format_name))
    )
    if format_name in LABELLED and anchors == "found":
        return found_anew(found)
    return found


def _split(anchors: Iterable[object]) -> str | None:
    splits = {getattr(anchor, "split", None) for anchor in anchors}
    return splits.pop() if len(splits) == 1 else None


def _rows(stream: Stream, format_name: str) -> Iterator[Row]:
    if format_name == NFH.name:
        yield from nfh.read(stream)
    elif format_name == NFH_IDENT.name:
        yield from nfh_ident.read(stream)
    elif format_name == GOLD.name:
        yield from gold.read(stream)
    else:
        yield from _blocks(stream, format_name)


def _blocks(stream: Stream, format_name: str) -> Iterator[DialogBlock]:
    """Raw text in blocks, those without a number left out. Raises FormatError where none is."""
    block = None
    for block in _dialog(stream) if format_name == DIALOG.name else _text(stream):
        if may_hold_number(block.text):
            yield block
    if block is None:
        raise stream.nothing()


def found_anew(rows: Iterable[Numbers]) -> Iterator[Numbers]:
    """All numbers that are found in the rows' passages, each passage once."""
    known: dict[str, None] = {}
    for row in rows:
        if row.passage.digest in known:
            continue
        known[row.passage.digest] = None
        if len(known) > REMEMBERED:
            del known[next(iter(known))]
        anchors = tuple(numbers_of(row.passage, spaced_out=True))
        if anchors:
            yield Numbers(row.passage, anchors, row.split)


# --- raw text -------------------------------------------------------------------------------


class _Gathering:
    """Turns on their way to a block. between: what stands between two of them."""

    def __init__(self, between: str) -> None:
        self.size = 0
        self._between = between
        self._texts: list[str] = []
        self._turns: list[DialogTurn] = []

    def add(self, line: int, text: str, speaker: str | None = None, start: int = 0) -> None:
        """A turn; its words begin at code point `start` of its text."""
        place = self.size + (len(self._between) if self._texts else 0)
        end = place + len(text)
        self._turns.append(DialogTurn(line, len(self._turns), speaker, place + start, end))
        self._texts.append(text)
        self.size = end

    def taken(self) -> Iterator[DialogBlock]:
        """The block of what was gathered, if anything was; then there is nothing."""
        if self._texts:
            yield DialogBlock(self._between.join(self._texts), tuple(self._turns))
        self._texts, self._turns, self.size = [], [], 0


def _dialog(stream: Stream) -> Iterator[DialogBlock]:
    """Blocks as `dialog.read` makes them; those that are longer than LONGEST are cut."""
    gathering = _Gathering("\n")
    doubtful = dialog.Doubtful()
    cut = 0
    for number, text in stream.lines():
        doubtful.look_at(number, text)
        if not text.strip():
            yield from gathering.taken()
            continue
        speaker, start = dialog.split_speaker(text)
        for place, (first, last) in enumerate(_pieces(text)):
            if gathering.size and gathering.size + last - first > LONGEST:
                cut += 1
                yield from gathering.taken()
            gathering.add(number, text[first:last], speaker, 0 if place else start)
    yield from gathering.taken()
    stream.warnings.extend(doubtful.warnings())
    _say_cut(stream, cut)


def _text(stream: Stream) -> Iterator[DialogBlock]:
    """Running text: an empty line ends a paragraph, each of which is a turn of nobody."""
    gathering = _Gathering("\n\n")
    cut = 0
    for number, paragraph, whole in _paragraphs(stream):
        cut += not whole
        for first, last in _pieces(paragraph):
            if gathering.size + last - first > LONGEST:
                yield from gathering.taken()
            gathering.add(number, paragraph[first:last])
        if gathering.size >= GATHERED:
            yield from gathering.taken()
    yield from gathering.taken()
    _say_cut(stream, cut)


def _paragraphs(stream: Stream) -> Iterator[tuple[int, str, bool]]:
    """Line, text, and False for a paragraph that was cut as too long."""
    lines: list[str] = []
    begun = size = 0
    for number, text in stream.lines():
        if lines and (not text.strip() or size + len(text) > LONGEST):
            yield begun, "\n".join(lines), not text.strip()
            lines, size = [], 0
        if text.strip():
            begun = begun if lines else number
            lines.append(text)
            size += len(text) + 1
    if lines:
        yield begun, "\n".join(lines), True


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Code points [start, end) of the text, or of parts of it that end where sentences do."""
    if len(text) <= LONGEST:
        yield 0, len(text)
        return
    start = end = 0
    for first, last in sentence_spans(text):
        if last - start > LONGEST and end > start:
            yield start, end
            start = first
        end = last
    yield start, end


def _say_cut(stream: Stream, cut: int) -> None:
    if cut:
        stream.warnings.append(
            f"passages of more than {LONGEST:,} characters were cut, in "
            f"{counted(cut, 'place')}, and what stands before a cut is not seen behind it: put "
            "an empty line where a scene ends"
        )
