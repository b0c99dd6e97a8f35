"""Each key against anchors whose answer is known; see conftest.py for the rows."""

from collections.abc import Callable

import pytest

from nfh_db.connection import Connection
from nfh_db.query import KEYS, parse, quote_name
from nfh_db.queue import queue_ids

Found = Callable[[str], list[int]]

CASES = {
    "": [14, 1, 2, 3, 4, 5, 6, 12, 7, 13, 11],
    # state
    "state:open": [3],
    "state:answered": [5],
    "state:disagree": [4, 13],
    "state:decided": [14, 1, 2, 6, 12, 11],
    "state:stale": [7],
    "state:skipped": [3],
    "state:open,stale": [3, 7],
    "state:skipped,stale": [3, 7],
    "STATE:Open": [3],
    "state=open": [3],
    "state!=decided": [3, 4, 5, 7, 13],
    "-state:decided": [3, 4, 5, 7, 13],
    "-state:skipped": [14, 1, 2, 4, 5, 6, 12, 7, 13, 11],
    # class
    "class:AGE": [1],
    "class:age,other": [14, 1],
    "class:none": [3, 4, 5, 7, 13],
    "class:none,AGE": [1, 3, 4, 5, 7, 13],
    "class:reference": [2, 12],
    "class:not_nfh": [11],
    "class:broken": [],
    "-class:AGE": [14, 2, 3, 4, 5, 6, 12, 7, 13, 11],
    "class!=REFERENCE,AGE": [14, 3, 4, 5, 6, 7, 13, 11],
    "-class!=AGE": [1],
    "-class:none": [14, 1, 2, 6, 12, 11],
    # split: a row of an import under way does not count yet
    "split:dev": [1, 2],
    "split:train": [2],
    "split:dev,test": [1, 2, 4],
    "split:DEV": [],
    "-split:dev": [14, 3, 4, 5, 6, 12, 7, 13, 11],
    # anchor
    "anchor:one": [1],
    'anchor:"forty two"': [2],
    "anchor:two": [],
    "anchor:ONE,six": [1, 3],
    "-anchor:one,six,seven,ten,nine,eleven,chaud,have,5": [2, 5],
    # flag: anybody's, but neither a removed one nor one that is being imported
    "flag:guideline": [5],
    "flag:anchor": [5],
    "flag:ambiguous": [],
    "flag:skip": [3, 6, 7],
    "flag:skip,guideline": [3, 5, 6, 7],
    "-flag:skip": [14, 1, 2, 4, 5, 12, 13, 11],
    # numbers
    "heads>1": [2],
    "heads>=1": [2, 12],
    "heads:1": [12],
    "heads=1,2": [2, 12],
    "heads!=0": [2, 12],
    "heads<1": [14, 1, 3, 4, 5, 6, 7, 13, 11],
    "-heads<1": [2, 12],
    "votes:3": [4, 13],
    "votes<=2 votes>0": [5],
    "votes>999999999": [],
    # disagree
    "disagree:noun": [4],
    "disagree:partial": [4],
    "disagree:class,noun": [4, 13],
    "disagree:extent": [4],
    "disagree:text": [5],
    "disagree:any": [4, 13],
    "disagree:any,text": [4, 5, 13],
    "-disagree:any": [14, 1, 2, 3, 5, 6, 12, 7, 11],
    "state:disagree disagree:noun": [4],
    # pattern
    "pattern:2-1": [4],
    "pattern:1-2": [4],
    "pattern:2–1,1-1-1": [4, 13],
    "pattern:2-0": [5],
    # by: either role; a removed answer or one being imported does not count
    "by:ann2": [4, 5, 13],
    "by:Zoë": [4],
    "by:nobody": [],
    "by:me,zoe": [4],
    "-by:ann2": [14, 1, 2, 3, 6, 12, 7, 11],
    # id: what nobody sees is not found by its number either
    "id:4": [4],
    "id:13,2,014": [14, 2, 13],
    "id=1,999999999,0": [1],
    "id!=13": [14, 1, 2, 3, 4, 5, 6, 12, 7, 11],
    "-id:14,1,2,3,4,5,6": [12, 7, 13, 11],
    "id:8,9,10": [],
    "id:4,5 state:answered": [5],
    # model: gold of 11 is no NFH, 5 has none, 3 was predicted by an older model
    "model=gold": [1, 2, 6],
    "model:gold": [1, 2, 6],
    "model!=gold": [14, 12],
    "-model=gold": [14, 3, 4, 5, 12, 7, 13, 11],
    "-model!=gold": [1, 2, 3, 4, 5, 6, 7, 13, 11],
    # more of these in test_models_and_gold
    "predicted:AGE": [1, 5, 11],
    "margin<0.3": [2, 11],
    "conf<0.6": [14, 2, 11],
    "hit:old": [14],
    "miss:new": [14, 12],
    "entropy<0.3": [14, 6],
    "doubt>=0.9": [14, 1],
    "right:me": [1],
    "wrong:ann2/class": [1],
    "tagged:R5": [1],
    "guideline<3": [2],
    # nfh: gold of 11 is no NFH, 3 has none, of 4 only another model says something
    "nfh:yes": [14, 1, 3, 6, 11],
    "nfh:no": [2, 12],
    "nfh:none": [4, 5, 7, 13],
    "nfh:No,none": [2, 4, 5, 12, 7, 13],
    "nfh!=yes": [2, 4, 5, 12, 7, 13],
    "-nfh:yes": [2, 4, 5, 12, 7, 13],
    "nfh=gold": [14, 1, 6],
    "nfh:gold": [14, 1, 6],
    "nfh!=gold": [2, 12, 11],
    "-nfh=gold": [2, 3, 4, 5, 12, 7, 13, 11],
    "-nfh!=gold": [14, 1, 3, 4, 5, 6, 7, 13],
    "nfh:none,gold": [14, 1, 4, 5, 6, 7, 13],
    "nfh!=gold,no": [11],
    "nfh:yes nfh!=gold": [11],
    # nfhrule
    "nfhrule:no-one": [14, 1],
    "nfhrule:SVM": [3, 6, 12, 11],
    "nfhrule:svm,counts-a-noun": [2, 3, 6, 12, 11],
    "nfhrule:nobody": [],
    "-nfhrule:svm": [14, 1, 2, 4, 5, 7, 13],
    "nfhrule:svm nfh:no": [12],
    # differs: in what blocks, or in the kind after the slash
    "differs:ann2": [4, 13],
    "differs:me": [4, 13],
    "differs:Zoë": [4],
    "differs:nobody": [],
    "differs:ann2~me": [4, 13],
    "differs:ME~ANN2": [4, 13],
    "differs:me~Zoë": [],
    "differs:me~Zoë/extent": [4],
    "differs:Zoë~me/mention": [4],
    "differs:ann2/noun": [4],
    "differs:ann2/Text": [5],
    "differs:ann2/text,Zoë/partial": [4, 5],
    "differs:ann2~me/class,ann2~Zoë": [4, 13],
    "differs:ann2~ann2": [],
    "-differs:ann2": [14, 1, 2, 3, 5, 6, 12, 7, 11],
    "differs!=ann2": [14, 1, 2, 3, 5, 6, 12, 7, 11],
    'differs:"Ann2"~"me"/noun': [4],
    # said: an annotator's answer that is not removed, nor still being imported
    "said:AGE": [4],
    "said:reference": [4],
    "said:AGE,OTHER": [4, 5],
    "said:ann2/OTHER": [5],
    "said:ann2/AGE": [],
    "said:me/reference,ann2/other": [4, 5],
    "said:YEAR,BROKEN,UNKNOWN": [],
    "-said:reference": [14, 1, 2, 3, 5, 6, 12, 7, 13, 11],
    # rule: a gold that was removed has none
    "rule:majority": [6],
    "rule:unanimous,imported": [1, 12, 11],
    "rule:expert": [14, 2],
    "rule:none": [3, 4, 5, 7, 13],
    "rule:none,Majority": [3, 4, 5, 6, 7, 13],
    "-rule:expert": [1, 3, 4, 5, 6, 12, 7, 13, 11],
    # experts
    "experts:agree": [6],
    "experts:differ": [13],
    "experts:agree,differ": [6, 13],
    "-experts:differ": [14, 1, 2, 3, 4, 5, 6, 12, 7, 11],
    # assigned, todo: what was given back does not count
    "assigned:me": [3, 4, 13],
    'assigned:"me"': [3, 4, 13],
    "assigned:ann2": [14, 7],
    "assigned:ann2,Zoë": [14, 6, 7, 11],
    "assigned:nobody": [1, 2, 5, 12],
    "assigned:nobody,me": [1, 2, 3, 4, 5, 12, 13],
    'assigned:"nobody"': [],
    "assigned:me/annotator": [3, 4],
    "assigned:me/adjudicator": [13],
    "-assigned:me": [14, 1, 2, 5, 6, 12, 7, 11],
    "todo:me": [3, 13],
    "todo:me/annotator": [3],
    "todo:ANN2": [7],
    "todo:Zoë": [6],
    "todo!=me": [14, 1, 2, 4, 5, 6, 12, 7, 11],
    # audit
    "audit:open": [6],
    "audit:right": [11],
    "audit:wrong": [14],
    "audit:right,wrong": [14, 11],
    "-audit:open": [14, 1, 2, 3, 4, 5, 12, 7, 13, 11],
    # doc
    "doc:dev": [14, 1, 2, 3, 4],
    'doc:"talk é"': [5, 6, 12, 7, 13, 11],
    "doc:%": [],
    "-doc:nfh": [5, 6, 12, 7, 13, 11],
    "doc:nfh,talk": [14, 1, 2, 3, 4, 5, 6, 12, 7, 13, 11],
    # several at once
    "class:AGE split:dev anchor:one": [1],
    "-class:OTHER text:one": [1, 2],
    "state:decided -class:REFERENCE heads:0 -split:dev": [14, 6, 11],
    "state:open state:stale": [],
    # model: its choice against votes, and against what most votes say
    "model=votes": [],
    "model!=votes": [5],
    "model!=votes,proposal": [5],
    "-model=proposal": [14, 1, 2, 3, 4, 5, 6, 12, 7, 13, 11],
    # either
    "class:AGE OR class:OTHER": [14, 1],
    "class:AGE OR heads>1 OR state:stale": [1, 2, 7],
    "doc:dev class:AGE OR state:disagree": [1, 4],
    "-doc:dev OR -state:decided anchor:six,seven,ten": [3, 4, 7],
    "id:7 OR -id:7": [14, 1, 2, 3, 4, 5, 6, 12, 7, 13, 11],
}


