"""`nfh-tui stats`: the paper's figures of its data, for any database; counted in one pass,
and told in words, tables and bars, or as JSON.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.errors import StoreError
from nfh_db.messages import counted, visible
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
    share,
)
from nfh_tui import config
from nfh_tui.cli.options import (
    QueryCommand,
    as_option,
    emit,
    known,
    on_database,
    open_to_read,
    picked,
    user,
)
from nfh_tui.cli.report import CommandReport, RowCounter, page_width
from nfh_tui.display_figures import EIGHTHS, NONE, bar, percentage

if TYPE_CHECKING:
    from nfh_db.store import Store


MOST_SHOWN = 10_000


@click.command(cls=QueryCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--of",
    type=click.Choice(["gold", "identified"]),
    default="gold",
    help="What decides which numbers are NFHs: gold, or the active model of identification.",
)
@click.option(
    "--by", type=click.Choice(["split", "doc"]), help="Also show sizes and classes by group."
)
@click.option(
    "--top",
    type=click.IntRange(1, MOST_SHOWN),
    default=10,
    metavar="N",
    help="How many anchors (and documents) to list.",
)
@click.option("--plot", is_flag=True, help="Also draw classes, anchors and distances.")
@as_option
@on_database
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
    """Count the numbers that QUERY finds (without QUERY, all) as the paper counts its data.

    The report has the share of NFHs, the most common anchors, classes, and where the
    heads are, with the paper's figures beside.
    """
    if plot and as_json:
        raise click.UsageError("--plot and --json exclude each other")
    from nfh_db.query import parse

    text = " ".join(query)
    parsed = parse(text)
    database = config.database(db)
    options = StatsOptions(text, of, by, top)
    with open_to_read(database) as store, RowCounter("counting") as counter:
        found = read(
            store,
            parsed,
            known(store, me or user()),
            options,
            lambda numbers: counter.show(counted(numbers, "number")),
        )
    if as_json:
        emit(stats_json(found, options))
        return
    click.echo(as_text(found, options, plot=plot), nl=False)


GOLD = "gold"
IDENTIFIED = "identified"
SPLIT = "split"

AT_ONCE = 1_000
"""Numbers whose origins are looked up together."""

IDENTIFICATION_FORMAT = "nfh-ident"
RESOLUTION_FORMAT = "nfh"
"""Names of formats whose files label some numbers only."""

Progress = Callable[[int], None]


class NoModelError(StoreError):
    """No model of identification is active."""


@dataclass(frozen=True, slots=True)
class StatsOptions:
    """Options of the report. of: gold or identified. by: split, doc or None. top: how
    many anchors are listed."""

    query: str
    of: str = GOLD
    by: str | None = None
    top: int = 10


@dataclass(slots=True)
class StatsResult:
    """The statistics, and the origin of the labels.

    model: name of the identification model that decided; None for gold. one_a_sentence,
    nfh_only: numbers whose gold an identification or resolution file brought. with_gold: of
    numbers that a model decided, those that have gold.
    """

    statistics: Statistics = field(default_factory=Statistics)
    model: str | None = None
    one_a_sentence: int = 0
    nfh_only: int = 0
    with_gold: int = 0


def read(
    store: "Store",
    query: Query,
    me: Annotator | None,
    options: StatsOptions,
    progress: Progress,
) -> StatsResult:
    """Count what a query finds, in bounded memory; progress is called with the numbers read.

    Raises NoModelError where what is identified is asked for and no model is active.
    """
    found = StatsResult()
    ballots = _passing(store.items.ballots(query, me), progress)
    if options.of == IDENTIFIED:
        if (model := store.identifications.active()) is None:
            raise NoModelError(
                f"{store.path} has no active model of identification, so no number is "
                "identified there: `nfh-tui identify` decides by rules, and makes them the "
                "active model"
            )
        found.model = model.name
        numbers = _of_model(store, ballots, model.model_id, found)
    else:
        numbers = _of_gold(store, ballots, found)
    found.statistics = count(numbers, _group_of(options.by))
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
        for rows in store.items.source_rows(imported).values():
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
            for passage in store.identifications.numbered(passages, model_id)
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
    "No number here is labelled as not an NFH, as in the release's resolution files, which "
    "hold only NFHs; so there is no share of NFHs."
)
ONE_A_SENTENCE = (
    "came from identification files, which label one number a sentence: other numbers of those "
    "sentences are not among them."
)


def notes(found: StatsResult, options: StatsOptions) -> list[str]:
    """Notes on the shares, the most important first."""
    statistics = found.statistics
    size = statistics.size
    if not size.numbers:
        return [_nothing(found, options)]
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
        lines.append(
            "A model of identification says only NFH or not: there are no classes and no heads."
        )
        if found.with_gold:
            have = "has" if found.with_gold == 1 else "have"
            lines.append(f"{found.with_gold:,} {have} gold, too, which is not used here.")
    return lines


def nfhs_only(size: CorpusSize, found: StatsResult) -> bool:
    """Whether gold calls all of these NFHs, so that their share says nothing of the text.

    A model that says so has looked at all of them; people may have been given NFHs only.
    """
    return found.model is None and size.nfh > 0 and not size.not_nfh


def _counted(found: StatsResult) -> str:
    """How many numbers the shares are of, and which are left out."""
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


def _nothing(found: StatsResult, options: StatsOptions) -> str:
    statistics = found.statistics
    if not statistics.found:
        return "The query finds no number." if options.query else "There is no number here."
    if found.model is None:
        return (
            "None of them has gold. `nfh-tui stats --of identified` counts by what the active "
            "model of identification says."
        )
    return (
        f"The model {found.model} has decided none of them: `nfh-tui identify` makes it decide."
    )


Json = dict[str, object]


def stats_json(found: StatsResult, options: StatsOptions) -> Json:
    """The whole report. A part is {count, share}; a share without anything to be of is null."""
    statistics = found.statistics
    size = statistics.size
    return {
        "query": options.query,
        "of": options.of,
        "model": found.model,
        "by": options.by,
        "notes": notes(found, options),
        "numbers": {
            **picked(statistics, "found unsaid"),
            "from_identification_files": found.one_a_sentence,
            "from_resolution_files": found.nfh_only,
            "with_gold": found.with_gold if found.model is not None else size.numbers,
            **_said(size, found),
        },
        "anchors": _anchors_json(statistics.anchors, options.top),
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
            for name, group in _groups_ranked(statistics)
        ],
        "paper": _published(PAPER),
    }


def _groups_ranked(found: Statistics) -> list[tuple[str | None, CorpusSize]]:
    return sorted(found.groups.items(), key=lambda one: (-one[1].numbers, one[0] or ""))


def part(count: int, of: int) -> Json:
    return {"count": count, "share": count / of if of else None}


SPREAD = "sum=total mean median max=most"
"""Keys of a tally."""


def tally(counts: ValueCounts) -> Json:
    """The figures of a tally. histogram: pairs of value and count, by value."""
    histogram = {"histogram": sorted(counts.counts.items())}
    return {"n": counts.n} | picked(counts, SPREAD) | histogram


def _said(size: CorpusSize, found: StatsResult) -> Json:
    alone = nfhs_only(size, found)
    return {
        **picked(size, "said nfh not_nfh broken"),
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
        **{one: part(getattr(anchors, one), n) for one in ("words", "digits", "mixed")},
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
        "sides": {one.value: part(heads.sides[one], n) for one in HeadSide},
        "turns_off": {
            **{str(off): part(heads.turns.counts[off], n) for off in (0, 1, 2)},
            "3+": part(n - heads.turns.within(2), n),
        },
        "speakers": {one.value: part(heads.speakers[one], n) for one in Speaker},
        "distance": {
            **tally(heads.distance),
            "within": {str(limit): part(heads.distance.within(limit), n) for limit in WITHIN},
        },
    }


def _passages(size: CorpusSize) -> Json:
    return {
        "n": size.passages,
        "tokens": picked(size.tokens, SPREAD),
        "turns": picked(size.turns, SPREAD),
        "tokens_for_each_number": picked(size.read, SPREAD),
    }


PAPER = {
    **picked(statistics, "numbers=NUMBERS elsewhere=ELSEWHERE"),
    "identification": picked(
        statistics,
        "top=IDENTIFICATION_WORDS distinct=DISTINCT lengths=LENGTHS longest=LONGEST "
        "words=WORDS digits=DIGITS",
    ),
    "resolution": {
        **picked(
            statistics,
            "examples=EXAMPLES tokens=TOKENS top=RESOLUTION_WORDS once=ONCE classes=CLASSES",
        ),
        "head_words": {
            "3+" if number == 3 else str(number): one
            for number, one in statistics.HEADS.items()
        },
        **picked(statistics, "same_sentence=SAME_SENTENCE next_sentence=NEXT_SENTENCE"),
        "sides": picked(statistics, "before=BEFORE after=AFTER both=BOTH"),
    },
}
"""The paper's own figures; see `nfh_models.statistics` for sections and doubts."""


