"""Trials of identification and of resolution: examples parsed once, and answered by each
model or recipe that is judged on them.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from nfh_db.messages import counted
from nfh_models.domain import Answer
from nfh_models.identification.base import (
    BATCH,
    RULES,
    SVM,
    Decision,
    Example,
    Identifier,
    decide,
    parse_cases,
)
from nfh_models.model_files import read_seen
from nfh_models.parsing.base import Parsed, ParseLayer, Parser, WordSpan
from nfh_models.resolution.base import (
    Choice,
    Item,
    ResolutionExample,
    Resolver,
    batches,
    check_layers,
    parse_items,
)
from nfh_models.resolution.heads import decode
from nfh_tui.display_figures import percent
from nfh_tui.jobs.reporting import seen_by
from nfh_tui.services.examples import Examples, LabelledExamples, ResolutionExamples

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.identification.evaluation import RuleRemoval
    from nfh_models.identification.rules import IdentificationRule
    from nfh_models.identification.svm import SvmSettings


TrialProgress = Callable[[str, int, int], None]
"""Called with the step, the number done, and the total; 0 if that is unknown."""
DecideAll = Callable[[Sequence[Example]], Sequence[Decision]]


def _no_progress(what: str, done: int, total: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class IdentificationSystem:
    """A system to evaluate: a trained identifier, or a recipe that is fitted in each fold.

    name: as the report has it. model_id: of its registration in the store, if it has one.
    identifier: None where `cross` gives the decisions instead, of examples that are parsed;
    then `needs` are the layers they must have. folds: their number; training_set: what it is
    fitted on instead; both None for a trained identifier. folder: of its files; None for rules.
    """

    name: str
    recipe: str
    version: str
    model_id: int | None = None
    identifier: Identifier | None = None
    cross: DecideAll | None = None
    needs: frozenset[ParseLayer] = frozenset()
    folds: int | None = None
    training_set: "FoldExamples | None" = None
    folder: Path | None = None

    @classmethod
    def ready(
        cls,
        name: str,
        identifier: Identifier,
        model_id: int | None,
        folder: Path | None = None,
    ) -> "IdentificationSystem":
        """The system of a trained identifier."""
        return cls(
            name,
            identifier.recipe,
            identifier.version,
            model_id,
            identifier,
            needs=identifier.needs,
            folder=folder,
        )


@dataclass(frozen=True, slots=True)
class SeenExamples:
    """The examples of passages that a system has seen, and its figure on all examples and on
    the others; None where there are no others."""

    n: int
    others: int
    figure: str
    on_all: float | None
    on_others: float | None

    @property
    def sentence(self) -> str:
        """What to say after the system's name."""
        both = f"{self.figure} {percent(self.on_all, none='none')} on all"
        if self.others:
            both += f", {percent(self.on_others, none='none')} on the {self.others:,} others"
        return (
            f"has seen the passages of {self.n:,} of these "
            f"{counted(self.n + self.others, 'example')}, so its figures on them are too "
            f"good: {both}"
        )


@dataclass(frozen=True, slots=True)
class DecidedExamples:
    """The decisions of a system. seconds: without the parsing. seen: None for no example."""

    system: IdentificationSystem
    decisions: tuple[Decision, ...]
    seconds: float
    seen: SeenExamples | None = None
    figure: ClassVar = "F1"

    def value(self, examples: Sequence[Example], places: Iterable[int]) -> float | None:
        """The figure on the examples at these places."""
        from nfh_models.identification.scores import count

        return count((examples[at].nfh, self.decisions[at].nfh) for at in places).f1


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a trial was held on. Subclasses have the examples, and what each system said.

    parser: its name, None where nobody needed one. parsing: seconds. left_out, in_sheet,
    warnings: as the examples' source counted them.
    """

    source: str
    format: str | None
    parser: str | None
    parsing: float
    left_out: Mapping[str, int]
    in_sheet: int
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, source: LabelledExamples, watch: "Watched | None", **own: Any) -> Self:  # noqa: ANN401 - fields of the subclass
        """A trial on examples that were gone through. watch: None where nothing was parsed."""
        return cls(
            source=source.source,
            format=source.format,
            parser=None if watch is None else watch.name,
            parsing=0.0 if watch is None else watch.seconds,
            left_out=dict(sorted(source.left_out.items())),
            in_sheet=source.in_sheet,
            warnings=tuple(source.warnings),
            **own,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentificationTrial(Trial):
    """Examples, with their parse where a system is fitted in folds, and the decisions of each
    system. no_number: as the examples' source counted them."""

    examples: tuple[Example, ...]
    judged: tuple[DecidedExamples, ...]
    no_number: int


