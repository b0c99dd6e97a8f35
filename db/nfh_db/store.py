"""The store: everything that screens and commands ask of a database, in one façade.

Any thread may call any method. Reading never waits for writing. A method that changes
something returns after its COMMIT; a person's decisions are on the disk by then.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from nfh_db import (
    annotators,
    drafts,
    edits,
    identifications,
    items,
    models,
    predictions,
    settings,
    undo,
)
from nfh_db.assigning_store import AssigningStore
from nfh_db.bulk_store import BulkStore
from nfh_db.comparing_store import ComparingStore
from nfh_db.competence_store import CompetenceStore
from nfh_db.doubts_store import DoubtsStore
from nfh_db.freezing_store import FreezingStore
from nfh_db.guiding_store import GuidingStore
from nfh_db.history_store import HistoryStore
from nfh_db.identifying_store import IdentifyingStore
from nfh_db.live_store import LiveStore
from nfh_db.merge.store import MergingStore
from nfh_db.models_store import ModelsStore
from nfh_db.query import Query, asked_by
from nfh_db.records import (
    NO_LABELS,
    Annotator,
    Ballot,
    ExportRecord,
    FlagName,
    ImportReport,
    IncomingPassage,
    Item,
    Place,
    Prediction,
    QueueRow,
    Role,
    Saved,
    Seen,
    StaleLabels,
    Undone,
)
from nfh_db.settling_store import SettlingStore
from nfh_db.tracing_store import TracingStore
from nfh_db.training_store import TrainingStore
from nfh_models.domain import Anchor, Answer, Passage

if TYPE_CHECKING:
    from nfh_db.load import IncomingFile

FORGET_AT_ONCE = 2_000
"""Predictions deleted in one write, so that nobody waits for long."""


class Store(
    AssigningStore,
    BulkStore,
    ComparingStore,
    CompetenceStore,
    DoubtsStore,
    FreezingStore,
    GuidingStore,
    HistoryStore,
    IdentifyingStore,
    LiveStore,
    SettlingStore,
    MergingStore,
    ModelsStore,
    TracingStore,
    TrainingStore,
):
    """One open database. Use `Store.open`; close it, or use it as a context manager."""

    # --- people -------------------------------------------------------------------------

    def annotator(self, name: str, type: str = "person") -> Annotator:  # noqa: A002
        """Somebody by name, made if unknown. Raises StoreError for a name that cannot be."""
        with self._readers.lend() as connection:
            found = annotators.find(connection, name)
        if found is not None:
            annotators.check_type(found, type)
            return found
        with self._deciding() as connection:
            return annotators.add(connection, name, type)

    def annotators(self) -> tuple[Annotator, ...]:
        """All annotators, by name."""
        with self._readers.lend() as connection:
            return annotators.everybody(connection)

    # --- reading ------------------------------------------------------------------------

    def item(self, anchor_id: int, me: Annotator, role: Role) -> Item | None:
        """An anchor with all that the screen needs; None if nobody sees it (any more)."""
        with self._readers.lend(one_state=True) as connection:
            return items.read(connection, anchor_id, me, role, self._passages)

    def passages(self, anchor_ids: Sequence[int]) -> Mapping[int, tuple[Passage, Anchor]]:
        """Passage and span of each of these anchors that is visible, by anchor id."""
        with self._readers.lend(one_state=True) as connection:
            return items.read_passages(connection, anchor_ids)

    def queue_ids(
        self, query: Query, me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> Iterator["array[int]"]:
        """The anchors of a query in its order: a small first chunk, then large ones.

        Raises QueryError for what may not be asked in this role (see `query.asked_by`).
        """
        from nfh_db import queue

        with self._readers.lend() as connection:
            asked = asked_by(query, role, me.name)
            yield from queue.queue_ids(connection, asked, me.id, role)

    def queue_count(self, query: Query, me: Annotator, role: Role = Role.ADJUDICATOR) -> int:
        """How many anchors a query finds. Raises QueryError as `queue_ids` does."""
        from nfh_db import queue

        with self._readers.lend() as connection:
            asked = asked_by(query, role, me.name)
            return queue.queue_count(connection, asked, me.id, role)

    def check_models(self, query: Query) -> None:
        """Raise QueryError for an order by a model that there is not."""
        from nfh_db import queue

        if any(sort.model for sort in query.sorts):
            with self._readers.lend() as connection:
                queue.check_models(connection, query)

    def queue_rows(
        self, anchor_ids: Sequence[int], me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> tuple[QueueRow, ...]:
        """Lines of the queue, in the order asked, as this person sees them in this role."""
        from nfh_db import queue

        with self._readers.lend() as connection:
            return queue.queue_rows(connection, anchor_ids, me.id, role)

    def queue_values(
        self, key: str, me: Annotator | None = None, role: Role = Role.ADJUDICATOR
    ) -> tuple[str, ...]:
        """What may follow a key of the query language here, for its completion."""
        from nfh_db import queue

        with self._readers.lend() as connection:
            return queue.queue_values(connection, key, me.id if me else 0, role)

    def views(self, me: Annotator) -> tuple[tuple[str, str], ...]:
        """Name and query of somebody's saved views, by name."""
        with self._readers.lend() as connection:
            return drafts.views(connection, me.id)

    def ballots(self, query: Query, me: Annotator | None = None) -> Iterator[Ballot]:
        """Everything said of each anchor of a query, by passage and span, of one moment."""
        from nfh_db import ballots

        with self._readers.lend(one_state=True) as connection:
            yield from ballots.ballots(connection, query, me.id if me else 0)

    # --- deciding -----------------------------------------------------------------------

    def commit_answer(
        self,
        anchor_id: int,
        me: Annotator,
        role: Role,
        answer: Answer,
        seen: Seen = Seen(),  # noqa: B008
    ) -> Saved:
        """Store an answer; in the adjudicator's role it makes gold (rule `expert`).

        Clears this person's draft (of this role) and skip mark. An answer that says what
        is stored already is recorded as a confirmation. Raises AnswerError if it does not
        fit the passage, StoreError if the anchor is gone.
        """
        with self._deciding() as connection:
            return edits.commit_answer(connection, anchor_id, me, role, answer, seen)

    def withdraw(self, anchor_id: int, me: Annotator, role: Role) -> Saved:
        """Mark somebody's answer, and the gold it made, removed. StoreError if none."""
        with self._deciding() as connection:
            return edits.withdraw(connection, anchor_id, me, role)

    def set_flag(self, anchor_id: int, me: Annotator, name: FlagName, on: bool) -> Saved:
        """Set or clear somebody's flag; act_id is 0 where it was so already."""
        with self._deciding() as connection:
            return edits.set_flag(connection, anchor_id, me, name, on=on)

    def propose_span(self, anchor_id: int, me: Annotator, anchor: Anchor | None) -> Saved:
        """Propose another span for an anchor, by one's flag `anchor`; None takes that back.

        act_id is 0 where it was so already. Raises PassageError and StoreError as
        `replace_anchor` does.
        """
        with self._deciding() as connection:
            return edits.propose_span(connection, anchor_id, me, anchor, self._passages)

    def stale_labels(self, anchor_id: int, me: Annotator) -> StaleLabels:
        """The gold and the others' answers that become stale where `me` replaces an anchor."""
        with self._readers.lend(one_state=True) as connection:
            return edits.stale_labels(connection, anchor_id, me)

    def replace_anchor(
        self,
        anchor_id: int,
        me: Annotator,
        role: Role,
        anchor: Anchor,
        agreed: StaleLabels = NO_LABELS,
    ) -> Saved:
        """Put another span in an anchor's place; Saved names the new or revived anchor.

        agreed: what this person was told becomes stale by it. Raises StaleLabelsError where
        that is not all of it, StoreError for an annotator and for a span that is taken,
        PassageError for one outside the passage.
        """
        with self._deciding() as connection:
            return edits.replace_anchor(
                connection, anchor_id, me, role, anchor, self._passages, agreed
            )

    def undo(self, me: Annotator, role: Role | None = None) -> Undone | None:
        """Take back this person's newest act; None if there is none. ChangedSinceError.

        A settlement leaves what somebody changed since, and says how many it left.
        role: of somebody who may change nothing but their own flags, and answers in this
        role; NotAllowedError for an act that did more.
        """
        with self._deciding() as connection:
            done = undo.undo(connection, me, role)
        return self._turned(me, "undo", done)

    def redo(self, me: Annotator, role: Role | None = None) -> Undone | None:
        """Do again what this person undid last; None if nothing is left. ChangedSinceError.

        role: as for `undo`.
        """
        with self._deciding() as connection:
            done = undo.redo(connection, me, role)
        return self._turned(me, "redo", done)

    # --- noting -------------------------------------------------------------------------

    def save_draft(self, anchor_id: int, me: Annotator, role: Role, body: str | None) -> None:
        """Keep an unfinished answer; None forgets it."""
        with self._noting() as connection:
            drafts.save_draft(connection, anchor_id, me.id, role.value, body)

    def save_place(self, me: Annotator, mode: str, place: Place) -> None:
        """Remember where somebody stands in a mode (browse, annotate, adjudicate)."""
        with self._noting() as connection:
            drafts.save_place(connection, me.id, mode, place)

    def place(self, me: Annotator, mode: str) -> Place:
        """Where somebody stood; an anchor replaced meanwhile gives the one in its place."""
        with self._readers.lend() as connection:
            return drafts.place(connection, me.id, mode)

    def save_view(self, me: Annotator, name: str, query: str | None) -> None:
        """Keep a query under a name; None forgets it."""
        with self._noting() as connection:
            drafts.save_view(connection, me.id, name, query)

    # --- models and settings ------------------------------------------------------------

    def ensure_model(
        self,
        name: str,
        task: str,
        recipe: str,
        version: str,
        in_place_of: Sequence[str] = (),
    ) -> int:
        """A model's id, registered if unknown, as the active one if its task has none.

        in_place_of: built-in recipes that a model new here retires, where they are active;
        what they said stays. What another version under this name predicted and
        identified is forgotten.
        """
        with self._readers.lend() as connection:
            found = models.find(connection, name)
        if found is None:
            with self._noting() as connection:
                return models.ensure(
                    connection, name, task, recipe, version, in_place_of=in_place_of
                )
        if found[2:] != (recipe, version):
            self._forget_predictions(found[0])
            self._forget_identifications(found[0])
            with self._noting() as connection:
                # What another process may have saved since.
                identifications.delete_some(connection, found[0], FORGET_AT_ONCE)
                models.set_version(connection, found[0], recipe, version)
        return found[0]

    def _forget_predictions(self, model_id: int) -> None:
        more = True
        while more:
            with self._noting() as connection:
                more = predictions.delete_some(connection, model_id, FORGET_AT_ONCE) > 0

    def save_predictions(self, model_id: int, found: Sequence[tuple[int, Prediction]]) -> None:
        """Keep predictions by anchor id, in place of this model's earlier ones."""
        with self._noting() as connection:
            predictions.save(connection, model_id, found)

    def predicted(self, model_id: int, anchor_ids: Sequence[int]) -> frozenset[int]:
        """Of these anchors the ones of which a model has said something."""
        with self._readers.lend() as connection:
            return predictions.known(connection, model_id, anchor_ids)

    def setting(self, name: str, default: str | None = None) -> str | None:
        """A setting's value, or `default`."""
        with self._readers.lend() as connection:
            return settings.read(connection, name, default)

    def set_setting(self, name: str, value: str) -> None:
        """Set a setting."""
        with self._noting() as connection:
            settings.write(connection, name, value)

    # --- in and out ---------------------------------------------------------------------

    def load(
        self,
        source: "IncomingFile",
        passages: Iterable[IncomingPassage],
        *,
        replace_gold: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Import one file, wholly or not at all; the same file again changes nothing.

        progress is called with the number of rows done. Raises what `passages` raises,
        PassageError, AnswerError, or StoreError; nothing of the file is stored then.
        """
        from nfh_db import load

        return load.load(
            self.path,
            source,
            passages,
            replace_gold=replace_gold,
            dry_run=dry_run,
            progress=progress,
        )

    def outgoing(
        self, query: Query, me: Annotator | None, layout: Literal["nfh", "gold"]
    ) -> Iterator[ExportRecord]:
        """What an export writes, of one moment; see `nfh_db.outgoing` for the order."""
        from nfh_db import outgoing

        with self._readers.lend(one_state=True) as connection:
            yield from outgoing.records(connection, query, me.id if me else 0, layout)

    def count_stale_gold(self) -> int:
        """How many anchors lost their gold with their span; see `nfh_db.outgoing`."""
        from nfh_db import outgoing

        with self._readers.lend() as connection:
            return outgoing.count_stale_gold(connection)
