"""`nfh-tui annotators`: how far each person's answers can be trusted, and how they change: in
words and tables for 80 columns, or as one JSON object.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nfh_db.messages import counted, visible
from nfh_models.agreement.measure import Measure, undefined
from nfh_models.domain import Kind
from nfh_tui import config
from nfh_tui.cli.agreement import CAVEAT, n_of
from nfh_tui.cli.options import (
    Failure,
    QueryCommand,
    as_option,
    echo,
    emit,
    known,
    on_database,
    open_database,
    parse_query,
    picked,
    user,
)
from nfh_tui.cli.report import Brief, Cell, CommandReport, RowCounter
from nfh_tui.services.reports import to_json

if TYPE_CHECKING:
    from nfh_models.agreement.competence import KindConfusion, KnownAnswerScore, Latent
    from nfh_models.agreement.drift import Cut, Drift, Seconds, Trend, WorkPeriod
    from nfh_models.agreement.report import AnnotatorCompetence, CompetenceReport
    from nfh_tui.services.annotators import CompetenceResult

BLOCKS = ("tenths", "weeks", "days")


@click.command(cls=QueryCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--blocks",
    type=click.Choice(BLOCKS),
    default=BLOCKS[0],
    help="How each person's answers are cut into stretches of time.",
)
@click.option(
    "--only", multiple=True, metavar="NAME", help="Print this person only; may be repeated."
)
@click.option("--matrix", is_flag=True, help="Print Dawid and Skene's matrices, too.")
@click.option(
    "--no-nouns",
    is_flag=True,
    help="Do not look for closest nouns, which needs a parser.",
)
@click.option(
    "--remember",
    is_flag=True,
    help="Store each person's figure, by which proposals in the workbench weigh votes.",
)
@click.option("--forget", is_flag=True, help="Undo --remember; nothing is reported.")
@as_option
@on_database
def annotators(
    query: tuple[str, ...],
    blocks: "Cut",
    only: tuple[str, ...],
    matrix: bool,
    no_nouns: bool,
    remember: bool,
    forget: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Report how reliable each annotator is on what QUERY finds; without QUERY, on all.

    Measured against adjudicators, by the models of Dawid and Skene and MACE, and over time.
    """
    from nfh_tui.services.annotators import measure_competence, store_competence

    if forget:
        _forget(config.database(db), remember=remember, as_json=as_json)
        return
    parsed = parse_query(query)
    with open_database(db, writes=remember) as store, RowCounter("reading answers") as progress:
        result = measure_competence(
            store,
            parsed,
            known(store, me or user()),
            blocks,
            progress,
            with_nouns=not no_nouns,
        )
        if remember:
            result = store_competence(store, result)
        found = ((name, known(store, name)) for name in only)
        only = tuple(person.name if person else name for name, person in found)
    missing = [name for name in only if name not in {p.name for p in result.competence.people}]
    if missing:
        raise Failure(f"{missing[0]} answered none of these items as an annotator")
    if as_json:
        emit(as_object(result, only))
    else:
        click.echo(as_text(result, only, matrix=matrix), nl=False)


def _forget(database: Path, *, remember: bool, as_json: bool) -> None:
    from nfh_db.store import Store

    if remember:
        raise click.UsageError("--remember and --forget exclude each other")
    with Store.open(database) as store:
        forgotten = store.competences.delete()
    if as_json:
        emit({"forgotten": forgotten})
    else:
        echo("Removed: votes count the same again." if forgotten else "Nothing was kept.")


Json = dict[str, Any]


