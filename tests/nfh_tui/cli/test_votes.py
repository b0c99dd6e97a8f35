"""Votes by the command line: files as somebody's answers, and a crowd's batch."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.event_log import present_state, replay
from nfh_db.formats.registry import GOLD
from nfh_db.query import parse
from nfh_db.records import Ballot, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, Relation, class_answer

Call = Callable[..., Result]
Make = Callable[..., Path]
WORDS = ["Ticket", ",", "spoons", "and", "forks", "?", "No", ",", "three", "!"]
SHAPE = {
    "tokens": WORDS,
    "line_indices": [0] * 10,
    "speakers": ["A"] * 10,
    "anchors_indices": [8],
}


def ballots(path: str = "x.db", query: str = "") -> list[Ballot]:
    with Store.open(Path(path)) as store:
        return list(store.items.ballots(parse(query)))


def count(query: str, path: str = "x.db") -> int:
    with Store.open(Path(path)) as store:
        return store.queue.count(parse(query), store.people.ensure("reader"))


def kinds(ballot: Ballot) -> dict[str, str]:
    return {vote.annotator: vote.answer.kind.value for vote in ballot.votes}


def check_log(path: str = "x.db") -> None:
    reader = connect(Path(path), "ro")
    try:
        replayed = replay(reader)
        assert replayed.broken == []
        assert replayed.state == present_state(reader)
    finally:
        reader.close()


def report(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.output
    (one,) = json.loads(result.stdout)["files"]
    return one


# --- --annotator ----------------------------------------------------------------------------


def test_three_peoples_files_over_the_same_passages_disagree(
    call: Call, nfh_file: Make
) -> None:
    for name, heads in {"ann1": [2], "ann2": [4], "ann3": ["AGE"]}.items():
        file = nfh_file(3, f"{name}.jsonl", **SHAPE, head=heads)
        came = report(call("import", file, "--db", "x.db", "--annotator", name, "--json"))
        assert (came["votes_new"], came["gold_new"]) == (3, 0)
    found = ballots()
    assert len(found) == 3
    for ballot in found:
        assert kinds(ballot) == {"ann1": "REFERENCE", "ann2": "REFERENCE", "ann3": "AGE"}
        assert {vote.role for vote in ballot.votes} == {Role.ANNOTATOR}
        assert ballot.gold is None
        assert not any(vote.saw_model or vote.saw_votes for vote in ballot.votes)
    assert count("state:disagree") == count("disagree:noun") == count("disagree:class") == 3
    assert count("pattern:1-1-1 by:ann2") == 3
    check_log()


def test_mentions_of_one_noun_are_no_disagreement(call: Call, nfh_file: Make) -> None:
    words = ["Ticket", ",", "tickets", "and", "forks", "?", "No", ",", "three", "!"]
    shape = SHAPE | {"tokens": words}
    for name, heads in {"ann1": [0], "ann2": [2], "ann3": [0, 2]}.items():
        file = nfh_file(2, f"{name}.jsonl", **shape, head=heads)
        assert call("import", file, "--db", "x.db", "--annotator", name).exit_code == 0
    assert count("state:disagree") == 0
    assert count("state:answered pattern:3-0") == 2


def test_the_same_file_may_be_two_peoples_answers_but_not_twice_ones(
    call: Call, nfh_file: Make
) -> None:
    file = nfh_file(2, "same.jsonl", head=["YEAR"])
    for name, new in (("eva", 2), ("bob", 2), ("eva", 0)):
        came = report(call("import", file, "--db", "x.db", "--annotator", name, "--json"))
        assert came["votes_new"] == new
        assert came["already"] is (new == 0)
    assert [kinds(ballot) for ballot in ballots()] == [{"bob": "YEAR", "eva": "YEAR"}] * 2
    assert count("state:answered pattern:2-0") == 2
    check_log()


def test_heads_of_different_nouns_have_no_stated_relation(call: Call, nfh_file: Make) -> None:
    file = nfh_file(1, **SHAPE, head=[2, 4])
    assert call("import", file, "--db", "x.db", "--annotator", "eva").exit_code == 0
    (ballot,) = ballots()
    (vote,) = ballot.votes
    assert vote.answer.relation is Relation.UNSTATED
    assert [head.mentions[0].head for head in vote.answer.heads] == [2, 4]


def test_an_answer_that_is_there_is_kept_and_the_difference_reported(
    call: Call, nfh_file: Make
) -> None:
    assert call("import", nfh_file(2, "a.jsonl"), "--db", "x.db").exit_code == 0
    with Store.open(Path("x.db")) as store:
        eva = store.people.ensure("eva")
        first = next(iter(store.items.ballots(parse(""))))
        store.edits.commit_answer(
            first.anchor_id, eva, Role.ANNOTATOR, class_answer(Kind.PEOPLE)
        )
    file = nfh_file(2, "b.jsonl", head=["YEAR"])
    result = call("import", file, "--db", "x.db", "--annotator", "eva", "--json")
    came = report(result)
    assert came["votes_new"] == 1
    (conflict,) = came["conflicts"]
    assert conflict.endswith("eva answered PEOPLE already, which was kept; the file says YEAR")
    assert sorted(kinds(ballot)["eva"] for ballot in ballots()) == ["PEOPLE", "YEAR"]
    check_log()


def gold_line(**changes: object) -> str:
    return json.dumps(json.loads(GOLD.example) | changes) + "\n"


def exported(call: Call, file: str, *query: str) -> Path:
    result = call("export", *query, "--db", "x.db", "--format", "gold", "--out", file)
    assert result.exit_code == 0, result.output
    return Path(file)


def test_gold_of_a_gold_file_is_the_persons_answer_and_its_votes_stay_out(
    call: Call, nfh_file: Make
) -> None:
    call("import", nfh_file(2, "a.jsonl", head=["AGE"]), "--db", "x.db")
    call("import", nfh_file(2, "b.jsonl", head=["TIME"]), "--db", "x.db", "--annotator", "bob")
    gold = exported(call, "gold.jsonl")
    result = call("import", gold, "--db", "y.db", "--annotator", "eva", "--json")
    came = report(result)
    assert (came["votes_new"], came["gold_new"]) == (2, 0)
    (warning,) = came["warnings"]
    assert warning.startswith("2 answers of the file left out: with --annotator")
    assert [kinds(ballot) for ballot in ballots("y.db")] == [{"eva": "AGE"}] * 2
    assert all(ballot.gold is None for ballot in ballots("y.db"))
    check_log("y.db")


def test_undecided_gold_rows_are_no_answer(call: Call, nfh_file: Make) -> None:
    call("import", nfh_file(2, "b.jsonl"), "--db", "x.db", "--annotator", "bob")
    gold = exported(call, "open.jsonl")
    came = report(call("import", gold, "--db", "y.db", "--annotator", "eva", "--json"))
    assert (came["votes_new"], came["anchors_new"]) == (0, 2)
    assert [kinds(ballot) for ballot in ballots("y.db")] == [{}, {}]


def test_votes_by_annotator_go_out_and_come_in_again(call: Call, nfh_file: Make) -> None:
    for name, heads in {"ann1": [2], "ann2": [2, 4]}.items():
        file = nfh_file(2, f"{name}.jsonl", **SHAPE, head=heads)
        call("import", file, "--db", "x.db", "--annotator", name)
    first = exported(call, "first.jsonl").read_bytes()
    assert call("import", "first.jsonl", "--db", "y.db").exit_code == 0
    result = call("export", "--db", "y.db", "--format", "gold", "--out", "second.jsonl")
    assert result.exit_code == 0
    assert Path("second.jsonl").read_bytes() == first


# --- amt ------------------------------------------------------------------------------------

TALK = "Ann: The red tents leak.\nBen: Then I take two."
HEADER = (
    "HITId,WorkerId,SubmitTime,WorkTimeInSeconds,AssignmentStatus,Input.task_id,"
    "Input.text_reduced,Input.target,Input.target_start_index,Input.target_end_index,"
    "Input.target_sentence,Answer.ans,Answer.comment,Answer.offset,Answer.other,"
    "Answer.reference,Approve,Reject"
)


def assignment(worker: str, code: int, **more: str) -> str:
    values = {
        "HITId": "H1",
        "WorkerId": worker,
        "SubmitTime": "Tue Jan 30 12:01:01 PST 2018",
        "WorkTimeInSeconds": "7",
        "AssignmentStatus": "Approved",
        "Input.text_reduced": TALK,
        "Input.target": "two",
        "Input.target_start_index": "12",
        "Input.target_end_index": "15",
        "Input.target_sentence": "Then I take two.",
        "Answer.ans": str(code),
    } | {f"Answer.{name}": value for name, value in more.items() if name != "time"}
    if "time" in more:
        values["SubmitTime"] = f"Tue Jan 30 {more['time']} PST 2018"
    columns = HEADER.split(",")[:-2]
    return ",".join('"' + values.get(c, "").replace('"', '""') + '"' for c in columns)


@pytest.fixture
def batch(home: Path) -> Make:
    """Makes a batch of rows."""

    def make(*rows: str, name: str = "batch.csv") -> Path:
        text = "\r\n".join([HEADER, *rows, ""])
        (home / name).write_bytes(text.encode("utf-8-sig"))
        return home / name

    return make


def test_a_batch_comes_in_as_its_workers_answers(call: Call, batch: Make) -> None:
    file = batch(
        assignment("A1", 3, time="12:00:00"),
        assignment("A2", 1, reference="red tents", offset="18;9", comment='"hm"'),
        assignment("", 4),
        assignment("A3", 5, other="bed"),
        assignment("A1", 7, time="13:00:00"),
        assignment("A4", 9),
        name="amt_train.csv",
    )
    result = call("import", file, "--db", "x.db", "--json")
    came = report(result)
    assert "its first line is the header of a Mechanical Turk batch" in result.stderr
    assert (came["format"], came["rows"], came["passages_new"], came["anchors_new"]) == (
        "amt",
        3,
        1,
        1,
    )
    assert (came["votes_new"], came["gold_new"], came["conflicts"]) == (3, 0, [])
    assert [one.partition(":")[0] for one in came["warnings"]] == [
        "1 row left out, no worker named",
        "1 row left out, the code of the answer is not from 1 to 8",
        "1 row whose worker answered the same number again",
        "of 1 mark of several words the head was found by the parser of "
        + came["warnings"][3].split(" parser of ")[1].partition(":")[0],
    ]
    assert came["warnings"][0].endswith(": line 6")
    assert came["warnings"][2].endswith(": line 2")
    (ballot,) = ballots()
    assert kinds(ballot) == {"A1": "PEOPLE", "A2": "REFERENCE", "A3": "OTHER"}
    assert (ballot.split, ballot.document, ballot.gold) == ("train", "amt_train.csv", None)
    second = {vote.annotator: vote for vote in ballot.votes}["A2"]
    assert (second.answer.comment, second.seconds, second.saw_model) == ('"hm"', 7.0, False)
    (mention,) = second.answer.mentions()
    assert ballot.passage.words(mention.start, mention.end) == "red tents"
    assert ballot.passage.word(mention.head) == "tents"
    assert {vote.role for vote in ballot.votes} == {Role.ANNOTATOR}
    with Store.open(Path("x.db")) as store:
        lines = [
            line for line in store.history.of_anchor(ballot.anchor_id) if line.name == "A1"
        ]
    assert ["AGE" in (line.before or "") for line in lines] == [False, True]
    assert "PEOPLE" in (lines[1].after or "")
    check_log()


def test_a_batch_is_known_again_and_one_with_more_rows_goes_on(call: Call, batch: Make) -> None:
    rows = [assignment("A1", 3, time="12:00:00"), assignment("A2", 4)]
    call("import", batch(*rows), "--db", "x.db")
    assert (
        "imported before; nothing changed"
        in call("import", batch(*rows), "--db", "x.db").stdout
    )
    more = batch(
        *rows, assignment("A1", 6, time="12:09:00"), assignment("A3", 3), name="more.csv"
    )
    came = report(call("import", more, "--db", "x.db", "--json"))
    assert (came["votes_new"], came["votes_replaced"], came["conflicts"]) == (1, 1, [])
    (ballot,) = ballots()
    assert kinds(ballot) == {"A1": "UNKNOWN", "A2": "CURRENCY", "A3": "AGE"}
    check_log()


def test_an_answer_given_in_the_workbench_is_kept(call: Call, batch: Make) -> None:
    call("import", batch(assignment("A2", 4)), "--db", "x.db")
    (ballot,) = ballots()
    with Store.open(Path("x.db")) as store:
        me = store.people.ensure("A1")
        store.edits.commit_answer(
            ballot.anchor_id, me, Role.ANNOTATOR, class_answer(Kind.NOT_NFH)
        )
    again = batch(assignment("A2", 4), assignment("A1", 3), name="b.csv")
    came = report(call("import", again, "--db", "x.db", "--json"))
    assert came["conflicts"] == [
        "line 4: A1 answered NOT_NFH already, which was kept; the file says AGE"
    ]
    assert kinds(ballots()[0]) == {"A1": "NOT_NFH", "A2": "CURRENCY"}


def test_a_batch_names_its_own_people(call: Call, batch: Make) -> None:
    result = call("import", batch(assignment("A1", 3)), "--db", "x.db", "--annotator", "eva")
    assert result.exit_code == 1
    assert (
        "the rows of amt files name the annotators; import it without an annotator's name (eva)"
        in result.stderr
    )
    assert ballots() == []


def test_a_trial_run_reports_the_same_and_stores_nothing(call: Call, batch: Make) -> None:
    file = batch(assignment("A1", 3), assignment("A1", 4), assignment("A2", 1, reference="the"))
    trial = report(call("import", file, "--db", "x.db", "--dry-run", "--json"))
    assert not Path("x.db").exists()
    real = report(call("import", file, "--db", "x.db", "--json"))
    assert real == trial | {"dry_run": False, "number": 1}


def test_damage_leaves_nothing(call: Call, batch: Make) -> None:
    file = batch(assignment("A1", 3), assignment("A2", 3)[:-30])
    result = call("import", file, "--db", "x.db")
    assert result.exit_code == 1
    assert (
        f"nfh-tui: {file}, line 4: a quote that opens in this row is never closed"
        in result.stderr
    )
    assert ballots() == []
    wrong = batch("a,b", name="other.csv")
    wrong.write_text("WorkerId,Input.target\nA1,two\n")
    result = call("import", wrong, "--db", "x.db")
    assert (
        "line 1: found no column Input.text_reduced, Answer.ans, Answer.reference"
        in result.stderr
    )


def test_numbers_of_a_dialog_that_is_there_get_the_answers(
    call: Call, batch: Make, home: Path
) -> None:
    (home / "talk.txt").write_text(TALK + "\n")
    call("import", "talk.txt", "--db", "x.db")
    came = report(call("import", batch(assignment("A1", 3)), "--db", "x.db", "--json"))
    assert (came["passages_known"], came["anchors_new"], came["votes_new"]) == (1, 0, 1)
    (ballot,) = ballots()
    assert kinds(ballot) == {"A1": "AGE"}
    check_log()


def test_what_came_of_a_batch_leaves_as_gold_and_comes_back(call: Call, batch: Make) -> None:
    file = batch(
        assignment("A1", 3, comment="a\nb"),
        assignment("A2", 1, reference="tents leak", offset="13;23"),
        assignment("A3", 5, other="bed"),
    )
    call("import", file, "--db", "x.db")
    first = exported(call, "first.jsonl").read_bytes()
    call("import", "first.jsonl", "--db", "y.db")
    call("export", "--db", "y.db", "--format", "gold", "--out", "second.jsonl")
    assert Path("second.jsonl").read_bytes() == first
    assert kinds(ballots("y.db")[0]) == kinds(ballots()[0])
