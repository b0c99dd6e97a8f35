"""`nfh-tui evaluate resolution`: the trial, measured and told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import click

from nfh_models.parsing import load_parser
from nfh_models.resolution.recipes import NEAREST, load_resolver
from nfh_models.resolution.scoring import (
    Entrant as Scored,
)
from nfh_models.resolution.scoring import (
    Evaluation,
    Paired,
    compare,
    evaluate,
    on_references,
)
from nfh_tui.cli.common import emit
from nfh_tui.cli.evaluate_call import Call
from nfh_tui.cli.evaluate_source import (
    Tell,
    check_names,
    named_file,
    opened,
    parsed_query,
    warn,
    watched,
)
from nfh_tui.resolution_entrants import entrant_for, other_parser, remembering
from nfh_tui.resolution_examples import (
    ResolutionExamples,
    resolution_examples_of_file,
    resolution_examples_of_package,
    resolution_examples_of_store,
)
from nfh_tui.resolution_trial import Entrant, Trial, hold, needed

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.cli.evaluate_json import Json

NOUNS = ("first", "last", "closest", "closest-before")
"""The noun baselines, the paper's three first (section 6.3)."""
NAMES = "+names"
"""Behind a baseline's kind: names count as nouns."""

COMPARED = ("accuracy", "accuracy_inclusive", "accuracy_nearest")
"""Figures by which two models are compared: they are always told together."""


@dataclass(frozen=True, slots=True)
class Versus:
    """Two of the entrants compared, by name; a test for each figure of COMPARED."""

    first: str
    second: str
    tests: tuple[Paired, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """All that was found.

    evaluations: one an entrant of the trial, in their order. baselines: the noun baselines
    and the entrants on References alone; empty where nobody asked for them.
    """

    trial: Trial
    evaluations: tuple[Evaluation, ...]
    versus: tuple[Versus, ...]
    baselines: tuple[Scored, ...]


def run(call: Call) -> None:
    """Do it, and print the report."""
    found = measured(call)
    _write_page(found, call)
    if call.as_json:
        from nfh_tui.cli.evaluate_resolution_json import as_json

        emit(as_json(found, call.asked))
    else:
        from nfh_tui.cli.evaluate_resolution_text import as_text

        text = as_text(found, call.asked, oracle=call.oracle, errors=call.errors)
        click.echo(text, nl=False)


def report(call: Call, tell: Tell) -> "Json":
    """The report as JSON; the page of the call is written. tell: told how far it is."""
    from nfh_tui.cli.evaluate_resolution_json import as_json

    found = measured(call, tell)
    _write_page(found, call)
    return as_json(found, call.asked)


def _write_page(found: Found, call: Call) -> None:
    if call.report is not None:
        from nfh_db.formats.writing import write_lines
        from nfh_tui.cli.evaluate_resolution_html import as_page

        write_lines(call.report, as_page(found, call.asked))


def measured(call: Call, tell: Tell | None = None) -> Found:
    """The trial and all its figures; its warnings have been said.

    tell: told how far it is, in place of the terminal. Raises what reading, parsing and the
    models raise.
    """
    with opened(call, looks_up=True) as store, watched(tell) as step:
        source = _examples(call, store)
        entrants = _entrants(call, store)
        baselines = _baselines() if call.baselines else []
        everybody = [*entrants, *baselines]
        layers = needed(everybody)
        parser = load_parser(call.parser, layers) if layers else None
        trial = hold(source, everybody, parser, step)
        strange = [other_parser(one, parser) for one in entrants]
        warnings = [
            *trial.warnings,
            *(one.aside for one in entrants if one.aside),
            *(said for said in strange if said is not None),
            *remembering(store, entrants, trial.examples),
        ]
        step("measuring", 0, 0)
        found = _found(replace(trial, warnings=tuple(warnings)), len(entrants), call)
    warn(found.trial.warnings)
    return found


def _found(whole: Trial, entrants: int, call: Call) -> Found:
    """entrants: how many of those in the trial are no baselines."""
    trial = replace(whole, judged=whole.judged[:entrants])
    evaluations = tuple(
        evaluate(
            trial.examples,
            one.choices,
            answers=one.answers,
            probabilities=one.entrant.resolver.probabilities,
            resampling=call.resampling,
        )
        for one in trial.judged
    )
    baselines: tuple[Scored, ...] = ()
    if call.baselines:
        said = {one.entrant.name: one.choices for one in reversed(whole.judged)}
        baselines = on_references(trial.examples, dict(reversed(said.items())))
    return Found(trial, evaluations, _compared(trial, evaluations, call), baselines)


def _compared(
    trial: Trial, evaluations: Sequence[Evaluation], call: Call
) -> tuple[Versus, ...]:
    """Every two of them, in the order in which they were named."""
    pairs = zip(trial.judged, evaluations, strict=True)
    judged = {one.entrant.name: found.judged for one, found in pairs}
    return tuple(
        Versus(
            first,
            second,
            tuple(
                compare(judged[first], judged[second], call.resampling, measure)
                for measure in COMPARED
            ),
        )
        for first, second in combinations(judged, 2)
    )


def _examples(call: Call, store: "Store | None") -> ResolutionExamples:
    if call.several_heads:
        return resolution_examples_of_package()
    if store is None or call.file is not None:
        return resolution_examples_of_file(
            named_file(call), call.format, blind=call.blind, options=call.reading
        )
    return resolution_examples_of_store(store, parsed_query(call), call.split, blind=call.blind)


def _entrants(call: Call, store: "Store | None") -> list[Entrant]:
    """Those that --model names, else the active model."""
    specs: Sequence[str | None] = call.models or (None,)
    found = [entrant_for(store, spec) for spec in specs]
    names = [one.name for one in found]
    # Models in two folders may have one name: then each is called by its folder.
    called = [
        replace(one, name=spec)
        if spec is not None and one.model_id is None and names.count(one.name) > 1
        else one
        for one, spec in zip(found, specs, strict=True)
    ]
    check_names(one.name for one in called)
    return called


def _baselines() -> list[Entrant]:
    kinds = (*NOUNS, *(f"{kind}{NAMES}" for kind in NOUNS))
    return [Entrant(f"{NEAREST}:{kind}", load_resolver(NEAREST, spec=kind)) for kind in kinds]
