"""The evidence as rows of text: what is shown, to whom, and that it fits any pane."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_db.records import CompetenceWeight, FlagMark, FlagName, Gold, HistoryLine, Role, Rule
from nfh_models.domain import Answer, Kind, Passage, Relation, Sort, class_answer
from nfh_tui.display_figures import bar
from nfh_tui.display_text import width_of
from nfh_tui.editor.commands import act, first_state, move_to
from nfh_tui.editor.state import EditState, blinded
from nfh_tui.editor.votes import describe, pattern_words
from nfh_tui.services.guidelines import guide_of
from nfh_tui.widgets.evidence_rows import (
    HIDDEN,
    EvidencePart,
    RowBuilder,
    best,
    folded,
    local_time,
)

from .evidence import rows_of, shown

RULES = "## R19 One noun any reader would say\n\nText.\n"


class Version:
    """A version of the guidelines as the store gives it."""

    version = 1
    body = RULES


@pytest.fixture
def full(make, monkeypatch):
    """An item of which everything is known."""
    monkeypatch.setenv("TZ", "UTC")
    votes = [
        make.vote("ann1", make.reference([1, 11]), seconds=12.4),
        make.vote("ann2", make.reference(1), seconds=7, saw_model=True),
        make.vote(
            "ann3",
            replace(class_answer(Kind.OTHER, Sort.NOUN, "shelter"), comment="[b]why[/b]"),
            rule_tag="19",
        ),
        make.vote("anna", make.age(), Role.ADJUDICATOR, saw_votes=True),
        make.vote("emil", make.reference(5), Role.ADJUDICATOR),
    ]
    return make.item(
        votes=votes,
        gold=Gold(make.age(), Rule.EXPERT, "anna", "2024-05-12T10:03:07.000Z"),
        scores={1: 0.4, 5: 0.3, 11: 0.9, 22: 0.001},
        classes=(None, 0.2, None, None, None, 0.1),
        flags=[FlagMark(FlagName.AMBIGUOUS, "ann3", "2024-05-12T10:03:07.000Z")],
        stale=[make.vote("ann4", class_answer(Kind.TIME))],
    )


def local(at):
    return local_time(f"2024-05-12T{at}:00.000Z")


def test_an_adjudicator_sees_everything_the_answers_first(full):
    state = first_state(full, "me", Role.ADJUDICATOR)
    history = [
        HistoryLine("2024-05-12T10:03:00.000Z", "anna", "decide", "gold", "kind", None, '"AGE"')
    ]
    assert shown(full, state, history=history, rules=guide_of([Version()])) == [
        "Answer                    gold · adjudicator",
        " Age",
        "",
        "Answers                    2-1 · which class",
        " 1 ann1 Reference tents +1 t1 ≠ class 12s",
        "     Then borrow one [tent] from the men on",
        "     the hill.",
        " 2 ann2 Reference tents    t1 ≠ class  7s",
        "     as 1",
        " 3 ann3 Other     shelter     ≠ class",
        "     Then borrow one [shelter] from the men",
        "     on the hill.",
        " m cues Reference tents    t1 ≠ class",
        "     as 1",
        " ◆ gold Age                   =",
        "     Then borrow one [year old] from the men",
        "     on the hill.",
        " · emil Reference ropes    t1 ≠ class",
        "     Then borrow one [rope] from the men on",
        "     the hill.",
        " named: tents by 2 of 3, two mentions; Other",
        "   by 1 of 3",
        " other mentions (never blocks)",
        "",
        "Remarks",
        " 2 saw the model",
        " 3 R19 One noun any reader would say",
        " 3 ; [b]why[/b]",
        f" ◆ adjudicator · anna · {local('10:03')}",
        "",
        "Nouns                    * adds their places",
        " 12   t1 My tents · noun",
        " 1m   t1 the good tents · noun",
        "      t3 A tent · noun",
        " ·    t1 the ropes · noun",
        "      t3 a rope · noun",
        "",
        "Flags",
        f" ! ambiguous ann3 · {local('10:03')}",
        "",
        "Answers to the old span         do not count",
        " 4 × ann4 Time ≠ which class",
        "",
        "Model                                   cues",
        " tents        ████████████████████ 0.90 t1",
        " tents        ████████▉            0.40 t1",
        " ropes        ██████▋              0.30 t1",
        " Age          ████▌                0.20",
        " Other        ██▎                  0.10",
        " all others under 0.009",
        "",
        "History",
        f" {local('10:03')} anna decide: gold nothing",
        "   → AGE",
    ]


def test_below_the_passage_what_agrees_takes_one_line(full):
    item = replace(full, votes=full.votes[:2], gold=None, flags=(), stale_votes=())
    state = first_state(item, "me", Role.ADJUDICATOR)
    below = shown(item, state, 84, part=EvidencePart.BELOW)
    assert below == [
        " 1 ann1 Reference tents +1 t1 =  Then borrow one [tent] from the men on the …    12s",
        " 2 ann2 Reference tents    t1 =  as 1                                             7s",
        " m cues Reference tents    t1 =  as 1",
        " named: tents by 2 of 2, two mentions",
        " other mentions (never blocks)",
        "",
        "Remarks",
        " 2 saw the model",
        "",
        "Nouns           tents t1, t1, tent t3 · * adds them",
        "Model           Reference: tents = · cues",
    ]
    other = replace(state, kind=Kind.AGE, heads=())
    rows = shown(item, other, 84, part=EvidencePart.BELOW)
    assert " ".join(rows[3].split()).startswith("= you Age Then borrow one [year old]")
    assert any(row.startswith(" Age          ████▌") for row in rows)
    assert any(row.startswith(" 1m   t1 the good tents") for row in rows)


def test_an_annotator_sees_nothing_of_others(full):
    rows = shown(full, first_state(full, "me", Role.ANNOTATOR), 60)
    text = "\n".join(rows)
    assert HIDDEN in text
    for word in ("ann1", "ann3", "anna", "shelter", "Age\n", "◆", "Answers", "old span"):
        assert word not in text
    assert "cues" in text
    assert " ! ambiguous" in rows


def test_blind_evidence_names_nobody_and_tells_nothing_by_which_one_is_known(full):
    signed = replace(class_answer(Kind.AGE), comment="Ann1 and emil said so. ann2's, too.")
    item = replace(
        full,
        votes=tuple(
            replace(vote, answer=signed) if vote.annotator == "ann3" else vote
            for vote in full.votes
        ),
        gold=Gold(signed, Rule.EXPERT, "anna", None, (("ann1", "2024"),)),
        competences=(CompetenceWeight("ann1", 0.9, 40), CompetenceWeight("ann2", 0.2, 40)),
    )
    history = [HistoryLine("2024", "ann1", "answer", "answer", "kind", "1", "2")]
    hidden = blinded(item)
    for shown_item in (hidden, replace(hidden, competences=item.competences)):
        state = first_state(item, "me", Role.ADJUDICATOR)
        text = "\n".join(shown(shown_item, state, 90, blind=True, history=history))
        for word in ("ann1", "ann2", "ann3", "ann4", "anna", "emil", "right in", "weight"):
            assert word not in text.casefold()
    assert {vote.annotator for vote in hidden.votes} == {"A", "B", "C", ""}
    assert hidden.gold.votes == ()


def test_blind_evidence_of_an_item_that_is_not_blinded_names_nobody_either(full):
    state = first_state(full, "me", Role.ADJUDICATOR)
    text = "\n".join(shown(full, state, blind=True, history=[]))
    assert "ann" not in text.replace("cannot", "")
    assert re.search(r" \d [A-C]    Reference tents \+1", text)


def test_the_answer_edited_shows_what_is_missing_and_what_is_asked(make):
    item = make.item()
    state = first_state(item, "me", Role.ADJUDICATOR)
    assert shown(item, state)[:3] == [
        "Answer",
        " ▸ There is no answer yet: press f and",
        "   letters for a head, or a class key.",
    ]
    for token in (1, 11, 5):
        state = act(move_to(state, item, token).state, item, "head.toggle").state
    state = replace(state, comment="see turn 2", tag="R19")
    assert shown(item, state, rules=guide_of([Version()]))[:6] == [
        "Answer                               changed",
        " Reference · 2 heads · AND or OR?",
        "  ₁ tents turn 1 and 1 more",
        "  ₂ ropes turn 1",
        " R19 One noun any reader would say",
        " ; see turn 2",
    ]
    measured = act(state, item, "kind.other").state
    assert " ▸ Which sort? n number, c code, m measure," in shown(item, measured)
    noun = replace(
        first_state(item, "me", Role.ADJUDICATOR),
        kind=Kind.OTHER,
        sort=Sort.MEASURE,
        noun="mark",
    )
    assert " Other, measure “mark”" in shown(item, noun)


def test_what_is_only_asked_has_changed_nothing(make):
    item = make.item()
    state = first_state(item, "me", Role.ADJUDICATOR)
    for pending in ("hint.start", "mentions.all"):
        waiting = act(state, item, pending).state
        assert shown(item, waiting)[0] == "Answer"
    growing = act(move_to(state, item, 1).state, item, "span.grow").state
    assert shown(item, growing)[0] == "Answer                               changed"


def test_an_open_item_says_that_nothing_is_known(make):
    assert shown(make.item(), None) == [
        "Answers                           nobody yet",
        "",
        "Model                          no answer yet",
    ]


def test_what_stands_above_is_not_told_again(make):
    given = replace(make.age(), comment="she says so")
    vote = make.vote("anna", given, Role.ADJUDICATOR, rule_tag="R5", seconds=3)
    item = make.item(votes=[vote], gold=Gold(given, Rule.EXPERT, "anna", None))
    state = first_state(item, "me", Role.ADJUDICATOR)
    rows = shown(item, state)
    assert sum("she says so" in row for row in rows) == 1
    reading = shown(item, None)
    assert " ◆ ; she says so" in reading
    assert any("R5" in row for row in reading)


def test_the_models_second_choice_and_margin(make):
    item = make.item(scores={1: 0.5})
    assert item.prediction is not None
    for second, scores, said in (
        ("5", {}, "tents 50 %, then ropes, margin 0.21"),
        ("5", {5: 0.29}, "tents 50 %, then ropes 29 %"),
        ("5", {5: -2.5}, "tents 0.50, then ropes -2.50"),
        ("AGE", {}, "tents 50 %, then Age, margin 0.21"),
    ):
        known = [scores.get(place - 6, s) for place, s in enumerate(item.prediction.scores)]
        prediction = replace(item.prediction, second=second, margin=0.214, scores=tuple(known))
        assert f" {said}" in shown(replace(item, prediction=prediction), None)
    odd = replace(item, prediction=replace(item.prediction, choice="16", scores=()))
    assert " m a choice that does not fit: 16" in shown(odd, None)


@pytest.mark.parametrize("width", [0, 8, 17, 31, 60])
@pytest.mark.parametrize("blind", [False, True])
def test_hostile_text_is_shown_as_text_and_fits(make, hostile, width, blind):
    passage = hostile(" ")
    words = " ".join(passage.word(token) for token in range(len(passage.tokens)))
    votes = [
        make.vote("\x1b[31m[red]名前" * 9, replace(make.reference(8, 9), comment=words)),
        make.vote("\x07", class_answer(Kind.OTHER, noun=words)),
    ]
    item = make.item(
        passage,
        anchor=(5, 6),
        votes=votes,
        stale=votes,
        gold=Gold(make.reference(12), Rule.EXPERT, "[/]\u202e", "not a time"),
        scores=dict.fromkeys((0, 8, 9, 10, 11, 12), 0.5),
        flags=[FlagMark(FlagName.ANCHOR, "\x00", "")],
    )
    state = first_state(item, "me", Role.ADJUDICATOR)
    history = [HistoryLine(words, words, words, words, words, words, words)]
    text = "".join(shown(item, state, width, blind=blind, history=history))
    assert not any(c in text for c in "\x1b\t\x00\u202e\u200d\u2028\x85\ufe0f\n")


@given(
    st.lists(st.tuples(st.text(max_size=20), st.sampled_from(["", "note"])), max_size=5),
    st.integers(-3, 40),
    st.integers(0, 4),
)
def test_paragraphs_fit_and_lose_no_word(parts, width, indent):
    rows = RowBuilder(width)
    rows.text(parts, indent=indent, hang=2)
    drawn = rows_of(rows.made, width)
    plain = RowBuilder(10_000)
    plain.text(parts)
    joined = "".join(rows_of(plain.made, 10_000))
    assert "".join("".join(drawn).split()) == "".join(joined.split())


@given(st.text(max_size=40), st.integers(1, 20))
def test_a_folded_text_fits_and_loses_no_word(text, width):
    lines = folded(text, width)
    whole = folded(text, 10_000)
    assert "".join("".join(lines).split()) == "".join("".join(whole).split())
    assert all(width_of(line) <= max(width, 10) for line in lines)


def test_words_of_several_parts_are_glued_only_where_they_are_written_so():
    rows = RowBuilder(40)
    rows.text([("a", ""), ("b c", "note"), (" d", ""), ("", ""), ("e ", ""), ("f", "")])
    assert rows_of(rows.made, 40) == ["ab c de f"]


def test_what_is_glued_goes_to_the_next_row_together_if_that_can_hold_it():
    rows = RowBuilder(20)
    rows.text([("was her mother one ", ""), ("[it]", "put"), ("?", "")])
    rows.text([("a" * 15, ""), ("b" * 15, "note")])
    assert rows_of(rows.made, 20) == ["was her mother one", "[it]?", "a" * 15, "b" * 15]


def test_headings_keep_apart_and_put_a_long_note_below():
    rows = RowBuilder(20)
    rows.heading("One", "short")
    rows.heading("Two", "a note that is long")
    assert rows_of(rows.made, 20) == [
        "One            short",
        "",
        "Two",
        " a note that is long",
    ]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("", "nobody has answered"),
        ("1-0", "one answer"),
        ("3-0", "all 3 agree"),
        ("2-1", "2 agree, 1 differs"),
        ("3-2", "3 agree, 2 differ"),
        ("1-1-1", "3 answers, all different"),
        ("2-1-1", "groups of 2, 1, 1"),
        ("odd", "nobody has answered"),
    ],
)
def test_patterns_in_words(pattern, words):
    assert pattern_words(pattern) == words


def test_answers_in_words(make):
    passage = make.passage(make.tents)
    both = make.reference([1, 11], 5, relation=Relation.AND)
    assert describe(both, passage) == "Reference: tents +1 AND ropes"
    assert describe(make.reference(1, 41), passage) == "Reference: tents, rope"
    assert (
        describe(make.reference(1, 41), passage, places=True) == "Reference: tents t1, rope t3"
    )
    assert describe(Answer(Kind.NFH), passage) == "NFH, head not given"
    assert describe(class_answer(Kind.OTHER, noun="[x]"), passage) == "Other “[x]”"


def test_bars_are_in_eighths_and_best_scores_come_first():
    nan = float("nan")
    assert [bar(share, 2) for share in (1.0, 0.5, 0.06, 0.001, 0.0, -1.0, nan, 5.0)] == [
        "██", "█", "▏", "▏", "", "", "", "██",
    ]  # fmt: skip
    scores = [("a", 0.2), ("b", None), ("c", 0.9), ("d", nan), ("e", 0.3)]
    assert best(scores, 2) == [("c", 0.9), ("e", 0.3)]


def test_times_are_local_and_odd_ones_are_left_as_they_are():
    assert re.fullmatch(r"2024-05-1[123] \d\d:\d\d", local_time("2024-05-12T10:03:07.000Z"))
    assert local_time("") == ""
    assert local_time("yesterday") == "yesterday"


def test_a_state_of_nothing_is_shown(make):
    assert shown(make.item(), EditState())[1].startswith(" ▸ There is no answer yet")


def test_the_evidence_of_a_long_passage_reads_no_more_words_than_of_a_short_one(
    make, monkeypatch
):
    count = 0
    read = Passage.word

    def word(passage, token):
        nonlocal count
        count += 1
        return read(passage, token)

    def words_read(turns):
        nonlocal count
        lines = [("Nora", "My tents leak .")] * turns
        passage = make.passage([*lines, ("Bram", "Take the one of mine .")])
        start = 4 * turns + 2
        votes = make.three(make.reference(1), make.reference([1, 5]), make.age())
        item = make.item(passage, (start, start + 1), votes=votes)
        state = first_state(item, "me", Role.ADJUDICATOR)
        first = shown(item, state, 90)
        count = 0
        assert shown(item, state, 90) == first
        assert "[tent]" in " ".join(first)
        return count

    monkeypatch.setattr(Passage, "word", word)
    assert 0 < words_read(400) <= words_read(20)
