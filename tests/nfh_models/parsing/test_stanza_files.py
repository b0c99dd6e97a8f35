"""Which stanza models a folder holds, and which of them are never opened."""

import json
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_models.parsing.base import ParseLayer, ParserError, load_parser
from nfh_models.parsing.stanza_parser import StanzaModelKind, find_models, read_weights

MODEL = Path(__file__).parent / "treebank" / "model"
PROCESSORS = ["constituency", "depparse", "lemma", "pos"]


@pytest.fixture(autouse=True)
def _needs_torch() -> None:
    pytest.importorskip("torch", reason="needs torch", exc_type=ImportError)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the small model, as a plain folder."""
    return Path(shutil.copytree(MODEL, tmp_path / "plain"))


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """The small model in the folders of stanza's own downloads."""
    for name in PROCESSORS:
        (tmp_path / "en" / name).mkdir(parents=True)
        shutil.copy(MODEL / f"{name}.pt", tmp_path / "en" / name / "small.pt")
    (tmp_path / "en" / "pretrain").mkdir()
    shutil.copy(MODEL / "pretrain.pt", tmp_path / "en" / "pretrain" / "words.pt")
    return tmp_path


Rewrite = Callable[[Path, Callable[[dict], None]], None]


@pytest.fixture
def rewrite() -> Rewrite:
    """Changes what a .pt file holds."""
    import torch

    def rewrite(path: Path, change: Callable[[dict], None]) -> None:
        weights = torch.load(path, weights_only=True)
        change(weights)
        torch.save(weights, path)

    return rewrite


def test_a_plain_folder(folder: Path) -> None:
    found = find_models(folder)
    assert sorted(found.models) == PROCESSORS
    assert {part: model.path.name for part, model in found.models.items()} == {
        part: f"{part}.pt" for part in found.models
    }
    assert found.models[StanzaModelKind.POS].support == {
        StanzaModelKind.PRETRAIN: folder / "pretrain.pt"
    }
    assert found.models[StanzaModelKind.LEMMA].support == {}


def test_names_do_not_matter_in_a_plain_folder(folder: Path) -> None:
    for number, path in enumerate(sorted(folder.iterdir())):
        path.rename(folder / f"{number}.pt")
    assert sorted(find_models(folder).models) == PROCESSORS
    assert find_models(folder).digest == find_models(MODEL).digest


def test_the_layout_of_a_download(layout: Path) -> None:
    found = find_models(layout)
    assert sorted(found.models) == PROCESSORS
    assert found.digest == find_models(layout / "en").digest == find_models(MODEL).digest


def test_the_default_package_of_several(layout: Path) -> None:
    english = layout / "en"
    shutil.copy(english / "pos" / "small.pt", english / "pos" / "another.pt")
    shutil.copy(english / "pretrain" / "words.pt", english / "pretrain" / "more.pt")
    with pytest.raises(
        ParserError, match=r"pos holds several taggers \(another.pt, small.pt\)"
    ):
        find_models(layout)
    needs = {"dependencies": [{"model": "pretrain", "package": "more"}]}
    listed = {
        "packages": {"default": {"pos": "another"}},
        "pos": {"another": needs},
        "depparse": {"small": needs},
        "constituency": {"small": needs},
    }
    (layout / "resources.json").write_text(json.dumps({"en": listed}), "utf-8")
    chosen = find_models(layout).models[StanzaModelKind.POS]
    assert chosen.path.name == "another.pt"
    assert chosen.support[StanzaModelKind.PRETRAIN].name == "more.pt"


def test_several_word_vectors_and_no_word_of_which(folder: Path) -> None:
    shutil.copy(folder / "pretrain.pt", folder / "more.pt")
    assert (
        find_models(folder).models[StanzaModelKind.POS].support[StanzaModelKind.PRETRAIN].name
        == "pretrain.pt"
    )
    (folder / "pretrain.pt").rename(folder / "other.pt")
    with pytest.raises(
        ParserError, match=r"several files of word vectors \(more.pt, other.pt\)"
    ):
        find_models(folder)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"en": []}', '{"en": {"pos": 3}}', '{"en": {"packages": [1]}}']
)
def test_a_damaged_list_of_packages_is_as_none(layout: Path, text: str) -> None:
    (layout / "resources.json").write_text(text, "utf-8")
    assert sorted(find_models(layout).models) == PROCESSORS


