"""Damaged files of every format: a refusal in a sentence, or rows that can be stored."""

import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from nfh_db.errors import FormatError, StoreError
from nfh_db.formats.registry import by_name, formats
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_tui.services.imports import export_file
from tests.conftest import LONG
from tests.nfh_db.formats.damage import damage_folder, damaged
from tests.nfh_db.formats.random_records import random_records
from tests.nfh_db.formats.round_trip import hostile_corpus, imported

FILES = 12 if LONG else 4
"""Damaged files of each format; more of them are fed by hand."""

SAMPLES: dict[str, tuple[str, str]] = {
    "nfh-ident": (".tsv", "text\tind_s\tind_e\ty\nNo_SEP_three_SEP_.\t1\t2\t1\n"),
    "dialog": (".txt", "Ann: Two tickets?\nBen: No, three.\n\nOne more.\n"),
    "table": (".csv", 'speaker,text\nAnn,"Two, please"\nBen,"No,\nthree"\n'),
    "convokit": (
        ".jsonl",
        '{"id":"1","speaker":"Ann","conversation_id":"1","text":"Two?","reply-to":null}\n'
        '{"id":"2","speaker":"Ben","conversation_id":"1","text":"three","reply-to":"1"}\n',
    ),
    "subrip": (
        ".srt",
        "1\n00:00:01,000 --> 00:00:02,500\n- Two?\n- <i>three</i>\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\nBEN: One more.\n",
    ),
    "webvtt": (
        ".vtt",
        "WEBVTT\n\n00:01.000 --> 00:02.500\n<v Ann>Two?</v>\n\n"
        "00:03.000 --> 00:04.000\n<v Ben>three\n",
    ),
    "fountain": (".fountain", "INT. BAR - DAY\n\nANN\nTwo?\n\nBEN (V.O.)\n(low)\nthree\n"),
    "chat": (
        ".cha",
        "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tMOT Mother, CHI Child\n"
        "@ID:\teng|x|MOT|||||Mother|||\n@ID:\teng|x|CHI|||||Child|||\n"
        "*MOT:\ttwo more ?\n*CHI:\tno three . \x15100_200\x15\n@End\n",
    ),
}
"""A file of each format that is only read: its suffix and what stands in it."""

NAMES = [f.name for f in formats() if f.writable or f.name in SAMPLES]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of a few items of all kinds."""
    folder = tmp_path_factory.mktemp("given")
    corpus = hostile_corpus(folder / "given.jsonl", random_records(7, 8))
    with Store.open(folder / "given.db", create=True) as opened:
        imported(opened, corpus, "gold")
        yield opened


def good(store: Store, name: str, folder: Path) -> Path:
    """A file or folder of a format that can be read."""
    if name in SAMPLES:
        suffix, content = SAMPLES[name]
        path = folder / f"good{suffix}"
        path.write_bytes(content.encode("utf-8"))
        return path
    format_ = by_name(name)
    path = folder / ("good" if format_.members else f"good{format_.extensions[0]}")
    export_file(store, parse(""), format_, path)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_told_or_does_no_harm(store: Store, tmp_path: Path, name: str) -> None:
    path = good(store, name, tmp_path)
    feed(name, path, tmp_path, range(FILES))


def feed(name: str, path: Path, folder: Path, numbers: range) -> None:
    """Import damaged copies of a file into one store, by name or as what they look like."""
    with Store.open(folder / "fed.db", create=True) as fed:
        for number in numbers:
            random = Random(f"{name} {number}")
            copy = folder / f"bad{number}{path.suffix}"
            if path.is_dir():
                shutil.copytree(path, copy)
                damage_folder(random, copy)
            else:
                copy.write_bytes(damaged(random, path.read_bytes()))
            try:
                imported(fed, copy, name if random.random() < 0.8 else None)
            except FormatError as error:
                assert copy.name in str(error)
                # Spaces of any width stay; Python calls only one of them printable.
                told = [one for one in str(error) if unicodedata.category(one) != "Zs"]
                assert "".join(told).isprintable()
            except StoreError:
                pass  # as of a name that is a model's in this store
            except Exception as error:
                raise AssertionError(f"{name}, file {number}: {error!r}") from error
            shutil.rmtree(copy) if copy.is_dir() else copy.unlink()


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_nothing_is_told(tmp_path: Path, name: str) -> None:
    """Empty, white space, NUL bytes; an empty folder."""
    format_ = by_name(name)
    suffix = format_.extensions[0] if format_.extensions else ""
    with Store.open(tmp_path / "fed.db", create=True) as fed:
        for number, content in enumerate(
            (b"", b" \n\n", b"\0" * 99, b"PK\x03\x04", b"{", b"[")
        ):
            path = tmp_path / f"{number}{suffix}"
            path.write_bytes(content)
            if name == "dialog" and content[:1] in (b"{", b"[", b"P"):
                continue  # which is text
            with pytest.raises((FormatError, StoreError)):
                imported(fed, path, name)


FOOTERS = """
import io, sys
from pathlib import Path
from nfh_db.errors import FormatError
from nfh_db.formats.files import FileOrigin
from nfh_db.formats.huggingface import ParquetPart, parquet_rows

part = ParquetPart("identification")
part.add({"tokens": ["I", "have", "two"], "start_index": 2, "end_index": 3, "label": 1})
part.close()
part.file.seek(0)
whole = part.file.read()
footer = int.from_bytes(whole[-8:-4], "little")
for at in range(len(whole) - 8 - footer, len(whole)):
    for change in (1, 2, 16, 255):
        raw = bytearray(whole)
        raw[at] ^= change
        try:
            list(parquet_rows(FileOrigin(Path("bad.parquet")), io.BytesIO(raw)))
        except FormatError as error:
            assert str(error).isprintable()
print("alive")
"""


@pytest.mark.long
def test_no_byte_of_a_parquet_footer_ends_the_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FOOTERS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
