"""CoNLL-U of other people: parses, ranges, empty nodes, and what is wrong."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import conllu
import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.base import First
from nfh_db.formats.conllu import CONLLU
from nfh_db.formats.files import Source
from nfh_db.formats.registry import reading
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_models.domain import Kind, Origin, Relation
from nfh_tui.services.imports import ImportOptions, export_file, import_file, recognise_file


def sentence(*rows: str, comments: str = "") -> str:
    """A sentence of rows such as "1 Two two NUM" with as many columns as are said."""
    lines = []
    for row in rows:
        columns = row.split(" ")
        misc = columns.pop() if "=" in columns[-1] else "_"
        lines.append("\t".join([*columns, *["_"] * (9 - len(columns)), misc]))
    return comments + "\n".join(lines) + "\n\n"


PARSED = (
    "# newdoc id = talk-1\n"
    "# global.Entity = eid-etype-head-other\n"
    + sentence(
        "1 They they PRON PRP Number=Plur 4 nsubj 4:nsubj Entity=(e1-person-1-)",
        "2-3 don't _ _ _ _ _ _",
        "2 do do AUX VBP Mood=Ind 4 aux 4:aux",
        "3 n't not PART RB _ 4 advmod 4:advmod",
        "4 want want VERB VB _ 0 root 0:root",
        "4.1 ghost _ PRON _ _ _ _ 4:obj",
        "5 two two NUM CD NumType=Card 4 obj 4:obj SpaceAfter=No",
        "6 . . PUNCT . _ 4 punct 4:punct",
        comments="# sent_id = a-1\n# speaker = Ann\n# text = They don't want two.\n",
    )
    + sentence(
        "1-2 gonna _ _ _ _ _ _",
        "1 going go VERB VBG _ 0 root _",
        "2 to to PART TO _ 1 mark _",
        "3 tickets ticket NOUN NNS _ 1 obl _",
        comments="# sent_id = a-2\n# speaker = Ben\n# text = gonna  tickets\n",
    )
    + "# newdoc\n"
    + sentence("1 Three three", "2 _ _ SYM", comments="# sent_id = b-1\n")
)


@pytest.fixture
def rows(tmp_path: Path) -> Callable[[str], SimpleNamespace]:
    """Reads a file's rows and warnings."""

    def read(content: str) -> SimpleNamespace:
        path = tmp_path / "file.conllu"
        path.write_text(content, "utf-8", newline="")
        source = Source(path)
        return SimpleNamespace(
            rows=list(CONLLU.read(source, reading())), warnings=source.warnings
        )

    return read


Rows = Callable[[str], SimpleNamespace]


def test_numbers_are_found_in_words_as_they_came(rows: Rows) -> None:
    found = rows(PARSED)
    one, two = found.rows
    assert one.passage.text == "They don't want two.\ngonna  tickets"
    assert one.passage.words == [
        *("They", "do", "n't", "want", "two", ".", "gonna", "tickets"),
    ]
    assert [(t.speaker, t.start, t.end) for t in one.passage.turns] == [
        ("Ann", 0, 6),
        ("Ben", 6, 8),
    ]
    assert (one.anchor.start, one.anchor.end, one.gold) == (4, 5, None)
    assert two.passage.words == ["Three", "_"]
    assert found.warnings == [
        "1 empty node left out: they are not words of the text",
        "2 numbers found in documents in which none is marked",
    ]


def test_a_speaker_has_a_name_or_an_id(rows: Rows) -> None:
    own = "# speaker_id = Sp9\n" + sentence("1 two two")
    assert rows(own).rows[0].passage.turns[0].speaker == "Sp9"
    assert rows("# speaker = Ann\n" + own).rows[0].passage.turns[0].speaker == "Ann"


def test_places_name_words_within_ranges(rows: Rows) -> None:
    marked = PARSED.replace(
        "4:obj\tSpaceAfter=No",
        "4:obj\tNFH=REFERENCE|NFHHead=2:3,2:2+,1:2!;1:1|NFHOp=OR|SpaceAfter=No",
    )
    one = rows(marked).rows[0]
    assert [[(m.head, m.origin) for m in h.mentions] for h in one.gold.answer.heads] == [
        [(7, Origin.MARKED), (6, Origin.ADDED), (1, Origin.REMOVED)],
        [(0, Origin.MARKED)],
    ]
    assert one.gold.answer.relation is Relation.OR
    assert one.gold.answer.kind is Kind.REFERENCE


def test_a_parse_leaves_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    path.write_text(PARSED, "utf-8")
    found = recognise_file(path, None, ImportOptions())
    assert found.format.name == "conllu"
    with Store.open(tmp_path / "a.db", create=True) as store:
        import_file(store, found.source, found.format, ImportOptions())
        export_file(store, parse(""), CONLLU, tmp_path / "out.conllu")
    was, now = conllu.parse(PARSED), conllu.parse((tmp_path / "out.conllu").read_text("utf-8"))
    assert len(was) == len(now)
    for one, other in zip(was, now, strict=True):
        assert {**other.metadata, **one.metadata} == other.metadata or "newdoc" in one.metadata
        for token, after in zip(one, other, strict=True):
            misc = after.pop("misc") or {}
            assert {k: v for k, v in misc.items() if k != "NFH"} == (token.pop("misc") or {})
            assert after == token
    assert (
        sum(
            "NFH" in (token["misc"] or {})
            for one in conllu.parse((tmp_path / "out.conllu").read_text("utf-8"))
            for token in one
        )
        == 2
    )


