"""An annotator's span is a proposal; only an adjudicator replaces, told what becomes stale."""

from contextlib import closing
from pathlib import Path

import pytest

from nfh_db.connection import connect
from nfh_db.errors import ChangedSinceError, StaleLabelsError, StoreError
from nfh_db.event_log import present_state, replay
from nfh_db.query import parse
from nfh_db.records import AnchorState, FlagMark, FlagName, Role, Rule, StaleLabels
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, PassageError, class_answer

WORDS = "he is six foot two tall"
SIX, WHOLE = Anchor(2, 3), Anchor(2, 5)


@pytest.fixture
def decided(store: Store, kit) -> Store:
    """A number that ann1 and ann2 answered and eva decided."""
    kit.load(store, kit.one(WORDS, 2))
    for name in ("ann1", "ann2"):
        store.edits.commit_answer(
            1, store.people.ensure(name), Role.ANNOTATOR, class_answer(Kind.AGE)
        )
    store.edits.commit_answer(
        1, store.people.ensure("eva"), Role.ADJUDICATOR, class_answer(Kind.OTHER)
    )
    return store


def flags(store: Store, who: str = "eva", role: Role = Role.ADJUDICATOR) -> list:
    """Who set which flag with which span, as the screen is given it."""
    me = store.people.ensure(who)
    item = (
        store.items.read_for_annotator(1, me)
        if role is Role.ANNOTATOR
        else store.items.read(1, me, role)
    )
    return [(flag.annotator, flag.name.value, flag.span) for flag in item.flags]


def golds(store: Store) -> list:
    """Spans of the gold that an export writes."""
    rows = store.items.records(parse("state:decided"), None, "gold")
    return [(row.anchor.start, row.anchor.end) for row in rows]


def check_log(path: Path) -> None:
    """The log replays to what is there."""
    with closing(connect(path, "ro")) as reader:
        replayed = replay(reader)
        assert replayed.broken == []
        assert replayed.state == present_state(reader)


def test_a_proposal_changes_neither_span_nor_gold_nor_state(decided: Store) -> None:
    ann = decided.people.ensure("ann1")
    saved = decided.edits.propose_span(1, ann, WHOLE)
    assert (saved.anchor_id, saved.state) == (1, AnchorState.DECIDED)
    assert golds(decided) == [(2, 3)]
    assert flags(decided) == [("ann1", "anchor", WHOLE)]
    assert list(next(decided.queue.ids(parse("flag:anchor"), ann))) == [1]
    assert decided.queue.count(parse("state:stale"), ann) == 0
    assert decided.items.count_stale_gold() == 0


def test_an_annotator_sees_only_the_own_proposal(decided: Store) -> None:
    decided.edits.propose_span(1, decided.people.ensure("ann1"), WHOLE)
    assert flags(decided, "ann2", Role.ANNOTATOR) == []
    assert flags(decided, "ann1", Role.ANNOTATOR) == [("ann1", "anchor", WHOLE)]


def test_the_store_refuses_an_annotators_replacement(decided: Store) -> None:
    ann = decided.people.ensure("ann1")
    agreed = decided.edits.stale_labels(1, ann)
    with pytest.raises(StoreError, match="An annotator can only propose a span"):
        decided.edits.replace_anchor(1, ann, Role.ANNOTATOR, WHOLE, agreed)
    assert golds(decided) == [(2, 3)]


def test_a_replacement_names_what_becomes_stale_first(decided: Store) -> None:
    eva = decided.people.ensure("eva")
    with pytest.raises(StaleLabelsError) as caught:
        decided.edits.replace_anchor(1, eva, Role.ADJUDICATOR, WHOLE)
    labels = caught.value.labels
    assert labels == StaleLabels(Rule.EXPERT, "eva", ("ann1", "ann2"))
    assert str(labels) == "Gold by eva and the answers of ann1, ann2 become stale"
    assert golds(decided) == [(2, 3)]
    saved = decided.edits.replace_anchor(1, eva, Role.ADJUDICATOR, WHOLE, labels)
    assert (saved.anchor_id, saved.state) == (2, AnchorState.STALE)


