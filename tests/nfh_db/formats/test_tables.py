"""Tables: columns by name, delimiters, quoting as the csv module writes it, turns, scenes."""

import csv
import io
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_db.errors import FormatError
from nfh_db.formats.files import Source
from nfh_db.formats.registry import DIALOG, opened
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.formats.tables import TABLE
from nfh_db.query import Query
from nfh_db.store import Store

Write = Callable[..., Path]
Call = Callable[..., Result]
Turn = tuple[int, int, str | None, str]

KITCHEN = """\
scene,turn,speaker,text
kitchen,1,Ann,"Two ""big"" cups, please?"
kitchen,2,Ben,"No,
three."
garden,7,,And when?
garden,9,Ann,At four.
"""


def blocks(path: Path, columns: dict[str, str] | None = None) -> list[list[Turn]]:
    """Line, number, speaker and words of each turn, dialog by dialog."""
    return [turns(one) for one in TABLE.read(Source(path), ReadOptions(columns=columns or {}))]


def turns(block: DialogBlock) -> list[Turn]:
    return [(t.line, t.number, t.speaker, block.text[t.start : t.end]) for t in block.turns]


def test_a_row_is_a_turn_and_a_dialog_a_passage(write: Write) -> None:
    assert blocks(write(KITCHEN, "k.csv")) == [
        [(2, 1, "Ann", 'Two "big" cups, please?'), (3, 2, "Ben", "No, three.")],
        [(5, 7, None, "And when?"), (6, 9, "Ann", "At four.")],
    ]


def test_the_text_of_a_dialog_is_its_turns_on_lines(write: Write) -> None:
    first = next(TABLE.read(Source(write(KITCHEN, "k.csv")), ReadOptions()))
    assert first.text == 'Ann: Two "big" cups, please?\nBen: No, three.'


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("Character,Dialogue", "two"),
        ("Season,Character,Line", "two"),
        ("Who,Utterance", "two"),
        ("Line,Character,Dialogue", "two"),
        ("dialogue_id,Name,Words", "two"),
    ],
)
def test_common_headers_name_the_texts(write: Write, header: str, words: str) -> None:
    row = ",".join(["1", "Ann", words][-len(header.split(",")) :])
    (found,) = blocks(write(f"{header}\n{row}\n", "k.csv"))
    assert [(turn[2], turn[3]) for turn in found] == [("Ann", "two")]


def test_columns_that_are_named_are_not_taken_for_texts(write: Write) -> None:
    path = write("Dialogue,Line\nd1,two\nd2,three\n", "k.csv")
    found = blocks(path, {"dialog": "Dialogue"})
    assert [[turn[3] for turn in one] for one in found] == [["two"], ["three"]]


@pytest.mark.parametrize("header", ["Character,Line", "Character,Dialogue"])
def test_numbers_of_lines_are_no_texts(write: Write, header: str) -> None:
    with pytest.raises(FormatError, match="holds only numbers; name the column of the texts"):
        blocks(write(f"{header}\nAnn,1\nBen,2\n", "k.csv"))


def test_a_column_of_texts_alone_is_one_dialog_and_that_is_said(
    write: Write, home: Path, call: Call
) -> None:
    path = write("text\nI saw two.\nGive me three.\nHe is ten.\n", "k.csv")
    done = call("import", path, "--db", home / "x.db", "--dry-run")
    assert "1 passage, 3 items new" in done.stdout
    assert "3 rows were read as turns of one dialog" in done.stderr
    apart = call("import", path, "--db", home / "x.db", "--dry-run", "--window", "0,0")
    assert "3 passages, 3 items new" in apart.stdout


