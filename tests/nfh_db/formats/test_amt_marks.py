"""Where marked text and numbers stand: against a browser that is simulated."""

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nfh_db.formats import amt
from nfh_db.formats.amt import (
    AmtTarget,
    Context,
    NodeLayout,
    RowProblem,
    UnusableRow,
    code_point,
    layouts,
    offsets,
    shown,
)
from nfh_db.formats.dialog import split_speaker
from nfh_models.domain import Anchor, Turn
from nfh_models.text.tokens import spans

WORDS = ("one", "two", "tent", "tents", "a", "b", "\U0001f600", "e\u0301", "\U00010348x", "no,")
SPACES = (" ", " ", " ", "  ", "\u00a0", "\t")

words = st.sampled_from(WORDS)
lines = st.lists(st.tuples(words, st.sampled_from(SPACES)), min_size=1, max_size=6).map(
    lambda pairs: "".join(word + space for word, space in pairs).rstrip()
)
texts = st.builds(
    lambda speakers, turns: "\n".join(
        f"{speaker}{turn}" for speaker, turn in zip(speakers, turns, strict=False)
    ),
    st.lists(st.sampled_from(["Ann: ", "Ben: ", ""]), min_size=5, max_size=5),
    st.lists(lines, min_size=1, max_size=5),
)
SLOW = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def word_spans(text: str) -> list[tuple[int, int]]:
    return [(start, end) for start, end in spans(text) if text[start:end].strip()]


@st.composite
def selections(draw: st.DrawFn) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """A context, the code points of its number, and of what a worker drags over."""
    text = draw(texts)
    anchor = draw(st.sampled_from(word_spans(text)))
    start = draw(st.integers(0, len(text) - 1))
    end = draw(st.integers(start + 1, len(text)))
    assume(text[start:end].strip())
    # A drag ends in text, not on the line break itself.
    assume(text[start] != "\n" and text[end - 1] != "\n")
    return text, anchor, (start, end)


@SLOW
@given(
    selection=selections(),
    fed=st.booleans(),
    wide=st.booleans(),
    page=st.booleans(),
    seed=st.integers(0, 9),
)
def test_the_right_place_is_among_the_readings_and_a_single_one_is_right(
    crowds: Any, selection: Any, fed: bool, wide: bool, page: bool, seed: int
) -> None:
    text, anchor, (start, end) = selection
    browser = crowds.Browser(text, anchor, crowds.Style(fed=fed, wide=wide))
    context = shown(text, browser.page if page else "")
    assert context.exact is page
    ways = layouts(context, context.letters.of(*anchor))
    pair = offsets(browser.select(start, end, Random(seed)))
    assert pair is not None
    marked = text[start:end]
    found = amt.places(ways, context.letters, marked, pair)
    right = context.letters.of(start, end)
    assert right in found
    if len(found) == 1:
        place, by_offset = amt.find_span(context, ways, marked, pair)
        assert by_offset
        assert context.letters.of(*place) == right
        assert context.text[slice(*place)] == marked.strip()
    else:
        with pytest.raises(UnusableRow) as caught:
            amt.find_span(context, ways, marked, pair)
        assert caught.value.trouble is RowProblem.MARK_AMBIGUOUS


