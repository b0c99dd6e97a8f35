"""The bundled model `small`, for identification and resolution. This package is its model
directory.

See card.md for what it was made of and where it fails, and NOTICE for the licence of its
encoder.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_models.encoder.model import EncoderModel


def small_folder() -> Path:
    return Path(__file__).parent


def load_small() -> "EncoderModel":
    """The model, ready to resolve and to decide. Raises ModelFileError if it is damaged."""
    from nfh_models.encoder import load_encoder

    return load_encoder(small_folder())
