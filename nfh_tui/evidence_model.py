"""The model's part of the evidence: its choice, and the scores of the best candidates."""

from collections.abc import Sequence
from math import inf, isfinite

from nfh_db.records import Item, Prediction
from nfh_models.domain import IMPLICIT_KINDS, Answer, Kind, compare
from nfh_tui.editing import describe, model_answer, token_scores
from nfh_tui.editing.describe import BLOCKING_WORDS, KIND_WORDS
from nfh_tui.editing.votes import choice_answer, only_by_noun
from nfh_tui.rows import Part, Rows, best

HIDDEN = "hidden until you have answered"
MOST_BARS = 6
"""Words shown with their scores."""

LEAST_SHARE = 0.01
"""Of the best score; what has less is not listed."""

LEAST_DOUBT = 0.5
"""Gold that is doubted less is held to be right."""

NO_BREAK = "\u00a0"

BY_NOUN, MENTION = "≈", "mention"
"""The same noun, which is no difference, but no mention in common; in what that lies."""

NAME_WIDTH = 12
"""Most cells for the name of a bar."""


def add_model(rows: Rows, item: Item, against: Answer | None, *, listed: bool) -> None:
    """What the active model says of the item; a line even when it has said nothing.

    listed: its choice stands among the answers already, and only its doubt is told.
    """
    prediction = item.prediction
    if prediction is None:
        rows.heading("Model", HIDDEN if item.model_hidden else "no answer yet")
        return
    rows.heading("Model", prediction.model)
    given = model_answer(item)
    if given is None or not listed:
        _add_choice(rows, item, given, against)
    doubt = _doubt(prediction, item)
    if doubt:
        rows.text([(doubt, "note")], indent=1 if listed else 3, hang=3)
    _add_bars(rows, item, prediction)


def add_doubt(rows: Rows, item: Item) -> None:
    """One line where a model that had not seen the gold said what it thinks of it."""
    said = item.doubted
    if said is None or item.gold is None or 1 - said.likely <= LEAST_DOUBT:
        return
    who = " ".join(filter(None, (said.recipe, f"of job {said.job}")))
    words = (
        f"gold doubted {1 - said.likely:.2f}: {who}, which had not seen it, says "
        f"{_choice_words(said.choice, item)}"
    )
    rows.text([("? ", "asks"), (words, "note")], indent=1, hang=3)


def _add_choice(rows: Rows, item: Item, given: Answer | None, against: Answer | None) -> None:
    parts: list[Part] = [("m ", "key")]
    if given is None:
        choice = "" if item.prediction is None else item.prediction.choice
        parts.append((f"a choice that does not fit: {choice}", "note"))
    else:
        parts.append((describe(given, item.passage, places=True), "said"))
        parts.append(standing(given, against, item))
    rows.text(parts, indent=1, hang=3)


def standing(given: Answer, against: Answer | None, item: Item) -> Part:
    """How an answer stands to the one being edited: a sign, and what differs."""
    if against is None or given.kind is Kind.NFH:
        return "", ""
    lemmas = tuple(token.lemma for token in item.passage.tokens)
    blocking = compare(against, given, lemmas).blocking
    if blocking is None and only_by_noun(given, against):
        return f"  {BY_NOUN}{NO_BREAK}{MENTION}", "asks"
    if blocking is None:
        return "  =", "same"
    words = f"≠ {BLOCKING_WORDS[blocking]}"
    return f"  {words.replace(' ', NO_BREAK)}", "differs"


def _doubt(prediction: Prediction, item: Item) -> str:
    """The first choice and the second, each with its score; by how much it won, if those are
    not known."""
    if prediction.second is None:
        return "" if prediction.margin is None else f"margin {figure(prediction.margin)}"
    scores = [_score(prediction, one) for one in (prediction.choice, prediction.second)]
    shown = [_shown(score, scores) for score in scores]
    first = f"{_choice_words(prediction.choice, item)}{shown[0]}"
    said = f"{first}, then {_choice_words(prediction.second, item)}{shown[1]}"
    if None in scores and prediction.margin is not None:
        said += f", margin {figure(prediction.margin)}"
    return said


def _score(prediction: Prediction, choice: str) -> float | None:
    """What a choice scored; None where that is not known."""
    kinds = [kind.value for kind in IMPLICIT_KINDS]
    if choice in kinds:
        place = kinds.index(choice)
    elif choice.isdecimal():
        place = len(kinds) + int(choice)
    else:
        return None
    return prediction.scores[place] if place < len(prediction.scores) else None


def _shown(score: float | None, beside: Sequence[float | None]) -> str:
    """A score in hundredths, where all of them are shares."""
    if score is None or not isfinite(score):
        return ""
    shares = all(one is None or 0 <= one <= 1 for one in beside)
    return (
        f"{NO_BREAK}{score:.0%}".replace("%", f"{NO_BREAK}%") if shares else f" {figure(score)}"
    )


def _choice_words(choice: str, item: Item) -> str:
    given = choice_answer(choice, item)
    if given is None:
        return choice
    if given.kind is not Kind.REFERENCE:
        return KIND_WORDS[given.kind]
    return _word(item, given.heads[0].mentions[0].head)


def _word(item: Item, token: int) -> str:
    return " ".join(item.passage.word(token).split())


def figure(score: float) -> str:
    """A score in at most a few digits."""
    return f"{score:.2f}" if abs(score) < 100 else f"{score:.3g}"


def _add_bars(rows: Rows, item: Item, prediction: Prediction) -> None:
    """The best words, then the classes if they are scored, on one scale.

    What would hardly have a bar is not listed: to know that it is little is enough.
    """
    words = best(enumerate(token_scores(item)), MOST_BARS)
    scored = zip(IMPLICIT_KINDS, prediction.scores, strict=False)
    classes = best(scored, len(IMPLICIT_KINDS))
    most = max((score for _, score in (*words, *classes)), default=0.0)
    name_width = min(NAME_WIDTH, rows.width // 3)
    few = [one for one in (*words, *classes) if _share(one[1], most) < LEAST_SHARE]
    for token, score in words:
        if (token, score) not in few:
            told = f"{figure(score):<5}t{item.passage.turn_of(token) + 1}"
            rows.bar((_word(item, token), ""), _share(score, most), told, name_width)
    for kind, score in classes:
        if (kind, score) not in few:
            name = (KIND_WORDS[kind], "kind")
            rows.bar(name, _share(score, most), figure(score), name_width)
    if few and most > 0:
        rows.text([(f"all others under {most * LEAST_SHARE:.1g}", "note")], indent=1)


def _share(score: float, most: float) -> float:
    return score / most if 0 < most < inf else 0.0
