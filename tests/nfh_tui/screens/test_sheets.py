"""Lines of figures, without an app: what they say, and that they fit."""

from itertools import pairwise

import pytest

from nfh_db.comparisons import (
    GOLD,
    KINDS,
    ComparedSide,
    ComparisonCounts,
    Confusions,
    PersonCounts,
)
from nfh_models.agreement.measure import Measure, undefined
from nfh_tui.display_figures import percent
from nfh_tui.display_text import width_of
from nfh_tui.screens.agreement_figures import (
    POOLED,
    AgreementFigures,
    figure_lines,
    measure_lines,
    pair_lines,
)
from nfh_tui.screens.evaluation_figures import (
    NOTHING_COMMON,
    Sides,
    chart_lines,
    choice_lines,
    compared_lines,
    ids_query,
    learning_lines,
    model_of,
)
from nfh_tui.services.reports import ModelSummary
from nfh_tui.widgets.figure_lines import fitting, matrix_lines, matrix_of, step, stops
from nfh_tui.widgets.passage_render import STEPS
from tests.nfh_tui.screens.conftest import plain, some

HOSTILE = "[red]x[/] \x1b[31m\u202e 漢 a/b"
ONE = some(
    ModelSummary,
    {"id": 3, "name": "small", "recipe": "small", "state": "active", "f1": 0.965,
     "accuracy": 0.782, "created_at": "2026-11-28T19:08:27.224Z"},
)  # fmt: skip


def find(row: str, column: str) -> tuple[str, bool]:
    return f"{row} {column}", True


def cells(line) -> int:
    return sum(width_of(cell.text) for cell in line)


@pytest.mark.parametrize("width", [57, 62, 77, 110])
def test_a_matrix_fits_and_every_number_but_nought_is_a_stop(width: int) -> None:
    counts = {("AGE", "AGE"): 12_345, ("AGE", "TIME"): 7, ("REFERENCE", "REF-WRONG"): 1}
    counts |= {(kind, "OTHER"): 3 for kind in KINDS[:8]}
    matrix = matrix_of("gold", "small", counts, ("REFERENCE", "REF-WRONG", *KINDS[1:]))
    lines = matrix_lines(matrix, width, find)
    assert {cells(line) for line in lines[1:]} <= set(range(30, width + 1))
    found = {stop.find: stop for _, _, stop in stops(lines)}
    assert set(found) == {f"{row} {column}" for row, column in counts}
    assert found["AGE AGE"].note == "gold: AGE, small: AGE: 12,345 items"
    assert "R≠" in plain(lines) and matrix.total == sum(counts.values())
    assert "REF-WRONG" not in matrix.rows


def test_shades_rise_with_the_share_of_the_row_and_need_no_colour() -> None:
    shades = [step(n, 100) for n in (0, 1, 10, 50, 100)]
    assert shades[0] == 0 and shades[-1] == STEPS - 1
    assert all(a <= b for a, b in pairwise(shades)) and shades[1] > 0
    assert step(3, 0) == 0


@pytest.mark.parametrize(
    ("count", "width", "shown"),
    [
        (7, 4, "7"),
        (1_234, 4, "1234"),
        (1_234, 5, "1,234"),
        (184_507, 4, "184k"),
        (10**9, 3, "…"),
    ],
)
def test_counts_are_shortened_where_there_is_no_room(count, width, shown) -> None:
    assert fitting(count, width) == shown


def test_an_undefined_figure_is_a_sentence() -> None:
    why = undefined("No item has two answers.")
    assert "No item has two answers." in plain(measure_lines("alpha", why, "note", 60))
    only = Measure(1.0, None, None, 3, "All resamples are similar.")
    text = plain(measure_lines("alpha", only, "note", 60))
    assert "1.000" in text and "All resamples are similar." in text and "[" not in text
    assert percent(None) == "–"


def test_nobody_and_one_alone_are_told_so() -> None:
    assert "No annotator has answered" in plain(
        figure_lines(Confusions(), AgreementFigures(), "", 60)
    )
    alone = Confusions((PersonCounts("ann1", {"AGE": 2}),), patterns={"1": 2}, votes={1: 2})
    for lines in (
        figure_lines(alone, AgreementFigures(), "", 60),
        pair_lines(alone, AgreementFigures(), POOLED, "", 60),
    ):
        assert "Only one annotator" in plain(lines)


