"""The Penn Treebank's stand-ins for quotes and brackets, made the signs they stand for.

The identification release was tokenized by CoreNLP, which writes them; parsers trained on
plain text read the signs themselves.
"""

from collections.abc import Iterable

STAND_INS = {
    "``": '"',
    "''": '"',
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
"""Stand-in to sign: `bracket-relabel` and quotes of the Penn Treebank's tokenization."""


def plain_words(words: Iterable[str]) -> list[str]:
    """Tokens as they would stand in plain text, one for one; only stand-ins change."""
    return [STAND_INS.get(word, word) for word in words]
