"""What background work tells the screen. Messages are the only way it may speak to it."""

from dataclasses import dataclass

from textual.message import Message


@dataclass
class PredictionReady(Message):
    """The predictor has stored a prediction of this anchor."""

    anchor_id: int


@dataclass
class PredictorChanged(Message):
    """The predictor started, stopped or fell over.

    words: for the line of state. sentence: what happened. off: it will not come back. aside:
    it works on, but cannot identify.
    """

    words: str
    sentence: str
    off: bool
    aside: bool = False

    def can_replace(self, message: Message) -> bool:
        """Only the latest state counts; what is said once, and no more, is not replaced."""
        return isinstance(message, PredictorChanged) and not self.aside


@dataclass
class Trouble(Message):
    """Something could not be read or saved. sentence: what, where, what to do.

    title: over it, where it is said in a dialog; "" for the usual one.
    """

    sentence: str
    title: str = ""


@dataclass
class RowsRead(Message):
    """A file that is compared has been read so far. rows: how many."""

    rows: int

    def can_replace(self, message: Message) -> bool:
        """Only the latest number counts."""
        return isinstance(message, RowsRead)


@dataclass
class BulkProgress(Message):
    """A bulk act has come so far. words: for the line of state."""

    words: str

    def can_replace(self, message: Message) -> bool:
        """Only the latest figure counts."""
        return isinstance(message, BulkProgress)


@dataclass
class Opened(Message):
    """The workbench has drawn its first item, and begun with everything that it needs."""
