"""Files damaged by chance, as transfers, editors and other programs damage them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

OTHERS: tuple[object, ...] = (
    *(None, True, -1, 0, 7, 10**30, 1.5, 1e308, "", "x", "1", "\ud83d", "\0", "HEAD", "AGE"),
    *([], [None], [[0, 1]], {}, {"start": 0}, [{}], "a\nb\tc", "</x>&amp;<b>", ["x"] * 3),
    *(2**31, 2**32, 2**53 + 1, "2025-01-31T12:00:00.000Z", "𝒳", "é" * 300),
)
"""What a value may be in place of the right one."""

DEEP = 5_000


def damaged(random: Random, raw: bytes) -> bytes:
    """A file's bytes, damaged once to three times."""
    for _ in range(random.choice((1, 1, 2, 3))):
        ways = BYTES if random.random() < 0.5 else (values,)
        raw = random.choice(ways)(random, raw)
    return raw


def damage_folder(random: Random, folder: Path) -> None:
    """Damage a member of a folder, take one away, or put one there that does not belong."""
    members = sorted(path for path in folder.rglob("*") if path.is_file())
    member = random.choice(members)
    what = random.random()
    if what < 0.1 and len(members) > 1:
        member.unlink()
    elif what < 0.2:
        other = random.choice(members)
        member.write_bytes(other.read_bytes())
    elif what < 0.25:
        (member.parent / f"x{member.name}").write_bytes(member.read_bytes())
    else:
        member.write_bytes(damaged(random, member.read_bytes()))


# --- bytes ----------------------------------------------------------------------------------


def _place(random: Random, raw: bytes) -> int:
    return random.randrange(len(raw)) if raw else 0


def cut(random: Random, raw: bytes) -> bytes:
    """Without its end."""
    return raw[: _place(random, raw)]


def flip(random: Random, raw: bytes) -> bytes:
    """A byte is another one."""
    place = _place(random, raw)
    return raw[:place] + bytes([random.randrange(256)]) + raw[place + 1 :]


def insert(random: Random, raw: bytes) -> bytes:
    """Something stands in it that does not belong there."""
    place = _place(random, raw)
    more = random.choice(
        (
            *(
                b"\0",
                b"\xff",
                b"\xef\xbb\xbf",
                b"\n",
                b"\r",
                b"\t",
                b"<",
                b"&",
                b"{",
                b"[",
                b'"',
            ),
            *(b"\\ud800", b"NaN", b"1e999", b"[" * DEEP, b'{"a":' * DEEP, b"<a>" * DEEP),
        )
    )
    return raw[:place] + more + raw[place:]


def digits(random: Random, raw: bytes) -> bytes:
    """A number is another one."""
    places = [i for i, byte in enumerate(raw[:20_000]) if 48 <= byte <= 57]
    if not places:
        return raw
    place = random.choice(places)
    other = random.choice((b"0", b"9", b"99999", b"-1", b"", b"1" * 30, b"1.5"))
    return raw[:place] + other + raw[place + 1 :]


def lines(random: Random, raw: bytes) -> bytes:
    """A line is missing, there twice, or somewhere else."""
    rows = raw.split(b"\n")
    row = rows.pop(random.randrange(len(rows)))
    for _ in range(random.choice((0, 1, 2))):
        rows.insert(random.randint(0, len(rows)), row)
    return b"\n".join(rows)


def twice(random: Random, raw: bytes) -> bytes:
    """All of it twice."""
    return raw + raw


def ends(random: Random, raw: bytes) -> bytes:
    """Other line ends."""
    return raw.replace(b"\r\n", b"\n").replace(b"\n", random.choice((b"\r\n", b"\r")))


BYTES: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(cut, flip, flip, insert, insert, digits, digits, digits, lines, lines, twice, ends),
)


# --- values of JSON -------------------------------------------------------------------------


def values(random: Random, raw: bytes) -> bytes:
    """Some JSON value of the file is another one, missing, or there twice."""
    try:
        content: Any = json.loads(raw)
        rows = None
    except (ValueError, RecursionError):
        rows = raw.split(b"\n")
        number = random.randrange(len(rows))
        try:
            content = json.loads(rows[number])
        except (ValueError, RecursionError):
            return digits(random, raw)
    content = _changed(random, content)
    text = json.dumps(content, ensure_ascii=random.random() < 0.5)
    made = text.encode("utf-8", "surrogatepass")
    if rows is None:
        return made
    rows[number] = made
    return b"\n".join(rows)


def _changed(random: Random, content: Any) -> Any:
    places = list(_places(content))
    if not places:
        return random.choice(OTHERS)
    holder, key = random.choice(places)
    what = random.random()
    if what < 0.6:
        other: Any = random.choice(OTHERS)
        holder[key] = other
    elif what < 0.8:
        del holder[key]
    elif isinstance(holder, list):
        holder.insert(random.randint(0, len(holder)), holder[key])
    else:
        holder[random.choice(list(holder))] = holder[key]
    return content


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield value, key
            yield from _places(value[key])
