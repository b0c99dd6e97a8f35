"""Labelled numbers as examples of identification: is a number's noun missing?

They go by the label of the anchor alone: `nfh_models.domain.identified` says what each kind
says of identification. What has no label that says so is left out, and counted.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.formats.registry import Format
from nfh_db.query import Query
from nfh_models.domain import Anchor, Passage, identified
from nfh_models.identification.cases import cases_of
from nfh_models.identification.example import Example
from nfh_tui.labelled import (
    BROKEN,
    NO_GOLD,
    SAW_MODEL,
    Labelled,
    LabelledExamples,
    labels_of_file,
    labels_of_store,
)

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.transfer import ImportOptions

__all__ = [
    "BROKEN",
    "NO_GOLD",
    "SAW_MODEL",
    "Examples",
    "examples_of_file",
    "examples_of_store",
]


class Examples(LabelledExamples):
    """Examples, read anew each time they are gone through, in an order that is always alike.

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


def examples_of_file(
    path: Path,
    format_: Format | str | None = None,
    *,
    blind: bool = False,
    options: "ImportOptions | None" = None,
) -> Examples:
    """The labelled numbers of a file, in its order; the group of each is its passage's digest.

    format_: None lets the content decide, as an import does. Raises FormatError for a file
    that cannot be read or has no labels of its own.
    """
    return Examples(labels_of_file(path, format_, options=options), blind=blind)


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
    return Examples(labels_of_store(store, query, split), blind=blind)
