"""Checks of the gold: every gold is asked about once, by a model that has not seen it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from nfh_db.answers import Answers, Doubt
from nfh_db.jobs import Job, JobState
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.jobs import doubts, runner
from nfh_tui.jobs.descriptions import jobs_folder
from nfh_tui.jobs.doubts import Opinion, TrialError, asked_of
from nfh_tui.jobs.reporting import JobReporter
from nfh_tui.services.training import Base, TrainingSets
from tests.nfh_tui.training_jobs.handmade import quiet

from .conftest import GOLD

Checked = Callable[..., Job]


def found(store: Store, query: str) -> list[int]:
    return list(chain.from_iterable(store.queue.ids(parse(query), store.people.ensure("eva"))))


def decide(store: Store, anchor: int, kind: Kind) -> None:
    eva = store.people.ensure("eva")
    store.edits.commit_answer(anchor, eva, Role.ADJUDICATOR, class_answer(kind))


@pytest.fixture
def lessons(monkeypatch: pytest.MonkeyPatch) -> list[TrainingSets]:
    """What each model learnt from, as they come."""
    seen: list[TrainingSets] = []
    from nfh_tui.services.training import EncoderTrainer

    train = EncoderTrainer.train

    def noted(self: EncoderTrainer, some: TrainingSets, *more: Any) -> Any:
        seen.append(some)
        return train(self, some, *more)

    monkeypatch.setattr(EncoderTrainer, "train", noted)
    return seen


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[Opinion]]:
    """What was said of each part, as they come."""
    said: list[list[Opinion]] = []
    part = doubts.ResolutionOpinions.part

    def noted(self: doubts.ResolutionOpinions, *some: Any) -> list[Opinion]:
        said.append(part(self, *some))
        return said[-1]

    monkeypatch.setattr(doubts.ResolutionOpinions, "part", noted)
    return said


def test_each_gold_is_asked_about_once_by_a_model_that_has_not_seen_it(
    store: Store, checked: Checked, lessons: list[TrainingSets], asked: list[list[Opinion]]
) -> None:
    job = checked()
    assert job.state is JobState.DONE, job.error
    assert len(lessons) == len(asked) == 3
    for some, said in zip(lessons, asked, strict=True):
        learnt = {one.where for one in (*some.train, *some.dev)}
        about = {f"anchor {one.anchor_id}" for one in said}
        assert about and not about & learnt
        assert len(about | learnt) == GOLD
    ids = [one.anchor_id for said in asked for one in said]
    assert sorted(ids) == list(range(1, GOLD + 1))
    assert job.result["anchors"] == job.result["saved"] == GOLD
    assert job.snapshot
    assert store.models.all() == tuple(m for m in store.models.all() if m.recipe != "encoder")


def test_what_is_doubted_is_found(store: Store, checked: Checked) -> None:
    job = checked()
    doubts = [store.answers.doubt(id_) for id_ in range(1, GOLD + 1)]
    likely = {one.anchor_id: one.likely for one in doubts if one is not None}
    assert len(likely) == GOLD
    assert all(0.0 <= value <= 1.0 for value in likely.values())
    assert found(store, "sort:doubt") == sorted(likely, key=lambda id_: (likely[id_], id_))
    halves = [id_ for id_, value in likely.items() if value < 0.5]
    assert sorted(found(store, "doubt>0.5")) == halves
    assert job.result["doubted"] == store.queue.count(
        parse("doubt>0.9"), store.people.ensure("eva")
    )


def test_gold_that_was_given_another_kind_meanwhile_is_not_doubted(
    store: Store, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    opinions = doubts._all_opinions

    def deciding(*some: Any) -> Any:
        made = opinions(*some)
        decide(store, 2, Kind.YEAR)
        return made

    monkeypatch.setattr(doubts, "_all_opinions", deciding)
    job = checked()
    assert job.state is JobState.DONE, job.error
    assert (job.result["anchors"], job.result["saved"]) == (GOLD, GOLD - 1)
    assert store.answers.doubt(2) is None
    assert store.answers.doubt(4) is not None


def test_a_doubt_goes_when_its_gold_is_written(store: Store, checked: Checked) -> None:
    checked()
    decide(store, 2, Kind.YEAR)
    assert store.answers.doubt(2) is None
    # Confirmed as it was, it has been looked at just as well.
    decide(store, 4, Kind.AGE)
    assert store.answers.doubt(4) is None
    assert store.answers.doubt(6) is not None
    store.edits.undo(store.people.ensure("eva"))
    assert store.answers.doubt(4) is None


# --- killed ---------------------------------------------------------------------------------


def test_stopped_in_a_part_it_goes_on_with_that_part(
    store: Store, words: tuple[str, ...], lessons: list[TrainingSets]
) -> None:
    number = store.jobs.add(doubts.new_doubts_job(recipe="encoder", words=words, folds=3))

    def stopping(phase: str, done: int, total: int) -> None:
        if phase.startswith("part 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.work(store, stopping)
    job = store.jobs.read(number)
    assert job is not None
    assert job.state is JobState.INTERRUPTED
    assert len(lessons) == 2
    # Gold that comes meanwhile is not this job's.
    first = [one.where for one in lessons[0].train]
    decide(store, 2, Kind.YEAR)
    runner.work(store, quiet)
    job = store.jobs.read(number)
    assert job is not None
    assert job.state is JobState.DONE, job.error
    assert len(lessons) == 4
    assert [one.where for one in lessons[0].train] == first
    assert lessons[1].train == lessons[2].train
    assert job.result["anchors"] == GOLD


def test_a_damaged_part_is_asked_about_again(
    store: Store, checked: Checked, lessons: list[TrainingSets], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(runner, "remove_files", lambda *_: None)
        job = checked()
    assert job.state is JobState.DONE, job.error
    folder = jobs_folder(store.path) / str(job.id)
    (folder / "part-2.json").write_bytes(b'{"snapshot":')
    report = JobReporter(store, job.id, quiet)
    monkeypatch.setattr(report, "step", lambda _: None)
    again = doubts.run(store, job, report)
    assert len(lessons) == 4
    assert again["anchors"] == GOLD


@pytest.mark.long
def test_killed_for_good_it_is_taken_up_by_the_next_runner(
    store: Store, words: tuple[str, ...], lessons: list[TrainingSets]
) -> None:
    number = store.jobs.add(doubts.new_doubts_job(recipe="encoder", words=words, folds=3))
    first = jobs_folder(store.path) / str(number) / "part-1.json"
    command = [sys.executable, "-m", "nfh_tui.jobs.runner", "--db", str(store.path)]
    killed = subprocess.Popen(command, env=_environment())
    try:
        while not first.exists():
            with suppress(subprocess.TimeoutExpired):
                killed.wait(0.05)
                pytest.fail("it ended by itself")
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    runner.work(store, quiet)
    job = store.jobs.read(number)
    assert job is not None
    assert job.state is JobState.DONE, job.error
    assert len(lessons) <= 2
    assert job.result["saved"] == GOLD


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return os.environ | {"PYTHONPATH": paths}


# --- how it writes --------------------------------------------------------------------------


def test_it_writes_in_short_stretches(
    store: Store, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = replace(doubts.WRITE_SIZE, first=7, smallest=5, seconds=0.0)
    monkeypatch.setattr(doubts, "WRITE_SIZE", slow)
    sizes = []
    save = Answers.save_doubts

    def noted(self: Answers, job_id: int, some: Sequence[Doubt], holds: Any) -> int:
        sizes.append(len(some))
        return save(self, job_id, some, holds)

    monkeypatch.setattr(Answers, "save_doubts", noted)
    job = checked()
    assert job.result["saved"] == sum(sizes) == GOLD
    assert sizes[:2] == [7, 5]
    assert max(sizes) == 7


# --- what cannot be -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"recipe": "encoder", "words": ("dev=0.2",)}, "leave out dev and dev_split"),
        ({"folds": 51}, "51 parts: wanted 2 to 50"),
        ({"folds": 50}, "too few for 50 parts"),
        ({"query": "class:none"}, "nothing to learn resolution from"),
        ({"words": ("c=no",)}, "c=no"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    store: Store, more: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No parser is loaded for what fails before, or after, it.
    monkeypatch.setattr(doubts, "loaded_parser", lambda *_: None)
    monkeypatch.setattr(doubts, "_parsed", lambda some, *_: list(some))
    number = store.jobs.add(doubts.new_doubts_job(**more))
    runner.work(store, quiet)
    job = store.jobs.read(number)
    assert job is not None
    assert job.state is JobState.FAILED
    assert words in (job.error or "")


def test_a_network_needs_a_part_to_judge_its_training_by(
    store: Store, words: tuple[str, ...]
) -> None:
    number = store.jobs.add(doubts.new_doubts_job(recipe="encoder", words=words, folds=2))
    runner.work(store, quiet)
    job = store.jobs.read(number)
    assert job is not None
    assert job.state is JobState.FAILED
    assert "wanted 3 parts or more" in (job.error or "")


def test_no_model_of_the_database_is_started_from(
    store: Store, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = Base(Path("models/encoder-1"), "encoder-1", "d")
    monkeypatch.setattr(doubts, "base_for", lambda *_: ours)
    given = asked_of("resolution", {"recipe": "encoder", "words": ["base=active"]})
    with pytest.raises(TrialError, match="encoder-1 may have learnt from this gold"):
        doubts.start_of(store, given)
    # Somebody's folder is taken, and told of.
    given = asked_of("resolution", {"recipe": "encoder", "words": list(words)})
    assert doubts.start_of(store, given) == ours
    (note,) = doubts.notes_of(store, given)
    assert "starts from encoder-1" in note


# --- identification -------------------------------------------------------------------------


def test_identification_is_asked_about_as_well(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:

    # Words on both sides tell the two apart, without a parser.
    monkeypatch.setattr(doubts, "loaded_parser", lambda *_: None)
    monkeypatch.setattr(doubts.svm, "Extractor", Words)
    for id_ in range(2, GOLD + 1, 2):
        decide(store, id_, Kind.NOT_NFH)
    number = store.jobs.add(doubts.new_doubts_job("identification", "svm"))
    runner.work(store, quiet)
    job = store.jobs.read(number)
    assert job is not None
    assert job.state is JobState.DONE, job.error
    assert job.result["saved"] == GOLD
    assert job.result["accuracy"] == 1.0
    said = [store.answers.doubt(id_) for id_ in (1, 2)]
    assert [one.choice for one in said if one is not None] == ["NFH", "NOT_NFH"]


class Words:
    """The words of the sentence, as features."""

    def __init__(self, _: Any) -> None:
        pass

    def features(self, case: Any) -> list[str]:
        return sorted(set(case.word_span.words))
