"""Labels and relations that are not ours, in the files of every annotation tool."""

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin, Span

from nfh_db.errors import FormatError
from nfh_db.formats.registry import by_name, opened, reading
from nfh_db.formats.rows import GoldRow, LabelMap, Row
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions, export_file
from tests.nfh_db.formats.cas_files import NUMBER, TYPES, cas, span, units
from tests.nfh_db.formats.round_trip import imported

TEXT = "Two came at six and three at nine, on the same day in Rome."
SIX, NINE, DAY = "six", "nine", "the same day"

Mark = tuple[str, str]
"""Words and their label."""
Arc = tuple[int, int, str]
"""Two marks by their ranks, and the relation between them."""
Write = Callable[[Path, Sequence[Mark], Sequence[Arc]], Path]


def _at(words: str) -> tuple[int, int]:
    start = TEXT.index(words)
    return start, start + len(words)


def _brat(folder: Path, marks: Sequence[Mark], arcs: Sequence[Arc]) -> Path:
    lines = [
        f"T{rank}\t{label} {' '.join(map(str, _at(words)))}\t{words}\n"
        for rank, (words, label) in enumerate(marks)
    ]
    lines += [
        f"R{rank}\t{label} Arg1:T{one} Arg2:T{two}\n"
        for rank, (one, two, label) in enumerate(arcs)
    ]
    project = folder / "project"
    project.mkdir()
    (project / "d.txt").write_text(TEXT, "utf-8")
    (project / "d.ann").write_text("".join(lines), "utf-8")
    return project


def _json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value) + "\n", "utf-8")
    return path


def _doccano(folder: Path, marks: Sequence[Mark], arcs: Sequence[Arc]) -> Path:
    entities = [
        {"id": rank, "label": label, "start_offset": _at(words)[0], "end_offset": _at(words)[1]}
        for rank, (words, label) in enumerate(marks)
    ]
    relations = [
        {"id": rank, "from_id": one, "to_id": two, "type": label}
        for rank, (one, two, label) in enumerate(arcs)
    ]
    line = {"text": TEXT, "entities": entities, "relations": relations}
    return _json(folder / "lines.jsonl", line)


def _prodigy(folder: Path, marks: Sequence[Mark], arcs: Sequence[Arc]) -> Path:
    spans: list[dict[str, Any]] = [
        {"start": _at(words)[0], "end": _at(words)[1], "label": label} for words, label in marks
    ]
    relations = [
        {"head": 0, "child": 0, "head_span": spans[one], "child_span": spans[two], "label": of}
        for one, two, of in arcs
    ]
    task = {"text": TEXT, "spans": spans, "relations": relations, "answer": "accept"}
    return _json(folder / "tasks.jsonl", task)


def _label_studio(folder: Path, marks: Sequence[Mark], arcs: Sequence[Arc]) -> Path:
    result: list[dict[str, Any]] = [
        {
            "id": f"s{rank}",
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": _at(words)[0], "end": _at(words)[1], "labels": [label]},
        }
        for rank, (words, label) in enumerate(marks)
    ]
    result += [
        {"type": "relation", "from_id": f"s{one}", "to_id": f"s{two}", "labels": [label]}
        for one, two, label in arcs
    ]
    task = {"id": 5, "data": {"text": TEXT}, "annotations": [{"id": 1, "result": result}]}
    return _json(folder / "tasks.json", [task])


def _inception(folder: Path, marks: Sequence[Mark], arcs: Sequence[Arc]) -> Path:
    assert not arcs
    types = {**TYPES, "webanno.custom.NFH": {**TYPES[NUMBER], "%NAME": "webanno.custom.NFH"}}
    kinds = {"%NAME": "kind", "%RANGE": "uima.cas.String"}
    types["webanno.custom.NFH"]["kind"] = kinds
    found = [span("webanno.custom.NFH", *units(TEXT, words), kind=of) for words, of in marks]
    path = folder / "doc.json"
    path.write_bytes(cas(found, TEXT, types))
    return path


