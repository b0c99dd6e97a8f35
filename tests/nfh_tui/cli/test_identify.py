"""`nfh-tui identify`: numbers found and decided, in a database and in a text."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.query import parse
from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_models import ModelsError
from nfh_models.domain import Anchor
from nfh_models.identification.rules import RULES
from nfh_models.parsing.base import ParseLayer, Parser, load_parser
from nfh_models.parsing.spacy_parser import installed_pipelines

NOBODY = Annotator(0, "")
TALK = """\
Ann: I have two tents and you have one.
Bo: Give me five, or twenty dollars for the three.

Bo: No one told me. It was 1995, and I bought two of them.
"""
NAMES = {rule.name for rule in RULES}

_loaded = lru_cache(load_parser)


@pytest.fixture(autouse=True)
def parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real parser, loaded once for all of these tests."""
    if not installed_pipelines():
        pytest.skip("needs an English spaCy pipeline (en_core_web_sm or a re-upload of it)")
    monkeypatch.setattr("nfh_models.parsing.base.load_parser", _loaded)


@pytest.fixture
def db(home: Path, call: Callable[..., Result]) -> Path:
    """A database of a talk, whose numbers the import has marked."""
    (home / "talk.txt").write_text(TALK, encoding="utf-8")
    assert call("import", home / "talk.txt", "--db", home / "nfh.db").exit_code == 0
    return home / "nfh.db"


WORDS = "He has two dogs ; five like her , but three do not ; no one hates cats !".split()


@pytest.fixture
def rows(home: Path) -> Callable[..., Path]:
    """Makes an `nfh` file of rows (number, token of the anchor) of one text each."""

    def make(*places: tuple[int, int], name: str = "rows.jsonl") -> Path:
        with (home / name).open("w", encoding="utf-8") as file:
            for number, anchor in places:
                tokens = [*WORDS[:-1], f"!{number}"]
                values = {
                    "tokens": tokens,
                    "line_indices": [0] * len(tokens),
                    "head": [3],
                    "speakers": ["Ann"] * len(tokens),
                    "anchors_indices": [anchor],
                }
                file.write(json.dumps(values) + "\n")
        return home / name

    return make


@pytest.fixture
def labelled(home: Path, call: Callable[..., Result], rows: Callable[..., Path]) -> Path:
    """A database of three texts with one labelled number each, and three that are not."""
    assert (
        call("import", rows((0, 5), (1, 5), (2, 10)), "--db", home / "rows.db").exit_code == 0
    )
    return home / "rows.db"


def report(call: Callable[..., Result], *arguments: object) -> dict:
    """What --json tells."""
    result = call("identify", *arguments, "--json")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 1
    return json.loads(result.stdout)


def decisions(db: Path) -> dict[str, tuple[bool, str] | None]:
    """By a number's words and place, what is stored of it."""
    with Store.open(db) as store:
        ids = [id_ for some in store.queue.ids(parse(""), NOBODY) for id_ in some]
        items = [store.items.read(id_, NOBODY, Role.ANNOTATOR) for id_ in ids]
    return {
        f"{item.passage.words(item.anchor.start, item.anchor.end)} {item.anchor_id}": (
            item.identification and (item.identification.nfh, item.identification.rule)
        )
        for item in items
        if item is not None
    }


# --- in a database ------------------------------------------------------------------------


def test_each_number_is_decided_and_names_its_rule(db: Path, call) -> None:
    told = report(call, "--db", db)
    found = decisions(db)
    assert told["numbers"] == told["decided"] == len(found) == 8
    assert (told["passages"], told["new"], told["active"]) == (2, 0, True)
    assert told["nfh"]["yes"] + told["nfh"]["no"] == 8
    assert {rule for _, rule in found.values()} <= NAMES
    assert set(told["rules"]) == {rule for _, rule in found.values()}
    by_words = {key.split(" ")[0]: said[0] for key, said in found.items()}
    assert (by_words["one"], by_words["five"], by_words["twenty"]) == (True, True, False)
    assert found["two 1"] == (False, "noun-next")


