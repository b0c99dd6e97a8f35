"""score: rows through a network, in batches of about one length."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nfh_models.encoder.backbone import OWN
from nfh_models.encoder.network import SHUT, Network, Tensors
from nfh_models.encoder.rows import CLASSES, Row, by_length, pad
from nfh_models.encoder.settings import Candidates
from nfh_models.training.devices import autocast

Floats = NDArray[np.float32]
States = NDArray[np.float16]

BATCH = 8
"""Rows at a time for our own encoders on a CPU: what lies between two layers then still stands
in its cache; 32 are a fifth slower."""

MANY = 32
"""Rows at a time for encoders of `transformers`, whose weights are made narrow anew for each
batch, and elsewhere than on a CPU."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An encoder's states of the words of a row, W x D. offset: of its first word in the
    passage."""

    offset: int
    states: States


@dataclass(frozen=True, slots=True)
class Read:
    """Of each row, in order. logits: one a candidate of the row, SHUT where closed. nfh: a
    logit. several: three probabilities. shown: where asked for."""

    logits: list[Floats]
    nfh: Floats
    several: Floats
    shown: list[Shown]


def read(
    network: Network,
    rows: Sequence[Row],
    empty: int,
    *,
    on: torch.device | None = None,
    precision: str = "fp32",
    candidates: Candidates = Candidates.ALL,
    batch: int | None = None,
    states: bool = False,
) -> Read:
    """Score all candidates of some rows. The network is to be in eval mode, on that device."""
    device = on or torch.device("cpu")
    own = isinstance(network.encoder, OWN)
    size = batch or (BATCH if own and device.type == "cpu" else MANY)
    logits: list[Floats] = [np.empty(0, np.float32)] * len(rows)
    nfh = np.zeros(len(rows), np.float32)
    several = np.zeros((len(rows), 3), np.float32)
    seen = [Shown(row.offset, np.empty(0, np.float16)) for row in rows if states]

    def score(places: list[int]) -> None:
        some = [rows[place] for place in places]
        with torch.inference_mode(), autocast(device, precision):
            inputs = Tensors.of(pad(some, empty), device)
            words = network.read(inputs)
            scored = network.score(words, inputs)
            found = shut(scored.logits.float(), candidates).cpu().numpy()
            nfh[places] = scored.nfh.float().cpu().numpy()
            several[places] = scored.several.float().softmax(-1).cpu().numpy()
        for number, place in enumerate(places):
            logits[place] = found[number, : CLASSES + rows[place].words].copy()
            if states:
                kept = words[number, : rows[place].words]
                own = kept.to(torch.float16).cpu().numpy().copy()
                seen[place] = Shown(rows[place].offset, own)

    # The longest first: what is left for the end is short, and no thread waits long.
    batches = by_length(rows, size)[::-1]
    if device.type == "cpu" and (own or len(batches) > 1):
        _side_by_side(score, batches)
    else:
        for places in batches:
            score(places)
    return Read(logits, nfh, several, seen)


def _side_by_side(score: Callable[[list[int]], None], batches: Sequence[list[int]]) -> None:
    """Batches in threads of one core each, as many as torch has cores.

    Threads that share one product wait for each other many times a batch, and spin while they
    do: beside another busy process that made a batch ten times as slow (measured on 2 cores).
    """
    threads = torch.get_num_threads()
    if not batches:
        return
    try:
        with ThreadPoolExecutor(
            min(threads, len(batches)), initializer=torch.set_num_threads, initargs=(1,)
        ) as pool:
            for _ in pool.map(score, batches):
                pass
    finally:
        # What a thread sets is its own, but torch gives it on to threads that begin later.
        torch.set_num_threads(threads)


def shut(logits: torch.Tensor, candidates: Candidates) -> torch.Tensor:
    """The scores with the candidates closed that an oracle run leaves out."""
    if candidates is Candidates.ALL:
        return logits
    words = torch.arange(logits.shape[-1], device=logits.device) >= CLASSES
    closed = words if candidates is Candidates.IMPLICIT else ~words
    return logits.masked_fill(closed, SHUT)
