"""Stanza as a parser, for real: the small model trained on the treebank beside."""

import shutil
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nfh_models.parsing import stanza_parser as module
from nfh_models.parsing.base import Parsed, ParseLayer, ParserError, Tree, WordSpan, load_parser
from nfh_models.parsing.stanza_parser import StanzaParser, load_stanza, plain_label, tree_of

MODEL = Path(__file__).parent / "treebank" / "model"


@pytest.fixture(scope="module")
def parser() -> StanzaParser:
    for name in ("torch", "stanza"):
        pytest.importorskip(name, reason=f"needs {name}", exc_type=ImportError)
    return load_stanza(MODEL, frozenset(ParseLayer))


def word_span(text: str) -> WordSpan:
    words = text.split()
    return WordSpan(words, [True] * len(words))


def shape(tree: Tree, words: list[str]) -> str:
    inside = " ".join(shape(child, words) for child in tree.children)
    return f"({tree.label} {inside or words[tree.start]})"


def holds(parsed: Parsed, words: list[str]) -> bool:
    """Every layer has one entry a token, and the trees cover the tokens in order."""
    layers = (parsed.pos, parsed.tags, parsed.lemmas, parsed.heads, parsed.relations)
    whole = list(parsed.words) == words and all(len(layer) == len(words) for layer in layers)
    leaves = [place for tree in parsed.trees for place in leaf_places(tree)]
    return whole and leaves == [*range(len(words))]


def leaf_places(tree: Tree) -> list[int]:
    if not tree.children:
        assert tree.end == tree.start + 1
        return [tree.start]
    assert tree.start == tree.children[0].start
    assert tree.end == tree.children[-1].end
    return [place for child in tree.children for place in leaf_places(child)]


def test_name_and_layers(parser: StanzaParser) -> None:
    import stanza

    first, version, folder, digest = parser.name.split()
    assert (first, version, folder) == ("stanza", stanza.__version__, "model")
    assert len(digest) == 8
    assert parser.layers == frozenset(ParseLayer)


def test_every_layer_of_a_sentence(parser: StanzaParser) -> None:
    [parsed] = parser.parse([word_span("She painted six small windows .")])
    assert holds(parsed, ["She", "painted", "six", "small", "windows", "."])
    assert list(parsed.pos) == ["PRON", "VERB", "NUM", "ADJ", "NOUN", "PUNCT"]
    assert list(parsed.tags) == ["PRP", "VBD", "CD", "JJ", "NNS", "."]
    assert list(parsed.lemmas) == ["she", "paint", "six", "small", "window", "."]
    assert list(parsed.heads) == [1, 1, 4, 4, 1, 1]
    assert list(parsed.relations) == ["nsubj", "root", "nummod", "amod", "obj", "punct"]
    assert [shape(tree, list(parsed.words)) for tree in parsed.trees] == [
        "(ROOT (S (NP (PRP She)) (VP (VBD painted) (NP (CD six) (JJ small) (NNS windows))) "
        "(. .)))"
    ]


@pytest.mark.parametrize(
    ("text", "label", "start", "end"),
    [
        ("I have three .", "NP", 2, 3),
        ("I counted about forty .", "QP", 2, 4),
        ("I slept four hours .", "NP-TMP", 2, 4),
        ("She read the five or six long letters .", "NX", 5, 8),
        ("Are you three hungry ?", "SQ", 0, 5),
    ],
)
def test_the_phrases_that_numbers_stand_in(
    parser: StanzaParser, text: str, label: str, start: int, end: int
) -> None:
    [parsed] = parser.parse([word_span(text)])
    found = []
    todo = list(parsed.trees)
    while todo:
        tree = todo.pop()
        found.append((tree.label, tree.start, tree.end))
        todo += tree.children
    assert (label, start, end) in found


def test_order_and_empty_ones(parser: StanzaParser) -> None:
    given = [word_span("One left ."), WordSpan([], []), word_span("You two can wait here .")]
    parsed = list(parser.parse(given))
    assert [list(one.words) for one in parsed] == [list(one.words) for one in given]
    assert parsed[1] == Parsed([], [], [], [], [], [], [])
    assert list(parser.parse([])) == []


@pytest.mark.parametrize(
    "words",
    [
        ["two", "", " ", "\x00", "\n\t", "si\x07x", "\ud800", "\u200b", "."],
        ["."],
        ["?", "!", "..."],
        ["(", ")"],
        ["(NP", "two)", "a b"],
        ["\x00"],
        ["y" * 5_000_000, "five"],
        ["数", "字", "Ωμέγα", "🙂"],
    ],
)
def test_words_that_are_none(parser: StanzaParser, words: list[str]) -> None:
    [parsed] = parser.parse([WordSpan(words, [True] * len(words))])
    assert holds(parsed, words)
    assert all(0 <= head < len(words) for head in parsed.heads)
    for word, lemma in zip(words, parsed.lemmas, strict=True):
        assert word.strip().strip("\x00") or lemma == word


