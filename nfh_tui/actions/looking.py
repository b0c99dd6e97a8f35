"""Acts that change only what is seen."""

from nfh_tui.actions.act import LOOK, Action

ACTS: tuple[Action, ...] = (
    Action(
        "search", ("slash",), "/", "Search the text",
        "Keep the items of this query whose passage has these words.", LOOK,
        foot=55, short="search",
    ),
    Action(
        "query", ("colon",), ":", "Query", "Say which items make the queue; tab completes.",
        LOOK, foot=58, short="query",
    ),
    Action("view.open", (), "", "Open a saved view", "Go to a query kept by name.", LOOK),
    Action("view.save", (), "", "Save this view", "Keep this query under a name.", LOOK),
    Action(
        "queue.reload", (), "", "Run the query again",
        "Make the queue anew, with what has changed since.", LOOK,
    ),
    Action("heat", ("H",), "H", "Heat map", "The model's scores on the words.", LOOK),
    Action("blind", ("B",), "B", "Blind", "Hide names and mix the answers.", LOOK),
    Action("pane.next", ("tab",), "tab", "Next pane", "Queue, passage, evidence.", LOOK),
    Action("pane.previous", ("shift+tab",), "shift+tab", "Previous pane", "Go back.", LOOK),
)  # fmt: skip
