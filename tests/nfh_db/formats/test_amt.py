"""The rows of a Mechanical Turk batch: CSV, columns, short fields, refusals."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_db.errors import FormatError
from nfh_db.formats import amt
from nfh_db.formats.amt import parse, stored
from nfh_db.formats.files import LINE_LIMIT, Source
from nfh_db.formats.registry import DIALOG, check_choice, recognise
from nfh_db.formats.rows import AssignmentRow, ReadOptions
from nfh_db.query import parse as parse_query
from nfh_db.store import Store
from nfh_models.domain import Kind

Rows = Callable[[str, str | bytes], list[AssignmentRow]]
Write = Callable[..., Path]
HEADER = "WorkerId,Input.text_reduced,Input.target,Answer.ans,Answer.reference\n"


def test_columns_are_found_by_name_in_any_order(rows: Rows) -> None:
    content = (
        "Answer.offset,HITId, Answer.ans ,Answer.reference,Input.target,Odd,WorkerId,"
        "SubmitTime,Input.text_reduced,AssignmentStatus\n"
        '3;9,H1,1,tickets,three,"x, y",A1,today,Ann: three,Approved\n'
    )
    (row,) = rows("amt", content)
    assert (row.line, row.worker, row.code, row.marked, row.offset) == (
        2,
        "A1",
        "1",
        "tickets",
        "3;9",
    )
    assert (row.context, row.target, row.rejected) == ("Ann: three", "three", False)
    assert (row.submitted, row.comment, row.html, row.seconds) == ("today", "", "", "")


def test_a_row_starts_where_its_first_line_is(rows: Rows) -> None:
    content = HEADER + (
        'A1,"Ann: Two?\nBen: No, ""three"".",three,2,\n\n'
        "A2,Ann: one,one,3,\n"
        'A3,"a\n\nb",one,3,""\n'
        "A4,c,one,3,\n\n"
    )
    found = rows("amt", content)
    assert [(row.line, row.worker) for row in found] == [
        (2, "A1"),
        (5, "A2"),
        (6, "A3"),
        (9, "A4"),
    ]
    assert found[0].context == 'Ann: Two?\nBen: No, "three".'
    assert found[2].context == "a\n\nb"


def test_a_mark_crlf_and_a_last_line_without_end_are_accepted(rows: Rows) -> None:
    content = b"\xef\xbb\xbf" + (HEADER + 'A1,"a\nb",one,3,').replace("\n", "\r\n").encode()
    (row,) = rows("amt", content)
    assert (row.worker, row.context) == ("A1", "a\nb")


def test_rows_may_end_before_the_columns_that_the_requester_fills(rows: Rows) -> None:
    header = HEADER.rstrip("\n") + ",Approve,Reject\n"
    found = rows("amt", header + "A1,a,one,3,\nA2,a,one,3,,\nA3,a,one,3,,x,\n")
    assert [row.worker for row in found] == ["A1", "A2", "A3"]


REFUSED = {
    "no worker column": (
        HEADER.replace("WorkerId", "Worker") + "A,a,b,1,\n",
        "line 1: found no column WorkerId; wanted a header with at least WorkerId, Input.text",
    ),
    "two missing": (
        "WorkerId,Input.target,Answer.ans\nA,b,1\n",
        "found no column Input.text_reduced, Answer.reference; wanted",
    ),
    "twice": (
        HEADER.rstrip("\n") + ",Answer.ans\nA,a,b,1,,2\n",
        "line 1: found the column Answer.ans twice, wanted each once",
    ),
    "header only": (HEADER, "has only a header; wanted at least one row"),
    "too few": (
        HEADER + "A1,a,one,3,\nA1,a,one,3\n",
        'line 3: found 4 fields, the last one "3"; wanted 5, as many as the header',
    ),
    "too many": (
        HEADER + "A1,a,one,3,,\u001b[1m\n",
        'line 2: found 6 fields, the last one "␛[1m"; wanted 5',
    ),
    "open quote": (
        HEADER + 'A1,a,one,3,\nA2,"a,one,3,\nA3,a,one,3,\n',
        "line 3: a quote that opens in this row is never closed; wanted fields quoted",
    ),
    "behind a quote": (
        HEADER + 'A1,"a"b,one,3,\n',
        "line 2: a closing quote is followed by more text than a comma",
    ),
    "old Mac": (HEADER + "A1,a\rb,one,3,\n", "line 2: a carriage return is outside quotes"),
    "blank": ("\n\n", "holds nothing but white space"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_structural_damage_refuses_the_file(rows: Rows, case: str) -> None:
    content, message = REFUSED[case]
    with pytest.raises(FormatError) as caught:
        rows("amt", content)
    assert message in str(caught.value)


def test_a_field_has_a_limit(rows: Rows) -> None:
    lines = "x" * (LINE_LIMIT - 10) + "\n"
    with pytest.raises(FormatError, match="line 3: a field of this row is longer than 16,777"):
        rows("amt", HEADER + "A1,a,one,3,\n" + 'A2,"' + lines * 2 + '",one,3,\n')


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (HEADER + "A1,a,one,3,\n", "batch.csv"),
        (HEADER + "A1,a,one,3,\n", "batch.txt"),
        (HEADER + "A1,a,one,3,\n", "batch.tsv"),
        ('\n"HITId","WorkerId","Answer.ans"\n', "x"),
        ("WorkerId,Input.target\n", "x"),
    ],
)
def test_the_header_tells_a_batch(write: Write, content: str, name: str) -> None:
    source = Source(write(content, name))
    format_, reason = recognise(source)
    assert format_.name == "amt"
    assert "Mechanical Turk" in reason
    with pytest.raises(FormatError, match="found rows of another format"):
        check_choice(source, DIALOG)


@pytest.mark.parametrize(
    "line", ["WorkerId: two", "WorkerId", "HITId,Answer.ans", "WorkerId;Answer.ans", "a,b"]
)
def test_other_lines_are_no_header(line: str) -> None:
    assert not amt.is_header(line)


# --- short fields -------------------------------------------------------------------------


def test_codes_have_the_meanings_of_the_form() -> None:
    assert {code: amt.kind_of(str(code)) for code in range(10)} == {
        0: None,
        1: Kind.REFERENCE,
        2: Kind.YEAR,
        3: Kind.AGE,
        4: Kind.CURRENCY,
        5: Kind.OTHER,
        6: Kind.UNKNOWN,
        7: Kind.PEOPLE,
        8: Kind.TIME,
        9: None,
    }
    assert amt.kind_of(" 8.0 ") is Kind.TIME
    for none in ("", "1|2", "1.5", "-1", "one", "1" * 5000, "\u0661"):
        assert amt.kind_of(none) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tue Jan 30 12:01:01 PST 2018", "2018-01-30T20:01:01.000Z"),
        ("Tue Apr 17 08:12:33 PDT 2018", "2018-04-17T15:12:33.000Z"),
        ("Mon Dec 3 23:59:59 EST 2018", "2018-12-04T04:59:59.000Z"),
        (" Mon Dec 03 23:59:59 UTC 2018 ", "2018-12-03T23:59:59.000Z"),
        ("2018-01-30T12:01:01Z", "2018-01-30T12:01:01.000Z"),
        ("2018-01-30T12:01:01.5-08:00", "2018-01-30T20:01:01.500Z"),
        ("2018-01-30 12:01:01", "2018-01-30T12:01:01.000Z"),
        ("2018-01-30", None),
        ("Tue Jan 32 12:01:01 PST 2018", None),
        ("Tue Jun 31 12:01:01 PST 2018", None),
        ("Di Jan 30 12:01:01 MEZ 2018", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("", None),
    ],
)
def test_times_are_read_in_both_forms(text: str, expected: str | None) -> None:
    assert amt.time(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("12", 12.0), (" 7.5", 7.5), ("-0.0", 0.0), ("-1", None), ("nan", None), ("inf", None),
     ("1e400", None), ("1e300", None), ("soon", None), ("", None)],
)  # fmt: skip
def test_seconds_are_numbers_from_zero(text: str, expected: float | None) -> None:
    assert amt.seconds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("12;20", (12, 20)), (" 20 ; 12 ", (20, 12)), ("3.0;9.0", (3, 9)), ("12", None),
     ("12,20", None), ("-1;4", None), ("", None), (f"{'9' * 5000};1", None)],
)  # fmt: skip
def test_offsets_are_a_pair(text: str, expected: tuple[int, int] | None) -> None:
    assert amt.offsets(text) == expected


@pytest.mark.parametrize(
    ("kind", "other", "comment", "noun", "kept"),
    [
        (Kind.OTHER, "phone  number", "", "phone number", ""),
        (Kind.OTHER, " score ", "not sure", "score", "not sure"),
        (Kind.OTHER, "o'clock", "", "o'clock", ""),
        (Kind.OTHER, "%", "", None, "other: %"),
        (Kind.OTHER, "it is a phone number", "", None, "other: it is a phone number"),
        (Kind.OTHER, "score. or not", "hm", None, "hm; other: score. or not"),
        (Kind.OTHER, "x" * 41, "", None, "other: " + "x" * 41),
        (Kind.OTHER, "", "", None, ""),
        (Kind.CURRENCY, "dollars", "", None, "other: dollars"),
        (Kind.UNKNOWN, "", " a\nb ", None, "a\nb"),
        (Kind.OTHER, "नौकरी", "", "नौकरी", ""),
    ],
)
def test_nothing_typed_is_lost(
    kind: Kind, other: str, comment: str, noun: str | None, kept: str
) -> None:
    assert amt.typed(kind, other, comment) == (noun, kept)


# --- contexts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "text"),
    [
        ("Ann: one\nBen: two", "Ann: one\nBen: two"),
        ("\n \nAnn:  one\n\nBen: two\n", "Ann:  one\n\nBen: two"),
        ("Ann: <i>one</i> &amp; two", "Ann: <i>one</i> &amp; two"),
        ("Ann: one<br />\nBen: &quot;two&quot; &lt;3<BR>", 'Ann: one\nBen: "two" <3'),
        (
            "Ann: <strong><font size=4>one </font></strong>more<br/>Ben: a < b",
            "Ann: one more\nBen: a < b",
        ),
        (" \n ", ""),
    ],
)  # fmt: skip
def test_a_context_is_stored_as_it_came_or_as_it_was_shown(context: str, text: str) -> None:
    assert stored(context) == text


def test_text_nodes_are_those_of_a_browser() -> None:
    page = (
        "Ann: I&#39;ve <strong><font color='x'>two </font></strong>already.<br />\n"
        "Ben: No.<br/>"
    )
    assert [(node.text, node.bold, node.line) for node in parse(page)] == [
        ("Ann: I've ", False, 0),
        ("two ", True, 0),
        ("already.", False, 0),
        ("\nBen: No.", False, 1),
    ]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<", ">", "<br>", "</b>", "<b ", "&", "&amp", ";", "x", "\n", "é"])
    )
)
def test_any_markup_gives_text(pieces: list[str]) -> None:
    nodes = parse("".join(pieces))
    assert all(node.text for node in nodes)
    assert [node.line for node in nodes] == sorted(node.line for node in nodes)


# --- anything at all ----------------------------------------------------------------------

FIELDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=100, deadline=None)
@given(records=st.lists(st.lists(FIELDS, min_size=5, max_size=5), min_size=1, max_size=4))
def test_fields_are_kept_as_they_came(
    tmp_path_factory: pytest.TempPathFactory, records: list[list[str]]
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([HEADER.strip().split(","), *records])
    path = tmp_path_factory.mktemp("amt") / "x.csv"
    path.write_bytes(text.getvalue().encode("utf-8"))
    found = list(amt.read(Source(path), ReadOptions()))
    given_ = [[field.replace("\r\n", "\n") for field in record] for record in records]
    assert [[r.worker, r.context, r.target, r.code, r.marked] for r in found] == given_


def test_a_time_of_rejection_counts_where_the_status_does_not_say(rows: Rows) -> None:
    header = HEADER.strip() + ",AssignmentStatus,RejectionTime\n"
    given = [("", "Mon"), ("Submitted", " "), ("Approved", "Mon"), ("Rejected", "")]
    content = "".join(f"A1,a one,one,2,,{status},{time}\n" for status, time in given)
    found = [row.rejected for row in rows("amt", header + content)]
    assert found == [True, False, False, True]


REVIEWED = """\
WorkerId,AssignmentStatus,Input.text_reduced,Input.target,Answer.ans,Answer.reference,Approve,Reject
W1,Submitted,We have three.,three,2,,x,
W2,Submitted,We have three.,three,3,,,did not read the task
W3,Submitted,We have three.,three,3,,,copied
W4,Rejected,We have three.,three,3,
W5,Approved,We have three.,three,2,,,taken back
"""


@pytest.mark.parametrize(
    ("count", "workers"), [(False, ["W1", "W5"]), (True, ["W1", "W2", "W3", "W4", "W5"])]
)
def test_rejected_work_does_not_count_unless_it_is_said(
    call: Callable[..., Result], home: Path, count: bool, workers: list[str]
) -> None:
    (home / "batch.csv").write_text(REVIEWED, "utf-8")
    option = ["--count-rejected"] if count else []
    result = call("import", "batch.csv", "--db", "x.db", *option)
    assert result.exit_code == 0, result.stderr
    told = (
        "3 rows left out, the work was rejected (--count-rejected takes it in): lines 3, 4, 5"
    )
    assert (told in result.stderr) is not count
    with Store.open(home / "x.db") as store:
        (record,) = store.items.records(parse_query(""), None, "gold")
        assert [vote.annotator for vote in record.votes] == workers
