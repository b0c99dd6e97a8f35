"""Phrases that hold a number and no noun, on trees written by hand."""

import pytest

from nfh_models.identification.rules import (
    RuleGroup,
    Rules,
    SentenceView,
    in_tree,
    without_noun,
)
from nfh_models.parsing.base import Tree

from .handmade import bracketed, parsed_case

BARE = {
    "np": "(S (NP (PRP I)) (VP (VBD saw) (NP (CD two))))",
    "determiner": "(S (NP (PRP I)) (VP (VBD saw) (NP (DT the) (CD two))))",
    "under a larger one": "(S (NP (NP (CD two)) (PP (IN of) (NP (PRP us)))) (VP (VBD left)))",
    "tagged as a noun": "(S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN two))))",
    "number as a phrase": "(S (NP (NP (NN two)) (PP (IN in) (NP (NN May)))) (VP (VBD left)))",
    "quantity": "(S (NP (PRP I)) (VP (VBD saw) (QP (RB about) (CD two))))",
    "time": "(S (NP (PRP I)) (VP (VBD came) (NP-TMP (CD two))))",
    "nx": "(S (NP (PRP I)) (VP (VBD saw) (NX (CD two))))",
    "possessive": "(S (NP (PRP$ her) (CD two)) (VP (VBD left)))",
    "owner": "(S (NP (NP (NNP Ada) (POS 's)) (CD two)) (VP (VBD left)))",
    "pointed at": "(S (NP (WDT which) (CD two)) (VP (VBD left)))",
    "asked for": "(SBARQ (WHNP (WDT which) (CD two)) (SQ (VBD left)))",
    "inverted": "(SQ (RB now) (CD two))",
}
NOT_BARE = {
    "noun": "(S (NP (PRP I)) (VP (VBD saw) (NP (CD two) (NNS owls))))",
    "noun behind an adjective": "(S (VP (VB see) (NP (CD two) (JJ big) (NNS owls))))",
    "pronoun": "(S (NP (PRP you) (CD two)) (VP (VBD left)))",
    "dollar": "(S (NP (PRP I)) (VP (VBD paid) (QP ($ $) (CD two))))",
    "verb": "(SQ (VBP are) (CD two))",
    "other type": "(S (NP (PRP I)) (VP (VBD came) (ADVP (CD two))))",
    "adverb alone": "(S (NP (PRP I)) (VP (VBD came) (NP (RB two))))",
}


def view_of(text: str) -> SentenceView:
    tree = bracketed(text)
    words = [part.strip("()") for part in text.split() if not part.startswith("(")]
    place = words.index("two")
    sentence = " ".join(f"{word}/X" for word in words)
    arcs = " ".join(f"{i}:dep" for i in range(len(words)))
    return SentenceView.of(parsed_case(sentence, place, place + 1, arcs, (tree,)))


@pytest.mark.parametrize("text", BARE.values(), ids=BARE.keys())
def test_a_phrase_without_a_noun(text: str) -> None:
    view = view_of(text)
    assert without_noun(view)
    assert in_tree(view)


@pytest.mark.parametrize("text", NOT_BARE.values(), ids=NOT_BARE.keys())
def test_a_phrase_with_something_that_could_be_its_head(text: str) -> None:
    view = view_of(text)
    assert not without_noun(view)
    assert in_tree(view)


def test_a_phrase_has_to_hold_the_whole_number() -> None:
    tree = bracketed("(S (NP (CD two)) (NP (CD hundred)))")
    case = parsed_case("two/NUM hundred/NUM", 0, 2, "1:compound 1:root", (tree,))
    assert not without_noun(SentenceView.of(case))


def test_without_phrases_nothing_is_said() -> None:
    view = SentenceView.of(parsed_case("two/NUM left/VERB", 0, 1, "1:nsubj 1:root"))
    assert not without_noun(view)
    assert not in_tree(view)


def test_the_sentence_of_the_number_among_several() -> None:
    first = bracketed("(S (NP (NN snow)) (VP (VBD fell)))")
    second = _moved(bracketed("(S (NP (CD two)) (VP (VBD left)))"), 2)
    case = parsed_case(
        "snow/NOUN fell/VERB two/NUM left/VERB",
        2,
        3,
        "1:nsubj 1:root 3:nsubj 3:root",
        (first, second),
    )
    assert Rules().decide([case])[0].rule == "phrase-without-noun"


def test_phrases_decide_behind_the_filters() -> None:
    """A bare QP inside a noun phrase is found, and the dependency filter takes it out."""
    tree = bracketed("(S (NP (QP (CD two) (CD hundred)) (NNS owls)) (VP (VBD left)))")
    case = parsed_case(
        "two/NUM hundred/NUM owls/NOUN left/VERB",
        0,
        2,
        "1:compound 2:nummod 3:nsubj 3:root",
        (tree,),
    )
    assert without_noun(SentenceView.of(case))
    assert Rules().decide([case])[0].rule == "noun-next"


def test_where_phrases_find_nothing_the_answer_is_no() -> None:
    tree = bracketed("(S (ADVP (CD two)) (VP (VBD left)))")
    case = parsed_case("two/NUM left/VERB", 0, 1, "1:nsubj 1:root", (tree,))
    assert Rules().decide([case])[0].rule == "no-bare-phrase"
    without = Rules(frozenset({RuleGroup.PHRASES}))
    assert without.decide([case])[0].rule == "not-nummod"


def _moved(tree: Tree, by: int) -> Tree:
    children = tuple(_moved(child, by) for child in tree.children)
    return Tree(tree.label, tree.start + by, tree.end + by, children)
