"""Label Studio's own rules as judge of what is written: its documented layout, and its tools.

Layout: https://labelstud.io/guide/task_format and the results of the tags Labels, TextArea and
Relations. The tools are no part of the tests' environment; where they are, they judge too.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nfh_db.store import Store
from nfh_tui.sample import corpus_path
from tests.nfh_db.formats.labelstudio_tool import Json
from tests.nfh_db.formats.round_trip import gold_lines, hostile_corpus, imported, round_trip

DOCS = Path(__file__).parents[3] / "docs" / "formats-projects.md"

TASK = {"id", "data", "annotations", "predictions", "meta"}
ANNOTATION = {
    "id": int,
    "completed_by": (dict, type(None)),
    "result": list,
    "was_cancelled": bool,
    "ground_truth": bool,
    "lead_time": (float, int, type(None)),
}
TIMES = {"created_at", "updated_at"}


def configuration() -> str:
    """What a user is to paste into the project."""
    (xml,) = re.findall(r"```xml\n(.+?)```", DOCS.read_text("utf-8"), re.DOTALL)
    return xml


class Rules:
    """The project's configuration, and what results must be by it."""

    def __init__(self, config: str) -> None:
        root = ElementTree.fromstring(config)
        self.labels = {one.get("value") for one in root.iter("Label")}
        self.relations = {one.get("value") for one in root.iter("Relation")}
        controls = [one for one in root.iter() if one.get("toName")]
        self.controls = {one.get("name"): one.tag.lower() for one in controls}
        self.texts = {one.get("name"): one.get("value", "")[1:] for one in root.iter("Text")}

    def troubles(self, task: Json) -> Iterator[str]:
        if not TASK - {"meta"} <= task.keys() <= TASK:
            yield f"task keys {sorted(task)}"
        for one in task["annotations"]:
            for key, type_ in ANNOTATION.items():
                if key not in one or not isinstance(one[key], type_):
                    yield f"annotation key {key}"
            if one["completed_by"] is not None and "email" not in one["completed_by"]:
                yield "completed_by without an email"
            if one.keys() - TIMES != ANNOTATION.keys():
                yield f"annotation keys {sorted(one)}"
        if len({one.keys() >= TIMES for one in task["annotations"]}) > 1:
            yield "some annotations have times and some have none"
        for one in task["predictions"]:
            if one.keys() != {"model_version", "result"}:
                yield f"prediction keys {sorted(one)}"
        for one in (*task["annotations"], *task["predictions"]):
            yield from self._results(one["result"], task["data"])

    def _results(self, results: list[Json], data: Json) -> Iterator[str]:
        regions = {one["id"]: one for one in results if one["type"] == "labels"}
        if len(regions) != sum(one["type"] == "labels" for one in results):
            yield "one id twice"
        for one in results:
            if one["type"] == "relation":
                ends = {one["from_id"], one["to_id"]}
                if not ends <= regions.keys() or one["direction"] not in (
                    "left",
                    "right",
                    "bi",
                ):
                    yield f"relation {one}"
                if not set(one["labels"]) <= self.relations:
                    yield f"relation labels {one['labels']}"
                continue
            if self.controls.get(one["from_name"]) != one["type"]:
                yield f"control {one['from_name']} {one['type']}"
            text = data[self.texts[one["to_name"]]]
            value = one["value"]
            if one["type"] == "labels":
                if value["text"] != text[value["start"] : value["end"]]:
                    yield f"text {value}"
                if not (value["labels"] and set(value["labels"]) <= self.labels):
                    yield f"labels {value['labels']}"
            elif not all(isinstance(words, str) for words in value["text"]):
                yield f"typed {value}"
            elif [value["start"], value["end"]] != [
                regions[one["id"]]["value"][key] for key in ("start", "end")
            ]:
                yield "typed for another region"


def _written(folder: Path, name: str) -> Path:
    corpus = corpus_path() if name == "sample" else hostile_corpus(folder / "in.jsonl")
    return round_trip(corpus, "label-studio", folder / name).path


