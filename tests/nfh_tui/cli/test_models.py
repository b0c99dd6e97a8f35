"""`nfh-tui models`: what is there, and what is used."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.store import Store
from nfh_models.identification.base import IdentificationRecipeError
from nfh_models.identification.svm import Svm
from nfh_models.model_files import ModelFileError
from nfh_tui.services.models import identifier_for

Call = Callable[..., Result]


@pytest.fixture
def path(call: Call, home: Path, once: Callable[..., None]) -> Path:
    """A database with two trained models, svm-1 active, and what needs no training."""

    def make() -> None:
        lines = ["text\tind_s\tind_e\ty"]
        for number in range(20):
            word = "of" if number % 2 else "cups"
            lines.append(f"Take_SEP_two_SEP_{word}_SEP_w{number}\t1\t2\t{number % 2}")
        (home / "dev.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert call("import", "dev.tsv", "--db", "w.db").exit_code == 0
        for c in ("1", "0.1"):
            result = call(
                "retrain", "identification", "--wait", "--db", "w.db",
                "--set", "features=anchor,window", "--set", f"c={c}",
            )  # fmt: skip
            assert result.exit_code == 0, result.output
        assert call("models", "activate", "svm-1", "--db", "w.db").exit_code == 0

    once(make)
    return home / "w.db"


def states(path: Path) -> dict[str, str]:
    """The state of each model."""
    with Store.open(path) as store:
        return {model.name: model.state for model in store.models.all()}


def test_models_are_listed(call: Call, path: Path) -> None:
    found = call("models", "--db", path)
    lines = found.stdout.splitlines()
    assert [line.split()[1:5:3] for line in lines[1:]] == [
        ["rules", "retired"],
        ["cues", "active"],
        ["svm-1", "active"],
        ["svm-2", "candidate"],
    ]
    assert max(map(len, lines)) <= 80
    listed = json.loads(call("models", "--db", path, "--json").stdout)["models"]
    assert [one["name"] for one in listed] == ["rules", "cues", "svm-1", "svm-2"]
    assert listed[2]["f1"] == 1.0
    assert listed[0]["folder"] is None


def test_built_in_recipes_are_models_of_a_new_database(call: Call, home: Path) -> None:
    call("init", "--db", "new.db")
    listed = json.loads(call("models", "--db", "new.db", "--json").stdout)["models"]
    assert [(one["name"], one["state"]) for one in listed] == [
        ("rules", "active"),
        ("cues", "active"),
    ]


def test_models_of_the_package_are_listed_with_its_figures(
    call: Call, home: Path, package: Path, base: Path
) -> None:
    call("init", "--db", "new.db")
    listed = json.loads(call("models", "--db", "new.db", "--json").stdout)["models"]
    assert [(one["name"], one["task"], one["state"], one["folder"]) for one in listed] == [
        ("base", "resolution", "active", str(base)),
        ("small", "both", "active", str(package)),
        ("rules", "identification", "candidate", None),
        ("cues", "resolution", "candidate", None),
    ]
    shown = call("models", "show", "base", "--db", "new.db").stdout
    assert "base: base for resolution, active" in shown
    assert " 82.0 " in call("models", "--db", "new.db").stdout
    shutil.rmtree(base)
    told = call("models", "--db", "new.db").stdout
    assert "! missing folder; `nfh-tui models show` says which" in told


def test_one_model_is_shown_by_number_or_name(call: Call, path: Path) -> None:
    by_name = call("models", "show", "svm-2", "--db", path)
    assert by_name.stdout == call("models", "--db", path, "show", "4").stdout
    assert "svm-2: svm for identification, candidate" in by_name.stdout
    assert "  c         0.1" in by_name.stdout
    assert "Learnt from 16 numbers. In 5 folds:" in by_name.stdout
    assert "cannot be used" not in by_name.stdout
    shown = json.loads(call("models", "show", "svm-2", "--db", path, "--json").stdout)
    assert shown["trouble"] is None
    assert shown["config"]["features"] == ["anchor", "window"]
    assert shown["metrics"]["examples"] == 16


def test_a_model_is_put_to_use_and_the_rules_back_again(call: Call, path: Path) -> None:
    told = call("models", "activate", "svm-2", "--db", path)
    assert told.stdout == (
        "svm-2 is now the active model of identification, in place of svm-1\n"
    )
    assert states(path) == {
        "svm-1": "retired",
        "rules": "retired",
        "svm-2": "active",
        "cues": "active",
    }
    again = json.loads(call("models", "activate", "rules", "--db", path, "--json").stdout)
    assert (again["name"], again["state"], again["before"]) == ("rules", "active", ["svm-2"])
    assert call("models", "activate", "rules", "--db", path).stdout == (
        "rules is now the active model of identification\n"
    )


def test_a_model_of_both_tasks_that_loses_one_is_named_with_what_it_still_does(
    call: Call, path: Path
) -> None:
    with Store.open(path) as store:
        # As in a new database: one model of both tasks, which each of them uses.
        both = store.models.ensure("small", "both", "small", "1")
        store.models.activate(both)
    told = call("models", "activate", "svm-1", "--db", path).stdout
    assert told == (
        "svm-1 is now the active model of identification, in place of small, which now\n"
        "only resolves\n"
    )
    again = json.loads(call("models", "activate", "cues", "--db", path, "--json").stdout)
    assert (again["before"], again["still"]) == (["small"], {})
    with Store.open(path) as store:
        store.models.activate(both)
    first = json.loads(call("models", "activate", "cues", "--db", path, "--json").stdout)
    assert (first["before"], first["still"]) == (["small"], {"small": "identification"})


def test_an_unknown_model_is_told_what_there_is(call: Call, path: Path) -> None:
    for asked in ("show", "activate"):
        result = call("models", asked, "svm-9\x1b[2J", "--db", path)
        assert result.exit_code == 1
        assert "1 (rules), 2 (cues), 3 (svm-1), 4 (svm-2)" in result.stderr
        assert "\x1b" not in result.stderr


def test_a_model_whose_folder_is_gone_is_not_put_to_use(
    call: Call, path: Path, home: Path
) -> None:
    shutil.rmtree(home / "w-models" / "svm-2")
    result = call("models", "activate", "svm-2", "--db", path)
    assert result.exit_code == 1
    assert "the model svm-2 is missing" in result.stderr
    assert states(path)["svm-1"] == "active"
    lines = call("models", "--db", path).stdout.splitlines()
    assert lines[4].startswith("   4 !svm-2") and "!" not in lines[3]
    assert lines[-1].startswith("! missing folder")
    assert all(len(line) <= 80 for line in lines)
    assert (
        "It cannot be used: the model svm-2 is missing"
        in call("models", "show", "svm-2", "--db", path).stdout
    )


def test_a_model_whose_files_were_changed_is_not_put_to_use(
    call: Call, path: Path, home: Path
) -> None:
    weights = home / "w-models" / "svm-2" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x00")
    result = call("models", "activate", "svm-2", "--db", path)
    assert result.exit_code == 1
    assert "are not those of its training" in result.stderr
    assert states(path)["svm-1"] == "active"
    with Store.open(path) as store, pytest.raises(ModelFileError, match="has changed"):
        identifier_for(store, "svm-2")


# --- which model a word stands for ----------------------------------------------------------


def test_a_word_is_a_number_a_name_a_recipe_or_a_folder(
    call: Call, path: Path, home: Path
) -> None:
    with Store.open(path) as store:
        for spec, name in (
            (None, "svm-1"),
            ("4", "svm-2"),
            ("svm-2", "svm-2"),
            ("svm", "svm-1"),
            ("rules", "rules"),
        ):
            chosen = identifier_for(store, spec)
            model = store.models.named(name)
            assert model is not None
            assert (chosen.name, chosen.model_id) == (name, model.id)
            assert chosen.model.version == model.version
        folder = identifier_for(store, str(home / "w-models" / "svm-2"))
        assert (folder.name, folder.model_id) == ("svm-2", None)
        assert isinstance(folder.model, Svm)
        store.models.activate(1)
        assert identifier_for(store).name == "rules"
        assert identifier_for(store, "svm").name == "svm-2"
        store.models.ensure("nearest", "resolution", "nearest-noun", "1")
        with pytest.raises(IdentificationRecipeError, match="is a model of resolution"):
            identifier_for(store, "nearest")
        with pytest.raises(IdentificationRecipeError, match="names no model of identification"):
            identifier_for(store, "svm-9")


def test_without_a_database_there_are_rules_and_folders(path: Path, home: Path) -> None:
    assert identifier_for(None).name == "rules"
    chosen = identifier_for(None, "w-models/svm-1")
    assert (chosen.name, chosen.model_id) == ("svm-1", None)
    with pytest.raises(IdentificationRecipeError, match="svm has no model yet"):
        identifier_for(None, "svm")
    with pytest.raises(ModelFileError, match=r"config\.json is missing"):
        identifier_for(None, "w-models")


def test_models_move_with_their_database(path: Path, home: Path) -> None:
    moved = home / "elsewhere"
    moved.mkdir()
    for name in ("w.db", "w-models"):
        (home / name).rename(moved / name)
    with Store.open(moved / "w.db") as store:
        assert identifier_for(store, "svm-2").name == "svm-2"
