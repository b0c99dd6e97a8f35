"""A file imported again for its gold: `replace_gold` works however late one thinks of it."""

import pytest

from nfh_db import bulk_run
from nfh_db.connection import connect, sqlite3
from nfh_db.errors import StoreError
from nfh_db.event_log import present_state, replay
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import ImportReport, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

AGE, YEAR = '["AGE"]', '["YEAR"]'


@pytest.fixture
def files(kit) -> dict[str, list[object]]:
    """Two files that differ about one number; the first also contradicts itself."""

    def row(words: str, kind: Kind, line: int) -> object:
        labels = f'["{kind}"]'
        return kit.one(words, 1, line=line, labels=labels, gold=kit.gold(kind))

    return {
        "first": [
            row("a one", Kind.AGE, 1),
            row("b one", Kind.TIME, 2),
            row("a one", Kind.OTHER, 3),
        ],
        "second": [row("a one", Kind.YEAR, 1)],
    }


def bring(
    store: Store, files: dict[str, list[object]], name: str, **options: bool
) -> ImportReport:
    return store.imports.load(IncomingFile(name, f"sha {name}", "nfh"), files[name], **options)


def kinds(store: Store) -> list[str | None]:
    return [
        record.gold.answer.kind.value if record.gold else None
        for record in store.items.records(parse(""), None, "gold")
    ]


def labels(store: Store) -> list[str | None]:
    return [record.labels for record in store.items.records(parse(""), None, "nfh")]


def rows(store: Store) -> dict[str, list[tuple[object, ...]]]:
    reader = connect(store.path, "ro")
    names = reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    found = {name: reader.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in names}
    reader.close()
    return found


def check_log(store: Store) -> None:
    reader = connect(store.path, "ro")
    found = replay(reader)
    assert (found.broken, found.state) == ([], present_state(reader))
    reader.close()


def test_gold_that_was_kept_at_first_can_still_be_replaced(store: Store, files) -> None:
    bring(store, files, "first")
    assert len(bring(store, files, "second").conflicts) == 1
    assert kinds(store) == ["AGE", "TIME"]
    trial = bring(store, files, "second", replace_gold=True, dry_run=True)
    assert (trial.gold_replaced, trial.already, kinds(store)) == (1, False, ["AGE", "TIME"])
    report = bring(store, files, "second", replace_gold=True)
    assert (report.gold_replaced, report.anchors_new, report.already) == (1, 0, False)
    assert kinds(store) == ["YEAR", "TIME"]
    check_log(store)


def test_going_back_to_the_first_file_leaves_rows_as_they_came(store: Store, files) -> None:
    bring(store, files, "first")
    bring(store, files, "second")
    before = labels(store)
    bring(store, files, "second", replace_gold=True)
    bring(store, files, "first", replace_gold=True)
    assert kinds(store) == ["AGE", "TIME"]
    assert labels(store) == before
    assert len(rows(store)["source_row"]) == 4
    check_log(store)


@pytest.mark.parametrize("dry_run", [True, False])
def test_where_all_gold_is_the_files_own_nothing_is_written(
    store: Store, files, dry_run: bool
) -> None:
    bring(store, files, "first")
    bring(store, files, "second", replace_gold=True)
    before = rows(store)
    report = bring(store, files, "second", replace_gold=True, dry_run=dry_run)
    assert (report.already, report.gold_same) == (True, 1)
    assert rows(store) == before


def test_an_experts_gold_and_peoples_answers_stay(store: Store, kit) -> None:
    row = kit.one("a one", 1, gold=kit.gold(Kind.AGE), votes=[kit.vote("ann1", Kind.AGE)])
    file = IncomingFile("gold", "sha gold", "gold")
    store.imports.load(file, [row])
    eva, ann1 = store.people.ensure("eva"), store.people.ensure("ann1")
    store.edits.withdraw(1, ann1, Role.ANNOTATOR)
    store.edits.commit_answer(1, eva, Role.ADJUDICATOR, class_answer(Kind.YEAR))
    report = store.imports.load(file, [row], replace_gold=True)
    assert (report.already, report.votes_new, len(report.conflicts)) == (True, 0, 1)
    item = store.items.read(1, eva, Role.ADJUDICATOR)
    assert item is not None
    assert [vote.annotator for vote in item.votes] == ["eva"]
    assert item.gold is not None
    assert item.gold.answer.kind is Kind.YEAR


def test_a_run_that_was_broken_off_is_finished_by_the_next_start(
    store: Store, files, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(store, files, "first")
    bring(store, files, "second")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(bulk_run, "run_settlement", die)
        with pytest.raises(KeyboardInterrupt):
            bring(store, files, "second", replace_gold=True)
    with Store.open(store.path) as later:
        assert kinds(later) == ["YEAR", "TIME"]
        check_log(later)


def test_an_expert_who_confirms_imported_gold_is_taken_over(store: Store, kit) -> None:
    kit.load(store, kit.one("a one", 1, gold=kit.gold(Kind.AGE)))
    expert = kit.one(
        "a one",
        1,
        gold=kit.gold(Kind.AGE, Rule.EXPERT, "lee"),
        votes=[kit.vote("lee", Kind.AGE, Role.ADJUDICATOR)],
    )
    assert kit.load(store, expert).gold_same == 1
    assert kit.load(store, expert, replace_gold=True).gold_replaced == 1
    item = store.items.read(1, store.people.ensure("lee"), Role.ADJUDICATOR)
    assert item is not None
    assert item.gold == kit.gold(Kind.AGE, Rule.EXPERT, "lee")
    assert kit.load(store, expert, replace_gold=True).gold_same == 1
    check_log(store)


def test_a_disk_that_fills_up_at_the_end_says_what_is_stored(
    store: Store, files, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(store, files, "first")

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(bulk_run, "run_settlement", full)
        with pytest.raises(
            StoreError,
            match=(
                r"^second is stored, but .*room on the "
                r"disk.*applies the rest$"
            ),
        ):
            bring(store, files, "second", replace_gold=True)
    with Store.open(store.path) as later:
        assert kinds(later) == ["YEAR", "TIME"]
        assert bring(later, files, "second").already
        check_log(later)