def test_the_same_talk_is_the_same_passage_as_a_dialog(write: Write) -> None:
    rows = 'speaker,text\n Ann ,"  Two cups?\r\n\n Or three?  "\n,And?\nBen,\n,\nCid,Four.\n'
    table = list(TABLE.read(Source(write(rows, "k.csv")), ReadOptions()))
    lines = "Ann: Two cups? Or three?\nAnd?\nBen:\n\nCid: Four.\n"
    dialog = list(DIALOG.read(Source(write(lines, "k.txt")), ReadOptions()))
    bare = [[replace(turn, line=0) for turn in one.turns] for one in table]
    assert [one.text for one in table] == [one.text for one in dialog]
    assert bare == [[replace(turn, line=0) for turn in one.turns] for one in dialog]


@pytest.mark.parametrize(
    ("delimiter", "said"), [(",", None), ("\t", None), (";", "semicolons"), ("|", "bars")]
)
def test_delimiters_are_found_and_unusual_ones_said(
    write: Write, delimiter: str, said: str | None
) -> None:
    rows = [["speaker", "text"], ["Ann", f"Two{delimiter} or three?"]]
    source = Source(write(written(rows, delimiter), "k.csv"))
    (block,) = TABLE.read(source, ReadOptions())
    assert turns(block) == [(2, 0, "Ann", f"Two{delimiter} or three?")]
    expected = [] if said is None else [f"fields are separated by {said}; "]
    assert [one[: len(two)] for one, two in zip(source.warnings, expected, strict=True)] == (
        expected
    )


def test_a_first_line_may_name_the_delimiter(write: Write) -> None:
    content = 'sep=!\nspeaker!text\nAnn!"Two!"\n'
    assert blocks(write(content, "k.csv")) == [[(3, 0, "Ann", "Two!")]]
    assert opened(write(content, "k.csv")).format is TABLE


def test_columns_found_by_other_names_are_said(write: Write) -> None:
    source = Source(write("Conversation_ID,Who,UTTERANCE\n1,Ann,Two.\n", "k.csv"))
    list(TABLE.read(source, ReadOptions()))
    assert source.warnings == [
        'fields are separated by commas; text is "UTTERANCE", speaker is "Who", dialog is '
        '"Conversation_ID"'
    ]


def test_columns_that_were_named_hold_and_no_others(write: Write) -> None:
    path = write("Satz,Wer,turn\nZwei.,Ann,5\nDrei.,Ben,x\n", "k.csv")
    named = {"text": "Satz", "speaker": "wer"}
    assert blocks(path, named) == [[(2, 0, "Ann", "Zwei."), (3, 1, "Ben", "Drei.")]]
    path = write("text,speaker\nTwo.,Ann\n", "k.csv")
    assert blocks(path, {"speaker": "speaker"}) == [[(2, 0, "Ann", "Two.")]]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('Ann\t"Two" he said\n\nBen\t5" pipe\n', ['"Two" he said', '5" pipe']),
        ('Ann\t"Two he said\nBen\tthree"\n', ['"Two he said', 'three"']),
        ('Ann\t"Two\nor three"\nBen\t"four"\n', ["Two or three", "four"]),
        ('Ann\t"a\ttab, two"\n', ["a\ttab, two"]),
        ('Ann\t"Two ""big"" ones"\n', ['Two "big" ones']),
    ],
)
def test_quotes_of_a_table_with_tabs_may_part_nothing(
    write: Write, rows: str, said: list[str]
) -> None:
    source = Source(write(f"speaker\ttext\n{rows}", "k.tsv"))
    found = [t[3] for one in TABLE.read(source, ReadOptions()) for t in turns(one)]
    assert found == said
    kept = [one for one in source.warnings if one.startswith("quotation marks were kept")]
    assert bool(kept) == any('"Two' in one for one in said)


def test_blanks_behind_delimiters_are_no_part_of_fields(write: Write) -> None:
    path = write('speaker, text\nAnn, "Two, or three"\n', "k.csv")
    assert blocks(path) == [[(2, 0, "Ann", "Two, or three")]]
    plain = write('speaker,text\nAnn, "Two"\n', "k.csv")
    assert blocks(plain) == [[(2, 0, "Ann", '"Two"')]]


