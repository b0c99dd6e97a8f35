"""`cornell`: the Cornell Movie-Dialogs Corpus as its authors released it.

Fields are parted by " +++$+++ " (README.txt of the corpus,
https://www.cs.cornell.edu/~cristian/Cornell_Movie-Dialogs_Corpus.html):

* movie_lines.txt: line id, character id, movie id, character's name, text;
* movie_conversations.txt: two character ids, movie id, and the line ids of a conversation in
  the order in which they are said, as ['L194', 'L195'].

With both, in a folder or zip, a conversation is a passage. Of movie_lines.txt alone the lines
of a film whose numbers follow one another are one: the numbers count the film's script. All
other files of the corpus are passed over. It is released in ISO-8859-1, and copies are not.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfh_db.errors import FormatError
from nfh_db.formats.folders import Folder, Member
from nfh_db.formats.format import First, Format, Takes
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import Source
from nfh_db.formats.rows import DialogBlock
from nfh_db.formats.scenes import Gathering, told_apart, with_words
from nfh_db.formats.spoken import Said, block_of
from nfh_db.formats.wording import counted, shown, visible

LINES, CONVERSATIONS = "movie_lines.txt", "movie_conversations.txt"

PARTING = re.compile(r" ?\+\+\+\$\+\+\+ ?")
LINE_ID = re.compile(r"L(\d{1,12})", re.ASCII)
IDS = re.compile(r"\[\s*'L\d+'(?:\s*,\s*'L\d+')*\s*\]", re.ASCII)

A_LINE = "a line id, a character id, a film id, a name and a text, parted by +++$+++"
A_CONVERSATION = "two character ids, a film id and line ids as in ['L194', 'L195']"
SHORTER = f"put {CONVERSATIONS} beside it, which says where a conversation ends"


@dataclass(frozen=True, slots=True)
class FilmLine:
    """A line of a film. number: that of its id. group: the film's id."""

    line: int
    number: int
    character: str
    group: str
    name: str | None
    text: str

    @property
    def content(self) -> tuple[object, ...]:
        """What must be the same in two lines of one id."""
        return (self.character, self.name, self.text)


@dataclass(frozen=True, slots=True)
class Scene:
    """Line ids of a film, in their order. line: of the conversations' file."""

    line: int
    numbers: tuple[int, ...]


def read(source: Source | Folder, how: Reading) -> Iterator[DialogBlock]:
    """The conversations, film by film; of a film in the order of their file, or of the script.

    Raises FormatError for a line of other fields, a line id that is there twice with
    different content, a conversation with a line that is not there, and of a folder for one
    without movie_lines.txt. Lines of no conversation are counted.
    """
    if isinstance(source, Folder):
        file: Source = Member(source, _member(source, LINES, needed=True), how.encoding)
        other = _member(source, CONVERSATIONS, needed=False)
        scenes = None if not other else _Scenes(Member(source, other, how.encoding))
    else:
        file, scenes = source, None
    gathering = Gathering[FilmLine](file, (one.group for one in _film_lines(file, file.rows())))
    for film in gathering.groups(_film_lines(file, with_words(file))):
        lines = _by_number(file, film)
        if scenes is None:
            yield from _blocks(file, _runs(lines))
        else:
            yield from _blocks(file, scenes.of(film[0].group, lines))
    if scenes is not None:
        scenes.end()
        if scenes.left:
            file.warnings.append(f"{counted(scenes.left, 'line')} of no conversation left out")


def _film_lines(file: Source, rows: Iterable[tuple[int, str]]) -> Iterator[FilmLine]:
    for number, text in rows:
        fields = PARTING.split(text, maxsplit=4)
        line_id = LINE_ID.fullmatch(fields[0].strip())
        if len(fields) != 5 or line_id is None or not fields[2].strip():
            raise file.error(number, f"found {shown(text)}, wanted {A_LINE}")
        _, character, film, name, said = fields
        yield FilmLine(
            number, int(line_id[1]), character.strip(), film.strip(), name.strip() or None, said
        )