def _published(value: object) -> object:
    """Figures of the paper as {count, share}, in mappings with texts as keys."""
    if isinstance(value, PaperFigure):
        return {"count": value.count, "share": value.share}
    if isinstance(value, Mapping):
        return {str(key): _published(one) for key, one in value.items()}
    return value


ASCII_BAR = "#"
LABEL = 20
"""Columns of a label."""


def chart(counts: Sequence[tuple[str, int]], of: int, width: int, *, blocks: bool) -> list[str]:
    """Counts with their labels and shares as bars, a line each, at most `width` columns wide;
    the longest bar is as long as there is room.

    A count above 0 has at least one sign. blocks: draw with eighths of a column; else with
    "#", for terminals without these characters.
    """
    from rich.cells import cell_len, set_cell_size

    told = [f"{times:,} {100 * times / of:5.1f} %" for _, times in counts]
    label = min(LABEL, max(cell_len(name) for name, _ in counts))
    said = max(map(len, told))
    room = max(1, width - label - said - 2)
    most = max(times for _, times in counts)
    return [
        f"{set_cell_size(name, label)} "
        f"{_bar(times / most if most else 0.0, room, blocks=blocks)} {words:>{said}}"
        for (name, times), words in zip(counts, told, strict=True)
    ]


def _bar(share: float, room: int, *, blocks: bool) -> str:
    """A bar padded to the width of the room."""
    if blocks:
        return bar(share, room).ljust(room)
    signs = max(1, round(share * room)) if share > 0 else 0
    return (ASCII_BAR * signs).ljust(room)


