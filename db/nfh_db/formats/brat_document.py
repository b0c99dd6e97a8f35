"""The files of one brat document: its text and offsets, the lines of its `.ann` file, what
else they carry, and the side file `NAME.nfh.json`.

The lines of a brat `.ann` file, each with what it says and nothing made of it yet.

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
from nfh_db.formats.rows import Offsets, Span
from nfh_db.formats.spans import MarkError, SplitPairError, Units
from nfh_db.formats.stored_annotation import Restored, item_of, restored, stored
from nfh_db.messages import shown, visible
from nfh_db.records import PERSON, ExportRecord, FlagMark, Role, Vote
from nfh_db.serialization import TurnRow

ID = re.compile(r"[A-Za-z#]+\d+\S*")
FRAGMENTS = re.compile(r"\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*", re.ASCII)
NOTES = "AnnotatorNotes"
EQUIV = "Equiv"


class LineError(MarkError):
    """What a line says cannot be read. line: counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class TextBound:
    """A labelled span of one or more fragments. surface: its text as stated, if it is."""

    line: int
    label: str
    fragments: tuple[Span, ...]
    surface: str | None


@dataclass(frozen=True, slots=True)
class Arc:
    """A relation, or an event's argument, between two ids."""

    line: int
    label: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """Of a span, an event or a relation. value: "" of one that is there or not."""

    line: int
    name: str
    target: str
    value: str


@dataclass(frozen=True, slots=True)
class BratNote:
    """Words on something, by their type."""

    line: int
    type: str
    target: str
    words: str


@dataclass(slots=True)
class Standoff:
    """All of an `.ann` file. triggers: of each event; events: by their lines. equivs: line,
    type and members. others: lines of no use here.
    """

    spans: dict[str, TextBound] = field(default_factory=dict)
    arcs: list[Arc] = field(default_factory=list)
    equivs: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    triggers: dict[str, str] = field(default_factory=dict)
    events: list[tuple[int, str]] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    notes: list[BratNote] = field(default_factory=list)
    others: list[tuple[int, str]] = field(default_factory=list)


def parse(content: str) -> Standoff:
    """What an `.ann` file holds. Raises LineError for a line that brat would not read.

    A line that stands twice counts once; one id with two contents is refused.
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
                    number, f"the id {id_} stands twice: {shown(seen[id_])} and {shown(rest)}"
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
    found.triggers[id_] = parts[0][2]
    found.events.append((line, parts[0][2]))
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
        # brat keeps notes on what is no annotation of its own; they say nothing of a span.
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
    """Raise LineError for a link to an id that the file does not have."""
    known = found.spans.keys() | found.triggers.keys()
    named = [(arc.line, id_) for arc in found.arcs for id_ in (arc.source, arc.target)]
    named += [(line, id_) for line, _, members in found.equivs for id_ in members]
    for line, id_ in named:
        if id_ not in known:
            raise LineError(line, f"names {shown(id_)}, which the file does not have")
    for event, trigger in found.triggers.items():
        if trigger not in found.spans:
            raise LineError(
                1, f"the trigger {shown(trigger)} of {event} is no span of the file"
            )


def span_id(found: Standoff, id_: str) -> str:
    """The span that an id stands for: an event's is its trigger."""
    return found.triggers.get(id_, id_)


# `NAME.nfh.json`, the side file of a brat document: what brat has no terms for.
#
# It holds the passage's tokens and turns, and of each number what one folder's `.ann` file
# does not say: times, head tokens, what was in view, how gold came to count.

SUFFIX = ".nfh.json"
VERSION = "nfh-brat/1"
GOLD = "gold"
"""The folder of what counts."""

UNSAFE = re.compile(r"[^\w@+.-]")
"""What a folder's name should not hold, on whatever system it is unpacked."""


@dataclass(frozen=True, slots=True)
class Party:
    """Whose answers a folder holds. name: None for those that count."""

    name: str | None
    role: Role = Role.ANNOTATOR
    type: str = PERSON

    @classmethod
    def of(cls, vote: Vote) -> "Party":
        """Who gave an answer."""
        return cls(vote.annotator, vote.role, vote.type)


