"""How the model of the package is made: its parts, and all of it on a few sentences."""

import gzip
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from nfh_models.encoder.model import ModelBundle, load, network_of, save
from nfh_models.encoder.settings import EncoderSettings, Weights
from nfh_models.encoder.training import Silver, key_of_item
from nfh_models.model_files import (
    CONFIG,
    PACKAGED,
    ModelFileError,
    SeenTexts,
    packaged_folder,
    read_config,
    read_seen,
)
from nfh_tui.services.examples import ResolutionExamples
from tests.nfh_models.encoder.handmade import AGE, CATS, DOGS, backbone, item
from tests.nfh_models.encoder.test_backbone import made
from tests.nfh_models.parsing.tiny_small import write_small
from tools.small_model import base
from tools.small_model.build import FUSED, best_threshold, drawn, install, main, size_of
from tools.small_model.data import (
    DEV,
    IDENTIFICATION,
    TRAIN,
    RowUse,
    TeacherLabels,
    labels,
    line_of,
    part_of,
    read_data,
    spelled,
    stands_in,
)
from tools.small_model.overlap import HASHES, LINES

# --- material -------------------------------------------------------------------------------


def test_a_text_has_one_use() -> None:
    found = {}
    for place in range(400):
        one = item(f"Ann: [ two ] dogs number {place}").passage
        found[place] = part_of(one)
        assert part_of(one) is found[place]
    shares = [list(found.values()).count(part) / 400 for part in RowUse]
    assert shares[0] == pytest.approx(0.80, abs=0.06)
    assert shares[1] == pytest.approx(0.05, abs=0.04)
    assert shares[2] == pytest.approx(0.15, abs=0.06)


def test_a_row_is_known_again_in_a_passage() -> None:
    text = spelled(item("Ann: Well , I have two of the dogs .", "Ben: [ two ] ?").passage)
    assert text == "well i have two of the dogs two"
    assert stands_in(item("Ann: I HAVE [ two ] of the dogs !").passage, text)
    assert not stands_in(item("Ann: I have [ three ] of the dogs .").passage, text)
    assert not stands_in(item("Ann: the dogs [ two ]").passage, text)


def test_of_each_sort_so_many_are_drawn_but_of_fused_heads_all() -> None:
    one = [Silver(item(f"Ann: [ two ] dogs number {place}")) for place in range(9)]
    sorts = {FUSED: one, "chat": one, "nouns": one[:3]}
    assert drawn(sorts, None) == sorts
    found = drawn(sorts, 4)
    assert (found[FUSED], found["nouns"]) == (one, one[:3])
    places = [one.index(silver) for silver in found["chat"]]
    assert len(set(places)) == 4
    assert places == sorted(places)


# --- labels ---------------------------------------------------------------------------------


def teacher(folder: Path, seed: int = 0) -> Path:
    own = backbone(seed)
    settings = EncoderSettings(pair=8)
    network = network_of(own.architecture, own.module, settings).eval()
    save(ModelBundle(network, settings, own.architecture, own.pieces), folder)
    return folder


def test_labels_are_worked_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.small_model import data as module

    own = teacher(tmp_path / "teacher")
    said: list[str] = []
    work = tmp_path / "work"
    first = labels([own], [DOGS, AGE], work, said.append, states=True)
    assert set(first.soft) == set(first.shown) == {key_of_item(DOGS), key_of_item(AGE)}
    more = labels([own], [DOGS, AGE, CATS], work, said.append, states=True)
    assert said[0].endswith("2 of them new")
    assert any(line.endswith("1 of them new") for line in said)
    monkeypatch.setattr(module, "_taught", lambda *_: pytest.fail("nothing is new"))
    again = labels([own], [DOGS, AGE, CATS], work, said.append, states=True)
    assert all(np.array_equal(more.soft[key], again.soft[key]) for key in more.soft)
    assert again.soft[key_of_item(DOGS)].sum() == pytest.approx(1, abs=1e-2)
    seen = again.shown[key_of_item(DOGS)]
    assert (seen.offset, seen.states.shape) == (0, (len(DOGS.passage.tokens), 16))
    assert labels([], [DOGS], work, said.append, states=True) == TeacherLabels()


