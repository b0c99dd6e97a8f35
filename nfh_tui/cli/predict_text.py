"""What `predict --file` says: a line for a person, a summary, and one JSON object."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted, visible
from nfh_models.domain import Answer, Kind, Relation

if TYPE_CHECKING:
    from nfh_tui.predicting import Counts, Predicted, Tools

WHITE_SPACE = re.compile(r"\s+")
SAID_WIDTH = 24
LEAST_WIDTH = 48
NAME_SHOWN = 200
AROUND = 40
"""Tokens of the passage around a number of which a line for a person is cut."""


def prediction_text(one: "Predicted", width: int) -> str:
    """A prediction on one line: the head or the class, and the words around the number."""
    passage, anchor = one.numbers.passage, one.anchor
    head = f"{visible(said(one), SAID_WIDTH):<{SAID_WIDTH}}  "
    room = max(LEAST_WIDTH, width) - len(head)
    number = visible(f"[{_one_line(passage.words(anchor.start, anchor.end))}]", room)
    side = max(0, room - len(number) - 2)
    first, last = anchor.start - AROUND, anchor.end + AROUND
    before = _one_line(passage.words(max(0, first), anchor.start))
    after = _one_line(passage.words(anchor.end, min(len(passage.tokens), last)))
    shown = visible(after, side // 2)
    before = visible(before[::-1], max(0, side - len(shown)))[::-1]
    return f"{head}{before}{' ' if before else ''}{number}{' ' if shown else ''}{shown}"


def said(one: "Predicted") -> str:
    """What was predicted in a word or two: "tickets", "AGE", "not an NFH"."""
    answer = one.answer
    if answer.kind is Kind.NOT_NFH:
        return "not an NFH"
    if answer.kind is not Kind.REFERENCE:
        return answer.kind.value
    words = [one.numbers.passage.word(head.mentions[0].head) for head in answer.heads]
    return f" {_joint(answer)} ".join(words)


def _joint(answer: Answer) -> str:
    return {Relation.AND: "and", Relation.OR: "or"}.get(
        answer.relation or Relation.UNSTATED, "+"
    )


def _one_line(text: str) -> str:
    return WHITE_SPACE.sub(" ", text)


def summary(name: str, counts: "Counts", out: Path | None) -> str:
    """How many numbers there were and what they are."""
    heads = counts.kinds[Kind.REFERENCE]
    told = (
        f"{name}: {counted(counts.numbers, 'number')}, {counts.nfh:,} without a noun (NFH): "
        f"{heads:,} with a head in the text, {counts.nfh - heads:,} without"
    )
    return told if out is None else f"{told}; written to {visible(str(out), NAME_SHOWN)}"


def window_note(model: str, cut: int, nfh: int) -> str:
    """The sentence on numbers whose passage the model did not see whole; "" for none."""
    if not cut:
        return ""
    return (
        f"{cut:,} of {nfh:,} have longer passages than {visible(model, NAME_SHOWN)} looks at: "
        "a head outside the words around the number is lost"
    )


def report_json(
    name: str, format_: str, out: Path | None, tools: "Tools", counts: "Counts", seconds: float
) -> dict[str, object]:
    """The summary for programs."""
    identifier, resolver = tools.identifier, tools.resolver
    return {
        "file": name,
        "format": format_,
        "out": None if out is None else str(out),
        "model": resolver.name,
        "recipe": resolver.model.recipe,
        "version": resolver.model.version,
        "identifier": None if identifier is None else identifier.name,
        "parser": None if tools.parser is None else tools.parser.name,
        "passages": counts.passages,
        "numbers": counts.numbers,
        "nfh": {"yes": counts.nfh, "no": counts.numbers - counts.nfh},
        "kinds": {kind.value: counts.kinds[kind] for kind in Kind if counts.kinds[kind]},
        "patterns": dict(sorted(counts.patterns.items())),
        "several": counts.several,
        "beyond_window": counts.cut,
        "seconds": round(seconds, 3),
    }
