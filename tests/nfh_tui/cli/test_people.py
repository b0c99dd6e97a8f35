"""One person is one person: names as they are stored, and what is done with like ones."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.errors import StoreError
from nfh_db.messages import quoted
from nfh_db.query import parse
from nfh_db.records import CompetenceWeight, FlagName, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui import config
from nfh_tui.app import WorkbenchApp
from nfh_tui.cli.options import user

Call = Callable[..., Result]

JOSE = "Jos\u00e9"
TWO_PARTS = unicodedata.normalize("NFD", JOSE)


def _row(path: Path, label: str, *, anchor: int = 2) -> Path:
    row = {"tokens": ["We", "have", "three", "or", "four"], "line_indices": [0] * 5}
    row |= {"speakers": ["A"] * 5, "anchors_indices": [anchor], "head": [label]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


def _task(path: Path, *said: tuple[str, str, int], word: str = "three") -> Path:
    """Prodigy's answers: name, label, and time in seconds."""
    text = f"No, {word}."
    end = 4 + len(word)
    path.write_text(
        "".join(
            json.dumps(
                {
                    "text": text,
                    "spans": [{"start": 4, "end": end, "label": label}],
                    "answer": "accept",
                    "_annotator_id": name,
                    "_timestamp": at,
                }
            )
            + "\n"
            for name, label, at in said
        ),
        encoding="utf-8",
    )
    return path


def _votes(call: Call, query: str = "") -> dict[str, str]:
    rows = call("export", *query.split(), "--format", "gold").stdout.splitlines()
    return {v["annotator"]: v["kind"] for row in rows for v in json.loads(row)["votes"]}


def _names() -> list[str]:
    with Store.open(config.database(None)) as store:
        return [one.name for one in store.people.all() if one.type == "person"]


# --- names ----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [TWO_PARTS, f" {JOSE} ", f"{TWO_PARTS}\u00a0"])
def test_a_name_is_stored_in_one_form_however_it_comes_in(
    call: Call, home: Path, given: str
) -> None:
    call("import", "--annotator", given, _row(home / "a.jsonl", "AGE"))
    call("import", _task(home / "b.jsonl", (given, "AGE", 1_700_000_000)))
    call("assign", "--to", given, "--to", JOSE, "--each", "1")
    assert _names() == [JOSE]
    assert call("export", f"by:{given.strip()}", "--format", "gold").stdout.count("\n") == 2
    assert call("history", "--as", given).exit_code == 0
    assert call("doctor").exit_code == 0


def test_two_forms_of_a_name_in_one_file_are_one_person(call: Call, home: Path) -> None:
    at = 1_700_000_000
    file = _task(home / "b.jsonl", (TWO_PARTS, "AGE", at), (JOSE, "AGE", at))
    said = call("import", file)
    assert "1 answer" in said.stdout
    assert _names() == [JOSE]


@pytest.mark.parametrize("like", ["jose", "JOS\u00c9", "\uff2aos\u00e9", "Jose"])
def test_a_new_name_like_a_known_one_is_refused(call: Call, home: Path, like: str) -> None:
    call("import", "--annotator", JOSE, _row(home / "a.jsonl", "AGE"))
    other = _row(home / "b.jsonl", "YEAR")
    in_file = _task(home / "c.jsonl", (like, "AGE", 1_700_000_000))
    for command in (
        ("import", "--annotator", like, other),
        ("import", "--annotator", like, other, "--dry-run"),
        ("import", in_file),
        ("assign", "--to", like),
        ("assign", "--to", like, "--dry-run"),
        ("settle", "--rule", "majority", "--as", like),
    ):
        refused = call(*command)
        assert refused.exit_code == 1
        assert f"'{like}' is new here and differs from '{JOSE}' only by case" in refused.stderr
        assert f"nfh-tui people add {quoted(like)} --new-person" in refused.stderr
    assert _names() == [JOSE]
    assert call("import", in_file, "--new-person").exit_code == 0
    assert sorted(_names()) == sorted([JOSE, like])
    assert _votes(call, f"by:{like}") == {like: "AGE"}


