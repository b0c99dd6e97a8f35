"""What can be told of a training before it waits for its turn: whether there is gold for it.

Only gold that is there now is counted, by its kind: a training that is refused here would find
nothing to learn when its turn comes, perhaps hours later. Whether what is there is enough,
once passages are kept out, the training itself finds (`enough`).
"""

from collections import Counter
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.queue import MOST_VALUES
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.parsing.choosing import check_spec
from nfh_models.parsing.parsed import ParserError
from nfh_tui.jobs.enough import LEAST, NO_HEADS, TooFewError, alike
from nfh_tui.jobs.kinds import IMPORT
from nfh_tui.jobs.taking import IDENTIFICATION, RESOLUTION, SplitError, within
from nfh_tui.jobs.training_order import order_of

if TYPE_CHECKING:
    from nfh_db.jobs import NewJob
    from nfh_db.store import Store

PIPELINES = "spacy_models"
"""Under this name installed pipelines make themselves known."""

HEADS = (Kind.REFERENCE, *IMPLICIT_KINDS)
"""What resolution tells apart."""


def check_parser_there(spec: str | None) -> None:
    """Raise ParserError for a parser that is named and not there. None is loaded."""
    check_spec(spec)
    kind, _, name = (spec or "").partition(":")
    if not name or Path(name).is_dir():
        return
    if kind != "spacy":
        raise ParserError(f"there is no folder {name} with models of stanza")
    installed = sorted({one.name for one in entry_points(group=PIPELINES)})
    if name not in installed:
        raise ParserError(
            f"there is no spaCy pipeline {name}, neither installed nor as a folder; installed: "
            f"{', '.join(installed) or 'none'}"
        )


def check_at_hand(store: "Store", new: "NewJob") -> None:
    """Raise TooFewError for a training that gold, as it is now, can teach nothing, and
    SplitError, ParserError where it names a split or a parser that is not there.

    Where an import waits or runs nothing is refused: it may bring the gold. Raises StoreError,
    QueryError, TrainerError.
    """
    order = order_of(new.task, new.arguments)
    if order.scheduler is None:
        check_parser_there(order.parser)
    if any(job.kind == IMPORT and not job.state.ended and not job.held for job in store.jobs()):
        return
    which = order.which
    for split in filter(None, (which.split, which.dev_split)):
        _check_split(store, split)
    kinds = store.gold_kinds(within(which.query, which.split))
    if new.task != IDENTIFICATION:
        _check_heads(kinds)
    if new.task != RESOLUTION:
        _check_labels(kinds, new.task)


def _check_split(store: "Store", split: str) -> None:
    there = store.queue_values("split")
    if split in there or len(there) >= MOST_VALUES or store.passages_of_splits((split,)):
        return
    names = f"; there are: {', '.join(there)}" if there else ": no imported row names one"
    raise SplitError(f"there is no split {split}{names}")


def _check_heads(kinds: Mapping[Kind, int]) -> None:
    counts = Counter(kinds)
    counts[Kind.OTHER] += counts[Kind.UNKNOWN]  # as in the paper
    found = {kind: counts[kind] for kind in HEADS if counts[kind]}
    total = sum(found.values())
    if not total:
        raise TooFewError(f"there is nothing to learn resolution from: {NO_HEADS}")
    if total < LEAST:
        raise TooFewError(
            f"too few examples to learn resolution from: {total:,} "
            f"{'number has' if total == 1 else 'numbers have'} gold here that says what its "
            f"noun is, wanted {LEAST} or more"
        )
    if len(found) < 2:
        raise TooFewError(
            f"there is nothing to tell apart: all {total:,} examples are {next(iter(found))}"
        )


def _check_labels(kinds: Mapping[Kind, int], task: str) -> None:
    total = sum(n for kind, n in kinds.items() if kind is not Kind.BROKEN)
    none = kinds.get(Kind.NOT_NFH, 0)
    if not total:
        raise TooFewError(
            "there is nothing to learn from: no number found here has gold that says whether "
            "its noun is missing. Settle or decide some first, or ask for others"
        )
    if none in (0, total):
        raise TooFewError(alike(total, fused=not none, alone=task != IDENTIFICATION))
