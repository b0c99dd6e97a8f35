"""Prediction: which numbers of a text or of a database are fused heads, and their heads."""

import math
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from nfh_db.connection import WriteSize
from nfh_db.formats.fields import NAME_LENGTH
from nfh_db.formats.gold import prediction_line
from nfh_db.query import parse
from nfh_db.records import Annotator, ExportRecord, Prediction, Role, Vote
from nfh_models.domain import IMPLICIT_KINDS, Anchor, Answer, Kind, anchor_id, class_answer
from nfh_models.identification.base import (
    RULES,
    Decision,
    IdentificationRecipeError,
    Identifier,
    SentenceNumber,
    cases_of,
    decide,
    parse_cases,
)
from nfh_models.parsing.base import BASIC, Parser, load_parser
from nfh_models.resolution import recipes
from nfh_models.resolution.base import Choice, Item, Resolver, check_layers, resolve_items
from nfh_models.resolution.baselines import DeterministicResolver
from nfh_models.resolution.heads import decode
from nfh_models.resolution.recipes import BASE, ENCODER, SMALL, TASK, ResolutionRecipeError
from nfh_tui.services.models import (
    RESOLUTION,
    Loaded,
    SelectedModel,
    identifier_for,
    register_parser,
    resolver_for,
)
from nfh_tui.services.predict_sources import PassageNumbers

if TYPE_CHECKING:
    from nfh_db.query import Query
    from nfh_db.store import Store
    from nfh_tui.jobs.cluster_work import ClusterPredictors


# Numbers of passages: the identifier decides which ones are fused heads. Patterns resolve some
# of these, the resolver the others. All of it streams, so memory does not grow with the text.

NUMBER_BATCH = 512
"""Numbers predicted together."""

SCORE_BATCH = 1_000_000
"""Candidates scored together; bounds the memory where passages are long."""


@dataclass(frozen=True, slots=True)
class PredictionTools:
    """The models and the parser."""

    identifier: SelectedModel[Identifier] | None
    """None where all numbers are known to be fused heads."""

    resolver: SelectedModel[Resolver]
    parser: Parser | None
    """None where no model needs one."""

    patterns: bool = True
    """Whether patterns are tried before the resolver."""


@dataclass(frozen=True, slots=True)
class PredictedNumber:
    """A number with its prediction."""

    numbers: PassageNumbers
    anchor: Anchor
    decision: Decision | None
    """The identifier's; None without one."""

    answer: Answer
    """Of kind NFH where the resolver gives no answer."""

    choice: Choice | None = None
    """The resolver's; None for a number that is no fused head or that a pattern resolves."""

    pattern: str | None = None
    """The name of the pattern that resolves it."""

    @property
    def nfh(self) -> bool:
        return self.answer.kind is not Kind.NOT_NFH


@dataclass(slots=True)
class PredictionCounts:
    """Counts of what has been predicted so far."""

    passages: int = 0
    numbers: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    """Of fused heads."""

    patterns: Counter[str] = field(default_factory=Counter)
    """Fused heads resolved by each pattern."""

    several: int = 0
    """Fused heads with two heads or more."""

    cut: int = 0
    """Fused heads for which the model did not score every token of the passage."""

    @property
    def nfh(self) -> int:
        return self.kinds.total()

    def add(self, one: PredictedNumber, *, windowed: bool) -> None:
        """Count one. windowed: tokens without a score are outside the resolver's window."""
        self.numbers += 1
        if not one.nfh:
            return
        self.kinds[one.answer.kind] += 1
        self.several += len(one.answer.heads) > 1
        if one.pattern is not None:
            self.patterns[one.pattern] += 1
        if windowed and one.choice is not None:
            self.cut += is_truncated(one.choice, one.anchor)


def is_truncated(choice: Choice, anchor: Anchor) -> bool:
    """Whether tokens other than the anchor's own have no score."""
    tokens = choice.scores[len(IMPLICIT_KINDS) :]
    return tokens.count(None) > anchor.end - anchor.start


def predict(
    passages: Iterable[PassageNumbers], tools: PredictionTools, counts: PredictionCounts
) -> Iterator[PredictedNumber]:
    """Each number of the passages with its prediction, in order, in bounded memory.

    Raises ParserError for a parser that lacks a required layer, and what `passages` raises.
    """
    windowed = tools.resolver.model.probabilities
    for chunk in _chunks(passages):
        counts.passages += len(chunk)
        for one in _predict(chunk, tools):
            counts.add(one, windowed=windowed)
            yield one


