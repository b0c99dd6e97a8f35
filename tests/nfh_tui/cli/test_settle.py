"""`nfh-tui settle` and `nfh-tui audit`, on the sample corpus without its gold."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nfh_db.formats.gold import GoldWriter
from nfh_db.query import parse
from nfh_db.records import Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Answer, compare
from nfh_tui.cli.main import commands
from nfh_tui.sample import corpus_path
from tools.sample_corpus import corpus_records

ANCHORS, ALL_AGREE, TWO_AGREE, DISAGREE = 174, 78, 50, 46


@pytest.fixture(scope="session")
def votes_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus with its annotators' votes and nothing else."""
    path = tmp_path_factory.mktemp("votes") / "votes.jsonl"
    writer = GoldWriter()
    with path.open("w", encoding="utf-8") as file:
        for _, record in corpus_records(corpus_path().parent / "dialogs"):
            votes = tuple(vote for vote in record.votes if vote.role is Role.ANNOTATOR)
            file.write(writer.line(replace(record, gold=None, flags=(), votes=votes)))
    return path


@pytest.fixture(scope="session")
def editor() -> dict[str, Answer]:
    """What the editor of the sample corpus decided, by the anchors' public ids."""
    return {
        record.public_id: record.gold.answer
        for _, record in corpus_records(corpus_path().parent / "dialogs")
        if record.gold is not None and record.gold.rule is Rule.EXPERT
    }


@pytest.fixture(scope="session")
def database(votes_file: Path) -> Path:
    """A database of votes, to copy."""
    path = votes_file.with_name("nfh.db")
    done = CliRunner().invoke(commands, ["import", str(votes_file), "--db", str(path)])
    assert done.exit_code == 0
    return path


@pytest.fixture
def db(home: Path, database: Path) -> Path:
    """A database of votes."""
    return Path(shutil.copy(database, home / "nfh.db"))


@pytest.fixture
def as_json(call: Callable[..., Result], db: Path) -> Callable[..., dict]:
    """Calls a command with --json; what it reports."""

    def run(*arguments: object) -> dict:
        result = call(*arguments, "--json")
        assert result.exit_code == 0, result.output
        assert len(result.stdout.splitlines()) == 1
        return json.loads(result.stdout)

    return run


