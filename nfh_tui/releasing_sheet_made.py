"""The part of a datasheet that says how the answers were made, and how far to trust them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_db.records import BY_RULE, Role, Rule
from nfh_models.agreement.measure import Measure
from nfh_tui.auditing import AuditReport, report
from nfh_tui.releasing_tally import View
from nfh_tui.releasing_words import figure, listed, paragraph, percent, plain, points, table

if TYPE_CHECKING:
    from nfh_db.audits import Audit
    from nfh_tui.releasing import Contents

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
            *(tally.views[rule, view] for view in View),
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
    in_view = sum(tally.views[rule, View.MODEL] for rule in Rule)
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
