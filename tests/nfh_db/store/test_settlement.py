"""Settling votes: what becomes gold, what is left alone, and what is looked at again."""

from collections.abc import Callable

import pytest

from nfh_db.connection import connect
from nfh_db.doctor import examine
from nfh_db.errors import StoreError
from nfh_db.query import parse
from nfh_db.records import (
    AnchorItem,
    AnchorState,
    Annotator,
    CompetenceWeight,
    Gold,
    Role,
    Rule,
)
from nfh_db.store import Store
from nfh_models.domain import Anchor, Answer, Kind, Sort, class_answer

WORDS = "the dogs saw one , then more dogs and cats"
ONE = 3
UNANIMOUS, MAJORITY = Rule.UNANIMOUS, Rule.MAJORITY


@pytest.fixture
def me(store: Store) -> Annotator:
    """Who settles."""
    return store.people.ensure("settler")


@pytest.fixture
def voted(store: Store, kit) -> Callable[..., int]:
    """Makes an anchor with these answers, of ann1, ann2 and so on; its id."""
    made: list[int] = []

    def make(*answers: Answer | Kind, gold: Gold | None = None) -> int:
        votes = [kit.vote(f"ann{i}", answer) for i, answer in enumerate(answers, start=1)]
        kit.load(store, kit.one(f"{WORDS} {len(made)}", ONE, votes=votes, gold=gold))
        made.append(len(made) + 1)
        return made[-1]

    return make


@pytest.fixture
def seen(store: Store, me: Annotator) -> Callable[[int], AnchorItem]:
    """An anchor as whoever settles sees it."""

    def item(anchor_id: int) -> AnchorItem:
        found = store.items.read(anchor_id, me, Role.ADJUDICATOR)
        assert found is not None
        return found

    return item


def vote(store: Store, name: str, anchor_id: int, answer: Answer | Kind) -> None:
    """Somebody answers."""
    given = answer if isinstance(answer, Answer) else class_answer(answer)
    store.edits.commit_answer(anchor_id, store.people.ensure(name), Role.ANNOTATOR, given)


def decide(store: Store, name: str, anchor_id: int, kind: Kind) -> None:
    """An expert decides."""
    store.edits.commit_answer(
        anchor_id, store.people.ensure(name), Role.ADJUDICATOR, class_answer(kind)
    )


def tables(store: Store) -> dict[str, list]:
    """All that a database holds, but for how people are known."""
    reader = connect(store.path, "ro")
    names = reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    found = {name: reader.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in names}
    reader.close()
    return found


# --- what becomes gold ----------------------------------------------------------------------


def test_what_all_say_is_gold_with_its_rule_and_votes(store, me, voted, seen, kit, clock):
    first, second = voted(Kind.AGE, Kind.AGE, Kind.AGE), voted(Kind.AGE, Kind.YEAR)
    clock("14:00")
    report = store.settlement.run(parse(""), UNANIMOUS, me)
    assert (report.anchors, report.new, dict(report.skipped)) == (2, 1, {"blocked by class": 1})
    assert (dict(report.classes), dict(report.patterns)) == ({"AGE": 1}, {"3-0": 1})
    item = seen(first)
    assert item.state is AnchorState.DECIDED
    assert item.gold == Gold(
        class_answer(Kind.AGE),
        UNANIMOUS,
        None,
        "2026-05-06T14:00:00.000Z",
        (("ann1", kit.at), ("ann2", kit.at), ("ann3", kit.at)),
    )
    assert report.at == item.gold.decided_at
    assert (seen(second).state, seen(second).gold) == (AnchorState.DISAGREE, None)


def test_a_majority_keeps_all_the_votes_it_was_counted_from(store, me, voted, seen):
    anchor = voted(Kind.AGE, Kind.YEAR, Kind.AGE)
    report = store.settlement.run(parse(""), MAJORITY, me)
    assert (report.new, dict(report.patterns)) == (1, {"2-1": 1})
    gold = seen(anchor).gold
    assert (gold.rule, gold.answer.kind) == (MAJORITY, Kind.AGE)
    assert [name for name, _ in gold.votes] == ["ann1", "ann2", "ann3"]
    assert gold.adjudicator is None


