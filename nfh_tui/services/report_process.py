"""Reports of commands that run in a child process.

The commands load libraries that the screen must not. Cancelling the wait ends the child.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from nfh_tui.services.reports import R

MODULE = "nfh_tui"
MOST_SAID = 400
"""Characters of an error that are shown: the sentence stands at its end."""

PRINTED = 80
"""Cells of the lines that commands print."""

LISTED = "-*#|"
"""A line that begins with one of these does not continue the line before."""


class ReportError(Exception):
    """A command failed; the message is its sentence."""


async def output(arguments: Sequence[str], database: Path) -> str:
    """What `nfh-tui ARGUMENTS --db DATABASE` prints. Raises ReportError. Cancelled, it ends."""
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            MODULE,
            *arguments,
            "--db",
            str(database),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ReportError(f"nfh-tui {arguments[0]} could not be started: {error}") from error
    try:
        printed, said = await child.communicate()
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    if child.returncode != 0:
        sentence = said.decode("utf-8", "replace").strip()[-MOST_SAID:]
        raise ReportError(sentence or f"nfh-tui {arguments[0]} ended without a message")
    return printed.decode("utf-8", "replace")


async def report(arguments: Sequence[str], database: Path, kind: type[R]) -> R:
    """The report that a command prints with --json. Raises ReportError."""
    printed = await output([*arguments, "--json"], database)
    try:
        return msgspec.json.decode(printed, type=kind)
    except msgspec.DecodeError as error:
        raise ReportError(f"nfh-tui {arguments[0]} printed another report: {error}") from error


def unwrapped(text: str) -> str:
    """A text of commands with each of its paragraphs in one line, to be wrapped again.

    Lines belong together where one was broken only since the next word did not fit into PRINTED
    cells. Columns, which have several blanks in a row, stay as they are.
    """
    lines: list[str] = []
    last = ""
    for line in text.splitlines():
        if lines and _goes_on(last, line):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
        last = line
    return "\n".join(lines)


def _goes_on(last: str, line: str) -> bool:
    words = line.strip()
    if not words or not last.strip() or "  " in words or "  " in last.strip():
        return False
    if words[0] in LISTED or len(line) - len(line.lstrip()) < len(last) - len(last.lstrip()):
        return False
    return len(last) <= PRINTED < len(last) + 1 + len(words.split(" ", 1)[0])
