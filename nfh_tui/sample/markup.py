"""Reads the dialogs' source into records; what they mean is not known here yet.

    === slug                      a passage; the lines of its dialog follow
    Ada: Whose {t:tent} is it?    {label:word}: a noun that an answer may name
    Ben: I have [one].            [number]: the anchor; [label:number] where there are several
    --- turn-before               the anchor's label, if it has one; what it shows; cut
    gold unanimous                or majority, or open, or an editor's answer as below
    ann1,ann2 t 5s 8s             names, answer, seconds; one line for equal answers
    ann3 t<1 9s !ambiguous "why"  flags and comment, if any, of one person

`cut` says that the anchor holds only a part of the number. An editor's answer to a gold is
`gold t 12s r6 !anchor "why"`: seconds, the number of the guideline rule it turns on, and so
on. Answers are read by `answers`. Blank lines and lines that start with # are skipped.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from nfh_db.errors import FormatError
from nfh_db.formats.dialog import split_speaker

ANNOTATORS = ("ann1", "ann2", "ann3")
GOLD = "gold"

_LABEL = r"[a-z][a-z0-9]*"
_MARK = re.compile(
    rf"\[(?:(?P<anchor>{_LABEL}):)?(?P<number>[^][{{}}]+)\]"
    rf"|\{{(?P<noun>{_LABEL}):(?P<words>[^][{{}}]+)\}}"
)
_SAID = re.compile(
    r"(?P<who>gold|ann\d(?:,ann\d)*) +(?P<answer>.+?)"
    r"(?P<seconds>(?: +\d+s)*)(?: +r(?P<rule>\d+))?(?P<flags>(?: +![a-z]+)*)"
    r'(?: +"(?P<comment>.+)")?'
)


@dataclass(frozen=True, slots=True)
class Place:
    """A marked stretch of a passage's text: code points [start, end)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    """Words of one turn: code points [start, end) of the passage's text."""

    speaker: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Said:
    """A vote, or a gold, as written. rule: of the guidelines, gold only; seconds: or None."""

    line: int
    answer: str
    seconds: int | None = None
    rule: str | None = None
    flags: tuple[str, ...] = ()
    comment: str = ""


@dataclass(slots=True)
class SourceAnchor:
    """One anchor with all that is said of it: by each annotator, and under "gold"."""

    line: int
    label: str
    phenomenon: str
    cut: bool
    said: dict[str, Said] = field(default_factory=dict)


@dataclass(slots=True)
class SourcePassage:
    """A dialog, its marks taken out of the text and kept by label."""

    file: str
    line: int
    slug: str
    text: str = ""
    turns: list[Line] = field(default_factory=list)
    anchor_places: dict[str, Place] = field(default_factory=dict)
    noun_places: dict[str, Place] = field(default_factory=dict)
    anchors: list[SourceAnchor] = field(default_factory=list)


def refusal(passage: SourcePassage, line: int, message: str) -> FormatError:
    """The error to raise about a line of the passage's file."""
    return FormatError(passage.file, line, f"passage {passage.slug}: {message}")


def read(file: str, lines: Iterable[str]) -> Iterator[SourcePassage]:
    """The passages of one source file. Raises FormatError with the line that does not hold."""
    passage: SourcePassage | None = None
    for number, raw in enumerate(lines, start=1):
        text = raw.rstrip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("=== "):
            if passage is not None:
                yield _complete(passage)
            passage = SourcePassage(file, number, text.removeprefix("=== "))
        elif passage is None:
            raise FormatError(file, number, 'wanted "=== name" before the lines of a dialog')
        else:
            _add(passage, number, text)
    if passage is not None:
        yield _complete(passage)


def _add(passage: SourcePassage, number: int, text: str) -> None:
    if text.startswith("--- "):
        passage.anchors.append(_anchor(passage, number, text.split()[1:]))
    elif passage.anchors:
        _add_said(passage, number, text)
    else:
        _add_turn(passage, number, text)


