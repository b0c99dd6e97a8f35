"""What guests may change: every act of the registry, as a guest of each mode."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from nfh_db.bulk_plan import BulkOperation, OperationKind, unseen
from nfh_db.errors import FullError, NotAllowedError, StoreError
from nfh_db.jobs import NewJob
from nfh_db.query import parse
from nfh_db.records import Exposure, FlagName, QueuePosition, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer
from nfh_tui import client as main
from nfh_tui.actions import ACTIONS, BY_ID, Access, Mode
from nfh_tui.app import WorkbenchApp
from nfh_tui.client import StoreClient
from nfh_tui.config import READ_ONLY_VARIABLE
from nfh_tui.services.report_process import ReportError, output
from nfh_tui.serving.child import TO_READ, visitor_app
from nfh_tui.serving.guest_client import ACCESS_OF, GuestClient
from tests.shell.conftest import Desk

from .walk import LEAVE, OTHER, REFUSED, Rows, Walk, changed, dump, furnish

ME = "kim"
SEEN_ELSEWHERE = frozenset(
    {"screen.agreement", "screen.evaluation", "screen.jobs", "precedents"}
)
"""Acts that show what others answered: a reader may do them, an annotator may not."""

DERIVED = frozenset({"state", "votes", "strongest", "blocking", "notes", "pattern"})
"""Columns of an anchor that sum up what everybody answered."""

OWN = ("answer", "draft", "flag", "place", "saved_view")
LOGGED = ("act", "event", "batch", "difference", "gold_difference")
GOLD = ("gold", "guideline", "anchor", "head", "mention", "expert_difference")


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of several people's work; no predictor and no proposal withheld by chance."""
    monkeypatch.setattr("nfh_tui.editor.votes.withheld", lambda item, me: False)
    monkeypatch.setenv("NFH_TUI_PREDICTOR", "off")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = tmp_path / "some" / "roles.db"
    path.parent.mkdir()
    furnish(path, ME)
    return path


class Beside:
    """What a workbench starts besides itself. commands: of ours. runners: how many."""

    def __init__(self) -> None:
        self.commands: list[Sequence[str]] = []
        self.runners = 0


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Beside:
    """Nothing is started; what would be is noted."""
    it = Beside()

    async def printed(arguments: Sequence[str], database: Path) -> str:
        it.commands.append(arguments)
        return ""

    async def figures(arguments: Sequence[str], database: Path) -> dict[str, object]:
        it.commands.append(arguments)
        if arguments[0] == "agreement":
            await asyncio.Event().wait()  # it goes on measuring
        if arguments[1:2] == ["compare"]:
            raise ReportError("too few to compare")
        return {"models": [], "id": 1}

    def started(store: Store) -> bool:
        it.runners += 1
        return True

    for screen in ("jobs", "evaluation"):
        monkeypatch.setattr(f"nfh_tui.screens.{screen}.output", printed)
    for screen in ("jobs", "agreement", "evaluation"):
        monkeypatch.setattr(f"nfh_tui.screens.{screen}.report", figures)
    monkeypatch.setattr("nfh_tui.jobs.runner.ensure_runner", started)
    return it


@asynccontextmanager
async def visiting(
    database: Path, mode: Mode, *, admin: bool = False
) -> AsyncIterator[tuple[Walk, WorkbenchApp]]:
    """A visitor's workbench, to be walked through."""
    app = visitor_app(database, ME, mode, admin=admin)
    app.deliver_text = lambda *_, **__: None  # type: ignore[assignment,method-assign]
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            desk = Desk(app, pilot)
            await desk.settle()
            yield Walk(desk, app), app
    finally:
        app.close()