def hold_identification(
    source: Examples,
    systems: Sequence[IdentificationSystem],
    parser: Parser | None,
    progress: TrialProgress = _no_progress,
) -> IdentificationTrial:
    """Let each system decide all examples, which are parsed once.

    progress: called while reading, parsing and deciding. Raises FormatError, StoreError
    for examples that cannot be read, ParserError for a parser that gives too little,
    ModelFileError for a damaged list of texts.
    """
    _check_lists(systems)
    examples = list(source)
    progress("read", len(examples), 0)
    watch = None if parser is None else Watched(parser)
    ready = {one.name: one.identifier for one in systems if one.identifier is not None}
    keep = len(ready) < len(systems)
    decided: dict[str, list[Decision]] = {name: [] for name in ready}
    seconds = dict.fromkeys(ready, 0.0)
    for place, batch in _batches(examples):
        parsed = batch if watch is None else parse_examples(batch, watch)
        cases = [one.case for one in parsed]
        for name, identifier in ready.items():
            began = time.perf_counter()
            decided[name] += [said for _, said in decide(cases, identifier, parser)]
            seconds[name] += time.perf_counter() - began
        if keep:
            examples[place : place + len(batch)] = parsed
        progress("parsed and decided", place + len(batch), len(examples))
    judged = []
    for place, system in enumerate(systems):
        if system.cross is None:
            name = system.name
            judged.append(DecidedExamples(system, tuple(decided[name]), seconds[name]))
        else:
            progress("fitting, model", place + 1, len(systems))
            began = time.perf_counter()
            decisions = tuple(system.cross(examples)) if examples else ()
            judged.append(DecidedExamples(system, decisions, time.perf_counter() - began))
    return IdentificationTrial.of(
        source,
        watch,
        examples=tuple(examples),
        judged=tuple(judged),
        no_number=source.no_number,
    )


def _batches(examples: Sequence[Example]) -> Iterator[tuple[int, list[Example]]]:
    for place in range(0, len(examples), BATCH):
        yield place, list(examples[place : place + BATCH])


def parse_examples(examples: Sequence[Example], parser: Parser) -> list[Example]:
    """The same examples with their sentences parsed."""
    cases = parse_cases([one.case for one in examples], parser)
    return [replace(one, case=case) for one, case in zip(examples, cases, strict=True)]


def parse_all(
    examples: Sequence[Example], parser: Parser | None, progress: Callable[[int, int], None]
) -> list[Example]:
    """All of them parsed; as they are where there is no parser."""
    if parser is None:
        return list(examples)
    parsed: list[Example] = []
    for _, batch in _batches(examples):
        parsed += parse_examples(batch, parser)
        progress(len(parsed), len(examples))
    return parsed


class Watched:
    """A parser, and the seconds that parsing took."""

    def __init__(self, parser: Parser) -> None:
        self.name = parser.name
        self.layers = parser.layers
        self.seconds = 0.0
        self._parser = parser

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        """One parse for each span, in order."""
        parses = iter(self._parser.parse(word_spans))
        while True:
            began = time.perf_counter()
            some = list(islice(parses, BATCH))
            self.seconds += time.perf_counter() - began
            if not some:
                return
            yield from some


FitProgress = Callable[[int, int], None]


class FoldExamples:
    """Training examples without the passages of the trial.

    name: of the file. parser: parses them; None where nobody needs it. size: examples learnt
    from. dropped: those left out since their passage is in the trial, too; both are known
    once they are read.
    """

    def __init__(self, source: Examples, progress: FitProgress) -> None:
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
        """The training data in words, once it is read."""
        told = f"learnt from {counted(self.size, 'example')} of {self.name}"
        if self.dropped:
            told += f"; {self.dropped:,} left out, because their passages are used for the test"
        return told


def _check_labels(train: Sequence[Example]) -> None:
    from nfh_models.identification.svm import TooFewError

    if not train:
        raise TooFewError(
            "the only examples to learn from are in passages that are used for the test"
        )
    if len({example.nfh for example in train}) < 2:
        only = "NFHs" if train[0].nfh else "none"
        raise TooFewError(
            f"there is nothing to distinguish: of {counted(len(train), 'example')} to learn "
            f"from all are {only}"
        )


