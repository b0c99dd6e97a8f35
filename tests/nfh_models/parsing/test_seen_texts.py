"""Which texts a model has seen, in its directory."""

from pathlib import Path

import numpy as np
import pytest

from nfh_models.model_files import (
    SEEN,
    SEEN_BYTES,
    ModelConfig,
    ModelFileError,
    ModelFiles,
    SeenTexts,
    digest_of,
    read_seen,
    write_model,
)
from tests.nfh_models.encoder.handmade import item

LONG = "Ben: We have two of them left , but only until the shops close , so hurry ."
PASSAGE = item("Ann: How many [ two ] ?", LONG).passage


def test_a_passage_is_known_as_a_whole_and_by_a_long_turn() -> None:
    seen = SeenTexts.of([PASSAGE])
    assert seen.count == 2
    assert seen.holds(PASSAGE)
    assert seen.holds(item("Cid: [ One ] !", LONG.upper().replace("BEN", "Cid")).passage)
    assert not seen.holds(item("Ann: How many [ two ] ?").passage), "a short turn is no text"
    assert seen.holds(item("Cid: how MANY : [ two ]", LONG.replace(",", ";")).passage)
    assert not SeenTexts().holds(PASSAGE)


def test_what_chose_is_seen_and_kept_apart() -> None:
    seen = SeenTexts.of([], [PASSAGE])
    assert seen.holds(PASSAGE)
    assert not seen.learnt
    both = seen | SeenTexts.of([item("Ann: [ two ] of the dogs .").passage, PASSAGE])
    assert (len(both.learnt), len(both.chose), both.count) == (3, 2, 3)


def written(folder: Path, content: bytes) -> SeenTexts | None:
    (folder / SEEN).write_bytes(content)
    return read_seen(folder)


def test_the_file(tmp_path: Path) -> None:
    seen = SeenTexts.of([PASSAGE], [item("Ann: [ two ] dogs .").passage])
    content = seen.to_bytes()
    assert content.startswith(b"nfh-seen 1 2 1\n")
    assert len(content) == len(b"nfh-seen 1 2 1\n") + 3 * SEEN_BYTES + 64
    assert written(tmp_path, content) == seen
    assert written(tmp_path, SeenTexts().to_bytes()) == SeenTexts()


WHOLE = SeenTexts.of([PASSAGE]).to_bytes()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nfh-seen 1 2 0",
        b"\x80\x04" + bytes(100),
        WHOLE.replace(b"-seen 1", b"-seen 0"),
        WHOLE[:-1],
        WHOLE + b"x",
        WHOLE.replace(b" 2 0", b" 1 1"),
        *(WHOLE[:at] + bytes([WHOLE[at] ^ 1]) + WHOLE[at + 1 :] for at in range(len(WHOLE))),
    ],
)
def test_damaged_files(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ModelFileError, match="is damaged") as caught:
        written(tmp_path, content)
    assert str(tmp_path / SEEN) in str(caught.value)


def test_a_list_of_a_newer_program(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"seen\.bin has format 2 of a newer .* Update"):
        written(tmp_path, b"nfh-seen 2 1 learnt\n" + bytes(100))


def test_an_older_model_does_not_say(tmp_path: Path) -> None:
    assert read_seen(tmp_path) is None


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / SEEN).mkdir()
    with pytest.raises(ModelFileError, match="is not a file"):
        read_seen(tmp_path)


def test_it_is_written_with_a_model_and_part_of_its_digest(tmp_path: Path) -> None:
    config = ModelConfig(
        format_version=1, name="a", task="resolution", recipe="linear", version="1",
        created_at="", parser=None, settings={},
    )  # fmt: skip
    seen = SeenTexts.of([PASSAGE])
    arrays = {"one": np.zeros(1)}
    first = write_model(tmp_path / "a", ModelFiles(config, arrays, None, {}, "", {}, seen))
    second = write_model(tmp_path / "b", ModelFiles(config, arrays, None, {}, ""))
    assert read_seen(tmp_path / "a") == seen
    assert read_seen(tmp_path / "b") is None
    assert first == digest_of(tmp_path / "a") != second
