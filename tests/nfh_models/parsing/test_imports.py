"""Importing the models loads no framework: the screen's process could not afford one."""

import subprocess
import sys

import pytest

FRAMEWORKS = (
    "spacy thinc simplemma numpy scipy sklearn torch stanza transformers safetensors textual "
    "rich click pysqlite3 sqlite_utils"
).split()

LIST_MODULES = "import sys, {module}; print(*sorted(sys.modules))"


@pytest.mark.parametrize(
    "module",
    [
        "nfh_models",
        "nfh_models.domain",
        "nfh_models.text",
        "nfh_models.text.numbers",
        "nfh_models.text.tokens",
        "nfh_models.text.tokens",
        "nfh_models.parsing",
        "nfh_models.resolution.base",
        "nfh_tui.jobs.protocol",
        "nfh_tui.services.predictor_client",
    ],
)
def test_loads_no_framework(module: str) -> None:
    listed = subprocess.run(
        [sys.executable, "-c", LIST_MODULES.format(module=module)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert module in listed
    assert sorted({name.split(".")[0] for name in listed} & set(FRAMEWORKS)) == []


def test_the_predictor_loads_no_screen() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", LIST_MODULES.format(module="nfh_tui.jobs.predictor")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    loaded = {name.split(".")[0] for name in listed}
    assert "nfh_db" in loaded
    assert loaded.isdisjoint({"textual", "rich", "click"})
