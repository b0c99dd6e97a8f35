"""The release's form of an answer, and which mentions it lists."""

import json

import pytest

from nfh_db.formats.rows import Mentions, ReleaseWriter, distance, release_head, source_head
from nfh_db.records import ExportRecord, Gold, Rule
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Token,
    Turn,
    class_answer,
)

ANCHOR = Anchor(5, 7)
TWO_HEADS = Answer(
    Kind.REFERENCE,
    (
        Head(
            (
                Mention(2, 3, 2),
                Mention(9, 10, 9, Origin.ADDED),
                Mention(8, 9, 8, Origin.REMOVED),
            )
        ),
        Head((Mention(0, 2, 1), Mention(2, 3, 2))),
    ),
    relation=Relation.OR,
)


@pytest.mark.parametrize(
    ("mentions", "expected"), [("all", [1, 2, 9]), ("marked", [1, 2]), ("nearest", [2])]
)
def test_mentions_are_listed_as_asked(mentions: Mentions, expected: list[int]) -> None:
    assert release_head(TWO_HEADS, ANCHOR, mentions) == expected


def test_the_earlier_of_two_equally_near_mentions_is_the_nearest() -> None:
    answer = Answer(Kind.REFERENCE, (Head((Mention(8, 9, 8), Mention(3, 4, 3))),))
    assert [distance(token, ANCHOR) for token in (3, 5, 6, 8)] == [2, 0, 0, 2]
    assert release_head(answer, ANCHOR, "nearest") == [3]


def test_a_head_that_nobody_marked_gives_its_first_mention() -> None:
    answer = Answer(Kind.REFERENCE, (Head((Mention(2, 3, 2, Origin.ADDED),)),))
    assert release_head(answer, ANCHOR, "marked") == [2]


@pytest.mark.parametrize("kind", [k for k in Kind if k is not Kind.REFERENCE])
def test_classes_leave_by_name_and_the_ways_out_do_not_leave(kind: Kind) -> None:
    expected = {
        Kind.UNKNOWN: ["OTHER"],
        Kind.NOT_NFH: None,
        Kind.BROKEN: None,
        Kind.NFH: None,
    }
    assert release_head(class_answer(kind), ANCHOR) == expected.get(kind, [kind.value])
    assert release_head(None, ANCHOR) is None


def test_only_a_list_is_a_rows_own_head() -> None:
    assert source_head('["AGE"]') == ["AGE"]
    assert source_head("1") is None
    assert source_head(None) is None


def _record(gold: Gold | None, labels: str | None = None) -> ExportRecord:
    passage = Passage(
        "né two\n…",
        (Token(0, 2, "x"), Token(3, 6, "x"), Token(7, 8, "x")),
        (Turn(2, "Zoë", 0, 2), Turn(7, None, 2, 3)),
    )
    return ExportRecord("id", passage, Anchor(1, 2), None, gold, (), (), labels)


def test_a_line_is_spelled_as_the_release_spells_it() -> None:
    gold = Gold(class_answer(Kind.AGE), Rule.EXPERT)
    assert ReleaseWriter().line(_record(gold)) == (
        '{"tokens": ["n\\u00e9", "two", "\\u2026"], "line_indices": [2, 2, 7], '
        '"head": ["AGE"], "speakers": ["Zo\\u00eb", "Zo\\u00eb", null], '
        '"anchors_indices": [1]}\n'
    )


def test_a_rows_own_labels_win_over_gold() -> None:
    gold = Gold(class_answer(Kind.AGE), Rule.EXPERT)
    line = ReleaseWriter("nearest").line(_record(gold, "[0, 2]"))
    assert line is not None
    assert json.loads(line)["head"] == [0, 2]


def test_what_has_no_form_is_left_out_and_counted() -> None:
    writer = ReleaseWriter()
    golds = [
        None,
        None,
        *(Gold(class_answer(k), Rule.IMPORTED) for k in (Kind.NFH, Kind.BROKEN)),
    ]
    assert [writer.line(_record(gold, "0")) for gold in golds] == [None] * 4
    assert writer.left_out == {"open": 2, "NFH": 1, "BROKEN": 1}