def settle(call: Callable[..., Result], *arguments: object) -> list[str]:
    result = call("settle", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


# --- settle ---------------------------------------------------------------------------------


def test_in_words(call, db) -> None:
    lines = settle(call, "--rule", "unanimous", "--as", "eva")
    assert lines[:2] == [
        "174 items checked by rule unanimous, 2 votes or more",
        "  gold: 78 new, 0 the same as before, 0 replaced, 0 taken back",
    ]
    assert lines[2].startswith("  in all 78 settled, by class: REFERENCE 42, OTHER 10, ")
    assert "  by votes: 3-0 78" in lines
    assert "  96 not settled: blocked by class 32, blocked by noun 14, " in "\n".join(lines)
    assert lines[-5:] == [
        "One act of eva: z in the workbench as eva undoes it",
        "  How often the rules are wrong is not known: no audit of these is finished.",
        "    nfh-tui audit --draw draws one; nfh-tui audit shows those that are open",
        "96 items in disagreement left:",
        "  nfh-tui adjudicate 'state:disagree sort:disagree'",
    ]
    assert max(map(len, lines)) <= 80
    again = settle(call, "--rule", "majority", "--as", "eva")
    assert "gold: 50 new, 78 the same as before" in again[1]
    assert "  by votes: 3-0 78, 2-1 49, 1-1-1 1" in again
    assert any("another noun 16, no majority 16" in line for line in again)
    third = settle(call, "--rule", "majority", "--as", "eva")
    assert "Nothing had to be changed" in third


def test_what_to_type_next_names_the_database_that_was_named(call, db) -> None:
    lines = settle(call, "--rule", "majority", "--audit", 3, "--to", "a b", "--db", db)
    with_db = f"nfh-tui adjudicate --db {db} "
    assert f"  {with_db}'state:disagree sort:disagree'" in lines
    todo = f"{with_db}--as 'a b' 'todo:me/adjudicator sort:assigned'"
    assert lines[-1] == f"Decide them: {todo}"
    assert "not known" not in " ".join(lines)
    said = call("audit", "--db", db).stdout.splitlines()
    assert said[0].startswith("Audit ")
    assert said[-1] == f"  Continue: {todo}"
    assert call("settle", "--rule", "majority", "--audit").stdout.startswith("174 ")


@pytest.mark.parametrize(
    ("phase", "says", "golds"),
    [
        ("looked at", "Nothing of “settlement by rule majority” is stored.", 0),
        ("written", "is stored; the next start finishes it.", 128),
    ],
)
def test_stopped_by_the_person_it_says_what_is_stored(
    call, as_json, db, monkeypatch, phase, says, golds
) -> None:
    def stop(_: object, words: str) -> None:
        if words.endswith(f" items {phase}"):
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("nfh_tui.cli.settle.RowCounter.show", stop)
        stopped = call("settle", "--rule", "majority", "--as", "eva")
    assert stopped.exit_code == 1
    assert stopped.stderr.startswith("nfh-tui: stopped. ")
    assert stopped.stderr.endswith(f"{says}\n")
    assert as_json("settle", "--rule", "majority")["same"] == golds


def test_as_json(as_json, db) -> None:
    trial = as_json("settle", "--rule", "majority", "--dry-run")
    found = as_json("settle", "--rule", "majority")
    assert (trial["new"], trial["act_id"], trial["dry_run"]) == (128, None, True)
    assert found == trial | {
        "at": found["at"],
        "act_id": found["act_id"],
        "dry_run": False,
        "rest": {"query": "state:disagree", "anchors": DISAGREE},
    }
    assert found["act_id"] is not None
    assert sum(found["classes"].values()) == sum(found["patterns"].values()) == 128
    assert sum(found["skipped"].values()) == DISAGREE
    assert (found["rule"], found["least"], found["audit"]) == ("majority", 2, None)


def test_only_what_the_query_finds(as_json) -> None:
    found = as_json("settle", "--rule", "majority", "pattern:2-1", "-said:ann1/REFERENCE")
    assert found["query"] == "pattern:2-1 -said:ann1/REFERENCE"
    assert found["rest"]["query"] == "pattern:2-1 -said:ann1/REFERENCE state:disagree"
    assert set(found["patterns"]) == {"2-1"}
    assert found["anchors"] < ANCHORS


def test_votes_that_are_wanted(as_json) -> None:
    found = as_json("settle", "--rule", "unanimous", "--least", 4)
    assert (found["new"], found["skipped"]) == (0, {"too few votes": ANCHORS})


def test_a_trial_run_stores_nothing(call, db, dump) -> None:
    before = dump(db)
    lines = settle(call, "--rule", "majority", "--dry-run", "--as", "nobody so far", "--audit")
    assert "Nothing was stored" in lines
    assert dump(db) == before


def test_gold_leaves_with_its_rule_and_votes_and_comes_back(call, db, home) -> None:
    settle(call, "--rule", "unanimous")
    settle(call, "--rule", "majority")
    for database, out in ((db, "one.jsonl"), (home / "two.db", "two.jsonl")):
        assert call("export", "--format", "gold", "--out", out, "--db", database).exit_code == 0
        call("import", "one.jsonl", "--db", home / "two.db")
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    lines = [json.loads(line) for line in Path("one.jsonl").read_text("utf-8").splitlines()]
    settled = [line for line in lines if "settled_on" in line]
    assert len(settled) == ALL_AGREE + TWO_AGREE
    for line in settled:
        voted = [[v["annotator"], v["at"]] for v in line["votes"]]
        assert (line["settled_on"], line["adjudicator"]) == (voted, None)


def test_what_is_called_wrongly(call, db) -> None:
    assert call("settle").exit_code == 2
    assert call("settle", "--rule", "expert").exit_code == 2
    assert call("settle", "--rule", "majority", "--least", 0).exit_code == 2
    assert call("settle", "--rule", "majority", "--audit", 0).exit_code == 2
    assert call("settle", "--rule", "majority", "--audit", -5).exit_code == 2
    assert call("settle", "--rule", "majority", "state:").exit_code == 2
    missing = call("settle", "--rule", "majority", "--db", "none.db")
    assert (missing.exit_code, "There is no database at none.db" in missing.stderr) == (1, True)


# --- audits ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("--audit", "pattern:2-1"),
        ("pattern:2-1", "--audit"),
        ("--audit", "-state:open", "pattern:2-1"),
        ("pattern:2-1", "--audit", "150"),
        ("pattern:2-1", "--audit=150"),
    ],
)
def test_the_size_of_an_audit_may_be_left_out(as_json, arguments) -> None:
    found = as_json("settle", "--rule", "majority", *arguments)
    assert (found["audit"]["wanted"], found["audit"]["items"]) == (150, found["new"])


