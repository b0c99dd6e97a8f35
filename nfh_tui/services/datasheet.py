"""The datasheet of a release in Markdown: what a reader has to know who decides whether to
use it.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from nfh_db.formats.gold import FORMAT
from nfh_db.messages import counted, visible
from nfh_db.records import BY_RULE, Role, Rule
from nfh_models.agreement.measure import Measure
from nfh_models.domain import Kind
from nfh_tui.services.agreement import AuditReport, report
from nfh_tui.services.release import GOLD_END, NFH_END, ExposureCounts

if TYPE_CHECKING:
    from nfh_db.audits import Audit
    from nfh_db.guidelines import Guideline
    from nfh_tui.services.release import Contents


WIDTH = 100
SHOWN = 100

MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~&])")
AT_START = re.compile(r"^([-+=]|\d+[.)])")


def plain(text: str) -> str:
    """Somebody's own words (a name, a file's name, a query): on one line, and no markup."""
    return MARKUP.sub(r"\\\1", visible(text, SHOWN))


def paragraph(*sentences: str) -> str:
    """Sentences as one paragraph; those that are empty are left out."""
    text = " ".join(sentence for sentence in sentences if sentence)
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def points(sentences: Iterable[str]) -> str:
    """Sentences as a list."""
    return "".join(
        textwrap.fill(
            sentence,
            WIDTH,
            initial_indent="* ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
        for sentence in sentences
        if sentence
    )


def table(titles: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    """A table; columns of whole numbers are set to the right."""
    rule = ["---:" if _numeric(rows, column) else "---" for column in range(len(titles))]
    cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (titles, rule, *cells))


def _numeric(rows: Sequence[Sequence[str | int]], column: int) -> bool:
    return bool(rows) and all(isinstance(row[column], int) for row in rows)


def percent(share: float) -> str:
    """A share as it is said: "17.8 %"."""
    return f"{100 * share:.1f} %"


def listed(counts: Iterable[tuple[str, int]]) -> str:
    """Counts by name on one line: "AND 2, OR 1"."""
    return ", ".join(f"{name} {count:,}" for name, count in counts)


def figure(measure: Measure, *, share: bool) -> tuple[str, str]:
    """A measure's value and its interval, or the reason why there is none."""
    if measure.value is None:
        return "–", measure.why or ""
    said = percent if share else "{:.2f}".format
    if measure.low is None or measure.high is None:
        return said(measure.value), measure.why or ""
    return said(measure.value), f"{said(measure.low)} to {said(measure.high)}"


RULES = {
    Rule.IMPORTED: "came with a file; how it was decided is not known here",
    Rule.UNANIMOUS: "no two annotators' answers differ in anything that matters",
    Rule.MAJORITY: "more than half of the annotators gave the class, and no two heads differ",
    Rule.EXPERT: "an adjudicator decided",
}
MOST_PEOPLE = 40

VOTERS = {"0": "none", "1": "one", "2": "two", "3+": "three or more"}
"""How many annotators answered a number, by the words of the report of agreement."""


def how_it_was_made(contents: "Contents") -> Iterator[str]:
    """Rules, people, agreement, errors found."""
    yield _rules(contents)
    yield _people(contents)
    yield _agreement(contents)
    yield _errors(contents)


def _rules(contents: "Contents") -> str:
    tally = contents.tally
    rows = [
        (
            rule.value,
            tally.rules[rule],
            *(tally.views[rule, view] for view in ExposureCounts),
            RULES[rule],
        )
        for rule in Rule
        if tally.rules[rule]
    ]
    titles = ("rule", "numbers", "a model in view", "no model in view", "not known", "meaning")
    return (
        "## How each answer came to count\n\n"
        + table(titles, rows)
        + "\n"
        + points([*_views(contents), *_guidelines(contents)])
    )


