"""Recipes `encoder`, `base` and `small`: a pretrained encoder, fine-tuned for resolution or
both tasks.

The anchor is marked in its passage, the passage is encoded once, and the six implicit classes
and every word get a score. `base` and `small` are such models with weights of 8 and 4 bits;
they are part of the package. Models on BERT or MPNet run without `transformers`.

`settings` has the settings and loads no framework; `features` makes model input; `backbone`
loads and implements encoders; `model` has the network, its use and its files; `quantization`
stores weights in few bits; `training` makes models. All but `settings` load torch or numpy.
Import `load_encoder` from here, everything else from its module.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_models.encoder.model import EncoderModel


def load_encoder(folder: Path) -> "EncoderModel":
    """The model in a directory of one of these recipes, ready to resolve and to decide.

    Raises ModelFileError for a damaged folder.
    """
    from nfh_models.encoder.model import load

    return load(folder)
