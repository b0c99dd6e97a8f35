"""Files of teams: tasks of several annotators on one text, brought in and counted."""

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.registry import by_name, opened
from nfh_db.query import parse
from nfh_db.records import ImportReport
from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions, export_file, import_file
from tests.nfh_db.formats.round_trip import gold_lines

TEXT = "Ann: Did you bring the tickets? Ben: Yes, three."
OTHER = "There were seven of us, and five left."

Json = dict[str, Any]
Bring = Callable[..., tuple[list[Json], list[str], ImportReport]]


@pytest.fixture
def bring(tmp_path: Path) -> Iterator[Bring]:
    """Brings a file into an empty database; gives its gold lines, warnings and the report."""
    with Store.open(tmp_path / "x.db", create=True) as store:

        def run(path: Path, **options: Any) -> tuple[list[Json], list[str], ImportReport]:
            found = opened(path, None)
            report = import_file(store, found.source, found.format, ImportOptions(**options))
            lines = gold_lines(store, tmp_path / "out.jsonl")
            return [json.loads(line) for line in lines], found.source.warnings, report

        yield run


def span(text: str, word: str, label: str) -> Json:
    start = text.index(word)
    return {"start": start, "end": start + len(word), "label": label}


def task(who: str, text: str, *spans: Json, answer: str = "accept", **more: Any) -> Json:
    """As Prodigy has it: with tokens, and a session called after dataset and annotator."""
    places = [(i, i + len(word)) for word in text.split() for i in [text.index(word)]]
    for one in spans:  # The full stop after a word is a token of its own.
        places = [(s, min(e, one["end"]) if s <= one["start"] < e else e) for s, e in places]
    return {
        "text": text,
        "tokens": [{"start": start, "end": end} for start, end in sorted(set(places))],
        "spans": list(spans),
        "answer": answer,
        "_session_id": f"tix-{who}",
        "_annotator_id": f"tix-{who}",
    } | more


def lines(path: Path, *values: Json) -> Path:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
    return path


def exported(folder: Path, name: str) -> list[Json]:
    """What an export of the database holds."""
    out = folder / "back.jsonl"
    with Store.open(folder / "x.db") as store:
        export_file(store, parse(""), by_name(name), out)
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def flags(line: Json) -> list[tuple[str, str]]:
    return [(flag["name"], flag["annotator"]) for flag in line["flags"]]


@pytest.mark.parametrize(("answer", "flag"), [("ignore", "skip"), ("reject", "reject")])
def test_who_passes_a_text_over_passes_over_what_others_mark_in_it(
    bring: Bring, tmp_path: Path, answer: str, flag: str
) -> None:
    marked = task("eva", TEXT, span(TEXT, "three", "AGE"))
    passed = {**marked, "spans": [], "answer": answer}
    passed |= {"_session_id": "tix-dan", "_annotator_id": "tix-dan"}
    for order in ((marked, passed), (passed, marked)):
        found, warnings, _ = bring(lines(tmp_path / "x.jsonl", *order))
        (line,) = found  # One passage, though in a dialog the speaker's name is no token.
        assert flags(line) == [(flag, "dan")]
        assert [vote["annotator"] for vote in line["votes"]] == ["eva"]
        assert "1 task without a number marked, of texts in which others mark some" in warnings


def test_a_text_that_somebody_took_without_a_mark_is_no_raw_dialog(
    bring: Bring, tmp_path: Path
) -> None:
    file = lines(
        tmp_path / "x.jsonl",
        task("eva", OTHER, span(OTHER, "five", "PEOPLE")),
        task("dan", OTHER, comment="none here"),
    )
    found, warnings, _ = bring(file)
    assert [line["anchors_indices"] for line in found] == [[6]]  # "seven" is nobody's number.
    assert "1 text with a noun or a comment, but no number: that was left out" in warnings


def test_a_version_of_a_review_that_passed_the_task_over_is_a_flag(
    bring: Bring, tmp_path: Path
) -> None:
    number = span(OTHER, "five", "PEOPLE")
    review = task("rita", OTHER, number) | {
        "versions": [
            {"text": OTHER, "spans": [number], "answer": "accept", "sessions": ["tix-eva"]},
            {"text": OTHER, "spans": [], "answer": "ignore", "sessions": ["tix-dan"]},
        ],
    }
    (line,), _, _ = bring(lines(tmp_path / "x.jsonl", review))
    assert flags(line) == [("skip", "dan")]


def test_what_nobody_named_refused_is_refused_by_the_annotator_of_the_import(
    bring: Bring, tmp_path: Path
) -> None:
    unnamed = {"_session_id": None, "_annotator_id": None}
    file = lines(
        tmp_path / "x.jsonl",
        task("", OTHER, span(OTHER, "five", "PEOPLE"), answer="reject", **unnamed),
        task("", OTHER, span(OTHER, "seven", "PEOPLE"), **unnamed),
    )
    found, warnings, _ = bring(file, annotator="zoe")
    assert sorted(map(flags, found)) == [[], [("reject", "zoe")]]
    assert [vote["annotator"] for line in found for vote in line["votes"]] == ["zoe"]
    assert list(warnings) == [
        "1 number marked in a task that was skipped or refused: no answer, and not kept"
    ]