def _docbin(folder: Path, marks: Sequence[Mark], arcs: Sequence[Arc]) -> Path:
    assert not arcs
    doc = spacy.blank("en")(TEXT)
    found = []
    for words, label in marks:
        one = doc.char_span(*_at(words))
        found.append(Span(doc, one.start, one.end, label=label))
    doc.spans["nfh"] = found
    path = folder / "a.spacy"
    DocBin(docs=[doc]).to_disk(path)
    return path


def _conllu(folder: Path, marks: Sequence[Mark], arcs: Sequence[Arc]) -> Path:
    assert not arcs
    words = re.findall(r"\w+|[.,]", TEXT)
    misc = {}
    for said, label in marks:
        first, *rest = said.split()
        at = words.index(first if not rest else rest[-1]) - len(rest)
        misc[at] = f"NFH={label}" + (
            f"|NFHSpan=1:{at + 1}-{at + 1 + len(rest)}" if rest else ""
        )
    rows = [
        "\t".join((str(at + 1), word, *"_" * 7, misc.get(at, "_")))
        for at, word in enumerate(words)
    ]
    path = folder / "a.conllu"
    path.write_text("\n".join(rows) + "\n\n", "utf-8")
    return path


LINKING: dict[str, Write] = {
    "brat": _brat,
    "doccano": _doccano,
    "prodigy": _prodigy,
    "label-studio": _label_studio,
}
WRITE: dict[str, Write] = {
    **LINKING,
    "inception-json": _inception,
    "docbin": _docbin,
    "conllu": _conllu,
}


def _read(path: Path, name: str, labels: LabelMap | None = None) -> tuple[list[Row], list[str]]:
    found = opened(path, name)
    rows = list(found.format.read(found.source, reading(labels=labels or LabelMap())))
    return rows, found.source.warnings


def _refused(path: Path, name: str, labels: LabelMap | None = None) -> FormatError:
    with pytest.raises(FormatError) as caught:
        _read(path, name, labels)
    return caught.value


def _answered(rows: Sequence[Row]) -> list[str]:
    """The words of the numbers with an answer."""
    return [
        row.passage.text[slice(*row.passage.span(row.anchor.start, row.anchor.end))]
        for row in rows
        if isinstance(row, GoldRow) and (row.gold or row.votes)
    ]


@pytest.mark.parametrize("label", ["TIME", "OTHER_MEASURE"])
@pytest.mark.parametrize("name", WRITE)
def test_a_class_on_words_without_a_number_is_no_answer(
    name: str, label: str, tmp_path: Path
) -> None:
    path = WRITE[name](tmp_path, [(SIX, label), (DAY, label), ("Rome", label)], [])
    error = _refused(path, name)
    assert f'found 2 spans "{label}" on words without a number' in str(error)
    assert f'the first "{DAY}" in ' in str(error)
    offered = tomllib.loads(error.mapping)
    assert offered == {"labels": {label: "ignore"}}
    left, warnings = _read(path, name, LabelMap(**offered))
    assert not _answered(left)
    if name != "brat":  # It carries them.
        assert "3 marks left out, by the map" in warnings
    kept, _ = _read(path, name, LabelMap({label: label}))
    assert _answered(kept) == [SIX, DAY, "Rome"]


@pytest.mark.parametrize("name", WRITE)
def test_a_class_on_numbers_is_ours(name: str, tmp_path: Path) -> None:
    path = WRITE[name](tmp_path, [(SIX, "TIME"), ("at nine", "TIME")], [])
    assert _answered(_read(path, name)[0]) == [SIX, "at nine"]


