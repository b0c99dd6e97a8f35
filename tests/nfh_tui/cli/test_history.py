"""`nfh-tui history`: every change, in words, by whom, by which act, from what to what."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import (
    Annotator,
    Exposure,
    FlagName,
    IncomingAnchor,
    IncomingPassage,
    Role,
    Rule,
    Vote,
)
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Sort,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_tui.services.history import local

Call = Callable[..., Result]
Clock = Callable[[str], str]

AGE, YEAR = class_answer(Kind.AGE), class_answer(Kind.YEAR)
DOGS = reference_answer([[Mention(1, 2, 1), Mention(7, 8, 7, Origin.ADDED)]])
FEWER = reference_answer([[Mention(1, 2, 1), Mention(7, 8, 7, Origin.REMOVED)]])
BOTH = reference_answer([[Mention(0, 2, 1)], [Mention(9, 10, 9)]], Relation.OR)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stops the store's clock at a time of a day; that time as the command tells it."""

    def stop(time: str) -> str:
        at = f"2026-05-06T{time}:00.000Z"
        monkeypatch.setattr("nfh_db.system.now", lambda: at)
        return local(at)

    return stop


def row(number: int, *answers: Answer) -> IncomingPassage:
    words = f"the dogs saw one , then more dogs and cats !{number}"
    tokens, place = [], 0
    for word in words.split():
        tokens.append(Token(place, place + len(word), word))
        place += len(word) + 1
    votes = [
        Vote(f"ann{rank}", Role.ANNOTATOR, answer, "2026-01-01T00:00:00.000Z")
        for rank, answer in enumerate(answers, 1)
    ]
    turns = (Turn(0, "Ann", 0, 5), Turn(1, "Bo", 5, len(tokens)))
    return IncomingPassage(
        Passage(words, tuple(tokens), turns),
        "test 1",
        (IncomingAnchor(number, Anchor(3, 4), split="dev", votes=tuple(votes)),),
    )


@pytest.fixture
def store(home: Path, clock: Clock) -> Iterator[Store]:
    """Three anchors in here's nfh.db: no answers, two that differ, three that agree."""
    clock("08:00")
    with Store.open(home / "nfh.db", create=True) as opened:
        rows = [row(1), row(2, AGE, YEAR), row(3, AGE, AGE, AGE)]
        opened.imports.load(IncomingFile("some.jsonl", "sha", "gold"), rows)
        yield opened


def told(result: Result) -> list[str]:
    """The blocks of changes, without when: act, thing, before, after."""
    assert result.exit_code == 0, result.stderr
    rows = result.stdout.splitlines()
    return [
        " | ".join(part.strip() for part in [rows[i - 1].strip()[21:], *rows[i : i + 3]])
        for i in range(len(rows))
        if rows[i].startswith("      ") and not rows[i].startswith("       ")
    ]


def test_an_answers_life(call: Call, store: Store, clock: Clock) -> None:
    eva = store.people.ensure("eva")
    times = [clock(f"09:0{minute}") for minute in range(6)]
    clock("09:00")
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, AGE, Exposure(saw_model=True, seconds=4))
    clock("09:01")
    store.edits.commit_answer(
        1, eva, Role.ANNOTATOR, class_answer(Kind.OTHER, Sort.NOUN, "joke", "hm")
    )
    clock("09:02")
    store.edits.undo(eva)
    clock("09:03")
    store.edits.redo(eva)
    clock("09:04")
    store.edits.withdraw(1, eva, Role.ANNOTATOR)
    result = call("history", "--item", "1")
    age, other = "Age · had seen the model's answer", "Other, noun “joke” · comment: hm"
    again = "answer OTHER, in place of an earlier one"
    assert told(result) == [
        f"eva  {act} | eva's answer | before  {before} | after   {after}"
        for act, before, after in (
            ("answer AGE", "nothing", age),
            (again, age, other),
            (f"undone: {again}", other, age),
            (f"redone: {again}", age, other),
            ("answer withdrawn", other, "nothing"),
        )
    ]
    assert all(f"  {time}  eva" in result.stdout for time in times[:5])
    first, second, *_, last = result.stdout.splitlines()
    assert first == "the dogs saw [one] , then more dogs and cats !1  some.jsonl, dev; open"
    assert second.startswith("id ")
    assert second.endswith(", anchor 1")
    assert last == "5 changes of 1 item"


