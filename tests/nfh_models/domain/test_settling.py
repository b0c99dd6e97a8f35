"""The table of cases for what votes settle, and what holds for all of them."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.domain import (
    Answer,
    Blocking,
    Head,
    Kind,
    Mention,
    Origin,
    Reason,
    Relation,
    SettlingRule,
    Sort,
    compare,
    compare_all,
    paper_class,
    settle,
    weight,
)

# 0:the 1:tent 2:leaks 3:tents 4:boat 5:dollar 6:people 7:years 8:boat 9:joke 10:van 11:vehicle
LEMMAS = "the tent leak tent boat dollar people year boat joke van vehicle".split()
UNANIMOUS, MAJORITY = SettlingRule.UNANIMOUS, SettlingRule.MAJORITY
AND, OR, UNSTATED = Relation.AND, Relation.OR, Relation.UNSTATED
MARKED, ADDED, REMOVED = Origin.MARKED, Origin.ADDED, Origin.REMOVED


def head(*tokens: int | tuple[int, Origin]) -> Head:
    """A head of one-token mentions; marked, unless the origin is given."""
    mentions = [(token, MARKED) if isinstance(token, int) else token for token in tokens]
    return Head(tuple(Mention(t, t + 1, t, origin) for t, origin in mentions))


def ref(*heads: int | Head, relation: Relation | None = None) -> Answer:
    built = tuple(head(one) if isinstance(one, int) else one for one in heads)
    if len(built) > 1 and relation is None:
        relation = UNSTATED
    return Answer(Kind.REFERENCE, built, relation=relation)


def kind(name: str, noun: str | None = None, sort: Sort | None = None) -> Answer:
    return Answer(Kind(name), noun=noun, sort=sort)


def votes(*answers: Answer) -> list[tuple[str, Answer]]:
    return [(f"ann{number}", answer) for number, answer in enumerate(answers, start=1)]


AGE, YEAR, OTHER, UNKNOWN = kind("AGE"), kind("YEAR"), kind("OTHER"), kind("UNKNOWN")
NOT_NFH, BROKEN, NFH = kind("NOT_NFH"), kind("BROKEN"), kind("NFH")
CURRENCY, TIME = kind("CURRENCY"), kind("TIME")
TENT, TENTS, BOAT, DOLLAR = ref(1), ref(3), ref(4), ref(5)

# votes; what unanimity settles or why not; what the majority settles or why not
CASES = [
    # how many there are
    ([], Reason.NO_VOTES, Reason.NO_VOTES),
    ([AGE], Reason.TOO_FEW, Reason.TOO_FEW),
    ([AGE, AGE], AGE, AGE),
    ([AGE, YEAR], Reason.CLASS, Reason.NO_MAJORITY),
    ([AGE, AGE, AGE], AGE, AGE),
    ([AGE, AGE, YEAR], Reason.CLASS, AGE),
    ([AGE, YEAR, TIME], Reason.CLASS, Reason.NO_MAJORITY),
    ([AGE, AGE, YEAR, YEAR], Reason.CLASS, Reason.NO_MAJORITY),
    ([AGE, AGE, YEAR, TIME], Reason.CLASS, Reason.NO_MAJORITY),
    ([AGE, AGE, AGE, YEAR], Reason.CLASS, AGE),
    ([AGE, AGE, AGE, YEAR, YEAR], Reason.CLASS, AGE),
    ([AGE, AGE, YEAR, YEAR, TIME], Reason.CLASS, Reason.NO_MAJORITY),
    # OTHER and UNKNOWN are one class of the paper's
    ([OTHER, UNKNOWN], Reason.ANSWERABILITY, OTHER),
    ([OTHER, UNKNOWN, AGE], Reason.ANSWERABILITY, OTHER),
    ([OTHER, UNKNOWN, UNKNOWN], Reason.ANSWERABILITY, UNKNOWN),
    ([OTHER, OTHER, UNKNOWN], Reason.ANSWERABILITY, OTHER),
    ([UNKNOWN, UNKNOWN, AGE], Reason.ANSWERABILITY, UNKNOWN),
    ([UNKNOWN, UNKNOWN, OTHER, OTHER], Reason.ANSWERABILITY, OTHER),
    ([OTHER, UNKNOWN, AGE, AGE], Reason.ANSWERABILITY, Reason.NO_MAJORITY),
    # what the paper's annotators could not say
    ([NOT_NFH, NOT_NFH, NOT_NFH], NOT_NFH, NOT_NFH),
    ([NOT_NFH, NOT_NFH, OTHER], Reason.SCOPE, NOT_NFH),
    ([NOT_NFH, OTHER, UNKNOWN], Reason.SCOPE, OTHER),
    ([NOT_NFH, NOT_NFH, OTHER, UNKNOWN], Reason.SCOPE, Reason.NO_MAJORITY),
    ([BROKEN, BROKEN], BROKEN, BROKEN),
    ([BROKEN, BROKEN, TENT], Reason.DAMAGE, BROKEN),
    ([BROKEN, NOT_NFH, TENT], Reason.DAMAGE, Reason.NO_MAJORITY),
    # NFH differs from nothing it could become, and counts against a majority
    ([NFH, NFH, NFH], Reason.NO_HEAD, Reason.NO_HEAD),
    ([NFH, AGE], Reason.NO_HEAD, Reason.NO_HEAD),
    ([NFH, AGE, AGE], AGE, AGE),
    ([NFH, NFH, AGE, AGE], Reason.NO_HEAD, Reason.NO_HEAD),
    ([NFH, NFH, AGE, AGE, AGE], AGE, AGE),
    ([NFH, AGE, AGE, YEAR], Reason.CLASS, Reason.NO_MAJORITY),
    ([NFH, NOT_NFH, NOT_NFH], Reason.SCOPE, NOT_NFH),
    ([NFH, BROKEN, BROKEN], Reason.DAMAGE, BROKEN),
    # the class against a noun that only names it
    ([CURRENCY, CURRENCY, DOLLAR], Reason.ROUTE, CURRENCY),
    ([CURRENCY, DOLLAR, DOLLAR], Reason.ROUTE, DOLLAR),
    ([CURRENCY, DOLLAR, BOAT], Reason.ROUTE, Reason.ANOTHER_NOUN),
    ([CURRENCY, DOLLAR], Reason.ROUTE, Reason.NO_MAJORITY),
    # heads
    ([TENT, TENT, AGE], Reason.CLASS, TENT),
    ([TENT, TENT, BOAT], Reason.NOUN, Reason.ANOTHER_NOUN),
    ([TENT, BOAT, ref(9)], Reason.NOUN, Reason.ANOTHER_NOUN),
    ([TENT, BOAT, AGE, AGE, AGE], Reason.CLASS, AGE),
    ([TENT, TENTS, TENTS], ref(head(3, 1)), ref(head(3, 1))),
    ([ref(1, 4), TENT, TENT], Reason.PARTIAL, Reason.SOME_HEADS),
    ([ref(1, 4, relation=AND)] * 2 + [AGE], Reason.CLASS, ref(1, 4, relation=AND)),
    (
        [ref(1, 4, relation=AND), ref(1, 4, relation=AND), ref(1, 4, relation=OR)],
        Reason.RELATION,
        Reason.RELATION_DIFFERS,
    ),
    (
        [ref(1, 4, relation=AND), ref(1, 4), ref(4, 1)],
        ref(1, 4, relation=AND),
        ref(1, 4, relation=AND),
    ),
    ([ref(1, 4), ref(1, 4)], ref(1, 4), ref(1, 4)),
    # one vote joins in one head what another has as two: no difference by noun, no pairs
    ([ref(10, 11), ref(head(10, 11))], Reason.HEADS_UNCLEAR, Reason.HEADS_UNCLEAR),
    # two heads of one lemma stay two where all agree on them
    ([ref(4, 8, relation=AND)] * 3, ref(4, 8, relation=AND), ref(4, 8, relation=AND)),
]


@pytest.mark.parametrize(("answers", "unanimous", "majority"), CASES)
def test_what_votes_settle(
    answers: list[Answer], unanimous: Answer | Reason, majority: Answer | Reason
) -> None:
    for rule, wanted in ((UNANIMOUS, unanimous), (MAJORITY, majority)):
        found = settle(votes(*answers), LEMMAS, rule)
        assert (found.answer or found.reason) == wanted
        assert (found.answer is None) != (found.reason is None)


def test_every_blocking_kind_is_a_reason() -> None:
    assert {Reason(f"blocked by {blocking}") for blocking in Blocking} <= set(Reason)


def test_every_reason_is_met() -> None:
    given = {why for case in CASES for why in case[1:] if isinstance(why, Reason)}
    assert given | {Reason.NOT_WEIGHED, Reason.NO_WEIGHT} == set(Reason)


def test_as_few_votes_as_asked_for() -> None:
    assert settle(votes(AGE), LEMMAS, UNANIMOUS, 1).answer == AGE
    assert settle(votes(AGE), LEMMAS, MAJORITY, 1).answer == AGE
    assert settle(votes(AGE, AGE), LEMMAS, MAJORITY, 3).reason is Reason.TOO_FEW
    # The third vote does not say what the number is.
    assert settle(votes(AGE, AGE, NFH), LEMMAS, UNANIMOUS, 3).reason is Reason.NO_HEAD
    assert settle(votes(NFH), LEMMAS, UNANIMOUS, 1).reason is Reason.NO_HEAD


def test_lemmas_are_not_needed_without_heads() -> None:
    assert settle(votes(AGE, AGE, YEAR), (), MAJORITY).answer == AGE


def test_who_agreed() -> None:
    found = settle(votes(AGE, YEAR, AGE), LEMMAS, MAJORITY)
    assert found.agreed == ("ann1", "ann3")
    assert settle(votes(AGE, NFH, AGE), LEMMAS, UNANIMOUS).agreed == ("ann1", "ann3")
    assert settle(votes(AGE, YEAR), LEMMAS, MAJORITY).agreed == ()


# --- what the answer says -------------------------------------------------------------------


def merged(*answers: Answer) -> Answer:
    found = settle(votes(*answers), LEMMAS, UNANIMOUS).answer
    assert found is not None
    return found


def test_what_anybody_marked_is_marked_and_the_most_marked_leads() -> None:
    found = merged(ref(head(3, (1, ADDED))), ref(head(3)), ref(head(1, (3, REMOVED))))
    assert found.heads == (head(3, 1),)


def test_equally_often_marked_mentions_stand_by_place() -> None:
    assert merged(ref(head(3, 1)), ref(head(1, 3))).heads == (head(1, 3),)
    assert merged(TENTS, TENT).heads == (head(1, 3),)


def test_what_was_added_stays_unless_somebody_removed_it() -> None:
    added = ref(head(1, (3, ADDED)))
    assert merged(added, TENT).heads == (head(1, (3, ADDED)),)
    assert merged(added, ref(head(1, (3, REMOVED)))).heads == (head(1, (3, REMOVED)),)


def test_a_mention_that_leads_is_not_taken_away() -> None:
    left = ref(head((1, ADDED), (3, REMOVED)))
    right = ref(head((3, ADDED), (1, REMOVED)))
    assert merged(left, right).heads == (head((1, ADDED), (3, ADDED)),)
    nobody = ref(head((3, ADDED), (1, ADDED)))
    assert merged(nobody, nobody).heads == (head((3, ADDED), (1, ADDED)),)


def test_two_words_for_one_thing_come_together() -> None:
    both = ref(head(10, (11, ADDED)))
    assert merged(both, ref(10)).heads == (head(10, (11, ADDED)),)
    assert merged(both, ref(11)).heads == (head(10, 11),)
    # Who says only the one word differs by noun from who says only the other.
    assert settle(votes(both, ref(10), ref(11)), LEMMAS, UNANIMOUS).reason is Reason.NOUN


def test_of_spans_the_commonest_then_the_shortest() -> None:
    def spans(*ends: tuple[int, int]) -> Mention:
        answers = [ref(Head((Mention(*span, 1),))) for span in ends]
        return merged(*answers).heads[0].mentions[0]

    assert spans((0, 2), (0, 2), (1, 2)) == Mention(0, 2, 1)
    assert spans((0, 2), (1, 2)) == Mention(1, 2, 1)
    assert spans((1, 3), (0, 2)) == Mention(0, 2, 1)


def test_heads_stand_by_place() -> None:
    assert merged(ref(4, 1, relation=OR), ref(4, 1)).heads == (head(1), head(4))


def test_sort_and_noun_are_kept_where_nobody_says_another() -> None:
    joke = kind("OTHER", "joke", Sort.NOUN)
    assert merged(joke, OTHER) == joke
    assert merged(joke, kind("OTHER", "Joke ")).noun == "Joke "
    assert merged(joke, kind("OTHER", "Joke "), kind("OTHER", "joke")).noun == "joke"
    story = kind("OTHER", "story", Sort.MEASURE)
    assert merged(joke, story) == OTHER
    assert merged(kind("AGE", "years"), AGE) == kind("AGE", "years")


def test_an_unknown_has_no_sort_and_no_noun_of_an_other() -> None:
    joke = kind("OTHER", "joke", Sort.NOUN)
    assert settle(votes(joke, UNKNOWN, UNKNOWN), LEMMAS, MAJORITY).answer == UNKNOWN
    assert settle(votes(joke, UNKNOWN), LEMMAS, MAJORITY).answer == joke
    tool = kind("UNKNOWN", "tool")
    assert settle(votes(joke, tool), LEMMAS, MAJORITY).answer == joke


def test_comments_stay_with_those_who_wrote_them() -> None:
    said = Answer(Kind.AGE, comment="surely")
    assert settle(votes(said, said), LEMMAS, UNANIMOUS).answer == AGE


# --- what holds for all ---------------------------------------------------------------------

tokens = st.integers(0, len(LEMMAS) - 1)
mentions = st.builds(
    lambda token, before, behind, origin: Mention(
        max(token - before, 0), token + 1 + behind, token, origin
    ),
    tokens,
    st.integers(0, 1),
    st.integers(0, 1),
    st.sampled_from(Origin),
)
heads = (
    st.lists(mentions, min_size=1, max_size=3, unique_by=lambda m: m.head)
    .filter(lambda found: found[0].origin is not REMOVED)
    .map(lambda found: Head(tuple(found)))
)
references = st.lists(heads, min_size=1, max_size=2).flatmap(
    lambda found: st.builds(
        Answer,
        st.just(Kind.REFERENCE),
        st.just(tuple(found)),
        st.sampled_from(Relation) if len(found) > 1 else st.none(),
    )
)
nouns = st.sampled_from([None, "joke", "Joke", "story", "dollar"])
classes = st.sampled_from([k for k in Kind if k is not Kind.REFERENCE]).flatmap(
    lambda found: st.builds(
        Answer,
        st.just(found),
        sort=st.sampled_from([None, *Sort]) if found is Kind.OTHER else st.none(),
        noun=nouns,
        comment=st.sampled_from(["", "why"]),
    )
)
few_heads = st.sampled_from(
    [TENT, TENTS, BOAT, ref(head(3, 1)), ref(head(1, (3, REMOVED))), ref(1, 4), ref(4, 8)]
)
answers = st.one_of(classes, few_heads, references)
agreeing = st.one_of(
    st.lists(answers, max_size=6),
    st.lists(few_heads, min_size=2, max_size=5),
    answers.flatmap(lambda one: st.lists(st.sampled_from([one, AGE]), min_size=2, max_size=5)),
)
rules = st.sampled_from([UNANIMOUS, MAJORITY])
leasts = st.integers(1, 4)


@settings(max_examples=400)
@given(agreeing, rules, leasts, st.randoms(use_true_random=False))
def test_the_order_of_votes_does_not_matter(given_, rule, least, random) -> None:
    said = votes(*given_)
    shuffled = random.sample(said, len(said))
    assert settle(said, LEMMAS, rule, least) == settle(shuffled, LEMMAS, rule, least)


@settings(max_examples=400)
@given(agreeing, st.randoms(use_true_random=False))
def test_nor_does_it_where_they_are_weighed(given_, random) -> None:
    said = votes(*given_)
    weights = {name: random.random() for name, _ in said}
    shuffled = random.sample(said, len(said))
    found = settle(said, LEMMAS, SettlingRule.WEIGHTED, 1, weights)
    assert found == settle(shuffled, LEMMAS, SettlingRule.WEIGHTED, 1, weights)
    if found.answer is not None:
        assert sum(weights[name] for name in found.agreed) > sum(weights.values()) / 2


@pytest.mark.parametrize(
    ("answers", "accuracies", "expected"),
    [
        ([AGE, AGE, YEAR], (0.5, 0.5, 0.5), AGE),
        ([AGE, AGE, YEAR], (0.3, 0.3, 0.95), YEAR),
        # A tenth of all weight is the least lead; half of it is no majority.
        ([AGE, AGE, YEAR], (0.6, 0.6, 0.97), Reason.NO_WEIGHT),
        ([AGE, YEAR], (0.7, 0.7), Reason.NO_WEIGHT),
        ([AGE, YEAR], (0.9, 0.4), AGE),
        # Another noun is another group, where a majority settles nothing.
        ([TENT, TENT, BOAT], (0.8, 0.8, 0.8), TENT),
        ([AGE, AGE, YEAR], (0.8, 0.8), Reason.NOT_WEIGHED),
        ([AGE, AGE], (0.1, 0.1), Reason.NOT_WEIGHED),
        # Who names nothing has weight against the rest.
        ([AGE, AGE, NFH], (0.5, 0.5, 0.99), Reason.NO_WEIGHT),
        ([AGE], (0.9,), Reason.TOO_FEW),
    ],
)
def test_votes_weigh_by_competence(answers, accuracies, expected) -> None:
    said = votes(*answers)
    known = zip(said, accuracies, strict=False)
    weights = {name: weight(accuracy) for (name, _), accuracy in known}
    found = settle(said, LEMMAS, SettlingRule.WEIGHTED, weights=weights)
    assert (found.answer or found.reason) == expected


@settings(max_examples=400)
@given(agreeing, leasts)
def test_what_all_say_the_majority_says_too(given_, least) -> None:
    found = settle(votes(*given_), LEMMAS, UNANIMOUS, least)
    if found.answer is not None:
        assert settle(votes(*given_), LEMMAS, MAJORITY, least) == found


@settings(max_examples=400)
@given(agreeing, rules, leasts)
def test_a_settled_answer_is_what_those_who_agreed_said(given_, rule, least) -> None:
    said = votes(*given_)
    found = settle(said, LEMMAS, rule, least)
    if found.answer is None:
        assert found.agreed == ()
        return
    agreed = [answer for name, answer in said if name in found.agreed]
    assert 2 * len(agreed) > len(said) >= least
    for answer in agreed:
        differs = compare(answer, found.answer, LEMMAS).blocking
        classes_ = {paper_class(answer.kind), paper_class(found.answer.kind)}
        assert differs is None or classes_ == {Kind.OTHER}
    if rule is UNANIMOUS:
        assert compare_all([answer for _, answer in said], LEMMAS).blocking == frozenset()


@settings(max_examples=400)
@given(agreeing, rules, leasts)
def test_no_heads_against_another_noun(given_, rule, least) -> None:
    found = settle(votes(*given_), LEMMAS, rule, least)
    if found.answer is not None and found.answer.kind is Kind.REFERENCE:
        naming = [answer for answer in given_ if answer.kind is Kind.REFERENCE]
        for left, right in combinations(naming, 2):
            assert compare(left, right, LEMMAS).blocking is None


@settings(max_examples=200)
@given(references, st.integers(2, 4), rules)
def test_what_everybody_says_alike_is_the_gold(answer, count, rule) -> None:
    found = settle(votes(*[answer] * count), LEMMAS, rule)
    if found.answer is None:
        # Two heads of one answer that stand at the same token name one noun twice.
        leads = [head_.mentions[0].head for head_ in answer.heads]
        assert found.reason is Reason.HEADS_UNCLEAR
        assert len(set(leads)) < len(leads)
        return
    assert compare(answer, found.answer, LEMMAS).blocking is None
    assert {frozenset(h.mentions) for h in answer.heads} == {
        frozenset(h.mentions) for h in found.answer.heads
    }
