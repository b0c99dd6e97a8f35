"""Files that were imported to one copy, or to each, and spans that people corrected."""

from contextlib import closing

import pytest

from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.merge.log_diff import ConflictReason
from nfh_db.query import parse
from nfh_db.records import AnchorState, Role, Rule
from nfh_models.domain import Anchor, Kind, class_answer

EARLIER, LATER = "2026-01-01T00:00:00.000Z", "2026-02-02T00:00:00.000Z"

SPANS = """
SELECT a.start, a.stop FROM anchor AS a
WHERE a.removed = 0 AND a.replaced_by IS NULL ORDER BY a.start, a.stop"""


def live(copies, name: str) -> list[tuple[int, int]]:
    """The spans that everybody sees."""
    with closing(connect(copies.path(name), "ro")) as reader:
        return [tuple(row) for row in reader.execute(SPANS)]


def correct(copies, name: str, who: str, start: int, stop: int, anchor: int = 1) -> int:
    with copies.open(name) as store:
        span = Anchor(start, stop)
        return store.edits.replace_anchor(
            anchor,
            store.people.ensure(who),
            Role.ADJUDICATOR,
            span,
            store.edits.stale_labels(anchor, store.people.ensure(who)),
        ).anchor_id


def test_a_file_that_is_new_comes_with_its_rows(copies, saying) -> None:
    kit = copies.kit
    copies.made("home")
    copies.copy("home", "train")
    with copies.open("train") as store:
        rows = [
            kit.one(f"four {n} apples", 0, gold=kit.gold(2), votes=[kit.vote("ann", 2)], line=n)
            for n in range(1, 4)
        ]
        known = kit.one(gold=kit.gold(Kind.AGE), line=4)
        kit.load(store, *rows, known, name="second.jsonl")
    copies.answer("train", "bob", Kind.TIME, 3)
    report = copies.merge("home", "train")
    assert report.imports_new == ("second.jsonl",)
    assert (report.passages_new, report.anchors_new) == (3, 3)
    assert set(report.people_new) == {"ann", "bob"}
    assert saying(copies.path("home")) == saying(copies.path("train"))
    assert copies.said("home", 1) == {"gold": "AGE"}
    with copies.open("home") as store:
        eva = store.people.ensure("eva")
        assert store.queue.count(parse("doc:second split:train"), eva) == 3
        assert kit.load(store, *rows, known, name="second.jsonl").already
        item = store.items.read(2, eva, Role.ANNOTATOR)
        assert (item.document, item.state) == ("second.jsonl", AnchorState.DECIDED)
        assert [line.act for line in store.history.of_anchor(2)] == [
            "import of second.jsonl"
        ] * 2


def test_copies_without_a_common_beginning(copies, saying) -> None:
    kit = copies.kit
    rows = [kit.one("one dog", 0, line=1), kit.one("two dogs", 0, line=2)]
    copies.made("home", *rows)
    copies.made("train", *reversed(rows))
    copies.answer("home", "eva", Kind.AGE, 1)
    copies.answer("train", "bob", Kind.TIME, 2)
    report = copies.merge("home", "train")
    assert (report.passages_new, report.events, report.conflicts) == (0, 1, ())
    assert copies.said("home", 1) == {"eva": "AGE", "bob": "TIME"}
    copies.merge("train", "home")
    assert saying(copies.path("home")) == saying(copies.path("train"))


def test_one_file_of_answers_imported_to_each_at_its_time(copies) -> None:
    kit = copies.kit
    for name, at in (("home", EARLIER), ("train", LATER)):
        copies.made(name)
        with copies.open(name) as store:
            row = kit.one(votes=[kit.vote("ann", Kind.AGE, at=at)])
            kit.load(store, row, name="of ann", annotator="ann")
    copies.answer("train", "ann", Kind.TIME)
    with copies.open("train") as store:
        store.edits.undo(store.people.ensure("ann"))
        store.edits.redo(store.people.ensure("ann"))
    report = copies.merge("home", "train")
    assert (report.events, report.conflicts) == (3, ())
    assert copies.said("home") == {"ann": "TIME"}
    with copies.open("home") as store:
        store.edits.undo(store.people.ensure("ann"))
        (vote,) = store.items.read(1, store.people.ensure("eva"), Role.ANNOTATOR).votes
    assert (str(vote.answer.kind), vote.answered_at) == ("AGE", EARLIER)


def test_gold_of_two_files_is_left(copies) -> None:
    kit = copies.kit
    copies.made("home")
    copies.copy("home", "train")
    for name, kind in (("home", Kind.AGE), ("train", Kind.YEAR)):
        with copies.open(name) as store:
            kit.load(store, kit.one(gold=kit.gold(kind)), name=f"of {name}")
    report = copies.merge("home", "train")
    (conflict,) = report.conflicts
    assert (conflict.here.said, conflict.there.said) == (
        "AGE (rule imported)",
        "YEAR (rule imported)",
    )
    assert (conflict.there.by, report.imports_new) == (None, ("of train",))


