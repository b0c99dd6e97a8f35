"""Earlier decisions that bear on an item: how many are like the answer, and the nearest ones.

Who decided them is not told: what was decided is what counts here.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nfh_db.records import Item
from nfh_models.domain import Answer
from nfh_tui.editing import EditState
from nfh_tui.editing.describe import KIND_WORDS
from nfh_tui.editing.state import live
from nfh_tui.evidence_readings import sentence_parts
from nfh_tui.reading_again import reading
from nfh_tui.rows import Part, Rows

if TYPE_CHECKING:
    from nfh_db.precedents import Precedent

SHOWN = 3
"""Decisions whose sentence is shown; P shows them all."""

LINES = 2


def add_precedents(
    rows: Rows, precedents: "Sequence[Precedent]", against: Answer | None
) -> None:
    """The count and the nearest decisions. against: the answer edited, else the gold.

    "Decided like this" is of the same kind: nouns of other passages do not compare.
    """
    if not precedents:
        return
    more = len(precedents) > SHOWN
    rows.heading("Earlier", "P shows all" if more else "")
    rows.text(_counted(precedents, against), indent=1, hang=3)
    for one in precedents[:SHOWN]:
        alike = against is not None and one.answer.kind is against.kind
        sign: Part = ("=", "same") if alike else ("·", "note")
        said = " · ".join([KIND_WORDS[one.answer.kind], *([one.tag] if one.tag else [])])
        made = reading(one, one.answer, (rows.width - 3) * LINES)
        if made is None:
            rows.text([sign, (f" {said}", "note")], indent=1, hang=3)
            continue
        rows.text([sign, (" ", ""), *sentence_parts(made), (f" {said}", "note")], 1, 3)


def _counted(precedents: "Sequence[Precedent]", against: Answer | None) -> list[Part]:
    kinds = Counter(one.answer.kind for one in precedents)
    if against is None:
        said = ", ".join(f"{times} {KIND_WORDS[kind]}" for kind, times in kinds.most_common())
        return [(said, "note")]
    like = kinds[against.kind]
    return [
        (f"{like} decided like this", "kind"),
        (f", {len(precedents) - like} otherwise", "note"),
    ]


def bearing(item: Item, state: EditState) -> tuple[frozenset[str], str | None]:
    """What precedents are looked for by: nouns of the answer edited, else of gold; its rule."""
    tokens = item.passage.tokens
    marked = [mention for mentions in state.heads for mention in live(mentions)]
    noun = state.noun
    if not marked and not noun and item.gold is not None:
        marked = [m for head in item.gold.answer.heads for m in head.live]
        noun = item.gold.answer.noun
    nouns = {tokens[mention.head].lemma for mention in marked}
    return frozenset(nouns | ({noun} if noun else set())), state.tag
