"""Acts that go through the queue."""

from nfh_tui.actions.act import ANNOTATOR, QUEUE, READER, WRITING, Action

ACTS: tuple[Action, ...] = (
    Action(
        "queue.next", ("j",), "j", "Next item", "Go to the next item of the queue.",
        QUEUE, READER, foot=60, short="next",
    ),
    Action("queue.previous", ("k",), "k", "Previous item", "Go one item back.", QUEUE, READER),
    Action(
        "queue.first", ("g",), "g", "First item", "Go to the start of the queue.",
        QUEUE, READER,
    ),
    Action(
        "queue.last", ("G",), "G", "Last item", "Go to the end of the queue.", QUEUE, READER,
    ),
    Action(
        "queue.next_undecided", ("right_square_bracket",), "]", "Next undecided item",
        "Go to the next item that still waits: for your answer, or for its gold.",
        QUEUE, READER, foot=50, short="next open",
    ),
    Action(
        "queue.previous_undecided", ("left_square_bracket",), "[", "Previous undecided item",
        "Go back to the last item that still waits.", QUEUE, READER,
    ),
    Action(
        "bulk.menu", ("E",), "E", "Everything in the queue",
        "One thing for all items of the query: flags, decisions; looked at first, one undo.",
        QUEUE, ANNOTATOR, WRITING,
    ),
)  # fmt: skip