@pytest.mark.parametrize("name", WRITE)
def test_unknown_labels_are_told_at_once_as_a_map(name: str, tmp_path: Path) -> None:
    marks = [
        (SIX, "TIME"),
        ("Rome", "LOC"),
        ("Two", "ZAHL"),
        ("three", "ZAHL"),
        ("day", 'a"\\b'),
    ]
    path = WRITE[name](tmp_path, marks, [])
    error = _refused(path, name, LabelMap({"X": "HEAD"}))
    assert '1 span "LOC" of no known meaning, the first "Rome" in ' in str(error)
    assert '2 spans "ZAHL" of no known meaning, the first "Two" in ' in str(error)
    assert '"ZAHL" = "ignore"  # 2, the first "Two" in ' in error.mapping
    offered = tomllib.loads(error.mapping)["labels"]
    others = {"X": "HEAD"} | dict.fromkeys(("LOC", "ZAHL", 'a"\\b'), "ignore")
    assert offered == others
    labels = LabelMap({**offered, "ZAHL": "AGE"})
    assert _answered(_read(path, name, labels)[0]) in (
        [SIX, "Two", "three"],
        ["Two", SIX, "three"],
    )
    assert _answered(_read(path, name, LabelMap({"*": "ignore"}))[0]) == [SIX]


@pytest.mark.parametrize("name", LINKING)
def test_a_relation_between_numbers_is_told_and_counted(name: str, tmp_path: Path) -> None:
    path = WRITE[name](tmp_path, [(SIX, "TIME"), (NINE, "TIME")], [(0, 1, "BEFORE")])
    error = _refused(path, name)
    told = f'1 relation "BEFORE" of no known meaning, the first from "{SIX}" to "{NINE}" in '
    assert told in str(error)
    offered = tomllib.loads(error.mapping)
    assert offered == {"relations": {"BEFORE": "ignore"}}
    for labels in (LabelMap(**offered), LabelMap(relations={"*": "ignore"})):
        rows, warnings = _read(path, name, labels)
        assert _answered(rows) == [SIX, NINE]
        kept = "1 line of other things carried along as they are"
        lost = "1 relation left out, by the map"
        assert [one for one in warnings if one in (kept, lost)] == [
            kept if name == "brat" else lost
        ]


def test_brat_writes_an_ignored_relation_back(tmp_path: Path) -> None:
    marks = [(SIX, "TIME"), (NINE, "TIME"), ("Two", "THING")]
    path = _brat(tmp_path, marks, [(0, 1, "BEFORE"), (0, 2, "BEFORE")])
    options = ImportOptions(labels=LabelMap({"THING": "ignore"}, {"BEFORE": "ignore"}))
    with Store.open(tmp_path / "a.db", create=True) as store:
        imported(store, path, "brat", options)
        export_file(store, parse(""), by_name("brat"), tmp_path / "out")
        assert (tmp_path / "out/gold/0000001.ann").read_text("utf-8").splitlines() == [
            f"T1\tTIME 12 15\t{SIX}",
            f"T2\tTIME 29 33\t{NINE}",
            "T3\tTHING 0 3\tTwo",
            "R1\tBEFORE Arg1:T1 Arg2:T2",
            "R2\tBEFORE Arg1:T1 Arg2:T3",
        ]
        again = imported(store, tmp_path / "out", "brat", options)
        assert (again.anchors_new, again.gold_new, again.gold_replaced) == (0, 0, 0)


def test_all_other_names_can_only_be_ignored(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text('[labels]\n"*" = "ANCHOR"\n', "utf-8")
    with pytest.raises(FormatError, match=r'found "ANCHOR" for all other names, wanted "\*" ='):
        LabelMap.of_file(path)


def test_labels_of_an_exported_file_are_ours_whatever_they_mark(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db", create=True) as store:
        path = _doccano(tmp_path, [(DAY, "TIME")], [])
        imported(store, path, "doccano", ImportOptions(labels=LabelMap({"TIME": "TIME"})))
        for name in WRITE:
            folder = name in ("brat", "inception-json")
            out = tmp_path / f"{name}{'' if folder else by_name(name).extensions[0]}"
            export_file(store, parse(""), by_name(name), out)
            again = imported(store, out, name)
            assert (again.gold_new, again.gold_same) == (0, 1), name
