"""A picture against the kept one: what differs, where the new one lies, how to accept it."""

import difflib
import os
from pathlib import Path

from .drawing import plain

FOLDER = Path(__file__).parent / "svg"
ACCEPT = "NFH_ACCEPT_PICTURES"
"""An environment variable: set, what is drawn now replaces what was kept."""

HOW = f"look at both; `make pictures` (or {ACCEPT}=1 python -m pytest tests/pictures) accepts"


def compare(name: str, drawn: str) -> None:
    """Fail with the difference if a picture is not as it is kept; keep it if told so."""
    kept, new = FOLDER / f"{name}.svg", FOLDER / f"{name}.new.svg"
    new.unlink(missing_ok=True)
    before = kept.read_text("utf-8") if kept.exists() else None
    if before == drawn:
        return
    if os.environ.get(ACCEPT):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(drawn, "utf-8")
        return
    new.write_text(drawn, "utf-8")
    if before is None:
        raise AssertionError(f"No picture is kept of this yet. Drawn now: {new}\n{HOW}")
    raise AssertionError(f"{difference(before, drawn)}\nkept:  {kept}\ndrawn: {new}\n{HOW}")


def kept_of(size: str) -> set[str]:
    """The pictures that are kept of a size, without those just drawn beside them."""
    found = (path.name.removesuffix(".svg") for path in FOLDER.glob(f"{size}-*.svg"))
    return {name.removeprefix(f"{size}-") for name in found if not name.endswith(".new")}


def difference(before: str, after: str) -> str:
    """The lines of the screen that say something else; else the styles that differ."""
    words = _lines(plain(before), plain(after))
    if words:
        return "The screen says something else:\n" + "\n".join(words)
    styles = _lines(before.splitlines(), after.splitlines())
    return "The same words look otherwise:\n" + "\n".join(styles[:30])


def _lines(before: list[str], after: list[str]) -> list[str]:
    found = difflib.unified_diff(before, after, lineterm="", n=0)
    return [line for line in found if not line.startswith(("---", "+++", "@@"))]
