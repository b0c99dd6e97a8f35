"""Recipes `encoder` and `small`: a pretrained encoder, fine-tuned for identification and
resolution.

A number is marked in its passage, the passage is read once, and a score is given to the six
implicit classes and to every word. `small` is such a model with its weights in 8 bits; it
ships inside the package, and runs without `transformers`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_models.encoder.model import EncoderModel


def load_encoder(folder: Path) -> "EncoderModel":
    """The model in a directory of recipe `encoder` or `small`, ready to resolve and to decide.

    Raises ModelFileError for a folder that does not hold.
    """
    from nfh_models.encoder.model import load

    return load(folder)
