"""`nfh-tui predict`: which heads numbers have, in a database or in any text."""

from pathlib import Path
from typing import Literal

import click

from nfh_tui.cli.common import QueryCommand, db_option, json_option, reporting
from nfh_tui.cli.format_options import FormatName, of_file, reading_options
from nfh_tui.cli.identify import PARSERS
from nfh_tui.cli.queueing import background_option


@click.command(cls=QueryCommand, short_help="Predict the heads of numbers.")
@click.argument("query", nargs=-1)
@click.option(
    "--model",
    metavar="M",
    help="A model's number, name, recipe or folder; else the active one, with --file the "
    "small one of the package.",
)
@click.option(
    "--parser",
    "spec",
    metavar="SPEC",
    help=f"What parses, where it is needed: {PARSERS}; else the first English spaCy pipeline.",
)
@click.option("--force", is_flag=True, help="Also predict anew what this model has predicted.")
@click.option(
    "--file",
    "file",
    metavar="F",
    help="A file, - for standard input, in place of the database.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="F",
    help="With --file: where the lines go; else to standard output.",
)
@click.option(
    "--format",
    "format_name",
    type=FormatName(besides=("text",)),
    help="With --file: its format, text for running text. Without it the content decides.",
)
@click.option(
    "--identifier",
    metavar="M",
    help="With --file: what decides which numbers lack a noun; else the same model, or rules.",
)
@click.option(
    "--anchors",
    type=click.Choice(("given", "found")),
    help="With --file: of labelled rows take the numbers that they give (as they are, unless "
    "--identifier is named), or find all.  [default: given]",
)
@click.option(
    "--deterministic/--no-deterministic",
    "patterns",
    default=None,
    help="With --file: whether sure patterns (no one, three of the spoons) go first; else they "
    "do as far as a parser is installed.",
)
@click.option("--scores", is_flag=True, help="With --file: write every candidate's score, too.")
@click.option(
    "--all", "every", is_flag=True, help="With --file: write also numbers that have their noun."
)
@reading_options
@background_option
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="With --background: predict on a Dask cluster.",
)
@db_option
@json_option
@reporting
def predict(
    query: tuple[str, ...],
    model: str | None,
    spec: str | None,
    force: bool,
    file: str | None,
    out: Path | None,
    format_name: str | None,
    identifier: str | None,
    anchors: Literal["given", "found"] | None,
    patterns: bool | None,
    scores: bool,
    every: bool,
    background: bool,
    scheduler: str | None,
    db: Path | None,
    as_json: bool,
    **said: object,
) -> None:
    """Predict which head each number that QUERY finds has.

    What is predicted is stored and shown in the workbench; it is no answer and no gold. With
    --file no database is needed: the numbers of a text are found, those whose noun is missing
    are resolved, and each is a line of JSON, as the gold format has it.
    """
    reading = of_file(said, file)
    if file is None:
        alone = (out, format_name, identifier, anchors, patterns, scores or None, every or None)
        if any(option is not None for option in alone):
            raise click.UsageError(
                "--out, --format, --identifier, --anchors, --deterministic, --scores and --all "
                "go with --file"
            )
        from nfh_tui.cli.predict_database import predict_database, queue_prediction

        if background:
            queue_prediction(
                " ".join(query),
                model,
                spec,
                db,
                force=force,
                scheduler=scheduler,
                as_json=as_json,
            )
            return
        if scheduler is not None:
            raise click.UsageError("--scheduler goes with --background")
        predict_database(" ".join(query), model, spec, db, force=force, as_json=as_json)
        return
    if query:
        raise click.UsageError("give a QUERY or --file, not both")
    if background or scheduler is not None:
        raise click.UsageError(
            "--background and --scheduler are about the database: leave out --file"
        )
    if force:
        raise click.UsageError("--force is about the database: leave it out with --file")
    if as_json and out is None:
        raise click.UsageError(
            "with --file, --json reports on what is written with --out; without it the lines "
            "themselves, which are JSON, go to standard output"
        )
    from nfh_tui.cli.predict_file import Call, predict_file

    predict_file(
        Call(
            place=file,
            out=out,
            format_name=format_name,
            model=model,
            identifier=identifier,
            anchors=anchors,
            patterns=patterns,
            parser=spec,
            scores=scores,
            every=every,
            db=db,
            as_json=as_json,
            reading=reading,
        )
    )
