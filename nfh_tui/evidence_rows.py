"""What is known of one item, as rows of plain text: the answer edited, and all the others.

Pure: no screen. An annotator is shown nothing of what others answered.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nfh_db.records import HistoryLine, Item, Role
from nfh_models.domain import Answer, Relation, compare_all
from nfh_tui.desk.history import act_words, thing
from nfh_tui.editing import EditState, Source, answer, describe, pattern_words, prompt
from nfh_tui.editing.describe import BLOCKING_WORDS, KIND_WORDS, NOTE_WORDS, SORT_WORDS
from nfh_tui.editing.state import live, quoted
from nfh_tui.editing.votes import adoptable, shown_reason
from nfh_tui.evidence_answers import add_answers
from nfh_tui.evidence_around import add_beside, add_numbers, add_places, add_proposals
from nfh_tui.evidence_identification import add_identification
from nfh_tui.evidence_model import add_doubt, add_model, standing
from nfh_tui.evidence_precedents import add_precedents
from nfh_tui.evidence_readings import add_readings
from nfh_tui.evidence_remarks import add_remarks, when
from nfh_tui.evidence_tally import add_tally
from nfh_tui.guidelines.guide import Guide
from nfh_tui.lanes import GOLD, Lane, lanes
from nfh_tui.passage_marks import DIGITS
from nfh_tui.proposed_spans import proposals
from nfh_tui.rows import Part, Row, Rows

if TYPE_CHECKING:
    from nfh_db.precedents import Precedent

HIDDEN = "Others' answers and the gold stay hidden while you annotate."
WITHHELD = "hidden until you decide"
MOST_KEYS = 9
"""Answers that a digit adopts."""

LAST = 8
"""Lines of history shown, the newest first."""

SOURCE_WORDS = {
    Source.DRAFT: "draft",
    Source.MINE: "mine",
    Source.GOLD: "gold",
    Source.PROPOSAL: "proposal",
    Source.ADOPTED: "adopted",
    Source.EMPTY: "",
}


def evidence(
    item: Item,
    state: EditState | None,
    width: int,
    *,
    blind: bool = False,
    history: Sequence[HistoryLine] = (),
    rules: Guide | None = None,
    precedents: "Sequence[Precedent]" = (),
    brief: bool = False,
) -> tuple[Row, ...]:
    """All rows for an item. state: the answer edited, None while nothing is.

    blind: annotators are letters, and nobody else is named. rules: the guidelines that hold,
    None where they are not known (yet). precedents: earlier decisions, the best first.
    brief: the answer edited stands elsewhere, and room is short: no row is empty.
    """
    rows = Rows(width)
    guide = rules or Guide()
    mine = answer(state, item) if state is not None else ""
    if state is not None and not brief:
        _add_edited(rows, item, state, mine, guide, blind=blind)
    edited = mine if isinstance(mine, Answer) else _provisional(state, item)
    if state is None or _judges(state):
        _add_judged(rows, item, state, edited, guide, precedents, blind=blind)
        if not blind:
            _add_history(rows, history)
    else:
        _add_own(rows, item, state, edited)
    return tuple(row for row in rows.made if row) if brief else tuple(rows.made)


def _provisional(state: EditState | None, item: Item) -> Answer | None:
    """The answer without the relation that it still lacks, to compare by its heads."""
    if state is None or len(state.heads) < 2:
        return None
    made = answer(replace(state, span=None, relation=Relation.AND), item)
    unstated = state.relation not in {Relation.AND, Relation.OR}
    if isinstance(made, str) or not unstated:
        return None if isinstance(made, str) else made
    return replace(made, relation=Relation.UNSTATED)


def _judges(state: EditState) -> bool:
    return state.role is Role.ADJUDICATOR


def _add_judged(
    rows: Rows,
    item: Item,
    state: EditState | None,
    edited: Answer | None,
    rules: Guide,
    precedents: "Sequence[Precedent]",
    *,
    blind: bool,
) -> None:
    """What one who decides needs: all answers first, and all that explains them."""
    found = lanes(item, blind=blind)
    gold = item.gold.answer if item.gold is not None else None
    against = gold if state is None else edited
    seconds = _add_table(rows, item, found, against)
    add_readings(rows, item, found, edited)
    add_proposals(rows, item, named=True, key="" if state is None else "T")
    add_beside(rows, item)
    told = _told_above(item, state, rules, blind=blind)
    add_remarks(rows, item, found, rules, seconds=seconds, blind=blind, told=told)
    add_precedents(rows, precedents, against)
    add_places(rows, item, found, state)
    add_numbers(rows, item)
    add_identification(rows, item, edited, gold)
    add_model(rows, item, edited, listed=True)
    add_doubt(rows, item)
    _add_flags(rows, item, named=not blind)
    _add_stale(rows, item, against, blind=blind)


def _add_own(rows: Rows, item: Item, state: EditState, edited: Answer | None) -> None:
    """What one who answers may see: nothing of others."""
    add_readings(rows, item, (), edited)
    add_proposals(rows, item, named=False)
    add_beside(rows, item, next(iter(proposals(item)), None))
    rows.blank()
    rows.text([(HIDDEN, "note")])
    add_places(rows, item, (), state)
    add_numbers(rows, item, nouns=False)
    add_identification(rows, item, edited, None)
    add_model(rows, item, edited, listed=False)
    _add_flags(rows, item, named=False)


def _told_above(item: Item, state: EditState | None, rules: Guide, *, blind: bool) -> list[str]:
    """What the block of the answer edited says, which is often the gold's."""
    if state is None:
        return []
    comment = _comment(item, state, blind=blind)
    return [comment, rules.words(state.tag) if state.tag else ""]


