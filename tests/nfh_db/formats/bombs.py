"""Small files that say they are large, and small honest files of the same kinds."""

import gzip
import io
import struct
import zipfile
import zlib
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import spacy
from pyarrow import parquet
from spacy.tokens import DocBin

MB = 1 << 20
PAGE = {"tokens": [["No", "three"]], "start_index": [1], "end_index": [2], "label": [1]}


# --- DocBin ---------------------------------------------------------------------------------


def docbin(path: Path, **parts: object) -> Path:
    """A .spacy file of one Doc whose msgpack has other parts than it should have."""
    made = DocBin(store_user_data=True)
    made.add(spacy.blank("en")("No, three."))
    whole = msgspec.msgpack.decode(zlib.decompress(made.to_bytes()))
    packed = zlib.compressobj()
    spelled = [bytes([0x80 + len(whole)])]
    for key, value in whole.items():
        part = parts.get(key, value)
        raw = part.raw if isinstance(part, Raw) else msgspec.msgpack.encode(part)
        spelled += [msgspec.msgpack.encode(key), raw]
    with path.open("wb") as file:
        for one in spelled:
            file.write(packed.compress(one))
        file.write(packed.flush())
    return path


class Raw:
    """Msgpack that stands for a value."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw


def zeros(path: Path) -> Path:
    """Two million words that are none, each as 64 bits, a hundred times."""
    return docbin(path, tokens=bytes(400 * MB))


def lists(path: Path) -> Path:
    """Thirty million empty lists among the strings."""
    count = 30_000_000
    return docbin(path, strings=Raw(b"\xdd" + struct.pack(">I", count) + b"\x90" * count))


def docs(path: Path) -> Path:
    """Ten million Docs without a token."""
    return docbin(path, lengths=bytes(4 * 10_000_000))


def tokens(path: Path) -> Path:
    """One Doc of five million tokens."""
    count = 5_000_000
    return docbin(
        path,
        attrs=[65],
        tokens=bytes(8 * count),
        spaces=bytes(count),
        lengths=struct.pack("<i", count),
    )


def word(path: Path) -> Path:
    """A word of a megabyte, a hundred thousand times."""
    text = "x" * MB
    count = 100_000
    key = spacy.blank("en").vocab.strings.add(text)
    return docbin(
        path,
        attrs=[65],
        strings=[text],
        tokens=np.full(count, key, "<u8").tobytes(),
        spaces=bytes(count),
        lengths=struct.pack("<i", count),
    )


def claims(path: Path) -> Path:
    """Lists in lists that each claim a million items, in what goes along with a Doc."""
    nested = (b"\xdd" + struct.pack(">I", MB)) * 500
    return docbin(path, user_data=[nested + bytes(2 * MB)])


def claims_outside(path: Path) -> Path:
    """The same among the strings."""
    nested = (b"\xdd" + struct.pack(">I", MB)) * 500
    return docbin(path, strings=Raw(nested + bytes(2 * MB)))


def passages(path: Path) -> Path:
    """400 Docs of one word, of a megabyte, which stands once in the file."""
    text = "x" * MB
    count = 400
    key = spacy.blank("en").vocab.strings.add(text)
    return docbin(
        path,
        attrs=[65],
        strings=[text],
        tokens=np.full(count, key, "<u8").tobytes(),
        spaces=bytes(count),
        lengths=struct.pack("<i", 1) * count,
        cats=[{}] * count,
        flags=[{}] * count,
        user_data=[b"\x90"] * count,
        span_groups=[b""] * count,
    )


def spans(path: Path) -> Path:
    """A hundred thousand numbers that each are the whole text, of a hundred thousand words."""
    doc = spacy.blank("en")("three " * 20_000)
    doc.spans["nfh"] = [doc[:] for _ in range(20_000)]
    made = DocBin()
    made.add(doc)
    made.to_disk(path)
    return path


def overlapping(path: Path) -> Path:
    """Docs that begin before the one before them ends."""
    return docbin(path, lengths=struct.pack("<4i", 4, -4, 4, 0))


# --- Parquet --------------------------------------------------------------------------------


def _repeated(words: list[str], count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int8)), pa.array(words))


def _table(tokens_: pa.Array) -> pa.Table:
    numbers = pa.array(np.zeros(len(tokens_), np.int32))
    return pa.table(
        {"tokens": tokens_, "start_index": numbers, "end_index": numbers, "label": numbers}
    )


def repeated(path: Path) -> Path:
    """A row of 30 million words."""
    count = 30_000_000
    words = pa.ListArray.from_arrays(
        pa.array([0, count], pa.int32()), _repeated(["x" * 10], count)
    )
    parquet.write_table(_table(words), path, compression="zstd")
    return path


def lying(path: Path) -> Path:
    """The same, and the footer says that it is a tenth of that."""
    repeated(path)
    content = path.read_bytes()
    length = struct.unpack("<I", content[-8:-4])[0]
    footer = content[-8 - length :]
    said, less = _varint(2 * 30_000_000), _varint(2 * 3_000_000)
    assert len(said) == len(less)
    assert said in footer
    path.write_bytes(content[: -8 - length] + footer.replace(said, less))
    return path


def _varint(number: int) -> bytes:
    found = []
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def long_word(path: Path) -> Path:
    """A word of ten megabytes, ten times in each of a hundred rows."""
    words = pa.ListArray.from_arrays(
        pa.array(np.arange(0, 1001, 10, dtype=np.int32)), _repeated(["x" * 10 * MB], 1000)
    )
    parquet.write_table(
        _table(words), path, compression="zstd", dictionary_pagesize_limit=32 * MB
    )
    return path


def row(path: Path) -> Path:
    """A row of 100 times one word, of a megabyte."""
    words = pa.ListArray.from_arrays(pa.array([0, 100], pa.int32()), _repeated(["x" * MB], 100))
    parquet.write_table(_table(words), path, compression="zstd")
    return path


def rows(path: Path) -> Path:
    """600 rows of one word, of 10 MB, which stands once in the file."""
    count = 600
    words = _repeated(["one " * 2_500_000], count)
    lists_ = pa.ListArray.from_arrays(pa.array(range(count + 1), pa.int32()), words)
    parquet.write_table(_table(lists_), path, compression="zstd")
    return path


def prefixes(path: Path) -> Path:
    """Words that say of how much they are the same as the one before."""
    words = pa.array([["x" * 10_000] * 10_000], pa.list_(pa.string()))
    parquet.write_table(
        _table(words),
        path,
        compression="zstd",
        use_dictionary=False,
        column_encoding={"tokens.list.element": "DELTA_BYTE_ARRAY"},
    )
    return path


def page(path: Path) -> Path:
    """A page of 200 MB in a few KB."""
    words = pa.array([["x" * 200 * MB]], pa.list_(pa.string()))
    parquet.write_table(_table(words), path, compression="zstd", use_dictionary=False)
    return path


def nested(path: Path) -> Path:
    """Lists in lists."""
    table = pa.table({**PAGE, "tokens": [[["No"], ["three"]]]})
    parquet.write_table(table, path)
    return path


# --- zip ------------------------------------------------------------------------------------


def zipped(
    path: Path, members: dict[str, bytes | int], method: int = zipfile.ZIP_DEFLATED
) -> Path:
    """A zip file; a member's number stands for so many bytes, all alike."""
    with zipfile.ZipFile(path, "w", method) as packed:
        for name, content in members.items():
            with packed.open(name, "w", force_zip64=True) as file:
                if isinstance(content, bytes):
                    file.write(content)
                    continue
                for _ in range(content // MB):
                    file.write(b"x" * MB)
    return path


def many_members(path: Path) -> Path:
    """A zip file whose directory is all there is of it: a million members."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, *[0] * 7, 3, *[0] * 6) + b"a.b"
    start = b"PK\3\4" + bytes(26)
    directory = entry * 1_000_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, len(directory), len(start), 0)
    path.write_bytes(start + directory + end)
    return path


# --- gzip -----------------------------------------------------------------------------------


def gzipped(path: Path, start: bytes, megabytes: int, mark: bytes = b"x") -> Path:
    """A text that begins so, and goes on for so long with one character."""
    with gzip.open(path, "wb", 1) as file:
        file.write(start)
        for _ in range(megabytes):
            file.write(mark * MB)
    return path


# --- honest ones ----------------------------------------------------------------------------


def honest(folder: Path, name: str) -> Path:
    """A small file that the reader takes."""
    if name == "docbin":
        return docbin(folder / "small.spacy")
    if name == "hf-parquet":
        path = folder / "small.parquet"
        parquet.write_table(pa.table(PAGE), path)
        return path
    if name == "convokit":
        return zipped(folder / "small.zip", CORPUS)
    if name == "brat":
        return zipped(folder / "small.zip", {"a.txt": b"No, three.", "a.ann": b""})
    if name in ("vectors", "scan"):
        path = folder / "small.txt.gz"
        path.write_bytes(gzip.compress(b"three 1 2\nfour 1 2\n"))
        return path
    raise KeyError(name)


UTTERANCE = (
    b'{"id": "k1", "speaker": "Ben", "conversation_id": "k1", "reply-to": null, '
    b'"timestamp": null, "text": "No, three.", "meta": {}}\n'
)
CORPUS: dict[str, bytes | int] = {"utterances.jsonl": UTTERANCE, "speakers.json": b"{}"}


def brackets(count: int) -> bytes:
    """JSON with so many lists in it."""
    file = io.BytesIO(b'{"a": [')
    file.seek(0, io.SEEK_END)
    file.write(b"[]," * count + b"0]}")
    return file.getvalue()
