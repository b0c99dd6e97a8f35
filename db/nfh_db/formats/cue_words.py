"""The words of a cue: who says what, without marks of layout and notes of sounds.

Marks are taken off: tags of HTML and WebVTT, `{\\an8}` and the like. Notes of what is heard are
left out and counted: what stands in square brackets, in round ones that are in capitals
or have a line of the cue for themselves, and lines without a letter or digit. A dash that
begins a line begins a turn of somebody else; so does a name with a colon. A name in capitals
is one; another has to stand twice in the file, since "Remember: two" names nobody.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nfh_db.formats.cues import Cue, Line
from nfh_db.formats.dialog import ASIDE, split_speaker
from nfh_db.formats.spoken import Said
from nfh_db.formats.wording import counted, shown

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
    r"|\((?P<round>[^()\n]{1,60})\))(?=[ \t]*:)"
)
"""A name in brackets before a colon, which is no note: "[JOHN]: Two." """

DASH = re.compile(r"(?:>>+|[-‐‑–—―](?![-‐‑–—―>]))(?P<space>[ \t\u00a0]*)(?=(?P<next>.?))")
"""What begins somebody else's turn: a dash, or >> as captions for the deaf have it."""

ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
ARROWS = re.compile(r"(?<![ \t])[ \t]+(?=>>)")

WITHIN = re.compile(r"(?<=[.?!…\"”])[ \t]+(?=[-–—](?:[ \t]+\S|[^\W\d_]))")
"""Before a dash that changes the speaker within a line: "- How many? - Three." """

NUMBERED = re.compile(r"(?i)speaker[ _]?\d{1,3}", re.ASCII)
"""What programs that write down speech call people."""