def test_heads_are_words_with_places(call: Call, store: Store, clock: Clock) -> None:
    eva = store.people.ensure("eva")
    for minute, answer in enumerate((DOGS, FEWER, FEWER, BOTH)):
        clock(f"09:0{minute}")
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, answer)
    rows = told(call("history", "--item", "1"))
    dogs = "Reference: “dogs” (token 1, turn 1) also “dogs” (token 7, turn 2)"
    fewer = "Reference: “dogs” (token 1, turn 1) without “dogs” (token 7, turn 2)"
    assert [row.split(" | ")[1:] for row in rows] == [
        ["eva's answer", "before  nothing", f"after   {dogs}"],
        ["eva's answer", f"before  {dogs}", f"after   {fewer}"],
        ["eva's answer (the same again)", f"before  {fewer}", f"after   {fewer}"],
        [
            "eva's answer",
            f"before  {fewer}",
            "after   Reference: “the dogs” (token 1, turn 1) OR “cats” (token 9, turn 2)",
        ],
    ]


def test_import_settlement_decision_and_undo(call: Call, store: Store, clock: Clock) -> None:
    eva = store.people.ensure("eva")
    clock("09:00")
    store.settlement.run(parse("votes>1"), Rule.UNANIMOUS, eva)
    clock("09:01")
    store.edits.commit_answer(3, eva, Role.ADJUDICATOR, YEAR)
    clock("09:02")
    store.edits.undo(eva)
    clock("09:03")
    store.edits.undo(eva)
    rows = told(call("history", "--item", "3"))
    settled = "Age · all votes agree of ann1, ann2, ann3"
    decided = "Year · decided by an adjudicator, eva"
    assert rows[0] == ("import of some.jsonl | ann1's answer | before  nothing | after   Age")
    golds = [row.split(" | ") for row in rows if "| gold |" in row]
    assert [(gold[2], gold[3]) for gold in golds] == [
        ("before  nothing", f"after   {settled}"),
        (f"before  {settled}", f"after   {decided}"),
        (f"before  {decided}", f"after   {settled}"),
        (f"before  {settled}", "after   nothing"),
    ]
    assert [gold[0] for gold in golds][1:] == [
        "eva  gold YEAR",
        "eva  undone: gold YEAR",
        "eva  undone: settlement by rule unanimous of votes>1",
    ]
    assert "eva  gold YEAR | eva's decision | before  nothing | after   Year" in rows


def test_flags_and_corrected_spans(call: Call, store: Store, clock: Clock) -> None:
    eva = store.people.ensure("eva")
    clock("09:00")
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, AGE)
    clock("09:01")
    store.edits.set_flag(1, eva, FlagName.GUIDELINE, True)
    clock("09:02")
    new = store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(2, 4), store.edits.stale_labels(1, eva)
    )
    assert told(call("history", "--item", new.anchor_id)) == [
        "eva  answer AGE (as anchor 1) | eva's answer | before  nothing | after   Age",
        "eva  flag guideline set (as anchor 1) | eva's flag guideline | before  nothing | "
        "after   set",
        "eva  anchor “one” made “saw one” | the number | before  nothing | "
        "after   “saw one” (token 2)",
        "eva  anchor “one” made “saw one” (as anchor 1) | the number | "
        "before  “one” (token 3) | after   “one” (token 3), replaced",
    ]
    result = call("history", "--item", "1")
    assert "some.jsonl, dev; replaced" in result.stdout
    assert len(told(result)) == 3
    lines = store.history.visible(new.anchor_id, eva, Role.ADJUDICATOR)
    assert [line.anchor_id for line in lines] == [1, 1, new.anchor_id, 1]


