"""`nfh-tui stats`: the paper's figures of its data, for any database; counted in one pass,
and written as JSON.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.errors import StoreError
from nfh_db.messages import counted
from nfh_db.query import Query
from nfh_db.records import Annotator, Ballot, Rule
from nfh_models import statistics
from nfh_models.statistics import (
    Anchors,
    CorpusSize,
    GroupOf,
    HeadSide,
    HeadStatistics,
    PaperFigure,
    PassageNumber,
    Speaker,
    Statistics,
    ValueCounts,
    count,
)
from nfh_tui import config
from nfh_tui.cli.options import (
    QueryCommand,
    as_option,
    db_option,
    emit,
    json_option,
    known,
    open_to_read,
    reporting,
    user,
)
from nfh_tui.cli.progress import RowCounter

if TYPE_CHECKING:
    from nfh_db.store import Store


MOST_SHOWN = 10_000


@click.command(
    cls=QueryCommand, short_help="Count numbers, anchors, classes, heads, distances."
)
@click.argument("query", nargs=-1)
@click.option(
    "--of",
    type=click.Choice(["gold", "identified"]),
    default="gold",
    show_default=True,
    help="Who says which numbers are NFHs: gold, or the active model of identification.",
)
@click.option(
    "--by", type=click.Choice(["split", "doc"]), help="Sizes and classes by group, too."
)
@click.option(
    "--top",
    type=click.IntRange(1, MOST_SHOWN),
    default=10,
    show_default=True,
    metavar="N",
    help="How many anchors (and documents) to list.",
)
@click.option("--plot", is_flag=True, help="Draw classes, anchors and distances, too.")
@as_option
@db_option
@json_option
@reporting
def stats(
    query: tuple[str, ...],
    of: str,
    by: str | None,
    top: int,
    plot: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Count the numbers that QUERY finds, all without one, as the paper counts its data.

    The share of numbers that are NFHs, the most common anchors, classes, and where the
    heads are; the paper's own figures stand beside those that they compare with.
    """
    if plot and as_json:
        raise click.UsageError("--plot draws for people, --json is for programs: give one")
    from nfh_db.query import parse

    text = " ".join(query)
    parsed = parse(text)
    database = config.database(db)
    asked = StatsOptions(text, of, by, top)
    with open_to_read(database) as store, RowCounter("counting") as counter:
        found = read(
            store,
            parsed,
            known(store, me or user()),
            asked,
            lambda numbers: counter.show(counted(numbers, "number")),
        )
    if as_json:
        emit(stats_json(found, asked))
        return
    from nfh_tui.cli.stats_report import as_text

    click.echo(as_text(found, asked, plot=plot), nl=False)


GOLD = "gold"
IDENTIFIED = "identified"
SPLIT = "split"

AT_ONCE = 1_000
"""Numbers whose origins are looked up together."""

IDENTIFICATION_FORMAT = "nfh-ident"
RESOLUTION_FORMAT = "nfh"
"""Formats whose files say of some numbers only what they are, by their names."""

Progress = Callable[[int], None]


class NoModelError(StoreError):
    """Nothing is identified, since no model is active."""


@dataclass(frozen=True, slots=True)
class StatsOptions:
    """What the report was asked for. of: gold or identified. by: split, doc or None. top: how
    many anchors are listed."""

    query: str
    of: str = GOLD
    by: str | None = None
    top: int = 10


@dataclass(slots=True)
class StatsResult:
    """The statistics, and where what is said comes from.

    model: name of the identification model that spoke; None for gold. one_a_sentence,
    nfh_only: numbers whose gold an identification or resolution file brought. with_gold: of
    numbers that a model spoke of, those that have gold.
    """

    statistics: Statistics = field(default_factory=Statistics)
    model: str | None = None
    one_a_sentence: int = 0
    nfh_only: int = 0
    with_gold: int = 0


def read(
    store: "Store", query: Query, me: Annotator | None, asked: StatsOptions, progress: Progress
) -> StatsResult:
    """Count what a query finds, in bounded memory; progress is called with the numbers read.

    Raises NoModelError where what is identified is asked for and no model is active.
    """
    found = StatsResult()
    ballots = _passing(store.ballots(query, me), progress)
    if asked.of == IDENTIFIED:
        model = store.identifying()
        if model is None:
            raise NoModelError(
                f"{store.path} has no active model of identification, so nothing is identified "
                "there: `nfh-tui identify` decides by rules, and makes them the active model"
            )
        found.model = model.name
        numbers = _of_model(store, ballots, model.model_id, found)
    else:
        numbers = _of_gold(store, ballots, found)
    found.statistics = count(numbers, _group_of(asked.by))
    return found


def _group_of(by: str | None) -> GroupOf | None:
    if by is None:
        return None
    return (lambda number: number.split) if by == SPLIT else (lambda number: number.document)


def _passing(ballots: Iterable[Ballot], progress: Progress) -> Iterator[Ballot]:
    for number, ballot in enumerate(ballots, 1):
        progress(number)
        yield ballot