def test_the_same_file_under_a_second_name_warns(call: Call, home: Path) -> None:
    file = _row(home / "a.jsonl", "AGE")
    assert "imported before" not in call("import", "--annotator", "ann", file).stderr
    said = call("import", "--annotator", "bob", file)
    assert "the same file was imported before as the answers of ann" in said.stderr
    assert "nfh-tui people merge bob ann" in said.stderr


def test_a_copy_brings_a_name_in_in_the_form_of_here(call: Call, home: Path) -> None:
    call("import", "--annotator", JOSE, _row(home / "a.jsonl", "AGE"))
    call("backup", home / "copy.db")
    copy = home / "copy.db"
    call("import", "--db", copy, "--annotator", "joe", _row(home / "b.jsonl", "YEAR"))
    with Store.open(copy) as store, store.connections.durable_write() as connection:
        connection.execute("UPDATE annotator SET name = ? WHERE name = ?", (TWO_PARTS, JOSE))
        connection.execute("UPDATE annotator SET name = ' joe' WHERE name = 'joe'")
    said = call("merge", copy, "--as", JOSE)
    assert said.exit_code == 0, said.stderr
    assert sorted(_names()) == sorted([JOSE, "joe"])
    assert call("doctor").exit_code == 0
    other = home / "other.db"
    call("import", "--db", other, "--annotator", "jose", _row(home / "c.jsonl", "YEAR"))
    refused = call("merge", other, "--as", JOSE)
    assert "'jose' is new here and differs from 'Jos\u00e9'" in refused.stderr


# --- two names of one person ----------------------------------------------------------------


def _two_names(call: Call, home: Path) -> None:
    """Jose and José answered "three" otherwise, Jose alone "four", and Bob "three"."""
    early, late = 1_700_000_000, 1_700_000_060
    file = _task(home / "a.jsonl", (JOSE, "YEAR", early), ("bob", "AGE", early))
    call("import", file)
    file = _task(home / "b.jsonl", ("Jose", "AGE", late))
    call("import", "--new-person", file)
    call("import", _task(home / "c.jsonl", ("Jose", "AGE", early), word="four"))


def _all_votes(call: Call) -> list[list[tuple[str, str]]]:
    rows = call("export", "--format", "gold").stdout.splitlines()
    return [
        sorted((v["annotator"], v["kind"]) for v in json.loads(row)["votes"]) for row in rows
    ]


def test_a_merge_lets_the_later_answer_count_and_one_undo_takes_it_back(
    call: Call, home: Path
) -> None:
    _two_names(call, home)
    call("assign", "anchor:four", "--to", "bob", "--to", JOSE, "--each", "3")
    call("assign", "anchor:three", "--to", JOSE)
    before = _all_votes(call)
    assert before[0] == sorted([(JOSE, "YEAR"), ("Jose", "AGE"), ("bob", "AGE")])
    dry = call("people", "merge", "Jose", JOSE, "--dry-run").stdout
    assert "2 answers, 0 flags and 0 decisions of Jose become José's" in dry
    assert f"three: Jose AGE, {JOSE} YEAR; Jose's counts, later" in dry
    refused = call("people", "merge", "Jose", JOSE)
    assert (refused.exit_code, refused.stderr) == (
        1,
        "nfh-tui: Nothing was done: --yes does it\n",
    )
    assert _all_votes(call) == before
    done = call("people", "merge", "Jose", JOSE, "--yes")
    assert f"Jose is {JOSE} now. nfh-tui people undo undoes it" in done.stdout
    assert _all_votes(call) == [[(JOSE, "AGE"), ("bob", "AGE")], [(JOSE, "AGE")]]
    assert "before  Year" in call("history", "anchor:three").stdout
    assert call("doctor").exit_code == 0, call("doctor").stdout
    assert call("export", "by:Jose", "--format", "gold").stdout.count("\n") == 2
    # The name goes on to stand for the person, whoever says it.
    call("import", "--annotator", "Jose", _row(home / "d.jsonl", "AGE"))
    assert "Jose" not in _names()
    line = next(one for one in call("people").stdout.splitlines() if one.startswith(JOSE))
    assert line.split() == [JOSE, "Jose", "3", "0", "–"]
    call("people", "undo")
    assert _all_votes(call)[:2] == before
    assert call("doctor").exit_code == 0, call("doctor").stdout
    with Store.open(config.database(None)) as store:
        store.edits.redo(store.people.ensure(user()))
    assert _all_votes(call)[0] == [(JOSE, "AGE"), ("bob", "AGE")]
    assert call("doctor").exit_code == 0, call("doctor").stdout


