"""Which child of a phrase holds its head, and which children are conjuncts."""

from brackets import Node

BE = frozenset("be is are was were am been being 's 're 'm".split())
HAVE = frozenset("have has had having 've 'd".split())
DO = frozenset("do does did".split())
NOMINAL = ("NP", "NX", "WHNP", "QP", "NP-TMP")
NOUNS = ("NN", "NNS", "NNP", "NNPS")
CLAUSES = ("S", "SQ", "SBARQ", "SINV", "FRAG")
PUNCT = frozenset([",", ".", ":", "``", "''", "-LRB-", "-RRB-"])

PREDICATES = ("VP", "NP", "ADJP", "PP", "ADVP", "NP-TMP", "WHNP")

_TABLE = {
    "ROOT": (*CLAUSES, "VP", "NP", "X", "INTJ"),
    "S": ("VP", "S", "SBAR", "ADJP", "NP", "PP"),
    "SBARQ": ("SQ", "S"),
    "SBAR": ("S", "SQ", "SBAR"),
    "PP": ("NP", "NX", "QP", "NP-TMP", "S", "SBAR", "ADJP", "ADVP", "PP", "CD"),
    "WHPP": ("WHNP", "NP"),
    "FRAG": (*CLAUSES, "SBAR", "NP", "ADJP", "PP", "ADVP", "VP"),
    "PRN": ("S", "SBAR", "NP", "PP", "VP", "ADVP"),
}
"""The child with the first of the labels that is there is the head."""

_LAST = {
    "ADJP": ("JJ", "JJR", "JJS", "VBN", "VBG", "ADJP", "CD", "QP", "RB", "NN"),
    "ADVP": ("RB", "RBR", "RBS", "ADVP", "IN", "JJ", "NN"),
    "WHADVP": ("WRB",),
    "WHADJP": ("JJ", "RB"),
}
"""The last child with one of the labels is the head."""


def is_there(node: Node) -> bool:
    """Whether a phrase is an existential *there*."""
    return node.label == "NP" and len(node.children) == 1 and node.children[0].label == "EX"


def conjuncts(node: Node) -> list[Node]:
    """The members of a coordination; none where the phrase is none."""
    places = [place for place, child in enumerate(node.children) if child.label == "CC"]
    if not places or places[0] == 0:
        return []
    final = next((c for c in node.children[places[-1] + 1 :] if c.label not in PUNCT), None)
    if final is None:
        return []
    if node.label == "QP":
        return [node.children[places[-1] - 1], final]
    alike = [c for c in node.children if _kind(c) == _kind(final)]
    if node.children.index(alike[0]) > places[0]:
        before = [c for c in node.children[: places[0]] if c.label not in PUNCT]
        alike = [before[-1], *alike] if before else []
    return alike if len(alike) > 1 else []


def _kind(node: Node) -> str:
    label = node.label
    if label in NOMINAL or label in NOUNS:
        return "N"
    if label.startswith("JJ") or label == "ADJP":
        return "J"
    return label.rstrip("SDGNPZ") if label.startswith("VB") else label


def last(nodes: list[Node], labels: tuple[str, ...]) -> Node | None:
    """The last node with one of the labels."""
    return next((node for node in reversed(nodes) if node.label in labels), None)


def first(nodes: list[Node], labels: tuple[str, ...]) -> Node | None:
    """The first node with one of the labels."""
    return next((node for node in nodes if node.label in labels), None)


def is_verb(node: Node) -> bool:
    """Whether a node is a verb's word, a modal or *to*."""
    return node.word is not None and (node.label.startswith("VB") or node.label in ("MD", "TO"))


def head_child(node: Node, *, there: bool) -> Node:
    """The child whose head is that of the phrase."""
    children = [child for child in node.children if child.label not in PUNCT] or node.children
    if node.label == "VP":
        return _verb_head(children, there=there)
    if node.label == "SQ":
        return _question_head(children, there=there)
    if node.label == "QP":
        return last(children, ("$", "#")) or last(children, ("CD",)) or children[-1]
    if node.label in NOMINAL:
        return _nominal_head(children)
    if node.label in _LAST:
        return last(children, _LAST[node.label]) or children[-1]
    for label in _TABLE.get(node.label, ()):
        found = first(children, (label,))
        if found is not None:
            return found
    return children[0]


def _verb_head(children: list[Node], *, there: bool) -> Node:
    verb = next((child for child in children if is_verb(child)), None)
    if verb is None:
        return first(children, ("VP",)) or children[0]
    inner = first(children, ("VP",))
    helps = verb.label in ("MD", "TO") or (verb.word or "").lower() in BE | HAVE | DO
    if inner is not None and helps:
        return inner
    if (verb.word or "").lower() in BE and not there:
        after = children[children.index(verb) + 1 :]
        return first(after, ("NP", "ADJP", "PP")) or first(after, ("ADVP", "NP-TMP")) or verb
    return verb


def _question_head(children: list[Node], *, there: bool) -> Node:
    inner = first(children, ("VP",))
    if inner is not None:
        return inner
    if there or len(children) < 3 or (children[0].word or "").lower() not in BE:
        return children[0]
    return first(children[2:], PREDICATES) or children[0]


def _nominal_head(children: list[Node]) -> Node:
    if children[-1].label == "POS":
        children = children[:-1]
    money = first(children, ("$", "#"))
    if money is not None and children[-1].label in ("CD", "QP", "$", "#"):
        return money
    if [child.label for child in children[:2]] == ["PRP", "CD"]:
        return children[0]
    names = [child for child in children if child.label in ("NNP", "NNPS")]
    if names and children[-1] in names:
        return names[0]
    noun = last(children, (*NOUNS, "NX"))
    if noun is not None and noun.label != "NX":
        return noun
    whole = first(children, ("NP", "WHNP", "NX", "NP-TMP"))
    if whole is not None and (whole.label == "NX" or whole.children[-1].label != "POS"):
        return whole
    return last(
        children, ("PRP", "CD", "QP", "EX", "WP", "JJ", "JJS", "JJR", "ADJP", "WDT", "DT")
    ) or (children[-1] if children[-1].label != "POS" else children[0])
