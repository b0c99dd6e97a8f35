"""Who is judged, on what, and how: parses, batches, and what a model has seen before."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.registry import NFH
from nfh_db.models import NewModel
from nfh_db.store import Store
from nfh_models.parsing.base import ParseLayer, ParserError
from nfh_models.resolution.base import Choice, Item
from nfh_tui.services.evaluate import (
    ResolutionSystem,
    hold_resolution,
    other_parser,
    remembering,
)
from nfh_tui.services.examples import resolution_examples_of_file, resolution_examples_of_store
from nfh_tui.services.imports import ImportOptions, import_file

from .handmade import DEV, Nouns, Tiny

Write = Callable[..., Path]


class Reader(Tiny):
    """Needs parts of speech; notes what it is given."""

    needs = frozenset({ParseLayer.POS})
    parser = "another one"

    def __init__(self) -> None:
        super().__init__()
        self.parsed: list[bool] = []

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        self.parsed += [item.parsed is not None for item in items]
        return super().resolve(items)


def test_each_is_given_what_it_needs(write: Write) -> None:
    reader, plain = Reader(), Reader()
    plain.needs = frozenset()
    both = [ResolutionSystem("reader", reader), ResolutionSystem("plain", plain)]
    trial = hold_resolution(resolution_examples_of_file(write(DEV)), both, Nouns())
    assert reader.parsed == [True] * len(DEV)
    assert plain.parsed == [False] * len(DEV)
    assert all(one.item.parsed is None for one in trial.examples)
    first, second = trial.judged
    assert first.choices == second.choices
    assert trial.parser == Nouns.name
    assert trial.parsing > 0
    assert [one.kind for one in first.answers if one] == [
        one.kind for one in second.answers if one
    ]


def test_a_head_is_answered_with_all_its_mentions(write: Write) -> None:
    trial = hold_resolution(
        resolution_examples_of_file(write(DEV[3:4])), [ResolutionSystem("t", Tiny())], None
    )
    (answer,) = trial.judged[0].answers
    assert answer is not None
    assert answer.head_tokens() == trial.examples[0].gold.head_tokens() == (0, 2)


def test_a_parser_that_is_missing(write: Write) -> None:
    source = resolution_examples_of_file(write(DEV[:1]))
    with pytest.raises(ParserError, match="part of speech"):
        hold_resolution(source, [ResolutionSystem("r", Reader())], None)


def test_fewer_answers_than_numbers_are_an_error(write: Write) -> None:
    class Short(Tiny):
        def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
            return super().resolve(items)[1:]

    source = resolution_examples_of_file(write(DEV[:2]))
    with pytest.raises(ValueError, match="1 answers to 2 items"):
        hold_resolution(source, [ResolutionSystem("short", Short())], None)


def test_a_model_given_the_words_of_another_parser_is_named() -> None:
    reader = ResolutionSystem("reader-1", Reader())
    said = other_parser(reader.resolver, reader.name, Nouns())
    assert said is not None
    assert "reader-1" in said
    assert "another one" in said
    assert Nouns.name in said
    assert other_parser(reader.resolver, reader.name, None) is None
    assert other_parser(Tiny(), "tiny", Nouns()) is None


def test_what_a_model_learnt_from_is_counted(write: Write, tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db", create=True) as store:
        for split, some in (("train", DEV[:6]), ("dev", [*DEV[6:], DEV[0]])):
            source = Source(write(some, f"{split}.jsonl"))
            import_file(store, source, NFH, ImportOptions(split=split))
        new = NewModel("enc-1", "resolution", "encoder", "1", "m", "0", {}, {"split": "train"})
        model = store.jobs.finish_training(store.jobs.begin("resolution", {}), new)
        system = ResolutionSystem("enc-1", Tiny("encoder"), model.id)
        train = list(resolution_examples_of_store(store, split="train"))
        (said,) = remembering(store, [system], train)
        # The passage that also stands in dev was not learnt from.
        assert "5 of these 6 examples" in said
        assert [*remembering(store, [system], train[:0])] == []
        assert [*remembering(store, [replace(system, model_id=None)], train)] == []
        assert [*remembering(None, [system], train)] == []
        dev = list(resolution_examples_of_store(store, split="dev"))
        assert [*remembering(store, [system], dev)] == []