def _views(contents: "Contents") -> Iterator[str]:
    tally = contents.tally
    in_view = sum(tally.views[rule, ExposureCounts.MODEL] for rule in Rule)
    yield (
        "A model in view: its answer was on the screen before the person answered, so that the "
        "gold may lean towards it (of votes: before any of those that count)"
        if in_view
        else "No answer is known to have been given with a model's answer in view"
    )
    others = sum(tally.votes_seen.values())
    if others:
        yield (
            f"{counted(others, 'number')} decided with other people's answers in view, as "
            "adjudicators have them"
        )
    known = {model.name: model for model in contents.frozen.models()}
    for name, count in sorted(tally.models.items(), key=lambda one: (-one[1], one[0])):
        model = known.get(name)
        what = (
            f" (recipe {plain(model.recipe)}, version {plain(model.version)})" if model else ""
        )
        yield f"In use then, of {counted(count, 'number')}: model {plain(name)}{what}"
    if tally.unlogged:
        yield (
            f"Which model was in view of {counted(tally.unlogged, 'number')} is not known: the "
            "answers came with files, or from before that was noted"
        )


def _guidelines(contents: "Contents") -> Iterator[str]:
    tally = contents.tally
    if tally.guidelines:
        said = listed(
            (f"{version}:", count) for version, count in sorted(tally.guidelines.items())
        )
        yield f"Experts' decisions by the guidelines they were made under: {said}"
    if not contents.kept:
        yield "The database holds no guidelines"


def _people(contents: "Contents") -> str:
    tally, agreement = contents.tally, contents.agreement
    right = {two.left: two.equal for two in agreement.experts.twos}
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
    if not rows:
        return "## Who answered\n\n" + paragraph("No single person's answers are here.")
    titles = ("who", "role", "answers", "as an expert decided", "95 % interval")
    text = "## Who answered\n\n" + table(titles, rows[:MOST_PEOPLE])
    if len(rows) > MOST_PEOPLE:
        more = rows[MOST_PEOPLE:]
        text += "\n" + paragraph(
            f"And {len(more):,} more, with {sum(row[2] for row in more):,} answers."
        )
    if any(row[3] for row in rows):
        text += "\n" + paragraph(
            "As an expert decided: of the numbers that both answered, often those on which "
            "annotators differ, and so no measure of all answers."
        )
    if contents.names.hidden:
        text += "\n" + paragraph(
            "Names of people are replaced by numbers in all files; comments, guidelines and "
            "names of files stand as they are, and may name somebody."
        )
    return text


def _right(measure: Measure | None) -> tuple[str, str]:
    """A share with what it is of, and its interval; empty where there is none."""
    if measure is None or measure.value is None:
        return "", ""
    value, interval = figure(measure, share=True)
    return f"{value} of {measure.n:,}", interval if measure.low is not None else ""


def _agreement(contents: "Contents") -> str:
    agreement, tally = contents.agreement, contents.tally
    pooled = agreement.pooled
    if not pooled.pairs:
        return "## How far annotators agree\n\n" + paragraph(pooled.equal.why or "")
    measures = (
        ("equal answers, heads compared by noun", pooled.equal, "pairs of answers", True),
        ("the same kind", pooled.same_kind, "pairs of answers", True),
        ("the same nouns, where both say REFERENCE", pooled.nouns.exact, "pairs", True),
        ("Krippendorff's alpha, kinds", agreement.coefficients.alpha, "numbers", False),
    )
    rows = [
        (name, *figure(measure, share=share), f"{measure.n:,} {of}")
        for name, measure, of, share in measures
    ]
    voters = ", ".join(
        f"{VOTERS[votes]} {count:,}"
        for votes, count in agreement.coverage.votes.items()
        if count
    )
    undecided = tally.undecided.total()
    return (
        "## How far annotators agree\n\n"
        + table(("measure", "value", "95 % interval", "of"), rows)
        + "\n"
        + points(
            [
                f"Numbers by how many annotators answered them: {voters}; what adjudicators "
                "decided is not counted",
                f"Measured on all that the query finds, with {counted(undecided, 'number')} "
                f"that {'is' if undecided == 1 else 'are'} left out below, of which annotators "
                f"differ on {tally.disputed:,}"
                if undecided
                else "",
                f"Only {counted(agreement.coverage.passages, 'passage')}: take the intervals "
                "as rough"
                if agreement.coverage.passages < 30
                else "",
            ]
        )
    )


