"""What others marked: lanes with their signs, what differs, the gold, and what voters saw."""

from dataclasses import replace

import pytest

from nfh_db.records import AnchorState, Gold, Role, Rule, Sibling
from nfh_models.domain import Anchor, Kind, Origin, Passage, Token, Turn
from nfh_tui.editor.commands import act, first_state
from nfh_tui.editor.state import EditState, blinded
from nfh_tui.widgets.passage_render import window

from .painting import laid_out, lines, looks, marked, runs


def cleared(item):
    return act(first_state(item, "me", Role.ADJUDICATOR), item, "clear").state


def sign_looks(item, state, sign):
    """The roles of each run that holds a sign."""
    return [run.roles for made in runs(item, state) for run in made if sign in run.text]


def test_every_word_that_an_annotator_marked_has_the_sign_of_the_lane(make):
    votes = make.three(make.reference(1), make.reference(1, 5), make.reference([5, 11], 41))
    item = make.item(votes=votes)
    for state in (EditState(role=Role.ADJUDICATOR), None):
        assert (
            lines(item, state)[0]
            == "1 Nora  My tents¹² leak and the ropes²³ are gone, the good"
        )
        assert lines(item, state)[1] == "        tents³ too."
        assert lines(item, state)[-1] == "        rope³."
    taken = act(cleared(item), item, "adopt.1").state
    assert lines(item, taken)[0].startswith("1 Nora  My ₁tents¹² leak and the ")
    hidden = "".join(lines(item, first_state(item, "me", Role.ANNOTATOR)))
    assert not set("¹²³◆") & set(hidden)
    assert "".join(lines(make.item(), None)).split() == hidden.split()


def test_only_what_the_answer_has_not_is_marked_as_differing(make):
    votes = make.three(make.reference(1), make.reference(5), make.reference(11, 5))
    item = make.item(votes=votes)
    state = act(cleared(item), item, "adopt.1").state
    assert sign_looks(item, state, "¹") == [("lane-1",)]
    assert sign_looks(item, state, "²") == [("lane-2", "differs-sign")]
    # Lane 3 marked another mention of the same noun, and ropes beside lane 2.
    assert sign_looks(item, state, "³") == [("lane-3", "differs-sign"), ("lane-3",)]
    assert looks(item, state, "ropes") == ("differs",)
    alone = act(state, item, "adopt.2").state
    assert looks(item, alone, "tents") == ("lane-1", "differs")
    classed = act(state, item, "kind.age").state
    assert looks(item, classed, "ropes") == ("differs",)
    nothing = cleared(item)
    assert all(looks_ == ("lane-2",) for looks_ in sign_looks(item, nothing, "²"))


def test_whoever_reads_sees_what_differs_from_the_gold(make):
    votes = make.three(make.reference(1), make.reference(5), make.age())
    item = make.item(votes=votes, gold=Gold(make.reference(11), Rule.EXPERT))
    assert sign_looks(item, None, "¹") == [("lane-1",)]
    assert sign_looks(item, None, "²") == [("lane-2", "differs-sign")]


def test_added_mentions_have_the_sign_too_and_removed_ones_have_none(make):
    answer = make.reference([1, 11, 29])
    (head,) = answer.heads
    mentions = (
        head.mentions[0],
        replace(head.mentions[1], origin=Origin.ADDED),
        replace(head.mentions[2], origin=Origin.REMOVED),
    )
    item = make.item(
        votes=[make.vote("ann1", replace(answer, heads=(replace(head, mentions=mentions),)))]
    )
    drawn = "".join(lines(item, None))
    assert "My tents¹ leak" in drawn
    assert "tents¹ too" in drawn
    assert "A tent from" in drawn


def test_annotators_without_a_key_share_one_sign(make):
    votes = [make.vote(f"ann{n:02}", make.reference(1 if n < 10 else 5)) for n in range(1, 13)]
    item = make.item(votes=votes)
    drawn = lines(item, EditState(role=Role.ADJUDICATOR))[0]
    assert drawn.startswith("1 Nora  My tents¹²³⁴⁵⁶⁷⁸⁹ leak and the ropes⁺ are")
    assert sign_looks(item, cleared(item), "⁺") == [("lane-0",)]


