"""Whether labels are enough to learn from, and what they are too few for: in sentences."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.errors import ModelsError
from nfh_tui.training_trainers import BOTH

if TYPE_CHECKING:
    from nfh_tui.jobs.snapshot import Snapshot

LEAST = 10
"""Examples, fewer of which make no model."""

FEW = 5
"""Examples of a class, fewer of which teach it badly."""

ROUGH = 30
"""Examples kept out, fewer of which say next to nothing of how good a model is."""


NO_HEADS = (
    "no number found here has gold that says what its noun is. Settle or decide some first, or "
    "ask for others"
)


class TooFewError(ModelsError):
    """Not enough gold to learn from; the sentence says what there is."""


def check_resolution(snapshot: "Snapshot", *, kept_out: bool) -> None:
    """Raise TooFewError unless resolution, and identification where both are asked for, can
    be learnt. kept_out: the recipe cannot do without examples to judge by."""
    train, found = snapshot.train, len(snapshot.train)
    if not found and not snapshot.dev:
        raise TooFewError(f"there is nothing to learn resolution from: {_why(snapshot)}")
    if found < LEAST:
        raise TooFewError(
            f"too few examples to learn resolution from: {found:,} "
            f"{'is' if found == 1 else 'are'} left to learn from, wanted {LEAST} or more"
        )
    kinds = {one.gold.kind for one in train}
    if len(kinds) < 2:
        raise TooFewError(
            f"there is nothing to tell apart: all {found:,} examples are {kinds.pop()}"
        )
    if kept_out and not snapshot.dev:
        raise TooFewError(
            f"nothing is left to judge the training by: {counted(found, 'example')} in "
            f"{counted(snapshot.passages, 'passage')}, and none is kept out. Take more "
            "examples, a larger --set dev=SHARE, or --set dev_split=SPLIT"
        )
    labels = {one.nfh for one in snapshot.numbers}
    if snapshot.task == BOTH and len(labels) < 2:
        raise TooFewError(alike(len(snapshot.numbers), fused=True in labels, alone=True))


def alike(numbers: int, *, fused: bool, alone: bool) -> str:
    """That identification cannot be learnt from numbers that are all fused heads, or none.

    alone: resolution, asked for with it, could be learnt without it.
    """
    which, wanted = ("fused heads", "not") if fused else ("no fused heads", "fused heads")
    instead = "; or train resolution alone: nfh-tui retrain resolution" if alone else ""
    return (
        f"identification has nothing to tell apart: of {counted(numbers, 'number')} with gold "
        f"all are {which}. Decide some that are {wanted} (nfh-tui identify brings in the "
        f"numbers of your texts){instead}"
    )


def _why(snapshot: "Snapshot") -> str:
    dropped = sum(n for why, n in snapshot.left_out.items() if why.startswith("in a "))
    if dropped:
        return (
            f"the {counted(dropped, 'example')} found are in passages that are kept out of "
            "training"
        )
    return NO_HEADS


def remarks(snapshot: "Snapshot") -> Iterator[str]:
    """What the labels are too few for, though a model can be made of them."""
    yield from snapshot.notes
    if snapshot.train:
        yield from _classes(snapshot)
    judging = max(len(snapshot.dev), len(snapshot.dev_numbers))
    if 0 < judging < ROUGH:
        yield (
            f"only {counted(judging, 'example')} {'is' if judging == 1 else 'are'} kept out to "
            "judge it by: its figures say next to nothing"
        )


def _classes(snapshot: "Snapshot") -> Iterator[str]:
    kinds = Counter(one.gold.kind for one in snapshot.train)
    every = (Kind.REFERENCE, *IMPLICIT_KINDS)
    few = [f"{kind} ({kinds[kind]})" for kind in every if 0 < kinds[kind] < FEW]
    none = [str(kind) for kind in every if not kinds[kind]]
    if few:
        yield f"too few examples to learn well: {', '.join(few)}; {FEW} or more are wanted"
    if none:
        yield f"no example at all: {', '.join(none)}; it learns nothing of these"
