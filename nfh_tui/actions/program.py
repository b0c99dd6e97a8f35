"""Acts of the program itself."""

from nfh_tui.actions.act import ADJUDICATOR, ADMIN, PROGRAM, READER, Action

ACTS: tuple[Action, ...] = (
    Action(
        "mode.next", ("M",), "M", "Change the mode",
        "From reading to annotating to adjudicating and round again.", PROGRAM, ADJUDICATOR,
        foot=45, short="mode",
    ),
    Action(
        "mode.browse", (), "", "Read only", "Read; nothing can be changed.",
        PROGRAM, ADJUDICATOR,
    ),
    Action("mode.annotate", (), "", "Annotate", "Give your own answers.", PROGRAM, ADJUDICATOR),
    Action(
        "mode.adjudicate", (), "", "Adjudicate", "Decide what counts.", PROGRAM, ADJUDICATOR,
    ),
    Action(
        "help", ("question_mark", "f1"), "? F1", "Keys", "The keys, those of this pane first.",
        PROGRAM, READER, foot=80, short="keys",
    ),
    Action(
        "palette", ("ctrl+p",), "ctrl+p", "Palette", "Every act by its name.", PROGRAM, READER
    ),
    Action(
        "theme", (), "", "Change the theme", "Choose colours, dark or light.", PROGRAM, READER,
    ),
    Action(
        "tour", (), "", "Tour", "Show the workbench round, in under a minute.", PROGRAM, READER,
    ),
    Action(
        "rescue", (), "", "Rescue",
        "Write all there is, and what cannot be saved, to another file.", PROGRAM, ADMIN,
    ),
    Action(
        "out", ("escape",), "esc", "One step out",
        "Close what is open, leave a search, go back to the passage. Never quits.",
        PROGRAM, READER,
    ),
    Action(
        "quit", ("q",), "q ctrl+q", "Quit",
        "Leave; asks first while something is not saved.",
        PROGRAM, READER, foot=90, short="quit",
    ),
)  # fmt: skip
