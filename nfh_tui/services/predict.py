"""Numbers predicted, of a text or of a database's anchors: are they fused heads, and which
heads do they have?
"""

import math
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol

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
from nfh_models.parsing.base import BASIC, Parser, ParserError, load_parser
from nfh_models.resolution import recipes
from nfh_models.resolution.base import Choice, Item, Resolver, check_layers, resolved
from nfh_models.resolution.baselines import DeterministicResolver, Pattern
from nfh_models.resolution.heads import decode
from nfh_models.resolution.recipes import ENCODER, SMALL, TASK, ResolutionRecipeError
from nfh_tui.services.models import (
    RESOLUTION,
    Loaded,
    SelectedModel,
    answers_with,
    identifier_for,
    resolver_for,
)
from nfh_tui.services.predict_sources import PassageNumbers

if TYPE_CHECKING:
    from nfh_db.query import Query
    from nfh_db.store import Store


# Numbers of passages predicted: are they fused heads, and which heads do they have?
#
# First the identifier says which numbers lack their noun. Of these the patterns that are sure
# answer some, the resolver the others. Passages come and predictions go, so
# that texts of any size take the same memory.

TOGETHER = 512
"""Numbers that are predicted together."""

SCORES_TOGETHER = 1_000_000
"""Candidates that are scored together, which bounds the memory where passages are long."""


@dataclass(frozen=True, slots=True)
class PredictionTools:
    """What predicts.

    identifier: None where all numbers are known to be fused heads. parser: None where nobody
    needs one. patterns: whether they are tried at all.
    """

    identifier: SelectedModel[Identifier] | None
    resolver: SelectedModel[Resolver]
    parser: Parser | None
    patterns: bool = True


@dataclass(frozen=True, slots=True)
class PredictedNumber:
    """A number with what was predicted.

    decision: of the identifier; None where none was asked. choice: of the resolver; None of
    what is no fused head, and where a pattern answered, whose name is in `pattern`. answer: of
    kind NFH where the resolver had nothing to say.
    """

    numbers: PassageNumbers
    anchor: Anchor
    decision: Decision | None
    answer: Answer
    choice: Choice | None = None
    pattern: str | None = None

    @property
    def nfh(self) -> bool:
        """Whether its noun is missing."""
        return self.answer.kind is not Kind.NOT_NFH


@dataclass(slots=True)
class PredictionCounts:
    """What was predicted so far.

    kinds: of those without a noun. patterns: by name, how many they answered. several: with
    two heads or more. cut: with tokens that the model did not look at, and tokens: how many
    of all.
    """

    passages: int = 0
    numbers: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    patterns: Counter[str] = field(default_factory=Counter)
    several: int = 0
    cut: int = 0

    @property
    def nfh(self) -> int:
        """Numbers whose noun is missing."""
        return self.kinds.total()

    def add(self, one: PredictedNumber, *, windowed: bool) -> None:
        """Count one. windowed: the resolver's scores leave out only what it did not look at."""
        self.numbers += 1
        if not one.nfh:
            return
        self.kinds[one.answer.kind] += 1
        self.several += len(one.answer.heads) > 1
        if one.pattern is not None:
            self.patterns[one.pattern] += 1
        if windowed and one.choice is not None:
            self.cut += looked_past(one.choice, one.anchor)


def looked_past(choice: Choice, anchor: Anchor) -> bool:
    """Whether tokens of the passage besides the anchor's own were no candidates."""
    tokens = choice.scores[len(IMPLICIT_KINDS) :]
    return tokens.count(None) > anchor.end - anchor.start


def predict(
    passages: Iterable[PassageNumbers], tools: PredictionTools, counts: PredictionCounts
) -> Iterator[PredictedNumber]:
    """Each number of the passages with its prediction, in order, in bounded memory.

    Raises ParserError for a parser that gives too little, and what `passages` raises.
    """
    windowed = tools.resolver.model.probabilities
    for chunk in _chunks(passages):
        counts.passages += len(chunk)
        for one in _predict(chunk, tools):
            counts.add(one, windowed=windowed)
            yield one


