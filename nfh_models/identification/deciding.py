"""Cases decided as they come: parsed where the recipe needs it, each sentence once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from nfh_models.identification.case import Case, Decision, Identifier
from nfh_models.parsing.parsed import Parsed, Parser, ParserError

BATCH = 512
"""Cases that are decided together; what memory holds at a time."""


def decide(
    cases: Iterable[Case], identifier: Identifier, parser: Parser | None
) -> Iterator[tuple[Case, Decision]]:
    """Each case, parsed, with its decision, in order and in bounded memory.

    parser: None where the identifier needs none. Cases that carry a parse keep it. Raises
    ParserError for a parser that does not give what the identifier needs.
    """
    check_layers(identifier, parser)
    waiting = iter(cases)
    while batch := list(islice(waiting, BATCH)):
        if identifier.needs and parser is not None:
            batch = parse_cases(batch, parser)
        yield from zip(batch, identifier.decide(batch), strict=True)


def check_layers(identifier: Identifier, parser: Parser | None) -> None:
    """Raise ParserError unless the parser gives what the identifier needs."""
    given = frozenset() if parser is None else parser.layers
    missing = identifier.needs - given
    if missing and parser is not None:
        raise ParserError(
            f"{parser.name} gives no {' and no '.join(sorted(missing))}; "
            f"the recipe {identifier.recipe} needs it"
        )


def parse_cases(cases: Sequence[Case], parser: Parser) -> list[Case]:
    """The same cases with their sentences parsed; neighbours of one sentence share a parse."""
    stretches = []
    places: list[int] = []
    last = None
    for case in cases:
        if case.parsed is None and case.stretch is not last:
            stretches.append(case.stretch)
            last = case.stretch
        places.append(len(stretches) - 1)
    parsed: list[Parsed] = list(parser.parse(stretches))
    return [
        case if case.parsed is not None else replace(case, parsed=parsed[place])
        for case, place in zip(cases, places, strict=True)
    ]
