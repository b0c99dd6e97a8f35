"""The release's identification files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import nfh
from nfh_db.formats.files import Source
from nfh_db.formats.rows import LabelledRow
from nfh_models.domain import Anchor, Kind, Turn

Rows = Callable[[str, str | bytes], list[LabelledRow]]
HEADER = "text\tind_s\tind_e\ty\n"


def test_rows_are_read_as_they_stand(rows: Rows) -> None:
    content = HEADER + 'NA_SEP_2\u00a01/2_SEP_"miles_SEP_.\t1\t2\t0\nOne_SEP_!\t0\t1\t1\n'
    first, second = rows("nfh-ident", content)
    assert first.passage.text == 'NA 2\u00a01/2 "miles .'
    assert first.passage.words == ["NA", "2\u00a01/2", '"miles', "."]
    assert first.passage.turns == (Turn(0, None, 0, 4),)
    assert (first.line, first.anchor, first.kind, first.labels) == (
        2,
        Anchor(1, 2),
        Kind.NOT_NFH,
        "0",
    )
    assert (second.line, second.kind, second.labels) == (3, Kind.NFH, "1")


def test_byte_order_mark_crlf_and_a_last_line_without_end_are_accepted(rows: Rows) -> None:
    content = b"\xef\xbb\xbf" + HEADER.replace("\n", "\r\n").encode() + b"a_SEP_1\t1\t2\t1"
    (row,) = rows("nfh-ident", content)
    assert row.passage.words == ["a", "1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a_SEP_1\t1\t2", "found 3 columns, wanted 4: text, ind_s, ind_e, y"),
        ("a_SEP_1\t1\t2\t1\t", "found 5 columns, wanted 4"),
        ("a_SEP_\t0\t1\t1", 'column 1 "text": found "a_SEP_", wanted no empty token (token 1'),
        ("\t0\t1\t1", 'column 1 "text": found "", wanted no empty token (token 0 is)'),
        ("a_SEP_1\tx\t2\t1", 'column 2 "ind_s": found "x", wanted a whole number'),
        ("a_SEP_1\t-1\t2\t1", 'column 2 "ind_s": found "-1", wanted a whole number'),
        ("a_SEP_1\t 1\t2\t1", 'column 2 "ind_s": found " 1", wanted a whole number'),
        ("a_SEP_1\t1_0\t2\t1", 'column 2 "ind_s": found "1_0", wanted a whole number'),
        ("a_SEP_1\t\u0661\t2\t1", 'column 2 "ind_s": found "\u0661", wanted a whole number'),
        ("a_SEP_1\t1\t2.0\t1", 'column 3 "ind_e": found "2.0", wanted a whole number'),
        ("a_SEP_1\t1\t" + "9" * 5000 + "\t1", 'column 3 "ind_e": found "9999'),
        ("a_SEP_1\t2\t3\t1", 'column 2 "ind_s": found "2", wanted a token from 0 to 1'),
        ("a_SEP_1\t1\t3\t1", 'column 3 "ind_e": found "3", wanted a number from 2 to 2'),
        ("a_SEP_1\t1\t1\t1", 'column 3 "ind_e": found "1", wanted a number from 2 to 2'),
        ("a_SEP_1\t1\t2\t2", 'column 4 "y": found "2", wanted 1 (NFH) or 0 (not)'),
        ("a_SEP_1\t1\t2\t", 'column 4 "y": found "", wanted 1 (NFH) or 0 (not)'),
        ("a_SEP_1\t1\t2\t1\x1b[2J", 'column 4 "y": found "1␛[2J", wanted'),
    ],
)
def test_a_wrong_cell_is_refused_with_line_and_column(
    rows: Rows, line: str, message: str
) -> None:
    with pytest.raises(FormatError) as caught:
        rows("nfh-ident", f"{HEADER}One_SEP_!\t0\t1\t1\n{line}\n")
    assert "file.jsonl, line 3: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "header", ["text\tind_s\tind_e", "text,ind_s,ind_e,y", "a_SEP_1\t1\t2\t1"]
)
def test_another_header_is_refused(rows: Rows, header: str) -> None:
    with pytest.raises(
        FormatError, match=r"line 1: found .*, wanted the header text, ind_s, ind"
    ):
        rows("nfh-ident", f"{header}\na_SEP_1\t1\t2\t1\n")


def test_a_header_alone_is_refused(rows: Rows) -> None:
    with pytest.raises(FormatError, match="has only a header; wanted at least one row"):
        rows("nfh-ident", HEADER)


def test_the_release_file_is_read_to_the_last_row(data_dir: Path) -> None:
    read = list(nfh.read_labels(Source(data_dir / "identification" / "dev.tsv")))
    assert len(read) == 18_401
    assert sum(row.kind is Kind.NFH for row in read) == 7_865
    assert sum(len(row.passage.words) for row in read) == 279_419