def can_show_blocks(encoding: str | None) -> bool:
    """Whether an encoding has the characters that bars are drawn with."""
    try:
        EIGHTHS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


INDENT = "  "
BIN = 2
LAST = 40
"""Distances are drawn in bins of two tokens; those above 40 in one bin."""


def charts(statistics: Statistics, top: int, *, blocks: bool) -> str:
    """All charts that have something to show, each under its title."""
    width = page_width() - len(INDENT)
    size, anchors, heads = statistics.size, statistics.anchors, statistics.heads
    words = [(visible(word.text, LABEL - 1), word.nfh) for word in anchors.most_common(top)]
    drawn: tuple[tuple[str, list[tuple[str, int]], int], ...] = (
        ("Classes", [(kind.value, n) for kind, n in size.ranked()], size.with_class),
        ("Anchors", words, size.nfh),
        ("Tokens to the nearest head", histogram(heads.distance), heads.n),
    )
    lines = []
    for title, counts, of in drawn:
        if of:
            bars = chart(counts, of, width, blocks=blocks)
            lines += ["", title, *(f"{INDENT}{line}" for line in bars)]
    return "".join(f"{line}\n" for line in lines)


def histogram(distance: ValueCounts) -> list[tuple[str, int]]:
    """Bins with their counts, up to the last that is not empty."""
    bins = [
        (f"{low}-{low + BIN - 1}", distance.between(low, low + BIN - 1))
        for low in range(1, LAST, BIN)
    ]
    beyond = distance.n - distance.within(LAST)
    if beyond:
        return [*bins, (f"{LAST + 1} or more", beyond)]
    while bins and not bins[-1][1]:
        bins.pop()
    return bins


WITHIN = (5, 10, 20, 40)
"""Tokens within which the share of nearest heads is told."""

COMPARED = ("count:", "share:", "paper:")


def as_text(found: StatsResult, options: StatsOptions, *, plot: bool) -> str:
    """The report, ready to print. plot: with charts, in signs that standard output can show."""
    page = CommandReport()
    size = found.statistics.size
    statistics = found.statistics
    where = (
        f"that the query {options.query} finds" if options.query else "of the whole database"
    )
    who = "their gold says" if found.model is None else f"the model {found.model} says"
    page.say(f"{counted(statistics.found, 'number')} {where}, counted by what {who}.")
    for note in notes(found, options):
        page.say(note)
    _numbers(page, found)
    if size.nfh:
        _anchors(page, found.statistics.anchors, options.top)
        _form(page, found.statistics.anchors)
    if size.with_class:
        _classes(page, size)
    if found.statistics.heads.n:
        _heads(page, found.statistics.heads)
    if size.numbers:
        _sizes(page, size)
        _groups(page, found, options)
    text = page.text()
    if plot:
        blocks = can_show_blocks(sys.stdout.encoding)
        text += charts(found.statistics, options.top, blocks=blocks)
    return text