def test_several_teachers_say_their_mean(tmp_path: Path) -> None:
    both = [teacher(tmp_path / "one"), teacher(tmp_path / "two", seed=1)]
    key, work = key_of_item(DOGS), tmp_path / "work"
    one, two, mean = (
        labels(some, [DOGS], work, lambda _: None, states=False).soft[key]
        for some in (both[:1], both[1:], both)
    )
    assert not np.allclose(one, two)
    assert np.allclose(mean, (one + two) / 2)
    assert len(list(work.iterdir())) == 2, "what each said is kept apart"


def test_a_damaged_file_of_labels_is_worked_out_anew(tmp_path: Path) -> None:
    own = teacher(tmp_path / "teacher")
    whole = labels([own], [DOGS], tmp_path / "work", lambda _: None, states=True)
    for name in ("*.npz", "*.npy"):
        [path] = (tmp_path / "work").rglob(name)
        path.write_bytes(path.read_bytes()[:50])
        found = labels([own], [DOGS], tmp_path / "work", lambda _: None, states=True)
        key = key_of_item(DOGS)
        assert np.array_equal(found.shown[key].states, whole.shown[key].states)


# --- figures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "gold", "wanted"),
    [
        ([3.0, 1.0, -1.0], [True, True, False], 0.0),
        ([3.0, 2.0, 1.0], [True, False, False], 2.5),
        ([-1.0, -2.0, -3.0], [True, True, False], -2.5),
        ([1.0, 1.0, 0.0], [True, False, False], 0.5),
        ([1.0], [False], 0.0),
        ([], [], 0.0),
    ],
)
def test_the_best_threshold(scores: list[float], gold: list[bool], wanted: float) -> None:
    assert best_threshold(scores, gold) == wanted


# --- all of it ------------------------------------------------------------------------------


def written(folder: Path) -> Path:
    """A few rows in the form of the release's files."""
    rows = []
    for place in range(12):
        tokens = ["I", "have", "dogs", ".", "You", "want", "two", "?"]
        rows.append((tokens, [2], 6, place))
        rows.append((["he", "is", "six", ".", "OK", "."], ["AGE"], 2, place))
    for name, first in (("train", 0), ("dev", 12)):
        path = folder / "resolution" / f"nfh_{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            for tokens, head, anchor, place in rows[first : first + 12]:
                words = [*tokens, "x" * (place + 1)]
                turns = [0] * 4 + [1] * (len(words) - 4)
                row = {
                    "tokens": words, "line_indices": turns, "head": head,
                    "speakers": ["Ann"] * len(words), "anchors_indices": [anchor],
                }  # fmt: skip
                file.write(json.dumps(row) + "\n")
    lines = ["text\tind_s\tind_e\ty"]
    for place in range(60):
        lines.append(f"He_SEP_has_SEP_two_SEP_dogs_SEP_{'y' * (place + 1)}_SEP_.\t2\t3\t0")
        lines.append(f"{'z' * (place + 1)}_SEP_wants_SEP_two_SEP_.\t2\t3\t1")
    path = folder / "identification" / "dev.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n")
    words = [f"he has two dogs {'y' * (place + 1)}" for place in range(20, 40)]
    hashes = [hashlib.blake2b(one.encode(), digest_size=6).hexdigest() for one in words]
    (folder / HASHES).write_bytes(gzip.compress("\n".join(hashes).encode()))
    (folder / LINES).write_text(
        json.dumps({str(TRAIN): [1, 3], str(IDENTIFICATION): [*range(2, 12)]})
    )
    return folder


def test_nothing_is_learnt_from_what_is_held_out(tmp_path: Path) -> None:
    """Listed lines, rows with a sentence of the tests, and rows that stand in dev."""
    said: list[str] = []
    found = read_data(written(tmp_path), said.append)
    assert [one.where for one in found.train][:2] == ["line 2", "line 4"]
    assert found.dropped["labelled fused heads that overlap with tests"] == 2
    learnt = [line_of(one.example.where) for one in found.sentences]
    learnt += [line_of(one.where) for one in found.tuning]
    listed, shared = set(range(2, 12)), set(range(42, 82, 2))
    assert learnt
    assert not (listed | shared) & set(learnt)
    rows = found.dropped["identification rows that overlap with tests"]
    held = {line_of(one.where) for one in found.held} & (listed | shared)
    assert rows == len(listed | shared) - len(held) > 20
    assert f"{rows:,} identification rows that overlap with tests" in said[0]