def _chunks(passages: Iterable[PassageNumbers]) -> Iterator[list[PassageNumbers]]:
    """Passages in order, with at most TOGETHER numbers or so."""
    chunk: list[PassageNumbers] = []
    numbers = scores = 0
    for one in passages:
        chunk.append(one)
        numbers += len(one.anchors)
        scores += len(one.anchors) * len(one.passage.tokens)
        if numbers >= TOGETHER or scores >= SCORES_TOGETHER:
            yield chunk
            chunk, numbers, scores = [], 0, 0
    if chunk:
        yield chunk


@dataclass(frozen=True, slots=True)
class _Open:
    """A number without its answer. case: it in its sentence, parsed or not."""

    numbers: PassageNumbers
    anchor: Anchor
    case: SentenceNumber
    decision: Decision | None

    @property
    def item(self) -> Item:
        """It in its passage, with the parse of its sentence, if there is one."""
        parsed = self.case.parsed
        shift = 0 if parsed is None else self.anchor.start - self.case.start
        return Item(self.numbers.passage, self.anchor, parsed, shift)


def _predict(
    chunk: Sequence[PassageNumbers], tools: PredictionTools
) -> Iterator[PredictedNumber]:
    open_ = _identified(chunk, tools)
    answers: list[PredictedNumber | None] = [_without(one) for one in open_]
    waiting = [place for place, answer in enumerate(answers) if answer is None]
    if tools.patterns:
        open_ = _parsed_for_patterns(open_, waiting, tools.parser)
        for place in waiting:
            answers[place] = _by_pattern(open_[place], tools.resolver.model.recipe)
        waiting = [place for place in waiting if answers[place] is None]
    items = (Item(open_[at].numbers.passage, open_[at].anchor) for at in waiting)
    choices = resolved(items, tools.resolver.model, tools.parser)
    for place, (item, choice) in zip(waiting, choices, strict=True):
        one = open_[place]
        answer = Answer(Kind.NFH) if choice is None else decode(item, choice)
        answers[place] = PredictedNumber(one.numbers, one.anchor, one.decision, answer, choice)
    yield from (answer for answer in answers if answer is not None)


def _identified(chunk: Sequence[PassageNumbers], tools: PredictionTools) -> list[_Open]:
    owners = [(numbers, anchor) for numbers in chunk for anchor in numbers.anchors]
    cases = (case for numbers in chunk for case in cases_of(numbers.passage, numbers.anchors))
    if tools.identifier is None:
        return [
            _Open(numbers, anchor, case, None)
            for (numbers, anchor), case in zip(owners, cases, strict=True)
        ]
    decided = decide(cases, tools.identifier.model, tools.parser)
    return [
        _Open(numbers, anchor, case, decision)
        for (numbers, anchor), (case, decision) in zip(owners, decided, strict=True)
    ]


def _without(one: _Open) -> PredictedNumber | None:
    """The answer to a number that is no fused head; None for one that is."""
    if one.decision is None or one.decision.nfh:
        return None
    return PredictedNumber(one.numbers, one.anchor, one.decision, Answer(Kind.NOT_NFH))


def _parsed_for_patterns(
    open_: list[_Open], places: Sequence[int], parser: Parser | None
) -> list[_Open]:
    """The same numbers; those whose words may be a pattern have their sentence parsed."""
    if parser is None:
        return open_
    wanted = [
        place
        for place in places
        if open_[place].case.parsed is None and _may_match(open_[place].case)
    ]
    found = list(open_)
    parsed = parse_cases([open_[place].case for place in wanted], parser)
    for place, case in zip(wanted, parsed, strict=True):
        found[place] = replace(open_[place], case=case)
    return found


def _may_match(case: SentenceNumber) -> bool:
    return recipes.may_match(case.word_span.words, case.start, case.end)


def _by_pattern(one: _Open, recipe: str) -> PredictedNumber | None:
    case = one.case
    pattern = recipes.find(case.word_span.words, case.parsed, case.start, case.end)
    if pattern is None or not recipes.goes_first(pattern, recipe):
        return None
    answer = _answer_of(one.item, pattern)
    if answer is None:
        return None
    return PredictedNumber(one.numbers, one.anchor, one.decision, answer, pattern=pattern.name)


def _answer_of(item: Item, pattern: Pattern) -> Answer | None:
    if pattern.kind is not None and pattern.kind is not Kind.REFERENCE:
        return class_answer(pattern.kind)
    (choice,) = DeterministicResolver().resolve([item])
    return None if choice is None else decode(item, choice)