def test_no_folder_and_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(ParserError, match=r"there is no folder .*nowhere with stanza models"):
        load_parser(f"stanza:{tmp_path / 'nowhere'}")
    command = f"stanza.download('en', model_dir='{tmp_path}')\"`."
    (tmp_path / "notes.txt").write_text("nothing", "utf-8")
    with pytest.raises(
        ParserError, match=r"holds no stanza model for English \(.pt files\)"
    ) as caught:
        load_parser(f"stanza:{tmp_path}")
    assert str(caught.value).endswith(command)


@pytest.mark.parametrize(
    ("gone", "wanted", "kind"),
    [
        ("pos", frozenset(), "pos"),
        ("depparse", frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY}), "depparse"),
        ("constituency", frozenset({ParseLayer.CONSTITUENCY}), "constituency"),
        ("lemma", frozenset(ParseLayer), "lemma"),
    ],
)
def test_a_model_that_is_missing_is_named(
    folder: Path, gone: str, wanted: frozenset[ParseLayer], kind: str
) -> None:
    (folder / f"{gone}.pt").unlink()
    with pytest.raises(ParserError, match=f"has no stanza model of the kind {kind} .it has: "):
        load_parser(f"stanza:{folder}", wanted)


def test_word_vectors_that_are_missing(folder: Path) -> None:
    (folder / "pretrain.pt").unlink()
    with pytest.raises(
        ParserError, match=r"pos.pt needs one of stanza's files of word vectors"
    ):
        find_models(folder)


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return Path.write_text, (self.trace, "boom")


@pytest.mark.parametrize("name", ["pos", "lemma", "depparse", "constituency", "pretrain"])
def test_a_file_that_would_run_code_is_not_opened(folder: Path, name: str) -> None:
    import torch

    trace = folder / "trace"
    weights = torch.load(folder / f"{name}.pt", weights_only=True)
    weights["more"] = Bomb(trace)
    torch.save(weights, folder / f"{name}.pt")
    with pytest.raises(ParserError, match=rf"{name}.pt is damaged or holds more than weights"):
        load_parser(f"stanza:{folder}", frozenset(ParseLayer))
    assert not trace.exists()
    torch.load(folder / f"{name}.pt", weights_only=False)
    assert trace.exists(), "the file does run code where it is unpickled"


@pytest.mark.parametrize("old", [False, True])
def test_nor_in_the_layout_of_a_download(layout: Path, old: bool) -> None:
    import torch

    trace = layout / "trace"
    for path in (layout / "en" / "pos" / "small.pt", layout / "en" / "pretrain" / "words.pt"):
        torch.save({"emb": Bomb(trace)}, path, _use_new_zipfile_serialization=not old)
        with pytest.raises(ParserError, match="holds more than weights"):
            load_parser(f"stanza:{layout}")
    assert not trace.exists()


def test_a_bare_pickle(folder: Path) -> None:
    (folder / "pos.pt").write_bytes(pickle.dumps(Bomb(folder / "trace")))
    with pytest.raises(ParserError, match=r"pos.pt"):
        load_parser(f"stanza:{folder}")
    assert not (folder / "trace").exists()


@pytest.mark.parametrize("content", [b"", b"\x00" * 64, b"no model", b"PK\x03\x04torn"])
def test_a_damaged_file(folder: Path, content: bytes) -> None:
    (folder / "depparse.pt").write_bytes(content)
    with pytest.raises(ParserError, match=r"depparse.pt"):
        load_parser(f"stanza:{folder}")


