"""Format `dialog`: plain text, `Speaker: words`, one turn a line, a blank line between
passages. Also scenes: turns that other dialog formats gather into passages of the same form.

A line names its speaker if it starts with a name, a colon, and white space or the line's end
after it. A name has one to four words, holds a letter, and holds no sentence punctuation and no
brackets but one pair of parentheses at its end ("ANNA (on phone)"). A full stop may end a short
word in it ("Dr. Ray", "J.R."). Of several words each starts with a capital letter, a digit or a
letter of a script without capitals; small words such as "of" may stand between them. So "Man of
the House: two" has a speaker, "Here are the options: two" has none. A line without a speaker is
a turn with speaker None.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfh_db.errors import FormatError
from nfh_db.formats.files import LINE_LIMIT, FileOrigin, Source
from nfh_db.formats.rows import DialogBlock, DialogTurn
from nfh_db.messages import counted, shown

NAME_WORDS = 4
NAME_LENGTH = 60
ABBREVIATION = 5
"""Letters of a word with a full stop at its end in a name."""

SPACES = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""White space within a line; other characters that end lines, and controls, are text."""

PREFIX = re.compile(
    rf"[{SPACES}]*(?P<name>[^\s:][^:\n]{{0,{NAME_LENGTH - 1}}}?)[{SPACES}]*:(?:[{SPACES}]+|$)"
)
ASIDE = re.compile(r"[ \t]*\([^()]*\)$")
ODD = re.compile(
    r"""(?x)\s*(?:
    [*_\[(<]{1,3}[^\W\d_][^\[\]()<>*:\n]{0,40}[*_\])>]{0,3}\s*:[*_]{0,2}(?:\s|$)  # [Anna]: two
    | \[[A-Z][^\W\d_][\w.' ]{0,40}\]\s+\S                                  # [Anna] two
    | [\[(]?\d{1,4}[./:-]\d\d?[\d./:\-,\ \t]{0,30}(?:[AaPp]\.?[Mm]\.?)?[\])\-\ \t]{0,5}
      [^\W\d_][^:\n]{0,40}:\s                                           # 12:30 Anna: two
    | [A-Z][\w.' ]{0,40}:(?=[^\W\d_])                                   # Anna:two
    | [A-Z][A-Z' ]{2,40}\.\s+\S                                         # ANNA. Two
    | [A-Z][\w.' ]{0,40}：                                               # Anna：two
    )"""
)
"""Forms of names that the rule of this format does not accept."""

SEVERAL = 2
NO_NAME = frozenset(',;!?…"“”„«»[]{}()<>|\\/=*¿¡。，；！？、؟،؛।')
SMALL_WORDS = frozenset(
    "a al and at bin da de del della der di do dos du el en et in la le of on the to und van "
    "von with y".split()
)


def read(source: Source) -> Iterator[DialogBlock]:
    """The blocks of a dialog file: its text, with line ends "\\n".

    Raises FormatError for a block over LINE_LIMIT characters, and for a blank file.
    """
    lines: list[tuple[int, str]] = []
    size = 0
    any_block = False
    doubtful = Doubtful()
    for number, text in source.lines():
        doubtful.look_at(number, text)
        if text.strip():
            lines.append((number, text))
            size += len(text) + 1
            if size > LINE_LIMIT:
                raise source.error(
                    lines[0][0],
                    f"a passage of more than {LINE_LIMIT:,} characters starts here; "
                    "wanted a blank line between passages",
                )
        elif lines:
            doubtful.look_at_block(lines)
            yield block_of_lines(lines)
            lines, size, any_block = [], 0, True
    if lines:
        doubtful.look_at_block(lines)
        yield block_of_lines(lines)
    elif not any_block:
        raise source.error(None, "holds nothing but white space; wanted lines of dialog")
    source.warnings.extend(doubtful.warnings())


