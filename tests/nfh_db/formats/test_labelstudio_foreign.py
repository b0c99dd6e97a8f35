"""Label Studio's files as its projects export them: no word of this program in them."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.base import First
from nfh_db.formats.files import Source
from nfh_db.formats.label_studio import LABEL_STUDIO
from nfh_db.formats.rows import DialogBlock, GoldRow, LabelMap, Row
from nfh_db.records import FlagName, Role, Rule
from nfh_models.domain import Kind, Origin, Relation, Sort
from nfh_tui.services.imports import recognise_file
from tests.nfh_db.formats.labelstudio_tool import (
    ASTRAL,
    BOTH,
    THREE,
    Json,
    added,
    mark,
    only,
    place,
    read_tasks,
    region,
    relation,
    said,
    task,
)

Read = Callable[..., tuple[list[Row], list[str]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The rows of tasks, and what is said at the end."""
    return partial(read_tasks, tmp_path)


def test_regions_and_relations_are_an_answer(read: Read) -> None:
    rows, warnings = read(task(added("eva@example.org", list(BOTH), lead_time=12.5)))
    row = only(rows)
    assert said(row) == (Kind.REFERENCE, [["tickets"], ["map"]], Relation.OR)
    assert row.votes[0].annotator == "eva@example.org"
    assert row.votes[0].answered_at == "2026-03-04T05:06:07.890Z"
    assert row.votes[0].seconds == 12.5
    assert row.gold is None
    assert [turn.speaker for turn in row.passage.turns] == ["Ann", "Ben"]
    assert row.tokenizer
    assert not warnings


@pytest.mark.parametrize(
    ("who", "name"),
    [
        (7, "user7"),
        ({"id": 7, "email": "", "first_name": "Eva", "last_name": "Ö"}, "Eva Ö"),
        ({"id": 7}, "user7"),
    ],
)
def test_people_are_called_by_what_the_file_has(read: Read, who: Any, name: str) -> None:
    one = added("x", [mark("a", "three", "AGE")]) | {"completed_by": who}
    assert only(read(task(one))[0]).votes[0].annotator == name


def test_an_annotation_of_nobody_and_a_ground_truth_are_gold(read: Read) -> None:
    nobody = added("x", [mark("a", "three", "AGE")]) | {"completed_by": None}
    row = only(read(task(nobody))[0])
    assert row.gold is not None
    assert (row.gold.answer.kind, row.gold.rule, row.votes) == (Kind.AGE, Rule.IMPORTED, ())
    truth = added("eva", [mark("a", "three", "AGE")], ground_truth=True)
    row = only(read(task(truth))[0])
    assert row.gold is not None
    assert [vote.annotator for vote in row.votes] == ["eva"]


def test_ground_truths_that_differ_are_votes_and_no_gold(read: Read) -> None:
    one = added("eva", [mark("a", "three", "AGE")], ground_truth=True)
    two = added("dan", [mark("a", "three", "YEAR")], ground_truth=True)
    rows, warnings = read(task(one, two))
    assert only(rows).gold is None
    assert len(only(rows).votes) == 2
    assert warnings == ["1 number with ground truths that differ: none of them is gold"]


def test_predictions_are_votes_of_models(read: Read) -> None:
    predictions = [{"model_version": "rules 2", "result": list(BOTH)}, 17]
    rows, warnings = read(task(predictions=predictions))
    (vote,) = only(rows).votes
    assert (vote.annotator, vote.type, vote.role) == ("rules 2", "model", Role.ANNOTATOR)
    assert warnings == ["1 prediction of which the file has the number only: left out"]


def test_cancelled_tasks_set_a_flag_and_drafts_are_counted(read: Read) -> None:
    done = added("eva", [mark("a", "three", "AGE")])
    skipped = added("dan", [], was_cancelled=True)
    rows, warnings = read(task(done, skipped, drafts=[{"result": []}, {"result": []}]))
    (flag,) = only(rows).flags
    assert (flag.name, flag.annotator) == (FlagName.SKIP, "dan")
    assert [vote.annotator for vote in only(rows).votes] == ["eva"]
    assert warnings == ["2 drafts left out: nobody submitted them"]