DIGITS = 6
"""Of scores, significant; two machines may differ in what stands behind those."""


class PredictionLines:
    """Makes the lines of predictions. at: when, as the format has it; one for a whole run."""

    def __init__(self, tools: PredictionTools, at: str, *, scores: bool) -> None:
        self._tools = tools
        self._name = annotator_of(tools.resolver.name)
        self._at = at
        self._scores = scores

    def line(self, one: PredictedNumber) -> str:
        """A prediction's line, with its end."""
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
    """A model's name as that of an annotator, whose names are printable and not long."""
    shown = "".join(sign for sign in model if sign.isprintable()).strip()
    return shown[:NAME_LENGTH].strip() or "model"


def _short(score: float | None) -> float | None:
    if score is None or not math.isfinite(score):
        return None
    return float(f"{score:.{DIGITS}g}")


# Anchors of a database predicted: what a model says of each is stored as it comes.
#
# What is stored is not predicted anew, so that a run that was broken off goes on where it was.

AT_ONCE = 200
"""Passages read together."""

SAVED_TOGETHER = 128
"""Predictions between two writes, so that little is lost where a run ends early."""

WRITE_SIZE = WriteSize(first=32, smallest=4, largest=SAVED_TOGETHER, seconds=0.012)
"""Predictions."""

GOES_ON = "What was predicted is stored: run the command again, and it goes on from there."

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


class RemotePredictors(Protocol):
    """Other machines that have the same model."""

    @property
    def parser_name(self) -> str:
        """Their parser's name with its version; "" for none."""
        ...

    def resolved(self, items: Iterable[Item]) -> Iterator[tuple[Item, Choice | None]]:
        """Each item with its choice, in order, in bounded memory. Raises ModelsError."""
        ...


@dataclass(frozen=True, slots=True)
class Resolution:
    """What predicts. parser: None where the resolver needs none, or predicts elsewhere."""

    chosen: SelectedModel[Resolver]
    parser: Parser | None
    elsewhere: RemotePredictors | None = None

    @property
    def parser_name(self) -> str:
        """The parser's name with its version; "" for none."""
        if self.elsewhere is not None:
            return self.elsewhere.parser_name
        return "" if self.parser is None else self.parser.name

    def check(self) -> None:
        """Raise ParserError for a parser that gives too little."""
        if self.elsewhere is None:
            check_layers(self.chosen.model.needs, self.parser)

    def resolved(self, items: Iterable[Item]) -> Iterator[tuple[Item, Choice | None]]:
        """Each item with its choice, in order, in bounded memory. Raises ModelsError."""
        if self.elsewhere is not None:
            return self.elsewhere.resolved(items)
        return resolved(items, self.chosen.model, self.parser)


@dataclass(slots=True)
class PredictionRun:
    """What came of a run.

    anchors: of the query. predicted: in this run; the others before, but for those that are
    gone meanwhile. kinds: of those predicted now. silent: of which the recipe says nothing.
    cut: in passages that the model did not see whole.
    """

    anchors: int = 0
    predicted: int = 0
    silent: int = 0
    cut: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)


def predict_stored(
    store: "Store",
    query: "Query",
    tools: Resolution,
    me: Annotator,
    progress: Progress,
    *,
    force: bool = False,
) -> PredictionRun:
    """Predict the anchors that a query finds and of which the model has said nothing yet.

    tools: with a model that the store knows. force: also those of which it has. Raises
    StoreError, and ParserError for a parser that gives too little. A KeyboardInterrupt leaves
    what is stored by then.
    """
    run = _Run(store, tools, progress, force=force)
    try:
        return run.run(query, me)
    except KeyboardInterrupt as interrupt:
        if run.report.predicted:
            interrupt.add_note(GOES_ON)
        raise


