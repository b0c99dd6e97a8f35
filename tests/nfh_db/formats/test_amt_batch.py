"""A simulated crowd's batch: what comes in is what the workers meant, or is reported."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_db.formats import amt
from nfh_db.formats.files import Source
from nfh_db.formats.registry import AMT
from nfh_db.formats.rows import ReadOptions
from nfh_db.records import IncomingPassage, Role, Vote
from nfh_models.domain import Kind, Passage
from nfh_tui.services.imports import PassageMaker

LEFT_OUT = re.compile(r"rows? left out, .*?: lines? ([\d, ]+)")
KINDS = ("", *"REFERENCE YEAR AGE CURRENCY OTHER UNKNOWN PEOPLE TIME".split())


def brought_in(path: Path) -> tuple[list[IncomingPassage], list[str]]:
    source = Source(path)
    maker = PassageMaker(source, None, None)
    return list(maker.passages(AMT.read(source, ReadOptions()))), source.warnings


def left_out(warnings: list[str]) -> set[int]:
    lines: set[int] = set()
    for warning in warnings:
        if match := LEFT_OUT.search(warning):
            lines |= {int(line) for line in match[1].split(",") if line.strip()}
    return lines


def place(passage: Passage, start: int, end: int) -> tuple[int, int]:
    return passage.tokens[start].start, passage.tokens[end - 1].end


def compare(batch: Any, passages: list[IncomingPassage], warnings: list[str]) -> set[int]:
    """Each row's vote is what the worker meant; the lines of those left out."""
    reported = left_out(warnings)
    assert batch.unusable <= reported
    votes: dict[int, tuple[Passage, tuple[int, int], Vote]] = {}
    earlier = 0
    for incoming in passages:
        for anchor in incoming.anchors:
            (vote,) = anchor.votes
            span = place(incoming.passage, anchor.anchor.start, anchor.anchor.end)
            assert anchor.line not in votes
            votes[anchor.line] = incoming.passage, span, vote
            earlier += len(anchor.earlier)
    lines = {truth.line for truth in batch.truths}
    stale = batch.superseded - reported
    assert earlier <= len(stale)
    for truth in batch.truths:
        if truth.line in reported:
            assert truth.line not in votes
            continue
        passage, anchor, vote = votes[truth.line]
        assert (passage.text, anchor) == (truth.task.text, truth.task.anchor)
        assert (vote.annotator, vote.answer.kind) == (truth.worker, KINDS[truth.code])
        assert vote.answer.noun == ("score" if truth.code == 5 else None)
        if truth.marked is not None and vote.answer.kind is Kind.REFERENCE:
            (mention,) = vote.answer.mentions()
            start, end = place(passage, mention.start, mention.end)
            words = truth.task.text[slice(*truth.marked)].strip()
            assert words in passage.text[start:end]
            assert start >= truth.marked[0] - 1
            assert end <= truth.marked[1] + 1
    # An earlier answer stands alone only where the later one could not be used.
    assert len(votes.keys() - lines) + earlier == len(stale)
    return reported - batch.unusable


STYLES: list[dict[str, Any]] = [
    {},
    {"indices": "sentence tokens", "inclusive": True, "fed": False, "wide": True},
    {"indices": "context utf-16", "sentence": False, "wide": True},
    {"indices": "spaced sentence tokens", "fed": False},
    {"indices": "of another text", "sentence": False, "page": True},
    {"indices": "of another text", "inclusive": True},
]


