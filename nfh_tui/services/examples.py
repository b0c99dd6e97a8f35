"""Labelled numbers, out of a file or of the store's gold, as examples of identification and
of resolution.

They go by the label of the anchor alone: `nfh_models.domain.identified` says what each kind
says of identification. What has no label that says so is left out, and counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

from nfh_db.formats.base import Format
from nfh_db.formats.registry import NFH_IDENT, RecognizedFile, formats, opened, reading
from nfh_db.query import Match, Query
from nfh_db.records import Gold, Role, Rule, Vote
from nfh_models.domain import Anchor, Answer, Kind, Passage, paper_class
from nfh_models.identification.base import Example, cases_of
from nfh_models.resolution.base import Item, ResolutionExample

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.services.imports import ImportOptions


# Numbers with their labels: out of a file of a known format, or out of the store's gold.
#
# Both tasks read them so. What a label is worth to a task is that task's own business: see
# `nfh_tui.services.examples` for identification and `nfh_tui.services.examples` for
# resolution.

NO_GOLD = "no gold"
BROKEN = "gold says the text is damaged"
SAW_MODEL = "gold decided with a model's answer in view"


@dataclass(frozen=True, slots=True)
class LabelledNumber:
    """A span, what gold and votes say of it, and where it stands, for a person."""

    anchor: Anchor
    gold: Gold | None
    votes: Sequence[Vote]
    where: str

    @property
    def saw_model(self) -> bool:
        """Whether somebody whose answer made the gold had a model's answer in view."""
        return any(vote.saw_model for vote in self._made_of())

    @property
    def in_sheet(self) -> bool:
        """Whether an expert decided it in a review sheet."""
        return any(vote.in_sheet for vote in self._made_of())

    def _made_of(self) -> list[Vote]:
        gold = self.gold
        if gold is None or gold.rule is Rule.IMPORTED:
            return []
        if gold.rule is Rule.EXPERT:
            role, names = Role.ADJUDICATOR, {gold.adjudicator}
        else:
            role, names = Role.ANNOTATOR, {name for name, _ in gold.votes}
        return [vote for vote in self.votes if vote.role is role and vote.annotator in names]


ONE_ROW_AN_ANCHOR = ("nfh", "nfh-ident", "gold")
"""Formats each of whose rows has all that the file says of an anchor."""

Together = Iterator[tuple[Passage, list[LabelledNumber]]]


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Where labelled numbers come from.

    name: the file's, or the database's. format: the file's; None of a database. read: the
    passages with their numbers, again each time, in an order that is always alike; sentences
    that a person should know are added to the list once all is read.
    """

    name: str
    format: str | None
    read: Callable[[list[str]], Together]


class LabelledExamples:
    """What the examples of either task know of their source.

    source: the file's name, or the database's. format: the file's; None of a database.
    The counts are those of the last time through, and whole once that has come to its end.
    left_out: anchors that are no examples, by reason. in_sheet: examples decided in a review
    sheet. warnings: sentences. blind: leaves out
    the examples whose gold was given with a model's answer in view.
    """

    def __init__(self, labels: LabelSource, *, blind: bool = False) -> None:
        self.source = labels.name
        self.format = labels.format
        self.blind = blind
        self._labels = labels
        self._begin()

    @classmethod
    def of_file(
        cls,
        path: Path,
        format_: Format | str | None = None,
        *,
        blind: bool = False,
        options: "ImportOptions | None" = None,
    ) -> Self:
        """The labelled numbers of a file, in its order; the group of each is its passage's
        digest.

        format_: None lets the content decide, as an import does. Raises FormatError for a file
        that cannot be read, or whose labels are of no use to the task.
        """
        return cls(labels_of_file(path, format_, cls.unfit, options), blind=blind)

    @classmethod
    def of_store(
        cls,
        store: "Store",
        query: Query | None = None,
        split: str | None = None,
        *,
        blind: bool = False,
    ) -> Self:
        """The numbers of a query whose gold is of use to the task, by passage and span.

        split: only of anchors that an imported row put there. All are of one moment. The group
        of each is its passage's digest.
        """
        return cls(labels_of_store(store, query, split), blind=blind)

    @staticmethod
    def unfit(format_: Format) -> str | None:  # noqa: ARG004 - subclasses use it
        """Why a format's labels are of no use to the task; None where they are."""
        return None

    def _begin(self) -> None:
        """Count again."""
        self.left_out: Counter[str] = Counter()
        self.in_sheet = 0
        self.warnings: list[str] = []


