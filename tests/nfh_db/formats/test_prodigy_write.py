"""Tasks as they are written: what Prodigy's documentation asks of them, and what comes back."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from nfh_db.formats.prodigy import HASHES
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import LabelMap, Writing
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_tui.sample import corpus_path
from nfh_tui.services.imports import ImportOptions, export_file
from tests.nfh_db.formats.round_trip import hostile_corpus, imported, round_trip

Task = dict[str, Any]
SOME = 40
"""Numbers of the sample corpus that are enough here."""


def tasks_of(path: Path) -> list[Task]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def gold_of(lines: Any) -> dict[str, Task]:
    return {line["id"]: line for line in map(json.loads, lines)}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("sample")
    lines = corpus_path().read_bytes().split(b"\n")[:SOME]
    (folder / "some.jsonl").write_bytes(b"\n".join(lines))
    with Store.open(folder / "x.db", create=True) as store:
        imported(store, folder / "some.jsonl", "gold")
        yield store


@pytest.fixture(scope="module")
def tasks(sample: Store, tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    path = tmp_path_factory.mktemp("out") / "out.jsonl"
    export_file(sample, parse(""), by_name("prodigy"), path)
    return tasks_of(path)


def check_task(task: Task) -> None:
    """Raise AssertionError unless a task is what the documentation's "Annotation interfaces"
    shows of `relations`: tokens that stand where they say, spans whose last token is
    inclusive, relations between ids of tokens, each end stated as a span.
    """
    tokens = task["tokens"]
    assert [token["id"] for token in tokens] == list(range(len(tokens)))
    for token in tokens:
        assert task["text"][token["start"] : token["end"]] == token["text"]
    for span in task["spans"]:
        assert tokens[span["token_start"]]["start"] == span["start"]
        assert tokens[span["token_end"]]["end"] == span["end"]
        for token in tokens[span["token_start"] : span["token_end"] + 1]:
            assert "disabled" not in token
    for relation in task["relations"]:
        for end in ("head", "child"):
            assert relation[f"{end}_span"] in task["spans"]
            assert relation[end] == relation[f"{end}_span"]["token_end"]


def test_tasks_are_what_prodigy_reads(tasks: list[Task]) -> None:
    for task in tasks:
        check_task(task)
        for version in task.get("versions", ()):
            check_task(version)
            assert version["text"] == task["text"]
            assert version["sessions"]
    assert {task["answer"] for task in tasks if "answer" in task} == {"accept"}
    assert {task.get("_view_id") for task in tasks} == {"relations", "review"}
    assert not any(name in task for task in tasks for name in HASHES)


def test_tokens_show_the_whole_text(tasks: list[Task]) -> None:
    """As spaCy, whose tokens Prodigy's are, makes the text of them: speakers are in it."""
    vocab = spacy.blank("en").vocab
    for task in tasks[:100]:
        tokens = task["tokens"]
        doc = Doc(
            vocab,
            words=[token["text"] for token in tokens],
            spaces=[token["ws"] for token in tokens],
        )
        assert doc.text == task["text"]
        for span in task["spans"]:
            found = doc.char_span(span["start"], span["end"], alignment_mode="strict")
            assert found is not None
            assert (found.start, found.end - 1) == (span["token_start"], span["token_end"])


def test_everybody_who_answered_has_a_task_and_gold_a_review(
    sample: Store, tasks: list[Task]
) -> None:
    records = list(sample.items.records(parse(""), None, "gold"))
    answered = sum(len(record.votes) for record in records)
    reviews = [task for task in tasks if task.get("_view_id") == "review"]
    accepted = [task for task in tasks if task.get("_view_id") == "relations"]
    assert len([task for task in accepted if task["answer"] == "accept"]) == answered
    assert len(reviews) == sum(record.gold is not None for record in records)
    assert sum(len(task["sessions"]) for task in reviews) == sum(
        len(record.votes) for record in records if record.gold
    )