def own_only(database: Path, before: Rows, after: Rows) -> list[str]:
    """What changed that is not of the guest's own, in words."""
    with Store.open(database) as store:
        me = store.annotator(ME).id
    answers = {row["id"] for row in after["answer"].values() if row["annotator_id"] == me}
    heads = {row["id"] for row in after["head"].values() if row["answer_id"] in answers} | {
        row["id"] for row in before["head"].values() if row["answer_id"] in answers
    }
    acts = {row["id"] for row in after["act"].values() if row["annotator_id"] == me}
    wrong = []
    for table, rows in changed(before, after).items():
        for row in rows:
            fine = {
                "head": row.get("answer_id") in answers,
                "mention": row.get("head_id") in heads,
                "event": row.get("act_id") in acts and row.get("annotator_id") == me,
                "difference": me in {row.get("left_id"), row.get("right_id")},
                "batch": row.get("format") == "bulk",
                "setting": str(row.get("name")).endswith(f".{ME}"),
                "anchor": table == "anchor" and _same_anchor(before, after, row["id"]),
            }.get(
                table,
                table in {*OWN, "act", "gold_difference"} and row.get("annotator_id") == me,
            )
            role_fine = row.get("role", "annotator") == "annotator"
            if not (fine and role_fine):
                wrong.append(f"{table}: {row}")
    return wrong


def _same_anchor(before: Rows, after: Rows, id_: object) -> bool:
    was, now = (rows["anchor"].get((id_,), {}) for rows in (before, after))
    return {n for n in was.keys() | now.keys() if was.get(n) != now.get(n)} <= DERIVED


def files(folder: Path) -> set[Path]:
    """What lies in a folder, but for what SQLite keeps there."""
    return {one for one in folder.rglob("*") if not one.name.endswith(("-wal", "-shm"))}


async def test_a_guest_who_reads_changes_nothing(database: Path, beside: Beside) -> None:
    before, lying = dump(database), files(database.parent)
    async with visiting(database, Mode.BROWSE) as (walk, _):
        await walk.all()
    assert changed(before, dump(database)) == {}
    assert files(database.parent) == lying
    check_said(walk, Mode.BROWSE)
    check_beside(beside)


async def test_a_guest_who_annotates_changes_what_is_their_own(
    database: Path, beside: Beside
) -> None:
    before = dump(database)
    async with visiting(database, Mode.ANNOTATE) as (walk, _):
        await walk.all()
    after = dump(database)
    assert own_only(database, before, after) == []
    check_said(walk, Mode.ANNOTATE)
    check_beside(beside)
    # The walk does something: else this would hold of a workbench that is dead.
    assert {"answer", "flag", "place", "saved_view", "act"} <= changed(before, after).keys()


async def test_a_guest_who_adjudicates_changes_also_gold(
    database: Path, beside: Beside
) -> None:
    before = dump(database)
    async with visiting(database, Mode.ADJUDICATE) as (walk, _):
        await walk.all()
    after = dump(database)
    found = changed(before, after)
    assert found.keys() <= {*OWN, *LOGGED, *GOLD, "setting"}
    with Store.open(database) as store:
        me = store.annotator(ME).id
    for table in OWN:
        assert {row["annotator_id"] for row in found.get(table, [])} <= {me}
    assert all(str(row["name"]).endswith(f".{ME}") for row in found.get("setting", []))
    check_said(walk, Mode.ADJUDICATE)
    check_beside(beside)
    assert {"gold", "guideline"} <= found.keys()


async def test_an_admin_may_do_all_there_is(database: Path, beside: Beside) -> None:
    before = dump(database)
    async with visiting(database, Mode.ADJUDICATE, admin=True) as (walk, _):
        await walk.beside(BY_ID["screen.jobs"])
    assert not [one for one, said in walk.said.items() if said.startswith(REFUSED)]
    assert beside.runners
    assert "job" in changed(before, dump(database))


def check_said(walk: Walk, mode: Mode) -> None:
    """Each act was refused to this guest if it takes more, and no other act was."""
    access = ACCESS_OF[mode]
    wrong = []
    for action in ACTIONS:
        if action.id in LEAVE:
            continue
        said = walk.said.get(action.id, "").startswith(REFUSED)
        hidden = mode is Mode.ANNOTATE and (
            action.id in SEEN_ELSEWHERE
            or (len(action.of) > 0 and set(action.of) <= SEEN_ELSEWHERE)
        )
        if hidden and action.where:
            continue
        elsewhere = hidden or (
            mode is Mode.ANNOTATE
            and action.id in {"side.agreement", "side.evaluation", "side.jobs"}
        )
        if said is not (action.access > access or elsewhere):
            wrong.append((action.id, walk.said[action.id]))
    assert not wrong