@pytest.mark.parametrize(("query", "expected"), CASES.items())
def test_a_query_gives_the_anchors_it_means_in_passage_order(
    found: Found, query: str, expected: list[int]
) -> None:
    assert found(query) == expected


def test_every_key_has_a_case() -> None:
    for key in KEYS:
        if key.name not in ("text", "sort"):
            assert any(case.startswith(key.name) for case in CASES), key.name


def test_every_condition_and_its_contrary_part_the_anchors(
    found: Found, in_order: list[int]
) -> None:
    for query in CASES:
        terms = query.split(" ")
        if query and len(terms) == 1:
            contrary = query[1:] if query.startswith("-") else f"-{query}"
            assert sorted(found(query) + found(contrary)) == sorted(in_order), query


def test_skipped_is_what_the_person_who_asks_put_off(hand_made: Connection) -> None:
    (ids,) = queue_ids(hand_made, parse("state:skipped"), 2)
    assert list(ids) == [7]


def test_me_is_whoever_asks(hand_made: Connection) -> None:
    for query, expected in {
        "todo:me": [7],
        'todo:"me"': [3, 13],
        "said:me/OTHER": [5],
        "differs:me~Zoë": [4],
        'differs:me~"me"/class': [13],
    }.items():
        (ids,) = queue_ids(hand_made, parse(query), 2)
        assert list(ids) == expected, query


