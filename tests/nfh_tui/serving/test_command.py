"""`nfh-tui serve`: what it prints, and what it refuses in a sentence."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.store import Store
from nfh_tui.serving.access import Guest
from nfh_tui.serving.server import Service
from nfh_tui.serving.visit import command

Call = Callable[..., Result]


@pytest.fixture(autouse=True)
def not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends where the server would begin to answer."""
    monkeypatch.setattr(Service, "run", lambda self: None)


@pytest.fixture
def database(home: Path, call: Call) -> Path:
    """An empty database."""
    call("init", "--db", "some.db")
    return home / "some.db"


def test_one_link_each_with_a_token_of_its_own(call: Call, database: Path) -> None:
    names = ["--invite", "ann", "--invite", "eva b", "--adjudicator", "joe"]
    done = call("serve", *names, "--port", "0", "--db", database, "--json")
    told = json.loads(done.stdout)
    assert told["database"] == str(database)
    assert [(one["name"], one["mode"]) for one in told["links"]] == [
        ("ann", "annotate"),
        ("eva b", "annotate"),
        ("joe", "adjudicate"),
    ]
    urls = [one["url"] for one in told["links"]]
    assert len({url.partition("token=")[2] for url in urls}) == 3
    assert all(url.startswith("http://127.0.0.1:") for url in urls)
    assert done.stderr == ""


def test_an_admin_is_somebody_invited_and_named_as_one(call: Call, database: Path) -> None:
    names = ("--invite", "ann", "--adjudicator", "joe", "--admin", "joe", "--port", "0")
    told = json.loads(call("serve", *names, "--db", database, "--json").stdout)
    assert [(one["name"], one["admin"]) for one in told["links"]] == [
        ("ann", False),
        ("joe", True),
    ]
    assert "joe (adjudicate, admin): http" in call("serve", *names, "--db", database).stdout
    plain, admin = (
        command(Guest("joe", "adjudicate", is_admin), database, None)
        for is_admin in (False, True)
    )
    assert set(admin) - set(plain) == {"--admin"}


def test_the_guidelines_are_there_before_the_first_guest(call: Call, database: Path) -> None:
    call("serve", "--invite", "ann", "--mode", "browse", "--port", "0", "--db", database)
    with Store.open_read_only(database, "to look") as store:
        assert store.guidelines.read() is not None


def test_links_are_printed_and_name_the_proxy(call: Call, database: Path) -> None:
    public = ("--public-url", "https://nfh.example.org/", "--mode", "browse", "-state:decided")
    done = call("serve", "--invite", "ann", "--port", "0", "--db", database, *public)
    assert done.stdout.startswith("ann (browse): https://nfh.example.org/enter?token=")
    assert "A link identifies its person" in done.stderr
    assert "encrypted" not in done.stderr


def test_a_host_for_others_is_warned_of(call: Call, database: Path) -> None:
    args = ("serve", "--invite", "ann", "--port", "0", "--db", database)
    assert "the connection is not encrypted" in call(*args, "--host", "0.0.0.0").stderr
    assert "encrypted" not in call(*args).stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Nobody is invited"),
        (("--invite", "ann", "--adjudicator", " ann"), "invited twice"),
        (("--invite", "ann", "--admin", "joe"), "'joe' is not invited"),
        (("--admin", "joe"), "Nobody is invited"),
        (("--invite", " "), "wanted a name"),
        (("--invite", "a\x1b"), "wanted a name"),
        (("--invite", "ann", "--public-url", "nfh.example.org"), "wanted an address"),
        (("--invite", "ann", "state:nonsense"), "state"),
        (("--invite", "ann", "--port", "70000"), "70000"),
    ],
)
def test_a_wrong_call_is_refused(
    call: Call, database: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = call("serve", "--db", database, *arguments)
    assert done.exit_code == 2
    assert says in done.stderr


def test_no_database_is_said_and_none_is_made(call: Call, home: Path) -> None:
    done = call("serve", "--invite", "ann", "--port", "0", "--db", "none.db")
    assert done.exit_code == 1
    assert "none.db" in done.stderr
    assert not (home / "none.db").exists()


def test_a_port_in_use_is_said(call: Call, database: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = call("serve", "--invite", "ann", "--port", port, "--db", database)
    assert done.exit_code == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert "--port" in done.stderr


def test_without_the_extra_a_sentence_says_how_to_get_it(database: Path) -> None:
    program = """
import sys
sys.modules["textual_serve"] = None
sys.argv = ["nfh-tui", "serve", "--invite", "ann", "--db", sys.argv[1]]
from nfh_tui.__main__ import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(database)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "pip install 'nfh-tui[serve]'" in done.stderr
    assert "Traceback" not in done.stderr
