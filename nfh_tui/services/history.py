"""The history of an item in words: the same in the workbench and on the command line."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from nfh_db import serialization
from nfh_db.records import HistoryLine, Role
from nfh_models.domain import Answer, Head, Mention, Origin, Passage, Relation, rule_words
from nfh_tui.editor.state import SOMEBODY, without_names
from nfh_tui.editor.votes import KIND_WORDS, SORT_WORDS

NOTHING = "This item has no history yet."
COMMENT = "comment: "
"""Stands before the comment of an answer."""

ABSENT = "nothing"
"""Words for a missing value."""

NOBODY = "somebody"
"""Stands for a hidden name."""

FROM_FILES = frozenset({"import", "merge"})
"""Kinds of acts that name a file, whose name often contains a person's name."""

_FILE = re.compile(r"\b(import|merge) of .*", re.DOTALL)

RULE_WORDS = {
    "imported": "from a file",
    "unanimous": "all votes agree",
    "majority": "by majority",
    "weighted": "by weighted votes",
    "expert": "decided by an adjudicator",
}


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change in words. at: UTC, as the store keeps it. thing: the object.

    note: a further remark, "" for none.
    """

    at: str
    by: str | None
    act: str
    thing: str
    before: str
    after: str
    note: str = ""


def changed(line: HistoryLine, passage: Passage, *, named: bool = True) -> HistoryEntry:
    """A line of the history in words. named: False where nobody may be named."""
    before = _value(line.entity, line.before, passage, named=named)
    after = _value(line.entity, line.after, passage, named=named)
    return HistoryEntry(
        line.at,
        line.annotator if named else None,
        act_words(line, named=named),
        object_words(line, named=named),
        before,
        after,
        _note(line) if before == after else "",
    )


def act_words(line: HistoryLine, *, named: bool = True) -> str:
    """The act of a change; without the name of a file where names are hidden."""
    said = line.act
    if not named:
        said = line.kind if line.kind in FROM_FILES else _FILE.sub(r"\1", said)
    if line.kind in ("undo", "redo"):
        of = said.removeprefix(f"{line.kind}: ")
        said = f"{'undone' if line.kind == 'undo' else 'redone'}: {of}"
    if line.merged:
        return f"{said} (came with {line.merged})" if named else f"{said} (merged)"
    return said


def object_words(line: HistoryLine, *, named: bool = True) -> str:
    """The object of a change in words."""
    if line.entity == "gold":
        return "gold"
    if line.entity == "anchor":
        return "the number"
    if line.entity == "flag":
        whose = line.whose if named else NOBODY
        return f"{whose}'s flag {line.name}" if whose else f"flag {line.name}"
    whose = (line.whose or line.name or NOBODY) if named else NOBODY
    return f"{whose}'s {'decision' if line.role == Role.ADJUDICATOR else 'answer'}"


def _note(line: HistoryLine) -> str:
    """A note on a change whose words are equal before and after."""
    if line.before is None or line.after is None:
        return ""
    old, new = _fields(line.before), _fields(line.after)
    for fields in (old, new):
        for name in NOT_SAID:
            fields.pop(name, None)
    if old == new:
        return "the same again"
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return f"differs in {', '.join(FIELD_WORDS.get(name, name) for name in names)}"


NOT_SAID = ("at", "batch", "seconds", "guideline", "rule_tag")
"""Fields of a value for time and manner."""

FIELD_WORDS = {"heads": "which mentions were marked, added or removed"}


def _fields(body: str) -> dict[str, object]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


# --- values in words ------------------------------------------------------------------------


def _value(entity: str, body: str | None, passage: Passage, *, named: bool) -> str:
    """A value of the log in words; the stored text where it cannot be decoded."""
    if body is None:
        return ABSENT
    try:
        if entity == "gold":
            gold = serialization.decode_gold(body)
            return ABSENT if gold is None else _gold(gold, passage, named=named)
        if entity == "anchor":
            if (anchor := serialization.decode_anchor(body)) is None:
                return ABSENT
            words = f"“{_words(passage, anchor.start, anchor.stop)}” (token {anchor.start})"
            return words if anchor.replaced_by is None else f"{words}, replaced"
        if entity == "flag":
            if (flag := serialization.decode_flag(body)) is None:
                return ABSENT
            span = flag.span
            return "set" if span is None else f"the span “{_words(passage, *span)}”"
        answer = serialization.decode_answer(body)
        return ABSENT if answer is None else _answer(answer, passage)
    except (msgspec.MsgspecError, ValueError, IndexError):
        return body


def _answer(value: serialization.AnswerValue, passage: Passage) -> str:
    seen = [
        "had seen the model's answer" if value.saw_model else "",
        "had seen others' answers" if value.saw_votes else "",
        "in a review sheet" if value.in_sheet else "",
        f"by {rule_words(value.rule_tag)}" if value.rule_tag else "",
    ]
    return _joined(answer_words(serialization.answer_of(value), passage), *seen)


def _gold(value: serialization.GoldValue, passage: Passage, *, named: bool) -> str:
    how = RULE_WORDS.get(value.rule, value.rule)
    if named and value.by:
        how += f", {value.by}"
    if named and value.votes:
        how += f" of {', '.join(name for name, _ in value.votes)}"
    return _joined(answer_words(serialization.answer_of(value), passage), how)


def answer_words(answer: Answer, passage: Passage) -> str:
    """An answer with the words and places of its heads, and its comment.

    Places are tokens of the passage counted from 0, as in files, and turns from 1, as on the
    screen.
    """
    words = KIND_WORDS[answer.kind]
    if answer.heads:
        joint = ", " if answer.relation in (None, Relation.UNSTATED) else f" {answer.relation} "
        words += ": " + joint.join(head_words(head, passage) for head in answer.heads)
    if answer.sort is not None:
        words += f", {SORT_WORDS[answer.sort]}"
    if answer.noun:
        words += f" “{answer.noun}”"
    return _joined(words, f"{COMMENT}{answer.comment}" if answer.comment else "")


def head_words(head: Head, passage: Passage) -> str:
    """The mentions of a head with their places; removed ones last."""
    kept = [_mention(mention, passage) for mention in head.live]
    gone = [
        _mention(mention, passage)
        for mention in head.mentions
        if mention.origin is Origin.REMOVED
    ]
    words = kept[0]
    if kept[1:]:
        words += f" also {', '.join(kept[1:])}"
    return f"{words} without {', '.join(gone)}" if gone else words


def _mention(mention: Mention, passage: Passage) -> str:
    turn = passage.turn_of(mention.head) + 1
    words = _words(passage, mention.start, mention.end)
    return f"“{words}” (token {mention.head}, turn {turn})"


def _words(passage: Passage, start: int, end: int) -> str:
    return " ".join(passage.words(start, end).split())


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))


# --- for the workbench ----------------------------------------------------------------------


def lines_in_words(lines: Sequence[HistoryLine], passage: Passage) -> tuple[HistoryLine, ...]:
    """The changes with values in words."""
    return tuple(
        replace(
            line,
            before=None if line.before is None else change.before,
            after=None if line.after is None else change.after,
        )
        for line in lines
        for change in [changed(line, passage)]
    )


def history_text(lines: Sequence[HistoryLine], passage: Passage, *, named: bool = True) -> str:
    """One block a change, newest first: when, who, what act, and what it changed."""
    changes = [changed(line, passage, named=named) for line in reversed(lines)]
    if not named:
        of_lines = {name for line in lines for name in (line.annotator, line.whose)}
        of_answers = {line.name for line in lines if line.entity == "answer"}
        names = dict.fromkeys({name for name in of_lines | of_answers if name}, SOMEBODY)
        changes = [_unsigned(change, names) for change in changes]
    return "\n\n".join("\n".join(block(change)) for change in changes) or NOTHING


def _unsigned(change: HistoryEntry, names: Mapping[str, str]) -> HistoryEntry:
    """The change without names in the act and in comments."""

    def without(text: str) -> str:
        said, mark, comment = text.partition(COMMENT)
        return said + mark + without_names(comment, names)

    return replace(
        change,
        act=without_names(change.act, names),
        before=without(change.before),
        after=without(change.after),
    )


def block(change: HistoryEntry) -> Iterator[str]:
    """The rows of a change: time, person and act; object; value before and after."""
    yield "  ".join(filter(None, [local(change.at), change.by, change.act]))
    yield f"    {change.thing}{f' ({change.note})' if change.note else ''}"
    yield f"      before  {change.before}"
    yield f"      after   {change.after}"


def local(at: str, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A time of the store as local time in a form; unchanged if it cannot be parsed."""
    try:
        parsed = datetime.fromisoformat(at)
    except ValueError:
        return at
    return parsed.astimezone().strftime(form)


def partners(lines: Sequence[HistoryLine]) -> tuple[int, ...]:
    """Ids of anchors that replaced this one or that it replaced, the latest first."""
    found: list[int] = []
    for line in reversed(lines):
        if line.entity == "anchor":
            for body in (line.before, line.after):
                value = json.loads(body) if body is not None else {}
                ids = (value.get("replaced_by"), value.get("replaces"))
                found.extend(other for other in ids if isinstance(other, int))
    return tuple(dict.fromkeys(found))
