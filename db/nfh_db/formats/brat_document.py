"""The files of a brat document: its text and the unit of its offsets, the lines of its `.ann`
file, the lines that are carried, and the side file `NAME.nfh.json`.

Lines of an `.ann` file:

    T1<TAB>HEAD 12 18<TAB>months          a span; "12 18;25 30" of several fragments
    R1<TAB>HEAD Arg1:T2 Arg2:T1           a relation of two spans
    E1<TAB>YEAR:T3 Theme:T4               an event: its trigger, and arguments by role
    *<TAB>Equiv T1 T2                     spans that are equivalent
    A1<TAB>Skip T1                        an attribute, with or without a value; M is the old A
    N1<TAB>Reference T1 kb:12<TAB>name    an entry of a data base
    #1<TAB>AnnotatorNotes T1<TAB>words    a note

Offsets are code points of the `.txt` file from 0, ends exclusive; the text of a span's
fragments is joined by one space (brat standoff format, https://brat.nlplab.org/standoff.html).
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Literal

import msgspec

from nfh_db.formats.fields import A_NAME, is_a_name
from nfh_db.formats.files import SPLITS, Folder
from nfh_db.formats.json_stream import content_in
from nfh_db.formats.rows import Offsets, Span
from nfh_db.formats.spans import MarkError, SplitPairError, Units
from nfh_db.formats.stored_annotation import Restored, item_of, restored, stored
from nfh_db.messages import reason_of, shown, visible
from nfh_db.records import ExportRecord, FlagMark, Role, Vote
from nfh_db.serialization import TurnRow, turn_rows

ID = re.compile(r"[A-Za-z#]+\d+\S*")
FRAGMENTS = re.compile(r"\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*", re.ASCII)
NOTES = "AnnotatorNotes"
EQUIV = "Equiv"


class LineError(MarkError):
    """An invalid line. line: from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class TextBound:
    """A labelled span of one or more fragments, in the unit of the file."""

    line: int
    label: str
    fragments: tuple[Span, ...]
    surface: str | None
    """Its text, if the line states it."""


@dataclass(frozen=True, slots=True)
class Arc:
    """A relation, or an event's argument, between two ids."""

    line: int
    label: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a span, an event or a relation. value: "" for a binary attribute."""

    line: int
    name: str
    target: str
    value: str


@dataclass(frozen=True, slots=True)
class BratNote:
    """A note on an annotation."""

    line: int
    type: str
    target: str
    words: str


@dataclass(slots=True)
class Standoff:
    """The content of an `.ann` file."""

    spans: dict[str, TextBound] = field(default_factory=dict)
    arcs: list[Arc] = field(default_factory=list)
    equivs: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    """Line, type and members."""
    triggers: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The line and the span of each event."""
    attributes: list[Attribute] = field(default_factory=list)
    notes: list[BratNote] = field(default_factory=list)
    others: list[tuple[int, str]] = field(default_factory=list)
    """Lines that are only carried."""

    def span_of(self, id_: str) -> str:
        """The id of a span; for an event that of its trigger."""
        return self.triggers[id_][1] if id_ in self.triggers else id_


def parse(content: str) -> Standoff:
    """The content of an `.ann` file. Raises LineError for a line that brat would not read.

    A repeated line counts once; an id with two contents is refused.
    """
    found = Standoff()
    seen: dict[str, str] = {}
    for number, raw in enumerate(content.split("\n"), 1):
        line = raw.removesuffix("\r")
        if not line.strip():
            continue
        id_, tab, rest = line.partition("\t")
        if not tab or not (id_ == "*" or ID.fullmatch(id_)):
            raise LineError(number, f"found {shown(line)}, wanted an id such as T1 and a tab")
        if id_ != "*" and id_ in seen:
            if seen[id_] != rest:
                raise LineError(
                    number, f"the id {id_} occurs twice: {shown(seen[id_])} and {shown(rest)}"
                )
            continue
        seen[id_] = rest
        read = _READ.get(id_[0])
        if read is None:
            found.others.append((number, line))
        else:
            read(found, number, id_, rest)
    _check_targets(found)
    return found