@SLOW
@given(
    selection=selections(),
    page=st.booleans(),
    pair=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_wrong_offsets_give_the_right_place_or_none_where_the_text_stands_once(
    crowds: Any, selection: Any, page: bool, pair: tuple[int, int]
) -> None:
    text, anchor, (start, end) = selection
    marked = text[start:end]
    browser = crowds.Browser(text, anchor, crowds.Style())
    context = shown(text, browser.page if page else "")
    ways = layouts(context, context.letters.of(*anchor))
    standing = amt.occurrences(text, marked, 99)
    assert context.letters.of(start, end) in [context.letters.of(*place) for place in standing]
    try:
        place, _ = amt.find_span(context, ways, marked, pair)
    except UnusableRow:
        assert len(standing) > 1
        return
    if len(standing) == 1:
        assert context.letters.of(*place) == context.letters.of(start, end)


def find(
    text: str, anchor: str, marked: str, pair: tuple[int, int] | None, page: str = ""
) -> tuple[str, int, bool]:
    context = shown(text, page)
    place = text.index(anchor)
    ways = layouts(context, context.letters.of(place, place + len(anchor)))
    (start, end), by_offset = amt.find_span(context, ways, marked, pair)
    return context.text[start:end], start, by_offset


TALK = "Ann: The tents leak, the old tents.\nBen: Then take two.\nAnn: The tents leak."


@pytest.mark.parametrize(
    ("marked", "pair", "place"),
    [
        ("tents", (9, 14), None),  # the first and the third turn begin alike
        ("tents", (29, 34), 29),
        ("tents", (34, 29), 29),
        ("tents leak.", (9, 20), 65),
        ("tents leak.", (20, 9), 65),
        ("take", (10, 14), 46),
        ("take", (11, 15), 46),  # the line feed before the turn counted
        (".\nAnn: The tents", (0, 14), 54),
        (".\nAnn: The tents", (15, 0), 54),
        ("Then  take", (5, 14), 41),
        ("old tents", (3, 900), 25),
        ("tents", (900, 3), None),
        ("tents", (65, 70), 65),  # in the whole text
        ("tents", (70, 65), 65),
    ],
)
def test_offsets_tell_places_apart(
    marked: str, pair: tuple[int, int], place: int | None
) -> None:
    if place is None:
        with pytest.raises(UnusableRow) as caught:
            find(TALK, "two", marked, pair)
        assert caught.value.trouble is RowProblem.MARK_AMBIGUOUS
        return
    text, start, _ = find(TALK, "two", marked, pair)
    assert (" ".join(text.split()), start) == (" ".join(marked.split()), place)


def test_without_offsets_the_text_must_stand_once() -> None:
    assert find(TALK, "two", "old tents", None) == ("old tents", 25, False)
    with pytest.raises(UnusableRow) as caught:
        find(TALK, "two", "tents", None)
    assert caught.value.trouble is RowProblem.MARK_AMBIGUOUS
    with pytest.raises(UnusableRow) as caught:
        find(TALK, "two", "Tents", None)
    assert caught.value.trouble is RowProblem.MARK_MISSING
    with pytest.raises(UnusableRow) as caught:
        find(TALK, "two", " \n", (1, 2))
    assert caught.value.trouble is RowProblem.NOTHING_MARKED


def test_the_page_tells_apart_what_the_text_cannot() -> None:
    talk = "A one, two.\nB one."
    with pytest.raises(UnusableRow):
        find(talk, "two", "one", (2, 5))
    page = "A one, <b>two</b>.<br />\nB one."
    assert find(talk, "two", "one", (2, 5), page) == ("one", 2, True)
    page = "A one, <b>two</b>.<br />B one."
    with pytest.raises(UnusableRow):
        find(talk, "two", "one", (2, 5), page)
    # A page of other words tells nothing.
    assert find(talk, "two", "one", (3, 6), "A one, <b>2</b>.<br>B one.") == ("one", 14, True)


def test_offsets_are_counted_in_utf16() -> None:
    assert [code_point("a\U0001f600b", offset) for offset in range(6)] == [
        0,
        1,
        None,
        2,
        3,
        None,
    ]
    assert [code_point("ab", offset) for offset in range(4)] == [0, 1, 2, None]
    layout = NodeLayout(["\U0001f600 one", " two"])
    assert list(layout.letters_before(2)) == [(0, 1), (1, 5)]
    assert list(layout.letters_before(4)) == [(0, 2), (1, 7)]
    assert list(layout.letters_before(1)) == [(1, 4)]
    assert list(layout.letters_before(5)) == [(0, 3)]


# --- the number ---------------------------------------------------------------------------


def worded(text: str, page: str = "") -> Context:
    """A context with its tokens, each line a turn."""
    context = shown(text, page)
    tokens: list[tuple[int, int]] = []
    turns = []
    place = 0
    for number, line in enumerate(context.text.split("\n")):
        first = len(tokens)
        speaker, said = split_speaker(line)
        tokens += [(place + said + a, place + said + b) for a, b in spans(line[said:])]
        if len(tokens) > first:
            turns.append(Turn(number, speaker, first, len(tokens)))
        place += len(line) + 1
    return Context(context, tokens, turns)


def where(text: str, target: AmtTarget, page: str = "") -> tuple[int, bool]:
    """The code point at which a number is found, and whether the file told."""
    context = worded(text, page)
    anchor, told = amt.find_anchor(context, target, spans)
    return context.tokens[anchor.start][0], told


NUMBERS = "one or two.\nTwo? I said one.\nNot one, two."


@pytest.mark.parametrize(
    ("target", "place", "told"),
    [
        (AmtTarget("one", "24", "27", ""), 24, True),
        (AmtTarget("one", "24", "26", ""), 24, True),
        (AmtTarget("one", "24", "", ""), 24, True),
        (AmtTarget("one", "8", "9", ""), 24, True),  # tokens of the context
        (AmtTarget("one", "12", "15", "Two? I said one."), 24, True),
        (AmtTarget("one", "4", "5", "Two ? I said one ."), 24, True),
        (AmtTarget("one", "900", "903", "I said one."), 24, True),
        (AmtTarget("Two", "", "", ""), 12, False),
        (AmtTarget("Two", "77", "80", "nobody said that"), 12, False),
        (AmtTarget("Two", "0", "3", "Two?"), 12, True),
    ],
)
def test_all_readings_of_the_indices_are_tried(
    target: AmtTarget, place: int, told: bool
) -> None:
    assert where(NUMBERS, target) == (place, told)


@pytest.mark.parametrize(
    ("text", "target", "trouble"),
    [
        (NUMBERS, AmtTarget("one", "500", "503", ""), RowProblem.TARGET_AMBIGUOUS),
        (NUMBERS, AmtTarget("three", "0", "3", ""), RowProblem.TARGET_MISSING),
        (NUMBERS, AmtTarget(" ", "0", "3", ""), RowProblem.NO_TARGET),
        (NUMBERS, AmtTarget("wo", "8", "10", ""), RowProblem.TARGET_IN_WORD),
        ("one " * 300, AmtTarget("one " * 300, "0", "1", ""), RowProblem.TARGET_MISSING),
        ("a one one", AmtTarget("one", "2", "", ""), RowProblem.TARGET_AMBIGUOUS),
        ("one no,\nAnn: one", AmtTarget("one", "0", "3", ""), RowProblem.TARGET_AMBIGUOUS),
    ],
)
def test_a_number_that_stands_nowhere_or_anywhere_is_no_anchor(
    text: str, target: AmtTarget, trouble: RowProblem
) -> None:
    with pytest.raises(UnusableRow) as caught:
        where(text, target)
    assert caught.value.trouble is trouble


def test_bold_tells_the_number() -> None:
    page = "one or two.<br>Two? I said <b>one</b>.<br>Not one, two."
    assert where(NUMBERS, AmtTarget("one", "0", "3", ""), page) == (24, True)
    twice = "<b>one</b> or two.<br>Two? I said <b>one</b>.<br>Not one, two."
    assert where(NUMBERS, AmtTarget("one", "24", "27", ""), twice) == (24, True)
    with pytest.raises(UnusableRow):
        where("one, one", AmtTarget("one", "", "", ""), "<b>one</b>, <b>one</b>")


def test_at_most_two_turns_before_and_one_behind() -> None:
    one = AmtTarget("one", "", "", "")
    assert where("A: one\nB: b\nA: one\nB: d", one) == (15, False)
    assert where("A: one\nB: one\nA: d", one) == (10, False)
    # Two places that fit; and lines that may be parts of one turn.
    for text in ("A: one\nB: one", "A: one\nB: one\nd"):
        with pytest.raises(UnusableRow):
            where(text, one)


@SLOW
@given(data=st.data())
def test_a_number_that_is_found_is_the_right_one(crowds: Any, data: st.DataObject) -> None:
    text = data.draw(texts)
    context = worded(text)
    place = data.draw(st.sampled_from(context.tokens))
    style = crowds.Style(
        indices=data.draw(st.sampled_from(crowds.INDICES)),
        inclusive=data.draw(st.booleans()),
        sentence=data.draw(st.booleans()),
    )
    row = crowds.Crowd(0, style, None).row(crowds.Task(text, place, ()))
    target = AmtTarget(
        *(
            row[f"Input.target{name}"]
            for name in ("", "_start_index", "_end_index", "_sentence")
        )
    )
    lines_ = text[: place[0]].count("\n"), text[place[1] :].count("\n")
    try:
        anchor, _ = amt.find_anchor(context, target, spans)
    except UnusableRow as verdict:
        assert verdict.trouble is RowProblem.TARGET_AMBIGUOUS
        return
    # Indices of another text, and contexts that the task never shows, may mislead nobody
    # but where they happen to fit.
    if style.indices != "of another text" and lines_[0] <= 2 and lines_[1] <= 1:
        assert context.tokens[anchor.start][0] == place[0]
        assert context.tokens[anchor.end - 1][1] == place[1]


def test_a_wide_target_has_all_its_tokens() -> None:
    anchor, _ = amt.find_anchor(
        worded("two  hundred\u00a0and six"), AmtTarget("two hundred and six", "", "", ""), spans
    )
    assert anchor == Anchor(0, 4)