def test_who_passed_over_a_number_ignored_its_task(tmp_path: Path) -> None:
    trip = round_trip(hostile_corpus(tmp_path / "in.jsonl"), "prodigy", tmp_path / "trip")
    asked = {"skip": "ignore", "reject": "reject"}
    expected = sorted(
        (asked[flag["name"]], flag["annotator"])
        for line in map(json.loads, trip.before)
        for flag in line["flags"]
        if flag["name"] in asked
        and flag["annotator"] not in {vote["annotator"] for vote in line["votes"]}
    )
    tasks = tasks_of(trip.path)
    for task in tasks:
        check_task(task)
    passed = [
        (t["answer"], t["_annotator_id"]) for t in tasks if t.get("answer") in asked.values()
    ]
    assert expected
    assert sorted(passed) == expected
    # A number of which nobody says anything is a task to be answered.
    plain = [task for task in tasks if "answer" not in task]
    assert plain
    for task in plain:
        assert [span["label"] for span in task["spans"]] == ["ANCHOR"]
        assert not {"_annotator_id", "_session_id", "_timestamp"} & task.keys()


def edit(change: Callable[[Task], object]) -> Callable[[Path], None]:
    """Changes the first task that `change` says True of; fails where there is none."""

    def run(path: Path) -> None:
        tasks = tasks_of(path)
        changed = next(task for task in tasks if change(task))
        assert changed
        path.write_text("".join(json.dumps(task) + "\n" for task in tasks), "utf-8")

    return run


def _class(task: Task) -> bool:
    if "versions" in task or task["spans"][0]["label"] != "AGE":
        return False
    task["spans"][0]["label"] = "TIME"
    return True


def _refused(task: Task) -> bool:
    if "versions" in task or "answer" not in task:
        return False
    task["answer"] = "reject"
    return True


def _emptied(task: Task) -> bool:
    """Refused, and all marks taken away."""
    task |= {"spans": [], "relations": []}
    return _refused(task)


def _gold(task: Task) -> bool:
    if "versions" not in task or task["spans"][0]["label"] != "AGE":
        return False
    task["spans"][0]["label"] = "TIME"
    task |= {"_annotator_id": "dora", "_session_id": "nfh-dora", "_timestamp": 1700000000}
    return True


def _own_gold(task: Task) -> bool:
    """The review of whoever decided here, changed by the same person."""
    if "versions" not in task or task.get("_annotator_id") != "editor":
        return False
    if task["spans"][0]["label"] != "AGE":
        return False
    task["spans"][0]["label"] = "TIME"
    return True


def _head(task: Task) -> bool:
    """A second head, on the last token that is nothing yet."""
    spans = task["spans"]
    if "versions" in task or len(spans) != 2 or spans[0]["label"] != "REFERENCE":
        return False
    token = next(t for t in reversed(task["tokens"]) if "disabled" not in t)
    span = {"start": token["start"], "end": token["end"], "label": "HEAD"}
    spans.append(span | {"token_start": token["id"], "token_end": token["id"]})
    for one, other, label in ((0, 2, "HEAD"), (1, 2, "OR")):
        relation = {"head_span": spans[one], "child_span": spans[other], "label": label}
        task["relations"].append(relation | {"color": "#ffd882"})
    return True


