"""The values of the template for the page of an evaluation of resolution: one file with tables,
pictures as inline SVG, and wrong answers in their passages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import exp, isfinite
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nfh_db.messages import visible
from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.resolution.base import Choice, Item
from nfh_models.resolution.evaluation import Reliability, ResolutionEvaluation
from nfh_models.resolution.scoring import (
    COLUMNS,
    ELMO_N,
    LABELS,
    Mistake,
    WrongExample,
    elmo_confusion,
)
from nfh_tui.cli.evaluate_call import EvaluateOptions
from nfh_tui.cli.evaluate_resolution import (
    LONGEST_WORD,
    Both,
    answered,
    around,
    breakdowns,
    confidence,
    gold_label,
    head,
    mistakes,
    tables,
    worst,
)
from nfh_tui.services import templates

if TYPE_CHECKING:
    from nfh_tui.cli.evaluate_resolution import ResolutionResult

TITLE = "Resolution of numeric fused heads"

ELMO_SIZES = {
    "YEAR": 46,
    "AGE": 108,
    "CURRENCY": 40,
    "PEOPLE": 93,
    "TIME": 32,
    "OTHER": 217,
    "REFERENCE": 464,
}
"""Examples of each label in the paper's dev set, of which its matrix is."""

MOST = 3_000_000
"""Characters that the errors of all models with their passages may take: a page stays small
enough for a browser. The rest are listed without their passages, then counted."""
MOST_LISTED = 600_000
"""Characters that the list of those without may take."""

BEFORE = 45
BEHIND = 30
"""Tokens on either side of the anchor that are shown."""
AROUND_HEAD = 6
"""Tokens on either side of a head or a chosen token that stands further off."""
MOST_HEADS = 3
"""Gold mentions outside the window that are shown, the nearest first."""

SHADES = ((0.6, "strong"), (0.3, "medium"), (0.1, "weak"))
"""Least share of the best candidate's score for each of the three reds."""
CANDIDATES = 4
"""Candidates that are listed with their scores."""


SIZE = 300
"""Width and height of a reliability diagram's square, in its own units."""
MARGIN = 44

Points = list[tuple[float, float, int]]
"""Bins of answers by confidence: mean confidence, share right, number."""

FILTERS: dict[str, Any] = {
    "visible": lambda value, most=templates.LONGEST: Markup(escape(visible(value, most))),  # noqa: S704
    "pairwise": pairwise,
    "x": lambda share: round(MARGIN + SIZE * share, 1),
    "y": lambda share: round(MARGIN / 2 + SIZE * (1 - share), 1),
}


def as_page(found: "ResolutionResult", call: EvaluateOptions) -> list[str]:
    """The page, as pieces to be written one after the other."""
    first, notes = head(found, call)
    pairs = found.pairs if found.trial.examples else []
    wrong = [(system, one.mistakes) for system, one in pairs]
    page = templates.render(
        "evaluation.html.j2",
        FILTERS,
        title=TITLE,
        first=first,
        notes=[*notes, *(f"warning: {one}" for one in found.trial.warnings)],
        trial=found.trial,
        pairs=pairs,
        tables=tables(found, call, oracle=True),
        calibrations=_calibrations(pairs),
        matrices=[
            *((system.name, _matrix(system.name, one)) for system, one in pairs),
            (f"The paper's model with ELMo, its {ELMO_N:,} dev examples", _elmo()),
        ],
        breakdowns=breakdowns(pairs),
        mistakes=mistakes(pairs) if any(some for _, some in wrong) else None,
        errors=[
            {
                "name": system.name,
                "n": len(some),
                "sure": system.resolver.probabilities,
                "kinds": _kinds(some, MOST // len(wrong), sure=system.resolver.probabilities),
            }
            for system, some in wrong
            if any(some for _, some in wrong)
        ],
        SHADES=SHADES,
        BEFORE=BEFORE,
        BEHIND=BEHIND,
    )
    return [page]


# --- pictures -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CountTable:
    """A table of counts: a row a gold label, a column an answer.

    rows: None for a cell that is not known. right: the column that is right for each row.
    sizes: examples of each row, where they are more than the cells that are known.
    """

    title: str
    labels: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[int | None]]
    right: Sequence[int]
    sizes: Sequence[int]


def _matrix(name: str, one: ResolutionEvaluation) -> CountTable:
    found = one.confusion
    columns, rows = list(COLUMNS), [list(row) for row in found.rows]
    if any(found.unanswered):
        columns.append("none")
        rows = [[*row, none] for row, none in zip(rows, found.unanswered, strict=True)]
    return CountTable(
        f"Gold against answer of {name}",
        LABELS,
        columns,
        rows,
        right=range(len(LABELS)),
        sizes=[sum(row) for row in rows],
    )


def _elmo() -> CountTable:
    return CountTable(
        "Gold against answer of the paper's model with ELMo",
        LABELS,
        COLUMNS,
        elmo_confusion(),
        right=range(len(LABELS)),
        sizes=[ELMO_SIZES[label] for label in LABELS],
    )


def _calibrations(pairs: Both) -> list[tuple[str, list[tuple[str, Points]]]]:
    """Of each model with probabilities, how often its answers are right."""
    found = []
    for system, one in pairs:
        if one.calibration is not None:
            lines = [("as the model says", _points(one.calibration.before))]
            if one.calibration.after is not None:
                lines.append(("by temperature", _points(one.calibration.after)))
            found.append((system.name, lines))
    return found


