"""The guidelines' versions and changes in words, for the screen and for the command line."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nfh_tui.guidelines.parts import Change

if TYPE_CHECKING:
    from nfh_db.guidelines import Guideline

WITH_THE_PROGRAM = "came with the program"
MOST_NAMED = 6
"""Rules that a sentence names; of more it says how many."""


def by_words(one: "Guideline") -> str:
    """Who wrote a version, and on which day (UTC)."""
    return f"{one.by or WITH_THE_PROGRAM} · {one.at[:10]}"


def version_words(one: "Guideline", versions: Sequence["Guideline"]) -> str:
    """Which version it is, of how many, by whom, and whether it holds."""
    last = versions[-1].version
    holds = "holds now" if one.version == last else f"{last} holds now"
    return f"version {one.version} · {by_words(one)} · {holds}"


def change_lines(changes: Sequence[Change]) -> Iterator[str]:
    """What changed, part by part: "-" before what was, "+" before what is."""
    for number, change in enumerate(changes):
        if number:
            yield ""
        yield f"{change.id} {change.title}".strip() + f": {change.how}"
        yield from (f"  {line}" for line in change.lines)


def changed_words(changes: Sequence[Change]) -> str:
    """Which rules changed, in one line: "R5, R7 changed; R22 new"."""
    said = []
    for how in ("changed", "new", "gone"):
        names = [change.id or f"“{change.title}”" for change in changes if change.how == how]
        if len(names) > MOST_NAMED:
            said.append(f"{len(names)} {how}")
        elif names:
            said.append(f"{', '.join(names)} {how}")
    return "; ".join(said) or "only white space changed"