# --- out of a file --------------------------------------------------------------------------


def labels_of_file(
    path: Path,
    format_: Format | str | None = None,
    unfit: Callable[[Format], str | None] = lambda _: None,
    options: "ImportOptions | None" = None,
) -> LabelSource:
    """The labelled numbers of a file, in its order.

    format_: None lets the content decide, as an import does. unfit: why a format's labels are
    of no use to a task; None where they are. options: settings of the format. Raises
    FormatError for a file that cannot be read or has no labels of its own: plain text, and
    batches of answers, which are somebody's and not gold; and for a setting that the format
    does not know.
    """
    name = format_.name if isinstance(format_, Format) else format_
    if options is None:
        found = opened(path, name)
    else:
        from nfh_tui.services.imports import recognise_file

        found = recognise_file(path, name, options)
    source, chosen = found.source, found.format
    if (why := _no_labels(chosen, unfit)) is not None:
        raise source.error(None, why)

    def read(warnings: list[str]) -> Together:
        # Imported here: the lemmas' dictionary is loaded by those only who read a file.
        from nfh_tui.services.imports import PassageMaker

        source.warnings.clear()
        maker = PassageMaker(source, split=None, annotator=None)
        for incoming in maker.passages(chosen.read(source, reading())):
            yield (
                incoming.passage,
                [
                    LabelledNumber(row.anchor, row.gold, row.votes, f"line {row.line}")
                    for row in incoming.anchors
                ],
            )
        warnings.extend(source.warnings)

    whole_rows = chosen.name in ONE_ROW_AN_ANCHOR
    return LabelSource(
        source.name, chosen.name, read if whole_rows else _scattered(found, options)
    )


def _scattered(
    found: RecognizedFile, options: "ImportOptions | None"
) -> Callable[[list[str]], Together]:
    """Reads a file whose rows each bring a part of what is known of an anchor.

    They are put together as an import does it, in a database that is gone afterwards.
    """

    def read(warnings: list[str]) -> Together:
        from nfh_db.store import Store
        from nfh_tui.services.imports import ImportOptions, import_file

        found.source.warnings.clear()
        with (
            TemporaryDirectory(prefix="nfh-tui-") as folder,
            Store.open(Path(folder) / "labels.db", create=True) as store,
        ):
            import_file(store, found.source, found.format, options or ImportOptions())
            yield from labels_of_store(store).read([])
        warnings.extend(found.source.warnings)

    return read


def _no_labels(format_: Format, unfit: Callable[[Format], str | None]) -> str | None:
    """Why a file of this format is of no use; None where it is."""
    named = f"is read as {format_.name}"
    if format_.names_people:
        why = (
            f"{named}, whose rows are people's answers and not gold; import and settle them, "
            "then use the database"
        )
    elif not format_.labelled:
        why = f"{named}, which has no labels"
    else:
        if (reason := unfit(format_)) is None:
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
) -> LabelSource:
    """The numbers of a query, by passage and span; all are of one moment.

    split: only of anchors that an imported row put there.
    """
    wanted = query or Query()
    if split is not None:
        wanted = replace(wanted, terms=(*wanted.terms, Match("split", (split,))))

    def read(warnings: list[str]) -> Together:  # noqa: ARG001
        ballots = store.items.ballots(wanted)
        for _, together in groupby(ballots, key=lambda one: one.passage_id):
            some = list(together)
            yield (
                some[0].passage,
                [
                    LabelledNumber(one.anchor, one.gold, one.votes, f"anchor {one.anchor_id}")
                    for one in some
                ],
            )

    return LabelSource(store.path.name, None, read)


