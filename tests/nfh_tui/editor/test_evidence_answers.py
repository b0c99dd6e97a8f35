"""The table of answers at any width, votes by noun and by mention, and what stands around."""

import re
from dataclasses import replace

import pytest

from nfh_db.records import MODEL, AnchorState, Gold, Role, Rule
from nfh_db.similar_items import Precedent
from nfh_models.domain import (
    Anchor,
    DifferenceNote,
    Kind,
    Origin,
    Relation,
    class_answer,
    compare,
)
from nfh_tui.display_text import told_apart
from nfh_tui.editor.commands import act, first_state, move_to
from nfh_tui.widgets.evidence_rows import RowBuilder, add_answers, compared, search_terms, tally
from nfh_tui.widgets.passage_render import lanes
from nfh_tui.widgets.substitution import adjacent_number, whole_number

from .evidence import rows_of, shown
from .test_evidence_readings import at, passage_of


def answers(item, width, against=None):
    """The rows of the table without the sentences below them."""
    return [row for row in table(item, width, against)[0] if not row.startswith("     ")]


def table(item, width, against=None):
    rows = RowBuilder(width)
    told = add_answers(rows, item, lanes(item), against)
    return rows_of(rows.made, width), told


@pytest.fixture
def three(make):
    """Three answers: one of two heads, one of them far away."""
    votes = [
        make.vote("ann1", make.reference(1), seconds=8),
        make.vote("barbara", make.reference(1, 41, relation=Relation.OR), seconds=112.6),
        make.vote("ann3", make.age()),
    ]
    return make.item(votes=votes)


@pytest.mark.parametrize(
    ("width", "rows", "told"),
    [
        (
            110,
            [
                " 1 ann1    Reference tents         t1   =                    "
                "Then borrow one [tent] from the men on the …   8s",
                " 2 barbara Reference tents or rope t1,3 ≠ some of the nouns  "
                "Then borrow one [tent or rope] from the …    113s",
                " 3 ann3    Age                          ≠ which class        "
                "Then borrow one [year old] from the men on …",
            ],
            True,
        ),
        (
            80,
            [
                " 1 ann1    Ref tents         t1   =        "
                "Then borrow one [tent] from …      8s",
                " 2 barbara Ref tents or rope t1,3 ≠ part   "
                "Then borrow one [tent or rope]   113s",
                "                                           from the men on the hill.",
                " 3 ann3    Age                    ≠ class  Then borrow one [year old] from",
                "                                           the men on the hill.",
            ],
            True,
        ),
        (
            44,
            [
                " 1 ann1    Ref tents         t1   =",
                "     Then borrow one [tent] from the men on",
                "     the hill.",
                " 2 barbara Ref tents or rope t1,3 ≠ part",
                "     Then borrow one [tent or rope] from the",
                "     men on the hill.",
                " 3 ann3    Age                    ≠ class",
                "     Then borrow one [year old] from the men",
                "     on the hill.",
            ],
            False,
        ),
        (
            31,
            [
                " 1 ann1  Ref tents    t1   =",
                "     Then borrow one [tent]",
                "     from the men on the hill.",
                " 2 barb… Ref tents or t1,3 ≠",
                "             rope",
                "     Then borrow one [tent or",
                "     rope] from the men on …",
                " 3 ann3  Age               ≠",
                "     Then borrow one [year old]",
                "     from the men on the …",
            ],
            False,
        ),
    ],
)
def test_the_table_gives_up_words_before_answers(three, make, width, rows, told):
    assert table(three, width, make.reference(1)) == (rows, told)


LONG_NOUNS = (("A", "A wheelbarrow by o'clock whistles ."), ("B", "One"))


@pytest.mark.parametrize("width", range(16, 60))
def test_a_noun_is_not_broken_where_a_line_can_hold_it(make, width):
    votes = make.three(make.reference([1, 5]), make.reference(3, 4), make.reference(1, 3))
    item = make.item(make.passage(LONG_NOUNS), anchor=(6, 7), votes=votes)
    said = table(item, width, make.reference(1))[0]
    words = " ".join(said).replace(",", " ").split()
    for noun, count in (("wheelbarrow", 2), ("o'clock", 2), ("whistles", 1)):
        assert words.count(noun) == count, said
    assert len([row for row in said if row[1] in "123"]) == 3