def test_what_is_decided_is_not_decided_again_unless_asked(db: Path, call, dump) -> None:
    first = report(call, "--db", db, "text:tents")
    assert (first["passages"], first["decided"]) == (1, 5)
    before = dump(db)["identification"]
    second = report(call, "--db", db)
    assert (second["passages"], second["numbers"], second["decided"]) == (2, 8, 3)
    after = dump(db)["identification"]
    assert [row for row in after if row in before] == before
    assert report(call, "--db", db, "--again")["decided"] == 8
    assert report(call, "--db", db)["decided"] == 0


def test_a_trial_run_says_the_same_and_stores_nothing(labelled: Path, call, dump) -> None:
    before = dump(labelled)
    trial = report(call, "--db", labelled, "--dry-run")
    after = dump(labelled)
    assert {name: rows for name, rows in after.items() if name != "model"} == {
        name: rows for name, rows in before.items() if name != "model"
    }
    done = report(call, "--db", labelled)
    same = ("passages", "numbers", "new", "decided", "nfh", "rules", "gold")
    assert {name: trial[name] for name in same} == {name: done[name] for name in same}
    assert done["new"] == 9


def test_numbers_that_nobody_marked_come_in_as_one_act(labelled: Path, call, dump) -> None:
    before = dump(labelled)
    told = report(call, "--db", labelled)
    after = dump(labelled)
    assert (told["numbers"], told["new"]) == (12, 9)
    assert len(after["anchor"]) - len(before["anchor"]) == 9
    assert len(after["act"]) - len(before["act"]) == 1
    assert after["act"][-1][3] == "numbers found by identify in all passages"
    for name in ("passage", "document", "answer", "gold", "event", "flag"):
        assert after[name] == before[name]
    assert [row for row in after["source_row"] if row in before["source_row"]] == before[
        "source_row"
    ]
    history = call("history", "--db", labelled, "state:open")
    assert history.stdout.count("numbers found by identify in all passages") == 9
    assert call("doctor", "--db", labelled).exit_code == 0
    again = report(call, "--db", labelled)
    assert (again["numbers"], again["new"], again["decided"]) == (12, 0, 0)
    assert len(dump(labelled)["batch"]) == len(after["batch"])


def test_without_new_no_number_comes_in(labelled: Path, call, dump) -> None:
    before = dump(labelled)["anchor"]
    told = report(call, "--db", labelled, "--no-new")
    assert (told["numbers"], told["new"], told["decided"]) == (3, 0, 3)
    assert dump(labelled)["anchor"] == before


def test_imported_rows_leave_as_they_came(labelled: Path, home: Path, call) -> None:
    for name in ("nfh", "gold"):
        call("export", "--db", labelled, "--format", name, "--out", home / f"{name}.before")
    report(call, "--db", labelled)
    for name in ("nfh", "gold"):
        call("export", "--db", labelled, "--format", name, "--out", home / f"{name}.after")
    assert (home / "nfh.before").read_bytes() == (home / "nfh.after").read_bytes()
    assert (home / "nfh.after").read_bytes() == (home / "rows.jsonl").read_bytes()
    old = (home / "gold.before").read_text("utf-8").splitlines()
    new = (home / "gold.after").read_text("utf-8").splitlines()
    assert [line for line in new if line in old] == old
    assert {json.loads(line)["kind"] for line in new if line not in old} == {None}


def test_a_new_number_has_the_split_of_all_others_or_none(home: Path, call, rows) -> None:
    dev, train = rows((0, 5), (1, 5), name="dev.jsonl"), rows((1, 10), name="train.jsonl")
    for file in (dev, train):
        assert call("import", file, "--db", home / "two.db").exit_code == 0
    assert report(call, "--db", home / "two.db")["new"] == 5
    with Store.open(home / "two.db") as store:
        counts = {
            query: store.queue.count(parse(query), NOBODY)
            for query in ("split:dev", "split:train", "-split:dev,train")
        }
    assert counts == {"split:dev": 5, "split:train": 1, "-split:dev,train": 2}