def test_heads_come_together(store, me, voted, seen, kit):
    anchor = voted(kit.to([1, 7]), kit.to(7), kit.to(7))
    store.settlement.run(parse(""), UNANIMOUS, me)
    marked = [m.head for m in seen(anchor).gold.answer.heads[0].mentions]
    assert marked == [7, 1]


def test_only_what_the_query_finds(store, me, voted, seen):
    ages, years = voted(Kind.AGE, Kind.AGE), voted(Kind.YEAR, Kind.YEAR)
    assert (
        store.settlement.run(parse("by:ann1 pattern:2-0 -state:decided"), UNANIMOUS, me).new
        == 2
    )
    assert store.edits.undo(me) is not None
    one = store.settlement.run(parse('text:"cats 1"'), UNANIMOUS, me)
    assert (one.anchors, one.new) == (1, 1)
    assert (seen(ages).gold, seen(years).gold.answer.kind) == (None, Kind.YEAR)


def test_votes_of_experts_and_removed_votes_do_not_count(store, me, voted, seen):
    anchor = voted(Kind.AGE, Kind.AGE)
    store.edits.withdraw(anchor, store.people.ensure("ann1"), Role.ANNOTATOR)
    decide(store, "eva", anchor, Kind.AGE)
    store.edits.withdraw(anchor, store.people.ensure("eva"), Role.ADJUDICATOR)
    report = store.settlement.run(parse(""), UNANIMOUS, me)
    assert dict(report.skipped) == {"too few votes": 1}
    assert store.settlement.run(parse(""), UNANIMOUS, me, least=1).new == 1
    assert [name for name, _ in seen(anchor).gold.votes] == ["ann2"]


def test_the_history_names_the_act(store, me, voted):
    anchor = voted(Kind.AGE, Kind.AGE)
    store.settlement.run(parse("state:answered"), MAJORITY, me)
    line = store.history.of_anchor(anchor)[-1]
    assert (line.annotator, line.act, line.kind, line.entity, line.before) == (
        "settler",
        "settlement by rule majority of state:answered",
        "settle",
        "gold",
        None,
    )


# --- what is left alone ---------------------------------------------------------------------


def test_an_experts_decision_stands(store, me, voted, seen):
    anchor = voted(Kind.AGE, Kind.AGE)
    decide(store, "eva", anchor, Kind.YEAR)
    report = store.settlement.run(parse(""), UNANIMOUS, me)
    assert dict(report.skipped) == {"decided by an adjudicator": 1}
    assert seen(anchor).gold.answer.kind is Kind.YEAR
    assert report.act_id is None


def test_gold_of_a_file_stands(store, me, voted, seen, kit):
    anchor = voted(Kind.AGE, Kind.AGE, gold=kit.gold(Kind.YEAR))
    assert dict(store.settlement.run(parse(""), UNANIMOUS, me).skipped) == {
        "gold from a file": 1
    }
    assert seen(anchor).gold.answer.kind is Kind.YEAR


def test_an_nfh_of_a_file_is_made_fuller(store, me, voted, seen, kit):
    fuller = voted(Kind.AGE, Kind.AGE, gold=kit.gold(Kind.NFH))
    denied = voted(Kind.NOT_NFH, Kind.NOT_NFH, gold=kit.gold(Kind.NFH))
    broken = voted(Kind.BROKEN, Kind.BROKEN, gold=kit.gold(Kind.NFH))
    report = store.settlement.run(parse(""), UNANIMOUS, me)
    assert (report.replaced, dict(report.skipped)) == (1, {"contradicts the NFH of a file": 2})
    assert (seen(fuller).gold.answer.kind, seen(fuller).state) == (
        Kind.AGE,
        AnchorState.DECIDED,
    )
    assert {seen(a).gold.answer.kind for a in (denied, broken)} == {Kind.NFH}
    store.edits.undo(me)
    assert (seen(fuller).gold.rule, seen(fuller).state) == (Rule.IMPORTED, AnchorState.ANSWERED)


