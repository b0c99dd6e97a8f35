"""Rows of the published data set in JSON: an object a line, a list, or the data set viewer's.

The viewer gives `{"rows": [{"row_idx": 0, "row": {...}, "truncated_cells": []}],
"num_rows_total": 1}`, of https://huggingface.co/docs/dataset-viewer/rows.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from nfh_db.formats.fields import decode
from nfh_db.formats.folders import Folder, Member
from nfh_db.formats.json_items import first_keys, json_items
from nfh_db.formats.json_parts import decode_parts
from nfh_db.formats.reading import Source
from nfh_db.formats.wording import counted

Numbered = Iterator[tuple[int, dict[str, Any]]]

LISTED = re.compile(r"\s*+(?:\[|\{[ \t\r]*\n)")
"""How a file starts whose rows are no lines: a list, or an object over several lines."""

PAGED = re.compile(r'"rows"\s*:\s*\[\s*\{[^{}]*?"row"\s*:\s*(?=\{)')
"""What stands before the first row of a page of the data set viewer."""

LOOKED_AT = 64 * 1024


def row_keys(start: str) -> tuple[str, ...]:
    """The keys of a file's first row, as far as its start tells."""
    keys = first_keys(start)
    paged = PAGED.search(start) if "rows" in keys else None
    return first_keys(start[paged.end() :]) if paged else keys


def is_lines(start: str) -> bool:
    """True of a file whose rows are its lines, as its start tells."""
    return not (LISTED.match(start) or "rows" in first_keys(start))


def json_rows(source: Source) -> Numbered:
    """The rows of a file, with their lines; in a list they are numbered from 1 instead.

    Raises FormatError.
    """
    rows = _line_rows if is_lines(source.start(LOOKED_AT)) else _listed_rows
    yield from rows(source)


def member_rows(folder: Folder, name: str) -> Numbered:
    """Those of a member. Raises FormatError."""
    member = Member(folder, name)
    if is_lines(member.start(LOOKED_AT)):
        yield from _line_rows(member)
        return
    # A list is read from a file of its own: it may be one line, longer than lines may be.
    with NamedTemporaryFile(suffix=".json") as file:
        with folder.open(name) as packed:
            shutil.copyfileobj(packed, file)
        file.flush()
        alone = Source(Path(file.name))
        alone.name, alone.warnings = member.name, member.warnings
        yield from _listed_rows(alone)


def _line_rows(source: Source) -> Numbered:
    for number, text in source.rows():
        try:
            value = decode(text)
        except ValueError as error:
            raise source.error(number, f"the line {error}; wanted a JSON object") from error
        if not isinstance(value, dict):
            raise source.error(number, "the line is no JSON object; wanted one")
        yield number, value


def _listed_rows(source: Source) -> Numbered:
    number = 0
    for rank, line, text in json_items(source, _checked):
        try:
            value = decode(text)
        except ValueError as error:
            raise source.error(line, f"item {rank} {error}; wanted a JSON object") from error
        if not isinstance(value, dict):
            raise source.error(line, f"item {rank} is no JSON object; wanted one")
        for row in _page(source, line, value) if "rows" in value else (value,):
            number += 1
            yield number, row


def _checked(text: str) -> str:
    decode_parts(text)
    return text


def _page(source: Source, line: int, page: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a page of the data set viewer. Raises FormatError."""
    rows = page["rows"] if isinstance(page["rows"], list) else []
    for rank, one in enumerate(rows, 1):
        row = one.get("row") if isinstance(one, dict) else None
        if not isinstance(row, dict):
            raise source.error(line, f'row {rank}: wanted an object with the key "row"')
        cut = one.get("truncated_cells")
        if cut:
            raise source.error(
                line,
                f"row {rank}: the data set viewer cut its cells ({cut}); wanted whole rows: "
                "take the Parquet files",
            )
        yield row
    if not rows:
        raise source.error(line, 'found no row under the key "rows"; wanted a list of them')
    total = page.get("num_rows_total")
    if isinstance(total, int) and total > len(rows):
        source.warnings.append(
            f"holds {counted(len(rows), 'row')} of the {total:,} that the data set has"
        )