def test_a_file_may_label_a_number_that_was_found(labelled: Path, call, rows) -> None:
    report(call, "--db", labelled)
    assert call("import", rows((0, 10), name="more.jsonl"), "--db", labelled).exit_code == 0
    with Store.open(labelled) as store:
        assert store.queue.count(parse("class:REFERENCE"), NOBODY) == 4
        assert store.queue.count(parse(""), NOBODY) == 12
    assert call("doctor", "--db", labelled).exit_code == 0
    assert call("doctor", "--corpus", "--db", labelled).exit_code == 0


def test_found_numbers_are_merged_as_files_are_and_decisions_are_not(
    labelled: Path, home: Path, call, dump
) -> None:
    call("backup", home / "copy.db", "--db", labelled)
    report(call, "--db", home / "copy.db")
    told = json.loads(call("merge", home / "copy.db", "--db", labelled, "--json").stdout)
    assert told["anchors_new"] == 9
    assert dump(labelled)["identification"] == []
    assert report(call, "--db", labelled)["new"] == 0
    assert call("doctor", "--db", labelled).exit_code == 0
    again = json.loads(call("merge", home / "copy.db", "--db", labelled, "--json").stdout)
    assert (again["anchors_new"], again["events"]) == (0, 0)


def test_found_in_two_copies_they_are_the_same_numbers(
    labelled: Path, home: Path, call
) -> None:
    call("backup", home / "copy.db", "--db", labelled)
    for db in (labelled, home / "copy.db"):
        assert report(call, "--db", db)["new"] == 9
    told = json.loads(call("merge", home / "copy.db", "--db", labelled, "--json").stdout)
    assert (told["anchors_new"], told["conflicts"]) == (0, [])
    assert call("doctor", "--db", labelled).exit_code == 0


def test_a_folder_that_the_database_does_not_know_stores_nothing(db: Path, call) -> None:
    from nfh_models.identification.rules import Rules
    from nfh_tui.services.models import SelectedModel

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "nfh_tui.services.models.identifier_for",
            lambda *_, **__: SelectedModel(Rules(), "else"),
        )
        result = call("identify", "--db", db, "--model", "some/folder")
        assert result.exit_code == 1
        assert "the model in some/folder is not in this database" in result.stderr
        assert report(call, "--db", db, "--dry-run")["numbers"] == 8
    assert set(decisions(db).values()) == {None}


def test_a_span_that_somebody_took_away_stays_away(db: Path, call) -> None:
    with Store.open(db) as store:
        eva = store.people.ensure("eva")
        item = store.items.read(1, eva, Role.ANNOTATOR)
        start, end = item.anchor.start, item.anchor.end
        store.edits.replace_anchor(
            1, eva, Role.ADJUDICATOR, Anchor(start, end + 1), store.edits.stale_labels(1, eva)
        )
    told = report(call, "--db", db)
    assert (told["numbers"], told["new"]) == (8, 0)


def test_gold_that_says_otherwise_is_counted_and_found(labelled: Path, call) -> None:
    told = report(call, "--db", labelled)
    assert told["gold"]["compared"] == 3
    with Store.open(labelled) as store:
        query = parse(told["gold"]["query"])
        assert store.queue.count(query, NOBODY) == told["gold"]["differ"]
        count = store.queue.count(parse("nfh=gold"), NOBODY)
    assert count + told["gold"]["differ"] == 3
    printed = call("identify", "--db", labelled).stdout
    assert f"gold contradicts {told['gold']['differ']} of 3" in printed


def test_the_report_for_a_person_fits_80_columns(labelled: Path, call) -> None:
    result = call("identify", "--db", labelled, "text:dogs", "--dry-run")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("3 passages, decided by rules, with ")
    assert "9 of them would be new" in result.stdout
    assert lines[-1] == "Nothing was stored"


