"""A corrected file, what was imported, and taking an import out."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.event_log import present_state, replay
from nfh_db.query import parse
from nfh_db.records import FlagName, Role
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, Mention, class_answer, reference_answer
from nfh_tui import config
from nfh_tui.editor.commands import dump
from nfh_tui.editor.state import EditState
from nfh_tui.services.history import act_words

Call = Callable[..., Result]

FIRST = """\
Ann: We have two months left, three at the most.
Bob: Or four.

Ann: I bought ten apples.
Bob: Give me five of them.

Cid: He is thirty.
"""
CORRECTED = """\
Zoë: So it begins…

Ann: We have two months left, three at the most.
Bob: Or four, I think.

Ann: I bought ten apples.
Bob: Give me five of them.
"""
SPLIT = "Zoë: So it begins…\nAnn: We"


@pytest.fixture
def first(home: Path) -> Path:
    (home / "corpus.txt").write_text(FIRST, encoding="utf-8")
    return home / "corpus.txt"


@pytest.fixture
def corrected(home: Path) -> Path:
    (home / "new").mkdir()
    text = CORRECTED.replace("Zoë: So it begins…\n\nAnn: We", SPLIT)
    (home / "new" / "corpus.txt").write_text(text, encoding="utf-8")
    return home / "new" / "corpus.txt"


@contextmanager
def opened() -> Iterator[Store]:
    with Store.open(config.database(None)) as store:
        yield store


def find(store: Store, word: str) -> list[int]:
    """The visible numbers that are this word."""
    return [one for some in store.items.by_passage(parse(f"anchor:{word}")) for one in some]


def answer(store: Store, word: str, given: Answer, role: Role, who: str) -> None:
    (one,) = find(store, word)
    store.edits.commit_answer(one, store.people.ensure(who), role, given)


def months(store: Store, word: str) -> Answer:
    (one,) = find(store, word)
    passage, _ = store.items.passages([one])[one]
    (at,) = [i for i in range(len(passage.tokens)) if passage.word(i) == "months"]
    return reference_answer([[Mention(at, at + 1, at)]])


def work(store: Store) -> None:
    """Somebody answers, decides, flags and begins to answer."""
    ann, ed = store.people.ensure("ann"), store.people.ensure("ed")
    head = months(store, "three")
    answer(store, "three", head, Role.ANNOTATOR, "ann")
    answer(store, "three", head, Role.ADJUDICATOR, "ed")
    (three,) = find(store, "three")
    store.edits.set_flag(three, ann, FlagName.AMBIGUOUS, True)
    heads = tuple(one.mentions for one in head.heads)
    draft = EditState(kind=Kind.REFERENCE, heads=heads, touched=True)
    store.workspace.save_draft(three, ed, Role.ANNOTATOR, dump(draft))
    # Its turn is changed in the corrected file.
    answer(store, "four", class_answer(Kind.AGE), Role.ANNOTATOR, "ann")
    answer(store, "thirty", class_answer(Kind.AGE), Role.ADJUDICATOR, "ed")


def kept(call: Call) -> dict[str, dict[str, object]]:
    """What an export says of each number, by its word."""
    rows = map(json.loads, call("export", "--format", "gold").stdout.splitlines())
    return {row["tokens"][row["anchors_indices"][0]]: row for row in rows}


def sound(call: Call) -> None:
    """The database is sound, and its log replays to what is there."""
    assert call("doctor").exit_code == 0
    reader = connect(config.database(None), "ro")
    found = replay(reader)
    assert (found.broken, found.state) == ([], present_state(reader))
    reader.close()


def test_a_corrected_file_says_what_is_new_and_gone(
    call: Call, first: Path, corrected: Path
) -> None:
    call("import", first)
    for options in (["--dry-run"], []):
        said = call("import", *options, corrected).stderr
        assert "imported before with other text (import 1" in said
        assert "1 passage new; 2 passages and 4 items gone, of which none" in said
        assert "new: line 2: “Zoë: So it begins… Ann: We have two months" in said
        assert "gone: line 7: “Cid: He is thirty.”" in said
        assert "import --replace" in said
    (told,) = json.loads(call("import", "--json", corrected).stdout)["files"]
    assert told["correction"]["imports"] == [1]
    assert told["correction"]["gone"]["passages"] == 2
    # Nothing is retired unasked.
    assert sorted(kept(call)) == sorted("two three four ten five thirty".split())
    assert call("export", "--format", "gold").stdout.count("\n") == 9


def test_replacing_retires_and_carries_over_and_undo_brings_back(
    call: Call, first: Path, corrected: Path
) -> None:
    call("import", first)
    with opened() as store:
        work(store)
    call("assign", "--to", "bea", "--each", "2")
    before = kept(call)
    said = call("import", "--replace", "--as", "kim", corrected)
    assert "carried over: 2 answers, 1 gold, 1 flag, 1 draft, 2 assignments" in said.stdout
    assert (
        "not carried over of 2 items: the same turn has no number at this place" in said.stdout
    )
    assert "left: “thirty” of “Cid: He is thirty.”" in said.stdout
    after = kept(call)
    assert sorted(after) == sorted("two three four ten five".split())
    three = after["three"]
    # A turn before it shifts the head by its tokens.
    shift = three["anchors_indices"][0] - before["three"]["anchors_indices"][0]
    assert shift > 0
    assert three["heads"][0]["mentions"][0]["head"] == shift + 3
    for key in ("kind", "adjudicator", "decided_at", "rule"):
        assert three[key] == before["three"][key]
    assert [vote["at"] for vote in three["votes"]] == [
        vote["at"] for vote in before["three"]["votes"]
    ]
    assert [flag["annotator"] for flag in three["flags"]] == ["ann"]
    assert after["four"]["kind"] is None
    assert after["four"]["votes"] == []
    with opened() as store:
        (item,) = find(store, "three")
        ed = store.people.ensure("ed")
        draft = store.items.read(item, ed, Role.ANNOTATOR).draft
        assert json.loads(draft.body)["heads"][0][0]["head"] == shift + 3
        assert store.assignments.todo(store.people.ensure("bea"), Role.ANNOTATOR).left == 4
    sound(call)
    with opened() as store:
        undone = store.edits.undo(store.people.ensure("kim"))
        assert undone.summary == "removed the import of corpus.txt (1; replaced by 2)"
        assert (undone.anchors, undone.skipped) == (5, 0)
        threes = [store.items.read(one, ed, Role.ADJUDICATOR) for one in find(store, "three")]
        assert [len(one.votes) for one in threes] == [2, 0]
        assert [one.gold is not None for one in threes] == [True, False]
        store.edits.redo(store.people.ensure("kim"))
        assert len(find(store, "thirty")) == 0
        lines = store.history.visible(find(store, "three")[0], ed, Role.ADJUDICATOR)
        assert act_words(lines[0], named=False) == "removed the import"
    sound(call)


def everybody(path: Path) -> None:
    """Three people answer all, differing in some; an expert decides some."""
    with Store.open(path) as store:
        numbers = [one for some in store.items.by_passage(parse("")) for one in some]
        for name, kind in (("ann", Kind.AGE), ("bob", Kind.YEAR), ("eva", Kind.AGE)):
            for number in numbers:
                given = class_answer(kind if number % 2 else Kind.AGE)
                store.edits.commit_answer(
                    number, store.people.ensure(name), Role.ANNOTATOR, given
                )
        for number in numbers[::2]:
            decided = class_answer(Kind.AGE)
            store.edits.commit_answer(
                number, store.people.ensure("ed"), Role.ADJUDICATOR, decided
            )


REPORTS = (
    "stats", "agreement", "assign", "settle --rule majority --dry-run",
    "audit", "doubts", "evaluate identification", "identify --dry-run", "predict", "history",
    "export --format nfh", "doctor --corpus", "guidelines discuss",
)  # fmt: skip


def test_a_removed_import_is_as_if_it_had_never_been(
    call: Call, first: Path, home: Path
) -> None:
    other = home / "other.txt"
    other.write_text("Ann: I bought three apples, Bob two.\n\nEve: Seven.\n", encoding="utf-8")
    told = []
    for files in ((other,), (other, first)):
        path = home / str(len(files)) / "x.db"
        path.parent.mkdir()
        call("import", *files, "--db", path)
        everybody(path)
        call("assign", "--to", "bea", "--each", "5", "--db", path)
        call("settle", "--rule", "unanimous", "--db", path)
        call("identify", "--db", path)
        if first in files:
            call("imports", "remove", "2", "--db", path)
        found = [call(*words.split(), "--json", "--db", path).stdout for words in REPORTS]
        with Store.open(path) as store:
            bea = store.people.ensure("bea")
            found.append(str(store.assignments.todo(bea, Role.ANNOTATOR)))
            found.append(str(store.queue.count(parse("text:o"), bea)))
            found.append(str(store.holdout.gold_kinds(parse(""))))
        times = re.compile(r'20[\d-]+T[\d:.]+Z?|"\w*(seconds|ing)": [\d.]+')
        told.append([times.sub("", text).replace(str(path), "") for text in found])
        assert call("doctor", "--db", path).exit_code == 0
    for words, one, other_ in zip((*REPORTS, "left", "queue", "gold"), *told, strict=True):
        assert one == other_, words


def test_a_removed_import_comes_back_with_its_file(call: Call, first: Path) -> None:
    call("import", first)
    with opened() as store:
        work(store)
    before = kept(call)
    preview = call("imports", "remove", "1", "--dry-run").stdout
    assert "3 passages and 6 items that no other import has" in preview
    assert "of which people answered 3" in preview
    assert "Nothing was changed" in preview
    assert kept(call) == before
    call("imports", "remove", "1")
    assert kept(call) == {}
    assert "taken out" in call("imports").stdout
    again = call("imports", "remove", "1")
    assert again.exit_code == 1
    assert "comes back when corpus.txt is imported again" in again.stderr
    assert "6 items back" in call("import", "--dry-run", first).stdout
    assert "6 items back" in call("import", first).stdout
    assert kept(call) == before
    (told,) = json.loads(call("imports", "--json").stdout)["imports"]
    assert (told["name"], told["out"], told["here"], told["rows"]) == (
        "corpus.txt",
        False,
        6,
        6,
    )
    assert "nothing changed" in call("import", first).stdout
    sound(call)
    call("imports", "remove", "1")
    assert kept(call) == {}
    sound(call)


def test_a_removed_import_that_came_back_may_be_undone(call: Call, first: Path) -> None:
    call("import", first)
    call("imports", "remove", "1", "--as", "kim")
    call("import", first)
    with opened() as store:
        assert store.edits.undo(store.people.ensure("kim")).skipped == 0
        assert sum(map(len, store.items.by_passage(parse("")))) == 6
    sound(call)


def test_what_another_file_has_stays(call: Call, first: Path, home: Path) -> None:
    call("import", first)
    other = home / "other.txt"
    other.write_text("Cid: He is thirty.\n\nDan: And six of us.\n", encoding="utf-8")
    call("import", other)
    said = call("imports", "remove", "1").stdout
    assert "2 passages and 5 items" in said
    assert "1 passage are in another import too, and stay with their answers" in said
    assert sorted(kept(call)) == ["six", "thirty"]
    call("imports", "remove", "2")
    assert kept(call) == {}
    # Nothing comes back that the file does not have.
    assert "1 item back" not in call("import", first).stdout
    assert sorted(kept(call)) == sorted("two three four ten five thirty".split())
    sound(call)


def test_a_span_that_a_person_gave_goes_and_comes_with_its_number(
    call: Call, first: Path
) -> None:
    call("import", first)
    with opened() as store:
        (ten,) = find(store, "ten")
        _, anchor = store.items.passages([ten])[ten]
        wider = type(anchor)(anchor.start, anchor.end + 1)
        kim = store.people.ensure("kim")
        made = store.edits.replace_anchor(ten, kim, Role.ADJUDICATOR, wider).anchor_id
        store.edits.commit_answer(made, kim, Role.ADJUDICATOR, class_answer(Kind.OTHER))
    call("assign", "--to", "bea")
    call("imports", "remove", "1")
    sound(call)
    call("import", first)
    with opened() as store:
        assert find(store, "ten") == []
        assert [find(store, '"ten apples"')] == [[made]]
        assert store.items.read(made, kim, Role.ADJUDICATOR).gold is not None
        assert store.assignments.todo(store.people.ensure("bea"), Role.ANNOTATOR).left == 6
    sound(call)


def test_gold_of_the_corrected_file_gives_way_to_an_expert_only(
    call: Call, nfh_file: Callable[..., Path], home: Path
) -> None:
    one = nfh_file(2, "rows.jsonl", head=["AGE"])
    call("import", "--split", "train", one)
    rows = [json.loads(line) for line in one.read_text(encoding="utf-8").splitlines()]
    with opened() as store:
        numbers = [a for some in store.items.by_passage(parse("")) for a in some]
        ed = store.people.ensure("ed")
        decided = class_answer(Kind.YEAR)
        store.edits.commit_answer(numbers[0], ed, Role.ADJUDICATOR, decided)
    for row in rows[:1]:
        row["tokens"].append("?")
        row["line_indices"].append(row["line_indices"][-1] + 1)
        row["speakers"].append("Zed")
    rows[0]["head"], rows[1]["head"] = ["TIME"], ["AGE"]
    (home / "new").mkdir()
    new = home / "new" / "rows.jsonl"
    new.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    call("import", "--replace", "--split", "test", new)
    assert call("export", "--format", "gold", "split:train").stdout == ""
    assert call("export", "--format", "gold", "split:test").stdout.count("\n") == 2
    found = call("export", "--format", "gold").stdout.splitlines()
    assert [json.loads(row)["kind"] for row in found] == ["AGE", "YEAR"]
    assert call("export", "--format", "nfh").stdout.count("\n") == 2
    assert [json.loads(row)["split"] for row in found] == ["test", "test"]
    sound(call)


def test_the_same_turn_twice_is_taken_by_its_neighbours_or_in_order(
    call: Call, home: Path
) -> None:
    one = home / "one.txt"
    one.write_text(
        "A: x\nB: Two.\nA: y\n\nA: z\nB: Two.\n\nC: Six.\n\nC: Six.\nD: q\n", "utf-8"
    )
    call("import", one)
    with opened() as store:
        kim = store.people.ensure("kim")
        numbers = [a for some in store.items.by_passage(parse("")) for a in some]
        kinds = (Kind.AGE, Kind.YEAR, Kind.TIME, Kind.OTHER)
        for number, kind in zip(numbers, kinds, strict=True):
            store.edits.commit_answer(number, kim, Role.ANNOTATOR, class_answer(kind))
    # The scenes change places, and one of the two that begin with "Six." is left out.
    one.write_text(
        "A: z\nB: Two.\nA: !\n\nA: x\nB: Two.\nA: y\nE: .\n\nC: Six.\nD: r\n", "utf-8"
    )
    said = call("import", "--replace", one).stdout
    assert "carried over: 2 answers" in said
    assert "not carried over of 2 items: the turn of the number occurs" in said
    found = map(json.loads, call("export", "--format", "gold").stdout.splitlines())
    said_of = {row["text"]: [vote["kind"] for vote in row["votes"]] for row in found}
    assert said_of == {
        "A: z\nB: Two.\nA: !": ["YEAR"],
        "A: x\nB: Two.\nA: y\nE: .": ["AGE"],
        "C: Six.\nD: r": [],
    }


def test_a_file_that_was_imported_before_may_replace(
    call: Call, first: Path, corrected: Path, home: Path
) -> None:
    (home / "other.txt").write_text("Dan: And six of us.\n", encoding="utf-8")
    call("import", home / "other.txt")
    call("imports", "remove", "1")
    call("import", first)
    call("import", corrected)
    said = call("import", "--replace", corrected)
    assert "imported before; nothing changed" in said.stdout
    assert "2 passages and 4 items retired" in said.stdout
    sound(call)


def test_two_files_of_one_name_are_no_correction(
    call: Call, first: Path, corrected: Path
) -> None:
    both = call("import", "--replace", first, corrected)
    assert both.exit_code == 2
    assert "two files are called corpus.txt" in both.stderr
    assert "--replace" not in call("import", first, corrected).stderr
    longer = corrected.read_text("utf-8") + "\nEve: Nine.\n"
    corrected.write_text(longer, encoding="utf-8")
    call("imports", "remove", "1")
    assert "1 passage new; nothing was retired" in call("import", corrected).stderr


def test_replacing_nothing_says_so(call: Call, first: Path) -> None:
    assert "nothing is replaced" in call("import", "--replace", first).stderr
    assert call("imports", "remove", "7").exit_code == 1


def test_a_merge_brings_what_was_retired(call: Call, first: Path, home: Path) -> None:
    call("import", first)
    with opened() as store:
        answer(store, "thirty", class_answer(Kind.AGE), Role.ANNOTATOR, "ann")
    call("backup", home / "copy.db")
    call("imports", "remove", "1", "--db", home / "copy.db")
    assert "withdrawn there and answered here" in call("merge", home / "copy.db").stdout
    assert list(kept(call)) == ["thirty"]
    sound(call)
    assert "1 item that no other import has" in call("imports", "remove", "1").stdout
    assert kept(call) == {}
    call("import", first)
    assert len(kept(call)) == 6
    sound(call)


def test_a_terminal_is_asked_and_a_pipe_never(
    call: Call, first: Path, corrected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("import", first)
    monkeypatch.setattr("nfh_tui.cli.imports._watched", lambda: True)
    call("import", corrected, input="n\n")
    assert len(kept(call)) == 6
    assert "Nothing was changed" in call("imports", "remove", "2", input="n\n").stdout
    corrected.write_text(corrected.read_text("utf-8") + "\nEve: Nine.\n", encoding="utf-8")
    said = call("import", corrected, input="y\n").stdout
    assert "import 1 and 2 taken out: 2 passages and 4 items retired" in said
    assert sorted(kept(call)) == sorted("two three four ten five Nine".split())
    assert "import 3 taken out" in call("imports", "remove", "3", "--yes").stdout
    assert kept(call) == {}


def test_what_somebody_said_since_stays(call: Call, first: Path, corrected: Path) -> None:
    call("import", first)
    with opened() as store:
        work(store)
    call("import", "--replace", "--as", "kim", corrected)
    with opened() as store:
        answer(store, "three", class_answer(Kind.AGE), Role.ADJUDICATOR, "ed")
        undone = store.edits.undo(store.people.ensure("kim"))
        assert (undone.anchors, undone.skipped) == (4, 1)
        golds = [
            store.items.read(i, store.people.ensure("ed"), Role.ADJUDICATOR).gold
            for i in find(store, "three")
        ]
        assert sorted(gold.answer.kind for gold in golds) == [Kind.AGE, Kind.REFERENCE]
    sound(call)


HEAD_BEFORE = "Ann: I like 😀 apples.\nBob: Buy five.\n\nCid: I like pears.\nDan: Buy six.\n"
HEAD_AFTER = (
    "Eve: 😀!\nAnn: I like 😀 apples.\nEve: Oh.\nBob: Buy five.\n\n"
    "Cid: I liked pears.\nDan: Buy six.\n"
)


def test_a_head_goes_over_with_its_own_turn(call: Call, home: Path) -> None:
    file = home / "heads.txt"
    file.write_text(HEAD_BEFORE, encoding="utf-8")
    call("import", "--as", "kim", file)
    with opened() as store:
        for word, noun in (("five", "apples"), ("six", "pears")):
            (one,) = find(store, word)
            passage, _ = store.items.passages([one])[one]
            (at,) = [i for i in range(len(passage.tokens)) if passage.word(i) == noun]
            for name in ("ann", "bob"):
                given = reference_answer([[Mention(at, at + 1, at)]])
                answer(store, word, given, Role.ANNOTATOR, name)
    call("settle", "--rule", "unanimous")
    file.write_text(HEAD_AFTER, encoding="utf-8")
    call("import", "--replace", "--background", "--as", "kim", file)
    said = call("jobs", "wait", "1").stdout
    assert "carried over: 2 answers, 1 gold" in said
    assert "not carried over of 1 item: the turn of words that the answer names" in said
    assert "left: “six” of “Cid: I like pears. Dan: Buy six.”" in said
    after = kept(call)
    (mention,) = after["five"]["heads"][0]["mentions"]
    assert after["five"]["tokens"][mention["head"]] == "apples"
    assert after["five"]["rule"] == "unanimous"
    assert (after["six"]["kind"], after["six"]["votes"]) == (None, [])
    told = json.loads(call("imports", "--json").stdout)["imports"]
    assert [(one["by"], one["out"]) for one in told] == [("kim", True), ("kim", False)]
    sound(call)


def test_gold_of_votes_that_were_changed_or_joined_since_stays(
    call: Call, first: Path, corrected: Path
) -> None:
    call("import", first)
    with opened() as store:
        for word in ("two", "three", "ten"):
            for name in ("ann", "anna", "eva", "ed"):
                kind = Kind.AGE if (word, name) != ("two", "anna") else Kind.YEAR
                answer(store, word, class_answer(kind), Role.ANNOTATOR, name)
    call("settle", "--rule", "majority", "anchor:three,two")
    with opened() as store:
        answer(store, "two", class_answer(Kind.YEAR), Role.ANNOTATOR, "eva")
    # The gold of "three" names both, of whom one has no answer any more.
    call("people", "merge", "anna", "ann", "--yes")
    call("settle", "--rule", "majority", "anchor:ten")
    said = call("import", "--replace", corrected)
    assert "carried over: 6 answers" in said.stdout
    assert "not carried over of 2 items: the gold was made of answers that" in said.stdout
    assert {row["kind"] for row in kept(call).values()} == {None, "AGE"}
    sound(call)


def test_a_file_without_numbers_was_no_import_to_replace(call: Call, first: Path) -> None:
    told = first.read_text(encoding="utf-8")
    first.write_text("Ann: Hm.\n", encoding="utf-8")
    call("import", first)
    first.write_text(told, encoding="utf-8")
    said = call("import", "--replace", first)
    assert (said.exit_code, "nothing is replaced" in said.stderr) == (0, True)
    assert len(kept(call)) == 6


def test_a_person_of_two_names_corrects_the_files_of_both(
    call: Call, nfh_file: Callable[..., Path]
) -> None:
    one = nfh_file(1, "rows.jsonl", head=["AGE"])
    call("import", "--annotator", "ann", one)
    call("people", "add", "eva")
    call("people", "merge", "ann", "eva", "--yes")
    one.write_text(one.read_text(encoding="utf-8").replace("!0", "?"), encoding="utf-8")
    assert "import 1 taken out" in call("import", "--replace", "--annotator", "eva", one).stdout
    sound(call)
