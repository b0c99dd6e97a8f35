"""The history of an item in words."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from nfh_db.records import HistoryLine
from nfh_models.domain import Passage

NOTHING = "Nothing has happened to this item yet."


def worded(lines: Sequence[HistoryLine], passage: Passage) -> tuple[HistoryLine, ...]:
    """The same changes with values in words instead of as the log keeps them."""
    return tuple(
        replace(
            line,
            before=None if line.before is None else _value(line.before, passage),
            after=None if line.after is None else _value(line.after, passage),
        )
        for line in lines
    )


def told(lines: Sequence[HistoryLine], passage: Passage) -> str:
    """One block a change, newest first: when, who, what act, and what it changed."""
    blocks = ["\n".join(_block(line)) for line in reversed(worded(lines, passage))]
    return "\n\n".join(blocks) or NOTHING


def _block(line: HistoryLine) -> Iterator[str]:
    at = datetime.fromisoformat(line.at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    yield "  ".join(filter(None, [at, line.annotator, line.act]))
    whose = f" ({line.name})" if line.name else ""
    yield f"    {line.entity}{whose}"
    yield f"      before  {line.before or 'nothing'}"
    yield f"      after   {line.after or 'nothing'}"


def _value(body: str, passage: Passage) -> str:
    """A value of the log in words; what is not known here is shown as it is kept."""
    value = json.loads(body)
    if not isinstance(value, dict):
        return body
    if isinstance(value.get("stop"), int) and isinstance(value.get("start"), int):
        words = f"“{passage.words(value['start'], value['stop'])}”"
        return f"{words}, replaced" if value.get("replaced_by") is not None else words
    if "kind" not in value:
        return "set"
    parts = [str(value["kind"])]
    joint = f" {value.get('relation') or 'and'} "
    heads = [_head(head, passage) for head in value.get("heads", ())]
    if heads:
        parts.append(joint.join(heads))
    parts.extend(str(value[name]) for name in ("sort", "noun") if value.get(name))
    if value.get("rule"):
        parts.append(f"by rule {value['rule']}")
    if value.get("comment"):
        parts.append(f"comment: {value['comment']}")
    return " · ".join(parts)


def _head(mentions: Sequence[Sequence[object]], passage: Passage) -> str:
    """The words of a head's mentions, those taken away left out."""
    words = []
    for start, stop, _token, origin in mentions:
        if origin != "removed" and isinstance(start, int) and isinstance(stop, int):
            words.append(f"“{passage.words(start, stop)}”")
    return ", ".join(words)


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
