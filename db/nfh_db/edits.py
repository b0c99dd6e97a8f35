"""What a person does to an anchor: each an act with its events, inside one transaction."""

from nfh_db import (
    acts,
    anchors,
    answers,
    assignments,
    changes,
    clock,
    drafts,
    flags,
    gold,
    passages,
    settings,
    summary,
)
from nfh_db.connection import Connection
from nfh_db.errors import StoreError
from nfh_db.passages import PassageCache
from nfh_db.records import Annotator, FlagName, Gold, Role, Rule, Saved, Seen
from nfh_db.values import AnchorValue, FlagValue, answer_value, gold_value
from nfh_models.domain import Anchor, Answer, Kind


def commit_answer(
    connection: Connection,
    anchor_id: int,
    me: Annotator,
    role: Role,
    answer: Answer,
    seen: Seen,
) -> Saved:
    """Store somebody's answer; an adjudicator's makes gold. Raises AnswerError.

    The second, blind decision of an anchor that is given to two leaves gold to the first.
    """
    target = anchors.need_live(connection, anchor_id)
    tokens = len(passages.lemmas(connection, target.passage_id))
    answer.check(tokens, target.anchor.start, target.anchor.end)
    at = clock.now()
    before = answers.read(connection, anchor_id, me.id, role.value)
    value = answer_value(answer, at, seen, settings.guideline_version(connection))
    second = role is Role.ADJUDICATOR and assignments.is_second(connection, anchor_id, me.id)
    words = _answer_summary(role, answer, again=before is not None, second=second)
    act_id = acts.add(connection, me.id, "do", words, at)
    changes.change(
        connection, act_id, "answer", anchor_id, me.id, role.value, value, confirm=True
    )
    if role is Role.ADJUDICATOR and not second:
        decided = gold_value(Gold(answer, Rule.EXPERT, me.name, at), None)
        changes.change(connection, act_id, "gold", anchor_id, None, "", decided)
    changes.change(connection, act_id, "flag", anchor_id, me.id, FlagName.SKIP.value, None)
    drafts.save_draft(connection, anchor_id, me.id, role.value, None)
    return Saved(act_id, anchor_id, summary.recompute(connection, anchor_id), at)


def _answer_summary(role: Role, answer: Answer, *, again: bool, second: bool) -> str:
    what = answer.kind.value
    if answer.kind is Kind.REFERENCE:
        what += f" to {len(answer.heads)} heads" if len(answer.heads) > 1 else ""
    verb = "second decision" if second else "gold" if role is Role.ADJUDICATOR else "answer"
    return f"{verb} {what}, in place of an earlier one" if again else f"{verb} {what}"


def withdraw(connection: Connection, anchor_id: int, me: Annotator, role: Role) -> Saved:
    """Mark somebody's answer removed, and the gold it made. Raises StoreError if none."""
    anchors.need_live(connection, anchor_id)
    at = clock.now()
    act_id = acts.add(connection, me.id, "do", f"{_noun(role)} withdrawn", at)
    if not changes.change(connection, act_id, "answer", anchor_id, me.id, role.value, None):
        raise StoreError(f"{me.name} has no {_noun(role)} of anchor {anchor_id} to withdraw")
    if role is Role.ADJUDICATOR and _made_the_gold(connection, anchor_id, me):
        changes.change(connection, act_id, "gold", anchor_id, None, "", None)
    return Saved(act_id, anchor_id, summary.recompute(connection, anchor_id), at)


def _noun(role: Role) -> str:
    return "decision" if role is Role.ADJUDICATOR else "answer"


def _made_the_gold(connection: Connection, anchor_id: int, me: Annotator) -> bool:
    found = gold.read(connection, anchor_id)
    return found is not None and found.rule == Rule.EXPERT and found.by == me.name


def set_flag(
    connection: Connection, anchor_id: int, me: Annotator, name: FlagName, *, on: bool
) -> Saved:
    """Set or clear somebody's flag. Where it is so already nothing is written: act_id is 0."""
    target = anchors.need_live(connection, anchor_id)
    at = clock.now()
    if on is (flags.read(connection, anchor_id, me.id, name.value) is not None):
        return Saved(0, anchor_id, target.state, at)
    act_id = acts.add(connection, me.id, "do", f"flag {name} {'set' if on else 'cleared'}", at)
    value = FlagValue(at) if on else None
    changes.change(connection, act_id, "flag", anchor_id, me.id, name.value, value)
    return Saved(act_id, anchor_id, target.state, at)


def replace_anchor(
    connection: Connection, anchor_id: int, me: Annotator, anchor: Anchor, cache: PassageCache
) -> Saved:
    """Put another span in an anchor's place, reviving the one that had it before.

    Answers to the old one become the new one's stale votes; its gold does not carry over.
    Raises PassageError for a span outside the passage, StoreError for one that is taken.
    """
    old = anchors.need_live(connection, anchor_id)
    passage = passages.read_one(connection, old.passage_id, cache)
    anchor.check(passage)
    if anchor == old.anchor:
        raise StoreError(f"Anchor {anchor_id} has this span already: widen or narrow it first")
    known = anchors.find_span(connection, old.passage_id, anchor)
    if known is not None and known[1]:
        raise StoreError(
            f"“{passage.words(anchor.start, anchor.end)}” is anchor {known[0]} already: go to "
            "that one, or choose another span"
        )
    at = clock.now()
    was = passage.words(old.anchor.start, old.anchor.end)
    now = passage.words(anchor.start, anchor.end)
    act_id = acts.add(connection, me.id, "do", f"anchor “{was}” made “{now}”", at)
    new_id = known[0] if known else anchors.insert(connection, old.passage_id, passage, anchor)
    former = anchors.links(connection, new_id)[2]
    taken_over = AnchorValue(old.passage_id, anchor.start, anchor.end, replaces=anchor_id)
    changes.change(connection, act_id, "anchor", new_id, None, "", taken_over)
    replaced = AnchorValue(
        old.passage_id,
        old.anchor.start,
        old.anchor.end,
        replaces=anchors.links(connection, anchor_id)[1],
        replaced_by=new_id,
    )
    changes.change(connection, act_id, "anchor", anchor_id, None, "", replaced)
    drafts.copy_drafts(connection, anchor_id, new_id, me.id)
    touched = [anchor_id, new_id] if former is None else [anchor_id, new_id, former]
    summary.recompute_with_successors(connection, touched)
    return Saved(act_id, new_id, anchors.state(connection, new_id), at)