def test_blinding_mixes_the_lanes_and_the_keys_with_them(make):
    for number in range(40):
        item = make.item(
            votes=make.three(make.reference(1), make.reference(5), make.reference(41)),
            public_id=f"{number:032}",
        )
        mixed = blinded(item)
        first = mixed.votes[0].answer.head_tokens()[0]
        assert f"{item.passage.word(first)}¹" in "".join(lines(mixed, cleared(mixed)))
        assert act(cleared(mixed), mixed, "adopt.1").state.heads[0][0].head == first
        if first != 1:
            return
    raise AssertionError("forty items, and the first lane is always the same annotator's")


def test_gold_has_its_sign_where_the_answer_has_not_the_same_head(make):
    gold = Gold(make.reference([1, 11]), Rule.EXPERT)
    item = make.item(gold=gold)
    assert "My ◆tents leak" in lines(item, cleared(item))[0]
    assert "My ₁tents leak" in lines(item, marked(item, 11))[0]
    assert looks(item, cleared(item), "tents") == ("gold",)
    assert "◆" not in "".join(lines(item, first_state(item, "me", Role.ANNOTATOR)))


def test_nothing_is_kept_free_before_a_comma_and_a_head_does_not_stick_to_the_word_before(make):
    answer = make.reference(1)
    item = make.item(
        _glued(make, "the pothole ~, sister . one", "~"),
        anchor=(5, 6),
        gold=Gold(answer, Rule.EXPERT),
        votes=[make.vote("ann1", answer), make.vote("ann2", answer)],
    )
    for state in (first_state(item, "me", Role.ADJUDICATOR), cleared(item), None):
        sign = "₁" if state is not None and state.heads else "◆"
        assert lines(item, state) == [f"1 A  the {sign}pothole¹², sister . ▸one◂"]


def test_the_room_of_the_heads_begun_with_stays_while_one_edits(make):
    votes = make.three(make.reference(1), make.reference(1), make.reference(1))
    item = next(
        one
        for one in (make.item(votes=votes, public_id=f"{n:032}") for n in range(9))
        if first_state(one, "me", Role.ADJUDICATOR).heads
    )
    state = first_state(item, "me", Role.ADJUDICATOR)
    assert lines(item, state)[0].startswith("1 Nora  My ₁tents¹²³ leak and the ropes are")
    other = act(state, item, "clear").state
    assert laid_out(item, other) == laid_out(item, state)
    assert lines(item, other)[0].startswith("1 Nora  My  tents¹²³ leak and the ropes are")


def test_signs_keep_their_cells_where_words_are_glued_together(make):
    item = make.item(
        _glued(make, "is quince jelly ~. one", "~"),
        anchor=(4, 5),
        gold=Gold(make.reference(1), Rule.EXPERT),
        votes=[make.vote("ann1", make.reference(2)), make.vote("ann2", make.reference(1, 2))],
    )
    assert lines(item, cleared(item))[0] == "1 A  is ◆quince² jelly¹². ▸one◂"
    assert lines(item, cleared(item), 16) == ["1  is ◆quince²", "   jelly¹².", "  ▸one◂"]
    tight = make.item(
        make.passage([("A", "( tents ) one")], glue=""),
        anchor=(3, 4),
        gold=Gold(make.reference(1), Rule.EXPERT),
    )
    assert lines(tight, cleared(tight)) == ["1 A  (◆tents)▸one◂"]


@pytest.mark.parametrize("width", [14, 22, 40, 60])
def test_every_sign_is_drawn_at_every_width(make, width):
    votes = make.three(make.reference(1, 5), make.reference([11, 41]), make.reference(1, 19))
    item = make.item(votes=votes, gold=Gold(make.reference(5, 38), Rule.EXPERT))
    drawn = "".join(lines(item, cleared(item), width))
    assert [drawn.count(sign) for sign in "¹²³◆▸◂"] == [2, 2, 2, 2, 1, 1]


