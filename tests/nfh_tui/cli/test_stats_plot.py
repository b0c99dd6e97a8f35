"""Charts in plain characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from nfh_models.statistics import ValueCounts
from nfh_tui.cli.stats import Bar, can_show_blocks, chart, histogram
from nfh_tui.display_figures import EIGHTHS


def drawn(line: str) -> str:
    return "".join(character for character in line if character in EIGHTHS[1:] + "#")


@given(
    st.lists(st.tuples(st.text(max_size=30), st.integers(0, 10_000)), max_size=8),
    st.integers(40, 100),
    st.booleans(),
)
def test_lines_are_as_wide_as_asked_and_bars_in_proportion(
    counts: list[tuple[str, int]], width: int, blocks: bool
) -> None:
    bars = [Bar(str(at), value, f"{value:,}") for at, (_, value) in enumerate(counts)]
    lines = chart(bars, width, blocks=blocks)
    assert all(cell_len(line) <= width for line in lines)
    lengths = [len(drawn(line)) for line in lines]
    for bar, length in zip(bars, lengths, strict=True):
        assert (length > 0) == (bar.value > 0)
    ranked = sorted(zip([bar.value for bar in bars], lengths, strict=True))
    assert [length for _, length in ranked] == sorted(lengths)


def test_wide_and_long_labels_stay_in_their_columns() -> None:
    labels = ["数" * 30, "x" * 30, "one"]
    lines = chart([Bar(label, 3, "3") for label in labels], 60, blocks=True)
    assert {cell_len(line) for line in lines} == {60}


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", True),
        ("ascii", False),
        ("latin-1", False),
        (None, False),
        ("none-such", False),
    ],
)
def test_blocks_are_drawn_only_where_they_can_be_shown(
    encoding: str | None, shown: bool
) -> None:
    assert can_show_blocks(encoding) is shown


def test_the_histogram_holds_every_distance_once() -> None:
    tally = ValueCounts()
    for value in (1, 2, 2, 3, 39, 40, 41, 151):
        tally.add(value)
    bins = dict(histogram(tally))
    assert (bins["1-2"], bins["3-4"], bins["39-40"], bins["41 or more"]) == (3, 1, 2, 2)
    assert sum(bins.values()) == tally.n
    few = ValueCounts()
    few.add(3)
    assert histogram(few) == [("1-2", 0), ("3-4", 1)]
