"""`nfh-tui evaluate identification`: the trial, measured and told."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import click

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.identification.evaluating import Evaluation, evaluate
from nfh_models.identification.example import Example
from nfh_models.identification.intervals import compare
from nfh_tui.cli.common import emit
from nfh_tui.cli.evaluate_call import Call
from nfh_tui.cli.evaluate_html import write_report
from nfh_tui.cli.evaluate_json import Json, Versus, as_json
from nfh_tui.cli.evaluate_source import Tell
from nfh_tui.cli.evaluate_trial import held, named
from nfh_tui.evaluating import Judged, Trial

TITLE = "Identification"


def run(call: Call) -> None:
    """Do it, and print the report."""
    if call.ablation:
        from nfh_tui.cli.evaluate_ablation import run as ablate

        ablate(call)
        return
    whole = measured(call)
    write_page(whole, call)
    if call.as_json:
        emit(as_json(whole.trial, whole.found, whole.versus, call.asked))
    else:
        click.echo(_text(whole, call, call.errors), nl=False)


def report(call: Call, tell: Tell) -> Json:
    """The report as JSON; the page of the call is written. tell: told how far it is."""
    whole = measured(call, tell)
    write_page(whole, call)
    return as_json(whole.trial, whole.found, whole.versus, call.asked)


@dataclass(frozen=True, slots=True)
class Measured:
    """All that was found. found: one an entrant of the trial, in their order."""

    trial: Trial
    found: Sequence[Evaluation]
    versus: Sequence[Versus]


def measured(call: Call, tell: Tell | None = None) -> Measured:
    """The trial and all its figures. Raises what reading, parsing and the models raise."""
    trial = held(call, named, tell)
    found = [evaluate(trial.examples, one.decisions, call.resampling) for one in trial.judged]
    versus = _compared(trial.examples, trial.judged, call.resampling)
    return Measured(trial, found, versus)


def write_page(whole: Measured, call: Call) -> None:
    """Write the page that the call asks for, if it asks for one. Raises ExportError."""
    if call.report is not None:
        most = max(one.counts.wrong for one in whole.found)
        write_report(call.report, TITLE, _text(whole, call, most))


def _text(whole: Measured, call: Call, errors: int) -> str:
    from nfh_tui.cli.evaluate_text import as_text

    return as_text(whole.trial, whole.found, whole.versus, call.asked, errors=errors)


def _compared(
    tried: Sequence[Example], judged: Sequence[Judged], resampling: Resampling
) -> list[Versus]:
    """Every two of them, in the order in which they were named."""
    said = {one.entrant.name: [it.nfh for it in one.decisions] for one in judged}
    return [
        Versus(first, second, compare(tried, said[first], said[second], resampling))
        for first, second in combinations(said, 2)
    ]