def audits_of(contents: "Contents") -> "list[Audit]":
    """The audits of which an item is in the release."""
    here = contents.tally.anchors
    return [
        audit
        for audit in contents.frozen.audits()
        if any(item.anchor_id in here for item in audit.items)
    ]


def _errors(contents: "Contents") -> str:
    tally = contents.tally
    by_rule = sum(tally.rules[rule] for rule in BY_RULE)
    title = "## How often the rules are wrong\n\n"
    if not by_rule:
        return title + paragraph("No answer here was made by a rule, so none was audited.")
    told = [
        _audit(contents, report(audit), sum(i.anchor_id in tally.anchors for i in audit.items))
        for audit in audits_of(contents)
    ]
    if not told:
        return title + paragraph(
            f"Not known: {counted(by_rule, 'answer')} made by a rule, and no sample of them "
            "was audited."
        )
    return title + points(told)


def _covered(audit: AuditReport) -> str:
    """What the rate of an audit is of: strata of which nothing was drawn are not in it."""
    if audit.covered is None or audit.covered == audit.frame:
        return "all of them"
    return f"the {audit.covered:,} whose strata were sampled"


def _audit(contents: "Contents", audit: AuditReport, here: int) -> str:
    who = plain(contents.names.name(audit.auditor))
    frame = "" if audit.frame is None else f" of {audit.frame:,}"
    start = (
        f"Audit of {audit.run[:10]}: {who} decided {audit.decided:,}{frame} answers of rules "
        f"without seeing them ({here:,} are in this release)"
    )
    if audit.why is not None or audit.interval is None or audit.bound is None:
        return f"{start}. No error rate: {audit.why}"
    low, high = audit.interval
    were = "was" if audit.wrong == 1 else "were"
    kinds = f" ({listed(audit.kinds.items())})" if audit.kinds else ""
    weighted = (
        f"{percent(audit.rate)} of {_covered(audit)}, each stratum by its size; "
        if audit.rate is not None
        else ""
    )
    voted = (
        f". {who} had voted on {audit.voted:,} of them before, and judges these less well"
        if audit.voted
        else ""
    )
    return (
        f"{start}; {audit.wrong:,} {were} wrong{kinds}, and put right since. Taken to be wrong "
        f"of the rest: {weighted}{percent(audit.share or 0)} of those decided, 95 % interval "
        f"{percent(low)} to {percent(high)}{voted}"
    )


# The datasheet of a release: what a reader has to know who decides whether to use it.
#
# After the questions of Gebru et al., Datasheets for Datasets, Communications of the ACM
# 64(12), 2021 (https://arxiv.org/abs/1803.09010), as far as a database can answer them.

UNSTATED = (
    "Purpose, language, licence and whom to ask are not stated here: the program cannot know "
    "them, and whoever made the release did not say"
)
MOST_SPLITS = 6
"""Columns of the table of kinds; further splits are counted together."""

LONGEST_QUERY = 2_000

MOST_FILES = 40
"""Files listed; SHA256SUMS has all."""

MOST_SOURCES = 40
"""Files named, those with most numbers first."""


def sheet(contents: "Contents") -> str:
    """The whole of it, in Markdown."""
    parts = [
        _top(contents),
        _files(contents),
        _holds(contents),
        _sources(contents),
        *how_it_was_made(contents),
        _left_out(contents),
        _program(contents),
    ]
    return "\n".join(part for part in parts if part)


def _top(contents: "Contents") -> str:
    tally = contents.tally
    about = contents.about.strip()
    what = paragraph(
        f"{counted(tally.items, 'number')} in {counted(len(tally.passages), 'passage')} of "
        "dialog, each with the answer that counts (gold): whether a noun is missing behind the "
        "number, and which noun or class that is (numeric fused heads: Elazar and Goldberg, "
        "TACL 2019)."
    )
    start = f"{about}\n\n# Datasheet\n" if about else "# Datasheet\n"
    return f"{start}\n{what}\nBefore you use it:\n\n{points(_warnings(contents))}"


