"""An answer in its passage, as the paper shows errors (table 7): tokens shaded by score.

The anchor is bold and blue, gold heads are underlined italics, and a token is shaded in one of
the paper's three reds by its score beside that of the best candidate. A frame marks the token
that was chosen, so that nothing is told by colour alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import exp, isfinite

from nfh_db.formats.wording import counted, visible
from nfh_models.domain import IMPLICIT_KINDS, Passage
from nfh_models.resolution.item import Choice, Item

BEFORE = 45
BEHIND = 30
"""Tokens on either side of the anchor that are shown."""
AROUND = 6
"""Tokens on either side of a head or a chosen token that stands further off."""
MOST_HEADS = 3
"""Gold mentions outside the window that are shown, the nearest first."""
LONGEST_WORD = 48
LONGEST_SPEAKER = 40

SHADES = ((0.6, "strong"), (0.3, "medium"), (0.1, "weak"))
"""From which share of the best candidate's score on a token has which of the three reds."""
CANDIDATES = 4
"""Candidates that are listed with their scores."""


def strengths(choice: Choice) -> list[float | None]:
    """The share that each token has of the best candidate's score, classes included.

    One a token; None for what is no candidate. Scores below 0 are no shares: where there are
    any, all are taken as logarithms.
    """
    known = [score for score in choice.scores if score is not None and isfinite(score)]
    if not known:
        return [None] * (len(choice.scores) - len(IMPLICIT_KINDS))
    best = max(known)
    logarithms = min(known) < 0

    def strength(score: float | None) -> float | None:
        if score is None or not isfinite(score):
            return None
        if logarithms:
            return exp(score - best)
        return score / best if best else 0.0

    return [strength(score) for score in choice.scores[len(IMPLICIT_KINDS) :]]


def shade(strength: float | None) -> str | None:
    """The red of a token: "strong", "medium" or "weak"; None for none."""
    if strength is None:
        return None
    return next((name for least, name in SHADES if strength >= least), None)


def passage_html(
    item: Item, choice: Choice | None, chosen: int | None, heads: Sequence[int]
) -> str:
    """The passage around the anchor, a line a turn. heads: the gold head tokens."""
    passage = item.passage
    shares = strengths(choice) if choice is not None else []
    spans = shown_spans(item, chosen, heads)
    lines = []
    last = 0
    for start, end in spans:
        lines += _gap(start - last)
        lines += _turns(item, start, end, chosen, heads, shares)
        last = end
    lines += _gap(len(passage.tokens) - last)
    return f'<div class="passage">{"".join(lines)}</div>'


def shown_spans(item: Item, chosen: int | None, heads: Sequence[int]) -> list[tuple[int, int]]:
    """The tokens that are shown: spans [start, end), ascending, apart from each other."""
    anchor, size = item.anchor, len(item.passage.tokens)
    first, last = max(0, anchor.start - BEFORE), min(size, anchor.end + BEHIND)
    far = [head for head in heads if not first <= head < last]
    far.sort(key=lambda head: max(anchor.start - head, head - anchor.end))
    wanted = [*far[:MOST_HEADS], *([] if chosen is None else [chosen])]
    spans = [(max(0, at - AROUND), min(size, at + AROUND + 1)) for at in wanted]
    merged: list[tuple[int, int]] = []
    for start, end in sorted([(first, last), *spans]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _gap(tokens: int) -> list[str]:
    if tokens <= 0:
        return []
    return [f'<p class="cut">… {counted(tokens, "word")} left out …</p>']


def _turns(
    item: Item,
    start: int,
    end: int,
    chosen: int | None,
    heads: Sequence[int],
    shares: Sequence[float | None],
) -> Iterator[str]:
    passage = item.passage
    rank = passage.turn_of(start)
    while rank < len(passage.turns) and passage.turns[rank].start < end:
        turn = passage.turns[rank]
        from_, to = max(start, turn.start), min(end, turn.end)
        speaker = visible(turn.speaker or "", LONGEST_SPEAKER)
        name = f"<b class=who><bdi>{escape(speaker)}</bdi></b> " if speaker else ""
        before = "… " if from_ > turn.start else ""
        after = " …" if to < turn.end else ""
        words = "".join(_words(item, from_, to, chosen, heads, shares))
        yield f"<p>{name}{before}{words}{after}</p>"
        rank += 1


def _words(
    item: Item,
    start: int,
    end: int,
    chosen: int | None,
    heads: Sequence[int],
    shares: Sequence[float | None],
) -> Iterator[str]:
    passage, anchor = item.passage, item.anchor
    for at in range(start, end):
        word = escape(visible(passage.word(at), LONGEST_WORD))
        space = " " if at + 1 < end and _apart(passage, at) else ""
        if anchor.start <= at < anchor.end:
            yield f"<b class=anchor>{word}</b>{space}"
            continue
        strength = shares[at] if at < len(shares) else None
        names = [shade(strength), "chosen" if at == chosen else None]
        inner = f"<i class=gold>{word}</i>" if at in heads else word
        marks = " ".join(name for name in names if name)
        yield (f'<span class="{marks}">{inner}</span>' if marks else inner) + space


def _apart(passage: Passage, at: int) -> bool:
    return passage.tokens[at].end < passage.tokens[at + 1].start


# --- candidates -----------------------------------------------------------------------------


def candidates(item: Item, choice: Choice, most: int = CANDIDATES) -> list[tuple[str, float]]:
    """The best candidates with their scores, best first: a class, or the token's word."""
    scored = [
        (score, place)
        for place, score in enumerate(choice.scores)
        if score is not None and isfinite(score)
    ]
    scored.sort(key=lambda one: (-one[0], one[1]))
    return [(_candidate(item, place), score) for score, place in scored[:most]]


def _candidate(item: Item, place: int) -> str:
    if place < len(IMPLICIT_KINDS):
        return IMPLICIT_KINDS[place].value
    return visible(item.passage.word(place - len(IMPLICIT_KINDS)), LONGEST_WORD)


def words_of(passage: Passage, tokens: Iterable[int], most: int = 6) -> str:
    """The words at tokens, each spelling once, in their order."""
    words = list(dict.fromkeys(visible(passage.word(at), LONGEST_WORD) for at in tokens))
    return ", ".join(words[:most]) + (", …" if len(words) > most else "")
