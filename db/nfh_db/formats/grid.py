"""A text with its tokens: spans of characters to spans of tokens, and tokens made."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nfh_db.formats.dialog import split_speaker
from nfh_db.formats.fields import NO_HALVES, unpaired_surrogate
from nfh_db.formats.options import Reading, Span
from nfh_db.formats.rows import RawPassage
from nfh_db.formats.soundness import turns_fit
from nfh_db.formats.wording import shown
from nfh_models.domain import Turn


class MarkError(ValueError):
    """Marks of a file that mean nothing here, or contradict each other. A sentence's end."""


class Grid:
    """The tokens of a passage, by the characters where they begin and end."""

    __slots__ = ("_at", "_until", "passage")

    def __init__(self, passage: RawPassage) -> None:
        self.passage = passage
        self._at = {start: index for index, start in enumerate(passage.starts)}
        self._until = {end: index + 1 for index, end in enumerate(passage.ends)}

    @property
    def words(self) -> Sequence[str]:
        """The words of the tokens."""
        return self.passage.words

    def tokens(self, start: int, end: int) -> Span:
        """The tokens [first, stop) of code points [start, end); white space around them may
        be in the span. Raises MarkError where the span is none of whole tokens.
        """
        text = self.passage.text
        if not 0 <= start < end <= len(text):
            raise MarkError(
                f"the span {start} to {end} is outside a text of {len(text)} characters"
            )
        first, stop = self._at.get(start), self._until.get(end)
        if first is not None and stop is not None:
            return first, stop
        inner = without_space(text, start, end)
        if inner is None:
            raise MarkError(f"the span {start} to {end} holds nothing but white space")
        if inner != (start, end):
            return self.tokens(*inner)
        words = shown(text[start:end])
        raise MarkError(f"the span {start} to {end}, {words}, cuts through a token")


def without_space(text: str, start: int, end: int) -> Span | None:
    """A span of `text` without white space at its ends; None if it holds nothing else."""
    words = text[start:end]
    behind = words.lstrip()
    if not behind:
        return None
    return end - len(behind), start + len(words.rstrip())


def checked(text: str, span: Span, surface: str) -> None:
    """Raise MarkError unless `surface` is what stands at a span of `text`."""
    start, end = span
    if not 0 <= start < end <= len(text):
        raise MarkError(
            f"the span {start} to {end} is outside a text of {len(text)} characters; "
            f"expected {shown(surface)} there"
        )
    if text[start:end] != surface:
        raise MarkError(
            f"at {start} to {end}: expected {shown(surface)}, found {shown(text[start:end])}"
        )


@dataclass(frozen=True, slots=True)
class Based:
    """A text ready for its marks. tokenizer: what made the tokens; None if they came with it.

    cut: how many tokens were cut in two, since a mark begins or ends inside them.
    """

    grid: Grid
    tokenizer: str | None
    cut: int


def based(
    text: str,
    marks: Iterable[Span],
    how: Reading,
    tokens: Sequence[Span] | None = None,
    turns: Sequence[Turn] | None = None,
) -> Based:
    """A text with tokens on whose bounds all `marks` (code points) lie.

    tokens: those that came with the text; without them `how` makes some. turns: as they came;
    without them each line is one, which may name its speaker as a dialog's lines do. Raises
    MarkError where a mark is outside the text, tokens or turns do not fit it, or no word is
    in it.
    """
    marks = list(marks)
    _check(text, marks, tokens, turns)
    marks = _tight(text, marks, tokens or ())
    lines = _lines(text, marks) if tokens is None or turns is None else []
    made = tokens is None
    spans = _made(text, lines, how) if tokens is None else list(tokens)
    cut = _cut(spans, marks)
    if not cut:
        raise MarkError("the text holds no word")
    starts, ends = [start for start, _ in cut], [end for _, end in cut]
    words = [text[start:end] for start, end in cut]
    if turns is None:
        turns = _turns(starts, lines)
    elif len(cut) > len(spans):
        turns = _moved(turns, [start for start, _ in spans], starts)
    raw = RawPassage(text, words, starts, ends, tuple(turns))
    return Based(Grid(raw), how.tokenizer() if made else None, len(cut) - len(spans))


