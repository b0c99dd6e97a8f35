"""Damaging valid files: what comes out is mostly wrong, and often nearly right."""

import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from typing import Any

from nfh_db.formats.gold import KEYS, seal
from nfh_db.formats.rows import runs
from nfh_models.domain import Anchor, Passage, Token, anchor_id
from soak.seeds import NASTY, SEEDS

MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\xef\xbb\xbf" * 2)
BYTES = (
    b"\0", b"\xff", b"\x80", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\r", b"\n",
    b"\r\n", b"\t", b'"', b'""', b",", b"\\", b"{", b"}", b"[", b"]", b"\x1a", b"\x1b[2J", b":",
    b"\xe2\x80\xa8", b"\xc2\x85", b"NaN", b"null", b"_SEP_", b"1e999", b"-0", b"\n\n",
)  # fmt: skip
NUMBERS = (
    0, -1, 1, 2, 7, 2**31, 2**53, 2**53 + 1, 2**63, -(2**63) - 1, 10**30, 0.5, -0.0, 1e300,
    float("inf"), float("-inf"), float("nan"), True, False,
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7", "utf-8-sig")

Json = Any
"""What JSON may hold."""

Edit = Callable[[random.Random, bytes], bytes]


def damaged(source: random.Random, name: str) -> bytes:
    """A damaged file of a format. Now and then it is not damaged at all."""
    content = SEEDS[name](source)
    structured = source.random() < 0.6
    if structured:
        content = STRUCTURED[name](source, content)
    raw = content.encode("utf-8", "surrogatepass")
    # What is wrong in its values only gets further than what is wrong in its bytes too.
    for _ in range(source.choice((0, 0, 0, 1) if structured else (0, 1, 1, 2, 4))):
        raw = source.choices(EDITS, WEIGHTS)[0](source, raw)
    return raw


# --- any bytes ----------------------------------------------------------------------------


def _place(source: random.Random, raw: bytes) -> int:
    return source.randint(0, len(raw))


def flip(source: random.Random, raw: bytes) -> bytes:
    """Some bytes become others."""
    made = bytearray(raw)
    for _ in range(source.choice((1, 1, 3, 20))):
        if made:
            made[source.randrange(len(made))] ^= 1 << source.randrange(8)
    return bytes(made)


def cut(source: random.Random, raw: bytes) -> bytes:
    """The file ends early, or starts late."""
    place = _place(source, raw)
    return raw[:place] if source.random() < 0.8 else raw[place:]


def drop(source: random.Random, raw: bytes) -> bytes:
    """A stretch is missing."""
    start = _place(source, raw)
    return raw[:start] + raw[start + source.choice((1, 2, 10, 100)) :]


def double(source: random.Random, raw: bytes) -> bytes:
    """A stretch stands there twice."""
    start, end = sorted((_place(source, raw), _place(source, raw)))
    return raw[:end] + raw[start:end] * source.choice((1, 1, 5)) + raw[end:]


def insert(source: random.Random, raw: bytes) -> bytes:
    """Bytes that mean something somewhere."""
    place = _place(source, raw)
    return raw[:place] + source.choice(BYTES) * source.choice((1, 1, 2, 50)) + raw[place:]


def mark(source: random.Random, raw: bytes) -> bytes:
    """A byte-order mark, one that is none of ours, or two."""
    return source.choice(MARKS) + raw


def recode(source: random.Random, raw: bytes) -> bytes:
    """The text in another encoding."""
    text = raw.decode("utf-8", "replace")
    return text.encode(source.choice(ENCODINGS), "replace")


def line_ends(source: random.Random, raw: bytes) -> bytes:
    """Other line ends, on all lines or on some."""
    end = source.choice((b"\r\n", b"\r", b"\n\n", b"\n\r", b"\xe2\x80\xa8", b"\x0b", b""))
    if source.random() < 0.5:
        return raw.replace(b"\n", end)
    lines = raw.split(b"\n")
    return b"".join(line + source.choice((b"\n", end)) for line in lines)


def shuffle(source: random.Random, raw: bytes) -> bytes:
    """Lines in another order, some twice, some not at all."""
    lines = raw.splitlines(keepends=True)
    return (
        b"".join(source.choices(lines, k=source.randint(0, 2 * len(lines)))) if lines else raw
    )


def pack(source: random.Random, raw: bytes) -> bytes:  # noqa: ARG001
    """A compressed file under a text file's name."""
    return gzip.compress(raw, mtime=0)


def swell(source: random.Random, raw: bytes) -> bytes:
    """One place becomes very long."""
    place = _place(source, raw)
    piece = source.choice((b"(", b"one ", b"1", b"one-", b"a", b" ", b"\t", b"[", b'"', b"1,"))
    piece = source.choice((piece, piece, b"e\xcc\x81", b"\xcc\x81", b"$", b"twenty ", b"1/2 "))
    return raw[:place] + piece * source.choice((300, 300, 2_000, 40_000)) + raw[place:]


EDITS: tuple[Edit, ...] = (
    flip, cut, drop, double, insert, mark, recode, line_ends, shuffle, pack, swell,
)  # fmt: skip
WEIGHTS = (20, 10, 15, 15, 25, 6, 4, 10, 8, 1, 2)


# --- JSON lines ---------------------------------------------------------------------------


def _paths(value: Json, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, the whole left out."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    found = []
    for key, item in inner:
        found += [(*path, key), *_paths(item, (*path, key))]
    return found


def _other(source: random.Random, value: Json) -> Json:
    """Something else in a value's place: near it, or of another kind."""
    draw = source.random()
    if draw < 0.3 and isinstance(value, int) and not isinstance(value, bool):
        return value + source.choice((-1, 1, 2, 100))
    if draw < 0.5 and isinstance(value, str):
        return value[: len(value) // 2] + source.choice(NASTY) + value[len(value) // 2 :]
    if draw < 0.55 and isinstance(value, str):
        return value * source.choice((2, 1_000, 30_000))
    if draw < 0.7 and isinstance(value, list) and value:
        return _list_edit(source, value)
    deep: Any = source.choice((0, "x"))
    for _ in range(source.choice((1, 3, 40))):
        deep = source.choice(([deep], {"start": deep}))
    plain: tuple[Json, ...] = (None, "", [], {}, "AGE", "REFERENCE", [[]], [None], *NASTY)
    return source.choice((source.choice(NUMBERS), source.choice(plain), deep))


def _list_edit(source: random.Random, value: list[Any]) -> list[Any]:
    made, place = list(value), source.randrange(len(value))
    edit = source.randrange(5)
    if edit == 0:
        del made[place]
    elif edit == 1:
        made.insert(place, made[place])
    elif edit == 2:
        made.reverse()
    elif edit == 3:
        made = made * source.choice((2, 300))
    else:
        made.append(_other(source, made[place]))
    return made


def _edit(source: random.Random, row: Json) -> None:
    """Change one place of an object."""
    paths = _paths(row)
    if not paths:
        return
    path = source.choice(paths)
    holder = row
    for key in path[:-1]:
        holder = holder[key]
    key, draw = path[-1], source.random()
    if draw < 0.12:
        del holder[key]
    elif draw < 0.2 and isinstance(holder, dict):
        holder[source.choice((f"{key} ", str(key).upper(), "x", "format"))] = holder.pop(key)
    else:
        holder[key] = _other(source, holder[key])


def _sealed(row: Json) -> str:
    """A gold line whose id and digest fit again, as far as it can have any."""
    turns = runs(row["line_indices"], row["speakers"])
    tokens = tuple(Token(start, end, "") for start, end in row["offsets"])
    passage = Passage(row["text"], tokens, turns)
    indices = row["anchors_indices"]
    row["id"] = anchor_id(passage.digest, Anchor(indices[0], indices[-1] + 1))
    extra = [key for key in row if key not in KEYS]
    return seal({key: row[key] for key in (*KEYS, *extra) if key in row and key != "digest"})


def json_lines(source: random.Random, content: str) -> str:
    """Change values of some lines; gold lines are mostly sealed again."""
    lines = content.split("\n")
    for _ in range(source.choice((1, 1, 2))):
        place = source.randrange(len(lines))
        if not lines[place]:
            continue
        try:
            row = json.loads(lines[place])
        except (ValueError, RecursionError):
            continue
        for _ in range(source.choice((1, 1, 1, 3))):
            _edit(source, row)
        lines[place] = _line(source, row)
    return "\n".join(lines)


def _line(source: random.Random, row: Json) -> str:
    if isinstance(row, dict) and "digest" in row and source.random() < 0.8:
        try:
            return _sealed(row).rstrip("\n")
        except Exception:  # noqa: BLE001  # it has no digest: whatever it is now, it is a seed
            pass
    text = json.dumps(row, ensure_ascii=source.random() < 0.5)
    draw = source.random()
    if draw < 0.04:
        key = json.dumps(source.choice(list(row))) if isinstance(row, dict) and row else '"x"'
        return text[:-1] + f", {key}: 1}}"
    if draw < 0.06:
        return text.replace(": ", ": " + "[" * 100_000, 1)
    if draw < 0.08:
        return text.replace(": ", ": " + "9" * 5_000, 1)
    return text


# --- tables and plain text ----------------------------------------------------------------


def _cell(source: random.Random, cell: str) -> str:
    """Something else in a cell's place."""
    return source.choice(
        (cell + " ", "", "-1", "+1", "1.0", "٣", "99999999999", "1_0", "0x1", "nan", "1e400",
         '"' + cell, f'"{cell}"', "_SEP_" + cell, source.choice(NASTY), "²", cell * 1_000,
         str(source.randint(0, 20)), f"{source.randint(0, 40)};{source.randint(0, 40)}",
         cell[::-1], cell[: len(cell) // 2], "<b>" + cell, cell + "</b><br", "&#0;&#xD800;",
         "<b>" * 3_000, "&amp" * 500)
    )  # fmt: skip


def _cells(source: random.Random, rows: list[list[str]]) -> None:
    """Change some cells, and the number of cells of some rows."""
    for _ in range(source.choice((1, 1, 3))):
        row = source.choice(rows)
        if row:
            place = source.randrange(len(row))
            row[place] = _cell(source, row[place])
        if source.random() < 0.15:
            row[:] = source.choice((row[:-1], [*row, "x"], row[::-1]))


def tabs(source: random.Random, content: str) -> str:
    """Change cells of a table with tabs, which knows no quotes."""
    rows = [line.split("\t") for line in content.split("\n")]
    _cells(source, rows)
    return "\n".join("\t".join(row) for row in rows)


def commas(source: random.Random, content: str) -> str:
    """Change cells of a table with commas, and how it is quoted."""
    rows = list(csv.reader(io.StringIO(content)))
    draw = source.random()
    if draw < 0.2:
        gone = source.randrange(len(rows[0]))
        rows = [row[:gone] + row[gone + 1 :] for row in rows]
    elif draw < 0.3:
        twice = source.randrange(len(rows[0]))
        rows = [[*row, row[twice]] for row in rows]
    else:
        _cells(source, rows)
    out = io.StringIO()
    try:
        csv.writer(
            out,
            delimiter=source.choice(",,,,,,;\t"),
            quoting=source.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)),
            lineterminator=source.choice(("\n", "\r\n", "\r")),
            doublequote=(doubled := source.random() < 0.9),
            escapechar=None if doubled else "\\",
        ).writerows(rows)
    except csv.Error:
        return content
    return out.getvalue()


NUMBERLIKE = (
    "one hundred and ", "1,000,", "3.5.", "twenty-", "1/2 ", "$5 ", "5% ", "'s ", "no. 7 ",
    "ten to ", "two or three ", "six foot five ", "6 ' 5 ", "19 85 ", "a dozen ", "II ",
    "one-on-one ", "12:30 ", "½", "٣", "三", "1st ", "90s ", "first ",
    "half ", "- ", "-", "(", ")", "...", "k ", "bn ",
)  # fmt: skip


def talk(source: random.Random, content: str) -> str:
    """Lines of numbers and marks in long rows, odd speakers, long lines."""
    lines = content.split("\n")
    place = source.randrange(len(lines))
    pieces = source.choices(NUMBERLIKE, k=source.choice((1, 2, 3)))
    said = "".join(pieces) * source.choice((1, 1, 1, 2, 3, 5, 10, 20, 40, 3_000))
    speaker = source.choice(("", "Ann: ", ": ", "A B C D E: ", "x" * 70 + ": ", "Ann (on", ":"))
    lines[place] = speaker + said
    return "\n".join(lines)


STRUCTURED: dict[str, Callable[[random.Random, str], str]] = {
    "nfh": json_lines,
    "gold": json_lines,
    "nfh-ident": tabs,
    "dialog": talk,
    "amt": commas,
}
