"""Each key against anchors whose answer is known; see conftest.py for the rows."""

from collections.abc import Callable

import pytest

from nfh_db.connection import Connection
from nfh_db.query import KEYS, parse
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
    # model: gold of 11 is no NFH, 5 has none, 3 was predicted by an older model
    "model=gold": [1, 2, 6],
    "model:gold": [1, 2, 6],
    "model!=gold": [14, 12],
    "-model=gold": [14, 3, 4, 5, 12, 7, 13, 11],
    "-model!=gold": [1, 2, 3, 4, 5, 6, 7, 13, 11],
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
