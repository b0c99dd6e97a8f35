"""The two configurations of the data set as published for Hugging Face's `datasets`.

`identification`: tokens, start_index, end_index (exclusive), label (0 "neg", 1 "pos").
`resolution`: tokens, line_indices, head, speakers, anchors_indices; `head` is a list of
strings, a class or token indices in digits. Splits are train, validation and test.
Source: the features of https://huggingface.co/datasets/numeric_fused_head.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nfh_db.formats import nfh
from nfh_db.formats.fields import Fields
from nfh_db.formats.reading import Origin
from nfh_db.formats.release import RELEASE_KEYS, release_head
from nfh_db.formats.rows import LabelledRow, joined, per_token
from nfh_models.domain import Anchor, Answer, Kind, Turn

IDENTIFICATION, RESOLUTION = "identification", "resolution"
CONFIGURATIONS = (RESOLUTION, IDENTIFICATION)

IDENTIFICATION_KEYS = ("tokens", "start_index", "end_index", "label")
KEYS = {IDENTIFICATION: IDENTIFICATION_KEYS, RESOLUTION: RELEASE_KEYS}

LABELS = {0: Kind.NOT_NFH, 1: Kind.NFH, "neg": Kind.NOT_NFH, "pos": Kind.NFH}
LABEL_NAMES = ("neg", "pos")

UNSPLIT = "unsplit"
"""The split's name of what has none: a file needs one."""

DEV = "validation"
"""What `dev` is called there."""

Values = Mapping[str, Any]


def split_there(split: str | None) -> str:
    """What a split of ours is called there."""
    return UNSPLIT if split is None else DEV if split == "dev" else split


def split_here(name: str | None) -> str | None:
    """What a split of theirs is called here."""
    return None if name == UNSPLIT else "dev" if name == DEV else name


# --- out ------------------------------------------------------------------------------------


def resolution_values(
    words: Sequence[str],
    turns: Sequence[Turn],
    anchor: Anchor,
    answer: Answer | None,
) -> Values | None:
    """A row of `resolution`; None for an answer that has no form there."""
    head = release_head(answer, anchor)
    if head is None:
        return None
    numbers, speakers = per_token(turns)
    return {
        "tokens": list(words),
        "line_indices": numbers,
        "head": list(map(str, head)),
        "speakers": speakers,
        "anchors_indices": list(range(anchor.start, anchor.end)),
    }


def identification_values(
    words: Sequence[str], anchor: Anchor, answer: Answer | None
) -> Values | None:
    """A row of `identification`; None where nobody said, or the words cannot be read."""
    is_one = answer.kind.identification if answer else None
    if is_one is None:
        return None
    return {
        "tokens": list(words),
        "start_index": anchor.start,
        "end_index": anchor.end,
        "label": int(is_one),
    }


# --- in -------------------------------------------------------------------------------------


def configuration_of(keys: Sequence[str]) -> str | None:
    """The configuration whose rows have these keys; None if neither has."""
    found = set(keys)
    return next((name for name, wanted in KEYS.items() if set(wanted) == found), None)


def row_of(source: Origin, line: int, values: Values, split: str | None) -> LabelledRow:
    """A row of either configuration. Raises FormatError if it does not hold."""
    fields = Fields(source, line, values)
    configuration = configuration_of(tuple(values))
    if configuration is None:
        shown = " or ".join(f"{', '.join(keys)} ({name})" for name, keys in KEYS.items())
        raise source.error(line, f"found the keys {', '.join(values)}; wanted {shown}")
    make = _identified if configuration == IDENTIFICATION else _resolved
    return make(fields, split)


def _resolved(fields: Fields, split: str | None) -> LabelledRow:
    head = [
        int(item) if isinstance(item, str) and item.isascii() and item.isdigit() else item
        for item in fields.items("head")
    ]
    changed = Fields(fields.source, fields.line, {**fields.values, "head": head})
    row, _ = nfh.row_of(changed)
    return LabelledRow(
        row.line, row.passage, row.anchor, row.labels, row.kind, row.head_tokens, split
    )


def _identified(fields: Fields, split: str | None) -> LabelledRow:
    words = fields.strings("tokens")
    start, end = fields.integer("start_index"), fields.integer("end_index")
    if not 0 <= start < len(words):
        raise fields.refuse("start_index", f"a token from 0 to {len(words) - 1}")
    if not start < end <= len(words):
        wanted = f"a number from {start + 1} to {len(words)}, the token after the last"
        raise fields.refuse("end_index", wanted)
    label = fields.values["label"]
    kind = LABELS.get(label) if isinstance(label, str | int) else None
    if kind is None or isinstance(label, bool):
        raise fields.refuse("label", "1 (pos, an NFH) or 0 (neg, none)")
    passage = joined(words, (Turn(0, None, 0, len(words)),))
    told = json.dumps(int(kind is Kind.NFH))
    return LabelledRow(fields.line, passage, Anchor(start, end), told, kind, (), split)
