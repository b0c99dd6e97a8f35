"""What shares words with what is held out."""

import gzip
import json
from pathlib import Path

import pytest

from tests.nfh_models.encoder.handmade import item
from tools.small_model.overlap import (
    HASHES,
    LINES,
    Overlap,
    OverlapError,
    normalized,
    run_hashes,
    sentence_hashes,
)

LONG = item("Ann: I have seen [ two ] of the dogs , did n't you ?", "Ben: No .").passage
SHORT = item("Ann: Oh ! Give me [ two ] .", "Ben: I want them all ...").passage


def test_words_are_stripped() -> None:
    assert normalized(["Did", "n't", ",", "it", "'s", "1,000", "Café"]) == [
        "did", "nt", "it", "s", "1000", "caf",
    ]  # fmt: skip


def test_hashes_are_those_of_the_list() -> None:
    [first, *rest] = run_hashes(item("Ann: a b c , d e F g H .", "Ben: [ two ] .").passage)
    assert first == "6a1d36d3a761"  # blake2b("a b c d e f g h"), 6 bytes
    assert len(rest) == 1, "a run goes on across turns"
    assert len(list(sentence_hashes(SHORT))) == 1
    assert list(sentence_hashes(item("Ann: No , [ two ] !").passage)) == []


def test_runs_and_sentences() -> None:
    long = item("Cid: Well : i HAVE seen [ two ] of the DOGS , did it ?").passage
    other = item("Cid: Well : i HAVE seen [ two ] of my DOGS , did it ?").passage
    held = Overlap(run_hashes(LONG))
    assert held.of(long) == "tests"
    assert held.of(other) is None
    short = item("Cid: So . give me [ two ] ! Now .").passage
    assert Overlap((), [SHORT]).of(short) is None, "three words stand everywhere"
    want = item("Cid: I want them all .", "Dan: [ two ] ?").passage
    both = Overlap((), [SHORT])
    assert both.of(want) == "dev"
    assert both.of(want, sentences=False) is None
    longer = item("Cid: I want them all now .", "Dan: [ two ] ?").passage
    assert both.of(longer) is None


def folder(path: Path, hashes: bytes, lines: bytes) -> Path:
    (path / HASHES).write_bytes(hashes)
    (path / LINES).write_bytes(lines)
    return path


def test_the_lists_of_a_folder(tmp_path: Path) -> None:
    hashes = gzip.compress("\n".join(run_hashes(LONG)).encode())
    made = folder(tmp_path, hashes, json.dumps({"a/b.tsv": [2, 5]}).encode())
    found = Overlap.read(made, [SHORT])
    assert found.of(LONG) == "tests"
    assert found.of(SHORT) == "dev"
    assert [found.of_line(Path("a/b.tsv"), line) for line in (1, 2, 5)] == [False, True, True]
    assert not found.of_line(Path("c.tsv"), 2)


@pytest.mark.parametrize(
    ("hashes", "lines"),
    [
        (b"no gzip", b"{}"),
        (gzip.compress(b"0123456789ab\nxyz"), b"{}"),
        (gzip.compress(b"0123456789ab" * 1000)[:30], b"{}"),
        (gzip.compress(b""), b"["),
        (gzip.compress(b""), b'{"a": ["x"]}'),
    ],
    # The bytes hold the time, and every process must give a test the same name.
    ids=["no gzip", "short hash", "cut short", "no JSON", "no line number"],
)
def test_lists_that_are_damaged(tmp_path: Path, hashes: bytes, lines: bytes) -> None:
    with pytest.raises(OverlapError, match="held-out"):
        Overlap.read(folder(tmp_path, hashes, lines))


def test_lists_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(OverlapError, match="held-out-hashes"):
        Overlap.read(tmp_path)
