"""What guests may change: every act of the registry, as a guest of each mode."""

import ast
import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from functools import cache, partial
from operator import attrgetter
from pathlib import Path

import pytest

import nfh_tui
from nfh_db.bulk_plan import BulkOperation, OperationKind
from nfh_db.errors import FullError, NotAllowedError, StoreError
from nfh_db.jobs import JobState, NewJob
from nfh_db.query import parse
from nfh_db.records import Exposure, FlagName, QueuePosition, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer
from nfh_tui.actions import ACTIONS, BY_ID, Access, Mode
from nfh_tui.app import WorkbenchApp
from nfh_tui.client import StoreClient, by
from nfh_tui.config import READ_ONLY_VARIABLE
from nfh_tui.services.report_process import ReportError, output
from nfh_tui.serving.child import TO_READ, visitor_app
from nfh_tui.serving.guest_client import ACCESS_OF, GuestClient
from tests.nfh_tui.screens.conftest import R, some
from tests.nfh_tui.workbench.conftest import Desk

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
    monkeypatch.setattr("nfh_tui.editor.votes.is_withheld", lambda item, me: False)
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

    async def figures(arguments: Sequence[str], database: Path, kind: type[R]) -> R:
        it.commands.append(arguments)
        if arguments[0] == "agreement":
            await asyncio.Event().wait()  # it goes on measuring
        if arguments[1:2] == ["compare"]:
            raise ReportError("too few to compare")
        return some(kind, {"models": [], "id": 1})

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
        me = store.people.ensure(ME).id
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


@pytest.mark.long
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


@pytest.mark.long
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
        me = store.people.ensure(ME).id
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
        opened.append(GuestClient(store, store.people.ensure(ME), access))
        return opened[-1]  # type: ignore[return-value]

    yield made
    for one in opened:
        one.close()


def writes(it: StoreClient) -> dict[str, tuple[Access, Callable[[], object]]]:
    """By name, the least access for each write that the screens ask for, and the write."""
    me = it.store.people.ensure(ME)
    mine, gold = Role.ANNOTATOR, Role.ADJUDICATOR
    age = class_answer(Kind.AGE)
    flagged = BulkOperation(OperationKind.SKIP, mine)
    decided = BulkOperation(OperationKind.CLASS, gold, answer=age)
    there = QueuePosition("", 4, 0)
    new = NewJob("train", 2, "resolution", {})

    def quiet(*_: object) -> None:
        pass

    asked: list[tuple[str, Access, tuple[object, ...]]] = [
        ("edits.commit_answer", Access.ANNOTATOR, (4, me, mine, age, Exposure())),
        ("edits.commit_answer gold", Access.ADJUDICATOR, (4, me, gold, age, Exposure())),
        ("edits.set_flag", Access.ANNOTATOR, (4, me, FlagName.SKIP, True)),
        ("bulk.run", Access.ANNOTATOR, ([5], flagged, me)),
        ("bulk.run gold", Access.ADJUDICATOR, ([5], decided, me)),
        ("bulk.accept_sheet", Access.ADJUDICATOR, ({5: age}, me, lambda _: Exposure())),
        ("workspace.save_draft", Access.ANNOTATOR, (4, me, mine, "{}")),
        ("workspace.save_draft gold", Access.ADJUDICATOR, (4, me, gold, "{}")),
        ("workspace.save_position", Access.ANNOTATOR, (me, "browse", there)),
        ("workspace.save_view", Access.ANNOTATOR, (me, "mine", "")),
        ("edits.undo", Access.ANNOTATOR, (me,)),
        ("edits.redo", Access.ANNOTATOR, (me,)),
        ("edits.withdraw", Access.ANNOTATOR, (4, me, mine)),
        ("settings.write own", Access.ANNOTATOR, (f"theme.{ME}", "x")),
        ("edits.propose_span", Access.ANNOTATOR, (6, me, Anchor(2, 4))),
        ("edits.replace_anchor", Access.ADJUDICATOR, (6, me, gold, Anchor(2, 4))),
        ("guidelines.add_first", Access.ADJUDICATOR, ("## R1 One",)),
        ("guidelines.add", Access.ADJUDICATOR, ("## R1 One", me, 1)),
        ("settings.write", Access.ADMIN, ("voters saw", "off")),
        ("settings.write of another", Access.ADMIN, (f"theme.{OTHER}", "x")),
        ("people.ensure", Access.ADMIN, ("somebody",)),
        ("jobs.add", Access.ADMIN, (new,)),
        ("jobs.retry", Access.ADMIN, (2,)),
        ("jobs.end", Access.ADMIN, (1, JobState.CANCELLED, by(ME))),
    ]
    found: dict[str, tuple[Access, Callable[[], object]]] = {
        name: (access, partial(it.write, attrgetter(name.partition(" ")[0])(it.store), *args))
        for name, access, args in asked
    }
    return found | {
        "rescue_all": (Access.ADMIN, lambda: it.rescue([])),
        "retraining.queue_due": (Access.ADMIN, it.queue_retraining),
        "start_runner": (Access.ADMIN, it.start_runner),
        "changes_since": (
            Access.ADMIN,
            lambda: it.changes_since(Path("/etc/passwd"), parse(""), me, quiet),
        ),
    }


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