def fitted(
    name: str,
    settings: "SvmSettings",
    training_set: FoldExamples | None,
    folds: int,
    seed: int,
) -> IdentificationSystem:
    """`svm` fitted on a training set; without one in each fold, so that it decides only
    examples that it was not trained on."""
    from nfh_models.identification.svm import VERSION, cross_validate, train_svm

    def decide(examples: Sequence[Example]) -> Sequence[Decision]:
        if training_set is None:
            return cross_validate(examples, settings, folds, seed)
        machine = train_svm(training_set.examples(examples), settings)
        return machine.decide([example.case for example in examples])

    return IdentificationSystem(
        name,
        SVM,
        VERSION,
        cross=decide,
        needs=settings.layers,
        folds=folds if training_set is None else None,
        training_set=training_set,
    )


def rules_without() -> list[IdentificationSystem]:
    """`rules` whole, then without each part that can be left out."""
    from nfh_models.identification.evaluation import holding, rule_removals, without
    from nfh_models.identification.rules import Rules

    rules = Rules()
    held: list[list[IdentificationRule]] = []

    def system(removal: "RuleRemoval") -> IdentificationSystem:
        def decide(examples: Sequence[Example]) -> Sequence[Decision]:
            # Computed once: which rules hold does not depend on what is left out.
            if not held:
                held.extend(holding(example.case for example in examples))
            return without(held, removal)

        return IdentificationSystem(
            removal.name, RULES, rules.version, cross=decide, needs=rules.needs
        )

    return [system(removal) for removal in rule_removals()]


@dataclass(frozen=True, slots=True)
class ResolutionSystem:
    """A system to evaluate.

    name: as the report has it. model_id: of its registration in the store, if it has one.
    aside: why it is not the expected one, in a sentence; "" where it is. folder: of its files;
    None for rules.
    """

    name: str
    resolver: Resolver
    model_id: int | None = None
    aside: str = ""
    folder: Path | None = None

    @property
    def needs(self) -> frozenset[ParseLayer]:
        """The layers that its items must have."""
        return self.resolver.needs


@dataclass(frozen=True, slots=True)
class ResolvedExamples:
    """The choice of a system for each example; None where it made none.

    answers: the choices made whole, each head with all its mentions. seconds: for choosing,
    without the parsing. seen: None for no example.
    """

    system: ResolutionSystem
    choices: tuple[Choice | None, ...]
    answers: tuple[Answer | None, ...]
    seconds: float
    seen: SeenExamples | None = None
    figure: ClassVar = "accuracy (inclusive)"

    def value(
        self, examples: Sequence[ResolutionExample], places: Iterable[int]
    ) -> float | None:
        """The figure on the examples at these places."""
        from nfh_models.resolution.scoring import figures, judge_one

        judged = (judge_one(examples[at], self.choices[at]) for at in places)
        return figures(judged).accuracy_inclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolutionTrial(Trial):
    """Examples without their parses, and the answers of each system. unknown: as the
    examples' source counted them."""

    examples: tuple[ResolutionExample, ...]
    judged: tuple[ResolvedExamples, ...]
    unknown: int

    @property
    def saw_model(self) -> int:
        """Examples whose gold was given with a model's answer in view."""
        return sum(example.saw_model for example in self.examples)


System = IdentificationSystem | ResolutionSystem


def layers_needed(systems: Iterable[System]) -> frozenset[ParseLayer]:
    """The layers that a parser has to give to serve them all; empty if none needs one."""
    return frozenset[ParseLayer]().union(*(system.needs for system in systems))