def test_a_model_that_is_not_active_says_so(db: Path, call, monkeypatch) -> None:
    with Store.open(db) as store:
        store.models.ensure("first", "identification", "other", "1")
    told = report(call, "--db", db, "--model", "rules")
    assert told["active"] is False
    printed = " ".join(call("identify", "--db", db, "--model", "rules").stdout.split())
    assert "rules is not the active model" in printed
    assert "models activate" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "x.jsonl"), "--out, --allow-empty and --per-line go with --file"),
        (("--per-line",), "--out, --allow-empty and --per-line go with --file"),
        (("text:a", "--file", "x"), "give a QUERY or --file, not both"),
        (("--file", "x", "--again"), "are about the database"),
        (("--file", "x", "--no-new"), "are about the database"),
        (("nonsense:x",), "no such key"),
    ],
)
def test_wrong_calls(db: Path, call, arguments: Sequence[str], words: str) -> None:
    result = call("identify", "--db", db, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_what_another_parser_led_to_is_forgotten_and_that_is_said(db: Path, call) -> None:
    report(call, "--db", db)
    with Store.open(db) as store:
        active = store.identifications.active()
        assert active is not None
        store.identifications.decide_with(active.model_id, "other 1", "stanza:there")
    result = call("identify", "--db", db, "--json")
    assert json.loads(result.stdout)["decided"] == 8
    assert "what rules decided with other 1 is forgotten" in result.stderr
    assert call("identify", "--db", db, "--json").stderr == ""


def test_a_trial_run_says_what_another_parser_would_decide_anew(db: Path, call) -> None:
    report(call, "--db", db)
    assert report(call, "--db", db, "--dry-run")["decided"] == 0
    with Store.open(db) as store:
        active = store.identifications.active()
        assert active is not None
        store.settings.write(f"parser of identification model {active.model_id}", "other 1")
    assert report(call, "--db", db, "--dry-run")["decided"] == 8
    assert report(call, "--db", db, "--dry-run")["decided"] == 8


def test_a_parser_that_changes_under_a_run_stops_it(
    db: Path, call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nfh_models.identification import base
    from nfh_tui.services import identify

    real = base.decide

    def changing(*arguments):
        with Store.open(db) as other:
            active = other.identifications.active()
            assert active is not None
            other.identifications.decide_with(active.model_id, "other 1")
        yield from real(*arguments)

    monkeypatch.setattr(identify, "decide", changing)
    result = call("identify", "--db", db)
    assert result.exit_code == 1
    assert "decide with another parser since then" in result.stderr
    assert set(decisions(db).values()) == {None}


@pytest.mark.parametrize("kind", ["spacy", "stanza"])
def test_a_folder_of_a_parser_is_found_from_anywhere(
    db: Path, call, home: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (home / "pipe").mkdir()
    monkeypatch.setattr("nfh_models.parsing.base.load_parser", lambda *_: _loaded())
    for spec, kept in (
        (f"{kind}:pipe", f"{kind}:{home / 'pipe'}"),
        ("spacy:en_none", "spacy:en_none"),
        ("spacy", "spacy"),
    ):
        report(call, "--db", db, "--parser", spec)
        with Store.open(db) as store:
            active = store.identifications.active()
        assert active is not None
        assert active.spec == kept


def test_a_parser_that_is_not_there_is_a_sentence(db: Path, call, monkeypatch) -> None:
    def none(spec: str | None, wanted: frozenset[ParseLayer]) -> Parser:
        raise ModelsError(f"no parser {spec}: get one")

    monkeypatch.setattr("nfh_models.parsing.base.load_parser", none)
    result = call("identify", "--db", db, "--parser", "stanza:there")
    assert result.exit_code == 1
    assert result.stderr == "nfh-tui: no parser stanza:there: get one\n"
    assert set(decisions(db).values()) == {None}


def test_the_command_line_stays_light(home: Path) -> None:
    code = (
        "import sys, json; "
        "from nfh_tui.cli import identify;"
        "print(json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"spacy", "numpy", "sklearn", "torch", "stanza", "textual", "simplemma"}
    assert heavy.isdisjoint(json.loads(done.stdout))
