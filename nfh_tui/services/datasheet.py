"""The datasheet of a release in Markdown. The template holds the sentences; this module makes
the rows of its tables.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from nfh_db.formats.gold import FORMAT
from nfh_db.messages import visible
from nfh_db.records import BY_RULE, Role, Rule
from nfh_models.agreement.measure import Measure
from nfh_models.domain import Kind
from nfh_tui.display_figures import percentage
from nfh_tui.services import templates
from nfh_tui.services.agreement import report
from nfh_tui.services.release import GOLD_END, NFH_END, ExposureCounts

K = TypeVar("K")

if TYPE_CHECKING:
    from nfh_db.audits import Audit
    from nfh_tui.services.release import Contents

SHOWN = 100

MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~&])")

MOST_SPLITS = 6
"""Columns of the table of kinds; further splits are counted together."""

LONGEST_QUERY = 2_000

MOST_FILES = 40
"""Files listed; SHA256SUMS has all."""

MOST_SOURCES = 40
"""Files named, those with most numbers first."""

MOST_PEOPLE = 40

RULES = {
    Rule.IMPORTED: "imported from a file; how it was decided is not known",
    Rule.UNANIMOUS: "no two annotators' answers differ in anything that blocks",
    Rule.MAJORITY: "more than half of the annotators gave the class, and no two heads differ",
    Rule.WEIGHTED: "more than half of the weight gave it, each vote by its giver's competence",
    Rule.EXPERT: "an adjudicator decided",
}
VOTERS = {"0": "none", "1": "one", "2": "two", "3+": "three or more"}
"""How many annotators answered a number, by the words of the report of agreement."""


def plain(text: str) -> str:
    """A name or query on one line, with Markdown escaped."""
    return MARKUP.sub(r"\\\1", visible(text, SHOWN))


def table(titles: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    """A table; columns of whole numbers are right-aligned."""
    rule = ["---:" if _numeric(rows, column) else "---" for column in range(len(titles))]
    cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (titles, rule, *cells))


def _numeric(rows: Sequence[Sequence[str | int]], column: int) -> bool:
    return bool(rows) and all(isinstance(row[column], int) for row in rows)


def listed(counts: Iterable[tuple[str, int]]) -> str:
    """Counts by name on one line: "AND 2, OR 1"."""
    return ", ".join(f"{name} {count:,}" for name, count in counts)


def figure(measure: Measure, *, share: bool) -> tuple[str, str]:
    """A measure's value and its interval, or the reason why there is none."""
    if measure.value is None:
        return "–", measure.why or ""
    said = percentage if share else "{:.2f}".format
    if measure.low is None or measure.high is None:
        return said(measure.value), measure.why or ""
    return said(measure.value), f"{said(measure.low)} to {said(measure.high)}"


def render(contents: "Contents") -> str:
    """The datasheet in Markdown."""
    tally, frozen, agreement = contents.tally, contents.frozen, contents.agreement
    undecided = tally.undecided.total()
    audits = audits_of(contents)
    told = [report(audit) for audit in audits]
    known = {model.name: model for model in frozen.models()}
    return templates.render(
        "datasheet.md.j2",
        {"plain": plain, "percent": percentage, "listed": listed, "of": _of},
        table=table,
        about=contents.about.strip(),
        sample_corpus=contents.sample_corpus,
        tally=tally,
        rows=contents.rows,
        names=contents.names,
        frozen=frozen,
        agreement=agreement,
        kept=contents.kept,
        Kind=Kind,
        MOST_FILES=MOST_FILES,
        MOST_PEOPLE=MOST_PEOPLE,
        MOST_SOURCES=MOST_SOURCES,
        in_two=len(tally.in_two),
        in_view=sum(tally.views[rule, ExposureCounts.MODEL] for rule in Rule),
        imported=tally.rules[Rule.IMPORTED],
        by_rule=sum(tally.rules[rule] for rule in BY_RULE),
        # Audits come oldest first.
        audited=next((one for one in reversed(told) if one.interval is not None), None),
        audits=[
            (one, sum(item.anchor_id in tally.anchors for item in audit.items))
            for one, audit in zip(told, audits, strict=True)
        ],
        undecided=undecided,
        files=_files(contents),
        holds=_holds(contents),
        several=sum(count for heads, count in tally.heads.items() if heads > 1),
        relations=_ranked(tally.relations),
        sorts=sorted((one.value if one else "not said", n) for one, n in tally.sorts.items()),
        flags=_ranked(tally.flags),
        kinds={kind for kind, _ in tally.kinds},
        sources=_sources(contents),
        rules=[
            (
                rule.value,
                tally.rules[rule],
                *(tally.views[rule, view] for view in ExposureCounts),
                RULES[rule],
            )
            for rule in Rule
            if tally.rules[rule]
        ],
        models=[
            (name, count, known.get(name))
            for name, count in sorted(tally.models.items(), key=lambda one: (-one[1], one[0]))
        ],
        guidelines=[(f"{version}:", n) for version, n in sorted(tally.guidelines.items())],
        people=_people(contents),
        measures=_measures(contents),
        voters=", ".join(
            f"{VOTERS[votes]} {count:,}"
            for votes, count in agreement.coverage.votes.items()
            if count
        ),
        undecided_by=_ranked(tally.undecided),
        not_asked=frozen.anchors() - tally.items - undecided,
        no_form=sorted(
            (kind, count) for kind, count in contents.rows.left_out.items() if kind != "open"
        ),
        stale=frozen.stale_gold(),
        version=_version(),
        changed=frozen.last_change(),
        query=visible(contents.query, LONGEST_QUERY) if contents.query else "",
    )


