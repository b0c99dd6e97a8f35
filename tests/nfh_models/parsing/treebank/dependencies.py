"""Trees made Universal Dependencies by head rules, for the treebank's own English.

Content words are heads: a copula, an auxiliary and a preposition hang on what they serve, a
later conjunct on the first. The rules cover what the treebank holds, not English; where they
err, `corrections.tsv` says what stands there instead. After the relations of
https://universaldependencies.org/en/dep/ (version 2).
"""

from dataclasses import dataclass, field

from brackets import Node
from heads import (
    BE,
    NOMINAL,
    NOUNS,
    PUNCT,
    conjuncts,
    first,
    head_child,
    is_there,
    is_verb,
)

TIME_MARKS = frozenset(
    "if because while until till since although though before after when as unless once "
    "where so whenever".split()
)
ASKING = frozenset(
    "know knew ask asked wonder tell told see say said remember forgot guess show".split()
)


@dataclass
class Graph:
    """The leaves of a tree with heads (a root hangs on itself) and relations."""

    leaves: list[Node]
    heads: list[int] = field(init=False)
    relations: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.heads = list(range(len(self.leaves)))
        self.relations = ["root"] * len(self.leaves)

    def attach(self, token: int, head: int, relation: str) -> None:
        """Hang a token on a head, unless they are one."""
        if token != head:
            self.heads[token] = head
            self.relations[token] = relation

    def has(self, head: int, relation: str) -> bool:
        """Whether something hangs on a token in that way."""
        pairs = enumerate(zip(self.heads, self.relations, strict=True))
        return any(
            to == head and name == relation for place, (to, name) in pairs if place != to
        )


def dependencies(tree: Node) -> tuple[list[int], list[str]]:
    """Head and relation of each token of a tree; the root hangs on itself as "root"."""
    graph = Graph(list(tree.leaves()))
    _convert(tree, graph)
    for place, leaf in enumerate(graph.leaves):
        if leaf.label in PUNCT and graph.relations[place] != "root":
            graph.relations[place] = "punct"
    return graph.heads, graph.relations


def _convert(node: Node, graph: Graph, *, there: bool = False) -> int:
    """Hang what a phrase holds together; return the token that is its head.

    there: the clause's subject is an existential *there*, whose verb is no copula.
    """
    if node.word is not None:
        return node.start
    there = there or any(is_there(child) for child in node.children)
    if node.label == "SBARQ":
        asked = _asked_predicate(node, graph)
        if asked is not None:
            return asked
    joined = conjuncts(node)
    chief = joined[0] if joined else head_child(node, there=there)
    head = _convert(chief, graph, there=there)
    hang = _Hanging(node, chief, head, joined, graph, there)
    for child in node.children:
        if child is not chief:
            hang.add(child)
    return head


def _asked_predicate(node: Node, graph: Graph) -> int | None:
    """The head of "Which one is it ?": the question word's phrase, with a copula."""
    asked = next((c for c in node.children if c.label in ("WHNP", "WHADJP", "WHADVP")), None)
    rest = next((c for c in node.children if c.label == "SQ"), None)
    if asked is None or rest is None or rest.children[0].word not in BE:
        return None
    others = [c for c in rest.children[1:] if c.label not in PUNCT]
    if len(others) != 1 or others[0].label != "NP" or is_there(others[0]):
        return None
    head = _convert(asked, graph)
    graph.attach(rest.children[0].start, head, "cop")
    graph.attach(_convert(others[0], graph), head, "nsubj")
    for child in node.children:
        if child is not asked and child is not rest:
            graph.attach(_convert(child, graph), head, "punct")
    return head