def test_where_no_time_tells_the_person_chooses(call: Call, home: Path) -> None:
    call("import", "--annotator", "ann", _row(home / "a.jsonl", "AGE"))
    call("import", "--annotator", "anna", _row(home / "b.jsonl", "YEAR"))
    refused = call("people", "merge", "ann", "anna", "--yes")
    assert "no time says which is later: --keep NAME" in refused.stdout
    assert "Of 1 item both gave another answer" in refused.stderr
    assert _votes(call) == {"ann": "AGE", "anna": "YEAR"}
    assert call("people", "merge", "ann", "anna", "--yes", "--keep", "bob").exit_code == 2
    assert call("people", "merge", "ann", "anna", "--yes", "--keep", "ann").exit_code == 0
    assert _votes(call) == {"anna": "AGE"}
    assert call("doctor").exit_code == 0, call("doctor").stdout


def test_of_two_answers_at_one_time_none_is_later(call: Call, home: Path) -> None:
    at = 1_700_000_000
    call("import", _task(home / "a.jsonl", ("ann", "AGE", at), ("anna", "YEAR", at)))
    refused = call("people", "merge", "ann", "anna", "--yes")
    assert "no time says which is later: --keep NAME" in refused.stdout
    assert call("people", "merge", "ann", "anna", "--yes", "--keep", "ann").exit_code == 0
    assert _votes(call) == {"anna": "AGE"}


def test_decisions_assignments_checks_and_competence_follow(call: Call, home: Path) -> None:
    _two_names(call, home)
    with Store.open(config.database(None)) as store:
        jose, jose_, eva = (store.people.find(one) for one in ("Jose", JOSE, "bob"))
        assert jose and jose_ and eva
        ids = [id_ for some in store.queue.ids(parse(""), eva) for id_ in some]
        for id_ in ids:
            store.edits.commit_answer(id_, jose, Role.ADJUDICATOR, class_answer(Kind.AGE))
            store.edits.set_flag(id_, jose, FlagName.AMBIGUOUS, on=True)
        store.competences.remember(
            "check items",
            [CompetenceWeight("Jose", 1.0, 10), CompetenceWeight(JOSE, 0.5, 30)],
        )
    call("assign", "--to", "Jose", "--to", JOSE, "--each", "9", "--role", "adjudicator")
    call("assign", "--to", JOSE, "--each", "9")
    assert call("people", "merge", "Jose", JOSE, "--yes").exit_code == 0
    rows = call("export", "--format", "gold").stdout.splitlines()
    assert {json.loads(row)["adjudicator"] for row in rows} == {JOSE}
    assert {flag["annotator"] for row in rows for flag in json.loads(row)["flags"]} == {JOSE}
    people = json.loads(call("assign", "--json").stdout)["people"]
    assert [(p["person"], p["role"], p["done"], p["open"]) for p in people] == [
        (JOSE, "adjudicator", 2, 0),
        (JOSE, "annotator", 1, 0),
    ]
    with Store.open(config.database(None)) as store:
        (weight,) = store.competences.read().people
    assert (weight.annotator, weight.accuracy, weight.answers) == (JOSE, 0.625, 40)
    assert call("doctor").exit_code == 0, call("doctor").stdout
    call("people", "undo")
    assert call("doctor").exit_code == 0, call("doctor").stdout
    rows = call("export", "--format", "gold").stdout.splitlines()
    assert {json.loads(row)["adjudicator"] for row in rows} == {"Jose"}


