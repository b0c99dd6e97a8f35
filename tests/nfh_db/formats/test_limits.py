"""Files that unpack to far more than they are: refused in memory that would not suffice.

They are read in processes of their own (`limited.py`), which may grow by 300 MB.
"""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from nfh_db.errors import FormatError
from nfh_db.formats import gold
from nfh_db.formats.files import Binary, Source
from nfh_db.formats.registry import opened, reading
from tests.nfh_db.formats import bombs

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only"),
]

Make = Callable[[Path], Path]


def outcomes(name: str, bombs_: Mapping[str, Make], folder: Path, suffix: str) -> list[str]:
    """What a reader says of each file in little memory, where the content has to tell the
    format, too.
    """
    paths = [make(folder / f"{bomb}{suffix}") for bomb, make in bombs_.items()]
    assert all(path.stat().st_size < 48 * bombs.MB for path in paths)
    script = Path(__file__).with_name("limited.py")
    done = subprocess.run(
        [sys.executable, str(script), name, str(bombs.honest(folder, name)), *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "MALLOC_ARENA_MAX": "1",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-2000:])
    said: list[str] = done.stdout.splitlines()
    assert len(said) == len(paths)
    return said


def check(name: str, told: Mapping[str, tuple[Make, str]], folder: Path, suffix: str) -> None:
    """Each of the files is refused in a sentence that names it, and says this."""
    made = {bomb: make for bomb, (make, _) in told.items()}
    said = outcomes(name, made, folder, suffix)
    for line, (bomb, (_, says)) in zip(said, told.items(), strict=True):
        assert f"{bomb}{suffix}" in line, line
        assert says in line, (bomb, line)


DOCBIN = {
    "zeros": (bombs.zeros, "bytes packed in"),
    "lists": (bombs.lists, "has 30,000,0"),
    "docs": (bombs.docs, "has 10,000,000 Docs; wanted at most 100,000: split it"),
    "tokens": (bombs.tokens, "Doc 1 has 5,000,000 tokens; wanted at most 1,000,000: split it"),
    "word": (bombs.word, "Doc 1: has 104,857,700,000 characters; wanted at most"),
    "claims": (bombs.claims, "values or more; wanted at most 1,000,000"),
    "outside": (bombs.claims_outside, "values or more; wanted at most 1,000,000"),
    "passages": (bombs.passages, "Doc 256: unpacks to 268,435,7"),
    "spans": (bombs.spans, 'doc.spans["nfh"] has'),
    "overlapping": (bombs.overlapping, "a Doc has a negative number of tokens"),
}


@pytest.mark.long
def test_docbin(tmp_path: Path) -> None:
    check("docbin", DOCBIN, tmp_path, ".spacy")


PARQUET = {
    "repeated": (bombs.repeated, "column tokens.list.element: has 30,000,000 values or more"),
    "lying": (bombs.lying, "column tokens.list.element: has 30,000,000 values or more"),
    "long": (bombs.long_word, "unpacks to 10,485,7"),
    "row": (bombs.row, "the row would take 104,8"),
    "prefixes": (bombs.prefixes, "DELTA_BYTE_ARRAY"),
    "rows": (bombs.rows, "unpacks to 6,000,019,2"),
    "page": (bombs.page, "a page has 209,715,2"),
    "nested": (bombs.nested, "column tokens: found list<"),
}


@pytest.mark.long
def test_parquet(tmp_path: Path) -> None:
    check("hf-parquet", PARQUET, tmp_path, ".parquet")


def test_parquet_of_a_passage_in_each_row_of_its_numbers(tmp_path: Path) -> None:
    """An honest file may be packed more than 100 times: it names each word once."""
    path = tmp_path / "x.parquet"
    page = bombs.PAGE | {"tokens": [["three", "x"] * 2_500]}
    row = {name: column[0] for name, column in page.items()}
    parquet.write_table(pa.Table.from_pylist([row] * 60), path, compression="zstd")
    assert 150 * path.stat().st_size < 60 * 5_000 * 7
    found = opened(path, "hf-parquet")
    assert sum(1 for _ in found.format.read(found.source, reading())) == 60


def zipped(members: dict[str, bytes | int], method: int = zipfile.ZIP_DEFLATED) -> Make:
    """Makes such a zip file."""
    return lambda path: bombs.zipped(path, members, method)


CORPUS = bombs.CORPUS


UNREAD = "packed by a method that is not read"
CONVOKIT = {
    "large": (zipped({**CORPUS, "speakers.json": 400 * bombs.MB}), "unpacks to 419,430,"),
    "bzip2": (zipped({**CORPUS, "big": 100 * bombs.MB}, zipfile.ZIP_BZIP2), f"{UNREAD} (12)"),
    "lzma": (zipped({**CORPUS, "big": 100 * bombs.MB}, zipfile.ZIP_LZMA), f"{UNREAD} (14)"),
    "lists": (
        zipped({**CORPUS, "speakers.json": bombs.brackets(20_000_000)}),
        "speakers.json: has 20,000,002 lists and objects; wanted at most 1,000,000",
    ),
    "members": (bombs.many_members, "has a list of members of 49,000,000 bytes"),
}


@pytest.mark.long
def test_zip(tmp_path: Path) -> None:
    check("convokit", CONVOKIT, tmp_path, ".zip")


def test_zip_of_documents(tmp_path: Path) -> None:
    members: dict[str, bytes | int] = {"a.txt": 70 * bombs.MB, "a.ann": b"", "b.txt": b"x"}
    lines = b"\n" * (12 * bombs.MB)
    told = {
        "large": (zipped(members), "unpacks to 73,400,321 bytes from"),
        "ann": (zipped({"a.txt": b"x", "a.ann": lines}), "a.ann: has 12,582,912 lines; wanted"),
        "txt": (zipped({"a.txt": lines, "a.ann": b""}), "a.txt: has 12,582,912 lines; wanted"),
    }
    check("brat", told, tmp_path, ".zip")


def gzipped(start: bytes, mark: bytes) -> Make:
    """Makes such a gzip file, of 400 MB."""
    return lambda path: bombs.gzipped(path, start, 400, mark)


@pytest.mark.long
def test_word_vectors(tmp_path: Path) -> None:
    starts = {"none": b"", "word2vec": b"2 2\n", "glove": b"three 1 2\n"}
    told = {name: (gzipped(start, b"x"), "") for name, start in starts.items()}
    check("vectors", told, tmp_path, ".gz")


@pytest.mark.long
def test_scanned_text_is_read_to_its_end(tmp_path: Path) -> None:
    marks = {"letter": b"x", "space": b" ", "line": b"\n"}
    made = {name: gzipped(b"No, three.\n", mark) for name, mark in marks.items()}
    assert all(int(line) > 1_000 for line in outcomes("scan", made, tmp_path, ".gz"))


def test_a_file_with_holes_is_not_read_as_a_whole(tmp_path: Path) -> None:
    """It takes no room on the disk, and would take a terabyte of memory."""
    path = tmp_path / "large.spacy"
    path.touch()
    os.truncate(path, 300 * bombs.MB)
    with pytest.raises(FormatError, match=r"has 314,572,800 bytes; wanted at most 268,435,456"):
        Binary(path).content()


def test_a_line_of_json_holds_no_more_lists_than_may_be_held(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"format": "nfh-gold/1", "offsets": [' + b"[]," * 1_100_000 + b"0]}\n")
    with pytest.raises(FormatError, match=r"has 1,100,002 lists and objects; wanted at most"):
        list(gold.read(Source(path)))
