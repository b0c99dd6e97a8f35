"""What is asked for when the small model is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfh_models.encoder.settings import EncoderSettings
from nfh_tui.small_card import NOTICE

SETTINGS = (
    "task=both",
    "weights=4bit",
    "epochs=1",
    "batch=32",
    "rate=1e-4",
    "head_rate=3e-4",
    "averaging=0.998",
    "priors=paper",
    "states=1",
    "identification=1",
    "several=1",
)
"""How the model of the package was trained; --set puts others in their place."""

FIRST = (
    "weights=8bit",
    "epochs=2",
    "rate=2e-4",
    "head_rate=1e-3",
    "identification=0.5",
    "several=0.2",
)
"""What is other in the training of each column before it, on all silver."""

BASE = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be made.

    note: a sentence for the card. only: of each sort of examples so many, to try things out.
    times: copies of each example. several: whether the package's own passages are learnt from.
    dialogs: files of them that nobody has labelled. credit: whose they are, for the notice.
    nouns: how many of each passage a number is put in the place of.

    start: a model that is trained further, in place of an encoder. columns: models that are
    trained apart with the settings `first` on all there is, with seeds from theirs on, and then
    joined; 0 leaves that out. most: of each sort of silver so many in the training of
    `settings` behind it. What is begun with is only gone half way from in that training.
    """

    data: Path
    settings: EncoderSettings
    work: Path
    teachers: Sequence[Path] = ()
    base: str = BASE
    note: str = ""
    only: int | None = None
    times: int = 2
    several: bool = True
    dialogs: Sequence[Path] = ()
    credit: str = ""
    nouns: int = 0
    start: Path | None = None
    first: EncoderSettings | None = None
    columns: int = 0
    most: int | None = None

    @property
    def notice(self) -> str:
        """The licences of what the model was made from."""
        return f"{NOTICE}\n{self.credit}\n" if self.credit else NOTICE