# --- the answer being edited ---------------------------------------------------------------


def _add_edited(
    rows: Rows,
    item: Item,
    state: EditState,
    made: Answer | str,
    rules: Guide,
    *,
    blind: bool,
) -> None:
    reason = shown_reason(state.reason, item, state.adopted)
    said = [SOURCE_WORDS[state.source], reason, "changed" if state.changed else ""]
    rows.heading("Answer", " · ".join(filter(None, said)))
    kind: list[Part] = [] if state.kind is None else [(KIND_WORDS[state.kind], "kind")]
    if state.sort is not None:
        kind.append((f", {SORT_WORDS[state.sort]}", ""))
    if state.noun:
        kind.append((f" {quoted(state.noun)}", ""))
    if len(state.heads) > 1:
        kind.append((f" · {state.relation or 'AND or OR?'}", "kind"))
    rows.text(kind, indent=1, hang=3)
    _add_heads(rows, item, state)
    if state.tag:
        rows.text([(rules.words(state.tag), "note")], indent=1, hang=3)
    comment = _comment(item, state, blind=blind)
    if comment:
        rows.text([("; ", "note"), (comment, "comment")], indent=1, hang=3)
    if prompt(state) is not None:
        rows.text([("▸ ", "asks"), (prompt(state) or "", "asks")], indent=1, hang=3)
    elif isinstance(made, str):
        rows.text([("▸ ", "asks"), (made, "asks")], indent=1, hang=3)


def _comment(item: Item, state: EditState, *, blind: bool) -> str:
    """The comment of the answer edited; blind, that of the gold is taken from the item,
    which names nobody."""
    golds = state.source is Source.GOLD and state.comment == state.began.comment
    if blind and golds and item.gold is not None:
        return item.gold.answer.comment
    return state.comment


def _add_heads(rows: Rows, item: Item, state: EditState) -> None:
    for number, mentions in enumerate(state.heads, 1):
        first, *more = live(mentions)
        sign = DIGITS[number] if number < len(DIGITS) else "₊"
        words = " ".join(item.passage.words(first.start, first.end).split())
        turn = item.passage.turn_of(first.head) + 1
        parts = [(f"{sign} ", "head-sign"), (words, "head"), (f" turn {turn}", "note")]
        if more:
            parts.append((f" and {len(more)} more", "note"))
        rows.text(parts, indent=2, hang=4)


