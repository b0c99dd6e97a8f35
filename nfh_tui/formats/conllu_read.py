"""CoNLL-U sentence by sentence: the words, their texts, and where those stand.

The conllu package reads the lines. A multiword token (`2-3`) is a token of the text, cut into
its words where those spell it; an empty node (`5.1`) is none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nfh_db.formats.grid import MarkError
from nfh_db.formats.reading import Source
from nfh_db.formats.wording import shown

if TYPE_CHECKING:
    from types import ModuleType

COLUMNS = 10
PLAIN = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


@dataclass(frozen=True, slots=True)
class Word:
    """A token of a text. ids: the words of the sentence that it stands for; misc: their MISC
    columns, and its own; line: of the file.
    """

    line: int
    form: str
    ids: tuple[int, ...]
    misc: tuple[str, ...]
    space: bool


@dataclass(slots=True)
class Sentence:
    """One sentence. line: of the file, where it begins. comments: by name. notes, lines: as
    they stand; numbers: of the lines, in the file. empty: how many nodes are no words.
    """

    line: int
    comments: dict[str, str | None]
    notes: list[str]
    lines: list[str]
    numbers: list[int]
    words: list[Word] = field(default_factory=list)
    empty: int = 0

    @property
    def starts_document(self) -> bool:
        """A document begins here."""
        return "newdoc" in self.comments or "newdoc id" in self.comments

    @property
    def speaker(self) -> str | None:
        """Who says it."""
        return self.comments.get("speaker")


def library(source: Source) -> "ModuleType":
    """The package. Raises FormatError where it is not installed."""
    try:
        import conllu
    except ImportError as error:
        raise source.error(
            None, "CoNLL-U is read by the package conllu: pip install 'nfh-tui[formats]'"
        ) from error
    return conllu


def sentences(source: Source) -> Iterator[Sentence]:
    """The sentences of a file. Raises FormatError for lines that are no CoNLL-U."""
    conllu = library(source)
    for start, lines in _blocks(source):
        yield _sentence(conllu, source, start, lines)


def _blocks(source: Source) -> Iterator[tuple[int, list[str]]]:
    start, lines = 0, list[str]()
    for number, line in source.lines():
        if not line.strip():
            if lines:
                yield start, lines
            lines = []
            continue
        if not lines:
            start = number
        lines.append(line)
    if lines:
        yield start, lines


def _sentence(
    conllu: "ModuleType", source: Source, start: int, lines: Sequence[str]
) -> Sentence:
    numbers = []
    for number, line in enumerate(lines, start):
        if line.startswith("#"):
            continue
        columns = line.count("\t") + 1
        if columns != COLUMNS:
            raise source.error(
                number,
                f"found {columns} column{'s' * (columns != 1)} in {shown(line)}, wanted "
                f"{COLUMNS} with tabs between",
            )
        if not all(map(str.strip, line.split("\t"))) or "  " in line:
            raise source.error(
                number,
                f"found a column that is empty or holds two spaces in {shown(line)}, wanted "
                '"_" where there is nothing',
            )
        numbers.append(number)
    if not numbers:
        raise source.error(start, "found comments without a token below them")
    as_it_is = dict.fromkeys(PLAIN, _column)
    try:
        parsed = conllu.parse("\n".join(lines), field_parsers=as_it_is)[0]
    except (conllu.exceptions.ParseException, ValueError, IndexError) as error:
        raise source.error(start, f"this sentence is no CoNLL-U: {error}") from error
    found = Sentence(
        start,
        dict(parsed.metadata),
        [line for line in lines if line.startswith("#")],
        [line for line in lines if not line.startswith("#")],
        numbers,
    )
    _read_words(source, found, list(zip(numbers, parsed, strict=True)))
    return found


def _column(columns: Sequence[str], place: int) -> str:
    return columns[place]


Line = tuple[int, Any]


def _read_words(source: Source, found: Sentence, lines: Sequence[Line]) -> None:
    """The tokens of a sentence's lines. Raises FormatError for ids out of order."""
    place, expected = 0, 1
    while place < len(lines):
        number, token = lines[place]
        id_ = token["id"]
        place += 1
        if isinstance(id_, tuple) and id_[1] == ".":
            found.empty += 1
            continue
        first, last = (id_[0], id_[2]) if isinstance(id_, tuple) else (id_, id_)
        if first != expected:
            raise source.error(number, f"found the id {first}, expected {expected}")
        if not isinstance(id_, tuple):
            found.words.append(_word(number, token, (id_,)))
            expected += 1
            continue
        inside: list[Line] = []
        while place < len(lines) and len(inside) < last - first + 1:
            one = lines[place]
            place += 1
            if isinstance(one[1]["id"], tuple):
                found.empty += 1
            else:
                inside.append(one)
        if [one[1]["id"] for one in inside] != list(range(first, last + 1)):
            raise source.error(number, f"the words {first} to {last} of this token are missing")
        found.words += _of_range(number, token, inside)
        expected = last + 1


def _of_range(number: int, token: Any, inside: Sequence[Line]) -> list[Word]:  # noqa: ANN401
    """The tokens of a multiword token: its words, if they spell it; else itself."""
    forms = [one["form"] for _, one in inside]
    if "".join(forms) != token["form"]:
        ids = tuple(one["id"] for _, one in inside)
        misc = (token["misc"], *(one["misc"] for _, one in inside))
        return [Word(number, token["form"], ids, misc, _space(token["misc"]))]
    words = [Word(n, one["form"], (one["id"],), (one["misc"],), False) for n, one in inside]
    last = words[-1]
    first = words[0]
    words[-1] = Word(last.line, last.form, last.ids, last.misc, _space(token["misc"]))
    if len(words) > 1:
        words[0] = Word(first.line, first.form, first.ids, (token["misc"], *first.misc), False)
    return words


def _word(number: int, token: Any, ids: tuple[int, ...]) -> Word:  # noqa: ANN401
    return Word(number, token["form"], ids, (token["misc"],), _space(token["misc"]))


def _space(misc: str) -> bool:
    return "SpaceAfter=No" not in misc.split("|")


def offsets_in(text: str, sentence: Sentence) -> list[tuple[int, int]]:
    """Where the tokens of a sentence stand in its text. Raises MarkError where they do not."""
    found, place = [], 0
    for word in sentence.words:
        at = place
        while not text.startswith(word.form, at):
            if at >= len(text) or not text[at].isspace():
                raise MarkError(
                    f"expected {shown(word.form)} of line {word.line} at character {place} of "
                    f"the sentence's text, found {shown(text[place : place + 40])}"
                )
            at += 1
        place = at + len(word.form)
        found.append((at, place))
    if text[place:].strip():
        raise MarkError(
            f"the sentence's text goes on where its tokens end: {shown(text[place:])}"
        )
    return found