def test_a_sample_is_drawn_of_what_was_settled_now(as_json, db) -> None:
    as_json("settle", "--rule", "unanimous")
    found = as_json("settle", "--rule", "majority", "--audit", 20, "--to", "otto", "--seed", 5)
    audit = found["audit"]
    assert (audit["auditor"], audit["items"], audit["frame"]) == ("otto", 20, TWO_AGREE)
    assert (audit["seed"], audit["voted"]) == (5, 0)
    assert {name.split(", ")[0] for name in audit["strata"]} == {"majority"}
    assert all(stratum["drawn"] >= 1 for stratum in audit["strata"].values())
    with Store.open(db) as store:
        otto = store.people.ensure("otto")
        assert store.queue.count(parse("todo:me audit:open"), otto) == 20
        # What a rule decided is not told to whom is to decide it blind.
        assert store.queue.count(parse("todo:me rule:majority"), otto) == 0
    # None of these again; what was settled before this run, too.
    more = as_json("audit", "--draw", 150, "--to", "ann1", "--seed", 6)
    assert more["drawn"]["frame"] == more["drawn"]["items"] == ALL_AGREE + TWO_AGREE - 20
    assert more["drawn"]["voted"] == more["drawn"]["items"]
    assert [audit["drawn"] for audit in more["audits"]] == [20, 108]
    none = as_json("audit", "--draw", "rule:majority")
    assert none["drawn"] is None


def test_the_same_seed_draws_the_same(call, as_json, db, votes_file, home) -> None:
    other = home / "other.db"
    call("import", votes_file, "--db", other)
    for database in (db, other):
        arguments = ("--rule", "majority", "--audit", 20, "--seed", 5, "--db", database)
        assert call("settle", *arguments).exit_code == 0
    with Store.open(db) as one, Store.open(other) as two:
        drawn = [[i.anchor_id for i in store.audits.all()[0].items] for store in (one, two)]
    assert drawn[0] == drawn[1]


def decide(db: Path, who: str, count: int | None, editor: dict[str, Answer]) -> int:
    """Decide what is left of an audit as the editor did, else as it was settled."""
    with Store.open(db) as store:
        me = store.people.ensure(who)
        ids = [i for some in store.queue.ids(parse("todo:me sort:assigned"), me) for i in some]
        settled = {ballot.anchor_id: ballot for ballot in store.items.ballots(parse(""))}
        wrong = 0
        for anchor_id in ids[:count]:
            item = store.items.read(anchor_id, me, Role.ADJUDICATOR)
            # Blind: neither gold nor votes.
            assert (item.gold, item.votes) == (None, ())
            made = settled[anchor_id].gold.answer
            answer = editor.get(item.public_id, made)
            lemmas = [token.lemma for token in item.passage.tokens]
            wrong += compare(answer, made, lemmas).blocking is not None
            store.edits.commit_answer(anchor_id, me, Role.ADJUDICATOR, answer)
    return wrong


def test_what_an_audit_finds(call, as_json, db, editor) -> None:
    as_json("settle", "--rule", "unanimous")
    as_json("settle", "--rule", "majority")
    as_json("audit", "--draw", 150, "--to", "otto")
    wrong = decide(db, "otto", 28, editor)
    (unfinished,) = as_json("audit")["audits"]
    assert (unfinished["decided"], unfinished["left"]) == (28, 100)
    assert (unfinished["wrong"], unfinished["rate"], unfinished["share"]) == (wrong, None, None)
    assert (unfinished["interval"], unfinished["bound"]) == (None, None)
    assert unfinished["why"].startswith("100 of 128 items are still to be decided")
    said = call("audit").stdout
    assert "28 decided (100 left)" in said
    assert "No error rate yet: 100 of 128 items are still to be decided" in said
    assert "Continue: nfh-tui adjudicate --as otto 'todo:me/adjudicator sort:assigned'" in said

    wrong += decide(db, "otto", None, editor)
    (audit,) = as_json("audit")["audits"]
    assert (audit["decided"], audit["left"], audit["why"]) == (128, 0, None)
    assert audit["wrong"] == wrong == sum(audit["kinds"].values())
    # All of them were looked at: each stratum counts as much as it has items.
    assert audit["rate"] == pytest.approx(audit["share"]) == pytest.approx(wrong / 128)
    low, high = audit["interval"]
    assert low < audit["share"] < audit["bound"] < high
    assert sum(stratum["wrong"] for stratum in audit["strata"].values()) == wrong
    with Store.open(db) as store:
        assert store.queue.count(parse("audit:wrong"), store.people.ensure("otto")) == wrong
        # What the auditor decided is gold now.
        assert store.queue.count(parse("rule:expert"), store.people.ensure("otto")) == 128


