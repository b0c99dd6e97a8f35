"""Format `table`: dialogs in a CSV or TSV file with a header, one turn a row.

A column is found by its name in the header, in any case: by those in NAMES, or by `--columns`,
which then names all columns except that of the texts. Several columns may name a dialog
together. The delimiter is the one that a first line `sep=;` names, as spreadsheet programs
write it; else the one of DELIMITERS by which the header has most of the columns. Quotes are as
in RFC 4180 (https://www.rfc-editor.org/rfc/rfc4180). The line of a row is the one on which it
starts.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, pairwise
from operator import itemgetter

from nfh_db.formats import amt, nfh
from nfh_db.formats.base import First, Format
from nfh_db.formats.dialog import SpeakerTurn, scene_block, too_long
from nfh_db.formats.files import LINE_LIMIT, NO_LINE_YET, CsvRecord, Source, csv_records
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.messages import counted, shown

# --- the layout of a table --------------------------------------------------------------------

TEXT, SPEAKER, TURN, DIALOG = "text", "speaker", "turn", "dialog"

NAMES: Mapping[str, tuple[str, ...]] = {
    TEXT: (
        "text", "utterance", "utterance text", "turn text", "line text", "message", "content",
        "words", "sentence", "speech", "transcript", "dialogue", "dialog", "line",
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
"""Names of columns; the first that a header has counts. "_", "-" and a space are equivalent. A
column of texts is none of the others.
"""

DOUBTFUL = frozenset({"dialogue", "dialog", "line"})
"""Names of columns of texts that may also be columns of numbers."""

ABOVE = frozenset(
    f"{what}{more}"
    for what in ("season", "episode", "file", "movie")
    for more in ("", " id", " no", " number", " name")
)
"""Names of columns that name a dialog together with the column of dialogs: scenes are counted
again in each episode.
"""

DELIMITERS: Mapping[str, str] = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
TABULAR = (".csv", ".tsv", ".tab")

SEPARATOR = re.compile(r'"?sep=([^\w"])"?', re.IGNORECASE)
QUOTED = re.compile(r'"(?:[^"]|"")*"')
NUMBER = re.compile(r"[+-]?\d{1,15}(\.0+)?", re.ASCII)
"""An integer, also in the form of spreadsheets for a column with gaps: "3.0"."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The delimiter and the columns of a table."""

    delimiter: str
    header: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]
    """Indices of our columns in the header: one, but for dialogs."""
    given: frozenset[str] = frozenset()
    """Columns that the user named; the others were found by their names."""

    def cell(self, record: Sequence[str], column: str) -> str:
        """A field of a record; "" if the table lacks the column."""
        return record[self.places[column][0]] if column in self.places else ""

    def called(self, column: str) -> str:
        """The name of one of our columns in the header, for a message."""
        return " and ".join(shown(self.header[place]) for place in self.places[column])

    @property
    def plain(self) -> bool:
        """The delimiter and the names of columns are the usual ones, or given."""
        return self.delimiter in ",\t" and all(
            column in self.given or [_key(self.header[place]) for place in places] == [column]
            for column, places in self.places.items()
        )

    def sentence(self) -> str:
        """The delimiter and the columns in words."""
        how = DELIMITERS.get(self.delimiter, shown(self.delimiter))
        columns = ", ".join(f"{column} is {self.called(column)}" for column in self.places)
        return f"fields are separated by {how}; {columns}"


def separator_of(text: str) -> str | None:
    """The delimiter that a first line names; None if the line is a header."""
    match = SEPARATOR.fullmatch(text.strip(" \r"))
    return None if match is None else match[1]


