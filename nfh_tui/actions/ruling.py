"""Acts about the guidelines: in the workbench, and on their own screen."""

from nfh_tui.actions.act import (
    ADJUDICATOR,
    ANNOTATOR,
    ITEM,
    LOOK,
    READER,
    SIDE,
    WRITING,
    Action,
)

THERE = ("screen.guidelines",)
"""What opens the screen whose acts stand here."""

ACTS: tuple[Action, ...] = (
    Action(
        "rule.tag", ("R",), "R", "Tag with a rule",
        "Name the rule of the guidelines on which the decision turns; enter alone lists them.",
        ITEM, ANNOTATOR, WRITING,
    ),
    Action(
        "screen.guidelines", ("f5",), "F5", "Guidelines",
        "The rules, how often each was used, and their earlier versions.", LOOK, READER,
    ),
    Action(
        "side.older", ("o",), "o", "Items under the old text",
        "Open what was decided while this rule, or on no rule any of them, read otherwise.",
        SIDE, READER, foot=30, short="old text", where="side", of=THERE,
    ),
    Action(
        "side.search", ("slash",), "/", "Find words", "Find words in the text.", SIDE, READER,
        foot=40, short="find", where="side", of=THERE,
    ),
    Action(
        "side.search_next", ("n",), "n", "Next place", "Where the words stand next.",
        SIDE, READER, where="side", of=THERE,
    ),
    Action(
        "side.search_back", ("N",), "N", "Place before", "Where they stand before.",
        SIDE, READER, where="side", of=THERE,
    ),
    Action(
        "side.edit", ("e",), "e", "Edit", "Change the text; saved, it is a new version.",
        SIDE, ADJUDICATOR, foot=50, short="edit", where="side", of=THERE,
    ),
    Action(
        "side.versions", ("v",), "v", "Versions", "Read an earlier version.", SIDE, READER,
        foot=60, short="versions", where="side", of=THERE,
    ),
    Action(
        "side.difference", ("d",), "d", "Difference",
        "What changed between the version shown and the one that holds, or the one before.",
        SIDE, READER, where="side", of=THERE,
    ),
)  # fmt: skip