def as_object(result: "CompetenceResult", only: Collection[str] = ()) -> Json:
    """The whole report, or that of the people in `only`.

    A measure is {value, low, high, n, why}; why is the reason for a value of null. remembered
    is null without --remember.
    """
    found = result.competence
    latent = to_json(found.latent)
    people = latent.pop("people")
    return {
        "caveat": CAVEAT if result.sample_corpus else None,
        "items": found.items,
        "decided_by_experts": found.decided,
        "decided_unanimous": found.unanimous,
        "trends_tested": found.tests,
        "closest_nouns_by": result.tagger,
        "models": latent,
        "people": [
            _person_json(person) | {"models": people.get(person.name)}
            for person in found.people
            if not only or person.name in only
        ],
        "remembered": result.remembered,
    }


def _person_json(person: "AnnotatorCompetence") -> Json:
    drift = person.drift
    return {
        **picked(person, "name answers kinds own"),
        "drift": {
            **picked(drift, "why seconds blocks"),
            "trends": [to_json(trend) | {"holds": trend.holds} for trend in drift.trends],
        },
        "habits": person.habits,
        **picked(person, "against_expert=expert check_items=checks"),
        "against_majority_of_others": person.others,
    }


SHOWN_PEOPLE = 12
"""People whose details are printed, those with most answers; --only and --json have others."""

SHORT = {
    Kind.REFERENCE: "REF",
    Kind.CURRENCY: "CURR",
    Kind.PEOPLE: "PEOP",
    Kind.OTHER: "OTH",
    Kind.UNKNOWN: "UNK",
    Kind.NOT_NFH: "NOT",
    Kind.BROKEN: "BROK",
}
"""Kinds at the head of a column."""


def as_text(
    result: "CompetenceResult", only: Collection[str] = (), *, matrix: bool = False
) -> str:
    page = CommandReport()
    found = result.competence
    people = [one for one in found.people if not only or one.name in only]
    _head(page, result)
    if not found.people:
        return page.text()
    _remembered(page, result)
    _everybody(page, found, people)
    _checks(page, people)
    _models(page, found.latent)
    ranked = sorted(people, key=lambda one: (-one.answers, one.name))
    for person in ranked[:SHOWN_PEOPLE]:
        _person_text(page, person, found.latent, matrix=matrix)
    if len(ranked) > SHOWN_PEOPLE:
        page.say(f"{len(ranked) - SHOWN_PEOPLE:,} further people: --only NAME, or --json.")
    _caution(page, found)
    return page.text()


def _head(page: CommandReport, result: "CompetenceResult") -> None:
    found = result.competence
    page.say(
        f"{counted(len(found.people), 'annotator')} on {counted(found.items, 'item')}; an "
        f"adjudicator decided {found.decided:,} of them."
    )
    if not found.people:
        page.say("Nobody has answered these items as an annotator.")
    if result.sample_corpus:
        page.say(CAVEAT)
    if found.decided:
        page.say(
            f"On {found.unanimous:,} of the decided ones the votes do not differ. "
            "Adjudicators mostly decide items on which annotators differ, so these shares are "
            "lower than over all items."
        )


def _remembered(page: CommandReport, result: "CompetenceResult") -> None:
    from nfh_models.agreement.report import LEAST

    kept = result.remembered
    if kept is None:
        return
    if not kept.people:
        page.say(
            f"Nothing is remembered: nobody has {LEAST} answers that check items, adjudicators "
            "or Dawid and Skene's model can judge."
        )
        return
    page.title(f"Remembered, by {kept.source}")
    page.table(
        ("annotator", "right", "answers:"),
        [
            (name, f"{one.accuracy:.0%}", f"{one.answers:,}")
            for name, one in sorted(kept.people.items())
        ],
    )
    page.note("proposals weigh votes by these figures; --forget makes votes equal again")


