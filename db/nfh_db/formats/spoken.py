"""What people say, gathered turn by turn into the scenes that an import makes passages of.

A scene's text is what `dialog` files hold: one turn a line, `Speaker: words`, or the words
alone where nobody is named. So the same talk is the same passage, whatever file it came in.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from nfh_db.errors import FormatError
from nfh_db.formats.reading import LINE_LIMIT, Origin
from nfh_db.formats.rows import DialogBlock, DialogTurn

LINE_ENDS = re.compile(r"[\r\n]+")


@dataclass(frozen=True, slots=True)
class Said:
    """One turn. line: of the file, from 1. number: None for its rank in the scene.

    begin, until: milliseconds from the start of the recording, None where nothing tells.
    """

    line: int
    speaker: str | None
    words: str
    begin: int | None = None
    until: int | None = None
    number: int | None = None


class Scene:
    """The turns of a scene so far. hint: what to do about one that never ends."""

    def __init__(self, source: Origin, hint: str) -> None:
        self._source = source
        self._hint = hint
        self._said: list[Said] = []
        self._size = 0
        self.any = False

    def add(self, said: Said) -> None:
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


def block_of(source: Origin, said: Iterable[Said], hint: str) -> list[DialogBlock]:
    """A whole scene as `Scene` makes it. Raises FormatError."""
    scene = Scene(source, hint)
    for one in said:
        scene.add(one)
    return scene.end()


def too_long(source: Origin, line: int, hint: str) -> FormatError:
    """The refusal of a scene that begins at `line`. hint: what to do."""
    return source.error(
        line, f"a scene of more than {LINE_LIMIT:,} characters starts here; {hint}"
    )


def _block(said: list[Said]) -> DialogBlock:
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