class By(msgspec.Struct, frozen=True, array_like=True):
    """A party that is not gold."""

    name: str
    role: Role
    type: Literal["person", "model", "rule"]


class SideFile(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A side file. folder: where it was written to, and by: whose that folder was.

    replaced: characters of the text that its file has not. items: as `StoredItem`, but
    without turns and offsets, which are the passage's.
    """

    format: Literal["nfh-brat/1"]
    folder: str
    turns: tuple[TurnRow, ...]
    offsets: tuple[tuple[int, int], ...]
    items: tuple[dict[str, Any], ...]
    by: By | None = None
    replaced: tuple[tuple[int, str], ...] = ()

    @property
    def party(self) -> Party:
        """Whose folder it was."""
        return (
            Party(None) if self.by is None else Party(self.by.name, self.by.role, self.by.type)
        )


def side_bytes(
    folder: str,
    party: Party,
    records: Sequence[ExportRecord],
    replaced: tuple[tuple[int, str], ...],
) -> bytes:
    """The side file of a folder's document, of the records of one passage."""
    passage = records[0].passage
    kind: Any = party.type
    by = None if party.name is None else By(party.name, party.role, kind)
    return msgspec.json.encode(
        SideFile(
            "nfh-brat/1",
            folder,
            tuple(
                TurnRow(t.number, t.speaker, t.start, t.end, t.begin, t.until)
                for t in passage.turns
            ),
            tuple((t.start, t.end) for t in passage.tokens),
            tuple(_item(record, party) for record in records),
            by,
            replaced,
        )
    )


def _item(record: ExportRecord, party: Party) -> dict[str, Any]:
    votes = [vote for vote in record.votes if Party.of(vote) == party]
    gold = party.name is None
    flags = own_flags(record, party)
    kept = stored(record, offsets=False, gold=gold, votes=votes, flags=flags)
    item: dict[str, Any] = msgspec.to_builtins(kept)
    del item["turns"]
    return item


def own_flags(record: ExportRecord, party: Party) -> list[FlagMark]:
    """The flags of a record that stand in a party's folder: in an annotator's own, or in the
    only one that who set them has.
    """
    if party.name is None:
        return []
    roles = {vote.role for vote in record.votes if vote.annotator == party.name}
    # Who answered in both roles has two folders; flags stand in the annotator's then.
    role = Role.ADJUDICATOR if roles == {Role.ADJUDICATOR} else Role.ANNOTATOR
    if party.role is not role:
        return []
    return [flag for flag in record.flags if flag.annotator == party.name]


def side_of(content: bytes) -> SideFile:
    """The side file that bytes are. Raises MarkError."""
    try:
        return msgspec.json.decode(content, type=SideFile)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MarkError(f"is no side file of this version ({VERSION}): {error}") from error


def kept_items(side: SideFile, text: str) -> dict[tuple[int, int], Restored]:
    """What a side file holds of each number, by its code points. Raises MarkError."""
    found: dict[tuple[int, int], Restored] = {}
    turns = msgspec.to_builtins(side.turns)
    for value in side.items:
        one = restored(item_of({**value, "turns": turns}), text, side.offsets)
        start = one.passage.starts[one.anchor.start]
        found[(start, one.passage.ends[one.anchor.end - 1])] = one
    return found


class Folders:
    """The names of folders: each party's its own, told apart also where case is not."""

    def __init__(self) -> None:
        self._names: dict[Party, str] = {Party(None): GOLD}
        self._taken = {GOLD}

    def __call__(self, party: Party) -> str:
        """The folder of a party."""
        name = self._names.get(party)
        if name is None:
            name = self._names[party] = self._free(party)
            self._taken.add(name.casefold())
        return name

    def _free(self, party: Party) -> str:
        base = UNSAFE.sub("_", party.name or "").strip(".") or "_"
        if party.role is Role.ADJUDICATOR:
            base += "-adjudicator"
        name, rank = base, 1
        while name.casefold() in self._taken:
            rank += 1
            name = f"{base}-{rank}"
        return name


# What a brat project says besides numbers: its lines of other types, and spans in pieces.
#
# They are kept under "brat" in the labels of the first number of a document, ids replaced by
# what they stand for, and written back with new ids. A line about a mark that is gone by then
# is left out.

KEY = "brat"
AN_ID = re.compile(r"(?:(?<=[\s:])|^)[TREAMN#]\d+\S*(?=\s|$)")
A_REFERENCE = re.compile(r"@(\d+)(?:-(\d+))?(?=\s|$)")


class CarriedLine(msgspec.Struct, frozen=True, array_like=True):
    """A line. prefix: of its id. data: with "@3" for the id of the fourth line of the part,
    "@12-18" for that of a span of ours. tail: what stands behind the second tab.
    """

    prefix: str
    data: str
    tail: str | None = None


class CarriedDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one folder's document holds besides. torn: spans of several fragments."""

    by: By | None = None
    lines: tuple[CarriedLine, ...] = ()
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
) -> CarriedDocument | None:
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
        lines.append(CarriedLine(prefix, named, tail if tab else None))
    if not lines and not torn:
        return None
    kind: Any = party.type
    by = None if party.name is None else By(party.name, party.role, kind)
    return CarriedDocument(by, tuple(lines), tuple(torn))


