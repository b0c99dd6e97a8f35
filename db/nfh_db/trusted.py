"""Who is right how often: the records of it, by which votes are weighed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Competence:
    """How often somebody was found to be right. accuracy: 0 to 1. answers: that it rests on."""

    annotator: str
    accuracy: float
    answers: int


@dataclass(frozen=True, slots=True)
class Remembered:
    """The figures that votes are weighed by. source: what they were measured by, in words.

    at: when. people: by name.
    """

    source: str
    at: str
    people: tuple[Competence, ...]
