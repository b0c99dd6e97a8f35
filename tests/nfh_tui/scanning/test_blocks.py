"""Blocks: they depend on nothing but the text, and end where a sentence does."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_models.text.sentences import sentence_spans
from nfh_tui.scanning import blocks as module
from nfh_tui.scanning.blocks import Block, blocks, cut

from .conftest import text_of


class Drip:
    """Bytes that come in pieces of any size."""

    def __init__(self, data: bytes, source: random.Random) -> None:
        self.data = data
        self.source = source
        self.read_so_far = 0

    def read(self, size: int) -> bytes:
        size = min(size, self.source.randint(1, 700))
        found = self.data[self.read_so_far : self.read_so_far + size]
        self.read_so_far += len(found)
        return found


def cut_up(data: bytes, seed: int = 0, **how: bool) -> list[Block]:
    return list(blocks(Drip(data, random.Random(seed)), per_line=False, **how))


PIECES = st.sampled_from(
    [b"One. ", b"Two left!\n", b"\n\n", b"\0", b"x" * 900, b"\xff\xfe", "é".encode(), b" " * 50]
)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pieces=st.lists(PIECES, max_size=60), seeds=st.tuples(st.integers(), st.integers()))
def test_together_they_are_the_text_however_it_is_read(
    pieces: list[bytes], seeds: tuple[int, int], small_blocks: int
) -> None:
    data = b"".join(pieces)
    first, second = (cut_up(data, seed) for seed in seeds)
    assert [one.data for one in first] == [one.data for one in second]
    assert b"".join(one.data for one in first) == data
    assert all(0 < len(one.data) <= small_blocks for one in first)
    assert [one.start for one in first[1:]] == [one.end for one in first[:-1]]
    assert [one.index for one in first] == list(range(len(first)))


def test_going_on_in_the_middle_gives_the_same_blocks(small_blocks: int) -> None:
    data = text_of(60).encode()
    whole = cut_up(data)
    third = whole[3]
    stream = Drip(data[third.start :], random.Random(1))
    rest = list(blocks(stream, per_line=False, index=3, start=third.start))
    assert [(one.index, one.start, one.data) for one in rest] == [
        (one.index, one.start, one.data) for one in whole[3:]
    ]


def test_they_end_where_a_sentence_ends(small_blocks: int) -> None:
    text = text_of(60)
    starts = {len(text[:start].encode()) for start, _ in sentence_spans(text)}
    found = cut_up(text.encode())
    assert len(found) > 5
    assert {one.start for one in found} <= starts | {0}


WORDS = st.sampled_from(
    "Two|left.|he|saw|Mr.|É.|é|“|”|(|)|…|-|!|\n\n|\u2029|\0|etc.|漢字。|six".split("|")
)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(WORDS, min_size=60, max_size=200))
def test_what_stands_behind_the_window_cannot_make_another_sentence(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIZE", 250)
    text = " ".join([*words, "So. " * 9]).replace("\0", " ")
    whole = [text[start:end] for start, end in sentence_spans(text)]
    if max(map(len, whole)) > 100:
        return
    parts = []
    for block in cut_up(text.encode()):
        piece = block.data.decode()
        parts += [piece[start:end] for start, end in sentence_spans(piece)]
    assert parts == whole


@pytest.mark.parametrize("end", ["“and so on", "— (and so on", "éclair", "… he"])
def test_a_sentence_that_the_window_cuts_at_its_first_signs_stays_whole(end: str) -> None:
    text = f"So. One was left. {end} and so on."
    for size in range(40, len(text.encode())):
        assert cut(text.encode()[:size], per_line=False) <= len("So. One was left. ")


def test_only_what_has_no_white_space_is_cut_inside_a_word() -> None:
    text = b"one " * 5 + b"x" * (module.TAIL + 5_000)
    assert cut(text, per_line=False) == 20
    assert cut(b"x" * 50_000, per_line=False) == 50_000


def test_with_one_text_a_line_they_end_with_a_line(small_blocks: int) -> None:
    data = text_of(60).encode()
    found = list(blocks(Drip(data, random.Random(2)), per_line=True))
    assert all(one.data.endswith(b"\n") for one in found)


@pytest.mark.parametrize("letter", ["é", "漢", "🙂"])
def test_no_character_is_torn(letter: str) -> None:
    for shift in range(4):
        window = ("x" * shift + letter * 5_000).encode()[:4_001]
        for size in (cut(window, per_line=False), module._whole_characters(window)):
            assert 0 < size <= 4_001
            window[:size].decode("utf-8")
        assert size > 4_001 - 4


def test_the_size_of_blocks_is_bounded() -> None:
    assert module.SIZE <= 1 << 20
