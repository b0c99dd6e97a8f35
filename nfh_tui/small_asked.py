"""What is asked for when the small model is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfh_models.encoder.settings import EncoderSettings
from nfh_tui.small_card import NOTICE
from nfh_tui.small_narrowing import Sizes

SETTINGS = (
    "task=both",
    "weights=4bit",
    "epochs=2",
    "batch=32",
    "rate=1e-4",
    "head_rate=3e-4",
    "layer_decay=0.97",
    "averaging=0.998",
    "priors=paper",
    "states=1",
    "identification=1",
    "several=1",
)
"""How the model of the package was trained; --set puts others in their place."""

BASE = "sentence-transformers/all-mpnet-base-v2"
"""What its teacher was made from."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be made.

    note: a sentence for the card. only: of each sort of examples so many, to try things out.
    times: copies of each example. several: whether the package's own passages are learnt from.
    dialogs: files of them that nobody has labelled. credit: whose they are, for the notice.
    nouns: how many of each passage a number is put in the place of.

    narrow: in place of an encoder the first teacher is begun with, cut to these sizes. start: a
    model that is trained further, in place of either. first: settings of a training before, on
    all there is. most: of each sort of silver so many in the training of `settings`.
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
    narrow: Sizes | None = None
    start: Path | None = None
    first: EncoderSettings | None = None
    most: int | None = None

    @property
    def notice(self) -> str:
        """The licences of what the model was made from."""
        return f"{NOTICE}\n{self.credit}\n" if self.credit else NOTICE
