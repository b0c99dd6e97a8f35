"""What `settle` and `audit` say: in words, and as one JSON object."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import command_line, counted, visible

if TYPE_CHECKING:
    from nfh_db.settle_report import SettleReport
    from nfh_tui.auditing import AuditReport, NewAudit

NAME_SHOWN = 100
COMMAND_SHOWN = 5_000
WIDTH = 80
CONFIDENCE = "95 %"
TIED = "\xa0"
"""The space between a name and its number, where no line may end."""


# --- settlements ----------------------------------------------------------------------------


def settlement_lines(report: "SettleReport", me: str) -> Iterator[str]:
    """What a settlement did, or would do."""
    yield (
        f"{counted(report.anchors, 'anchor')} looked at by rule {report.rule}, "
        f"{counted(report.least, 'vote')} or more"
    )
    yield (
        f"  gold: {report.new:,} new, {report.same:,} the same as before, "
        f"{report.replaced:,} replaced, {report.taken_back:,} taken back"
    )
    settled = report.new + report.same + report.replaced
    for title, found in (
        (f"in all {settled:,} settled, by class", report.classes),
        ("by votes", report.patterns),
        (f"{sum(report.skipped.values()):,} not settled", report.skipped),
    ):
        if found:
            yield from _wrapped(f"{title}: {_listed(found)}")
    if report.changed:
        yield from _wrapped(
            f"{counted(report.changed, 'anchor')} left as they are: somebody changed gold, "
            "votes or span meanwhile. Settle once more to look at them"
        )
    if report.dry_run:
        yield "Nothing was stored"
    elif report.act_id is None:
        yield "Nothing had to be changed"
    else:
        who = visible(me, NAME_SHOWN)
        yield f"One act of {who}: z in the workbench as {who} takes it back"


def _wrapped(sentence: str) -> list[str]:
    """A sentence on lines of 80 columns, below the line before."""
    lines = textwrap.wrap(
        sentence, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )
    return [line.replace(TIED, " ") for line in lines]


def _listed(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name}{TIED}{count:,}" for name, count in found.items())


def settlement_json(
    report: "SettleReport",
    query: str,
    rest: tuple[str, int],
    audit: "NewAudit | None",
) -> dict[str, object]:
    """The same for programs. rest: query of the anchors still in disagreement, and how many."""
    return {
        "query": query,
        **asdict(report),
        "rest": {"query": rest[0], "anchors": rest[1]},
        "audit": None if audit is None else drawn_json(audit),
    }


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks, and of which database, where the call names one."""

    user: str
    db: Path | None = None

    def command(self, name: str, query: str, who: str | None = None) -> str:
        """A command to be typed, in quotes where a shell needs them. who: as whom."""
        as_who = [] if who is None or who == self.user else ["--as", who]
        db = [] if self.db is None else ["--db", str(self.db)]
        return visible(command_line(["nfh-tui", name, *db, *as_who, query]), COMMAND_SHOWN)

    def todo(self, auditor: str) -> str:
        """How an auditor gets at what is left, in the order drawn."""
        return self.command("adjudicate", "todo:me/adjudicator sort:assigned", auditor)


# --- audits ---------------------------------------------------------------------------------


def drawn_lines(audit: "NewAudit", asked: Asked) -> Iterator[str]:
    """What was drawn, and how to get at it."""
    yield (
        f"Audit {audit.run}: {counted(audit.items, 'item')} of {audit.frame:,} drawn with seed "
        f"{audit.seed}, for {visible(audit.auditor, NAME_SHOWN)}"
    )
    yield from _table(
        ("stratum", "golds", "drawn"),
        [(name, size, drawn) for name, (size, drawn) in audit.strata.items()],
    )
    if audit.voted:
        yield from _wrapped(
            f"{visible(audit.auditor, NAME_SHOWN)} voted on {audit.voted:,} of these: "
            "somebody who did not judges them better"
        )
    yield f"Decide them: {asked.todo(audit.auditor)}"


def drawn_json(audit: "NewAudit") -> dict[str, object]:
    """The same for programs."""
    strata = {
        name: {"size": size, "drawn": drawn} for name, (size, drawn) in audit.strata.items()
    }
    return {**asdict(audit), "strata": strata}


def audit_lines(audit: "AuditReport", asked: Asked) -> Iterator[str]:
    """What an audit shows by now."""
    of = "" if audit.frame is None else f" of {audit.frame:,}"
    seed = "" if audit.seed is None else f", seed {audit.seed}"
    yield (
        f"Audit {audit.run} by {visible(audit.auditor, NAME_SHOWN)}: "
        f"{counted(audit.drawn, 'item')}{of} that rules settled{seed}"
    )
    so_far = " so far" if audit.left else ""
    kinds = f" ({_listed(audit.kinds)})" if audit.kinds else ""
    lost = _lost(audit)
    yield from _wrapped(
        f"{audit.decided:,} decided{lost}, {audit.wrong:,} wrong{so_far}{kinds}"
    )
    if audit.why is not None:
        yield from _wrapped(f"No error rate yet: {audit.why}")
        if audit.left:
            yield f"  Go on: {asked.todo(audit.auditor)}"
        return
    yield from _rates(audit)
    rows = [(name, s.size, s.drawn, s.decided, s.wrong) for name, s in audit.strata.items()]
    yield from _table(("stratum", "golds", "drawn", "decided", "wrong"), rows)


def _lost(audit: "AuditReport") -> str:
    parts = [f"{audit.left:,} left"] if audit.left else []
    if audit.returned:
        parts.append(f"{audit.returned:,} given back")
    if audit.gone:
        parts.append(f"{audit.gone:,} with another span since")
    return f" ({', '.join(parts)})" if parts else ""


def _rates(audit: "AuditReport") -> Iterator[str]:
    if audit.interval is None or audit.bound is None or audit.share is None:
        return
    low, high = audit.interval
    if audit.rate is not None:
        whole = audit.covered == audit.frame
        seen = "" if whole else f" (of the strata looked at: {audit.covered:,} golds)"
        yield from _wrapped(
            f"error rate {_percent(audit.rate)}, strata weighted by their sizes{seen}"
        )
    yield from _wrapped(
        f"of those decided {_percent(audit.share)}, {CONFIDENCE} interval {_percent(low)} to "
        f"{_percent(high)}; at most {_percent(audit.bound)} with {CONFIDENCE} confidence"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _table(titles: Sequence[str], rows: Sequence[tuple[str | int, ...]]) -> Iterator[str]:
    """Names at the left, numbers at the right."""
    if not rows:
        return
    cells = [titles, *([str(row[0]), *(f"{count:,}" for count in row[1:])] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(titles))]
    for row in cells:
        numbers = "".join(
            f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)
        )
        yield f"  {row[0]:<{widths[0]}}{numbers}"


def audits_json(audits: Sequence["AuditReport"], drawn: "NewAudit | None") -> dict[str, object]:
    """All audits for programs."""
    return {
        "audits": [asdict(audit) for audit in audits],
        "drawn": None if drawn is None else drawn_json(drawn),
    }