def test_a_new_name_is_that_of_the_same_person(call: Call, home: Path) -> None:
    _two_names(call, home)
    refused = call("people", "rename", "Jose", "bob")
    assert "nfh-tui people merge Jose bob makes one person of two" in refused.stderr
    assert "differs from 'José'" in call("people", "rename", "bob", "JOSE").stderr
    assert call("people", "rename", "bob", "Robert").exit_code == 0
    assert (_all_votes(call)[0][2], "bob" in _names()) == (("Robert", "AGE"), False)
    assert call("people", "rename", "Robert", "bob").exit_code == 0
    assert _all_votes(call)[0][2] == ("bob", "AGE")
    assert "Robert" not in _names()
    assert "'bob' is their name already" in call("people", "rename", "bob", "bob").stderr
    refused = call("people", "add", "ROBERT").stderr
    assert "is new here and differs from a former name of 'bob' only by case" in refused
    call("people", "undo")
    assert _all_votes(call)[0][0] == ("Jose", "AGE")
    assert "Robert" in _names()
    assert call("doctor").exit_code == 0, call("doctor").stdout


def test_names_that_moved_on_are_taken_back_in_order(call: Call, home: Path) -> None:
    call("import", "--annotator", "ann", _row(home / "a.jsonl", "AGE"))
    call("people", "add", "eva")
    call("people", "rename", "ann", "bea", "--as", "kim")
    call("people", "merge", "bea", "eva", "--yes", "--as", "lee")
    refused = call("people", "undo", "--as", "kim")
    assert "“rename ann to bea” cannot be undone: ann stands for eva since" in refused.stderr
    assert _votes(call) == {"eva": "AGE"}
    # A former name alone is not merged: the person is.
    refused = call("people", "merge", "ann", "kim", "--yes")
    assert (
        "'ann' is a former name of 'eva', with no answers of its own: write" in refused.stderr
    )
    for who, name in (("lee", "bea"), ("kim", "ann")):
        assert call("people", "undo", "--as", who).stdout.endswith("is undone.\n")
        assert _votes(call) == {name: "AGE"}
        assert call("doctor").exit_code == 0, call("doctor").stdout


def test_of_two_new_names_at_once_one_counts(call: Call, home: Path) -> None:
    call("import", "--annotator", "ann", _row(home / "a.jsonl", "AGE"))
    with Store.open(config.database(None)) as store:
        ann, kim = store.people.find("ann"), store.people.ensure("kim")
        assert ann
        bea = store.people.new_name(ann, "bea")
        eva = store.people.new_name(ann, "eva")
        store.bulk.merge_people(ann, bea, kim, "rename ann to bea")
        with pytest.raises(StoreError, match="'ann' is a former name of 'bea'"):
            store.bulk.merge_people(ann, eva, kim, "rename ann to eva")
        with pytest.raises(StoreError, match="'ann' is 'bea' now: run the command again"):
            store.bulk.merge_people(kim, ann, kim, "merge kim into ann")
    assert _votes(call) == {"bea": "AGE"}
    assert call("doctor").exit_code == 0, call("doctor").stdout


def test_who_did_nothing_takes_nothing_back_and_is_not_made_known(call: Call) -> None:
    call("init")
    call("people", "add", "ann")
    assert "the last act of ann was neither" in call("people", "undo", "--as", "ann").stderr
    assert "is called 'anna': nfh-tui people" in call("people", "undo", "--as", "anna").stderr
    assert _names() == ["ann"]


def test_an_undo_says_what_was_changed_since(call: Call, home: Path) -> None:
    call("import", "--annotator", "ann", _row(home / "a.jsonl", "AGE"))
    call("people", "rename", "ann", "bea")
    with Store.open(config.database(None)) as store:
        (bea,) = (store.people.ensure("bea"),)
        (id_,) = (one for some in store.queue.ids(parse(""), bea) for one in some)
        store.edits.commit_answer(id_, bea, Role.ANNOTATOR, class_answer(Kind.YEAR))
    said = call("people", "undo").stdout
    assert said.endswith("undone, except 1 item that somebody changed since then.\n")


