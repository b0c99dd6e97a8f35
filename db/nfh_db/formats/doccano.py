"""`doccano`: JSON lines of doccano, one file or a folder or zip of one for each annotator."""

import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from nfh_db.errors import FormatError
from nfh_db.formats.doccano_form import MARKS
from nfh_db.formats.doccano_read import LINES, read
from nfh_db.formats.doccano_write import DoccanoWriter
from nfh_db.formats.folders import DAMAGED, Member
from nfh_db.formats.format import LOOKED_AT, First, Format, How, Takes, holds
from nfh_db.formats.json_rows import first_value

MEMBERS = 50
ROWS = 200
"""How many files, and lines of each, are looked into."""

TRIPLE = re.compile(r'"labels?"\s*:\s*\[\s*\[\s*\d+\s*,\s*\d+\s*,\s*"')


def sniff(first: First) -> str | None:
    """Why a file or folder looks like lines of doccano."""
    if first.folder is None:
        value = first_value(first)
        reason = _like(value)
        if reason is None and _has_text(value) and TRIPLE.search(first.start):
            reason = 'spans as [start, end, label] under "label"'
        return reason and f"its items are JSON objects with a text and {reason}"
    for name in islice(first.folder.named(LINES), MEMBERS):
        for value in _values(Member(first.folder, name)):
            reason = _like(value)
            if reason is not None:
                return f"it holds {LINES} files of JSON objects with a text and {reason}"
    return None


def _values(member: Member) -> Iterator[dict[str, object]]:
    """Objects of the lines with which a member begins; the file of somebody who did nothing
    has none, and the first texts of others may have no label.
    """
    try:
        start = member.start(LOOKED_AT)
    except (FormatError, *DAMAGED):
        return
    for line in islice(start.split("\n"), ROWS):
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _has_text(value: dict[str, object] | None) -> bool:
    if value is None or "format" in value:
        return False
    return isinstance(value.get("text", value.get("data")), str)


def _like(value: dict[str, object] | None) -> str | None:
    if value is None or not _has_text(value):
        return None
    if _objects(value.get("entities"), "start_offset"):
        return '"entities" with offsets'
    for key in MARKS:
        label = value.get(key)
        if isinstance(label, list) and label and all(isinstance(one, list) for one in label):
            return f'spans as [start, end, label] under "{key}"'
        if isinstance(label, list) and isinstance(value.get("Comments"), list):
            return f'"{key}" and "Comments"'
    return None


def _objects(values: object, key: str) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, dict) and key in value for value in values
    )


DOCCANO = Format(
    name="doccano",
    extensions=(".jsonl", ".json"),
    description=(
        "JSON lines of doccano: a text with entities and relations; a file of gold, or a "
        "folder or zip with one for each annotator"
    ),
    example=(
        '{"text":"No, three.","entities":[{"id":0,"label":"AGE","start_offset":4,'
        '"end_offset":9}],"relations":[]}'
    ),
    read=read,
    sniff=sniff,
    chunks=DoccanoWriter,
    members=DoccanoWriter,
    carries_split=True,
    takes=(Takes.TEXT, Takes.FOLDER),
    holds=holds(
        How.BESIDE,
        KIND=How.OWN,
        HEADS=How.OWN,
        RELATION=How.OWN,
        ORIGIN=How.OWN,
        SORT=How.OWN,
        GOLD=How.OWN,
    ),
    settings=frozenset({"map", "offsets", "window"}),
)
