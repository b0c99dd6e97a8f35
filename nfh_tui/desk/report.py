"""Figures that a command of our own works out, asked for without waiting for them.

The commands load what the screen must not. They run in a child process; whoever stops
waiting for one ends it.
"""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

MODULE = "nfh_tui"
MOST_SAID = 400
"""Characters of an error that are shown: the sentence stands at its end."""


class ReportError(Exception):
    """A command that failed; the message is its own sentence."""


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
        raise ReportError(sentence or f"nfh-tui {arguments[0]} ended without a word")
    return printed.decode("utf-8", "replace")


async def report(arguments: Sequence[str], database: Path) -> dict[str, Any]:
    """The JSON object that a command prints with --json. Raises ReportError."""
    printed = await output([*arguments, "--json"], database)
    try:
        found = json.loads(printed)
    except json.JSONDecodeError as error:
        raise ReportError(f"nfh-tui {arguments[0]} printed no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ReportError(f"nfh-tui {arguments[0]} printed JSON that is no object")
    return found
