"""Tasks as Prodigy writes them, read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.files import Source
from nfh_db.formats.prodigy import PRODIGY, common_start
from nfh_db.formats.registry import opened, reading
from nfh_db.formats.rows import DialogBlock, GoldRow, LabelMap, Row
from nfh_db.records import FlagName, Role, Rule
from nfh_models.domain import Kind, Origin, Relation, Sort

TEXT = "Ann: Two red tickets, or cards?\nBen: No, three."
AT = "2023-11-14T22:13:20.000Z"

Task = dict[str, Any]
Read = Callable[..., tuple[list[Row], list[str]]]


@pytest.fixture
def read(write: Callable[..., Path]) -> Read:
    """Reads tasks, or lines; gives rows and warnings."""

    def run(*tasks: Task | str, **settings: Any) -> tuple[list[Row], list[str]]:
        lines = [task if isinstance(task, str) else json.dumps(task) for task in tasks]
        source = Source(write("".join(f"{line}\n" for line in lines)))
        rows = list(PRODIGY.read(source, reading(**settings)))
        return rows, source.warnings

    return run


def span(word: str, label: str | None) -> Task:
    start = TEXT.index(word)
    return {"start": start, "end": start + len(word), "label": label}


def task(*spans: Task, **more: Any) -> Task:
    """As a session of Prodigy leaves it."""
    return {
        "text": TEXT,
        "spans": list(spans),
        "answer": "accept",
        "_timestamp": 1700000000,
        "_annotator_id": "tix-eva",
        "_session_id": "tix-eva",
        "_view_id": "relations",
    } | more


def link(head: Task, child: Task, label: str, **more: Any) -> Task:
    return {
        "head_span": head,
        "child_span": child,
        "label": label,
        "head": 0,
        "child": 0,
    } | more


NUMBER, TICKETS, CARDS = (
    span("three", "ANCHOR"),
    span("red tickets", "HEAD"),
    span("cards", "HEAD"),
)


def only(rows: list[Row]) -> GoldRow:
    (row,) = rows
    assert isinstance(row, GoldRow)
    return row


def test_an_accepted_task_is_the_answer_of_its_annotator(read: Read) -> None:
    links = [link(NUMBER, TICKETS, "HEAD"), link(CARDS, NUMBER, "ADDED")]
    links.append(link(TICKETS, CARDS, "OR"))
    rows, warnings = read(task(NUMBER, TICKETS, CARDS, relations=links))
    row = only(rows)
    (vote,) = row.votes
    assert (vote.annotator, vote.answered_at, vote.role) == ("eva", AT, Role.ANNOTATOR)
    assert vote.answer.kind is Kind.REFERENCE
    assert vote.answer.relation is Relation.OR
    spans = [(row.passage.words[m.start : m.end], m.origin) for m in vote.answer.mentions()]
    assert spans == [(["red", "tickets"], Origin.MARKED), (["cards"], Origin.ADDED)]
    assert row.gold is None
    assert [(t.speaker, t.number) for t in row.passage.turns] == [("Ann", 0), ("Ben", 1)]
    assert warnings == [
        'the names of annotators are those of sessions without "tix-", the dataset\'s name'
    ]


def test_ends_of_relations_are_the_spans_that_they_state(read: Read) -> None:
    """The ids of tokens beside them may be of a span's first or last token."""
    stated = only(read(task(NUMBER, TICKETS, relations=[link(NUMBER, TICKETS, "HEAD")]))[0])
    words = ("Two", "red", "tickets", ",", "or", "cards", "?", "\n", "No", ",", "three", ".")
    tokens, place = [], 0
    for number, word in enumerate(words, 10):
        place = TEXT.index(word, place)
        end = place + len(word)
        tokens.append({"text": word, "start": place, "end": end, "id": number, "ws": True})
        place = end
    of_ids = {"label": "HEAD", "head": 20, "child": 12}
    told = only(read(task(NUMBER, TICKETS, relations=[of_ids], tokens=tokens))[0])
    bare = only(read(task(NUMBER, relations=[of_ids], tokens=tokens))[0])
    assert stated.votes[0].answer.heads[0].mentions[0].end - 1 == stated.passage.words.index(
        "tickets"
    )
    assert [told.passage.words[m.head] for m in told.votes[0].answer.mentions()] == ["tickets"]
    # A relation may go to a token that nobody made a span of.
    assert [bare.passage.words[m.head] for m in bare.votes[0].answer.mentions()] == ["tickets"]
    assert "\n" not in told.passage.words
    assert told.tokenizer is None