@pytest.mark.parametrize("name", ["hostile", "sample"])
def test_what_is_written_fits_the_documented_layout(name: str, tmp_path: Path) -> None:
    rules = Rules(configuration())
    tasks = json.loads(_written(tmp_path, name).read_bytes())
    assert [trouble for task in tasks for trouble in rules.troubles(task)] == []
    assert len(tasks) > 20


def test_the_rules_find_what_is_wrong() -> None:
    region = {"id": "a", "from_name": "label", "to_name": "text", "type": "labels"}
    value = {"start": 0, "end": 2, "text": "x", "labels": ["NUM"]}
    relation = {
        "type": "relation",
        "from_id": "a",
        "to_id": "b",
        "direction": "up",
        "labels": [],
    }
    results = [region | {"value": value}, relation]
    task = {"id": 1, "data": {"text": "abc"}, "annotations": [{"result": results}]}
    task |= {"predictions": []}
    with pytest.raises(KeyError):
        list(Rules(configuration()).troubles(task))
    task = task | {
        "annotations": [],
        "predictions": [{"model_version": "m", "result": results}],
    }
    found = " ".join(Rules(configuration()).troubles(task))
    assert all(word in found for word in ("text {", "labels ['NUM']", "relation {"))


EXAMPLE = r"""[{"id": 1,
  "data": {"text": "Ann: Two tickets?\nBen: No, three."},
  "annotations": [
   {"id": 1, "completed_by": {"email": "eva"}, "was_cancelled": false, "ground_truth": false,
    "created_at": "2025-03-03T12:00:00.000Z", "updated_at": "2025-03-03T12:00:00.000Z",
    "lead_time": 6.5,
    "result": [
     {"id": "s0", "from_name": "label", "to_name": "text", "type": "labels",
      "value": {"start": 27, "end": 32, "text": "three", "labels": ["REFERENCE"]}},
     {"id": "s1", "from_name": "label", "to_name": "text", "type": "labels",
      "value": {"start": 9, "end": 16, "text": "tickets", "labels": ["HEAD"]}},
     {"type": "relation", "from_id": "s0", "to_id": "s1", "direction": "right",
      "labels": ["HEAD"]}]}],
  "predictions": [
   {"model_version": "nfh-tui", "result": [
     {"id": "s0", "from_name": "label", "to_name": "text", "type": "labels",
      "value": {"start": 27, "end": 32, "text": "three", "labels": ["ANCHOR"]}}]}]}]
"""


def test_a_task_is_read_as_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "example.json"
    path.write_text(EXAMPLE, encoding="utf-8")
    assert list(Rules(configuration()).troubles(*json.loads(EXAMPLE))) == []
    with Store.open(tmp_path / "x.db", create=True) as store:
        report = imported(store, path)
        (line,) = map(json.loads, gold_lines(store, tmp_path / "x.jsonl"))
    assert (report.format, report.warnings) == ("label-studio", ())
    (vote,) = line["votes"]
    assert (vote["annotator"], vote["kind"], vote["seconds"]) == ("eva", "REFERENCE", 6.5)
    assert line["tokens"][vote["heads"][0]["mentions"][0]["head"]] == "tickets"


def test_the_configuration_has_all_labels_and_relations() -> None:
    from nfh_db.formats.spans import LINK_LABELS, SPAN_LABELS

    rules = Rules(configuration())
    assert rules.labels == set(SPAN_LABELS)
    assert rules.relations == set(LINK_LABELS)


# --- its own tools, where they are installed ------------------------------------------------


@pytest.mark.parametrize("name", ["hostile", "sample"])
def test_the_sdk_takes_what_is_written(name: str, tmp_path: Path) -> None:
    sdk = pytest.importorskip(
        "label_studio_sdk.label_interface", reason="label-studio-sdk is not installed"
    )
    interface = sdk.LabelInterface(configuration())
    for task in json.loads(_written(tmp_path, name).read_bytes()):
        for one in (*task["annotations"], *task["predictions"]):
            result = {"result": one["result"]}
            assert interface.validate_prediction(result, return_errors=True) == []
