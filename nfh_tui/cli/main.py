"""The group of all commands: it knows their names and help, and imports none of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import click


class Lazy(NamedTuple):
    """Where a command is, and its line in the help."""

    module: str
    attribute: str
    help: str


COMMANDS = {
    "demo": Lazy("workbench", "demo", "Open the sample corpus in the workbench."),
    "browse": Lazy("workbench", "browse", "Open the workbench to read."),
    "annotate": Lazy("workbench", "annotate", "Open the workbench to annotate."),
    "adjudicate": Lazy("workbench", "adjudicate", "Open the workbench to decide gold."),
    "serve": Lazy("workbench", "serve", "Open the workbench in browsers, by invitation."),
    "init": Lazy("workbench", "init", "Make a new, empty database."),
    "import": Lazy("files", "import_", "Import files into the database."),
    "imports": Lazy("imports", "imports", "List the imports, or remove one."),
    "export": Lazy("files", "export", "Export items to a file."),
    "release": Lazy(
        "release", "release", "Write gold as a release: a folder with a datasheet."
    ),
    "diff": Lazy("release", "diff", "Show what changed between two releases or databases."),
    "identify": Lazy(
        "identify", "identify", "Find numbers, and decide which ones lack a noun."
    ),
    "predict": Lazy("predict", "predict", "Predict the heads of numbers."),
    "retrain": Lazy("retrain", "retrain", "Train a model on the gold."),
    "evaluate": Lazy("evaluate", "evaluate", "Measure a model on labelled numbers."),
    "jobs": Lazy("jobs", "jobs", "List jobs, follow one, or cancel one."),
    "models": Lazy("models", "models", "List the models, show one, or activate one."),
    "doubts": Lazy("doubts", "doubts", "Find gold that a model considers unlikely."),
    "assign": Lazy("assign", "assign", "Assign items to people, and see their progress."),
    "settle": Lazy("settle", "settle", "Make gold of the annotators' votes, by a rule."),
    "audit": Lazy("settle", "audit", "Draw an audit of what rules settled, or report audits."),
    "agreement": Lazy("agreement", "agreement", "Measure how far annotators agree."),
    "annotators": Lazy("annotators", "annotators", "Report how reliable each annotator is."),
    "people": Lazy("people", "people", "List people; rename, merge or retire one."),
    "stats": Lazy("stats", "stats", "Count numbers, anchors, classes, heads, distances."),
    "scan": Lazy("scan", "scan", "Count how many numbers in large texts lack a noun."),
    "guidelines": Lazy(
        "guidelines", "guidelines", "Show the guidelines, or make a new version."
    ),
    "history": Lazy("history", "history", "Show who changed what, and when."),
    "doctor": Lazy("doctor", "doctor", "Check the database, or find label problems."),
    "backup": Lazy("doctor", "backup", "Copy the database, even while others work in it."),
    "merge": Lazy("doctor", "merge", "Merge what was done in another copy."),
    "formats": Lazy("workbench", "formats", "List the file formats, or describe one."),
    "keys": Lazy("workbench", "keys", "List the keys of the workbench, including your own."),
}
"""Commands in the order of the help. Modules are those beside this one."""


@contextmanager
def _plainly() -> Iterator[None]:
    """What is wrong with a call is said without anything that a terminal would obey."""
    try:
        yield
    except click.ClickException as error:
        from nfh_db.messages import lines_visible

        # Final for those who make one; it is shown right after this.
        error.message = lines_visible(error.message)  # type: ignore[misc]
        raise


class LazyGroup(click.Group):
    """A group that imports a command when it is called, not when it is listed."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - as click has it
    ) -> click.Context:
        with _plainly():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with _plainly():
            found: object = super().invoke(ctx)
            return found

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command, imported; None for a name that is none."""
        if (lazy := COMMANDS.get(cmd_name)) is None:
            return None
        command = getattr(import_module(f"nfh_tui.cli.{lazy.module}"), lazy.attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"nfh_tui.cli.{lazy.module}.{lazy.attribute} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands in the help, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.help) for name, lazy in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; a wrong name is met with a close one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
    if not value or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"nfh-tui {version('nfh-tui')}")
    except PackageNotFoundError:
        click.echo("nfh-tui, run from its source: not installed, so it has no version")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version.",
)
def commands() -> None:
    """A workbench for numeric fused heads: numbers whose noun is missing.

    Start with `nfh-tui demo`, or with `nfh-tui import FILE` and `nfh-tui adjudicate`.
    """