def quotes_are_text(source: Source, first: int, header: str) -> bool:
    """True if the quotation marks in a table with tabs are part of the texts: a field opens
    with one and does not close it, and all lines have as many fields as the header. first: its
    line.
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
    source: Source, line: int, header: Sequence[str], delimiter: str, given: Mapping[str, str]
) -> TableLayout:
    """The layout of a table with this header. given: the user's names of our columns.

    Raises FormatError if a given column or the column of texts is missing, or is repeated.
    """
    layout = _layout(header, delimiter, given)
    names = ", ".join(map(shown, layout.header))
    for column, name in given.items():
        if column not in layout.places:
            raise source.error(
                line, f"found no column {shown(name)} for {column}; the header has {names}"
            )
    if TEXT not in layout.places:
        raise source.error(
            line,
            f"found no column of texts; the header has {names}; name it with --columns "
            "text=NAME (speaker=, turn= and dialog= name the others)",
        )
    keys = [_key(name) for name in layout.header]
    for place in chain.from_iterable(layout.places.values()):
        if keys.count(keys[place]) > 1:
            name = shown(layout.header[place])
            raise source.error(line, f"found the column {name} twice, wanted it once")
    return layout


def sniffed_layout(first: First) -> TableLayout | None:
    """The layout of a table that is certain to be of dialogs; else None."""
    is_ident = not set(nfh.COLUMNS[1:]).isdisjoint(first.text.split())
    if first.value is not None or amt.is_header(first.text) or is_ident:
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


def delimiter_of(text: str, given: Mapping[str, str]) -> str:
    """The delimiter by which a header has most of our columns, and then most fields."""
    layouts = [_by(text, given, one) for one in DELIMITERS]
    return max(layouts, key=lambda one: (len(one.places), len(one.header))).delimiter


def _by(text: str, given: Mapping[str, str], delimiter: str) -> TableLayout:
    try:
        header = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        header = []
    return _layout(header, delimiter, given)


def _layout(header: Sequence[str], delimiter: str, given: Mapping[str, str]) -> TableLayout:
    keys = [_key(name) for name in header]
    places: dict[str, tuple[int, ...]] = {}
    for column, names in NAMES.items():
        named = DOUBTFUL.intersection(map(_key, given.values()))
        taken = {*named, *(keys[at] for at in places.get(TEXT, ()))}
        usual = [name for name in names if name not in taken]
        by_name = usual if not given or column == TEXT else ()
        wanted = (_key(given[column]),) if column in given else by_name
        found = [name for name in wanted if name in keys][:1]
        if column == DIALOG and column in given and not found:
            found = [_key(name) for name in given[column].split("+")]
        elif column == DIALOG and column not in given and found:
            found = [name for name in keys if name in {*ABOVE, *found}]
        if found and set(found) <= set(keys):
            places[column] = tuple(map(keys.index, found))
    return TableLayout(delimiter, tuple(header), places, frozenset(given))


def _key(name: str) -> str:
    return " ".join(re.sub(r"[_\-]", " ", name).split()).casefold()


# --- the reader -------------------------------------------------------------------------------

CSV_COMPLAINTS = {
    "expected after": "a closing quote is followed by more than the end of its field",
    "new-line character": "a carriage return is outside quotes, where no line ends",
}
"""Messages of Python's csv module, and what they mean."""

PART_BY_COLUMN = (
    "name the columns that distinguish dialogs, with --columns dialog=NAME or dialog=NAME+NAME"
)
PART_BY_ROW = f"{PART_BY_COLUMN}, or put an empty row between them"


@dataclass(slots=True)
class DialogTable:
    """A table that is being read."""

    source: Source
    layout: TableLayout
    rows: list[CsvRecord] = field(default_factory=list)
    """Of the current dialog."""
    size: int = 0
    count: int = 0
    """Rows that are not empty."""
    numeric: bool = True
    """All texts so far are numbers."""
    name: tuple[str, ...] = ()
    """Of the current dialog: a cell of each column that names dialogs."""
    ended: dict[tuple[str, ...], int] = field(default_factory=dict)
    """The line of the last row of each dialog that has ended."""

    @property
    def named(self) -> bool:
        """The table has a column of dialogs."""
        return DIALOG in self.layout.places

    def blocks(self, records: Iterator[CsvRecord]) -> Iterator[DialogBlock]:
        """The dialogs, in the order of the file. Raises FormatError."""
        for line, record in records:
            if not any(cell.strip() for cell in record):
                if not self.named:
                    yield from self._taken()
                continue
            self._check_length(line, record)
            self.count += 1
            self.numeric = self.numeric and NUMBER.fullmatch(self._text(record)) is not None
            if self.named and self._begins(line, record):
                yield from self._taken()
                self.name = self._dialog(line, record)
            self._add(line, record)
        if not self.count:
            raise self.source.error(None, "has only a header; wanted at least one row")
        is_doubtful = TEXT not in self.layout.given and (
            _key(self.layout.header[self.layout.places[TEXT][0]]) in DOUBTFUL
        )
        if self.numeric and is_doubtful:
            raise self.source.error(
                None,
                f"the column {self.layout.called(TEXT)} holds only numbers; name the column "
                "of the texts with --columns text=NAME",
            )
        yield from self._taken()

    def _text(self, record: Sequence[str]) -> str:
        return self.layout.cell(record, TEXT).strip()

    def _add(self, line: int, record: list[str]) -> None:
        self.rows.append((line, record))
        self.size += len(self.layout.cell(record, TEXT)) + 1
        if self.size > LINE_LIMIT:
            hint = PART_BY_COLUMN if self.named else PART_BY_ROW
            raise too_long(self.source, self.rows[0][0], hint)

    def _taken(self) -> Iterator[DialogBlock]:
        """The block of the current rows, which are removed."""
        if not self.rows:
            return
        hint = PART_BY_COLUMN if self.named else PART_BY_ROW
        yield from scene_block(self.source, self._turns(), hint)
        if self.name:
            self.ended[self.name] = self.rows[-1][0]
        self.rows, self.size = [], 0

    def _dialog(self, line: int, record: list[str]) -> tuple[str, ...]:
        """The name of a row's dialog. Raises FormatError if a part of it is empty."""
        places = self.layout.places[DIALOG]
        name = tuple(record[place].strip() for place in places)
        if "" in name:
            raise self.source.error(
                line,
                f"the column {shown(self.layout.header[places[name.index('')]])} is empty; "
                "wanted the name of its dialog in every row (of merged cells only the first "
                "holds it); --columns says which columns name a dialog",
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
                f"found another row of the dialog {' and '.join(map(shown, name))} "
                f"({self.layout.called(DIALOG)}), whose rows ended in line "
                f"{self.ended[name]:,}; wanted the rows of a dialog together. Where it is "
                f"another dialog, {PART_BY_COLUMN}",
            )
        return True

    def _turns(self) -> list[SpeakerTurn]:
        """The turns of the rows; rows of one turn and one speaker are joined."""
        numbers = self._turn_numbers()
        turns: list[SpeakerTurn] = []
        for rank, (line, record) in enumerate(self.rows):
            speaker = self.layout.cell(record, SPEAKER).strip() or None
            text = self.layout.cell(record, TEXT)
            number = numbers[rank] if numbers else rank
            last = turns[-1] if turns else None
            if last and (last.number, last.speaker) == (number, speaker):
                turns[-1] = replace(last, words=f"{last.words}\n{text}")
            else:
                turns.append(SpeakerTurn(line, speaker, text, number=number))
        return turns

    def _turn_numbers(self) -> list[int]:
        """The number of each row's turn, equal for rows of one turn; [] without a column of
        turns.

        Integers are used as they are; other names of turns are numbered. Raises FormatError for
        a number that falls, a name that comes again, and an empty field.
        """
        if TURN not in self.layout.places:
            return []
        called = self.layout.called(TURN)
        names = [(line, self.layout.cell(record, TURN).strip()) for line, record in self.rows]
        for line, name in names:
            if not name:
                raise self.source.error(
                    line,
                    f"the column {called} is empty; wanted the turn's number or name in every "
                    "row",
                )
        if all(NUMBER.fullmatch(name) for _, name in names):
            numbers = [int(name.partition(".")[0]) for _, name in names]
            for (line, _), (before, number) in zip(names[1:], pairwise(numbers), strict=True):
                if number < before:
                    raise self.source.error(
                        line,
                        f"found turn {number} after turn {before} of the same dialog "
                        f"({called}); wanted its turns in order. Where another dialog begins, "
                        + (PART_BY_COLUMN if self.named else PART_BY_ROW),
                    )
            return numbers
        ranks: dict[str, int] = {}
        for name, group in groupby(names, itemgetter(1)):
            if name in ranks:
                raise self.source.error(
                    next(group)[0],
                    f"found the turn {shown(name)} again, after another one; wanted the rows "
                    f"of a turn together ({called})",
                )
            ranks[name] = len(ranks)
        return [ranks[name] for _, name in names]

    def _check_length(self, line: int, record: Sequence[str]) -> None:
        wanted = len(self.layout.header)
        if len(record) != wanted:
            raise self.source.error(
                line,
                f"found {counted(len(record), 'field')}, the last one {shown(record[-1])}; "
                f"wanted {wanted}, as many as the header has columns (a field with "
                f"{shown(self.layout.delimiter)} in it needs quotes)",
            )