def test_half_a_file(folder: Path) -> None:
    whole = (folder / "pos.pt").read_bytes()
    (folder / "pos.pt").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ParserError, match=r"pos.pt"):
        load_parser(f"stanza:{folder}")


def test_tensors_that_are_no_model(tmp_path: Path) -> None:
    import torch

    torch.save(torch.zeros(3), tmp_path / "zeros.pt")
    with pytest.raises(ParserError, match=r"zeros.pt is not a model of stanza"):
        read_weights(tmp_path / "zeros.pt")
    torch.save({"weights": torch.zeros(3)}, tmp_path / "zeros.pt")
    with pytest.raises(ParserError, match="holds no stanza model"):
        find_models(tmp_path)


def test_packed_weights_are_not_unpacked(tmp_path: Path) -> None:
    """Torch writes none, and would make a gigabyte of a megabyte."""
    path = tmp_path / "zeros.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("zeros/data/0", bytes(1_000_000))
    with pytest.raises(ParserError, match=r"zeros.pt has a compressed part"):
        read_weights(path)


def test_a_model_in_the_wrong_place(layout: Path) -> None:
    shutil.copy(MODEL / "lemma.pt", layout / "en" / "pos" / "small.pt")
    with pytest.raises(ParserError, match=r"small.pt is not a stanza model of the kind pos"):
        find_models(layout)


def test_a_transformer_is_not_looked_for(folder: Path, rewrite: Rewrite) -> None:
    rewrite(folder / "pos.pt", lambda weights: weights["config"].update(bert_model="org/big"))
    with pytest.raises(
        ParserError, match=("needs the transformer org/big, which is not on this machine")
    ):
        find_models(folder)


def test_nor_one_inside_a_model(folder: Path, rewrite: Rewrite) -> None:
    inner = {"model_type": "TRANSFORMER", "args": {"bert_model": "org/big"}}
    rewrite(folder / "lemma.pt", lambda weights: weights.update(contextual=[inner]))
    with pytest.raises(ParserError, match=r"lemma.pt needs the transformer org/big"):
        find_models(folder)


def test_a_pickled_dictionary_is_not_opened(folder: Path, rewrite: Rewrite) -> None:
    rewrite(folder / "lemma.pt", lambda weights: weights.update(dicts_version=2))
    with pytest.raises(ParserError, match="has its dictionary as a pickle"):
        find_models(folder)


def test_a_character_model_that_is_missing(folder: Path, rewrite: Rewrite) -> None:
    needs = {"charlm": True, "charlm_forward_file": "a/1billion.pt"}
    rewrite(folder / "pos.pt", lambda weights: weights["config"].update(needs))
    with pytest.raises(ParserError, match="needs one of stanza's forward character models"):
        find_models(folder)


def test_a_character_model_that_is_there(folder: Path, rewrite: Rewrite) -> None:
    import torch

    needs = {"charlm": True, "charlm_forward_file": "f.pt", "charlm_backward_file": "b.pt"}
    rewrite(folder / "pos.pt", lambda weights: weights["config"].update(needs))
    torch.save({"is_forward_lm": True, "state_dict": {}}, folder / "one.pt")
    torch.save({"model": {"is_forward_lm": False, "state_dict": {}}}, folder / "two.pt")
    support = find_models(folder).models[StanzaModelKind.POS].support
    assert {part: path.name for part, path in support.items()} == {
        StanzaModelKind.PRETRAIN: "pretrain.pt",
        StanzaModelKind.FORWARD: "one.pt",
        StanzaModelKind.BACKWARD: "two.pt",
    }


def test_a_lemmatizer_with_classifiers_inside(folder: Path, rewrite: Rewrite) -> None:
    inner = {"model_type": "LSTM", "args": {"use_charlm": False}}
    rewrite(folder / "lemma.pt", lambda weights: weights.update(contextual=[inner]))
    support = find_models(folder).models[StanzaModelKind.LEMMA].support
    assert support == {StanzaModelKind.PRETRAIN: folder / "pretrain.pt"}
