"""The trained network as a resolver."""

import hashlib
from collections.abc import Sequence
from functools import cached_property

import msgspec
import torch

from nfh_models.bilstm.featurising import CLASSES, Featuriser, Row, row_of
from nfh_models.bilstm.network import BiLstm
from nfh_models.bilstm.settings import Settings
from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.parsing.parsed import Layer
from nfh_models.resolution.item import Choice, Item
from nfh_models.resolution.recipes import BILSTM

VERSION = "bilstm/1"
"""Changes when the same weights would answer otherwise."""

MOST_ROWS = 64
MOST_WORDS = 8_192
"""Of a batch, padding included, so that memory stays bounded."""


class BiLstmResolver:
    """A network with its words and its alphabet, ready to answer; it needs no parser.

    Words farther from the anchor than featurising.REACH are no candidates.
    """

    recipe = BILSTM
    needs: frozenset[Layer] = frozenset()
    probabilities = True

    def __init__(self, settings: Settings, featuriser: Featuriser, network: BiLstm) -> None:
        self.settings = settings
        self.featuriser = featuriser
        self.network = network.eval()

    @cached_property
    def version(self) -> str:
        """Changes when its answers may: asked of a network that is trained no more."""
        return f"{VERSION} {self._fingerprint()}"

    def _fingerprint(self) -> str:
        """Twelve hexadecimal digits of what answers depend on."""
        vectors = self.featuriser.vectors
        spelled = [msgspec.to_builtins(self.settings), vectors.words, self.featuriser.alphabet]
        hashed = hashlib.sha256(msgspec.json.encode(spelled))
        hashed.update(vectors.table.tobytes())
        for name, tensor in self.network.state_dict().items():
            hashed.update(name.encode())
            hashed.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return hashed.hexdigest()[:12]

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice an item, in their order. Raises PassageError for an anchor outside."""
        rows = [row_of(item) for item in items]
        choices: list[Choice | None] = [None] * len(items)
        for places in batches_by_size([len(row.words) for row in rows]):
            found = self.probabilities_of([rows[place] for place in places])
            for place, own in zip(places, found, strict=True):
                choices[place] = decide(own, rows[place], len(items[place].passage.tokens))
        return choices

    @torch.no_grad()
    def probabilities_of(self, rows: Sequence[Row]) -> list[list[float]]:
        """For each row, those of the six classes and its words; they sum to 1."""
        on = self.network.unknown.device
        scores = self.network(self.featuriser.batch(rows).to(on)).double()
        shares = torch.softmax(scores, -1).tolist()
        return [own[: CLASSES + len(row.words)] for own, row in zip(shares, rows, strict=True)]


def batches_by_size(sizes: Sequence[int]) -> list[list[int]]:
    """Places in groups of about one size, so that little is padded."""
    order = sorted(range(len(sizes)), key=lambda place: sizes[place])
    groups: list[list[int]] = []
    for place in order:
        full = not groups or len(groups[-1]) >= MOST_ROWS
        if full or (len(groups[-1]) + 1) * sizes[place] > MOST_WORDS:
            groups.append([])
        groups[-1].append(place)
    return groups


def decide(shares: Sequence[float], row: Row, tokens: int) -> Choice:
    """The most probable candidate, the second, and the probabilities of all.

    shares: of the classes and the row's words. tokens: in the passage. Of two candidates that
    are equal the first counts.
    """
    laid_out: list[float | None] = [None] * (CLASSES + tokens)
    for place, share in enumerate(shares):
        word = place - CLASSES
        if word < 0:
            laid_out[place] = share
        elif not row.start <= word < row.end:
            laid_out[place + row.offset] = share
    ranked = sorted(
        ((share, place) for place, share in enumerate(laid_out) if share is not None),
        key=lambda one: (-one[0], one[1]),
    )
    (best, first), (next_best, second) = ranked[:2]
    return Choice(_name(first), _name(second), best - next_best, tuple(laid_out))


def _name(place: int) -> str:
    return IMPLICIT_KINDS[place].value if place < CLASSES else str(place - CLASSES)