@cache
def calls() -> list[tuple[Path, ast.Call]]:
    """Each call of the product that names the client."""
    return [
        (path, node)
        for path in Path(nfh_tui.__file__).parent.rglob("*.py")
        if "client" in (text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
    ]


def asked_for(how: str) -> set[str]:
    """What the product has the client read or write, by the name that it has in the store."""
    found = set()
    for path, node in calls():
        match node:
            case ast.Call(func=ast.Attribute(attr="partial") | ast.Name(id="partial")):
                first, *rest = node.args
                given = rest[0] if ast.unparse(first).endswith(f"client.{how}") else None
            case ast.Call(func=ast.Attribute(value=client, attr=attr)) if attr == how:
                own = ast.unparse(client) == "self" and path.name == "client.py"
                given = node.args[0] if own or "client" in ast.unparse(client) else None
            case _:
                given = None
        if given is not None:
            found.add(ast.unparse(given).rpartition("store.")[2].removeprefix("self."))
    return found


def test_no_write_of_the_screens_is_left_out(client: "Callable[[Access], GuestClient]") -> None:
    known = {name.partition(" ")[0] for name in writes(client(Access.ADMIN))}
    assert asked_for("write") == known - {"start_runner", "changes_since", "people.ensure"}


def test_nothing_that_writes_is_asked_for_as_if_it_only_read(
    client: "Callable[[Access], GuestClient]",
) -> None:
    store = client(Access.ADMIN).store

    def may_write(name: str) -> bool:
        method = attrgetter(name)(store)
        cells = [cell.cell_contents for cell in method.__closure__ or ()]
        names = {
            one
            for code in [method, *filter(inspect.isfunction, cells)]
            for one in code.__code__.co_names
        }
        return bool(names & {"durable_write", "fast_write", "path"})

    assert may_write("edits.commit_answer")
    assert may_write("people.ensure")
    assert may_write("bulk.run")
    assert not may_write("items.read")
    reads = {name for name in asked_for("read") | asked_for("stream") if "." in name}
    assert len(reads) > 30
    # Whose process has ended is noted with a job where that can be written.
    assert {name for name in reads if may_write(name)} == {"jobs.all", "jobs.read"}


async def test_a_write_is_not_made_where_reads_are(
    client: "Callable[[Access], GuestClient]",
) -> None:
    it = client(Access.ADJUDICATOR)
    with pytest.raises(NotAllowedError, match="as one that only reads"):
        await it.read(it.store.guidelines.add_first, "## R1 One")


async def test_nobody_writes_as_somebody_else(
    client: "Callable[[Access], GuestClient]", database: Path
) -> None:
    it = client(Access.ADJUDICATOR)
    other = it.store.people.ensure(OTHER)
    before = dump(database)
    with pytest.raises(NotAllowedError, match="of eva"):
        await it.write(it.store.edits.set_flag, 1, other, FlagName.SKIP, True)
    with pytest.raises(NotAllowedError, match="of eva"):
        await it.write(it.store.edits.undo, other)
    assert dump(database) == before


async def test_who_annotates_does_not_undo_what_they_decided_elsewhere(
    client: "Callable[[Access], GuestClient]", database: Path
) -> None:
    with Store.open(database) as store:
        me = store.people.ensure(ME)
        store.edits.commit_answer(5, me, Role.ANNOTATOR, class_answer(Kind.AGE))
        store.edits.commit_answer(6, me, Role.ADJUDICATOR, class_answer(Kind.AGE))
    it = client(Access.ANNOTATOR)
    before = dump(database)
    with pytest.raises(NotAllowedError, match="more than your own answers"):
        await it.write(it.store.edits.undo, me)
    assert dump(database) == before
    other = client(Access.ADJUDICATOR)
    assert await other.write(other.store.edits.undo, me) is not None
    with pytest.raises(NotAllowedError):
        await it.write(it.store.edits.redo, me)
    # Their own answer, which is the newest act now.
    assert await it.write(it.store.edits.undo, me) is not None


def test_the_store_of_a_reader_is_written_to_by_nobody(database: Path) -> None:
    with Store.open(database) as store:
        me = store.people.ensure(ME)
    before = dump(database)
    with closing(Store.open_read_only(database, TO_READ)) as store:
        with pytest.raises(FullError):
            store.edits.set_flag(1, me, FlagName.SKIP, True)
        with pytest.raises(StoreError):
            store.people.ensure("somebody new")
        with pytest.raises(FullError):
            store.jobs.add(NewJob("train", 2, "resolution", {}))
        assert store.items.read(1, me, Role.ADJUDICATOR) is not None
    assert dump(database) == before


@pytest.mark.long
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
