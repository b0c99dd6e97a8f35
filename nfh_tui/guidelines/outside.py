"""A text in the editor of one's own: $VISUAL, else $EDITOR."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp

from nfh_tui.guidelines import GuidelinesError

NAME = "guidelines.md"


def editor() -> str | None:
    """The command that the person has chosen; None if there is none."""
    for variable in ("VISUAL", "EDITOR"):
        chosen = os.environ.get(variable, "").strip()
        if chosen:
            return chosen
    return None


def edited(text: str, command: str) -> str:
    """The text after the person changed it in their editor; returns when that ends.

    Raises GuidelinesError if the editor cannot be started or fails, or leaves a text that is
    no UTF-8; what was typed then stays in a file that is named. Raises OSError.
    """
    path = Path(mkdtemp(prefix="nfh-guidelines-")) / NAME
    path.write_text(text, encoding="utf-8", newline="")
    try:
        # The person's own command, as every program does it with $EDITOR.
        ended = subprocess.run([*shlex.split(command), str(path)], check=False)
    except (OSError, ValueError) as error:
        shutil.rmtree(path.parent, ignore_errors=True)
        raise GuidelinesError(f"Your editor {command!r} cannot be started: {error}") from error
    if ended.returncode:
        raise GuidelinesError(
            f"Your editor {command!r} ended with status {ended.returncode}, so nothing is "
            f"taken over. The text is in {path}"
        )
    try:
        found = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GuidelinesError(
            f"The text is no UTF-8 at byte {error.start}, so nothing is taken over. It is in "
            f"{path}"
        ) from error
    shutil.rmtree(path.parent, ignore_errors=True)
    return found
