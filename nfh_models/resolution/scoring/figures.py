"""The figures of resolution: how many are right, in each of the ways of counting."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nfh_models.resolution.item import Choice, ResolutionExample
from nfh_models.resolution.scoring.judging import Judged, judge


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts over examples; the shares are fractions, None where they are of none.

    n: all examples. answered: those of which the recipe said something; what it said nothing
    of counts as wrong in all others. right, right_inclusive, right_nearest, right_class,
    right_binary: see `Judged`. reference, implicit: examples whose gold is a Reference, a
    class; *_right and *_inclusive: those of them that are right.
    """

    n: int = 0
    answered_n: int = 0
    right: int = 0
    right_inclusive: int = 0
    right_nearest: int = 0
    right_class: int = 0
    right_binary: int = 0
    reference_n: int = 0
    reference_right: int = 0
    reference_right_inclusive: int = 0
    reference_right_nearest: int = 0
    implicit_n: int = 0
    implicit_right: int = 0

    @property
    def accuracy(self) -> float | None:
        """Any gold mention, or the class."""
        return share(self.right, self.n)

    @property
    def accuracy_inclusive(self) -> float | None:
        """Also any token with the form of a gold head: the figure that the paper prints."""
        return share(self.right_inclusive, self.n)

    @property
    def accuracy_nearest(self) -> float | None:
        """Of the gold mentions the nearest only, or the class."""
        return share(self.right_nearest, self.n)

    @property
    def class_accuracy(self) -> float | None:
        """Over seven classes: any token is REFERENCE."""
        return share(self.right_class, self.n)

    @property
    def binary(self) -> float | None:
        """Reference against implicit."""
        return share(self.right_binary, self.n)

    @property
    def reference(self) -> float | None:
        """Accuracy within gold Reference."""
        return share(self.reference_right, self.reference_n)

    @property
    def reference_inclusive(self) -> float | None:
        """Inclusive accuracy within gold Reference."""
        return share(self.reference_right_inclusive, self.reference_n)

    @property
    def reference_nearest(self) -> float | None:
        """Accuracy by the nearest mention within gold Reference."""
        return share(self.reference_right_nearest, self.reference_n)

    @property
    def implicit(self) -> float | None:
        """Accuracy within gold of the six classes."""
        return share(self.implicit_right, self.implicit_n)

    @property
    def answered(self) -> float | None:
        """The share of which the recipe said something."""
        return share(self.answered_n, self.n)

    @property
    def accuracy_answered(self) -> float | None:
        """Accuracy within what the recipe said something of."""
        return share(self.right, self.answered_n)


def share(part: int, whole: int) -> float | None:
    """part / whole; None where there is no whole."""
    return part / whole if whole else None


def figures(judged: Iterable[Judged]) -> Figures:
    """The counts of judged examples."""
    some = list(judged)
    references = [one for one in some if one.reference]
    implicit = [one for one in some if not one.reference]
    return Figures(
        n=len(some),
        answered_n=sum(one.choice is not None for one in some),
        right=sum(one.right for one in some),
        right_inclusive=sum(one.inclusive for one in some),
        right_nearest=sum(one.nearest for one in some),
        right_class=sum(one.class_right for one in some),
        right_binary=sum(one.binary_right for one in some),
        reference_n=len(references),
        reference_right=sum(one.right for one in references),
        reference_right_inclusive=sum(one.inclusive for one in references),
        reference_right_nearest=sum(one.nearest for one in references),
        implicit_n=len(implicit),
        implicit_right=sum(one.right for one in implicit),
    )


# --- several recipes side by side -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entrant:
    """A recipe, by the name it is printed with, and its figures."""

    name: str
    figures: Figures


def on_references(
    examples: Sequence[ResolutionExample], by_name: Mapping[str, Sequence[Choice | None]]
) -> tuple[Entrant, ...]:
    """The figures of several recipes within gold Reference, as noun baselines are scored.

    by_name: of each recipe the choices, one an example; their order is kept. ValueError if a
    recipe has fewer or more choices than there are examples.
    """
    return tuple(
        Entrant(name, figures(one for one in judge(examples, choices) if one.reference))
        for name, choices in by_name.items()
    )
