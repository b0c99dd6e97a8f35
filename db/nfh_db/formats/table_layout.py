"""How a table of dialogs is laid out: its delimiter, its columns, its turns.

A column is found by its name in the header, whatever its case: by those in NAMES, or by what
was said with `--columns`, which then holds for all columns but that of the texts. The
delimiter is the one that a first line `sep=;` names, as spreadsheet programs write it; else
the one of DELIMITERS by which the header holds most of the columns that are looked for.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_db.formats import amt, nfh_ident
from nfh_db.formats.format import First
from nfh_db.formats.reading import Source
from nfh_db.formats.wording import shown

TEXT, SPEAKER, TURN, DIALOG = "text", "speaker", "turn", "dialog"

NAMES: Mapping[str, tuple[str, ...]] = {
    TEXT: (
        "text", "utterance", "utterance text", "turn text", "line text", "message", "content",
    ),
    SPEAKER: (
        "speaker", "speaker name", "character", "name", "who", "speaker id", "author", "user",
    ),
    TURN: ("turn", "turn number", "turn no", "turn id", "turn index"),
    DIALOG: (
        "dialog", "dialogue", "dialog id", "dialogue id", "scene", "scene id", "conversation",
        "conversation id", "conv id",
    ),
}  # fmt: skip
"""Names of columns by what they are here, of which the first that a header has counts. "_",
"-" and a space in them are one.
"""

DELIMITERS: Mapping[str, str] = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
TABULAR = (".csv", ".tsv", ".tab")

SEPARATOR = re.compile(r'"?sep=([^\w"])"?', re.IGNORECASE)
QUOTED = re.compile(r'"(?:[^"]|"")*"')
NUMBER = re.compile(r"[+-]?\d{1,15}(\.0+)?", re.ASCII)
"""A whole number, also as spreadsheets write those of a column with gaps: "3.0"."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is laid out. places: of our columns among those of its header.

    said: the columns that somebody named; the others were found by their names.
    """

    delimiter: str
    header: tuple[str, ...]
    places: Mapping[str, int]
    said: frozenset[str] = frozenset()

    def cell(self, record: Sequence[str], column: str) -> str:
        """A record's field; "" where the table has no such column."""
        place = self.places.get(column)
        return "" if place is None else record[place]

    def called(self, column: str) -> str:
        """The name of a column of ours in the file, as a message shows it."""
        return shown(self.header[self.places[column]])

    @property
    def columns(self) -> str:
        """The names of the columns that are read, as a message shows them."""
        return ", ".join(map(self.called, self.places))

    @property
    def plain(self) -> bool:
        """Nothing was found out that somebody might take otherwise."""
        return self.delimiter in ",\t" and all(
            column in self.said or _key(self.header[place]) == column
            for column, place in self.places.items()
        )

    def told(self) -> str:
        """What was found out, in words."""
        how = DELIMITERS.get(self.delimiter, shown(self.delimiter))
        columns = ", ".join(f"{column} is {self.called(column)}" for column in self.places)
        return f"fields are parted by {how}; {columns}"


def separator_of(text: str) -> str | None:
    """The delimiter that a first line names; None if it is a header."""
    match = SEPARATOR.fullmatch(text.strip(" \r"))
    return None if match is None else match[1]


def spaced(header: str, delimiter: str) -> bool:
    """True if the header shows that a blank stands behind each delimiter."""
    others = header.split(delimiter)[1:]
    return bool(others) and all(name.startswith(" ") for name in others)


def quotes_stand(source: Source, first: int, header: str) -> bool:
    """True if quotation marks in a table with tabs, whose header stands in line `first`, part
    nothing: some field opens with one and does not close it, and all lines have as many fields
    as the header all the same.
    """
    width = header.count("\t")
    is_open = False
    for number, text in source.lines():
        if number < first or not text.strip():
            continue
        if text.count("\t") != width:
            return False
        if '"' in text and not is_open:
            fields = text.split("\t")
            is_open = any(one.startswith('"') and not QUOTED.fullmatch(one) for one in fields)
    return is_open


