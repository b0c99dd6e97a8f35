"""New models beside the one in use, on the same labels."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nfh_db.jobs import NewJob
from nfh_db.store import Store
from nfh_models.model_files import SeenTexts
from nfh_models.parsing import base as parsing
from nfh_models.parsing.base import Parsed, ParseLayer, ParserError, WordSpan
from nfh_tui.jobs import promotion
from nfh_tui.jobs.promotion import PROMOTED, PromotionDecision, judge
from nfh_tui.jobs.reporting import TrainingStep
from nfh_tui.services import models

from .handmade import Oracle, load_oracle, passage, registered, snapshot, write_oracle

pytestmark = pytest.mark.usefixtures("oracles")

Load = Callable[..., None]

HALF = range(0, 60, 2)


def judged(
    store: Store,
    tmp_path: Path,
    wrong: Sequence[int],
    unsure: Sequence[int] = (),
    seen: SeenTexts | None = None,
    **more: object,
) -> PromotionDecision:
    """The verdict on a model that is wrong on these."""
    folder = write_oracle(tmp_path / "new", wrong, unsure, seen)
    return judge(store, snapshot(**more), folder, lambda _: None)  # type: ignore[arg-type]


def test_a_better_model_is_promoted_with_the_figures_as_the_reason(
    store: Store, tmp_path: Path
) -> None:
    number = registered(store, "old-1", HALF)
    verdict = judged(store, tmp_path, [1])
    assert verdict.verdict == PROMOTED
    assert verdict.reason.startswith(
        "98.3 % of 60 examples right, old-1 50.0 %: 48.3 points more (95 %: +"
    )
    told = verdict.to_json()
    assert (told["verdict"], told["against"], told["against_id"]) == (
        "promoted",
        "old-1",
        number,
    )
    assert (told["n"], told["figure"], told["on"]) == (
        60,
        "accuracy_inclusive",
        "what was kept out",
    )
    assert told["ours"] == pytest.approx(59 / 60)
    assert told["difference"] == pytest.approx(29 / 60)
    assert (told["only_ours"], told["only_theirs"]) == (30, 1)
    assert 0 < float(str(told["low"])) < float(str(told["high"]))
    assert float(str(told["p"])) < 0.01
    assert told["learnt_saw_model"] == 10


def test_a_worse_model_is_rejected(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", [1])
    verdict = judged(store, tmp_path, HALF)
    assert verdict.verdict == "rejected"
    assert "48.3 points less" in verdict.reason


def test_one_that_may_be_better_by_chance_stays_a_candidate(
    store: Store, tmp_path: Path
) -> None:
    registered(store, "old-1", [1, 3])
    verdict = judged(store, tmp_path, [1])
    assert verdict.verdict == "candidate"
    assert "1.7 points more" in verdict.reason


def test_a_model_that_says_the_same_is_no_better(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", [1])
    verdict = judged(store, tmp_path, [1])
    assert verdict.verdict == "candidate"
    assert "no difference" in verdict.reason


def test_a_few_examples_show_nothing(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", range(60))
    verdict = judged(store, tmp_path, [], dev=29)
    assert verdict.verdict == "candidate"
    assert "too few to say which is better (wanted 30 in 10 passages)" in verdict.reason


def test_without_anything_kept_out_it_stays_a_candidate(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", range(60))
    verdict = judged(store, tmp_path, [], dev=0)
    assert verdict.verdict == "candidate"
    assert "Nothing was kept out" in verdict.reason


def test_where_no_model_is_in_use_it_is_the_first(store: Store, tmp_path: Path) -> None:
    verdict = judged(store, tmp_path, [1])
    assert verdict.verdict == "first"
    assert verdict.reason == (
        "There was no other model to compare it with: 98.3 % of 60 examples right."
    )
    assert verdict.to_json()["against"] is None


def test_a_model_whose_folder_is_gone_is_replaced(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", [])
    shutil.rmtree(tmp_path / "w-models")
    verdict = judged(store, tmp_path, [1])
    assert verdict.verdict == PROMOTED
    assert (
        "old-1, which is in use, cannot be used (the model old-1 is missing" in verdict.reason
    )
    told = verdict.to_json()
    assert (told["against"], told["against_id"]) == ("cues", None)


def test_what_the_one_in_use_learnt_from_does_not_judge(
    store: Store, load: Load, tmp_path: Path
) -> None:
    load(100)
    registered(store, "old-1", range(60, 100), metrics={"judged_on": "folds"})
    verdict = judged(store, tmp_path, [], dev=100)
    assert verdict.verdict == "candidate"
    assert verdict.reason == "old-1 or the new model has seen everything that was kept out."
    # Gold that came later it did not learn from.
    load(60, "b", start=100)
    later = judged(store, tmp_path / "later", [], dev=160)
    assert later.trials[0].left_out == 100
    assert later.trials[0].score.n == 60
    assert "100 examples more were left out: old-1 or the new model has seen" in later.reason


def test_what_either_has_seen_does_not_judge(store: Store, tmp_path: Path) -> None:
    """By the lists in their folders: what either learnt from, and what chose its epoch."""
    numbers = range(100)
    texts = [passage(number)[0].passage for number in numbers]
    registered(store, "old-1", numbers[60:], seen=SeenTexts.of(texts[:10], texts[10:30]))
    new = SeenTexts.of(texts[25:35], texts[35:40])
    verdict = judged(store, tmp_path, [], dev=100, seen=new)
    assert (verdict.trials[0].left_out, verdict.trials[0].score.n) == (40, 60)
    assert "40 examples more were left out: old-1 or the new model has seen" in verdict.reason
    every = judged(store, tmp_path / "b", [], dev=100, seen=SeenTexts.of([], texts))
    assert every.verdict == "candidate"
    assert every.reason == "old-1 or the new model has seen everything that was kept out."


def test_gold_given_with_a_model_in_view_is_counted_and_told_apart(
    store: Store, tmp_path: Path
) -> None:
    registered(store, "old-1", HALF)
    verdict = judged(store, tmp_path, [1], saw=20)
    assert verdict.verdict == PROMOTED
    assert verdict.to_json()["saw_model"] == 20
    blind = verdict.trials[0].blind
    assert blind is not None
    assert (blind.n, blind.theirs) == (40, 0.5)
    assert (
        "20 of them have gold that was decided with a model's answer in view" in verdict.reason
    )
    assert "on the other 40: 50.0 points more" in verdict.reason


def test_a_new_model_is_not_rejected_by_the_old_one_s_own_answers(
    store: Store, tmp_path: Path
) -> None:
    registered(store, "old-1", [])
    verdict = judged(store, tmp_path, HALF, saw=60)
    assert verdict.verdict == "candidate"


def test_a_model_of_both_tasks_is_judged_in_both(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", HALF, [], task="resolution")
    registered(store, "svm-1", [], range(10), task="identification")
    verdict = judged(store, tmp_path, [1], range(10), task="both")
    assert verdict.verdict == PROMOTED
    assert verdict.reason.startswith("Resolution: 98.3 % of 60 examples right, old-1")
    assert "Identification: F1 87.2 on 60 numbers, svm-1 87.2: no difference." in verdict.reason
    told = verdict.to_json()
    assert told["figure"] == "accuracy_inclusive"
    trials = told["trials"]
    assert isinstance(trials, list)
    assert [(one["task"], one["figure"], one["against"]) for one in trials] == [
        ("resolution", "accuracy_inclusive", "old-1"),
        ("identification", "f1", "svm-1"),
    ]


def test_one_of_both_tasks_that_does_worse_in_one_stays_a_candidate(
    store: Store, tmp_path: Path
) -> None:
    registered(store, "old-1", HALF)
    verdict = judged(store, tmp_path, [1], range(0, 60, 2), task="both")
    assert verdict.verdict == "candidate"


def test_identification_is_judged_by_f1(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", [], HALF)
    verdict = judged(store, tmp_path, [], [1], task="identification")
    assert verdict.verdict == PROMOTED
    assert verdict.to_json()["figure"] == "f1"
    assert verdict.reason.startswith("F1 98.7 on 60 numbers, old-1 57.1: ")


def test_it_says_how_far_it_is_and_can_be_stopped(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", HALF)
    folder = write_oracle(tmp_path / "new", [])
    seen: list[TrainingStep] = []
    judge(store, snapshot(), folder, seen.append)
    assert (seen[0].phase, seen[0].done, seen[0].total) == ("judging resolution", 0, 60)
    assert seen[-1].done == 60

    def stop(step: TrainingStep) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(store, snapshot(), folder, stop)


def test_nothing_is_written(store: Store, tmp_path: Path) -> None:
    registered(store, "old-1", HALF)
    store.jobs.add(NewJob("train", 2, "resolution", {}))
    before = (store.models.all(), store.models.activations(), store.jobs.all())
    judged(store, tmp_path, [])
    assert (store.models.all(), store.models.activations(), store.jobs.all()) == before


class Parsing:
    """A parser that gives everything, and parses nothing."""

    name = "pipeline 2"
    layers = frozenset(ParseLayer)

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        for word_span in word_spans:
            yield Parsed(word_span.words, ["X"] * len(word_span.words))


def needing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The oracle of this name needs a parser; it learnt with "pipeline 1"."""

    class Needing(Oracle):
        needs = frozenset({ParseLayer.POS})
        parser = "pipeline 1"

    def load(recipe: str, folder: Path | None) -> Oracle:
        made = load_oracle(recipe, folder)
        return Needing(list(made.wrong)) if folder and folder.name == name else made

    monkeypatch.setattr(promotion, "RESOLVERS", replace(models.RESOLUTION, make=load))


def test_a_model_that_is_given_another_parser_s_words_is_named(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(store, "old-1", HALF)
    needing(monkeypatch, "old-1")
    monkeypatch.setattr(parsing, "load_parser", lambda spec, wanted: Parsing())
    verdict = judged(store, tmp_path, [1])
    assert verdict.verdict == PROMOTED
    assert "old-1 learnt with the parser pipeline 1" in verdict.reason


def test_a_model_that_lacks_its_parser_here_is_not_replaced(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(store, "old-1", HALF)
    needing(monkeypatch, "old-1")

    def none(spec: str | None, wanted: object) -> Parsing:
        raise ParserError("no pipeline is installed here.")

    monkeypatch.setattr(parsing, "load_parser", none)
    verdict = judged(store, tmp_path, [1])
    assert verdict.verdict == "candidate"
    assert verdict.reason == (
        "old-1 could not be compared with it (no pipeline is installed here): 98.3 % of 60 "
        "examples right."
    )
