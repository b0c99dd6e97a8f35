"""`fountain`: screenplays in plain text, each speech a turn, each scene a passage.

Scene headings part scenes. A speech is one turn, its lines joined, of the speaker whom its cue
names without (V.O.), (CONT'D) and the like. Action is kept, each paragraph a turn without a
speaker: nouns that are missing in what is said may stand there. Parentheticals, headings,
transitions, sections, synopses, comments and the title page are left out and counted.
"""

import re
from collections import Counter
from collections.abc import Iterator

from nfh_db.formats.format import First, Format
from nfh_db.formats.fountain_lines import Is, Placed, body, element, placed, plain
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import Source
from nfh_db.formats.rows import DialogBlock
from nfh_db.formats.spoken import Said, Scene
from nfh_db.formats.wording import counted

EXTENSIONS = (".fountain", ".spmd")

TRANSCRIPT = ("@UTF8", "@Begin")

SURE = re.compile(r"\s*(?:INT|EXT|EST|I/E)\b")
"""How a heading begins in a file whose name does not say what it is: "Est ce que" is none."""

PROSE = 4
"""Without a scene heading: so many times as much action as speech is prose."""

WANTED = (
    "wanted a screenplay: a name in capitals on a line of its own, what is said on the next; "
    "other text is read with --format dialog"
)


class _Paragraph:
    """A speech or a paragraph of action, line by line."""

    def __init__(self, number: int, speaker: str | None) -> None:
        self.number = number
        self.speaker = speaker
        self.lines: list[str] = []

    @property
    def words(self) -> str:
        return " ".join(plain(line) for line in self.lines if line)


class _Reader:
    """Goes through the lines of a screenplay. left: what was left out, by name."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.left: Counter[str] = Counter()
        self.size = {"speech": 0, "action": 0}
        self.scene = Scene(source, "wanted scene headings, such as INT. KITCHEN - DAY")
        self._open: _Paragraph | None = None

    def blocks(self) -> Iterator[DialogBlock]:
        """The scenes. Raises FormatError for what is no screenplay, at the end."""
        for line in placed(body(self.source, self.left)):
            if self._goes_on(line):
                continue
            self._close()
            if line.text.strip():
                yield from self._begin(line)
        self._close()
        yield from self.scene.end()
        self._check()
        self._warn()

    def _goes_on(self, line: Placed) -> bool:
        """Take a line that goes on with what is open. A line of two blanks goes on, too."""
        now, text = self._open, line.text.strip()
        if now is None or not text:
            return now is not None and now.speaker is not None and line.text.startswith("  ")
        if now.speaker is not None:
            if text.startswith("(") and text.endswith(")"):
                self.left["parenthetical"] += 1
            else:
                now.lines.append(text.removeprefix("~").strip())
            return True
        what, words = element(line)
        if what is not Is.ACTION:
            return False
        now.lines.append(words)
        return True

    def _begin(self, line: Placed) -> Iterator[DialogBlock]:
        what, words = element(line)
        if what is Is.CHARACTER or what is Is.ACTION:
            self._open = _Paragraph(line.number, words if what is Is.CHARACTER else None)
            if what is Is.ACTION:
                self._open.lines.append(words)
            return
        self.left[what.value] += 1
        if what is Is.HEADING:
            yield from self.scene.end()

    def _close(self) -> None:
        ended, self._open = self._open, None
        if ended is None or not (words := ended.words.strip()):
            return
        self.size["action" if ended.speaker is None else "speech"] += len(words)
        self.scene.add(Said(ended.number, ended.speaker, words))

    def _check(self) -> None:
        if not self.scene.any:
            raise self.source.error(None, f"holds no words that are said; {WANTED}")
        if not self.size["speech"]:
            raise self.source.error(None, f"no character says anything in it; {WANTED}")
        prose = self.size["action"] > PROSE * self.size["speech"]
        if prose and not self.left[Is.HEADING.value]:
            raise self.source.error(
                None, f"has no scene heading, and next to nobody speaks in it; {WANTED}"
            )

    def _warn(self) -> None:
        if self.left.total():
            parts = [
                counted(number, name, "sections or synopses" if " or " in name else None)
                for name, number in sorted(self.left.items())
                if number
            ]
            self.source.warnings.append(f"left out: {', '.join(parts)}")


def read(source: Source, how: Reading) -> Iterator[DialogBlock]:  # noqa: ARG001
    """The scenes of a screenplay. Raises FormatError."""
    if source.first_row().startswith(TRANSCRIPT):
        # "@" would force a character's name there.
        raise source.error(1, "a CHAT transcript begins so; read it with --format chat")
    return _Reader(source).blocks()


def _sniff(first: First) -> str | None:
    if first.suffix in EXTENSIONS:
        return f"its name ends in {first.suffix}"
    lines = list(placed(enumerate(first.start.splitlines())))
    said = {element(line)[0] for line in lines if line.text.strip() and line.after}
    if {Is.HEADING, Is.CHARACTER} <= said and any(_stands_alone(line) for line in lines):
        return "it has scene headings and characters as screenplays have them"
    return None


def _stands_alone(line: Placed) -> bool:
    """Whether a line is a scene heading with an empty line around it."""
    alone = line.text.strip() and line.after and line.before
    return bool(alone) and bool(SURE.match(line.text)) and element(line)[0] is Is.HEADING


FOUNTAIN = Format(
    name="fountain",
    extensions=EXTENSIONS,
    description="screenplays in Fountain: each speech a turn, scenes parted by their headings",
    example="",
    read=read,
    sniff=_sniff,
    labelled=False,
    settings=frozenset({"encoding", "window"}),
)
