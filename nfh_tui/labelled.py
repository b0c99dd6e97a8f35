"""Numbers with their labels: out of a file of a known format, or out of the store's gold.

Both tasks read them so. What a label is worth to a task is that task's own business: see
`nfh_tui.examples` for identification and `nfh_tui.resolution_examples` for resolution.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from nfh_db.formats.format import Format
from nfh_db.query import Match, Query
from nfh_db.records import Gold, IncomingPassage, Role, Rule, Vote
from nfh_models.domain import Anchor, Passage
from nfh_tui.formats.opening import Opened, opened
from nfh_tui.formats.reading import reading
from nfh_tui.formats.registry import formats

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.transfer import ImportOptions

NO_GOLD = "no gold"
BROKEN = "gold says the text is damaged"
SAW_MODEL = "gold given with a model's answer in view"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A span, what gold and votes say of it, and where it stands, for a person."""

    anchor: Anchor
    gold: Gold | None
    votes: Sequence[Vote]
    where: str

    @property
    def saw_model(self) -> bool:
        """Whether somebody whose answer made the gold had a model's answer in view."""
        gold = self.gold
        if gold is None or gold.rule is Rule.IMPORTED:
            return False
        if gold.rule is Rule.EXPERT:
            role, names = Role.ADJUDICATOR, {gold.adjudicator}
        else:
            role, names = Role.ANNOTATOR, {name for name, _ in gold.votes}
        return any(
            vote.saw_model and vote.role is role and vote.annotator in names
            for vote in self.votes
        )


ONE_ROW_AN_ANCHOR = ("nfh", "nfh-ident", "gold")
"""Formats each of whose rows has all that the file says of an anchor."""

Together = Iterator[tuple[Passage, list[Labelled]]]


@dataclass(frozen=True, slots=True)
class Labels:
    """Where labelled numbers come from.

    name: the file's, or the database's. format: the file's; None of a database. read: the
    passages with their numbers, anew each time, in an order that is always alike; sentences
    that a person should know are added to the list once all is read.
    """

    name: str
    format: str | None
    read: Callable[[list[str]], Together]


class LabelledExamples:
    """What the examples of either task know of their source.

    source: the file's name, or the database's. format: the file's; None of a database.
    The counts are those of the last time through, and whole once that has come to its end.
    left_out: anchors that are no examples, by reason. warnings: sentences. blind: leaves out
    the examples whose gold was given with a model's answer in view.
    """

    def __init__(self, labels: Labels, *, blind: bool = False) -> None:
        self.source = labels.name
        self.format = labels.format
        self.blind = blind
        self._labels = labels
        self._begin()

    def _begin(self) -> None:
        """Count anew."""
        self.left_out: Counter[str] = Counter()
        self.warnings: list[str] = []


# --- out of a file --------------------------------------------------------------------------


def labels_of_file(
    path: Path,
    format_: Format | str | None = None,
    unfit: Callable[[Format], str | None] = lambda _: None,
    options: "ImportOptions | None" = None,
) -> Labels:
    """The labelled numbers of a file, in its order.

    format_: None lets the content decide, as an import does. unfit: why a format's labels are
    of no use to a task; None where they are. options: settings of the format. Raises
    FormatError for a file that cannot be read or has no labels of its own: plain text, and
    batches of answers, which are somebody's and not gold; and for a setting that the format
    does not know.
    """
    name = format_.name if isinstance(format_, Format) else format_
    found = opened(path, name) if options is None else _set(path, name, options)
    source, chosen = found.source, found.format
    why = _no_labels(chosen, unfit)
    if why is not None:
        raise source.error(None, why)

    def read(warnings: list[str]) -> Together:
        # Imported here: the lemmas' dictionary is loaded by those only who read a file.
        from nfh_tui.incoming import PassageMaker

        source.warnings.clear()
        maker = PassageMaker(source, split=None, annotator=None)
        for incoming in maker.passages(chosen.read(source, reading())):
            yield incoming.passage, _of_passage(incoming)
        warnings.extend(source.warnings)

    whole_rows = chosen.name in ONE_ROW_AN_ANCHOR
    return Labels(source.name, chosen.name, read if whole_rows else _scattered(found, options))


def _set(path: Path, format_name: str | None, options: "ImportOptions") -> Opened:
    """A file that is read with settings. Raises FormatError for one its format knows not."""
    from nfh_tui.importing import look

    return look(path, format_name, options)


def _scattered(
    found: Opened, options: "ImportOptions | None"
) -> Callable[[list[str]], Together]:
    """Reads a file whose rows each bring a part of what is known of an anchor.

    They are put together as an import does it, in a database that is gone afterwards.
    """

    def read(warnings: list[str]) -> Together:
        from nfh_db.store import Store
        from nfh_tui.transfer import ImportOptions, import_file

        found.source.warnings.clear()
        with (
            TemporaryDirectory(prefix="nfh-tui-") as folder,
            Store.open(Path(folder) / "labels.db", create=True) as store,
        ):
            import_file(store, found.source, found.format, options or ImportOptions())
            yield from labels_of_store(store).read([])
        warnings.extend(found.source.warnings)

    return read


def _of_passage(incoming: IncomingPassage) -> list[Labelled]:
    return [
        Labelled(row.anchor, row.gold, row.votes, f"line {row.line}")
        for row in incoming.anchors
    ]


def _no_labels(format_: Format, unfit: Callable[[Format], str | None]) -> str | None:
    """Why a file of this format is of no use; None where it is."""
    named = f"is read as {format_.name}"
    if format_.names_people:
        why = (
            f"{named}, whose rows are people's answers and not gold; import and settle them, "
            "then go by the database"
        )
    elif not format_.labelled:
        why = f"{named}, which has no labels"
    else:
        reason = unfit(format_)
        if reason is None:
            return None
        why = f"{named}, {reason}"
    fit = [
        one.name
        for one in formats()
        if one.labelled and not one.names_people and unfit(one) is None
    ]
    return f"{why}; wanted a file with gold: {', '.join(fit)}"


# --- out of the store -----------------------------------------------------------------------


def labels_of_store(
    store: "Store", query: Query | None = None, split: str | None = None
) -> Labels:
    """The numbers of a query, by passage and span; all are of one moment.

    split: only of anchors that an imported row put there.
    """
    wanted = query or Query()
    if split is not None:
        wanted = replace(wanted, terms=(*wanted.terms, Match("split", (split,))))

    def read(warnings: list[str]) -> Together:  # noqa: ARG001
        ballots = store.ballots(wanted)
        for _, together in groupby(ballots, key=lambda one: one.passage_id):
            some = list(together)
            yield (
                some[0].passage,
                [
                    Labelled(one.anchor, one.gold, one.votes, f"anchor {one.anchor_id}")
                    for one in some
                ],
            )

    return Labels(store.path.name, None, read)