def test_a_proposed_span_in_words(call: Call, store: Store, clock: Clock) -> None:
    eva = store.people.ensure("eva")
    clock("09:00")
    store.edits.propose_span(1, eva, Anchor(2, 4))
    clock("09:01")
    store.edits.propose_span(1, eva, None)
    assert told(call("history", "--item", "1")) == [
        "eva  span “saw one” proposed for “one” | eva's flag anchor | before  nothing | "
        "after   the span “saw one”",
        "eva  the proposed span withdrawn | eva's flag anchor | before  the span “saw one” | "
        "after   nothing",
    ]


def test_who_decides_blind_is_not_told_what_others_decided(store: Store, clock: Clock) -> None:
    eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
    store.edits.commit_answer(2, eva, Role.ADJUDICATOR, AGE)

    def seen(person: Annotator, role: Role) -> list[str]:
        lines = store.history.visible(2, person, role)
        return [f"{line.entity} {line.whose or ''}".strip() for line in lines]

    votes = ["answer ann1", "answer ann2"]
    assert seen(bob, Role.ADJUDICATOR) == [*votes, "answer eva", "gold"]
    assert seen(bob, Role.ANNOTATOR) == []
    for purpose, shown in (("double", votes), ("audit", [])):
        with closing(connect(store.path, "rw")) as connection:
            connection.execute("DELETE FROM assignment")
            connection.execute(
                "INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, "
                "run, assigned_at) VALUES (2, :bob, 'adjudicator', :purpose, 1, 'x', 'x')",
                {"bob": bob.id, "purpose": purpose},
            )
        assert seen(bob, Role.ADJUDICATOR) == shown
        assert seen(eva, Role.ADJUDICATOR) == [*votes, "answer eva", "gold"]


def test_a_query_people_and_a_time_choose(call: Call, store: Store, clock: Clock) -> None:
    eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
    for minute, (person, anchor) in enumerate(((eva, 1), (bob, 1), (bob, 2), (eva, 3))):
        clock(f"09:0{minute}")
        store.edits.commit_answer(anchor, person, Role.ANNOTATOR, AGE)

    def ends(*arguments: str) -> str:
        result = call("history", *arguments)
        assert result.exit_code == 0, result.stderr
        return result.stdout.splitlines()[-1]

    assert ends() == "9 changes of 3 items"
    assert ends("votes:3") == "3 changes of 1 item"
    assert ends("by:bob", "-by:eva") == "3 changes of 1 item"
    assert ends("--as", "bob") == "2 changes of 2 items"
    assert ends("--as", "bob", "--as", "eva") == "4 changes of 3 items"
    assert ends("--as", "ann1") == "2 changes of 2 items"
    assert ends("--since", "2026-05-06T09:02Z") == "2 changes of 2 items"
    assert ends("--since", "2026-05-06T11:02+02:00", "--as", "eva") == "1 change of 1 item"
    assert ends("--since", "2027-01-01") == "No such change was made."
    assert ends("--item", "1", "--as", "eva") == "1 change of 1 item"


def test_an_item_is_named_by_the_id_that_files_have(
    call: Call, store: Store, home: Path
) -> None:
    store.close()
    assert call("export", "--format", "gold", "--out", "g.jsonl").exit_code == 0
    ids = [json.loads(line)["id"] for line in (home / "g.jsonl").read_text().splitlines()]
    for number, public in enumerate(ids, 1):
        for name in (public, public[:8], public.upper(), str(number)):
            report = json.loads(call("history", "--item", name, "--json").stdout)
            assert [item["id"] for item in report["items"]] == [public]
            assert report["items"][0]["anchor"] == number


