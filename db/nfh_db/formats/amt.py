"""`amt`: the results of a Mechanical Turk batch, as the requester downloads them.

A CSV file with a header; one row is one assignment, that is one worker's answer to one
task. Columns are found by name. Fields may be quoted and then hold line breaks, commas and
doubled quotes (RFC 4180); the line of a row is the one on which it starts. What the columns
mean is read by `amt_values`, `amt_text`, `amt_anchors` and `amt_marks`; here the file only
becomes rows. The columns are those of the numeric fused-head task (Elazar and Goldberg
2019, crowdsourcing/amt.html of their repository) and of Mechanical Turk's own download.
"""

import csv
from collections.abc import Iterator, Sequence

from nfh_db.errors import FormatError
from nfh_db.formats.reading import LINE_LIMIT, NO_LINE_YET, Source
from nfh_db.formats.rows import AssignmentRow
from nfh_db.formats.wording import counted, shown

WORKER = "WorkerId"
CONTEXT = "Input.text_reduced"
TARGET = "Input.target"
CODE = "Answer.ans"
MARKED = "Answer.reference"

COLUMNS = {
    "worker": WORKER,
    "context": CONTEXT,
    "target": TARGET,
    "code": CODE,
    "marked": MARKED,
    "offset": "Answer.offset",
    "other": "Answer.other",
    "comment": "Answer.comment",
    "html": "Input.text_reduced_html",
    "start": "Input.target_start_index",
    "end": "Input.target_end_index",
    "sentence": "Input.target_sentence",
    "seconds": "WorkTimeInSeconds",
    "submitted": "SubmitTime",
    "status": "AssignmentStatus",
}
"""The columns that are read, by what they are called here; all others are passed over."""

NEEDED = (WORKER, CONTEXT, TARGET, CODE, MARKED)
LEFT_EMPTY = frozenset({"Approve", "Reject"})
"""The requester fills these: the download names them, and its rows end before them."""

HEADER = ",".join((*NEEDED, "Answer.offset"))
"""The header that the registry's example line goes with."""

COMPLAINTS = (
    ("unexpected end of data", "a quote that opens in this row is never closed"),
    ("field larger", f"a field of this row is longer than {LINE_LIMIT:,} characters"),
    ("expected after", "a closing quote is followed by more text than a comma"),
    ("new-line character", "a carriage return stands outside quotes"),
)
"""What Python's csv module says, and what that means."""


def read(source: Source) -> Iterator[AssignmentRow]:
    """The rows of a batch, in the order of the file.

    Raises FormatError, with the line, for a header that lacks a needed column or names one
    twice, for quotes that do not close, and for a row of more or fewer fields than the
    header. Empty lines between rows are passed over.
    """
    records = _records(source)
    try:
        line, header = next(records)
    except StopIteration:
        raise source.error(None, NO_LINE_YET) from None
    names = [name.strip() for name in header]
    columns = _columns(source, line, names)
    any_row = False
    for line, record in records:
        _check_length(source, line, names, record)
        any_row = True
        fields = {
            field: record[place] if place is not None and place < len(record) else ""
            for field, place in columns.items()
        }
        yield AssignmentRow(line=line, **fields)
    if not any_row:
        raise source.error(None, "holds a header and nothing else; wanted at least one row")


def is_header(text: str) -> bool:
    """True if a line is the header of such a batch."""
    try:
        names = {name.strip() for name in next(csv.reader([text]), [])}
    except csv.Error:
        return False
    return WORKER in names and not names.isdisjoint({CODE, TARGET})


def _records(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not empty, with the line on which it starts."""
    csv.field_size_limit(max(csv.field_size_limit(), LINE_LIMIT))
    reader = csv.reader((text + "\n" for _, text in source.lines()), strict=True)
    line = 1
    try:
        for record in reader:
            if record and (len(record) > 1 or record[0].strip()):
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise _complaint(source, line, error) from error


def _complaint(source: Source, line: int, error: csv.Error) -> FormatError:
    said = str(error)
    what = next((ours for theirs, ours in COMPLAINTS if theirs in said), f"is no CSV ({said})")
    return source.error(line, f"{what}; wanted fields quoted as RFC 4180 has it")


def _columns(source: Source, line: int, names: Sequence[str]) -> dict[str, int | None]:
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise source.error(
            line,
            f"found no column {', '.join(missing)}; wanted a header with at least "
            f"{', '.join(NEEDED)}",
        )
    for name in COLUMNS.values():
        if names.count(name) > 1:
            raise source.error(line, f"found the column {name} twice, wanted each once")
    return {
        field: names.index(name) if name in names else None for field, name in COLUMNS.items()
    }


def _check_length(
    source: Source, line: int, names: Sequence[str], record: Sequence[str]
) -> None:
    """Raise FormatError unless a record has a field for each column that may not be left."""
    left = names[len(record) :]
    if len(record) <= len(names) and LEFT_EMPTY.issuperset(left):
        return
    raise source.error(
        line,
        f"found {counted(len(record), 'field')}, the last one {shown(record[-1])}; wanted "
        f"{len(names)}, as many as the header has columns",
    )
