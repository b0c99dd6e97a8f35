"""Pretrained encoders by folder, with `transformers`, and our own BERT and MPNet beside its."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from torch import nn

from nfh_models.encoder import quantization
from nfh_models.encoder.backbone import (
    Bert,
    EncoderError,
    Mpnet,
    TokenizerError,
    built,
    limit_of,
    pretrained,
)
from nfh_models.encoder.model import EncoderModel, ModelBundle, load, network_of, read, save
from nfh_models.encoder.settings import EncoderSettings, Weights
from nfh_models.encoder.training import Material, prepare
from nfh_models.model_files import ModelFileError
from tests.nfh_models.encoder.handmade import (
    AGE,
    CATS,
    DOGS,
    LESSONS,
    NUMBERS,
    featuriser,
    item,
    tokenizer,
)

ITEMS = [DOGS, AGE, CATS]
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
}


def made(folder: Path, kind: str = "bert") -> Path:
    """A folder as `transformers` saves an encoder, with weights by chance."""
    from transformers import (
        BertConfig,
        BertModel,
        MPNetConfig,
        MPNetModel,
        PreTrainedTokenizerFast,
    )

    torch.manual_seed(1)
    own = tokenizer()
    size = own.get_vocab_size()
    if kind == "bert":
        module = BertModel(BertConfig(vocab_size=size, **SIZES))
    else:
        module = MPNetModel(MPNetConfig(vocab_size=size, **SIZES))
    module.save_pretrained(folder)
    marks = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    PreTrainedTokenizerFast(tokenizer_object=own, unk_token="[UNK]", **marks).save_pretrained(
        folder
    )
    return folder


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("bert") / "tiny-bert")


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("mpnet") / "tiny-mpnet", "mpnet")


def copied(folder: Path, to: Path) -> Path:
    import shutil

    shutil.copytree(folder, to)
    return to


@pytest.mark.long
@pytest.mark.parametrize(("kind", "ours"), [("bert", Bert), ("mpnet", Mpnet)])
def test_our_own_encoders_give_the_same_numbers(
    kind: str, ours: type[nn.Module], request: pytest.FixtureRequest
) -> None:
    theirs = pretrained(str(request.getfixturevalue(kind)))
    settings = EncoderSettings(pair=8)
    network = network_of(theirs.architecture, theirs.module, settings).eval()
    own = built(theirs.architecture)
    assert isinstance(own, ours)
    other = network_of(theirs.architecture, own, settings).eval()
    if kind == "mpnet":
        # Its weights by chance are too small to show which distance has which bias.
        nn.init.normal_(network.encoder.encoder.relative_attention_bias.weight)
    other.load_state_dict(network.state_dict())
    made = featuriser()
    long = item(f"Ann: I have two dogs . Ben: He is [ six ] {'years old , ' * 11} .")
    rows = [made.row(one.passage, one.anchor) for one in [*ITEMS, long]]
    first, second = (read(one, rows, made.pieces.pad) for one in (network, other))
    for one, two in zip(first.logits, second.logits, strict=True):
        assert np.allclose(one, two, atol=1e-4)


def test_a_pretrained_folder(bert: Path) -> None:
    found = pretrained(str(bert))
    assert (found.width, found.limit) == (16, 64)
    assert found.pieces.specials.cls == "[CLS]"
    assert "_name_or_path" not in found.architecture
    assert not any("pooler" in name for name, _ in found.module.named_parameters())
    kinds = found.module.embeddings.token_type_embeddings.weight
    network = network_of(found.architecture, found.module, EncoderSettings(pair=8))
    assert torch.equal(network.mark, kinds[1] - kinds[0])


def test_an_encoder_without_token_types(mpnet: Path, tmp_path: Path) -> None:
    """It is trained and saved with `transformers`, and loaded without."""
    settings = EncoderSettings(pair=8, encoder=str(mpnet), weights=Weights.FULL)
    found = prepare(Material(LESSONS, NUMBERS, LESSONS, NUMBERS), settings)
    assert limit_of(found.bundle.architecture) == 62
    found.learner.loss((0, 1), torch.device("cpu")).backward()
    assert float(found.bundle.network.mark.grad.abs().sum()) > 0
    found.bundle.network.eval()
    save(found.bundle, tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again.bundle.network.encoder, Mpnet)
    one = EncoderModel(found.bundle, "encoder").decide([NUMBERS[0].case])[0].score
    assert again.decide([NUMBERS[0].case])[0].score == pytest.approx(one, abs=0.05)
    assert again.bundle.base == "tiny-mpnet"


def test_our_mpnet_is_trained_on_after_it_was_judged() -> None:
    """Judging leaves nothing of its inference mode behind."""
    own = built({"model_type": "mpnet", "vocab_size": 50, **SIZES})
    assert isinstance(own, Mpnet)
    words, mask = torch.randn(1, 9, 16), torch.ones(1, 9, dtype=torch.long)
    with torch.inference_mode():
        own(words, mask)
    own(words, mask).last_hidden_state.sum().backward()
    bias = own.encoder.relative_attention_bias.weight
    assert bias.grad is not None


def test_our_mpnet_computes_with_eight_bits(
    mpnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = pretrained(str(mpnet))
    settings = EncoderSettings(pair=8, weights=Weights.BYTE)
    network = network_of(found.architecture, found.module, settings).eval()
    save(ModelBundle(network, settings, found.architecture, found.pieces), tmp_path / "m")
    scores = []
    for fast in (True, False):
        monkeypatch.setattr(quantization, "has_fast_int8", lambda fast=fast: fast)
        model = load(tmp_path / "m")
        heads = model.bundle.network.encoder.encoder.layer[0].attention.attn
        assert (heads.joined is not None, hasattr(heads, "q")) == (fast, not fast)
        assert isinstance(heads.o, quantization.ByteLinear) is fast
        scores.append([one.scores for one in model.resolve(ITEMS)])
        assert [model.resolve([one])[0].scores for one in ITEMS] == scores[-1] or not fast
    for one, two in zip(*scores, strict=True):
        assert one == pytest.approx(two, abs=0.02)


def test_transformers_says_nothing(bert: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pretrained(str(bert))
    assert capfd.readouterr() == ("", "")


def test_no_such_encoder() -> None:
    with pytest.raises(EncoderError, match="no folder 'no/such-encoder'"):
        pretrained("no/such-encoder")
    with pytest.raises(EncoderError, match="no encoder is named"):
        pretrained("")


@pytest.mark.parametrize("name", ["./none", "/no/where", "a/b/c", "~/none", "C:\\none"])
@pytest.mark.parametrize("download", [True, False])
def test_what_is_no_name_of_an_encoder_is_a_folder_that_is_not_there(
    name: str, download: bool
) -> None:
    with pytest.raises(EncoderError, match="there is no folder") as refused:
        pretrained(name, download=download)
    assert "download" not in str(refused.value)


def test_weights_that_are_no_numbers(bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    shutil.copytree(bert, folder)
    arrays = load_file(folder / "model.safetensors")
    name = next(one for one in arrays if one.endswith("word_embeddings.weight"))
    arrays[name][3, 0] = np.nan
    save_file(arrays, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(
        EncoderError, match=(f"damaged: {name} has a value that is not a finite number")
    ):
        pretrained(str(folder))


def test_a_folder_without_a_config(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"no config\.json"):
        pretrained(str(tmp_path))


def test_a_folder_without_a_tokenizer(bert: Path, tmp_path: Path) -> None:
    folder = copied(bert, tmp_path / "e")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(TokenizerError, match="has no tokenizer"):
        pretrained(str(folder))


def test_a_damaged_tokenizer(bert: Path, tmp_path: Path) -> None:
    folder = copied(bert, tmp_path / "e")
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(TokenizerError, match="no tokenizer that can be used"):
        pretrained(str(folder))


def test_a_tokenizer_of_another_encoder(bert: Path, tmp_path: Path) -> None:
    folder = copied(bert, tmp_path / "e")
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"]["vocab"]["zebra"] = 9_999
    (folder / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(EncoderError, match="they belong to different encoders"):
        pretrained(str(folder))


@pytest.mark.parametrize(
    ("instead", "says"), [(None, "has no weights"), ("pytorch_model.bin", "only as a pickle")]
)
def test_a_folder_without_safe_weights(
    bert: Path, tmp_path: Path, instead: str | None, says: str
) -> None:
    folder = copied(bert, tmp_path / "e")
    weights = folder / "model.safetensors"
    if instead is None:
        weights.unlink()
    else:
        weights.rename(folder / instead)
    with pytest.raises(EncoderError, match=says):
        pretrained(str(folder))


def test_truncated_weights(bert: Path, tmp_path: Path) -> None:
    folder = copied(bert, tmp_path / "e")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(EncoderError, match="cannot be loaded"):
        pretrained(str(folder))


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("intermediate_size", 48, "has another shape"),
        ("num_hidden_layers", 3, "is missing"),
        ("model_type", "no such", "cannot be loaded"),
    ],
)
def test_weights_of_another_shape(
    bert: Path, tmp_path: Path, key: str, value: object, says: str
) -> None:
    folder = copied(bert, tmp_path / "e")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {key: value}))
    with pytest.raises(EncoderError, match=says):
        pretrained(str(folder))


def test_an_architecture_that_only_transformers_knows(bert: Path) -> None:
    found = pretrained(str(bert))
    other = dict(found.architecture) | {"hidden_act": "relu"}
    assert not isinstance(built(other), Bert)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_whole_is_not_needed_to_be_trained_anew(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A model's directory runs our own encoder: `transformers` is not loaded for it."""
    import subprocess
    import sys

    own = pretrained(str(request.getfixturevalue(kind)))
    settings = EncoderSettings(pair=8, weights=Weights.BYTE)
    network = network_of(own.architecture, own.module, settings).eval()
    save(ModelBundle(network, settings, own.architecture, own.pieces), tmp_path / "m")
    script = (
        "import sys; from pathlib import Path; from nfh_models.encoder import load_encoder; "
        "load_encoder(Path(sys.argv[1])); "
        "print('transformers' in sys.modules, 'torch' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "m")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout.split() == ["False", "True"]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("num_hidden_layers", 10**9, "it names 1,000,000,000 num_hidden_layers"),
        ("vocab_size", 10**9, "it describes 16,000"),
        ("intermediate_size", 2**31, "it describes "),
    ],
)
@pytest.mark.parametrize("act", ["gelu", "relu"])
def test_a_small_config_that_describes_a_huge_network(
    bert: Path, tmp_path: Path, key: str, value: int, says: str, act: str
) -> None:
    """Nothing of that size is made: of other kinds than ours the weights say what may be."""
    found = pretrained(str(bert))
    other = dict(found.architecture) | {"hidden_act": act}
    settings = EncoderSettings(pair=8)
    network = network_of(other, built(other), settings).eval()
    folder = tmp_path / "m"
    save(ModelBundle(network, settings, other, found.pieces), folder)
    load(folder)
    config = json.loads((folder / "config.json").read_text())
    config["settings"]["architecture"][key] = value
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelFileError, match=says if act == "relu" else "is damaged"):
        load(folder)