def test_names_are_text_and_go_into_queries_quoted() -> None:
    people = tuple(PersonCounts(name, {"AGE": 1}, decided=1) for name in ("ann", HOSTILE))
    pair = ("ann", HOSTILE)
    counts = Confusions(
        people, {pair: {("AGE", "TIME"): 1}}, {}, {pair: {"class": 1}}, {"class": 1}
    )
    lines = figure_lines(counts, AgreementFigures(), "", 60) + pair_lines(
        counts, AgreementFigures(), pair, "", 60
    )
    text = plain(lines)
    assert "\x1b" not in text and "\u202e" not in text and "[red]x[/]" in text
    finds = [stop.find for _, _, stop in stops(lines) if stop.find]
    assert any(query.startswith('said:ann/AGE said:"[red]x[/] \x1b') for query in finds)
    assert any(query.startswith('differs:ann~"[red]') for query in finds)


def test_a_query_of_ids_holds_what_it_can_and_says_if_that_is_not_all() -> None:
    assert ids_query([], 0, "") == (None, True)
    assert ids_query([7, 9], 2, "state:open") == ("state:open id:7,9", True)
    query, exact = ids_query(list(range(10**9, 10**9 + 200)), 5_000, "x" * 500)
    assert not exact and query is not None and len(query) < 2_000
    assert query.count(",") < 190


def test_what_gives_the_answers_that_are_missing_is_said_of_the_active_model() -> None:
    found = ComparisonCounts(scored=108)
    found.add(("AGE", "AGE"), 1, "six", right=True)
    active, other = (ComparedSide("model", "small", number) for number in (4, 5))
    told = "Without an answer of this model: 107 items."
    text = plain(compared_lines(found, Sides(active, GOLD, 4), "", 110))
    assert f"{told} `nfh-tui predict` adds them." in text
    text = plain(compared_lines(found, Sides(other, GOLD, 4), "", 110))
    assert told in text and "nfh-tui predict" not in text


def test_the_sides_are_named_and_nothing_in_common_is_said() -> None:
    sides = Sides(ComparedSide("model", HOSTILE, 4), GOLD, 4)
    text = plain(choice_lines(sides, 60))
    assert "model, active" in text and "gold" in text and "\x1b" not in text
    assert NOTHING_COMMON[:20] in plain(compared_lines(ComparisonCounts(), sides, "", 60))


def test_one_model_makes_no_curve_and_says_so() -> None:
    text = plain(learning_lines([ONE], {3: 4_369}, 60))
    assert "Only one model has been judged" in text and "78.2" in text and "4,369" in text
    assert "│" not in text
    assert "There is no model yet." in plain(learning_lines([], {}, 60))


@pytest.mark.parametrize("width", [50, 62, 110])
def test_the_curve_goes_from_the_lowest_to_the_highest(width: int) -> None:
    values = [0.61, 0.7, 0.65, 0.782]
    lines = chart_lines(values, width)
    rows = [line[2].text for line in lines if len(line) == 3]
    heights = [
        sum(row[place] != " " for row in rows)
        for place in range(0, len(rows[0]), len(rows[0]) // 4)
    ]
    assert heights[0] == min(heights) and heights[3] == max(heights) == len(rows)
    assert "78.2" in plain(lines[:1]) and max(map(cells, lines)) <= width


def test_many_models_keep_the_newest_and_the_card_is_found() -> None:
    assert max(map(cells, chart_lines([0.5 + n / 1_000 for n in range(300)], 62))) <= 62
    listed = [
        {"id": 2, "name": "b", "recipe": "svm", "state": "retired", "created_at": "2026-02",
         "f1": 0.9},
        {"id": 1, "name": "a", "recipe": "small", "state": "active", "created_at": "2026-01",
         "accuracy_inclusive": 0.7, "f1": None},
    ]  # fmt: skip
    models = [some(ModelSummary, one) for one in listed]
    lines = learning_lines(models, {1: 100}, 62)
    assert "100" in plain([line for line in lines if "a" in plain([line]).split()])
    found = [stop for _, _, stop in stops(lines)]
    assert [model_of(stop) for stop in found] == [1, 2]


def test_a_matrix_without_sums_has_the_cells_alone() -> None:
    matrix = matrix_of("one", "other", {("AGE", "TIME"): 2, ("TIME", "AGE"): 2}, KINDS)
    assert "all" in plain(matrix_lines(matrix, 60, find))
    assert "all" not in plain(matrix_lines(matrix, 60, find, sums=False))
