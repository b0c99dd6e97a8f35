"""Where the phrase of a head begins and ends, from the item's parse.

The noun with what stands before it and with its prepositional phrases; no relative clause,
no apposition, no second member of a coordination. Never the anchor, and never another turn.
Without a parse it is the noun alone.
"""

from nfh_models.parsing.parsed import Parsed, Tree
from nfh_models.resolution.item import Item

REACH = 30
"""Tokens on either side of a noun in which its phrase is looked for."""

_BEFORE = frozenset(
    "det amod compound nummod poss nmod nmod:poss quantmod predet det:predet nounmod flat "
    "nn nmod:npmod advmod".split()
)
"""What may hang on a noun before it; the names of ClearNLP and of Universal Dependencies."""

_BEHIND = frozenset("prep nmod nmod:of flat fixed compound nummod case".split())
"""What may hang on it behind it."""

_LEFT_OUT = frozenset(
    "relcl acl acl:relcl advcl cc conj appos punct parataxis discourse list dep".split()
)
"""What is left out at any depth."""

_NOUN_PHRASES = frozenset({"NP", "NP-TMP", "NX", "NML", "NAC"})
_CLAUSES = frozenset({"SBAR", "S", "SINV", "SQ", "SBARQ", "VP", "PRN"})
_NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})


def phrase_of(item: Item, head: int) -> tuple[int, int]:
    """Tokens [start, end) of the passage: the phrase of a noun, `head` among them."""
    parsed = item.parsed
    if parsed is None or not 0 <= head - item.parsed_from < len(parsed.words):
        return head, head + 1
    own = head - item.parsed_from
    start, end = _in_parse(parsed, own)
    return _within(item, head, start + item.parsed_from, end + item.parsed_from)


def _in_parse(parsed: Parsed, head: int) -> tuple[int, int]:
    if len(parsed.heads) == len(parsed.relations) == len(parsed.words):
        return _run(_hanging(parsed, head), head)
    for tree in parsed.trees:
        if tree.start <= head < tree.end:
            return _noun_phrase(tree, head)
    return head, head + 1


def _within(item: Item, head: int, start: int, end: int) -> tuple[int, int]:
    """The part of a phrase that is in the head's turn and on its side of the anchor."""
    turn = item.passage.turns[item.passage.turn_of(head)]
    start, end = max(start, turn.start), min(end, turn.end)
    if head < item.anchor.start:
        return start, min(end, item.anchor.start)
    return max(start, item.anchor.end), end


# --- dependencies ---------------------------------------------------------------------------


def _hanging(parsed: Parsed, head: int) -> set[int]:
    """The head and all that belongs to its phrase, not all of it in one stretch."""
    first, last = max(0, head - REACH), min(len(parsed.words), head + REACH + 1)
    children: dict[int, list[int]] = {}
    for token in range(first, last):
        if parsed.heads[token] != token:
            children.setdefault(parsed.heads[token], []).append(token)
    found = {head}
    waiting = [
        token
        for token in children.get(head, [])
        if parsed.relations[token] in (_BEFORE if token < head else _BEHIND)
    ]
    while waiting:
        token = waiting.pop()
        if token in found:
            continue
        found.add(token)
        waiting += [
            child
            for child in children.get(token, [])
            if parsed.relations[child] not in _LEFT_OUT
        ]
    return found


def _run(tokens: set[int], head: int) -> tuple[int, int]:
    """The longest stretch without a gap around the head."""
    start, end = head, head + 1
    while start - 1 in tokens:
        start -= 1
    while end in tokens:
        end += 1
    return start, end


# --- constituents ---------------------------------------------------------------------------


def _noun_phrase(sentence: Tree, head: int) -> tuple[int, int]:
    """The largest phrase of nouns whose last noun, clauses and so on aside, is the head."""
    path = _path(sentence, head)
    start, end = head, head + 1
    for tree in reversed(path):
        if tree.label not in _NOUN_PHRASES or _last_noun(tree) != head:
            break
        start, end = tree.start, _end(tree, head)
    return start, end


def _path(tree: Tree, head: int) -> list[Tree]:
    """The phrases that hold a token, from the outside in; the leaf is not one of them."""
    path: list[Tree] = []
    while tree.children:
        path.append(tree)
        inner = next((t for t in tree.children if t.start <= head < t.end), None)
        if inner is None:
            break
        tree = inner
    return path


def _last_noun(tree: Tree) -> int | None:
    """The head of a phrase of nouns; None where it coordinates, or has none of its own."""
    while tree.children:
        labels = [child.label for child in tree.children]
        if "CC" in labels or "CONJP" in labels or labels.count("NP") > 1:
            return None
        nouns = [
            child
            for child in tree.children
            if child.label in _NOUN_TAGS or child.label in _NOUN_PHRASES
        ]
        if not nouns:
            return None
        tree = nouns[-1]
    return tree.start


def _end(tree: Tree, head: int) -> int:
    """Where a phrase ends if clauses and marks behind its head are left out."""
    end = head + 1
    for child in tree.children:
        if child.end <= end:
            continue
        if child.label in _CLAUSES or not child.label[:1].isalpha():
            break
        end = child.end if child.start > head else _end(child, head)
    return end