def labels_of(parts: Sequence[CarriedDocument]) -> str | None:
    """The labels that keep parts; None for none."""
    if not parts:
        return None
    return json.dumps({KEY: msgspec.to_builtins(parts)}, ensure_ascii=False)


# --- out ------------------------------------------------------------------------------------


def parts_in(records: Iterable[ExportRecord]) -> list[CarriedDocument]:
    """The parts that the records of a passage carry."""
    found: list[CarriedDocument] = []
    for record in records:
        if record.carried and f'"{KEY}"' in record.carried:
            content = json.loads(record.carried)
            try:
                parts = msgspec.convert(content.get(KEY), list[CarriedDocument])
            except (AttributeError, msgspec.ValidationError):
                continue
            # Numbers that were found in a dialog carry the same parts, each of them.
            found += [part for part in parts if part not in found]
    return found


def lines_of(part: CarriedDocument, ids: Counter[str], own: Mapping[Span, str]) -> list[str]:
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


TEXT, ANN = ".txt", ".ann"


@dataclass(frozen=True, slots=True)
class Name:
    """A document in a folder. folder: "" at the top. base: its path without suffix."""

    folder: str
    base: str


def documents(source: Folder) -> dict[str, list[Name]]:
    """The folders of each document, by its name and in that order; gold's folder first.

    Raises FormatError for an `.ann` or side file without its text, and for one whose name
    ends in capitals, which brat would not read either.
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
    """How many folders are around a whole project: those that hold one folder and no more."""
    parts = [PurePosixPath(base).parts for base in bases]
    depth = 0
    while all(len(one) > depth + 2 and one[depth] == parts[0][depth] for one in parts):
        depth += 1
    return depth


def split_of_folder(folder: str) -> str | None:
    """The split whose name a folder has: parts of a corpus are kept in such folders."""
    return folder.lower() if folder.lower() in SPLITS else None


def party_of(folder: str, side: SideFile | None) -> Party:
    """Whose a folder is: whoever's it was exported as, as long as it has its name still.

    Nobody is called like a split: its folder holds what counts.

    Raises MarkError for a folder that is called like nobody can be.
    """
    if side is not None and folder in ("", side.folder):
        party = side.party
        if party.name is not None and not is_a_name(party.name):
            raise MarkError(f"its side file is of {shown(party.name)}, wanted {A_NAME}")
        return party
    if folder in ("", GOLD) or split_of_folder(folder):
        return Party(None)
    if not is_a_name(folder):
        raise MarkError(f"is in the folder {shown(folder)}, wanted {A_NAME}")
    return Party(folder)


# Texts as brat keeps them, and the offsets of their files.
#
# Lines of brat's files end wherever Python's text files end them, and a span's text stands on
# one line. Characters that end a line but are no line feed are written as a space, one for
# one, and kept in the side file; so is a mark of byte order at a text's start. Spans are cut
# into fragments at line feeds, as brat itself does.

REPLACED = re.compile("[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]|\\A\ufeff")
"""What ends a line for `str.splitlines`, but for the line feed; a mark of byte order."""

Replaced = tuple[tuple[int, str], ...]
"""Code points of a text at which another character stands in its file, and which was there."""


def written(text: str) -> tuple[str, Replaced]:
    """A text as its file has it, of the same length, and what was replaced."""
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
    """A span in pieces of one line each, without white space at a line's end or start."""
    place = start
    for line in text[start:end].split("\n"):
        words = line.strip() if "\n" in text[start:end] else line
        if words:
            first = place + line.index(words)
            yield first, first + len(words)
        place += len(line) + 1