@pytest.mark.parametrize(
    ("more", "kind", "sort"),
    [
        ({"accept": ["YEAR"], "options": [{"id": "YEAR", "text": "a year"}]}, Kind.YEAR, None),
        ({"label": "OTHER_CODE"}, Kind.OTHER, Sort.CODE),
        ({"spans": [span("three", "AGE")], "accept": ["AGE"]}, Kind.AGE, None),
        ({"spans": [span("three", "NFH")], "_is_binary": True}, Kind.NFH, None),
        ({"accept": ["sure", "TIME"]}, Kind.TIME, None),
    ],
)
def test_a_class_may_be_a_choice_or_a_label(
    read: Read, more: Task, kind: Kind, sort: Sort | None
) -> None:
    how = LabelMap({"sure": "ignore"})
    (vote,) = only(read(task(NUMBER) | more, labels=how)[0]).votes
    assert (vote.answer.kind, vote.answer.sort) == (kind, sort)


def test_what_was_passed_over_or_refused_is_no_answer_but_kept(read: Read) -> None:
    rows, _ = read(
        task(span("three", "AGE"), answer="ignore"),
        task(span("three", "AGE"), answer="reject", _annotator_id="tix-ben", _session_id="x"),
    )
    flags = [
        (flag.name, flag.annotator, flag.flagged_at) for row in rows for flag in _flags(row)
    ]
    assert flags == [(FlagName.SKIP, "eva", AT), (FlagName.REJECT, "tix-ben", AT)]
    assert not any(row.votes or row.gold for row in rows if isinstance(row, GoldRow))


def _flags(row: Row) -> Any:
    assert isinstance(row, GoldRow)
    return row.flags


def test_tasks_of_nobody_are_gold(read: Read) -> None:
    unnamed = "tix-2023-11-14_22-10-05"
    nobody = {"_annotator_id": None, "_session_id": None}
    rows, warnings = read(
        task(span("three", "AGE"), _annotator_id=unnamed, _session_id=unnamed),
        {"text": TEXT, "spans": [span("three", "AGE")]},
        task(span("three", "AGE"), answer="reject") | nobody,
    )
    golds = [row.gold for row in rows if isinstance(row, GoldRow)]
    assert [gold and (gold.answer.kind, gold.rule) for gold in golds] == [
        (Kind.AGE, Rule.IMPORTED),
        (Kind.AGE, Rule.IMPORTED),
        None,
    ]
    assert warnings == [
        "1 task skipped or refused without a name: no flag set",
        "1 number marked in a task that was skipped or refused: no answer, and not kept",
    ]


@pytest.mark.parametrize(
    ("sessions", "start"),
    [
        ({"tix-eva", "tix-ben"}, "tix-"),
        ({"my-set-eva"}, "my-set-"),
        ({"my-set-anna-maria", "my-set-ben"}, "my-set-"),
        ({"tix-eva", "tax-eva"}, ""),
        ({"eva", "evan"}, ""),
        ({"tix-eva", "tix-2023-11-14_22-10-05"}, "tix-"),
        (set(), ""),
    ],
)
def test_the_name_of_the_dataset_is_what_all_sessions_begin_with(
    sessions: set[str], start: str
) -> None:
    assert common_start(sessions) == start