@pytest.mark.long
def test_it_is_made_goes_on_and_can_be_used(tmp_path: Path) -> None:
    data, base = written(tmp_path / "data"), made(tmp_path / "base")
    own = teacher(tmp_path / "teacher")
    call = [
        "--data", str(data), "--base", str(base), "--teacher", str(own), "--copies", "1",
        "--work", str(tmp_path / "work"), "--out", str(tmp_path / "package"), "--note",
        "A try.", "--only", "40", "--constructed", "3", "--no-several", "--set", "epochs=2",
        "--set", "pair=8",
        "--columns", "0",
        "--set", "states=0.5",
        "--set", "precision=fp32",
    ]  # fmt: skip
    first = CliRunner().invoke(main, call, catch_exceptions=False)
    assert first.exit_code == 0, first.output
    assert re.search(r" 3 constructions, class\n", first.output)
    model = load(tmp_path / "package")
    assert model.recipe == "small"
    assert model.resolve([DOGS])[0] is not None
    card = (tmp_path / "package" / "card.md").read_text()
    assert "A try." in card
    seen = read_seen(tmp_path / "package")
    assert seen is not None
    first_of = {
        name: next(iter(ResolutionExamples.of_file(data / path))).item.passage
        for name, path in (("train", TRAIN), ("dev", DEV))
    }
    assert not seen.holds(first_of["train"]), "it overlaps with the tests"
    assert seen.holds(first_of["dev"])
    assert not SeenTexts(seen.learnt).holds(first_of["dev"])
    assert "2 labelled fused heads that overlap with tests" in card
    assert "none (none" not in card
    metrics = json.loads((tmp_path / "package" / "metrics.json").read_text())
    assert 0 <= metrics["resolution"]["accuracy_inclusive"] <= 1
    assert metrics["identification"]["n"] > 0
    assert "Apache License" in (tmp_path / "package" / "NOTICE").read_text()
    assert str(tmp_path) not in (tmp_path / "package" / "config.json").read_text()
    again = CliRunner().invoke(main, call, catch_exceptions=False)
    assert again.exit_code == 0
    assert " 0 of them new" in again.output
    assert again.output.count("step ") <= first.output.count("step ")


