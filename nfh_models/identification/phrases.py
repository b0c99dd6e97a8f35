"""Phrases that hold a number and no noun, where a parser gives phrases.

The paper's first step (section 4.1) takes phrases of five types from a constituency parse.
What "no noun" means follows the authors' repository, in our own words: a phrase falls out if
it has a part, right under it, that could be a head or brings one along; a part that is
nothing but one number is let pass whatever it is tagged as. Unlike theirs, ours lets pass what
only points or owns ("her two", "which one", "the baker's two").
"""

from collections.abc import Iterator

from nfh_models.identification.rules_view import View
from nfh_models.parsing.parsed import Tree

TYPES = frozenset({"NP", "QP", "NP-TMP", "NX", "SQ", "WHNP"})
"""The types of the paper, section 4.1, and WHNP for "which one"."""

_BARRED = frozenset(
    "NN NNS NNP NNPS NP NP-TMP NX NAC NML PRP EX WP WRB WHNP WHADVP WHPP "
    "WHADJP -LRB- -RRB- $ # VB VBD VBG VBN VBP VBZ MD VP S SBAR SBARQ SINV SQ FW UH "
    "INTJ".split()
)
_LONE = frozenset({"RB", "ADVP", "CC", "CONJP"})


def without_noun(view: View) -> bool:
    """Whether the number stands in a phrase of the five types that has no noun."""
    return any(
        tree.label in TYPES and _is_bare(view, tree) for tree in _around(view, view.trees)
    )


def in_tree(view: View) -> bool:
    """Whether the parser gave phrases for the sentence that the number is in."""
    return any(tree.start <= view.start and view.end <= tree.end for tree in view.trees)


def _around(view: View, trees: tuple[Tree, ...]) -> Iterator[Tree]:
    """The phrases that hold the whole number, from the outside in."""
    waiting = trees
    while True:
        holding = [t for t in waiting if t.start <= view.start and view.end <= t.end]
        if not holding or not holding[0].children:
            return
        yield holding[0]
        waiting = holding[0].children


def _is_bare(view: View, tree: Tree) -> bool:
    if len(tree.children) == 1 and tree.children[0].label in _LONE:
        return False
    return not any(_bars(view, child) for child in tree.children)


def _bars(view: View, child: Tree) -> bool:
    if child.end - child.start == 1 and view.number(child.start):
        return False
    owner = bool(child.children) and child.children[-1].label == "POS"
    return child.label in _BARRED and not owner
