"""A verdict's reason, in sentences with the figures."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_tui.jobs.judging_trials import IDENTIFICATION, LEAST, LEAST_PASSAGES, Score

if TYPE_CHECKING:
    from nfh_tui.jobs.judging import Trial

MINUS = "\N{MINUS SIGN}"


def reason_of(trials: "Sequence[Trial]") -> str:
    """Why a model was promoted, kept or rejected."""
    if len(trials) == 1:
        return " ".join(_sentences(trials[0]))
    return " ".join(f"{one.task.capitalize()}: {' '.join(_sentences(one))}" for one in trials)


def _sentences(trial: "Trial") -> Iterator[str]:
    if trial.active is None:
        yield _alone(trial, "There was no other model to judge it beside")
        return
    if trial.broken:
        yield f"{trial.active}, which is in use, cannot be used ({trial.broken.rstrip('.')})."
    if trial.untried:
        why = trial.untried.rstrip(".")
        yield _alone(trial, f"{trial.against} could not be tried beside it ({why})")
        return
    yield _compared(trial)
    yield from _asides(trial)


def _alone(trial: "Trial", why: str) -> str:
    if trial.score.ours is None:
        return f"{why}."
    return f"{why}: {_figure(trial, trial.score.ours)}."


def _compared(trial: "Trial") -> str:
    score = trial.score
    if not score.n and trial.left_out:
        return f"Nothing was kept out that {trial.against} had not learnt from."
    if not score.n:
        return f"Nothing was kept out on which it could be tried beside {trial.against}."
    if score.ours is None or score.theirs is None or score.difference is None:
        return f"The {_things(trial)} kept out do not show which of the two is better."
    theirs = _share(trial, score.theirs)
    figures = f"{_figure(trial, score.ours)}, {trial.against} {theirs}"
    if not score.enough:
        return (
            f"{figures}: too few to say which is better "
            f"(wanted {LEAST} in {LEAST_PASSAGES} passages)."
        )
    return f"{figures}: {_difference(score)}."


def _difference(score: Score) -> str:
    difference = score.difference or 0.0
    if not round(abs(difference), 4):
        return "no difference"
    points = f"{100 * abs(difference):.1f}"
    more = "more" if difference > 0 else "less"
    return f"{points} points {more}{_chance(score)}"


def _chance(score: Score) -> str:
    if score.p is None or score.low is None or score.high is None:
        return ""
    between = f"{signed(score.low)} to {signed(score.high)}"
    return f" (95 %: {between}; p {_p(score.p)})"


def _asides(trial: "Trial") -> Iterator[str]:
    if trial.learnt_with:
        yield (
            f"{trial.against} learnt from what {trial.learnt_with} parsed and was given "
            "another parser's words; it may have done worse for that."
        )
    if trial.left_out and trial.score.n:
        yield (
            f"{counted(trial.left_out, 'example')} more were left out: {trial.active} learnt "
            "from their passages."
        )
    if trial.saw_model:
        have = "has" if trial.saw_model == 1 else "have"
        told = (
            f"{trial.saw_model:,} of them {have} gold that was given with a model's answer in "
            "view, which favours the older model"
        )
        blind = trial.blind
        if blind is not None and blind.difference is not None and blind.enough:
            told += f"; on the other {blind.n:,}: {_difference(blind)}"
        yield f"{told}."


def _figure(trial: "Trial", value: float) -> str:
    if trial.task == IDENTIFICATION:
        return f"F1 {percent(value)} on {_things(trial)}"
    return f"{percent(value)} % of {_things(trial)} right"


def _share(trial: "Trial", value: float) -> str:
    return percent(value) if trial.task == IDENTIFICATION else f"{percent(value)} %"


def _things(trial: "Trial") -> str:
    return counted(trial.score.n, "number" if trial.task == IDENTIFICATION else "example")


def percent(value: float) -> str:
    """A share as figures are told: 0.7812 is 78.1."""
    return f"{100 * value:.1f}"


def signed(value: float) -> str:
    """Points with their sign."""
    return f"{'+' if value > 0 else MINUS if value < 0 else ''}{100 * abs(value):.1f}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
