"""`formats` and `keys` say what the registries say."""

import json
import re
from collections.abc import Callable

import pytest
from click.testing import Result

from nfh_db.formats.base import What
from nfh_db.formats.registry import by_name, formats, readable, writable
from nfh_tui.actions import ACTIONS
from nfh_tui.cli import workbench
from nfh_tui.cli.options import Failure
from nfh_tui.cli.report import WIDTH

Call = Callable[..., Result]


def test_formats_lists_each_with_its_direction(call: Call) -> None:
    lines = call("formats").output.splitlines()
    for format_ in formats():
        (line,) = (line for line in lines if line.split()[:1] == [format_.name])
        assert ("in, out" in line) is format_.writable
        assert all(ending in line for ending in format_.extensions)
        assert len(line) <= WIDTH
    assert lines.index("Annotations") < lines.index("Dialogs without labels")


@pytest.mark.parametrize("name", readable())
def test_one_format_is_told_whole(call: Call, name: str) -> None:
    text = call("formats", name).output
    format_ = by_name(name)
    assert text.startswith(f"{name}  (")
    assert format_.example in text
    words = " ".join(text.split())
    assert " ".join(format_.description.split()) in words
    assert all(f"--{setting}" in text for setting in format_.settings)
    if format_.holds:
        assert all(what in words for what in What)


def test_a_format_that_is_unknown_is_a_wrong_call(call: Call) -> None:
    result = call("formats", "wordperfect")
    assert result.exit_code == 2
    assert "There is no format wordperfect; there are nfh, " in result.stderr


def test_formats_as_json_is_one_object(call: Call) -> None:
    listed = json.loads(call("formats", "--json").output)["formats"]
    assert [one["name"] for one in listed] == list(readable())
    assert {one["name"] for one in listed if one["export"]} == set(writable())
    assert all(one["import"] and one["installed"] for one in listed)
    gold = next(one for one in listed if one["name"] == "gold")
    assert set(gold["holds"].values()) == {"own"}


def test_keys_lists_every_key_under_its_group(call: Call) -> None:
    text = call("keys").output
    for action in ACTIONS:
        assert action.group in text
        if action.keys:
            assert (action.listed or action.title) in text


def test_keys_as_json_is_one_object_with_every_act(call: Call) -> None:
    listed = json.loads(call("keys", "--json").output)["keys"]
    assert [one["id"] for one in listed] == [action.id for action in ACTIONS]
    assert all({"group", "keys", "title", "description"} <= one.keys() for one in listed)


@pytest.mark.parametrize(("term", "why"), [("dumb", "TERM is dumb"), ("", "TERM is not set")])
def test_a_terminal_that_cannot_draw_is_named(
    monkeypatch: pytest.MonkeyPatch, term: str, why: str
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(workbench.sys, "stdin", _Terminal())
    monkeypatch.setattr(workbench.sys, "stdout", _Terminal())
    with pytest.raises(Failure, match=re.escape(f"cannot draw screens ({why})")):
        workbench._need_terminal()


class _Terminal:
    def isatty(self) -> bool:
        return True
