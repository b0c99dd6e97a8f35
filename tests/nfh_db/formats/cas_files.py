"""CAS documents as a project of somebody else's has them, and a database to read them into."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions
from tests.nfh_db.formats.round_trip import gold_lines, imported

Structure = dict[str, Any]
NUMBER, NOUN = "webanno.custom.Zahl", "webanno.custom.Nomen"
LINK = f"{NUMBER}BezugLink"
TEXT = "Two 👍 cups?\nNo, three."
MAP = """
[layer]
number = "webanno.custom.Zahl"
kind = "klasse"
heads = "bezug"
head = "webanno.custom.Nomen"

[labels]
Jahr = "YEAR"
Bezug = "REFERENCE"

[relations]
meint = "HEAD"
"""


def units(text: str, word: str) -> tuple[int, int]:
    """Where a word stands, counted as UIMA does."""
    start = len(text[: text.index(word)].encode("utf-16-le")) // 2
    return start, start + len(word.encode("utf-16-le")) // 2


def type_(name: str, above: str = "uima.tcas.Annotation", **features: str) -> Structure:
    """A type, as %TYPES has it."""
    ranges = {key: {"%NAME": key, "%RANGE": range_} for key, range_ in features.items()}
    return {"%NAME": name, "%SUPER_TYPE": above, **ranges}


TYPES = {
    NUMBER: type_(NUMBER, klasse="uima.cas.String", bezug=f"{LINK}[]"),
    NOUN: type_(NOUN),
    LINK: type_(LINK, "uima.cas.TOP", role="uima.cas.String", target=NOUN),
    "custom.Person": type_("custom.Person"),
}


def cas(
    structures: Iterable[Structure], text: str = TEXT, types: Mapping[str, Any] = TYPES
) -> bytes:
    """A document with a text and what is said of it, whose ids begin at 2."""
    sofa = {
        "%ID": 1,
        "%TYPE": "uima.cas.Sofa",
        "sofaNum": 1,
        "sofaID": "_InitialView",
        "mimeType": "text",
        "sofaString": text,
    }
    all_ = [sofa, *({"%ID": at, **one} for at, one in enumerate(structures, 2))]
    members = [one["%ID"] for one in all_ if "begin" in one]
    return json.dumps(
        {
            "%TYPES": types,
            "%FEATURE_STRUCTURES": all_,
            "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": members}},
        },
        ensure_ascii=False,
        indent=2,
    ).encode()


def span(type_name: str, begin: int, end: int, **features: object) -> Structure:
    """An annotation."""
    return {"%TYPE": type_name, "@sofa": 1, "begin": begin, "end": end, **features}


def reference(text: str = TEXT, role: str = "meint") -> list[Structure]:
    """The number "three" whose noun is "cups": ids 2 to 5."""
    return [
        span(NUMBER, *units(text, "three"), klasse="Bezug", **{"@bezug": 4}),
        span(NOUN, *units(text, "cups")),
        {"%TYPE": f"{LINK}[]", "%ELEMENTS": [5]},
        {"%TYPE": LINK, "role": role, "@target": 3},
    ]


def lines_of(
    path: Path, options: ImportOptions | None = None, name: str | None = None
) -> tuple[list[dict[str, Any]], Sequence[str]]:
    """The `gold` lines of a database that holds this file alone, and the warnings."""
    with Store.open(path.with_name(f"{path.name}.db"), create=True) as store:
        report = imported(store, path, name, options)
        lines = gold_lines(store, path.with_name(f"{path.name}.gold.jsonl"))
    return [json.loads(line) for line in lines], report.warnings


Edit = Callable[[Any], None]


def edit_json(path: Path, edit: Edit) -> None:
    """Change the JSON document at a path."""
    value = json.loads(path.read_bytes())
    edit(value)
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