def test_a_text_without_a_number_is_raw_dialog(read: Read) -> None:
    rows, warnings = read(task(added("dan", [], was_cancelled=True)))
    (block,) = rows
    assert isinstance(block, DialogBlock)
    assert [turn.speaker for turn in block.turns] == ["Ann", "Ben"]
    assert warnings == [
        "1 text without a number marked: its numbers were found by rule",
        "1 task skipped in which no number is marked: no flag set",
    ]


def test_several_numbers_of_one_annotation_are_told_apart(read: Read) -> None:
    results = [*BOTH, mark("n", "Two", "NUM", hotkey=1), mark("s", "No", "Noise")]
    results.append(relation("b", "n", direction="left"))
    labels = LabelMap({"NUM": "ANCHOR", "Noise": "ignore"})
    rows, warnings = read(task(added("eva", results)), labels=labels)
    by_word = {
        row.passage.words[row.anchor.start]: said(row)
        for row in rows
        if isinstance(row, GoldRow)
    }
    assert by_word == {
        "three": (Kind.REFERENCE, [["tickets"], ["map"]], Relation.OR),
        "Two": (Kind.REFERENCE, [["tickets"]], None),
    }
    assert warnings == ["1 mark left out, by the map"]


def test_what_a_reviewer_rejected_does_not_count_unless_it_is_said(read: Read) -> None:
    good = added("eva", [mark("a", "three", "AGE")])
    bad = added("dan", [mark("a", "three", "YEAR")]) | {
        "reviews": [{"id": 1, "accepted": True}, {"id": 2, "accepted": False}]
    }
    rows, warnings = read(task(good, bad))
    assert [vote.annotator for vote in only(rows).votes] == ["eva"]
    assert warnings == [
        "1 annotation that a reviewer rejected left out (--count-rejected takes them in)"
    ]
    rows, warnings = read(task(good, bad), count_rejected=True)
    assert [vote.annotator for vote in only(rows).votes] == ["eva", "dan"]
    assert not warnings


def test_choices_and_words_belong_to_the_region_of_their_id(read: Read) -> None:
    number = mark("a", "three", "ANCHOR")
    chosen = number | {
        "type": "choices",
        "from_name": "kind",
        "value": {"choices": ["OTHER_NOUN"]},
    }
    noun = number | {
        "type": "textarea",
        "from_name": "noun",
        "value": {"text": ["map", "plan"]},
    }
    note = {"type": "textarea", "from_name": "remark", "value": {"text": ["hm"]}, "id": "zz"}
    rate = {"type": "rating", "from_name": "stars", "value": {"rating": 3}, "id": "q"}
    rows, warnings = read(
        task(added("eva", [number, chosen, noun, note, rate])),
        labels=LabelMap(layer={"remark": "comment"}),
    )
    (vote,) = only(rows).votes
    answer = vote.answer
    assert (answer.kind, answer.sort, answer.noun, answer.comment) == (
        Kind.OTHER,
        Sort.NOUN,
        "map\nplan",
        "hm",
    )
    assert warnings == ["1 result left out that have no meaning here: rating"]


def test_old_exports_call_annotations_completions(read: Read) -> None:
    old = task()
    old["completions"] = [added("eva", list(BOTH))]
    del old["annotations"]
    assert said(only(read(old)[0]))[0] is Kind.REFERENCE


def test_offsets_are_code_points_unless_it_is_said(read: Read) -> None:
    start, end = place("three", ASTRAL)
    points = task(added("eva", [region("a", start, end, "AGE", "three")]), text=ASTRAL)
    units = task(added("eva", [region("a", start + 1, end + 1, "AGE", "three")]), text=ASTRAL)
    rows = read(points)[0]
    assert only(rows).passage.words[only(rows).anchor.start] == "three"
    assert only(read(units, offsets="utf16")[0]).anchor == only(rows).anchor
    with pytest.raises(
        FormatError, match=r'item 1, id 3: at 30 to 35: expected "three", found'
    ):
        read(units)
    inside = task(added("eva", [region("a", 6, 11, "AGE")]), text=ASTRAL)
    with pytest.raises(FormatError, match="offset 6 is inside a character"):
        read(inside, offsets="utf16")


