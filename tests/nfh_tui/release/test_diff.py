"""`nfh-tui diff`: every way in which a number changes, by its name, and nothing else."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from nfh_db.formats.gold import GoldWriter
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    class_answer,
)
from tests.nfh_db.formats.hostile import AT, LATER, passage, record
from tests.nfh_tui.release.conftest import Line, ids

LINES = [("Ann", "The boots and the boot and a coat."), ("Ben", "Take two, or three.")]
PASSAGE = passage(LINES)
BOOTS, BOOT, COAT = 1, 4, 7
TWO = (10, 11)


def head(*tokens: int, origin: Origin = Origin.MARKED) -> Head:
    """A head at these tokens, the first of them marked."""
    return Head(
        tuple(
            Mention(token, token + 1, token, origin if place else Origin.MARKED)
            for place, token in enumerate(tokens)
        )
    )


BOTH = Answer(Kind.REFERENCE, (head(BOOTS), head(COAT)), Relation.AND)
VOTE = Vote("ann", Role.ANNOTATOR, BOTH, AT, 2.0)
FLAG = FlagMark(FlagName.AMBIGUOUS, "ann", AT)
PROPOSAL = FlagMark(FlagName.ANCHOR, "ann", AT, Anchor(0, 1))
BASE = record(
    PASSAGE,
    TWO,
    Gold(BOTH, Rule.MAJORITY, None, AT, (("ann", AT),)),
    [VOTE],
    [FLAG],
    "dev",
)


def said(answer: Answer) -> ExportRecord:
    """The base with another gold answer."""
    assert BASE.gold is not None
    return replace(BASE, gold=replace(BASE.gold, answer=answer))


def code(**changes: Any) -> ExportRecord:
    """The base with an answer OTHER."""
    return said(class_answer(Kind.OTHER, **changes))


GOLD = BASE.gold
assert GOLD is not None
CASES = {
    "kind": (BASE, said(class_answer(Kind.AGE))),
    "heads": (BASE, said(replace(BOTH, heads=(head(BOOTS),), relation=None))),
    "heads, other": (BASE, said(replace(BOTH, heads=(head(BOOTS), head(13))))),
    "relation": (BASE, said(replace(BOTH, relation=Relation.OR))),
    "relation, stated": (BASE, said(replace(BOTH, relation=Relation.UNSTATED))),
    # One noun, marked where it stands a second time: the lemma is the same.
    "mentions": (BASE, said(replace(BOTH, heads=(head(BOOT), head(COAT))))),
    "mentions, added": (
        BASE,
        said(replace(BOTH, heads=(head(BOOTS, BOOT, origin=Origin.ADDED), head(COAT)))),
    ),
    "sort": (code(), code(sort=Sort.CODE)),
    "noun": (code(noun="pair"), code(noun="pairs")),
    "rule": (BASE, replace(BASE, gold=replace(GOLD, rule=Rule.UNANIMOUS))),
    "split": (BASE, replace(BASE, split=None)),
    "votes": (BASE, replace(BASE, votes=())),
    "votes, other": (
        BASE,
        replace(BASE, votes=(replace(VOTE, answer=class_answer(Kind.AGE)),)),
    ),
    "votes, new": (BASE, replace(BASE, votes=(VOTE, replace(VOTE, annotator="ben")))),
    "flags": (BASE, replace(BASE, flags=())),
    "flags, proposal": (
        replace(BASE, flags=(PROPOSAL,)),
        replace(BASE, flags=(replace(PROPOSAL, span=Anchor(9, 11)),)),
    ),
    "comment": (BASE, said(replace(BOTH, comment="hm"))),
    "details": (BASE, replace(BASE, votes=(replace(VOTE, seconds=3.0),))),
    "details, when": (BASE, replace(BASE, gold=replace(GOLD, decided_at=LATER))),
    "details, flag": (BASE, replace(BASE, flags=(replace(FLAG, flagged_at=LATER),))),
    "details, said": (BASE, replace(BASE, passage=passage(LINES, times=True))),
    "decided": (replace(BASE, gold=None), BASE),
    "undecided": (BASE, replace(BASE, gold=None)),
}


def written(path: Path, *records: ExportRecord) -> Path:
    """A `gold` file."""
    path.write_text("".join(map(GoldWriter().line, records)), "utf-8")
    return path


def counts(found: Line) -> dict[str, int]:
    """The changes that there are."""
    return {name: count for name, count in found["changes"].items() if count}


@pytest.mark.parametrize("name", CASES)
def test_each_change_has_its_name(home: Path, compared: Callable[..., Line], name: str) -> None:
    before, after = CASES[name]
    found = compared(written(home / "a.jsonl", before), written(home / "b.jsonl", after))
    assert counts(found) == {name.partition(",")[0]: 1}
    assert (found["same"], found["changed"]) == (0, 1)
    (item,) = found["items"]
    assert item["id"] == BASE.public_id
    assert item["b"]["text"][1] == "two"


@pytest.mark.parametrize("name", CASES)
def test_words_tell_each_change(home: Path, call: Callable[..., Result], name: str) -> None:
    before, after = CASES[name]
    sides = written(home / "a.jsonl", before), written(home / "b.jsonl", after)
    text = call("diff", *sides).stdout
    assert "[two]" in text
    wanted = {
        "kind": "REFERENCE boots and coat to AGE",
        "heads": "REFERENCE boots and coat to REFERENCE boots",
        "relation": "REFERENCE boots and coat to REFERENCE boots or coat",
        "mentions": "boots@1 and coat@7 to REFERENCE boot@4 and coat@7",
        "sort": "OTHER to OTHER CODE",
        "noun": 'OTHER "pair" to OTHER "pairs"',
        "rule": "majority to unanimous",
        "split": "split dev to none",
        "votes": "votes: ann REFERENCE boots and coat to nothing",
        "flags": "flags: ambiguous of ann cleared",
        "flags, proposal": "flags: anchor set by ann, proposing tokens 9 to 10, anchor of ann, "
        "which proposed tokens 0, cleared",
        "comment": 'comment "" to "hm"',
        "details": "how long they took",
        "details, when": "when it was decided",
        "details, said": "when it was said",
        "decided": "nothing to REFERENCE boots and coat",
    }
    assert wanted.get(name, "") in " ".join(text.split())


def test_numbers_come_and_go(home: Path, compared: Callable[..., Line]) -> None:
    other = record(PASSAGE, (13, 14), Gold(class_answer(Kind.AGE), Rule.IMPORTED))
    one, two = written(home / "a.jsonl", BASE), written(home / "b.jsonl", other)
    assert counts(compared(one, two)) == {"added": 1, "removed": 1}
    both = written(home / "c.jsonl", BASE, other)
    assert counts(compared(one, both)) == {"added": 1}
    assert counts(compared(both, one)) == {"removed": 1}
    assert compared(both, both)["same"] == 2


def test_an_undecided_number_neither_comes_nor_goes(
    home: Path, compared: Callable[..., Line]
) -> None:
    other = record(PASSAGE, (13, 14))
    one, both = written(home / "a.jsonl", BASE), written(home / "b.jsonl", BASE, other)
    found = compared(one, both)
    assert counts(found) == {}
    assert found["b"]["undecided_only_here"] == 1
    assert compared(both, one)["a"]["undecided_only_here"] == 1


def test_a_corrected_span_is_one_change(home: Path, compared: Callable[..., Line]) -> None:
    longer = replace(BASE, anchor=Anchor(9, 11), public_id=record(PASSAGE, (9, 11)).public_id)
    found = compared(written(home / "a.jsonl", BASE), written(home / "b.jsonl", longer))
    assert counts(found) == {"span": 1}
    (item,) = found["items"]
    assert (item["a"]["text"][1], item["b"]["text"][1]) == ("two", "Take two")


def test_a_release_and_its_database(
    sample: Path, frozen: Callable[..., Path], compared: Callable[..., Line]
) -> None:
    folder = frozen("one", sample)
    found = compared(folder, sample)
    assert (found["same"], found["changed"], counts(found)) == (124, 0, {})
    assert found["b"]["undecided_only_here"] == 50
    assert compared(folder / "unsplit.gold.jsonl", sample)["same"] == 124


def test_two_copies_of_a_database_and_what_was_done_in_one(
    sample: Path, compared: Callable[..., Line], call: Callable[..., Result], home: Path
) -> None:
    copy = home / "copy.db"
    shutil.copyfile(sample, copy)
    assert counts(compared(sample, copy)) == {}
    with Store.open(copy) as store:
        eva = store.people.ensure("eva")
        undecided, ages = ids(store, "state:disagree", eva), ids(store, "class:AGE", eva)
        store.edits.commit_answer(undecided[0], eva, Role.ADJUDICATOR, class_answer(Kind.TIME))
        store.edits.commit_answer(ages[0], eva, Role.ADJUDICATOR, class_answer(Kind.YEAR))
        store.edits.commit_answer(ages[1], eva, Role.ANNOTATOR, class_answer(Kind.YEAR))
    found = compared(sample, copy)
    assert {"decided": 1, "kind": 1, "votes": 1}.items() <= counts(found).items()
    assert found["kinds"] == [{"from": "AGE", "to": "YEAR", "items": 1}]
    by_id = {item["b"]["anchor"]: item for item in found["items"]}
    assert set(by_id) == {undecided[0], *ages[:2]}
    assert by_id[ages[0]]["changes"][0] == "kind"
    text = call("diff", sample, copy).stdout
    assert f"corpus.jsonl id:{ages[0]}" in text


def test_hostile_text_is_shown_and_not_obeyed(
    hostile: Path, frozen: Callable[..., Path], call: Callable[..., Result], home: Path
) -> None:
    folder = frozen("one", hostile)
    text = call("diff", folder, written(home / "a.jsonl", BASE), "--most", "0").stdout
    assert "removed" in text
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 for c in text)
    json.loads(call("diff", folder, home / "a.jsonl", "--json").stdout)


def test_what_is_shown_is_bounded(home: Path, call: Callable[..., Result]) -> None:
    many = [
        record(passage([("Ann", f"Row {row} has two.")]), (3, 4), GOLD_AGE) for row in range(30)
    ]
    one, two = written(home / "a.jsonl", BASE), written(home / "b.jsonl", BASE, *many)
    assert call("diff", one, two).stdout.count("[two]") == 10
    assert "and 20 more; --most 0 shows all" in call("diff", one, two).stdout
    assert call("diff", one, two, "--most", "0").stdout.count("[two]") == 30


GOLD_AGE = Gold(class_answer(Kind.AGE), Rule.IMPORTED)


def test_a_vote_that_reads_the_same_is_told_by_what_differs(
    home: Path, call: Callable[..., Result]
) -> None:
    for answer, wanted in (
        (replace(BOTH, comment="hm"), 'votes: ann comment "" to "hm"'),
        (replace(BOTH, heads=(head(BOOTS, BOOT), head(COAT))), "boots@1/boot@4 and coat@7"),
    ):
        other = replace(BASE, votes=(replace(VOTE, answer=answer),))
        sides = written(home / "a.jsonl", BASE), written(home / "b.jsonl", other)
        assert wanted in " ".join(call("diff", *sides).stdout.split())


def recut(answer: Answer | None) -> ExportRecord:
    """The base in a passage of the same text, with one token more before the number."""
    cut = passage(LINES, words=re.compile(r"T(?=he)|he\b|\w+|[^\w\s]"))
    gold = None if answer is None else replace(GOLD, answer=answer)
    return record(cut, (TWO[0] + 1, TWO[1] + 1), gold, [], [], "dev")


RECUT = Answer(Kind.REFERENCE, (head(BOOTS + 1), head(COAT + 1)), Relation.AND)


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (RECUT, {"passage": 1}),
        (replace(RECUT, heads=(head(BOOTS + 1),), relation=None), {"passage": 1, "heads": 1}),
        (class_answer(Kind.AGE), {"passage": 1, "kind": 1}),
        (None, {"passage": 1, "undecided": 1}),
    ],
)
def test_other_tokens_of_the_same_text_are_one_change(
    home: Path,
    call: Callable[..., Result],
    compared: Callable[..., Line],
    answer: Answer | None,
    wanted: dict[str, int],
) -> None:
    sides = written(home / "a.jsonl", BASE), written(home / "b.jsonl", recut(answer))
    found = compared(*sides)
    assert counts(found) == wanted
    assert (found["same"], found["changed"]) == (0, 1)
    assert "other tokens or turns" in call("diff", *sides).stdout