def _span(found: Standoff, line: int, id_: str, rest: str) -> None:
    data, tab, surface = rest.partition("\t")
    label, _, places = data.strip().partition(" ")
    if not label or FRAGMENTS.fullmatch(places) is None:
        raise LineError(
            line, f"found {shown(data)}, wanted a type and offsets such as HEAD 12 18"
        )
    pairs = [tuple(map(int, pair.split(" "))) for pair in places.split(";")]
    fragments = tuple((start, end) for start, end in pairs)
    found.spans[id_] = TextBound(line, label, fragments, surface if tab else None)


def _relation(found: Standoff, line: int, id_: str, rest: str) -> None:  # noqa: ARG001
    parts = rest.partition("\t")[0].split()
    arguments = [part.partition(":") for part in parts[1:]]
    if len(arguments) != 2 or not all(role and id_ for role, _, id_ in arguments):
        raise LineError(
            line, f"found {shown(rest)}, wanted a relation such as HEAD Arg1:T1 Arg2:T2"
        )
    found.arcs.append(Arc(line, parts[0], arguments[0][2], arguments[1][2]))


def _event(found: Standoff, line: int, id_: str, rest: str) -> None:
    parts = [part.partition(":") for part in rest.partition("\t")[0].split()]
    if not parts or not all(role and target for role, _, target in parts):
        raise LineError(line, f"found {shown(rest)}, wanted an event such as YEAR:T1 Theme:T2")
    found.triggers[id_] = line, parts[0][2]
    for role, _, target in parts[1:]:
        # A second argument of a role is numbered: Theme, Theme2.
        found.arcs.append(Arc(line, role.rstrip("0123456789") or role, id_, target))


def _equiv(found: Standoff, line: int, id_: str, rest: str) -> None:  # noqa: ARG001
    label, *members = rest.partition("\t")[0].split()
    if len(members) < 2:
        raise LineError(line, f"found {shown(rest)}, wanted two ids or more: {EQUIV} T1 T2")
    found.equivs.append((line, label, tuple(members)))


def _attribute(found: Standoff, line: int, id_: str, rest: str) -> None:  # noqa: ARG001
    parts = rest.partition("\t")[0].split(None, 2)
    if len(parts) < 2:
        raise LineError(line, f"found {shown(rest)}, wanted an attribute such as Skip T1")
    found.attributes.append(Attribute(line, parts[0], parts[1], " ".join(parts[2:])))


def _note(found: Standoff, line: int, id_: str, rest: str) -> None:
    data, _, words = rest.partition("\t")
    parts = data.split()
    if len(parts) != 2:
        # A note on something other than an annotation.
        found.others.append((line, f"{id_}\t{rest}"))
        return
    found.notes.append(BratNote(line, parts[0], parts[1], words.strip()))


_READ: Mapping[str, Callable[[Standoff, int, str, str], None]] = {
    "T": _span,
    "R": _relation,
    "E": _event,
    "*": _equiv,
    "A": _attribute,
    "M": _attribute,
    "#": _note,
}


def _check_targets(found: Standoff) -> None:
    """Raise LineError for a link to an unknown id."""
    known = found.spans.keys() | found.triggers.keys()
    named = [(arc.line, id_) for arc in found.arcs for id_ in (arc.source, arc.target)]
    named += [(line, id_) for line, _, members in found.equivs for id_ in members]
    for line, id_ in named:
        if id_ not in known:
            raise LineError(line, f"names {shown(id_)}, which is not in the file")
    for event, (_, trigger) in found.triggers.items():
        if trigger not in found.spans:
            raise LineError(
                1, f"the trigger {shown(trigger)} of {event} is not a span of the file"
            )


# `NAME.nfh.json`, the side file of a brat document.
#
# It holds the passage's tokens and turns, and of each number what brat cannot express: times,
# head tokens, what was in view, the rule of the gold.