def _everybody(
    page: CommandReport, found: "CompetenceReport", people: "Sequence[AnnotatorCompetence]"
) -> None:
    page.title("Against what an adjudicator decided, and by the models")
    rows: list[tuple[Cell, ...]] = []
    for person in people:
        model = found.latent.people.get(person.name)
        lack = undefined(found.latent.why or "Only they voted on their items.")
        rows.append(
            (
                person.name,
                f"{person.answers:,}",
                f"{person.expert.votes:,}",
                Brief(person.expert.equal, interval=True),
                Brief(person.expert.kind),
                Brief(person.expert.heads.exact),
                Brief(model.accuracy if model else lack),
                Brief(model.spamming if model else lack),
            )
        )
    page.table(
        ("annotator", "answers:", "decided:", "whole", "kind", "heads", "D\u2013S", "spam"),
        rows,
    )
    page.note(
        "decided: of these answers, by an adjudicator, too; of them are whole (nothing that "
        "blocks, with its exact 95 % interval) and kind; heads: all the same, by noun, where "
        "both say REFERENCE; D\u2013S: expected share of right kinds, of all; spam: "
        "probability that an answer is given without knowing (MACE)"
    )
    for person in people:
        if person.own:
            page.note(
                f"left out: {counted(person.own, 'item')} that {person.name} also decided"
            )


def _checks(page: CommandReport, people: "Sequence[AnnotatorCompetence]") -> None:
    checked = [person for person in people if person.checks.votes]
    if not checked:
        return
    page.title("Check items, whose answer was known and hidden")
    page.table(
        ("annotator", "answers:", "whole", "kind"),
        [
            (one.name, f"{one.checks.votes:,}", one.checks.equal, one.checks.kind)
            for one in checked
        ],
    )


def _models(page: CommandReport, latent: "Latent") -> None:
    page.title("Dawid\u2013Skene and MACE, without any gold")
    if latent.why is not None:
        page.say(latent.why)
        return
    page.note(f"on {counted(latent.items, 'item')} with two votes and more")
    shares = ", ".join(f"{kind} {share:.1%}" for kind, share in latent.priors.items())
    page.note(f"kinds by Dawid\u2013Skene: {shares}")
    if len(latent.groups) > 1:
        groups = "; ".join(", ".join(group) for group in latent.groups)
        page.note(f"no items link these groups: compare figures only inside one: {groups}")


# --- one person --------------------------------------------------------------------------


def _person_text(
    page: CommandReport, person: "AnnotatorCompetence", latent: "Latent", *, matrix: bool
) -> None:
    page.title(f"{visible(person.name)}: {counted(person.answers, 'answer')}")
    ranked = sorted(person.kinds.items(), key=lambda one: (-one[1], one[0]))
    page.note(", ".join(f"{kind} {times / person.answers:.0%}" for kind, times in ranked))
    _heads(page, person.expert)
    _matrix(page, "adjudicator (rows)", person.expert.confusion)
    _matrix(page, "others (rows)", person.others)
    model = latent.people.get(person.name)
    if matrix and model is not None:
        _probable(page, model.confusion)
    _drift_text(page, person.drift)
    for habit in person.habits:
        page.note(f"! {habit.sentence}")


def _heads(page: CommandReport, known: "KnownAnswerScore") -> None:
    heads = known.heads
    if not heads.overall.n:
        return
    page.table(
        ("heads by noun", "value", "of"),
        [
            ("all the same, both REFERENCE", heads.exact, n_of(heads.exact, "answer")),
            ("all the same, of REFERENCE", heads.overall, n_of(heads.overall, "decision")),
            ("F1 over heads", Brief(heads.f1), n_of(heads.f1, "head")),
        ],
    )


def _matrix(page: CommandReport, title: str, found: "KindConfusion | None") -> None:
    if found is None:
        return
    page.table(
        (title, *(f"{_short(kind)}:" for kind in found.kinds)),
        [
            (kind.value, *(_count(count) if count else "\u00b7" for count in row))
            for kind, row in zip(found.kinds, found.rows, strict=True)
            if any(row)
        ],
    )