def _check(
    text: str,
    marks: Iterable[Span],
    tokens: Sequence[Span] | None,
    turns: Sequence[Turn] | None,
) -> None:
    if unpaired_surrogate(text):
        raise MarkError(f"the text holds half a surrogate pair; wanted {NO_HALVES}")
    for start, end in marks:
        if not 0 <= start < end <= len(text):
            raise MarkError(
                f"the span {start} to {end} is outside a text of {len(text)} characters"
            )
    if tokens is None:
        return
    last = 0
    for rank, (start, end) in enumerate(tokens):
        if not last <= start < end <= len(text):
            raise MarkError(
                f"token {rank} is said to stand at {start} to {end}; wanted one character or "
                f"more between {last} and {len(text)}, the end of the text"
            )
        last = end
    if turns is not None and not turns_fit(turns, tokens):
        raise MarkError(
            f"the turns do not fit: wanted each of the {len(tokens)} tokens in one of them, in "
            "order, and numbers that never fall"
        )


def _tight(text: str, marks: Iterable[Span], tokens: Sequence[Span]) -> list[Span]:
    """Marks without white space at their ends, but where a token has it, too."""
    starts, ends = {start for start, _ in tokens}, {end for _, end in tokens}
    return [
        (start, end)
        if start in starts and end in ends
        else without_space(text, start, end) or (start, end)
        for start, end in marks
    ]


@dataclass(frozen=True, slots=True)
class _Line:
    speaker: str | None
    start: int
    words: int
    end: int


def _lines(text: str, marks: Sequence[Span]) -> list[_Line]:
    """The lines of a text: where each starts, where its words do, and where it ends."""
    lines = []
    place = 0
    starts = sorted(start for start, _ in marks)
    ends = sorted(end - 1 for _, end in marks)
    for line in text.split("\n"):
        end = place + len(line)
        speaker, begin = split_speaker(line)
        if any(
            bisect_left(bounds, place + begin) > bisect_left(bounds, place)
            for bounds in (starts, ends)
        ):
            speaker, begin = None, 0  # What is marked is part of what is said.
        lines.append(_Line(speaker, place, place + begin, end))
        place = end + 1
    return lines


def _made(text: str, lines: Sequence[_Line], how: Reading) -> list[Span]:
    return [
        (line.words + start, line.words + end)
        for line in lines
        for start, end in how.tokenize(text[line.words : line.end])
    ]


def _cut(tokens: Sequence[Span], marks: Iterable[Span]) -> list[Span]:
    """The tokens, cut where a mark begins or ends inside one."""
    bounds = sorted({place for mark in marks for place in mark})
    if not bounds:
        return list(tokens)
    cut: list[Span] = []
    at = 0
    for start, end in tokens:
        begin = start
        while at < len(bounds) and bounds[at] < end:
            if bounds[at] > begin:
                cut.append((begin, bounds[at]))
                begin = bounds[at]
            at += 1
        cut.append((begin, end))
    return cut


def _turns(starts: Sequence[int], lines: Sequence[_Line]) -> list[Turn]:
    """The turns of tokens that start there: a line each, those without a token left out."""
    turns = []
    token = 0
    for number, line in enumerate(lines):
        first = token
        while token < len(starts) and starts[token] < line.end:
            token += 1
        if token > first:
            turns.append(Turn(number, line.speaker, first, token))
    return turns


def _moved(turns: Sequence[Turn], old: Sequence[int], new: Sequence[int]) -> list[Turn]:
    """Turns of tokens that started at `old`, now that some were cut in two."""
    rank = {start: index for index, start in enumerate(new)}
    places = [*(rank[start] for start in old), len(new)]
    return [replace(t, start=places[t.start], end=places[t.end]) for t in turns]
