"""The lines of a brat `.ann` file, each with what it says and nothing made of it yet.

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

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nfh_db.formats.grid import MarkError
from nfh_db.formats.options import Span
from nfh_db.formats.wording import shown

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
class Note:
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
    notes: list[Note] = field(default_factory=list)
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
    found.notes.append(Note(line, parts[0], parts[1], words.strip()))


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
