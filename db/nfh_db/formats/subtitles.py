"""`subrip` and `webvtt`: subtitles, each cue a turn or more, scenes parted by silence.

A sentence that runs over cues stays one turn a cue, so that each turn has its own times. A
silence of PAUSE seconds ends a scene, or of so many as `pause` says; so does a clock that goes
back by as much, as where two files were put into one.
"""

from collections.abc import Callable, Iterator

from nfh_db.formats.cue_words import Names, Words
from nfh_db.formats.cues import (
    SIGNATURE,
    SUBRIP_TIMES,
    Cue,
    Oddities,
    subrip_cues,
    webvtt_cues,
)
from nfh_db.formats.format import First, Format
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import Source
from nfh_db.formats.rolling import Rolling, word_times
from nfh_db.formats.rows import DialogBlock
from nfh_db.formats.spoken import Scene

PAUSE = 5.0
"""Seconds of silence that end a scene, where nobody says how many."""

MARK = "\ufeff"
"""A byte-order mark, which some encodings leave at the start."""

Cues = Callable[[Source, Oddities], Iterator[Cue]]

SETTINGS = frozenset({"encoding", "pause", "window"})


def read_subrip(source: Source, how: Reading) -> Iterator[DialogBlock]:
    """The scenes of a SubRip file. Raises FormatError."""
    return _scenes(source, how, subrip_cues, tagged=False)


def read_webvtt(source: Source, how: Reading) -> Iterator[DialogBlock]:
    """The scenes of a WebVTT file. Raises FormatError."""
    return _scenes(source, how, webvtt_cues, tagged=True)


def _scenes(source: Source, how: Reading, cues: Cues, *, tagged: bool) -> Iterator[DialogBlock]:
    names = Names()
    counting = Words(tagged=tagged)
    rolls = False
    for cue in cues(source, Oddities()):
        names.look_at(counting.lines(cue))
        rolls = rolls or (tagged and word_times(cue))
    rolling = Rolling(sure=rolls)
    oddities = Oddities()
    words = Words(tagged=tagged, names=names)
    scene = Scene(source, "wanted pauses between scenes: name a shorter one with --pause")
    pause = round((PAUSE if how.pause is None else how.pause) * 1000)
    last = 0
    for cue in cues(source, oddities):
        turns = words.said(rolling.new(cue))
        if not turns:
            continue
        if not -pause < cue.begin - last < pause:
            yield from scene.end()
            last = 0
        for turn in turns:
            scene.add(turn)
        last = max(last, cue.begin, cue.until)
    yield from scene.end()
    source.warnings += [
        *oddities.warnings(),
        *words.left.warnings(),
        *rolling.warnings(),
    ]
    if not scene.any:
        raise source.error(None, "holds cues without words; wanted what people say")


def _sniff_subrip(first: First) -> str | None:
    lines = [line for line in first.start.removeprefix(MARK).splitlines()[:20] if line.strip()]
    counted = len(lines) > 1 and lines[0].strip().isdecimal()
    if any(SUBRIP_TIMES.fullmatch(line) for line in lines[counted : counted + 1]):
        return "it begins with the times of a SubRip cue"
    return "its name ends in .srt" if first.suffix == ".srt" else None


def _sniff_webvtt(first: First) -> str | None:
    line = first.start.removeprefix(MARK).split("\n", 1)[0].rstrip("\r")
    if SIGNATURE.match(line):
        return "its first line is WEBVTT"
    return "its name ends in .vtt" if first.suffix == ".vtt" else None


SUBRIP = Format(
    name="subrip",
    extensions=(".srt",),
    description="SubRip subtitles: each cue a turn or more, with its times",
    example="",
    read=read_subrip,
    sniff=_sniff_subrip,
    labelled=False,
    settings=SETTINGS,
)
WEBVTT = Format(
    name="webvtt",
    extensions=(".vtt",),
    description="WebVTT subtitles: as SubRip, with speakers named by <v Name>",
    example="",
    read=read_webvtt,
    sniff=_sniff_webvtt,
    labelled=False,
    settings=SETTINGS,
)
