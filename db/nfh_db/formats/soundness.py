"""Whether tokens and turns make a passage, and its digest, without an object for each token.

The rules are those of `nfh_models.domain.Passage`, which says what is wrong where they fail.
"""

import sys
from array import array
from collections.abc import Sequence
from itertools import islice, repeat
from operator import le, lt

from nfh_db.formats.rows import RawPassage
from nfh_models.domain import Passage, Token, Turn
from nfh_models.domain.passage import passage_digest


def sound_digest(raw: RawPassage) -> str:
    """The digest of the passage that `raw` makes. Raises PassageError if it makes none."""
    if not (tokens_fit(raw.text, raw.starts, raw.ends) and turns_fit(raw.turns, raw.starts)):
        tokens = tuple(map(Token, raw.starts, raw.ends, repeat("")))
        return Passage(raw.text, tokens, raw.turns).digest
    packed = array("I", bytes(8 * len(raw.starts)))
    packed[::2] = array("I", raw.starts)
    packed[1::2] = array("I", raw.ends)
    if sys.byteorder == "big":
        packed.byteswap()
    return passage_digest(raw.text, packed.tobytes(), raw.turns)


def tokens_fit(text: str, starts: Sequence[int], ends: Sequence[int]) -> bool:
    """True if each token holds a character, begins where the one before ended or later, and
    none goes beyond the text.
    """
    if not starts or len(starts) != len(ends):
        return not starts and not ends
    return (
        starts[0] >= 0
        and ends[-1] <= len(text)
        and all(map(lt, starts, ends))
        and all(map(le, ends, islice(starts, 1, None)))
    )


def turns_fit(turns: Sequence[Turn], tokens: Sequence[object]) -> bool:
    """True if turns hold all tokens in order, none is empty, and their numbers never fall."""
    place = 0
    number: int | None = None
    for turn in turns:
        if turn.start != place or turn.end <= place:
            return False
        if number is not None and turn.number < number:
            return False
        place, number = turn.end, turn.number
    return place == len(tokens)
