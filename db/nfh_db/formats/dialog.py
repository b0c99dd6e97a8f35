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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from nfh_db.errors import FormatError
from nfh_db.formats.files import LINE_LIMIT, FileOrigin, Source
from nfh_db.formats.rows import DialogBlock, DialogTurn
from nfh_db.messages import counted, shown

NAME_WORDS = 4
NAME_LENGTH = 60
ABBREVIATION = 5
"""Letters that a word with a full stop at its end may have in a name."""

SPACES = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""White space within a line: what ends a line elsewhere, and other controls, are text here."""

PREFIX = re.compile(
    rf"[{SPACES}]*(?P<name>[^\s:][^:\n]{{0,{NAME_LENGTH - 1}}}?)[{SPACES}]*:(?:[{SPACES}]+|$)"
)
ASIDE = re.compile(r"[ \t]*\([^()]*\)$")
ODD = re.compile(
    r"""(?x)\s*(?:
    [*_\[(<]{1,3}[^\W\d_][^\[\]()<>*:\n]{0,40}[*_\])>]{0,3}\s*:[*_]{0,2}(?:\s|$)  # [Anna]: two
    | [\[(]?\d{1,4}[./:-]\d\d?[\d./:\-,\ \t]{0,30}(?:[AaPp]\.?[Mm]\.?)?[\])\-\ \t]{0,5}
      [^\W\d_][^:\n]{0,40}:\s                                           # 12:30 Anna: two
    | [A-Z][\w.' ]{0,40}:(?=[^\W\d_])                                   # Anna:two
    | [A-Z][A-Z' ]{2,40}\.\s+\S                                         # ANNA. Two
    | [A-Z][\w.' ]{0,40}：                                               # Anna：two
    )"""
)
"""How a name may stand that is none by this format's rule."""

SEVERAL = 2
NO_NAME = frozenset(',;!?…"“”„«»[]{}()<>|\\/=*¿¡。，；！？、؟،؛।')
SMALL_WORDS = frozenset(
    "a al and at bin da de del della der di do dos du el en et in la le of on the to und van "
    "von with y".split()
)


def read(source: Source) -> Iterator[DialogBlock]:
    """The blocks of a dialog file: its text as it came, line ends made "\\n".

    Raises FormatError for a block over LINE_LIMIT characters, and for a file of blanks.
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
            yield _block(lines)
            lines, size, any_block = [], 0, True
    if lines:
        doubtful.look_at_block(lines)
        yield _block(lines)
    elif not any_block:
        raise source.error(None, "holds nothing but white space; wanted lines of dialog")
    source.warnings.extend(doubtful.warnings())


class Doubtful:
    """Lines that a person may have meant to name a speaker, and that this format's rule reads
    as words alone: "Old man: Two.", "[ANNA]: Two.", "ANNA" above what she says.
    """

    def __init__(self) -> None:
        self._count = 0
        self._first = (0, "")
        self._odd = 0
        self._first_odd = (0, "")
        self._blocks = 0
        self._cues = 0
        self._first_cue = (0, "")

    def look_at_block(self, lines: Sequence[tuple[int, str]]) -> None:
        """Count a passage that begins with a name above what is said."""
        self._blocks += 1
        number, first = lines[0]
        name = first.strip().removesuffix(".")
        is_cue = len(name) > 1 and name.isupper() and is_name(ASIDE.sub("", name))
        if is_cue and len(lines) > 1 and not lines[1][1].isupper():
            self._cues += 1
            self._first_cue = (self._first_cue[0] or number, self._first_cue[1] or name)

    def look_at(self, number: int, line: str) -> None:
        """Count a line if it is one."""
        match = PREFIX.match(line)
        if match is not None and is_name(match["name"]):
            return
        if ODD.match(line):
            self._odd += 1
            self._first_odd = (self._first_odd[0] or number, self._first_odd[1] or line.strip())
            return
        if match is None or _starts_small(match["name"]):
            return
        words = match["name"].split()
        if 2 <= len(words) <= NAME_WORDS and not any(map(_no_name, match["name"])):
            self._count += 1
            if self._count == 1:
                self._first = (number, match["name"])

    def warnings(self) -> Iterator[str]:
        """A sentence for each sort; for some only if there were several."""
        if self._odd >= SEVERAL:
            number, line = self._first_odd
            yield (
                f"{counted(self._odd, 'line')} read without a speaker though they seem to name "
                f"one, the first in line {number}: {shown(line)}; wanted Name: words"
            )
        if self._cues >= SEVERAL and 2 * self._cues > self._blocks:
            number, name = self._first_cue
            yield (
                f"{counted(self._cues, 'passage')} begin with a line in capitals that may say "
                f"who speaks, the first in line {number}: {shown(name)}; --format fountain "
                "reads names that stand above what is said"
            )
        if self._count:
            number, name = self._first
            yield (
                f"{counted(self._count, 'line')} read without a speaker though a name may be "
                f"meant, the first in line {number}: {shown(name)}; each word of a speaker's "
                "name starts with a capital letter"
            )


def _block(lines: list[tuple[int, str]]) -> DialogBlock:
    turns = []
    place = 0
    for rank, (number, text) in enumerate(lines):
        turns.append(_turn(number, rank, text, place))
        place += len(text) + 1
    return DialogBlock("\n".join(text for _, text in lines), tuple(turns))


def block_of(text: str, line: int) -> DialogBlock:
    """A text in which another tool marked nothing, as the lines of a dialog. It stays as it is,
    and its empty lines are no turns. line: of the file, where the text stands.
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
    """The speaker that a line names, if any, and the code point where its words start."""
    match = PREFIX.match(line)
    if match is None or not is_name(match["name"]):
        return None, 0
    return match["name"], match.end()


def is_name(name: str) -> bool:
    """True if the words before a colon are a speaker's name by this format's rule."""
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
    """True if every word but the small ones starts like a name; the first one always."""
    return not _starts_small(words[0]) and all(
        word in SMALL_WORDS or not _starts_small(word) for word in words[1:]
    )


def _starts_small(word: str) -> bool:
    first = next((character for character in word if character.isalnum()), "")
    return first.islower()


def told_apart(names: Mapping[str, str | None]) -> dict[str, str | None]:
    """Names by id; those of several ids have the id behind them: two men called MAN."""
    often = Counter(name for name in names.values() if name is not None)
    return {
        one: name if name is None or often[name] == 1 else f"{name} ({one})"
        for one, name in names.items()
    }


def with_words(file: Source) -> Iterator[tuple[int, str]]:
    """The lines with something in them, of a file whose rows were looked at before."""
    return ((number, text) for number, text in file.lines() if text.strip())


class Grouped(Protocol):
    """What belongs to a group of the file, whose members may stand apart."""

    @property
    def group(self) -> str:
        """The group's name."""


G = TypeVar("G", bound=Grouped)


class Gathering(Generic[G]):
    """Puts together what belongs together, though it stands apart in the file.

    Made of the names of all groups, one a member, it knows how large each is; so a group is
    handed on, and forgotten, as soon as its last member has come.
    """

    def __init__(self, source: FileOrigin, names: Iterable[str]) -> None:
        self._source = source
        self._awaited = Counter(names)
        self._open: dict[str, list[G]] = {}

    def groups(self, members: Iterable[G]) -> Iterator[list[G]]:
        """Each group in the order of its members, the one that is whole first, first.

        Raises FormatError where members are missing: the file cannot be read a second time.
        """
        for member in members:
            name = member.group
            group = self._open.setdefault(name, [])
            group.append(member)
            if len(group) == self._awaited[name]:
                yield self._open.pop(name)
                del self._awaited[name]
        if self._awaited:
            raise self._source.error(
                None, "has to be read twice, and could be read only once; save it to a file"
            )


# What people say, gathered turn by turn into the scenes that an import makes passages of.
#
# A scene's text is what `dialog` files hold: one turn a line, `Speaker: words`, or the words
# alone where nobody is named. So the same talk is the same passage, whatever file it came in.

LINE_ENDS = re.compile(r"[\r\n]+")


@dataclass(frozen=True, slots=True)
class SpeakerTurn:
    """One turn. line: of the file, from 1. number: None for its rank in the scene.

    begin, until: milliseconds from the start of the recording, None where nothing tells.
    """

    line: int
    speaker: str | None
    words: str
    begin: int | None = None
    until: int | None = None
    number: int | None = None


class SceneTurns:
    """The turns of a scene so far. hint: what to do about one that never ends."""

    def __init__(self, source: FileOrigin, hint: str) -> None:
        self._source = source
        self._hint = hint
        self._said: list[SpeakerTurn] = []
        self._size = 0
        self.any = False

    def add(self, said: SpeakerTurn) -> None:
        """One more turn. Raises FormatError for a scene over LINE_LIMIT characters."""
        self.any = True
        self._said.append(said)
        self._size += len(said.words) + len(said.speaker or "") + 3
        if self._size > LINE_LIMIT:
            raise too_long(self._source, self._said[0].line, self._hint)

    def end(self) -> list[DialogBlock]:
        """The scene, which ends here: one block, or none if nothing was said in it.

        What nobody is named for and holds no words is no line, and no turn.
        """
        said = [one for one in self._said if one.speaker or one.words.strip()]
        self._said, self._size = [], 0
        return [_scene_text(said)] if said else []


def scene_block(
    source: FileOrigin, said: Iterable[SpeakerTurn], hint: str
) -> list[DialogBlock]:
    """A whole scene as `SceneTurns` makes it. Raises FormatError."""
    scene = SceneTurns(source, hint)
    for one in said:
        scene.add(one)
    return scene.end()


def too_long(source: FileOrigin, line: int, hint: str) -> FormatError:
    """The refusal of a scene that begins at `line`. hint: what to do."""
    return source.error(
        line, f"a scene of more than {LINE_LIMIT:,} characters starts here; {hint}"
    )


def _scene_text(said: list[SpeakerTurn]) -> DialogBlock:
    lines = []
    turns = []
    place = 0
    for rank, one in enumerate(said):
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
    """The lines of a text, a blank between two, without white space at the ends of each."""
    return " ".join(line for part in LINE_ENDS.split(text) if (line := part.strip()))
