"""Format `fountain`: screenplays in plain text, https://fountain.io/syntax, version 1.1; each
speech a turn, each scene a passage.

Scene headings separate scenes. A speech is one turn, its lines joined; its speaker is the name
in the cue without (V.O.), (CONT'D) and similar extensions. Each paragraph of action is a turn
without a speaker, since it may have nouns that are missing in the speeches. Parentheticals,
headings, transitions, sections, synopses, comments and the title page are left out and counted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain, pairwise
from typing import NamedTuple

from nfh_db.formats.base import First, Format
from nfh_db.formats.dialog import SceneTurns, SpeakerTurn
from nfh_db.formats.files import Source
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.messages import counted

# Elements. The type of a line depends on whether the lines before and after it are empty.
# Comments (`/* */` and `[[ ]]`) are removed before; a line with nothing else is removed, not
# empty.

TITLE_KEYS = frozenset(
    "title credit author authors source notes date draft contact copyright revision format "
    "font header footer".split()
)
HEADING = re.compile(r"(?i)(?:int\.?/ext|int/ext|i/e|int|ext|est)[. ]\s*\S")
CHARACTER_EXTENSIONS = re.compile(r"(?:\s*\([^()]*\))+\s*$")
EMPHASIS = re.compile(r"(?<!\\)(\*{1,3}|(?<!\w)_)(?=\S)((?:\\.|(?!\1)[^\\]){1,2000}?)(?<=\S)\1")
NESTED = 3
"""How deep marks of emphasis are nested: _, **, and * make three."""

SHORT_FORMS = frozenset(("JR.", "SR.", "ESQ."))
"""Last words of a name that end in a full stop."""

LONGEST_CUE = 200
"""Characters of a cue."""

ESCAPED = re.compile(r"\\([*_\\\[\]~#.!@>=])")
OPENING = re.compile(r"/\*|\[\[")


class Type(Enum):
    """The type of a line outside a speech. The value: its name in the warning."""

    HEADING = "scene heading"
    TRANSITION = "transition"
    SECTION = "section or synopsis"
    CHARACTER = ""
    ACTION = "action"


class FountainLine(NamedTuple):
    """A line. after: it follows an empty line or the start of the file; before: it precedes an
    empty line or the end of the file.
    """

    number: int
    text: str
    after: bool
    before: bool


def element(line: FountainLine) -> tuple[Type, str]:
    """The type of a line outside a speech, and its words without the marks of that type."""
    text = line.text.strip()
    return _forced(line, text) or _told(line, text)


def _forced(line: FountainLine, text: str) -> tuple[Type, str] | None:
    """An element whose first character forces its type."""
    first, rest = text[0], text[1:].strip()
    if first == "!":
        return Type.ACTION, rest
    if first == "@" and not line.before and len(text) <= LONGEST_CUE:
        return Type.CHARACTER, name_of(rest)
    if first == "." and text[1:2].isalnum():
        return Type.HEADING, rest
    if first == ">":
        return (Type.ACTION, rest[:-1].strip()) if rest[-1:] == "<" else (Type.TRANSITION, rest)
    if first in "#=":
        return Type.SECTION, rest
    return (Type.ACTION, rest) if first == "~" else None


def _told(line: FountainLine, text: str) -> tuple[Type, str]:
    """An element whose type follows from its letters and the empty lines around it."""
    if line.after and HEADING.match(text):
        return Type.HEADING, text
    if not line.after or len(text) > LONGEST_CUE:
        return Type.ACTION, text
    name = name_of(text)
    if name.isupper():
        if name.endswith("TO:"):
            return Type.TRANSITION, text
        if not line.before and not name.endswith(":"):
            return Type.CHARACTER, name
    return Type.ACTION, text


def name_of(cue: str) -> str:
    """The name of a character's cue: "ANNA (V.O.) (CONT'D) ^" is ANNA, and so is "ANNA." """
    name = plain(CHARACTER_EXTENSIONS.sub("", cue.rstrip().removesuffix("^").rstrip()))
    last = name.rpartition(" ")[2]
    is_short = len(last) < 3 or "." in last[:-1] or last.upper() in SHORT_FORMS
    return name if is_short else name.removesuffix(".")


def plain(text: str) -> str:
    """A text without marks of emphasis."""
    for _ in range(NESTED):
        text = EMPHASIS.sub(r"\2", text)
    return ESCAPED.sub(r"\1", text)


def placed(lines: Iterable[tuple[int, str]]) -> Iterator[FountainLine]:
    """Each line, with whether the lines around it are empty."""
    after = True
    for (number, text), (_, following) in pairwise(chain(lines, [(0, "")])):
        yield FountainLine(number, text, after, not following.strip())
        after = not text.strip()


def body(source: Source, left: Counter[str]) -> Iterator[tuple[int, str]]:
    """The lines of a file after its title page, without comments, which `left` counts.

    Raises FormatError for a comment `/*` that never ends.
    """
    in_title: bool | None = None
    for number, text in _without_comments(source, left):
        if in_title is None and text.strip():
            key = text.partition(":")[0].strip().lower().split(" ")[0]
            in_title = ":" in text and key in TITLE_KEYS
            left["title page"] += in_title
        elif in_title and not text.strip():
            in_title = False
        if not in_title:
            yield number, text