def test_what_came_since_the_question_is_asked_about_again(decided: Store) -> None:
    eva = decided.people.ensure("eva")
    agreed = decided.edits.stale_labels(1, eva)
    decided.edits.commit_answer(
        1, decided.people.ensure("zoe"), Role.ANNOTATOR, class_answer(Kind.AGE)
    )
    with pytest.raises(StaleLabelsError, match="ann1, ann2, zoe"):
        decided.edits.replace_anchor(1, eva, Role.ADJUDICATOR, WHOLE, agreed)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (StaleLabels(Rule.IMPORTED), "Gold becomes stale"),
        (StaleLabels(annotators=("ann1",)), "The answer of ann1 becomes stale"),
        (StaleLabels(annotators=("a", "b")), "The answers of a, b become stale"),
    ],
)
def test_labels_in_words(labels: StaleLabels, words: str) -> None:
    assert str(labels) == words


def test_labels_in_fewer_words_and_without_names() -> None:
    labels = StaleLabels(Rule.EXPERT, "eva", ("a", "b", "c"))
    assert labels.said(1) == "Gold by eva and the answers of a and 2 more become stale"
    assert labels.said(0) == "Gold by eva and 3 answers become stale"
    assert labels.said(3, named=False) == "Gold and 3 answers become stale"


def test_ones_own_answer_alone_asks_for_nothing(store: Store, kit) -> None:
    kit.load(store, kit.one(WORDS, 2))
    eva = store.people.ensure("eva")
    store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    assert not store.edits.stale_labels(1, eva)
    assert store.edits.replace_anchor(1, eva, Role.ADJUDICATOR, WHOLE).anchor_id == 2


def test_the_numbers_own_span_takes_the_proposal_back(decided: Store) -> None:
    ann = decided.people.ensure("ann1")
    decided.edits.propose_span(1, ann, WHOLE)
    decided.edits.propose_span(1, ann, SIX)
    assert flags(decided) == []
    assert decided.edits.propose_span(1, ann, None).act_id == 0


def test_a_bare_flag_becomes_a_proposal_and_again_by_undo(decided: Store) -> None:
    ann = decided.people.ensure("ann1")
    decided.edits.set_flag(1, ann, FlagName.ANCHOR, True)
    decided.edits.propose_span(1, ann, WHOLE)
    assert flags(decided) == [("ann1", "anchor", WHOLE)]
    decided.edits.undo(ann)
    assert flags(decided) == [("ann1", "anchor", None)]


def test_undo_and_redo_after_a_restart(decided: Store, path: Path) -> None:
    ann = decided.people.ensure("ann1")
    decided.edits.propose_span(1, ann, Anchor(2, 4))
    decided.edits.propose_span(1, ann, WHOLE)
    decided.close()
    with Store.open(path) as store:
        assert store.edits.undo(ann).summary == "span “six foot two” proposed for “six”"
        assert flags(store) == [("ann1", "anchor", Anchor(2, 4))]
    with Store.open(path) as store:
        store.edits.undo(ann)
        assert flags(store) == []
        store.edits.redo(ann)
        store.edits.redo(ann)
        assert flags(store) == [("ann1", "anchor", WHOLE)]
    check_log(path)


def test_what_cannot_be_proposed(decided: Store, kit) -> None:
    ann = decided.people.ensure("ann1")
    kit.load(decided, kit.one(WORDS, 4))
    with pytest.raises(StoreError, match="“two” is item 2 already"):
        decided.edits.propose_span(1, ann, Anchor(4, 5))
    with pytest.raises(PassageError, match="outside a passage of 6 tokens"):
        decided.edits.propose_span(1, ann, Anchor(2, 7))
    assert flags(decided) == []