class Examples(LabelledExamples):
    """Examples, read again each time they are gone through, in an order that is always alike.

    no_number: examples at words in which no number stands, as in some rows of the release;
    they are kept.
    """

    def _begin(self) -> None:
        super()._begin()
        self.no_number = 0

    def __iter__(self) -> Iterator[Example]:
        """The examples, unparsed. Raises FormatError at a row that does not hold."""
        self._begin()
        for passage, anchors in self._labels.read(self.warnings):
            yield from self._of_passage(passage, anchors)

    def _of_passage(self, passage: Passage, anchors: list[LabelledNumber]) -> Iterator[Example]:
        kept: list[tuple[LabelledNumber, bool]] = []
        for one in anchors:
            says = None if one.gold is None else one.gold.answer.kind.identification
            if says is None:
                self.left_out[NO_GOLD if one.gold is None else BROKEN] += 1
            elif self.blind and one.saw_model:
                self.left_out[SAW_MODEL] += 1
            else:
                self.in_sheet += one.in_sheet
                self.no_number += not _holds_number(passage, one.anchor)
                kept.append((one, says))
        cases = cases_of(passage, [one.anchor for one, _ in kept])
        for case, (one, says) in zip(cases, kept, strict=True):
            yield Example(case, says, one.where, passage.digest, one.saw_model, passage)


def _holds_number(passage: Passage, anchor: Anchor) -> bool:
    """Whether any token of an anchor is a number or holds one."""
    from nfh_models.text.numbers import parts_of

    return any(parts_of(passage.word(place)) for place in range(anchor.start, anchor.end))


# Labelled numbers as examples of resolution: what is the missing noun?
#
# Gold is a Reference or one of the six implicit classes; UNKNOWN counts as OTHER, as in the
# paper (section 5.3). Numbers whose gold names no head are left out, and counted by reason.

NOT_NFH = "gold says no noun is missing"
NO_HEAD = "gold does not say which noun is missing"
"""Kind NFH: the number is one, and nobody said of what."""

SEVERAL_HEADS = "the package's passages about several heads"

_LEFT_OUT = {Kind.BROKEN: BROKEN, Kind.NOT_NFH: NOT_NFH, Kind.NFH: NO_HEAD}


class ResolutionExamples(LabelledExamples):
    """Examples, read again each time they are gone through, in an order that is always alike.

    unknown: examples whose gold is UNKNOWN and counts as OTHER.
    """

    @staticmethod
    def unfit(format_: Format) -> str | None:
        if format_ is NFH_IDENT:
            return "whose labels say only whether a noun is missing, not which one"
        return None

    def _begin(self) -> None:
        super()._begin()
        self.unknown = 0

    def __iter__(self) -> Iterator[ResolutionExample]:
        """The examples, unparsed. Raises FormatError at a row that does not hold."""
        self._begin()
        for passage, anchors in self._labels.read(self.warnings):
            for one in anchors:
                if (example := self._example(passage, one)) is not None:
                    yield example

    def _example(self, passage: Passage, one: LabelledNumber) -> ResolutionExample | None:
        """The example of a number; None, and counted, for one that is none."""
        if one.gold is None:
            self.left_out[NO_GOLD] += 1
            return None
        if (gold := resolution_gold(one.gold.answer)) is None:
            self.left_out[_LEFT_OUT[one.gold.answer.kind]] += 1
            return None
        if self.blind and one.saw_model:
            self.left_out[SAW_MODEL] += 1
            return None
        self.in_sheet += one.in_sheet
        self.unknown += one.gold.answer.kind is Kind.UNKNOWN
        item = Item(passage, one.anchor)
        return ResolutionExample(item, gold, one.where, passage.digest, one.saw_model)


def resolution_gold(answer: Answer) -> Answer | None:
    """An answer as resolution counts it: UNKNOWN is OTHER; None for one that names no head."""
    kind = paper_class(answer.kind)
    if kind is None or kind is answer.kind:
        return None if kind is None else answer
    return replace(answer, kind=kind)


def resolution_examples_of_package() -> ResolutionExamples:
    """The package's own passages about several heads, those that are kept out of training."""
    return ResolutionExamples(LabelSource(SEVERAL_HEADS, None, _about_several_heads))


def _about_several_heads(warnings: list[str]) -> Together:  # noqa: ARG001
    from nfh_models.resolution.head_examples import several_heads_examples

    for one in several_heads_examples(held_out=True):
        gold = Gold(one.gold, Rule.IMPORTED)
        yield one.item.passage, [LabelledNumber(one.item.anchor, gold, (), one.where)]
