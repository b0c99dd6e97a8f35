"""`settled_on` in `gold` lines: of what answers a rule made the gold, there and back."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.errors import FormatError
from nfh_db.formats.files import Source
from nfh_db.formats.gold import GoldWriter, seal
from nfh_db.formats.registry import GOLD
from nfh_db.formats.rows import GoldRow
from nfh_db.query import parse
from nfh_db.records import ExportRecord, Gold, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    anchor_id,
    class_answer,
    reference_answer,
)
from nfh_tui.services.imports import ImportOptions, export_file, import_file

AT, LATER = "2025-01-31T12:00:00.000Z", "2025-02-01T12:00:00.000Z"
PASSAGE = Passage("two", (Token(0, 3, "two"),), (Turn(0, None, 0, 1),))
SETTLED = Gold(
    class_answer(Kind.AGE), Rule.UNANIMOUS, None, LATER, (("Eva Ö.", AT), ("ann", AT))
)

Values = dict[str, object]
Rows = Callable[[str, str | bytes], list[GoldRow]]


def line(gold: Gold | None) -> str:
    anchor = Anchor(0, 1)
    public_id = anchor_id(PASSAGE.digest, anchor)
    return GoldWriter().line(ExportRecord(public_id, PASSAGE, anchor, None, gold, (), ()))


@pytest.fixture
def values() -> Values:
    """The keys of a settled line but its digest, free to be changed and sealed again."""
    found: Values = json.loads(line(SETTLED))
    del found["digest"]
    return found


def test_it_stands_behind_the_time_and_in_order_of_names(values: Values) -> None:
    keys = list(values)
    assert keys[keys.index("decided_at") + 1] == "settled_on"
    assert values["settled_on"] == [["Eva Ö.", AT], ["ann", AT]]
    backwards = Gold(SETTLED.answer, SETTLED.rule, None, LATER, SETTLED.votes[::-1])
    assert line(backwards) == line(SETTLED)


@pytest.mark.parametrize("rule", [Rule.IMPORTED, Rule.EXPERT])
def test_only_rules_that_make_gold_of_votes_have_it(rule: Rule) -> None:
    gold = Gold(SETTLED.answer, rule, None, LATER, SETTLED.votes)
    assert "settled_on" not in line(gold)
    assert "settled_on" not in line(None)
    # As files of before have it: not known, and so not said.
    assert "settled_on" not in line(Gold(SETTLED.answer, Rule.MAJORITY, None, LATER))


def test_what_is_written_is_read(rows: Rows, values: Values) -> None:
    assert rows("gold", line(SETTLED))[0].gold == SETTLED
    del values["settled_on"]
    assert rows("gold", seal(values))[0].gold.votes == ()


PAIRS = "wanted pairs of a name and a time"
WRONG = [
    ({"settled_on": None}, 'key "settled_on": found null, wanted a list'),
    ({"settled_on": []}, "wanted each name once, in order, and at least one"),
    ({"settled_on": [["b", AT], ["a", AT]]}, "wanted each name once, in order"),
    ({"settled_on": [["a", AT], ["a", LATER]]}, "wanted each name once, in order"),
    ({"settled_on": [["a"]]}, f'key "settled_on": found ["a"], {PAIRS}'),
    ({"settled_on": [{"a": AT}]}, f"found an object, {PAIRS}"),
    ({"settled_on": [["a\x1b", AT]]}, 'key "settled_on[0].annotator": found "a␛", wanted a'),
    ({"settled_on": [["a", "then"]]}, 'key "settled_on[0].at": found "then", wanted a UTC'),
    ({"settled_on": [[1, AT]]}, 'key "settled_on[0].annotator": found 1, wanted a string'),
    ({"rule": "expert"}, "wanted no such key, since the rule is not unanimous or majority"),
    ({"rule": "imported"}, "wanted no such key, since the rule is not"),
    (
        {"kind": None, "rule": None, "decided_at": None, "head": []},
        "wanted no such key, since the kind is null",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_contradicts_itself_is_refused(
    values: Values, rows: Rows, change: Values, message: str
) -> None:
    with pytest.raises(FormatError) as caught:
        rows("gold", seal(values | change))
    assert message in str(caught.value)


def test_the_digest_covers_it(rows: Rows) -> None:
    with pytest.raises(FormatError, match="was changed after it was written"):
        rows("gold", line(SETTLED).replace(f'["ann","{AT}"]', f'["bob","{AT}"]'))


# --- out, in and out again ------------------------------------------------------------------

TEXT = "tea , coffee ? One will do ."
answers = st.sampled_from(
    [
        class_answer(Kind.AGE),
        class_answer(Kind.OTHER, noun="cup"),
        class_answer(Kind.UNKNOWN),
        reference_answer([[Mention(0, 1, 0)]]),
        reference_answer([[Mention(0, 1, 0), Mention(2, 3, 2)]]),
    ]
)
ballots = st.lists(
    st.dictionaries(st.sampled_from(["ann", "Bo Ö.", "cy 🎈"]), answers), min_size=1, max_size=4
)


def export(store: Store, out: Path) -> bytes:
    export_file(store, parse(""), GOLD, out)
    return out.read_bytes()


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ballots, st.lists(st.sampled_from([Rule.UNANIMOUS, Rule.MAJORITY]), max_size=2))
def test_settled_gold_leaves_comes_back_and_leaves_alike(said, rules) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "talk.txt"
        texts = [f"Ann: {TEXT} {'!' * place}" for place in range(len(said))]
        source.write_text("\n\n".join(texts), encoding="utf-8")
        with Store.open(folder / "one.db", create=True) as store:
            import_file(store, Source(source), _dialog(), ImportOptions())
            ids = next(store.queue.ids(parse(""), store.people.ensure("me")))
            for anchor, given_ in zip(ids, said, strict=True):
                for who, answer in given_.items():
                    store.edits.commit_answer(
                        anchor, store.people.ensure(who), Role.ANNOTATOR, answer
                    )
            settled = [
                store.settlement.run(parse(""), rule, store.people.ensure("me"))
                for rule in rules
            ]
            # Made of an answer that is not there any more: still what it was made of.
            for who in said[0]:
                store.edits.withdraw(ids[0], store.people.ensure(who), Role.ANNOTATOR)
                break
            first = export(store, folder / "one.jsonl")
        with Store.open(folder / "two.db", create=True) as store:
            import_file(store, Source(folder / "one.jsonl"), GOLD, ImportOptions())
            assert export(store, folder / "two.jsonl") == first
        lines = [json.loads(one) for one in first.decode().splitlines()]
        made = sum("settled_on" in one for one in lines)
        assert made == sum(report.new for report in settled)


def _dialog():
    from nfh_db.formats.registry import by_name

    return by_name("dialog")
