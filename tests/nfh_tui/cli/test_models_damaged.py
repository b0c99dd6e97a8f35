"""Models whose row or folder is not what a program would have made."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.doctor import examine
from nfh_db.models import NewModel
from nfh_db.store import Store
from nfh_models.identification.svm import Svm, SvmSettings, load_svm, save_svm
from nfh_models.model_files import CONFIG, SEEN, ModelFileError
from nfh_tui.services import models

Call = Callable[..., Result]


@pytest.fixture
def db(call: Call, home: Path) -> Path:
    """A database with one model, which lies where it should."""
    call("init", "--db", "w.db")
    made = Svm(SvmSettings(), ["anchor=two"], np.array([1.5]), 0.25, "a parser 1")
    digest = save_svm(made, home / "w-models" / "svm-1")
    path = "w-models/svm-1"
    with Store.open(home / "w.db") as store:
        job = store.jobs.begin("identification", {})
        new = NewModel("svm-1", "identification", "svm", made.version, path, digest)
        store.jobs.finish_training(job, new)
    return home / "w.db"


def put(db: Path, column: str, value: str | None) -> None:
    connection = connect(db, "rw")
    connection.execute(f"UPDATE model SET {column} = ? WHERE name = 'svm-1'", (value,))
    connection.close()


@pytest.mark.parametrize(
    "metrics",
    [
        "[]",
        "{",
        "7",
        "null",
        '{"f1": NaN}',
        '{"f1": "much", "folds": [], "examples": {}}',
        f'{{"f1": {10**400}, "examples": 9, "folds": 5}}',
        '{"examples": 9, "folds": 5, "worst": [1, {}, {"n": "x"}], "left_out": {"a": "b"}}',
        '{"examples": 9, "folds": 5, "worst": {}, "left_out": [], "per_fold": 3}',
        '{"query": "no such key:", "split": 3}',
    ],
)
@pytest.mark.parametrize("column", ["metrics", "config"])
def test_any_figures_and_settings_can_be_looked_at(
    db: Path, call: Call, metrics: str, column: str
) -> None:
    put(db, column, metrics)
    for command in (("models",), ("models", "show", "svm-1"), ("models", "activate", "svm-1")):
        assert call(*command, "--db", db).exit_code == 0
        told = call(*command, "--db", db, "--json")
        json.loads(told.stdout, parse_constant=pytest.fail)


def test_what_is_no_object_is_told_by_the_doctor(db: Path) -> None:
    put(db, "metrics", "[]")
    told = examine(db)
    found = {one.check.name for one in told.outcomes if one.broken}
    assert found == {"settings"}


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("path", None, "has no folder"),
        ("path", "/etc", "is missing"),
        ("recipe", "encoder", "is a model of 'svm', not of 'encoder'"),
        ("digest", None, "has changed"),
    ],
)
def test_what_cannot_be_used_is_not_put_to_use(
    db: Path, call: Call, column: str, value: str | None, words: str
) -> None:
    call("models", "activate", "rules", "--db", db)
    put(db, column, value)
    result = call("models", "activate", "svm-1", "--db", db)
    assert result.exit_code == 1
    assert words in result.stderr
    with Store.open(db) as store:
        active = store.identifications.active()
    assert active is not None
    assert active.name == "rules"


@pytest.fixture
def shut(db: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its models lie in a folder that may not be looked into."""
    real = Path.is_file

    def refuse(path: Path) -> bool:
        if path.name == CONFIG:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "is_file", refuse)
    return db


def test_a_folder_that_may_not_be_read_is_a_sentence(shut: Path, call: Call) -> None:
    listed = call("models", "--db", shut)
    assert listed.exit_code == 0
    assert "rules" in listed.stdout
    shown = call("models", "show", "svm-1", "--db", shut)
    assert "It cannot be used: the model svm-1 cannot be read" in shown.stdout
    result = call("identify", "--db", shut)
    assert result.exit_code == 1
    assert "the model svm-1 cannot be read" in result.stderr
    assert "Permission denied" in result.stderr


def test_a_damaged_list_of_texts_in_the_package_is_a_sentence(
    call: Call, home: Path, package: Path
) -> None:
    call("init", "--db", home / "w.db")
    (package / SEEN).write_bytes(b"nfh-seen 1 9 9\n")
    shown = call("models", "show", "small", "--db", home / "w.db")
    assert shown.exit_code == 0
    words = " ".join(shown.stdout.split())
    assert "Its figures cannot be read: " in words
    assert "seen.bin is damaged" in words


def test_weights_that_cannot_be_summed_are_refused(tmp_path: Path) -> None:
    huge = np.array([1.5e308, -1.5e308])
    save_svm(Svm(SvmSettings(), ["a", "b"], huge, 0.0), tmp_path / "m")
    with pytest.raises(ModelFileError, match="too large to add"):
        load_svm(tmp_path / "m")


def test_a_feature_named_twice_is_refused(tmp_path: Path) -> None:
    save_svm(Svm(SvmSettings(), ["a"], np.array([1.0]), 0.0), tmp_path / "m")
    path = tmp_path / "m" / CONFIG
    config = json.loads(path.read_text(encoding="utf-8"))
    config["settings"]["features"] = ["anchor", "anchor"]
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelFileError, match="named twice"):
        load_svm(tmp_path / "m")


def test_a_program_that_decides_otherwise_says_so_and_forgets(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfh_models.identification.svm.VERSION", "svm/0")
    with Store.open(db) as store:
        before = store.models.all()[0].version
        models.identifier_for(store, "svm-1", register=False)
        assert store.models.all()[0].version == before
        chosen = models.identifier_for(store, "svm-1")
        assert store.models.all()[0].version == chosen.model.version
        assert chosen.model.version.startswith("svm/0 ")