RESTART = """\
Episode,Scene_ID,Speaker,Utterance
1,1,Ann,Two tickets?
1,1,Ben,"No, three."
2,1,Cid,I have four dogs.
2,1,Dee,I have five.
1,2,Ann,And six?
"""


def test_scenes_that_are_counted_anew_in_each_episode_stay_apart(write: Write) -> None:
    source = Source(write(RESTART, "k.csv"))
    found = [[line for line, *_ in turns(one)] for one in TABLE.read(source, ReadOptions())]
    assert found == [[2, 3], [4, 5], [6]]
    assert source.warnings == [
        'fields are separated by commas; text is "Utterance", speaker is "Speaker", dialog '
        'is "Episode" and "Scene_ID"'
    ]


@pytest.mark.parametrize(
    ("named", "lines"),
    [("Episode+Scene_ID", [[2, 3], [4, 5], [6]]), ("scene id", [[2, 3, 4, 5], [6]])],
)
def test_columns_may_name_a_dialog_together(
    write: Write, named: str, lines: list[list[int]]
) -> None:
    found = blocks(write(RESTART, "k.csv"), {"dialog": named})
    assert [[line for line, *_ in one] for one in found] == lines
    both = RESTART.replace("Scene_ID", "a+b")
    assert len(blocks(write(both, "k.csv"), {"dialog": "a+b"})) == 2


def test_empty_rows_part_dialogs_where_no_column_does(write: Write) -> None:
    path = write("speaker,text\nAnn,Two.\n\nBen,Three.\n,\n \nAnn,Four.\n,\n", "k.csv")
    assert [[line for line, *_ in one] for one in blocks(path)] == [[2], [4], [7]]
    path = write("dialog,text\na,Two.\n\na,Three.\n", "k.csv")
    assert [[line for line, *_ in one] for one in blocks(path)] == [[2, 4]]


def test_a_header_may_hold_line_breaks(write: Write) -> None:
    path = write('"said\nby",text,"Wer\nda"\nx,Two.,Ann\n', "k.csv")
    assert blocks(path, {"speaker": "Wer da"}) == [[(4, 0, "Ann", "Two.")]]


def test_a_turn_without_words_stays_in_the_text(write: Write) -> None:
    (block,) = TABLE.read(
        Source(write("speaker,text\nAnn,\nBen,Two.\n", "k.csv")), ReadOptions()
    )
    assert block.text == "Ann:\nBen: Two."
    assert [one.number for one in block.turns] == [0, 1]


def test_rows_of_one_turn_and_speaker_are_one(write: Write) -> None:
    path = write("turn,who,text\n3.0,Ann,Two.\n3,Ann,Or three.\n3,Ben,Four.\n4,Ben,Five.\n")
    assert blocks(path) == [
        [(2, 3, "Ann", "Two. Or three."), (4, 3, "Ben", "Four."), (5, 4, "Ben", "Five.")]
    ]


def test_turns_without_numbers_are_counted(write: Write) -> None:
    path = write("turn_id,text\nT9,Two.\nT9,Three.\n12,Four.\nT1,Five.\n", "k.csv")
    assert blocks(path) == [
        [(2, 0, None, "Two. Three."), (4, 1, None, "Four."), (5, 2, None, "Five.")]
    ]


@pytest.mark.parametrize(
    ("content", "name", "fits"),
    [
        (KITCHEN, "k.csv", True),
        (KITCHEN, "k", True),
        ("speaker\ttext\nAnn\tTwo.\n", "k.tsv", True),
        ("text\nTwo.\n", "k.csv", True),
        ("text\nTwo.\n", "k.txt", False),
        ("No speaker, no text\n", "k.txt", False),
        ("Text, please: two\n", "k.txt", False),
        ("text\tind_s\tind_e\ty\nTwo\t0\t1\t1\n", "k.tsv", False),
        ("WorkerId,Input.text_reduced,Input.target,text\n", "k.csv", False),
        ('{"speaker": "Ann", "text": 2}\n', "k.csv", False),
    ],
)
def test_only_a_header_of_ours_is_taken_for_a_table(
    write: Write, content: str, name: str, fits: bool
) -> None:
    assert (opened(write(content, name)).format is TABLE) is fits


