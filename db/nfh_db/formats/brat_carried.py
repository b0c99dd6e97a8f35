"""What a brat project says besides numbers: its lines of other types, and spans in pieces.

They are kept under "brat" in the labels of the first number of a document, ids replaced by
what they stand for, and written back with new ids. A line about a mark that is gone by then is
left out.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from nfh_db.formats.brat_ann import Standoff
from nfh_db.formats.brat_side import By, Party
from nfh_db.formats.options import Span
from nfh_db.records import ExportRecord

KEY = "brat"
AN_ID = re.compile(r"(?:(?<=[\s:])|^)[TREAMN#]\d+\S*(?=\s|$)")
A_REFERENCE = re.compile(r"@(\d+)(?:-(\d+))?(?=\s|$)")


class Line(msgspec.Struct, frozen=True, array_like=True):
    """A line. prefix: of its id. data: with "@3" for the id of the fourth line of the part,
    "@12-18" for that of a span of ours. tail: what stands behind the second tab.
    """

    prefix: str
    data: str
    tail: str | None = None


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one folder's document holds besides. torn: spans of several fragments."""

    by: By | None = None
    lines: tuple[Line, ...] = ()
    torn: tuple[tuple[Span, ...], ...] = ()

    @property
    def party(self) -> Party:
        """Whose it is."""
        by = self.by
        return Party(None) if by is None else Party(by.name, by.role, by.type)


# --- in -------------------------------------------------------------------------------------


def part_of(
    party: Party,
    content: str,
    found: Standoff,
    unused: Collection[int],
    own: Mapping[str, Span],
    pieces: Mapping[str, tuple[Span, ...]],
    torn: Sequence[tuple[Span, ...]],
) -> Part | None:
    """What a document holds besides. unused: lines, from 1. own: spans of ours, by id. pieces:
    fragments of all spans in code points, whatever the file counts.
    """
    rows = content.split("\n")
    raw = [rows[number - 1].removesuffix("\r") for number in sorted(unused)]
    ids = [line.partition("\t")[0] for line in raw]
    spans = {event: own[t] for event, t in found.triggers.items() if t in own} | {**own}
    names = {id_: f"@{start}-{end}" for id_, (start, end) in spans.items()}
    names |= {id_: f"@{rank}" for rank, id_ in enumerate(ids)}
    lines = []
    for line in raw:
        id_, _, rest = line.partition("\t")
        data, tab, tail = rest.partition("\t")
        if id_ in pieces:
            places = ";".join(f"{start} {end}" for start, end in pieces[id_])
            data = f"{found.spans[id_].label} {places}"
        prefix = id_.rstrip("0123456789") if id_[-1:].isdigit() else id_[:1]
        named = AN_ID.sub(lambda match: names.get(match[0], match[0]), data)
        lines.append(Line(prefix, named, tail if tab else None))
    if not lines and not torn:
        return None
    kind: Any = party.type
    by = None if party.name is None else By(party.name, party.role, kind)
    return Part(by, tuple(lines), tuple(torn))


def labels_of(parts: Sequence[Part]) -> str | None:
    """The labels that keep parts; None for none."""
    if not parts:
        return None
    return json.dumps({KEY: msgspec.to_builtins(parts)}, ensure_ascii=False)


# --- out ------------------------------------------------------------------------------------


def parts_in(records: Iterable[ExportRecord]) -> list[Part]:
    """The parts that the records of a passage carry."""
    found: list[Part] = []
    for record in records:
        if record.carried and f'"{KEY}"' in record.carried:
            content = json.loads(record.carried)
            try:
                parts = msgspec.convert(content.get(KEY), list[Part])
            except (AttributeError, msgspec.ValidationError):
                continue
            # Numbers that were found in a dialog carry the same parts, each of them.
            found += [part for part in parts if part not in found]
    return found


def lines_of(part: Part, ids: Counter[str], own: Mapping[Span, str]) -> list[str]:
    """The lines of a part with ids that are free. own: the ids of our spans."""
    fresh: list[str | None] = []
    for line in part.lines:
        ids[line.prefix] += 1
        fresh.append("*" if line.prefix == "*" else f"{line.prefix}{ids[line.prefix]}")
    gone = True
    while gone:
        gone = False
        for rank, line in enumerate(part.lines):
            if fresh[rank] is not None and _data(line.data, fresh, own) is None:
                fresh[rank], gone = None, True
    found = []
    for id_, line in zip(fresh, part.lines, strict=True):
        data = _data(line.data, fresh, own)
        if id_ is not None and data is not None:
            tail = "" if line.tail is None else f"\t{line.tail}"
            found.append(f"{id_}\t{data}{tail}\n")
    return found


def _data(data: str, fresh: Sequence[str | None], own: Mapping[Span, str]) -> str | None:
    """A line's data with ids; None where one of them is gone."""
    lost = False

    def name(match: "re.Match[str]") -> str:
        nonlocal lost
        first, last = match.groups()
        if last is None:
            found = fresh[int(first)] if int(first) < len(fresh) else None
        else:
            found = own.get((int(first), int(last)))
        lost |= found is None
        return found or ""

    named = A_REFERENCE.sub(name, data)
    return None if lost else named
