"""Entry points of a merge, crash recovery of one, and the words for its conflicts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from nfh_db import anchors, batches, database, event_log, passages, system
from nfh_db.batches import Unfinished
from nfh_db.bulk_run import bulk_connection, finish_leftovers
from nfh_db.connection import (
    Connection,
    Repository,
    sqlite3,
    transaction,
    translated,
    with_path,
)
from nfh_db.database import connect_to_read
from nfh_db.errors import StoreError
from nfh_db.merge import apply
from nfh_db.merge import plan as merge_plan
from nfh_db.merge import source as merge_source
from nfh_db.merge.apply import MergeWriter, PendingEvent, PlanOutdatedError
from nfh_db.merge.log_diff import Chain, Conflict, ConflictReason, ConflictSide, MergeReport
from nfh_db.merge.plan import Extras, MergePlan, UnresolvedConflict
from nfh_db.merge.source import DamagedError, IdMaps, OtherCopy, decoded
from nfh_db.passages import read as read_passages
from nfh_db.query import quote
from nfh_db.query.parser import quoted
from nfh_db.records import Role
from nfh_db.serialization import (
    AnchorValue,
    AnswerValue,
    FlagValue,
    GoldValue,
    Marks,
    Value,
    json_of,
)
from nfh_db.settlement import Progress, ignore
from nfh_models.domain import Anchor, Passage, anchor_id

SPANS = """
SELECT a.id, a.start, a.stop FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids))"""
PLACES = """
SELECT a.id, a.passage_id, a.start, a.stop FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids))"""

CONTEXT_TOKENS = 4
"""Tokens on each side of a number in the query that finds it, within its turn."""

AT_ONCE = 500

SUBJECTS = {"gold": "gold", "flag": "flag", "anchor": "span"}


def plan_conflicts(
    here: Connection, there: Connection, maps: IdMaps, left: Sequence[UnresolvedConflict]
) -> Iterator[Conflict]:
    """The conflicts of a plan."""
    for first in range(0, len(left), AT_ONCE):
        some = left[first : first + AT_ONCE]
        texts = read_passages(there, sorted({one.passage for one in some}))
        spans = _spans(here, there, maps, some)
        for one in some:
            yield _plan_conflict(here, one, texts[one.passage], spans)


def _plan_conflict(
    here: Connection, left: UnresolvedConflict, passage: Passage, spans: Mapping[int, Anchor]
) -> Conflict:
    entity, anchor, owner, name = left.thing.key
    span = Anchor(left.start, left.stop)
    mine = anchor if anchor > 0 else None
    live = mine is not None and anchors.live(here, mine) is not None
    return Conflict(
        mine,
        left.public_id,
        passage.words(span.start, span.end),
        query_for(passage, span, live=live),
        _subject(entity, name),
        owner,
        _side(name, passage, spans, *_last(left.thing.here)),
        _side(name, passage, spans, *_last(left.thing.there)),
        left.why,
    )


def skipped_conflicts(
    connection: Connection, skipped: Sequence[PendingEvent]
) -> Iterator[Conflict]:
    """Conflicts of events that were skipped because somebody changed the value meanwhile."""
    for first in range(0, len(skipped), AT_ONCE):
        some = skipped[first : first + AT_ONCE]
        ids = json_of(sorted({one.event.anchor_id for one in some}))
        places = {
            id_: (passage, Anchor(start, stop))
            for id_, passage, start, stop in connection.execute(PLACES, {"ids": ids})
        }
        texts = read_passages(connection, sorted({passage for passage, _ in places.values()}))
        names = {person.id: person.name for person in passages.read_annotators(connection)}
        for one in some:
            passage, span = places[one.event.anchor_id]
            yield _skipped_conflict(connection, one, texts[passage], span, names)


def _skipped_conflict(
    connection: Connection,
    one: PendingEvent,
    passage: Passage,
    span: Anchor,
    names: Mapping[int, str],
) -> Conflict:
    event = one.event
    value_here = decoded(event.entity, event_log.present_value(connection, event.key))
    # With id 0 every event of the thing is a later one, so this gives the last.
    first = replace(event, id=0)
    by, at = event_log.changed_by(connection, first) or (None, None)
    value_there = decoded(event.entity, event.after)
    spans = _spans_of(connection, (value_here, value_there))
    side = partial(_side, event.name, passage, spans)
    return Conflict(
        event.anchor_id,
        anchor_id(passage.digest, span),
        passage.words(span.start, span.end),
        query_for(passage, span, live=anchors.live(connection, event.anchor_id) is not None),
        _subject(event.entity, event.name),
        names.get(event.annotator_id or 0),
        side(value_here, by, at),
        side(value_there, names.get(one.by or 0), one.at),
        ConflictReason.MEANWHILE,
    )


def query_for(passage: Passage, span: Anchor, *, live: bool) -> str:
    """A query that finds a number by its words and those around it.

    live: False for a replaced span, which is found by its text alone.
    """
    turn = passage.turns[passage.turn_of(span.start)]
    start = max(turn.start, span.start - CONTEXT_TOKENS)
    end = min(max(turn.end, span.end), span.end + CONTEXT_TOKENS)
    text = f"text:{quoted(passage.words(start, end))}"
    return f"{text} anchor:{quote(passage.words(span.start, span.end))}" if live else text


# --- values -----------------------------------------------------------------------------


def value_words(
    value: Value | None, name: str, passage: Passage, spans: Mapping[int, Anchor]
) -> str:
    """A short description. name: of a flag. spans: of anchors that the value may name."""
    if isinstance(value, (AnswerValue, GoldValue)):
        parts = [value.kind, *_heads(value.heads, value.relation, passage)]
        parts += [word for word in (value.sort, value.noun) if word]
        if value.comment:
            parts.append(f"comment “{value.comment}”")
        if isinstance(value, GoldValue):
            parts.append(f"(rule {value.rule})")
        return " ".join(parts)
    if isinstance(value, AnchorValue):
        if value.replaced_by is None:
            return "a span to answer"
        other = spans.get(value.replaced_by)
        words = "another span" if other is None else passage.words(other.start, other.end)
        return f"replaced by “{words}”"
    if isinstance(value, FlagValue) and value.span is not None:
        return f"the span “{passage.words(*value.span)}” proposed"
    return f"{name} set" if value is not None else "nothing"


def _heads(heads: Marks, relation: str | None, passage: Passage) -> list[str]:
    words = []
    for head in heads:
        marks = [mark for mark in head if mark[3] != "removed"] or head
        words.append(f"“{passage.words(marks[0][0], marks[0][1])}”")
    joint = f" {(relation or 'and').lower()} "
    return [f"to {joint.join(words)}"] if words else []


def _side(
    name: str,
    passage: Passage,
    spans: Mapping[int, Anchor],
    value: Value | None,
    by: str | None,
    at: str | None,
) -> ConflictSide:
    rule = value.rule if isinstance(value, GoldValue) else None
    return ConflictSide(value_words(value, name, passage, spans), by, at, rule)


def _last(chain: Chain) -> tuple[Value | None, str | None, str | None]:
    """The last value of a chain, and who gave it when."""
    return (chain[-1].value, chain[-1].by, chain[-1].at or None) if chain else (None,) * 3


def _subject(entity: str, name: str) -> str:
    if entity == "answer":
        return "decision" if name == Role.ADJUDICATOR else "answer"
    return SUBJECTS[entity]


def _spans(
    here: Connection, there: Connection, maps: IdMaps, left: Sequence[UnresolvedConflict]
) -> dict[int, Anchor]:
    """Spans of anchors that replace others, by mapped id."""
    values = [thing for one in left for thing in (one.thing.value_here, one.thing.value_there)]
    found = _spans_of(here, values)
    missing = {value for value in _successors(values) if value < 0}
    back = {mine: theirs for theirs, mine in maps.anchors.items() if mine in missing}
    rows = there.execute(SPANS, {"ids": json_of(sorted(back.values()))})
    theirs = {id_: Anchor(start, stop) for id_, start, stop in rows}
    return found | {mine: theirs[id_] for mine, id_ in back.items()}


def _spans_of(connection: Connection, values: Sequence[Value | None]) -> dict[int, Anchor]:
    ids = json_of(sorted(_successors(values)))
    rows = connection.execute(SPANS, {"ids": ids})
    return {id_: Anchor(start, stop) for id_, start, stop in rows}


def _successors(values: Sequence[Value | None]) -> set[int]:
    return {
        value.replaced_by
        for value in values
        if isinstance(value, AnchorValue) and value.replaced_by is not None
    }


ATTEMPTS = 3
MAX_OPEN = 20_000
"""Number of conflicts that the database stores."""


def merge(
    path: Path, source: Path, me: str, *, dry_run: bool = False, progress: Progress = ignore
) -> MergeReport:
    """Merge another copy of this database, or one made of the same files, into this one.

    me: name of who merges, created if unknown. Acts keep their annotator, words and time.
    What both copies changed to different values stays as it is here and is listed. Makes a
    backup first. Everything comes in or nothing does, and a second merge has no effect.
    progress: called with the name of the step and its count. Raises a StoreError. Never
    writes the other file.
    """
    with merge_source.open_copy(source, path) as copy:
        for _ in range(ATTEMPTS):
            try:
                return _merge(path, copy, me, dry_run=dry_run, progress=progress)
            except PlanOutdatedError:
                continue
            except DamagedError as error:
                raise StoreError(f"{source}: {error}") from error
    raise StoreError(
        f"{source} cannot be merged while an import runs: wait until it is done, and merge "
        "again"
    )


def _merge(
    path: Path, copy: OtherCopy, me: str, *, dry_run: bool, progress: Progress
) -> MergeReport:
    with bulk_connection(path, read_only=dry_run) as connection:
        if not dry_run:
            finish_leftovers(connection)
            batches.refuse_beside_another(connection, f"merge {copy.path}")
        with closing(connect_to_read(path)) as here, translated(copy.path):
            here.execute("BEGIN")
            plan, extras, report = _make_plan(
                here, copy, lambda done: progress("compared", done)
            )
        report = replace(report, dry_run=dry_run)
        copy.check_unchanged()
        if dry_run or not (report.changes or plan.open_anew):
            return report
        backup = _back_up(path, progress) if report.changes else None
        report = replace(report, backup=None if backup is None else str(backup))
        if not plan.is_empty or plan.open_anew:
            with _backup_if_shown(backup) as shown:
                report = _write_all(connection, copy, plan, me, report, progress, shown)
        merge_plan.write_extras(connection, plan.maps, extras)
        return report


def _make_plan(
    here: Connection, copy: OtherCopy, on_progress: Callable[[int], None]
) -> tuple[MergePlan, Extras, MergeReport]:
    there = copy.connection
    plan = merge_plan.plan(here, there, on_progress)
    brought = {anchor.id for anchor in plan.anchors}
    unmapped = {
        id_ for id_, mine in plan.maps.anchors.items() if mine < 0 and id_ not in brought
    }
    extras = merge_plan.find(here, there, plan.maps, unmapped)
    conflicts = tuple(plan_conflicts(here, there, plan.maps, plan.unresolved))
    return plan, extras, _report(copy, plan, extras, conflicts)


def _report(
    copy: OtherCopy, plan: MergePlan, extras: Extras, conflicts: tuple[Conflict, ...]
) -> MergeReport:
    incoming = [*plan.pending, *(one for some in plan.import_events.values() for one in some)]
    return MergeReport(
        other=str(copy.path),
        people_new=tuple(person.name for person in plan.people),
        imports_new=tuple(plan.files),
        passages_new=len(plan.passages),
        anchors_new=len(plan.anchors),
        acts=len({one.event.act for one in incoming}),
        events=len(incoming),
        items=len({one.event.anchor for one in incoming}),
        agreed=plan.agreed,
        taken_back=plan.reverted,
        assignments_new=len(extras.assignments),
        drafts_new=len(extras.drafts),
        places_new=len(extras.places),
        views_new=len(extras.views),
        guidelines_new=len(extras.guidelines),
        conflicts=conflicts,
        left=tuple(extras.left),
    )


@contextmanager
def _backup_if_shown(backup: Path | None) -> Iterator[list[int]]:
    """Delete the backup on an error, unless the caller put something into the list."""
    shown: list[int] = []
    try:
        yield shown
    except BaseException:
        if backup is not None and not shown:
            # A disk that fails here, too, must not hide the error that says what failed.
            with suppress(OSError):
                backup.unlink(missing_ok=True)
        raise


def _back_up(path: Path, progress: Progress) -> Path:
    stamp = system.now().replace(":", "").replace("-", "").replace(".", "")
    target = path.with_name(f"{path.name}.backup-merge-{stamp}")
    return database.back_up(path, target, lambda done, _: progress("copied", done)).path


def _write_all(
    connection: Connection,
    copy: OtherCopy,
    plan: MergePlan,
    me: str,
    report: MergeReport,
    progress: Progress,
    shown: list[int],
) -> MergeReport:
    # SQLite cannot store a name that is not UTF-8.
    name = copy.path.name.encode("utf-8", "replace").decode("utf-8")
    with MergeWriter(connection, copy.connection, plan, me, name) as writer:
        writer.run(lambda done: progress("written", done), copy.check_unchanged)
        shown.append(writer.batch)
        batch, state, text = writer.batch, writer.state, writer.text
        try:
            found = apply.run(
                connection, batch, state, text, lambda done: progress("applied", done)
            )
            skipped = tuple(skipped_conflicts(connection, found.skipped))
            report = replace(
                report,
                acts=report.acts - len(found.all_acts - found.applied_acts),
                events=report.events - len(found.skipped),
                conflicts=report.conflicts + skipped,
            )
            apply.finish(connection, batch, state, report.events, _stored_report(report, plan))
        except sqlite3.Error as error:
            raise StoreError(
                f"The changes of {name} are stored, but not all of them are applied yet "
                f"({error}). Nothing is lost: make room on the disk and open the database "
                "again, which applies the rest"
            ) from error
    return report


def _stored_report(report: MergeReport, plan: MergePlan) -> dict[str, object]:
    """The report as the batch stores it; see `plan.PastConflicts`.

    Conflicts of skipped events are not stored: nobody decided them knowing both values.
    """
    content = asdict(report)
    del content["conflicts"]
    return content | {"open": plan.open[:MAX_OPEN]}


def finish(connection: Connection, batch: Unfinished) -> None:
    """Finish the merge of a dead process, or delete it if it was not shown."""
    with transaction(connection):
        state = batches.claim(connection, batch, apply.decode_state(batch.raw))
    if state is None:
        return
    if not state.shown:
        apply.sweep_all(connection, batch.id, state)
        return
    found = apply.run(connection, batch.id, state, json_of(state), lambda _: None)
    report = {"events": found.events, "resumed": True}
    apply.finish(connection, batch.id, state, found.events, report)


class Merge(Repository):
    """Merge operations of the store."""

    run = with_path(merge)
