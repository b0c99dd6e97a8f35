"""How good a freshly trained model of resolution is, on what was kept out of its training."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution.item import ResolutionExample
from nfh_tui.training_trainers import Lessons, Trained

WORST = 15
"""Anchor words that figures and card list."""

FIGURES = (
    "accuracy",
    "accuracy_inclusive",
    "accuracy_nearest",
    "reference",
    "implicit",
    "binary",
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """figures: fractions by name (FIGURES). n: examples. kinds: how many are of each kind,
    and right. mistakes: how often each was made. worst: anchor words with most errors."""

    n: int
    figures: dict[str, float]
    kinds: tuple[tuple[str, int, int], ...]
    mistakes: tuple[tuple[str, int], ...]
    worst: tuple[tuple[str, int, int], ...]


def judged(
    trained: Trained, dev: Sequence[ResolutionExample], parser: Parser | None
) -> Judgement | None:
    """The figures on some examples; None without any. Raises ParserError."""
    if not dev:
        return None
    from nfh_models.resolution.parsing_items import resolved
    from nfh_models.resolution.scoring import by_mistake, figures, judge, mistakes

    items = (one.item for one in dev)
    choices = [choice for _, choice in resolved(items, trained.resolver, parser)]
    found = judge(dev, choices)
    whole = figures(found)
    named = {name: getattr(whole, name) for name in FIGURES}
    of_kind = Counter(one.example.gold.kind.value for one in found)
    right = Counter(one.example.gold.kind.value for one in found if one.right)
    of_word = Counter(_word(one.example) for one in found)
    wrong = Counter(_word(one.example) for one in found if not one.right)
    worst = sorted(wrong, key=lambda word: (-wrong[word], word))[:WORST]
    return Judgement(
        len(found),
        {name: value for name, value in named.items() if value is not None},
        tuple((kind, n, right[kind]) for kind, n in of_kind.most_common()),
        tuple((str(one.mistake), one.n) for one in by_mistake(mistakes(found)) if one.n),
        tuple((word, of_word[word], wrong[word]) for word in worst),
    )


def _word(example: ResolutionExample) -> str:
    item = example.item
    places = range(item.anchor.start, item.anchor.end)
    return " ".join(item.passage.word(place) for place in places).lower()


def metrics_of(
    lessons: Lessons, trained: Trained, judgement: Judgement | None
) -> dict[str, object]:
    """The figures as JSON has them: fractions."""
    kinds = Counter(one.gold.kind for one in lessons.train)
    metrics: dict[str, object] = {
        "examples": len(lessons.train),
        "kinds": {
            kind.value: kinds[kind] for kind in (Kind.REFERENCE, *IMPLICIT_KINDS) if kinds[kind]
        },
        **trained.figures,
        **trained.metrics,
    }
    if lessons.numbers:
        metrics |= {
            "numbers": len(lessons.numbers),
            "numbers_nfh": sum(one.nfh for one in lessons.numbers),
            "dev_numbers": len(lessons.dev_numbers),
        }
    if judgement is not None:
        metrics |= {
            "dev_examples": judgement.n,
            **judgement.figures,
            "by_kind": [{"kind": k, "n": n, "right": hit} for k, n, hit in judgement.kinds],
            "mistakes": [{"mistake": what, "n": n} for what, n in judgement.mistakes],
            "worst": [{"anchor": w, "n": n, "wrong": bad} for w, n, bad in judgement.worst],
        }
    return metrics
