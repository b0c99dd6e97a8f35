"""Who is judged, on what, and how: parses, batches, and what a model has seen before."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.registry import NFH
from nfh_db.models import NewModel
from nfh_db.store import Store
from nfh_models.model_files import SEEN, ModelFileError, SeenTexts
from nfh_models.parsing.base import ParseLayer, ParserError
from nfh_models.resolution.base import Choice, Item
from nfh_tui.services.evaluate import (
    ResolutionSystem,
    ResolutionTrial,
    SeenExamples,
    hold_resolution,
    other_parser,
    with_seen,
)
from nfh_tui.services.examples import (
    ResolutionExamples,
)
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
    trial = hold_resolution(ResolutionExamples.of_file(write(DEV)), both, Nouns())
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
        ResolutionExamples.of_file(write(DEV[3:4])), [ResolutionSystem("t", Tiny())], None
    )
    (answer,) = trial.judged[0].answers
    assert answer is not None
    assert answer.head_tokens() == trial.examples[0].gold.head_tokens() == (0, 2)


def test_a_parser_that_is_missing(write: Write) -> None:
    source = ResolutionExamples.of_file(write(DEV[:1]))
    with pytest.raises(ParserError, match="part of speech"):
        hold_resolution(source, [ResolutionSystem("r", Reader())], None)


def test_fewer_answers_than_numbers_are_an_error(write: Write) -> None:
    class Short(Tiny):
        def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
            return super().resolve(items)[1:]

    source = ResolutionExamples.of_file(write(DEV[:2]))
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
        train = ResolutionExamples.of_store(store, split="train")

        def seen(
            source: ResolutionExamples, one: ResolutionSystem, where: Store | None = store
        ) -> SeenExamples | None:
            found = with_seen(where, hold_resolution(source, [one], None))
            known = found.judged[0].seen
            assert found.warnings == (() if known is None else (f"enc-1 {known.sentence}",))
            return known

        # The passage that also stands in dev was not learnt from.
        known = seen(train, system)
        assert known is not None
        assert (known.n, known.others) == (5, 1)
        assert "the passages of 5 of these 6 examples" in known.sentence
        assert seen(train, replace(system, model_id=None)) is None
        assert seen(train, system, None) is None
        assert seen(ResolutionExamples.of_store(store, split="dev"), system) is None


def test_what_a_folder_says_that_its_model_has_seen(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both figures are in the warning: on all, and on those that it has not seen."""
    passages = [one.item.passage for one in ResolutionExamples.of_file(write(DEV))]
    system = ResolutionSystem("enc-1", Tiny("encoder"), folder=tmp_path)

    def trial(content: bytes | None) -> ResolutionTrial:
        (tmp_path / SEEN).unlink(missing_ok=True)
        if content is not None:
            (tmp_path / SEEN).write_bytes(content)
        source = ResolutionExamples.of_file(write(DEV))
        return with_seen(None, hold_resolution(source, [system], None))

    found = trial(SeenTexts.of(passages[:4], passages[4:6]).to_bytes())
    seen = found.judged[0].seen
    assert seen is not None
    assert (seen.n, seen.others) == (6, 4)
    assert seen.on_all is not None
    assert seen.on_others is not None
    assert found.warnings[-1] == (
        "enc-1 has seen the passages of 6 of these 10 examples, so its figures on them are "
        f"too good: accuracy (inclusive) {100 * seen.on_all:.1f} on all, "
        f"{100 * seen.on_others:.1f} on the 4 others"
    )
    found = trial(SeenTexts.of(passages).to_bytes())
    assert "of 10 of these 10 examples" in found.warnings[-1]
    assert found.judged[0].seen is not None
    assert found.judged[0].seen.on_others is None
    assert trial(SeenTexts().to_bytes()).judged[0].seen is None
    assert "has no list of the texts that it has seen" in trial(None).warnings[-1]
    # It is told before the system answers.
    monkeypatch.setattr(Tiny, "resolve", lambda *_: pytest.fail("it answers"))
    with pytest.raises(ModelFileError, match="damaged"):
        trial(SeenTexts().to_bytes()[:-1])
