"""What is known of one item, as rows of plain text: the answer edited, and all the others.

Pure: no screen. An annotator is shown nothing of what others answered.
"""

from collections.abc import Sequence
from datetime import datetime

from nfh_db.records import PERSON, Gold, HistoryLine, Item, Role, Rule, Vote
from nfh_models.domain import Answer
from nfh_tui.desk.history import act_words, thing
from nfh_tui.editing import (
    EditState,
    Source,
    annotators_votes,
    answer,
    describe,
    pattern_words,
    prompt,
)
from nfh_tui.editing.describe import BLOCKING_WORDS, KIND_WORDS, NOTE_WORDS, SORT_WORDS
from nfh_tui.editing.state import live, quoted
from nfh_tui.editing.votes import letter
from nfh_tui.evidence_identification import add_identification
from nfh_tui.evidence_model import add_model, standing
from nfh_tui.passage_marks import DIGITS
from nfh_tui.rows import Part, Row, Rows

HIDDEN = "Others' answers and the gold stay hidden while you annotate."
WITHHELD = "hidden until you decide"
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
) -> tuple[Row, ...]:
    """All rows for an item. state: the answer edited, None while nothing is.

    blind: annotators are letters, and nobody else is named.
    """
    rows = Rows(width)
    mine = answer(state, item) if state is not None else ""
    if state is not None:
        _add_edited(rows, item, state, mine)
    against = mine if isinstance(mine, Answer) else None
    judging = state is None or _judges(state)
    if judging:
        _add_gold(rows, item, against, blind=blind)
        _add_votes(rows, item, against, blind=blind)
    else:
        rows.blank()
        rows.text([(HIDDEN, "note")])
    gold = item.gold.answer if item.gold is not None and judging else None
    add_identification(rows, item, against, gold)
    add_model(rows, item, against)
    _add_flags(rows, item, named=not blind and judging)
    if judging:
        _add_stale(rows, item, against, blind=blind)
        _add_history(rows, history, blind=blind)
    return tuple(rows.made)


def _judges(state: EditState) -> bool:
    return state.role is Role.ADJUDICATOR


def when(at: str) -> str:
    """A UTC time of the store in the time of this place, to the minute; as it is if odd."""
    try:
        parsed = datetime.fromisoformat(at)
    except ValueError:
        return at
    return parsed.astimezone().strftime("%Y-%m-%d %H:%M")


# --- the answer being edited ---------------------------------------------------------------


def _add_edited(rows: Rows, item: Item, state: EditState, made: Answer | str) -> None:
    said = [SOURCE_WORDS[state.source], state.reason, "changed" if state.changed else ""]
    rows.heading("Answer", " · ".join(filter(None, said)))
    kind: list[Part] = [("nothing chosen", "note")]
    if state.kind is not None:
        kind = [(KIND_WORDS[state.kind], "kind")]
    if state.sort is not None:
        kind.append((f", {SORT_WORDS[state.sort]}", ""))
    if state.noun:
        kind.append((f" {quoted(state.noun)}", ""))
    if len(state.heads) > 1:
        kind.append((f" · {state.relation or 'AND or OR?'}", "kind"))
    rows.text(kind, indent=1, hang=3)
    for number, mentions in enumerate(state.heads, 1):
        first, *more = live(mentions)
        sign = DIGITS[number] if number < len(DIGITS) else "₊"
        words = " ".join(item.passage.words(first.start, first.end).split())
        turn = item.passage.turn_of(first.head) + 1
        parts = [(f"{sign} ", "head-sign"), (words, "head"), (f" turn {turn}", "note")]
        if more:
            parts.append((f" and {len(more)} more", "note"))
        rows.text(parts, indent=2, hang=4)
    _add_comment(rows, state.comment, indent=1)
    if prompt(state) is not None:
        rows.text([("▸ ", "asks"), (prompt(state) or "", "asks")], indent=1, hang=3)
    elif isinstance(made, str):
        rows.text([("▸ ", "asks"), (made, "asks")], indent=1, hang=3)


def _add_comment(rows: Rows, comment: str, indent: int) -> None:
    if comment:
        rows.text([("; ", "note"), (comment, "comment")], indent=indent, hang=indent + 2)


# --- what others said ----------------------------------------------------------------------


