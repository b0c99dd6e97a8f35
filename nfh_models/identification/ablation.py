"""Ablation: the effect of each part of a recipe, measured by leaving it out.

For `svm`, the rows of the paper's table (section 4.2, table 3) are those without head-pos,
without window-pos, and without both; the others are ours. For `rules`, each group and each rule
but the last is left out, and the next rule that holds decides.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from nfh_models.identification import scores
from nfh_models.identification.base import Decision, SentenceNumber
from nfh_models.identification.rules import RULES, IdentificationRule, SentenceView
from nfh_models.identification.scores import PublishedIdentification
from nfh_models.identification.svm import Feature, SvmSettings


@dataclass(frozen=True, slots=True)
class Removal:
    """A row of the table of `svm`."""

    name: str
    without: frozenset[Feature]
    """The features left out."""
    published: PublishedIdentification | None = None
    """The paper's figures."""

    def settings(self, settings: SvmSettings) -> SvmSettings:
        """The settings without these features."""
        kept = tuple(one for one in settings.features if one not in self.without)
        return msgspec.structs.replace(settings, features=kept)


REMOVALS = (
    Removal("all four features", frozenset(), scores.SVM_DEV),
    Removal("without head-pos", frozenset({Feature.HEAD_POS}), scores.WITHOUT_HEAD_POS),
    Removal("without window-pos", frozenset({Feature.WINDOW_POS}), scores.WITHOUT_WINDOW_POS),
    Removal(
        "without both", frozenset({Feature.HEAD_POS, Feature.WINDOW_POS}), scores.WITHOUT_BOTH
    ),
    Removal("without window", frozenset({Feature.WINDOW})),
    Removal("without anchor", frozenset({Feature.ANCHOR})),
    Removal("anchor alone", frozenset(Feature) - {Feature.ANCHOR}),
)
"""The rows of the table of `svm`, the complete recipe first."""


@dataclass(frozen=True, slots=True)
class RuleRemoval:
    """A row of the table of `rules`. rules: names of the rules left out; none for the complete
    recipe.
    """

    name: str
    rules: frozenset[str]


WHOLE = RuleRemoval("all rules", frozenset())


def rule_removals(rules: Sequence[IdentificationRule] = RULES) -> list[RuleRemoval]:
    """The complete recipe, then without each group, then without each rule.

    The last rule is never left out, since it always holds.
    """
    groups: dict[str, set[str]] = {}
    for rule in rules[:-1]:
        groups.setdefault(rule.group.value, set()).add(rule.name)
    return [
        WHOLE,
        *(RuleRemoval(f"without group {name}", frozenset(of)) for name, of in groups.items()),
        *(RuleRemoval(f"without {rule.name}", frozenset({rule.name})) for rule in rules[:-1]),
    ]


def holding(
    cases: Iterable[SentenceNumber], rules: Sequence[IdentificationRule] = RULES
) -> list[list[IdentificationRule]]:
    """The rules that hold for each parsed case, in order. Raises ValueError for a case without
    a parse.
    """
    views = map(SentenceView.of, cases)
    return [[rule for rule in rules if rule.test(view)] for view in views]


def without(
    held: Sequence[Sequence[IdentificationRule]], removal: RuleRemoval
) -> list[Decision]:
    """The decisions with some rules left out. held: the rules that hold, case by case."""
    deciding = (next(one for one in some if one.name not in removal.rules) for some in held)
    return [Decision(rule.nfh, rule.name) for rule in deciding]