def layout_of(
    source: Source, line: int, header: Sequence[str], delimiter: str, said: Mapping[str, str]
) -> Layout:
    """The layout that a header shows, which stands in a line.

    said: names of columns by what they are here. Raises FormatError where one of them or the
    column of texts is not there, or is there twice.
    """
    layout = _layout(header, delimiter, said)
    names = ", ".join(map(shown, layout.header))
    for column, name in said.items():
        if column not in layout.places:
            raise source.error(
                line, f"found no column {shown(name)} for {column}; the header has {names}"
            )
    if TEXT not in layout.places:
        raise source.error(
            line,
            f"found no column of texts; the header has {names}; say which one it is with "
            f"--columns text=NAME (speaker=, turn= and dialog= name the others)",
        )
    keys = [_key(name) for name in layout.header]
    for column, place in layout.places.items():
        if keys.count(keys[place]) > 1:
            raise source.error(
                line, f"found the column {layout.called(column)} twice, wanted it once"
            )
    return layout


def sniffed_layout(first: First) -> Layout | None:
    """The layout of what surely is a table of dialogs; None of anything else."""
    if first.value is not None or amt.is_header(first.text) or _is_ident(first.text):
        return None
    text = first.text
    separator = separator_of(text)
    if separator is not None:
        rest = [line for line in first.start.splitlines() if line.strip()]
        text = rest[1] if len(rest) > 1 else ""
    layout = _by(text, {}, separator or delimiter_of(text, {}))
    enough = 1 if first.suffix in TABULAR else 2
    if TEXT not in layout.places or len(layout.places) < enough:
        return None
    return layout


def _is_ident(text: str) -> bool:
    return not set(nfh_ident.COLUMNS[1:]).isdisjoint(text.split())


def delimiter_of(text: str, said: Mapping[str, str]) -> str:
    """The delimiter by which a header's line has most columns of ours, and then most fields."""
    layouts = [_by(text, said, one) for one in DELIMITERS]
    return max(layouts, key=lambda one: (len(one.places), len(one.header))).delimiter


def _by(text: str, said: Mapping[str, str], delimiter: str) -> Layout:
    try:
        header = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        header = []
    return _layout(header, delimiter, said)


def _layout(header: Sequence[str], delimiter: str, said: Mapping[str, str]) -> Layout:
    keys = [_key(name) for name in header]
    places = {}
    for column, names in NAMES.items():
        by_name = names if not said or column == TEXT else ()
        wanted = (_key(said[column]),) if column in said else by_name
        found = next((name for name in wanted if name in keys), None)
        if found is not None:
            places[column] = keys.index(found)
    return Layout(delimiter, tuple(header), places, frozenset(said))


def _key(name: str) -> str:
    return " ".join(re.sub(r"[_\-]", " ", name).split()).casefold()


def turns_of(
    source: Source, layout: Layout, rows: Sequence[tuple[int, Sequence[str]]]
) -> list[int]:
    """The number of each row's turn, which is the same for rows of one turn; [] without such
    a column.

    Whole numbers are taken as they are; of other names of turns each next one counts one
    more. Raises FormatError where a number falls, a name comes again, or there is none.
    """
    if TURN not in layout.places:
        return []
    names = [(line, layout.cell(record, TURN).strip()) for line, record in rows]
    for line, name in names:
        if not name:
            raise source.error(
                line,
                f"the column {layout.called(TURN)} is empty; wanted the turn's number or name "
                "in every row",
            )
    if all(NUMBER.fullmatch(name) for _, name in names):
        return _numbers(source, layout, names)
    return _ranks(source, layout, names)


def _numbers(source: Source, layout: Layout, names: Sequence[tuple[int, str]]) -> list[int]:
    numbers: list[int] = []
    for line, name in names:
        number = int(name.partition(".")[0])
        if numbers and number < numbers[-1]:
            raise source.error(
                line,
                f"found turn {number} after turn {numbers[-1]} of the same dialog; wanted the "
                f"turns in their order: sort the table by {layout.called(TURN)}",
            )
        numbers.append(number)
    return numbers


def _ranks(source: Source, layout: Layout, names: Sequence[tuple[int, str]]) -> list[int]:
    ranks: dict[str, int] = {}
    numbers: list[int] = []
    last: str | None = None
    for line, name in names:
        if name != last and name in ranks:
            raise source.error(
                line,
                f"found the turn {shown(name)} again, after another one; wanted the rows of a "
                f"turn together ({layout.called(TURN)})",
            )
        numbers.append(ranks.setdefault(name, len(ranks)))
        last = name
    return numbers
