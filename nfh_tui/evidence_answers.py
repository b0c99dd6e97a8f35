"""All answers to an item in one table, so that they are compared at a glance.

Key, name, kind, nouns, turn, and how each stands to the answer edited. The columns take what
room there is: first the words grow short, then seconds go below, then names; nouns are
broken over lines at blanks, never cut; where not even a word has room, they go below.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_db.records import Item
from nfh_models.domain import Answer, Blocking, Kind, Relation, compare
from nfh_tui.editing.describe import BLOCKING_WORDS, KIND_WORDS, SHORT_BLOCKING, SHORT_KINDS
from nfh_tui.editing.describe import SORT_WORDS as SORTS
from nfh_tui.editing.state import live
from nfh_tui.editing.votes import lemmas, only_by_noun
from nfh_tui.evidence_model import BY_NOUN, MENTION
from nfh_tui.lanes import Lane, is_counted
from nfh_tui.rows import Part, Rows, folded, longest_word
from nfh_tui.visible import clip, visible, width_of

SAME = "="
OTHER = "≠"

OF_KIND = frozenset({Blocking.DAMAGE, Blocking.SCOPE, Blocking.ANSWERABILITY, Blocking.CLASS})
"""Differences that lie in the kind; of the others only ROUTE lies in kind and noun."""

NOUNS_LEAST = 6
NOUNS_MOST = 24
NAME_LEAST = 5


@dataclass(frozen=True, slots=True)
class _Form:
    """How much is said: long words of kinds and differences, seconds, most cells of a name.

    Without a name there are no turns either.
    """

    kinds: bool
    words: int
    seconds: bool
    name: int


FORMS = (
    _Form(True, 2, True, 16),
    _Form(True, 1, True, 12),
    _Form(False, 1, True, 12),
    _Form(False, 1, True, 8),
    _Form(False, 1, False, 8),
    _Form(False, 0, True, 8),
    _Form(False, 0, False, 8),
    _Form(False, 0, False, NAME_LEAST),
    _Form(False, 0, False, 0),
)
"""From the roomiest to the narrowest; the first that fits is taken."""


def add_answers(rows: Rows, item: Item, lanes: Sequence[Lane], against: Answer | None) -> bool:
    """The table. against: the answer that the others are held against, None for none.

    True if it tells the seconds, too.
    """
    words = lemmas(item)
    differs = [blocking_to(lane.answer, against, words) for lane in lanes]
    longest = max(longest_word(nouns_of(lane.answer, item)) for lane in lanes)
    for form in FORMS:
        cells = [
            _cells(lane, item, form, against, how)
            for lane, how in zip(lanes, differs, strict=True)
        ]
        widths = [
            max(width_of(visible(row[column][0])) for row in cells) for column in range(7)
        ]
        taken = 1 + sum(width + 1 for at, width in enumerate(widths) if width and at != NOUNS)
        room = rows.width - taken
        if room >= max(longest, min(widths[NOUNS], NOUNS_MOST)):
            break
        if form in FORMS[-2:] and room >= max(longest, NOUNS_LEAST):
            break
    below = room < longest
    if below:
        widths[NOUNS] = 0
    elif widths[NOUNS]:
        lines = [folded(row[NOUNS][0], max(1, min(widths[NOUNS], room))) for row in cells]
        widths[NOUNS] = max(1, *(width_of(line) for some in lines for line in some))
    for row in cells:
        at = widths[-1] - width_of(row[-1][0])
        _add_row(rows, [*row[:-1], (" " * at + row[-1][0], row[-1][1])], widths)
        if below:
            rows.text([row[NOUNS]], indent=3)
    if any(row[STANDING][0] == BY_NOUN for row in cells):
        rows.text([(f"{BY_NOUN} same noun, another {MENTION}", "asks")], indent=1, hang=3)
    return form.seconds


NOUNS, STANDING = 3, 5
"""The columns of the nouns, and of how an answer stands to the one edited."""


def _add_row(rows: Rows, row: Sequence[Part], widths: Sequence[int]) -> None:
    first, *more = folded(row[NOUNS][0], widths[NOUNS]) if widths[NOUNS] else [""]
    told = list(row)
    told[NOUNS] = (first, row[NOUNS][1])
    rows.cells(tuple(zip(told, widths, strict=True)))
    left = 1 + sum(width + 1 for width in widths[:NOUNS] if width)
    for line in more:
        rows.cells([((line, row[NOUNS][1]), widths[NOUNS])], indent=left)


def _cells(
    lane: Lane, item: Item, form: _Form, against: Answer | None, how: Blocking | None
) -> tuple[Part, ...]:
    """Key, name, kind, nouns, turns, standing and seconds, as wide as they come."""
    names = KIND_WORDS if form.kinds else SHORT_KINDS
    kind_differs = how in OF_KIND or how is Blocking.ROUTE
    noun_differs = how is not None and how not in OF_KIND
    seconds = lane.vote.seconds if lane.vote is not None and form.seconds else None
    return (
        (lane.key, lane.role),
        (clip(lane.name, form.name), lane.role if is_counted(lane) else "note"),
        (names[lane.answer.kind], "differs" if kind_differs else "said"),
        (nouns_of(lane.answer, item), "differs" if noun_differs else "said"),
        (turns_of(lane.answer, item) if form.name else "", "note"),
        _standing(lane.answer, against, how, form.words),
        ("" if seconds is None else f"{seconds:.0f}s", "note"),
    )


def _standing(given: Answer, against: Answer | None, how: Blocking | None, words: int) -> Part:
    if against is None or given.kind is Kind.NFH:
        return "", ""
    if how is None and only_by_noun(given, against):
        return f"{BY_NOUN} {MENTION}" if words else BY_NOUN, "asks"
    if how is None:
        return SAME, "same"
    said = (SHORT_BLOCKING if words == 1 else BLOCKING_WORDS)[how] if words else ""
    return f"{OTHER} {said}".rstrip(), "differs"


def blocking_to(given: Answer, against: Answer | None, words: Sequence[str]) -> Blocking | None:
    """How an answer differs from the one edited; None where it does not, or there is none."""
    if against is None or given.kind is Kind.NFH:
        return None
    return compare(against, given, words).blocking


def nouns_of(answer: Answer, item: Item) -> str:
    """The nouns of an answer as they stand, or the sort and noun of a class."""
    if answer.heads:
        joint = {Relation.AND: " and ", Relation.OR: " or "}.get(
            answer.relation or Relation.UNSTATED, ", "
        )
        return joint.join(_head(item, answer, number) for number in range(len(answer.heads)))
    said = [answer.noun or "", SORTS[answer.sort] if answer.sort and not answer.noun else ""]
    return " ".join(filter(None, said))


def _head(item: Item, answer: Answer, number: int) -> str:
    first, *more = live(answer.heads[number].mentions)
    words = " ".join(item.passage.words(first.start, first.end).split())
    return f"{words} +{len(more)}" if more else words


def turns_of(answer: Answer, item: Item) -> str:
    """Where the marked mentions stand: "t1", "t1,3"."""
    turns = {item.passage.turn_of(live(head.mentions)[0].head) + 1 for head in answer.heads}
    return f"t{','.join(map(str, sorted(turns)))}" if turns else ""
