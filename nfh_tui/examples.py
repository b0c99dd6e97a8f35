"""Labelled numbers as examples: out of a file of a known format, or out of the store's gold.

Both go by the label of the anchor alone: `nfh_models.domain.identified` says what each kind
says of identification. What has no label that says so is left out, and counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.reading import Source
from nfh_db.formats.registry import BY_NAME, FORMATS, Format, check_choice, recognise
from nfh_db.query import Match, Query
from nfh_db.records import Gold, IncomingPassage, Role, Rule, Vote
from nfh_models.domain import Anchor, Passage, identified
from nfh_models.identification.cases import cases_of
from nfh_models.identification.example import Example

if TYPE_CHECKING:
    from nfh_db.store import Store

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


Passages = Callable[["Examples"], Iterator[tuple[Passage, list[Labelled]]]]


@dataclass(slots=True)
class Examples:
    """Examples, read anew each time they are gone through, in an order that is always alike.

    source: the file's name, or the database's. format: the file's; None of a database.
    The counts are those of the last time through, and whole once that has come to its end.
    left_out: anchors that are no examples, by reason. no_number: examples at words in which
    no number stands, as in some rows of the release; they are kept. warnings: sentences.
    blind: leaves out the examples whose gold was given with a model's answer in view.
    """

    source: str
    format: str | None
    blind: bool
    _passages: Passages
    left_out: Counter[str]
    no_number: int
    warnings: list[str]

    def __init__(
        self, source: str, format_: str | None, passages: Passages, *, blind: bool = False
    ) -> None:
        self.blind = blind
        self.source = source
        self.format = format_
        self._passages = passages
        self._begin()

    def _begin(self) -> None:
        self.left_out = Counter()
        self.no_number = 0
        self.warnings = []

    def __iter__(self) -> Iterator[Example]:
        """The examples, unparsed. Raises FormatError at a row that does not hold."""
        self._begin()
        for passage, anchors in self._passages(self):
            yield from self._of_passage(passage, anchors)

    def _of_passage(self, passage: Passage, anchors: list[Labelled]) -> Iterator[Example]:
        kept: list[tuple[Labelled, bool]] = []
        for one in anchors:
            says = None if one.gold is None else identified(one.gold.answer.kind)
            if says is None:
                self.left_out[NO_GOLD if one.gold is None else BROKEN] += 1
            elif self.blind and one.saw_model:
                self.left_out[SAW_MODEL] += 1
            else:
                self.no_number += not _holds_number(passage, one.anchor)
                kept.append((one, says))
        cases = cases_of(passage, [one.anchor for one, _ in kept])
        for case, (one, says) in zip(cases, kept, strict=True):
            yield Example(case, says, one.where, passage.digest, one.saw_model)


def _holds_number(passage: Passage, anchor: Anchor) -> bool:
    """Whether any token of an anchor is a number or holds one."""
    from nfh_models.text.lexicon import parts_of

    return any(parts_of(passage.word(place)) for place in range(anchor.start, anchor.end))


# --- out of a file --------------------------------------------------------------------------


def examples_of_file(
    path: Path, format_: Format | str | None = None, *, blind: bool = False
) -> Examples:
    """The labelled numbers of a file, in its order; the group of each is its passage's digest.

    format_: None lets the content decide, as an import does. Raises FormatError for a file
    that cannot be read or has no labels of its own: plain text, and batches of answers, which
    are somebody's and not gold.
    """
    source = Source(path)
    if isinstance(format_, str):
        format_ = BY_NAME[format_]
    if format_ is None:
        format_, _ = recognise(source)
    else:
        check_choice(source, format_)
    if not format_.labelled or format_.names_people:
        raise source.error(None, _no_labels(format_))
    chosen = format_

    def passages(examples: Examples) -> Iterator[tuple[Passage, list[Labelled]]]:
        # Imported here: the lemmas' dictionary is loaded by those only who read a file.
        from nfh_tui.incoming import PassageMaker

        source.warnings.clear()
        maker = PassageMaker(source, split=None, annotator=None)
        for incoming in maker.passages(chosen.read(source)):
            yield incoming.passage, _labels(incoming)
        examples.warnings.extend(source.warnings)

    return Examples(source.name, chosen.name, passages, blind=blind)


def _labels(incoming: IncomingPassage) -> list[Labelled]:
    return [
        Labelled(row.anchor, row.gold, row.votes, f"line {row.line}")
        for row in incoming.anchors
    ]


def _no_labels(format_: Format) -> str:
    fit = [one.name for one in FORMATS if one.labelled and not one.names_people]
    wanted = f"wanted a file with gold: {', '.join(fit)}"
    if format_.names_people:
        return (
            f"is read as {format_.name}, whose rows are people's answers and not gold; import "
            f"and settle them, then go by the database; {wanted}"
        )
    return f"is read as {format_.name}, which has no labels; {wanted}"


# --- out of the store -----------------------------------------------------------------------


def examples_of_store(
    store: "Store",
    query: Query | None = None,
    split: str | None = None,
    *,
    blind: bool = False,
) -> Examples:
    """The numbers of a query of which gold says what they are, by passage and span.

    split: only of anchors that an imported row put there. All are of one moment. The group
    of each is its passage's digest.
    """
    wanted = query or Query()
    if split is not None:
        wanted = replace(wanted, terms=(*wanted.terms, Match("split", (split,))))

    def passages(examples: Examples) -> Iterator[tuple[Passage, list[Labelled]]]:  # noqa: ARG001
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

    return Examples(store.path.name, None, passages, blind=blind)