def surface(text: str, pieces: Sequence[Span]) -> str:
    """The text of fragments as a span's line states it."""
    return " ".join(text[start:end] for start, end in pieces).replace("\n", " ")


# --- in -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counting:
    """A way of counting the characters of a text. to_points: an offset as code points."""

    name: str
    to_points: Callable[[int], int]


def counting(text: str, offsets: Offsets | None, spans: Sequence[TextBound]) -> Counting:
    """The way in which the spans' offsets count, told by the texts that they state.

    Code points; or with each carriage return and line feed as one, as brat reads files of
    Windows. UTF-16 only if somebody said so. Raises LineError where none fits.
    """
    ways = list(_ways(text, offsets))
    for way in ways:
        if all(_fits(text, span, way) for span in spans):
            return way
    bad = next(span for span in spans if not _fits(text, span, ways[0]))
    raise LineError(bad.line, _misfit(text, bad, ways[0]) + _hint(text, offsets, spans))


def _ways(text: str, offsets: Offsets | None) -> Iterator[Counting]:
    if offsets == "utf16":
        yield Counting("UTF-16 code units", Units(text).to_points)
        return
    yield Counting("code points", int)
    if "\r\n" in text:
        yield Counting("code points, line ends as one", _ends_as_one(text))


def _ends_as_one(text: str) -> Callable[[int], int]:
    """Offsets of the text with "\\n" for each "\\r\\n", as code points of the text itself."""
    pairs: list[int] = []
    place = text.find("\r\n")
    while place >= 0:
        pairs.append(place - len(pairs))  # Where the pair begins in the shorter text.
        place = text.find("\r\n", place + 2)
    return lambda offset: offset + bisect_right(pairs, offset - 1)


def _fits(text: str, span: TextBound, way: Counting) -> bool:
    try:
        pieces = [(way.to_points(start), way.to_points(end)) for start, end in span.fragments]
    except SplitPairError:
        return False
    if not all(0 <= start < end <= len(text) for start, end in pieces):
        return False
    return span.surface is None or _same(surface(text, pieces), span.surface)


def _same(found: str, stated: str) -> bool:
    """Line ends inside a fragment are stated as spaces, or by older versions left out."""
    return found == stated or found.split() == stated.split()


def _misfit(text: str, span: TextBound, way: Counting) -> str:
    stated = f"expected {shown(span.label if span.surface is None else span.surface)}"
    places = ";".join(f"{start} {end}" for start, end in span.fragments)
    try:
        pieces = [(way.to_points(start), way.to_points(end)) for start, end in span.fragments]
    except SplitPairError as error:
        return f"at {places}: {stated}, but {error}"
    if not all(0 <= start < end <= len(text) for start, end in pieces):
        return (
            f"the span {places} is outside a text of {len(text)} characters, or "
            f"holds none; {stated} there"
        )
    return f"at {places}: {stated}, found {shown(surface(text, pieces))}"


def _hint(text: str, offsets: Offsets | None, spans: Sequence[TextBound]) -> str:
    """What may be wrong: the other unit fits all spans."""
    if offsets != "utf16" and Units(text).wide:
        way = next(_ways(text, "utf16"))
        if all(_fits(text, span, way) for span in spans):
            return "; all spans fit if offsets count UTF-16 units: say --offsets utf16"
    if offsets == "utf16" and all(_fits(text, s, next(_ways(text, None))) for s in spans):
        return "; all spans fit if offsets count code points: leave --offsets away"
    return ""


def covering(text: str, pieces: Sequence[Span]) -> tuple[Span, bool]:
    """The code points from a span's first fragment to its last, and whether other words
    stand between them.
    """
    ordered = sorted(pieces)
    torn = any(text[one[1] : two[0]].strip() for one, two in pairwise(ordered))
    return (ordered[0][0], max(end for _, end in ordered)), torn
