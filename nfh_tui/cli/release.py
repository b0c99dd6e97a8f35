"""`nfh-tui release`: gold frozen into a folder that others can use and check."""

import re
from dataclasses import asdict
from pathlib import Path

import click

from nfh_db.formats.wording import counted, visible
from nfh_tui import places
from nfh_tui.cli.common import (
    Failure,
    QueryCommand,
    db_option,
    emit,
    json_option,
    open_to_read,
    reporting,
    tell,
)
from nfh_tui.cli.files_text import stale_gold_words
from nfh_tui.cli.progress import RowCounter

NAME_SHOWN = 200
LARGEST_ABOUT = 1_000_000
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@click.command(cls=QueryCommand, short_help="Freeze gold into a folder, with a datasheet.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("query", nargs=-1)
@click.option(
    "--pseudonyms", is_flag=True, help="Write person-1, person-2 … for the names of people."
)
@click.option(
    "--about",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Markdown to begin the datasheet with: title, purpose, licence, whom to ask.",
)
@click.option("--check", is_flag=True, help="Check the release DIR; write nothing.")
@db_option
@json_option
@reporting
def release(
    folder: Path,
    query: tuple[str, ...],
    pseudonyms: bool,
    about: Path | None,
    check: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Freeze what QUERY finds and is decided, all of it without one, into the new folder DIR.

    It holds gold and nfh files of each split, the guidelines, DATASHEET.md and SHA256SUMS. The
    same database gives the same bytes.
    """
    if check:
        if query or pseudonyms or about is not None:
            raise click.UsageError("--check takes the folder of a release and nothing else")
        _check(folder, as_json=as_json)
        return
    from nfh_db.query import parse
    from nfh_tui.releasing import release as frozen

    parsed = parse(" ".join(query))
    text = "" if about is None else _text_of(about)
    with (
        open_to_read(places.database(db)) as store,
        RowCounter("release") as progress,
    ):
        done = frozen(
            store, folder, parsed, pseudonyms=pseudonyms, about=text, progress=progress
        )
    if as_json:
        emit(asdict(done))
        return
    name = visible(done.folder, NAME_SHOWN)
    tell(
        f"{name}: {counted(done.items, 'number')} in {counted(done.passages, 'passage')} frozen"
    )
    for file, rows in done.files.items():
        tell(f"  {file}: {counted(rows, 'line')}")
    undecided = sum(done.left_out.values())
    if undecided:
        states = ", ".join(f"{state} {count:,}" for state, count in done.left_out.items())
        tell(f"  left out, since undecided: {undecided:,} ({states})")
    if done.stale_gold:
        tell(f"  {stale_gold_words(done.stale_gold)}")
    tell(f"Read {visible(str(folder / 'DATASHEET.md'), NAME_SHOWN)} before you publish it")


def _text_of(path: Path) -> str:
    name = visible(str(path), NAME_SHOWN)
    with path.open("rb") as file:
        content = file.read(LARGEST_ABOUT + 1)
    if len(content) > LARGEST_ABOUT:
        raise Failure(f"{name}: too large; wanted a text of at most {LARGEST_ABOUT:,} bytes")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise Failure(f"{name}: no UTF-8 text: wrong at byte {error.start + 1}") from error
    # Whoever shows the datasheet in a terminal is not to have it steered.
    wrong = CONTROL.search(text)
    if wrong:
        line = text.count("\n", 0, wrong.start()) + 1
        raise Failure(
            f"{name}, line {line}: found the control character U+{ord(wrong[0]):04X}; wanted "
            "text without any but tabs and ends of lines"
        )
    return text


def _check(folder: Path, *, as_json: bool) -> None:
    from nfh_tui.releasing_check import check

    with RowCounter("check") as progress:
        found = check(folder, progress)
    if as_json:
        emit({"ok": not found.faults, **asdict(found)})
    else:
        for fault in found.faults:
            tell(fault)
        state = counted(len(found.faults), "fault") if found.faults else "whole"
        tell(
            f"{visible(str(folder), NAME_SHOWN)}: {counted(found.files, 'file')}, "
            f"{counted(found.items, 'number')}: {state}"
        )
    if found.faults:
        raise click.exceptions.Exit(1)