def test_json_is_one_object_with_all_of_it(call: Call, store: Store, clock: Clock) -> None:
    clock("09:00")
    store.edits.commit_answer(1, store.people.ensure("eva"), Role.ADJUDICATOR, DOGS)
    result = call("history", "split:dev", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert report["db"] == "nfh.db" or report["db"].endswith("nfh.db")
    assert report["changes"] == 7
    assert [len(item["changes"]) for item in report["items"]] == [2, 2, 3]
    first = report["items"][0]
    assert {key: first[key] for key in ("anchor", "document", "split", "state", "words")} == {
        "anchor": 1,
        "document": "some.jsonl",
        "split": "dev",
        "state": "decided",
        "words": "one",
    }
    change = first["changes"][0]
    assert change == {
        "at": "2026-05-06T09:00:00.000Z",
        "by": "eva",
        "act": "gold REFERENCE",
        "kind": "do",
        "merged": None,
        "anchor": 1,
        "entity": "answer",
        "whose": "eva",
        "role": "adjudicator",
        "flag": None,
        "thing": "eva's decision",
        "before": None,
        "after": "Reference: “dogs” (token 1, turn 1) also “dogs” (token 7, turn 2)",
        "note": None,
        "before_value": None,
        "after_value": {
            "kind": "REFERENCE",
            "at": "2026-05-06T09:00:00.000Z",
            "heads": [[[1, 2, 1, "marked"], [7, 8, 7, "added"]]],
        },
    }
    empty = json.loads(call("history", "split:test", "--json").stdout)
    assert (empty["items"], empty["changes"]) == ([], 0)


def test_an_item_to_which_nothing_happened(call: Call, store: Store) -> None:
    result = call("history", "--item", "1")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].startswith("the dogs saw [one]")
    assert result.stdout.endswith(", anchor 1\n\nNo such change was made.\n")
    assert call("history", "anchor:one", "votes:0").stdout == "No such change was made.\n"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--item", "99"], 1, "names no item: give an item's number, or the id"),
        (["--item", "x"], 1, "names no item"),
        (["--item", "abcdef0123"], 1, "No item here has the id"),
        (["--as", "nobody"], 1, "is called 'nobody'"),
        (["--since", "yesterday"], 2, "'yesterday' is not a time"),
        (["--since", "0001-01-01"], 2, "'0001-01-01' is not a time"),
        (["--item", "1", "split:dev"], 2, "give a QUERY or --item, not both"),
        (["class:MONTH"], 2, "class:MONTH"),
    ],
)
def test_wrong_calls(
    call: Call, store: Store, arguments: Sequence[str], status: int, words: str
) -> None:
    result = call("history", *arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert words in result.stderr


def test_hostile_text_steers_nothing(call: Call, store: Store, clock: Clock) -> None:
    clock("09:00")
    said = class_answer(Kind.AGE, comment="\x1b[2J[/red]\u202e\nnext")
    store.edits.commit_answer(1, store.people.ensure("eva"), Role.ANNOTATOR, said)
    result = call("history", "--item", "1")
    assert "comment: ␛[2J[/red]\\u202e␊next" in result.stdout
    assert "\x1b" not in result.stdout


def test_the_log_is_told_whatever_it_holds(call: Call, store: Store, clock: Clock) -> None:
    clock("09:00")
    store.edits.commit_answer(1, store.people.ensure("eva"), Role.ANNOTATOR, DOGS)
    values = (
        '{"kind":"MONTH","at":"x"}',
        '{"kind":"AGE","at":"x","heads":[[[50,51,50,"marked"]]]}',
        '{"kind":',
    )
    for value in values:
        with closing(connect(store.path, "rw")) as connection:
            connection.execute(
                "UPDATE event SET after = :value WHERE anchor_id = 1", {"value": value}
            )
        result = call("history", "--item", "1")
        assert (result.exit_code, f"after   {value}" in result.stdout) == (0, True)
        report = json.loads(call("history", "--item", "1", "--json").stdout)
        assert report["items"][0]["changes"][0]["after"] == value


def test_an_answer_that_a_later_one_of_the_same_file_replaced(
    call: Call, store: Store, clock: Clock
) -> None:
    clock("10:00")
    one = row(4, AGE)
    (anchor,) = one.anchors
    first = Vote("ann1", Role.ANNOTATOR, YEAR, "2025-12-31T00:00:00.000Z")
    twice = replace(one, anchors=(replace(anchor, earlier=(first,)),))
    store.imports.load(IncomingFile("twice.csv", "twice", "amt"), [twice])
    assert told(call("history", "--item", "4")) == [
        "import of twice.csv | ann1's answer | before  nothing | after   Year",
        "import of twice.csv | ann1's answer | before  Year | after   Age",
    ]
    assert call("doctor").exit_code == 0