def test_a_region_whose_line_breaks_the_browser_changed_is_taken(read: Read) -> None:
    text = "Two\r\ntickets? three"
    head = region("b", 0, 12, "HEAD", "Two\\n\\ntickets")
    rows, warnings = read(
        task(added("e", [mark("a", "three", "ANCHOR", text), head]), text=text)
    )
    assert said(only(rows)) == (Kind.REFERENCE, [["tickets"]], None)
    assert warnings == ["1 region whose text the file has with other white space"]


# --- what is refused ------------------------------------------------------------------------


def bad_region(**value: Any) -> Json:
    return added("eva", [{"id": "a", "type": "labels", "value": {"labels": ["AGE"], **value}}])


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([{"data": {"n": 3}}], 'key "data": wanted one text, found none'),
        ([{"data": {"a": "x 1", "b": "y"}}], 'key "data": wanted one text, found a, b'),
        ([{"data": {}}], 'key "data": wanted one text, found none'),
        ([{"data": {"image": "/data/upload/two dogs.jpg"}}], "found the address of a picture"),
        ([{"data": {"image": "two dogs"}}], "found the address of a picture"),
        ([{"data": {"url": "https://x.org/two"}}], "found the address of a picture"),
        ([{"data": {"x": "/data/local-files/?d=3.wav"}}], "found the address of a picture"),
        ([{"id": 1, "annotations": []}], 'key "data" is missing'),
        ([{"data": 3}], "item 1: found a whole number, wanted an object or null, at data"),
        ([task(bad_region(start=40, end=99))], "outside a text of 43 characters"),
        ([task(bad_region(start=-1, end=3))], "outside a text"),
        ([task(bad_region(start=7, end=7))], "outside a text"),
        ([task(bad_region(start="x", end=3))], 'a region starts at "x" and ends at 3'),
        (
            [task(bad_region(start=1.5, end=3))],
            "found a number, wanted a whole number or text or null, at [0].value.start",
        ),
        (
            [task(added("eva", [mark("a", "three", "NUM")]))],
            'found 1 span "NUM" of no known meaning',
        ),
        ([task(added("eva", [*THREE, relation("a", "zz", "HEAD")]))], 'region "zz"'),
        (
            [task(added("eva", [*THREE, relation("b", "c")]))],
            'found 1 relation "" of no known meaning',
        ),
        ([task(added("x\ny", [mark("a", "three", "AGE")]))], 'key "completed_by"'),
        ([task(added("x", [mark("a", "three", "AGE")], updated_at="soon"))], 'the time "soon"'),
        ([task(added("x", list(BOTH), lead_time=-1))], "found -1.0, wanted seconds, 0 or more"),
        ([task(), task(text="1")], "item 2, id 3: this id occurred before with other content"),
        ([[]], 'found "[]]", wanted an object'),
    ],
)
def test_what_does_not_hold_is_refused(read: Read, tasks: Any, message: str) -> None:
    with pytest.raises(FormatError) as refused:
        read(*tasks)
    assert message in str(refused.value)


def test_a_text_is_found_by_its_name_in_the_mapping(read: Read) -> None:
    both = {"data": {"a": "Two maps", "b": "One"}, "annotations": []}
    (block,) = read(both, labels=LabelMap(layer={"a": "text"}))[0]
    assert isinstance(block, DialogBlock)
    assert block.text == "Two maps"


def test_a_task_twice_counts_once(read: Read) -> None:
    one = task(added("eva", list(BOTH)))
    rows, warnings = read(one, one)
    assert len(rows) == 1
    assert warnings == ["1 task that occurred in the file before"]


