"""Answers and golds: each one a value that holds together and fits its passage."""

from collections.abc import Iterator
from dataclasses import replace

from nfh_db.doctor.finding import Fault, Where
from nfh_db.doctor.stretch import AnchorRow, Stretch
from nfh_db.records import Role, Rule
from nfh_db.values import AnswerValue, GoldValue
from nfh_models.domain import SettlingRule, settle

ANSWER_WITH_TIME = """
SELECT 1 FROM event AS e JOIN annotator AS n ON n.id = e.annotator_id
WHERE e.anchor_id = :anchor AND e.entity = 'answer' AND e.name = 'annotator'
    AND n.name = :name AND e.after ->> '$.at' = :at LIMIT 1"""


def answers(stretch: Stretch) -> Iterator[Fault]:
    """Each answer, removed ones too, as a value of the domain."""
    for anchor in stretch.anchors:
        for row in stretch.answers.get(anchor.id, ()):
            what = stretch.trouble_of(row.said, anchor)
            if what:
                yield Fault(what, Where("answer", row.id, anchor.id))


def golds(stretch: Stretch) -> Iterator[Fault]:
    """Each gold as a value of the domain."""
    for anchor in stretch.anchors:
        row = stretch.golds.get(anchor.id)
        what = stretch.trouble_of(row.said, anchor) if row is not None else ""
        if what:
            yield Fault(what, Where("gold", anchor.id, anchor.id))


def rules(stretch: Stretch) -> Iterator[Fault]:
    """What each gold counts by: a batch, an adjudicator's answer, or votes."""
    for anchor in stretch.anchors:
        row = stretch.golds.get(anchor.id)
        if row is None or row.removed:
            continue
        where = Where("gold", anchor.id, anchor.id)
        rule = row.value.rule
        if rule == Rule.EXPERT:
            what = _expert_trouble(anchor, stretch)
        elif rule == Rule.IMPORTED:
            what = "" if row.value.batch is not None else "it is imported, but names no import"
        else:
            what = _settled_trouble(anchor, stretch)
        if what:
            yield Fault(what, where)


def _expert_trouble(anchor: AnchorRow, stretch: Stretch) -> str:
    """What is wrong with an expert's gold; a file may bring one without the answer."""
    gold = stretch.golds[anchor.id]
    brought = gold.value.batch is not None
    if gold.answer_id is None:
        return "" if brought else "it is an expert's, but points to no answer"
    found = [row for row in stretch.answers.get(anchor.id, ()) if row.id == gold.answer_id]
    if not found:
        return f"it points to answer {gold.answer_id}, which is none to this anchor"
    answer = found[0]
    if answer.role != Role.ADJUDICATOR or answer.annotator_id != gold.annotator_id:
        return f"it points to answer {answer.id}, which is not the deciding expert's"
    if brought:
        return ""
    if answer.removed:
        return f"it points to answer {answer.id}, which was withdrawn"
    if _content(answer.value) != _content(gold.value):
        return f"it says something else than answer {answer.id}, which it points to"
    return ""


def _content(value: AnswerValue | GoldValue) -> tuple[object, ...]:
    return value.kind, value.heads, value.relation, value.sort, value.noun, value.comment


def _settled_trouble(anchor: AnchorRow, stretch: Stretch) -> str:
    """What is wrong with a gold that a rule made of votes."""
    gold = stretch.golds[anchor.id]
    if gold.value.batch is not None:
        # Settled elsewhere: the file need not hold the votes.
        return ""
    if gold.votes_trouble:
        return f"the votes it was made of cannot be read: {gold.votes_trouble}"
    if not gold.value.votes:
        return f"its rule is {gold.value.rule}, but it names no votes"
    there = {(row.name, row.value.at) for row in stretch.votes_of(anchor) if row.counts}
    for name, at in gold.value.votes:
        key = {"anchor": anchor.id, "name": name, "at": at}
        if (name, at) in there:
            continue
        if stretch.connection.execute(ANSWER_WITH_TIME, key).fetchone() is None:
            return f"it was made of a vote of {name} at {at} that there never was"
    return _rule_trouble(anchor, stretch) if there == set(gold.value.votes) else ""


def _rule_trouble(anchor: AnchorRow, stretch: Stretch) -> str:
    """Whether the rule makes the gold of its votes again, while they are as they were."""
    gold = stretch.golds[anchor.id].value
    passage = stretch.passage_of(anchor)
    votes = [
        (row.name or "", answer)
        for row in stretch.votes_of(anchor)
        if row.counts and (answer := stretch.sound(row.said, anchor)) is not None
    ]
    if passage is None or len(votes) != len(gold.votes):
        return ""
    lemmas = [token.lemma for token in passage.tokens]
    settled = settle(votes, lemmas, SettlingRule(gold.rule), least=1)
    if settled.answer is None:
        return f"its rule is {gold.rule}, but its votes settle nothing: {settled.reason}"
    if replace(settled.answer, comment=gold.comment) != stretch.golds[anchor.id].said.answer:
        return f"its rule, {gold.rule}, makes something else of its votes"
    return ""
