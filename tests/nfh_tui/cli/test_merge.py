"""`nfh-tui merge`."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer

TALK = "Ann: Two tickets?\nBen: No, three. And one for the dog.\n"


@pytest.fixture
def parted(home: Path, call) -> Callable[..., None]:
    """Makes home.db and train.db, which parted; gives a way to answer in either."""
    (home / "talk.txt").write_text(TALK, encoding="utf-8")
    assert call("import", "talk.txt", "--db", "home.db").exit_code == 0
    shutil.copyfile(home / "home.db", home / "train.db")

    def answer(name: str, who: str, anchor: int, kind: Kind, role=Role.ANNOTATOR) -> None:
        with Store.open(home / f"{name}.db") as store:
            store.edits.commit_answer(
                anchor, store.people.ensure(who), role, class_answer(kind)
            )

    return answer


def test_in_words(parted, call, home: Path) -> None:
    parted("home", "eva", 1, Kind.AGE, Role.ADJUDICATOR)
    parted("train", "bob", 1, Kind.TIME, Role.ADJUDICATOR)
    parted("train", "bob", 2, Kind.TIME)
    with Store.open(home / "train.db") as store:
        bob = store.people.ensure("bob")
        store.edits.replace_anchor(
            3, bob, Role.ADJUDICATOR, Anchor(9, 11), store.edits.stale_labels(3, bob)
        )
        store.workspace.save_view(bob, "mine", "class:AGE")
    result = call("merge", "train.db", "--db", "home.db", "--as", "eva")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "train.db: 4 changes of 4 items came in, in 3 acts"
    assert lines[1:4] == [
        "People new: bob",
        "Also new: 1 number, 1 saved view",
        "1 item unchanged here, for you to decide:",
    ]
    assert lines[4].startswith("  gold for “Two”: here AGE (rule expert) by eva at 2")
    assert "; there TIME (rule expert) by bob at 2" in lines[4]
    assert lines[4].endswith("; changed in both copies")
    command = shlex.split(lines[5])
    assert command == [
        "nfh-tui",
        "adjudicate",
        "--db",
        "home.db",
        'text:"Two tickets?" anchor:Two',
    ]
    exported = call("export", command[-1], "--format", "gold", "--db", "home.db")
    assert json.loads(exported.stdout)["kind"] == "AGE"
    assert lines[7].strip() == "nfh-tui adjudicate --db home.db experts:differ"
    (backup,) = home.glob("home.db.backup-merge-*")
    assert lines[8] == f"As it was before: {backup.name}"
    again = call("merge", "train.db", "--db", "home.db")
    assert again.stdout.splitlines()[0] == "train.db: nothing new"


def test_as_json(parted, call) -> None:
    parted("home", "eva", 1, Kind.AGE)
    parted("train", "eva", 1, Kind.TIME)
    parted("train", "bob", 2, Kind.TIME)
    report = json.loads(call("merge", "train.db", "--db", "home.db", "--json").stdout)
    assert (report["changed"], report["events"], report["people_new"]) == (True, 1, ["bob"])
    (conflict,) = report["conflicts"]
    assert conflict["anchor_id"] == 1
    assert len(conflict["public_id"]) == 32
    assert (conflict["what"], conflict["whose"]) == ("answer", "eva")
    assert (conflict["here"]["said"], conflict["there"]["said"]) == ("AGE", "TIME")
    assert conflict["reason"] == "changed in both copies"
    assert Path(report["backup"]).exists()


def test_a_trial_run_makes_nothing_and_nobody(parted, call, dump, home: Path) -> None:
    parted("train", "bob", 2, Kind.TIME)
    before = dump(home / "home.db")
    result = call("merge", "train.db", "--db", "home.db", "--as", "new", "--dry-run")
    assert result.stdout.splitlines()[0] == (
        "train.db: 1 change of 1 item would come in, in 1 act"
    )
    assert result.stdout.splitlines()[-1] == "Nothing was stored"
    report = json.loads(
        call("merge", "train.db", "--db", "home.db", "--dry-run", "--json").stdout
    )
    assert (report["changed"], report["dry_run"], report["events"]) == (False, True, 1)
    assert dump(home / "home.db") == before
    assert not list(home.glob("*backup*"))


def test_refusals_are_one_sentence(parted, call, home: Path) -> None:
    for other, words in (
        ("home.db", "nfh-tui: home.db is this database itself"),
        ("nowhere.db", "nfh-tui: There is no database at nowhere.db"),
        ("talk.txt", "nfh-tui: talk.txt is not a database"),
    ):
        result = call("merge", other, "--db", "home.db")
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr.startswith(words)
        assert result.stderr.count("\n") == 1
    assert call("merge", "--db", "home.db").exit_code == 2
    assert call("merge", "train.db", "--db", "nowhere.db").exit_code == 1


def test_names_from_the_other_copy_cannot_steer_the_terminal(parted, call, home: Path) -> None:
    text = "Ann: Two tickets \x1b[31m [red]?"
    (home / "bad.txt").write_text(text + "\n", encoding="utf-8")
    assert call("import", "bad.txt", "--db", "home.db").exit_code == 0
    shutil.copyfile(home / "home.db", home / "train.db")
    for name, kind in (("home", Kind.AGE), ("train", Kind.TIME)):
        with Store.open(home / f"{name}.db") as store:
            answer = class_answer(kind, comment="\x1b[2J")
            store.edits.commit_answer(4, store.people.ensure("eva"), Role.ANNOTATOR, answer)
    result = call("merge", "train.db", "--db", "home.db")
    assert "\x1b" not in result.stdout
    assert "␛[2J" in result.stdout


def test_a_process_of_its_own(parted, program) -> None:
    parted("train", "bob", 2, Kind.TIME)
    done = program("merge", "train.db", "--db", "home.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("train.db: 1 change of 1 item came in")
