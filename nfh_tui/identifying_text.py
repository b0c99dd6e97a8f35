"""Numbers of a text that no database holds, decided as they come."""

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nfh_db.errors import FormatError
from nfh_db.formats.reading import BYTE_ORDER_MARK, HEAD, wide_encoding
from nfh_db.formats.wording import visible
from nfh_models.identification.case import Case, Decision
from nfh_models.identification.deciding import decide
from nfh_models.identification.text import (
    Span,
    TextCase,
    cases_of_sentences,
    sentences_of_text,
)
from nfh_tui.identifying import Tools
from nfh_tui.predicting_source import STANDARD_INPUT, STANDARD_NAME, nothing


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number in a text. start, end: code points of the text, end-exclusive.

    before, text, after: together the sentence that it stands in, as it stands.
    """

    start: int
    end: int
    decision: Decision
    before: str
    text: str
    after: str

    @property
    def sentence(self) -> str:
        """The whole sentence."""
        return f"{self.before}{self.text}{self.after}"


def read_text(place: str) -> tuple[str, str]:
    """A name for messages, and the text of a file, or of standard input for "-".

    A byte-order mark is left out; line ends stay as they are. Raises FormatError for what is
    no UTF-8 text or has no word in it, OSError for what cannot be read.
    """
    name = STANDARD_NAME if place == STANDARD_INPUT else visible(place, limit=200)
    content = _standard_input() if place == STANDARD_INPUT else Path(place).read_bytes()
    encoding = wide_encoding(content[:HEAD])
    if encoding:
        raise FormatError(name, None, f"is {encoding} text; save it as UTF-8")
    content = content.removeprefix(BYTE_ORDER_MARK)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            name,
            content.count(b"\n", 0, error.start) + 1,
            f"byte {error.start + 1:,} of the file (0x{content[error.start]:02X}) is not "
            "UTF-8: it is no text, or not saved as UTF-8",
        ) from error
    if not text.strip():
        raise nothing(name, empty=not text)
    return name, text


def check_running(place: str) -> None:
    """Raise FormatError for a file whose content shows a format that is no running text.

    Its numbers would be found in keys, times and offsets, too. What no format is sure of, raw
    dialog, and standard input are read as they stand, and so is what no import could read:
    with NUL characters in it, say.
    """
    if place == STANDARD_INPUT:
        return
    from nfh_db.formats.format import First
    from nfh_db.formats.reading import Source
    from nfh_db.formats.registry import NFH, sniffed
    from nfh_tui.formats.registry import formats

    try:
        source = Source(Path(place))
        first = First.of(source)
    except FormatError:
        return
    found = sniffed(source, first, [one for one in formats() if not one.guess or one is NFH])
    if found is not None:
        raise FormatError(
            visible(place, limit=200),
            None,
            f"is a file of {found[0].name} ({found[1]}), and running text is wanted; bring it "
            "in with `nfh-tui import` and identify in the database, or hand it to "
            "`identify --file -`, which reads anything as it stands",
        )


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise FormatError(STANDARD_NAME, None, "is closed: name a file")
    return sys.stdin.buffer.read()


def numbers_in_text(text: str, tools: Tools, *, per_line: bool) -> Iterator[FoundNumber]:
    """Every number of a text with its decision, in order. Raises ParserError."""
    waiting: deque[tuple[TextCase, Span]] = deque()

    def cases() -> Iterator[Case]:
        for sentence in sentences_of_text(text, per_line=per_line):
            for one in cases_of_sentences(text, [sentence]):
                waiting.append((one, sentence))
                yield one.case

    for _, decision in decide(cases(), tools.chosen.model, tools.parser):
        one, (start, end) = waiting.popleft()
        before, words, after = (
            text[start : one.start],
            text[one.start : one.end],
            text[one.end : end],
        )
        yield FoundNumber(one.start, one.end, decision, before, words, after)
