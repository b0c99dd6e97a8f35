"""A merge from beginning to end, and the finishing of one whose process is gone."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from nfh_db import backup, batches, clock
from nfh_db.batches import Unfinished
from nfh_db.bulk import bulk_connection, finish_leftovers
from nfh_db.connection import Connection, sqlite3, transaction, translated
from nfh_db.errors import StoreError
from nfh_db.merge import applying, extras, leftovers, notes, other, planning, wording
from nfh_db.merge.applying import Applied
from nfh_db.merge.bringing import Bringing, OvertakenError
from nfh_db.merge.extras import Extras
from nfh_db.merge.maps import DamagedError
from nfh_db.merge.other import OtherCopy
from nfh_db.merge.plan import Plan
from nfh_db.merge.report import Conflict, MergeReport
from nfh_db.moment import connect_to_read
from nfh_db.values import json_of

ATTEMPTS = 3
KEPT_OPEN = 20_000
"""Of what is left to a person, how much the database remembers."""

Progress = Callable[[str, int], None]
"""Told what is being done, and to how many so far."""


def merge(
    path: Path,
    source: Path,
    me: str,
    *,
    dry_run: bool = False,
    progress: Progress,
) -> MergeReport:
    """Bring in what the other copy `source` has more; see `Store.merge`."""
    with other.opened(source, path) as copy:
        for _ in range(ATTEMPTS):
            try:
                return _merge(path, copy, me, dry_run=dry_run, progress=progress)
            except OvertakenError:
                continue
            except DamagedError as error:
                raise StoreError(f"{source}: {error}") from error
    raise StoreError(
        f"{source} cannot be merged while others import: wait until they are done, and merge "
        "again"
    )


def _merge(
    path: Path, copy: OtherCopy, me: str, *, dry_run: bool, progress: Progress
) -> MergeReport:
    with bulk_connection(path, read_only=dry_run) as connection:
        if not dry_run:
            finish_leftovers(connection)
            batches.refuse_beside_another(connection, f"merge {copy.path}")
        with _reading(path) as here, translated(copy.path):
            plan, along, report = _look(here, copy, lambda done: progress("compared", done))
        report = replace(report, dry_run=dry_run)
        copy.check_unchanged()
        if dry_run or not (report.changes or plan.open_anew):
            return report
        kept = _back_up(path, progress) if report.changes else None
        report = replace(report, backup=None if kept is None else str(kept))
        if not plan.is_empty or plan.open_anew:
            with _kept_if_shown(kept) as shown:
                report = _bring(connection, copy, plan, me, report, progress, shown)
        extras.bring(connection, plan.maps, along)
        return report


@contextmanager
def _reading(path: Path) -> Iterator[Connection]:
    with closing(connect_to_read(path)) as here:
        here.execute("BEGIN")
        yield here


def _look(
    here: Connection, copy: OtherCopy, tell: Callable[[int], None]
) -> tuple[Plan, Extras, MergeReport]:
    there = copy.connection
    plan = planning.plan(here, there, tell)
    brought = {anchor.id for anchor in plan.anchors}
    lost = {id_ for id_, mine in plan.maps.anchors.items() if mine < 0 and id_ not in brought}
    along = extras.find(here, there, plan.maps, lost)
    conflicts = tuple(wording.of_plan(here, there, plan.maps, plan.left))
    return plan, along, _report(copy, plan, along, conflicts)


def _report(
    copy: OtherCopy, plan: Plan, along: Extras, conflicts: tuple[Conflict, ...]
) -> MergeReport:
    coming = [*plan.waiting, *(one for some in plan.direct.values() for one in some)]
    return MergeReport(
        other=str(copy.path),
        people_new=tuple(person.name for person in plan.people),
        imports_new=tuple(plan.files),
        passages_new=len(plan.passages),
        anchors_new=len(plan.anchors),
        acts=len({one.event.act for one in coming}),
        events=len(coming),
        items=len({one.event.anchor for one in coming}),
        agreed=plan.agreed,
        taken_back=plan.taken_back,
        assignments_new=len(along.assignments),
        drafts_new=len(along.drafts),
        places_new=len(along.places),
        views_new=len(along.views),
        guidelines_new=len(along.guidelines),
        conflicts=conflicts,
        left=tuple(along.left),
    )


@contextmanager
def _kept_if_shown(kept: Path | None) -> Iterator[list[int]]:
    """Deletes a copy where nothing was changed after all; the list is empty till then."""
    shown: list[int] = []
    try:
        yield shown
    except BaseException:
        if kept is not None and not shown:
            kept.unlink(missing_ok=True)
        raise


def _back_up(path: Path, progress: Progress) -> Path:
    """A copy beside the database as it is before the merge."""
    stamp = clock.now().replace(":", "").replace("-", "").replace(".", "")
    target = path.with_name(f"{path.name}.backup-merge-{stamp}")
    return backup.back_up(path, target, lambda done, _: progress("copied", done)).path


def _bring(
    connection: Connection,
    copy: OtherCopy,
    plan: Plan,
    me: str,
    report: MergeReport,
    progress: Progress,
    shown: list[int],
) -> MergeReport:
    # A name that is no UTF-8 cannot be stored.
    name = copy.path.name.encode("utf-8", "replace").decode("utf-8")
    with Bringing(connection, copy.connection, plan, me, name) as bringing:
        bringing.run(lambda done: progress("written", done), copy.check_unchanged)
        shown.append(bringing.batch)
        batch, note, text = bringing.batch, bringing.note, bringing.text
        try:
            found = applying.run(
                connection, batch, note, text, lambda done: progress("applied", done)
            )
            missed = tuple(wording.of_missed(connection, found.missed))
            report = _with(report, found, missed)
            applying.finish(connection, batch, note, report.events, _kept(report, plan))
        except sqlite3.Error as error:
            raise StoreError(
                f"What {name} has more is stored, but could not all be applied yet ({error}). "
                "Nothing is lost: make sure that the disk has room, and open the database "
                "again; the rest is done then"
            ) from error
    return report


def _with(report: MergeReport, found: Applied, missed: tuple[Conflict, ...]) -> MergeReport:
    """The report, less what somebody was faster with."""
    return replace(
        report,
        acts=report.acts - len(found.seen - found.happened),
        events=report.events - len(found.missed),
        conflicts=report.conflicts + missed,
    )


def _kept(report: MergeReport, plan: Plan) -> str:
    """What the database keeps of a report; see `memory`.

    What somebody was faster with is not in it: that was not decided with both in view.
    """
    content = asdict(report)
    del content["conflicts"]
    return json_of(content | {"open": plan.open[:KEPT_OPEN]})


def finish(connection: Connection, batch: Unfinished) -> None:
    """Go on with a merge whose process is gone; one that was not shown is cleared away."""
    with transaction(connection):
        text = notes.claim(connection, batch)
    if text is None:
        return
    note = notes.read_text(text)
    if not note.shown:
        leftovers.sweep_all(connection, batch.id, note)
        return
    found = applying.run(connection, batch.id, note, text, lambda _: None)
    report = json_of({"events": found.events, "resumed": True})
    applying.finish(connection, batch.id, note, found.events, report)