def test_other_numbers_tell_whether_and_how_they_are_decided(make):
    decided = make.item(siblings=[(26, 27, AnchorState.DECIDED), (16, 17, AnchorState.OPEN)])
    assert lines(decided, None)[3] == "        have seven✓."
    assert looks(decided, None, "seven") == ("decided",)
    people = replace(
        decided, siblings=(Sibling(9, Anchor(26, 27), AnchorState.DECIDED, Kind.PEOPLE),)
    )
    assert lines(people, None)[3] == "        have seven✓p."
    open_ = make.item(siblings=[(26, 27, AnchorState.OPEN)])
    assert lines(open_, None)[3] == "        have seven."
    assert looks(open_, None, "seven") == ("undecided",)


@pytest.mark.parametrize(
    ("turns", "at", "bounds"),
    [
        (4, 2, None),
        (4, 1, (0, 2)),
        (6, 3, (1, 4)),
        (6, 5, (3, 5)),
        (1, 0, None),
        (5, 0, (0, 1)),
    ],
)
def test_voters_saw_two_turns_before_the_number_and_one_after(make, turns, at, bounds):
    found = window(asked(make, turns, at, make.vote("ann1", make.age(), imported=True)))
    assert (None if found is None else (found.first, found.last)) == bounds


def asked(make, turns, at, *votes):
    """An item whose number stands in turn `at`; each turn has three words."""
    passage = make.passage([("A", "just one more")] * turns)
    return make.item(passage, anchor=(3 * at + 1, 3 * at + 2), votes=votes)


def test_where_votes_deny_it_nothing_is_said_of_what_voters_saw(make):
    file = {"imported": True}
    seen = make.vote("ann1", make.reference(3), **file)
    assert window(asked(make, 6, 3, seen)) is not None
    for more in (
        make.vote("ann2", make.reference(4)),
        make.vote("ann2", make.reference(2), **file),
        make.vote("ann2", make.reference(4, 17), **file),
    ):
        assert window(asked(make, 6, 3, seen, more)) is None
    assert window(asked(make, 6, 3)) is None
    # A model, and one who decides, see more, and what the tool added nobody marked.
    answer = make.reference([3, 0])
    (head,) = answer.heads
    added = replace(
        head, mentions=(head.mentions[0], replace(head.mentions[1], origin=Origin.ADDED))
    )
    others = (
        make.vote("net", make.reference(0), type="model"),
        make.vote("anna", make.reference(0), Role.ADJUDICATOR),
        make.vote("ann2", replace(answer, heads=(added,)), **file),
    )
    assert window(asked(make, 6, 3, seen, *others)) is not None


def test_thin_lines_bound_what_voters_saw(make):
    item = asked(make, 6, 3, make.vote("ann1", make.age(), imported=True))
    drawn = lines(item, None, 40, windowed=True)
    assert drawn[1] == "     " + 9 * "┄" + " annotators saw from here"
    assert drawn[6] == "     " + 11 * "┄" + " annotators saw to here"
    assert [line[:4] for line in drawn] == [
        "1 A ",
        "    ",
        "2 A ",
        "3 A ",
        "4 A ",
        "5 A ",
        "    ",
        "6 A ",
    ]
    layout = laid_out(item, None, 40, windowed=True)
    assert layout.at(1, 10) is None
    assert layout.vertical_neighbour(1, down=True) == 4
    assert layout.vertical_neighbour(4, down=False) == 1
    assert [layout.lines_of(token) for token in (2, 3)] == [range(1), range(2, 3)]
    for width in range(13, 20):
        assert len(lines(item, None, width, windowed=True)) >= 8


def _glued(make, words, sign):
    """A passage of one turn in which words after `sign` follow without a space."""
    text, tokens = "", []
    for word in words.split():
        plain = word.removeprefix(sign)
        text += " " if text and plain == word else ""
        tokens.append(Token(len(text), len(text) + len(plain), plain))
        text += plain
    return Passage(text, tuple(tokens), (Turn(0, "A", 0, len(tokens)),))
