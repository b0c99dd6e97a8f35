"""`nfh-tui evaluate identification`: what is called wrongly is said before anything is read."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result


@pytest.mark.parametrize("wrong", ["c=0", "c=nan", "window=-1", "nothing=1", "nothing"])
def test_a_setting_that_cannot_be(call: Callable[..., Result], home: Path, wrong: str) -> None:
    result = call(
        "evaluate", "identification", "--file", home / "none.tsv", "--folds", 2, "--set", wrong
    )
    assert result.exit_code == 2
    assert f"{wrong!r}" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "wanted a task"),
        ((), "TASK"),
        (("identification", "--file", "a", "--split", "dev"), "measured completely"),
        (("identification", "anchor:one", "--file", "a"), "measured completely"),
        (("identification", "--format", "nfh"), "--file"),
        (("identification", "--folds", "2", "--train", "a"), "choose one"),
        (("identification", "--folds", "2", "--model", "rules"), "recipe that learns"),
        (("identification", "--folds", "1"), "--folds"),
        (("identification", "--model", "rules", "--model", "rules"), "twice"),
        (("identification", "--set", "c=2"), "--folds"),
        (("identification", "--ablation", "--model", "svm-1"), "one recipe"),
        (("identification", "--ablation", "--model", "rules", "--set", "c=2"), "not fitted"),
        (("identification", "--report", "nfh.db"), "overwrite"),
        (("identification", "--file", "a", "--report", "./a"), "overwrite"),
        (("identification", "nonsense:3"), "nonsense"),
        (("identification", "--oracle"), "--oracle is for resolution"),
        (("identification", "--baselines"), "--baselines is for resolution"),
        (("identification", "--several-heads"), "--several-heads is for resolution"),
    ],
)
def test_calls_that_are_wrong(
    call: Callable[..., Result], home: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert call("init").exit_code == 0
    result = call("evaluate", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_the_command_loads_no_framework() -> None:
    """Not for its help, nor for a call that is wrong."""
    code = "import sys, nfh_tui.cli.evaluate; print(*sys.modules)"
    listed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    loaded = {name.split(".")[0] for name in listed}
    assert loaded.isdisjoint(
        {"spacy", "torch", "sklearn", "numpy", "stanza", "textual", "rich"}
    )
