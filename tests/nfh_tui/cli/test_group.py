"""The group of commands: its help, and what it does not load."""

import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable

import click
import pytest
from click.testing import Result

from nfh_tui.cli.main import COMMANDS

Call = Callable[..., Result]

HEAVY = ("textual", "rich", "spacy", "sqlite_utils", "torch", "sklearn", "numpy", "pysqlite3")
LIST_LOADED = """
import sys
from nfh_tui.__main__ import main
for arguments in {calls!r}:
    sys.argv = ["nfh-tui", *arguments]
    try:
        main()
    except SystemExit as error:
        status = error.code
    if status:
        break
loaded = sorted(name for name in sys.modules if name.partition(".")[0] in {heavy!r})
ours = sorted(name for name in sys.modules if name.startswith("nfh_"))
print(__import__("json").dumps([status, loaded, ours]), file=sys.stderr)
"""


POLICY = """
import os, sys
from nfh_tui.__main__ import main
sys.argv[1:] = ["--version"]
try:
    main()
except SystemExit:
    print(os.environ["OMP_WAIT_POLICY"])
"""


def loaded_by(*calls: tuple[str, ...]) -> tuple[int, list[str], list[str]]:
    """Exit status, heavy modules and our own ones after calls in one process."""
    code = LIST_LOADED.format(calls=calls, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    status, loaded, ours = json.loads(done.stderr.splitlines()[-1])
    return status, loaded, ours


def test_help_loads_no_command_and_no_framework() -> None:
    status, loaded, ours = loaded_by(("--help",))
    assert (status, loaded) == (0, [])
    assert ours == ["nfh_tui", "nfh_tui.__main__", "nfh_tui.cli", "nfh_tui.cli.main"]


def test_the_help_of_a_command_and_what_only_lists_loads_no_framework() -> None:
    """Each by itself only where all together load something."""
    helps = [(name, "--help") for name in ("init", "import", "export", "formats", "keys")]
    calls = [*helps, ("formats",), ("keys",)]
    if loaded_by(*calls)[:2] != (0, []):
        assert {one: loaded_by(one)[:2] for one in calls} == dict.fromkeys(calls, (0, []))


def test_the_threads_of_a_command_wait_asleep() -> None:
    """Unless the user says otherwise."""
    for given, policy in ({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE"):
        rest = {
            name: value for name, value in os.environ.items() if not name.startswith("OMP_")
        }
        done = subprocess.run(
            [sys.executable, "-P", "-c", POLICY],
            env=rest | given,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == policy


def test_help_lists_every_command_with_its_line(call: Call) -> None:
    text = call("--help").output
    for name, lazy in COMMANDS.items():
        assert any(
            line.split()[:1] == [name] and line.endswith(lazy.help)
            for line in text.splitlines()
        )


@pytest.mark.parametrize("name", ["init", "import", "export", "formats", "keys"])
def test_the_line_of_a_command_stands_in_the_table_alone(name: str) -> None:
    lazy = COMMANDS[name]
    command = getattr(importlib.import_module(f"nfh_tui.cli.{lazy.module}"), lazy.attribute)
    assert isinstance(command, click.Command)
    assert (command.name, command.short_help) == (name, None)


def test_every_command_takes_db_and_json() -> None:
    for name in ("init", "import", "export", "formats", "keys"):
        lazy = COMMANDS[name]
        command = getattr(importlib.import_module(f"nfh_tui.cli.{lazy.module}"), lazy.attribute)
        options = {option for parameter in command.params for option in parameter.opts}
        assert {"--db", "--json"} <= options


def test_a_wrong_command_is_a_wrong_call_and_a_close_one_is_offered(call: Call) -> None:
    result = call("improt")
    assert result.exit_code == 2
    assert "No such command 'improt'. Did you mean import?" in result.stderr
    assert result.stdout == ""


def test_a_wrong_option_is_a_wrong_call(call: Call) -> None:
    result = call("--improt")
    assert result.exit_code == 2
    assert "No such option" in result.stderr


def test_the_version_is_that_of_the_installed_package(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def version(name: str) -> str:
        asked.append(name)
        return "1.2.3"

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert call("--version").output == "nfh-tui 1.2.3\n"
    assert asked == ["nfh-tui"]