def test_a_corrected_span_comes_along(copies, saying) -> None:
    copies.made("home")
    copies.copy("home", "train")
    copies.answer("home", "eva", Kind.AGE)
    new = correct(copies, "train", "bob", 3, 6)
    copies.answer("train", "bob", Kind.TIME, new)
    report = copies.merge("home", "train")
    assert (report.anchors_new, report.conflicts) == (1, ())
    assert live(copies, "home") == [(3, 6)]
    with copies.open("home") as store:
        item = store.items.read(new, store.people.ensure("eva"), Role.ANNOTATOR)
    assert [vote.annotator for vote in item.votes] == ["bob"]
    assert [vote.annotator for vote in item.stale_votes] == ["eva"]
    copies.merge("train", "home")
    assert saying(copies.path("home")) == saying(copies.path("train"))
    with copies.open("home") as store:
        bob = store.people.ensure("bob")
        assert store.edits.undo(bob).summary == "answer TIME"
        assert store.edits.undo(bob).summary == "anchor “one” made “one or two”"
    assert live(copies, "home") == [(3, 4)]
    assert copies.said("home") == {"eva": "AGE"}


def test_gold_that_a_correction_elsewhere_did_not_know_keeps_its_span(copies) -> None:
    copies.made("home")
    copies.copy("home", "train")
    correct(copies, "train", "zoe", 3, 6)
    with copies.open("home") as store:
        eva = store.people.ensure("eva")
        store.edits.commit_answer(1, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
    report = copies.merge("home", "train")
    assert {(one.what, one.word, one.why) for one in report.conflicts} == {
        ("span", "one", ConflictReason.DECIDED),
        ("span", "one or two", ConflictReason.TOGETHER),
    }
    assert live(copies, "home") == [(3, 4)]
    with copies.open("home") as store:
        rows = store.items.records(parse("state:decided"), None, "gold")
        assert [row.gold.answer.kind for row in rows] == [Kind.AGE]


@pytest.mark.parametrize("rule", [Rule.EXPERT, Rule.UNANIMOUS, Rule.IMPORTED])
def test_gold_of_a_span_that_was_replaced_here_is_left(copies, rule: Rule) -> None:
    """Whoever made it, it is reported, once: no export of this copy would have it."""
    copies.made("home")
    copies.copy("home", "train")
    correct(copies, "home", "zoe", 3, 6)
    if rule is Rule.EXPERT:
        copies.decide("train", "eva", Kind.AGE)
    else:
        with copies.open("train") as store:
            kit = copies.kit
            gold = kit.gold(Kind.AGE) if rule is Rule.IMPORTED else None
            votes = [kit.vote("ann", Kind.AGE), kit.vote("bob", Kind.AGE)]
            kit.load(store, kit.one(gold=gold, votes=() if gold else votes))
            if gold is None:
                store.settlement.run(parse(""), rule, store.people.ensure("eva"))
    for _ in range(2):
        (left,) = copies.merge("home", "train").conflicts
        assert (left.what, left.word, left.why) == ("gold", "one", ConflictReason.REPLACED)
        assert (left.there.said, left.there.rule) == (f"AGE (rule {rule})", rule)
    assert live(copies, "home") == [(3, 6)]
    with copies.open("home") as store:
        assert store.items.count_stale_gold() == 0


def test_gold_of_a_span_that_was_replaced_in_both_comes_along(copies) -> None:
    """It was in no export there either, since whoever replaced the span was asked."""
    copies.made("home")
    copies.copy("home", "train")
    correct(copies, "home", "zoe", 3, 6)
    copies.decide("train", "eva", Kind.AGE)
    correct(copies, "train", "zoe", 3, 6)
    assert {one.what for one in copies.merge("home", "train").conflicts} <= {"span"}
    assert live(copies, "home") == [(3, 6)]


def test_gold_that_a_correction_elsewhere_knew_gives_way(copies) -> None:
    copies.made("home", copies.kit.one(gold=copies.kit.gold(Kind.AGE)))
    copies.copy("home", "train")
    correct(copies, "train", "zoe", 3, 6)
    assert copies.merge("home", "train").conflicts == ()
    assert live(copies, "home") == [(3, 6)]


def proposal(copies, name: str, who: str = "bob") -> list:
    """The spans that are proposed for the number."""
    with copies.open(name) as store:
        item = store.items.read(1, store.people.ensure(who), Role.ADJUDICATOR)
        return [(flag.annotator, flag.span) for flag in item.flags]


def propose(copies, name: str, who: str, *span: int) -> None:
    with copies.open(name) as store:
        store.edits.propose_span(1, store.people.ensure(who), Anchor(*span) if span else None)


def test_a_proposed_span_comes_along(copies, saying) -> None:
    copies.made("home")
    copies.copy("home", "train")
    propose(copies, "train", "bob", 3, 5)
    propose(copies, "train", "bob", 3, 6)
    assert copies.merge("home", "train").conflicts == ()
    assert proposal(copies, "home") == [("bob", Anchor(3, 6))]
    copies.merge("train", "home")
    assert saying(copies.path("home")) == saying(copies.path("train"))
    with copies.open("home") as store:
        store.edits.undo(store.people.ensure("bob"))
    assert proposal(copies, "home") == [("bob", Anchor(3, 5))]


def test_spans_that_one_person_proposes_otherwise_in_both_are_left(copies) -> None:
    copies.made("home")
    copies.copy("home", "train")
    propose(copies, "home", "bob", 3, 5)
    propose(copies, "train", "bob", 3, 6)
    (conflict,) = copies.merge("home", "train").conflicts
    assert (conflict.here.said, conflict.there.said) == (
        "the span “one or” proposed",
        "the span “one or two” proposed",
    )
    assert proposal(copies, "home") == [("bob", Anchor(3, 5))]


def test_a_damaged_span_is_not_brought_in(copies) -> None:
    copies.made("home")
    copies.copy("home", "train")
    propose(copies, "train", "bob", 3, 5)
    with closing(connect(copies.path("train"), "rw")) as writer:
        writer.execute("UPDATE event SET after = replace(after, '[3,5]', '[3,50]')")
        writer.execute("UPDATE flag SET stop = 50")
    with pytest.raises(StoreError, match=r"the span \[3, 50\) is outside a passage"):
        copies.merge("home", "train")


def test_a_span_corrected_otherwise_in_both_is_left(copies) -> None:
    copies.made("home")
    copies.copy("home", "train")
    correct(copies, "home", "eva", 3, 5)
    new = correct(copies, "train", "bob", 3, 6)
    copies.answer("train", "bob", Kind.TIME, new)
    report = copies.merge("home", "train")
    assert {(one.what, one.word, one.why) for one in report.conflicts} == {
        ("span", "one", ConflictReason.BOTH),
        ("span", "one or two", ConflictReason.TOGETHER),
        ("answer", "one or two", ConflictReason.SPAN),
    }
    (one,) = (one for one in report.conflicts if one.why is ConflictReason.BOTH)
    assert one.here.said == "replaced by “one or”"
    assert one.there.said == "replaced by “one or two”"
    assert live(copies, "home") == [(3, 5)]
    with copies.open("home") as store:
        eva = store.people.ensure("eva")
        for conflict in report.conflicts:
            assert store.queue.count(parse(conflict.query), eva) == 1


def test_the_same_correction_in_both(copies) -> None:
    copies.made("home")
    copies.copy("home", "train")
    correct(copies, "home", "eva", 3, 6)
    new = correct(copies, "train", "bob", 3, 6)
    copies.answer("train", "bob", Kind.TIME, new)
    report = copies.merge("home", "train")
    assert (report.conflicts, report.agreed, report.events) == ((), 2, 1)
    assert copies.said("home", 2) == {"bob": "TIME"}


def test_a_span_that_is_answered_here_does_not_vanish(copies) -> None:
    copies.made("home")
    new = correct(copies, "home", "bob", 3, 6)
    copies.copy("home", "train")
    copies.answer("home", "eva", Kind.AGE, new)
    with copies.open("train") as store:
        store.edits.undo(store.people.ensure("bob"))
    report = copies.merge("home", "train")
    assert {one.why for one in report.conflicts} == {
        ConflictReason.ANSWERED,
        ConflictReason.TOGETHER,
    }
    assert live(copies, "home") == [(3, 6)]
    into_train = copies.merge("train", "home")
    assert [(one.what, one.why) for one in into_train.conflicts] == [
        ("answer", ConflictReason.SPAN)
    ]
    assert live(copies, "train") == [(3, 4)]


def test_a_row_of_a_file_about_a_span_that_is_not_here(copies) -> None:
    """The file's rows stay complete: their number is what its import said."""
    kit = copies.kit
    copies.made("home")
    copies.copy("home", "train")
    correct(copies, "home", "eva", 3, 5)
    correct(copies, "train", "bob", 3, 6)
    with copies.open("train") as store:
        kit.load(store, kit.one(stop=6, votes=[kit.vote("ann", Kind.AGE)]), name="wide")
    report = copies.merge("home", "train")
    assert ("answer", ConflictReason.SPAN) in {(one.what, one.why) for one in report.conflicts}
    assert live(copies, "home") == [(3, 5)]
    with closing(connect(copies.path("home"), "ro")) as reader:
        rows = reader.execute(
            "SELECT b.rows, count(*) FROM source_row AS s JOIN batch AS b ON b.id = s.batch_id "
            "WHERE b.name = 'wide'"
        ).fetchone()
    assert rows == (1, 1)
    assert not copies.merge("home", "train").changes


@pytest.mark.parametrize("name", ["home", "train"])
def test_a_span_made_and_taken_back_gives_way_to_a_file(copies, name: str) -> None:
    kit = copies.kit
    other = "train" if name == "home" else "home"
    copies.made("home")
    copies.copy("home", "train")
    correct(copies, name, "eva", 3, 6)
    with copies.open(name) as store:
        store.edits.undo(store.people.ensure("eva"))
    with copies.open(other) as store:
        kit.load(store, kit.one(stop=6, gold=kit.gold(Kind.AGE)), name="wide")
    report = copies.merge("home", "train")
    assert report.conflicts == ()
    assert live(copies, "home") == [(3, 4), (3, 6)]
    assert copies.said("home", 2)["gold"] == "AGE"
