"""The heads of a Doc's fused heads: by a sure pattern, by cues, or by a model, in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from spacy.tokens import Doc

from nfh_models.component.attributes import Anchor, Stored
from nfh_models.component.models import NONE
from nfh_models.component.passages import DocItem, items_of_doc
from nfh_models.component.reading import DocCase, scene_of_doc
from nfh_models.domain import IMPLICIT_KINDS, Kind, Relation
from nfh_models.resolution import cues, pattern_first
from nfh_models.resolution.deterministic import Pattern
from nfh_models.resolution.item import Choice, Resolver
from nfh_models.resolution.several import decode


@dataclass(frozen=True, slots=True)
class Open:
    """A fused head without its heads. rule: what identified it."""

    case: DocCase
    rule: str


def resolved(
    docs: Sequence[Doc],
    open_: Sequence[Sequence[Open]],
    setting: str,
    resolver: Resolver | None,
) -> list[list[Anchor]]:
    """The anchors of each Doc with their heads, in order; the model is asked once for all.

    open_: of each Doc, its fused heads. setting: NONE or CUES, else `resolver` is asked.
    """
    if setting == NONE and resolver is None:
        return [[_anchor(one) for one in of_doc] for of_doc in open_]
    recipe = setting if resolver is None else resolver.recipe
    found = [[_by_pattern(one, recipe) for one in of_doc] for of_doc in open_]
    waiting = [
        [one for one, answer in zip(of_doc, answers, strict=True) if answer is None]
        for of_doc, answers in zip(open_, found, strict=True)
    ]
    others: Iterator[Anchor]
    if resolver is None:
        others = chain.from_iterable(map(_by_cues, docs, waiting))
    else:
        others = _by_model(docs, waiting, resolver)
    return [
        [next(others) if answer is None else answer for answer in answers] for answers in found
    ]


def _anchor(
    one: Open,
    heads: tuple[Stored, ...] = (),
    cue: str | None = None,
    relation: Relation | None = None,
) -> Anchor:
    return Anchor(
        one.case.start,
        one.case.end,
        one.rule,
        heads,
        cue,
        relation=None if relation in (None, Relation.UNSTATED) else relation.value,
    )


# --- patterns -------------------------------------------------------------------------------


def _by_pattern(one: Open, recipe: str) -> Anchor | None:
    case = one.case.case
    pattern = pattern_first.find(case.stretch.words, case.parsed, case.start, case.end)
    if pattern is None or not pattern_first.goes_first(pattern, recipe):
        return None
    heads: tuple[Stored, ...]
    if pattern.kind is Kind.REFERENCE:
        heads = tuple(one.case.tokens[head] for head in pattern.heads)
    else:
        heads = () if pattern.kind is None else (pattern.kind.value,)
    return Anchor(
        one.case.start,
        one.case.end,
        one.rule,
        heads,
        pattern.name,
        deterministic=True,
        relation=_relation(one.case, pattern),
    )


def _relation(case: DocCase, pattern: Pattern) -> str | None:
    """Between the nouns of "three of the knives and forks"."""
    if len(pattern.heads) < 2:
        return None
    words = case.case.stretch.words[pattern.heads[0] : pattern.heads[-1]]
    joint = Relation.OR if any(word.lower() == "or" for word in words) else Relation.AND
    return joint.value


# --- cues -----------------------------------------------------------------------------------


def _by_cues(doc: Doc, open_: Sequence[Open]) -> Iterator[Anchor]:
    if not open_:
        return
    scene, places, tokens = scene_of_doc(doc)
    for one in open_:
        start, end = one.case.start, one.case.end
        found = cues.resolve(scene, places[start], places[end - 1] + 1)
        head = found.kind.value if found.token is None else tokens[found.token]
        yield _anchor(one, (head,), found.cue)


# --- models ---------------------------------------------------------------------------------


def _by_model(
    docs: Sequence[Doc], open_: Sequence[Sequence[Open]], resolver: Resolver
) -> Iterator[Anchor]:
    items: list[DocItem] = []
    for doc, of_doc in zip(docs, open_, strict=True):
        spans = [(one.case.start, one.case.end) for one in of_doc]
        items += items_of_doc(doc, spans, tagged=bool(resolver.needs))
    choices = resolver.resolve([one.item for one in items])
    for one, item, choice in zip(chain.from_iterable(open_), items, choices, strict=True):
        yield _anchor(one) if choice is None else _of_choice(one, item, choice, resolver.recipe)


def _of_choice(one: Open, item: DocItem, choice: Choice, recipe: str) -> Anchor:
    answer = decode(item.item, choice)
    heads: tuple[Stored, ...] = (answer.kind.value,)
    if answer.kind is Kind.REFERENCE:
        heads = tuple(item.tokens[head.mentions[0].head] for head in answer.heads)
    anchor = _anchor(one, heads, recipe, answer.relation)
    names: list[Stored] = [kind.value for kind in IMPLICIT_KINDS]
    scored = zip([*names, *item.tokens], choice.scores, strict=True)
    scores = {name: score for name, score in scored if score is not None}
    return Anchor(
        anchor.start, anchor.end, anchor.rule, heads, recipe, False, anchor.relation, scores
    )
