"""The small model's beginning: its teacher with the heads and neurons that matter most."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_models.encoder.settings import EncoderSettings, Task
from nfh_tui.small_material import Say
from nfh_tui.small_passages import words_of

if TYPE_CHECKING:
    from torch import Tensor

    from nfh_models.encoder.model import Whole
    from nfh_models.encoder.training import Material

BATCHES = 32
"""Batches of labelled examples that say what matters."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of a narrow encoder. pieces: in its word table. length: pieces of a text at most."""

    heads: int = 4
    neurons: int = 480
    pieces: int = 10_000
    length: int = 384


def narrow_copy(
    teacher: Path, material: "Material", settings: EncoderSettings, sizes: Sizes, say: Say
) -> "Whole":
    """A narrow copy of a teacher. Raises ModelFileError, EncoderError for another encoder."""
    from nfh_models.encoder import load_encoder
    from nfh_models.encoder.narrowing import Narrow, importance, narrowed
    from nfh_models.encoder.pruning import frequent

    whole = load_encoder(teacher).whole
    whole.network.requires_grad_(requires_grad=True)
    matters = importance(whole.network, list(_losses(whole, material, settings)))
    words = frequent(whole.pieces, _words(material), sizes.pieces)
    made = narrowed(whole, matters, Narrow(sizes.heads, sizes.neurons, sizes.length, words))
    held = sum(one.numel() for one in made.network.encoder.parameters())
    say(f"{teacher.name} made narrow: {held:,} numbers, {made.pieces.size:,} pieces")
    return made


def _losses(
    whole: "Whole", material: "Material", settings: EncoderSettings
) -> Iterator[Callable[[], "Tensor"]]:
    """Of the labelled heads alone: nothing else has been taught to the teacher."""
    import torch

    from nfh_models.encoder.judging import Asked
    from nfh_models.encoder.learner import EncoderLearner
    from nfh_models.encoder.training import lessons_of

    own = msgspec.structs.replace(
        settings, task=Task.RESOLUTION, states=0.0, several=0.0, rdrop=0.0
    )
    labelled = replace(material, silver=(), identification=(), shown={})
    lessons = lessons_of(labelled, whole.featuriser, own).taught
    learner = EncoderLearner(whole.network, whole.featuriser, own, lessons, Asked())
    on = torch.device("cpu")
    for batch in learner.batches(1)[:BATCHES]:
        yield lambda batch=batch: learner.loss(batch, on)  # type: ignore[misc]


def _words(material: "Material") -> Iterator[str]:
    """All words of what is learnt from, each passage once."""
    items = [one.item for one in material.resolution] + [one.item for one in material.silver]
    for passage in {item.passage.digest: item.passage for item in items}.values():
        yield from words_of(passage)
    for example in material.identification:
        yield from example.case.stretch.words
