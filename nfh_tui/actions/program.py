"""Acts of the program itself."""

from nfh_tui.actions.act import PROGRAM, Action

ACTS: tuple[Action, ...] = (
    Action(
        "mode.next", ("M",), "M", "Change the mode",
        "From reading to annotating to adjudicating and round again.", PROGRAM,
        foot=45, short="mode",
    ),
    Action("mode.browse", (), "", "Read only", "Read; nothing can be changed.", PROGRAM),
    Action("mode.annotate", (), "", "Annotate", "Give your own answers.", PROGRAM),
    Action("mode.adjudicate", (), "", "Adjudicate", "Decide what counts.", PROGRAM),
    Action(
        "help", ("question_mark", "f1"), "? F1", "Keys", "The keys, those of this pane first.",
        PROGRAM, foot=80, short="keys",
    ),
    Action(
        "palette", ("ctrl+p",), "ctrl+p", "Palette", "Every act by its name.", PROGRAM
    ),
    Action("theme", (), "", "Change the theme", "Choose colours, dark or light.", PROGRAM),
    Action("tour", (), "", "Tour", "Show the workbench round, in under a minute.", PROGRAM),
    Action(
        "rescue", (), "", "Rescue",
        "Write all there is, and what cannot be saved, to another file.", PROGRAM,
    ),
    Action(
        "out", ("escape",), "esc", "One step out",
        "Close what is open, leave a search, go back to the passage. Never quits.", PROGRAM,
    ),
    Action(
        "quit", ("q",), "q ctrl+q", "Quit",
        "Leave; asks first while something is not saved.", PROGRAM, foot=90, short="quit",
    ),
)  # fmt: skip