def _points(one: Reliability) -> Points:
    return [
        (part.confidence, part.accuracy, part.n)
        for part in one.bins
        if part.confidence is not None and part.accuracy is not None
    ]


# --- wrong answers, by kind, each in its passage with the scores of its words ---------------


def _kinds(
    mistaken: Sequence[WrongExample], budget: int, *, sure: bool
) -> Iterator[dict[str, object]]:
    """The errors of each kind, the most frequent first, in a box that opens."""
    parts: Any = templates.macros("evaluation_parts.html.j2", FILTERS)
    ranked = worst(mistaken, probabilities=sure)
    kinds = [kind for kind in Mistake if any(one.mistake is kind for one in ranked)]
    kinds.sort(key=lambda kind: -sum(one.mistake is kind for one in ranked))
    for place, kind in enumerate(kinds):
        some = [one for one in ranked if one.mistake is kind]
        # Characters that a kind does not use are left to the next kinds.
        room = budget // (len(kinds) - place)
        cards = _fitting((parts.card(_shown(one, sure=sure)) for one in some), room)
        budget -= sum(map(len, cards))
        rest = some[len(cards) :]
        lines = (parts.line(_listed(one, sure=sure)) for one in rest)
        listed = _fitting(lines, MOST_LISTED // len(Mistake))
        yield {
            "name": kind.value,
            "n": len(some),
            "cards": cards,
            "more": bool(rest),
            "listed": listed,
            "left": len(rest) - len(listed),
        }


def _fitting(pieces: Iterator[str], room: int) -> list[str]:
    """The first pieces whose lengths add up to at most `room` characters."""
    kept = []
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return kept


def _listed(one: WrongExample, *, sure: bool) -> dict[str, object]:
    judged = one.judged
    score = confidence(judged)
    return {
        "where": judged.example.where,
        "gold": gold_label(judged),
        "said": answered(judged),
        # The score says how sure a model is where it is a probability.
        "score": f" {score:.2f}" if sure and score is not None else "",
        "around": around(judged),
    }


def _shown(one: WrongExample, *, sure: bool) -> dict[str, object]:
    judged = one.judged
    item, choice = judged.example.item, judged.choice
    heads = judged.example.gold.head_tokens()
    return _listed(one, sure=sure) | {
        "lines": passage_lines(item, choice, judged.token, heads),
        "scores": [] if choice is None else candidates(item, choice),
    }


# An answer in its passage, as the paper shows errors (table 7): tokens shaded by score.
#
# The anchor is bold and blue, gold heads are underlined italics, and a token is shaded in one
# of the paper's three reds by its score beside that of the best candidate. A frame marks the
# token that was chosen, so that nothing is told by colour alone.


def token_shares(choice: Choice) -> list[float | None]:
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


def passage_lines(
    item: Item, choice: Choice | None, chosen: int | None, heads: Sequence[int]
) -> list[dict[str, object]]:
    """The passage around the anchor, a line a turn. heads: the gold head tokens."""
    passage, anchor = item.passage, item.anchor
    shares = token_shares(choice) if choice is not None else []
    lines: list[dict[str, object]] = []
    last = 0

    def word(at: int, end: int) -> dict[str, object]:
        names = (shade(shares[at]) if at < len(shares) else None, at == chosen and "chosen")
        apart = at + 1 < end and passage.tokens[at].end < passage.tokens[at + 1].start
        return {
            "text": passage.word(at),
            "space": " " if apart else "",
            "anchor": anchor.start <= at < anchor.end,
            "gold": at in heads,
            "marks": " ".join(name for name in names if name),
        }

    for start, end in shown_spans(item, chosen, heads):
        if start > last:
            lines.append({"cut": start - last})
        rank = passage.turn_of(start)
        while rank < len(passage.turns) and passage.turns[rank].start < end:
            turn = passage.turns[rank]
            from_, to = max(start, turn.start), min(end, turn.end)
            lines.append(
                {
                    "cut": 0,
                    "speaker": turn.speaker or "",
                    "goes_on": from_ > turn.start,
                    "is_cut": to < turn.end,
                    "words": [word(at, to) for at in range(from_, to)],
                }
            )
            rank += 1
        last = end
    if last < len(passage.tokens):
        lines.append({"cut": len(passage.tokens) - last})
    return lines


def shown_spans(item: Item, chosen: int | None, heads: Sequence[int]) -> list[tuple[int, int]]:
    """The tokens that are shown: spans [start, end), ascending, apart from each other."""
    anchor, size = item.anchor, len(item.passage.tokens)
    first, last = max(0, anchor.start - BEFORE), min(size, anchor.end + BEHIND)
    far = [head for head in heads if not first <= head < last]
    far.sort(key=lambda head: max(anchor.start - head, head - anchor.end))
    wanted = [*far[:MOST_HEADS], *([] if chosen is None else [chosen])]
    spans = [(max(0, at - AROUND_HEAD), min(size, at + AROUND_HEAD + 1)) for at in wanted]
    merged: list[tuple[int, int]] = []
    for start, end in sorted([(first, last), *spans]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


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