def _warnings(contents: "Contents") -> list[str]:
    """What may keep a reader from using it, the worst first."""
    tally = contents.tally
    audits = audits_of(contents)
    audited = any(report(audit).interval is not None for audit in audits)
    lacking = "no audit of them is finished" if audits else "no sample was audited"
    by_rule = sum(tally.rules[rule] for rule in BY_RULE)
    in_view = sum(tally.views[rule, ExposureCounts.MODEL] for rule in Rule)
    imported = tally.rules[Rule.IMPORTED]
    left = tally.undecided.total()
    two = len(tally.in_two)
    return [
        "**Some of it is the sample corpus, which was written for showing: its answers were "
        "made up, and a figure below that counts them is evidence of nothing**"
        if contents.sample_corpus
        else "",
        f"**{counted(two, 'passage')} in the files of more than one split: leave "
        f"{'it' if two == 1 else 'them'} out of what you train on before you judge by another**"
        if two
        else "",
        f"{_of(in_view, tally.items)} were decided with a model's answer in view, and may lean "
        "towards it"
        if in_view
        else "",
        f"{_of(imported, tally.items)} came with a file; how they were decided is not known"
        if imported
        else "",
        f"{_of(by_rule, tally.items)} were made of votes by a rule, and {lacking}"
        if by_rule and not audited
        else "",
        f"{counted(left, 'number')} undecided and left out, {tally.disputed:,} of which "
        "annotators differ on: what is missing is harder than what is here"
        if tally.disputed
        else "",
        UNSTATED if not contents.about.strip() else "",
    ]


def _of(count: int, items: int) -> str:
    return f"{count:,} of {items:,} answers ({percent(count / items)})"


def _files(contents: "Contents") -> str:
    rows: list[tuple[str, int, str]] = []
    for name, count in sorted(contents.files.items()):
        if name.endswith(GOLD_END):
            rows.append((f"`{name}`", count, f"everything known of each number: `{FORMAT}`"))
        elif name.endswith(NFH_END):
            rows.append((f"`{name}`", count, "the same in the form of the paper's data: `nfh`"))
    told = contents.rows
    repeats = (
        f"{counted(told.repeats, 'row')} of the `nfh` files repeat a number of the same file, "
        "as the file did that it was imported from"
        if told.repeats
        else ""
    )
    return (
        "## Files\n\n"
        + table(("file", "lines", "what it holds"), rows[:MOST_FILES])
        + "\n"
        + points(
            [
                "`gold` and `nfh`: one JSON object a line; tokens by index from 0, characters "
                "as Unicode code points, ends exclusive",
                f"and {len(rows) - MOST_FILES:,} more files: `SHA256SUMS` names all"
                if len(rows) > MOST_FILES
                else "",
                repeats,
                *map(partial(_guide, contents), contents.kept),
                "`SHA256SUMS`: `sha256sum -c SHA256SUMS` checks that all is whole",
            ]
        )
    )


def _guide(contents: "Contents", one: "Guideline") -> str:
    under = contents.tally.own_versions[one.version]
    holds = ", which holds now" if one is contents.kept[-1] else ""
    by = f" by {plain(contents.names.name(one.by))}" if one.by else ""
    given = counted(under, "answer") if under else "no answer"
    return (
        f"`guidelines-v{one.version}.md`: the rules for people in version {one.version}{by} of "
        f"{one.at[:10]}{holds}; {given} here {'is' if under < 2 else 'are'} known to be given "
        "under it"
    )


def _holds(contents: "Contents") -> str:
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
    return "## What it holds\n\n" + table(titles, rows) + "\n" + points(_remarks(contents))


