"""Model directories: written whole or not at all, and read with suspicion."""

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from nfh_models import ModelsError
from nfh_models.identification.svm import Svm, SvmSettings, load_svm, save_svm
from nfh_models.model_files import (
    CARD,
    CONFIG,
    METRICS,
    VOCABULARY,
    WEIGHTS,
    FolderTakenError,
    ModelFileError,
    damaged,
    digest_of,
    read_config,
    read_metrics,
)

Edit = Callable[[dict[str, object]], object]


def machine() -> Svm:
    """A machine of three features."""
    weights = np.array([0.5, -1.25, 3e-7])
    return Svm(SvmSettings(), ["anchor=one", "window:1=of", "a\nb"], weights, -0.1, "p 1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model directory that holds."""
    path = tmp_path / "models" / "svm-1"
    save_svm(machine(), path, metrics={"f1": 0.5}, card="# svm-1\n")
    return path


def edit(path: Path, change: Edit) -> None:
    """Change a JSON file."""
    values = json.loads(path.read_text("utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def test_a_directory_holds_what_it_says(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [CONFIG, WEIGHTS, VOCABULARY, METRICS, CARD]
    )
    config = read_config(folder)
    assert (config.format_version, config.task, config.recipe) == (1, "identification", "svm")
    assert config.parser == "p 1"
    assert read_metrics(folder) == {"f1": 0.5}
    assert list(folder.parent.iterdir()) == [folder]


# --- writing --------------------------------------------------------------------------------


def test_nothing_is_ever_written_over(folder: Path) -> None:
    before = digest_of(folder)
    with pytest.raises(FolderTakenError, match="never overwritten"):
        save_svm(machine(), folder)
    assert digest_of(folder) == before
    (folder.parent / "link").symlink_to(folder.parent / "nowhere")
    with pytest.raises(FolderTakenError):
        save_svm(machine(), folder.parent / "link")


def test_a_file_in_the_folders_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("mine")
    with pytest.raises(ModelFileError, match="models is not a folder"):
        save_svm(machine(), tmp_path / "models" / "svm-1")
    assert (tmp_path / "models").read_text() == "mine"


def test_a_failure_while_writing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        save_svm(machine(), tmp_path / "models" / "svm-1")
    assert list((tmp_path / "models").iterdir()) == []


def test_figures_that_are_no_numbers_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        save_svm(machine(), tmp_path / "one", metrics={"f1": float("nan")})
    assert list(tmp_path.iterdir()) == []


# --- the digest -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, VOCABULARY, METRICS])
def test_every_file_is_in_the_digest(folder: Path, name: str) -> None:
    before = digest_of(folder)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content + b" ")
    assert digest_of(folder) != before
    (folder / name).write_bytes(content)
    assert digest_of(folder) == before


def test_notes_in_the_card_change_nothing(folder: Path) -> None:
    before = digest_of(folder)
    (folder / CARD).write_text("my notes")
    (folder / ".DS_Store").write_text("the system's")
    assert digest_of(folder) == before
    (folder / "more").mkdir()
    (folder / "more" / "file").write_text("something else")
    assert digest_of(folder) != before


def test_the_digest_of_nothing_and_of_links_is_refused(folder: Path) -> None:
    with pytest.raises(ModelFileError, match="missing"):
        digest_of(folder / "nothing")
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(ModelFileError, match="is a link"):
        digest_of(folder)


# --- reading what does not hold -------------------------------------------------------------


def test_missing_folder_and_files_are_named(folder: Path) -> None:
    with pytest.raises(ModelFileError, match="no such folder"):
        load_svm(folder.parent / "svm-2")
    for name in (WEIGHTS, VOCABULARY, CONFIG):
        (folder / name).unlink()
        with pytest.raises(ModelFileError, match=f"{name} is missing.* Train the model again"):
            load_svm(folder)


@pytest.mark.parametrize(
    ("left", "says"),
    [
        (0, "its header is incomplete"),
        (40, "its header is incomplete"),
        (-1, r"[0-9]+ of its [0-9]+ bytes are there\. Train the model again, or copy"),
    ],
)
def test_weights_that_are_cut_short(folder: Path, left: int, says: str) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:left])
    with pytest.raises(ModelFileError, match=f"it is cut short: {says}"):
        load_svm(folder)


