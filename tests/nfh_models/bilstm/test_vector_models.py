"""Word vectors out of spaCy pipelines and encoders, both made here."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from nfh_models.resolution.word_vectors import VectorError, read_vectors

# --- spaCy ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    import spacy

    folder = tmp_path_factory.mktemp("pipelines")
    language = spacy.blank("en")
    language.add_pipe("sentencizer")
    language.to_disk(folder / "without")
    for number, word in enumerate(["the", "tent", "Paris"]):
        language.vocab.set_vector(word, np.full(4, number + 1, np.float32))
    language.to_disk(folder / "with")
    return folder


def test_spacy_pipeline(pipelines):
    made = read_vectors(f"spacy:{pipelines / 'with'}", {"Tent", "Paris", "zebra"})
    assert set(made.words) == {"tent", "Paris"}
    assert made.table[made.place("tent")].tolist() == [2.0] * 4
    assert made.source == "spacy:with"
    more = read_vectors(f"spacy:{pipelines / 'with'}", {"Tent"}, extra=3)
    assert set(more.words) == {"tent", "the", "Paris"}


def test_spacy_pipeline_without_vectors_is_a_sentence(pipelines):
    with pytest.raises(VectorError, match=r"has no word vectors.*_md"):
        read_vectors(f"spacy:{pipelines / 'without'}", {"tent"})


def test_spacy_pipeline_that_is_not_there_is_a_sentence():
    with pytest.raises(VectorError, match="en_core_web_none cannot be loaded"):
        read_vectors("spacy:en_core_web_none", {"tent"})


# --- encoders -------------------------------------------------------------------------------

PIECES = ["[PAD]", "[UNK]", "the", "tent", "##s", "leak", "."]


@pytest.fixture
def encoder(tmp_path):
    vocabulary = {piece: place for place, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    table = torch.arange(len(PIECES) * 4).float().reshape(len(PIECES), 4) ** 1.5
    other = torch.zeros(3, 3)
    save_file(
        {"bert.embeddings.word_embeddings.weight": table.half(), "other.weight": other},
        tmp_path / "model.safetensors",
    )
    return tmp_path


def test_encoder_table(encoder):
    made = read_vectors(f"encoder:{encoder}", {"Tents", "tent", "leak", "zebra"})
    assert set(made.words) == {"Tents", "tents", "tent", "leak"}
    rows = {word: made.table[made.place(word)] for word in ("tent", "tents", "leak")}
    assert rows["tents"] != pytest.approx(rows["tent"])
    both = read_vectors(f"encoder:{encoder}", {"tent"}, extra=100)
    assert set(both.words) == {"tent", "the", "leak", "."}


def test_word_is_the_mean_of_its_pieces(encoder):
    made = read_vectors(f"encoder:{encoder}", {"tents", "tent", "tent.s"})
    table = (torch.arange(len(PIECES) * 4).float().reshape(len(PIECES), 4) ** 1.5).half()
    centred = table.float().numpy() - table.float().numpy().mean(0)
    scaled = centred / centred.std()
    place = PIECES.index
    mean = (scaled[place("tent")] + scaled[place("##s")]) / 2
    assert made.table[made.place("tents")] == pytest.approx(mean, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tokenizer.json", "holds no tokenizer.json"),
        ("model.safetensors", "holds no .safetensors file"),
    ],
)
def test_encoder_without_a_file_is_a_sentence(encoder, name, said):
    (encoder / name).unlink()
    with pytest.raises(VectorError, match=said):
        read_vectors(f"encoder:{encoder}", {"tent"})


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors"])
def test_encoder_with_a_damaged_file_is_a_sentence(encoder, name):
    path = encoder / name
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(VectorError, match=f"{name} cannot be read"):
        read_vectors(f"encoder:{encoder}", {"tent"})


def test_encoder_whose_tokenizer_is_of_another(encoder):
    save_file(
        {"embeddings.word_embeddings.weight": torch.zeros(3, 4)}, encoder / "model.safetensors"
    )
    with pytest.raises(VectorError, match="7 pieces, the table of the weights 3"):
        read_vectors(f"encoder:{encoder}", {"tent"})


def test_encoder_without_a_known_table(encoder):
    save_file({"other.weight": torch.zeros(9, 4)}, encoder / "model.safetensors")
    with pytest.raises(VectorError, match="no table of word pieces"):
        read_vectors(f"encoder:{encoder}", {"tent"})


def test_folder_that_is_not_there(tmp_path):
    with pytest.raises(VectorError, match="There is no folder"):
        read_vectors(f"encoder:{tmp_path / 'none'}", {"tent"})