# --- what others said ----------------------------------------------------------------------


def _add_table(rows: Rows, item: Item, found: Sequence[Lane], against: Answer | None) -> bool:
    """All answers, how they differ, and how many named what; true if seconds are told."""
    if not any(lane.vote is not None or lane.key == GOLD for lane in found):
        rows.heading("Answers", WITHHELD if item.withheld else "nobody yet")
    else:
        rows.heading("Answers", _pattern(item))
    if not found:
        return False
    seconds = add_answers(rows, item, found, against)
    add_tally(rows, item)
    _add_differences(rows, item)
    return seconds


def _pattern(item: Item) -> str:
    """The pattern of the votes, and the strongest kind in which they differ: "2-1 noun"."""
    if not item.pattern:
        return WITHHELD if item.withheld else ""
    if not item.blocking:
        return pattern_words(item.pattern)
    words = [token.lemma for token in item.passage.tokens]
    counted = [vote.answer for vote in item.votes if vote.counts]
    first = compare_all(counted, words).strongest or item.blocking[0]
    return f"{item.pattern} · {BLOCKING_WORDS[first]}"


def _add_differences(rows: Rows, item: Item) -> None:
    """Whatever else they differ in: the strongest kind stands above."""
    more = _pattern(item)
    also = [
        BLOCKING_WORDS[one] for one in item.blocking if not more.endswith(BLOCKING_WORDS[one])
    ]
    if also:
        said: list[Part] = [("they also differ in: ", "note"), (", ".join(also), "differs")]
        rows.text(said, indent=1, hang=3)
    if item.notes:
        notes = ", ".join(NOTE_WORDS[note] for note in item.notes)
        rows.text([(f"{notes} (never blocks)", "note")], indent=1, hang=3)


def _add_stale(rows: Rows, item: Item, against: Answer | None, *, blind: bool) -> None:
    if not item.stale_votes:
        return
    rows.heading("Answers to the old span", "do not count")
    keys = {id(vote): f"{n} " for n, vote in enumerate(adoptable(item), 1) if n <= MOST_KEYS}
    for number, vote in enumerate(item.stale_votes):
        name = chr(ord("A") + number % 26) if blind else vote.annotator
        parts: list[Part] = [(keys.get(id(vote), ""), "key")]
        parts += [("× ", "note"), (f"{name} ", "name")]
        parts.append((describe(vote.answer, item.passage, places=True), "said"))
        parts.append(standing(vote.answer, against, item))
        rows.text(parts, indent=1, hang=3)


def _add_flags(rows: Rows, item: Item, *, named: bool) -> None:
    flags = [flag for flag in item.flags if flag.span is None]
    if not flags:
        return
    rows.heading("Flags")
    for flag in flags:
        parts: list[Part] = [("! ", "asks"), (flag.name, "")]
        if named and flag.annotator:
            parts.append((f"  {flag.annotator} · {when(flag.flagged_at)}", "note"))
        rows.text(parts, indent=1, hang=3)


# --- history -------------------------------------------------------------------------------


def _add_history(rows: Rows, history: Sequence[HistoryLine]) -> None:
    if not history:
        return
    rows.heading("History", "L shows all" if len(history) > LAST else "")
    for line in sorted(history, key=lambda line: line.at, reverse=True)[:LAST]:
        who = "" if line.annotator is None else f" {line.annotator}"
        what = f"{act_words(line)}: {thing(line)}"
        parts: list[Part] = [(f"{when(line.at)}{who}  ", "note"), (what, "")]
        parts.append((f" {_plain(line.before)} → {_plain(line.after)}", "note"))
        rows.text(parts, indent=1, hang=3)


def _plain(value: str | None) -> str:
    """A logged value in short; JSON is the log's own form."""
    if value is None:
        return "nothing"
    bare = value.strip('"')
    return bare if len(bare) <= 48 else f"{bare[:47]}…"
