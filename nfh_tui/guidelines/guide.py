"""The guidelines as the workbench needs them: the rules that hold, and what they replaced."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nfh_models.domain import rule_id
from nfh_tui.guidelines import GuidelinesError, Rule, rules_of
from nfh_tui.guidelines.parts import same_words

if TYPE_CHECKING:
    from nfh_db.guidelines import Guideline, Tagged

UNKNOWN = "no such rule now"
"""Said of a tag that names no rule of the version that holds."""


@dataclass(frozen=True)
class Guide:
    """The rules that hold, and of which earlier versions a rule read otherwise.

    version: None where there are no guidelines. outdated: rules by id, each with the numbers
    of the versions in which its text was another one, or in which it was not yet there.
    trouble: why the text has no rules to show, as a sentence.
    """

    version: int | None = None
    body: str = ""
    rules: tuple[Rule, ...] = ()
    outdated: frozenset[tuple[str, int]] = frozenset()
    trouble: str = ""

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The title of each rule, by its id."""
        return {rule.id: rule.title for rule in self.rules}

    def rule(self, tag: str) -> Rule | None:
        """The rule that a tag names, if it holds now."""
        wanted = rule_id(tag)
        return next((rule for rule in self.rules if rule.id == wanted), None)

    def words(self, tag: str) -> str:
        """A tag with the title of its rule: "R7 One noun is one head"."""
        return titled(tag, self.titles)

    def is_outdated(self, tag: str | None, version: int | None) -> bool:
        """True if a decision has a rule whose text is another one by now."""
        return tag is not None and (rule_id(tag), version) in self.outdated

    def old_versions(self, rule: str) -> tuple[int, ...]:
        """The versions in which a rule read otherwise."""
        return tuple(sorted(version for id_, version in self.outdated if id_ == rule))


def titled(tag: str, titles: Mapping[str, str]) -> str:
    """A tag with its rule's title; without titles, or for an unknown rule, told as such."""
    id_ = rule_id(tag)
    if not titles:
        return id_
    return f"{id_} {titles[id_]}" if id_ in titles else f"{id_} ({UNKNOWN})"


def guide_of(versions: "Sequence[Guideline]") -> Guide:
    """The guide of all versions there are, the last of which holds. Never raises."""
    if not versions:
        return Guide()
    last = versions[-1]
    try:
        rules = rules_of(last.body)
    except GuidelinesError as error:
        return Guide(last.version, last.body, trouble=f"The guidelines cannot be read: {error}")
    return Guide(last.version, last.body, rules, frozenset(_outdated(versions[:-1], rules)))


def _outdated(
    earlier: "Sequence[Guideline]", rules: Sequence[Rule]
) -> Iterable[tuple[str, int]]:
    now = {rule.id: rule for rule in rules}
    for version in earlier:
        try:
            then = {rule.id: rule for rule in rules_of(version.body)}
        except GuidelinesError:
            # Nobody can say what that text's rules were, so none is said to have changed.
            continue
        for id_ in now.keys() | then.keys():
            if not _same(then.get(id_), now.get(id_)):
                yield id_, version.version


def _same(one: Rule | None, other: Rule | None) -> bool:
    if one is None or other is None:
        return one is other
    return same_words(one.title, other.title) and same_words(one.body, other.body)


# --- decisions --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How often a rule was used.

    items: in which anybody tagged an answer with it. decisions: gold that an expert decided
    by it. older: those of them that were decided while the rule read otherwise.
    """

    items: int = 0
    decisions: int = 0
    older: int = 0


def counts_of(
    guide: Guide, items: Mapping[str, int], tagged: "Iterable[Tagged]"
) -> Mapping[str, RuleCount]:
    """How often each rule was used, by its id. items: with each tag, by the rule's id."""
    found = {rule: RuleCount(number) for rule, number in items.items()}
    for row in tagged:
        if row.rule is None:
            continue
        before = found.get(row.rule, RuleCount())
        older = row.decisions if guide.is_outdated(row.rule, row.version) else 0
        found[row.rule] = RuleCount(
            before.items, before.decisions + row.decisions, before.older + older
        )
    return found


def query_of(rule: str) -> str:
    """The query for the decisions with a rule's tag."""
    from nfh_db.query import quote

    return f"tagged:{quote(rule)}"


def outdated_query(guide: Guide, rule: str) -> str | None:
    """The query for the decisions made when a rule read otherwise; None if it never did."""
    versions = guide.old_versions(rule)
    if not versions:
        return None
    return f"{query_of(rule)} guideline:{','.join(map(str, versions))}"
