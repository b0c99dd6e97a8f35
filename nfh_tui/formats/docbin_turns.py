"""Turns of spaCy Docs: the spans of a group, labelled by who speaks.

What stands in no turn, the name of a speaker before it say, is text and no token of the
passage. A span's id is the turn's number where it is one, else its rank counts.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nfh_db.formats.grid import MarkError
from nfh_db.formats.options import Span
from nfh_db.formats.rows import DialogBlock, DialogTurn
from nfh_db.formats.wording import shown
from nfh_models.domain import Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Span as DocSpan

DIGITS = 9
"""Digits that the number of a turn may have."""


def spoken(doc: "Doc", group: str) -> tuple[list[Span], list[Turn] | None]:
    """The tokens of a Doc, code points, and its turns; None where the group is not there.

    White space is no token. Raises MarkError for turns that overlap.
    """
    tokens = [token for token in doc if not token.text.isspace()]
    if not doc.spans.get(group):
        return [(token.idx, token.idx + len(token)) for token in tokens], None
    found: list[Span] = []
    turns: list[Turn] = []
    end = 0
    for rank, span in enumerate(sorted(doc.spans[group], key=lambda one: one.start)):
        if span.start < end:
            raise MarkError(
                f"the turn at {span.start_char} to {span.end_char} overlaps the one before; "
                "wanted each word in one turn"
            )
        end = span.end
        first = len(found)
        found += [
            (token.idx, token.idx + len(token)) for token in span if not token.text.isspace()
        ]
        if len(found) > first:
            label, id_ = _names(span)
            turns.append(Turn(_number(id_, rank), label or None, first, len(found)))
    return found, turns


def _names(span: "DocSpan") -> tuple[str, str]:
    """The label and id of a span. Raises MarkError if the file has no strings for them."""
    try:
        return span.label_, span.id_
    except (KeyError, IndexError, ValueError) as error:
        raise MarkError(f"the names of a turn do not hold: {shown(str(error))}") from error


def _number(id_: str, rank: int) -> int:
    return int(id_) if id_.isascii() and id_.isdigit() and len(id_) <= DIGITS else rank


def check_shown(doc: "Doc", group: str, turns: Sequence[Turn]) -> None:
    """Raise MarkError where a Doc that came from here shows another speaker of a turn."""
    labels = [_names(span)[0] for span in doc.spans.get(group, ())]
    wanted = [turn.speaker or "" for turn in turns]
    if labels and labels != wanted:
        raise MarkError(
            f'doc.spans["{group}"]: found the speakers {shown(labels)}, expected '
            f"{shown(wanted)}: they were changed since the export"
        )


def dialog(text: str, line: int, tokens: Sequence[Span], turns: Sequence[Turn]) -> DialogBlock:
    """A Doc without a number as a dialog of its turns."""
    return DialogBlock(
        text,
        tuple(
            DialogTurn(
                line, turn.number, turn.speaker, tokens[turn.start][0], tokens[turn.end - 1][1]
            )
            for turn in turns
        ),
    )