def test_who_is_retired_is_so_under_every_name(call: Call, home: Path) -> None:
    call("import", "--annotator", "ann", _row(home / "a.jsonl", "AGE"))
    call("people", "retire", "ann")
    call("people", "rename", "ann", "bea")
    assert "'bea' is retired" in call("assign", "--to", "bea").stderr
    call("people", "retire", "--back", "bea")
    call("people", "undo")
    assert call("assign", "--to", "ann").exit_code == 0


def test_names_of_an_earlier_version_are_found_and_settled(call: Call, home: Path) -> None:
    call("import", "--annotator", JOSE, _row(home / "a.jsonl", "AGE"))
    database = config.database(None)
    with Store.open(database) as store, store.connections.durable_write() as connection:
        connection.execute("UPDATE annotator SET name = ?", (f"{TWO_PARTS} ",))
    call("import", "--annotator", JOSE, _row(home / "b.jsonl", "YEAR", anchor=4))
    assert _names() == [f"{TWO_PARTS} "]
    assert "is stored in an old form" in call("people").stdout
    found = call("doctor")
    assert "nfh-tui people rename" in found.stdout + found.stderr
    assert call("people", "rename", JOSE, JOSE).exit_code == 0
    assert _names() == [JOSE, user()]
    assert _votes(call) == {JOSE: "YEAR"}
    assert "people rename" not in call("doctor").stdout


def test_who_is_retired_gets_no_work_and_keeps_their_answers(call: Call, home: Path) -> None:
    _two_names(call, home)
    call("assign", "anchor:four", "--to", "bob", "--each", "2")
    assert (
        "bob is retired, and 1 item assigned to them came back."
        in call("people", "retire", "bob").stdout
    )
    for command in (("assign", "--to", "bob"), ("assign", "--to", "bob", "--dry-run")):
        refused = call(*command)
        assert (refused.exit_code, "'bob' is retired" in refused.stderr) == (1, True)
    assert _all_votes(call)[0][2] == ("bob", "AGE")
    call("import", _task(home / "d.jsonl", ("bob", "AGE", 1_700_000_000), word="nine"))
    assert call("people", "retire", "--back", "bob").stdout == "bob gets work again.\n"
    assert call("assign", "anchor:four", "--to", "bob", "--each", "2").exit_code == 0


# --- screens --------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "who"), [("1", JOSE), ("n", "jose")])
def test_the_workbench_asks_who_somebody_is(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch, key: str, who: str
) -> None:
    call("import", "--annotator", JOSE, _row(home / "a.jsonl", "AGE"))
    monkeypatch.setattr("nfh_tui.cli.workbench._need_terminal", lambda: None)
    opened = []

    def run(self: WorkbenchApp, **_: object) -> None:
        opened.append(self._me.name)

    monkeypatch.setattr(WorkbenchApp, "run", run)
    said = call("annotate", "--as", "jose", input=f"{key}\n")
    assert f"1  {JOSE}, who is known" in said.stdout
    assert opened == [who]
    assert _names().count(who) == 1


def test_the_workbench_says_that_a_like_name_has_the_work(call: Call, home: Path) -> None:
    call("import", "--annotator", JOSE, _row(home / "a.jsonl", "AGE"))
    call("people", "add", "jose", "--new-person")
    call("import", _row(home / "b.jsonl", "YEAR", anchor=4))
    call("assign", "anchor:four", "--to", JOSE)
    app = WorkbenchApp(config.database(None), "jose", "annotate", None)
    assert (
        f"José has. If that is you, quit (q) and come back with --as '{JOSE}'" in app._namesake
    )
    app.close()
    app = WorkbenchApp(config.database(None), JOSE, "annotate", None)
    assert app._namesake == ""
    app.close()