DIRECTIONS = dict.fromkeys([0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Marks of the direction of writing, which stand before dashes in many subtitles."""

DIFFERENT_NAMES = 10_000
"""Names that are counted, of those that may be none; further ones are taken for words."""


@dataclass(slots=True)
class Names:
    """Names before colons, counted through a file before it is read.

    letters, capitals: of all its words; a file in nothing but capitals tells no names by them.
    """

    counts: Counter[str] = field(default_factory=Counter)
    letters: int = 0
    capitals: int = 0

    def look_at(self, lines: Iterable[str]) -> None:
        """Count what stands in some lines."""
        for line in lines:
            self.letters += sum(map(str.isalpha, line))
            self.capitals += sum(map(str.isupper, line))
            speaker, _ = split_speaker(line)
            if speaker is not None:
                name = bare(speaker).casefold()
                if name in self.counts or len(self.counts) < DIFFERENT_NAMES:
                    self.counts[name] += 1

    def take(self, name: str) -> bool:
        """Whether it is a name in this file."""
        tells = self.capitals < 0.9 * self.letters
        is_sure = (tells and name.isupper()) or NUMBERED.fullmatch(name) is not None
        return is_sure or self.counts[name.casefold()] > 1


def bare(name: str) -> str:
    """A name without what is said of it in parentheses: "ANNA (on the phone)" is ANNA."""
    return ASIDE.sub("", name).strip()


@dataclass(slots=True)
class Left:
    """What was left out or read as words, counted. doubtful: line and words of the first."""

    notes: int = 0
    first_note: Line | None = None
    readings: int = 0
    nameless: int = 0
    first_name: Line | None = None
    doubtful: int = 0
    first_doubtful: Line | None = None

    def note(self, line: int, text: str) -> None:
        """A note of a sound, left out."""
        self.notes += 1
        self.first_note = self.first_note or (line, text)

    def name_alone(self, line: int, name: str) -> None:
        """A name with nothing that is said behind it in its cue, left out."""
        self.nameless += 1
        self.first_name = self.first_name or (line, name)

    def doubt(self, line: int, name: str) -> None:
        """Words before a colon that may be a name."""
        self.doubtful += 1
        self.first_doubtful = self.first_doubtful or (line, name)

    def warnings(self) -> Iterator[str]:
        """A sentence for each sort."""
        if self.first_note is not None:
            line, text = self.first_note
            yield (
                f"{counted(self.notes, 'note')} of sounds left out, the first in line {line}: "
                f"{shown(text)}"
            )
        if self.readings:
            yield f"{counted(self.readings, 'reading')} beside characters (ruby) left out"
        if self.first_name is not None:
            line, text = self.first_name
            yield (
                f"{counted(self.nameless, 'name')} without words in the cue left out, the "
                f"first in line {line}: {shown(text)}"
            )
        if self.first_doubtful is not None:
            line, text = self.first_doubtful
            yield (
                f"{counted(self.doubtful, 'line')} read without a speaker though a name may be "
                f"meant, the first in line {line}: {shown(text)}; a name in capitals is "
                "always taken, another one if it stands before a colon twice"
            )


@dataclass(slots=True)
class _Turn:
    line: int
    speaker: str | None
    words: list[str]


class Words:
    """Makes turns of cues. names: None while they are being counted."""

    def __init__(self, *, tagged: bool, names: Names | None = None) -> None:
        self.left = Left()
        self._tagged = tagged
        self._names = names

    def lines(self, cue: Cue) -> list[str]:
        """A cue's lines as they may begin with names: without marks, notes and dashes."""
        return [
            line[dash.end() :] if (dash := DASH.match(line)) else line
            for _, text in self._voices(cue)
            for whole in self._plain(text, cue).split("\n")
            for line in _parted(whole.strip())
        ]

    def said(self, cue: Cue) -> list[Said]:
        """The turns of a cue, each with its times."""
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
            Said(turn.line, turn.speaker, words, cue.begin, cue.until)
            for turn in turns
            if (words := " ".join(turn.words))
        ]

    def _voices(self, cue: Cue) -> Iterator[tuple[str | None, str]]:
        """Stretches of a cue with the speaker that a tag names; lines stay lines."""
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

    def _plain(self, text: str, cue: Cue) -> str:
        """A text without marks and notes; it keeps its lines."""
        text = BREAK.sub(" ", OVERRIDE.sub("", text)).translate(DIRECTIONS)
        notes = [SQUARE, WHOLE_LINE, CAPITALS]
        if not self._tagged:
            text = TAG.sub(_newlines, text)
            notes.append(ANGLED)
        text = NAMED.sub(_unbracketed, text)
        for form in notes:
            text = form.sub(lambda found: self._note(found, cue), text)
        return text if self._tagged else ENTITY.sub(_character, text).translate(DIRECTIONS)

    def _note(self, found: re.Match[str], cue: Cue) -> str:
        note = found.group()
        if found.re is CAPITALS and not note.isupper():
            return note
        self.left.note(cue.line, note.strip())
        return found.groupdict().get("dash", "") + _newlines(found)

    def _turns(self, voice: str | None, lines: list[Line]) -> list[_Turn]:
        """The turns of one stretch. A dash begins one, and so does a name."""
        turns: list[_Turn] = []
        lines = [(number, part) for number, line in lines for part in _parted(line)]
        dashes = sum(DASH.match(text.strip()) is not None for _, text in lines)
        for number, line in lines:
            text = line.strip()
            if text and not any(map(str.isalnum, text)):
                self.left.note(number, text)
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
                self.left.name_alone(turn.line, turn.speaker or "")
        return turns

    def _speaker(self, number: int, text: str) -> tuple[str | None, str]:
        """The name that a line begins with, and the rest."""
        speaker, start = split_speaker(text)
        if speaker is None or self._names is None:
            return None, text
        name = bare(speaker)
        if self._names.take(name):
            return name, text[start:].strip()
        self.left.doubt(number, speaker)
        return None, text


def _name(rest: str | None) -> str | None:
    """The name that a voice tag gives, None if it gives none."""
    return " ".join(html.unescape(rest or "").split()) or None


def _unescaped(text: str) -> str:
    """A text with characters for its entities; one that is a line's end is a blank."""
    return "\n".join(
        html.unescape(line).replace("\n", " ").replace("\r", " ") for line in text.split("\n")
    )


def _character(entity: re.Match[str]) -> str:
    """The character that an entity stands for, a blank for one that is a line's end."""
    return re.sub(r"[\r\n]", " ", html.unescape(entity.group()))


def _unbracketed(found: re.Match[str]) -> str:
    return found["dash"] + (found["square"] or found["round"])


def _newlines(found: re.Match[str]) -> str:
    """What stands for a stretch that is taken out: its line ends."""
    return "\n" * found.group().count("\n")


def _parted(line: str) -> list[str]:
    """A line, cut where >> or another dash changes the speaker within it."""
    parts = ARROWS.split(line)
    return [
        part
        for some in parts
        for part in (WITHIN.split(some) if DASH.match(some.strip()) else [some])
    ]


def _undashed(text: str, dashes: int) -> tuple[bool, str]:
    """Whether a line begins with a dash that changes the speaker, and the rest of it.

    Where no other line of the cue has one: a hyphen glued to a digit is a minus, and a longer
    dash glued to a word goes on with a sentence of the cue before.
    """
    dash = DASH.match(text)
    if dash is None:
        return False, text
    glued = dashes < 2 and not dash["space"]
    is_minus = text[0] in "-‐‑" and dash["next"].isdigit()
    if glued and (is_minus or text[0] in "–—―"):
        return False, text
    return True, text[dash.end() :].strip()