def _moved(task: Task) -> bool:
    spans = task["spans"]
    if "versions" in task or len(spans) != 2 or spans[0]["label"] != "REFERENCE":
        return False
    token = next(t for t in task["tokens"] if "disabled" not in t)
    spans[1] |= {"start": token["start"], "end": token["end"]}
    task["relations"][0]["child_span"] = spans[1]
    return True


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_class, "kind"),
        (_refused, "gone"),
        (_emptied, "gone"),
        (_gold, "gold"),
        (_head, "heads"),
        (_moved, "heads"),
    ],
)
def test_what_is_changed_in_prodigy_wins(
    tmp_path: Path, sample: Store, change: Callable[[Task], object], what: str
) -> None:
    trip = round_trip(sample, "prodigy", tmp_path, edit=edit(change))
    before, after = gold_of(trip.before), gold_of(trip.after)
    changed = [id_ for id_ in before if before[id_] != after[id_]]
    assert len(changed) == 1
    old, new = before[changed[0]], after[changed[0]]
    if what == "gold":
        assert (new["kind"], new["rule"], new["adjudicator"]) == ("TIME", "expert", "dora")
        assert new["decided_at"] == "2023-11-14T22:13:20.000Z"
        return
    pairs = [(o, n) for o, n in zip(old["votes"], new["votes"], strict=False) if o != n]
    one, other = pairs[0]
    if what == "kind":
        assert (one["kind"], other["kind"]) == ("AGE", "TIME")
        # What the tool has no place for stays.
        assert one["seconds"] == other["seconds"]
    elif what == "heads":
        assert one["heads"] != other["heads"]
        assert len(pairs) == 1
    if what == "gone":
        assert [flag["name"] for flag in new["flags"]].count("reject") == 1
    if change is _head:
        assert other["relation"] == "OR"


def test_prodigys_own_terms_hold_the_answers(tmp_path: Path, sample: Store) -> None:
    """Without what is kept beside, as of a task that was made anew of what is seen."""

    def bare(path: Path) -> None:
        tasks = tasks_of(path)
        for task in tasks:
            del task["nfh"]
        path.write_text("".join(json.dumps(task) + "\n" for task in tasks), "utf-8")

    trip = round_trip(sample, "prodigy", tmp_path, edit=bare)
    before, after = (
        list(map(_said, map(json.loads, lines))) for lines in (trip.before, trip.after)
    )
    assert len(before) == SOME
    assert sorted(before) == sorted(after)


def _said(line: Task) -> str:
    """All answers to a number, by characters: speakers' names are words now. Each once: who
    reviewed a task has an answer of that, too.
    """
    offsets = line["offsets"]

    def of(answer: Task) -> list[Any]:
        heads = [
            [
                (offsets[m["start"]][0], offsets[m["end"] - 1][1], m["origin"])
                for m in head["mentions"]
            ]
            for head in answer["heads"]
        ]
        rest = [answer[key] for key in ("kind", "relation", "sort", "noun", "comment")]
        return [sorted(heads), *rest]

    votes = sorted({json.dumps([vote["annotator"], of(vote)]) for vote in line["votes"]})
    number = offsets[line["anchors_indices"][0]]
    return json.dumps([line["text"], number, of(line), votes])


def test_tasks_that_were_annotated_answer_the_same_numbers(tmp_path: Path) -> None:
    given, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    given.write_text("Ann: Two red tickets?\nBen: No, three.\n")
    with Store.open(tmp_path / "x.db", create=True) as store:
        imported(store, given)
        export_file(store, parse(""), by_name("prodigy"), out)
        (two, three) = tasks_of(out)
        two |= {"answer": "ignore"}
        three["spans"][0]["label"] = "AGE"
        three |= {"answer": "accept", "comment": "hm"}
        for task in (two, three):
            task |= {"_session_id": "tix-eva", "_annotator_id": "tix-eva", "_timestamp": 9}
        out.write_text("".join(json.dumps(task) + "\n" for task in (two, three)))
        report = imported(store, out)
        records = list(store.items.records(parse(""), None, "gold"))
    assert (report.anchors_new, report.votes_new, report.flags_new) == (0, 1, 1)
    assert [flag.name.value for record in records for flag in record.flags] == ["skip"]
    (vote,) = [vote for record in records for vote in record.votes]
    assert (vote.annotator, vote.answer.kind.value, vote.answer.comment) == ("eva", "AGE", "hm")
    assert vote.answered_at == "1970-01-01T00:00:09.000Z"


