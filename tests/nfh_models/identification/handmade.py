"""Parses written by hand: words with part of speech, and what hangs on what."""

from nfh_models.identification.base import SentenceNumber
from nfh_models.parsing.base import Parsed, Tree, WordSpan


def parsed_case(
    sentence: str, start: int, end: int, arcs: str, trees: tuple[Tree, ...] = ()
) -> SentenceNumber:
    """A case from "word/POS ..." and from "head:relation ..." a token, heads by place."""
    pairs = [token.rpartition("/") for token in sentence.split()]
    words = [word for word, _, _ in pairs]
    hung = [arc.partition(":") for arc in arcs.split()]
    parsed = Parsed(
        words=words,
        pos=[pos for _, _, pos in pairs],
        heads=[int(head) for head, _, _ in hung],
        relations=[relation for _, _, relation in hung],
        trees=trees,
    )
    return SentenceNumber(WordSpan(words, [True] * len(words)), start, end, parsed)


def bracketed(text: str) -> Tree:
    """A tree from Penn Treebank brackets: "(S (NP (CD two)) (VP (VBD fell)))"."""
    tree, place = _read(text.replace("(", " ( ").replace(")", " ) ").split(), 0, 0)
    assert place == text.count("(") * 2 + len(text.replace("(", " ").replace(")", " ").split())
    return tree


def _read(parts: list[str], place: int, token: int) -> tuple[Tree, int]:
    assert parts[place] == "("
    label, place, start = parts[place + 1], place + 2, token
    children = []
    while parts[place] != ")":
        if parts[place] == "(":
            child, place = _read(parts, place, token)
            children.append(child)
            token = child.end
        else:
            token, place = token + 1, place + 1
    return Tree(label, start, token, tuple(children)), place + 1
