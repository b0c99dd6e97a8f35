"""`nfh-tui scan`: the share of fused heads among the numbers of text files of any size."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_models.errors import ModelsError
from nfh_tui.cli.common import emit, json_option, open_to_read, reporting, say, tell
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_tui.scanning.crew import Crew
    from nfh_tui.scanning.engine import Task
    from nfh_tui.scanning.scan import Scan
    from nfh_tui.scanning.sources import Source

TOP = 15


@click.command(short_help="Measure how many numbers of large texts lack a noun.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--model", metavar="M", help="A recipe, a model's folder; with --db its name.")
@click.option("--parser", "spec", metavar="SPEC", help="As on identify; else the first spaCy.")
@click.option("--per-line", is_flag=True, help="Each line is a text of its own.")
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Worker processes on this machine; else one a processor.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Work on a Dask cluster instead.")
@click.option("--fresh", is_flag=True, help="Start again, whatever earlier runs have done.")
@click.option(
    "--top",
    type=click.IntRange(0, 20_000),
    default=TOP,
    show_default=True,
    metavar="N",
    help="How many of the most common anchors are listed.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="F",
    help="Also write the JSON object to this file.",
)
@click.option(
    "--db", type=click.Path(path_type=Path), metavar="PATH", help="Where --model has a name."
)
@json_option
@reporting
def scan(
    files: tuple[str, ...],
    model: str | None,
    spec: str | None,
    per_line: bool,
    processes: int | None,
    scheduler: str | None,
    fresh: bool,
    top: int,
    out: Path | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Count the numbers in text files, and how many of them lack a noun.

    A FILE is plain text or gzip, in UTF-8, of any size; - is standard input. A scan that was
    stopped goes on where it was when the same command is given again. --model takes a model's
    name or number where --db names the database that knows it.
    """
    if scheduler is not None and processes is not None:
        raise click.UsageError("--processes is for this machine: leave it out with --scheduler")
    from nfh_tui.cli.scan_json import report_json
    from nfh_tui.cli.scan_notes import say_twice
    from nfh_tui.cli.scan_text import report_lines
    from nfh_tui.scanning.engine import Task
    from nfh_tui.scanning.reading import distinct

    _check_out(out, files)
    source = _source(model, db)
    task = Task(source.recipe, source.folder, spec, per_line)
    names, twice = distinct(files)
    say_twice(twice)
    with _crew(task, processes, scheduler) as crew:
        done = _run(names, task, crew, fresh=fresh, top=top)
    report = report_json(done, source, task, top)
    if as_json:
        emit(report)
    else:
        for line in report_lines(report):
            tell(line)
    if out is not None:
        _write(out, report)
    if any(file.failed for file in done.files):
        raise click.exceptions.Exit(1)


def _check_out(out: Path | None, files: Sequence[str]) -> None:
    """Refuse to write over a file that is to be scanned."""
    from nfh_tui.scanning.reading import place_of

    place = None if out is None else place_of(str(out))
    if place is not None and place in map(place_of, files):
        raise click.UsageError(f"--out {out}: that is a file to be scanned; name another")


def _source(model: str | None, db: Path | None) -> "Source":
    from nfh_tui.scanning.sources import source_of

    if db is None:
        return source_of(None, model)

    with open_to_read(db) as store:
        return source_of(store, model)


@contextmanager
def _crew(task: "Task", processes: int | None, scheduler: str | None) -> "Iterator[Crew]":
    crew: Crew
    if scheduler is None:
        from nfh_tui.scanning.workers import Workers, cores

        crew = Workers(task, processes or cores())
    else:
        from nfh_tui.scanning.cluster import Cluster

        crew = cluster = Cluster(scheduler, task)
        for warning in cluster.warnings:
            say(f"nfh-tui: {warning}")
    try:
        yield crew
    finally:
        crew.close()


def _run(names: list[str], task: "Task", crew: "Crew", *, fresh: bool, top: int) -> "Scan":
    from nfh_tui.cli.scan_notes import kept, say_known, say_rest
    from nfh_tui.cli.scan_text import progress_words
    from nfh_tui.scanning.scan import Call, Scan

    with Steps("scan") as steps:
        steps.show("the workers load the parser")
        warning = crew.hello().warning
    if warning is not None:
        say(f"nfh-tui: {warning}")
    home = _journals()
    job = Scan(Call(names, task.per_line, home, fresh, top), crew)
    say_known(job.files)
    try:
        with Steps("scan") as steps:
            job.run(lambda progress: steps.show(progress_words(progress)))
    except KeyboardInterrupt as error:
        if home is not None:
            error.add_note(kept(job))
        raise
    except ModelsError as error:
        after = kept(job) if home is not None else ""
        raise ModelsError(f"{str(error).rstrip('.')}. {after}".rstrip()) from error
    finally:
        _tidy(home)
    say_rest(job)
    return job


def _journals() -> Path | None:
    """The folder of journals; None, and a sentence, for a user who can have none."""
    from nfh_tui.scanning import journal

    try:
        return journal.folder()
    except OSError:
        say("nfh-tui: there is no data folder, so a scan that is stopped cannot go on later")
        return None


def _tidy(home: Path | None) -> None:
    from nfh_tui.scanning import journal

    if home is not None:
        journal.tidy(home)


def _write(path: Path, report: dict[str, object]) -> None:
    import json

    from nfh_db.formats.writing import replacing

    with replacing(path) as file:
        text = json.dumps(report, ensure_ascii=False, indent=2)
        # A file's name may hold bytes that are no UTF-8: they are escaped as JSON has it.
        file.write(text.encode("utf-8", "backslashreplace") + b"\n")