def test_of_the_items_made_to_mislead_a_whole_audit_finds_those_settled(
    as_json, db, editor
) -> None:
    """4 where all say the same wrong thing; 9 of 12 where two of three do: the majority's
    heads differ in the others. One more is made of one OTHER and one UNKNOWN of three votes.
    """
    as_json("settle", "--rule", "majority", "--audit", "--to", "otto")
    with Store.open(db) as store:
        ballots = list(store.items.ballots(parse("")))
        misled: dict[str, list[bool]] = {}
        for ballot in ballots:
            item = store.items.read(
                ballot.anchor_id, store.people.ensure("x"), Role.ADJUDICATOR
            )
            right = editor.get(item.public_id)
            if right is None:
                continue
            lemmas = [token.lemma for token in ballot.passage.tokens]
            agreeing = sum(
                compare(vote.answer, right, lemmas).blocking is None for vote in ballot.votes
            )
            if (item.pattern, agreeing) in (("3-0", 0), ("2-1", 1)):
                misled.setdefault(item.pattern, []).append(ballot.gold is not None)
    assert {pattern: len(found) for pattern, found in misled.items()} == {"3-0": 4, "2-1": 12}
    settled = {pattern: sum(found) for pattern, found in misled.items()}
    assert settled == {"3-0": 4, "2-1": 9}
    assert decide(db, "otto", None, editor) == 4 + 9 + 1


def test_audits_in_words(call, as_json, db, editor) -> None:
    assert "There is no audit yet" in call("audit").stdout
    lines = settle(
        call, "--rule", "majority", "--audit", 40, "--as", "eva", "--to", "me", "--seed", 1
    )
    drawn = next(place for place, line in enumerate(lines) if line.startswith("Audit "))
    assert ": 40 items of 128 drawn with seed 1, for me" in lines[drawn]
    assert lines[drawn + 1].split() == ["stratum", "golds", "drawn"]
    todo = "'todo:me/adjudicator sort:assigned'"
    assert lines[-1] == f"Decide them: nfh-tui adjudicate --as me {todo}"
    wrong = decide(db, "me", None, editor)
    said = call("audit").stdout.splitlines()
    first = next(place for place, line in enumerate(said) if line.startswith("Audit "))
    assert said[first].endswith(" by me: 40 items of 128 that rules settled, seed 1")
    assert said[first + 1].startswith(f"  40 decided, {wrong} wrong (")
    # The figures stand under the tables, where the end of a long output is read.
    assert said[-4].startswith("  Error rate ")
    assert "95 % interval" in said[-3]
    assert said[-1] == "What was found wrong: nfh-tui browse audit:wrong"


def test_each_stratum_is_told_with_what_audits_found_wrong(call, as_json, db, editor) -> None:
    settle(call, "--rule", "majority")
    as_json("audit", "--draw", 60, "--to", "otto", "--seed", 7)
    decide(db, "otto", 59, editor)
    unfinished = as_json("audit")["strata"]
    assert {one["audited"] for one in unfinished} == {0}
    assert {one["advice"] for one in unfinished} == {"audit more"}
    decide(db, "otto", None, editor)
    audits = as_json("audit")
    trial = as_json("settle", "--rule", "majority", "--dry-run")
    assert audits["strata"] == trial["strata"]
    first = trial["strata"][0]
    assert (first["kind"], first["pattern"]) == ("REFERENCE", "2-1")
    assert (first["audited"], first["wrong"], first["advice"]) == (5, 2, "decide by hand")
    assert first["interval"] == pytest.approx((0.05274, 0.85337), abs=1e-5)
    with Store.open(db) as store:
        eva = store.people.ensure("eva")
        for one in trial["strata"]:
            assert store.queue.count(parse(one["find"]), eva) == one["golds"]
    assert sum(one["golds"] for one in trial["strata"]) == trial["same"] == 68
    for said in (settle(call, "--rule", "majority"), call("audit").stdout.splitlines()):
        at = said.index("What audits found wrong (95 % interval), by class and votes")
        assert said[at + 1].split() == "stratum golds audited wrong interval advice".split()
        assert said[at + 2].split("  ")[-1].strip() == "decide by hand"
        todo = "rule:unanimous,majority class:REFERENCE pattern:2-1"
        assert f"  nfh-tui adjudicate '{todo}'" in said
    # Only of what the query finds, in a query that has OR too.
    some = as_json("settle", "--rule", "majority", "--dry-run", "votes:9", "OR", "class:AGE")
    assert {one["kind"] for one in some["strata"]} == {"AGE"}


def test_no_audit_where_nothing_was_settled(call, db) -> None:
    settle(call, "--rule", "majority")
    result = call("settle", "--rule", "majority", "--audit")
    assert result.exit_code == 0
    assert "No audit was drawn, because nothing new was settled" in result.stderr
    nothing = call("audit", "--draw", "class:NFH")
    assert "No audit was drawn: the query finds nothing" in nothing.stderr


def test_an_audit_that_is_called_wrongly(call, db) -> None:
    for arguments in (["class:AGE"], ["--to", "eva"], ["--seed", "1"], ["--draw", "0"]):
        assert call("audit", *arguments).exit_code == 2
    assert call("audit", "--draw", "3000").exit_code == 2


def test_nothing_but_the_report_on_a_pipe(call, db) -> None:
    done = call("settle", "--rule", "majority", "--json", "--db", db)
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout)["new"] == 128
