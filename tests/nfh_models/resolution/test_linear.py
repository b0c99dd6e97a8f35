"""The recipe `linear`: what it learns, what it says, and its files."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.model_files import FolderTakenError, ModelFileError
from nfh_models.resolution.linear import (
    CLASSES,
    PAPER,
    ExampleCollector,
    Linear,
    LinearSettings,
    LinearTable,
    extract,
    fitting,
    load_linear,
    losses,
    minimise,
    objective_of,
    save_linear,
)
from nfh_models.resolution.recipes import load_folder, load_resolver

from .handmade import examples, item_of, reference

EXAMPLES = examples(40)


def table_of(settings: LinearSettings | None = None) -> LinearTable:
    """The examples as a table."""
    collector = ExampleCollector(settings or LinearSettings())
    for one in EXAMPLES:
        assert collector.add(one.item, one.gold)
    return collector.table()


def fitted(settings: LinearSettings | None = None) -> Linear:
    """A model fitted on the examples."""
    steps = fitting(table_of(settings))
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            return Linear(settings or LinearSettings(), ended.value.weights, "words 1.0")


@pytest.fixture(scope="module")
def model() -> Linear:
    """With all features."""
    return fitted()


def test_it_learns_what_there_is_to_learn(model: Linear) -> None:
    unseen = examples(40, seed=2)
    for one, made in zip(unseen, model.resolve([e.item for e in unseen]), strict=True):
        assert made is not None
        expected = "4" if one.gold.kind is Kind.REFERENCE else one.gold.kind.value
        assert made.choice == expected


def test_scores_are_probabilities_of_all_candidates(model: Linear) -> None:
    item = EXAMPLES[0].item
    [made] = model.resolve([item])
    assert made is not None
    scores = made.scores
    assert len(scores) == CLASSES + len(item.passage.tokens)
    anchor = range(CLASSES + item.anchor.start, CLASSES + item.anchor.end)
    assert [at for at, score in enumerate(scores) if score is None] == list(anchor)
    there = [score for score in scores if score is not None]
    assert sum(there) == pytest.approx(1)
    ranked = sorted(there, reverse=True)
    assert made.margin == pytest.approx(ranked[0] - ranked[1])
    names = [kind.value for kind in IMPLICIT_KINDS]
    names += [str(at) for at in range(len(item.passage.tokens))]
    assert scores[names.index(made.choice)] == ranked[0]
    assert made.second is not None
    assert scores[names.index(made.second)] == ranked[1]


def test_an_anchor_of_every_token_has_classes_only(model: Linear) -> None:
    for written in ("[ one/NUM ]", "[ twenty/NUM one/NUM ]"):
        item = item_of(written)
        [made] = model.resolve([item])
        assert made is not None
        assert made.choice in {kind.value for kind in IMPLICIT_KINDS}
        assert made.scores[CLASSES:] == (None,) * len(item.passage.tokens)


def test_tokens_out_of_reach_are_no_candidates(model: Linear) -> None:
    words = " ".join(f"w{number}" for number in range(300))
    item = item_of(f"{words} [ one/NUM ] {words}")
    [made] = model.resolve([item])
    assert made is not None
    tokens = made.scores[CLASSES:]
    assert [at for at, score in enumerate(tokens) if score is not None] == [
        *range(100, 300),
        *range(301, 501),
    ]


def test_an_item_without_dependencies_is_refused(model: Linear) -> None:
    item = item_of("cups/NOUN [ one/NUM ]")
    assert item.parsed is not None
    bare = replace(item, parsed=replace(item.parsed, heads=(), relations=()))
    with pytest.raises(ValueError, match="no dependencies"):
        model.resolve([bare])


# --- what is learnt from --------------------------------------------------------------------


def test_all_mentions_of_a_head_are_right() -> None:
    item = item_of("cups/NOUN and/CCONJ CUP/NOUN ,/PUNCT boats/NOUN [ one/NUM ]")
    collector = ExampleCollector(LinearSettings())
    assert collector.add(item, reference(0))
    assert collector.table().right_tokens.tolist() == [True, False, True, False, False]


def test_a_head_out_of_reach_is_not_learnt_from() -> None:
    far = item_of("cups/NOUN " + "and " * 300 + "[ one/NUM ]")
    collector = ExampleCollector(LinearSettings())
    assert not collector.add(far, reference(0))
    assert len(collector.table()) == 0


def test_the_slope_is_that_of_the_loss() -> None:
    table = table_of()
    objective = objective_of(table)
    draw = np.random.default_rng(1)
    point = draw.normal(0, 0.1, len(table.anchor_names) * CLASSES + len(table.token_names))
    _, slope = objective(point)
    for at in draw.choice(len(point), 20, replace=False):
        step = np.zeros_like(point)
        step[at] = 1e-5
        rise = (objective(point + step)[0] - objective(point - step)[0]) / 2e-5
        assert rise == pytest.approx(slope[at], abs=1e-7)


def test_without_weights_all_candidates_are_alike() -> None:
    table = table_of()
    flat = np.zeros((len(table), CLASSES)), np.zeros(len(table.example_of))
    candidates = CLASSES + np.bincount(table.example_of, minlength=len(table))
    right = table.right_classes.sum(axis=1) + np.bincount(
        table.example_of, table.right_tokens, len(table)
    )
    assert losses(table, *flat)[0] == pytest.approx(np.mean(np.log(candidates / right)))


def test_minimise_finds_the_bottom_of_a_bowl() -> None:
    bowl, bottom = np.array([1.0, 10.0, 100.0]), np.array([3.0, -2.0, 0.5])
    steps = minimise(
        lambda at: (float(bowl @ (at - bottom) ** 2), 2 * bowl * (at - bottom)), np.zeros(3)
    )
    values = []
    while True:
        try:
            values.append(next(steps)[1])
        except StopIteration as ended:
            point, _, converged = ended.value
            break
    assert converged
    assert point == pytest.approx(bottom, abs=1e-4)
    assert values == sorted(values, reverse=True)


def test_a_part_of_a_table_keeps_its_rows() -> None:
    table = table_of()
    part = table.part(np.array([1, 3, 7]))
    assert len(part) == 3
    assert part.tokens.shape[0] == len(part.right_tokens) == len(part.example_of)
    assert part.example_of.tolist() == sorted(part.example_of.tolist())
    own = table.example_of == 3
    assert (part.tokens[part.example_of == 1] != table.tokens[own]).nnz == 0
    assert (part.anchors[1] != table.anchors[3]).nnz == 0


# --- groups of features ---------------------------------------------------------------------


def test_only_the_groups_that_are_asked_for_are_told() -> None:
    item = item_of("How/ADV much/ADJ money/NOUN for/ADP cups/NOUN ?/PUNCT | [ two/NUM ]")
    for group in LinearSettings().features:
        told = extract(item, LinearSettings((group,)))
        names = {name for row in (told.anchor, *told.tokens) for name in row}
        assert {name.partition(":")[0] for name in names} == {"bias", group.value}


def test_without_crossing_the_anchor_has_no_features() -> None:
    told = extract(EXAMPLES[0].item, LinearSettings(PAPER, crossed=False))
    assert list(told.anchor) == ["bias"]
    assert all(told.tokens)


def test_features_of_the_paper() -> None:
    item = item_of(
        "Ida/PROPN/nsubj/1 paid/VERB/root/1 $/SYM/dobj/1 ?/PUNCT/punct/1 | She/PRON/nsubj/5 "
        "bought/VERB/root/5 cups/NOUN/dobj/5 on/ADP/prep/5 the/DET/det/9 [ 5/NUM/pobj/7 ] "
        "'s/PART/case/9"
    )
    told = extract(item, LinearSettings(PAPER))
    assert {
        "labels:lemma=5",
        "labels:lemma-1=the",
        "labels:lemma+1='",
        "labels:lemma+2=-",
        "labels:pos-2=ADP",
        "labels:relation=pobj",
        "labels:head-lemma=on",
        "labels:head-pos=ADP",
        "structure:question-before",
        "structure:sentence-length=<10",
        "structure:span-length=1",
        "structure:s-behind",
        "structure:apostrophe-behind",
        "match:money",
        "other:magnitude=<10",
        "other:digits",
    } <= set(told.anchor)
    assert not {"structure:question-behind", "match:time", "match:name-before"} & set(
        told.anchor
    )
    cups = told.tokens[6]
    assert {"closest:closest-noun", "labels:lemma=cup", "labels:relation=dobj"} <= set(cups)
    assert sum("closest:closest-noun" in row for row in told.tokens) == 1


# --- model directories ----------------------------------------------------------------------


def test_a_model_comes_back_as_it_was(model: Linear, tmp_path: Path) -> None:
    digest = save_linear(model, tmp_path / "m", metrics={"accuracy": 0.5}, card="a card")
    items = [one.item for one in EXAMPLES]
    back = load_linear(tmp_path / "m")
    assert back.resolve(items) == model.resolve(items)
    assert (back.version, back.parser) == (model.version, "words 1.0")
    assert back.settings == model.settings
    for again in (load_folder(tmp_path / "m"), load_resolver("linear", tmp_path / "m")):
        assert (again.recipe, again.version) == ("linear", model.version)
    assert save_linear(back, tmp_path / "n", name="m", metrics={"accuracy": 0.5}) == digest
    with pytest.raises(FolderTakenError):
        save_linear(model, tmp_path / "m")


def test_it_answers_without_frameworks(model: Linear, tmp_path: Path) -> None:
    save_linear(model, tmp_path / "m")
    code = (
        "import sys; from pathlib import Path\n"
        "from nfh_models.resolution.recipes import load_folder\n"
        "load_folder(Path(sys.argv[1]))\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    run = [sys.executable, "-c", code, str(tmp_path / "m")]
    loaded = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    assert "numpy" in loaded
    assert {"sklearn", "scipy", "torch", "spacy"}.isdisjoint(loaded)


def change(folder: Path, name: str, key: str, value: object) -> None:
    """Set a key of a JSON file."""
    content = json.loads((folder / name).read_text())
    content[key] = value
    (folder / name).write_text(json.dumps(content))


def test_damaged_models_are_refused_in_a_sentence(model: Linear, tmp_path: Path) -> None:
    save_linear(model, tmp_path / "m")
    config = (tmp_path / "m" / "config.json").read_text()
    vocabulary = json.loads((tmp_path / "m" / "vocabulary.json").read_text())
    weights = (tmp_path / "m" / "weights.safetensors").read_bytes()
    damages: list[tuple[str, str | bytes, str]] = [
        ("config.json", config.replace('"crossed"', '"crosed"'), "crosed|crossed"),
        ("config.json", config.replace('"labels"', '"words"'), "twice, or out of order"),
        ("vocabulary.json", json.dumps(vocabulary[:-1]), "heads has the shape"),
        ("vocabulary.json", json.dumps(vocabulary[::-1]), "then those of the tokens"),
        ("vocabulary.json", json.dumps(["bias", *vocabulary[1:]]), "then those of the tokens"),
        ("weights.safetensors", weights[: len(weights) // 2], "damaged"),
    ]
    for name, content, said in damages:
        path = tmp_path / "m" / name
        before = path.read_bytes()
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ModelFileError, match=said):
            load_linear(tmp_path / "m")
        path.write_bytes(before)
    change(tmp_path / "m", "config.json", "recipe", "svm")
    with pytest.raises(ModelFileError, match="is a model of 'svm', not of 'linear'"):
        load_linear(tmp_path / "m")
