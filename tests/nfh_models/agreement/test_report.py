"""All measures together: nothing undefined goes unexplained, and nothing is NaN."""

import json
import math
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.coefficients import no_skill, noun_skill
from nfh_models.agreement.measure import AnsweredAnchor, Measure, Timed
from nfh_models.agreement.pairs import collect
from nfh_models.agreement.report import measure_agreement
from nfh_models.domain import Anchor, Answer, Kind, Mention, class_answer, reference_answer
from nfh_tui.cli.agreement import AgreementOptions, agreement_report, as_text
from nfh_tui.services.agreement import AgreementResult
from nfh_tui.services.reports import to_json

LEMMAS = ("two", "dog", "cat", "dog", "year")

heads = st.lists(st.integers(1, 4), min_size=1, max_size=2, unique=True)
references = heads.map(
    lambda tokens: reference_answer([[Mention(t, t + 1, t)] for t in tokens])
)
classes = st.sampled_from([kind for kind in Kind if kind is not Kind.REFERENCE]).map(
    class_answer
)
answers = st.one_of(references, classes)
names = st.sampled_from(["ann", "bob", "cyd [b]"])


@st.composite
def judged(draw: st.DrawFn) -> AnsweredAnchor:
    votes = draw(st.dictionaries(names, answers, max_size=3))
    experts = draw(st.dictionaries(st.sampled_from(["eva", "ann"]), answers, max_size=2))
    gold: Answer | None = draw(st.one_of(st.none(), answers))
    return AnsweredAnchor(
        0,
        draw(st.integers(0, 4)),
        Anchor(0, 1),
        LEMMAS,
        {name: Timed(answer, "") for name, answer in votes.items()},
        {name: Timed(answer, "") for name, answer in experts.items()},
        gold,
        draw(st.booleans()),
        draw(st.one_of(st.none(), st.integers(1, 4))),
    )


def measures(value: object) -> Iterator[dict[str, object]]:
    """All measures in a report."""
    if isinstance(value, dict):
        if {"value", "low", "high", "n", "why"} <= value.keys():
            yield value
        for one in value.values():
            yield from measures(one)
    elif isinstance(value, list):
        for one in value:
            yield from measures(one)


@settings(max_examples=40, deadline=None)
@given(st.lists(judged(), max_size=12))
def test_whatever_people_say_each_figure_is_one_or_has_a_reason(
    items: list[AnsweredAnchor],
) -> None:
    resampling = Resampling(20, 1)
    agreement = measure_agreement(collect(items), noun_skill(items, resampling), resampling)
    found = AgreementResult(agreement, False, 0, 0, None)
    asked = AgreementOptions("", 20, 1)
    report = to_json(agreement_report(found, asked))
    written = json.loads(json.dumps(report, allow_nan=False))
    seen = list(measures(written))
    assert seen
    for one in seen:
        _check(Measure(**one))  # type: ignore[arg-type]
    text = as_text(found, asked, matrix=True)
    assert "nan" not in text.casefold().split()
    assert max(map(len, text.splitlines())) <= 80


def _check(one: Measure) -> None:
    if one.value is None:
        assert one.why
        assert (one.low, one.high) == (None, None)
        return
    assert math.isfinite(one.value)
    assert one.value <= 1
    assert one.n > 0
    if one.low is None:
        assert one.high is None
        assert one.why
    else:
        assert one.high is not None
        assert one.low <= one.high <= 1
        assert one.why is None


def test_no_items_at_all(kit) -> None:
    agreement = measure_agreement(collect([]), noun_skill([], kit.plain), kit.plain)
    assert agreement.coverage.items == 0
    assert "no item" in (agreement.coefficients.alpha.why or "")
    text = as_text(
        AgreementResult(agreement, False, 0, 0, None), AgreementOptions("x", 0, 0), matrix=True
    )
    assert "The query finds no item." in text


def test_one_annotator_and_two_who_never_meet(kit) -> None:
    alone = measure_agreement(
        collect(kit.items([[Kind.AGE], [Kind.AGE]])), noun_skill([], kit.plain), kit.plain
    )
    assert "Only ann1" in (alone.pooled.equal.why or "")
    apart = measure_agreement(
        collect(kit.items([[Kind.AGE, None], [None, Kind.AGE]])),
        noun_skill([], kit.plain),
        kit.plain,
    )
    for one in (apart.pooled.equal, apart.coefficients.alpha, apart.coefficients.fleiss.kappa):
        assert (one.value, one.why) == (None, "No two annotators answered the same item.")
    assert apart.people.twos == ()


def test_libraries_are_loaded_where_they_are_used() -> None:
    modules = "nfh_models.agreement.report, nfh_tui.services.agreement"
    code = f"import sys, {modules}; print(*sys.modules)"
    listed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    loaded = {module.split(".")[0] for module in listed}
    assert "numpy" in loaded
    assert loaded.isdisjoint({"sklearn", "statsmodels", "krippendorff", "spacy", "textual"})


@pytest.mark.long
def test_an_item_takes_few_bytes(kit) -> None:
    kinds = (Kind.AGE, Kind.YEAR, Kind.TIME, kit.to(1), kit.to(3), kit.to(2))

    def peak(items: int) -> int:
        tracemalloc.start()
        try:
            tables = collect(
                kit.item(at, {f"ann{who}": kinds[(at // (who + 1)) % 6] for who in range(3)})
                for at in range(items)
            )
            measure_agreement(tables, no_skill(""), Resampling(5))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    few, many = 4_000, 8_000
    assert peak(many) - peak(few) < 300 * (many - few)