def test_a_trial_run_writes_nothing(store, me, voted):
    voted(Kind.AGE, Kind.AGE)
    before = tables(store)
    report = store.settlement.run(parse(""), UNANIMOUS, me, dry_run=True)
    assert (report.new, report.act_id, report.dry_run) == (1, None, True)
    assert tables(store) == before


def test_a_run_without_anything_to_do_leaves_no_trace(store, me, voted):
    voted(Kind.AGE, Kind.YEAR)
    before = tables(store)
    assert store.settlement.run(parse(""), UNANIMOUS, me).act_id is None
    assert tables(store) == before
    assert store.edits.undo(me) is None


# --- looked at again ------------------------------------------------------------------------


def test_settled_again_it_is_the_same(store, me, voted, seen):
    anchor = voted(Kind.AGE, Kind.AGE)
    store.settlement.run(parse(""), UNANIMOUS, me)
    before = seen(anchor).gold
    report = store.settlement.run(parse(""), UNANIMOUS, me)
    assert (report.new, report.same, report.replaced, report.act_id) == (0, 1, 0, None)
    assert dict(report.classes) == {"AGE": 1}
    assert seen(anchor).gold == before


def test_another_outcome_takes_the_place_of_the_first(store, me, voted, seen):
    anchor = voted(Kind.AGE, Kind.AGE, Kind.YEAR)
    store.settlement.run(parse(""), MAJORITY, me)
    vote(store, "ann2", anchor, Kind.YEAR)
    report = store.settlement.run(parse(""), MAJORITY, me)
    assert (report.replaced, dict(report.classes)) == (1, {"YEAR": 1})
    assert seen(anchor).gold.answer.kind is Kind.YEAR


def test_votes_that_are_new_are_named_though_the_answer_is_the_same(store, me, voted, seen):
    anchor = voted(Kind.AGE, Kind.AGE)
    store.settlement.run(parse(""), UNANIMOUS, me)
    vote(store, "ann9", anchor, Kind.AGE)
    assert store.settlement.run(parse(""), UNANIMOUS, me).replaced == 1
    assert [name for name, _ in seen(anchor).gold.votes] == ["ann1", "ann2", "ann9"]


def test_what_settles_no_more_is_taken_back(store, me, voted, seen, kit):
    anchor = voted(Kind.AGE, Kind.AGE)
    known = voted(Kind.AGE, Kind.AGE, gold=kit.gold(Kind.NFH))
    store.settlement.run(parse(""), UNANIMOUS, me)
    for one in (anchor, known):
        vote(store, "ann1", one, Kind.YEAR)
        vote(store, "ann2", one, Kind.AGE)
    store.settlement.run(parse(""), UNANIMOUS, me)
    report = store.settlement.run(parse(""), UNANIMOUS, me)
    assert (report.taken_back, dict(report.skipped)) == (0, {"blocked by class": 2})
    assert (seen(anchor).gold, seen(anchor).state) == (None, AnchorState.DISAGREE)
    # What a file said of it before is there again.
    assert (seen(known).gold.answer.kind, seen(known).gold.rule) == (Kind.NFH, Rule.IMPORTED)
    store.edits.undo(me)
    assert (seen(anchor).gold.rule, seen(known).gold.rule) == (UNANIMOUS, UNANIMOUS)


def test_each_rule_leaves_what_the_other_made(store, me, voted, seen):
    all_agree, two = voted(Kind.AGE, Kind.AGE), voted(Kind.AGE, Kind.AGE, Kind.YEAR)
    store.settlement.run(parse(""), UNANIMOUS, me)
    report = store.settlement.run(parse(""), MAJORITY, me)
    assert (report.new, report.same) == (1, 1)
    assert seen(all_agree).gold.rule is UNANIMOUS
    again = store.settlement.run(parse(""), UNANIMOUS, me)
    assert (again.same, again.taken_back, again.act_id) == (2, 0, None)
    assert seen(two).gold.rule is MAJORITY


