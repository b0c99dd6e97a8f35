"""`nfh-tui scan`: the share of fused heads among the numbers of text files of any size."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nfh_db.messages import counted, visible
from nfh_models import ModelsError
from nfh_tui.cli.options import (
    emit,
    json_option,
    named_store,
    picked,
    reporting,
    say,
    tell_lines,
)
from nfh_tui.cli.report import Steps, aligned
from nfh_tui.display_figures import clock
from nfh_tui.scanning.blocks import Count, TextFigures, wilson
from nfh_tui.scanning.scan import Scan, ScannedFile, ScanProgress

if TYPE_CHECKING:
    from nfh_tui.scanning.scan import ModelSource
    from nfh_tui.scanning.worker import BlockTask, WorkerPool


TOP = 15


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--model", metavar="M", help="A recipe, a model's folder; with --db its name.")
@click.option(
    "--parser", "spec", metavar="SPEC", help=("As for identify; else the first spaCy pipeline.")
)
@click.option("--per-line", is_flag=True, help="Each line is a text of its own.")
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Worker processes on this machine; else one for each processor.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Work on a Dask cluster instead.")
@click.option("--fresh", is_flag=True, help="Start again, without the work of earlier runs.")
@click.option(
    "--top",
    type=click.IntRange(0, 20_000),
    default=TOP,
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
    stopped continues when the same command is run again. --model takes a model's
    name or number where --db names the database that knows it.
    """
    if scheduler is not None and processes is not None:
        raise click.UsageError("--processes is for this machine: leave it out with --scheduler")
    from nfh_tui.scanning.blocks import device_and_inode, distinct
    from nfh_tui.scanning.worker import BlockTask

    place = None if out is None else device_and_inode(str(out))
    if place is not None and place in map(device_and_inode, files):
        raise click.UsageError(f"--out {out}: that is an input file; name another")
    source = _source(model, db)
    task = BlockTask(source.recipe, source.folder, spec, per_line)
    names, twice = distinct(files)
    say_twice(twice)
    with _pool(task, processes, scheduler) as pool:
        done = _run(names, task, pool, fresh=fresh, top=top)
    report = report_json(done, source, task, top)
    if as_json:
        emit(report)
    else:
        tell_lines(report_lines(report))
    if out is not None:
        _write(out, report)
    if any(file.failed for file in done.files):
        raise click.exceptions.Exit(1)


def _source(model: str | None, db: Path | None) -> "ModelSource":
    from nfh_tui.scanning.scan import model_source

    with named_store(db) as store:
        return model_source(store, model)


@contextmanager
def _pool(
    task: "BlockTask", processes: int | None, scheduler: str | None
) -> "Iterator[WorkerPool]":
    pool: WorkerPool
    if scheduler is None:
        from nfh_tui.scanning.workers import Workers, cores

        pool = Workers(task, processes or cores())
    else:
        from nfh_tui.scanning.cluster import Cluster

        pool = cluster = Cluster(scheduler, task)
        for warning in cluster.warnings:
            say(f"nfh-tui: {warning}")
    try:
        yield pool
    finally:
        pool.close()


def _run(
    names: list[str], task: "BlockTask", pool: "WorkerPool", *, fresh: bool, top: int
) -> "Scan":
    from nfh_tui.scanning.scan import ScanRequest, remove_old_checkpoints

    with Steps("scan") as steps:
        steps.show("the workers load the parser")
        warning = pool.handshake().warning
    if warning is not None:
        say(f"nfh-tui: {warning}")
    home = _checkpoint_folder()
    job = Scan(ScanRequest(names, task.per_line, home, fresh, top), pool)
    say_known(job.files)
    try:
        with Steps("scan") as steps:
            job.run(lambda progress: steps.show(progress_words(progress)))
    except KeyboardInterrupt as error:
        if home is not None:
            error.add_note(stopped_words(job))
        raise
    except ModelsError as error:
        after = stopped_words(job) if home is not None else ""
        raise ModelsError(f"{str(error).rstrip('.')}. {after}".rstrip()) from error
    finally:
        if home is not None:
            remove_old_checkpoints(home)
    say_rest(job)
    return job


def _checkpoint_folder() -> Path | None:
    """The folder of checkpoints; None, and a sentence, for a user who can have none."""
    from nfh_tui.scanning import scan

    try:
        return scan.checkpoint_folder()
    except OSError:
        say("nfh-tui: there is no data folder, so a stopped scan cannot continue later")
        return None


def _write(path: Path, report: dict[str, object]) -> None:
    import json

    from nfh_db.formats.files import replacing

    with replacing(path) as file:
        text = json.dumps(report, ensure_ascii=False, indent=2)
        # A file's name may hold bytes that are no UTF-8: they are escaped as JSON has it.
        file.write(text.encode("utf-8", "backslashreplace") + b"\n")


