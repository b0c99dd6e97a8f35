"""Tables that are refused: each sentence names the line, what was found, and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import tables
from nfh_db.formats.files import Source
from nfh_db.formats.rows import ReadOptions
from nfh_db.formats.tables import TABLE

Write = Callable[..., Path]

REFUSED = [
    ("who,what\nAnn,Two.\n", '1: found no column of texts; the header has "who", "what"'),
    ("text,text\nTwo.,Two.\n", '1: found the column "text" twice'),
    ("text,Text_\nTwo.,Two.\n", '1: found the column "text" twice'),
    ("speaker,text\nAnn,Two, please\n", '2: found 3 fields, the last one " please"; wanted 2'),
    ("speaker,text\n\nAnn\n", '3: found 1 field, the last one "Ann"; wanted 2'),
    ('speaker,text\nAnn,"Two.\nBen,Three.\n', "2: a quote that opens in this row is never"),
    ('speaker,text\nAnn,"Two" cups.\n', "2: a closing quote is followed by more"),
    ("dialog,text\na,Two.\n,Three.\n", '3: the column "dialog" is empty'),
    (
        "dialog,text\na,Two.\nb,x\na,3\n",
        '4: found another row of the dialog "a" ("dialog"), whose rows ended in line 2; wanted '
        "the rows of a dialog together. Where it is another dialog, name the columns that "
        "distinguish dialogs, with --columns dialog=NAME or dialog=NAME+NAME",
    ),
    ("turn,text\n1,Two.\n,Three.\n", '3: the column "turn" is empty'),
    ("turn,text\n2,Two.\n10,x\n3,y\n", "4: found turn 3 after turn 10"),
    ("Episode,scene,text\n1,a,Two.\n,a,x\n", '3: the column "Episode" is empty'),
    ("turn,text\nT1,Two.\nT2,x\nT1,y\n", '4: found the turn "T1" again'),
    ("speaker,text\n", "has only a header"),
    ("speaker,text\n,\n\n", "has only a header"),
    ("text,speaker\rTwo.,Ann\n", "1: a carriage return is outside quotes"),
    ('text,"speaker\nTwo.,Ann\n', "1: a quote that opens in this row is never closed"),
    (" \n\n", "holds nothing but white space"),
    ("sep=;\n", "holds nothing but white space"),
]


@pytest.mark.parametrize(("content", "said"), REFUSED)
def test_what_does_not_hold_is_refused(write: Write, content: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(TABLE.read(Source(write(content, "k.csv")), ReadOptions()))
    assert said in str(caught.value)


NO_WHO = 'found no column "who" for speaker; the header has "speaker", "text"'


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"speaker": "who"}, NO_WHO),
        ({"text": "words"}, 'found no column "words" for text'),
        ({"dialog": "text+b"}, 'found no column "text+b" for dialog'),
        ({"dialog": "text "}, None),
    ],
)
def test_a_column_that_was_named_has_to_be_there(
    write: Write, columns: dict[str, str], said: str | None
) -> None:
    source = Source(write("speaker,text\nAnn,Two.\n", "k.csv"))
    if said is None:
        assert list(TABLE.read(source, ReadOptions(columns=columns)))
        return
    with pytest.raises(FormatError, match="line 1") as caught:
        list(TABLE.read(source, ReadOptions(columns=columns)))
    assert said in str(caught.value)


def test_a_dialog_has_its_bounds(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LINE_LIMIT", 20)
    path = write("text\n\nNo.\nTwo tickets.\nTwo tickets.\n", "k.csv")
    with pytest.raises(FormatError, match=r"line 3: a scene of more .*an empty row between"):
        list(TABLE.read(Source(path), ReadOptions()))


def test_a_bad_row_is_the_last_that_is_read(write: Write) -> None:
    path = write("dialog,text\na,Two.\nb,Three.\nc\n", "k.csv")
    reader = TABLE.read(Source(path), ReadOptions())
    assert next(reader).text == "Two."
    with pytest.raises(FormatError, match="line 4"):
        list(reader)


def test_control_characters_of_a_header_are_shown(write: Write) -> None:
    with pytest.raises(FormatError, match="␛"):
        list(TABLE.read(Source(write("a\x1b,b\n1,2\n", "k.csv")), ReadOptions()))
