"""Numbers of passages predicted: are they fused heads, and which heads do they have?

First the identifier says which numbers lack their noun. Of these the patterns that are sure
(`pattern_first`) answer some, the resolver the others. Passages come and predictions go, so
that texts of any size take the same memory.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Answer, Kind, class_answer
from nfh_models.identification.case import Case, Decision, Identifier
from nfh_models.identification.cases import cases_of
from nfh_models.identification.deciding import decide, parse_cases
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution import pattern_first
from nfh_models.resolution.deterministic import Pattern
from nfh_models.resolution.deterministic_resolver import DeterministicResolver
from nfh_models.resolution.item import Choice, Item, Resolver
from nfh_models.resolution.parsing_items import resolved
from nfh_models.resolution.several import decode
from nfh_tui.choosing_models import Chosen
from nfh_tui.predicting_passages import Numbers

TOGETHER = 512
"""Numbers that are predicted together."""

SCORES_TOGETHER = 1_000_000
"""Candidates that are scored together, which bounds the memory where passages are long."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What predicts.

    identifier: None where all numbers are known to be fused heads. parser: None where nobody
    needs one. patterns: whether they are tried at all.
    """

    identifier: Chosen[Identifier] | None
    resolver: Chosen[Resolver]
    parser: Parser | None
    patterns: bool = True


@dataclass(frozen=True, slots=True)
class Predicted:
    """A number with what was predicted.

    decision: of the identifier; None where none was asked. choice: of the resolver; None of
    what is no fused head, and where a pattern answered, whose name is in `pattern`. answer: of
    kind NFH where the resolver had nothing to say.
    """

    numbers: Numbers
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
class Counts:
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

    def add(self, one: Predicted, *, windowed: bool) -> None:
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


def predict(passages: Iterable[Numbers], tools: Tools, counts: Counts) -> Iterator[Predicted]:
    """Each number of the passages with its prediction, in order, in bounded memory.

    Raises ParserError for a parser that gives too little, and what `passages` raises.
    """
    windowed = tools.resolver.model.probabilities
    for chunk in _chunks(passages):
        counts.passages += len(chunk)
        for one in _predict(chunk, tools):
            counts.add(one, windowed=windowed)
            yield one


def _chunks(passages: Iterable[Numbers]) -> Iterator[list[Numbers]]:
    """Passages in order, with at most TOGETHER numbers or so."""
    chunk: list[Numbers] = []
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

    numbers: Numbers
    anchor: Anchor
    case: Case
    decision: Decision | None

    @property
    def item(self) -> Item:
        """It in its passage, with the parse of its sentence, if there is one."""
        parsed = self.case.parsed
        shift = 0 if parsed is None else self.anchor.start - self.case.start
        return Item(self.numbers.passage, self.anchor, parsed, shift)


def _predict(chunk: Sequence[Numbers], tools: Tools) -> Iterator[Predicted]:
    open_ = _identified(chunk, tools)
    answers: list[Predicted | None] = [_without(one) for one in open_]
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
        answers[place] = Predicted(one.numbers, one.anchor, one.decision, answer, choice)
    yield from (answer for answer in answers if answer is not None)


def _identified(chunk: Sequence[Numbers], tools: Tools) -> list[_Open]:
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


def _without(one: _Open) -> Predicted | None:
    """The answer to a number that is no fused head; None for one that is."""
    if one.decision is None or one.decision.nfh:
        return None
    return Predicted(one.numbers, one.anchor, one.decision, Answer(Kind.NOT_NFH))


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


def _may_match(case: Case) -> bool:
    return pattern_first.may_match(case.stretch.words, case.start, case.end)


def _by_pattern(one: _Open, recipe: str) -> Predicted | None:
    case = one.case
    pattern = pattern_first.find(case.stretch.words, case.parsed, case.start, case.end)
    if pattern is None or not pattern_first.goes_first(pattern, recipe):
        return None
    answer = _answer_of(one.item, pattern)
    if answer is None:
        return None
    return Predicted(one.numbers, one.anchor, one.decision, answer, pattern=pattern.name)


def _answer_of(item: Item, pattern: Pattern) -> Answer | None:
    if pattern.kind is not None and pattern.kind is not Kind.REFERENCE:
        return class_answer(pattern.kind)
    (choice,) = DeterministicResolver().resolve([item])
    return None if choice is None else decode(item, choice)