def report_json(
    job: "Scan", source: "ModelSource", task: "BlockTask", top: int
) -> dict[str, object]:
    """The report. `all` is the sum over the files that were read completely."""
    return {
        **picked(source, "model=name recipe"),
        **picked(job.handshake, "version parser tokenizer"),
        "per_line": task.per_line,
        "files": [_file(file, top) for file in job.files],
        "all": figures(job.total, job.seconds, top, len(job.total.anchors)),
    }


def figures(tally: TextFigures, seconds: float, top: int, distinct: int) -> dict[str, object]:
    """The figures of a text; shares are fractions, None where there is nothing to share.

    distinct: number of different anchors; the tally may hold only the most common.
    """
    return {
        **picked(tally, "bytes words sentences sentences_with_number"),
        **_count(tally.total),
        "seconds": round(seconds, 3),
        "words_per_second": round(tally.words / seconds) if seconds else None,
        **picked(tally, "undecodable nul_bytes=nul"),
        "distinct_anchors": distinct,
        "anchors_not_apart": tally.rest.numbers,
        "anchors": [
            {
                "anchor": words,
                "numbers": count.numbers,
                "nfh": count.nfh,
                "share_of_nfh": count.nfh / tally.total.nfh,
                "share": count.nfh / count.numbers,
            }
            for words, count in tally.common(top)
        ],
        "rules": [
            {
                "rule": rule,
                "numbers": count.numbers,
                "nfh": count.nfh,
                "share_of_numbers": count.numbers / tally.total.numbers,
            }
            for rule, count in sorted(
                tally.rules.items(), key=lambda item: (-item[1].numbers, item[0])
            )
        ],
    }


def _file(file: "ScannedFile", top: int) -> dict[str, object]:
    if not file.counted:
        return {"file": file.name, "failed": file.failed}
    return {
        "file": file.name,
        "failed": None,
        "changed_meanwhile": file.changed,
        "scanned_before": file.finished_before or None,
        "resumed_at_byte": file.resumed or None,
        **figures(file.tally, file.state.seconds, top, file.distinct),
    }


def _count(count: Count) -> dict[str, object]:
    interval = wilson(count)
    return {
        "numbers": count.numbers,
        "nfh": count.nfh,
        "share": count.nfh / count.numbers if count.numbers else None,
        "share_95": None if interval is None else list(interval),
    }


ANCHOR_WIDTH = 34
NAME_LENGTH = 200
PROGRESS_NAME = 20
"""Characters of a file's name in the progress line, which must fit a terminal."""

SURE_AFTER = 2.0
"""Seconds before which the remaining time is not shown."""

RATED_FROM = 10_000
"""Words of a text below which its rate is not shown: it measures the start."""

Figures = Mapping[str, Any]


def shown(text: str) -> str:
    return visible(text, NAME_LENGTH)


def progress_words(now: ScanProgress) -> str:
    """Progress, rate and remaining time of a scan."""
    rate = (now.done - now.started) / now.seconds if now.seconds else 0.0
    name = visible(Path(now.file).name or now.file, PROGRESS_NAME)
    parts = [name, f"{rate / 1e6:.1f} MB/s"]
    if now.seconds:
        parts.append(f"{now.words / now.seconds:,.0f} words/s")
    if now.total:
        parts.insert(1, f"{min(now.done / now.total, 1.0):.0%} of {now.total / 1e6:,.0f} MB")
        if now.seconds > SURE_AFTER and rate:
            parts.append(f"{clock(round(max(0, now.total - now.done) / rate))} left")
    else:
        parts.insert(1, f"{now.done / 1e6:,.0f} MB")
    return ", ".join(parts)


def report_lines(report: Figures) -> Iterator[str]:
    files = [file for file in report["files"] if file["failed"] is None]
    for file in files:
        yield shown(file["file"])
        yield from _figures(file)
        yield ""
    if not files:
        return
    whole = report["all"]
    if len(report["files"]) > 1:
        yield f"in all, {counted(len(files), 'file')}"
        yield from _figures(whole)
        yield ""
    yield from _anchors(whole)
    yield from _rules(whole)
    parser = f", parser {shown(report['parser'])}" if report["parser"] else ""
    yield f"model {shown(report['model'])}{parser}"


