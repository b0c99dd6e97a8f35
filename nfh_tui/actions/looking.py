"""Acts that change only what is seen."""

from nfh_tui.actions.act import ANNOTATOR, JUDGING, LOOK, READER, Action

ACTS: tuple[Action, ...] = (
    Action(
        "search", ("slash",), "/", "Search the text",
        "Keep the items of this query whose passage has these words.", LOOK, READER,
        foot=55, short="search",
    ),
    Action(
        "query", ("colon",), ":", "Query", "Say which items make the queue; tab completes.",
        LOOK, READER, foot=58, short="query",
    ),
    Action(
        "view.open", ("at",), "@", "Views",
        "Go to a query that has a name, yours or one always there; rename, delete yours.",
        LOOK, READER,
    ),
    Action(
        "view.save", (), "", "Save this view", "Keep this query under a name.", LOOK, ANNOTATOR,
    ),
    Action(
        "queue.sort", ("S",), "S", "Order of the queue",
        "Choose an order; the one there is once more turns it round.", LOOK, READER,
    ),
    Action(
        "precedents", ("P",), "P", "Precedents",
        "Earlier decisions under the same rule, of the same number, or to the same noun.",
        LOOK, READER, JUDGING,
    ),
    Action(
        "queue.reload", (), "", "Run the query again",
        "Make the queue anew, with what has changed since.", LOOK, READER,
    ),
    Action(
        "heat", ("H",), "H", "Heat map",
        "The model's scores on the words; again: how two models differ; again: off.",
        LOOK, READER,
    ),
    Action(
        "heat.other", (), "", "Compare with another model",
        "Choose the model that the heat map of differences holds against the active one.",
        LOOK, READER,
    ),
    Action(
        "window", (), "", "What voters saw",
        "Lines around the turns that voters of this database were shown; again: none.",
        LOOK, READER,
    ),
    Action(
        "sight.model", ("O",), "O", "Show or hide the model",
        "While you annotate or decide blind, what models say is hidden until you have "
        "answered.", LOOK, READER,
    ),
    Action(
        "guide", ("I",), "I", "Guidelines or evidence",
        "Put the guidelines into the pane of the evidence, or the evidence back.", LOOK, READER,
    ),
    Action("blind", ("B",), "B", "Blind", "Hide names and mix the answers.", LOOK, READER),
    Action(
        "pane.next", ("tab",), "tab", "Next pane", "Queue, passage, evidence.", LOOK, READER,
    ),
    Action(
        "pane.previous", ("shift+tab",), "shift+tab", "Previous pane", "Go back.", LOOK, READER,
    ),
)  # fmt: skip