def _published_share(part: PaperFigure | None) -> str:
    return "" if part is None else percentage(part.share)


def _numbers(page: CommandReport, found: StatsResult) -> None:
    size = found.statistics.size
    if not size.numbers:
        return
    page.title("Numbers (section 4)")
    said = size.said
    shares = not nfhs_only(size, found)
    rows = [
        (name, f"{n:,}", percentage(share(n, said)) if shares else NONE)
        for name, n in (("NFH", size.nfh), ("not an NFH", size.not_nfh))
    ]
    if size.broken:
        rows.append(("broken: in no share", f"{size.broken:,}", ""))
    page.table(("what", "count:", "share:"), rows)
    if shares:
        files = [
            (f"its {name} file (table 2)", _published_share(one))
            for name, one in statistics.NUMBERS.items()
        ]
        others = [
            (f"{name}, by its identifier (section 2)", f"{share:.1%}".replace("%", " %"))
            for name, share in statistics.ELSEWHERE.items()
        ]
        page.table(("the paper's", "NFH:"), [*files, *others])


def _anchors(page: CommandReport, anchors: Anchors, top: int) -> None:
    page.title(f"Anchors of {counted(anchors.n, 'NFH')}, most common first")
    split = anchors.numbers.total() > anchors.n
    columns = ["anchor", "count:", "share:", "paper 4.3:", "paper 5.4:"]
    rows = []
    for word in anchors.most_common(top):
        row = [
            visible(word.text, 24),
            f"{word.nfh:,}",
            percentage(share(word.nfh, anchors.n)),
            _published_share(statistics.IDENTIFICATION_WORDS.get(word.text)),
            _published_share(statistics.RESOLUTION_WORDS.get(word.text)),
        ]
        rows.append([*row, percentage(share(word.nfh, word.numbers))] if split else row)
    page.table([*columns, "NFH when said:"] if split else columns, rows)
    if split:
        page.note("NFH when said: how often this number is an NFH, in any place")
    if anchors.distinct > top:
        page.note(f"{anchors.distinct - top:,} further anchors: --top N shows more")


def _form(page: CommandReport, anchors: Anchors) -> None:
    n = anchors.n
    rows = [
        _row("different anchors", anchors.distinct, n, statistics.DISTINCT),
        _row("that occur once", anchors.once, n, statistics.ONCE),
    ]
    rows += [
        _row(counted(length, "token"), times, n, statistics.LENGTHS.get(length))
        for length, times in sorted(anchors.lengths.counts.items())
    ]
    rows += [
        _row("in words", anchors.words, n, statistics.WORDS),
        _row("in digits", anchors.digits, n, statistics.DIGITS),
        _row("of these, with letters", anchors.mixed, n, None),
    ]
    page.title("Form of the anchors (section 4.3; those that occur once, 5.4)")
    page.table(("what", *COMPARED), rows)
    page.note(
        f"longest, {counted(anchors.lengths.most or 0, 'token')}: "
        f"{visible(anchors.longest, 200)}; the paper's has {statistics.LONGEST}"
    )
    page.note(
        "the shares of different anchors and of those that occur once fall as data grow: "
        "compare them only between data of similar size"
    )


def _row(what: str, count: int, of: int, part: PaperFigure | None) -> tuple[str, ...]:
    return what, f"{count:,}", percentage(share(count, of)), _published_share(part)


def _classes(page: CommandReport, size: CorpusSize) -> None:
    page.title(f"Classes of {counted(size.with_class, 'NFH')} (section 5.4, figure 4)")
    page.table(
        ("class", *COMPARED),
        [
            _row(kind.value, times, size.with_class, statistics.CLASSES[kind])
            for kind, times in size.ranked()
        ],
    )
    if size.unknown:
        page.note(f"OTHER holds {size.unknown:,} UNKNOWN, as the paper's does")
    if size.no_class:
        page.note(f"left out: {counted(size.no_class, 'NFH')} without a class")