def _of_gold(
    store: "Store", ballots: Iterator[Ballot], found: StatsResult
) -> Iterator[PassageNumber]:
    while some := list(islice(ballots, AT_ONCE)):
        imported = [
            one.anchor_id for one in some if one.gold and one.gold.rule is Rule.IMPORTED
        ]
        for rows in store.source_rows(imported).values():
            formats = {row.format for row in rows}
            found.one_a_sentence += IDENTIFICATION_FORMAT in formats
            found.nfh_only += RESOLUTION_FORMAT in formats
        for one in some:
            answer = one.gold.answer if one.gold else None
            yield PassageNumber.of_gold(
                one.passage_id, one.document, one.split, one.passage, one.anchor, answer
            )


def _of_model(
    store: "Store", ballots: Iterator[Ballot], model_id: int, found: StatsResult
) -> Iterator[PassageNumber]:
    while some := list(islice(ballots, AT_ONCE)):
        passages = sorted({one.passage_id for one in some})
        said = {
            number.id: number.said[0]
            for passage in store.numbered(passages, model_id)
            for number in passage.numbers
            if number.said is not None
        }
        for one in some:
            nfh = said.get(one.anchor_id)
            found.with_gold += nfh is not None and one.gold is not None
            yield PassageNumber(
                one.passage_id, one.document, one.split, one.passage, one.anchor, nfh
            )


NFH_ONLY = (
    "No number here is said to be none, as in files of the resolution release, which hold "
    "NFHs only: so there is no share of NFHs among numbers."
)
ONE_A_SENTENCE = (
    "came from identification files, which label one number a sentence: other numbers of those "
    "sentences are not among them."
)


def notes(found: StatsResult, asked: StatsOptions) -> list[str]:
    """What a reader has to know of the shares, most important first."""
    statistics = found.statistics
    size = statistics.size
    if not size.numbers:
        return [_nothing(found, asked)]
    lines = [_counted(found)]
    if nfhs_only(size, found):
        lines.append(NFH_ONLY)
    elif found.nfh_only:
        lines.append(
            f"{found.nfh_only:,} of them came from resolution files, which hold NFHs only: "
            "these raise the share."
        )
    if found.one_a_sentence:
        lines.append(f"{found.one_a_sentence:,} of them {ONE_A_SENTENCE}")
    if found.model is not None:
        lines.append("A model says NFH or not and no more: there are no classes and no heads.")
        if found.with_gold:
            have = "has" if found.with_gold == 1 else "have"
            lines.append(f"{found.with_gold:,} {have} gold, too, which is not looked at here.")
    return lines


def nfhs_only(size: CorpusSize, found: StatsResult) -> bool:
    """Whether gold calls all of these NFHs, so that their share says nothing of the text.

    A model that says so has looked at all of them; people may have been given NFHs only.
    """
    return found.model is None and size.nfh > 0 and not size.not_nfh


def _counted(found: StatsResult) -> str:
    """How many numbers the shares are of, and which are in none."""
    size = found.statistics.size
    if nfhs_only(size, found):
        said = f"All {size.nfh:,} that are said to be anything are NFHs"
    else:
        said = (
            f"Shares of NFHs are of the {counted(size.said, 'number')} said to be one or none"
        )
    left = []
    if found.statistics.unsaid:
        who = "without gold" if found.model is None else "that the model has not decided"
        left.append(f"{found.statistics.unsaid:,} {who}")
    if size.broken:
        left.append(f"{size.broken:,} BROKEN")
    return f"{said}. In no share: {' and '.join(left)}." if left else f"{said}."


def _nothing(found: StatsResult, asked: StatsOptions) -> str:
    statistics = found.statistics
    if not statistics.found:
        return "The query finds no number." if asked.query else "There is no number here."
    if found.model is None:
        return (
            "None of them has gold. `nfh-tui stats --of identified` counts by what the active "
            "model of identification says."
        )
    return (
        f"The model {found.model} has decided none of them: `nfh-tui identify` has it decide."
    )


Json = dict[str, object]


def stats_json(found: StatsResult, asked: StatsOptions) -> Json:
    """The whole report. A part is {count, share}; a share without anything to be of is null."""
    statistics = found.statistics
    size = statistics.size
    return {
        "query": asked.query,
        "of": asked.of,
        "model": found.model,
        "by": asked.by,
        "notes": notes(found, asked),
        "numbers": {
            "found": statistics.found,
            "unsaid": statistics.unsaid,
            "from_identification_files": found.one_a_sentence,
            "from_resolution_files": found.nfh_only,
            "with_gold": found.with_gold if found.model is not None else size.numbers,
            **_said(size, found),
        },
        "anchors": _anchors_json(statistics.anchors, asked.top),
        "classes": _classes_json(size),
        "heads": _heads_json(statistics.heads),
        "passages": _passages(size),
        "groups": [
            {
                "name": name,
                "numbers": {"found": group.numbers, **_said(group, found)},
                "classes": _classes_json(group),
                "passages": _passages(group),
            }
            for name, group in sorted(
                statistics.groups.items(), key=lambda item: (-item[1].numbers, item[0] or "")
            )
        ],
        "paper": _paper(),
    }


