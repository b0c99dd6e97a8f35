"""Audits from end to end: the store's frame, the sample of it, and what the answers show."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nfh_models.agreement.audit import (
    Stratum,
    allocate,
    draw,
    interval,
    upper_bound,
    weighted,
)

if TYPE_CHECKING:
    from nfh_db.audits import Audit, AuditItem, Drawn
    from nfh_db.query import Query
    from nfh_db.records import Annotator
    from nfh_db.settle_report import SettleReport
    from nfh_db.store import Store


@dataclass(frozen=True, slots=True)
class NewAudit:
    """An audit just drawn. run: its name. rest: what it could have been drawn from."""

    run: str
    auditor: str
    items: int
    frame: int
    seed: int
    wanted: int
    voted: int
    strata: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class StratumReport:
    """A stratum: how many there were, were drawn, were decided, and are wrong."""

    size: int
    drawn: int
    decided: int
    wrong: int


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit shows. Shares are fractions, None until everything is decided.

    frame: items that it was drawn from. left: still to be decided. returned, gone: given
    back, and numbers that got another span: they say nothing. wrong: of those decided; in
    kinds by how they differ. rate: of all, strata weighted by their sizes, which cover
    `covered` items. share: of those decided. interval: of the share, exact, 95 %. bound:
    above it the share lies with 5 % at most. why: why there is no rate.
    """

    run: str
    auditor: str
    frame: int | None
    drawn: int
    decided: int
    left: int
    returned: int
    gone: int
    wrong: int
    kinds: dict[str, int]
    rate: float | None
    covered: int | None
    share: float | None
    interval: tuple[float, float] | None
    bound: float | None
    why: str | None
    strata: dict[str, StratumReport]
    seed: int | None = None
    by: str | None = None
    voted: int = 0
    query: str | None = None
    act: int | None = None


def sizes_of(frame: list[tuple[int, str]]) -> dict[str, int]:
    """How many items each stratum has, by name."""
    return dict(sorted(Counter(stratum for _, stratum in frame).items()))


def draw_audit(
    store: "Store",
    query: "Query",
    wanted: int,
    seed: int,
    me: "Annotator",
    auditor: "Annotator",
    settled: "SettleReport | None" = None,
) -> NewAudit | None:
    """Draw a sample of what rules settled and give it to the auditor; None if of nothing.

    settled: only of what this settlement did.
    """
    from nfh_db.audits import Sample

    frame = store.audit_frame(query, me, auditor, settled)
    if not frame:
        return None
    strata: dict[str, list[int]] = {}
    for anchor_id, stratum in frame:
        strata.setdefault(stratum, []).append(anchor_id)
    sample = Sample(
        draw(strata, wanted, seed),
        seed,
        wanted,
        sizes_of(frame),
        query.text,
        settled.act_id if settled else None,
    )
    run, drawn = store.assign_audit(sample, auditor, me)
    return NewAudit(
        run,
        auditor.name,
        sum(drawn.sampled.values()),
        len(frame),
        seed,
        wanted,
        drawn.voted,
        {name: (drawn.sizes[name], drawn.sampled[name]) for name in drawn.sizes},
    )


def planned(frame: list[tuple[int, str]], wanted: int) -> dict[str, tuple[int, int]]:
    """Size and share of the sample, by stratum, without drawing any."""
    sizes = sizes_of(frame)
    counts = allocate(sizes, wanted)
    return {name: (sizes[name], counts[name]) for name in sizes}


def report(audit: "Audit") -> AuditReport:
    """What an audit shows by now."""
    items, known = audit.items, audit.drawn
    decided = [item for item in items if item.decided]
    wrong = sum(item.blocking is not None for item in decided)
    left = sum(item.state in ("open", "done") and not item.decided for item in items)
    gone = sum(item.state == "gone" for item in items)
    drawn = sum(known.sampled.values()) if known else len(items)
    strata = _strata(items, known)
    why = _why_no_rate(left, len(items), len(decided))
    rate, covered = None, None
    if why is None and known is not None:
        found = weighted([Stratum(s.size, s.decided, s.wrong) for s in strata.values()])
        rate, covered = found.rate, found.covered
    return AuditReport(
        run=audit.run,
        auditor=audit.auditor.name,
        frame=sum(known.sizes.values()) if known else None,
        drawn=drawn,
        decided=len(decided),
        left=left,
        # An item that was given back may have been drawn again, for another audit.
        returned=drawn - len(decided) - left - gone,
        gone=gone,
        wrong=wrong,
        kinds=_kinds(decided),
        rate=rate,
        covered=covered,
        share=None if why else wrong / len(decided),
        interval=None if why else interval(wrong, len(decided)),
        bound=None if why else upper_bound(wrong, len(decided)),
        why=why,
        strata=strata,
        seed=known.seed if known else None,
        by=known.by if known else None,
        voted=known.voted if known else 0,
        query=known.query if known else None,
        act=known.act if known else None,
    )


def _why_no_rate(left: int, items: int, decided: int) -> str | None:
    if left:
        return (
            f"{left:,} of {items:,} items are still to be decided: those decided first are no "
            "random sample of all"
        )
    return None if decided else "no item was decided"


def _kinds(decided: "list[AuditItem]") -> dict[str, int]:
    found = Counter(item.blocking.value for item in decided if item.blocking is not None)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _strata(items: "tuple[AuditItem, ...]", known: "Drawn | None") -> dict[str, StratumReport]:
    drawn = Counter(item.stratum for item in items)
    decided = Counter(item.stratum for item in items if item.decided)
    wrong = Counter(item.stratum for item in items if item.blocking is not None)
    names = sorted(known.sizes if known else drawn)
    return {
        name: StratumReport(
            known.sizes[name] if known else 0,
            known.sampled.get(name, 0) if known else drawn[name],
            decided[name],
            wrong[name],
        )
        for name in names
    }
