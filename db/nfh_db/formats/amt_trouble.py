"""Why a row of a batch cannot be used. Such a row is reported with its line, never guessed."""

from enum import StrEnum


class Trouble(StrEnum):
    """A reason; the value stands behind "3 rows left out, "."""

    NO_WORKER = "no worker named"
    WORKER_NAME = "the worker's name is none that the database takes"
    REJECTED = "the work was rejected"
    CODE = "the code of the answer is none of 1 to 8"
    NO_WORDS = "the context holds no words"
    NO_TARGET = "no number named as the target"
    TARGET_MISSING = "the number does not stand in the context"
    TARGET_IN_WORD = "the number is only a part of a word, or of a speaker's name"
    TARGET_AMBIGUOUS = "the number stands in the context more than once"
    NOTHING_MARKED = "Reference chosen, but nothing marked"
    MARK_MISSING = "the marked text does not stand in the context"
    MARK_AMBIGUOUS = "the marked text may stand in more than one place"
    MARK_NO_WORD = "the marked text is no word of a turn (a speaker's name, a sign)"
    MARK_IS_ANCHOR = "the head of the marked text is the number itself"


class UnusableRow(Exception):  # noqa: N818 - a verdict on a row, not a failure
    """A row that cannot be used. found: what stands in the field in question."""

    def __init__(self, trouble: Trouble, found: str = "") -> None:
        super().__init__(trouble.value)
        self.trouble = trouble
        self.found = found
