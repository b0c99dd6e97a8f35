"""What Label Studio's offsets count in: a text, paragraphs of dialog, or a page of HTML.

A Text tag counts code points since October 2021 and UTF-16 code units before. Paragraphs
count UTF-16 code units within each paragraph, as the browser's ranges do. HyperText has
`globalOffsets`, characters of the rendered text. Sources: https://labelstud.io/tags/text,
/tags/paragraphs, /tags/hypertext, and the editor's source (HtxParagraphs, RichTextRegion).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from nfh_db.formats.grid import Based, Grid, MarkError, based
from nfh_db.formats.labelstudio_html import rendered
from nfh_db.formats.labelstudio_json import Value
from nfh_db.formats.options import Reading, Span
from nfh_db.formats.rows import RawPassage
from nfh_db.formats.utf16 import SplitPairError, Units
from nfh_db.formats.wording import shown
from nfh_models.domain import Turn

TEXT, DIALOG = "text", "dialogue"
OURS = ("nfh", "nfh_first_id")
"""Keys of a task's data under which this program keeps what the tool has no terms for."""

MARKUP = re.compile(r"<[a-zA-Z!/]|&[a-zA-Z#]")
BLANK = re.compile(r"\\n|\s+")
"""White space, and what the editor writes for a line break in a region's text."""