def test_votes_are_weighed_by_the_competences_that_are_stored(
    store, me, voted, seen, kit, path
):
    first, second = voted(Kind.AGE, Kind.AGE, Kind.YEAR), voted(kit.to(1), kit.to(1), kit.to(9))
    alike = voted(Kind.AGE, Kind.AGE)
    report = store.settlement.run(parse(""), Rule.WEIGHTED, me)
    assert (report.new, dict(report.skipped)) == (0, {"competence not known": 3})
    store.settlement.run(parse(""), MAJORITY, me)
    known = {"ann1": 0.3, "ann2": 0.4, "ann3": 0.95}
    weights = [CompetenceWeight(name, accuracy, 40) for name, accuracy in known.items()]
    store.competences.remember("test", weights)
    report = store.settlement.run(parse(""), Rule.WEIGHTED, me)
    # The same answer keeps its rule.
    assert (report.new, report.replaced, report.same) == (1, 1, 1)
    assert dict(report.strata) == {
        "AGE, 2-0": 1,
        "REFERENCE, 2-1, weighted": 1,
        "YEAR, 2-1, weighted": 1,
    }
    assert seen(first).gold.answer == class_answer(Kind.YEAR)
    assert [m.head for m in seen(second).gold.answer.heads[0].mentions] == [9]
    assert seen(alike).gold.rule is MAJORITY
    assert store.queue.count(parse("rule:weighted"), me) == 2
    # A majority takes its place again; where there is none, the weighted answer stays.
    report = store.settlement.run(parse(""), MAJORITY, me)
    assert (report.replaced, report.same) == (1, 2)
    assert (seen(first).gold.rule, seen(second).gold.rule) == (MAJORITY, Rule.WEIGHTED)
    assert examine(path).broken == 0


def test_what_is_not_unanimous_any_more_may_still_be_a_majority(store, me, voted, seen):
    anchor = voted(Kind.AGE, Kind.AGE)
    store.settlement.run(parse(""), UNANIMOUS, me)
    vote(store, "ann3", anchor, Kind.YEAR)
    assert store.settlement.run(parse(""), MAJORITY, me).replaced == 1
    assert seen(anchor).gold.rule is MAJORITY
    vote(store, "ann3", anchor, Kind.AGE)
    assert store.settlement.run(parse(""), UNANIMOUS, me).replaced == 1
    assert seen(anchor).gold.rule is UNANIMOUS


def test_gold_of_a_rule_from_a_file_gets_its_votes(store, me, voted, seen, kit):
    anchor = voted(Kind.AGE, Kind.AGE, gold=kit.gold(Kind.AGE, UNANIMOUS))
    assert seen(anchor).gold.votes == ()
    assert store.settlement.run(parse(""), UNANIMOUS, me).replaced == 1
    assert [name for name, _ in seen(anchor).gold.votes] == ["ann1", "ann2"]


def test_sort_and_noun_are_part_of_what_is_the_same(store, me, voted, seen):
    joke = class_answer(Kind.OTHER, Sort.NOUN, "joke")
    anchor = voted(joke, class_answer(Kind.OTHER))
    store.settlement.run(parse(""), UNANIMOUS, me)
    assert seen(anchor).gold.answer == joke
    assert store.settlement.run(parse(""), UNANIMOUS, me).same == 1


# --- somebody is faster ---------------------------------------------------------------------


