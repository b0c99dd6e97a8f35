"""What a merge under way leaves in the database, so that any process can finish it.

The merge is a batch of the format `batches.MERGE`. Its note, in the batch's report, says how
far it is. What is to be applied waits as events under acts that stand in for those that they
will be: kind `merge`, of that batch. It is `loading` until the end, so that nobody sees them.
"""

import os

import msgspec

from nfh_db import batches, clock, processes
from nfh_db.batches import Unfinished
from nfh_db.connection import Connection
from nfh_db.values import json_of

INSERT_ACT = """
INSERT INTO act (annotator_id, kind, summary, target, merged_by, batch_id, acted_at)
VALUES (:by, :kind, :summary, :target, :merge, :batch, :at) RETURNING id"""

MAKE_READY = """
UPDATE batch SET state = 'ready', rows = :rows, report = :report, finished_at = :at
WHERE id = :id"""


class Note(msgspec.Struct):
    """How far a merge is.

    started: when its process started. act: its own. annotators: those that it made.
    imports: batches that come with it. made: anchors that people made there. shown: what is
    new is to be seen, and what waits is being applied. first, last: ids of the events that
    wait. Field names are those of `batches.Work` where they mean the same.
    """

    started: str | None = None
    act: int = 0
    annotators: list[int] = msgspec.field(default_factory=list)
    imports: list[int] = msgspec.field(default_factory=list)
    made: list[int] = msgspec.field(default_factory=list)
    shown: bool = False
    first: int = 0
    last: int = 0


class StandIn(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands in an act's place until its first event is applied.

    kind, summary, batch: of the act that it will be; kind is empty where its events go to an
    act that is there already, which is the stand-in's target. of: the act that an undo or a
    redo is about; of_stand_in: the same, where that one is to come as well.
    """

    kind: str = ""
    summary: str = ""
    batch: int | None = None
    of: int | None = None
    of_stand_in: int | None = None


_notes = msgspec.json.Decoder(Note)
_stand_ins = msgspec.json.Decoder(StandIn)


def read(batch: Unfinished) -> Note:
    """The note of a merge that is not done."""
    return _notes.decode(batch.raw)


def read_text(text: str) -> Note:
    """A note as it was written."""
    return _notes.decode(text)


def stand_in(summary: str) -> StandIn:
    """What the summary of an act that stands in for another holds."""
    return _stand_ins.decode(summary)


def claim(connection: Connection, batch: Unfinished) -> str | None:
    """Make a dead process' merge this one's: its note; None if another was faster."""
    mine = msgspec.structs.replace(read(batch), started=processes.started(os.getpid()))
    text = json_of(mine)
    changed = connection.execute(
        batches.CLAIM,
        {
            "id": batch.id,
            "state": batch.state,
            "pid": os.getpid(),
            "report": text,
            "former": batch.pid,
            "former_report": batch.raw,
        },
    ).rowcount
    return text if changed == 1 else None


def write(connection: Connection, batch_id: int, note: Note) -> str:
    """Note how far a merge is; the text of the note."""
    text = json_of(note)
    connection.execute(batches.SET_REPORT, {"id": batch_id, "report": text})
    return text


def make_ready(connection: Connection, batch_id: int, events: int, report: str) -> None:
    """The merge is done; what it changed is in the log."""
    row = {"id": batch_id, "rows": events, "report": report, "at": clock.now()}
    connection.execute(MAKE_READY, row)