def test_a_long_stretch_comes_in_pieces(
    parser: StanzaParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST", 6)
    monkeypatch.setattr(module, "BATCH", 9)
    words = ("We saw three . " * 5).split()
    long, short = parser.parse([WordSpan(words, [True] * 20), word_span("One left .")])
    assert holds(long, words)
    assert holds(short, ["One", "left", "."])
    assert [(tree.start, tree.end) for tree in long.trees] == [
        (at, at + 4) for at in range(0, 20, 4)
    ]
    assert [place for place, head in enumerate(long.heads) if head == place] == [
        1,
        5,
        9,
        13,
        17,
    ]


def test_it_reads_no_further_than_a_batch(
    parser: StanzaParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 12)
    drawn = []

    def source():
        for _ in range(100):
            drawn.append(word_span("One left ."))
            yield drawn[-1]

    next(parser.parse(source()))
    assert len(drawn) <= 5


def test_loading_is_quiet_writes_nothing_and_asks_nobody(
    tmp_path: Path,
    parser: StanzaParser,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    import torch

    folder = Path(shutil.copytree(MODEL, tmp_path / "model"))
    (folder / "lemma.pt").unlink()
    (folder / "constituency.pt").unlink()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}

    def refuse(*args: object) -> None:
        raise AssertionError("the network was asked")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    torch.set_num_threads(2)
    fewer = load_parser(f"stanza:{folder}")
    assert torch.get_num_threads() == 1
    [parsed] = fewer.parse([word_span("I have three .")])
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert capfd.readouterr() == ("", "")
    assert fewer.layers == {ParseLayer.POS, ParseLayer.DEPENDENCY}
    assert list(parsed.relations) == ["nsubj", "root", "obj", "punct"]
    assert (parsed.lemmas, parsed.trees) == ([], [])
    assert fewer.name != parser.name


def test_a_failure_inside_is_a_sentence(
    parser: StanzaParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(document: object) -> object:
        raise RuntimeError("shapes differ\nat great length")

    monkeypatch.setattr(parser._pipeline, "process", fails)
    with pytest.raises(ParserError, match=r"cannot parse a sentence \(shapes differ\)$"):
        list(parser.parse([word_span("One .")]))


def test_a_model_that_does_not_fit_its_vectors(tmp_path: Path, parser: StanzaParser) -> None:
    import torch

    folder = Path(shutil.copytree(MODEL, tmp_path / "model"))
    weights = torch.load(folder / "pos.pt", weights_only=True)
    weights["model"]["word_emb.weight"] = torch.zeros(2, 2)
    torch.save(weights, folder / "pos.pt")
    with pytest.raises(ParserError, match=r"stanza cannot load the models of .*model \(.+\)$"):
        load_parser(f"stanza:{folder}")


def test_stanza_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(ParserError, match=r"stanza cannot be loaded .* `pip install stanza`"):
        load_parser(f"stanza:{MODEL}")


def node(label: str, *children: SimpleNamespace) -> SimpleNamespace:
    word = len(children) == 1 and not children[0].children
    return SimpleNamespace(label=label, children=children, is_preterminal=lambda: word)


def leaf(tag: str) -> SimpleNamespace:
    return node(tag, SimpleNamespace(children=()))


def test_trees_are_taken_over_with_the_taggers_tags() -> None:
    tree = node("ROOT", node("NP-SBJ", leaf("NUM")), node("VP", leaf("VERB")))
    assert tree_of(tree, 3, ["CD", "VBD"]) == Tree(
        "ROOT",
        3,
        5,
        (
            Tree("NP", 3, 4, (Tree("CD", 3, 4),)),
            Tree("VP", 4, 5, (Tree("VBD", 4, 5),)),
        ),
    )
    with pytest.raises(ParserError, match="a tree of 2 words for 3"):
        tree_of(tree, 0, ["CD", "VBD", "."])
    with pytest.raises(ParserError, match="a tree of 2 words for 1"):
        tree_of(tree, 0, ["CD"])


def test_a_deep_tree() -> None:
    tree = leaf("NUM")
    for _ in range(5000):
        tree = node("NP", tree)
    assert tree_of(tree, 0, ["CD"]).end == 1


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("NP", "NP"),
        ("NP-SBJ-1", "NP"),
        ("NP-TMP", "NP-TMP"),
        ("NP-TMP-3", "NP-TMP"),
        ("NP=2", "NP"),
        ("ADVP-LOC-TMP", "ADVP-TMP"),
        ("-LRB-", "-LRB-"),
    ],
)
def test_labels_without_functions(label: str, plain: str) -> None:
    assert plain_label(label) == plain