def test_damaged_files_of_the_package(package: Path) -> None:
    told = str(damaged(package / WEIGHTS, "it is cut short"))
    assert told.endswith("it is cut short. Install nfh-tui again")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.update(surprise=1), "unknown field `surprise`"),
        (lambda c: c["settings"].update(surprise=1), "unknown field `surprise`"),
        (lambda c: c.pop("version"), "missing required field `version`"),
        (lambda c: c.update(format_version=2), "format 2 of a newer nfh-tui"),
        (lambda c: c.update(format_version=0), "no format 0"),
        (lambda c: c.update(recipe="encoder"), "is a model of 'encoder', not of 'svm'"),
        (lambda c: c["settings"].update(window=-1), "window"),
        (lambda c: c["settings"].update(window=10**9), "window"),
        (lambda c: c["settings"].update(features=[]), "features"),
        (lambda c: c["settings"].update(features=["shape"]), "features"),
        (lambda c: c["settings"].update(c="1"), "`$.c`"),
        (lambda c: c.update(settings=[]), "settings"),
    ],
)
def test_a_config_that_does_not_hold_says_where(folder: Path, change: Edit, says: str) -> None:
    edit(folder / CONFIG, change)
    with pytest.raises(ModelFileError) as caught:
        load_svm(folder)
    assert says in str(caught.value)
    assert "svm-1" in str(caught.value)


@pytest.mark.parametrize(
    ("vocabulary", "says"),
    [
        ("{}", "a list of strings"),
        ("[1, 2, 3]", "a list of strings"),
        ('["a", "a", "b"]', "is in it twice"),
        ('["a", "b"]', "2 features"),
        ('["a", "b", NaN]', "NaN is not a number"),
        ("[" * 200_000, "vocabulary.json is damaged"),
    ],
)
def test_a_vocabulary_that_does_not_hold(folder: Path, vocabulary: str, says: str) -> None:
    (folder / VOCABULARY).write_text(vocabulary)
    with pytest.raises(ModelFileError, match=says):
        load_svm(folder)


GOOD = {"weights": np.zeros(3), "bias": np.zeros(1)}


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"weights": np.zeros(3)}, r"lacks the array bias\. "),
        (GOOD | {"more": np.zeros(1)}, r"an unknown array: more\. "),
        ({}, r"lacks the array bias, and 1 more\. "),
        (GOOD | {"weights": np.zeros(3, np.float32)}, "float32, wanted float64"),
        (GOOD | {"weights": np.array([0, np.nan, 0])}, "not a finite number"),
        (GOOD | {"bias": np.array([np.inf])}, "not a finite number"),
        (GOOD | {"weights": np.zeros((3, 1))}, r"shape \(3, 1\)"),
        (GOOD | {"bias": np.zeros(2)}, r"shape \(2,\)"),
    ],
)
def test_arrays_that_do_not_hold(
    folder: Path, arrays: dict[str, np.ndarray], says: str
) -> None:
    (folder / WEIGHTS).write_bytes(save(arrays))
    with pytest.raises(ModelFileError, match=says):
        load_svm(folder)


class Trap:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch ran",)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, VOCABULARY])
def test_a_pickle_is_refused_and_not_run(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (folder / name).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError, match="damaged"):
        load_svm(folder)
    assert not (tmp_path / "ran").exists()


def test_what_is_no_file_is_not_waited_for(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    os.mkfifo(folder / WEIGHTS)
    with pytest.raises(ModelFileError, match="is not a file"):
        load_svm(folder)


def test_a_header_that_claims_more_than_there_is(folder: Path) -> None:
    header = json.dumps(
        {"weights": {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]}}
    ).encode()
    (folder / WEIGHTS).write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelFileError, match="damaged"):
        load_svm(folder)
    (folder / WEIGHTS).write_bytes((2**63).to_bytes(8, "little"))
    with pytest.raises(ModelFileError, match="damaged"):
        load_svm(folder)


@pytest.fixture(scope="module")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory to be damaged and mended again."""
    path = tmp_path_factory.mktemp("models") / "svm-1"
    save_svm(machine(), path)
    return path


@settings(max_examples=150)
@given(
    name=st.sampled_from([CONFIG, WEIGHTS, VOCABULARY]),
    place=st.integers(0, 2_000),
    put=st.binary(max_size=3),
    cut=st.booleans(),
)
@example(name=WEIGHTS, place=0, put=b"", cut=True)
def test_damage_anywhere_is_told_or_does_no_harm(
    spare: Path, name: str, place: int, put: bytes, cut: bool
) -> None:
    content = (spare / name).read_bytes()
    place %= len(content)
    rest = b"" if cut else content[place + len(put) :]
    (spare / name).write_bytes(content[:place] + put + rest)
    try:
        loaded = load_svm(spare)
    except ModelsError as error:
        assert str(spare) in str(error)
    else:
        assert len(loaded.vocabulary) == len(loaded.weights) == 3
        assert np.isfinite(loaded.weights).all()
    finally:
        (spare / name).write_bytes(content)
