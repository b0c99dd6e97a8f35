"""The release's way of writing an answer: a class name, or token indices of the head."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Literal, Protocol, get_args

from nfh_db.formats.rows import per_token
from nfh_db.records import ExportRecord
from nfh_models.domain import Anchor, Answer, Head, Kind, Mention, Origin

RELEASE_KEYS = ("tokens", "line_indices", "head", "speakers", "anchors_indices")
"""The five keys, in the order in which the release's files have them."""

Mentions = Literal["marked", "all", "nearest"]
"""Which mentions of the heads an `nfh` row lists: those a person marked, all that nobody
removed, or the one nearest to the anchor."""

MENTIONS: tuple[Mentions, ...] = get_args(Mentions)

NO_FORM = frozenset({Kind.NOT_NFH, Kind.BROKEN, Kind.NFH})


def release_head(
    answer: Answer | None, anchor: Anchor, mentions: Mentions = "all"
) -> list[str] | list[int] | None:
    """The `head` list of an answer; None where the release has no form for it.

    UNKNOWN is written as OTHER. Indices are ascending, each once.
    """
    if answer is None or answer.kind in NO_FORM:
        return None
    if answer.kind is Kind.REFERENCE:
        return _indices(answer, anchor, mentions)
    return [Kind.OTHER.value if answer.kind is Kind.UNKNOWN else answer.kind.value]


def _indices(answer: Answer, anchor: Anchor, mentions: Mentions) -> list[int]:
    if mentions == "all":
        return list(answer.head_tokens())
    if mentions == "marked":
        return sorted({m.head for head in answer.heads for m in _marked(head)})
    return [min(answer.head_tokens(), key=lambda token: (distance(token, anchor), token))]


def _marked(head: Head) -> Sequence[Mention]:
    """The marked mentions of a head; its first where nobody marked one."""
    return [m for m in head.mentions if m.origin is Origin.MARKED] or head.mentions[:1]


def distance(token: int, anchor: Anchor) -> int:
    """Tokens from `token` to the nearest token of the anchor; 0 inside it."""
    return max(anchor.start - token, token - (anchor.end - 1), 0)


def source_head(labels: str | None) -> list[object] | None:
    """The `head` list an imported row came with, if it came from a row that had one."""
    head = None if labels is None else json.loads(labels)
    return head if isinstance(head, list) else None


def reason_left_out(record: ExportRecord) -> str:
    """The kind for which a record has no release form, or "open" where it has no gold."""
    return "open" if record.gold is None else record.gold.answer.kind.value


class LineWriter(Protocol):
    """Makes the lines of a format. left_out: records it has no form for, by reason."""

    left_out: Counter[str]

    def line(self, record: ExportRecord) -> str | None:
        """The record's line with its end; None, and counted, where it has no form."""


class ReleaseWriter:
    """Makes `nfh` lines of records."""

    def __init__(self, mentions: Mentions = "all") -> None:
        self.mentions = mentions
        self.left_out: Counter[str] = Counter()

    def line(self, record: ExportRecord) -> str | None:
        """The record's line with its end; None, and counted, where it has no form.

        Spelled as the release's files are: ASCII only, keys in RELEASE_KEYS' order.
        """
        head: Sequence[object] | None = source_head(record.labels)
        if head is None:
            answer = record.gold.answer if record.gold else None
            head = release_head(answer, record.anchor, self.mentions)
        if head is None:
            self.left_out[reason_left_out(record)] += 1
            return None
        passage = record.passage
        numbers, speakers = per_token(passage.turns)
        row = {
            "tokens": [passage.text[token.start : token.end] for token in passage.tokens],
            "line_indices": numbers,
            "head": head,
            "speakers": speakers,
            "anchors_indices": list(range(record.anchor.start, record.anchor.end)),
        }
        return json.dumps(row) + "\n"
