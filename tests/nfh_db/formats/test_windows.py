"""`--window`: each number's turn with so many turns around it is a passage of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_db.formats.files import Source
from nfh_db.formats.rows import DialogBlock, DialogTurn, LabelMap
from nfh_db.query import Query
from nfh_db.records import IncomingPassage
from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions, PassageMaker

Write = Callable[..., Path]
Call = Callable[..., Result]

SCENE = """\
Ann: Hello.
Ben: Two tickets, please, or three?
Ann:
Cid: \U0001f44d What?
Ann: Yes.
Ben: No, four.

Dee: Five.
"""


def test_each_number_has_its_turns_around_it(write: Write, home: Path, call: Call) -> None:
    done = call("import", write(SCENE, "s.txt"), "--window", "2,1", "--db", "x.db")
    assert done.exit_code == 0
    with Store.open(home / "x.db") as store:
        found = [
            (one.passage.text, one.passage.word(one.anchor.start), one.passage.turns[0].number)
            for one in store.items.ballots(Query())
        ]
    first = SCENE[: SCENE.index("\nAnn: Yes")]
    second = SCENE[SCENE.index("Cid") : SCENE.index("\n\nDee")]
    assert sorted(found) == sorted(
        [(first, "Two", 0), (first, "three", 0), (second, "four", 3), ("Dee: Five.", "Five", 0)]
    )


def test_whole_scenes_are_the_default(write: Write, home: Path, call: Call) -> None:
    path = write(SCENE, "s.txt")
    assert call("import", path, "--db", "x.db").exit_code == 0
    with Store.open(home / "x.db") as store:
        assert len({one.passage.digest for one in store.items.ballots(Query())}) == 2
    wide = call("import", path, "--db", "y.db", "--window", "99,99")
    assert wide.exit_code == 0
    with Store.open(home / "x.db") as one, Store.open(home / "y.db") as other:
        assert [b.passage for b in one.items.ballots(Query())] == [
            b.passage for b in other.items.ballots(Query())
        ]


def test_a_file_comes_in_again_with_another_window(
    write: Write, home: Path, call: Call
) -> None:
    arguments = ("import", write(SCENE, "s.txt"), "--db", "x.db")
    assert "4 items new" in call(*arguments).stdout
    assert "2 passages, 3 items new" in call(*arguments, "--window", "0,0").stdout
    assert "imported before" in call(*arguments, "--window", "0,0").stdout
    assert "imported before" in call(*arguments).stdout


def test_a_file_is_another_one_with_each_other_setting() -> None:
    files = [
        ImportOptions(),
        ImportOptions(window=(2, 1)),
        ImportOptions(window=(1, 2)),
        ImportOptions(columns={"text": "a", "speaker": "b"}),
        ImportOptions(columns={"text": "b", "speaker": "a"}),
        ImportOptions(encoding="cp1252"),
        ImportOptions(labels=LabelMap({"NUM": "ANCHOR"})),
        ImportOptions(offsets="utf16"),
        ImportOptions(pause=2.5),
    ]
    known = [one.import_key("ab12") for one in files]
    assert len(set(known)) == len(files)
    assert known[0] == "ab12"
    assert all(one.startswith("ab12 as ") for one in known[1:])
    again = ImportOptions(columns={"speaker": "b", "text": "a"}, split="dev", annotator="eva")
    assert again.import_key("ab12") == known[3]


def test_the_doctor_finds_windows_whole(write: Write, home: Path, call: Call) -> None:
    for window in ("2,1", "0,0"):
        path = write(SCENE * 3, "s.txt")
        assert call("import", path, "--db", "x.db", "--window", window).exit_code == 0
    assert call("doctor", "--db", "x.db").exit_code == 0


@pytest.mark.parametrize("name", ["gold", "nfh", "amt"])
def test_formats_without_dialogs_know_no_window(
    write: Write, home: Path, call: Call, name: str
) -> None:
    path = write('{"format": "nfh-gold/1"}\n')
    refused = call("import", path, "--format", name, "--window", "2,1", "--db", "x.db")
    assert refused.exit_code == 1
    assert "has no --window" in refused.stderr


PARSED = "".join(
    f"# speaker = {who}\n1\tYes\tyes" + "\t_" * 7 + f"\n2\t{word}\t{word}" + "\t_" * 7 + "\n\n"
    for who, word in zip("ABABA", ["two", "cups", "three", "or", "four"], strict=True)
)


def test_a_window_cuts_documents_of_words_that_came_with_the_file(
    write: Write, home: Path, call: Call
) -> None:
    path = write(PARSED, "a.conllu")
    done = call("import", path, "--window", "1,0", "--db", "x.db")
    assert "3 passages, 3 items new" in done.stdout
    assert "not kept in passages of a window" in done.stderr
    with Store.open(home / "x.db") as store:
        found = [
            (
                one.passage.text,
                one.passage.word(one.anchor.start),
                one.passage.turns[-1].speaker,
            )
            for one in store.items.ballots(Query())
        ]
    assert sorted(found) == [
        ("Yes cups\nYes three", "three", "A"),
        ("Yes or\nYes four", "four", "A"),
        ("Yes two", "two", "A"),
    ]


def test_a_window_cuts_texts_of_brat_without_a_marked_number(home: Path, call: Call) -> None:
    folder = home / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("Ann: Two?\nBen: Yes.\nAnn: Or three?\n", "utf-8")
    (folder / "a.ann").write_text("", "utf-8")
    done = call("import", folder, "--window", "0,0", "--db", home / "x.db")
    assert "2 passages, 2 items new" in done.stdout


@pytest.mark.parametrize(
    ("name", "line", "text"),
    [
        ("a.txt", 1, "Ann: two cups\n" * 201),
        ("a.conllu", 3, PARSED.split("\n\n")[0].join(["", "\n\n"]) * 201),
    ],
)
def test_many_numbers_in_one_passage_name_the_window(
    write: Write, home: Path, call: Call, name: str, line: int, text: str
) -> None:
    path = write(text, name)
    done = call("import", path, "--dry-run", "--db", home / "x.db")
    assert f"1 passage with more than 200 numbers, the first in line {line}:" in done.stderr
    assert "--window 2,1" in done.stderr
    again = call("import", path, "--dry-run", "--db", home / "x.db", "--window", "2,1")
    assert "more than 200" not in again.stderr
    assert again.exit_code == 0


words = st.sampled_from(["two", "three", "cups", "👍", "e\u0301", ",", "", " "])
spoken_lines = st.lists(st.lists(words, max_size=4).map(" ".join), min_size=1, max_size=9)


@settings(max_examples=60, deadline=None)
@given(spoken_lines, st.integers(0, 3), st.integers(0, 3))
def test_every_number_is_found_once_with_its_neighbours(
    lines: list[str], before: int, after: int
) -> None:
    text = "\n".join(lines)
    turns = []
    place = 0
    for rank, line in enumerate(lines):
        turns.append(DialogTurn(rank + 1, rank, f"S{rank}", place, place + len(line), rank))
        place += len(line) + 1
    block = DialogBlock(text, tuple(turns))
    path = Path(__file__)
    whole = list(PassageMaker(Source(path), None, None).passages([block]))
    cuts = list(PassageMaker(Source(path), None, None, (before, after)).passages([block]))
    numbers = [(one.line, anchor_word(p, one)) for p in whole for one in p.anchors]
    assert [(one.line, anchor_word(p, one)) for p in cuts for one in p.anchors] == numbers
    with_words = [turn.number for p in whole for turn in p.passage.turns]
    for cut in cuts:
        for anchor in cut.anchors:
            rank = with_words.index(anchor.line - 1)
            around = with_words[max(0, rank - before) : rank + after + 1]
            assert [turn.number for turn in cut.passage.turns] == around
            assert [turn.begin for turn in cut.passage.turns] == around
        for turn in cut.passage.turns:
            assert cut.passage.words(turn.start, turn.end) == lines[turn.number].strip()


def anchor_word(incoming: IncomingPassage, one: object) -> str:
    anchor = one.anchor  # type: ignore[attr-defined]
    return incoming.passage.words(anchor.start, anchor.end)
