"""Format `table`: dialogs in a CSV or TSV file with a header, one turn a row; its delimiter
and columns are found or said.

A column is found by its name in the header, or by what `--columns` says.
Fields may be quoted, and then hold the delimiter, line breaks and doubled quotes, as RFC 4180
has it (https://www.rfc-editor.org/rfc/rfc4180). The line of a row is that on which it starts.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from nfh_db.errors import FormatError
from nfh_db.formats import amt, nfh
from nfh_db.formats.base import First, Format
from nfh_db.formats.dialog import SpeakerTurn, scene_block, too_long
from nfh_db.formats.files import LINE_LIMIT, NO_LINE_YET, Source
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.messages import counted, shown

# How a table of dialogs is laid out: its delimiter, its columns, its turns.
#
# A column is found by its name in the header, whatever its case: by those in NAMES, or by what
# was said with `--columns`, which then holds for all columns but that of the texts. The
# delimiter is the one that a first line `sep=;` names, as spreadsheet programs write it; else
# the one of DELIMITERS by which the header holds most of the columns that are looked for.

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
class TableLayout:
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
) -> TableLayout:
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


def sniffed_layout(first: First) -> TableLayout | None:
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
    return not set(nfh.COLUMNS[1:]).isdisjoint(text.split())


def delimiter_of(text: str, said: Mapping[str, str]) -> str:
    """The delimiter by which a header's line has most columns of ours, and then most fields."""
    layouts = [_by(text, said, one) for one in DELIMITERS]
    return max(layouts, key=lambda one: (len(one.places), len(one.header))).delimiter


def _by(text: str, said: Mapping[str, str], delimiter: str) -> TableLayout:
    try:
        header = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        header = []
    return _layout(header, delimiter, said)


def _layout(header: Sequence[str], delimiter: str, said: Mapping[str, str]) -> TableLayout:
    keys = [_key(name) for name in header]
    places = {}
    for column, names in NAMES.items():
        by_name = names if not said or column == TEXT else ()
        wanted = (_key(said[column]),) if column in said else by_name
        found = next((name for name in wanted if name in keys), None)
        if found is not None:
            places[column] = keys.index(found)
    return TableLayout(delimiter, tuple(header), places, frozenset(said))


def _key(name: str) -> str:
    return " ".join(re.sub(r"[_\-]", " ", name).split()).casefold()


