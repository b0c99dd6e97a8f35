"""From what `nfh-tui evaluate identification` is asked for to decisions on examples."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_models.identification.recipes import RULES, SVM, TRAINED
from nfh_models.parsing import Parser, load_parser
from nfh_tui.choosing_models import identifier_for
from nfh_tui.cli.evaluate_call import DEFAULT_FOLDS, Call
from nfh_tui.cli.evaluate_source import (
    Tell,
    check_names,
    named_file,
    opened,
    parsed_query,
    warn,
    watched,
)
from nfh_tui.entrants import Lesson, in_folds, other_parser, taught
from nfh_tui.evaluating import Entrant, Trial, hold, needed
from nfh_tui.examples import Examples, examples_of_file, examples_of_store

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.identification.svm import SvmSettings

MakeEntrants = Callable[[Call, "Store | None", Lesson | None], Sequence[Entrant]]


def held(call: Call, entrants_of: MakeEntrants, tell: Tell | None = None) -> Trial:
    """The trial of those whom `entrants_of` makes; its warnings have been said.

    tell: told how far it is, in place of the terminal. Raises what reading, parsing and
    fitting raise.
    """
    with opened(call, looks_up=_looks_up(call)) as store, watched(tell) as step:
        source = _examples(call, store)
        lesson = _lesson(call, step)
        entrants = entrants_of(call, store, lesson)
        parser = _parser(call, entrants)
        if lesson is not None:
            lesson.parser = parser
        trial = hold(source, entrants, parser, step)
        found = [*_strangers(entrants, parser), *_remembering(store, entrants, trial)]
    trial = replace(trial, warnings=(*trial.warnings, *found))
    warn(trial.warnings)
    return trial


def _looks_up(call: Call) -> bool:
    """Whether a model has to be looked up in the database."""
    if call.ablation:
        return False
    if not call.models:
        return not call.fits
    known = (RULES, *TRAINED) if call.fits else (RULES,)
    return any(spec not in known and not Path(spec).is_dir() for spec in call.models)


def _examples(call: Call, store: "Store | None") -> Examples:
    if store is None or call.file is not None:
        return examples_of_file(
            named_file(call), call.format, blind=call.blind, options=call.reading
        )
    return examples_of_store(store, parsed_query(call), call.split, blind=call.blind)


def _lesson(call: Call, step: Tell) -> Lesson | None:
    if call.train is None:
        return None
    source = examples_of_file(call.train, blind=call.blind)
    return Lesson(source, lambda done, total: step("parsed to learn from", done, total))


def _parser(call: Call, entrants: Iterable[Entrant]) -> Parser | None:
    """The parser that they need; None where none needs one."""
    layers = needed(entrants)
    return load_parser(call.parser, layers) if layers else None


def _strangers(entrants: Iterable[Entrant], parser: Parser | None) -> Iterator[str]:
    for one in entrants:
        said = other_parser(one.identifier, one.name, parser) if one.identifier else None
        if said is not None:
            yield said


def _remembering(
    store: "Store | None", entrants: Iterable[Entrant], trial: Trial
) -> Iterator[str]:
    """A warning of each registered model that learnt from some of what it is tried on."""
    if store is None:
        return
    from nfh_tui.entrants import learnt_from

    for one in entrants:
        learnt = learnt_from(store, one)
        known = sum(example.group in learnt for example in trial.examples)
        if known:
            passages = "passage" if known == 1 else "passages"
            yield (
                f"{one.name} learnt from the {passages} of {known:,} of these "
                f"{counted(len(trial.examples), 'example')}: its figures say how well it "
                f"remembers them. How it does on others, --folds {DEFAULT_FOLDS} shows"
            )


# --- who is judged --------------------------------------------------------------------------


def named(call: Call, store: "Store | None", lesson: Lesson | None) -> list[Entrant]:
    """Those that --model names, else the active model, or svm where recipes are fitted."""
    specs: Sequence[str | None] = call.models or ((SVM,) if call.fits else (None,))
    found = [_entrant(call, spec, store, lesson) for spec in specs]
    check_names(one.name for one in found)
    return found


def _entrant(
    call: Call, spec: str | None, store: "Store | None", lesson: Lesson | None
) -> Entrant:
    if spec == SVM and call.fits:
        return fitted(call, SVM, settings(call), lesson)
    chosen = identifier_for(store, spec, register=False)
    return Entrant.ready(chosen.name, chosen.model, chosen.model_id)


def fitted(call: Call, name: str, wanted: "SvmSettings", lesson: Lesson | None) -> Entrant:
    """`svm` with these settings, fitted on what --train names, else in folds."""
    if lesson is not None:
        return taught(name, wanted, lesson)
    return in_folds(name, wanted, call.folds or DEFAULT_FOLDS, call.seed)


def settings(call: Call) -> "SvmSettings":
    """The settings of `svm` that --set names. Raises SettingError."""
    from nfh_models.identification.svm_settings import plan_of

    return plan_of(call.sets).settings
