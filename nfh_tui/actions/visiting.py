"""Acts that open the screens beside the workbench, and the acts of those screens.

A screen does those of the acts "side" that it has a method for; its foot and its help
name no others.
"""

from nfh_tui.actions.act import ADJUDICATING, LOOK, READER, SIDE, Action, Mode

SEEING = frozenset({Mode.BROWSE}) | ADJUDICATING
"""Where others' answers may be seen."""

ELSEWHERE = "Another of these screens"

ACTS: tuple[Action, ...] = (
    Action(
        "screen.agreement", ("f2",), "F2", "Agreement",
        "How far annotators agree; from each figure to its items.", LOOK, READER, SEEING,
    ),
    Action(
        "screen.evaluation", ("f3",), "F3", "Evaluation",
        "Models, gold and people against each other; from each figure to its items.",
        LOOK, READER, SEEING,
    ),
    Action(
        "screen.jobs", ("f4",), "F4", "Jobs and models",
        "Trainings as they go on, and the models that came of them.", LOOK, READER, SEEING,
    ),
    Action(
        "side.down", ("j", "down"), "j ↓", "Down", "One line or cell down.",
        SIDE, READER, where="side",
    ),
    Action(
        "side.up", ("k", "up"), "k ↑", "Up", "One line or cell up.", SIDE, READER, where="side",
    ),
    Action(
        "side.left", ("h", "left"), "h ←", "Left", "One cell to the left.", SIDE, READER,
        where="side",
    ),
    Action(
        "side.right", ("l", "right"), "l →", "Right", "One cell to the right.", SIDE, READER,
        where="side",
    ),
    Action(
        "side.first", ("g", "home"), "g home", "Start", "Go to the start.", SIDE, READER,
        where="side",
    ),
    Action(
        "side.last", ("G", "end"), "G end", "End", "Go to the end.", SIDE, READER, where="side",
    ),
    Action(
        "side.page_up", ("pageup",), "pgup", "Page up", "One page up.",
        SIDE, READER, where="side"
    ),
    Action(
        "side.page_down", ("pagedown",), "pgdn", "Page down", "One page down.", SIDE, READER,
        where="side",
    ),
    Action(
        "side.open", ("enter",), "enter", "Open", "Open what one stands on.", SIDE, READER,
        foot=10, short="open", where="side",
    ),
    Action(
        "side.pane", ("tab",), "tab", "Next pane", "Go to the next pane of the screen.",
        SIDE, READER, foot=20, short="pane", where="side",
    ),
    Action(
        "side.pane_back", ("shift+tab",), "shift+tab", "Previous pane", "Go back.",
        SIDE, READER, where="side",
    ),
    Action(
        "side.scope", ("a",), "a", "All, or the query",
        "All items, or only those of the queue's query.", SIDE, READER,
        foot=30, short="all/query", where="side",
        of=("screen.agreement", "screen.evaluation", "screen.jobs"),
    ),
    Action(
        "side.agreement", ("f2",), "F2 F3 F4 F5", "Agreement", "Go to the agreement.",
        SIDE, READER, listed=ELSEWHERE, where="side",
    ),
    Action(
        "side.evaluation", ("f3",), "F2 F3 F4 F5", "Evaluation", "Go to the evaluation.",
        SIDE, READER, listed=ELSEWHERE, where="side",
    ),
    Action(
        "side.jobs", ("f4",), "F2 F3 F4 F5", "Jobs and models", "Go to the jobs and models.",
        SIDE, READER, listed=ELSEWHERE, where="side",
    ),
    Action(
        "side.guidelines", ("f5",), "F2 F3 F4 F5", "Guidelines", "Go to the guidelines.",
        SIDE, READER, listed=ELSEWHERE, where="side",
    ),
    Action(
        "side.help", ("question_mark", "f1"), "? F1", "Keys", "The keys of this screen.",
        SIDE, READER, foot=80, short="keys", where="side",
    ),
    Action(
        "side.palette", ("ctrl+p",), "ctrl+p", "Palette", "Every act by its name.",
        SIDE, READER, where="side",
    ),
    Action(
        "side.close", ("escape", "q"), "esc q", "Back", "Back to the workbench.", SIDE, READER,
        foot=90, short="back", where="side",
    ),
)  # fmt: skip
