"""Names that would steer a terminal, or be taken for markup, are shown and steer nothing."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.messages import lines_visible, quoted
from nfh_db.models import NewModel
from nfh_db.store import Store
from nfh_models.identification.svm import Svm, SvmSettings, save_svm
from nfh_tui.cli import report
from nfh_tui.cli.main import COMMANDS
from nfh_tui.cli.report import Steps
from nfh_tui.sample import corpus_path
from nfh_tui.services.models import models_folder, stored_path

Call = Callable[..., Result]

EVIL = "\x1b[31m\x9b2J\x07[red]\r"
"""What no terminal may be given, in a name. A file's may have a line's end besides."""

FILE = f"{EVIL}\n'x"


def steers(text: str) -> list[str]:
    """The characters of an output that a terminal would obey."""
    return [one for one in text if one != "\n" and (ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0)]


@pytest.fixture
def folder(home: Path) -> Path:
    """One of such a name, with a database of such a name."""
    made = home / f"d{FILE}"
    made.mkdir()
    return made


@pytest.fixture
def db(folder: Path, call: Call) -> Path:
    """A database in which everything that has a name has one of these."""
    path = folder / f"w{FILE}.db"
    source = folder / f"c{FILE}.jsonl"
    shutil.copy(corpus_path(), source)
    assert call("import", "--db", path, source).exit_code == 0
    svm = Svm(SvmSettings(), ["anchor=two"], np.array([1.5]), 0.25, "a parser 1")
    with Store.open(path) as store:
        for name in ("svm-1", "svm-2"):
            digest = save_svm(svm, models_folder(path) / name)
            job = store.jobs.begin("identification", {"set": [EVIL]})
            new = NewModel(
                name,
                "identification",
                "svm",
                svm.version,
                stored_path(path, models_folder(path) / name),
                digest,
                config={EVIL: EVIL, "learnt": [EVIL]},
                metrics={"left_out": {EVIL: 1}, "judged_on": EVIL, "dev_examples": 3},
                verdict={"verdict": f"better{EVIL}", "reason": EVIL, "on": EVIL},
            )
            store.jobs.finish_training(job, new)
    connection = connect(path, "rw")
    for statement in (
        "UPDATE annotator SET name = name || :evil",
        "UPDATE model SET name = name || :evil, recipe = recipe || :evil WHERE recipe = 'svm'",
        "UPDATE model SET version = :evil, created_at = created_at || :evil",
        "UPDATE job SET error = :evil, kind = kind",
        "UPDATE document SET name = name || :evil",
        "UPDATE source_row SET split = split || :evil",
    ):
        try:
            connection.execute(statement, {"evil": EVIL})
        except Exception as error:  # a table that keeps its names by a rule  # noqa: BLE001
            assert "constraint" in str(error).lower(), error
    connection.close()
    return path


CALLS: tuple[tuple[str, ...], ...] = (
    ("init",), ("import", "FILE"), ("import", "--format", "gold", "FILE"), ("import", "GONE"),
    ("export", "--format", "gold", "--out", "OUT"), ("export", "--format", "nfh", "GONE"),
    ("release", "OUT"), ("diff", "DB", "FILE"), ("identify", "--dry-run"), ("identify",),
    ("predict",), ("predict", "--file", "FILE"), ("predict", "--file", "GONE"),
    ("retrain", "identification", "--set", EVIL), ("evaluate", "identification"),
    ("evaluate", "identification", "--model", "GONE"),
    ("evaluate", "resolution", "--file", "FILE"),
    ("jobs",), ("jobs", "--all"), ("jobs", "show", "1"), ("jobs", "log", "1"),
    ("jobs", "wait", "1"), ("jobs", "cancel", "1"), ("jobs", "run"),
    ("models",), ("models", "show", "2"), ("models", "show", "3"), ("models", "show", "GONE"),
    ("models", "activate", "2"), ("models", "activate", "GONE"), ("models", "back"),
    ("models", "history"), ("models", "compare", "2", "3"), ("doubts",),
    ("assign",), ("assign", "--to", "GONE"), ("settle", "--rule", "majority", "--dry-run"),
    ("settle", "--rule", "majority"), ("audit",), ("audit", "--draw", "3"), ("agreement",),
    ("annotators",), ("stats",), ("scan", "FILE"), ("scan", "GONE"), ("guidelines",),
    ("guidelines", "versions"), ("guidelines", "discuss", "--out", "OUT"), ("history",),
    ("people",), ("people", "add", EVIL), ("people", "rename", "ann", EVIL),
    ("people", "merge", "ann", EVIL), ("people", "merge", EVIL, "ann"), ("people", "undo"),
    ("doctor",), ("doctor", "--corpus"), ("doctor", "--repair"), ("backup", "OUT"),
    ("backup", "DB"), ("merge", "DB"), ("merge", "GONE"), ("formats",), ("formats", "GONE"),
    ("imports",), ("imports", "remove", "1", "--dry-run"), ("import", "--replace", "FILE"),
    ("keys",), ("keys", "--check"), ("browse",), ("annotate",), ("adjudicate",), ("serve",),
    ("demo",), ("jobs", "show", EVIL), ("import", "--split", EVIL, "FILE"),
    ("diff", "GONE", "DB"),
    ("models", "compare", EVIL, "2"), ("import", "--map", "GONE", "FILE"), ("keys", EVIL),
    ("export", "--format", EVIL), ("assign", "--to", "ann", f"{EVIL}:"), (EVIL,),
    ("stats", f"--{EVIL}"), ("stats", f"{EVIL}:x"),
)  # fmt: skip


@pytest.mark.long
def test_no_command_lets_a_name_steer_the_terminal(
    db: Path, folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER", f"me{EVIL}")
    places = {
        "FILE": str(folder / f"c{FILE}.jsonl"),
        "GONE": str(folder / f"gone{FILE}"),
        "DB": str(db),
    }
    told = {}
    for number, words in enumerate(CALLS):
        out = str(folder / f"out{number}{FILE}")
        arguments = [out if word == "OUT" else places.get(word, word) for word in words]
        done = call(*arguments, "--db", db) if words[0] in COMMANDS else call(*arguments)
        told[words] = done.stdout, done.stderr
        assert not isinstance(done.exception, Exception) or isinstance(
            done.exception, SystemExit
        ), (words, done.exception)
    bad = {
        words: [line for line in (out + err).split("\n") if steers(line)]
        for words, (out, err) in told.items()
        if steers(out + err)
    }
    assert not bad
    assert {words[0] for words in CALLS} >= set(COMMANDS)
    # It is seen that they are there.
    assert "␛[31m" in told["models", "show", "2"][0]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is here")
@pytest.mark.parametrize(
    "word",
    ["plain", "two words", "it's", FILE, "\\x", "\x85é\u202e", os.fsdecode(b"a\xff\x1b9"), ""],
)
def test_a_shell_reads_a_quoted_word_as_it_was(word: str) -> None:
    shown = quoted(word)
    assert shown.isprintable()
    done = subprocess.run(
        ["bash", "-c", f"printf %s {shown}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
    )
    assert os.fsdecode(done.stdout) == word


def test_what_needs_no_more_is_quoted_as_ever() -> None:
    assert all(quoted(word) == shlex.quote(word) for word in ("a", "a b", "é's"))
    assert lines_visible("a\tb\n[red]é") == "a\tb\n[red]é"
    assert lines_visible("\x1b\r\u202e") == "␛␍\\u202e"


def test_progress_on_a_terminal_shows_names_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "on_terminal", lambda: True)
    with Steps(FILE) as steps:
        steps.step(f"looking at {FILE}", 1, 2)
    said = capsys.readouterr().err.replace(report.CLEAR, "")
    assert not steers(said)
    assert "\n" not in said
    assert "␛[31m" in said
