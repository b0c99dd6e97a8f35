"""The schema as committed, every statement of the store, and how light the store is."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

import nfh_db
from nfh_db import guidelines, schema
from nfh_db.connection import Connection
from nfh_db.database import open_writer
from nfh_db.passages import COLLECTED_WORDS

FIRST_WORDS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
NOT_FOR_SCREENS = ("sqlite_utils", "numpy", "spacy", "simplemma", "textual", "sqlite3", "click")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """An empty schema; nobody writes to it."""
    writer = open_writer(tmp_path_factory.mktemp("schema") / "nfh.db", create=True)
    writer.execute(COLLECTED_WORDS)
    yield writer
    writer.close()


def test_the_committed_schema_is_what_the_migrations_build() -> None:
    committed = files("nfh_db").joinpath("schema.sql").read_text(encoding="utf-8")
    assert committed == schema.text(), (
        "schema.sql is out of date: run `python -m nfh_db.schema`"
    )


OTHER_TABLES = ("nfh_db.comparisons", "nfh_db.schema")
"""Modules whose statements work on a passing file with tables of its own, or on the tables of
an earlier schema."""


def statements() -> Iterator[tuple[str, str]]:
    """Every constant of the store that is a whole statement, by module and name."""
    for module in pkgutil.iter_modules(nfh_db.__path__, "nfh_db."):
        if module.ispkg or module.name in OTHER_TABLES:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if not name.isupper():
                continue
            for number, text in enumerate(value if isinstance(value, tuple) else (value,)):
                if isinstance(text, str) and text.strip().startswith(FIRST_WORDS):
                    yield f"{module.name}.{name}[{number}]", text


FOUND = dict(statements())


@pytest.mark.parametrize("name", sorted(FOUND))
def test_every_statement_fits_the_schema(empty: Connection, name: str) -> None:
    text = FOUND[name]
    for place, part in (
        ("{where}", "TRUE"),
        ("{order}", "a.id"),
        ("{visible}", "TRUE"),
        ("{hidden}", "0"),
        ("{audited}", "0"),
        ("{own_flags}", "TRUE"),
        ("{owner}", "gold_id"),
        ("{said}", guidelines.DECISIONS),
        ("{table}", "prediction"),
    ):
        text = text.replace(place, part)
    names = {word.strip("(),;") for word in text.replace("(", " ( ").split()}
    parameters = {
        word[1:].rstrip("),;"): None for word in names if word.startswith(":") and len(word) > 1
    }
    empty.execute(f"EXPLAIN {text}", parameters).fetchall()
    assert "?" not in text


def test_the_statements_were_found() -> None:
    assert len(FOUND) > 80


def test_the_store_is_light() -> None:
    code = (
        "import json, sys; import nfh_db.store;"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    # Coverage itself loads sqlite3.
    own = {name: value for name, value in os.environ.items() if "COVERAGE" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=own
    )
    assert not set(json.loads(done.stdout)) & set(NOT_FOR_SCREENS)


def test_making_and_opening_a_database_is_light(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from nfh_db.store import Store;"
        "Store.open(Path(sys.argv[1]), create=True).close();"
        "Store.open(Path(sys.argv[1])).close();"
        "sys.exit('sqlite_utils' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