@pytest.mark.long
def test_two_columns_trained_apart_then_together(tmp_path: Path) -> None:
    data, base = written(tmp_path / "data"), made(tmp_path / "base")
    call = [
        "--data", str(data), "--base", str(base), "--teacher", str(teacher(tmp_path / "t")),
        "--work", str(tmp_path / "work"), "--only", "24", "--most", "4", "--no-several",
        "--first", "epochs=1", "--set", "epochs=1", "--set", "pair=8", "--set",
        "precision=fp32",
    ]  # fmt: skip
    found = CliRunner().invoke(main, call, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    model = load(tmp_path / "work" / "model")
    assert model.bundle.architecture["columns"] == 2
    assert model.resolve([DOGS])[0] is not None
    assert "2 columns" in (tmp_path / "work" / "model" / "card.md").read_text()
    counts = [
        int(line.split(" lessons;")[0].split()[-1])
        for line in found.output.splitlines()
        if " lessons;" in line
    ]
    assert len(counts) == 3
    assert counts[0] == counts[1] == counts[2] > 0
    made_ = {path.name for path in (tmp_path / "work").iterdir() if path.is_dir()}
    assert made_ >= {"column-0", "column-1", "training"}


@pytest.mark.long
def test_base_is_made_in_phases(tmp_path: Path) -> None:
    data, encoder = written(tmp_path / "data"), made(tmp_path / "encoder", "mpnet")
    dialogs = tmp_path / "chat.txt"
    dialogs.write_text("Ann: I saw two horses there.\nBen: Two horses?\n")
    call = [
        "--data", str(data), "--base", str(encoder), "--work", str(tmp_path / "work"),
        "--out", str(tmp_path / "package"), "--only", "40", "--dialogs", str(dialogs),
        "--set", "pair=8", "--set", "precision=fp32", "--credit", "Thanks to the talkers.",
    ]  # fmt: skip
    found = CliRunner().invoke(base.main, call, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    sizes = re.findall(r"phase \d of 3: (\d+) examples", found.output)
    assert len(sizes) == 3
    assert len(set(sizes)) == 1, "each phase has labels and constructions"
    model = load(tmp_path / "package")
    assert (model.recipe, model.bundle.settings.task) == ("base", "resolution")
    assert model.bundle.settings.weights is Weights.MIXED
    assert any(model.bundle.shift)
    assert model.resolve([DOGS])[0] is not None
    card = (tmp_path / "package" / "card.md").read_text()
    assert "decide what is a fused head" in card
    assert "Identification" not in card
    assert "| figure | base |" in card
    metrics = json.loads((tmp_path / "package" / "metrics.json").read_text())
    assert "identification" not in metrics
    notice = (tmp_path / "package" / "NOTICE").read_text()
    assert "all-mpnet-base-v2, https" in notice
    assert "Thanks to the talkers." in notice
    seen = read_seen(tmp_path / "package")
    assert seen is not None
    train, dev = (
        [one.item.passage for one in ResolutionExamples.of_file(data / path)]
        for path in (TRAIN, DEV)
    )
    assert seen.holds(train[-1])
    assert seen.holds(dev[0])
    assert not SeenTexts(seen.learnt).holds(dev[0])
    # From there on by the last phase, taught by itself.
    call[call.index("--work") + 1] = str(tmp_path / "further")
    call[call.index("--out") + 1] = str(tmp_path / "second")
    first = str(tmp_path / "package")
    call += ["--start", first, "--teacher", first]
    found = CliRunner().invoke(base.main, call, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    assert "phase 1 of 1" in found.output
    assert any(path.name.startswith("labels-") for path in (tmp_path / "further").iterdir())
    assert "Its teachers: package." in (tmp_path / "second" / "card.md").read_text()
    second = read_seen(tmp_path / "second")
    assert second is not None and second.holds(train[-1])


def test_a_folder_without_the_files(tmp_path: Path) -> None:
    call = ["--data", str(tmp_path), "--base", "x", "--work", str(tmp_path / "work")]
    found = CliRunner().invoke(main, call)
    assert found.exit_code == 1
    assert "nfh_train.jsonl is missing" in found.output


def test_installing_puts_files_in_place_of_others(tmp_path: Path) -> None:
    package = write_small(tmp_path / "package")
    (package / "__init__.py").write_text("kept")
    (package / "card.md").write_text("old")
    own = teacher(tmp_path / "model")
    install(own, package)
    assert (package / "__init__.py").read_text() == "kept"
    assert (package / "card.md").read_text() == ""
    assert size_of(package) > size_of(own)


def test_it_is_put_in_the_place_of_nothing_else(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "metrics.json").write_text("mine")
    with pytest.raises(ModelFileError, match="config"):
        install(teacher(tmp_path / "model"), package)
    assert [path.name for path in package.iterdir()] == ["metrics.json"]
    assert (package / "metrics.json").read_text() == "mine"


# --- the models in the package --------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "most"),
    [
        (packaged_folder("small"), 25_000_000),
        pytest.param(packaged_folder("base"), 75_000_000, marks=pytest.mark.long),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_model_in_the_package(folder: Path, most: int) -> None:
    """It loads, answers, is small enough, and names its licences."""
    if not (folder / CONFIG).is_file():
        pytest.skip(f"{folder} holds no model")
    assert (folder / "NOTICE").is_file()
    assert (folder / "card.md").is_file()
    assert size_of(folder) < most or (folder / "__pycache__").is_dir()
    assert read_seen(folder) is not None
    made = load(folder)
    assert (made.recipe, read_config(folder).task) == (folder.name, PACKAGED[folder.name])
    [choice] = made.resolve([DOGS])
    assert choice is not None
    assert choice.choice == "2"
