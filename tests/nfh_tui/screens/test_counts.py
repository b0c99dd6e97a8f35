"""A number on a screen and the query after it: they say the same."""

import pytest

from nfh_db import comparisons
from nfh_db.comparisons import GOLD, REF, REF_WRONG, ComparedSide, NoLongerWantedError
from nfh_db.errors import FormatError
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_models.domain import Kind, class_answer
from nfh_models.resolution.base import Choice, Item, ResolutionExample
from nfh_models.resolution.scoring import figures, judge
from nfh_tui.sample import corpus_path
from nfh_tui.screens.agreement_figures import (
    POOLED,
    AgreementFigures,
    figure_lines,
    pair_lines,
    pairs_of,
)
from nfh_tui.screens.evaluation_figures import (
    Sides,
    change_lines,
    change_matrix,
    compared_lines,
    compared_matrix,
)
from tests.nfh_tui.screens.conftest import counted, opening

WIDE = 70


def never() -> bool:
    return False


def nothing(rows: int) -> None:
    del rows


@pytest.mark.parametrize("base", ["", "state:decided", "-anchor:one sort:anchor"])
def test_each_cell_of_the_agreement_counts_what_its_query_finds(store, me, count, base) -> None:
    counts = store.comparisons.confusions(parse(base), me)
    found = opening(figure_lines(counts, AgreementFigures(), base, WIDE))
    for pair in pairs_of(counts):
        found += opening(pair_lines(counts, AgreementFigures(), pair, base, WIDE))
    assert len(found) > 60
    for stop in found:
        assert count(stop.find) == counted(stop), stop


def test_a_person_is_wrong_where_gold_says_otherwise(store, me, count) -> None:
    people = store.comparisons.confusions(parse(""), me).people
    assert [one.name for one in people] == ["ann1", "ann2", "ann3"]
    for one in people:
        assert one.answers == 174 and one.seconds is not None
        assert one.decided - one.right == count(f"wrong:{one.name}") > 0
        assert one.right == count(f"right:{one.name}") > 0


def test_removed_answers_and_experts_count_for_nothing(store, me, count) -> None:
    before = store.comparisons.confusions(parse(""), me)
    anchor = next(iter(store.queue.ids(parse("said:ann1/AGE said:ann2/AGE"), me)))[0]
    store.edits.withdraw(anchor, store.people.ensure("ann1"), Role.ANNOTATOR)
    store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, class_answer(Kind.TIME))
    after = store.comparisons.confusions(parse(""), me)
    cell = (Kind.AGE.value, Kind.AGE.value)
    pair = ("ann1", "ann2")
    assert after.pairs[pair][cell] == before.pairs[pair][cell] - 1
    assert [one.name for one in after.people] == ["ann1", "ann2", "ann3"]
    assert store.comparisons.answers_version() != (0, 0)
    assert after.pairs[pair][cell] == count("said:ann1/AGE said:ann2/AGE")


def models(store) -> dict[str, ComparedSide]:
    return {name: ComparedSide("model", name, id_) for id_, name in store.comparisons.models()}


@pytest.mark.parametrize("base", ["", "state:decided said:REFERENCE"])
def test_each_cell_of_a_comparison_counts_what_its_query_finds(store, me, count, base) -> None:
    alpha, beta = models(store).values()
    active = store.models.active("resolution").id
    assert active == alpha.model_id
    ann1 = ComparedSide("person", "ann1")
    for left, right in (
        (alpha, GOLD),
        (beta, GOLD),
        (alpha, beta),
        (beta, alpha),
        (ann1, GOLD),
    ):
        sides = Sides(left, right, active)
        found = store.comparisons.compare(left, right, parse(base), me, never)
        cells = opening(compared_matrix(found, sides, base, WIDE))
        assert len(cells) > 5
        assert sum(map(counted, cells)) == found.whole.n
        for stop in cells:
            assert count(stop.find) == counted(stop), stop


def test_what_is_not_right_is_opened_by_class_and_by_word(store, me, count) -> None:
    alpha = models(store)["alpha"]
    for left in (alpha, ComparedSide("person", "ann2")):
        found = store.comparisons.compare(left, GOLD, parse(""), me, never)
        lines = compared_lines(found, Sides(left, GOLD, alpha.model_id), "", WIDE)
        stops = [c.stop for line in lines for c in line if c.stop and c.stop.find]
        assert {stop.name.split()[0] for stop in stops} == {"class", "word"}
        for stop in stops:
            wrong = int(stop.note.split("not right ")[1].split(" of ")[0])
            assert count(stop.find) == wrong, stop


def test_accuracies_are_those_of_the_evaluation(store, me) -> None:
    side = models(store)["alpha"]
    found = store.comparisons.compare(side, GOLD, parse(""), me, never)
    examples, choices = [], []
    for ballot in store.items.ballots(
        parse("class:REFERENCE,YEAR,AGE,CURRENCY,PEOPLE,TIME,OTHER,UNKNOWN")
    ):
        said = store.items.read(ballot.anchor_id, me, Role.ADJUDICATOR).prediction
        if said is not None and said.model == "alpha":
            item = Item(ballot.passage, ballot.anchor)
            examples.append(ResolutionExample(item, ballot.gold.answer, "here", "", False))
            choices.append(Choice(said.choice, None, None, ()))
    expected = figures(judge(examples, choices))
    n = found.whole.n
    assert n == expected.n < found.scored
    assert found.whole.right / n == pytest.approx(expected.accuracy)
    assert found.inclusive / n == pytest.approx(expected.accuracy_inclusive)
    assert found.nearest / n == pytest.approx(expected.accuracy_nearest)
    assert found.inclusive > found.whole.right > found.nearest
    assert found.counts[REF, REF_WRONG] > 0
    assert sum(tally.n for tally in found.words.values()) == n


