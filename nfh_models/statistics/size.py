"""How much there is: numbers, their classes, and the passages that they stand in."""

from collections import Counter
from dataclasses import dataclass, field

from nfh_models.domain import PAPER_CLASSES, Kind, paper_class
from nfh_models.statistics.number import Number
from nfh_models.statistics.tally import Tally


@dataclass(slots=True)
class Size:
    """Counts over numbers of which something is said; those of one passage come together.

    nfh, not_nfh, broken: what is said of them. classes: of NFHs whose answer names one of the
    paper's seven, UNKNOWN among OTHER; unknown: how many of OTHER are UNKNOWN; no_class:
    NFHs without a class. tokens, turns: of each passage, each once. read: tokens of each
    number's passage, so that a passage counts once a number, as the paper counts examples.
    """

    nfh: int = 0
    not_nfh: int = 0
    broken: int = 0
    classes: Counter[Kind] = field(default_factory=Counter)
    unknown: int = 0
    no_class: int = 0
    tokens: Tally = field(default_factory=Tally)
    turns: Tally = field(default_factory=Tally)
    read: Tally = field(default_factory=Tally)
    _passage: int | None = None

    def add(self, number: Number) -> None:
        """Count a number that is an NFH, or none, or broken."""
        if number.broken:
            self.broken += 1
        elif number.nfh:
            self.nfh += 1
            self._class(number)
        else:
            self.not_nfh += 1
        size = len(number.passage.tokens)
        self.read.add(size)
        if number.passage_id != self._passage:
            self._passage = number.passage_id
            self.tokens.add(size)
            self.turns.add(len(number.passage.turns))

    def _class(self, number: Number) -> None:
        kind = None if number.answer is None else number.answer.kind
        found = None if kind is None else paper_class(kind)
        if found is None:
            self.no_class += 1
            return
        self.classes[found] += 1
        self.unknown += kind is Kind.UNKNOWN

    @property
    def numbers(self) -> int:
        """How many numbers were counted."""
        return self.nfh + self.not_nfh + self.broken

    @property
    def said(self) -> int:
        """Numbers of which it is said whether they are NFHs: what the share is of."""
        return self.nfh + self.not_nfh

    @property
    def share(self) -> float | None:
        """NFHs among them; None where nothing is said of any.

        It says nothing of a text where only NFHs were labelled, as in files of the resolution
        release: `not_nfh` is 0 there.
        """
        return self.nfh / self.said if self.said else None

    @property
    def with_class(self) -> int:
        """NFHs whose answer names a class."""
        return self.nfh - self.no_class

    @property
    def passages(self) -> int:
        """How many passages the numbers stand in."""
        return self.tokens.n

    def ranked(self) -> list[tuple[Kind, int]]:
        """The paper's classes with their counts, in its order."""
        return [(kind, self.classes[kind]) for kind in PAPER_CLASSES]
