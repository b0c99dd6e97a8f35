"""What looks like answering without reading."""

from typing import Any

from nfh_models.agreement.competence import PairOverlap, collect
from nfh_models.agreement.drift import closest_nouns, habits
from nfh_models.domain import Kind


def told(*args: Any) -> dict[str, str]:
    return {habit.name: habit.sentence for habit in habits(*args)}


def mixed(kit: Any, number: int = 60, **more: Any) -> list[Any]:
    kinds = (Kind.AGE, Kind.TIME, Kind.REFERENCE)
    return [kit.mark(i, kinds[i % 3], **more) for i in range(number)]


def test_ordinary_answers_are_not_told_of(kit: Any) -> None:
    assert told("ann", mixed(kit, seconds=9.0), {}) == {}
    assert told("ann", [], {}) == {}


def test_very_fast_answers(kit: Any) -> None:
    fast = [kit.mark(i, seconds=1.0, right=False) for i in range(10)]
    slow = [kit.mark(10 + i, Kind.TIME, seconds=9.0, right=True) for i in range(40)]
    sentence = told("ann", [*fast, *slow], {})["fast"]
    assert sentence == (
        "10 of 50 answers took less than 2 seconds; the adjudicator agrees with 0 of 10 of "
        "these, and with 40 of 40 others."
    )


def test_one_kind_only_unless_the_others_say_it_too(kit: Any) -> None:
    alone = [kit.mark(i, Kind.OTHER, majority=Kind.AGE) for i in range(30)]
    assert told("ann", alone, {})["one-kind"] == (
        "30 of 30 answers are OTHER; the others' majority says so on 0 of 30 of the same items."
    )
    alike = [kit.mark(i, Kind.OTHER, majority=Kind.OTHER) for i in range(30)]
    assert told("ann", alike, {}) == {}
    assert told("ann", alone[:10], {}) == {}


def test_a_long_run(kit: Any) -> None:
    kinds = [Kind.AGE, Kind.TIME] * 40 + [Kind.OTHER] * 25
    marks = [kit.mark(i, kind) for i, kind in enumerate(kinds)]
    assert told("ann", marks, {})["run"].startswith(
        "25 answers one after the other are OTHER, which is 24% of all 105"
    )
    spread = [kit.mark(i, (Kind.AGE, Kind.TIME, Kind.OTHER)[i % 3]) for i in range(105)]
    assert "run" not in told("ann", spread, {})


def test_always_the_closest_noun(kit: Any) -> None:
    items = [
        kit.item(i, {"ann": kit.to(1), "bob": kit.to(2), "cyd": Kind.AGE}, nearest=3)
        for i in range(20)
    ]
    unknown = kit.item(99, {"ann": kit.to(1)})
    counts = closest_nouns([*items, unknown])
    assert counts == {"ann": (20, 20), "bob": (0, 20)}
    assert told("ann", mixed(kit), {}, counts["ann"])["closest-noun"] == (
        "20 of 20 examined answers REFERENCE name the closest noun."
    )
    assert told("bob", mixed(kit), {}, counts["bob"]) == {}


def test_answers_copied_from_another(kit: Any) -> None:
    pairs = {("ann", "bob"): PairOverlap(50, 50, 12), ("ann", "cyd"): PairOverlap(50, 50, 0)}
    sentence = (
        "50 of 50 answers are the same as bob's in every mention, 12 of them where somebody "
        "else says another thing."
    )
    assert told("ann", mixed(kit), pairs) == {"copies": sentence}
    assert told("bob", mixed(kit), pairs) == {"copies": sentence.replace("bob", "ann")}
    assert told("cyd", mixed(kit), pairs) == {}


def test_who_is_the_same_as_whom_is_counted_with_mentions(kit: Any) -> None:
    items = [
        kit.item(0, {"ann": kit.to(1), "bob": kit.to(1), "cyd": kit.to(3)}),
        kit.item(1, {"ann": Kind.AGE, "bob": Kind.AGE, "cyd": Kind.TIME}),
        kit.item(2, {"ann": Kind.AGE, "bob": Kind.AGE}, Kind.YEAR),
    ]
    together = collect(items).together
    assert together["ann", "bob"] == PairOverlap(3, 3, 2)
    assert together["ann", "cyd"] == PairOverlap(2, 0, 0)