@pytest.mark.parametrize(
    "name",
    ["ann 2", "a~b/c", 'x, "y"', "me", "nobody", "\\", "AGE", '"q', "三 🙂", "-", "a\u3000b"],
)
def test_a_name_of_any_form_can_be_asked_for(own: Connection, name: str) -> None:
    own.execute("UPDATE annotator SET name = 'somebody' WHERE id = 1")
    own.execute("UPDATE annotator SET name = ? WHERE id = 2", (name,))
    words = ("me", "nobody")
    written = quote_name(name, words)
    for query, expected in {
        f"assigned:{written}": [14, 7],
        f"assigned:{written}/annotator,somebody": [14, 3, 4, 7, 13],
        f"todo:somebody,{written}": [3, 7, 13],
        f"said:{written}/OTHER": [5],
        f"differs:{written}~somebody": [4, 13],
        f"differs:Zoë~{written}/partial": [4],
        f"differs:{written}": [4, 13],
    }.items():
        (ids,) = queue_ids(own, parse(query), 3)
        assert list(ids) == expected, query


def test_broken_gold_neither_agrees_with_identification_nor_differs(own: Connection) -> None:
    own.execute("UPDATE anchor SET kind = 'BROKEN' WHERE id IN (1, 2)")
    for query, expected in {"nfh=gold": [14, 6], "nfh!=gold": [12, 11]}.items():
        (ids,) = queue_ids(own, parse(query), 1)
        assert list(ids) == expected, query


def test_without_an_active_model_nothing_is_identified(own: Connection) -> None:
    own.execute("UPDATE model SET state = 'retired'")
    assert not list(queue_ids(own, parse("nfh:yes,no"), 1))
    (ids,) = queue_ids(own, parse("nfh:none"), 1)
    assert len(ids) == 11
