"""Examples parsed once, and decided by each of those that are to be judged on them."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from nfh_models.identification.case import Decision, Identifier
from nfh_models.identification.deciding import BATCH, decide, parse_cases
from nfh_models.identification.example import Example
from nfh_models.parsing.parsed import Layer, Parsed, Parser
from nfh_models.parsing.stretch import Stretch
from nfh_tui.examples import Examples

if TYPE_CHECKING:
    from nfh_tui.entrants import Lesson

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many are done, and how many there are; 0 if not known."""
DecideAll = Callable[[Sequence[Example]], Sequence[Decision]]


def _no_progress(what: str, done: int, total: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Entrant:
    """Somebody to be judged: an identifier that is ready, or a recipe fitted in each fold.

    name: as the report has it. model_id: of its registration in the store, if it has one.
    identifier: None where `cross` gives the decisions instead, of examples that are parsed;
    then needs says which layers they must have. folds: how many; lesson: what it is fitted on
    instead; both None of one that is ready.
    """

    name: str
    recipe: str
    version: str
    model_id: int | None = None
    identifier: Identifier | None = None
    cross: DecideAll | None = None
    needs: frozenset[Layer] = frozenset()
    folds: int | None = None
    lesson: "Lesson | None" = None

    @classmethod
    def ready(cls, name: str, identifier: Identifier, model_id: int | None) -> "Entrant":
        """One that only has to decide."""
        return cls(
            name,
            identifier.recipe,
            identifier.version,
            model_id,
            identifier,
            needs=identifier.needs,
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """What an entrant decided of each example. seconds: for that, without the parsing."""

    entrant: Entrant
    decisions: tuple[Decision, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """Examples, and what each entrant made of them.

    examples: with their parse where an entrant is fitted in folds, else without. parser: its
    name, None where nobody needed one. parsing: seconds. left_out, no_number, warnings: as
    the examples' source counted them.
    """

    source: str
    format: str | None
    examples: tuple[Example, ...]
    judged: tuple[Judged, ...]
    parser: str | None
    parsing: float
    left_out: Mapping[str, int] = field(default_factory=dict)
    no_number: int = 0
    warnings: tuple[str, ...] = ()


def needed(entrants: Iterable[Entrant]) -> frozenset[Layer]:
    """The layers that a parser has to give to serve them all; empty if none needs one."""
    return frozenset[Layer]().union(*(entrant.needs for entrant in entrants))


def hold(
    source: Examples,
    entrants: Sequence[Entrant],
    parser: Parser | None,
    progress: Progress = _no_progress,
) -> Trial:
    """Let each entrant decide all examples, which are parsed once.

    progress is told how far reading, parsing and deciding are. Raises FormatError, StoreError
    for examples that cannot be read, ParserError for a parser that gives too little.
    """
    examples = list(source)
    progress("read", len(examples), 0)
    watch = None if parser is None else Watched(parser)
    ready = {one.name: one.identifier for one in entrants if one.identifier is not None}
    keep = len(ready) < len(entrants)
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
    for place, entrant in enumerate(entrants):
        if entrant.cross is None:
            name = entrant.name
            judged.append(Judged(entrant, tuple(decided[name]), seconds[name]))
        else:
            progress("fitting, model", place + 1, len(entrants))
            judged.append(_crossed(entrant, entrant.cross, examples))
    return Trial(
        source.source,
        source.format,
        tuple(examples),
        tuple(judged),
        None if parser is None else parser.name,
        0.0 if watch is None else watch.seconds,
        dict(sorted(source.left_out.items())),
        source.no_number,
        tuple(source.warnings),
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


def _crossed(entrant: Entrant, cross: DecideAll, examples: Sequence[Example]) -> Judged:
    began = time.perf_counter()
    decisions = tuple(cross(examples)) if examples else ()
    return Judged(entrant, decisions, time.perf_counter() - began)


class Watched:
    """A parser, and the seconds that parsing took."""

    def __init__(self, parser: Parser) -> None:
        self.name = parser.name
        self.layers = parser.layers
        self.seconds = 0.0
        self._parser = parser

    def parse(self, stretches: Iterable[Stretch]) -> Iterator[Parsed]:
        """One parse a stretch, in order."""
        parses = iter(self._parser.parse(stretches))
        while True:
            began = time.perf_counter()
            some = list(islice(parses, BATCH))
            self.seconds += time.perf_counter() - began
            if not some:
                return
            yield from some
