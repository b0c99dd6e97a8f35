"""`nfh-tui evaluate identification`: the trial, measured and told."""

from collections.abc import Sequence
from itertools import combinations

import click

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.identification.evaluating import Evaluation, evaluate
from nfh_models.identification.example import Example
from nfh_models.identification.intervals import compare
from nfh_tui.cli.common import emit
from nfh_tui.cli.evaluate_call import Call
from nfh_tui.cli.evaluate_html import write_report
from nfh_tui.cli.evaluate_json import Versus, as_json
from nfh_tui.cli.evaluate_trial import held, named
from nfh_tui.evaluating import Judged, Trial

TITLE = "Identification"


def run(call: Call) -> None:
    """Do it, and print the report."""
    if call.ablation:
        from nfh_tui.cli.evaluate_ablation import run as ablate

        ablate(call)
        return
    trial = held(call, named)
    found = [evaluate(trial.examples, one.decisions, call.resampling) for one in trial.judged]
    versus = _compared(trial.examples, trial.judged, call.resampling)
    if call.report is not None:
        text = _text(trial, found, versus, call, max(one.counts.wrong for one in found))
        write_report(call.report, TITLE, text)
    if call.as_json:
        emit(as_json(trial, found, versus, call.asked))
    else:
        click.echo(_text(trial, found, versus, call, call.errors), nl=False)


def _text(
    trial: Trial,
    found: Sequence[Evaluation],
    versus: Sequence[Versus],
    call: Call,
    errors: int,
) -> str:
    from nfh_tui.cli.evaluate_text import as_text

    return as_text(trial, found, versus, call.asked, errors=errors)


def _compared(
    tried: Sequence[Example], judged: Sequence[Judged], resampling: Resampling
) -> list[Versus]:
    """Every two of them, in the order in which they were named."""
    said = {one.entrant.name: [it.nfh for it in one.decisions] for one in judged}
    return [
        Versus(first, second, compare(tried, said[first], said[second], resampling))
        for first, second in combinations(said, 2)
    ]
