"""CoNLL-U: what is written, as the conllu package reads it, and what comes back."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import conllu
import pytest

from nfh_db.formats.conllu import ConlluWriter, escaped, unescaped
from nfh_db.records import FlagMark, FlagName, Rule
from nfh_db.store import Store
from nfh_tui.sample import corpus_path
from tests.nfh_db.formats.hostile import (
    COMMENT,
    at,
    one,
    passage,
    record,
    refer,
    settled,
    vote,
)
from tests.nfh_db.formats.round_trip import hostile_corpus, hostile_records, round_trip


@pytest.fixture(scope="module")
def written() -> str:
    """The hostile corpus as CoNLL-U."""
    return b"".join(ConlluWriter().chunks(hostile_records())).decode("utf-8")


def test_hostile_answers_come_back_as_they_were(tmp_path: Path) -> None:
    trip = round_trip(hostile_corpus(tmp_path / "in.jsonl"), "conllu", tmp_path)
    trip.check()
    assert trip.recognised == "conllu"
    assert not trip.imported.warnings
    assert not trip.lost


def test_the_sample_comes_back_as_it_was(tmp_path: Path) -> None:
    round_trip(corpus_path(), "conllu", tmp_path).check()


def test_the_package_writes_the_same_file(written: str) -> None:
    assert "".join(one.serialize() for one in conllu.parse(written)) == written


def test_lines_are_composed_and_end_with_a_line_feed(written: str) -> None:
    assert unicodedata.is_normalized("NFC", written)
    assert "\r" not in written
    assert written.splitlines() == written.split("\n")[:-1]
    tokens = [line for line in written.split("\n") if line and not line.startswith("#")]
    assert {line.count("\t") for line in tokens} == {9}


def test_texts_are_what_the_forms_spell(written: str) -> None:
    for sentence in conllu.parse(written):
        spelled = "".join(
            token["form"] + ("" if (token["misc"] or {}).get("SpaceAfter") == "No" else " ")
            for token in sentence
        )
        assert spelled.rstrip(" ") == sentence.metadata["text"]
        assert [token["id"] for token in sentence] == list(range(1, len(sentence) + 1))


def test_a_sentence_is_a_turn_and_a_document_a_passage(written: str) -> None:
    records = hostile_records()
    passages = {record.passage.digest: record.passage for record in records}
    sentences = conllu.parse(written)
    assert len(sentences) == sum(len(given.turns) for given in passages.values())
    assert sum("newdoc id" in one.metadata for one in sentences) == len(passages)


def test_text_is_kept_only_where_the_lines_do_not_tell() -> None:
    plain = passage([("Ann", "Two cups, or three?")])
    (content,) = ConlluWriter().chunks([record(plain, at(plain, "Two"))])
    assert b'"named":true}' in content
    torn = passage([("Ann", "Two  cups")])
    (content,) = ConlluWriter().chunks([record(torn, at(torn, "Two"))])
    assert b'"text":"Ann: Two  cups"' in content


@pytest.mark.parametrize("words", [COMMENT, "a=b|c\\sd", "e\u0301\u2028\x00\U0001f600", "_"])
def test_words_are_escaped_for_misc_and_come_back(words: str) -> None:
    value = escaped(words)
    assert not set(value) & set(" \t\n\r|=\u2028\x00")
    assert unescaped(value) == unicodedata.normalize("NFC", words)


# --- what somebody changed in the file ------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """One passage with a gold, two answers and a flag."""
    given = passage([("Ann", "Two red tickets"), ("Ben", "no, thirty one")])
    answer = refer((one(1, 3),), comment="sure, I am")
    votes = [vote(name, answer, seconds=4.5) for name in ("ben", "eva")]
    flags = [FlagMark(FlagName.AMBIGUOUS, "eva", "2025-01-31T12:00:00.000Z")]
    gold = settled(answer, votes, Rule.UNANIMOUS)
    records = [record(given, at(given, "thirty", "one"), gold, votes, flags, "dev")]
    return hostile_corpus(tmp_path / "small.jsonl", records)


MISC = r"NFH=REFERENCE|NFHSpan=2:3-4|NFHHead=1:2-3|NFHComment=sure,\sI\sam"


@pytest.fixture
def edited(small: Path, tmp_path: Path) -> Callable[[str, str], dict[str, object]]:
    """What comes back of the small passage once something in its file was changed."""

    def change(old: str, new: str) -> dict[str, object]:
        def edit(path: Path) -> None:
            content = path.read_text("utf-8")
            assert content.count(old) == 1, content
            path.write_text(content.replace(old, new), "utf-8")

        trip = round_trip(small, "conllu", tmp_path, edit=edit)
        (line,) = trip.after
        value: dict[str, object] = json.loads(line)
        value["warnings"] = list(trip.imported.warnings)
        return value

    return change


Edited = Callable[[str, str], dict[str, object]]


def test_a_class_in_misc_wins(edited: Edited) -> None:
    line = edited(MISC, r"NFH=OTHER_NOUN|NFHSpan=2:3-4|NFHNoun=two\scups")
    assert (line["kind"], line["sort"], line["noun"]) == ("OTHER", "NOUN", "two cups")
    assert (line["comment"], line["rule"]) == ("", "imported")
    votes = line["votes"]
    assert isinstance(votes, list)
    assert [v["seconds"] for v in votes] == [4.5, 4.5]
    assert line["warnings"] == ["1 answer changed since the export"]


def test_heads_in_misc_win(edited: Edited) -> None:
    line = edited("NFHHead=1:2-3", "NFHHead=1:2-3@1:2,1:3+,2:1!;1:1|NFHOp=AND")
    heads = line["heads"]
    assert isinstance(heads, list)
    assert [[tuple(m.values()) for m in head["mentions"]] for head in heads] == [
        [(1, 3, 1, "marked"), (2, 3, 2, "added"), (3, 4, 3, "removed")],
        [(0, 1, 0, "marked")],
    ]
    assert (line["relation"], line["comment"]) == ("AND", "sure, I am")


def test_a_number_without_its_keys_is_left_out_and_said(small: Path, tmp_path: Path) -> None:
    def edit(path: Path) -> None:
        path.write_text(path.read_text("utf-8").replace(f"\t{MISC}", "\t_"), "utf-8")

    trip = round_trip(small, "conllu", tmp_path, edit=edit)
    assert not trip.after
    assert trip.imported.warnings == ("1 number left out: no longer marked in MISC",)


def test_a_parse_of_another_tool_stays_with_its_words(small: Path, tmp_path: Path) -> None:
    tagged = "2\tred\tred\tADJ\tJJ\tDegree=Pos\t3\tamod\t_\tGloss=rot"

    def edit(path: Path) -> None:
        content = path.read_text("utf-8")
        lines = content.replace("2\tred\tred\t_\t_\t_\t_\t_\t_\t_", tagged, 1)
        assert lines != content
        path.write_text(lines.replace("# speaker = Ann", "# mood = dry\n# speaker = Ann"))

    once = round_trip(small, "conllu", tmp_path / "once", edit=edit)
    once.check()
    with Store.open(tmp_path / "once/after.db") as store:
        again = round_trip(store, "conllu", tmp_path / "again")
    again.check()
    written = again.path.read_text("utf-8")
    assert f"\n{tagged}\n" in written
    assert "\n# mood = dry\n" in written
    assert written.count("NFH=REFERENCE") == 1
