"""What a prediction of a database's anchors says for a person, out of its report."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from nfh_db.formats.wording import counted, visible
from nfh_tui.cli.predict_text import window_note
from nfh_tui.cli.queueing import command
from nfh_tui.cli.retrain_text import wrapped
from nfh_tui.sheets.job_words import count, text

NAME_SHOWN = 100


def predicted_lines(report: Mapping[str, object], db: Path | None) -> Iterator[str]:
    """How many were predicted, as what, and whether it is shown. db: as the call named it."""
    name = visible(text(report.get("model")), NAME_SHOWN)
    used = text(report.get("parser"))
    parser = f", with {visible(used, NAME_SHOWN)}" if used else ""
    anchors, now = count(report.get("anchors")), count(report.get("predicted"))
    silent = count(report.get("silent"))
    yield f"{counted(anchors, 'number')}, predicted by {name}{parser}"
    yield f"  {now:,} predicted now, {anchors - now - silent:,} before"
    if silent:
        yield f"  {silent:,} of which it says nothing"
    found = report.get("kinds")
    if isinstance(found, Mapping) and found:
        kinds = (f"{kind} {count(number):,}" for kind, number in found.items())
        yield f"  now: {', '.join(kinds)}"
    note = window_note(text(report.get("model")), count(report.get("beyond_window")), now)
    if note:
        yield from wrapped(note, "  ")
    if report.get("active") is not True:
        activate = command(f"models activate {count(report.get('model_id'))}", db)
        yield f"  {name} is not the active model, whose predictions are shown: {activate}"