@pytest.fixture
def all_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings name every line."""
    monkeypatch.setattr("nfh_tui.services.amt_import.LISTED_LINES", 10_000)


@pytest.mark.usefixtures("all_listed")
@pytest.mark.parametrize(
    "style", [*STYLES[:3], *(pytest.param(one, marks=pytest.mark.long) for one in STYLES[3:])]
)
def test_votes_are_what_the_workers_meant_unless_reported(
    crowds: Any, sample_tasks: list[Any], tmp_path: Path, style: dict[str, Any]
) -> None:
    crowd = crowds.Crowd(7, crowds.Style(**style), tmp_path / "batch.csv")
    batch = crowd.answer(sample_tasks)
    reported = compare(batch, *brought_in(batch.path))
    usable = len(batch.truths) + len(batch.superseded)
    assert usable > 450
    assert len(reported) <= usable // 50


# --- single rows --------------------------------------------------------------------------

TALK = "Ann: The red tents leak, the old tents.\nBen: Then I take two.\nAnn: The 7AM boat?"
COLUMNS = (
    "WorkerId Input.text_reduced Input.target Answer.ans Answer.reference Answer.offset "
    "Answer.other Answer.comment WorkTimeInSeconds SubmitTime AssignmentStatus "
    "Input.target_start_index"
).split()


@pytest.fixture
def bring(tmp_path: Path) -> Callable[..., tuple[list[IncomingPassage], list[str]]]:
    """Brings in rows, each given by what differs from a row that answers TALK with Age."""

    def make(*rows: dict[str, str]) -> tuple[list[IncomingPassage], list[str]]:
        usual = {
            "WorkerId": "A1",
            "Input.text_reduced": TALK,
            "Input.target": "two",
            "Answer.ans": "3",
            "SubmitTime": "Tue Jan 30 12:01:01 PST 2018",
            "WorkTimeInSeconds": "12",
        }
        path = tmp_path / "rows.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for row in rows:
                writer.writerow([(usual | row).get(column, "") for column in COLUMNS])
        return brought_in(path)

    return make


Bring = Callable[..., tuple[list[IncomingPassage], list[str]]]


def marked(text: str, offset: str = "") -> dict[str, str]:
    return {"Answer.ans": "1", "Answer.reference": text, "Answer.offset": offset}


def test_three_rows_of_one_task_are_three_votes(bring: Bring) -> None:
    (passage,), warnings = bring(
        {"Answer.comment": " sure "},
        {"WorkerId": " B2 ", "Answer.ans": "6"},
        {"WorkerId": "C3"} | marked("red tents", "9;18"),
    )
    assert [anchor.line for anchor in passage.anchors] == [2, 5, 8]
    assert len({anchor.anchor for anchor in passage.anchors}) == 1
    votes = [anchor.votes[0] for anchor in passage.anchors]
    assert [(vote.annotator, vote.answer.kind) for vote in votes] == [
        ("A1", Kind.AGE),
        ("B2", Kind.UNKNOWN),
        ("C3", Kind.REFERENCE),
    ]
    first = votes[0]
    assert (first.role, first.seconds, first.answered_at, first.answer.comment) == (
        Role.ANNOTATOR,
        12.0,
        "2018-01-30T20:01:01.000Z",
        "sure",
    )
    assert not first.saw_model
    (mention,) = votes[2].answer.mentions()
    assert [
        passage.passage.word(k) for k in (mention.start, mention.end - 1, mention.head)
    ] == [
        "red",
        "tents",
        "tents",
    ]
    assert passage.tokenizer.startswith("spacy-blank-en")
    assert [turn.speaker for turn in passage.passage.turns] == ["Ann", "Ben", "Ann"]
    assert len(warnings) == 1
    assert "1 mark of several words the head was found by the parser of en_" in warnings[0]


def test_tasks_over_one_context_are_one_passage(bring: Bring) -> None:
    (passage,), _ = bring(
        {},
        {"Input.target": "two", "Input.text_reduced": f"\n{TALK}\n", "WorkerId": "B2"},
        {"Input.text_reduced": TALK.replace("\n", "<br />\n"), "WorkerId": "C3"},
        {"Input.target": "old", "Answer.ans": "4"},
    )
    spans = [(anchor.anchor.start, anchor.votes[0].annotator) for anchor in passage.anchors]
    two, old = spans[0][0], spans[3][0]
    assert spans == [(two, "A1"), (two, "B2"), (two, "C3"), (old, "A1")]
    assert passage.passage.text == TALK


def test_of_two_answers_the_one_submitted_last_counts(bring: Bring) -> None:
    (passage,), warnings = bring(
        {"Answer.ans": "2", "SubmitTime": "Wed Jan 31 09:00:00 PST 2018"},
        {"Answer.ans": "3", "SubmitTime": "Tue Jan 30 09:00:00 PST 2018"},
        {"Answer.ans": "4", "SubmitTime": "Tue Jan 30 08:00:00 PST 2018"},
    )
    (anchor,) = passage.anchors
    assert (anchor.line, anchor.votes[0].answer.kind) == (2, Kind.YEAR)
    assert [vote.answer.kind for vote in anchor.earlier] == [Kind.CURRENCY, Kind.AGE]
    assert warnings == [
        "2 rows whose worker answered the same number again: the later answer counts, the "
        "earlier one is in the item's history: lines 5, 8"
    ]


def test_without_times_the_order_of_the_file_counts(bring: Bring) -> None:
    (passage,), _ = bring(
        {"Answer.ans": "2", "SubmitTime": "Wed Jan 31 09:00:00 PST 2018"},
        {"Answer.ans": "3", "SubmitTime": ""},
    )
    (anchor,) = passage.anchors
    assert anchor.votes[0].answer.kind is Kind.AGE
    assert [vote.answered_at for vote in anchor.earlier] == ["2018-01-31T17:00:00.000Z"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"WorkerId": " "}, "no worker named: line 2"),
        ({"WorkerId": "A\x1b[1m"}, 'not allowed in the database: line 2 (found "A␛[1m")'),
        ({"WorkerId": "A" * 101}, "the worker's name is not allowed in the database"),
        (
            {"AssignmentStatus": "rejected "},
            "the work was rejected (--count-rejected takes it in): line 2",
        ),
        ({"Answer.ans": "9"}, 'not from 1 to 8: line 2 (found "9")'),
        ({"Answer.ans": ""}, "the code of the answer is not from 1 to 8: line 2"),
        ({"Input.text_reduced": " \n "}, "the context holds no words: line 2"),
        ({"Input.text_reduced": "Ann:\nBen: "}, "the context holds no words: line 2"),
        ({"Input.target": ""}, "no number named as the target: line 2"),
        ({"Input.target": "three"}, 'is not in the context: line 2 (found "three")'),
        ({"Input.target": "7A"}, "only a part of a word, or of a speaker's name: line 2"),
        ({"Input.target": "Ben"}, "only a part of a word, or of a speaker's name: line 2"),
        ({"Input.target": "tents"}, "the number occurs in the context more than once: line 2"),
        (marked(""), "Reference chosen, but nothing marked: line 2"),
        (marked("boats", "9;14"), "the marked text is not in the context: line 2"),
        (marked("tents"), 'occurs in more than one place: line 2 (found "tents")'),
        (marked("Ben", "0;3"), "not a word of a turn (a speaker's name, a sign): line 2"),
        (marked("?", "17;18"), "not a word of a turn (a speaker's name, a sign): line 2"),
        (marked("two", "0;3"), "the head of the marked text is the number itself: line 2"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_used_is_reported_and_the_others_come_in(
    bring: Bring, row: dict[str, str], reason: str
) -> None:
    (passage,), warnings = bring(row, {"WorkerId": "B2"})
    assert [anchor.votes[0].annotator for anchor in passage.anchors] == ["B2"]
    (warning,) = warnings
    assert warning.startswith("1 row left out, ")
    assert reason in warning


def test_a_file_of_unusable_rows_brings_nothing(bring: Bring) -> None:
    assert bring({"Answer.ans": "0"}, {"WorkerId": ""}) == (
        [],
        [
            "1 row left out, no worker named: line 5",
            'the code of the answer is not from 1 to 8: line 2 (found "0")'.join(
                ("1 row left out, ", "")
            ),
        ],
    )


@pytest.mark.parametrize(
    ("row", "words", "warning"),
    [
        (marked("ed tent", "10;17"), "red tents", "1 row with a mark that ends inside a word"),
        (marked("Ben: Then", "0;9"), "Then", "1 row with a mark that includes a speaker's"),
        (marked("old tents", "77;99"), "old tents", "1 row with offsets that do not match"),
        (marked(" tents.\r\nBen: Then", "32;9"), "tents.\nBen: Then", "of 1 mark"),
    ],
)  # fmt: skip
def test_marks_are_made_whole_words_of_turns(
    bring: Bring, row: dict[str, str], words: str, warning: str
) -> None:
    (passage,), warnings = bring(row)
    (mention,) = passage.anchors[0].votes[0].answer.mentions()
    assert passage.passage.words(mention.start, mention.end) == words
    assert any(one.startswith(warning) for one in warnings)


def test_unreadable_seconds_and_times_are_left_out_with_a_word(bring: Bring) -> None:
    (passage,), warnings = bring({"SubmitTime": "soon", "WorkTimeInSeconds": "long"})
    (vote,) = passage.anchors[0].votes
    assert vote.seconds is None
    assert vote.answered_at > "2025"
    assert warnings == [
        "1 row with a SubmitTime that is not a time: dated with the import: line 2",
        "1 row with a WorkTimeInSeconds that is not a number of seconds: left out: line 2",
    ]


def test_indices_that_fit_nowhere_are_noted(bring: Bring) -> None:
    _, warnings = bring({"Input.target_start_index": "900"})
    assert warnings[0].startswith("1 row with indices and a sentence that do not match the")


def test_other_has_a_noun_or_a_remark(bring: Bring) -> None:
    (passage,), _ = bring(
        {"Answer.ans": "5", "Answer.other": "bus line"},
        {"Answer.ans": "5", "Answer.other": "I would say a bus", "WorkerId": "B"},
        {"Answer.ans": "5", "WorkerId": "C"},
    )
    answers = [anchor.votes[0].answer for anchor in passage.anchors]
    assert [(one.kind, one.noun, one.comment, one.sort) for one in answers] == [
        (Kind.OTHER, "bus line", "", None),
        (Kind.OTHER, None, "other: I would say a bus", None),
        (Kind.OTHER, None, "", None),
    ]


def test_lines_that_may_name_a_speaker_are_pointed_out(bring: Bring) -> None:
    _, warnings = bring({"Input.text_reduced": "Old man: I take two."})
    assert warnings == [
        '1 line read without a speaker though a name may be meant, the first in line 2: "Old '
        "man\"; each word of a speaker's name starts with a capital letter"
    ]


def test_without_a_parser_a_rule_finds_the_heads_and_says_so(
    bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfh_models.parsing.span_heads.load_parser", lambda: None)
    (passage,), warnings = bring(marked("red tents leak", "9;23"))
    (mention,) = passage.anchors[0].votes[0].answer.mentions()
    assert passage.passage.word(mention.head) == "leak"
    assert warnings == [
        "of 1 mark the head was found by a rule, because no English spaCy pipeline with a "
        "parser could be loaded: the last word before a preposition, a relative word or a "
        "stop; line 2"
    ]


def test_the_pipeline_is_loaded_only_for_marks_of_several_words(
    bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load() -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr("nfh_tui.services.amt_import.load_heads", load)
    bring({}, {"WorkerId": "B2"} | marked("tents", "13;18"))
    with pytest.raises(AssertionError, match="loaded"):
        bring(marked("red tents", "9;18"))


# --- anything at all ----------------------------------------------------------------------

PIECES = st.sampled_from(
    ["two", "tents", "Ann: ", "\n", "<br>", "<b>", "</b>", " ", ";", "7", "1", "0", "3", "&",
     "&amp;", "\U0001f600", "\u0301", "\u202e", "\x1b", "'s", "\r", "\u2028", "<", "\u00a0"]
)  # fmt: skip
FIELDS = st.lists(PIECES, max_size=8).map("".join)
COLUMNS_READ = tuple(amt.COLUMNS.values())


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            dict.fromkeys(COLUMNS_READ, FIELDS)
            | {
                "WorkerId": st.sampled_from(["A1", "B2", ""]),
                "Answer.ans": st.sampled_from(["1", "1", "5", "6"]),
                "Input.target": st.sampled_from(["two", "7", "tents", ""]),
            }
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_rows_come_in_or_are_reported(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("amt") / "x.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(COLUMNS_READ)
        writer.writerows([row[column] for column in COLUMNS_READ] for row in rows)
    passages, warnings = brought_in(path)
    came = 0
    for passage in passages:
        for anchor in passage.anchors:
            came += 1 + len(anchor.earlier)
            for vote in (*anchor.votes, *anchor.earlier):
                vote.answer.check(
                    len(passage.passage.tokens), anchor.anchor.start, anchor.anchor.end
                )
    assert came + len(left_out(warnings)) == len(rows)


def test_each_reason_is_told_once_with_five_lines(bring: Bring) -> None:
    rows = [{"Answer.ans": "9", "WorkerId": f"W{at}"} for at in range(7)]
    _, warnings = bring(*rows, {"WorkerId": ""}, {})
    assert warnings == [
        "1 row left out, no worker named: line 23",
        "7 rows left out, the code of the answer is not from 1 to 8: "
        'lines 2, 5, 8, 11, 14 and 2 more (found "9")',
    ]
