"""Word vectors out of files: three forms, and what is wrong with them."""

import gzip
import struct

import numpy as np
import pytest

from nfh_models.model_files import SettingError
from nfh_models.resolution.word_vectors import VectorError, read_vector_file, read_vectors

from .handmade import glove

WORDS = ["the", "Paris", "##", "tent", "leak"]


def binary(path, words, width=3, *, announced=None, newline=b""):
    content = f"{announced or len(words)} {width}\n".encode()
    for number, word in enumerate(words):
        numbers = [number + place / 2 for place in range(width)]
        content += word.encode() + b" " + struct.pack(f"<{width}f", *numbers) + newline
    path.write_bytes(content)
    return path


def found(path, wanted, extra=0):
    return {word: one.tolist() for word, one in read_vector_file(path, set(wanted), extra)}


EXPECTED = {"Paris": [1.0, 1.5, 2.0], "leak": [4.0, 4.5, 5.0]}


def test_glove(tmp_path):
    assert found(glove(tmp_path, WORDS), EXPECTED) == EXPECTED


def test_word2vec_text_may_end_lines_with_a_space(tmp_path):
    lines = glove(tmp_path, WORDS).read_text().splitlines()
    path = tmp_path / "w2v.txt"
    path.write_text("".join(f"{line} \n" for line in ["5 3", *lines]))
    assert found(path, EXPECTED) == EXPECTED


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_word2vec_binary(tmp_path, newline):
    path = binary(tmp_path / "w2v.bin", WORDS, newline=newline)
    assert found(path, EXPECTED) == EXPECTED


def test_gzip(tmp_path):
    path = tmp_path / "w2v.bin.gz"
    path.write_bytes(gzip.compress(binary(tmp_path / "w2v.bin", WORDS).read_bytes()))
    assert found(path, EXPECTED) == EXPECTED
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(VectorError, match="cannot be read"):
        found(path, EXPECTED)


def test_long_binary_is_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("nfh_models.resolution.word_vectors.CHUNK", 64)
    words = [f"word{number}" for number in range(300)]
    path = binary(tmp_path / "w2v.bin", words, width=5)
    assert list(found(path, words)) == words


def test_first_words_are_kept_besides(tmp_path):
    for path in (glove(tmp_path, WORDS), binary(tmp_path / "w2v.bin", WORDS)):
        assert set(found(path, {"leak"}, extra=2)) == {"the", "Paris", "leak"}


def test_words_that_hold_spaces(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2\n. . 3 4\ntent 5 6\n")
    assert found(path, {". .", "tent"}) == {". .": [3.0, 4.0], "tent": [5.0, 6.0]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "first line is empty"),
        ("the\ntent 1 2\n", "line 1: wanted a word and its numbers"),
        ("the one two\n", "line 1: wanted a word and its numbers"),
        ("the 1 2\ntent 1\n", "line 2: 1 numbers, wanted 2"),
        ("the 1 2\ntent 1 x\n", "line 2: the text after the word is not a number"),
        ("the 1 2\ntent 1 nan\n", "line 2: the text after the word is not a number"),
        ("2 2\nthe 1 2\ntent 1\n", "line 3: 1 numbers, wanted 2"),
        ("2 0\n", "line 1: vectors of 0 numbers"),
        ("2 99999\n", "line 1: vectors of 99,999 numbers"),
    ],
)
def test_malformed_text_is_a_sentence_with_the_line(tmp_path, content, said):
    path = tmp_path / "vectors.txt"
    path.write_text(content)
    with pytest.raises(VectorError, match=said) as raised:
        found(path, {"tent"})
    assert str(path) in str(raised.value)


def test_malformed_binary_is_a_sentence_with_the_word(tmp_path):
    path = binary(tmp_path / "w2v.bin", WORDS, announced=6)
    with pytest.raises(VectorError, match="word 6 of 6"):
        found(path, {"tent"})
    whole = binary(path, WORDS).read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(VectorError, match="word 5 of 5"):
        found(path, {"tent"})
    path.write_bytes(whole[:-4] + struct.pack("<f", float("inf")))
    with pytest.raises(
        VectorError, match=("'leak': its vector has a value that is not a finite")
    ):
        found(path, {"leak"})


def test_missing_file(tmp_path):
    with pytest.raises(VectorError, match="No such file"):
        found(tmp_path / "none.txt", {"tent"})


def test_forms_of_a_word(tmp_path):
    made = read_vectors(f"file:{glove(tmp_path, WORDS)}", {"Tent", "Paris", "96", "LEAK"})
    assert set(made.words) == {"Paris", "##", "tent", "leak"}
    rows = [made.place(word) for word in ("Tent", "Paris", "96", "LEAK", "1996")]
    assert [None if row is None else made.words[row] for row in rows] == [
        "tent",
        "Paris",
        "##",
        "leak",
        None,
    ]
    assert made.source == "file:glove.txt"
    assert made.table[made.place("leak")].tolist() == EXPECTED["leak"]
    assert made.table.dtype == np.float32


def test_none_of_the_words(tmp_path):
    with pytest.raises(VectorError, match="none of the 1 words"):
        read_vectors(f"file:{glove(tmp_path, WORDS)}", {"zebra"}, extra=2)


@pytest.mark.parametrize("source", ["words.txt", "file:", "web:words", ""])
def test_sources_that_are_none(source):
    with pytest.raises(SettingError, match="file:PATH, spacy:NAME or encoder:FOLDER"):
        read_vectors(source, {"tent"})
