"""Acts on the item as a whole."""

from nfh_tui.actions.act import (
    ADJUDICATING,
    ADJUDICATOR,
    ANNOTATOR,
    ITEM,
    READER,
    WRITING,
    Action,
)

ACTS: tuple[Action, ...] = (
    Action(
        "undo", ("z",), "z", "Undo",
        "Take back the last change of this draft, else your last saved act, on any item.",
        ITEM, ANNOTATOR, WRITING, foot=30, short="undo",
    ),
    Action(
        "redo", ("Z",), "Z", "Redo", "Do again what was taken back.", ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "history", ("L",), "L", "History of this item",
        "Who changed what of this item, and when.", ITEM, READER,
    ),
    Action(
        "anchor.widen", ("plus",), "+", "Widen the number",
        "Take the next word on the right into the number; annotating, propose that to whoever "
        "adjudicates.", ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "anchor.narrow", ("minus",), "-", "Narrow the number",
        "Leave the last word of the number out; annotating, propose that.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "anchor.widen_left", ("less_than_sign",), "<", "Widen the number to the left",
        "Take the word before into the number; annotating, propose that.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "anchor.narrow_left", ("greater_than_sign",), ">", "Narrow the number from the left",
        "Leave the first word of the number out; annotating, propose that.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "anchor.take", ("T",), "T", "Take the proposed span",
        "Give the number the span that an annotator proposes; of several, choose one.",
        ITEM, ADJUDICATOR, ADJUDICATING,
    ),
    Action(
        "flag", ("exclamation_mark",), "!", "Flag",
        "Then a: the number's span is wrong, m: ambiguous, g: the guidelines are silent.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "comment", ("semicolon",), ";", "Comment", "On this answer.", ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "draft.clear", (), "", "Throw the draft away", "Start afresh.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "withdraw", (), "", "Withdraw my answer",
        "Take your saved answer to this item back; undo brings it again.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "copy", ("Y",), "Y", "Copy",
        "Then s: the turn, p: the passage, n: the number and its place, a: the answer, "
        "j: the item as JSON, f: all of it to a file, i: its id.",
        ITEM, READER,
    ),
)  # fmt: skip
