"""The report of a merge, in words and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted, visible
from nfh_db.merge.report import REASONS, Conflict, MergeReport, Side

if TYPE_CHECKING:
    from nfh_tui.cli.settle_text import Asked

SHOWN_ITEMS = 20
NAMES_SHOWN = 10
LINE_SHOWN = 300
PATH_SHOWN = 200

BY_VOTES = {"unanimous", "majority"}
BETWEEN_EXPERTS = "experts:differ"
"""The query of items that experts decided otherwise."""


def merge_json(report: MergeReport, path: Path) -> dict[str, object]:
    """The report for programs."""
    content = asdict(report)
    content["conflicts"] = [
        asdict(one) | {"reason": REASONS[one.why]} for one in report.conflicts
    ]
    return {"db": str(path), "changed": report.changes and not report.dry_run} | content


def merge_lines(report: MergeReport, path: Path, asked: "Asked") -> Iterator[str]:
    """The report in words."""
    other = visible(report.other, PATH_SHOWN)
    if not report.changes:
        yield f"{other}: nothing new"
    else:
        yield f"{other}: {_came(report)}"
        yield from _new(report)
    yield from _same(report)
    for sentence in report.left:
        yield f"Left there: {visible(sentence, LINE_SHOWN)}"
    yield from _conflicts(report.conflicts, asked)
    if report.dry_run:
        yield "Nothing was stored"
    elif report.backup is not None:
        yield f"As it was before: {visible(report.backup, PATH_SHOWN)}"
        yield f"  to go back, close nfh-tui and put that in the place of {visible(str(path))}"


def _came(report: MergeReport) -> str:
    changes = counted(report.events, "change")
    items = counted(report.items, "item")
    acts = counted(report.acts, "act")
    verb = "would come in" if report.dry_run else "came in"
    return f"{changes} of {items} {verb}, in {acts}"


def _new(report: MergeReport) -> Iterator[str]:
    things = [
        counted(number, thing, plural)
        for number, thing, plural in (
            (report.passages_new, "passage", None),
            (report.anchors_new, "number", None),
            (report.assignments_new, "assignment", None),
            (report.drafts_new, "draft", None),
            (report.places_new, "place where somebody stood", "places where people stood"),
            (report.views_new, "saved view", None),
            (report.guidelines_new, "version of the guidelines", "versions of the guidelines"),
        )
        if number
    ]
    if report.people_new:
        yield f"People new: {_names(report.people_new)}"
    if report.imports_new:
        yield f"Files new: {_names(report.imports_new)}"
    if things:
        yield f"Also new: {', '.join(things)}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(visible(name) for name in names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


def _same(report: MergeReport) -> Iterator[str]:
    if report.agreed:
        yield (
            f"{counted(report.agreed, 'thing')} changed in both, to the same, or decided here: "
            "as here"
        )
    if report.taken_back:
        yield f"{counted(report.taken_back, 'thing')} changed there and changed back: as here"


def _conflicts(conflicts: Sequence[Conflict], asked: "Asked") -> Iterator[str]:
    if not conflicts:
        return
    items = [list(group) for _, group in groupby(conflicts, lambda one: one.public_id)]
    yield f"{counted(len(items), 'item')} left as here, for you to decide:"
    for group in items[:SHOWN_ITEMS]:
        for one in group:
            yield f"  {_conflict(one)}"
        yield f"    {asked.command('adjudicate', group[0].query)}"
    if len(items) > SHOWN_ITEMS:
        yield f"  and {len(items) - SHOWN_ITEMS:,} more; --json lists them all"
    golds = [{one.here.rule, one.there.rule} for one in conflicts if one.what == "gold"]
    if {"expert"} in golds:
        yield "Those that experts decided otherwise, now that both decisions are here:"
        yield f"  {asked.command('adjudicate', BETWEEN_EXPERTS)}"
    if any(rules <= BY_VOTES for rules in golds):
        yield "Where a rule made both golds, nfh-tui settle makes it anew, of all votes"


def _conflict(one: Conflict) -> str:
    whose = f" of {visible(one.whose)}" if one.whose else ""
    text = (
        f"{one.what}{whose} for “{one.word}”: here {_side(one.here)}; there "
        f"{_side(one.there)}; {REASONS[one.why]}"
    )
    return visible(text, LINE_SHOWN)


def _side(side: Side) -> str:
    """What a copy says, by whom and when: the time is UTC, to the minute."""
    by = f" by {side.by}" if side.by else ""
    at = f" at {side.at[:16].replace('T', ' ')}" if side.at else ""
    return f"{side.said}{by}{at}"