def test_the_table_takes_a_span_of_the_flag_anchor_only(decided: Store, path: Path) -> None:
    decided.edits.set_flag(1, decided.people.ensure("ann1"), FlagName.SKIP, True)
    with closing(connect(path, "rw")) as writer, pytest.raises(Exception, match="CHECK"):
        writer.execute("UPDATE flag SET start = 1, stop = 2")
    with closing(connect(path, "rw")) as writer, pytest.raises(Exception, match="CHECK"):
        writer.execute("UPDATE flag SET name = 'anchor', start = 1")


def test_gold_is_counted_as_stale_until_it_is_decided_anew(decided: Store) -> None:
    eva = decided.people.ensure("eva")
    second = decided.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, WHOLE, decided.edits.stale_labels(1, eva)
    ).anchor_id
    assert decided.items.count_stale_gold() == 1
    third = decided.edits.replace_anchor(second, eva, Role.ADJUDICATOR, Anchor(2, 4)).anchor_id
    assert decided.items.count_stale_gold() == 1
    decided.edits.commit_answer(third, eva, Role.ADJUDICATOR, class_answer(Kind.AGE))
    assert decided.items.count_stale_gold() == 0
    for _ in range(3):
        decided.edits.undo(eva)
    assert (decided.items.count_stale_gold(), golds(decided)) == (0, [(2, 3)])


def test_a_proposal_comes_with_a_file_and_replays(store: Store, path: Path, kit) -> None:
    mark = FlagMark(FlagName.ANCHOR, "ann1", kit.at, WHOLE)
    kit.load(store, kit.one(WORDS, 2))
    kit.load(store, kit.one(WORDS, 2, flags=[mark]))
    kit.load(store, kit.one(f"{WORDS} .", 2, flags=[mark]))
    assert flags(store) == [("ann1", "anchor", WHOLE)]
    record = list(store.items.records(parse(""), None, "gold"))[1]
    assert record.flags == (mark,)
    check_log(path)


@pytest.mark.parametrize(
    ("name", "span", "words"),
    [
        (FlagName.ANCHOR, Anchor(2, 9), "outside a passage of 6 tokens"),
        (FlagName.ANCHOR, SIX, "the one that the number has"),
        (FlagName.SKIP, WHOLE, "a flag “skip” proposes no span"),
    ],
)
def test_a_file_with_a_span_that_cannot_be(store: Store, kit, name, span, words) -> None:
    with pytest.raises(Exception, match=words):
        kit.load(store, kit.one(WORDS, 2, flags=[FlagMark(name, "ann1", kit.at, span)]))
    assert store.queue.count(parse(""), store.people.ensure("eva")) == 0


def test_a_log_of_an_older_program_replays(decided: Store, path: Path) -> None:
    decided.edits.set_flag(1, decided.people.ensure("ann1"), FlagName.ANCHOR, True)
    with closing(connect(path, "ro")) as reader:
        (text,) = reader.execute("SELECT after FROM event WHERE entity = 'flag'").fetchone()
    assert "span" not in text
    check_log(path)


def test_a_replacement_is_not_done_again_over_what_was_decided_since(
    store: Store, kit, path: Path
) -> None:
    kit.load(store, kit.one(WORDS, 2))
    eva = store.people.ensure("eva")
    store.edits.replace_anchor(1, eva, Role.ADJUDICATOR, WHOLE)
    store.edits.undo(eva)
    kim = store.people.ensure("kim")
    store.edits.commit_answer(1, kim, Role.ADJUDICATOR, class_answer(Kind.AGE))
    with pytest.raises(ChangedSinceError, match="cannot be redone: item 1 was answered"):
        store.edits.redo(eva)
    assert golds(store) == [(2, 3)]
    store.edits.undo(kim)
    assert store.edits.redo(eva) is not None
    assert golds(store) == []
    check_log(path)
