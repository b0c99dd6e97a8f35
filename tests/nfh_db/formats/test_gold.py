"""The workbench's own format: what is written is what is read, and nothing else is."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.gold import KEYS, PASSAGE_KEYS, GoldWriter, digest_of, seal
from nfh_db.formats.rows import GoldRow
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Sort,
    Token,
    Turn,
    anchor_id,
    class_answer,
)

Values = dict[str, object]
Rows = Callable[[str, str | bytes], list[GoldRow]]
AT = "2025-01-31T12:00:00.000Z"

TEXT = "Ann: Two cups, né?\nNo… three\t👍"
TOKENS = tuple(
    Token(start, end, "")
    for start, end in [
        (5, 8),
        (9, 13),
        (13, 14),
        (15, 17),
        (17, 18),
        (19, 22),
        (23, 28),
        (29, 30),
    ]
)
PASSAGE = Passage(TEXT, TOKENS, (Turn(0, "Ann", 0, 5), Turn(2, None, 5, 8)))
ANCHOR = Anchor(6, 7)
GOLD = Gold(
    Answer(
        Kind.REFERENCE,
        (
            Head((Mention(0, 2, 1), Mention(5, 6, 5, Origin.ADDED))),
            Head((Mention(3, 4, 3), Mention(2, 3, 2, Origin.REMOVED))),
        ),
        relation=Relation.AND,
        comment='a "quoted"\n[red] comment\x1b',
    ),
    Rule.EXPERT,
    "Eva Ö.",
    AT,
)
VOTES = (
    Vote("zed", Role.ANNOTATOR, class_answer(Kind.NFH), AT, 12.25, True, True, 3, "rule-1"),
    Vote("Eva Ö.", Role.ADJUDICATOR, GOLD.answer, AT),
    Vote("ann", Role.ANNOTATOR, class_answer(Kind.OTHER, Sort.NOUN, "spoon"), AT, seconds=0.0),
)
FLAGS = (
    FlagMark(FlagName.GUIDELINE, "zed", AT),
    FlagMark(FlagName.AMBIGUOUS, "ann", AT),
)


def record(
    gold: Gold | None = GOLD,
    votes: tuple[Vote, ...] = VOTES,
    flags: tuple[FlagMark, ...] = FLAGS,
) -> ExportRecord:
    public_id = anchor_id(PASSAGE.digest, ANCHOR)
    return ExportRecord(public_id, PASSAGE, ANCHOR, "dev", gold, votes, flags)


@pytest.fixture
def values() -> Values:
    """The keys of a good line but its digest, free to be changed and sealed again."""
    values: Values = json.loads(GoldWriter().line(record()))
    del values["digest"]
    return values


def test_the_line_has_the_keys_in_order_and_says_everything() -> None:
    line = GoldWriter().line(record())
    assert line.startswith('{"tokens":["Two","cups",",","né","?","No…","three","👍"],"line_')
    values = json.loads(line)
    assert list(values) == [
        "tokens", "line_indices", "speakers", "anchors_indices", "head", "format", "id", "text",
        "offsets", "kind", "heads", "relation", "sort", "noun", "flags", "split", "rule",
        "adjudicator", "decided_at", "votes", "comment", "digest",
    ]  # fmt: skip
    assert values["line_indices"] == [0] * 5 + [2] * 3
    assert values["head"] == [1, 3, 5]
    assert values["heads"][1]["mentions"] == [
        {"start": 3, "end": 4, "head": 3, "origin": "marked"},
        {"start": 2, "end": 3, "head": 2, "origin": "removed"},
    ]
    assert [flag["name"] for flag in values["flags"]] == ["ambiguous", "guideline"]
    assert [vote["annotator"] for vote in values["votes"]] == ["Eva Ö.", "ann", "zed"]
    assert values["votes"][2] == {
        "annotator": "zed", "role": "annotator", "kind": "NFH", "heads": [], "relation": None,
        "sort": None, "noun": None, "comment": "", "seconds": 12.25, "saw_model": True,
        "saw_votes": True, "guideline_version": 3, "rule_tag": "rule-1", "at": AT,
    }  # fmt: skip


def test_the_digest_is_of_the_line_without_it() -> None:
    line = GoldWriter().line(record())
    body, digest = line.rstrip("\n").split(',"digest":')
    expected = hashlib.sha256((body + "}").encode()).hexdigest()
    assert digest == f'"{expected}"}}'


def test_what_is_written_is_read(rows: Rows) -> None:
    (row,) = rows("gold", GoldWriter().line(record()))
    assert row.gold == GOLD
    assert set(row.votes) == set(VOTES)
    assert set(row.flags) == set(FLAGS)
    assert (row.anchor, row.split, row.passage.text) == (ANCHOR, "dev", TEXT)
    assert row.passage.turns == PASSAGE.turns


def test_a_proposed_span_is_written_in_its_flag_and_read(rows: Rows) -> None:
    proposal = FlagMark(FlagName.ANCHOR, "ann", AT, Anchor(ANCHOR.start, ANCHOR.end + 1))
    line = GoldWriter().line(record(flags=(*FLAGS, proposal)))
    flag = f'{{"name":"anchor","annotator":"ann","at":"{AT}","span":[6,8]}}'
    assert flag in line
    # Without the span it is, to the byte, the flag that it was before spans could be proposed.
    bare = GoldWriter().line(record(flags=(*FLAGS, replace(proposal, span=None))))
    assert flag.replace(',"span":[6,8]', "") in bare
    (row,) = rows("gold", line)
    assert set(row.flags) == {*FLAGS, proposal}
    again = json.loads(line)
    digest = again.pop("digest")
    again["flags"] = [dict(sorted(flag.items())) for flag in again["flags"]]
    assert digest_of(again) == digest


@pytest.mark.parametrize(
    ("name", "span", "message"),
    [
        (
            "anchor",
            [6, 7],
            "wanted another one, since the span [6, 7) is the one that",
        ),
        ("anchor", [6, 99], "since the span [6, 99) is outside a passage of 8 tokens"),
        ("skip", [6, 8], "since a flag “skip” proposes no span"),
        ("anchor", [6], "found [6], wanted two token indices: start and end"),
        ("anchor", None, 'key "flags[0].span": found null, wanted a list'),
    ],
)
def test_a_span_that_no_flag_can_propose_is_refused(
    rows: Rows, values: Values, name: str, span: object, message: str
) -> None:
    values["flags"] = [{"name": name, "annotator": "a", "at": AT, "span": span}]
    with pytest.raises(FormatError, match=re.escape(message)):
        rows("gold", seal(values))


def test_an_undecided_anchor_is_read_without_gold(rows: Rows) -> None:
    line = GoldWriter().line(record(None, flags=()))
    assert json.loads(line)["head"] == []
    (row,) = rows("gold", line)
    assert row.gold is None
    assert len(row.votes) == 3


@pytest.mark.parametrize("kind", [k for k in Kind if k is not Kind.REFERENCE])
def test_every_kind_is_written_and_read(rows: Rows, kind: Kind) -> None:
    gold = Gold(class_answer(kind, noun="cup"), Rule.MAJORITY)
    (row,) = rows("gold", GoldWriter().line(record(gold, ())))
    assert row.gold == gold


def test_spacing_escapes_and_the_order_of_keys_do_not_matter(
    values: Values, rows: Rows
) -> None:
    sealed = json.loads(seal(values))
    again = json.dumps(dict(reversed(sealed.items())), indent=None, sort_keys=True)
    assert again != seal(values)
    (row,) = rows("gold", again)
    assert row.gold == GOLD


def without(values: Values, key: str) -> Values:
    return {name: value for name, value in values.items() if name != key}


def test_a_missing_key_is_refused_and_named(values: Values, rows: Rows) -> None:
    for key in values:
        with pytest.raises(
            FormatError, match=f'line 1: key "{key}" is missing; wanted exactly'
        ):
            rows("gold", seal(without(values, key)))


def vote(**changes: object) -> list[object]:
    good: Values = json.loads(GoldWriter().line(record()))["votes"][1]
    return [good | changes]


WRONG = [
    ({"extra": 1}, 'key "extra" is not known; wanted exactly tokens'),
    ({"format": "nfh-gold/2"}, 'key "passage" is missing; wanted exactly tokens'),
    ({"format": "nfh-gold/3"}, 'found "nfh-gold/3", wanted "nfh-gold/1" or "nfh-gold/2", the'),
    ({"format": 1}, 'key "format": found 1, wanted "nfh-gold/1" or "nfh-gold/2", the versions'),
    ({"passage": PASSAGE.digest}, 'key "passage" is not known; wanted exactly tokens'),
    ({"id": "0" * 32}, 'key "id": found "00000000000000000000000000000000", wanted "'),
    ({"text": TEXT.replace("cups", "mugs")}, 'wanted where token 1, "cups", is; found'),
    ({"text": 5}, 'key "text": found 5, wanted a string'),
    ({"offsets": [[5, 8]]}, 'key "offsets": found 1 items, wanted 8, as many as tokens'),
    ({"offsets": [[5, 8.0]] * 8}, "found [5, 8.0], wanted a pair of whole numbers for token 0"),
    ({"offsets": [[5, 8]] * 8}, 'found [5, 8], wanted where token 1, "cups", is'),
    ({"offsets": [[-25, 8]] * 8}, 'found [-25, 8], wanted where token 0, "Two", is'),
    ({"speakers": [float("nan")] * 8}, 'key "speakers": found [NaN, NaN'),
    ({"anchors_indices": [6, 7, 8]}, 'key "anchors_indices": found [6, 7, 8], wanted token'),
    ({"anchors_indices": [5]}, 'key "id": found'),
    ({"kind": "reference"}, 'key "kind": found "reference", wanted one of REFERENCE'),
    ({"kind": None}, 'key "relation": found "AND", wanted null, since the kind is null'),
    ({"kind": "AGE"}, "the gold answer: heads belong to REFERENCE, which needs at least one"),
    ({"relation": None}, "the gold answer: a relation belongs to two or more heads"),
    ({"relation": "XOR"}, 'key "relation": found "XOR", wanted null or one of AND, OR'),
    ({"sort": "CODE"}, "the gold answer: a sort belongs to OTHER, not to REFERENCE"),
    ({"noun": "cup"}, "the gold answer: a free noun belongs to a class"),
    ({"noun": 1}, 'key "noun": found 1, wanted a string'),
    ({"head": [1, 3]}, 'key "head": found [1, 3], wanted [1, 3, 5], the release\'s form'),
    ({"head": [True, 3, 5]}, 'key "head": found [true, 3, 5], wanted [1, 3, 5]'),
    ({"heads": [{"mentions": []}]}, "the gold answer: a head needs at least one mention"),
    ({"heads": [{}]}, 'key "heads[0].mentions" is missing; wanted exactly mentions'),
    ({"heads": [5]}, 'key "heads": item 0 is 5, wanted an object'),
    (
        {"heads": [{"mentions": [{"start": 0, "end": 2, "head": 2, "origin": "marked"}]}]},
        "the gold answer: mention [0, 2) does not contain its head token 2",
    ),
    (
        {"heads": [{"mentions": [{"start": 0, "end": 2, "head": 1, "origin": "found"}]}]},
        'key "heads[0].mentions[0].origin": found "found", wanted one of marked',
    ),
    (
        {"heads": [{"mentions": [{"start": True, "end": 2, "head": 1, "origin": "added"}]}]},
        'key "heads[0].mentions[0].start": found true, wanted a whole number',
    ),
    (
        {
            "relation": None,
            "heads": [{"mentions": [{"start": 5, "end": 9, "head": 8, "origin": "added"}]}],
        },
        "the gold answer: mention [5, 9) is outside a passage of 8 tokens",
    ),
    (
        {
            "relation": None,
            "heads": [{"mentions": [{"start": 5, "end": 7, "head": 6, "origin": "added"}]}],
        },
        "the gold answer: head token 6 is part of the anchor",
    ),
    ({"flags": [{"name": "x", "annotator": "a", "at": AT}]}, 'key "flags[0].name": found "x"'),
    ({"flags": [{"name": "skip", "annotator": "a"}]}, 'key "flags[0].at" is missing'),
    (
        {"flags": [{"name": "skip", "annotator": "a", "at": AT}] * 2},
        'key "flags[1].name": found "skip", wanted each flag of an annotator once',
    ),
    ({"flags": None}, 'key "flags": found null, wanted a list'),
    ({"split": 1}, 'key "split": found 1, wanted a string'),
    ({"rule": None}, 'key "rule": found null, wanted one of imported, unanimous, majority'),
    ({"adjudicator": " "}, 'key "adjudicator": found " ", wanted a name of 1 to 100 printable'),
    ({"decided_at": "yesterday"}, 'key "decided_at": found "yesterday", wanted a UTC time'),
    ({"decided_at": "2025-02-30T12:00:00.000Z"}, '02-30T12:00:00.000Z", wanted a UTC time'),
    ({"decided_at": "2025-02-20T24:01:00.000Z"}, '02-20T24:01:00.000Z", wanted a UTC time'),
    ({"comment": None}, 'key "comment": found null, wanted a string'),
    ({"comment": "\ud800"}, "wanted text without unpaired surrogates"),
    ({"votes": vote(annotator="a\nb")}, 'key "votes[0].annotator": found "a␊b", wanted a name'),
    ({"votes": vote() * 2}, 'key "votes[1].annotator": found "ann", wanted one vote'),
    ({"votes": vote(role="boss")}, 'key "votes[0].role": found "boss", wanted one of'),
    ({"votes": vote(kind=None)}, 'key "votes[0].kind": found null, wanted one of REFERENCE'),
    ({"votes": vote(kind="AGE")}, 'key "votes[0]": a sort belongs to OTHER, not to AGE'),
    ({"votes": vote(seconds=-1)}, 'key "votes[0].seconds": found -1, wanted a number'),
    ({"votes": vote(seconds=True)}, 'key "votes[0].seconds": found true, wanted a number of'),
    ({"votes": vote(seconds=10**400)}, 'key "votes[0].seconds": found 1000'),
    ({"votes": vote(saw_model=1)}, 'key "votes[0].saw_model": found 1, wanted true or false'),
    ({"votes": vote(guideline_version="1")}, 'key "votes[0].guideline_version": found "1"'),
    ({"votes": vote(at=None)}, 'key "votes[0].at": found null, wanted a string'),
    ({"votes": vote(extra=1)}, 'key "votes[0].extra" is not known; wanted exactly annotator'),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_contradicts_itself_is_refused_with_its_place(
    values: Values, rows: Rows, change: Values, message: str
) -> None:
    good = GoldWriter().line(record())
    body = json.dumps(values | change | {"digest": ""})
    with pytest.raises(FormatError) as caught:
        rows("gold", f"{good}{body}\n")
    assert "file.jsonl, line 2: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("head", ["AGE"], 'key "head": found ["AGE"], wanted []'),
        ("comment", "x", 'key "comment": found "x", wanted an empty string, since'),
        ("rule", "expert", 'key "rule": found "expert", wanted null, since the kind is null'),
        ("decided_at", AT, 'key "decided_at": found'),
        ("heads", [{"mentions": []}], 'key "heads": found [{"mentions": []}], wanted an empty'),
    ],
)
def test_an_undecided_line_says_nothing_more(
    rows: Rows, key: str, value: object, message: str
) -> None:
    changed = json.loads(GoldWriter().line(record(None))) | {key: value}
    with pytest.raises(FormatError) as caught:
        rows("gold", json.dumps(changed))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [("three", "seven"), ("quoted", "Quoted"), ("12.25", "12.5"), ("ze", "jo")],
)
def test_a_line_changed_by_hand_is_refused(rows: Rows, old: str, new: str) -> None:
    line = GoldWriter().line(record())
    assert old in line
    with pytest.raises(FormatError, match=r"line 1: key \"(digest|id)\": "):
        rows("gold", line.replace(old, new))


def test_a_wrong_digest_is_refused_and_says_what_it_means(values: Values, rows: Rows) -> None:
    changed = json.loads(seal(values)) | {"comment": "another"}
    with pytest.raises(
        FormatError, match="does not fit the line, so the line was changed after it was written"
    ):
        rows("gold", json.dumps(changed))


# --- compact lines ------------------------------------------------------------------------


OTHER = Passage("one", (Token(0, 3, ""),), (Turn(0, None, 0, 1),))
FIRST_WORD = Anchor(0, 1)


def compact_lines() -> list[str]:
    """Two numbers of one passage, and one of another."""
    second = replace(
        record(None), public_id=anchor_id(PASSAGE.digest, FIRST_WORD), anchor=FIRST_WORD
    )
    id_ = anchor_id(OTHER.digest, FIRST_WORD)
    third = ExportRecord(id_, OTHER, FIRST_WORD, "dev", None, (), ())
    return list(map(GoldWriter(compact=True).line, (record(), second, third)))


def test_a_compact_file_has_each_passage_once_and_is_read_as_the_other(rows: Rows) -> None:
    lines = compact_lines()
    first, second, third = map(json.loads, lines)
    assert first.keys() - second.keys() == set(PASSAGE_KEYS) - {"times"}
    assert set(PASSAGE_KEYS) - {"times"} < third.keys()
    assert first["passage"] == second["passage"] == PASSAGE.digest != third["passage"]
    plain = []
    for whole in (first, {**first, **second}, third):
        values = {
            key: whole[key] for key in KEYS if key in whole.keys() - {"passage", "digest"}
        }
        plain.append(seal(values | {"format": "nfh-gold/1"}))
    compact = rows("gold", "".join(lines))
    assert compact == rows("gold", "".join(plain))
    assert compact[0].passage is compact[1].passage


def test_keys_of_a_compact_line_may_come_in_another_order(rows: Rows) -> None:
    turned = [json.dumps(dict(reversed(json.loads(one).items()))) for one in compact_lines()]
    assert rows("gold", "\n".join(turned)) == rows("gold", "".join(compact_lines()))


@pytest.mark.parametrize(
    ("order", "line"), [((1,), 1), ((0, 2, 1), 3), ((2, 1), 2)], ids=["alone", "apart", "other"]
)
def test_a_compact_line_means_the_passage_written_last(
    rows: Rows, order: tuple[int, ...], line: int
) -> None:
    lines = compact_lines()
    message = rf'line {line}: key "passage": found "{PASSAGE.digest[:50]}'
    with pytest.raises(FormatError, match=message):
        rows("gold", "".join(lines[place] for place in order))
