"""Passages with gold, made on the spot."""

from collections.abc import Callable

from nfh_db.records import Gold, IncomingAnchor, IncomingPassage, Rule
from nfh_models.domain import Answer, Kind, class_answer
from tests.nfh_models.encoder.handmade import item, reference

Load = Callable[..., None]
FAST = ("epochs=2", "batch=8", "window=40")

LONG = "this is a turn that is long enough to be told again ."
OTHER = "and here they say another long turn of more than eight words ."


def passages(
    count: int = 60,
    start: int = 0,
    *,
    split: str | None = None,
    turns: tuple[str, ...] = (),
    only: Kind | None = None,
) -> list[IncomingPassage]:
    """So many, none like another, every second one an age. turns: more, in all of them."""
    return [
        _passage(line, number, split, turns, only)
        for line, number in enumerate(range(start, start + count), 1)
    ]


def _passage(
    line: int, number: int, split: str | None, turns: tuple[str, ...], only: Kind | None
) -> IncomingPassage:
    more = [f"B: {turn}" for turn in turns]
    answer: Answer
    if number % 2:
        one = item(f"A: he is [ six ] , w{number} .", *more)
        answer = class_answer(Kind.AGE)
    else:
        one = item(f"A: i have dogs w{number} , you want [ two ] .", *more)
        answer = reference(one, "dogs").gold
    if only is not None:
        answer = class_answer(only)
    gold = Gold(answer, Rule.IMPORTED)
    anchor = IncomingAnchor(line, one.anchor, split=split, gold=gold)
    return IncomingPassage(one.passage, "test", (anchor,))


def quiet(*_: object) -> None:
    """Nobody watches."""


def telling(seen: list[str]) -> Callable[[str, int, int], None]:
    """What notes each phase once."""

    def tell(phase: str, done: int, total: int) -> None:
        if phase not in seen[-1:]:
            seen.append(phase)

    return tell