def turns_of(
    source: Source, layout: TableLayout, rows: Sequence[tuple[int, Sequence[str]]]
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


def _numbers(
    source: Source, layout: TableLayout, names: Sequence[tuple[int, str]]
) -> list[int]:
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


def _ranks(source: Source, layout: TableLayout, names: Sequence[tuple[int, str]]) -> list[int]:
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


COMPLAINTS = (
    ("unexpected end of data", "a quote that opens in this row is never closed"),
    ("field larger", f"a field of this row is longer than {LINE_LIMIT:,} characters"),
    ("expected after", "a closing quote is followed by more than the end of its field"),
    ("new-line character", "a carriage return stands outside quotes, where no line ends"),
)
"""What Python's csv module says, and what that means."""

PART_BY_COLUMN = "name the column that tells dialogs apart, with --columns dialog=NAME"
PART_BY_ROW = f"{PART_BY_COLUMN}, or put an empty row between them"

Record = tuple[int, list[str]]


@dataclass(slots=True)
class DialogTable:
    """A table being read: the rows of the dialog that is not yet whole, and what was seen.

    ended: the line of the last row of each dialog that is whole.
    """

    source: Source
    layout: TableLayout
    rows: list[Record] = field(default_factory=list)
    size: int = 0
    name: str | None = None
    ended: dict[str, int] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        """It has a column that tells dialogs apart."""
        return DIALOG in self.layout.places

    def blocks(self, records: Iterator[Record]) -> Iterator[DialogBlock]:
        """The dialogs, in the order of the file. Raises FormatError."""
        any_row = False
        for line, record in records:
            if not any(cell.strip() for cell in record):
                if not self.named:
                    yield from self._taken()
                continue
            any_row = True
            self._check_length(line, record)
            if self.named and self._begins(line, record):
                yield from self._taken()
                self.name = self._dialog(line, record)
            self._add(line, record)
        yield from self._taken()
        if not any_row:
            raise self.source.error(
                None, "holds a header and nothing else; wanted at least one row"
            )

    def _add(self, line: int, record: list[str]) -> None:
        self.rows.append((line, record))
        self.size += len(self.layout.cell(record, TEXT)) + 1
        if self.size > LINE_LIMIT:
            raise too_long(self.source, self.rows[0][0], self._how_to_part())

    def _how_to_part(self) -> str:
        return PART_BY_COLUMN if self.named else PART_BY_ROW

    def _taken(self) -> Iterator[DialogBlock]:
        """The block of the rows, if there are any; then there are none."""
        if not self.rows:
            return
        yield from scene_block(self.source, self._said(), self._how_to_part())
        if self.name is not None:
            self.ended[self.name] = self.rows[-1][0]
        self.rows, self.size = [], 0

    def _dialog(self, line: int, record: list[str]) -> str:
        """The name of a row's dialog. Raises FormatError where it has none."""
        name = self.layout.cell(record, DIALOG).strip()
        if not name:
            raise self.source.error(
                line,
                f"the column {self.layout.called(DIALOG)} is empty; wanted the name of its "
                "dialog in every row (of merged cells only the first one holds it)",
            )
        return name

    def _begins(self, line: int, record: list[str]) -> bool:
        """True if the row is of another dialog than the row before."""
        name = self._dialog(line, record)
        if name == self.name:
            return False
        if name in self.ended:
            raise self.source.error(
                line,
                f"found another row of the dialog {shown(name)}, whose rows ended in line "
                f"{self.ended[name]:,}; wanted the rows of a dialog together: sort the table "
                f"by {self.layout.called(DIALOG)}",
            )
        return True

    def _said(self) -> list[SpeakerTurn]:
        """What the rows say; those of one turn and one speaker are one."""
        numbers = turns_of(self.source, self.layout, self.rows)
        said: list[SpeakerTurn] = []
        for rank, (line, record) in enumerate(self.rows):
            speaker = self.layout.cell(record, SPEAKER).strip() or None
            text = self.layout.cell(record, TEXT)
            number = numbers[rank] if numbers else rank
            last = said[-1] if said else None
            if last and (last.number, last.speaker) == (number, speaker):
                said[-1] = replace(last, words=f"{last.words}\n{text}")
            else:
                said.append(SpeakerTurn(line, speaker, text, number=number))
        return said

    def _check_length(self, line: int, record: Sequence[str]) -> None:
        wanted = len(self.layout.header)
        if len(record) != wanted:
            raise self.source.error(
                line,
                f"found {counted(len(record), 'field')}, the last one {shown(record[-1])}; "
                f"wanted {wanted}, as many as the header has columns (a field with "
                f"{shown(self.layout.delimiter)} in it stands in quotes)",
            )


def read(source: Source, how: ReadOptions) -> Iterator[DialogBlock]:
    """The dialogs of a table, in its order. What was found out about it is said at the end.

    Raises FormatError, with the line, for a header without a column of texts, a column that
    is not there or there twice, quotes that do not close, a row of more or fewer fields than
    the header, a row without its dialog or turn, rows of a dialog that stand apart, turns
    whose numbers fall, and a dialog of more than LINE_LIMIT characters.
    """
    lines = source.lines()
    number, text = _first(source, lines)
    separator = separator_of(text)
    if separator is not None:
        number, text = _first(source, lines)
    delimiter = separator or delimiter_of(text, how.columns)
    stands = delimiter == "\t" and quotes_stand(source, number, text)
    if stands:
        source.warnings.append(
            "quotation marks were kept as they stand: there are some that open a field and do "
            "not close it, and each line has its fields without them"
        )
    given = chain([text], (line for _, line in lines))
    records = _records(source, number, given, _Csv(delimiter, spaced(text, delimiter), stands))
    _, header = next(records)
    layout = layout_of(source, number, header, delimiter, how.columns)
    yield from DialogTable(source, layout).blocks(records)
    if not layout.plain:
        source.warnings.append(layout.told())


def _first(source: Source, lines: Iterator[tuple[int, str]]) -> tuple[int, str]:
    for number, text in lines:
        if text.strip():
            return number, text
    raise source.error(None, NO_LINE_YET)


@dataclass(frozen=True, slots=True)
class _Csv:
    """How fields are parted. spaced: a blank behind each delimiter is none of the field's.
    stands: quotation marks are text.
    """

    delimiter: str
    spaced: bool
    stands: bool


def _records(source: Source, first: int, lines: Iterator[str], how: _Csv) -> Iterator[Record]:
    """Each record with the line on which it starts; the lines begin with line `first`."""
    csv.field_size_limit(max(csv.field_size_limit(), LINE_LIMIT))
    reader = csv.reader(
        (text + "\n" for text in lines),
        delimiter=how.delimiter,
        skipinitialspace=how.spaced,
        quoting=csv.QUOTE_NONE if how.stands else csv.QUOTE_MINIMAL,
        strict=True,
    )
    line = first
    try:
        for record in reader:
            yield line, record
            line = first + reader.line_num
    except csv.Error as error:
        raise _complaint(source, line, error) from error


def _complaint(source: Source, line: int, error: csv.Error) -> FormatError:
    said = str(error)
    what = next((ours for theirs, ours in COMPLAINTS if theirs in said), f"is no CSV ({said})")
    return source.error(line, f"{what}; wanted fields quoted as RFC 4180 has it")


def _sniff(first: First) -> str | None:
    layout = sniffed_layout(first)
    return None if layout is None else f"its header has the columns {layout.columns}"


TABLE = Format(
    name="table",
    extensions=(".csv", ".tsv"),
    description=(
        "a CSV or TSV file, one turn a row; columns text, speaker, turn, dialog by their names "
        "in the header or by --columns"
    ),
    example='kitchen,2,Ben,"No, three."',
    read=read,
    sniff=_sniff,
    labelled=False,
    settings=frozenset({"columns", "encoding", "window"}),
)
