"""Turns gathered into the scenes that an import makes passages of; scenes may stand apart in
a file, and speakers may have ids.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from nfh_db.errors import FormatError
from nfh_db.formats.files import LINE_LIMIT, FileOrigin, Source
from nfh_db.formats.rows import DialogBlock, DialogTurn


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
        return [_block(said)] if said else []


def block_of(source: FileOrigin, said: Iterable[SpeakerTurn], hint: str) -> list[DialogBlock]:
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


def _block(said: list[SpeakerTurn]) -> DialogBlock:
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