def test_a_file_without_documents_is_one(rows: Rows) -> None:
    found = rows(sentence("1 Two two") + sentence("1 or or", "2 three three"))
    assert [row.passage.text for row in found.rows] == ["Two\nor three"] * 2


def test_documents_without_a_number_are_counted(rows: Rows) -> None:
    found = rows(
        "# newdoc\n" + sentence("1 Hello hello") + "# newdoc\n" + sentence("1 Two two")
    )
    assert len(found.rows) == 1
    assert "1 document without a number left out" in found.warnings


def test_line_ends_of_windows_are_taken(rows: Rows) -> None:
    content = sentence("1 Two two NFH=AGE").replace("\n", "\r\n")
    assert rows(content).rows[0].gold.answer.kind is Kind.AGE


TWO = sentence("1 Two two NFH=AGE", comments="# text = Two\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\tTwo\ttwo\n", "line 1: found 3 columns in .*, wanted 10 with tabs between"),
        (TWO.replace("\tNFH=AGE", "\t"), "line 2: found a column that is empty"),
        (TWO.replace("two", "t  wo"), "line 2: found a column that is empty or holds two sp"),
        ("# text = Two\n\n", "line 1: found comments without a token below them"),
        ("\n\n", "holds nothing but white space"),
        (
            TWO.replace("1\tTwo", "x\tTwo"),
            "line 1: this sentence is not CoNLL-U; wanted a token in ten columns.*'x'",
        ),
        (TWO.replace("1\tTwo", "2\tTwo"), "line 2: found the id 2, expected 1"),
        (TWO.replace("= Two", "= Three"), 'line 1: expected "Two" of line 2 at character 0'),
        (TWO.replace("= Two", "= Two cups"), "line 1: the sentence's text continues after its"),
        (TWO.replace("1\tTwo", "1-2\tTwo"), "line 2: the words 1 to 2 of this token are miss"),
        (
            TWO.replace("AGE", "NUM"),
            'found 1 span "NUM" of no known meaning, the first "Two" in line 2',
        ),
        (TWO.replace("=AGE", "=AGE|NFHHead=1:1"), "line 2: .*heads belong to REFERENCE"),
        (TWO.replace("=AGE", "=REFERENCE|NFHHead=1:1"), "line 2: head token 0 is part of the"),
        (TWO.replace("=AGE", "=REFERENCE|NFHHead=1:2"), "line 2: the place 1:2 is not in the"),
        (TWO.replace("=AGE", "=REFERENCE|NFHHead=one"), 'line 2: found "one" in NFHHead, want'),
        (TWO.replace("=AGE", "=AGE|NFHSpan=1:9"), "line 2: the place 1:9 is not in the"),
        (TWO.replace("=AGE", "=AGE|NFHSpan=two"), "line 2: found NFHSpan=.*wanted places such"),
        (TWO.replace("=AGE", "=AGE|NFHOp=XOR"), "line 2: found NFHOp=.XOR., wanted one of AND"),
        (TWO.replace("=AGE", "=AGE|NFH=YEAR"), "line 1: .*the key NFH occurs twice"),
        (TWO.replace("=AGE", "=AGE|NFH2=AGE"), "line 2: a number is marked twice here"),
        (TWO.replace("NFH=AGE", "NFHOp=AND"), "line 1: .*NFHOp stands without NFH"),
        (TWO.replace("=AGE", "=ANCHOR|NFHNoun=x"), "line 2: NFH=ANCHOR says that nobody"),
        ("# nfh_passage = {\n" + TWO, "line 1: .*the comment nfh_passage is not JSON"),
        (
            "# nfh_passage = {}\n" + TWO,
            "line 1: .*nfh_passage: the key .format. is missing",
        ),
        (
            '# nfh_passage = {"format":"nfh-conllu/9","turns":[]}\n' + TWO,
            "line 1: .*found format .nfh-conllu/9., wanted nfh-conllu/1",
        ),
        (
            '# nfh_passage = {"format":"nfh-conllu/1","turns":[[0,null,0,2]],"named":true}\n'
            + TWO,
            "line 1: .*expected sentences of .2. tokens, found .1.: the words were changed",
        ),
        (
            '# nfh_passage = {"format":"nfh-conllu/1","turns":[[0,null,0,1]],'
            '"text":"One","offsets":[[0,3]]}\n' + TWO,
            'line 1: .*expected the form "One", found "Two"',
        ),
        (
            '# nfh_passage = {"format":"nfh-conllu/1","turns":[[0,null,0,2]],"text":"two",'
            '"offsets":[[0,3],[0,3]]}\n' + sentence("1 two two NFH=AGE", "2 two two"),
            "line 1: .*nfh_passage: token 1 has offsets 0 to 3",
        ),
    ],
)
def test_what_does_not_hold_is_refused(rows: Rows, content: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        rows(content)


def test_a_missing_package_is_named(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "conllu", None)
    with pytest.raises(FormatError, match=r"pip install 'nfh-tui\[formats\]'"):
        rows(TWO)


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (PARSED, True),
        ("\n" + sentence("1 Two two"), True),
        ("1\tTwo\ttwo\tNUM\n", False),
        ("text\tind_s\tind_e\ty\n", False),
        ("# a heading\n\nAnn: two\n", False),
        ('{"text": "1\\tTwo"}\n', False),
    ],
)
def test_a_file_is_told_by_its_columns(tmp_path: Path, content: str, known: bool) -> None:
    path = tmp_path / "file.txt"
    path.write_text(content, "utf-8")
    assert bool(CONLLU.sniff(First.of(Source(path)))) is known