def test_what_changes_meanwhile_is_left(store, me, voted, seen, monkeypatch):
    anchors = [voted(Kind.AGE, Kind.AGE) for _ in range(5)]
    decided, revoted, respanned, twice, quiet = anchors

    def others() -> None:
        decide(store, "eva", decided, Kind.YEAR)
        vote(store, "ann1", revoted, Kind.AGE)
        store.edits.replace_anchor(
            respanned,
            store.people.ensure("eva"),
            Role.ADJUDICATOR,
            Anchor(ONE, ONE + 2),
            store.edits.stale_labels(respanned, store.people.ensure("eva")),
        )
        decide(store, "eva", twice, Kind.YEAR)
        store.edits.undo(store.people.ensure("eva"))

    _before_it_shows(monkeypatch, others)
    report = store.settlement.run(parse(""), UNANIMOUS, me)
    assert (report.new, report.changed, dict(report.classes)) == (2, 3, {"AGE": 2})
    assert dict(report.patterns) == {"2-0": 2}
    assert seen(decided).gold.answer.kind is Kind.YEAR
    assert seen(revoted).gold is None
    assert seen(quiet).gold.rule is UNANIMOUS
    # Decided and undone: it is as the run read it, and the log has it in that order.
    assert [line.kind for line in store.history.of_anchor(twice) if line.entity == "gold"] == [
        "do",
        "undo",
        "settle",
    ]
    assert [
        line.kind for line in store.history.of_anchor(decided) if line.entity == "gold"
    ] == ["do"]


def _before_it_shows(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Let somebody act between what a run read and what it writes."""
    from nfh_db import bulk_run

    show = bulk_run.BulkAct.show

    def later(self, *arguments, **named):
        act()
        return show(self, *arguments, **named)

    monkeypatch.setattr(bulk_run.BulkAct, "show", later)


def test_nobody_sees_it_before_it_shows(path, store, me, voted, monkeypatch, kit):
    anchor = voted(Kind.AGE, Kind.AGE)
    vote(store, "settler", anchor, Kind.AGE)
    found: list[object] = []

    def look() -> None:
        with Store.open(path) as other:
            found.append(other.items.read(anchor, me, Role.ADJUDICATOR).gold)
            found.extend(
                line.kind for line in other.history.of_anchor(anchor) if line.entity == "gold"
            )
            with pytest.raises(StoreError, match="A settlement is being written by settler"):
                other.settlement.run(parse(""), UNANIMOUS, me)
            with pytest.raises(StoreError, match=r"A settlement .* then import new\.jsonl"):
                kit.load(other, kit.one("one", 0), name="new.jsonl")
            # An own act, not the settlement that nobody sees.
            assert other.edits.undo(me).summary == "answer AGE"
            assert other.edits.redo(me).summary == "answer AGE"

    _before_it_shows(monkeypatch, look)
    assert store.settlement.run(parse(""), UNANIMOUS, me).new == 1
    assert found == [None]


def test_not_beside_an_import(path, store, me, voted, kit):
    voted(Kind.AGE, Kind.AGE)

    def rows():
        with (
            Store.open(path) as other,
            pytest.raises(StoreError, match=r"some\.jsonl is being imported .* settle"),
        ):
            other.settlement.run(parse(""), UNANIMOUS, me)
        yield kit.one("one", 0)

    store.imports.load(kit.file(), rows())


def test_one_that_fails_leaves_nothing(store, me, voted):
    voted(Kind.AGE, Kind.AGE)
    before = tables(store)

    def stop(phase: str, done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.settlement.run(parse(""), UNANIMOUS, me, progress=stop)
    assert tables(store) == before
    assert store.settlement.run(parse(""), UNANIMOUS, me).new == 1


def test_progress_is_told(store, me, kit):
    votes = [kit.vote(name, Kind.AGE) for name in ("ann1", "ann2")]
    kit.load(store, *(kit.one(f"one {i}", 0, line=i, votes=votes) for i in range(2500)))
    told: list[tuple[str, int]] = []
    report = store.settlement.run(
        parse(""), UNANIMOUS, me, progress=lambda *one: told.append(one)
    )
    assert report.new == 2500
    assert [done for phase, done in told if phase == "looked at"] == [1000, 2000, 2500]
    written = [done for phase, done in told if phase == "written"]
    assert (written[-1], written == sorted(written)) == (2500, True)
