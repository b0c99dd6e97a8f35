"""Acts about jobs and models, on their own screen."""

from nfh_tui.actions.act import ADMIN, READER, SIDE, Action

THERE = ("screen.jobs",)
"""What opens the screen whose acts stand here."""

ACTS: tuple[Action, ...] = (
    Action(
        "side.train", ("t",), "t", "Train", "Start a training on the labels as they are now.",
        SIDE, ADMIN, foot=12, short="train", where="side", of=THERE,
    ),
    Action(
        "side.cancel", ("x",), "x", "Cancel", "Stop the job; asked once.", SIDE, ADMIN,
        foot=13, short="cancel", where="side", of=THERE,
    ),
    Action(
        "side.retry", ("r",), "r", "Try again",
        "Put a job that was interrupted, failed or cancelled back into the queue.", SIDE, ADMIN,
        foot=14, short="again", where="side", of=THERE,
    ),
    Action(
        "side.log", ("L",), "L", "Log", "The log of the job, whole.", SIDE, READER,
        where="side", of=THERE,
    ),
    Action(
        "side.compare", ("c",), "c", "Compare with",
        "Choose the model that this one is compared with, item by item.", SIDE, READER,
        foot=15, short="compare", where="side", of=THERE,
    ),
    Action(
        "side.use", ("u",), "u", "Use", "Make the model the one that its task uses.",
        SIDE, ADMIN, foot=16, short="use", where="side", of=THERE,
    ),
    Action(
        "side.back", ("b",), "b", "Go back",
        "Use the model again that the task used before this one.", SIDE, ADMIN,
        where="side", of=THERE,
    ),
    Action(
        "side.predict", ("p",), "p", "Have it predict",
        "Start a job in which the model answers all items.",
        SIDE, ADMIN, where="side", of=THERE,
    ),
    Action(
        "side.card", ("i",), "i", "Card", "What the model is, and how good.", SIDE, READER,
        where="side", of=THERE,
    ),
)  # fmt: skip