def _ranked(counts: "Counter[K]") -> list[tuple[str, int]]:
    return sorted((str(one), count) for one, count in counts.items())


def _people(contents: "Contents") -> list[tuple[str, str, int, str, str]]:
    tally = contents.tally
    right = {two.left: two.equal for two in contents.agreement.experts.twos}
    rows: list[tuple[str, str, int, str, str]] = []
    for (name, role), count in sorted(
        tally.answers.items(), key=lambda one: (one[0][1], -one[1], one[0])
    ):
        measure = right.get(name) if role is Role.ANNOTATOR else None
        rows.append((plain(name), role.value, count, *_right(measure)))
    rows += [
        (plain(name), type_, count, "", "")
        for (name, type_), count in sorted(tally.machines.items())
    ]
    return rows


def _right(measure: Measure | None) -> tuple[str, str]:
    """A share with its total, and its interval; empty where there is none."""
    if measure is None or measure.value is None:
        return "", ""
    value, interval = figure(measure, share=True)
    return f"{value} of {measure.n:,}", interval if measure.low is not None else ""


def _measures(contents: "Contents") -> list[tuple[str, ...]]:
    agreement, pooled = contents.agreement, contents.agreement.pooled
    measures = (
        ("equal answers, with heads compared by noun", pooled.equal, "pairs of answers", True),
        ("the same kind", pooled.same_kind, "pairs of answers", True),
        ("the same nouns, where both say REFERENCE", pooled.nouns.exact, "pairs", True),
        ("Krippendorff's alpha, kinds", agreement.coefficients.alpha, "numbers", False),
    )
    return [
        (name, *figure(measure, share=share), f"{measure.n:,} {of}")
        for name, measure, of, share in measures
    ]


def audits_of(contents: "Contents") -> "list[Audit]":
    """The audits of which an item is in the release."""
    here = contents.tally.anchors
    return [
        audit
        for audit in contents.frozen.audits()
        if any(item.anchor_id in here for item in audit.items)
    ]


def _of(count: int, items: int) -> str:
    return f"{count:,} of {items:,} answers ({percentage(count / items)})"


def _files(contents: "Contents") -> list[tuple[str, int, str]]:
    holds = {
        GOLD_END: f"everything known of each number: `{FORMAT}`",
        NFH_END: "the same in the form of the paper's data: `nfh`",
    }
    return [
        (f"`{name}`", count, what)
        for name, count in sorted(contents.files.items())
        for end, what in holds.items()
        if name.endswith(end)
    ]


def _holds(contents: "Contents") -> tuple[list[str], list[list[str | int]]]:
    tally = contents.tally
    ranked = sorted(tally.splits, key=lambda one: (-tally.splits[one], one is None, one or ""))
    shown = sorted(ranked[:MOST_SPLITS], key=lambda one: (one is None, one or ""))
    more = ranked[MOST_SPLITS:]
    titles = ["", *("in no split" if one is None else plain(one) for one in shown)]
    if more:
        titles.append(f"{len(more):,} other splits")
    if len(ranked) > 1:
        titles.append("all")

    def row(name: str, of: "dict[str | None, int]") -> list[str | int]:
        cells: list[str | int] = [name, *(of.get(split, 0) for split in shown)]
        if more:
            cells.append(sum(of.get(split, 0) for split in more))
        if len(ranked) > 1:
            cells.append(sum(of.values()))
        return cells

    rows = [
        row(kind.value, {split: tally.kinds[kind, split] for split in ranked})
        for kind in Kind
        if any(tally.kinds[kind, split] for split in ranked)
    ]
    rows.append(row("**numbers**", dict(tally.splits)))
    passages = row("passages", dict(tally.places))
    if len(ranked) > 1:
        passages[-1] = len(tally.passages)
    rows += [passages, row("tokens of these", dict(tally.tokens))]
    return titles, rows


def _sources(contents: "Contents") -> list[tuple[str, str, int, int, int, str]]:
    frozen, names = contents.frozen, contents.names
    here = contents.tally.anchors
    texts, gold, answers = (
        Counter(file for file, anchor in pairs if anchor in here)
        for pairs in (frozen.texts_of(), frozen.gold_of(), frozen.answers_of())
    )
    rows: list[tuple[str, str, int, int, int, str]] = []
    for one in frozen.imports():
        counts = (texts.pop(one.id, 0), gold[one.id], answers[one.id])
        if not any(counts):
            continue
        name, digest = plain(one.name), f"{one.sha256[:12]}…"
        # A file is often called after the person whose answers it holds.
        if one.annotator is not None and names.hidden:
            name, digest = f"without a name: answers of {names.name(one.annotator)}", ""
        rows.append((name, one.format, *counts, digest))
    others = len(here) - sum(row[2] for row in rows)
    if others:
        rows.append(("without a file: merged from other copies", "", others, 0, 0, ""))
    return sorted(rows, key=lambda row: -row[2])


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("nfh-tui")
    except PackageNotFoundError:
        return "(run from its source)"
