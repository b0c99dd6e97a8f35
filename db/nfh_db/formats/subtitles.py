"""Formats `subrip` and `webvtt`: subtitles. Each cue is one or more turns.

A sentence that continues over several cues is one turn for each cue, so that each turn has its
own times. A silence of PAUSE seconds (or `pause`) ends a scene, and so does a clock that goes
back by as much, as in a concatenation of two files. Roll-up captions are read once.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from nfh_db.errors import FormatError
from nfh_db.formats.base import First, Format
from nfh_db.formats.dialog import (
    ASIDE,
    Occurrences,
    SceneTurns,
    SpeakerTurn,
    is_name,
    split_speaker,
)
from nfh_db.formats.files import Source
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.messages import counted, shown

# Cues.
#
# SubRip has no standard; it is described at https://wiki.videolan.org/SubRip: a number, two
# times, lines of text, an empty line. WebVTT: https://www.w3.org/TR/webvtt1. Times are
# milliseconds from the start of the recording. No library is used: pysubs2 (1.8) drops a last
# line that is a number, reads comments and names of cues as words, and does not give the line
# numbers.

Line = tuple[int, str]

ARROW = "-->"
SUBRIP_TIME = r"(\d{1,3}):([0-5]?\d):([0-5]?\d)[,.](\d{1,3})"
SUBRIP_TIMES = re.compile(rf"\s*{SUBRIP_TIME}\s*{ARROW}\s*{SUBRIP_TIME}\s*(?:\s.*)?", re.ASCII)
TIME_ALONE = re.compile(r"\b\d{1,2}:\d\d:\d\d[,.]\d{3}\b", re.ASCII)
WEBVTT_TIME = r"(?:(\d{1,5}):)?([0-5]?\d):([0-5]?\d)[,.](\d{1,3})"
WEBVTT_TIMES = re.compile(rf"\s*{WEBVTT_TIME}\s*{ARROW}\s*{WEBVTT_TIME}(?:\s.*)?", re.ASCII)
SIGNATURE = re.compile(r"WEBVTT(?=[ \t]|$)")
NO_CUE = re.compile(r"(?:NOTE|STYLE|REGION)(?=[ \t]|$)")
COUNTER = re.compile(r"\s*\d+\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class SubtitleCue:
    """A cue, displayed from `begin` to `until` milliseconds."""

    line: int
    """Of its times, in the file."""
    begin: int
    until: int
    lines: tuple[Line, ...]
    """Its text with line numbers, without blank lines at its ends."""


class Deviations:
    """Deviations of a file from its format: for each warning the count and the first line."""

    def __init__(self) -> None:
        self._found: dict[str, Occurrences] = {}

    def add(self, what: str, line: int, text: str = "") -> None:
        """Count one more. what: a noun, "|", and the rest of the sentence. text: the line."""
        self._found.setdefault(what, Occurrences()).add(line, text)

    def warnings(self) -> list[str]:
        return [
            f"{counted(found.count, thing)} {rest}; the first in line {found.line}"
            + (f": {shown(found.text)}" if found.text else "")
            for what, found in self._found.items()
            for thing, rest in [what.split("|")]
        ]


BACKWARDS = "cue|ends before it begins, kept as it is"
GAP = "cue|has an empty line in its text: the lines after it were read as its words, too"
NO_TIMES = "cue|without times such as {} left out with its words"
UNTIMED = "block|has no times and is not a comment: left out, as players do"


SUBRIP_EXAMPLE, WEBVTT_EXAMPLE = "00:01:02,300 --> 00:01:04,000", "01:02.300 --> 01:04.000"


def subrip_cues(source: Source, oddities: Deviations) -> Iterator[SubtitleCue]:
    """The cues of a SubRip file, in its order. Raises FormatError."""
    for cue in _cues(source, _subrip_blocks(source), SUBRIP_TIMES, SUBRIP_EXAMPLE, oddities):
        if any(not text.strip() for _, text in cue.lines):
            oddities.add(GAP, cue.line)
        yield cue


def _subrip_blocks(source: Source) -> Iterator[tuple[Line, list[Line]]]:
    """The times and the text of each cue."""
    times: Line | None = None
    lines: list[Line] = []
    for number, text in source.lines():
        if ARROW in text or len(TIME_ALONE.findall(text)) > 1:
            if lines and COUNTER.fullmatch(lines[-1][1]):
                lines.pop()
            if times is not None:
                yield times, lines
            elif any(line.strip() for _, line in lines):
                raise _no_start(source, lines)
            times, lines = (number, text), []
        else:
            lines.append((number, text))
            if times is None and text.strip() and not COUNTER.fullmatch(text):
                raise _no_start(source, lines)
    if times is not None:
        yield times, lines


def _no_start(source: Source, lines: list[Line]) -> FormatError:
    number, text = next(line for line in lines if line[1].strip())
    return source.error(
        number, f"found {shown(text)}, wanted the number or the times of the first cue"
    )


def webvtt_cues(source: Source, oddities: Deviations) -> Iterator[SubtitleCue]:
    """The cues of a WebVTT file, in its order. Raises FormatError."""
    timed = (one for block in _webvtt_blocks(source) for one in _timed(block, oddities))
    return _cues(source, timed, WEBVTT_TIMES, WEBVTT_EXAMPLE, oddities)


def _webvtt_blocks(source: Source) -> Iterator[list[Line]]:
    """The blocks between empty lines, without the header of the file."""
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


def _timed(block: list[Line], oddities: Deviations) -> Iterator[tuple[Line, list[Line]]]:
    """The times and text of each cue of a block; a further line of times begins another cue."""
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


def _cues(
    source: Source,
    blocks: Iterable[tuple[Line, list[Line]]],
    form: re.Pattern[str],
    example: str,
    oddities: Deviations,
) -> Iterator[SubtitleCue]:
    """The cues of these times and texts. One whose times cannot be read is left out and
    counted. Raises FormatError if there is no other.
    """
    any_cue = False
    unread: Line | None = None
    for (number, text), lines in blocks:
        found = form.fullmatch(text)
        if found is None:
            unread = unread or (number, text)
            oddities.add(NO_TIMES.format(example), number, text)
            continue
        any_cue = True
        begin, until = _milliseconds(*found.groups()[:4]), _milliseconds(*found.groups()[4:])
        if until < begin:
            oddities.add(BACKWARDS, number)
        spoken = [rank for rank, line in enumerate(lines) if line[1].strip()]
        kept = lines[spoken[0] : spoken[-1] + 1] if spoken else []
        yield SubtitleCue(number, begin, until, tuple(kept))
    if unread is not None and not any_cue:
        number, text = unread
        raise source.error(number, f"found {shown(text)}, wanted times such as {example}")
    if not any_cue:
        raise source.error(None, f"holds no cue; wanted {example} above each")


def _milliseconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> int:
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    return whole * 1000 + int(fraction.ljust(3, "0"))


# The turns of a cue.
#
# Markup is removed: tags of HTML and WebVTT, `{\an8}` and similar. Descriptions of sounds are
# left out and counted: text in square brackets, in parentheses if it is in capitals or a line
# of its own, and lines without a letter or digit. A dash at the start of a line begins another
# speaker's turn, and so does a name with a colon. A name in capitals is always one; another
# name must occur twice in the file, since "Remember: two" names nobody.

OVERRIDE = re.compile(r"(?i)\{(?:\\[^{}\n]*|/?[bisu]|[a-z]:[^{}\n]*)\}")
TAG = re.compile(r"(?i)</?(?:[bisu]|font|c|lang|ruby|span|div|p|em|strong)\b[^<>]*>")
BREAK = re.compile(r"(?i)<br\b[^<>]*>|\\[Nnh]")
VTT_TAG = re.compile(
    r"(?i)<(?P<end>/?)(?P<name>[a-z0-9:]*)(?:\.[^\s<>]+)?(?:\s(?P<rest>[^<>]*))?>"
)
RUBY_READING = re.compile(r"(?is)<rt\b[^<>]*>.*?(?:</rt>|(?=</ruby>)|\Z)")
SQUARE = re.compile(r"(?<![ \t])[ \t]*\[[^\[\]]*\]")
ANGLED = re.compile(r"(?i)(?<![ \t])[ \t]*</?[a-z][^<>]*>")
CAPITALS = re.compile(r"(?<![ \t])[ \t]*\((?=[^()]*[^\W\d_])[^()]*\)")
WHOLE_LINE = re.compile(r"(?m)^(?P<dash>[ \t]*(?:[-–—][ \t]*)?)\([^()]*\)[ \t]*$")
NAMED = re.compile(
    r"(?m)^(?P<dash>[ \t]*+(?:(?:>>+|[-–—])[ \t]*+)?)(?:\[(?P<square>[^\[\]\n]{1,60})\]"
    r"|\((?P<round>[^()\n]{1,60})\))(?:(?=[ \t]*:)|(?P<words>[ \t]+(?=\S)))"
)
"""What stands in brackets before a colon, or before words: "[JOHN]: Two.", "[John] Two." """

NO_SPEAKER = frozenset(
    "a an and applause barks beep beeping beeps bell buzzes chatter cheers chuckle chuckles "
    "clatter clicks closes continues cough coughs creaks cries dialtone door eight eleven "
    "english exhales explosion faint faintly fifty five forty four french gasp gasps german "
    "giggle giggles groan groans growls grunt grunts gunshot gunshots he horn hundred i "
    "inaudible indistinct indistinctly inhales it italian japanese knock knocks laugh laughs "
    "laughter loudly maybe million moan moans music nine no noise one opens or pants pause "
    "phone quietly ring rings roars russian scoffs scream screams seven she shouts shrieks "
    "sigh sighs silence sings six slams slowly sniffs snorts so sob sobs softly song spanish "
    "static ten that the theme they thirty this thousand three throat thud thunder twelve "
    "twenty two we well whimpers whisper whispers whistle whistles wind yells yes "
    "you zero".split()
)
"""Words in brackets that describe a sound or a manner, or that an editor has put in."""

DASH = re.compile(r"(?:>>+|[-‐‑–—―](?![-‐‑–—―>]))(?P<space>[ \t\u00a0]*)(?=(?P<next>.?))")
"""What begins another speaker's turn: a dash, or >> in captions for the deaf."""

ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
ARROWS = re.compile(r"(?<![ \t])[ \t]+(?=>>)")