def check_beside(beside: Beside) -> None:
    """No runner, and no command but those that read."""
    assert beside.runners == 0
    verbs = {tuple(call[:2]) for call in beside.commands}
    reads = {("models",), ("models", "show"), ("models", "compare")}
    assert {verb for verb in verbs if verb[0] != "agreement"} <= reads


# --- behind the screen ------------------------------------------------------------------


@pytest.fixture
def client(database: Path) -> "AsyncIterator[Callable[[Access], GuestClient]]":
    """Opens the store as a guest with some access has it."""
    opened: list[StoreClient] = []

    def made(access: Access) -> GuestClient:
        reading = access is Access.READER
        store = Store.open_read_only(database, TO_READ) if reading else Store.open(database)
        opened.append(GuestClient(store, store.annotator(ME), access))
        return opened[-1]  # type: ignore[return-value]

    yield made
    for one in opened:
        one.close()


def writes(it: StoreClient) -> dict[str, tuple[Access, Callable[[], object]]]:
    """By name, the least access for each write that the client offers, and the write."""
    me = it.store.annotator(ME)
    mine, gold = Role.ANNOTATOR, Role.ADJUDICATOR
    age = class_answer(Kind.AGE)
    flagged = BulkOperation(OperationKind.SKIP, mine)
    decided = BulkOperation(OperationKind.CLASS, gold, answer=age)

    def quiet(*_: object) -> None:
        pass

    return {
        "commit_answer": (
            Access.ANNOTATOR, lambda: it.commit_answer(4, me, mine, age, Exposure()),
        ),
        "commit_answer gold": (
            Access.ADJUDICATOR, lambda: it.commit_answer(4, me, gold, age, Exposure()),
        ),
        "set_flag": (Access.ANNOTATOR, lambda: it.set_flag(4, me, FlagName.SKIP, True)),
        "run_bulk": (Access.ANNOTATOR, lambda: it.run_bulk([5], flagged, me, unseen, quiet)),
        "run_bulk gold": (
            Access.ADJUDICATOR, lambda: it.run_bulk([5], decided, me, unseen, quiet),
        ),
        "save_draft": (Access.ANNOTATOR, lambda: it.save_draft(4, me, mine, "{}")),
        "save_draft gold": (Access.ADJUDICATOR, lambda: it.save_draft(4, me, gold, "{}")),
        "save_place": (
            Access.ANNOTATOR, lambda: it.save_place(me, "browse", QueuePosition("", 4, 0)),
        ),
        "save_view": (Access.ANNOTATOR, lambda: it.save_view(me, "mine", "")),
        "undo": (Access.ANNOTATOR, lambda: it.undo(me)),
        "redo": (Access.ANNOTATOR, lambda: it.redo(me)),
        "withdraw": (Access.ANNOTATOR, lambda: it.withdraw(4, me, mine)),
        "set_setting own": (Access.ANNOTATOR, lambda: it.set_setting(f"theme.{ME}", "x")),
        "propose_span": (Access.ANNOTATOR, lambda: it.propose_span(6, me, Anchor(2, 4))),
        "replace_anchor": (
            Access.ADJUDICATOR, lambda: it.replace_anchor(6, me, gold, Anchor(2, 4)),
        ),
        "rescue_all": (Access.ADMIN, lambda: it.rescue([])),
        "begin_guidelines": (Access.ADJUDICATOR, lambda: it.begin_guidelines("## R1 One")),
        "add_guideline": (Access.ADJUDICATOR, lambda: it.add_guideline("## R1 One", me, 1)),
        "set_setting": (Access.ADMIN, lambda: it.set_setting("voters saw", "off")),
        "set_setting of another": (Access.ADMIN, lambda: it.set_setting(f"theme.{OTHER}", "x")),
        "annotator": (Access.ADMIN, lambda: it.annotator("somebody")),
        "queue_job": (Access.ADMIN, lambda: it.queue_job(NewJob("train", 2, "resolution", {}))),
        "retry_job": (Access.ADMIN, lambda: it.retry_job(2)),
        "cancel_job": (Access.ADMIN, lambda: it.cancel_job(1, ME)),
        "queue_retraining": (Access.ADMIN, it.queue_retraining),
        "start_runner": (Access.ADMIN, it.start_runner),
        "changes_since": (
            Access.ADMIN, lambda: it.changes_since(Path("/etc/passwd"), parse(""), me, quiet),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("access", [Access.READER, Access.ANNOTATOR, Access.ADJUDICATOR])
async def test_a_guests_client_cannot_change_more_than_they_may(
    client: "Callable[[Access], GuestClient]", database: Path, beside: Beside, access: Access
) -> None:
    it = client(access)
    for name, (least, write) in writes(it).items():
        before = dump(database)
        if least > access:
            with pytest.raises(NotAllowedError, match="You were invited to"):
                await write()  # type: ignore[misc]
            assert dump(database) == before, name
        else:
            await write()  # type: ignore[misc]
    assert beside.runners == 0


async def test_no_write_of_the_client_is_left_out(
    client: "Callable[[Access], GuestClient]", monkeypatch: pytest.MonkeyPatch
) -> None:
    it = client(Access.ADMIN)
    asked: set[str] = set()
    monkeypatch.setattr(
        StoreClient, "_write", lambda self, call, *_, **__: asked.add(call.__name__) or _done()
    )
    for name, (_, write) in writes(it).items():
        if name not in {"start_runner", "changes_since"}:
            try:
                await write()  # type: ignore[misc]
            except TypeError:
                assert name == "queue_retraining"
    named = {one for one in asked if one != "end_job"} | {"cancel_job"}
    assert named == {name.partition(" ")[0] for name in writes(it)} - {
        "start_runner",
        "changes_since",
    }
    sources = inspect.getsource(main)
    assert sources.count("await self._write(") + sources.count("return self._write(") == len(
        asked
    )


async def _done() -> None:
    """A write that is not made."""


async def test_nobody_writes_as_somebody_else(
    client: "Callable[[Access], GuestClient]", database: Path
) -> None:
    it = client(Access.ADJUDICATOR)
    other = it.store.annotator(OTHER)
    before = dump(database)
    with pytest.raises(NotAllowedError, match="as eva"):
        await it.set_flag(1, other, FlagName.SKIP, True)
    with pytest.raises(NotAllowedError, match="as eva"):
        await it.undo(other)
    assert dump(database) == before


async def test_who_annotates_does_not_undo_what_they_decided_elsewhere(
    client: "Callable[[Access], GuestClient]", database: Path
) -> None:
    with Store.open(database) as store:
        me = store.annotator(ME)
        store.commit_answer(5, me, Role.ANNOTATOR, class_answer(Kind.AGE))
        store.commit_answer(6, me, Role.ADJUDICATOR, class_answer(Kind.AGE))
    it = client(Access.ANNOTATOR)
    before = dump(database)
    with pytest.raises(NotAllowedError, match="more than answers of your own"):
        await it.undo(me)
    assert dump(database) == before
    assert await client(Access.ADJUDICATOR).undo(me) is not None
    with pytest.raises(NotAllowedError):
        await it.redo(me)
    assert await it.undo(me) is not None  # their own answer, which is the newest act now


def test_the_store_of_a_reader_is_written_to_by_nobody(database: Path) -> None:
    with Store.open(database) as store:
        me = store.annotator(ME)
    before = dump(database)
    with closing(Store.open_read_only(database, TO_READ)) as store:
        with pytest.raises(FullError):
            store.set_flag(1, me, FlagName.SKIP, True)
        with pytest.raises(StoreError):
            store.annotator("somebody new")
        with pytest.raises(FullError):
            store.queue_job(NewJob("train", 2, "resolution", {}))
        assert store.item(1, me, Role.ADJUDICATOR) is not None
    assert dump(database) == before


async def test_the_commands_that_screens_of_a_reader_run_write_nothing(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(READ_ONLY_VARIABLE, TO_READ)
    before = dump(database)
    for call in (
        ["models", "--json"],
        ["models", "show", "1"],
        ["models", "compare", "1", "2", "--as", ME, "--json"],
        ["agreement", "--as", ME, "--json"],
    ):
        with suppress(ReportError):  # two models and one person are few to measure
            await asyncio.wait_for(output(call, database), 60)
        assert changed(before, dump(database)) == {}, call