def _add_answer(
    rows: Rows, item: Item, given: Answer, against: Answer | None, indent: int
) -> None:
    """An answer in words, how it stands to the one edited, and its comment."""
    parts: list[Part] = [(describe(given, item.passage, places=True), "said")]
    parts.append(standing(given, against, item))
    rows.text(parts, indent=indent, hang=indent + 2)
    _add_comment(rows, given.comment, indent)


def _add_gold(rows: Rows, item: Item, against: Answer | None, *, blind: bool) -> None:
    gold = item.gold
    none = WITHHELD if item.withheld else "none yet"
    rows.heading("Gold", none if gold is None else _gold_note(gold, blind=blind))
    if gold is not None:
        _add_answer(rows, item, gold.answer, against, indent=1)


def _gold_note(gold: Gold, *, blind: bool) -> str:
    by = "" if blind or not gold.adjudicator else gold.adjudicator
    rule = "expert" if gold.rule is Rule.EXPERT else f"{gold.rule}"
    return " · ".join(filter(None, [rule, by, when(gold.decided_at or "")]))


def _add_votes(rows: Rows, item: Item, against: Answer | None, *, blind: bool) -> None:
    given = annotators_votes(item)
    nobody = WITHHELD if item.withheld else "nobody yet"
    rows.heading("Annotators", pattern_words(item.pattern) if given else nobody)
    _add_differences(rows, item)
    for number, vote in enumerate(given, 1):
        name = letter(number - 1) if blind else f"{vote.annotator}{_kind_of(vote)}"
        _add_vote(rows, item, vote, name, f"{number}" if number < 10 else "·", against)
    others = [vote for vote in item.votes if vote.role is Role.ADJUDICATOR]
    if others:
        rows.heading("Adjudicators")
    for vote in others:
        _add_vote(rows, item, vote, "" if blind else vote.annotator, "·", against)


def _kind_of(vote: Vote) -> str:
    """Behind the name of what is no person."""
    return "" if vote.type == PERSON else f" ({vote.type}, not counted)"


def _add_differences(rows: Rows, item: Item) -> None:
    if item.blocking:
        said = ", ".join(BLOCKING_WORDS[kind] for kind in item.blocking)
        rows.text([("differ in ", "note"), (said, "differs")], indent=1, hang=3)
    if item.notes:
        said = ", ".join(NOTE_WORDS[note] for note in item.notes)
        rows.text([(f"{said} (never blocks)", "note")], indent=1, hang=3)


def _add_vote(
    rows: Rows, item: Item, vote: Vote, name: str, key: str, against: Answer | None
) -> None:
    facts = [
        "" if vote.seconds is None else f"{vote.seconds:.0f} s",
        "saw the model" if vote.saw_model else "",
        "saw answers" if vote.saw_votes and vote.role is Role.ANNOTATOR else "",
        f"rule {vote.rule_tag}" if vote.rule_tag else "",
    ]
    note = " · ".join(filter(None, facts))
    head: list[Part] = [(f"{key} ", "key"), (name, "name")]
    rows.text([*head, (f"  {note}", "note")] if note else head, indent=1, hang=3)
    _add_answer(rows, item, vote.answer, against, indent=3)


def _add_stale(rows: Rows, item: Item, against: Answer | None, *, blind: bool) -> None:
    if not item.stale_votes:
        return
    rows.heading("Answers to the old span", "do not count")
    for number, vote in enumerate(item.stale_votes):
        name = letter(number) if blind else vote.annotator
        _add_vote(rows, item, vote, name, "×", against)


def _add_flags(rows: Rows, item: Item, *, named: bool) -> None:
    if not item.flags:
        return
    rows.heading("Flags")
    for flag in item.flags:
        parts: list[Part] = [("! ", "asks"), (flag.name, "")]
        if named and flag.annotator:
            parts.append((f"  {flag.annotator} · {when(flag.flagged_at)}", "note"))
        rows.text(parts, indent=1, hang=3)


# --- history -------------------------------------------------------------------------------


def _add_history(rows: Rows, history: Sequence[HistoryLine], *, blind: bool) -> None:
    if not history:
        return
    rows.heading("History", "L shows all" if len(history) > LAST else "")
    for line in sorted(history, key=lambda line: line.at, reverse=True)[:LAST]:
        who = "" if blind or line.annotator is None else f" {line.annotator}"
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
