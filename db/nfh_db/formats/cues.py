"""The cues of subtitle files: when each is shown, and its lines as they stand in the file.

SubRip has no standard; its form is the one of https://wiki.videolan.org/SubRip: a number, two
times, lines of text, an empty line. WebVTT is https://www.w3.org/TR/webvtt1. Times are
milliseconds from the start of the recording. No library is used: pysubs2 (1.8) takes a last
line of nothing but a number for the number of the next cue, and so loses it, takes comments
and names of cues for words, and does not tell the lines of a file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nfh_db.errors import FormatError
from nfh_db.formats.reading import Source
from nfh_db.formats.wording import counted, shown

Line = tuple[int, str]

ARROW = "-->"
SUBRIP_TIME = r"(\d{1,3}):([0-5]?\d):([0-5]?\d)[,.](\d{1,3})"
SUBRIP_TIMES = re.compile(rf"\s*{SUBRIP_TIME}\s*{ARROW}\s*{SUBRIP_TIME}\s*(?:\s.*)?", re.ASCII)
TIME_ALONE = re.compile(r"\b\d{1,2}:\d\d:\d\d[,.]\d{3}\b", re.ASCII)
WEBVTT_TIME = r"(?:(\d{2,5}):)?([0-5]\d):([0-5]\d)\.(\d{3})"
WEBVTT_TIMES = re.compile(rf"\s*{WEBVTT_TIME}\s*{ARROW}\s*{WEBVTT_TIME}(?:\s.*)?", re.ASCII)
SIGNATURE = re.compile(r"WEBVTT(?=[ \t]|$)")
NO_CUE = re.compile(r"(?:NOTE|STYLE|REGION)(?=[ \t]|$)")
COUNTER = re.compile(r"\s*\d+\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue: shown from `begin` to `until`. line: of its times. lines: its text, none blank
    at either end, each with the number of its line in the file.
    """

    line: int
    begin: int
    until: int
    lines: tuple[Line, ...]


class Oddities:
    """What a file has that its format has not, by what is said of it, and where first."""

    def __init__(self) -> None:
        self._found: dict[str, list[int]] = {}

    def add(self, what: str, line: int) -> None:
        """One more. what: a sentence about `{}` of them."""
        known = self._found.setdefault(what, [0, line])
        known[0] += 1

    def warnings(self) -> list[str]:
        """A sentence for each sort."""
        return [
            f"{counted(number, thing)} {rest}; the first in line {line}"
            for what, (number, line) in self._found.items()
            for thing, rest in [what.split("|")]
        ]


BACKWARDS = "cue|ends before it begins, kept as it is"
GAP = "cue|has an empty line in its text: what stands behind it was taken for its words, too"
UNTIMED = "block|has no times and is no comment: left out, as players do"


def subrip_cues(source: Source, oddities: Oddities) -> Iterator[Cue]:
    """The cues of a SubRip file, in its order. Raises FormatError."""
    times: Line | None = None
    lines: list[Line] = []
    for number, text in source.lines():
        if ARROW in text:
            if lines and COUNTER.fullmatch(lines[-1][1]):
                lines.pop()
            if times is not None:
                yield _subrip_cue(source, times, lines, oddities)
            elif any(line.strip() for _, line in lines):
                raise _no_start(source, lines)
            times, lines = (number, text), []
        else:
            lines.append((number, text))
            if len(TIME_ALONE.findall(text)) > 1:
                raise source.error(
                    number, f'found {shown(text)}, wanted "{ARROW}" between times'
                )
            if times is None and text.strip() and not COUNTER.fullmatch(text):
                raise _no_start(source, lines)
    if times is None:
        raise source.error(
            None, "holds no cue; wanted 00:01:02,300 --> 00:01:04,000 above each"
        )
    yield _subrip_cue(source, times, lines, oddities)


def _no_start(source: Source, lines: list[Line]) -> FormatError:
    number, text = next(line for line in lines if line[1].strip())
    return source.error(
        number, f"found {shown(text)}, wanted the number or the times of the first cue"
    )


def _subrip_cue(source: Source, times: Line, lines: list[Line], oddities: Oddities) -> Cue:
    cue = _cue(source, SUBRIP_TIMES, "00:01:02,300 --> 00:01:04,000", times, lines, oddities)
    if any(not text.strip() for _, text in cue.lines):
        oddities.add(GAP, cue.line)
    return cue


def webvtt_cues(source: Source, oddities: Oddities) -> Iterator[Cue]:
    """The cues of a WebVTT file, in its order. Raises FormatError."""
    any_cue = False
    for block in _webvtt_blocks(source):
        for times, lines in _timed(block, oddities):
            any_cue = True
            example = "01:02.300 --> 01:04.000"
            yield _cue(source, WEBVTT_TIMES, example, times, lines, oddities)
    if not any_cue:
        raise source.error(None, "holds no cue; wanted 01:02.300 --> 01:04.000 above each")


def _webvtt_blocks(source: Source) -> Iterator[list[Line]]:
    """The stretches between empty lines, without the file's header."""
    block: list[Line] = []
    in_header = True
    for number, text in source.lines():
        if number == 1:
            if not SIGNATURE.match(text):
                raise source.error(1, f'found {shown(text)}, wanted "WEBVTT"')
        elif not text:
            if block:
                yield block
            block, in_header = [], False
        elif not in_header or ARROW in text:
            block.append((number, text))
            in_header = False
    if block:
        yield block


def _timed(block: list[Line], oddities: Oddities) -> Iterator[tuple[Line, list[Line]]]:
    """The times of a block's cue with its text; a further line of times begins another cue."""
    if NO_CUE.match(block[0][1]) and ARROW not in block[0][1]:
        return
    start = next((at for at, (_, text) in enumerate(block[:2]) if ARROW in text), None)
    if start is None:
        oddities.add(UNTIMED, block[0][0])
        return
    times, lines = block[start], list[Line]()
    for line in block[start + 1 :]:
        if ARROW in line[1]:
            yield times, lines
            times, lines = line, []
        else:
            lines.append(line)
    yield times, lines


def _cue(
    source: Source,
    form: re.Pattern[str],
    example: str,
    times: Line,
    lines: list[Line],
    oddities: Oddities,
) -> Cue:
    number, text = times
    found = form.fullmatch(text)
    if found is None:
        raise source.error(number, f"found {shown(text)}, wanted times such as {example}")
    begin, until = _milliseconds(*found.groups()[:4]), _milliseconds(*found.groups()[4:])
    if until < begin:
        oddities.add(BACKWARDS, number)
    spoken = [rank for rank, line in enumerate(lines) if line[1].strip()]
    kept = lines[spoken[0] : spoken[-1] + 1] if spoken else []
    return Cue(number, begin, until, tuple(kept))


def _milliseconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> int:
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    return whole * 1000 + int(fraction.ljust(3, "0"))
