"""What `identify` says of a database: in words, and as one JSON object."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import command_line, counted, visible

if TYPE_CHECKING:
    from nfh_tui.identifying import Identification, Tools, Wanted

WIDTH = 80
NAME_SHOWN = 100
COMMAND_SHOWN = 5_000
MOST_RULES = 40


@dataclass(frozen=True, slots=True)
class Told:
    """What was asked, with what it was done, and what came of it.

    active: the workbench shows what this model says. db: where the call names it.
    """

    wanted: "Wanted"
    tools: "Tools"
    report: "Identification"
    seconds: float
    active: bool
    db: Path | None

    @property
    def differing(self) -> str:
        """The query that finds what gold says otherwise of."""
        from nfh_tui.identifying import differing

        return differing(self.wanted.query)

    def command(self, name: str, *arguments: str) -> str:
        """A command to be typed, in quotes where a shell needs them."""
        db = [] if self.db is None else ["--db", str(self.db)]
        return visible(command_line(["nfh-tui", name, *arguments, *db]), COMMAND_SHOWN)


def report_lines(told: Told) -> Iterator[str]:
    """What was found and decided, or would be."""
    report, tools = told.report, told.tools
    name = visible(tools.chosen.name, NAME_SHOWN)
    parser = f", with {visible(tools.parser_name, NAME_SHOWN)}" if tools.parser else ""
    yield f"{counted(report.passages, 'passage')}, decided by {name}{parser}"
    yield f"  {counted(report.numbers, 'number')}, {_new(told)}"
    yield (
        f"  {report.yes:,} without a noun (NFH), {report.no:,} with; "
        f"{report.decided:,} decided now, {report.numbers - report.decided:,} before"
    )
    yield from _rules(report)
    yield from _against_gold(told)
    if told.wanted.dry_run:
        yield "Nothing was stored"
    elif not told.active and report.numbers:
        yield from _wrapped(
            f"{name} is not the active model, so that the workbench and queries do not show "
            f"this: {told.command('models', 'activate', tools.chosen.name)}"
        )


def _new(told: Told) -> str:
    if not told.wanted.new:
        return "none added (--no-new)"
    would = " would be" if told.wanted.dry_run else ""
    return f"{told.report.new:,} of them{would} new"


def _rules(report: "Identification") -> Iterator[str]:
    """A line for each rule, the most frequent first."""
    if not report.rules:
        return
    width = max(len("rule"), *map(len, report.rules))
    yield f"  {'rule':<{width}}  {'NFH':>9}  {'not':>9}"
    ranked = sorted(report.rules.items(), key=lambda pair: (-sum(pair[1]), pair[0]))
    for rule, (yes, no) in ranked[:MOST_RULES]:
        yield f"  {visible(rule, NAME_SHOWN):<{width}}  {yes:>9,}  {no:>9,}"


def _against_gold(told: Told) -> Iterator[str]:
    report = told.report
    if not report.compared:
        return
    yield from _wrapped(
        f"gold says otherwise of {report.differ:,} of {report.compared:,} that have gold"
    )
    if report.differ and told.active and not told.wanted.dry_run:
        yield f"  Look at them: {told.command('browse', told.differing)}"


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(
        sentence, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


def report_json(told: Told) -> dict[str, object]:
    """The same for programs."""
    report, tools, wanted = told.report, told.tools, told.wanted
    return {
        "query": wanted.query.text,
        "model": tools.chosen.name,
        "recipe": tools.chosen.model.recipe,
        "version": tools.chosen.model.version,
        "parser": tools.parser_name or None,
        "active": told.active,
        "passages": report.passages,
        "numbers": report.numbers,
        "new": report.new,
        "decided": report.decided,
        "nfh": {"yes": report.yes, "no": report.no},
        "rules": {
            rule: {"yes": yes, "no": no} for rule, (yes, no) in sorted(report.rules.items())
        },
        "gold": {
            "compared": report.compared,
            "differ": report.differ,
            "query": told.differing,
        },
        "dry_run": wanted.dry_run,
        "seconds": round(told.seconds, 3),
    }