class _Run:
    """One run."""

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
        self._passed = 0

    def run(self, query: "Query", me: Annotator) -> PredictionRun:
        tools, report = self._tools, self.report
        tools.check()
        answers_with(self._store, tools.chosen, tools.parser_name)
        asked: set[int] = set()
        for ids in self._store.queue.ids(query, me):
            asked.update(ids)
        report.anchors = len(asked)
        passages = self._store.identifications.passage_ids(query, me)
        waiting: deque[int] = deque()
        choices = tools.resolved(self._items(passages, asked, waiting))
        while some := list(islice(choices, SAVED_TOGETHER)):
            self._save([(waiting.popleft(), item, choice) for item, choice in some])
            self._passed += len(some)
            self._progress("numbers predicted:", self._passed, len(asked))
        return report

    def _items(
        self, passages: "array[int]", asked: set[int], waiting: deque[int]
    ) -> Iterator[Item]:
        """An item for each number to be predicted, and beside it, in `waiting`, its id."""
        for start in range(0, len(passages), AT_ONCE):
            for one in self._store.identifications.numbered(passages[start : start + AT_ONCE]):
                wanted = [n for n in one.numbers if n.seen and n.id in asked]
                known = self._known([number.id for number in wanted])
                self._passed += len(known)
                for number in wanted:
                    if number.id not in known:
                        waiting.append(number.id)
                        yield Item(one.passage, number.anchor)

    def _known(self, ids: Sequence[int]) -> frozenset[int]:
        if self._force:
            return frozenset()
        return self._store.predictions.known(self._model_id, ids)

    def _save(self, found: Sequence[tuple[int, Item, Choice | None]]) -> None:
        report, windowed = self.report, self._tools.chosen.model.probabilities
        rows: list[tuple[int, Prediction]] = []
        for anchor, item, choice in found:
            if choice is None:
                report.silent += 1
                continue
            rows.append((anchor, self._prediction(choice)))
            report.kinds[kind_of(choice)] += 1
            report.cut += windowed and looked_past(choice, item.anchor)
        self._write(rows)

    def _write(self, rows: Sequence[tuple[int, Prediction]]) -> None:
        """Store some in short writes."""
        place = 0
        while place < len(rows):
            some = rows[place : place + self._size]
            begun = time.perf_counter()
            self._store.predictions.save(self._model_id, some)
            place += len(some)
            self.report.predicted += len(some)
            self._size = WRITE_SIZE.next(self._size, time.perf_counter() - begun)

    def _prediction(self, choice: Choice) -> Prediction:
        return Prediction(
            self._tools.chosen.name,
            choice.choice,
            choice.second,
            choice.margin,
            choice.scores,
        )


def kind_of(choice: Choice) -> Kind:
    """What a choice says: REFERENCE for a token, else its class."""
    return Kind.REFERENCE if choice.choice.isdecimal() else Kind(choice.choice)


@dataclass(frozen=True, slots=True)
class PredictAllRequest:
    """What is to be predicted. query: as typed. model, parser: as --model and --parser have
    them, None for the default. force: also what this model has predicted before. who: whose
    queue the query is about. scheduler: the address of a cluster that is to do it."""

    query: str = ""
    model: str | None = None
    parser: str | None = None
    force: bool = False
    who: str = ""
    scheduler: str | None = None


@dataclass(frozen=True, slots=True)
class PredictResult:
    """What came of it. report: as JSON has it. aside: why another model answered, or "".
    warnings: sentences about the machines that did it."""

    report: Mapping[str, object]
    aside: str
    warnings: tuple[str, ...] = ()


def predict_all(store: "Store", wanted: PredictAllRequest, progress: Progress) -> PredictResult:
    """Predict, store what was predicted, and report.

    Raises QueryError, StoreError, ModelsError; a KeyboardInterrupt leaves what is stored by
    then, and the same again goes on from there.
    """
    query = parse(wanted.query)
    began = time.perf_counter()
    me = _known(store, wanted.who)
    chosen = resolver_for(store, wanted.model)
    _check_stored(chosen, wanted.model)
    with ExitStack() as machines:
        tools, warnings = _tools(store, chosen, wanted, machines)
        found = predict_stored(store, query, tools, me, progress, force=wanted.force)
    active = RESOLUTION.named(store, None)
    report = _as_json(query.text, tools, found) | {
        "active": active is not None and active.id == chosen.model_id,
        "seconds": round(time.perf_counter() - began, 3),
    }
    return PredictResult(report, chosen.aside, warnings)


