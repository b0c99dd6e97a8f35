"""Charts in plain characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from nfh_models.statistics import ValueCounts
from nfh_tui.cli.stats import can_show_blocks, chart, histogram
from nfh_tui.display_figures import EIGHTHS


def drawn(line: str) -> str:
    return "".join(character for character in line if character in EIGHTHS[1:] + "#")


@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=8),
    st.integers(40, 100),
    st.booleans(),
)
def test_lines_are_as_wide_as_asked_and_bars_in_proportion(
    values: list[int], width: int, blocks: bool
) -> None:
    counts = [(str(at), value) for at, value in enumerate(values)]
    lines = chart(counts, sum(values) or 1, width, blocks=blocks)
    assert all(cell_len(line) <= width for line in lines)
    lengths = [len(drawn(line)) for line in lines]
    for value, length in zip(values, lengths, strict=True):
        assert (length > 0) == (value > 0)
    ranked = sorted(zip(values, lengths, strict=True))
    assert [length for _, length in ranked] == sorted(lengths)


def test_wide_and_long_labels_stay_in_their_columns() -> None:
    labels = ["数" * 30, "x" * 30, "one"]
    lines = chart([(label, 3) for label in labels], 9, 60, blocks=True)
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
