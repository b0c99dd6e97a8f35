"""Words cut to the pieces that an encoder knows, by the `tokenizers` library alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from nfh_models.errors import ModelsError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST = 8
"""Pieces of one word; the first one stands for the word, the rest only help to read it."""

LONGEST = 200
"""Characters of a word that are looked at."""

REMEMBERED = 100_000
"""Words whose pieces are kept in memory."""


class TokenizerError(ModelsError):
    """A tokenizer that cannot be used; the sentence says why."""


class Specials(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The pieces that are no words. cls begins the text, sep stands between turns and ends
    it, unk stands for what is not known. glue: put before each word ("" or a space)."""

    cls: str
    sep: str
    pad: str
    unk: str
    glue: str = ""


class Pieces:
    """Cuts words; each word alone, so that what stands beside it changes nothing."""

    def __init__(self, tokenizer: "Tokenizer", specials: Specials) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.specials = specials
        self.cls = _place(tokenizer, specials.cls)
        self.sep = _place(tokenizer, specials.sep)
        self.pad = _place(tokenizer, specials.pad)
        self.unk = _place(tokenizer, specials.unk)
        self._reserved = frozenset((self.cls, self.sep, self.pad))
        _check_special(tokenizer, (specials.cls, specials.sep, specials.pad))
        self._known: dict[str, tuple[int, ...]] = {}

    @classmethod
    def of(cls, content: str, specials: Specials) -> "Pieces":
        """From the content of a tokenizer.json. Raises TokenizerError."""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_str(content)
        except Exception as error:  # the library raises bare Exception
            raise TokenizerError(f"this tokenizer cannot be read: {error}") from error
        return cls(tokenizer, specials)

    @property
    def size(self) -> int:
        """One more than the largest number of a piece."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values()) + 1

    @property
    def content(self) -> str:
        """The tokenizer as tokenizer.json has it."""
        return str(self._tokenizer.to_str())

    def cut(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """The pieces of each word, one at least and MOST at most."""
        known = self._known
        new = list({word for word in words if word not in known})
        if new:
            if len(known) > REMEMBERED:
                known.clear()
                new = list(set(words))
            known.update(zip(new, self._cut(new), strict=True))
        return [known[word] for word in words]

    def _cut(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        glue = self.specials.glue
        given = [glue + _sound(word[:LONGEST]) for word in words]
        found = self._tokenizer.encode_batch(given, add_special_tokens=False)
        return [self._plain(one.ids) for one in found]

    def _plain(self, ids: Sequence[int]) -> tuple[int, ...]:
        """A word that spells a special piece is no such piece; one without pieces is unk."""
        reserved, unk = self._reserved, self.unk
        return tuple(unk if one in reserved else one for one in ids[:MOST]) or (unk,)


def _sound(word: str) -> str:
    """Without halves of surrogate pairs, which no tokenizer takes."""
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return word.encode("utf-8", "replace").decode("utf-8")
    return word


def _place(tokenizer: "Tokenizer", piece: str) -> int:
    found = tokenizer.token_to_id(piece)
    if found is None:
        raise TokenizerError(f"the tokenizer has no piece {piece!r}")
    return int(found)


def _check_special(tokenizer: "Tokenizer", pieces: Sequence[str]) -> None:
    """Raise TokenizerError for a piece that words are cut to: nothing would know those."""
    added = tokenizer.get_added_tokens_decoder().values()
    special = {one.content for one in added if one.special}
    for piece in pieces:
        if piece not in special:
            raise TokenizerError(
                f"the piece {piece!r} is a word's, and cannot begin, part or fill up a text"
            )