@dataclass
class _Hanging:
    """What hangs on the head of one phrase."""

    node: Node
    chief: Node
    head: int
    conjuncts: list[Node]
    graph: Graph
    there: bool

    def add(self, child: Node) -> None:
        """Hang a child's head on the phrase's head, a conjunction on the next conjunct."""
        token = _convert(child, self.graph, there=self.there and child.label == "VP")
        if child.label in ("CC", "CONJP") and self.conjuncts:
            later = [c for c in self.conjuncts if c.start > child.start]
            target = _convert(later[0], self.graph) if later else self.head
            self.graph.attach(token, target, "cc")
        elif any(child is one for one in self.conjuncts):
            self.graph.attach(token, self.head, "conj")
        elif self.node.label == "QP" and child.label == "CD" and self._number_after(child):
            self.graph.attach(token, self._number_after(child) or self.head, "compound")
        else:
            self.graph.attach(token, self.head, self._relation(child, token))

    def _number_after(self, child: Node) -> int | None:
        """The last number of a chain, where "3" of "3 million" stands before it."""
        place = self.node.children.index(child) + 1
        following = None
        while place < len(self.node.children) and self.node.children[place].label == "CD":
            following = self.node.children[place].start
            place += 1
        return following

    def _relation(self, child: Node, token: int) -> str:
        label = child.label
        if label in PUNCT:
            return "punct"
        plain = {"UH": "discourse", "INTJ": "discourse", "PRN": "parataxis", "CC": "cc",
                 "PRT": "compound:prt", "RP": "compound:prt", "EX": "expl"}  # fmt: skip
        if label in plain:
            return plain[label]
        if self.node.label in (*NOMINAL, "ADJP", "WHADJP"):
            return self._in_nominal(child)
        if self.node.label in ("PP", "SBAR", "WHPP", "ADVP", "WHADVP"):
            return self._in_marked(child)
        return self._in_clause(child, token)

    def _in_nominal(self, child: Node) -> str:
        label = child.label
        before = child.start < self.head
        if self.node.label == "ADJP" and label in ("PP", "SBAR", "S", "NP"):
            return {"PP": "obl", "SBAR": "ccomp", "S": "xcomp", "NP": "obl:npmod"}[label]
        if self.node.label == "QP" and label == "CD":
            return "nummod" if self.graph.leaves[self.head].label in "$#" else "compound"
        if self.node.label == "QP" and label in ("IN", "RB", "RBR", "JJR", "JJS", "DT"):
            return "det" if label == "DT" else "advmod"
        if label == "NP" and child.children[-1].label == "POS":
            return "nmod:poss"
        if label in ("NP", "NX", "QP") and before:
            return "nummod" if self._counts(child) else "compound"
        if label in NOUNS:
            names = label.startswith("NNP") and self.graph.leaves[self.head].label[:3] == "NNP"
            return "flat" if names and not before else "compound"
        if label == "NP":
            return "appos"
        table = {"DT": "det", "WDT": "det", "PDT": "det:predet", "PRP$": "nmod:poss",
                 "WP$": "nmod:poss", "POS": "case", "CD": "nummod", "QP": "nummod",
                 "NP-TMP": "nmod:tmod", "PP": "nmod", "SBAR": "acl:relcl", "S": "acl",
                 "VP": "acl", "RB": "advmod", "ADVP": "advmod", "RBR": "advmod",
                 "IN": "case", "TO": "case", "WRB": "advmod", "WP": "det"}  # fmt: skip
        return table.get(label, "amod")

    def _counts(self, child: Node) -> bool:
        return all(leaf.label not in NOUNS for leaf in child.leaves())

    def _in_marked(self, child: Node) -> str:
        label = child.label
        clause = self.chief.label in ("S", "SQ", "SBAR")
        if label in ("IN", "TO", "RP", "VBG"):
            return "mark" if clause else "case"
        if label.startswith("WH"):
            if label == "WHADVP":
                return "advmod"
            if label == "WHPP":
                return "obl"
            subject = first(self.chief.children, ("NP",)) if clause else None
            return "obj" if subject is not None else "nsubj"
        if self.node.label in ("ADVP", "WHADVP") and label in ("NP", "NP-TMP"):
            return "obl:npmod"
        return {"PP": "obl", "SBAR": "advcl", "S": "advcl", "NP": "obl"}.get(label, "advmod")

    def _in_clause(self, child: Node, token: int) -> str:
        label = child.label
        word = (child.word or "").lower()
        if is_verb(child):
            return self._helper(child, word)
        simple = {"NP-TMP": "obl:tmod", "PP": "obl", "ADVP": "advmod", "RB": "advmod",
                  "WHADVP": "advmod", "WHPP": "obl", "IN": "mark", "DT": "det",
                  "ADJP": "xcomp", "SBARQ": "parataxis", "SQ": "parataxis"}  # fmt: skip
        if label in simple:
            return simple[label]
        if label in NOMINAL:
            return self._argument(child)
        if label == "SBAR":
            return self._subordinate(child)
        if label in ("S", "VP"):
            return self._clause(child)
        return "dep"

    def _helper(self, child: Node, word: str) -> str:
        if child.label == "TO":
            return "mark"
        if self.chief.label != "VP" and word in BE:
            return "cop"
        passive = word in BE and self.graph.leaves[self.head].label == "VBN"
        return "aux:pass" if passive else "aux"

    def _argument(self, child: Node) -> str:
        siblings = self.node.children
        place = siblings.index(child)
        if is_there(child):
            return "expl"
        if self.node.label == "VP":
            if self.there:
                return "nsubj"
            verb = siblings.index(self.chief) if self.chief in siblings else -1
            later = [c for c in siblings[place + 1 :] if c.label in ("NP", "WHNP")]
            after_comma = place > 0 and siblings[place - 1].label == ","
            if after_comma and place > verb:
                return "vocative"
            following = siblings[place + 1 : place + 2]
            said = bool(following) and following[0].label == "SBAR"
            return "iobj" if said or (later and following[0] in later) else "obj"
        if self.node.label in ("S", "SQ", "SINV"):
            if self.there:
                return "nsubj"
            subjects = [
                c for c in siblings if c.label in ("NP", "NX", "QP") and c is not self.chief
            ]
            chief = siblings.index(self.chief)
            if place > chief or (len(subjects) > 1 and child is not subjects[-1]):
                return "vocative"
            return "nsubj:pass" if self.graph.has(self.head, "aux:pass") else "nsubj"
        if self.node.label == "SBARQ":
            bare = all(c.label not in ("NP", "NX") for c in self.chief.children)
            return "nsubj" if bare else "obj"
        return "parataxis" if place > siblings.index(self.chief) else "vocative"

    def _subordinate(self, child: Node) -> str:
        first = next(iter(child.leaves())).word or ""
        verb = (self.graph.leaves[self.head].word or "").lower()
        if self.node.label != "VP":
            return (
                "csubj"
                if child.start == self.node.start and first.lower() == "what"
                else "advcl"
            )
        if first.lower() in TIME_MARKS and verb not in ASKING:
            return "advcl"
        return "ccomp"

    def _clause(self, child: Node) -> str:
        if self.node.label == "VP":
            bare = all(c.label != "NP" for c in child.children)
            place = self.node.children.index(child)
            if bare and place and self.node.children[place - 1].label == ",":
                return "advcl"
            return "xcomp" if bare else "ccomp"
        if child.label == "VP" or child.start < self.head:
            return "advcl" if child.start < self.head and child.label == "VP" else "ccomp"
        return "parataxis"
