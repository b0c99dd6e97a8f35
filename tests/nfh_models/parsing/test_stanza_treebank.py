"""The treebank that the small stanza model is trained on, and how well the model does."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

FOLDER = Path(__file__).parent / "treebank"
MODULES = ("brackets", "convert", "dependencies", "heads", "scoring", "words")
NOUNS = {"NN", "NNS", "NNP", "NNPS"}
NUMBER = "CD"


@pytest.fixture(scope="module")
def treebank() -> Iterator[SimpleNamespace]:
    """The treebank's own scripts, which stand beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        import brackets
        import convert
        import scoring

        yield SimpleNamespace(brackets=brackets, convert=convert, scoring=scoring)
        for name in MODULES:
            sys.modules.pop(name, None)


def test_it_is_large_enough_and_held_out_sentences_are_no_others(
    treebank: SimpleNamespace,
) -> None:
    texts: dict[bool, list[str]] = {True: [], False: []}
    for name, tree in treebank.convert.sentences():
        held_out = name.startswith(treebank.convert.HELD_OUT)
        texts[held_out].append(" ".join(leaf.word for leaf in tree.leaves()))
    assert len(texts[False]) >= 160
    assert len(texts[True]) >= 20
    everything = texts[False] + texts[True]
    assert len(set(everything)) == len(everything)


def test_numbers_stand_in_every_kind_of_phrase_bare_and_with_a_noun(
    treebank: SimpleNamespace,
) -> None:
    found: Counter[tuple[str, bool]] = Counter()
    for _, tree in treebank.convert.sentences():
        todo = [tree]
        while todo:
            node = todo.pop()
            todo += node.children
            tags = {leaf.label for leaf in node.leaves()}
            if NUMBER in tags:
                found[node.label, not NOUNS & tags] += 1
    for label in ("NP", "QP", "NP-TMP", "NX", "SQ"):
        assert found[label, True] >= 3, f"{label} with a number and no noun"
        nearby = found[label, False] if label != "QP" else found["NP", False]
        assert nearby >= 3, f"{label} with a number and a noun"


def test_the_conllu_files_are_what_the_trees_give(treebank: SimpleNamespace) -> None:
    for name, text in treebank.convert.convert().items():
        assert (FOLDER / name).read_text("utf-8") == text, f"run convert.py: {name} differs"


def test_corrections_name_tokens_that_are_there(treebank: SimpleNamespace) -> None:
    lengths = {name: tree.end for name, tree in treebank.convert.sentences()}
    for name, changes in treebank.convert.corrections().items():
        assert all(row < lengths[name] for row, _, _ in changes)


def dependencies_of(treebank: SimpleNamespace, text: str) -> dict[str, tuple[str, str]]:
    [tree] = treebank.brackets.read_text(text)
    rows = treebank.convert.rows(tree)
    heads = [rows[int(row[6]) - 1][1] if row[6] != "0" else "-" for row in rows]
    return {row[1]: (row[7], head) for row, head in zip(rows, heads, strict=True)}


def test_head_rules_on_a_sentence_of_many_kinds(treebank: SimpleNamespace) -> None:
    found = dependencies_of(
        treebank,
        "(ROOT (S (NP (NP (CD Two)) (PP (IN of) (NP (PRP them)))) (VP (VBP are)"
        " (ADJP (JJ old))) (, ,) (SBAR (IN because) (S (NP (PRP we)) (VP (MD can) (RB n't)"
        " (VP (VB buy)"
        " (NP (QP (CD five) (CC or) (CD six)) (NNS lamps)))))) (. .)))",
    )
    assert found == {
        "Two": ("nsubj", "old"),
        "of": ("case", "them"),
        "them": ("nmod", "Two"),
        "are": ("cop", "old"),
        "old": ("root", "-"),
        ",": ("punct", "old"),
        "because": ("mark", "buy"),
        "we": ("nsubj", "buy"),
        "can": ("aux", "buy"),
        "n't": ("advmod", "buy"),
        "buy": ("advcl", "old"),
        "five": ("nummod", "lamps"),
        "or": ("cc", "six"),
        "six": ("conj", "five"),
        "lamps": ("obj", "buy"),
        ".": ("punct", "old"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "(ROOT (S",
        "(ROOT (S (NP (CD two))))) x",
        "(S (NP (CD two)))",
        "(ROOT )",
        "two",
        "(ROOT two",
    ],
)
def test_brackets_that_do_not_match_are_refused(treebank: SimpleNamespace, text: str) -> None:
    with pytest.raises(ValueError, match=r"tree [12]"):
        treebank.brackets.read_text(text)


def test_heads_in_a_circle_are_refused(treebank: SimpleNamespace) -> None:
    def table(*heads: int) -> list[list[str]]:
        return [["_"] * 6 + [str(head)] for head in heads]

    treebank.convert.check("fine", table(2, 0, 2))
    with pytest.raises(ValueError, match="odd: 2 roots"):
        treebank.convert.check("odd", table(0, 0))
    with pytest.raises(ValueError, match="odd: token 2 hangs in a circle"):
        treebank.convert.check("odd", table(0, 3, 2))


def test_brackets_are_compared_with_label_and_place(treebank: SimpleNamespace) -> None:
    scoring = treebank.scoring
    gold = scoring.brackets_in("(ROOT (S (NP (CD two)) (VP (VBD left))))")
    other = scoring.brackets_in("(ROOT (S (NP (NP (CD two))) (ADJP (VBD left))))")
    assert scoring.bracket_counts([(gold, other)]) == (2, 3, 4)
    assert scoring.bracket_f1([(gold, other)]) == pytest.approx(4 / 7)
    assert scoring.bracket_f1([(gold, gold)]) == 1
    assert scoring.bracket_f1([]) == 0


def test_the_model_is_small() -> None:
    assert sum(path.stat().st_size for path in (FOLDER / "model").iterdir()) < 5_000_000


def test_the_readme_tells_how_good_it_is(treebank: SimpleNamespace) -> None:
    for name in ("torch", "stanza"):
        pytest.importorskip(name, reason=f"needs {name}", exc_type=ImportError)
    readme = (FOLDER / "README.md").read_text("utf-8")
    told = dict(re.findall(r"^\| .+ \(`(\w+)`\) \| ([\d.]+) \|$", readme, re.MULTILINE))
    scores = treebank.scoring.score(FOLDER / "model", treebank.convert.HELD_OUT)
    assert sorted(told) == ["brackets", "las", "lemmas", "tags", "uas", "upos"]
    for name, share in told.items():
        assert float(share) == pytest.approx(getattr(scores, name), abs=0.02), name
    assert min(scores.tags, scores.las, scores.brackets) > 0.8
