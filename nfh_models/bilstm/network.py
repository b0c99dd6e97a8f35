"""The paper's network (section 6.1): words and characters, a biLSTM, and a scorer of pairs."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nfh_models.bilstm.featurising import CLASSES, FIRST_LETTER, NO_LETTER, Batch
from nfh_models.bilstm.settings import Network as Sizes

MASKED = -1e4
"""The score of what is no candidate: its probability is 0 in 32 bits, and nothing overflows
in 16."""


class BiLstm(nn.Module):
    """Scores of the six classes and of each word, for one anchor a row.

    A word is its vector, which stays as it is, and the last state of an LSTM over its
    characters. An anchor is the mean of its words' states, the last one included. A pair of
    candidate c and anchor a is [c; a; c*a].
    """

    table: Tensor

    def __init__(self, sizes: Sizes, table: Tensor, letters: int) -> None:
        """table: (words, width), of the word vectors. letters: in the alphabet."""
        super().__init__()
        # Not among the weights that checkpoints hold: it is no secret of the training, and
        # may be larger than all of them.
        self.register_buffer("table", table, persistent=False)
        width = int(table.shape[1])
        both = 2 * sizes.state
        self.unknown = nn.Parameter(torch.zeros(width))
        self.letters = nn.Embedding(FIRST_LETTER + letters, sizes.letters, NO_LETTER)
        self.spelling = nn.LSTM(sizes.letters, sizes.letter_state, batch_first=True)
        self.reading = nn.LSTM(
            width + sizes.letter_state, sizes.state, batch_first=True, bidirectional=True
        )
        self.classes = nn.Parameter(nn.init.xavier_uniform_(torch.empty(CLASSES, both)))
        self.hidden = nn.Linear(3 * both, sizes.hidden)
        self.score = nn.Linear(sizes.hidden, 1)
        self.drop_tokens = nn.Dropout(sizes.drop_tokens)
        self.drop_states = nn.Dropout(sizes.drop_states)
        self.drop_hidden = nn.Dropout(sizes.drop_hidden)
        self.drop_scores = nn.Dropout(sizes.drop_scores)

    def forward(self, batch: Batch) -> Tensor:
        """(B, 6 + W) scores; MASKED where there is no candidate."""
        states = self.drop_states(self._states(self.drop_tokens(self._words(batch)), batch))
        anchor = (states * batch.anchors.unsqueeze(-1)).sum(1)
        classes = self.classes.expand(len(states), *self.classes.shape)
        scores = self._scores(torch.cat([classes, states], 1), anchor)
        return scores.masked_fill(~batch.candidates, MASKED)

    def _words(self, batch: Batch) -> Tensor:
        """(B, W, width + letter state)."""
        known = self.table[batch.vectors.clamp(min=0)]
        vectors = torch.where((batch.vectors < 0).unsqueeze(-1), self.unknown, known)
        spelled = pack_padded_sequence(
            self.letters(batch.letters), batch.letter_counts, True, enforce_sorted=False
        )
        _, (last, _) = self.spelling(spelled)
        return torch.cat([vectors, last[0]], -1)[batch.words]

    def _states(self, words: Tensor, batch: Batch) -> Tensor:
        """(B, W, 2 states)."""
        packed = pack_padded_sequence(words, batch.counts, True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.reading(packed)[0], True, total_length=words.shape[1]
        )
        return states

    def _scores(self, candidates: Tensor, anchor: Tensor) -> Tensor:
        """(B, C). [c; a; c*a] W = c W1 + a W2 + (c*a) W3, and the middle is the same for all
        candidates of a row, so that it is made once."""
        first, second, third = self.hidden.weight.chunk(3, 1)
        product = candidates * anchor.unsqueeze(1)
        own = nn.functional.linear(anchor, second, self.hidden.bias)
        hidden = (
            nn.functional.linear(candidates, first)
            + nn.functional.linear(product, third)
            + own.unsqueeze(1)
        )
        scores: Tensor = self.score(self.drop_hidden(torch.tanh(hidden))).squeeze(-1)
        dropped: Tensor = self.drop_scores(scores)
        return dropped