@dataclass(slots=True)
class Occurrences:
    """A count, and the first occurrence, for a warning."""

    count: int = 0
    line: int = 0
    text: str = ""

    def add(self, line: int, text: str) -> None:
        """Count one more."""
        if not self.count:
            self.line, self.text = line, text
        self.count += 1

    def warning(self, thing: str, what: str, more: str = "") -> Iterator[str]:
        """A sentence unless the count is 0. thing, what: "line", "left out"."""
        if self.count:
            first = f"the first in line {self.line}: {shown(self.text)}"
            yield f"{counted(self.count, thing)} {what}, {first}{more}"


class Doubtful:
    """Lines that may name a speaker although the rule of this format reads them without one:
    "Old man: Two.", "[ANNA]: Two.", "ANNA" above what she says.
    """

    def __init__(self) -> None:
        self._blocks = 0
        self._names = Occurrences()
        """Names with words in small letters."""
        self._odd = Occurrences()
        """Lines that match ODD."""
        self._cues = Occurrences()
        """First lines of passages that are a name in capitals."""

    def look_at_block(self, lines: Sequence[tuple[int, str]]) -> None:
        """Count a passage that begins with a name above what is said."""
        self._blocks += 1
        number, first = lines[0]
        name = first.strip().removesuffix(".")
        is_cue = len(name) > 1 and name.isupper() and is_name(ASIDE.sub("", name))
        if is_cue and len(lines) > 1 and not lines[1][1].isupper():
            self._cues.add(number, name)

    def look_at(self, number: int, line: str) -> None:
        """Count a line that may name a speaker."""
        match = PREFIX.match(line)
        if match is not None and is_name(match["name"]):
            return
        if ODD.match(line):
            self._odd.add(number, line.strip())
            return
        if match is None or _starts_small(match["name"]):
            return
        words = match["name"].split()
        if 2 <= len(words) <= NAME_WORDS and not any(map(_no_name, match["name"])):
            self._names.add(number, match["name"])

    def warnings(self) -> Iterator[str]:
        """A sentence for each kind; for some kinds only if there are several lines."""
        if self._odd.count >= SEVERAL:
            yield from self._odd.warning(
                "line",
                "read without a speaker though they seem to name one",
                "; wanted Name: words",
            )
        if self._cues.count >= SEVERAL and 2 * self._cues.count > self._blocks:
            yield from self._cues.warning(
                "passage",
                "begin with a line in capitals that may say who speaks",
                "; --format fountain reads names that are above what is said",
            )
        yield from self._names.warning(
            "line",
            "read without a speaker though a name may be meant",
            "; each word of a speaker's name starts with a capital letter",
        )


def block_of_lines(lines: Sequence[tuple[int, str]]) -> DialogBlock:
    """Numbered lines of a dialog, each a turn."""
    turns = []
    place = 0
    for rank, (number, text) in enumerate(lines):
        turns.append(_turn(number, rank, text, place))
        place += len(text) + 1
    return DialogBlock("\n".join(text for _, text in lines), tuple(turns))


def block_of(text: str, line: int) -> DialogBlock:
    """A text without annotations as the lines of a dialog. The text is unchanged; its empty
    lines are no turns. line: of the file, where the text is.
    """
    turns = []
    place = 0
    for rank, row in enumerate(text.split("\n")):
        turn = _turn(line, rank, row.removesuffix("\r"), place)
        if text[turn.start : turn.end].strip():
            turns.append(turn)
        place += len(row) + 1
    return DialogBlock(text, tuple(turns))


def _turn(line: int, rank: int, text: str, place: int) -> DialogTurn:
    """The turn of a line of dialog that begins at code point `place`."""
    speaker, start = split_speaker(text)
    return DialogTurn(line, rank, speaker, place + start, place + len(text))


def split_speaker(line: str) -> tuple[str | None, int]:
    """The speaker that a line names, and the code point at which its words start."""
    match = PREFIX.match(line)
    if match is None or not is_name(match["name"]):
        return None, 0
    return match["name"], match.end()