def read(source: Source, how: ReadOptions) -> Iterator[DialogBlock]:
    """The dialogs of a table, in order. A warning states the layout unless it is the usual one.

    Raises FormatError, with the line, for a missing or repeated column, unclosed quotes, a row
    of more or fewer fields than the header, a row without its dialog or turn, rows of a dialog
    that are apart, turns whose numbers fall, and a dialog of more than LINE_LIMIT characters.
    """
    lines = source.lines()
    number, text = _first(source, lines)
    separator = separator_of(text)
    if separator is not None:
        number, text = _first(source, lines)
    delimiter = separator or delimiter_of(text, how.columns)
    no_quotes = delimiter == "\t" and quotes_are_text(source, number, text)
    if no_quotes:
        source.warnings.append(
            "quotation marks were kept as text: some open a field and do not close it, and "
            "each line has all its fields without them"
        )
    others = text.split(delimiter)[1:]
    dialect = {
        "delimiter": delimiter,
        # Whether a space follows each delimiter, which is then no part of the field.
        "skipinitialspace": bool(others) and all(name.startswith(" ") for name in others),
        "quoting": csv.QUOTE_NONE if no_quotes else csv.QUOTE_MINIMAL,
    }
    rest = chain([text], (line for _, line in lines))
    records = csv_records(source, rest, number, CSV_COMPLAINTS, dialect)
    _, header = next(records)
    layout = layout_of(source, number, header, delimiter, how.columns)
    table = DialogTable(source, layout)
    yield from table.blocks(records)
    if not layout.plain:
        source.warnings.append(layout.sentence())
    if set(layout.places) == {TEXT} and table.count > 1:
        source.warnings.append(
            f"no column names dialogs or speakers: {counted(table.count, 'row')} were read as "
            "turns of one dialog, or of several with an empty row between; where each row is a "
            "text of its own, --window 0,0 makes passages of the rows with a number"
        )


def _first(source: Source, lines: Iterator[tuple[int, str]]) -> tuple[int, str]:
    for number, text in lines:
        if text.strip():
            return number, text
    raise source.error(None, NO_LINE_YET)


def _sniff(first: First) -> str | None:
    layout = sniffed_layout(first)
    if layout is None:
        return None
    return f"its header has the columns {', '.join(map(layout.called, layout.places))}"


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