def _chunks(passages: Iterable[PassageNumbers]) -> Iterator[list[PassageNumbers]]:
    """Passages in order, until NUMBER_BATCH or SCORE_BATCH is reached."""
    chunk: list[PassageNumbers] = []
    numbers = scores = 0
    for one in passages:
        chunk.append(one)
        numbers += len(one.anchors)
        scores += len(one.anchors) * len(one.passage.tokens)
        if numbers >= NUMBER_BATCH or scores >= SCORE_BATCH:
            yield chunk
            chunk, numbers, scores = [], 0, 0
    if chunk:
        yield chunk


@dataclass(frozen=True, slots=True)
class _Open:
    """A number without its answer. case: the number in its sentence, parsed or not."""

    numbers: PassageNumbers
    anchor: Anchor
    case: SentenceNumber
    decision: Decision | None

    def predicted(
        self, answer: Answer, choice: Choice | None = None, pattern: str | None = None
    ) -> PredictedNumber:
        return PredictedNumber(
            self.numbers, self.anchor, self.decision, answer, choice, pattern
        )

    @property
    def item(self) -> Item:
        """The number in its passage, with the parse of its sentence if there is one."""
        parsed = self.case.parsed
        shift = 0 if parsed is None else self.anchor.start - self.case.start
        return Item(self.numbers.passage, self.anchor, parsed, shift)


def _predict(
    chunk: Sequence[PassageNumbers], tools: PredictionTools
) -> Iterator[PredictedNumber]:
    open_ = _identified(chunk, tools)
    answers: list[PredictedNumber | None] = [
        None
        if one.decision is None or one.decision.nfh
        else one.predicted(Answer(Kind.NOT_NFH))
        for one in open_
    ]
    waiting = [place for place, answer in enumerate(answers) if answer is None]
    if tools.patterns:
        open_ = _parsed_for_patterns(open_, waiting, tools.parser)
        for place in waiting:
            answers[place] = _by_pattern(open_[place], tools.resolver.model.recipe)
        waiting = [place for place in waiting if answers[place] is None]
    items = (Item(open_[at].numbers.passage, open_[at].anchor) for at in waiting)
    choices = resolve_items(items, tools.resolver.model, tools.parser)
    for place, (item, choice) in zip(waiting, choices, strict=True):
        one = open_[place]
        answer = Answer(Kind.NFH) if choice is None else decode(item, choice)
        answers[place] = one.predicted(answer, choice=choice)
    yield from (answer for answer in answers if answer is not None)


def _identified(chunk: Sequence[PassageNumbers], tools: PredictionTools) -> list[_Open]:
    owners = [(numbers, anchor) for numbers in chunk for anchor in numbers.anchors]
    cases = (case for numbers in chunk for case in cases_of(numbers.passage, numbers.anchors))
    decided: Iterable[tuple[SentenceNumber, Decision | None]]
    if tools.identifier is None:
        decided = ((case, None) for case in cases)
    else:
        decided = decide(cases, tools.identifier.model, tools.parser)
    return [
        _Open(numbers, anchor, case, decision)
        for (numbers, anchor), (case, decision) in zip(owners, decided, strict=True)
    ]


def _parsed_for_patterns(
    open_: list[_Open], places: Sequence[int], parser: Parser | None
) -> list[_Open]:
    """The same numbers, with parsed sentences where the words may match a pattern."""
    if parser is None:
        return open_
    cases = {place: open_[place].case for place in places}
    wanted = [
        place
        for place, case in cases.items()
        if case.parsed is None and recipes.may_match(case.word_span.words, case.start, case.end)
    ]
    found = list(open_)
    parsed = parse_cases([cases[place] for place in wanted], parser)
    for place, case in zip(wanted, parsed, strict=True):
        found[place] = replace(open_[place], case=case)
    return found


def _by_pattern(one: _Open, recipe: str) -> PredictedNumber | None:
    case = one.case
    pattern = recipes.find(case.word_span.words, case.parsed, case.start, case.end)
    if pattern is None or not recipes.goes_first(pattern, recipe):
        return None
    if pattern.kind is not None and pattern.kind is not Kind.REFERENCE:
        return one.predicted(class_answer(pattern.kind), pattern=pattern.name)
    item = one.item
    (choice,) = DeterministicResolver().resolve([item])
    if choice is None:
        return None
    return one.predicted(decode(item, choice), pattern=pattern.name)