WORDS_OF = ("text", "utterance")
SPEAKER_OF = ("author", "speaker", "name")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One of a dialog's paragraphs: code points [start, end) of the whole text.

    begin, until: when it is said, in milliseconds, where the task tells.
    """

    start: int
    end: int
    speaker: str | None
    begin: int | None = None
    until: int | None = None


@dataclass(frozen=True)
class Canvas:
    """A text that regions are marked on. key: of the data it came from.

    paragraphs: none of a plain text. page: it is the text of HTML with markup. blurred: the
    stretches of regions whose stated text differs in white space. doubts: regions that nothing
    shows to be counted as they were read.
    """

    key: str
    text: str
    how: Reading
    paragraphs: tuple[Paragraph, ...] = ()
    page: bool = False
    blurred: list[str] = field(default_factory=list)
    doubts: list[Span] = field(default_factory=list)

    @cached_property
    def _units(self) -> Units:
        return Units(self.text)

    def span(self, value: Value) -> Span:
        """The code points of a region; its text, where it is told, must stand there.

        Raises MarkError. A text that differs in its white space only is let pass: the browser
        shows that otherwise than it came; it is counted in `blurred`.
        """
        start, end = self._places(value)
        if self.page and not value.text:
            raise MarkError(
                f"the region {start} to {end} of a HyperText does not say what stands there, "
                "so that its place cannot be checked; wanted its text, as saveTextResult has it"
            )
        if not 0 <= start < end <= len(self.text):
            raise MarkError(
                f"the region {start} to {end} is outside a text of {len(self.text)} characters"
                + (f"; expected {shown(value.text)} there" if value.text else "")
            )
        there = self.text[start:end]
        if isinstance(value.text, str) and value.text != there:
            if _squeezed(value.text) != _squeezed(there):
                raise MarkError(
                    f"at {start} to {end}: expected {shown(value.text)}, found {shown(there)}; "
                    "if the file counts otherwise, say so with --offsets"
                )
            self.blurred.append(there)
        if self.how.offsets is None and value.text is None and not self.paragraphs:
            wide = self._units.wide
            if wide and wide[0] < end:
                self.doubts.append((start, end))
        return start, end

    def _places(self, value: Value) -> Span:
        if self.paragraphs:
            return self._in_paragraph(value.start, value.startOffset), self._in_paragraph(
                value.end, value.endOffset
            )
        start, end = value.start, value.end
        if value.globalOffsets is not None:
            start, end = value.globalOffsets.get("start"), value.globalOffsets.get("end")
        if not isinstance(start, int) or not isinstance(end, int):
            raise MarkError(
                f"a region starts at {shown(start)} and ends at {shown(end)}; wanted "
                'characters, or "globalOffsets", as newer versions of HyperText have'
            )
        if self.how.offsets != "utf16":
            return start, end
        return _points(self._units, start), _points(self._units, end)

    def _in_paragraph(self, rank: int | str | None, offset: int | None) -> int:
        if isinstance(rank, str) and rank.isascii() and rank.isdecimal():
            rank = int(rank)
        if not isinstance(rank, int) or not 0 <= rank < len(self.paragraphs):
            raise MarkError(
                f"found the paragraph {shown(rank)}, wanted one from 0 to "
                f"{len(self.paragraphs) - 1}"
            )
        place = self.paragraphs[rank]
        if offset is None:
            raise MarkError('a region in a paragraph has no "startOffset" or "endOffset"')
        if self.how.offsets != "codepoint":
            offset = _points(Units(self.text[place.start : place.end]), offset)
        if not 0 <= offset <= place.end - place.start:
            raise MarkError(
                f"the offset {offset} is outside paragraph {rank} of "
                f"{place.end - place.start} characters"
            )
        return place.start + offset

    def grid(self, marks: Sequence[Span]) -> Based:
        """The text with tokens on whose bounds all marks lie. Raises MarkError."""
        if not self.paragraphs:
            return based(self.text, marks, self.how)
        tokens: list[Span] = []
        turns = []
        for rank, one in enumerate(self.paragraphs):
            first = len(tokens)
            words = self.how.tokenize(self.text[one.start : one.end])
            tokens += [(one.start + start, one.start + end) for start, end in words]
            if len(tokens) > first:
                clock = (one.begin, one.until)
                turns.append(Turn(rank, one.speaker, first, len(tokens), *clock))
        cut = based(self.text, marks, self.how, tokens, turns)
        return Based(cut.grid, self.how.tokenizer(), cut.cut)

    def cut(self, passage: RawPassage, marks: Sequence[Span]) -> Based:
        """A passage of this text with its tokens cut where a mark needs it."""
        tokens = list(zip(passage.starts, passage.ends, strict=True))
        return based(self.text, marks, self.how, tokens, passage.turns)


def _points(units: Units, place: int) -> int:
    try:
        return units.to_points(place)
    except SplitPairError as error:
        raise MarkError(
            f"{error}; if the file counts otherwise, say so with --offsets"
        ) from error


def _squeezed(text: str) -> str:
    return BLANK.sub("", text)


def on_bounds(grid: Grid, marks: Iterable[Span]) -> bool:
    """True where no mark cuts a token."""
    try:
        for mark in marks:
            grid.tokens(*mark)
    except MarkError:
        return False
    return True


# --- which part of the data it is -----------------------------------------------------------


def canvas_of(
    data: Mapping[str, msgspec.Raw], how: Reading, *, html: Callable[[], bool]
) -> Canvas:
    """The text of a task: what the mapping names, or what is called text or dialogue, or the
    only one there is. html: tells whether regions are marked on a HyperText. Raises MarkError.
    """
    named = {ours: theirs for theirs, ours in how.labels.layer.items() if theirs in data}
    for ours in (TEXT, DIALOG):
        if ours in named:
            found = _canvas(named[ours], data[named[ours]], how, html=html)
            if found is None:
                raise MarkError(f'key "data.{named[ours]}": wanted a text, or a dialog\'s list')
            return found
    every = {key: raw for key, raw in data.items() if key not in OURS}
    for key in (TEXT, DIALOG):
        if key in every and (found := _canvas(key, every[key], how, html=html)):
            return found
    fit = [one for key in every if (one := _canvas(key, every[key], how, html=html))]
    if len(fit) != 1:
        names = ", ".join(one.key for one in fit) or "none"
        raise MarkError(
            f'key "data": wanted one text, found {names}; name it in a file for --map, as in '
            '[layer] and below it body = "text"'
        )
    return fit[0]


def _canvas(
    key: str, raw: msgspec.Raw, how: Reading, *, html: Callable[[], bool]
) -> Canvas | None:
    value = msgspec.json.decode(raw)
    if isinstance(value, str):
        if MARKUP.search(value) and html():
            text = rendered(value)
            return Canvas(key, text, how, page=True) if text.strip() else None
        return Canvas(key, value, how) if value.strip() else None
    return paragraphs_of(key, value, how)


def paragraphs_of(key: str, value: object, how: Reading) -> Canvas | None:
    """The text of a list of paragraphs, a line each; None of any other value."""
    if not isinstance(value, list) or not value:
        return None
    layer = {ours: theirs for theirs, ours in how.labels.layer.items()}
    text, paragraphs = "", list[Paragraph]()
    for one in value:
        words = _first_text(one, (layer.get("words", ""), *WORDS_OF))
        if words is None:
            return None
        speaker = _first_text(one, (layer.get("speaker", ""), *SPEAKER_OF))
        start = len(text) + bool(paragraphs)
        text += ("\n" if paragraphs else "") + words
        begin = _milliseconds(one.get("start"))
        until = _milliseconds(one.get("end"))
        duration = _milliseconds(one.get("duration"))
        if until is None and begin is not None and duration is not None:
            until = begin + duration
        paragraphs.append(Paragraph(start, len(text), speaker or None, begin, until))
    return Canvas(key, text, how, tuple(paragraphs)) if text.strip() else None


def _first_text(one: object, keys: Sequence[str]) -> str | None:
    if not isinstance(one, dict):
        return None
    return next((found for key in keys if isinstance(found := one.get(key), str)), None)


def _milliseconds(seconds: object) -> int | None:
    if (
        isinstance(seconds, int | float)
        and not isinstance(seconds, bool)
        and 0 <= seconds < 1e9
    ):
        return round(seconds * 1000)
    return None
