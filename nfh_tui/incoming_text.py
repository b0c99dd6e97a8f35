"""Text made into passages: the tokens of its turns, and their lemmas."""

from dataclasses import dataclass

from nfh_db.formats.rows import DialogBlock, DialogTurn, RawPassage
from nfh_models.domain import Passage, Token, Turn
from nfh_models.text.lemmas import lemmas

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn that holds words: its line, and its tokens as code points of the block's text.

    start: the rank of its first token in the block.
    """

    turn: DialogTurn
    start: int
    tokens: list[Span]


def spoken(block: DialogBlock) -> list[Spoken]:
    """The turns of a block that hold words, each tokenized by itself."""
    from nfh_models.text.tokenize import spans

    found: list[Spoken] = []
    count = 0
    for turn in block.turns:
        words = block.text[turn.start : turn.end]
        tokens = [(turn.start + start, turn.start + end) for start, end in spans(words)]
        if tokens:
            found.append(Spoken(turn, count, tokens))
            count += len(tokens)
    return found


def passage_of_turns(text: str, turns: list[Spoken]) -> Passage:
    """The passage of a block's turns, of which there is at least one."""
    tokens = [token for one in turns for token in one.tokens]
    starts, ends = zip(*tokens, strict=True)
    words = [text[start:end] for start, end in tokens]
    spans = tuple(
        Turn(
            one.turn.number,
            one.turn.speaker,
            one.start,
            one.start + len(one.tokens),
            one.turn.begin,
            one.turn.until,
        )
        for one in turns
    )
    return passage_of(RawPassage(text, words, starts, ends, spans))


def passage_of(raw: RawPassage) -> Passage:
    """The passage with a lemma for each token. Raises PassageError if it does not hold."""
    tokens = tuple(map(Token, raw.starts, raw.ends, lemmas(raw.words)))
    return Passage(raw.text, tokens, raw.turns)
