"""Bounds that keep the screen quick to start and its files small enough to read."""

import json
import subprocess
import sys

FOREIGN = (
    "numpy",
    "spacy",
    "sklearn",
    "simplemma",
    "sqlite_utils",
    "stanza",
    "thinc",
    "torch",
    "nfh_models.parsing",
    "nfh_models.text",
    "nfh_tui.services.predictor_client",
    "textual.widgets._data_table",
    "textual.widgets._markdown",
    "textual.widgets._text_area",
)


def test_the_screen_loads_no_framework_and_no_widget_it_does_not_show_at_once():
    program = "import nfh_tui.app, sys, json; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = json.loads(run.stdout)
    assert [name for name in FOREIGN if name in loaded] == []


def test_the_registry_loads_no_screen():
    program = "import nfh_tui.actions, sys; print([m for m in sys.modules if 'textual' in m])"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert run.stdout.strip() == "[]"
