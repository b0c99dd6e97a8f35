"""Completing a path that is typed."""

import os
from pathlib import Path


def completed(text: str, cursor: int) -> tuple[str, int] | None:
    """The path up to the cursor, as far as the files that begin so agree; None if none does.

    A folder ends in a slash. What cannot be looked into completes nothing.
    """
    typed, rest = text[:cursor], text[cursor:]
    folder, _, begun = typed.rpartition("/")
    place = Path(f"{folder}/" if folder or typed.startswith("/") else ".").expanduser()
    try:
        names = sorted(
            entry.name + ("/" if entry.is_dir() else "")
            for entry in os.scandir(place)
            if entry.name.startswith(begun) and (begun or not entry.name.startswith("."))
        )
    except OSError:
        return None
    if not names:
        return None
    # Letters that all names share, not folders: what commonpath does is another thing.
    common = os.path.commonprefix(names)  # noqa: RUF071
    made = typed[: len(typed) - len(begun)] + common
    return made + rest, len(made)