def removed(answer, *tokens):
    """The answer with the mentions of these tokens taken away."""
    heads = [
        replace(
            head,
            mentions=tuple(
                replace(m, origin=Origin.REMOVED) if m.head in tokens else m
                for m in head.mentions
            ),
        )
        for head in answer.heads
    ]
    return replace(answer, heads=tuple(heads))


def test_the_same_noun_without_a_mention_in_common_is_told_apart(make):
    gold = removed(make.reference([1, 11]), 11)
    votes = make.three(make.reference(1), make.reference([1, 11]), make.reference(11))
    item = make.item(votes=votes, gold=Gold(gold, Rule.EXPERT), scores={11: 0.9}, choice="11")
    assert answers(item, 50, gold) == [
        " 1 ann1 Reference tents    t1 =",
        " 2 ann2 Reference tents +1 t1 =",
        " 3 ann3 Reference tents    t1 ≈ mention",
        " m cues Reference tents    t1 ≈ mention",
        " ◆ gold Reference tents    t1 =",
    ]
    words = item.passage.lemmas
    found = compare(gold, make.reference(11), words)
    assert (found.blocking, found.notes) == (None, frozenset({DifferenceNote.MENTION}))
    # Having taken the model's answer, it is the gold that has another mention.
    assert answers(item, 50, make.reference(11))[-2:] == [
        " m cues Reference tents    t1 =",
        " ◆ gold Reference tents    t1 ≈ mention",
    ]
    narrow = answers(item, 26, gold)
    assert narrow[3].endswith(" ≈")
    assert " ".join(" ".join(narrow[5:]).split()) == "≈ same noun, another mention"
    # A mention that the gold has besides is the gold's, too.
    both = answers(item, 50, make.reference([1, 11]))
    assert all(row.endswith(" =") for row in both)


def test_beside_the_stale_answers_too_a_mention_is_told_apart(make):
    item = make.item()
    against = make.reference(1)
    assert compared(make.reference(11), against, item)[0].split() == ["≈", "mention"]
    assert compared(make.reference([1, 11]), against, item)[0].strip() == "="
    assert compared(make.reference(5), against, item)[0].strip().startswith("≠")
    assert compared(make.age(), make.age(), item)[0].strip() == "="


@pytest.mark.parametrize("width", range(16, 80))
def test_the_table_fits_and_says_all_nouns_at_any_width(three, make, width):
    rows, _ = table(three, width, make.reference(1))
    assert all(len(row) <= width for row in rows)
    text = " ".join(" ".join(rows).split())
    assert "rope" in text
    assert text.count("tents") == 2
    assert "Ref" in text
    assert "Age" in text


def test_nothing_differs_where_there_is_nothing_to_differ_from(three):
    rows, _ = table(three, 80)
    assert not any(sign in "".join(rows) for sign in "=≠")


def test_an_answer_that_only_says_it_is_one_differs_from_nothing(make):
    nfh = class_answer(Kind.NFH)
    rows, _ = table(make.item(votes=[make.vote("ann1", nfh)]), 80, make.age())
    assert rows == [" 1 ann1 NFH, head not given"]


def test_what_is_no_person_has_its_lane_and_is_not_counted(make):
    votes = [make.vote("ann1", make.age()), make.vote("stub", make.age(), type=MODEL)]
    item = make.item(votes=votes)
    assert named(item) == [("Age", 1, 1, 0)]
    assert " 2 a model: not counted" in shown(item, None)


def test_gold_and_the_decision_that_made_it_are_one_lane(make):
    decided = make.vote("anna", make.age(), Role.ADJUDICATOR, seconds=3)
    other = make.vote("emil", make.reference(1), Role.ADJUDICATOR)
    item = make.item(votes=[decided, other], gold=Gold(make.age(), Rule.EXPERT, "anna"))
    assert [(lane.key, lane.name) for lane in lanes(item)] == [
        ("◆", "gold"),
        ("·", "emil"),
    ]
    imported = replace(item, gold=Gold(make.age(), Rule.IMPORTED))
    assert [lane.name for lane in lanes(imported)] == ["gold", "anna", "emil"]


def test_the_tenth_annotator_has_a_number_and_no_colour(make):
    item = make.item(votes=[make.vote(f"n{number}", make.age()) for number in range(11)])
    assert [lane.key for lane in lanes(item)] == [*"123456789", "10", "11"]
    assert [lane.role for lane in lanes(item)][8:10] == ["lane-9", "lane-0"]


# --- the tally ------------------------------------------------------------------------------