def part(count: int, of: int) -> Json:
    """A count with its share."""
    return {"count": count, "share": count / of if of else None}


def tally(counts: ValueCounts) -> Json:
    """What a tally knows; histogram: pairs of value and count, by value."""
    return {
        "n": counts.n,
        "sum": counts.total,
        "mean": counts.mean,
        "median": counts.median,
        "max": counts.most,
        "histogram": [list(pair) for pair in sorted(counts.counts.items())],
    }


def _said(size: CorpusSize, found: StatsResult) -> Json:
    alone = nfhs_only(size, found)
    return {
        "said": size.said,
        "nfh": size.nfh,
        "not_nfh": size.not_nfh,
        "broken": size.broken,
        "share": None if alone else size.share,
        "why": NFH_ONLY if alone else None,
    }


def _anchors_json(anchors: Anchors, top: int) -> Json:
    n = anchors.n
    return {
        "n": n,
        "distinct": part(anchors.distinct, n),
        "once": part(anchors.once, n),
        "top": [
            {
                "text": word.text,
                **part(word.nfh, n),
                "numbers": word.numbers,
                "nfh_when_said": word.nfh / word.numbers,
            }
            for word in anchors.most_common(top)
        ],
        "lengths": [
            {"tokens": length, **part(times, n)}
            for length, times in sorted(anchors.lengths.counts.items())
        ],
        "longest": {"tokens": anchors.lengths.most, "text": anchors.longest} if n else None,
        "words": part(anchors.words, n),
        "digits": part(anchors.digits, n),
        "mixed": part(anchors.mixed, n),
    }


def _classes_json(size: CorpusSize) -> Json:
    n = size.with_class
    return {
        "n": n,
        "no_class": size.no_class,
        "unknown_in_other": size.unknown,
        **{kind.value: part(times, n) for kind, times in size.ranked()},
    }


def _heads_json(heads: HeadStatistics) -> Json:
    n = heads.n
    return {
        "n": n,
        "by_noun": tally(heads.nouns),
        "by_word": tally(heads.words),
        "by_mention": tally(heads.mentions),
        "sides": _parts({one: heads.sides[one] for one in HeadSide}, n),
        "turns_off": {
            **{str(off): part(heads.turns.counts[off], n) for off in (0, 1, 2)},
            "3+": part(n - heads.turns.within(2), n),
        },
        "speakers": _parts({one: heads.speakers[one] for one in Speaker}, n),
        "distance": {
            **tally(heads.distance),
            "within": {
                str(limit): part(heads.distance.within(limit), n) for limit in (5, 10, 20, 40)
            },
        },
    }


def _parts(counts: Mapping[StrEnum, int], of: int) -> Json:
    return {one.value: part(times, of) for one, times in counts.items()}


def _passages(size: CorpusSize) -> Json:
    return {
        "n": size.passages,
        "tokens": _brief(size.tokens),
        "turns": _brief(size.turns),
        "tokens_for_each_number": _brief(size.read),
    }


def _brief(counts: ValueCounts) -> Json:
    whole = tally(counts)
    del whole["n"], whole["histogram"]
    return whole


def _paper() -> Json:
    """The paper's own figures; see `nfh_models.statistics` for sections and doubts."""
    return {
        "numbers": {name: _published_json(one) for name, one in statistics.NUMBERS.items()},
        "elsewhere": dict(statistics.ELSEWHERE),
        "identification": {
            "top": {
                text: _published_json(one)
                for text, one in statistics.IDENTIFICATION_WORDS.items()
            },
            "distinct": _published_json(statistics.DISTINCT),
            "lengths": {
                str(size): _published_json(one) for size, one in statistics.LENGTHS.items()
            },
            "longest": statistics.LONGEST,
            "words": _published_json(statistics.WORDS),
            "digits": _published_json(statistics.DIGITS),
        },
        "resolution": {
            "examples": statistics.EXAMPLES,
            "tokens": statistics.TOKENS,
            "top": {
                text: _published_json(one) for text, one in statistics.RESOLUTION_WORDS.items()
            },
            "once": _published_json(statistics.ONCE),
            "classes": {
                kind.value: _published_json(one) for kind, one in statistics.CLASSES.items()
            },
            "head_words": {
                "3+" if number == 3 else str(number): _published_json(one)
                for number, one in statistics.HEADS.items()
            },
            "same_sentence": _published_json(statistics.SAME_SENTENCE),
            "next_sentence": _published_json(statistics.NEXT_SENTENCE),
            "sides": {
                "before": _published_json(statistics.BEFORE),
                "after": _published_json(statistics.AFTER),
                "both": _published_json(statistics.BOTH),
            },
        },
    }


def _published_json(one: PaperFigure) -> Json:
    return {"count": one.count, "share": one.share}