def _heads(page: CommandReport, heads: HeadStatistics) -> None:
    n = heads.n
    page.title(f"Heads of {counted(n, 'REFERENCE')} (section 5.4)")
    rows = [
        _row(name, _many(heads.words, number), n, statistics.HEADS[number])
        for number, name in ((1, "one head word"), (2, "two"), (3, "three or more"))
    ]
    rows += [
        _row("before the anchor", heads.sides[HeadSide.BEFORE], n, statistics.BEFORE),
        _row("after it", heads.sides[HeadSide.AFTER], n, statistics.AFTER),
        _row("on both sides", heads.sides[HeadSide.BOTH], n, statistics.BOTH),
        _row("in the same turn", heads.turns.counts[0], n, statistics.SAME_SENTENCE),
        _row("1 turn off", heads.turns.counts[1], n, statistics.NEXT_SENTENCE),
        _row("2 turns off", heads.turns.counts[2], n, None),
        _row("3 or more turns off", n - heads.turns.within(2), n, None),
    ]
    rows += [
        _row(f"nearest within {limit} tokens", heads.distance.within(limit), n, None)
        for limit in WITHIN
    ]
    rows += [
        _row("said by the same speaker", heads.speakers[Speaker.SAME], n, None),
        _row("by another", heads.speakers[Speaker.OTHER], n, None),
    ]
    if heads.speakers[Speaker.UNKNOWN]:
        rows.append(_row("by nobody named", heads.speakers[Speaker.UNKNOWN], n, None))
    page.table(("what", *COMPARED), rows)
    page.note(
        "head words are different strings, as the paper counts; in the turns' place the paper "
        "has sentences: the anchor's own, and the one before or after it"
    )
    page.table(
        ("heads per anchor", "1:", "2:", "3 or more:", "most:"),
        [
            (name, *(f"{_many(tally, number):,}" for number in (1, 2, 3)), f"{tally.most}")
            for name, tally in (
                ("by noun", heads.nouns),
                ("by word", heads.words),
                ("by mention", heads.mentions),
            )
        ],
    )
    mean, median, most = _spread(heads.distance)
    page.note(f"tokens to the nearest head: mean {mean}, median {median}, most {most}")


def _many(tally: ValueCounts, number: int) -> int:
    """How many anchors have that many heads; 3 stands for three or more."""
    return tally.n - tally.within(2) if number == 3 else tally.counts[number]


def _spread(tally: ValueCounts) -> tuple[str, str, str]:
    if tally.mean is None or tally.median is None:
        return NONE, NONE, NONE
    return f"{tally.mean:,.1f}", f"{tally.median:,.1f}", f"{tally.most:,}"


def _sizes(page: CommandReport, size: CorpusSize) -> None:
    page.title("Passages (section 5.4)")
    page.table(
        ("what", "sum:", "mean:", "median:", "most:"),
        [
            (name, f"{tally.total:,}", *_spread(tally))
            for name, tally in (
                ("tokens of a passage", size.tokens),
                ("turns of a passage", size.turns),
                ("tokens, for each number", size.read),
            )
        ],
    )
    page.note(
        f"{counted(size.passages, 'passage')}; the last line counts a passage with each of its "
        f"numbers, as the paper counts its {statistics.TOKENS:,} tokens of "
        f"{statistics.EXAMPLES:,} examples ({statistics.TOKENS / statistics.EXAMPLES:.1f} each)"
    )


def _groups(page: CommandReport, found: StatsResult, options: StatsOptions) -> None:
    if not (ranked := _groups_ranked(found.statistics)):
        return
    shown = [(visible(name or "none", 24), size) for name, size in ranked[: options.top]]
    page.title("By split" if options.by == "split" else "By document")
    page.table(
        (
            options.by or "",
            "numbers:",
            "NFH:",
            "share:",
            "passages:",
            "tokens:",
            "turns:",
            "each:",
        ),
        [
            (
                name,
                f"{size.numbers:,}",
                f"{size.nfh:,}",
                NONE if nfhs_only(size, found) else percentage(share(size.nfh, size.said)),
                f"{size.passages:,}",
                f"{size.tokens.total:,}",
                f"{size.turns.total:,}",
                f"{size.tokens.mean or 0:,.1f}",
            )
            for name, size in shown
        ],
    )
    page.note("each: tokens of a passage, on average")
    if len(ranked) > options.top:
        page.note(f"{len(ranked) - options.top:,} further are in --json")
    with_class = [(name, size) for name, size in shown if size.with_class]
    if with_class:
        kinds = [kind for kind, _ in with_class[0][1].ranked()]
        page.table(
            (options.by or "", *(f"{kind.value}:" for kind in kinds)),
            [
                (name, *(f"{times:,}" for _, times in size.ranked()))
                for name, size in with_class
            ],
        )