def named(item):
    return [(one.what, one.votes, one.of, one.mentions) for one in tally(item)]


def test_votes_are_counted_by_noun_and_by_mention_apart(make):
    votes = make.three(make.reference(1), make.reference(11), make.reference(29, 5))
    assert named(make.item(votes=votes)) == [
        ("tents", 3, 3, 3),
        ("ropes", 1, 3, 1),
    ]
    votes = make.three(make.reference(1), make.age(), make.age())
    assert named(make.item(votes=votes)) == [
        ("Age", 2, 3, 0),
        ("tents", 1, 3, 1),
    ]


def test_a_head_of_two_words_makes_one_noun_of_both(make):
    votes = make.three(make.reference(1), make.reference(5), make.reference([1, 5]))
    assert named(make.item(votes=votes)) == [("tents", 3, 3, 2)]


def test_one_answer_alone_is_not_counted_out(make):
    assert not any(
        " of 1" in row for row in shown(make.item(votes=[make.vote("a", make.age())]), None)
    )


def test_the_kind_of_disagreement_is_named_with_the_pattern(make):
    item = make.item(votes=make.three(make.reference(1), make.reference(5), make.reference(1)))
    assert "Answers                     2-1 · which noun" in shown(item, None)
    mixed = make.item(votes=make.three(make.reference(1), make.reference(5), make.age()))
    rows = shown(mixed, None)
    assert "Answers                  1-1-1 · which class" in rows
    assert " they also differ in: which noun" in rows
    agreed = make.item(votes=make.three(make.age(), make.age(), make.age()))
    assert "Answers                          all 3 agree" in shown(agreed, None)


# --- what stands around ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "anchor", "left", "right", "whole"),
    [
        ("The bill is two hundred|.", "two", None, ("hundred", True), "two hundred"),
        ("The bill is two hundred|.", "hundred", ("two", True), None, "two hundred"),
        ("She is twenty|-|two|!", "twenty", None, ("-two", True), "twenty-two"),
        ("Two or three will do|.", "Two", None, ("or three", False), "Two"),
        ("A hundred and five|.", "hundred", None, ("and five", True), "hundred and five"),
        ("Two hundred and five|.", "Two", None, ("hundred", True), "Two hundred and five"),
        ("Five and six|.", "six", ("Five and", False), None, "six"),
        ("One|, two|!", "One", None, (", two", False), "One"),
        ("Take one of them|.", "one", None, None, "one"),
    ],
)
def test_number_words_beside_the_anchor(said, anchor, left, right, whole):
    passage = passage_of(said)
    token = at(passage, anchor)
    span = Anchor(token, token + 1)
    for side, wanted in ((True, left), (False, right)):
        found = adjacent_number(passage, span, left=side)
        assert (found and (found.words, found.may_belong)) == wanted
    widened = whole_number(passage, span)
    assert passage.words(widened.start, widened.end) == whole


def test_a_number_word_beside_it_is_told_with_the_key_that_takes_it_in(make):
    passage = passage_of("The bill is two hundred|.")
    item = make.item(passage, (3, 4))
    row = " ▸ beside it “hundred”: part of the number? + widens"
    assert row in shown(item, None, 60)
    assert row in shown(item, first_state(item, "me", Role.ANNOTATOR), 60)
    own = make.item(
        passage, (3, 4), siblings=[(3, 4, AnchorState.OPEN), (4, 5, AnchorState.OPEN)]
    )
    assert " ▸ beside it “hundred”" in shown(own, None, 60)


def test_a_number_ends_with_its_turn(make):
    item = make.item(passage_of("I said two", "hundred|."), (2, 3))
    assert adjacent_number(item.passage, item.anchor, left=False) is None


def test_other_numbers_with_what_they_are(make):
    item = make.item(siblings=[(16, 17, AnchorState.OPEN), (26, 27, AnchorState.DECIDED)])
    first, second = item.siblings
    item = replace(item, siblings=(first, replace(second, kind=Kind.REFERENCE)))
    rows = shown(item, None)
    row = rows.index("Other numbers here                         1") + 1
    assert rows[row] == " ✓ seven t2 Reference"
    for nouns, said in (((1, 22), "[tents, hill]"), (("joke",), "[joke]")):
        told = replace(item, siblings=(first, replace(item.siblings[1], nouns=nouns)))
        assert shown(told, None)[row] == f" ✓ seven t2 Reference {said}"
        own = shown(told, first_state(told, "me", Role.ANNOTATOR))
        assert not any(said in row for row in own)


