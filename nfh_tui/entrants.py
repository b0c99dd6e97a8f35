"""Who is judged: models that are ready, and recipes that are fitted for the occasion."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_models.identification.case import Decision, Identifier
from nfh_models.identification.example import Example
from nfh_models.identification.recipes import RULES, SVM
from nfh_models.parsing.parsed import Parser
from nfh_tui.evaluating import Entrant, parse_all
from nfh_tui.examples import Examples

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.identification.ablation import RuleRemoval
    from nfh_models.identification.rules import Rule
    from nfh_models.identification.svm import SvmSettings

Progress = Callable[[int, int], None]


def in_folds(name: str, settings: "SvmSettings", folds: int, seed: int) -> Entrant:
    """`svm` fitted anew in each fold, so that it decides only what it has not seen."""
    from nfh_models.identification.crossing import cross_validate
    from nfh_models.identification.svm import VERSION

    def decide(examples: Sequence[Example]) -> Sequence[Decision]:
        return cross_validate(examples, settings, folds, seed)

    return Entrant(
        name, SVM, VERSION, cross=decide, needs=settings.features.layers, folds=folds
    )


class Lesson:
    """Examples to learn from, less the passages that the trial is held on.

    name: of the file. parser: parses them; None where nobody needs it. size: examples learnt
    from. dropped: those left out since their passage is in the trial, too; both are known
    once they are read.
    """

    def __init__(self, source: Examples, progress: Progress) -> None:
        self.name = source.source
        self.size = 0
        self.dropped = 0
        self.parser: Parser | None = None
        self._source = source
        self._progress = progress
        self._read: list[Example] | None = None

    def examples(self, tried: Sequence[Example]) -> list[Example]:
        """The examples, parsed, and read once. tried: what the trial is held on.

        Raises TooFewError unless there are some of either label.
        """
        if self._read is None:
            held_out = {example.group for example in tried}
            found = list(self._source)
            kept = [example for example in found if example.group not in held_out]
            self.size, self.dropped = len(kept), len(found) - len(kept)
            _check_labels(kept)
            self._read = parse_all(kept, self.parser, self._progress)
        return self._read

    def sentence(self) -> str:
        """What was learnt from, once it is read."""
        told = f"learnt from {counted(self.size, 'example')} of {self.name}"
        if self.dropped:
            told += (
                f"; {self.dropped:,} left out, since their passages are among those that are "
                "tried"
            )
        return told


def _check_labels(train: Sequence[Example]) -> None:
    from nfh_models.identification.crossing import TooFewError

    if not train:
        raise TooFewError(
            "there are no examples to learn from but those of passages that are tried, too"
        )
    if len({example.nfh for example in train}) < 2:
        only = "NFHs" if train[0].nfh else "none"
        raise TooFewError(
            f"there is nothing to tell apart: of {counted(len(train), 'example')} to learn "
            f"from all are {only}"
        )


def taught(name: str, settings: "SvmSettings", lesson: Lesson) -> Entrant:
    """`svm` fitted on a lesson."""
    from nfh_models.identification.svm import VERSION, train_svm

    def decide(examples: Sequence[Example]) -> Sequence[Decision]:
        machine = train_svm(lesson.examples(examples), settings)
        return machine.decide([example.case for example in examples])

    return Entrant(
        name,
        SVM,
        VERSION,
        cross=decide,
        needs=settings.features.layers,
        lesson=lesson,
    )


def rules_without() -> list[Entrant]:
    """`rules` whole, then with each part left out that can be."""
    from nfh_models.identification.ablation import holding, rule_removals, without
    from nfh_models.identification.rules import Rules

    rules = Rules()
    held: list[list[Rule]] = []

    def entrant(removal: "RuleRemoval") -> Entrant:
        def decide(examples: Sequence[Example]) -> Sequence[Decision]:
            # Asked once for all: which rules hold does not depend on what is left out.
            if not held:
                held.extend(holding(example.case for example in examples))
            return without(held, removal)

        return Entrant(removal.name, RULES, rules.version, cross=decide, needs=rules.needs)

    return [entrant(removal) for removal in rule_removals()]


def other_parser(identifier: Identifier, name: str, parser: Parser | None) -> str | None:
    """A warning where a model is used with another parser than it learnt with."""
    learnt_with = getattr(identifier, "parser", None)
    if learnt_with is None or parser is None or not identifier.needs:
        return None
    if learnt_with == parser.name:
        return None
    return (
        f"{name} learnt from sentences parsed by {learnt_with} and is given those of "
        f"{parser.name}; it may decide worse"
    )


def learnt_from(store: "Store", entrant: Entrant) -> frozenset[str]:
    """The passages, by digest, that a registered model learnt from; none of what is fitted
    for the occasion, or learns nothing."""
    from nfh_tui.learnt import passages_learnt_from

    if entrant.identifier is None or entrant.model_id is None:
        return frozenset()
    model = next((one for one in store.models() if one.id == entrant.model_id), None)
    return frozenset() if model is None else passages_learnt_from(store, model)
