"""Answers are compared by their heads while the relation of these is missing."""

from dataclasses import replace

from nfh_db.records import Role, Vote
from nfh_models.domain import Mention, reference_answer
from nfh_tui.editor.commands import act
from nfh_tui.editor.state import EditState
from nfh_tui.widgets.evidence_rows import evidence

AT = "2025-03-04T05:06:07.000Z"


def shown(item, state):
    return "\n".join("".join(text for text, _ in row) for row in evidence(item, state, 80))


def test_signs_and_the_reading_stay_while_the_relation_is_missing(item, do):
    said = reference_answer([[Mention(1, 2, 1)]])
    item = replace(item, votes=(Vote("ann1", Role.ANNOTATOR, said, AT),), gold=None)
    state = EditState(cursor=item.anchor.start, role=Role.ADJUDICATOR)
    made = do(item, state, "to:1", "head.toggle", "to:19", "head.toggle").state
    assert len(made.heads) == 2
    assert made.relation is None
    text = shown(item, made)
    assert "press & if" in text
    table = text.split("press & if")[1]
    assert "≠" in table
    assert " = you" in table
    stated = shown(item, act(made, item, "relation.and").state)
    assert "≠" in stated