def test_places_of_the_answers_nouns_show_who_marked_them(make):
    item = make.item(votes=make.three(make.reference(1), make.reference(5), make.reference(1)))
    state = first_state(item, "me", Role.ADJUDICATOR)
    state = act(move_to(state, item, 11).state, item, "head.toggle").state
    rows = shown(item, state)
    assert rows[rows.index("Nouns                    * adds their places") + 1 :][:5] == [
        " ₁13  t1 My tents · noun",
        " ₁    t1 the good tents · noun",
        "      t3 A tent · noun",
        " 2    t1 the ropes · noun",
        "      t3 a rope · noun",
    ]


def test_an_annotators_own_nouns_are_placed_and_nobody_elses(make):
    item = make.item(votes=make.three(make.reference(1), make.reference(5), make.reference(1)))
    state = first_state(item, "me", Role.ANNOTATOR)
    state = act(move_to(state, item, 5).state, item, "head.toggle").state
    rows = shown(item, state)
    assert " ₁    t1 the ropes · noun" in rows
    assert " =  Then borrow one [rope] from the men on the" not in rows
    assert any(row.startswith(" = Then borrow one [rope]") for row in rows)
    assert not any("tents" in row for row in rows)


# --- earlier decisions ----------------------------------------------------------------------


def test_earlier_decisions_are_counted_and_the_nearest_read(make):
    passage = passage_of("Our pumps are old|.", "Buy a new one|.")
    token = at(passage, "one")

    def earlier(number, answer, tag=None):
        place = Anchor(token, token + 1)
        return Precedent(
            number, passage, place, answer, "anna", None, Rule.EXPERT, ("number",), tag
        )

    found = [
        earlier(1, make.reference(1), "R7"),
        earlier(2, make.age()),
        earlier(3, class_answer(Kind.BROKEN)),
        earlier(4, make.reference(1)),
    ]
    item = make.item(votes=make.three(make.reference(1), make.reference(1), make.reference(1)))
    rows = shown(item, first_state(item, "nobody7", Role.ADJUDICATOR), 60, precedents=found)
    start = next(n for n, row in enumerate(rows) if row.startswith("Earlier"))
    assert rows[start].endswith("P shows all")
    assert rows[start + 1 : start + 5] == [
        " 2 earlier cases agree, 2 otherwise",
        " = Buy a new one [pump]. Reference · R7 · same number",
        " · Buy a new one [year old]. Age · same number",
        " · Damaged · same number",
    ]
    assert not any("anna" in row for row in rows)
    reading = shown(make.item(), None, 60, precedents=found[:2])
    assert " 1 Reference, 1 Age" in reading
    assert not any("P shows all" in row for row in reading)
    for width in (30, 44, 60, 96):
        rows = shown(item, None, width, precedents=found * 3)
        start = next(n for n, row in enumerate(rows) if row.startswith("Earlier"))
        assert "" in rows[start + 2 : start + 6], "four lines at most, then other things"
    own = shown(item, first_state(item, "me", Role.ANNOTATOR), 60, precedents=found)
    assert not any(row.startswith("Earlier") for row in own)


def test_precedents_are_looked_for_by_the_answer_edited_else_by_gold(make):
    item = make.item(gold=Gold(make.reference(5), Rule.IMPORTED))
    empty = first_state(make.item(), "me", Role.ADJUDICATOR)
    assert search_terms(item, empty) == ({"rope"}, None)
    marked = act(move_to(empty, item, 1).state, item, "head.toggle").state
    assert search_terms(item, replace(marked, tag="R7")) == ({"tent"}, "R7")


def test_names_that_begin_alike_are_told_apart_by_their_ends(make):
    for name in ("annotator_team_north_{:02}", "annotator_team_{:02}@annotators.example"):
        votes = [make.vote(name.format(n), make.reference(1)) for n in range(1, 13)]
        item = make.item(votes=votes)
        for width in (44, 80):
            rows, _ = table(item, width)
            for n in range(1, 13):
                told = [row for row in rows if re.match(rf" {n} +\S*{n:02}\S* ", row)]
                assert len(told) == 1, rows
    assert told_apart(["aaaaX1y", "aaaaX2y", "aaaaZyy", "b"], 4) == [
        "…X1y",
        "…X2y",
        "…Zyy",
        "b",
    ]
