"""Versions stay, the same text is none, and what was decided under an older text is found."""

from pathlib import Path

import pytest

from nfh_db.errors import ChangedSinceError, StoreError
from nfh_db.guidelines import TagCount
from nfh_db.query import parse
from nfh_db.records import Exposure, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer, rule_id, rule_words, tag_forms
from nfh_tui.services.guidelines import counts_of, guide_of, outdated_query, query_of

AGE = class_answer(Kind.AGE)


def decide(store: Store, place: int, tag: str | None, role: Role = Role.ADJUDICATOR) -> int:
    me = store.people.ensure("eva")
    anchor = next(store.queue.ids(parse(""), me))[place]
    store.edits.commit_answer(anchor, me, role, AGE, Exposure(rule_tag=tag))
    return anchor


def test_the_first_text_is_version_one_and_only_once(database: Path, text: str) -> None:
    with Store.open(database) as store:
        assert store.guidelines.read() is None
        assert store.guidelines.add_first(text)
        assert not store.guidelines.add_first("another")
        found = store.guidelines.read()
        assert found is not None
        assert (found.version, found.body, found.by) == (1, text, None)


def test_the_same_text_again_is_no_version_but_an_older_one_is(guided: Path, text: str) -> None:
    with Store.open(guided) as store:
        eva = store.people.ensure("eva")
        assert store.guidelines.add(text, eva)[1] is False
        second, new = store.guidelines.add(f"{text}\nMore.", eva)
        assert (second.version, second.by, new) == (2, "eva", True)
        third, new = store.guidelines.add(text, eva)
        assert (third.version, new) == (3, True)
        assert [one.version for one in store.guidelines.all()] == [1, 2, 3]
        assert store.guidelines.read(2) == second
        assert store.guidelines.read(9) is None


def test_a_text_made_from_a_version_that_is_gone_by_is_refused(guided: Path, text: str) -> None:
    with Store.open(guided) as store:
        eva, bob = store.people.ensure("eva"), store.people.ensure("bob")
        store.guidelines.add(f"{text}\nEva's.", eva, after=1)
        with pytest.raises(ChangedSinceError, match=r"Version 2 .* by eva since"):
            store.guidelines.add(f"{text}\nBob's.", bob, after=1)
        assert len(store.guidelines.all()) == 2
        # What holds already is no quarrel.
        assert store.guidelines.add(f"{text}\nEva's.", bob, after=1)[1] is False


@pytest.mark.parametrize("body", ["", "  \n", "## R1 \ud800\n", "x" * 1_000_001])
def test_what_cannot_be_kept_is_refused(guided: Path, body: str) -> None:
    with Store.open(guided) as store, pytest.raises(StoreError):
        store.guidelines.add(body, store.people.ensure("eva"))


def test_tags_are_counted_by_rule_however_they_are_written(guided: Path) -> None:
    with Store.open(guided) as store:
        decide(store, 1, "12")
        decide(store, 2, "R12")
        decide(store, 2, "r12", Role.ANNOTATOR)
        decide(store, 4, "§ 4")
        decide(store, 5, None)
        assert store.guidelines.tagged_items() == {"R12": 2, "§ 4": 1}
        assert set(store.guidelines.tagged_decisions()) == {
            TagCount("R12", 1, 2), TagCount("§ 4", 1, 1), TagCount(None, 1, 1)
        }  # fmt: skip


def test_gold_whose_rule_reads_otherwise_by_now_is_found(guided: Path, text: str) -> None:
    with Store.open(guided) as store:
        old = decide(store, 1, "12")
        other = decide(store, 2, "R5")
        store.guidelines.add(text.replace("by OR", "by OR, always"), store.people.ensure("eva"))
        new = decide(store, 4, "R12")
        guide = guide_of(store.guidelines.all())
        assert guide.outdated == {("R12", 1)}
        assert list(store.guidelines.tagged_anchors(guide.outdated)) == [old]
        counts = counts_of(
            guide, store.guidelines.tagged_items(), store.guidelines.tagged_decisions()
        )
        assert (counts["R12"].items, counts["R12"].older) == (2, 1)
        assert (counts["R5"].items, counts["R5"].older) == (1, 0)

        def found(query: str | None) -> list[int]:
            assert query is not None
            chunks = store.queue.ids(parse(query), store.people.ensure("eva"))
            return [anchor for chunk in chunks for anchor in chunk]

        assert found(query_of("R12")) == [old, new]
        assert found(outdated_query(guide, "R12")) == [old]
        assert found(query_of("R5")) == [other]
        assert outdated_query(guide, "R5") is None


def test_a_line_broken_elsewhere_is_no_change_and_a_text_restored_is_none(
    guided: Path, text: str
) -> None:
    with Store.open(guided) as store:
        eva = store.people.ensure("eva")
        store.guidelines.add(text.replace("Join them", "Join\nthem"), eva)
        assert not guide_of(store.guidelines.all()).outdated
        store.guidelines.add(text.replace("Join", "Tie"), eva)
        store.guidelines.add(text, eva)
        # Version 3 said otherwise; 1 and 2 say what holds.
        assert guide_of(store.guidelines.all()).outdated == {("R12", 3)}


@pytest.mark.parametrize(
    ("tag", "id_"),
    [("12", "R12"), ("r12", "R12"), (" R12 ", "R12"), ("R012", "R012"), ("1234", "1234"),
     ("rule-1", "rule-1"), ("", ""), ("R0", "R0")],
)  # fmt: skip
def test_tags_name_rules(tag: str, id_: str) -> None:
    assert rule_id(tag) == id_


def test_a_tag_has_a_few_forms() -> None:
    assert tag_forms("12") == ("R12", "r12", "12")
    assert tag_forms("§2") == ("§2",)
    assert rule_words("12") == "rule R12"