def _by_number(file: Source, film: Sequence[FilmLine]) -> dict[int, FilmLine]:
    lines: dict[int, FilmLine] = {}
    for one in film:
        other = lines.setdefault(one.number, one)
        if other.content != one.content:
            raise file.error(
                one.line,
                f"found another line with the id L{one.number}, which line {other.line:,} has "
                "with other content; wanted each id once",
            )
    return lines


def _runs(lines: dict[int, FilmLine]) -> Iterator[list[FilmLine]]:
    """The lines of a film in the order of its script, cut where a number is missing."""
    run: list[FilmLine] = []
    for number in sorted(lines):
        if run and number != run[-1].number + 1:
            yield run
            run = []
        run.append(lines[number])
    yield run


def _blocks(file: Source, talks: Iterable[Sequence[FilmLine]]) -> Iterator[DialogBlock]:
    for lines in talks:
        names = told_apart({one.character: one.name for one in lines})
        said = [Said(one.line, names[one.character], one.text) for one in lines]
        yield from block_of(file, said, SHORTER)


class _Scenes:
    """The conversations of a corpus by film. left: lines so far that none of them holds."""

    def __init__(self, file: Source) -> None:
        self.file = file
        self.left = 0
        self._films: dict[str, list[Scene]] = {}
        for number, text in file.rows():
            fields = PARTING.split(text.strip(), maxsplit=3)
            if len(fields) != 4 or not IDS.fullmatch(fields[3]):
                raise file.error(number, f"found {shown(text)}, wanted {A_CONVERSATION}")
            numbers = tuple(int(one) for one in LINE_ID.findall(fields[3]))
            self._films.setdefault(fields[2].strip(), []).append(Scene(number, numbers))

    def of(self, film: str, lines: dict[int, FilmLine]) -> Iterator[list[FilmLine]]:
        """The conversations of a film. Raises FormatError where a line of one is missing."""
        used = set[int]()
        for scene in self._films.pop(film, ()):
            missing = next((one for one in scene.numbers if one not in lines), None)
            if missing is not None:
                raise self._missing(scene, missing, film)
            used.update(scene.numbers)
            yield [lines[one] for one in scene.numbers]
        self.left += len(lines.keys() - used)

    def end(self) -> None:
        """Raise FormatError where a film has conversations and no lines."""
        for film, scenes in self._films.items():
            raise self._missing(scenes[0], scenes[0].numbers[0], film)

    def _missing(self, scene: Scene, number: int, film: str) -> FormatError:
        return self.file.error(
            scene.line,
            f"found the line L{number}, which {LINES} does not have in the film {shown(film)}; "
            "wanted both files of one release",
        )


def _member(folder: Folder, wanted: str, *, needed: bool) -> str:
    """The member of that name; "" where it is not there and not needed."""
    found = [name for name in folder.names if name.rpartition("/")[2] == wanted]
    if len(found) > 1:
        raise folder.error(
            None, f"holds {wanted} {len(found)} times ({visible(', '.join(found), 200)})"
        )
    if needed and not found:
        raise folder.error(None, f"found no {wanted}, which holds the dialogs")
    return found[0] if found else ""


def _sniff(first: First) -> str | None:
    if first.takes is Takes.FOLDER:
        if any(name.rpartition("/")[2] == LINES for name in first.names):
            return f"it holds {LINES}"
        return None
    fields = PARTING.split(first.text, maxsplit=4)
    if len(fields) == 5 and LINE_ID.fullmatch(fields[0].strip()):
        return "its first line is one of a film, its fields parted by +++$+++"
    return None


CORNELL = Format(
    name="cornell",
    extensions=(".txt", ".zip"),
    description=(
        f"the Cornell Movie-Dialogs Corpus: {LINES} alone, or a folder or zip with "
        f"{CONVERSATIONS} beside it"
    ),
    example="L2 +++$+++ u1 +++$+++ m0 +++$+++ BEN +++$+++ No, three.",
    read=read,
    sniff=_sniff,
    labelled=False,
    takes=(Takes.TEXT, Takes.FOLDER),
    settings=frozenset({"encoding", "window"}),
)
