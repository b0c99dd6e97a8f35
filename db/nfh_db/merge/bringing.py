"""Writing what comes in where nobody sees it: in short writes, shown by one flip at the end.

New passages and anchors, the rows of new imports and what those say of their own anchors
become visible with the flip. Everything else waits, see `notes`, and is applied after it.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self, TypeVar

from nfh_db import acts, anchors, annotators, batches, changes, clock, processes, summary
from nfh_db.batches import MERGE, Work
from nfh_db.connection import (
    SYNCHRONOUS_FULL,
    SYNCHRONOUS_NORMAL,
    Connection,
    sqlite3,
    transaction,
)
from nfh_db.errors import StoreError
from nfh_db.loading import INSERT_SOURCE
from nfh_db.merge import leftovers, notes, sides
from nfh_db.merge.acting import Acting
from nfh_db.merge.checking import Checker
from nfh_db.merge.notes import Note
from nfh_db.merge.plan import Coming, Plan
from nfh_db.merge.planning import ground
from nfh_db.merge.sides import Act, AnchorRow, Batch, PassageRow
from nfh_db.merge.writing import Writes
from nfh_db.passages import INSERT as INSERT_PASSAGE
from nfh_db.passages import INSERT_TOKENS, add_document
from nfh_models.domain import Anchor

INSERT_PERSON = """
INSERT INTO annotator (name, type, created_at) VALUES (:name, :type, :at)
ON CONFLICT (name) DO NOTHING"""
INSERT_ANCHOR = """
INSERT INTO anchor (passage_id, start, stop, text_start, text_stop, word, batch_id, removed)
VALUES (:passage, :start, :stop, :text_start, :text_stop, :word, :batch, :removed)
RETURNING id"""
SOURCE_ROWS = """
SELECT line, anchor_id, split, labels FROM source_row
WHERE batch_id = :batch ORDER BY line, anchor_id"""
SHOW = """
UPDATE batch SET state = 'ready', rows = :rows, report = :report, created_at = :created,
    finished_at = :finished WHERE id = :id"""

T = TypeVar("T")
Tell = Callable[[int], None]


class OvertakenError(Exception):
    """Something came in between: what was planned does not hold any more."""


class Bringing:
    """One merge under way, until its flip; as a context manager it leaves nothing without.

    Raises OvertakenError where an import came in since `plan`, or somebody made a span.
    """

    def __init__(
        self, connection: Connection, there: Connection, plan: Plan, me: str, name: str
    ) -> None:
        self.batch = 0
        self.note = Note()
        self.text = ""
        self._connection = connection
        self._there = there
        self._plan = plan
        self._me = me
        self._name = name
        self._shown = False
        self._writes = Writes(connection)
        self._documents: dict[int, str] = dict(there.execute(sides.DOCUMENTS))
        self._new_documents: dict[int, int] = {}
        self._acting = Acting(connection, plan, self.note)
        self._checker = Checker(there)
        self._stack = ExitStack()

    # --- begin --------------------------------------------------------------------------

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._begin(stack)
            self._stack = stack.pop_all()
        return self

    def _begin(self, stack: ExitStack) -> None:
        connection = self._connection
        with transaction(connection):
            batches.refuse_beside_another(connection, f"merge {self._name}")
            if ground(connection) != self._plan.ground:
                raise OvertakenError
            self._people()
            # A hash names the content of a file; here it only must be no other's.
            self.batch = batches.add(
                connection,
                self._name,
                secrets.token_hex(32),
                MERGE,
                None,
                None,
                Work(),
            )
            stack.enter_context(batches.running(self.batch))
            self.note.started = processes.started(os.getpid())
            self.note.act = acts.add(
                connection,
                self._person(self._me),
                "merge",
                f"merge of {self._name}",
                clock.now(),
                batch=self.batch,
            )
            for batch in self._plan.batches:
                self._begin_batch(batch, stack)
            self._acting.add_imports()
            self.text = notes.write(connection, self.batch, self.note)

    def _people(self) -> None:
        maps, connection = self._plan.maps, self._connection
        for person in self._plan.people:
            annotators.check_name(person.name)
            row = {"name": person.name, "type": person.type, "at": person.created_at}
            made = connection.execute(INSERT_PERSON, row).rowcount == 1
            found = annotators.find(connection, person.name)
            if found is None or found.type != person.type:
                raise OvertakenError
            if made:
                self.note.annotators.append(found.id)
            maps.people[person.id] = found.id

    def _person(self, name: str) -> int:
        """Who merges."""
        found = annotators.find(self._connection, name)
        if found is None:
            found = annotators.add(self._connection, name)
            self.note.annotators.append(found.id)
        return found.id

    def _begin_batch(self, batch: Batch, stack: ExitStack) -> None:
        new = batches.add(
            self._connection,
            batch.name,
            batch.sha256,
            batch.format,
            batch.split,
            batch.annotator,
            Work(started=self.note.started),
        )
        stack.enter_context(batches.running(new))
        self.note.imports.append(new)
        self._plan.maps.batches[batch.id] = new

    # --- what nobody sees ---------------------------------------------------------------

    def run(self, tell: Tell, check: Callable[[], None]) -> None:
        """Write all that comes in, and show it.

        tell: called with the events written. check: called before anything is shown; what it
        raises stops the merge.
        """
        plan = self._plan
        self._in_stretches(plan.passages, self._add_passage)
        self._in_stretches([*plan.anchors, *plan.bare], self._add_anchor)
        for batch in plan.batches:
            self._add_sources(batch)
        self._in_stretches(list(plan.direct.items()), self._say_at_once)
        self._in_stretches(plan.acts, self._add_stand_in)
        done = 0
        for some in self._stretches(plan.waiting):
            rows = self._rows(some)
            with self._write():
                waiting = acts.record_all(self._connection, rows)
            if waiting is not None:
                self.note.first = self.note.first or waiting[0]
                self.note.last = waiting[1]
            done += len(some)
            tell(done)
        check()
        self._show()

    def _in_stretches(self, rows: Sequence[T], add: Callable[[T], None]) -> None:
        for some in self._stretches(rows):
            with self._write():
                for row in some:
                    add(row)

    def _stretches(self, rows: Sequence[T]) -> Iterator[Sequence[T]]:
        """All of `rows`, as many at once as one write can take."""
        self._writes.begin_small()
        place = 0
        while place < len(rows):
            some = rows[place : place + self._writes.size]
            place += len(some)
            yield some

    @contextmanager
    def _write(self) -> Iterator[None]:
        with self._writes.one():
            self._check_mine()
            yield

    def _check_mine(self) -> None:
        if not batches.still_mine(self._connection, self.batch, self.text):
            raise StoreError(
                f"The merge of {self._name} was cleared away by a program that could not see "
                "this process (another container?). Nothing of it is stored; open the "
                "database from one place at a time while you merge"
            )

    def _home(self, batch: int | None) -> int:
        """The batch that a new row becomes visible with."""
        mine = self._plan.maps.batches.get(batch or 0, 0)
        return mine if mine in self.note.imports else self.batch

    def _add_passage(self, row: PassageRow) -> None:
        home = self._home(row.batch)
        document = self._new_documents.get(row.document)
        if document is None:
            title = self._documents[row.document]
            document = add_document(self._connection, title, home)
            self._new_documents[row.document] = document
        text, tokens = self._checker.passage(row)
        digest = bytes.fromhex(row.digest)
        new = self._connection.execute(
            INSERT_PASSAGE, (None, document, home, digest, text)
        ).lastrowid
        self._connection.execute(INSERT_TOKENS, (new, *tokens))
        self._plan.maps.passages[row.id] = new or 0

    def _add_anchor(self, row: AnchorRow) -> None:
        """A new anchor. One that a person made is no anchor before its making is applied."""
        made = row.batch is None
        known = anchors.find_span(
            self._connection,
            self._plan.maps.passages[row.passage],
            Anchor(row.start, row.stop),
        )
        if known is not None:
            # Somebody made it here since.
            if not made:
                raise OvertakenError
            self._plan.maps.anchors[row.id] = known[0]
            return
        new: int = self._connection.execute(
            INSERT_ANCHOR,
            {
                "passage": self._plan.maps.passages[row.passage],
                "start": row.start,
                "stop": row.stop,
                "text_start": row.text_start,
                "text_stop": row.text_stop,
                "word": row.word,
                "batch": None if made else self._home(row.batch),
                "removed": made,
            },
        ).fetchone()[0]
        self._plan.maps.anchors[row.id] = new
        if made:
            self.note.made.append(new)
            self.text = notes.write(self._connection, self.batch, self.note)

    def _add_sources(self, batch: Batch) -> None:
        maps = self._plan.maps
        rows = self._there.execute(SOURCE_ROWS, {"batch": batch.id}).fetchall()
        for some in self._stretches(rows):
            with self._write():
                self._connection.executemany(
                    INSERT_SOURCE,
                    [
                        (maps.batches[batch.id], line, maps.anchors[anchor], split, labels)
                        for line, anchor, split, labels in some
                    ],
                )

    def _say_at_once(self, saying: tuple[int, Sequence[Coming]]) -> None:
        """What an import that is new says of an anchor that it brought."""
        connection, plan = self._connection, self._plan
        anchor = plan.maps.anchors[saying[0]]
        for coming in saying[1]:
            event = coming.event
            owner = event.owner and plan.maps.people[event.owner]
            before, after = coming.values(plan.maps)
            self._checker.value(coming, after)
            changes.make(connection, event.entity, anchor, owner, event.name, after)
            acts.record(
                connection,
                self._acting.imports[event.act],
                event.entity,
                anchor,
                owner,
                event.name,
                before,
                after,
            )
        summary.recompute(connection, anchor)

    # --- what waits ---------------------------------------------------------------------

    def _add_stand_in(self, act: Act) -> None:
        self._acting.add_stand_in(act, self.batch)

    def _rows(self, some: Sequence[Coming]) -> list[tuple[object, ...]]:
        """Events as they wait, in the order of the table's columns."""
        rows: list[tuple[object, ...]] = []
        for coming in some:
            event, maps = coming.event, self._plan.maps
            before, after = coming.values(maps)
            self._checker.value(coming, after)
            owner = event.owner and maps.people[event.owner]
            place = (event.entity, maps.anchors[event.anchor], owner, event.name)
            rows.append((self._acting.stand_ins[event.act], *place, before, after))
        return rows

    # --- the flip -----------------------------------------------------------------------

    def _show(self) -> None:
        """What is new is there to be seen, and on the disk; what waits will be applied."""
        connection = self._connection
        connection.execute(SYNCHRONOUS_FULL)
        with transaction(connection):
            self._check_mine()
            for batch in self._plan.batches:
                connection.execute(
                    SHOW,
                    {
                        "id": self._plan.maps.batches[batch.id],
                        "rows": batch.rows,
                        "report": batch.report,
                        "created": batch.created_at,
                        "finished": batch.finished_at,
                    },
                )
            self.note.shown = True
            self.text = notes.write(connection, self.batch, self.note)
        self._shown = True
        connection.execute(SYNCHRONOUS_NORMAL)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._stack:
            if not self._shown:
                self._take_back(error)

    def _take_back(self, error: BaseException | None) -> None:
        """Leave nothing. What is called from a block that broke off must not break off too."""
        mine = [one for one in batches.unfinished(self._connection) if one.id == self.batch]
        if not mine or notes.read(mine[0]).shown:
            return
        try:
            leftovers.sweep_all(self._connection, self.batch, self.note)
        except sqlite3.Error:
            if error is not None:
                error.add_note(
                    "What had been written stays invisible, and is cleared at the next start."
                )