def test_gold_that_saw_the_model_is_counted_apart(store, me) -> None:
    from nfh_db.records import Exposure

    alpha, ann = models(store)["alpha"], ComparedSide("person", "ann1")
    before = store.comparisons.compare(alpha, GOLD, parse(""), me, never)
    assert before.saw.n == 0
    anchor = before.ids["AGE", "AGE"][0]
    answer = class_answer(Kind.AGE)
    store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, answer, Exposure(saw_model=True))
    after = store.comparisons.compare(alpha, GOLD, parse(""), me, never)
    assert (after.saw.n, after.saw.right, after.whole.n) == (1, 1, before.whole.n)
    assert store.comparisons.compare(ann, GOLD, parse(""), me, never).saw.n == 0


def test_items_that_the_model_has_seen_are_counted_apart(store, me) -> None:
    alpha = models(store)["alpha"]
    texts = {ballot.passage.digest: ballot.passage for ballot in store.items.ballots(parse(""))}
    half = sorted(texts)[::2]
    found = store.comparisons.compare(
        alpha, GOLD, parse(""), me, never, lambda one: one.digest in half
    )
    assert 0 < found.seen.right < found.seen.n < found.whole.n
    words = "\n".join(
        "".join(cell.text for cell in line)
        for line in compared_lines(found, Sides(alpha, GOLD, alpha.model_id), "", WIDE)
    )
    assert f"alpha has seen the passages of {found.seen.n} of these items." in words
    others = found.whole.n - found.seen.n
    assert f"{found.whole.right - found.seen.right} of {others}" in words
    every = store.comparisons.compare(alpha, GOLD, parse(""), me, never, lambda _: True)
    assert every.seen == every.whole


def test_a_comparison_that_nobody_waits_for_ends(store, me) -> None:
    with pytest.raises(NoLongerWantedError):
        store.comparisons.compare(models(store)["alpha"], GOLD, parse(""), me, lambda: True)
    with pytest.raises(NoLongerWantedError):
        store.comparisons.changes_since(corpus_path(), parse(""), me, lambda: True, nothing)
    with pytest.raises(ValueError, match="is not compared with"):
        store.comparisons.compare(GOLD, GOLD, parse(""), me, never)


def test_gold_against_an_earlier_export_names_what_changed(store, me, count) -> None:
    same = store.comparisons.changes_since(corpus_path(), parse(""), me, never, nothing)
    assert set(same.ids) <= {comparisons.GOLD_SAME, comparisons.NEW}
    decided = len(same.ids[comparisons.GOLD_SAME])
    assert decided == count("-class:none") and same.rows == 174 and same.gone == 0

    def first(query: str) -> int:
        return next(iter(store.queue.ids(parse(query), me)))[0]

    changed, new = first("class:AGE"), first("class:none")
    store.edits.commit_answer(changed, me, Role.ADJUDICATOR, class_answer(Kind.TIME))
    store.edits.commit_answer(new, me, Role.ADJUDICATOR, class_answer(Kind.AGE))
    found = store.comparisons.changes_since(corpus_path(), parse(""), me, never, nothing)
    assert found.ids["class"] == [changed]
    assert found.ids["decided since"] == [new]
    assert found.counts["AGE", "TIME"] == 1
    lines = change_lines(found, "", WIDE) + change_matrix(
        found, Sides(GOLD, ComparedSide("file", "/x/corpus.jsonl")), "", WIDE
    )
    names = {stop.name: stop for stop in opening(lines)}
    assert names["change class"].find == f"id:{changed}"
    for stop in names.values():
        assert count(stop.find) == counted(stop), stop
    inside = store.comparisons.changes_since(
        corpus_path(), parse("class:TIME"), me, never, nothing
    )
    assert inside.ids["class"] == [changed] and "decided since" not in inside.ids


def test_what_only_one_side_has_is_told(store, me, tmp_path) -> None:
    lines = corpus_path().read_text(encoding="utf-8").splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_text("".join(lines[:40]), encoding="utf-8")
    rows: list[int] = []
    found = store.comparisons.changes_since(part, parse(""), me, never, rows.append)
    assert rows == [40] and found.rows == 40
    decided = sum(map(len, found.ids.values()))
    whole = store.comparisons.changes_since(corpus_path(), parse(""), me, never, nothing)
    assert decided == sum(map(len, whole.ids.values()))
    assert len(found.ids[comparisons.NEW]) > 0


def test_a_file_that_does_not_hold_is_refused_with_its_line(store, me, tmp_path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"format": "nfh-gold/1"}\n', encoding="utf-8")
    with pytest.raises(FormatError, match="line 1"):
        store.comparisons.changes_since(bad, parse(""), me, never, nothing)
    with pytest.raises(FormatError):
        store.comparisons.changes_since(tmp_path / "none.jsonl", parse(""), me, never, nothing)


def test_kinds_of_the_matrix_are_all_kinds() -> None:
    assert set(comparisons.LABELS) == {kind.value for kind in Kind}
    assert Kind.REFERENCE.value == REF
    assert POOLED == ("", "")
