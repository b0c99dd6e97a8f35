"""Cases decided as they come: parsed where the recipe needs it, each sentence once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from nfh_models.identification.case import Case, Decision, Identifier
from nfh_models.parsing.parsed import Parsed, Parser, ParserError
from nfh_models.parsing.stretch import Stretch

BATCH = 512
"""Cases that are decided together; what memory holds at a time."""

LARGEST = 4 * BATCH
"""Cases of a batch where one sentence holds so many: it is not parsed again for the rest."""

LEAST_CAPITALS = 2
"""Words of two letters or more that show a sentence to be in capitals throughout."""


def decide(
    cases: Iterable[Case], identifier: Identifier, parser: Parser | None
) -> Iterator[tuple[Case, Decision]]:
    """Each case, parsed, with its decision, in order and in bounded memory.

    parser: None where the identifier needs none, or where every case is parsed already.
    Cases that carry a parse keep it. Raises ParserError for a parser that does not give what
    the identifier needs, and where a parser is needed and there is none.
    """
    check_layers(identifier, parser)
    for given in _batches(cases):
        batch = given
        if identifier.needs and parser is not None:
            batch = parse_cases(given, parser)
        elif identifier.needs and any(case.parsed is None for case in given):
            raise ParserError(
                f"the recipe {identifier.recipe} needs "
                f"{' and '.join(sorted(identifier.needs))}, and no parser was given: name one "
                "with --parser"
            )
        yield from zip(batch, identifier.decide(batch), strict=True)


def _batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    """Cases in order; those of one sentence are in one batch."""
    batch: list[Case] = []
    for case in cases:
        ends = len(batch) >= BATCH and case.stretch is not batch[-1].stretch
        if ends or len(batch) >= LARGEST:
            yield batch
            batch = []
        batch.append(case)
    if batch:
        yield batch


def check_layers(identifier: Identifier, parser: Parser | None) -> None:
    """Raise ParserError unless the parser gives what the identifier needs."""
    given = frozenset() if parser is None else parser.layers
    missing = identifier.needs - given
    if missing and parser is not None:
        raise ParserError(
            f"{parser.name} gives no {' and no '.join(sorted(missing))}; "
            f"the recipe {identifier.recipe} needs it"
        )


def parsed_cases(cases: Iterable[Case], parser: Parser) -> Iterator[Case]:
    """Each case with its sentence parsed, in order and in bounded memory."""
    for given in _batches(cases):
        yield from parse_cases(given, parser)


def parse_cases(cases: Sequence[Case], parser: Parser) -> list[Case]:
    """The same cases with their sentences parsed; cases of one stretch share a parse.

    A sentence in capitals is parsed in small letters, since parsers take capitals for names.
    """
    places: dict[int, int] = {}
    stretches: list[Stretch] = []
    for case in cases:
        if case.parsed is None and id(case.stretch) not in places:
            places[id(case.stretch)] = len(stretches)
            stretches.append(case.stretch)
    readable = [in_small_letters(stretch) for stretch in stretches]
    parsed: list[Parsed] = [
        given if asked is own else replace(given, words=own.words)
        for given, asked, own in zip(parser.parse(readable), readable, stretches, strict=True)
    ]
    return [
        case
        if case.parsed is not None
        else replace(case, parsed=parsed[places[id(case.stretch)]])
        for case in cases
    ]


def in_small_letters(stretch: Stretch) -> Stretch:
    """A stretch that is in capitals throughout, in small letters; any other as it is."""
    words = stretch.words
    longer = sum(len(word) > 1 and word.isupper() for word in words)
    if longer < LEAST_CAPITALS or not "".join(words).isupper():
        return stretch
    return Stretch([word.lower() for word in words], stretch.spaces)