DIGITS = 6
"""Significant digits of scores; further ones may differ between machines."""


class PredictionLines:
    """Formats predictions as lines of JSON. at: the run's time, as the format writes it."""

    def __init__(self, tools: PredictionTools, at: str, *, scores: bool) -> None:
        self._tools = tools
        self._name = annotator_of(tools.resolver.name)
        self._at = at
        self._scores = scores

    def line(self, one: PredictedNumber) -> str:
        """A prediction's line, with its line end."""
        passage = one.numbers.passage
        vote = Vote(self._name, Role.ANNOTATOR, one.answer, self._at)
        record = ExportRecord(
            anchor_id(passage.digest, one.anchor),
            passage,
            one.anchor,
            one.numbers.split,
            None,
            (vote,),
            (),
        )
        choice = one.choice
        scores = None if choice is None else [_short(score) for score in choice.scores]
        return prediction_line(record, self._model(one), scores if self._scores else None)

    def _model(self, one: PredictedNumber) -> dict[str, object]:
        identifier, resolver = self._tools.identifier, self._tools.resolver
        decision, choice = one.decision, one.choice
        several = None if choice is None else choice.several
        return {
            "name": self._name,
            "recipe": resolver.model.recipe,
            "version": resolver.model.version,
            "identifier": None if identifier is None else identifier.name,
            "rule": None if decision is None else decision.rule,
            "score": None if decision is None else _short(decision.score),
            "pattern": one.pattern,
            "second": None if choice is None else choice.second,
            "margin": None if choice is None else _short(choice.margin),
            "several": None
            if several is None
            else [_short(several.one), _short(several.both), _short(several.either)],
        }


def annotator_of(model: str) -> str:
    """A model's name as an annotator's: printable, at most NAME_LENGTH characters."""
    shown = "".join(sign for sign in model if sign.isprintable()).strip()
    return shown[:NAME_LENGTH].strip() or "model"


def _short(score: float | None) -> float | None:
    if score is None or not math.isfinite(score):
        return None
    return float(f"{score:.{DIGITS}g}")


# Anchors of a database: predictions are stored in batches, and stored ones are not repeated, so
# an interrupted run continues where it stopped.

PASSAGE_BATCH = 200
"""Passages read together."""

PREDICTION_BATCH = 128
"""Predictions between two writes: at most so many are lost where a run is killed."""

WRITE_SIZE = WriteSize(first=32, smallest=4, largest=PREDICTION_BATCH, seconds=0.012)
"""Predictions."""

GOES_ON = "The predictions so far are stored: run the command again to continue."

Progress = Callable[[str, int, int], None]
"""Called with a label, the amount done and the total."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """A resolver with its parser, or on other machines."""

    chosen: SelectedModel[Resolver]
    parser: Parser | None
    """None where the resolver needs none or runs on other machines."""

    remote: "ClusterPredictors | None" = None

    @property
    def parser_name(self) -> str:
        """The parser's name with its version; "" for none."""
        if self.remote is not None:
            return self.remote.parser_name
        return "" if self.parser is None else self.parser.name

    def check(self) -> None:
        """Raise ParserError for a parser that lacks a required layer."""
        if self.remote is None:
            check_layers(self.chosen.model.needs, self.parser)

    def resolved(self, items: Iterable[Item]) -> Iterator[tuple[Item, Choice | None]]:
        """Each item with its choice, in order, in bounded memory. Raises ModelsError."""
        if self.remote is not None:
            return self.remote.resolved(items)
        return resolve_items(items, self.chosen.model, self.parser)


@dataclass(slots=True)
class PredictionRun:
    """The counts of a run."""

    anchors: int = 0
    """Anchors that the query finds."""

    predicted: int = 0
    """Predictions stored in this run."""

    silent: int = 0
    """Anchors for which the model gives no answer."""

    cut: int = 0
    """Predictions for which the model did not score every token of the passage."""

    kinds: Counter[Kind] = field(default_factory=Counter)
    """Of the predictions of this run."""


def predict_stored(
    store: "Store",
    query: "Query",
    tools: Resolution,
    me: Annotator,
    progress: Progress,
    *,
    force: bool = False,
) -> PredictionRun:
    """Predict the anchors that a query finds and that have no prediction of the model.

    tools: with a registered model. force: repeat existing predictions. Raises StoreError, and
    ParserError for a parser that lacks a required layer. After a KeyboardInterrupt, earlier
    predictions are stored.
    """
    run = _Run(store, tools, progress, force=force)
    try:
        return run.run(query, me)
    except KeyboardInterrupt as interrupt:
        if run.report.predicted:
            interrupt.add_note(GOES_ON)
        raise