def _remarks(contents: "Contents") -> list[str]:
    tally, told = contents.tally, contents.rows
    several = sum(count for heads, count in tally.heads.items() if heads > 1)
    relations = sorted((one.value, count) for one, count in tally.relations.items())
    sorts = sorted(
        (one.value if one else "not said", count) for one, count in tally.sorts.items()
    )
    return [
        f"REFERENCE: the noun stands in the passage; {several:,} of "
        f"{tally.heads.total():,} have several nouns ({listed(relations)})"
        if several
        else "",
        f"OTHER, by sort: {listed(sorts)}" if sorts else "",
        "UNKNOWN: something is missing, and readers would fill it differently; the `nfh` files "
        "write it as OTHER"
        if _has(contents, Kind.UNKNOWN)
        else "",
        "NFH: a noun is missing, and nobody has said which" if _has(contents, Kind.NFH) else "",
        "No passage has the same words as one of another split"
        if len(tally.splits) > 1 and not tally.in_two
        else "",
        f"{counted(told.elsewhere, 'row')} of the `nfh` files in another split than the "
        "number's line of `gold`: imported files named it in several"
        if told.elsewhere
        else "",
        f"Flags: {listed(sorted((one.value, n) for one, n in tally.flags.items()))}"
        if tally.flags
        else "",
        f"{counted(tally.comments, 'comment')} stand as written, and may name somebody"
        if tally.comments
        else "",
    ]


def _has(contents: "Contents", kind: Kind) -> bool:
    return any(one is kind for one, _ in contents.tally.kinds)


def _sources(contents: "Contents") -> str:
    """Which files the texts, the gold and the answers came with."""
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
            name, digest = f"not named: answers of {names.name(one.annotator)}", ""
        rows.append((name, one.format, *counts, digest))
    others = len(here) - sum(row[2] for row in rows)
    if others:
        rows.append(("of no file: merged from other copies", "", others, 0, 0, ""))
    ranked = sorted(rows, key=lambda row: -row[2])
    more = ranked[MOST_SOURCES:]
    titles = ("file", "format", "numbers in its texts", "gold of it", "answers of it")
    text = "## Where it comes from\n\n" + table((*titles, "SHA-256"), ranked[:MOST_SOURCES])
    if more:
        numbers = sum(row[2] for row in more)
        text += "\n" + paragraph(f"And {len(more):,} more files, with {numbers:,} numbers.")
    return text


def _left_out(contents: "Contents") -> str:
    tally, frozen = contents.tally, contents.frozen
    found = tally.items + tally.undecided.total()
    not_asked = frozen.anchors() - found
    no_form = sorted(
        (kind, count) for kind, count in contents.rows.left_out.items() if kind != "open"
    )
    stale = frozen.stale_gold()
    states = sorted((state.value, count) for state, count in tally.undecided.items())
    sentences = [
        f"{counted(tally.undecided.total(), 'number')} that the query finds but nothing has "
        f"decided ({listed(states)})"
        if states
        else "",
        f"{counted(not_asked, 'number')} of the database that the query does not find"
        if not_asked
        else "",
        f"From the `nfh` files, which have no form for it: {listed(no_form)}"
        if no_form
        else "",
        f"Gold of {counted(stale, 'number')} of the database, given to a span that was "
        "replaced since and not decided anew"
        if stale
        else "",
        "Models' scores and predictions, and spans of numbers that were corrected since",
    ]
    return "## What was left out\n\n" + points(sentences)


def _program(contents: "Contents") -> str:
    frozen = contents.frozen
    changed = frozen.last_change()
    query = "all that was decided"
    after = ""
    if contents.query:
        query = "what was decided of that which this query finds"
        after = f"\n    {visible(contents.query, LONGEST_QUERY)}\n"
        if contents.names.hidden:
            query += ", in which names of people are replaced"
    when = f" after the last change of {changed}" if changed else ""
    return (
        "## How it was frozen\n\n"
        + paragraph(
            f"By `nfh-tui release` {_version()}, from a database of schema {frozen.schema} as "
            f"it was{when}: {query}. The same database gives the same bytes."
        )
        + after
    )


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("nfh-tui")
    except PackageNotFoundError:
        return "(run from its source)"