def _tools(
    store: "Store",
    chosen: "SelectedModel[Resolver]",
    wanted: PredictAllRequest,
    machines: ExitStack,
) -> tuple[Resolution, tuple[str, ...]]:
    """What predicts, here or on the machines of a cluster while `machines` holds; warnings."""
    if wanted.scheduler is None:
        return Resolution(chosen, _parser_for(chosen, wanted.parser)), ()
    from nfh_tui.jobs.cluster_work import resolving_at

    at = resolving_at(wanted.scheduler, store, chosen, wanted.parser)
    elsewhere = machines.enter_context(at)
    return Resolution(chosen, None, elsewhere), elsewhere.warnings


def _known(store: "Store", wanted: str) -> Annotator:
    """Somebody by name; to look makes nobody."""
    found = (one for one in store.people.all() if one.name == wanted)
    return next(found, Annotator(0, wanted))


def _check_stored(chosen: "SelectedModel[Resolver]", model: str | None) -> None:
    if chosen.model_id is None:
        raise ResolutionRecipeError(
            f"the model in {model} is none of this database's, so that what it predicts could "
            "not be stored; --file takes a text, or labelled rows"
        )


def _parser_for(chosen: "SelectedModel[Resolver]", spec: str | None) -> "Parser | None":
    """The parser that the model needs; None if it needs none. Raises ParserError."""

    needs = chosen.model.needs
    return load_parser(spec, needs) if needs else None


def _as_json(query: str, tools: Resolution, found: PredictionRun) -> dict[str, object]:
    chosen = tools.chosen
    return {
        "query": query,
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
    }


NO_PATTERNS = (
    "no parser is installed, so the patterns that need one (three of the spoons) were not "
    "tried; no one and you two were"
)

BOTH = (SMALL, ENCODER)
"""Recipes whose models identify, too."""


@dataclass(frozen=True, slots=True)
class PredictRequest:
    """What a call asks for.

    model: of resolution; None is the model in the package. identifier: None is the same model
    where it identifies, else the rules. identify: False where all numbers are known to be
    fused heads. patterns: None tries those that can be tried. parser: as --parser names it.
    """

    model: str | None = None
    identifier: str | None = None
    identify: bool = True
    patterns: bool | None = None
    parser: str | None = None


def tools_for(
    store: "Store | None", asked: PredictRequest
) -> tuple[PredictionTools, list[str]]:
    """The tools, loaded, and sentences that a person should read about them.

    store: where names and numbers of models are looked up; nothing is written to it. Raises
    IdentificationRecipeError, ModelFileError and ParserError.
    """
    loaded: Loaded = {}
    named = store if asked.model is not None else None
    resolver = resolver_for(named, asked.model, register=False, loaded=loaded)
    identifier = _identifier(store, asked, resolver, loaded) if asked.identify else None
    notes = [one.aside for one in (resolver, identifier) if one is not None and one.aside]
    patterns = asked.patterns is not False
    parser, note = _parser_of(asked, resolver, identifier)
    if note:
        notes.append(note)
    return PredictionTools(identifier, resolver, parser, patterns), list(dict.fromkeys(notes))


def _identifier(
    store: "Store | None",
    asked: PredictRequest,
    resolver: SelectedModel[Resolver],
    loaded: Loaded,
) -> SelectedModel[Identifier]:
    if asked.identifier is not None:
        return identifier_for(store, asked.identifier, register=False, loaded=loaded)
    if resolver.model.recipe in BOTH:
        named = store if asked.model is not None else None
        with suppress(
            IdentificationRecipeError
        ):  # an encoder that was fitted for resolution alone
            return identifier_for(named, asked.model or SMALL, register=False, loaded=loaded)
    return identifier_for(None, RULES, loaded=loaded)


def _parser_of(
    asked: PredictRequest,
    resolver: SelectedModel[Resolver],
    identifier: SelectedModel[Identifier] | None,
) -> tuple[Parser | None, str]:
    """The parser, if it is needed, or if the patterns can have one; and a sentence."""
    needs = resolver.model.needs
    if identifier is not None:
        needs |= identifier.model.needs
    if asked.patterns is not False:
        wanted = needs | BASIC
    elif needs:
        wanted = needs
    else:
        return None, ""
    try:
        return load_parser(asked.parser, wanted), ""
    except ParserError:
        if needs or asked.patterns or asked.parser is not None:
            raise
        return None, NO_PATTERNS
