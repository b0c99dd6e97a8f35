"""Items of constructions that models fail on, and how many packaged models get right."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from nfh_models.domain import Kind
from nfh_models.encoder import load_encoder
from nfh_models.identification.base import numbers_of
from nfh_models.model_files import PACKAGED, WEIGHTS, packaged_folder
from tools.small_model.hard_items import ITEMS, counts_by_task, read_items, table

RIGHT = msgspec.json.decode(
    ITEMS.with_name("hard_items_right.json").read_bytes(),
    type=dict[str, dict[str, dict[str, int]]],
)
"""By model, task and phenomenon: how many items were right when the model was packaged."""

FOLDERS = [one for one in map(packaged_folder, PACKAGED) if (one / WEIGHTS).is_file()]


@pytest.fixture(scope="module")
def items():
    return read_items()


def test_there_are_enough_of_each_phenomenon_and_none_twice(items):
    counted = Counter(one.phenomenon for one in items)
    assert len(counted) == 11
    assert min(counted.values()) >= 12
    texts = {one.example.passage.text.lower() for one in items}
    assert len(texts) == len(items)
    assert len({text.split(": ", 1)[1] for text in texts}) == len(items), "speakers apart"


def test_anchors_are_numbers_and_heads_are_words(items):
    for one in items:
        example, passage = one.example, one.example.passage
        assert example.item.anchor in numbers_of(passage, spaced_out=False), example.where
        words = {passage.word(head) for head in example.gold.head_tokens()}
        assert all(word.isalpha() for word in words), example.where
        assert bool(words) == (example.gold.kind is Kind.REFERENCE)
        assert all(turn.speaker for turn in passage.turns), example.where


def test_every_place_of_a_noun_is_right_and_far_ones_are_far(items):
    for one in items:
        passage, heads = one.example.passage, one.example.gold.head_tokens()
        lemmas = {passage.tokens[head].lemma for head in heads}
        assert len(lemmas) <= 1, one.example.where
        places = [at for at, token in enumerate(passage.tokens) if token.lemma in lemmas]
        assert places == list(heads), one.example.where
        if one.phenomenon == "head five turns away or more":
            here = passage.turn_of(one.example.item.anchor.start)
            assert min(abs(here - passage.turn_of(head)) for head in heads) >= 5


@pytest.mark.parametrize("line", [
    '{"phenomenon": "a", "text": "Ann: I see two.", "anchor": [11, 13], "gold": "OTHER"}',
    '{"phenomenon": "a", "text": "Ann: I see two.", "anchor": [11, 14], "gold": "other"}',
    '{"phenomenon": "a", "text": "Ann: I see two.", "anchor": [11, 14], "gold": []}',
    '{"phenomenon": "a", "text": "Ann: I see two.", "anchor": [11, 14], "gold": [[11, 14]]}',
])  # fmt: skip
def test_a_malformed_line(tmp_path: Path, line: str):
    (tmp_path / "mine.jsonl").write_text(line)
    with pytest.raises(ValueError, match=r"substring|Invalid|head|anchor|list"):
        read_items(tmp_path / "mine.jsonl")


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_packaged_model_gets_fewer_right_than_when_it_was_packaged(items, folder: Path):
    found = counts_by_task(load_encoder(folder), items)
    right = {
        task: {phenomenon: n for phenomenon, (n, _) in counts.items()}
        for task, counts in found.items()
    }
    least = RIGHT.get(folder.name)
    assert least is not None, f"hard_items_right.json lacks {folder.name}: {right}"
    assert right.keys() == least.keys()
    fewer = {
        f"{phenomenon}, {task}": (right[task][phenomenon], n)
        for task, counts in least.items()
        for phenomenon, n in counts.items()
        if right[task][phenomenon] < n
    }
    assert not fewer, "right now, and then"
    if folder.name == "small":
        assert table(found) in (folder / "card.md").read_text("utf-8")
