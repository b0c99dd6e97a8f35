"""The small model that comes with the package: is it a fused head, and what is its head?

Its directory is this one. See card.md for what it was made of and where it fails, and NOTICE
for the licence of the encoder that it was made from.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_models.encoder.model import EncoderModel


def small_folder() -> Path:
    """The model directory in the package."""
    return Path(__file__).parent


def load_small() -> "EncoderModel":
    """The model, ready to resolve and to decide. Raises ModelFileError if it is damaged."""
    from nfh_models.encoder import load_encoder

    return load_encoder(small_folder())