def test_overlapping_regions_are_kept(read: Read) -> None:
    results = [mark("a", "three", "REFERENCE"), mark("b", "Two tickets", "HEAD")]
    results += [mark("c", "tickets and a map", "HEAD"), mark("d", "tickets", "HEAD")]
    results += [relation("a", key, "HEAD") for key in "bcd"]
    results += [relation("d", "b", "SAME")]
    (vote,) = only(read(task(added("eva", results)))[0]).votes
    spans = [[(m.start, m.end) for m in head.mentions] for head in vote.answer.heads]
    assert spans == [[(0, 2), (1, 2)], [(1, 5)]]
    assert {m.origin for m in vote.answer.mentions()} == {Origin.MARKED}


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([task(added("eva", list(BOTH)))]),
        json.dumps([task(added("eva", list(BOTH)))], indent=2),
        json.dumps(task(added("eva", list(BOTH)))),
        json.dumps([{"text": "x", "annotator": 1, "annotation_id": 2, "lead_time": 3}]),
        json.dumps([{"data": {"text": "x"}}]),
        json.dumps({"id": 4, "data": {"text": "x"}}) + "\n",
    ],
)
def test_the_formats_files_are_told_by_what_is_in_them(content: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(content, encoding="utf-8")
    assert recognise_file(path, None).format.name == "label-studio"


@pytest.mark.parametrize(
    "content",
    [
        '{"data": [{"text": "x"}]}',
        '[{"text": "x", "meta": {"data": 1}}]',
        '[{"version": 1, "data": {"text": "x"}}]',
    ],
)
def test_other_json_is_none(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    assert LABEL_STUDIO.sniff(First.of(Source(path))) is None


def test_a_note_on_a_number_is_a_comment_and_on_another_region_counted(read: Read) -> None:
    noted = mark("a", "three", "REFERENCE") | {"meta": {"text": ["odd", "very"]}}
    other = mark("b", "tickets", "HEAD") | {"meta": {"text": "hm"}}
    rows, warnings = read(task(added("eva", [noted, other, relation("a", "b", "HEAD")])))
    assert only(rows).votes[0].answer.comment == "odd\nvery"
    assert warnings == [
        "1 result left out that have no meaning here: note on a region that is not a number"
    ]


def test_what_a_cancelled_annotation_marks_is_a_number_passed_over(read: Read) -> None:
    halfway = [mark("a", "three", "ANCHOR"), mark("b", "tickets", "HEAD")]
    rows, warnings = read(task(added("dan", halfway, was_cancelled=True)))
    row = only(rows)
    assert [(flag.name, flag.annotator) for flag in row.flags] == [(FlagName.SKIP, "dan")]
    assert (row.votes, row.gold) == ((), None)
    assert warnings == ["1 number marked in a cancelled annotation: no answer, and not kept"]
    several = [*halfway, mark("c", "Two", "ANCHOR")]  # Whose head it is was not said yet.
    rows, warnings = read(task(added("dan", several, was_cancelled=True)))
    assert isinstance(rows[0], DialogBlock)
    assert "1 task skipped whose marks contradict each other: left out" in warnings


def test_regions_that_nothing_can_be_checked_against_are_counted(read: Read) -> None:
    three = mark("a", "three", "AGE", text=ASTRAL)
    del three["value"]["text"]
    for offsets, count in ((None, 1), ("codepoint", 0)):
        _, warnings = read(task(added("eva", [three]), text=ASTRAL), offsets=offsets)
        assert sum("without its text" in one for one in warnings) == count


def test_a_submitted_annotation_without_a_number_is_counted(read: Read) -> None:
    done = added("eva", [mark("a", "three", "AGE")])
    rows, warnings = read(task(done, added("dan", [])))
    assert [vote.annotator for vote in only(rows).votes] == ["eva"]
    assert warnings == [
        "1 annotation without a number marked, of texts in which others mark some"
    ]


@pytest.mark.parametrize(("times", "kind"), [((3, 2), Kind.AGE), ((None, 3), Kind.YEAR)])
def test_of_two_answers_of_one_person_the_later_counts(
    read: Read, times: tuple[int | None, ...], kind: Kind
) -> None:
    """Where a time is unknown, the order of the file decides."""
    given = [
        added("eva", [mark("a", "three", label)])
        | {"created_at": at and f"2026-03-0{at}T05:06:07Z", "updated_at": None}
        for label, at in zip(("AGE", "YEAR"), times, strict=True)
    ]
    rows, warnings = read(task(*given))
    assert [vote.answer.kind for vote in only(rows).votes] == [kind]
    assert "given twice by one person" in warnings[0]
