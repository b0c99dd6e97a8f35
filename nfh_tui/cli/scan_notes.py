"""What `nfh-tui scan` tells a person about files beside their figures, on standard error."""

from collections.abc import Sequence

from nfh_tui.cli.common import say
from nfh_tui.cli.scan_text import shown
from nfh_tui.scanning.scan import Scan, Scanned

APART = 5
"""Files that are spoken of one by one; of more, their number is said."""


def say_twice(pairs: Sequence[tuple[str, str]]) -> None:
    """Of names that were left out, which other name the same file has."""
    _each([f"{shown(one)}: the same file as {shown(other)}" for one, other in pairs])


def say_known(files: Sequence[Scanned]) -> None:
    """What earlier runs have done."""
    _each(
        [
            f"{shown(file.name)}: scanned before, on {file.before[:10]}, unchanged since"
            for file in files
            if file.before
        ],
        "; --fresh scans it again",
    )
    _each(
        [
            f"{shown(file.name)}: goes on where an earlier run stopped, {file.resumed:,} "
            "bytes in"
            for file in files
            if file.resumed
        ],
        "; --fresh starts again",
    )


def say_rest(job: Scan) -> None:
    """What went wrong. Each file that is not counted has its sentence."""
    for file in job.files:
        if file.failed:
            say(f"nfh-tui: {shown(file.name)}: {shown(file.failed)}. It is not counted")
    _each(
        [f"nfh-tui: {shown(file.name)}" for file in job.files if file.changed],
        ": it was written to while it was read; the figures are of no one state of it",
    )
    _each(
        [
            f"nfh-tui: {shown(file.name)}: how far it is could not be kept "
            f"({shown(file.unkept)})"
            for file in job.files
            if file.unkept
        ],
        "; a scan that is stopped starts again",
    )


def kept(job: Scan) -> str:
    """How far a scan is that was stopped, and whether it can go on from there."""
    done = sum(file.state.done for file in job.files)
    parts = [f"{done} of {len(job.files)} files are done"] if len(job.files) > 1 else []
    lost = []
    for file in job.files:
        if file.state.done or not file.state.start or file.failed:
            continue
        if file.size is None:
            lost.append(f"{file.name} is lost, since a pipe cannot be read again.")
        elif file.unkept:
            lost.append(f"{file.name} is lost: it could not be kept ({file.unkept}).")
        else:
            parts.append(f"{file.name} is at byte {file.state.start:,}")
    if parts:
        found = f"{'; '.join(parts)}. That is kept: the same command goes on from there."
        return " ".join([found, *lost])
    return " ".join(lost) or "Nothing was done yet."


def _each(beginnings: Sequence[str], end: str = "") -> None:
    """A sentence of each of a few files; of more, how many there are."""
    for beginning in beginnings[:APART]:
        say(f"{beginning}{end}")
    if len(beginnings) > APART:
        say(f"and so of {len(beginnings) - APART:,} more")