class _Run:
    def __init__(
        self, store: "Store", tools: Resolution, progress: Progress, *, force: bool
    ) -> None:
        if tools.chosen.model_id is None:
            raise ValueError("a model that the store does not know")
        self.report = PredictionRun()
        self._store = store
        self._tools = tools
        self._model_id = tools.chosen.model_id
        self._progress = progress
        self._force = force
        self._size = WRITE_SIZE.first
        self._done = 0

    def run(self, query: "Query", me: Annotator) -> PredictionRun:
        tools, report = self._tools, self.report
        tools.check()
        register_parser(self._store, tools.chosen, tools.parser_name)
        matched: set[int] = set()
        for ids in self._store.queue.ids(query, me):
            matched.update(ids)
        report.anchors = len(matched)
        passages = self._store.identifications.passage_ids(query, me)
        waiting: deque[int] = deque()
        choices = tools.resolved(self._items(passages, matched, waiting))
        while batch := list(islice(choices, PREDICTION_BATCH)):
            self._save([(waiting.popleft(), item, choice) for item, choice in batch])
            self._done += len(batch)
            self._progress("numbers predicted:", self._done, len(matched))
        return report

    def _items(
        self, passages: "array[int]", matched: set[int], waiting: deque[int]
    ) -> Iterator[Item]:
        """An item for each number to predict; the number's id is appended to `waiting`."""
        store = self._store
        for start in range(0, len(passages), PASSAGE_BATCH):
            batch = passages[start : start + PASSAGE_BATCH]
            for one in store.identifications.numbered(batch):
                wanted = [n for n in one.numbers if n.seen and n.id in matched]
                known: frozenset[int] = frozenset()
                if not self._force:
                    known = store.predictions.predicted_anchors(
                        self._model_id, [n.id for n in wanted]
                    )
                self._done += len(known)
                for number in wanted:
                    if number.id not in known:
                        waiting.append(number.id)
                        yield Item(one.passage, number.anchor)

    def _save(self, found: Sequence[tuple[int, Item, Choice | None]]) -> None:
        report, windowed = self.report, self._tools.chosen.model.probabilities
        rows: list[tuple[int, Prediction]] = []
        for anchor, item, choice in found:
            if choice is None:
                report.silent += 1
                continue
            name = self._tools.chosen.name
            made = Prediction(name, choice.choice, choice.second, choice.margin, choice.scores)
            rows.append((anchor, made))
            report.kinds[kind_of(choice)] += 1
            report.cut += windowed and is_truncated(choice, item.anchor)
        written = 0
        while written < len(rows):
            batch = rows[written : written + self._size]
            begun = time.perf_counter()
            self._store.predictions.save(self._model_id, batch)
            written += len(batch)
            report.predicted += len(batch)
            self._size = WRITE_SIZE.next(self._size, time.perf_counter() - begun)


def kind_of(choice: Choice) -> Kind:
    """REFERENCE for a token, else the class."""
    return Kind.REFERENCE if choice.choice.isdecimal() else Kind(choice.choice)


@dataclass(frozen=True, slots=True)
class PredictAllRequest:
    """The options of a run over a database."""

    query: str = ""
    model: str | None = None
    """The value of --model; None for the default."""

    parser: str | None = None
    """The value of --parser; None for the default."""

    force: bool = False
    """Repeat existing predictions of the model."""

    who: str = ""
    """The annotator for whom the query is evaluated."""

    scheduler: str | None = None
    """Address of a cluster that predicts; None for this machine."""


@dataclass(frozen=True, slots=True)
class PredictResult:
    """The outcome of a run."""

    report: Mapping[str, object]
    """As in the command's JSON."""

    fallback_reason: str
    """As in `SelectedModel`."""

    warnings: tuple[str, ...] = ()
    """Sentences about the machines of the cluster."""


