"""How well a model does: brackets compared without Java, and figures on sentences held out."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from brackets import Node, read_text
from convert import rows, sentences

from nfh_models.parsing.base import ParseLayer, Tree, WordSpan, load_parser

Spans = Counter[tuple[str, int, int]]


def bracket_counts(pairs: Iterable[tuple[Spans, Spans]]) -> tuple[int, int, int]:
    """Brackets that gold and prediction share, those of gold, those of the prediction."""
    shared = gold = predicted = 0
    for first, second in pairs:
        shared += sum((first & second).values())
        gold += sum(first.values())
        predicted += sum(second.values())
    return shared, gold, predicted


def bracket_f1(pairs: Iterable[tuple[Spans, Spans]]) -> float:
    """F1 of labelled brackets, 0 to 1; the ROOT is left out, punctuation counts."""
    shared, gold, predicted = bracket_counts(pairs)
    return 2 * shared / (gold + predicted) if gold + predicted else 0.0


def brackets_of(node: Node) -> Spans:
    """The phrases of a tree of the treebank."""
    return Counter(span for span in node.spans() if span[0] != "ROOT")


def brackets_in(text: str) -> Spans:
    """The phrases of one tree written with brackets, as stanza's trees print themselves."""
    return brackets_of(read_text(text)[0])


def parsed_brackets(tree: Tree) -> Spans:
    """The phrases of a parser's tree."""
    found: Spans = Counter()
    todo = [tree]
    while todo:
        node = todo.pop()
        if node.children and node.label != "ROOT":
            found[node.label, node.start, node.end] += 1
        todo += node.children
    return found


@dataclass(frozen=True)
class Scores:
    """Shares, 0 to 1, of `tokens` tokens: tags (xpos), upos, lemmas, heads (UAS), heads with
    relations (LAS); and the F1 of labelled brackets."""

    sentences: int
    tokens: int
    tags: float
    upos: float
    lemmas: float
    uas: float
    las: float
    brackets: float


def score(folder: Path, beginning: str) -> Scores:
    """A model on the sentences whose names begin so, everything predicted from words alone."""
    parser = load_parser(f"stanza:{folder}", frozenset(ParseLayer))
    chosen = [(tree, rows(tree)) for name, tree in sentences() if name.startswith(beginning)]
    word_spans = [
        WordSpan([row[1] for row in table], [True] * len(table)) for _, table in chosen
    ]
    hits: Counter[str] = Counter()
    pairs = []
    for (tree, table), parsed in zip(chosen, parser.parse(word_spans), strict=True):
        pairs.append((brackets_of(tree), parsed_brackets(parsed.trees[0])))
        for place, row in enumerate(table):
            head = int(row[6]) - 1 if row[6] != "0" else place
            hits["tags"] += parsed.tags[place] == row[4]
            hits["upos"] += parsed.pos[place] == row[3]
            hits["lemmas"] += parsed.lemmas[place] == row[2]
            hits["uas"] += parsed.heads[place] == head
            hits["las"] += (parsed.heads[place], parsed.relations[place]) == (head, row[7])
            hits["tokens"] += 1
    tokens = hits.pop("tokens")
    shares = {name: hits[name] / tokens for name in ("tags", "upos", "lemmas", "uas", "las")}
    return Scores(len(chosen), tokens, **shares, brackets=bracket_f1(pairs))
