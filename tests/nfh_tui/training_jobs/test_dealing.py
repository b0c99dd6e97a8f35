"""Which passages are kept out: units stay together, what was dealt stays, the share holds."""

from collections import Counter
from collections.abc import Iterable

import pytest

from nfh_db.holdout import SplitSide
from nfh_tui.jobs.snapshot import FORMULA, LabelledPassage, SplitPlan, plan, wanted_out

KINDS = ("AGE", "REFERENCE", "OTHER")


def found(
    numbers: Iterable[int],
    document: int = 1,
    turns: Iterable[str] = (),
    kind: str | None = None,
) -> list[LabelledPassage]:
    return [
        LabelledPassage(
            number,
            f"{number:016}",
            document,
            {kind or KINDS[number % 3]: 1},
            frozenset(turns),
        )
        for number in numbers
    ]


class Database:
    """What was dealt, and the gold that there is."""

    def __init__(self) -> None:
        self.found: dict[int, LabelledPassage] = {}
        self.sides: dict[int, SplitSide] = {}

    def deal(self, some: list[LabelledPassage], share: float | None = None) -> SplitPlan:
        self.found |= {one.passage_id: one for one in some}
        known = {key: self.found[key].turns for key in self.sides}
        labels: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for side in self.sides.values():
            labels[side.dev].update(self.found[side.passage_id].kinds)
        planned = plan(some, list(self.sides.values()), known, labels, share)
        assert not {one.passage_id for one in planned.new} & set(self.sides)
        self.sides |= {one.passage_id: one for one in planned.new}
        return planned

    @property
    def out(self) -> set[int]:
        return {one.passage_id for one in self.sides.values() if one.dev}


def test_a_fifth_of_few_and_a_tenth_of_many_is_kept_out_of_every_kind() -> None:
    few, many = Database(), Database()
    few.deal(found(range(90)))
    assert len(few.out) == 18
    assert Counter(number % 3 for number in few.out) == {0: 6, 1: 6, 2: 6}
    many.deal(found(range(6_000)))
    assert len(many.out) == 600
    assert wanted_out(300, None) == 40
    assert wanted_out(50, 0.5) == 25


@pytest.mark.parametrize("size", [1, 7, 100])
def test_the_share_holds_as_labels_come_and_nothing_dealt_is_dealt_again(size: int) -> None:
    database = Database()
    for start in range(0, 200 if size == 1 else 600, size):
        before = dict(database.sides)
        database.deal(found(range(start + size)))
        assert before.items() <= database.sides.items()
    assert len(database.out) == pytest.approx(0.2 * len(database.sides), abs=1)
    kinds = Counter(number % 3 for number in database.out)
    assert max(kinds.values()) - min(kinds.values()) <= 3


def test_ten_labels_already_have_one_to_judge_by_and_none_of_a_lonely_kind() -> None:
    database = Database()
    database.deal([*found(range(11), kind="AGE"), *found([99], kind="YEAR")])
    assert len(database.out) == 2
    assert 99 not in database.out


def test_a_kind_that_comes_late_gets_its_share_though_the_others_have_theirs() -> None:
    database = Database()
    database.deal(found(range(1_200)))
    database.deal([*found(range(1_200)), *found(range(2_000, 2_060), kind="NOT_NFH")])
    late = [number for number in database.out if number >= 2_000]
    assert len(late) == 12


def test_where_every_kind_is_rare_some_of_all_are_kept_out() -> None:
    database = Database()
    database.deal([one for k in range(8) for one in found([k, k + 50, k + 90], kind=f"K{k}")])
    assert len(database.out) in (4, 5)


def test_passages_with_a_long_turn_in_common_stay_together() -> None:
    database = Database()
    some = [*found(range(100)), *found(range(100, 110), turns=["a"])]
    units = database.deal(some, share=0.5).units
    assert len({units[number] for number in range(100, 110)}) == 1
    sides = {number in database.out for number in range(100, 110)}
    assert len(sides) == 1


def test_what_comes_later_follows_its_unit_also_where_that_is_not_asked_for() -> None:
    database = Database()
    database.deal(found(range(40), turns=()), share=0.5)
    one, other = min(database.out), min(set(range(40)) - database.out)
    for number, turn in ((one, "out"), (other, "in")):
        kept = database.found[number]
        database.found[number] = LabelledPassage(
            number, kept.digest, 1, kept.kinds, frozenset([turn])
        )
    database.deal([*found([100, 101], turns=["out"]), *found([102, 103], turns=["in"])], 0.5)
    assert {100, 101} <= database.out
    assert not {102, 103} & database.out
    assert database.sides[100].unit == database.sides[one].unit


def test_what_belongs_to_both_sides_is_dealt_to_none() -> None:
    database = Database()
    for number, dev in ((1, True), (2, False)):
        database.found |= {number: found([number], turns=[f"turn {dev}"])[0]}
        database.sides[number] = SplitSide(number, dev, f"passage {number}")
    planned = database.deal(found([3], turns=["turn True", "turn False"]))
    assert planned.both == {3}
    assert 3 not in database.sides


def test_a_turn_that_was_dealt_to_both_sides_takes_nothing_more() -> None:
    database = Database()
    for number, dev in ((1, True), (2, False)):
        database.found |= {number: found([number], turns=["torn"])[0]}
        database.sides[number] = SplitSide(number, dev, f"passage {number}")
    assert database.deal(found([3], turns=["torn"])).both == {3}
    assert not database.deal(found([4], turns=["whole"])).both


def test_a_turn_that_stands_everywhere_ties_nothing() -> None:
    database = Database()
    units = database.deal(found(range(FORMULA + 1), turns=["hello"])).units
    assert len(set(units.values())) == FORMULA + 1
    tied = Database().deal(found(range(FORMULA), turns=["hello"])).units
    assert len(set(tied.values())) == 1


def test_small_documents_stay_whole_and_large_ones_do_not() -> None:
    database = Database()
    some = [one for doc in range(40) for one in found(range(doc * 5, doc * 5 + 5), doc)]
    large = found(range(1_000, 1_100), 99)
    units = database.deal([*some, *large], share=0.2).units
    assert {units[number] for number in range(5)} == {"document 0"}
    assert len({units[number] for number in range(1_000, 1_100)}) == 100
    for doc in range(40):
        assert len({number in database.out for number in range(doc * 5, doc * 5 + 5)}) == 1
    assert len(database.out) == pytest.approx(60, abs=3)


def test_a_document_that_was_dealt_whole_stays_so_when_it_grows() -> None:
    database = Database()
    some = [one for doc in range(20) for one in found(range(doc * 5, doc * 5 + 5), doc)]
    database.deal(some, share=0.5)
    grown = found(range(1_000, 1_200), 0)
    database.deal([*some, *grown], share=0.5)
    assert len({number in database.out for number in (0, *range(1_000, 1_200))}) == 1


def test_a_share_of_nothing_deals_nothing_and_tells_the_units() -> None:
    database = Database()
    planned = database.deal(found(range(10)), share=0)
    assert not planned.new
    assert len(planned.units) == 10