def hold_resolution(
    source: ResolutionExamples,
    systems: Sequence[ResolutionSystem],
    parser: Parser | None,
    progress: TrialProgress = _no_progress,
) -> ResolutionTrial:
    """Let each system answer all examples, whose passages are parsed once for all of them.

    progress: called while reading and answering. Raises FormatError, StoreError for
    examples that cannot be read, ParserError for a parser that gives too little,
    ModelFileError for a damaged list of texts.
    """
    _check_lists(systems)
    examples = list(source)
    progress("read", len(examples), 0)
    needs = layers_needed(systems)
    check_layers(needs, parser)
    watch = None if parser is None else Watched(parser)
    said: list[list[Choice | None]] = [[] for _ in systems]
    whole: list[list[Answer | None]] = [[] for _ in systems]
    seconds = [0.0] * len(systems)
    done = 0
    for plain in batches(example.item for example in examples):
        parsed = parse_items(plain, needs, watch)
        for place, system in enumerate(systems):
            # A system that needs no parse gets none: its answers do not depend on the other
            # systems.
            items = parsed if system.needs else plain
            began = time.perf_counter()
            choices = _choices(system, items)
            seconds[place] += time.perf_counter() - began
            said[place] += choices
            whole[place] += map(_answer, items, choices)
        done += len(plain)
        progress("answered", done, len(examples))
    judged = (
        ResolvedExamples(system, tuple(choices), tuple(answers), taken)
        for system, choices, answers, taken in zip(systems, said, whole, seconds, strict=True)
    )
    return ResolutionTrial.of(
        source, watch, examples=tuple(examples), judged=tuple(judged), unknown=source.unknown
    )


def _choices(system: ResolutionSystem, items: Sequence[Item]) -> list[Choice | None]:
    choices = system.resolver.resolve(items)
    if len(choices) != len(items):
        raise ValueError(f"{system.name} gave {len(choices)} answers to {len(items)} items")
    return choices


def _answer(item: Item, choice: Choice | None) -> Answer | None:
    return None if choice is None else decode(item, choice)


def system_for(store: "Store | None", spec: str | None) -> ResolutionSystem:
    """The system that `spec` names: a registered model's number or name, a recipe, a model's
    folder.

    Without a spec the active model of resolution, else a packaged one, else `cues`. Nothing is
    written. Raises ModelsError for what names none or cannot be used.
    """
    from nfh_tui.services.models import resolver_for

    chosen = resolver_for(store, spec, register=False)
    return ResolutionSystem(
        chosen.name, chosen.model, chosen.model_id, chosen.fallback_reason, chosen.folder
    )


def other_parser(model: Identifier | Resolver, name: str, parser: Parser | None) -> str | None:
    """A warning where a model is used with another parser than it was trained with."""
    learnt_with = getattr(model, "parser", None)
    if not isinstance(learnt_with, str) or parser is None or not model.needs:
        return None
    if learnt_with == parser.name:
        return None
    resolves = hasattr(model, "resolve")
    texts, does = ("passages", "answer") if resolves else ("sentences", "decide")
    return (
        f"{name} learnt from {texts} parsed by {learnt_with} and now gets those of "
        f"{parser.name}; it may {does} worse"
    )


# --- what a model has seen --------------------------------------------------------------------

Held = TypeVar("Held", IdentificationTrial, ResolutionTrial)


def _check_lists(systems: Iterable[IdentificationSystem | ResolutionSystem]) -> None:
    """Raise ModelFileError for a damaged list of texts before a long trial, not after it."""
    for one in systems:
        if one.folder is not None:
            read_seen(one.folder)


def with_seen(store: "Store | None", trial: Held) -> Held:
    """The trial with the examples that each system has seen, and a warning for each system.

    Raises ModelFileError for a model whose list of texts is damaged.
    """
    models = {} if store is None else {model.id: model for model in store.models.all()}
    texts = {one.group: one.passage for one in trial.examples if one.passage is not None}
    every = range(len(trial.examples))
    judged, warnings = [], list(trial.warnings)
    for one in trial.judged:
        name, folder, seen = one.system.name, one.system.folder, None
        model = models.get(one.system.model_id or 0)
        test = seen_by(store, model, folder)
        passages = {group for group, text in texts.items() if test(text)}
        others = [at for at in every if trial.examples[at].group not in passages]
        if len(others) < len(every):
            seen = SeenExamples(
                len(every) - len(others),
                len(others),
                one.figure,
                one.value(trial.examples, every),
                one.value(trial.examples, others),
            )
            warnings.append(f"{name} {seen.sentence}")
        elif model is None and folder is not None and read_seen(folder) is None:
            warnings.append(
                f"{name} has no list of the texts that it has seen: if some of these are among "
                "them, its figures are too good"
            )
        judged.append(replace(one, seen=seen))
    return replace(trial, judged=tuple(judged), warnings=tuple(warnings))
