"""`nfh-tui evaluate`: how good a model is on what is labelled already."""

from pathlib import Path
from typing import Any

import click

from nfh_tui.cli.options import (
    FormatName,
    QueryCommand,
    background_option,
    of_file,
    on_database,
    parser_option,
    reading_options,
    resamples_option,
    word,
)

TASKS = ("identification", "resolution")
"""The module `evaluate_TASK` beside this one evaluates it."""

MOST_FOLDS = 50


def _task(ctx: click.Context, parameter: click.Parameter, value: str) -> str:  # noqa: ARG001
    if value not in TASKS:
        raise click.BadParameter(f"found {value!r}, wanted a task: {', '.join(TASKS)}")
    return value


@click.command(cls=QueryCommand)
@click.argument("task", metavar="TASK", callback=_task)
@click.argument("query", nargs=-1)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="M",
    help="A model's number or name, a recipe, or a model's folder; else the active model, "
    "else rules or that of the package. Several models are compared.",
)
@click.option(
    "--split",
    callback=word,
    help="Only items of this split, as imported rows give it.",
)
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Measure on a labelled file; needs no database.",
)
@click.option(
    "--several-heads",
    is_flag=True,
    help="Resolution: measure on the package's own passages about several heads, those that "
    "are kept out of training; needs no database.",
)
@click.option(
    "--format",
    "format_name",
    type=FormatName(),
    help="The file's format; without it, or with auto, its content decides.",
)
@reading_options
@parser_option
@click.option(
    "--folds",
    type=click.IntRange(2, MOST_FOLDS),
    metavar="K",
    help="Identification: fit a recipe that learns K times, each time without the part that "
    "it then decides.",
)
@click.option(
    "--train",
    "train",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Identification: fit a recipe that learns on this file, and measure it on the rest.",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="Identification: a setting of the recipe that is fitted, as of `nfh-tui retrain`.",
)
@click.option(
    "--ablation",
    is_flag=True,
    help="Identification: show what each part of a recipe is worth: svm in folds (5 without "
    "--folds) or with --train; rules with --model rules.",
)
@click.option(
    "--oracle",
    is_flag=True,
    help="Resolution: measure again with candidates limited to the kind that gold has.",
)
@click.option(
    "--baselines",
    is_flag=True,
    help="Resolution: add the noun baselines on what gold calls a Reference.",
)
@click.option(
    "--errors",
    type=click.IntRange(0),
    default=10,
    metavar="N",
    help="Show this many wrong decisions of each model; --json has all of them.",
)
@resamples_option
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    default=1,
    help="Seed of the resamples and folds; the same seed gives the same report.",
)
@click.option(
    "--blind",
    is_flag=True,
    help="Leave out gold that was decided with a model's answer in view.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help="Also write the report to this page, with all wrong decisions.",
)
@background_option
@on_database
def evaluate(
    query: tuple[str, ...],
    file: Path | None,
    format_name: str | None,
    background: bool,
    **options: Any,  # noqa: ANN401 - the fields of EvaluateOptions
) -> None:
    """Measure a model on the labelled numbers of the items that QUERY finds.

    TASK is identification (is the number's noun missing?) or resolution (what is the noun?).
    Without QUERY, all anchors. Gold that answers the task's question is the label; what has
    none is left out and counted.
    """
    from nfh_tui.cli.evaluate_call import EvaluateOptions, queue_evaluation, run

    reading = of_file(options, file)
    call = EvaluateOptions(
        query=" ".join(query), file=file, format=format_name, reading=reading, **options
    )
    call.check()
    if background:
        queue_evaluation(call)
        return
    run(call)
