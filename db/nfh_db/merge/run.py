"""A merge from beginning to end, the finishing of one whose process is gone, and its
conflicts in words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
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
from nfh_db.event_log import Event
from nfh_db.merge import apply
from nfh_db.merge import plan as merge_plan
from nfh_db.merge import source as merge_source
from nfh_db.merge.apply import Applied, Bringing, OvertakenError, Waiting
from nfh_db.merge.log_diff import Chain, Conflict, ConflictSide, MergeReport, Why
from nfh_db.merge.plan import Extras, MergePlan, UnresolvedConflict
from nfh_db.merge.source import DamagedError, Maps, OtherCopy, decoded
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
from nfh_db.settlement import Progress, silent
from nfh_models.domain import Anchor, Passage, anchor_id

SPANS = """
SELECT a.id, a.start, a.stop FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids))"""
PLACES = """
SELECT a.id, a.passage_id, a.start, a.stop FROM anchor AS a
WHERE a.id IN (SELECT value FROM json_each(:ids))"""

AROUND = 4
"""Tokens on each side of a number that a query searches for, within its turn."""

AT_ONCE = 500

WHAT = {"gold": "gold", "flag": "flag", "anchor": "span"}


def of_plan(
    here: Connection, there: Connection, maps: Maps, left: Sequence[UnresolvedConflict]
) -> Iterator[Conflict]:
    """What a plan leaves to a person."""
    for first in range(0, len(left), AT_ONCE):
        some = left[first : first + AT_ONCE]
        texts = read_passages(there, sorted({one.passage for one in some}))
        spans = _spans(here, there, maps, some)
        for one in some:
            yield _of_plan(here, one, texts[one.passage], spans)


def _of_plan(
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
        _what(entity, name),
        owner,
        _side(left.thing.here, name, passage, spans),
        _side(left.thing.there, name, passage, spans),
        left.why,
    )


def of_missed(connection: Connection, missed: Sequence[Waiting]) -> Iterator[Conflict]:
    """What somebody was faster with, while the merge was at work."""
    for first in range(0, len(missed), AT_ONCE):
        some = missed[first : first + AT_ONCE]
        ids = json_of(sorted({one.event.anchor_id for one in some}))
        places = {
            id_: (passage, Anchor(start, stop))
            for id_, passage, start, stop in connection.execute(PLACES, {"ids": ids})
        }
        texts = read_passages(connection, sorted({passage for passage, _ in places.values()}))
        names = {person.id: person.name for person in passages.everybody(connection)}
        for one in some:
            passage, span = places[one.event.anchor_id]
            yield _of_missed(connection, one, texts[passage], span, names)


def _of_missed(
    connection: Connection,
    one: Waiting,
    passage: Passage,
    span: Anchor,
    names: Mapping[int, str],
) -> Conflict:

    event = one.event
    key = (event.entity, event.anchor_id, event.annotator_id, event.name)
    now = decoded(event.entity, event_log.present_value(connection, *key))
    # Any event of the thing is later than one that is none: the last that there was.
    by, at = event_log.changed_by(connection, _before_all(event)) or (None, None)
    then = decoded(event.entity, event.after)
    spans = _spans_of(connection, (now, then))
    return Conflict(
        event.anchor_id,
        anchor_id(passage.digest, span),
        passage.words(span.start, span.end),
        query_for(passage, span, live=anchors.live(connection, event.anchor_id) is not None),
        _what(event.entity, event.name),
        names.get(event.annotator_id or 0),
        ConflictSide(said(now, event.name, passage, spans), by, at, _rule(now)),
        ConflictSide(
            said(then, event.name, passage, spans),
            names.get(one.by or 0),
            one.at,
            _rule(then),
        ),
        Why.MEANWHILE,
    )


def _before_all(event: Event) -> Event:
    return Event(
        0, event.entity, event.anchor_id, event.annotator_id, event.name, event.before, None
    )


def query_for(passage: Passage, span: Anchor, *, live: bool) -> str:
    """A query that finds a number by its words and those around it.

    live: it is to be seen; a span that was replaced is found by its text alone.
    """
    turn = passage.turns[passage.turn_of(span.start)]
    start = max(turn.start, span.start - AROUND)
    end = min(max(turn.end, span.end), span.end + AROUND)
    text = f"text:{quoted(passage.words(start, end))}"
    return f"{text} anchor:{quote(passage.words(span.start, span.end))}" if live else text


# --- values -----------------------------------------------------------------------------


def said(value: Value | None, name: str, passage: Passage, spans: Mapping[int, Anchor]) -> str:
    """A value in a few words. name: of the flag. spans: of the anchors that it may name."""
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
    chain: Chain, name: str, passage: Passage, spans: Mapping[int, Anchor]
) -> ConflictSide:
    if not chain:
        return ConflictSide(said(None, name, passage, spans), None, None)
    last = chain[-1]
    words = said(last.value, name, passage, spans)
    return ConflictSide(words, last.by, last.at or None, _rule(last.value))


def _rule(value: Value | None) -> str | None:
    return value.rule if isinstance(value, GoldValue) else None


def _what(entity: str, name: str) -> str:
    if entity == "answer":
        return "decision" if name == Role.ADJUDICATOR else "answer"
    return WHAT[entity]


def _spans(
    here: Connection, there: Connection, maps: Maps, left: Sequence[UnresolvedConflict]
) -> dict[int, Anchor]:
    """The spans of the anchors that replaced others, by id here, or as `maps` has new ones."""
    values = [thing for one in left for thing in (one.thing.now, one.thing.then)]
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
KEPT_OPEN = 20_000
"""Of what is left to a person, how much the database remembers."""


def merge(
    path: Path,
    source: Path,
    me: str,
    *,
    dry_run: bool = False,
    progress: Progress = silent,
) -> MergeReport:
    """Bring in what was done in another copy of this database, or of its files.

    me: the name of who merges, made if unknown. Each act that comes in keeps its person,
    words and time. What both copies changed, each otherwise, stays as it is here and is
    listed. Wholly or not at all, once more without effect, and after a copy of this
    database beside it. progress: called with what is being done and how far it is.
    Raises StoreError and its kinds; the other file is never written.
    """
    with merge_source.opened(source, path) as copy:
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
        merge_plan.bring(connection, plan.maps, along)
        return report


@contextmanager
def _reading(path: Path) -> Iterator[Connection]:
    with closing(connect_to_read(path)) as here:
        here.execute("BEGIN")
        yield here


def _look(
    here: Connection, copy: OtherCopy, tell: Callable[[int], None]
) -> tuple[MergePlan, Extras, MergeReport]:
    there = copy.connection
    plan = merge_plan.plan(here, there, tell)
    brought = {anchor.id for anchor in plan.anchors}
    lost = {id_ for id_, mine in plan.maps.anchors.items() if mine < 0 and id_ not in brought}
    along = merge_plan.find(here, there, plan.maps, lost)
    conflicts = tuple(of_plan(here, there, plan.maps, plan.left))
    return plan, along, _report(copy, plan, along, conflicts)


def _report(
    copy: OtherCopy, plan: MergePlan, along: Extras, conflicts: tuple[Conflict, ...]
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
    stamp = system.now().replace(":", "").replace("-", "").replace(".", "")
    target = path.with_name(f"{path.name}.backup-merge-{stamp}")
    return database.back_up(path, target, lambda done, _: progress("copied", done)).path


def _bring(
    connection: Connection,
    copy: OtherCopy,
    plan: MergePlan,
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
            found = apply.run(
                connection, batch, note, text, lambda done: progress("applied", done)
            )
            missed = tuple(of_missed(connection, found.missed))
            report = _with(report, found, missed)
            apply.finish(connection, batch, note, report.events, _kept(report, plan))
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


def _kept(report: MergeReport, plan: MergePlan) -> str:
    """What the database keeps of a report; see `plan`.

    What somebody was faster with is not in it: that was not decided with both in view.
    """
    content = asdict(report)
    del content["conflicts"]
    return json_of(content | {"open": plan.open[:KEPT_OPEN]})


def finish(connection: Connection, batch: Unfinished) -> None:
    """Go on with a merge whose process is gone; one that was not shown is cleared away."""
    with transaction(connection):
        text = apply.claim(connection, batch)
    if text is None:
        return
    note = apply.read_text(text)
    if not note.shown:
        apply.sweep_all(connection, batch.id, note)
        return
    found = apply.run(connection, batch.id, note, text, lambda _: None)
    report = json_of({"events": found.events, "resumed": True})
    apply.finish(connection, batch.id, note, found.events, report)


class Merge(Repository):
    """What comes in from other copies."""

    run = with_path(merge)