SUFFIX = ".nfh.json"
VERSION = "nfh-brat/1"
GOLD = "gold"
"""The folder of the gold."""

UNSAFE = re.compile(r"[^\w@+.-]")
"""Characters that some file systems do not accept in a folder's name."""


class Author(msgspec.Struct, frozen=True, array_like=True):
    """Whose answers a folder holds. In the place of a party, None stands for the gold."""

    name: str
    role: Role
    type: Literal["person", "model", "rule"]

    @classmethod
    def of(cls, vote: Vote) -> "Author":
        """Who gave an answer."""
        type_: Any = vote.type
        return cls(vote.annotator, vote.role, type_)

    @classmethod
    def annotator(cls, name: str) -> "Author":
        """A person in the role of an annotator."""
        return cls(name, Role.ANNOTATOR, "person")


class SideFile(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A side file."""

    format: Literal["nfh-brat/1"]
    folder: str
    """The folder to which it was written."""
    turns: tuple[TurnRow, ...]
    offsets: tuple[tuple[int, int], ...]
    items: tuple[dict[str, Any], ...]
    """StoredItems without turns and offsets."""
    by: Author | None = None
    """Whose folder it was."""
    replaced: tuple[tuple[int, str], ...] = ()
    """See `Replaced`."""


def side_bytes(
    folder: str, party: Author | None, records: Sequence[ExportRecord], replaced: "Replaced"
) -> bytes:
    """The side file of a folder's document, for the records of one passage."""
    passage = records[0].passage
    items = []
    for record in records:
        votes = [vote for vote in record.votes if Author.of(vote) == party]
        flags = own_flags(record, party)
        kept = stored(record, offsets=False, gold=party is None, votes=votes, flags=flags)
        items.append(msgspec.to_builtins(kept))
        del items[-1]["turns"]
    return msgspec.json.encode(
        SideFile(
            "nfh-brat/1",
            folder,
            turn_rows(passage.turns),
            tuple((t.start, t.end) for t in passage.tokens),
            tuple(items),
            party,
            replaced,
        )
    )


def own_flags(record: ExportRecord, party: Author | None) -> list[FlagMark]:
    """The flags of a record that are written to a party's folder."""
    if party is None:
        return []
    roles = {vote.role for vote in record.votes if vote.annotator == party.name}
    # Somebody who answered in both roles has two folders; the flags go to the annotator's.
    role = Role.ADJUDICATOR if roles == {Role.ADJUDICATOR} else Role.ANNOTATOR
    if party.role is not role:
        return []
    return [flag for flag in record.flags if flag.annotator == party.name]


def side_of(content: bytes) -> SideFile:
    """Decode a side file. Raises MarkError."""
    try:
        return msgspec.json.decode(content, type=SideFile)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MarkError(
            f"is not a side file of this version ({VERSION}): {reason_of(error)}"
        ) from error


def kept_items(side: SideFile, text: str) -> dict[tuple[int, int], Restored]:
    """The stored items of a side file, by the code points of their numbers. Raises
    MarkError.
    """
    turns = msgspec.to_builtins(side.turns)
    items = (item_of({**value, "turns": turns}) for value in side.items)
    return {one.span: one for one in (restored(item, text, side.offsets) for item in items)}


class Folders:
    """Names of folders, different for each party also on case-insensitive file systems."""

    def __init__(self) -> None:
        self._names: dict[Author | None, str] = {None: GOLD}
        self._taken = {GOLD}

    def __call__(self, party: Author | None) -> str:
        """The folder of a party."""
        if party is not None and party not in self._names:
            base = UNSAFE.sub("_", party.name).strip(".") or "_"
            if party.role is Role.ADJUDICATOR:
                base += "-adjudicator"
            name, rank = base, 1
            while name.casefold() in self._taken:
                rank += 1
                name = f"{base}-{rank}"
            self._names[party] = name
            self._taken.add(name.casefold())
        return self._names[party]


# What is carried of a brat project: lines of other types, and spans of several fragments.
#
# They are stored under "brat" in the labels of the first number of a document, with references
# instead of ids, and are written back with new ids. A line that refers to a removed annotation
# is left out.

KEY = "brat"
AN_ID = re.compile(r"(?:(?<=[\s:])|^)[TREAMN#]\d+\S*(?=\s|$)")
A_REFERENCE = re.compile(r"@(\d+)(?:-(\d+))?(?=\s|$)")


class CarriedLine(msgspec.Struct, frozen=True, array_like=True):
    """A line."""

    prefix: str
    """Of its id."""
    data: str
    """With "@3" for the id of the fourth carried line, and "@12-18" for the id of the span at
    these code points."""
    tail: str | None = None
    """The text after the second tab."""


class CarriedDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is carried of the document of one folder."""

    by: Author | None = None
    """Whose folder it is."""
    lines: tuple[CarriedLine, ...] = ()
    torn: tuple[tuple[Span, ...], ...] = ()
    """The fragments of spans with other words between them."""


# --- reading --------------------------------------------------------------------------------


def part_of(
    party: Author | None,
    content: str,
    found: Standoff,
    unused: Collection[int],
    own: Mapping[str, Span],
    pieces: Mapping[str, tuple[Span, ...]],
    torn: Sequence[tuple[Span, ...]],
) -> CarriedDocument | None:
    """What is carried of a document; None for nothing.

    unused: numbers of the lines to carry. own: the spans of numbers and mentions, by id.
    pieces: the fragments of all spans by id, in code points. torn: fragments of spans of `own`.
    """
    rows = content.split("\n")
    raw = [rows[number - 1].removesuffix("\r") for number in sorted(unused)]
    ids = [line.partition("\t")[0] for line in raw]
    spans = {event: own[t] for event, (_, t) in found.triggers.items() if t in own} | {**own}
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
        lines.append(CarriedLine(prefix, named, tail if tab else None))
    return CarriedDocument(party, tuple(lines), tuple(torn)) if lines or torn else None


def labels_of(parts: Sequence[CarriedDocument]) -> str | None:
    """The labels in which documents are carried; None for none."""
    if not parts:
        return None
    return json.dumps({KEY: msgspec.to_builtins(parts)}, ensure_ascii=False)


# --- writing --------------------------------------------------------------------------------


def parts_in(records: Iterable[ExportRecord]) -> list[CarriedDocument]:
    """The documents that the records of a passage carry."""
    found: list[CarriedDocument] = []
    for record in records:
        parts = content_in(record.carried, KEY, list[CarriedDocument]) or ()
        # All numbers that were found in one dialog carry the same documents.
        found += [part for part in parts if part not in found]
    return found


def lines_of(part: CarriedDocument, ids: Counter[str], own: Mapping[Span, str]) -> list[str]:
    """The carried lines with new ids. ids: how many are used by prefix. own: ids of our
    spans.
    """
    new: list[str | None] = []
    for line in part.lines:
        ids[line.prefix] += 1
        new.append("*" if line.prefix == "*" else f"{line.prefix}{ids[line.prefix]}")

    def id_of(match: "re.Match[str]") -> str | None:
        first, last = match.groups()
        if last is None:
            return new[int(first)] if int(first) < len(new) else None
        return own.get((int(first), int(last)))

    # A line whose references are gone is left out, and so are the lines that refer to it.
    gone = True
    while gone:
        gone = False
        for rank, line in enumerate(part.lines):
            lost = any(id_of(match) is None for match in A_REFERENCE.finditer(line.data))
            if lost and new[rank] is not None:
                new[rank], gone = None, True
    found = []
    for id_, line in zip(new, part.lines, strict=True):
        if id_ is not None:
            data = A_REFERENCE.sub(lambda match: id_of(match) or "", line.data)
            tail = "" if line.tail is None else f"\t{line.tail}"
            found.append(f"{id_}\t{data}{tail}\n")
    return found


TEXT, ANN = ".txt", ".ann"


@dataclass(frozen=True, slots=True)
class Name:
    """A document in a folder."""

    folder: str
    """"" for the top folder."""
    base: str
    """The path without suffix."""


def documents(source: Folder) -> dict[str, list[Name]]:
    """The folders of each document, by its name and in that order; the folder of gold first.

    Raises FormatError for an `.ann` or side file without its text, and for suffixes in
    capitals, which brat does not read.
    """
    for name in source.names:
        end = PurePosixPath(name).suffix
        if end.lower() in (TEXT, ANN) and end != end.lower():
            raise source.member_error(
                name, None, f"found the ending {end}, wanted {end.lower()}: rename it"
            )
    bases = [name.removesuffix(TEXT) for name in source.names if name.endswith(TEXT)]
    texts = set(bases)
    marked = [name.removesuffix(ANN) for name in source.names if name.endswith(ANN)]
    for suffix in (ANN, SUFFIX):
        for name in source.names:
            base = name.removesuffix(suffix)
            if name.endswith(suffix) and base not in texts:
                raise source.member_error(
                    name, None, f"has no text; wanted {visible(base, 200)}{TEXT} beside it"
                )
    depth = _wrapped(marked or bases)
    found: dict[str, list[Name]] = {}
    for base in bases:
        parts = PurePosixPath(base).parts[depth:]
        folder = parts[0] if len(parts) > 1 else ""
        found.setdefault("/".join(parts[1:] or parts), []).append(Name(folder, base))
    for names in found.values():
        names.sort(key=lambda name: (name.folder not in ("", GOLD), name.folder))
    return dict(sorted(found.items()))


def _wrapped(bases: Sequence[str]) -> int:
    """How many folders enclose the whole project."""
    parts = [PurePosixPath(base).parts for base in bases]
    depth = 0
    while all(len(one) > depth + 2 and one[depth] == parts[0][depth] for one in parts):
        depth += 1
    return depth


def split_of_folder(folder: str) -> str | None:
    """The split that a folder is named after."""
    return folder.lower() if folder.lower() in SPLITS else None


def party_of(folder: str, side: SideFile | None) -> Author | None:
    """Whose a folder is: that of its side file, unless the folder was renamed since; else the
    annotator of that name. A folder named after a split holds gold.

    Raises MarkError for a name that no annotator can have.
    """
    if side is not None and folder in ("", side.folder):
        if side.by is not None and not is_a_name(side.by.name):
            raise MarkError(f"its side file names {shown(side.by.name)}, wanted {A_NAME}")
        return side.by
    if folder in ("", GOLD) or split_of_folder(folder):
        return None
    if not is_a_name(folder):
        raise MarkError(f"is in the folder {shown(folder)}, wanted {A_NAME}")
    return Author.annotator(folder)


# Texts as brat stores them, and the unit of their offsets.
#
# brat ends lines where Python's text files do, and writes the text of a span on one line.
# Characters that end a line but are not a line feed are written as one space each and stored in
# the side file, and so is a byte-order mark at the start of a text. Spans are split into
# fragments at line feeds, as brat itself does.

REPLACED = re.compile("[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]|\\A\ufeff")
"""What ends a line for `str.splitlines`, except the line feed; a byte-order mark."""

Replaced = tuple[tuple[int, str], ...]
"""Code points at which the file has a space, with the character of the text."""


def file_text(text: str) -> tuple[str, Replaced]:
    """A text as its file has it, of the same length, and the characters that were replaced."""
    replaced = tuple((match.start(), match[0]) for match in REPLACED.finditer(text))
    return (REPLACED.sub(" ", text) if replaced else text), replaced


def restored_text(text: str, replaced: Sequence[tuple[int, str]]) -> str:
    """The text that was exported. Raises MarkError if the file was changed since."""
    if not replaced:
        return text
    signs = list(text)
    for place, sign in replaced:
        if not 0 <= place < len(signs) or signs[place] != " " or len(sign) != 1:
            raise MarkError(
                f"expected a space at {place}, in the place of {shown(sign)}: the text was "
                "changed since it was exported"
            )
        signs[place] = sign
    return "".join(signs)


def fragments(text: str, start: int, end: int) -> Iterator[Span]:
    """The fragments of a span, one for each line, without white space at their ends."""
    place = start
    for line in text[start:end].split("\n"):
        words = line.strip() if "\n" in text[start:end] else line
        if words:
            first = place + line.index(words)
            yield first, first + len(words)
        place += len(line) + 1


def surface(text: str, pieces: Sequence[Span]) -> str:
    """The text of fragments as the line of a span states it."""
    return " ".join(text[start:end] for start, end in pieces).replace("\n", " ")


# --- reading --------------------------------------------------------------------------------

ToPoints = Callable[[int], int]
"""Converts an offset of a file to code points."""


def counting(text: str, offsets: Offsets | None, spans: Sequence[TextBound]) -> ToPoints:
    """The unit of the spans' offsets, verified by the texts that the spans state.

    Code points; or code points with each CR LF as one, as brat reads files of Windows; UTF-16
    code units only if `offsets` says so. Raises LineError if none fits.
    """
    ways = list(_ways(text, offsets))
    for way in ways:
        if not any(_misfit(text, span, way) for span in spans):
            return way
    bad, reason = next((span, why) for span in spans if (why := _misfit(text, span, ways[0])))
    raise LineError(bad.line, reason + _hint(text, offsets, spans))


def _ways(text: str, offsets: Offsets | None) -> Iterator[ToPoints]:
    if offsets == "utf16":
        yield Units(text).to_points
        return
    yield int
    if "\r\n" in text:
        yield _with_single_line_ends(text)


def _with_single_line_ends(text: str) -> ToPoints:
    """Converts offsets of the text with "\\n" for each "\\r\\n"."""
    # Of each line end in the text with single line ends.
    pairs = [found.start() - rank for rank, found in enumerate(re.finditer("\r\n", text))]
    return lambda offset: offset + bisect_right(pairs, offset - 1)


def _misfit(text: str, span: TextBound, way: ToPoints) -> str | None:
    """Why the text does not have a span; None if it has."""
    try:
        pieces = [(way(start), way(end)) for start, end in span.fragments]
    except SplitPairError as error:
        return f"at {_places(span)}: {_expected(span)}, but {error}"
    if not all(0 <= start < end <= len(text) for start, end in pieces):
        return (
            f"the span {_places(span)} is outside a text of {len(text)} characters, or "
            f"holds none; {_expected(span)} there"
        )
    found = surface(text, pieces)
    # brat states line ends in a fragment as spaces; older versions leave them out.
    if span.surface in (None, found) or found.split() == span.surface.split():
        return None
    return f"at {_places(span)}: {_expected(span)}, found {shown(found)}"


def _places(span: TextBound) -> str:
    return ";".join(f"{start} {end}" for start, end in span.fragments)


def _expected(span: TextBound) -> str:
    return f"expected {shown(span.label if span.surface is None else span.surface)}"


def _hint(text: str, offsets: Offsets | None, spans: Sequence[TextBound]) -> str:
    """A hint if the other unit fits all spans."""
    if offsets != "utf16" and Units(text).wide:
        way = next(_ways(text, "utf16"))
        if not any(_misfit(text, span, way) for span in spans):
            return "; all spans fit if offsets count UTF-16 units: add --offsets utf16"
    if offsets == "utf16" and not any(_misfit(text, span, int) for span in spans):
        return "; all spans fit if offsets count code points: leave out --offsets"
    return ""


def covering(text: str, pieces: Sequence[Span]) -> tuple[Span, bool]:
    """The code points from the first fragment of a span to the last, and whether there are
    other words between them.
    """
    ordered = sorted(pieces)
    torn = any(text[one[1] : two[0]].strip() for one, two in pairwise(ordered))
    return (ordered[0][0], max(end for _, end in ordered)), torn