def predict_all(store: "Store", wanted: PredictAllRequest, progress: Progress) -> PredictResult:
    """Predict the anchors of a query and store the predictions.

    Raises QueryError, StoreError, ModelsError. After a KeyboardInterrupt, earlier predictions
    are stored, and the same call continues from there.
    """
    query = parse(wanted.query)
    began = time.perf_counter()
    # A read must not create the annotator.
    me = store.people.find(wanted.who) or Annotator(0, wanted.who)
    chosen = resolver_for(store, wanted.model)
    if chosen.model_id is None:
        raise ResolutionRecipeError(
            f"the model in {wanted.model} is not in this database, so its predictions cannot "
            "be stored; --file takes a text, or labelled rows"
        )
    with ExitStack() as machines:
        tools, warnings = _tools(store, chosen, wanted, machines)
        found = predict_stored(store, query, tools, me, progress, force=wanted.force)
    active = RESOLUTION.named(store, None)
    report = {
        "query": query.text,
        "task": TASK,
        "model": chosen.name,
        "model_id": chosen.model_id,
        "recipe": chosen.model.recipe,
        "version": chosen.model.version,
        "parser": tools.parser_name or None,
        "anchors": found.anchors,
        "predicted": found.predicted,
        "silent": found.silent,
        "kinds": {kind.value: found.kinds[kind] for kind in Kind if found.kinds[kind]},
        "beyond_window": found.cut,
        "active": active is not None and active.id == chosen.model_id,
        "seconds": round(time.perf_counter() - began, 3),
    }
    return PredictResult(report, chosen.fallback_reason, warnings)


def _tools(
    store: "Store",
    chosen: "SelectedModel[Resolver]",
    wanted: PredictAllRequest,
    machines: ExitStack,
) -> tuple[Resolution, tuple[str, ...]]:
    """The tools, here or on a cluster that is released with `machines`; warnings about it."""
    if wanted.scheduler is None:
        needs = chosen.model.needs
        return Resolution(chosen, load_parser(wanted.parser, needs) if needs else None), ()
    from nfh_tui.jobs.cluster_work import resolving_at

    at = resolving_at(wanted.scheduler, store, chosen, wanted.parser)
    remote = machines.enter_context(at)
    return Resolution(chosen, None, remote), remote.warnings


BOTH = (SMALL, ENCODER)
"""Recipes whose models may identify, too."""


@dataclass(frozen=True, slots=True)
class PredictRequest:
    """The options of a run over a file."""

    model: str | None = None
    """Of resolution; None for a bundled model."""

    identifier: str | None = None
    """None for the same model where it identifies, for the bundled one beside `base`, else for
    the rules.
    """

    identify: bool = True
    """False where all numbers are known to be fused heads."""

    patterns: bool | None = None
    """None tries those that words show, and those that need a parser where one is named, or
    is loaded anyhow, or the resolver is no learnt one.
    """

    parser: str | None = None
    """The value of --parser."""


def tools_for(
    store: "Store | None", request: PredictRequest
) -> tuple[PredictionTools, list[str]]:
    """The loaded tools, and sentences about them for the user.

    store: where names and ids of models are looked up; nothing is written to it. Raises
    IdentificationRecipeError, ModelFileError and ParserError.
    """
    loaded: Loaded = {}
    named = store if request.model is not None else None
    resolver = resolver_for(named, request.model, register=False, loaded=loaded)
    identifier = _identifier(store, request, resolver, loaded) if request.identify else None
    notes = [one.fallback_reason for one in (resolver, identifier) if one is not None]
    needs = resolver.model.needs
    if identifier is not None:
        needs |= identifier.model.needs
    patterns = request.patterns is not False
    # Loading a parser takes as long as a model, and changes two in a thousand answers of a
    # learnt one.
    if patterns and (
        request.patterns
        or request.parser is not None
        or resolver.model.recipe not in recipes.LEARNT
    ):
        needs |= BASIC
    parser = load_parser(request.parser, needs) if needs else None
    tools = PredictionTools(identifier, resolver, parser, patterns)
    return tools, list(dict.fromkeys(filter(None, notes)))


def _identifier(
    store: "Store | None",
    request: PredictRequest,
    resolver: SelectedModel[Resolver],
    loaded: Loaded,
) -> SelectedModel[Identifier]:
    if request.identifier is not None:
        return identifier_for(store, request.identifier, register=False, loaded=loaded)
    if resolver.model.recipe == BASE:
        return identifier_for(None, None, loaded=loaded)
    if resolver.model.recipe in BOTH:
        named = store if request.model is not None else None
        # An encoder may have been trained for resolution alone.
        with suppress(IdentificationRecipeError):
            return identifier_for(named, request.model or SMALL, register=False, loaded=loaded)
    return identifier_for(None, RULES, loaded=loaded)
