"""What fused heads look like: the figures of the paper's section 4.3."""

from collections import Counter
from dataclasses import dataclass, field

from nfh_models.statistics.number import Number
from nfh_models.statistics.tally import Tally


@dataclass(frozen=True, slots=True)
class Word:
    """An anchor's text in small letters. nfh: how often it is one; numbers: how often it is
    said to be one or none."""

    text: str
    nfh: int
    numbers: int


@dataclass(slots=True)
class Anchors:
    """Counts over numbers of which it is said whether they are NFHs; all but `numbers` are
    of the NFHs among them.

    numbers, nfh: how often each text came up, in small letters. lengths: in tokens. longest:
    the first anchor of the greatest length. words: without a digit; digits: with one;
    mixed: those of `digits` that hold a letter, too.
    """

    numbers: Counter[str] = field(default_factory=Counter)
    nfh: Counter[str] = field(default_factory=Counter)
    lengths: Tally = field(default_factory=Tally)
    longest: str = ""
    words: int = 0
    digits: int = 0
    mixed: int = 0
    _longest: int = 0

    def add(self, number: Number) -> None:
        """Count a number whose `nfh` is not None."""
        text = number.text
        self.numbers[text] += 1
        if not number.nfh:
            return
        self.nfh[text] += 1
        length = number.anchor.end - number.anchor.start
        self.lengths.add(length)
        if length > self._longest:
            self.longest, self._longest = text, length
        if any(map(str.isdigit, text)):
            self.digits += 1
            self.mixed += any(map(str.isalpha, text))
        else:
            self.words += 1

    @property
    def n(self) -> int:
        """How many NFHs."""
        return self.words + self.digits

    @property
    def distinct(self) -> int:
        """How many different texts, small letters and capitals taken as one."""
        return len(self.nfh)

    @property
    def once(self) -> int:
        """How many texts came up once."""
        return sum(times == 1 for times in self.nfh.values())

    def most_common(self, most: int) -> list[Word]:
        """The most common texts, at most `most`, equal ones in the order of the alphabet."""
        ranked = sorted(self.nfh.items(), key=lambda item: (-item[1], item[0]))
        return [Word(text, times, self.numbers[text]) for text, times in ranked[:most]]