def _figures(found: Figures) -> Iterator[str]:
    yield (
        f"  {counted(found['bytes'], 'byte')}, {counted(found['words'], 'word')}, "
        f"{counted(found['sentences'], 'sentence')}, "
        f"{found['sentences_with_number']:,} with a number"
    )
    if found["numbers"]:
        low, high = found["share_95"]
        yield (
            f"  {counted(found['numbers'], 'number')}, {found['nfh']:,} of them fused heads: "
            f"{found['share']:.1%} (95 % interval {low:.1%} to {high:.1%})"
        )
    else:
        yield "  no number, so no share of fused heads"
    rate = f", {found['words_per_second']:,} words/s" if found["words"] >= RATED_FROM else ""
    yield f"  {found['seconds']:,.1f} s{rate}"
    if found["undecodable"]:
        yield (
            f"  {counted(found['undecodable'], 'place')} that are not UTF-8, replaced. Is it "
            "another encoding?"
        )
    if found["nul_bytes"]:
        yield f"  {counted(found['nul_bytes'], 'NUL byte')}, read as white space"


def _anchors(found: Figures) -> Iterator[str]:
    if not found["anchors"]:
        return
    rows = [
        (
            visible(one["anchor"], ANCHOR_WIDTH),
            f"{one['nfh']:,}",
            f"{one['share_of_nfh']:.1%}",
            f"{one['numbers']:,}",
            f"{one['share']:.1%}",
        )
        for one in found["anchors"]
    ]
    heads = ("anchor", "NFH", "of all NFH", "numbers", "of them NFH")
    yield from aligned([heads, *rows], indent="  ")
    if found["anchors_not_apart"]:
        yield (
            f"  {counted(found['distinct_anchors'], 'distinct anchor')} counted separately; "
            f"{counted(found['anchors_not_apart'], 'number')} more met later"
        )
    yield ""


def _rules(found: Figures) -> Iterator[str]:
    if not found["rules"]:
        return
    rows = [
        (
            visible(one["rule"], ANCHOR_WIDTH),
            f"{one['numbers']:,}",
            f"{one['share_of_numbers']:.1%}",
            f"{one['nfh']:,}",
        )
        for one in found["rules"]
    ]
    yield from aligned([("decided by", "numbers", "of all", "NFH"), *rows], indent="  ")
    yield ""


APART = 5
"""Most files with a sentence each; more are counted."""


def say_twice(pairs: Sequence[tuple[str, str]]) -> None:
    """Print the names that were left out, since the same file has another name."""
    _each([f"{shown(one)}: the same file as {shown(other)}" for one, other in pairs])


def say_known(files: Sequence[ScannedFile]) -> None:
    """Print which files an earlier run has finished or begun."""
    _each(
        [
            f"{shown(file.name)}: scanned before, on {file.finished_before[:10]}, "
            "unchanged since"
            for file in files
            if file.finished_before
        ],
        "; --fresh scans it again",
    )
    _each(
        [
            f"{shown(file.name)}: continues where an earlier run stopped, {file.resumed:,} "
            "bytes in"
            for file in files
            if file.resumed
        ],
        "; --fresh starts again",
    )


def say_rest(job: Scan) -> None:
    """Print the errors, a sentence for each file that is not counted."""
    for file in job.files:
        if file.failed:
            say(f"nfh-tui: {shown(file.name)}: {shown(file.failed)}. It is not counted")
    _each(
        [f"nfh-tui: {shown(file.name)}" for file in job.files if file.changed],
        ": it was written to while it was read; its figures may be mixed",
    )
    _each(
        [
            f"nfh-tui: {shown(file.name)}: its progress could not be saved "
            f"({shown(file.checkpoint_error)})"
            for file in job.files
            if file.checkpoint_error
        ],
        "; a scan that is stopped starts again",
    )


def stopped_words(job: Scan) -> str:
    """The progress of a stopped scan, and whether it can be resumed."""
    done = sum(file.state.done for file in job.files)
    parts = [f"{done} of {len(job.files)} files are done"] if len(job.files) > 1 else []
    lost = []
    for file in job.files:
        if file.state.done or not file.state.start or file.failed:
            continue
        if file.size is None:
            lost.append(f"{file.name} is lost, because a pipe cannot be read again.")
        elif file.checkpoint_error:
            lost.append(
                f"{file.name} is lost: it could not be saved ({file.checkpoint_error})."
            )
        else:
            parts.append(f"{file.name} is at byte {file.state.start:,}")
    if parts:
        found = f"{'; '.join(parts)}. This is saved: the same command continues from there."
        return " ".join([found, *lost])
    return " ".join(lost) or "Nothing was done yet."


def _each(beginnings: Sequence[str], end: str = "") -> None:
    """Print a sentence for each file, or the number of files if there are many."""
    for beginning in beginnings[:APART]:
        say(f"{beginning}{end}")
    if len(beginnings) > APART:
        say(f"and so of {len(beginnings) - APART:,} more")
