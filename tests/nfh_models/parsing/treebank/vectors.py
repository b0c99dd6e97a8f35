"""Word vectors out of nothing but the training sentences: counts of neighbours, reduced."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

SIZE = 24
REACH = 2


def write_vectors(sentences: Iterable[Sequence[str]], target: Path) -> None:
    """Write a stanza vector file (.pt) with the words in lower case, SIZE numbers each.

    Positive pointwise mutual information with the words to the left and right within REACH,
    reduced by a singular value decomposition (Levy and Goldberg 2014,
    https://papers.nips.cc/paper/5477).
    """
    import numpy
    import torch
    from stanza.models.common.pretrain import Pretrain, PretrainedWordVocab

    lowered = [["<s>", *(word.lower() for word in words), "</s>"] for words in sentences]
    vocabulary = [word for word, _ in sorted(_counts(lowered).items(), key=_by_count)]
    place = {word: number for number, word in enumerate(vocabulary)}
    table = numpy.zeros((len(vocabulary), 2 * len(vocabulary)))
    for words in lowered:
        for at, word in enumerate(words):
            for step in range(1, REACH + 1):
                if at + step < len(words):
                    other = place[words[at + step]]
                    table[place[word], other] += 1 / step
                    table[other, len(vocabulary) + place[word]] += 1 / step
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
    with numpy.errstate(divide="ignore", invalid="ignore"):
        information = numpy.log(table / expected)
    information[~(information > 0)] = 0
    left, values, _ = numpy.linalg.svd(information, full_matrices=False)
    signs = numpy.sign(left[numpy.abs(left).argmax(0), numpy.arange(left.shape[1])])
    vectors = (left * signs * numpy.sqrt(values))[:, :SIZE]
    vectors /= numpy.abs(vectors).max()
    pretrain = Pretrain(str(target), save_to_file=False)
    pretrain._vocab = PretrainedWordVocab(vocabulary)
    padding = numpy.zeros((4, vectors.shape[1]))
    pretrain._emb = torch.tensor(numpy.vstack([padding, vectors]), dtype=torch.float32)
    pretrain.save(str(target))


def _counts(sentences: Iterable[Sequence[str]]) -> Counter[str]:
    return Counter(word for words in sentences for word in words)


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