def test_reviews_alone_bring_answers_and_gold(tmp_path: Path, sample: Store) -> None:
    def reviews(path: Path) -> None:
        lines = [line for line in path.read_bytes().split(b"\n") if b'"versions":' in line]
        path.write_bytes(b"\n".join(lines) + b"\n")

    trip = round_trip(sample, "prodigy", tmp_path, edit=reviews)
    before, after = gold_of(trip.before), gold_of(trip.after)
    assert after
    assert {id_: before[id_] for id_ in after} == after
    assert len(after) == sum(line["kind"] is not None for line in before.values())


def test_a_projects_names_go_out_and_come_back(tmp_path: Path) -> None:
    labels = LabelMap({"NUM": "ANCHOR", "Alter": "AGE", "THING": "HEAD"}, {"of": "HEAD"})
    corpus = hostile_corpus(tmp_path / "in.jsonl")
    trip = round_trip(
        corpus,
        "prodigy",
        tmp_path / "trip",
        writing=Writing(labels=labels),
        options=ImportOptions(labels=labels),
    )
    assert b'"label":"THING"' in trip.path.read_bytes()
    assert b'"label":"HEAD"' not in trip.path.read_bytes()
    trip.check()


LINE = (
    '{"text":"No, three.","meta":{"shelf":3},"_input_hash":-1,"_task_hash":5,"order":1.50,'
    '"spans":[{"start":4,"end":9,"label":"AGE"}],"answer":"accept","_annotator_id":"eva"}\n'
)
REVIEW = LINE.replace('"_task_hash":5', '"_task_hash":6,"versions":[]').replace("eva", "dora")


@pytest.mark.parametrize(("line", "task_hash"), [(LINE, 5), (REVIEW, 6)])
def test_what_else_a_task_held_is_written_back(
    tmp_path: Path, line: str, task_hash: int
) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text(line)
    with Store.open(tmp_path / "x.db", create=True) as store:
        imported(store, given)
        export_file(store, parse(""), by_name("prodigy"), out)
    for task in tasks_of(out):
        reviewed = "versions" in task
        assert task["meta"] == {"shelf": 3}
        # Reviews and tasks have hashes of their own: neither takes the other's.
        assert task.get("_task_hash") == (task_hash if reviewed == (line is REVIEW) else None)
    assert out.read_bytes().count(b'"order":1.50') == len(tasks_of(out))


def test_a_task_that_stands_twice_comes_in_once(tmp_path: Path) -> None:
    given = tmp_path / "in.jsonl"
    given.write_text(LINE * 2 + LINE.replace("AGE", "TIME"))
    with Store.open(tmp_path / "x.db", create=True) as store:
        report = imported(store, given)
    assert (report.rows, report.anchors_new, report.votes_new) == (3, 1, 1)
    (conflict,) = report.conflicts
    assert conflict == "line 3: eva answered AGE already, which was kept; the file says TIME"


def test_tasks_of_nobody_are_the_answers_of_whom_the_import_names(tmp_path: Path) -> None:
    given = tmp_path / "in.jsonl"
    given.write_text(LINE.replace(',"_annotator_id":"eva"', ""))
    with Store.open(tmp_path / "x.db", create=True) as store:
        report = imported(store, given, options=ImportOptions(annotator="kim"))
    assert (report.gold_new, report.votes_new) == (0, 1)


def test_an_experts_own_review_that_was_changed_is_imported_gold(
    tmp_path: Path, sample: Store
) -> None:
    """Their answer has a task of its own: gold that says otherwise cannot be theirs, too."""
    trip = round_trip(sample, "prodigy", tmp_path, edit=edit(_own_gold))
    before, after = gold_of(trip.before), gold_of(trip.after)
    (changed,) = (id_ for id_ in before if before[id_] != after[id_])
    old, new = before[changed], after[changed]
    assert (new["kind"], new["rule"], new["adjudicator"]) == ("TIME", "imported", None)
    assert new["votes"] == old["votes"]
