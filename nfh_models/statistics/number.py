"""One number with what is said of it: what the statistics count."""

from dataclasses import dataclass

from nfh_models.domain import Anchor, Answer, Kind, Passage, identified


@dataclass(frozen=True, slots=True)
class Number:
    """A number in its passage.

    passage_id: the same for the numbers of one passage. nfh: whether its noun is said to be
    missing; None where that is not said. answer: what gold says; None where there is none, or
    where a model speaks, which says no more than `nfh`.
    """

    passage_id: int
    document: str
    split: str | None
    passage: Passage
    anchor: Anchor
    nfh: bool | None
    answer: Answer | None = None

    @classmethod
    def of_gold(
        cls,
        passage_id: int,
        document: str,
        split: str | None,
        passage: Passage,
        anchor: Anchor,
        answer: Answer | None,
    ) -> "Number":
        """A number with its gold, None where it has none."""
        nfh = None if answer is None else identified(answer.kind)
        return cls(passage_id, document, split, passage, anchor, nfh, answer)

    @property
    def broken(self) -> bool:
        """Whether gold says that nothing can be said of it."""
        return self.answer is not None and self.answer.kind is Kind.BROKEN

    @property
    def text(self) -> str:
        """The anchor's tokens in small letters, with a space between them."""
        words = (self.passage.word(at) for at in range(self.anchor.start, self.anchor.end))
        return " ".join(words).lower()
