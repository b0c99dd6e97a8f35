"""Somebody who answers twice in one file: the later answer counts, the log has both."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nfh_db import bulk_run
from nfh_db.connection import connect
from nfh_db.event_log import present_state, replay
from nfh_db.query import parse
from nfh_db.records import ImportReport, IncomingAnchor, IncomingPassage, Role, Vote
from nfh_db.serialization import decode_answer
from nfh_db.store import Store
from nfh_models.domain import Anchor, Answer, Kind, class_answer

WORDS = "the dogs saw one or two cats"
ONE = Anchor(3, 4)


def said(name: str, kind: Kind | Answer, hour: int = 1) -> Vote:
    answer = kind if isinstance(kind, Answer) else class_answer(kind)
    return Vote(name, Role.ANNOTATOR, answer, f"2026-01-02T{hour:02}:00:00.000Z", float(hour))


def row(
    kit, *votes: Vote, earlier: tuple[Vote, ...] = (), line: int = 7, words: str = WORDS
) -> IncomingPassage:
    anchor = IncomingAnchor(line, ONE, votes=votes, earlier=earlier)
    return IncomingPassage(kit.passage(words), "test 1", (anchor,))


def answers(store: Store) -> dict[str, str]:
    (ballot,) = store.items.ballots(parse(""))
    return {vote.annotator: vote.answer.kind.value for vote in ballot.votes}


def past(store: Store, name: str = "eva") -> list[tuple[str | None, str | None]]:
    """From what to what somebody's answer went, as the history has it."""

    def kind(text: str | None) -> str | None:
        value = decode_answer(text)
        return None if value is None else value.kind

    (ballot,) = store.items.ballots(parse(""))
    return [
        (kind(line.before), kind(line.after))
        for line in store.history.of_anchor(ballot.anchor_id)
        if line.entity == "answer" and line.name == name
    ]


def check_log(path: Path) -> None:
    reader = connect(path, "ro")
    try:
        replayed = replay(reader)
        assert replayed.broken == []
        assert replayed.state == present_state(reader)
    finally:
        reader.close()


EARLIER = (said("eva", Kind.AGE, 1), said("eva", Kind.TIME, 2))


def test_a_new_number_has_the_last_answer_and_the_log_all(store: Store, path, kit) -> None:
    report = kit.load(store, row(kit, said("eva", Kind.YEAR, 3), earlier=EARLIER))
    assert (report.votes_new, report.anchors_new, report.conflicts) == (1, 1, ())
    assert answers(store) == {"eva": "YEAR"}
    assert past(store) == [(None, "AGE"), ("AGE", "TIME"), ("TIME", "YEAR")]
    check_log(path)


def test_a_known_number_gets_them_one_after_the_other(store: Store, path, kit) -> None:
    kit.load(store, row(kit, said("bob", Kind.AGE)))
    report = kit.load(
        store,
        row(kit, said("eva", Kind.YEAR, 3), said("ann", Kind.OTHER, 2), earlier=EARLIER),
    )
    assert (report.votes_new, report.anchors_known) == (2, 1)
    assert answers(store) == {"ann": "OTHER", "bob": "AGE", "eva": "YEAR"}
    assert past(store) == [(None, "AGE"), ("AGE", "TIME"), ("TIME", "YEAR")]
    assert past(store, "ann") == [(None, "OTHER")]
    check_log(path)


def test_a_trial_run_counts_one_answer_and_writes_none(store: Store, kit) -> None:
    given = row(kit, said("eva", Kind.YEAR, 3), earlier=EARLIER)
    assert kit.load(store, given, dry_run=True).votes_new == 1
    assert list(store.items.ballots(parse(""))) == []


def test_what_was_said_twice_in_the_same_words_is_logged_once(store: Store, path, kit) -> None:
    twice = said("eva", Kind.AGE, 1)
    kit.load(store, row(kit, twice, earlier=(twice, twice)))
    assert past(store) == [(None, "AGE")]
    check_log(path)