WITHIN = re.compile(r"(?<=[.?!…\"”])[ \t]+(?=[-–—](?:[ \t]+\S|[^\W\d_]))")
"""The space before a dash that changes the speaker within a line: "- How many? - Three." """

NUMBERED = re.compile(r"(?i)speaker[ _]?\d{1,3}", re.ASCII)
"""Names of speakers in transcripts of speech recognition."""

DIRECTIONS = dict.fromkeys([0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Directional marks, which precede dashes in many subtitles."""

DIFFERENT_NAMES = 10_000
"""Names that are counted; further ones are read as words."""


@dataclass(slots=True)
class NameCounts:
    """Words before colons, counted in a first pass over the file."""

    counts: Counter[str] = field(default_factory=Counter)
    letters: int = 0
    """Of all words; with `capitals` it shows whether names in capitals can be told."""
    capitals: int = 0

    def look_at(self, lines: Iterable[str]) -> None:
        """Count the words before colons in lines."""
        for line in lines:
            self.letters += sum(map(str.isalpha, line))
            self.capitals += sum(map(str.isupper, line))
            speaker, _ = split_speaker(line)
            if speaker is not None:
                name = without_remark(speaker).casefold()
                if name in self.counts or len(self.counts) < DIFFERENT_NAMES:
                    self.counts[name] += 1

    def take_bracketed(self, name: str) -> bool:
        """Whether a name in brackets without a colon is one. In capitals it has to stand twice:
        descriptions are often in capitals.
        """
        is_sure = not name.isupper() or NUMBERED.fullmatch(name) is not None
        return is_sure or self.counts[name.casefold()] > 1

    def take(self, name: str) -> bool:
        """Whether these words are a name in this file."""
        tells = self.capitals < 0.9 * self.letters
        is_sure = (tells and name.isupper()) or NUMBERED.fullmatch(name) is not None
        return is_sure or self.counts[name.casefold()] > 1


def without_remark(name: str) -> str:
    """A name without a remark in parentheses: "ANNA (on the phone)" is ANNA."""
    return ASIDE.sub("", name).strip()


def is_speaker(name: str) -> bool:
    """True if words in brackets are a speaker's name: no description of a sound, no number."""
    words = [word.casefold().rstrip(".") for word in name.split()]
    return (
        is_name(name)
        and name[0].isupper()
        and NO_SPEAKER.isdisjoint(words)
        and not any(len(word) > 5 and word.endswith("ing") for word in words)
    )


@dataclass(slots=True)
class LeftOutCues:
    """What was left out, or read as words although it may be a name."""

    notes: Occurrences = field(default_factory=Occurrences)
    """Descriptions of sounds."""
    names: Occurrences = field(default_factory=Occurrences)
    """Names without words after them in the cue."""
    doubtful: Occurrences = field(default_factory=Occurrences)
    """Words before a colon that may be a name."""
    readings: int = 0

    def warnings(self) -> Iterator[str]:
        """A sentence for each count that is not 0."""
        yield from self.notes.warning("note", "of sounds left out")
        if self.readings:
            yield f"{counted(self.readings, 'reading')} beside characters (ruby) left out"
        yield from self.names.warning("name", "without words in the cue left out")
        yield from self.doubtful.warning(
            "line",
            "read without a speaker though a name may be meant",
            "; a name in capitals is always taken, another one if it comes before a colon "
            "twice",
        )


@dataclass(slots=True)
class _Turn:
    line: int
    speaker: str | None
    words: list[str]


class CueTurns:
    """Makes turns of cues. tagged: they have the tags of WebVTT. names: None in the first
    pass.
    """

    def __init__(self, *, tagged: bool, names: NameCounts | None = None) -> None:
        self.left = LeftOutCues()
        self._tagged = tagged
        self._names = names
        self._bracketed: set[str] = set()
        """Names in brackets that were taken; a line that begins with one has a colon after it
        now.
        """

    def lines(self, cue: SubtitleCue) -> list[str]:
        """A cue's lines without markup, descriptions and dashes; a line may begin with a
        name.
        """
        return [
            line[dash.end() :] if (dash := DASH.match(line)) else line
            for _, text in self._voices(cue)
            for whole in self._plain(text, cue).split("\n")
            for line in _parted(whole.strip())
        ]

    def turns(self, cue: SubtitleCue) -> list[SpeakerTurn]:
        """The turns of a cue, each with the times of the cue."""
        if not cue.lines:
            return []
        turns: list[_Turn] = []
        place = 0
        for speaker, text in self._voices(cue):
            lines = self._plain(text, cue).split("\n")
            numbers = [cue.lines[place + rank][0] for rank in range(len(lines))]
            place += len(lines) - 1
            turns += self._turns(speaker, list(zip(numbers, lines, strict=True)))
        return [
            SpeakerTurn(turn.line, turn.speaker, words, cue.begin, cue.until)
            for turn in turns
            if (words := " ".join(turn.words))
        ]

    def _voices(self, cue: SubtitleCue) -> Iterator[tuple[str | None, str]]:
        """Parts of a cue's text with the speaker that a tag names; line ends are kept."""
        text = "\n".join(line for _, line in cue.lines)
        if not self._tagged:
            yield None, text
            return
        text = BREAK.sub(" ", text)
        text, readings = RUBY_READING.subn(_newlines, text)
        self.left.readings += readings
        voice: str | None = None
        kept: list[str] = []
        place = 0
        for tag in VTT_TAG.finditer(text):
            kept.append(text[place : tag.start()])
            place = tag.end()
            if tag["name"].lower() == "v":
                yield voice, _unescaped("".join(kept))
                kept = []
                voice = None if tag["end"] else _name(tag["rest"])
            kept.append("\n" * tag.group().count("\n"))
        yield voice, _unescaped("".join(kept) + text[place:])

    def _plain(self, text: str, cue: SubtitleCue) -> str:
        """A text without markup and descriptions; line ends are kept."""
        text = BREAK.sub(" ", OVERRIDE.sub("", text)).translate(DIRECTIONS)
        notes = [SQUARE, WHOLE_LINE, CAPITALS]
        if not self._tagged:
            text = TAG.sub(_newlines, text)
            notes.append(ANGLED)
        text = NAMED.sub(self._unbracketed, text)
        for form in notes:
            text = form.sub(lambda found: self._note(found, cue), text)
        return text if self._tagged else ENTITY.sub(_character, text).translate(DIRECTIONS)

    def _unbracketed(self, found: re.Match[str]) -> str:
        """A name without its brackets, with a colon after it; a description as it is."""
        inner: str = found["square"] or found["round"]
        if found["words"] is None:
            return found["dash"] + inner
        name = without_remark(inner.strip())
        if not is_speaker(name) or not (
            self._names is None or self._names.take_bracketed(name)
        ):
            return found.group()
        self._bracketed.add(name)
        return f"{found['dash']}{name}: "

    def _note(self, found: re.Match[str], cue: SubtitleCue) -> str:
        note = found.group()
        if found.re is CAPITALS and not note.isupper():
            return note
        self.left.notes.add(cue.line, note.strip())
        return found.groupdict().get("dash", "") + _newlines(found)

    def _turns(self, voice: str | None, lines: list[Line]) -> list[_Turn]:
        """The turns of one part. A dash begins one, and so does a name."""
        turns: list[_Turn] = []
        lines = [(number, part) for number, line in lines for part in _parted(line)]
        dashes = sum(DASH.match(text.strip()) is not None for _, text in lines)
        for number, line in lines:
            text = line.strip()
            if text and not any(map(str.isalnum, text)):
                self.left.notes.add(number, text)
                continue
            dashed, text = _undashed(text, dashes)
            speaker, text = self._speaker(number, text)
            if dashed or speaker is not None or not turns:
                turns.append(_Turn(number, speaker or voice, []))
            if text:
                if not turns[-1].words:
                    turns[-1].line = number
                turns[-1].words.append(text)
        for turn in turns:
            if not turn.words and turn.speaker not in (None, voice):
                self.left.names.add(turn.line, turn.speaker or "")
        return turns

    def _speaker(self, number: int, text: str) -> tuple[str | None, str]:
        """The name that a line begins with, and the rest."""
        speaker, start = split_speaker(text)
        if speaker is None or self._names is None:
            return None, text
        name = without_remark(speaker)
        if name in self._bracketed or self._names.take(name):
            return name, text[start:].strip()
        self.left.doubtful.add(number, speaker)
        return None, text


def _name(rest: str | None) -> str | None:
    """The name in a voice tag, None if it has none."""
    return " ".join(html.unescape(rest or "").split()) or None


def _unescaped(text: str) -> str:
    """A text with its entities decoded; an entity of a line end becomes a space."""
    return "\n".join(
        html.unescape(line).replace("\n", " ").replace("\r", " ") for line in text.split("\n")
    )


def _character(entity: re.Match[str]) -> str:
    """The character of an entity, a space for a line end."""
    return re.sub(r"[\r\n]", " ", html.unescape(entity.group()))


def _newlines(found: re.Match[str]) -> str:
    """The line ends of text that is removed."""
    return "\n" * found.group().count("\n")


def _parted(line: str) -> list[str]:
    """A line, split where >> or a dash changes the speaker."""
    parts = ARROWS.split(line)
    return [
        part
        for some in parts
        for part in (WITHIN.split(some) if DASH.match(some.strip()) else [some])
    ]


def _undashed(text: str, dashes: int) -> tuple[bool, str]:
    """Whether a line begins with a dash that changes the speaker, and the rest of the line.

    If no other line of the cue has a dash: a hyphen directly before a digit is a minus, and a
    longer dash directly before a word continues a sentence of the cue before.
    """
    dash = DASH.match(text)
    if dash is None:
        return False, text
    glued = dashes < 2 and not dash["space"]
    is_minus = text[0] in "-‐‑" and dash["next"].isdigit()
    if glued and (is_minus or text[0] in "–—―"):
        return False, text
    return True, text[dash.end() :].strip()


# Roll-up captions: each cue repeats the last line of the cue before it.
#
# Automatic captions, which have a time for each word, do so; their repeated lines are left out.
# In other files the words may have been said twice, and are kept.

TAGS = re.compile(r"<[^<>]*>")
WORD_TIMES = re.compile(rf"<{WEBVTT_TIME}>", re.ASCII)

MANY = 0.2
"""Share of cues with a repeated line from which a warning is given."""


class RollUp:
    """Removes repeated lines. sure: the captions are roll-up captions, since they have times of
    words.
    """

    def __init__(self, *, sure: bool) -> None:
        self._sure = sure
        self._cues = 0
        self._again = 0
        self._until = -1
        self._shown = ""

    def new(self, cue: SubtitleCue) -> SubtitleCue:
        """The cue without its first line, if that repeats the last line and follows at once."""
        plain = [TAGS.sub("", text).strip() for _, text in cue.lines]
        joins = cue.begin <= self._until
        self._cues += 1
        self._until = cue.until
        if not any(plain):
            return cue
        again = joins and plain[0] == self._shown
        self._again += again
        self._shown = next(text for text in reversed(plain) if text)
        return replace(cue, lines=cue.lines[1:]) if again and self._sure else cue

    def warnings(self) -> Iterator[str]:
        """A sentence on repeated lines that were left out, or kept."""
        if self._sure and self._again:
            yield f"{counted(self._again, 'line')} that rolling captions show again left out"
        elif self._again > MANY * self._cues:
            yield (
                f"{counted(self._again, 'cue')} of {self._cues:,} begin with the last line of "
                "the cue before, and were kept; if the captions roll, that line was said once"
            )


PAUSE = 5.0
"""Seconds of silence that end a scene, unless `pause` is given."""

MARK = "\ufeff"
"""A byte-order mark, which some codecs leave at the start."""


def _scenes(source: Source, how: ReadOptions, *, tagged: bool) -> Iterator[DialogBlock]:
    """The scenes of a file. tagged: of WebVTT. Raises FormatError."""
    cues = webvtt_cues if tagged else subrip_cues
    names = NameCounts()
    counting = CueTurns(tagged=tagged)
    rolls = False
    for cue in cues(source, Deviations()):
        names.look_at(counting.lines(cue))
        rolls = rolls or (tagged and any(WORD_TIMES.search(text) for _, text in cue.lines))
    rolling = RollUp(sure=rolls)
    oddities = Deviations()
    words = CueTurns(tagged=tagged, names=names)
    scene = SceneTurns(source, "wanted pauses between scenes: name a shorter one with --pause")
    pause = round((PAUSE if how.pause is None else how.pause) * 1000)
    last = 0
    for cue in cues(source, oddities):
        turns = words.turns(rolling.new(cue))
        if not turns:
            continue
        if not -pause < cue.begin - last < pause:
            yield from scene.end()
            last = 0
        for turn in turns:
            scene.add(turn)
        last = max(last, cue.begin, cue.until)
    yield from scene.end()
    source.warnings += [*oddities.warnings(), *words.left.warnings(), *rolling.warnings()]
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
    read=partial(_scenes, tagged=False),
    sniff=_sniff_subrip,
    labelled=False,
    settings=frozenset({"encoding", "pause", "window"}),
)
WEBVTT = replace(
    SUBRIP,
    name="webvtt",
    extensions=(".vtt",),
    description="WebVTT subtitles: as SubRip, with speakers named by <v Name>",
    read=partial(_scenes, tagged=True),
    sniff=_sniff_webvtt,
)
