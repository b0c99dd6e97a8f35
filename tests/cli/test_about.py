"""`formats` and `keys` say what the registries say."""

import json
import re
from collections.abc import Callable

import pytest
from click.testing import Result

from nfh_db.formats.registry import FORMATS
from nfh_tui.actions import ACTIONS
from nfh_tui.cli import workbench
from nfh_tui.cli.common import Failure

Call = Callable[..., Result]


def test_formats_lists_each_with_direction_and_example(call: Call) -> None:
    text = call("formats").output
    for format_ in FORMATS:
        assert f"{format_.name}  (" in text
        assert format_.example in text
        assert format_.description in text
    assert "nfh-ident  (.tsv; import only)" in text


def test_formats_as_json_is_one_object(call: Call) -> None:
    listed = json.loads(call("formats", "--json").output)["formats"]
    assert [one["name"] for one in listed] == ["nfh", "nfh-ident", "dialog", "gold", "amt"]
    assert [one["export"] for one in listed] == [True, False, False, True, False]
    assert all(one["import"] for one in listed)


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
