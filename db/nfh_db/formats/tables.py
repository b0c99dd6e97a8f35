"""`table`: dialogs in a CSV or TSV file with a header, one turn a row.

A column is found by its name in the header, or by what `--columns` says: see `table_layout`.
Fields may be quoted, and then hold the delimiter, line breaks and doubled quotes, as RFC 4180
has it (https://www.rfc-editor.org/rfc/rfc4180). The line of a row is that on which it starts.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from nfh_db.errors import FormatError
from nfh_db.formats.format import First, Format
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import LINE_LIMIT, NO_LINE_YET, Source
from nfh_db.formats.rows import DialogBlock
from nfh_db.formats.spoken import Said, block_of, too_long
from nfh_db.formats.table_layout import (
    DIALOG,
    SPEAKER,
    TEXT,
    Layout,
    delimiter_of,
    layout_of,
    quotes_stand,
    separator_of,
    sniffed_layout,
    spaced,
    turns_of,
)
from nfh_db.formats.wording import counted, shown

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
class Table:
    """A table being read: the rows of the dialog that is not yet whole, and what was seen.

    ended: the line of the last row of each dialog that is whole.
    """

    source: Source
    layout: Layout
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
        yield from block_of(self.source, self._said(), self._how_to_part())
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

    def _said(self) -> list[Said]:
        """What the rows say; those of one turn and one speaker are one."""
        numbers = turns_of(self.source, self.layout, self.rows)
        said: list[Said] = []
        for rank, (line, record) in enumerate(self.rows):
            speaker = self.layout.cell(record, SPEAKER).strip() or None
            text = self.layout.cell(record, TEXT)
            number = numbers[rank] if numbers else rank
            last = said[-1] if said else None
            if last and (last.number, last.speaker) == (number, speaker):
                said[-1] = replace(last, words=f"{last.words}\n{text}")
            else:
                said.append(Said(line, speaker, text, number=number))
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


def read(source: Source, how: Reading) -> Iterator[DialogBlock]:
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
    yield from Table(source, layout).blocks(records)
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
