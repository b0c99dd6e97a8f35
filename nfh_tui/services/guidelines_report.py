"""Items to discuss as a page of Markdown: answers, annotators and rules.

Text from a corpus or a person is escaped: none of it is read as Markdown or HTML, and none
can control the terminal of a reader.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nfh_db.messages import counted
from nfh_db.records import Ballot, FlagName, Role, Rule, Vote
from nfh_models.domain import Passage, anchor_id
from nfh_tui.display_text import visible
from nfh_tui.editor.votes import describe
from nfh_tui.services.guidelines import titled

BEFORE, AFTER = 4, 2
"""Turns shown before the number's, and after it."""

LONGEST_TURN = 600
"""Characters of a turn other than the number's."""

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$@!&^])|(?<=www)\.|:(?=\S)|(?<=\d)\.(?=\s)|^(?=[-+=])")
"""Characters that may start Markdown, as GitHub and others read it."""


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """An answer on the sheet. rule: with its title, "" for none."""

    who: str
    role: str
    answer: str
    comment: str
    rule: str
    version: int | None


@dataclass(frozen=True, slots=True)
class Topic:
    """An item of the sheet. gold: the gold answer and its rule, "" for none."""

    anchor_id: int
    public_id: str
    document: str
    word: str
    turns: tuple[tuple[str, str, str, str], ...]
    said: tuple[SheetAnswer, ...]
    gold: str
    flags: tuple[tuple[str, tuple[str, ...]], ...]


# --- items ------------------------------------------------------------------------------


def topic(ballot: Ballot, titles: Mapping[str, str], *, blind: bool) -> Topic:
    """An item of the sheet. titles: of the rules in force. blind: without names."""
    passage, anchor = ballot.passage, ballot.anchor
    public = anchor_id(passage.digest, anchor)
    names = _names(ballot, public) if blind else {}
    return Topic(
        ballot.anchor_id,
        public,
        ballot.document,
        passage.words(anchor.start, anchor.end),
        tuple(_turns(ballot)),
        tuple(_said(vote, passage, titles, names, blind=blind) for vote in ballot.votes),
        _gold(ballot, blind=blind),
        _flags(ballot, blind=blind),
    )


def _names(ballot: Ballot, public: str) -> Mapping[str, str]:
    """A number for each annotator, in another order for each item."""

    def place(name: str) -> bytes:
        return hashlib.sha256(f"{public}\0{name}".encode("utf-8", "replace")).digest()

    people = {vote.annotator for vote in ballot.votes if vote.role is Role.ANNOTATOR}
    return {
        name: f"annotator {number}" for number, name in enumerate(sorted(people, key=place), 1)
    }


def _turns(ballot: Ballot) -> Iterator[tuple[str, str, str, str]]:
    """Speaker, and the text before, of and after the number; of other turns all before."""
    passage, anchor = ballot.passage, ballot.anchor
    here = passage.turn_of(anchor.start)
    first, last = max(0, here - BEFORE), min(len(passage.turns), here + AFTER + 1)
    for number in range(first, last):
        turn = passage.turns[number]
        speaker = turn.speaker or ""
        if number != here:
            words = passage.words(turn.start, turn.end) if turn.end > turn.start else ""
            yield speaker, _cut(words), "", ""
            continue
        text, (first, end) = passage.text, passage.code_points(turn)
        start, stop = passage.code_points(anchor)
        yield speaker, text[first:start], text[start:stop], text[stop:end]


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_TURN else words[: LONGEST_TURN - 1] + "…"


def _said(
    vote: Vote,
    passage: Passage,
    titles: Mapping[str, str],
    names: Mapping[str, str],
    *,
    blind: bool,
) -> SheetAnswer:
    adjudicates = vote.role is Role.ADJUDICATOR
    if blind:
        who = "an adjudicator" if adjudicates else names.get(vote.annotator, "an annotator")
    else:
        who = vote.annotator
    return SheetAnswer(
        who,
        vote.role.value,
        describe(vote.answer, passage, places=True),
        vote.answer.comment,
        titled(vote.rule_tag, titles) if vote.rule_tag else "",
        vote.guideline_version,
    )


def _gold(ballot: Ballot, *, blind: bool) -> str:
    if (gold := ballot.gold) is None:
        return ""
    by = gold.adjudicator if gold.rule is Rule.EXPERT and not blind else None
    how = f"decided by {by}" if by else gold.rule.value
    return f"{describe(gold.answer, ballot.passage, places=True)} ({how})"


def _flags(ballot: Ballot, *, blind: bool) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each flag that is set, with the annotators; "skip" is left out."""
    found: dict[str, list[str]] = {}
    for mark in ballot.flags:
        if mark.name is not FlagName.SKIP:
            found.setdefault(mark.name.value, []).append(mark.annotator)
    return tuple((name, () if blind else tuple(people)) for name, people in found.items())


# --- the page ---------------------------------------------------------------------------


def escape(text: str) -> str:
    """A text on one line, escaped for Markdown."""
    line = visible(" ".join(text.split()))
    return _MARKS.sub(lambda found: "&amp;" if found[0] == "&" else f"\\{found[0]}", line)


def page(topics: Sequence[Topic], heading: str) -> Iterator[str]:
    """The lines of the sheet, each with its end. heading: what it is of, in one line."""
    yield "# Items to discuss\n\n"
    yield f"{counted(len(topics), 'item')}. {escape(heading)}\n"
    for number, one in enumerate(topics, 1):
        yield "\n"
        yield from _topic(number, one)


def _topic(number: int, one: Topic) -> Iterator[str]:
    yield f"## {number}. {escape(one.word)}\n\n"
    yield f"{escape(one.document)}, `id:{one.anchor_id}`\n\n"
    # A backslash at the end keeps each turn on a line of its own.
    yield "\\\n".join(f"> {_turn(*turn)}" for turn in one.turns) + "\n\n"
    for said in one.said:
        role = "" if said.role == Role.ANNOTATOR else f" ({said.role})"
        yield f"* **{escape(said.who)}**{role}: {escape(said.answer)}\n"
        if said.rule:
            version = "" if said.version is None else f" (version {said.version})"
            yield f"    * by rule {escape(said.rule)}{version}\n"
        if said.comment:
            yield f"    * comment: {escape(said.comment)}\n"
    yield f"* **gold**: {escape(one.gold) if one.gold else 'none yet'}\n"
    for flag, people in one.flags:
        by = f": {', '.join(map(escape, people))}" if people else ""
        yield f"* flag {flag}{by}\n"
    yield "\nDecided: \n"


def _turn(speaker: str, before: str, word: str, behind: str) -> str:
    who = f"**{escape(speaker)}:** " if speaker.strip() else ""
    marked = f"**{escape(word)}**" if word.strip() else ""
    return f"{who}{_spaced(before)}{marked}{_spaced(behind)}"


def _spaced(text: str) -> str:
    """An escaped text that keeps one space at either end."""
    if not (made := escape(text)):
        return " " if text else ""
    return f"{' ' * text[:1].isspace()}{made}{' ' * text[-1:].isspace()}"