def test_a_review_is_gold_and_its_versions_are_answers(read: Read) -> None:
    version = {"text": TEXT, "answer": "accept", "_timestamp": 1700000000}
    rows, _ = read(
        task(
            span("three", "AGE"),
            _annotator_id="tix_review-dora",
            _session_id="tix_review-dora",
            _view_id="review",
            sessions=["tix-ben", "tix-eva", "tix-kim"],
            versions=[
                version | {"spans": [span("three", "AGE")], "sessions": ["tix-ben", "tix-kim"]},
                version | {"spans": [NUMBER, TICKETS], "sessions": ["tix-eva"]},
            ],
        )
    )
    row = only(rows)
    assert row.gold is not None
    assert (row.gold.answer.kind, row.gold.rule, row.gold.adjudicator) == (
        Kind.AGE,
        Rule.EXPERT,
        "dora",
    )
    assert [(v.annotator, v.role, v.answer.kind) for v in row.votes] == [
        ("dora", Role.ADJUDICATOR, Kind.AGE),
        ("ben", Role.ANNOTATOR, Kind.AGE),
        ("kim", Role.ANNOTATOR, Kind.AGE),
        ("eva", Role.ANNOTATOR, Kind.REFERENCE),
    ]


def test_each_number_of_a_task_is_a_row(read: Read) -> None:
    two = span("Two", "REFERENCE")
    links = [link(two, TICKETS, "HEAD"), link(NUMBER, CARDS, "HEAD")]
    rows, _ = read(task(two, NUMBER, TICKETS, CARDS, relations=links))
    assert [r.passage.words[r.anchor.start] for r in rows if isinstance(r, GoldRow)] == [
        "Two",
        "three",
    ]
    heads = [
        [r.passage.words[m.head] for m in r.votes[0].answer.mentions()]
        for r in rows
        if isinstance(r, GoldRow)
    ]
    assert heads == [["tickets"], ["cards"]]


def test_a_text_without_a_number_is_raw_dialog(read: Read) -> None:
    rows, warnings = read(
        {"text": TEXT}, {"text": TEXT, "label": "AGE", "answer": "reject"}, {"text": " "}
    )
    assert all(isinstance(row, DialogBlock) for row in rows)
    assert len(rows) == 2
    assert warnings == [
        "1 task without a word left out",
        "2 texts without a number marked: numbers were found by rule",
        "1 text with a class, but no number marked to have it: the class was left out",
        "1 text skipped or refused without a marked number: no flag set",
    ]


def test_what_is_unknown_is_carried_as_it_is_spelled(read: Read) -> None:
    line = json.dumps(task(span("three", "AGE")))
    kept = '"meta":{"source":"shelf 3","n":1.50},"_input_hash":-7,"tags":["a\\u00e9"]'
    row = only(read(f"{line[:-1]},{kept}}}")[0])
    assert row.labels == f'{{"prodigy":{{{kept}}}}}'


def test_names_of_a_project_are_translated(read: Read) -> None:
    how = LabelMap({"NUM": "ANCHOR", "THING": "HEAD", "DATE": "ignore"}, {"of": "HEAD"})
    number, thing = span("three", "NUM"), span("red tickets", "THING")
    spans = (number, thing, span("No", "DATE"))
    rows, warnings = read(task(*spans, relations=[link(number, thing, "of")]), labels=how)
    assert only(rows).votes[0].answer.kind is Kind.REFERENCE
    assert "1 mark left out, by the map" in warnings


def test_marks_inside_tokens_cut_them(read: Read) -> None:
    rows, warnings = read(task(span("thr", "ANCHOR")))
    assert only(rows).passage.words[-3:] == ["thr", "ee", "."]
    assert "1 token cut in two, since a mark begins or ends inside it" in warnings