def _without_comments(source: Source, left: Counter[str]) -> Iterator[tuple[int, str]]:
    closing = ""
    opened = 0
    for number, line in source.lines():
        text, kept = line, ""
        if closing == "]]" and not line:
            # An empty line ends a note; a line of two spaces continues it.
            closing = ""
        inside = bool(closing)
        while text:
            if closing:
                _, found, text = text.partition(closing)
                closing = "" if found else closing
                continue
            start = OPENING.search(text)
            if start is None:
                kept += text
                break
            kept += text[: start.start()]
            text = text[start.end() :]
            closing = "*/" if start.group() == "/*" else "]]"
            left["comment"] += 1
            opened = number
        if kept.strip() or (kept == line and not inside):
            yield number, kept
    if closing == "*/":
        raise source.error(opened, 'a comment "/*" starts here and never ends; wanted "*/"')


EXTENSIONS = (".fountain", ".spmd")

TRANSCRIPT = ("@UTF8", "@Begin")

SURE = re.compile(r"\s*(?:INT|EXT|EST|I/E)\b")
"""The start of a heading in a file without the suffix of a screenplay; "Est ce que" is none."""

PROSE = 4
"""Ratio of action to speech from which a file without scene headings is prose."""

WANTED = (
    "wanted a screenplay: a name in capitals on a line of its own, what they say on the "
    "next; other text is read with --format dialog"
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
    """Reads the lines of a screenplay."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.left: Counter[str] = Counter()
        """What was left out, by name."""
        self.size = {"speech": 0, "action": 0}
        self.scene = SceneTurns(source, "wanted scene headings, such as INT. KITCHEN - DAY")
        self._open: _Paragraph | None = None

    def blocks(self) -> Iterator[DialogBlock]:
        """The scenes. Raises FormatError at the end for a file that is no screenplay."""
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

    def _goes_on(self, line: FountainLine) -> bool:
        """Add a line that continues the open paragraph; a line of two spaces does so, too."""
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
        if what is not Type.ACTION:
            return False
        now.lines.append(words)
        return True

    def _begin(self, line: FountainLine) -> Iterator[DialogBlock]:
        what, words = element(line)
        if what is Type.CHARACTER or what is Type.ACTION:
            self._open = _Paragraph(line.number, words if what is Type.CHARACTER else None)
            if what is Type.ACTION:
                self._open.lines.append(words)
            return
        self.left[what.value] += 1
        if what is Type.HEADING:
            yield from self.scene.end()

    def _close(self) -> None:
        ended, self._open = self._open, None
        if ended is None or not (words := ended.words.strip()):
            return
        self.size["action" if ended.speaker is None else "speech"] += len(words)
        self.scene.add(SpeakerTurn(ended.number, ended.speaker, words))

    def _check(self) -> None:
        if not self.scene.any:
            raise self.source.error(None, f"holds no spoken words; {WANTED}")
        if not self.size["speech"]:
            raise self.source.error(None, f"no character speaks in it; {WANTED}")
        prose = self.size["action"] > PROSE * self.size["speech"]
        if prose and not self.left[Type.HEADING.value]:
            raise self.source.error(
                None, f"has no scene heading, and hardly anybody speaks in it; {WANTED}"
            )

    def _warn(self) -> None:
        if self.left.total():
            parts = [
                counted(number, name, "sections or synopses" if " or " in name else None)
                for name, number in sorted(self.left.items())
                if number
            ]
            self.source.warnings.append(f"left out: {', '.join(parts)}")


def read(source: Source, how: ReadOptions) -> Iterator[DialogBlock]:  # noqa: ARG001
    """The scenes of a screenplay. Raises FormatError."""
    if source.first_row().startswith(TRANSCRIPT):
        # A leading "@" would force a character's name.
        raise source.error(1, "a CHAT transcript begins so; read it with --format chat")
    return _Reader(source).blocks()


def _sniff(first: First) -> str | None:
    if first.suffix in EXTENSIONS:
        return f"its name ends in {first.suffix}"
    lines = list(placed(enumerate(first.start.splitlines())))
    found = {element(line)[0] for line in lines if line.text.strip() and line.after}
    if {Type.HEADING, Type.CHARACTER} <= found and any(_stands_alone(line) for line in lines):
        return "it has scene headings and characters, as screenplays do"
    return None


def _stands_alone(line: FountainLine) -> bool:
    """Whether a line is a scene heading between empty lines."""
    alone = line.text.strip() and line.after and line.before
    return bool(alone) and bool(SURE.match(line.text)) and element(line)[0] is Type.HEADING


FOUNTAIN = Format(
    name="fountain",
    extensions=EXTENSIONS,
    description=(
        "screenplays in Fountain: each speech a turn, scenes separated by their headings"
    ),
    example="",
    read=read,
    sniff=_sniff,
    labelled=False,
    settings=frozenset({"encoding", "window"}),
)
