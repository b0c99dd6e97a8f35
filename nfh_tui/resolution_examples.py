"""Labelled numbers as examples of resolution: what is the missing noun?

Gold is a Reference or one of the six implicit classes; UNKNOWN counts as OTHER, as in the
paper (section 5.3). Numbers whose gold names no head are left out, and counted by reason.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.registry import NFH_IDENT, Format
from nfh_db.query import Query
from nfh_db.records import Gold, Rule
from nfh_models.domain import Answer, Kind, Passage, paper_class
from nfh_models.resolution.item import Item, ResolutionExample
from nfh_tui.labelled import (
    BROKEN,
    NO_GOLD,
    SAW_MODEL,
    Labelled,
    LabelledExamples,
    Labels,
    Together,
    labels_of_file,
    labels_of_store,
)

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.transfer import ImportOptions

NOT_NFH = "gold says no noun is missing"
NO_HEAD = "gold does not say which noun is missing"
"""Kind NFH: the number is one, and nobody said of what."""

SEVERAL_HEADS = "the package's passages about several heads"

_LEFT_OUT = {Kind.BROKEN: BROKEN, Kind.NOT_NFH: NOT_NFH, Kind.NFH: NO_HEAD}


class ResolutionExamples(LabelledExamples):
    """Examples, read anew each time they are gone through, in an order that is always alike.

    unknown: examples whose gold is UNKNOWN and counts as OTHER.
    """

    def _begin(self) -> None:
        super()._begin()
        self.unknown = 0

    def __iter__(self) -> Iterator[ResolutionExample]:
        """The examples, unparsed. Raises FormatError at a row that does not hold."""
        self._begin()
        for passage, anchors in self._labels.read(self.warnings):
            for one in anchors:
                example = self._example(passage, one)
                if example is not None:
                    yield example

    def _example(self, passage: Passage, one: Labelled) -> ResolutionExample | None:
        """The example of a number; None, and counted, for one that is none."""
        if one.gold is None:
            self.left_out[NO_GOLD] += 1
            return None
        gold = resolution_gold(one.gold.answer)
        if gold is None:
            self.left_out[_LEFT_OUT[one.gold.answer.kind]] += 1
            return None
        if self.blind and one.saw_model:
            self.left_out[SAW_MODEL] += 1
            return None
        self.unknown += one.gold.answer.kind is Kind.UNKNOWN
        item = Item(passage, one.anchor)
        return ResolutionExample(item, gold, one.where, passage.digest, one.saw_model)


def resolution_gold(answer: Answer) -> Answer | None:
    """An answer as resolution counts it: UNKNOWN is OTHER; None for one that names no head."""
    kind = paper_class(answer.kind)
    if kind is None or kind is answer.kind:
        return None if kind is None else answer
    return replace(answer, kind=kind)


def resolution_examples_of_file(
    path: Path,
    format_: Format | str | None = None,
    *,
    blind: bool = False,
    options: "ImportOptions | None" = None,
) -> ResolutionExamples:
    """The labelled numbers of a file, in its order; the group of each is its passage's digest.

    format_: None lets the content decide, as an import does. Raises FormatError for a file
    that cannot be read, or whose labels say nothing of heads.
    """
    return ResolutionExamples(labels_of_file(path, format_, _unfit, options), blind=blind)


def _unfit(format_: Format) -> str | None:
    if format_ is NFH_IDENT:
        return "whose labels say whether a noun is missing, and not which"
    return None


def resolution_examples_of_package() -> ResolutionExamples:
    """The package's own passages about several heads, those that are kept out of training."""
    return ResolutionExamples(Labels(SEVERAL_HEADS, None, _about_several_heads))


def _about_several_heads(warnings: list[str]) -> Together:  # noqa: ARG001
    from nfh_models.training_data.several_heads import several_heads_examples

    for one in several_heads_examples(held_out=True):
        gold = Gold(one.gold, Rule.IMPORTED)
        yield one.item.passage, [Labelled(one.item.anchor, gold, (), one.where)]


def resolution_examples_of_store(
    store: "Store",
    query: Query | None = None,
    split: str | None = None,
    *,
    blind: bool = False,
) -> ResolutionExamples:
    """The numbers of a query of which gold says what is missing, by passage and span.

    split: only of anchors that an imported row put there. All are of one moment. The group
    of each is its passage's digest.
    """
    return ResolutionExamples(labels_of_store(store, query, split), blind=blind)
