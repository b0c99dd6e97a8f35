"""Examples of resolution parsed once, and answered by each of those judged on them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nfh_models.domain import Answer
from nfh_models.parsing.parsed import Layer, Parser
from nfh_models.resolution.item import Choice, Item, ResolutionExample, Resolver
from nfh_models.resolution.parsing_items import batches, check_layers, parse_items
from nfh_models.resolution.several import decode
from nfh_tui.evaluating import Progress, Watched
from nfh_tui.resolution_examples import ResolutionExamples


def _no_progress(what: str, done: int, total: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Entrant:
    """Somebody to be judged.

    name: as the report has it. model_id: of its registration in the store, if it has one.
    aside: why it is another one than was to be expected, in a sentence; "" where it is not.
    """

    name: str
    resolver: Resolver
    model_id: int | None = None
    aside: str = ""

    @property
    def needs(self) -> frozenset[Layer]:
        """The layers that its items must have."""
        return self.resolver.needs


@dataclass(frozen=True, slots=True)
class Judged:
    """What an entrant said of each example; None where it had nothing to say.

    answers: the choices made whole, each head with all its mentions. seconds: for choosing,
    without the parsing.
    """

    entrant: Entrant
    choices: tuple[Choice | None, ...]
    answers: tuple[Answer | None, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """Examples, without their parses, and what each entrant made of them.

    parser: its name, None where nobody needed one. parsing: seconds. left_out, unknown,
    warnings: as the examples' source counted them.
    """

    source: str
    format: str | None
    examples: tuple[ResolutionExample, ...]
    judged: tuple[Judged, ...]
    parser: str | None
    parsing: float
    left_out: Mapping[str, int] = field(default_factory=dict)
    unknown: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def saw_model(self) -> int:
        """Examples whose gold was given with a model's answer in view."""
        return sum(example.saw_model for example in self.examples)


def needed(entrants: Iterable[Entrant]) -> frozenset[Layer]:
    """The layers that a parser has to give to serve them all; empty if none needs one."""
    return frozenset[Layer]().union(*(entrant.needs for entrant in entrants))


def hold(
    source: ResolutionExamples,
    entrants: Sequence[Entrant],
    parser: Parser | None,
    progress: Progress = _no_progress,
) -> Trial:
    """Let each entrant answer all examples, whose passages are parsed once for all of them.

    progress is told how far reading and answering are. Raises FormatError, StoreError for
    examples that cannot be read, ParserError for a parser that gives too little.
    """
    examples = list(source)
    progress("read", len(examples), 0)
    needs = needed(entrants)
    check_layers(needs, parser)
    watch = None if parser is None else Watched(parser)
    said: list[list[Choice | None]] = [[] for _ in entrants]
    whole: list[list[Answer | None]] = [[] for _ in entrants]
    seconds = [0.0] * len(entrants)
    done = 0
    for plain in batches(example.item for example in examples):
        parsed = parse_items(plain, needs, watch)
        for place, entrant in enumerate(entrants):
            # Who needs no parse gets none: it answers alike whoever is judged beside it.
            items = parsed if entrant.needs else plain
            began = time.perf_counter()
            choices = _choices(entrant, items)
            seconds[place] += time.perf_counter() - began
            said[place] += choices
            whole[place] += map(_answer, items, choices)
        done += len(plain)
        progress("answered", done, len(examples))
    return Trial(
        source.source,
        source.format,
        tuple(examples),
        tuple(
            Judged(entrant, tuple(choices), tuple(answers), taken)
            for entrant, choices, answers, taken in zip(
                entrants, said, whole, seconds, strict=True
            )
        ),
        None if parser is None else parser.name,
        0.0 if watch is None else watch.seconds,
        dict(sorted(source.left_out.items())),
        source.unknown,
        tuple(source.warnings),
    )


def _choices(entrant: Entrant, items: Sequence[Item]) -> list[Choice | None]:
    choices = entrant.resolver.resolve(items)
    if len(choices) != len(items):
        raise ValueError(f"{entrant.name} gave {len(choices)} answers to {len(items)} items")
    return choices


def _answer(item: Item, choice: Choice | None) -> Answer | None:
    return None if choice is None else decode(item, choice)