def test_the_same_file_with_more_in_it_goes_on_where_the_first_ended(
    store: Store, path, kit
) -> None:
    kit.load(store, row(kit, EARLIER[0]))
    report = kit.load(store, row(kit, said("eva", Kind.YEAR, 3), earlier=EARLIER))
    assert (report.votes_replaced, report.conflicts) == (1, ())
    assert past(store) == [(None, "AGE"), ("AGE", "TIME"), ("TIME", "YEAR")]
    again = kit.load(store, row(kit, said("eva", Kind.YEAR, 3), earlier=EARLIER))
    assert (again.votes_new, again.conflicts) == (0, ())
    assert answers(store) == {"eva": "YEAR"}
    check_log(path)


def test_another_answer_that_is_there_is_kept_and_reported(store: Store, path, kit) -> None:
    kit.load(store, row(kit, said("eva", Kind.PEOPLE, 9)))
    report = kit.load(store, row(kit, said("eva", Kind.YEAR, 3), earlier=EARLIER))
    assert report.votes_new == 0
    (conflict,) = report.conflicts
    assert conflict == (
        "line 7: eva answered PEOPLE already, which was kept; the file says YEAR"
    )
    assert past(store) == [(None, "PEOPLE")]
    check_log(path)


def test_heads_of_an_earlier_answer_must_fit_the_passage(store: Store, kit) -> None:
    from nfh_db.errors import FormatError

    with pytest.raises(FormatError, match=r"line 7: head token 3 is part of the anchor"):
        kit.load(
            store, row(kit, said("eva", Kind.AGE, 2), earlier=(said("eva", kit.to(3), 1),))
        )
    assert list(store.items.ballots(parse(""))) == []


def test_a_person_who_was_faster_is_not_overwritten(
    store: Store, path, kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.load(store, row(kit, said("bob", Kind.AGE)))
    (ballot,) = store.items.ballots(parse(""))
    run = bulk_run.run_settlement

    def person_first(*arguments: object) -> None:
        eva = store.people.ensure("eva")
        store.edits.commit_answer(
            ballot.anchor_id, eva, Role.ANNOTATOR, class_answer(Kind.OTHER)
        )
        run(*arguments)

    monkeypatch.setattr(bulk_run, "run_settlement", person_first)
    kit.load(store, row(kit, said("eva", Kind.YEAR, 3), earlier=EARLIER))
    assert answers(store) == {"bob": "AGE", "eva": "OTHER"}
    assert past(store) == [(None, "OTHER")]
    check_log(path)


def test_a_run_broken_off_between_two_answers_is_finished(
    path: Path, kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(path, create=True) as store:
        kit.load(store, row(kit, said("bob", Kind.AGE)))
        monkeypatch.setattr(bulk_run, "SETTLE_SIZE", replace(bulk_run.SETTLE_SIZE, first=1))
        monkeypatch.setattr(bulk_run, "_apply", _once(bulk_run._apply))
        with pytest.raises(KeyboardInterrupt):
            kit.load(store, row(kit, said("eva", Kind.YEAR, 3), earlier=EARLIER))
        monkeypatch.undo()
        assert answers(store) == {"bob": "AGE", "eva": "AGE"}
    with Store.open(path) as store:
        assert answers(store) == {"bob": "AGE", "eva": "YEAR"}
        assert past(store) == [(None, "AGE"), ("AGE", "TIME"), ("TIME", "YEAR")]
    check_log(path)


def _once(function: Callable[..., object]) -> Callable[..., object]:
    called: list[object] = []

    def stops(*arguments: object) -> object:
        if called:
            raise KeyboardInterrupt
        called.append(arguments)
        return function(*arguments)

    return stops


def test_the_report_of_a_batch_names_the_rows_line(store: Store, kit) -> None:
    kit.load(store, row(kit, said("eva", Kind.AGE), line=3))
    report: ImportReport = kit.load(
        store, row(kit, said("eva", Kind.YEAR, 5), line=12, earlier=(said("eva", Kind.TIME),))
    )
    assert report.conflicts[0].startswith("line 12: ")