def _add_turn(passage: SourcePassage, number: int, marked: str) -> None:
    if passage.text:
        passage.text += "\n"
    start = len(passage.text)
    plain, place = "", 0
    for mark in _MARK.finditer(marked):
        plain += marked[place : mark.start()]
        words = mark["number"] or mark["words"]
        where = Place(start + len(plain), start + len(plain) + len(words))
        _add_mark(passage, number, mark, where)
        plain += words
        place = mark.end()
    plain += marked[place:]
    if set(plain) & set("[]{}"):
        raise refusal(passage, number, "a bracket or brace that marks nothing")
    speaker, shift = split_speaker(plain)
    if speaker is None:
        raise refusal(passage, number, 'wanted "Speaker: words", each word capitalised')
    passage.text += plain
    passage.turns.append(Line(speaker, start + shift, len(passage.text)))


def _add_mark(passage: SourcePassage, number: int, mark: re.Match[str], where: Place) -> None:
    if mark["noun"]:
        known, label = passage.noun_places, mark["noun"]
    else:
        known, label = passage.anchor_places, mark["anchor"] or ""
    if label in known:
        raise refusal(passage, number, f'label "{label}" stands here for the second time')
    known[label] = where


def _anchor(passage: SourcePassage, number: int, words: list[str]) -> SourceAnchor:
    label = "" if "" in passage.anchor_places else words.pop(0)
    if label not in passage.anchor_places:
        raise refusal(passage, number, f'no anchor "{label}" in the dialog')
    if any(anchor.label == label for anchor in passage.anchors):
        raise refusal(passage, number, f'anchor "{label}" is described for the second time')
    if not words or words[1:] not in ([], ["cut"]):
        raise refusal(passage, number, 'wanted the anchor\'s phenomenon, then "cut" or nothing')
    return SourceAnchor(number, label, words[0], cut=len(words) > 1)


def _add_said(passage: SourcePassage, number: int, text: str) -> None:
    anchor = passage.anchors[-1]
    found = _SAID.fullmatch(text)
    if found is None:
        wanted = '"gold ANSWER" or "ann1 ANSWER 5s", then flags, then a comment in quotes'
        raise refusal(passage, number, f"wanted {wanted}; found: {text}")
    seconds = [int(word[:-1]) for word in found["seconds"].split()]
    flags = tuple(word[1:] for word in found["flags"].split())
    said = Said(
        line=number,
        answer=found["answer"],
        seconds=seconds[0] if seconds else None,
        rule=found["rule"],
        flags=flags,
        comment=found["comment"] or "",
    )
    if found["who"] == GOLD:
        _add_one(passage, anchor, GOLD, said)
    else:
        _add_votes(passage, anchor, found["who"].split(","), said, seconds)


def _add_votes(
    passage: SourcePassage,
    anchor: SourceAnchor,
    names: list[str],
    said: Said,
    seconds: list[int],
) -> None:
    if len(seconds) != len(names):
        raise refusal(passage, said.line, f"wanted {len(names)} times in seconds")
    if said.rule is not None or (len(names) > 1 and (said.flags or said.comment)):
        raise refusal(
            passage, said.line, "a rule is an editor's; flags and comments are one person's"
        )
    for name, time in zip(names, seconds, strict=True):
        _add_one(passage, anchor, name, replace(said, seconds=time))


def _add_one(passage: SourcePassage, anchor: SourceAnchor, name: str, said: Said) -> None:
    if name in anchor.said:
        raise refusal(passage, said.line, f"{name} stands here for the second time")
    anchor.said[name] = said


def _complete(passage: SourcePassage) -> SourcePassage:
    """The passage, checked. Raises FormatError for an anchor or an answer that is missing."""
    described = {anchor.label for anchor in passage.anchors}
    for label in passage.anchor_places:
        if label not in described:
            raise refusal(passage, passage.line, f'anchor "{label}" is not described')
    if not passage.anchors:
        raise refusal(passage, passage.line, "has no anchor")
    for anchor in passage.anchors:
        if sorted(anchor.said) != [*ANNOTATORS, GOLD]:
            wanted = "a gold line and the answers of " + ", ".join(ANNOTATORS)
            raise refusal(passage, anchor.line, f"wanted {wanted}")
    return passage
