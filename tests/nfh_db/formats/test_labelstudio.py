"""Label Studio's files as this program writes them: out, through the tool, and back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import LabelMap, Writing
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_tui.sample import corpus_path
from nfh_tui.services.imports import ImportOptions, export_file
from tests.nfh_db.formats.hostile import hostile_records
from tests.nfh_db.formats.labelstudio_tool import (
    NOW,
    Json,
    added,
    region,
    relation,
    through_the_tool,
)
from tests.nfh_db.formats.round_trip import (
    Trip,
    gold_lines,
    hostile_corpus,
    imported,
    round_trip,
)

NAME = "label-studio"


def _respelled(**how: object) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        tasks = json.loads(path.read_bytes())
        text = "\n".join(map(json.dumps, tasks)) if not how else json.dumps(tasks, **how)
        path.write_text(text, encoding="utf-8")

    return edit


EDITS = {
    "as it is": None,
    "one line": _respelled(separators=(",", ":")),
    "indented": _respelled(indent=2, sort_keys=True, ensure_ascii=False),
    "a task a line": _respelled(),
    "through the tool": through_the_tool,
}


@pytest.mark.parametrize("edit", EDITS)
def test_everything_comes_back(edit: str, tmp_path: Path) -> None:
    trip = round_trip(hostile_corpus(tmp_path / "in.jsonl"), NAME, tmp_path, edit=EDITS[edit])
    trip.check()
    assert trip.recognised == NAME
    assert not trip.imported.warnings


def test_the_sample_comes_back(tmp_path: Path) -> None:
    round_trip(corpus_path(), NAME, tmp_path, edit=through_the_tool).check()


def test_a_projects_own_names_come_back(tmp_path: Path) -> None:
    labels = LabelMap(
        {"Zahl": "ANCHOR", "Nomen": "HEAD"},
        {"gleich": "SAME", "oder": "OR"},
        {"body": "text", "remark": "comment"},
    )
    trip = round_trip(
        hostile_corpus(tmp_path / "in.jsonl"),
        NAME,
        tmp_path,
        writing=Writing(labels=labels),
        options=ImportOptions(labels=labels),
    )
    trip.check()
    text = trip.path.read_text("utf-8")
    assert '"labels":["Nomen"]' in text
    assert '"data":{"body":"' in text
    assert '"from_name":"remark"' in text
    assert '"from_name":"comment"' not in text
    regions = [
        one["value"]["labels"]
        for task in json.loads(text)
        for made in task["annotations"]
        for one in made["result"]
        if one["type"] == "labels"
    ]
    assert ["Nomen"] in regions
    assert ["HEAD"] not in regions


def test_the_same_records_give_the_same_bytes_and_ids_are_unique(tmp_path: Path) -> None:
    made = [
        b"".join(by_name(NAME).chunks(Writing()).chunks(iter(hostile_records())))
        for _ in range(2)
    ]
    assert made[0] == made[1]
    tasks = json.loads(made[0])
    ids = [one["id"] for task in tasks for one in task["annotations"]]
    assert len(set(ids)) == len(ids) > 20
    assert [task["id"] for task in tasks] == list(range(1, len(tasks) + 1))


# --- what people do in the tool -------------------------------------------------------------


def _edited(folder: Path, edit: Callable[[Json], None]) -> tuple[Trip, Json, Json]:
    """The sample with one task changed in the tool: its lines of gold before and after."""

    def at_work(path: Path) -> None:
        through_the_tool(path, lambda tasks: edit(tasks[TASK]))

    trip = round_trip(_corpus(folder), NAME, folder, edit=at_work)
    before, after = [[json.loads(line) for line in side] for side in (trip.before, trip.after)]
    ids = {line["id"]: line for line in before}
    changed = [line for line in after if ids.get(line["id"]) != line]
    assert len(changed) == 1
    return trip, ids[changed[0]["id"]], changed[0]


TASK = 1
"""A task of the sample, with three answers; see the guard below."""


def _corpus(folder: Path) -> Path:
    """The beginning of the sample."""
    path = folder / "few.jsonl"
    path.write_bytes(b"".join(corpus_path().read_bytes().splitlines(keepends=True)[:6]))
    return path


def _answers(line: Json) -> dict[str, Json]:
    return {vote["annotator"]: vote for vote in line["votes"]}


def _label(result: Json) -> str | None:
    return result["value"]["labels"][0] if result["type"] == "labels" else None


def _first(task: Json) -> Json:
    return task["annotations"][0]


def test_the_task_that_is_edited_is_as_these_tests_take_it(tmp_path: Path) -> None:
    trip = round_trip(_corpus(tmp_path), NAME, tmp_path)
    task = json.loads(trip.path.read_bytes())[TASK]
    assert len(task["annotations"]) == 3
    assert not any(one["was_cancelled"] for one in task["annotations"])
    spots = [one["value"] for one in _first(task)["result"] if one["type"] == "labels"]
    assert [(one["text"], one["labels"]) for one in spots] == [
        ("one", ["REFERENCE"]),
        ("hen", ["HEAD"]),
    ]


def test_a_class_that_was_changed_is_the_new_answer(tmp_path: Path) -> None:
    def edit(task: Json) -> None:
        _first(task)["result"] = [
            one
            for one in _first(task)["result"]
            if one.get("id") == "s0" and one["type"] == "labels"
        ]
        _first(task)["result"][0]["value"]["labels"] = ["OTHER_CODE"]

    _, before, after = _edited(tmp_path, edit)
    (name, *others) = _answers(before)
    vote = _answers(after)[name]
    assert (vote["kind"], vote["sort"], vote["heads"]) == ("OTHER", "CODE", [])
    assert vote["at"] == NOW[:-4] + "Z"
    assert vote["guideline_version"] == _answers(before)[name]["guideline_version"]
    assert [_answers(after)[one] for one in others] == [_answers(before)[one] for one in others]
    assert after["kind"] == before["kind"]


def test_a_head_that_was_moved_and_one_that_was_added_are_the_new_answer(
    tmp_path: Path,
) -> None:
    def edit(task: Json) -> None:
        text = task["data"]["text"]
        results = _first(task)["result"]
        head = next(one for one in results if _label(one) == "HEAD")
        start = text.index("woodshed")
        head["value"] |= {"start": start, "end": start + 8, "text": "woodshed"}
        start = text.index("hides")
        results += [
            region("new", start, start + 5, "HEAD", "hides"),
            relation("s0", "new", "HEAD"),
        ]
        results += [relation("new", head["id"], "AND", direction="left")]

    _, before, after = _edited(tmp_path, edit)
    name = next(iter(_answers(before)))
    vote = _answers(after)[name]
    words = [[after["tokens"][m["head"]] for m in one["mentions"]] for one in vote["heads"]]
    assert (words, vote["relation"]) == ([["woodshed"], ["hides"]], "AND")


def test_a_span_that_cuts_a_token_makes_other_tokens_of_all(tmp_path: Path) -> None:
    def edit(task: Json) -> None:
        head = next(one for one in _first(task)["result"] if _label(one) == "HEAD")
        head["value"] |= {"end": head["value"]["end"] - 1, "text": head["value"]["text"][:-1]}

    def at_work(path: Path) -> None:
        through_the_tool(path, lambda tasks: edit(tasks[TASK]))

    trip = round_trip(_corpus(tmp_path), NAME, tmp_path, edit=at_work)
    assert trip.imported.warnings == (
        "1 token cut in two, since a region begins or ends inside it",
    )
    known = {json.loads(line)["id"]: json.loads(line) for line in trip.before}
    (fresh,) = [line for line in map(json.loads, trip.after) if line["id"] not in known]
    gone = next(
        one
        for one in known.values()
        if one["text"] == fresh["text"]
        and one["id"] not in {json.loads(line)["id"] for line in trip.after}
    )
    assert len(fresh["tokens"]) == len(gone["tokens"]) + 1
    assert fresh["kind"] == gone["kind"]
    assert len(fresh["votes"]) == len(gone["votes"])
    for one, other in zip(fresh["votes"][1:], gone["votes"][1:], strict=True):
        assert _words(fresh, one) == _words(gone, other)
        assert one["at"] == other["at"]
    assert _words(fresh, fresh["votes"][0]) == [["he"]]


def _words(line: Json, answer: Json) -> list[list[str]]:
    return [
        ["".join(line["tokens"][m["start"] : m["end"]]) for m in head["mentions"]]
        for head in answer["heads"]
    ]


def test_a_comment_that_was_written_is_the_new_comment(tmp_path: Path) -> None:
    def edit(task: Json) -> None:
        number = _first(task)["result"][0]
        place = {key: number["value"][key] for key in ("start", "end")}
        note = {"id": "s0", "type": "textarea", "from_name": "comment", "to_name": "text"}
        note["value"] = place | {"text": ["first", "second"]}
        _first(task)["result"].append(note)

    _, before, after = _edited(tmp_path, edit)
    name = next(iter(_answers(before)))
    assert _answers(after)[name]["comment"] == "first\nsecond"
    assert _answers(after)[name]["heads"] == _answers(before)[name]["heads"]


def test_an_answer_that_was_cancelled_is_a_skip(tmp_path: Path) -> None:
    _, before, after = _edited(tmp_path, lambda task: _first(task).update(was_cancelled=True))
    name = next(iter(_answers(before)))
    assert name not in _answers(after)
    assert [(one["name"], one["annotator"]) for one in after["flags"]] == [("skip", name)]


def test_an_answer_that_was_deleted_is_gone_and_counted(tmp_path: Path) -> None:
    trip, before, after = _edited(tmp_path, lambda task: task["annotations"].pop(0))
    assert len(after["votes"]) == len(before["votes"]) - 1
    assert trip.imported.warnings == (
        "1 answer that the task was exported with and no longer has: left out",
    )


def test_somebody_elses_answer_is_added(tmp_path: Path) -> None:
    def edit(task: Json) -> None:
        number = _first(task)["result"][0]["value"]
        place = region("q", number["start"], number["end"], "AGE", number["text"])
        task["annotations"].append(added("new@example.org", [place], lead_time=4))

    _, before, after = _edited(tmp_path, edit)
    vote = _answers(after)["new@example.org"]
    assert (vote["kind"], vote["seconds"]) == ("AGE", 4.0)
    assert len(after["votes"]) == len(before["votes"]) + 1


def test_a_skip_that_was_answered_is_no_skip(tmp_path: Path) -> None:
    skipped = next(
        rank
        for rank, record in enumerate(hostile_records())
        if any(flag.annotator == "only flags" for flag in record.flags)
    )

    def edit(tasks: list[Json]) -> None:
        one = next(a for a in tasks[skipped]["annotations"] if a["was_cancelled"])
        one |= {"was_cancelled": False, "result": tasks[skipped]["predictions"][0]["result"]}
        one["result"][0]["value"]["labels"] = ["AGE"]

    trip = round_trip(
        hostile_corpus(tmp_path / "in.jsonl"),
        NAME,
        tmp_path,
        edit=lambda path: through_the_tool(path, edit),
    )
    before, after = (json.loads(side[skipped]) for side in (trip.before, trip.after))
    assert [one["annotator"] for one in before["flags"]].count("only flags") == 1
    assert "only flags" not in [one["annotator"] for one in after["flags"]]
    assert _answers(after)["only flags"]["kind"] == "AGE"


# --- what a project's tasks hold besides ----------------------------------------------------


def test_other_data_and_the_layout_of_a_dialog_come_back(tmp_path: Path) -> None:
    talk = [
        {"author": "Ann", "text": "😀 Two maps?"},
        {"author": "Ben", "text": "No 😀 three."},
    ]
    value = {"start": "1", "end": "1", "startOffset": 6, "endOffset": 11, "text": "three"}
    marked = region("a", 0, 0, "AGE") | {"type": "paragraphlabels", "from_name": "kinds"}
    marked["value"] = value | {"paragraphlabels": ["AGE"]}
    task = {
        "data": {"talk": talk, "episode": 7, "tags": ["x"]},
        "annotations": [added("eva", [marked])],
        "meta": {"batch": "b"},
    }
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    with Store.open(tmp_path / "x.db", create=True) as store:
        imported(store, path)
        export_file(store, parse(""), by_name(NAME), tmp_path / "ours.json")
        lines = gold_lines(store, tmp_path / "a.jsonl")
    (ours,) = json.loads((tmp_path / "ours.json").read_bytes())
    assert ours["meta"] == {"batch": "b"}
    assert {key: ours["data"][key] for key in task["data"]} == task["data"]
    (result,) = ours["annotations"][0]["result"]
    assert {**result, "id": "a", "origin": "manual"} == marked
    with Store.open(tmp_path / "y.db", create=True) as store:
        imported(store, tmp_path / "ours.json")
        assert gold_lines(store, tmp_path / "b.jsonl") == lines
