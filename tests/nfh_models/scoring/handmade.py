"""Examples out of plain words, and choices for them."""

from collections.abc import Sequence

from hypothesis import strategies as st

from nfh_models.domain import (
    IMPLICIT_KINDS,
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Relation,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.resolution.base import Choice, Item, ResolutionExample

CLASSES = len(IMPLICIT_KINDS)


def passage(turns: Sequence[Sequence[str]]) -> Passage:
    """A passage of these words; the lemma of "apples" is "apple"."""
    tokens: list[Token] = []
    said: list[Turn] = []
    words = [word for turn in turns for word in turn]
    place = 0
    for word in words:
        tokens.append(Token(place, place + len(word), word.lower().rstrip("s") or word))
        place += len(word) + 1
    start = 0
    for number, turn in enumerate(turns):
        said.append(Turn(number, "AB"[number % 2], start, start + len(turn)))
        start += len(turn)
    return Passage(" ".join(words), tuple(tokens), tuple(said))


def example(
    line: str,
    kind: Kind = Kind.REFERENCE,
    relation: Relation | None = None,
    group: str = "",
    saw_model: bool = False,
) -> ResolutionExample:
    """An example from words with spaces between, "/" between turns.

    The anchor stands in <...>. A word in [...] is a mention of the first head, one in {...}
    of the second; for a kind other than REFERENCE there are none.
    """
    turns = [turn.split() for turn in line.split("/")]
    words = [word for turn in turns for word in turn]
    start = next(at for at, word in enumerate(words) if word.startswith("<"))
    end = next(at for at, word in enumerate(words) if word.endswith(">")) + 1
    heads = [
        [Mention(at, at + 1, at) for at, word in enumerate(words) if word.startswith(opening)]
        for opening in "[{"
    ]
    plain = [[word.strip("<>[]{}") for word in turn] for turn in turns]
    gold = (
        reference_answer([some for some in heads if some], relation)
        if kind is Kind.REFERENCE
        else class_answer(kind)
    )
    return ResolutionExample(
        Item(passage(plain), Anchor(start, end)), gold, "line 1", group or line, saw_model
    )


def choice(said: str | int, scores: Sequence[float | None] = ()) -> Choice:
    """A choice of a token or a class."""
    return Choice(str(said), None, None, tuple(scores))


def answer(*heads: Sequence[int], relation: Relation | None = None) -> Answer:
    """A Reference whose heads have their mentions at these tokens."""
    return reference_answer(
        [[Mention(at, at + 1, at) for at in head] for head in heads], relation
    )


WORDS = ("Red", "red", "reds", "cup", "cups", "it", "two", "saw")


@st.composite
def judgements(draw: st.DrawFn) -> tuple[ResolutionExample, Choice | None]:
    """Any example of a few words, with any choice: a class, a token or nothing."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=8))
    cut = draw(st.integers(1, len(words)))
    turns = [turn for turn in (words[:cut], words[cut:]) if turn]
    start = draw(st.integers(0, len(words) - 1))
    end = draw(st.integers(start + 1, min(len(words), start + 2)))
    free = [at for at in range(len(words)) if not start <= at < end]
    kinds = [*IMPLICIT_KINDS, *([Kind.REFERENCE] * 6 if free else [])]
    kind = draw(st.sampled_from(kinds))
    gold = class_answer(kind) if kind is not Kind.REFERENCE else _drawn_heads(draw, free)
    said = draw(st.sampled_from([None, *IMPLICIT_KINDS, *map(str, free * 3)]))
    made = ResolutionExample(
        Item(passage(turns), Anchor(start, end)), gold, "line 1", draw(st.sampled_from("abcde"))
    )
    return made, None if said is None else choice(said)


def _drawn_heads(draw: st.DrawFn, free: Sequence[int]) -> Answer:
    tokens = draw(st.lists(st.sampled_from(free), min_size=1, max_size=3, unique=True))
    return answer(tokens[:1], tokens[1:]) if len(tokens) > 1 else answer(tokens)
