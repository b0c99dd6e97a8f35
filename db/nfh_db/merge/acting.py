"""The rows of acts that come in: of imports, and those that stand in for all others."""

from nfh_db import batches
from nfh_db.batches import MERGE, Work
from nfh_db.connection import Connection
from nfh_db.merge import notes
from nfh_db.merge.notes import Note, StandIn
from nfh_db.merge.plan import Plan
from nfh_db.merge.sides import Act
from nfh_db.values import json_of


class Acting:
    """Adds acts, within the merge's writes. imports, stand_ins: their ids, by act there."""

    def __init__(self, connection: Connection, plan: Plan, note: Note) -> None:
        self.imports: dict[int, int] = {}
        self.stand_ins: dict[int, int] = {}
        self._connection = connection
        self._plan = plan
        self._note = note

    def add_imports(self) -> None:
        """The acts of imports that are new; what they brought at once hangs on them."""
        for act in self._plan.acts:
            if act.kind == "import" and act.id not in self._plan.shared:
                batch = self._plan.maps.batches[act.batch or 0]
                new = self._add(act, act.kind, act.summary, batch)
                work = Work(started=self._note.started, act=new)
                batches.set_work(self._connection, batch, work)
                self.imports[act.id] = new

    def add_stand_in(self, act: Act, batch: int) -> None:
        """An act under which events wait. batch: the merge's."""
        target = self._plan.shared.get(act.id, self.imports.get(act.id))
        text = json_of(StandIn() if target is not None else self._as_it_will_be(act))
        self.stand_ins[act.id] = self._add(act, MERGE, text, batch, target)

    def _as_it_will_be(self, act: Act) -> StandIn:
        plan = self._plan
        if act.id in plan.loose:
            # What it took back is not here: it is a change like others.
            return StandIn("do", f"{act.kind}: {act.summary}")
        batch = act.batch and plan.maps.batches.get(act.batch)
        of = None if act.target is None else plan.shared.get(act.target)
        of_stand_in = self.stand_ins.get(act.target or 0) if of is None else None
        return StandIn(act.kind, act.summary, batch, of, of_stand_in)

    def _add(
        self, act: Act, kind: str, text: str, batch: int, target: int | None = None
    ) -> int:
        row = {
            "by": act.by and self._plan.maps.people[act.by],
            "kind": kind,
            "summary": text,
            "target": target,
            "merge": self._note.act,
            "batch": batch,
            "at": act.at,
        }
        new: int = self._connection.execute(notes.INSERT_ACT, row).fetchone()[0]
        return new