def test_a_file_of_windows_is_read(write: Callable[..., Path]) -> None:
    line = json.dumps(task(span("three", "AGE")))
    source = Source(write(f"\ufeff{line}\r\n{line}\r\n"))
    assert len(list(PRODIGY.read(source, reading()))) == 2


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_tasks_is_read_as_lines_are(write: Callable[..., Path], indent: int) -> None:
    tasks = [task(span("three", "AGE")), task(span("Two", "TIME"))]
    path = write(json.dumps(tasks, indent=indent), "tasks.json")
    found = opened(path)
    assert found.format is PRODIGY
    rows = [row for row in PRODIGY.read(found.source, reading()) if isinstance(row, GoldRow)]
    assert [(row.line, row.votes[0].annotator) for row in rows] == [(1, "eva"), (2, "eva")]
    assert [row.votes[0].answer.kind for row in rows] == [Kind.AGE, Kind.TIME]
    bad = write(json.dumps([*tasks, task(answer="maybe")], indent=indent), "bad.json")
    with pytest.raises(FormatError, match='item 3: key "answer": found "maybe"'):
        list(PRODIGY.read(Source(bad), reading()))


PAST = 'the span 40 to 99, "AGE", is outside a text of 47 characters'


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("[1]", 'found "[1]"; wanted a JSON object'),
        ('{"text": ', "the line is not JSON: "),
        ('{"text": 3}', 'key "text": found a whole number, wanted text'),
        ('{"image": "a.png", "answer": "accept"}', 'key "text" is missing; wanted a task with'),
        (task(answer="maybe"), 'key "answer": found "maybe", wanted one of accept, reject,'),
        (task({"start": 40, "end": 99, "label": "AGE"}), PAST),
        (task({"start": 9, "end": 9, "label": "AGE"}), "the span 9 to 9"),
        (task({"start": -5, "end": 3, "label": "AGE"}), "the span -5 to 3"),
        (task(span("three", None)), "the span 41 to 46 has no label"),
        (
            task({"points": [], "label": "AGE"}),
            'the key "start" is missing, at [0]',
        ),
        (task(span("three", "AGE") | {"text": "four"}), 'expected "four", found "three"'),
        (task(tokens=[{"start": 5, "end": 8, "text": "One"}]), 'expected "One", found "Two"'),
        (task(tokens=[{"start": 5, "end": 800}]), "token 0 has offsets 5 to 800"),
        (
            task(NUMBER, relations=[{"label": "HEAD", "head": 3, "child": 4}]),
            "is token 3, which",
        ),
        (task(NUMBER, span("Two", "AGE"), TICKETS), "is linked to no number of 2"),
        (task(span("three", "AGE"), TICKETS), "AGE has no head in the passage, but 1"),
        (task(span("three", "AGE"), accept=["TIME"]), "marked as AGE, but its class is TIME"),
        (task(NUMBER, accept=["AGE", "TIME"]), "2 classes (AGE, TIME) for 1 numbers"),
        (task(NUMBER, _timestamp=1e300), 'key "_timestamp": found 1e+300, wanted seconds'),
        (task(NUMBER, _annotator_id="a\nb"), "the annotator is"),
        (task(NUMBER, versions=[{"text": "other"}]), "expected the text of the task"),
        (
            task(NUMBER, nfh={"format": "nfh-item/9"}),
            "key \"nfh\": found 'nfh-item/9', which is not allowed there, at format",
        ),
    ],
)
def test_what_does_not_hold_is_refused_with_its_line(
    read: Read, line: Task | str, wanted: str
) -> None:
    with pytest.raises(FormatError) as refusal:
        read(task(NUMBER), line)
    assert "line 2: " in str(refusal.value)
    assert wanted in str(refusal.value)


def test_values_nested_too_deep_are_refused(read: Read) -> None:
    deep = "[" * 5000 + "]" * 5000
    with pytest.raises(FormatError, match="nested too deep"):
        read(json.dumps(task(NUMBER))[:-1] + f', "meta": {deep}}}')
