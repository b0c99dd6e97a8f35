"""What the evidence says of identification: the decision, its rule or weights, against what."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_db.records import Gold, Identified, Role, Rule
from nfh_models.domain import Kind, class_answer
from nfh_tui.editor.commands import act, first_state
from nfh_tui.widgets.evidence_rows import MOST_WEIGHTS, RowBuilder, add_identification

from .conftest import Make
from .evidence import rows_of, shown


def identified(rows):
    """The rows from the heading on, to the next one."""
    if not any(row.startswith("Identification") for row in rows):
        return []
    start = next(n for n, row in enumerate(rows) if row.startswith("Identification"))
    end = rows.index("", start) if "" in rows[start:] else len(rows)
    return rows[start:end]


NO_ONE = Identified("rules", True, "no-one")
BY_WEIGHTS = Identified(
    "svm-1", False, "svm", -1.25, (("window:-1=[red]", -0.5), ("anchor=two", 0.25))
)


def test_nothing_is_said_of_identification_where_nothing_was_decided(item):
    assert identified(shown(item, None)) == []


@pytest.mark.parametrize("width", [20, 30, 44, 90])
@pytest.mark.parametrize("said", [NO_ONE, BY_WEIGHTS, replace(NO_ONE, rule="gone[b]\x1b")])
def test_identification_fits_any_pane(item, said, width):
    rows = identified(shown(replace(item, identification=said), None, width))
    assert rows[0].endswith(said.model) or rows[1].endswith(said.model)


def test_a_learned_decision_shows_its_score_and_strongest_weights(item):
    rows = identified(shown(replace(item, identification=BY_WEIGHTS), None))
    assert rows[0].split() == ["Identification", "svm-1"]
    assert rows[1] == " Not an NFH · score -1.25"
    assert rows[2] == "   -0.50 window:-1=[red]"
    assert rows[3] == "   +0.25 anchor=two"
    assert rows[4] == "   -1.00 all other features and the bias"
    assert len(rows) == 5


def test_a_rule_and_a_score_that_decide_together_are_both_shown(item):
    parts = (("small", -5.24), ("not-nummod", 2.64))
    said = Identified("joint", False, "not-nummod", -2.6, parts)
    assert identified(shown(replace(item, identification=said), None))[1:] == [
        " Not an NFH · score -2.60",
        "   In the parse, the number counts no noun.",
        "   -5.24 small",
        "   +2.64 not-nummod",
    ]


@given(
    st.floats(-50, 50),
    st.lists(st.tuples(st.just("anchor=two"), st.floats(-9, 9)), min_size=1, max_size=6),
)
def test_the_weights_shown_add_up_to_the_score_shown(score, weights):
    said = Identified("svm-1", score > 0, "svm", score, tuple(weights))
    rows = RowBuilder(60)
    add_identification(rows, replace(Make.item(), identification=said), None, None)
    first, *summands = rows_of(rows.made, 60)[1:]
    figures = [Decimal(row.split()[0]) for row in summands]
    assert len(figures) - min(len(weights), MOST_WEIGHTS) in (0, 1)  # the rest may be nothing
    assert sum(figures) == Decimal(first.split("score")[1].split()[0])


@pytest.mark.parametrize(
    ("gold", "said", "sign"),
    [
        (Kind.NOT_NFH, NO_ONE, "≠ gold"),
        (Kind.AGE, NO_ONE, "= gold"),
        (Kind.NFH, NO_ONE, "= gold"),
        (Kind.NOT_NFH, BY_WEIGHTS, "= gold"),
        (Kind.BROKEN, NO_ONE, None),
    ],
)
def test_it_is_held_against_gold_where_nothing_is_edited(item, gold, said, sign):
    known = replace(
        item, identification=said, gold=Gold(class_answer(gold), Rule.EXPERT, "anna")
    )
    row = identified(shown(known, None))[1]
    assert row.endswith(sign) if sign else "gold" not in row


def test_it_is_held_against_the_draft_and_never_against_hidden_gold(item, make):
    gold = Gold(class_answer(Kind.NOT_NFH), Rule.EXPERT, "anna")
    known = replace(item, identification=NO_ONE, gold=gold)
    state = first_state(known, "me", Role.ANNOTATOR)
    assert "≠" not in identified(shown(known, state))[1]
    state = act(state, known, "kind.not_nfh").state
    assert identified(shown(known, state))[1].endswith("≠ an NFH or none")
    state = act(state, known, "kind.age").state
    assert identified(shown(known, state))[1].endswith("=")