def _probable(page: CommandReport, found: "KindConfusion | None") -> None:
    if found is None:
        return
    page.table(
        ("D\u2013S (rows)", "of:", *(f"{_short(kind)}:" for kind in found.kinds)),
        [
            (kind.value, _count(weight), *(f"{share:.0%}" for share in row))
            for kind, weight, row in zip(found.kinds, found.weights, found.rows, strict=True)
            if weight >= 1
        ],
    )


def _count(number: float) -> str:
    """A number in at most four characters: large ones in thousands or millions."""
    for size, letter in ((1e6, "m"), (1e3, "k")):
        if number >= 10 * size:
            return f"{number / size:.0f}{letter}"
    return f"{number:.0f}"


def _short(kind: Kind) -> str:
    return SHORT.get(kind, kind.value)


def _drift_text(page: CommandReport, drift: "Drift") -> None:
    if drift.why is not None:
        page.note(f"over time: {drift.why}")
        if drift.seconds is not None:
            page.note(f"seconds: {_seconds(drift.seconds)}")
        return
    page.table(
        ("from", "answers:", "a day:", "right:", "agree:", "seconds"),
        [
            (
                block.first[:16].replace("T", " "),
                f"{block.answers:,}",
                f"{block.a_day:,.0f}",
                _right(block.right),
                _share(block.agreeing),
                _seconds(block.seconds),
            )
            for block in drift.blocks
        ],
    )
    if drift.seconds is not None and drift.seconds.breaks:
        page.note(
            f"{counted(drift.seconds.breaks, 'answer')} of more than "
            f"{drift.seconds.limit:,.0f} seconds taken for a break and left out of the seconds"
        )
    _kinds(page, drift.blocks)
    for trend in drift.trends:
        if trend.holds:
            page.note(f"trend: {_trend(trend)}")


def _right(measure: Measure) -> str:
    """With the number of decided answers: experts decide few in a period."""
    return _share(measure) if measure.value is None else f"{_share(measure)} of {measure.n:,}"


def _share(measure: Measure) -> str:
    return "\u00b7" if measure.value is None else f"{measure.value:.0%}"


def _seconds(seconds: "Seconds | None") -> str:
    if seconds is None:
        return "\u00b7"
    return f"{seconds.median:,.0f} ({seconds.lower:,.0f}\u2013{seconds.upper:,.0f})"


def _kinds(page: CommandReport, blocks: "Sequence[WorkPeriod]") -> None:
    met = [kind for kind in Kind if any(kind in block.kinds for block in blocks)]
    page.table(
        ("from", *(f"{_short(kind)}:" for kind in met)),
        [
            (
                block.first[:10],
                *(f"{block.kinds.get(kind, 0) / block.answers:.0%}" for kind in met),
            )
            for block in blocks
        ],
    )


def _trend(trend: "Trend") -> str:
    way = "rises" if trend.rho > 0 else "falls"
    return (
        f"{trend.what} {way} (Spearman {trend.rho:+.2f} over {trend.n:,} answers, "
        f"p {_p(trend.p)}, q {_p(trend.q or 0.0)})"
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _caution(page: CommandReport, found: "CompetenceReport") -> None:
    from nfh_models.agreement.drift import ALPHA

    page.title("How to read this")
    if found.tests:
        held = sum(trend.holds for one in found.people for trend in one.drift.trends)
        page.say(
            f"{counted(found.tests, 'trend')} were tested and {held:,} hold: among so many, "
            "some look like trends by chance, so a trend is reported only where q, which "
            f"allows for that (Benjamini and Hochberg), is below {ALPHA:.0%}. A trend says "
            "that something changed, not why: the items may have changed."
        )
    page.say(
        "Matrices: rows are what the adjudicator decided; what most of the others say, "
        "where no adjudicator decided; and what Dawid\u2013Skene takes for true. Columns are "
        "the answers."
    )
    page.say(
        "right: nothing blocks against the adjudicator; agree: mean share of the others that "
        "agree; seconds: median and quartiles. A line with ! is a reason to look, not a "
        "proof."
    )