def is_name(name: str) -> bool:
    """True if the words before a colon are a speaker's name by the rule of this format."""
    name = ASIDE.sub("", name)
    words = name.split()
    if not 1 <= len(words) <= NAME_WORDS or not any(map(str.isalpha, name)):
        return False
    if any(map(_no_name, name)):
        return False
    return all(map(_full_stops_fit, words)) and (len(words) == 1 or _capitalised(words))


def _no_name(character: str) -> bool:
    return character in NO_NAME or unicodedata.category(character) == "Cc"


def _full_stops_fit(word: str) -> bool:
    """True if each full stop of a word ends an abbreviation or an initial."""
    *abbreviations, rest = word.split(".")
    return all(0 < len(part) <= ABBREVIATION for part in abbreviations) and (
        not abbreviations or len(rest) <= ABBREVIATION
    )


def _capitalised(words: list[str]) -> bool:
    """True if every word starts like a name; small words are exempt, except the first word."""
    return not _starts_small(words[0]) and all(
        word in SMALL_WORDS or not _starts_small(word) for word in words[1:]
    )


def _starts_small(word: str) -> bool:
    first = next((character for character in word if character.isalnum()), "")
    return first.islower()


# --- scenes of other formats ------------------------------------------------------------------


# The text of a scene has the form of a `dialog` file: one turn a line, `Speaker: words`, or the
# words alone. So the same talk gives the same passage from every format.

LINE_ENDS = re.compile(r"[\r\n]+")


@dataclass(frozen=True, slots=True)
class SpeakerTurn:
    """A turn of a scene."""

    line: int
    """Of the file, from 1."""
    speaker: str | None
    words: str
    begin: int | None = None
    """As `until`: milliseconds from the start of the recording."""
    until: int | None = None
    number: int | None = None
    """None for its rank in the scene."""


class SceneTurns:
    """The turns of the current scene. hint: how to end scenes, for one that is too long."""

    def __init__(self, source: FileOrigin, hint: str) -> None:
        self._source = source
        self._hint = hint
        self._turns: list[SpeakerTurn] = []
        self._size = 0
        self.any = False
        """The file has at least one turn."""

    def add(self, turn: SpeakerTurn) -> None:
        """Add a turn. Raises FormatError for a scene over LINE_LIMIT characters."""
        self.any = True
        self._turns.append(turn)
        self._size += len(turn.words) + len(turn.speaker or "") + 3
        if self._size > LINE_LIMIT:
            raise too_long(self._source, self._turns[0].line, self._hint)

    def end(self) -> list[DialogBlock]:
        """End the scene: one block, or none if no turn has a speaker or words."""
        turns = [turn for turn in self._turns if turn.speaker or turn.words.strip()]
        self._turns, self._size = [], 0
        return [_scene_text(turns)] if turns else []


def scene_block(
    source: FileOrigin, turns: Iterable[SpeakerTurn], hint: str
) -> list[DialogBlock]:
    """The block of a complete scene, as of `SceneTurns`. Raises FormatError."""
    scene = SceneTurns(source, hint)
    for turn in turns:
        scene.add(turn)
    return scene.end()


def too_long(source: FileOrigin, line: int, hint: str) -> FormatError:
    """The refusal of a scene that begins at `line`. hint: how to end scenes."""
    return source.error(
        line, f"a scene of more than {LINE_LIMIT:,} characters starts here; {hint}"
    )


def _scene_text(given: list[SpeakerTurn]) -> DialogBlock:
    lines = []
    turns = []
    place = 0
    for rank, one in enumerate(given):
        speaker, words = _on_one_line(one.speaker or "") or None, _on_one_line(one.words)
        line = words if speaker is None else f"{speaker}: {words}".rstrip()
        end = place + len(line)
        number = rank if one.number is None else one.number
        turns.append(
            DialogTurn(one.line, number, speaker, end - len(words), end, one.begin, one.until)
        )
        lines.append(line)
        place = end + 1
    return DialogBlock("\n".join(lines), tuple(turns))


def _on_one_line(text: str) -> str:
    """The lines of a text, trimmed, with a space between two."""
    return " ".join(line for part in LINE_ENDS.split(text) if (line := part.strip()))