def test_a_spreadsheets_encodings_are_read(write: Write, home: Path, call: Call) -> None:
    content = "speaker\ttext\r\nZoë\tZwei, für 9 €.\r\n"
    for name in ("utf-16", "cp1252"):
        path = write(content.encode(name), f"{name}.txt")
        refused = call("import", path, "--db", f"{name}.db")
        assert (refused.exit_code, "--encoding" in refused.stderr) == (1, True)
        done = call("import", path, "--encoding", name, "--db", f"{name}.db")
        assert (done.exit_code, "read as table" in done.stderr) == (0, True)
        with Store.open(home / f"{name}.db") as store:
            passages = {one.passage.text for one in store.items.ballots(Query())}
        assert passages == {"Zoë: Zwei, für 9 €."}


def test_the_command_reads_other_tables_by_their_columns(
    write: Write, home: Path, call: Call
) -> None:
    path = write("Wer;Satz\nAnn;Zwei Karten?\nBen;Nein, drei 3.\n", "k.csv")
    arguments = ("import", path, "--db", "x.db", "--format", "table", "--json")
    assert "found no column of texts" in call(*arguments).stdout
    done = call(*arguments, "--columns", "text=Satz,speaker=Wer")
    assert done.exit_code == 0, done.output
    with Store.open(home / "x.db") as store:
        (ballot,) = store.items.ballots(Query())
    assert [turn.speaker for turn in ballot.passage.turns] == ["Ann", "Ben"]


def test_named_columns_are_those_of_a_table(write: Write, home: Path, call: Call) -> None:
    for name in ("k.csv", "k.txt"):
        path = write("a,b\nAnn,Two cups?\n", name)
        done = call(
            "import", path, "--db", "x.db", "--columns", "text=b,speaker=a", "--dry-run"
        )
        assert (done.exit_code, "read as table: its columns are named" in done.stderr) == (
            0,
            True,
        )
        assert "1 item new" in done.stdout
    twice = call("import", path, "--db", "x.db", "--columns", "text=a,text=b")
    assert (twice.exit_code, "names two columns for one of" in twice.stderr) == (2, True)
    other = call("import", path, "--format", "dialog", "--columns", "text=a", "--db", "x.db")
    assert (other.exit_code, "has no --columns" in other.stderr) == (1, True)


# --- whatever a csv module writes -----------------------------------------------------------

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=9)


def lined(text: str) -> str:
    return " ".join(filter(None, map(str.strip, text.split("\n"))))


dialogs = st.lists(
    st.lists(st.tuples(cells.filter(str.strip), cells), min_size=1, max_size=4),
    min_size=1,
    max_size=3,
)


def written(rows: Sequence[Sequence[str]], delimiter: str, end: str = "\n") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(rows)
    return file.getvalue()


@settings(max_examples=150, deadline=None)
@given(dialogs, st.sampled_from(",\t;|"), st.sampled_from(["\n", "\r\n"]))
def test_what_the_csv_module_writes_is_read(
    scenes: list[list[tuple[str, str]]], delimiter: str, end: str
) -> None:
    rows = [["scene", "speaker", "text", "other"]]
    rows += [[f"s{n}", *said, ""] for n, scene in enumerate(scenes) for said in scene]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.csv"
        path.write_bytes(written(rows, delimiter, end).encode())
        found = [[(who, text) for *_, who, text in one] for one in blocks(path)]
    assert found == [[(lined(who), lined(text)) for who, text in one] for one in scenes]