def test_what_raw_tasks_hold_besides_is_written_back(bring: Bring, tmp_path: Path) -> None:
    raw = {"text": OTHER, "meta": {"page": 7}, "_input_hash": 1, "_task_hash": 2}
    file = lines(tmp_path / "x.jsonl", raw)
    bring(file)
    back = exported(tmp_path, "prodigy")
    assert [task["meta"] for task in back] == [{"page": 7}] * 2
    assert [task["_input_hash"] for task in back] == [1] * 2
    # Two tasks of one hash would be one to Prodigy.
    assert not any("_task_hash" in task for task in back)


def test_one_number_is_not_two_kinds(bring: Bring, tmp_path: Path) -> None:
    both = task("eva", OTHER, span(OTHER, "five", "AGE"), span(OTHER, "five", "YEAR"))
    with pytest.raises(FormatError, match="marked both as AGE and as YEAR"):
        bring(lines(tmp_path / "x.jsonl", both))


def test_a_key_that_stands_twice_is_refused(bring: Bring, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    for name in ("spans", "sp\\u0061ns"):
        good = json.dumps(task("eva", OTHER))
        twice = f'{good[:-1]}, "{name}": []}}'
        file.write_text(f"{good}\n{twice}\n", encoding="utf-8")
        with pytest.raises(FormatError, match='line 2: the key "spans" occurs twice'):
            bring(file)


# --- doccano ----------------------------------------------------------------------------------


def project(path: Path, **members: str) -> Path:
    """A zip as doccano makes one: a file for each member of the project."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.jsonl", content)
    return path


def listed(*values: Json) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def test_a_project_is_known_though_its_first_file_is_empty_and_its_first_text_bare(
    bring: Bring, tmp_path: Path
) -> None:
    file = project(
        tmp_path / "x.zip",
        admin="",
        dan=listed({"id": 1, "text": TEXT, "label": []}, {"id": 2, "text": OTHER, "label": []}),
        eva=listed(
            {"id": 1, "text": TEXT, "label": [[42, 47, "AGE"]]},
            {"id": 2, "text": OTHER, "label": []},
        ),
    )
    found, warnings, _ = bring(file)
    assert [line["text"] for line in found] == [OTHER, OTHER, TEXT]
    assert "1 task without a number marked, of texts in which others mark some" in warnings


def test_columns_of_a_project_may_be_called_as_keys_of_other_versions(
    bring: Bring, tmp_path: Path
) -> None:
    own = {"comments": 3, "categories": "A", "data": "x", "labels": "y", "cats": ["AGE"]}
    file = lines(
        tmp_path / "x.jsonl", {"id": 1, "text": OTHER, "label": [[28, 32, "YEAR"]], **own}
    )
    (line,), warnings, _ = bring(file)
    assert (line["kind"], line["comment"]) == ("YEAR", "")
    assert not warnings
    (back,) = exported(tmp_path, "doccano")
    assert back.items() >= own.items()


def test_slots_of_an_intent_project_are_spans(bring: Bring, tmp_path: Path) -> None:
    line = {"id": 1, "text": OTHER, "entities": [[28, 32, "ANCHOR"]], "cats": ["PEOPLE"]}
    (found,), _, _ = bring(lines(tmp_path / "x.jsonl", line))
    assert found["kind"] == "PEOPLE"


# --- Label Studio -----------------------------------------------------------------------------


def test_tasks_of_one_text_may_stand_on_one_line(bring: Bring, tmp_path: Path) -> None:
    def task(number: int, who: int, label: str) -> Json:
        value = {"start": 28, "end": 32, "text": "five", "labels": [label]}
        result = [{"type": "labels", "id": "a", "value": value}]
        annotation = {"id": number, "completed_by": who, "lead_time": 2.5, "result": result}
        return {"id": number, "data": {"text": OTHER}, "annotations": [annotation]}

    file = tmp_path / "x.json"
    file.write_text(json.dumps([task(8, 1, "PEOPLE"), task(9, 2, "AGE")]), encoding="utf-8")
    (line,), _, report = bring(file)
    assert [(v["annotator"], v["kind"]) for v in line["votes"]] == [
        ("user1", "PEOPLE"),
        ("user2", "AGE"),
    ]
    assert report.rows == 2


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("lead_time", "long", "lead_time"),
        ("completed_by", [1], "completed_by"),
        ("start", {}, "start"),
        ("labels", None, "labels"),
    ],
)
def test_values_of_wrong_types_are_refused_in_a_sentence(
    bring: Bring, tmp_path: Path, key: str, value: object, message: str
) -> None:
    region: Json = {"start": 28, "end": 32, "labels": ["AGE"]}
    annotation: Json = {"id": 8, "completed_by": 1, "lead_time": 2.5}
    (region if key in region else annotation)[key] = value
    annotation["result"] = [{"type": "labels", "id": "a", "value": region}]
    file = tmp_path / "x.json"
    task = {"id": 1, "data": {"text": OTHER}, "annotations": [annotation]}
    file.write_text(json.dumps([task]), encoding="utf-8")
    with pytest.raises(FormatError, match=f"line 1: item 1.*{message}"):
        bring(file)


def test_a_task_is_called_by_an_id_that_cannot_steer_a_terminal(
    bring: Bring, tmp_path: Path
) -> None:
    region = {"type": "labels", "id": "a", "value": {"start": 0, "end": 99, "labels": ["AGE"]}}
    task_ = {"id": "\x1b[31m\n", "data": {"text": OTHER}, "annotations": [{"result": [region]}]}
    file = tmp_path / "x.json"
    file.write_text(json.dumps([task_]), encoding="utf-8")
    with pytest.raises(FormatError, match="item 1, id ␛") as refused:
        bring(file)
    assert str(refused.value).isprintable()
