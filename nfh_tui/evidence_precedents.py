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
from nfh_tui.evidence_readings import fitted, sentence_parts
from nfh_tui.rows import Part, Rows

if TYPE_CHECKING:
    from nfh_db.precedents import Precedent

MOST_LINES = 4
"""Lines for the count and the nearest decisions; P shows them all."""

LINES = 2
"""Lines that one of them may take."""


def add_precedents(
    rows: Rows, precedents: "Sequence[Precedent]", against: Answer | None
) -> None:
    """The count and the nearest decisions. against: the answer edited, else the gold.

    "Decided like your draft" is of the same kind: nouns of other passages do not compare.
    """
    if not precedents:
        return
    shown = Rows(rows.width)
    shown.text(_counted(precedents, against), indent=1, hang=3)
    told = 0
    for one in precedents:
        left = MOST_LINES - len(shown.made)
        decision = Rows(rows.width)
        decision.text(_decision(one, against, rows.width, min(LINES, left)), 1, 3)
        if len(decision.made) > left:
            break
        shown.made += decision.made
        told += 1
    rows.heading("Earlier", "P shows all" if told < len(precedents) else "")
    rows.made += shown.made


def _decision(one: "Precedent", against: Answer | None, width: int, lines: int) -> list[Part]:
    """One decision: its sentence read with its answer, and the kind of it."""
    alike = against is not None and one.answer.kind is against.kind
    sign: Part = ("=", "same") if alike else ("·", "note")
    said = " · ".join([KIND_WORDS[one.answer.kind], *([one.tag] if one.tag else [])])
    note: Part = (f" {said}", "note")
    made = fitted(one, one.answer, width, 3, lines, [note]) if lines > 0 else None
    return [sign, note] if made is None else [sign, (" ", ""), *sentence_parts(made), note]


def _counted(precedents: "Sequence[Precedent]", against: Answer | None) -> list[Part]:
    kinds = Counter(one.answer.kind for one in precedents)
    if against is None:
        said = ", ".join(f"{times} {KIND_WORDS[kind]}" for kind, times in kinds.most_common())
        return [(said, "note")]
    like = kinds[against.kind]
    return [
        (f"{like} decided like your draft", "kind"),
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
