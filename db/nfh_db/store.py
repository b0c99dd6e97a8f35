"""The store: everything that screens and commands ask of a database, in one façade.

Any thread may call any method. Reading never waits for writing. A method that changes
something returns after its COMMIT; a person's decisions are on the disk by then.
"""

import time
from array import array
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nfh_db import (
    answers,
    assignments,
    edits,
    event_log,
    holdout,
    items,
    models,
    passages,
    predictions,
)
from nfh_db import jobs as db_jobs
from nfh_db.answers import Doubt
from nfh_db.batches import SettleReport
from nfh_db.connection import PAUSE_SECONDS, Connection, next_stretch
from nfh_db.database import Database
from nfh_db.errors import BusyError, FullError, StoreError
from nfh_db.event_log import ReversibleAct
from nfh_db.holdout import SplitSide
from nfh_db.jobs import (
    IN_PLACE,
    TRAIN,
    BackgroundState,
    Every,
    Job,
    JobPoint,
    JobProgress,
    JobState,
    Kinds,
    Marks,
    NewJob,
    RetrainingSchedule,
)
from nfh_db.models import Activation, ActivationReason, Model, NewModel
from nfh_db.query import Query, asked_by
from nfh_db.records import (
    NO_LABELS,
    PERSON,
    AnchorItem,
    Annotator,
    Ballot,
    CompetenceWeight,
    ExportRecord,
    Exposure,
    FlagName,
    HistoryLine,
    Identified,
    Identifying,
    ImportReport,
    IncomingPassage,
    Prediction,
    QueuePosition,
    QueueRow,
    Remembered,
    Role,
    Rule,
    Saved,
    StaleLabels,
    Undone,
)
from nfh_db.serialization import answer_of
from nfh_models.domain import Anchor, Answer, Kind, Passage

if TYPE_CHECKING:
    from nfh_db.assignment_plan import AssignmentRequest, PersonProgress
    from nfh_db.audits import Audit, AuditSample, Sample
    from nfh_db.bulk_plan import BulkDone, BulkOperation, BulkPreview, Seeing
    from nfh_db.comparisons import Changes, ComparedSide, ComparisonCounts, Confusions, Stopped
    from nfh_db.guidelines import Guideline, Tagged
    from nfh_db.history import Past
    from nfh_db.import_run import IncomingFile
    from nfh_db.items import Frozen, NotTaken, SourceRow
    from nfh_db.merge.log_diff import MergeReport
    from nfh_db.predictions import Numbered
    from nfh_db.similar_items import Precedent, SimilarAnswer


@dataclass(frozen=True, slots=True)
class Dealt:
    """What a call gave out.

    items: of the query. filled: those that lacked nothing. given: by person and purpose.
    doubles: of the items, those to be decided by two. short: items that lack answers which
    nobody named could give. checks_short: hidden checks that there was no known gold for.
    returned: abandoned assignments given to others.
    """

    items: int
    filled: int
    given: Mapping[str, Mapping[str, int]]
    doubles: int
    short: int
    checks_short: int
    returned: int
    run: str
    dry_run: bool = False


class AssigningStore(Database):
    """Who is to answer what, how far they are, and what an annotator may see."""

    def item_for_annotator(self, anchor_id: int, me: Annotator) -> AnchorItem | None:
        """An anchor as an annotator may see it: nothing of others' answers, nor of gold."""
        with self._readers.connection(one_state=True) as connection:
            return items.read_for_annotator(connection, anchor_id, me, self._passages)

    def todo(self, me: Annotator, role: Role) -> assignments.Todo:
        """How much of what this person was given in a role is open, and where it is found."""
        with self._readers.connection(one_state=True) as connection:
            return assignments.todo(connection, me.id, role)

    def assign(
        self,
        query: Query,
        me: Annotator | None,
        to: Sequence[str],
        wanted: "AssignmentRequest",
        *,
        limit: int | None = None,
        dry_run: bool = False,
        tell: Callable[[int], None] = lambda _: None,
    ) -> Dealt:
        """Give the items of a query, the first `limit` of them, to people by name.

        me: whom "me" of the query means. Only what is lacking is given; see
        `nfh_db.assignment_plan`. tell: is told how many assignments are written.
        Raises StoreError for a name that cannot be one.
        """
        from nfh_db import assignment_plan, queue

        people = self._people(dict.fromkeys(to), dry_run=dry_run)
        with self._readers.connection(one_state=True) as connection:
            found = chain.from_iterable(queue.queue_ids(connection, query, me.id if me else 0))
            ids = list(islice(found, limit))
            plan = assignment_plan.plan(connection, ids, people, wanted)
        if dry_run:
            slots = [*chain.from_iterable(plan.slots.values()), *plan.checks]
        else:
            slots = assignment_plan.give(self._noting, plan, tell)
        return Dealt(
            items=len(ids),
            filled=plan.filled,
            given=assignment_plan.counted(slots, people),
            doubles=len(plan.doubles),
            short=plan.short,
            checks_short=plan.checks_short,
            returned=plan.returned,
            run=plan.run,
            dry_run=dry_run,
        )

    def _people(self, names: Mapping[str, None], *, dry_run: bool) -> list[Annotator]:
        """Everybody by name, made if unknown; in a trial those have ids of nobody."""
        for name in names:
            passages.check_name(name)
        return [
            self._person(name, -number, dry_run=dry_run)
            for number, name in enumerate(names, start=1)
        ]

    def _person(self, name: str, id_: int, *, dry_run: bool) -> Annotator:
        with self._readers.connection() as connection:
            found = passages.find(connection, name)
        if found is not None:
            passages.check_type(found, PERSON)
            return found
        if dry_run:
            return Annotator(id_, name)
        with self._deciding() as connection:
            return passages.add(connection, name)

    def take_back(
        self,
        query: Query,
        me: Annotator | None,
        before: str,
        name: str | None = None,
        *,
        dry_run: bool = False,
    ) -> dict[str, int]:
        """Return what was given before a time to people who finished nothing since.

        name: of this person only. Gives how many, by name. Raises StoreError if nobody is
        called so.
        """
        from nfh_db import assignment_plan

        with self._readers.connection(one_state=True) as connection:
            if name is not None and passages.find(connection, name) is None:
                raise StoreError(f"Nobody here is called {name!r}: nothing to take back")
            found = assignment_plan.abandoned(
                connection, query, me.id if me else 0, before, name
            )
        if not dry_run:
            assignment_plan.take_back(self._noting, list(chain.from_iterable(found.values())))
        return {who: len(ids) for who, ids in found.items()}

    def progress(
        self, query: Query, me: Annotator | None, before: str
    ) -> "tuple[PersonProgress, ...]":
        """How far everybody is with what they were given of a query, by name and role.

        before: what was given before this time to somebody who finished nothing since is
        abandoned.
        """
        from nfh_db import assignment_plan

        with self._readers.connection(one_state=True) as connection:
            return assignment_plan.everybody(connection, query, me.id if me else 0, before)


class ComparingStore(Database):
    """Who says what where others say what."""

    def answers_version(self) -> tuple[int, int]:
        """Changes whenever an answer, a gold, a flag or an anchor may have."""
        from nfh_db import comparisons

        with self._readers.connection() as connection:
            return comparisons.confusions_version(connection)

    def predictions_version(self) -> tuple[tuple[object, ...], ...]:
        """Changes whenever what models say may have."""
        from nfh_db import comparisons

        with self._readers.connection() as connection:
            return comparisons.version(connection)

    def confusions(self, query: Query, me: Annotator) -> "Confusions":
        """Counts of annotators' answers among the anchors of a query, of one moment."""
        from nfh_db import comparisons

        with self._readers.connection(one_state=True) as connection:
            return comparisons.read(connection, query, me.id)

    def models_with_predictions(self) -> tuple[tuple[int, str], ...]:
        """Id and name of each model that says something; the active one first."""
        from nfh_db import comparisons

        with self._readers.connection() as connection:
            return comparisons.with_predictions(connection)

    def people_with_answers(self) -> tuple[str, ...]:
        """The names of those who answered anything as annotators."""
        from nfh_db import comparisons

        with self._readers.connection() as connection:
            return comparisons.with_answers(connection)

    def compared(
        self,
        left: "ComparedSide",
        right: "ComparedSide",
        query: Query,
        me: Annotator,
        stopped: "Stopped",
    ) -> "ComparisonCounts":
        """A model against gold or another model, or a person against gold, of one moment.

        stopped: asked now and then whether nobody waits any more; NoLongerWantedError then.
        Raises ValueError for other sides.
        """
        from nfh_db import comparisons

        with self._readers.connection(one_state=True) as connection:
            match left.what, right.what:
                case "model", "gold":
                    return comparisons.model_gold(
                        connection, left.model_id, query, me.id, stopped
                    )
                case "model", "model":
                    return comparisons.model_model(
                        connection, left.model_id, right.model_id, query, me.id, stopped
                    )
                case "person", "gold":
                    return comparisons.person_gold(connection, left.name, query, me.id)
        raise ValueError(f"{left.what} is not compared with {right.what}")

    def changes_since(
        self,
        path: Path,
        query: Query,
        me: Annotator,
        stopped: "Stopped",
        progress: Callable[[int], None],
    ) -> "Changes":
        """Gold here against a `gold` file, of one moment. Raises FormatError."""
        from nfh_db import comparisons

        with self._readers.connection(one_state=True) as connection:
            return comparisons.changes(connection, path, query, me.id, stopped, progress)


class CompetenceStore(Database):
    """Figures by which votes weigh more or less in what is proposed."""

    def competences(self) -> Remembered | None:
        """What is remembered of everybody; None where nothing is."""
        with self._readers.connection() as connection:
            return models.remembered(connection)

    def remember_competences(self, source: str, people: Sequence[CompetenceWeight]) -> None:
        """Keep these figures in place of all that there were.

        Raises ValueError for an accuracy that is not between 0 and 1.
        """
        with self._deciding() as connection:
            models.remember(connection, source, people)

    def forget_competences(self) -> bool:
        """Remember nothing any more; whether there was something."""
        with self._deciding() as connection:
            return models.forget(connection)


Holds = Callable[[int, Answer], bool]
"""Whether an anchor's gold is still the one that a model was asked about."""


class DoubtsStore(Database):
    """What models that had not seen it said of gold."""

    def save_doubts(self, job_id: int, found: Sequence[Doubt], holds: Holds) -> int:
        """Keep doubts of gold that is still as it was; how many were kept."""
        with self._noting() as connection:
            golds = answers.read_all_gold(connection, [one.anchor_id for one in found])
            kept = [
                one
                for one in found
                if (value := golds.get(one.anchor_id)) is not None
                and holds(one.anchor_id, answer_of(value))
            ]
            answers.save(connection, job_id, kept)
        return len(kept)

    def doubt(self, anchor_id: int) -> Doubt | None:
        """What is doubted of an anchor's gold; None where nobody asked."""
        with self._readers.connection() as connection:
            return answers.read_doubt(connection, anchor_id)


class FreezingStore(Database):
    """The database as it is at one moment."""

    @contextmanager
    def frozen(self) -> Iterator["Frozen"]:
        """All that is read in this block is of one moment; others may write meanwhile."""
        from nfh_db.items import Frozen

        with self._readers.connection(one_state=True) as connection:
            yield Frozen(connection)


class GuidingStore(Database):
    """The guidelines in their versions, and what was decided by which rule."""

    def guideline(self, version: int | None = None) -> "Guideline | None":
        """One version of the guidelines, or the one that holds; None if there is none."""
        from nfh_db import guidelines

        with self._readers.connection() as connection:
            return guidelines.read(connection, version)

    def guidelines(self) -> "tuple[Guideline, ...]":
        """All versions of the guidelines, the first one first."""
        from nfh_db import guidelines

        with self._readers.connection() as connection:
            return guidelines.everything(connection)

    def begin_guidelines(self, body: str) -> bool:
        """Make a text the first version, if there is none; whether it was.

        Raises FullError where nothing can be written.
        """
        from nfh_db import guidelines

        with self._readers.connection() as connection:
            if guidelines.read(connection) is not None:
                return False
        with self._deciding() as connection:
            return guidelines.begin(connection, body)

    def add_guideline(
        self, body: str, me: Annotator, after: int | None = None
    ) -> "tuple[Guideline, bool]":
        """Make a text hold from now on, and whether it is a new version: the same text is none.

        after: the version that it was made from, 0 for none. Raises ChangedSinceError if
        another one holds by now, StoreError for a text that cannot be kept.
        """
        from nfh_db import guidelines

        with self._deciding() as connection:
            return guidelines.add(connection, body, me, after)

    def tagged_items(
        self, only: Annotator | None = None, asks: Annotator | None = None
    ) -> dict[str, int]:
        """How many anchors have an answer with each tag, by the rule's id, or by the tag.

        only: an annotator, who is told of their own answers and nobody else's. asks: who is
        told nothing of what they have still to decide blind. So below.
        """
        from nfh_db import guidelines

        with self._readers.connection() as connection:
            return guidelines.items(connection, _id(only), _id(asks) or 0)

    def tagged_decisions(
        self, only: Annotator | None = None, asks: Annotator | None = None
    ) -> "tuple[Tagged, ...]":
        """How many decisions have each tag, version by version; those without a tag, too."""
        from nfh_db import guidelines

        with self._readers.connection() as connection:
            return guidelines.tagged(connection, _id(only), _id(asks) or 0)

    def tagged_anchors(
        self,
        wanted: Iterable[tuple[str, int | None]],
        only: Annotator | None = None,
        asks: Annotator | None = None,
    ) -> "array[int]":
        """The anchors whose decision has one of these rules under one of these versions.

        In the order of the passages. A rule is given by its id.
        """
        from nfh_db import guidelines

        with self._readers.connection() as connection:
            return guidelines.anchors_of(connection, wanted, _id(only), _id(asks) or 0)


def _id(somebody: Annotator | None) -> int | None:
    return None if somebody is None else somebody.id


class HistoryStore(Database):
    """Who changed what, and when."""

    def history(self, anchor_id: int) -> tuple[HistoryLine, ...]:
        """All changes of an anchor, oldest first."""
        from nfh_db import history

        with self._readers.connection() as connection:
            return history.of_anchor(connection, anchor_id)

    def seen_history(
        self, anchor_id: int, me: Annotator, role: Role
    ) -> tuple[HistoryLine, ...]:
        """What this person may see, in this role, of what happened to an anchor.

        Oldest first, with the changes of the anchors that it replaced.
        """
        from nfh_db import history

        with self._readers.connection(one_state=True) as connection:
            lines = history.with_earlier(connection, anchor_id)
            kept_back = assignments.blind(connection, [anchor_id], me.id)
            return assignments.seen_of_history(lines, me.name, role, kept_back.get(anchor_id))

    def pasts(
        self,
        query: Query,
        me: Annotator | None = None,
        *,
        since: str = "",
        people: Sequence[str] = (),
    ) -> "Iterator[Past]":
        """Each anchor of a query that has a past, with it, by passage and span; of one moment.

        since: a time as the store keeps them. people: only what they did, and what was done
        to their answers and flags.
        """
        from nfh_db import history

        wanted = history.HistoryFilter(since, frozenset(people))
        with self._readers.connection(one_state=True) as connection:
            yield from history.of_query(connection, query, me.id if me else 0, wanted)

    def past_of(self, item: str, *, since: str = "", people: Sequence[str] = ()) -> "Past":
        """The past of one item, named by the id that files have, or by its anchor's number.

        Raises StoreError if there is none, or if several begin with what was given.
        """
        from nfh_db import history

        wanted = history.HistoryFilter(since, frozenset(people))
        with self._readers.connection(one_state=True) as connection:
            found = history.find(connection, item)
            past = next(history.of_anchors(connection, [found], wanted), None)
        if past is None:
            raise StoreError(f"Anchor {found} has no passage: run `nfh-tui doctor`")
        return past


WRITE_SECONDS = 0.012
"""What one write should take: a person's answer may have to wait for it."""

FIRST_STRETCH = 200
SMALLEST_STRETCH = 20
LARGEST_STRETCH = 2_000

FORGET_AT_ONCE = 2_000

SPEC_SETTING = "parser asked for by identification model {id}"
SPEC_MARK = "mark of the parser asked for by identification model {id}"
PARSER_ORDER = "parser"
"""The sort of order that such a mark is of: a parser may be a folder that is read and run."""

TASK = "identification"


def _parser_mark(connection: Connection, model_id: int, spec: str) -> str:
    try:
        marks = Marks.to_make(connection)
    except StoreError:  # no secret can be kept: the parser has to be named again next time
        return ""
    return marks.mark(PARSER_ORDER, model_id, spec)


class IdentifyingStore(Database):
    """What models say of whether nouns are missing, and numbers that no file named."""

    def identifying(self) -> Identifying | None:
        """The active model of identification; None if there is none yet."""
        with self._readers.connection(one_state=True) as connection:
            found = models.active(connection, TASK)
            if found is None:
                return None
            known = models.find(connection, found[1])
            spec = passages.read_setting(connection, SPEC_SETTING.format(id=found[0]))
            mark = passages.read_setting(connection, SPEC_MARK.format(id=found[0]))
            marks = Marks.to_read(connection)
            own = not spec or marks.knows(mark or "", PARSER_ORDER, found[0], spec)
            parser = predictions.read_parser(connection, found[0])
        version = known[3] if known is not None else ""
        return Identifying(found[0], found[1], version, spec or None, parser, own)

    def decide_with(self, model_id: int, parser: str, spec: str | None = None) -> str:
        """Note with which parser a model decides; what it decided with another is forgotten.

        parser: its name with its version, "" for none. spec: how it was asked for. Returns
        the model's version, which is to be named when decisions are saved.
        """
        before = self.decided_with(model_id)
        if before not in (None, parser):
            self._forget_identifications(model_id)
        with self._noting() as connection:
            if before not in (None, parser):
                # What another process may have saved since.
                predictions.delete_some_identifications(connection, model_id, FORGET_AT_ONCE)
            name = predictions.PARSER_SETTING.format(id=model_id)
            passages.write_setting(connection, name, parser)
            passages.write_setting(connection, SPEC_SETTING.format(id=model_id), spec or "")
            mark = _parser_mark(connection, model_id, spec) if spec else ""
            passages.write_setting(connection, SPEC_MARK.format(id=model_id), mark)
            version = predictions.read_version(connection, model_id)
        return version or ""

    def decided_with(self, model_id: int) -> str | None:
        """The parser with which a model decides, "" for none; None if it has not yet."""
        with self._readers.connection() as connection:
            return predictions.read_parser(connection, model_id)

    def save_identifications(
        self,
        model_id: int,
        version: str,
        found: Sequence[tuple[int, Identified]],
        parser: str | None = None,
    ) -> None:
        """Keep decisions by anchor id, in place of this model's earlier ones, in short writes.

        parser: the one with which it decided; None if that is not to be looked at. Raises
        StoreError if the model is not of this version any more, or decides with another.
        """
        place, size = 0, FIRST_STRETCH
        while place < len(found):
            some = found[place : place + size]
            with self._noting() as connection:
                begun = time.perf_counter()
                predictions.save_identifications(connection, model_id, version, some, parser)
            place += len(some)
            size = next_stretch(
                size,
                time.perf_counter() - begun,
                wanted=WRITE_SECONDS,
                smallest=SMALLEST_STRETCH,
                largest=LARGEST_STRETCH,
            )

    def _forget_identifications(self, model_id: int) -> None:
        more = True
        while more:
            with self._noting() as connection:
                more = (
                    predictions.delete_some_identifications(
                        connection, model_id, FORGET_AT_ONCE
                    )
                    > 0
                )

    def passage_ids(self, query: Query, me: Annotator | None = None) -> "array[int]":
        """The passages in which a query finds something."""
        with self._readers.connection() as connection:
            return predictions.passage_ids(connection, query, me.id if me else 0)

    def numbered(
        self, passage_ids: Sequence[int], model_id: int | None = None
    ) -> "list[Numbered]":
        """These passages with all their numbers, and what a model has said of each."""
        with self._readers.connection(one_state=True) as connection:
            return predictions.numbered(connection, passage_ids, model_id)


class LiveStore(Database):
    """What goes on, and trainings that come round."""

    def pulse(self, after: int) -> BackgroundState:
        """The jobs that wait or run, and the changes of models after the one of a number.

        One whose process is gone is told as interrupted; whoever starts a runner writes that.
        """
        with self._readers.connection(one_state=True) as connection:
            found = db_jobs.read_pulse(connection, after)
            if all(job.state is not JobState.RUNNING for job in found.jobs):
                return found
            lost = {job_id for job_id, _ in db_jobs.lost(connection)}
        jobs = (
            replace(job, state=JobState.INTERRUPTED) if job.id in lost else job
            for job in found.jobs
        )
        return replace(found, jobs=tuple(jobs))

    def orders_version(self) -> tuple[float, ...]:
        """Numbers that change whenever an order that models make may have."""
        with self._readers.connection(one_state=True) as connection:
            return db_jobs.orders_version(connection)

    # --- trainings that come round ------------------------------------------------------

    def every(self) -> tuple[Every, ...]:
        """The trainings that come round, each with how many decisions it has come."""
        with self._readers.connection(one_state=True) as connection:
            return db_jobs.read_retraining(connection)

    def set_every(self, task: str, number: int, new: NewJob | None) -> None:
        """Have a training queued after every so many decisions; None: no longer."""
        with self._deciding() as connection:
            db_jobs.put(connection, task, number, new)

    def retraining(self) -> RetrainingSchedule:
        """What there is to do about them."""
        with self._readers.connection(one_state=True) as connection:
            return db_jobs.look(connection)

    def queue_retraining(self, held: Container[str] = ()) -> tuple[int, ...]:
        """Queue the trainings that are due, each once whoever asks; their numbers.

        held: tasks of which none is queued.
        """
        with self._deciding() as connection:
            return db_jobs.queue_due(connection, held)


def _untold(phase: str, done: int) -> None:
    """Progress that nobody asked for."""


class MergingStore(Database):
    """Merging."""

    def merge(
        self,
        source: Path,
        me: str,
        *,
        dry_run: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> "MergeReport":
        """Bring in what was done in another copy of this database, or of its files.

        me: the name of who merges, made if unknown. Each act that comes in keeps its person,
        words and time. What both copies changed, each otherwise, stays as it is here and is
        listed. Wholly or not at all, once more without effect, and after a copy of this
        database beside it. progress: called with what is being done and how far it is.
        Raises StoreError and its kinds; the other file is never written.
        """
        from nfh_db.merge import run

        return run.merge(self.path, source, me, dry_run=dry_run, progress=progress or _untold)


class ModelsStore(Database):
    """Which models were in use, going back to them, and what they learnt from."""

    def activations(self) -> tuple[Activation, ...]:
        """Each time that a task came to use another model, the oldest first."""
        with self._readers.connection() as connection:
            return models.read_activations(connection)

    def put_back_models(
        self, wanted: Mapping[str, int], because: ActivationReason | None = None
    ) -> Mapping[str, Model]:
        """Let tasks use models again, by number; what each task uses now.

        Other tasks keep theirs, unless both use one model and cannot. StoreError if there is
        no such model.
        """
        with self._deciding() as connection:
            found = {}
            for task, model_id in wanted.items():
                model = models.read(connection, model_id)
                if model is None:
                    raise StoreError(f"there is no model {model_id}")
                found[task] = model
            models.put_back(connection, found, because)
            in_use = {}
            for task in models.SINGLE_TASKS:
                now = models.active(connection, task)
                model = None if now is None else models.read(connection, now[0])
                if model is not None:
                    in_use[task] = model
            return in_use

    def passages_with_gold(
        self, query: Query, made_at: str, without: Sequence[str], *, sides: bool
    ) -> frozenset[str]:
        """The digests of the passages in which a query finds gold that was there at a time.

        without: splits whose passages were kept out. sides: whether those that were dealt to
        judge by were kept out, too.
        """
        with self._readers.connection(one_state=True) as connection:
            return models.passages(connection, query, made_at, without, sides=sides)

    def to_decide_blind(self, me: Annotator) -> frozenset[int]:
        """The anchors that somebody has still to decide without seeing anybody's decision."""
        with self._readers.connection() as connection:
            return answers.to_decide_blind(connection, me.id)

    def model_choices(self, model_id: int, anchor_ids: Sequence[int]) -> Mapping[int, str]:
        """What a model chose of these anchors, as far as it was asked."""
        with self._readers.connection() as connection:
            return answers.choices(connection, model_id, anchor_ids)

    def model_decisions(self, model_id: int, anchor_ids: Sequence[int]) -> Mapping[int, bool]:
        """Whether a model said that a noun is missing, as far as it was asked."""
        with self._readers.connection() as connection:
            return answers.decisions(connection, model_id, anchor_ids)


def untold(phase: str, done: int) -> None:
    """Progress that nobody asked for."""


class SettlingStore(Database):
    """Settlements, taking them back, and audits of what they made."""

    def settle(
        self,
        query: Query,
        rule: Rule,
        me: Annotator,
        *,
        least: int = 2,
        dry_run: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> SettleReport:
        """Make gold of the votes on what a query finds, as one act of this person's.

        rule: unanimous or majority. least: votes that an anchor needs. progress: called with
        what is being done and to how many anchors it was. Never changes what an expert
        decided, nor what a file said. Raises StoreError beside an import or a settlement.
        """
        from nfh_db import settlement

        return settlement.run(
            self.path,
            query,
            rule,
            me,
            least=least,
            dry_run=dry_run,
            progress=progress or untold,
        )

    def settlement_to_undo(self, me: Annotator) -> tuple[int, str] | None:
        """Number and words of the settlement that this person's next undo takes back whole.

        None if the next undo is of something else, or there is none.
        """
        with self._readers.connection() as connection:
            found = event_log.newest_done(connection, me.id)
        return (found.id, found.summary) if found is not None and found.bulk else None

    def audit_frame(
        self,
        query: Query,
        me: Annotator,
        auditor: Annotator,
        settled: SettleReport | None = None,
    ) -> list[tuple[int, str]]:
        """What rules settled and this auditor can still judge: anchors with their strata.

        settled: only of what this settlement did.
        """
        from nfh_db import audits

        with self._readers.connection(one_state=True) as connection:
            return audits.frame(connection, query, me.id, auditor.id, settled)

    def assign_audit(
        self, sample: "Sample", auditor: Annotator, by: Annotator
    ) -> "tuple[str, AuditSample]":
        """Give the auditor a sample to decide; the audit's name, and what was drawn."""
        from nfh_db import audits

        with self._deciding() as connection:
            return audits.assign(connection, sample, auditor, by)

    def audits(self) -> "tuple[Audit, ...]":
        """All audits, oldest first, with what their auditors say now."""
        from nfh_db import audits

        with self._readers.connection(one_state=True) as connection:
            return audits.audits(connection)

    def _turned(
        self, me: Annotator, kind: str, done: Undone | ReversibleAct | None
    ) -> Undone | None:
        """What came of an undo or a redo; a bulk act is done only now."""
        if not isinstance(done, ReversibleAct):
            return done
        from nfh_db import bulk_run

        return bulk_run.turn(self.path, me, kind, done)


# What the store does to many items at once, and what it finds that is like one.
#
# A part of `Store`.


class BulkStore(Database):
    """Bulk acts with their previews, similar items, and precedents."""

    def preview_bulk(
        self,
        found: Query | Sequence[int],
        wish: "BulkOperation",
        me: Annotator,
        progress: Callable[[str, int], None] | None = None,
    ) -> "BulkPreview":
        """What a wish would do to the anchors of a query, or to those of these ids.

        progress: called with what is being done and to how many anchors it was. Raises
        StoreError where this person may not do it to many at once.
        """
        from nfh_db import bulk_plan, queue

        with self._readers.connection(one_state=True) as connection:
            if isinstance(found, Query):
                asked = asked_by(found, wish.role, me.name)
                chunks = list(queue.queue_ids(connection, asked, me.id, wish.role))
                found = [anchor_id for chunk in chunks for anchor_id in chunk]
            return bulk_plan.preview(connection, found, wish, me, progress or untold)

    def run_bulk(
        self,
        ids: Sequence[int],
        wish: "BulkOperation",
        me: Annotator,
        *,
        seeing: "Seeing | None" = None,
        progress: Callable[[str, int], None] | None = None,
    ) -> "BulkDone":
        """Do what a preview showed, as one act of this person's that one undo takes back.

        seeing: what of an anchor was in view, asked for each that is decided; nothing, if
        nobody can say. Raises StoreError beside an import or other bulk work.
        """
        from nfh_db import bulk_plan

        return bulk_plan.run(
            self.path,
            ids,
            wish,
            me,
            seeing=seeing or bulk_plan.unseen,
            progress=progress or untold,
        )

    def last_decided(self, me: Annotator) -> int | None:
        """The anchor that this person decided last, as an adjudicator; None for none."""
        from nfh_db import similar_items

        with self._readers.connection() as connection:
            return similar_items.last_decided(connection, me)

    def similar(
        self, anchor_id: int, passage: Passage, answer: Answer, me: Annotator
    ) -> "tuple[SimilarAnswer, ...]":
        """What is like an anchor to which an answer was given, likeness by likeness.

        passage: of the anchor.
        """
        from nfh_db import similar_items

        with self._readers.connection(one_state=True) as connection:
            return similar_items.find_alike(connection, anchor_id, passage, answer, me)

    def precedents(
        self,
        anchor_id: int,
        me: Annotator,
        nouns: Collection[str] = (),
        tag: str | None = None,
    ) -> "tuple[Precedent, ...]":
        """Earlier decisions that bear on an anchor: 20 at most, the best first.

        nouns: lemmas of the answer's nouns. tag: the rule of the guidelines that it names.
        For adjudicators: what this person has to decide blind is not among them.
        """
        from nfh_db import similar_items

        with self._readers.connection(one_state=True) as connection:
            return similar_items.find_precedents(connection, anchor_id, me, nouns, tag)


SMALLEST, FIRST, LARGEST = 5, 50, 500
"""Passages that are dealt at a time."""


class SidesStore(Database):
    """Labels to learn from, and which passages are kept out of learning."""

    def labelled(self, query: Query) -> Iterator[Ballot]:
        """What is said of each anchor of a query that has gold, by passage and span, all of
        one moment."""
        with self._readers.connection(one_state=True) as connection:
            yield from holdout.labelled(connection, query)

    def gold_kinds(self, query: Query) -> Counter[Kind]:
        """How many anchors of a query have gold of each kind."""
        with self._readers.connection() as connection:
            return holdout.gold_kinds(connection, query)

    def sides(self) -> tuple[SplitSide, ...]:
        """All passages that were ever dealt to a side."""
        with self._readers.connection() as connection:
            return holdout.dealt(connection)

    def deal_sides(self, new: Sequence[SplitSide], known: int) -> bool:
        """Deal passages that have no side yet; False where somebody else has dealt meanwhile.

        known: how many had been dealt when this was planned. Where it gives False, a part of
        them may be dealt: plan again. In writes of some milliseconds.
        """
        place, size = 0, FIRST
        while place < len(new):
            some = new[place : place + size]
            with self._noting() as connection:
                begun = time.perf_counter()
                if not holdout.deal(connection, some, known + place):
                    return False
            seconds = time.perf_counter() - begun
            place += len(some)
            size = next_stretch(
                size, seconds, wanted=WRITE_SECONDS, smallest=SMALLEST, largest=LARGEST
            )
            time.sleep(PAUSE_SECONDS)
        return True

    def side_labels(self) -> Mapping[bool, Counter[str]]:
        """How much gold of each kind there is in what is kept out (True), and in the rest."""
        with self._readers.connection() as connection:
            return holdout.labels(connection)

    def passages_of_splits(self, splits: Sequence[str]) -> Mapping[int, str]:
        """The passages in which an imported row of one of these splits stands, with it."""
        with self._readers.connection() as connection:
            return holdout.of_splits(connection, splits)

    def documents_of(self, passage_ids: Sequence[int]) -> Mapping[int, int]:
        """The document of each of these passages."""
        with self._readers.connection() as connection:
            return holdout.documents(connection, passage_ids)

    def passage_texts(self, passage_ids: Sequence[int]) -> Iterator[tuple[int, Passage]]:
        """Passages by id."""
        with self._readers.connection() as connection:
            yield from holdout.texts(connection, passage_ids)


class TracingStore(Database):
    """The rows of files behind anchors, and the known answers of check items."""

    def anchors_by_passage(self, query: Query) -> "list[array[int]]":
        """The anchors that a query finds, those of one passage together, by span."""

        with self._readers.connection(one_state=True) as connection:
            return list(items.by_passage(connection, query, 0))

    def ballots_of(self, anchor_ids: Sequence[int]) -> tuple[Ballot, ...]:
        """Everything said of these anchors, by passage and span."""

        with self._readers.connection(one_state=True) as connection:
            return tuple(items.of_anchors(connection, anchor_ids))

    def source_rows(self, anchor_ids: Sequence[int]) -> "Mapping[int, tuple[SourceRow, ...]]":
        """The rows of files that these anchors came from, by anchor."""

        with self._readers.connection() as connection:
            return items.rows(connection, anchor_ids)

    def rows_not_taken(self) -> "tuple[NotTaken, ...]":
        """The rows that imports reported as not taken over, as far as they list them."""

        with self._readers.connection() as connection:
            return tuple(items.not_taken(connection))

    def check_answers(self) -> Mapping[tuple[int, str], Answer]:
        """What was known of each check item that is answered, by anchor and annotator."""

        with self._readers.connection() as connection:
            return items.check_answers(connection)


CANCELLED = "the job was cancelled"


class JobGoneError(StoreError):
    """A job that is to go on, and has been ended by somebody else."""


class TrainingStore(SidesStore):
    """Registered models, and jobs."""

    # --- models -------------------------------------------------------------------------

    def models(self) -> tuple[Model, ...]:
        """All models, in the order of their registration."""
        with self._readers.connection() as connection:
            return models.read_all(connection)

    def model(self, name: str) -> Model | None:
        """A model by its name."""
        with self._readers.connection() as connection:
            return models.read_named(connection, name)

    def active_model(self, task: str) -> Model | None:
        """The model that a task uses; None if it has none yet."""
        with self._readers.connection(one_state=True) as connection:
            found = models.active(connection, task)
            return None if found is None else models.read(connection, found[0])

    def activate_model(self, model_id: int, because: ActivationReason | None = None) -> Model:
        """Make a model the one that its task uses. StoreError if there is none."""
        with self._deciding() as connection:
            found = models.read(connection, model_id)
            if found is None:
                raise StoreError(f"there is no model {model_id}")
            models.activate(connection, found, because)
            active = models.read(connection, model_id)
        return active or found

    def standing_in(self, task: str) -> str | None:
        """The built-in model that answers while the active one of both tasks cannot."""
        with self._readers.connection() as connection:
            return models.standing_in(connection, task)

    def stand_in(self, task: str, name: str) -> None:
        """Let a registered built-in model of a task answer in place of that of both tasks."""
        with self._noting() as connection:
            models.stand_in(connection, task, name)

    def stand_down(self, task: str) -> None:
        """Let the model of both tasks answer again that another stood in for."""
        with self._noting() as connection:
            models.stand_down(connection, task)

    # --- jobs ---------------------------------------------------------------------------

    def queue_job(self, new: NewJob) -> int:
        """A new job that a runner will take; its id."""
        with self._deciding() as connection:
            return db_jobs.add(connection, new)

    def accept_job(self, shown: Job) -> bool:
        """Make a foreign job this installation's own, as it was shown; False if it has changed
        since, or is gone.
        """
        with self._deciding() as connection:
            return db_jobs.accept(connection, shown)

    def claim_job(
        self, kinds: Kinds, trainings: int = 1, only: int | None = None
    ) -> Job | None:
        """The oldest own job that can be run now, claimed for this process; None if none can.

        kinds: those that this program knows. trainings: so many heavy ones at a time. only:
        that job alone.
        """
        with self._noting() as connection:
            job_id = db_jobs.claim(connection, kinds, trainings, only)
            return None if job_id is None else db_jobs.read(connection, job_id)

    def waiting_job(self, kinds: Kinds, trainings: int = 1) -> int | None:
        """The number of the job that `claim_job` would claim; None if there is none."""
        with self._readers.connection() as connection:
            lost = db_jobs.lost(connection)
        if lost:
            with suppress(FullError, BusyError), self._noting() as connection:
                db_jobs.interrupt_lost(connection)
        with self._readers.connection() as connection:
            found = db_jobs.waiting(connection, kinds, trainings)
            return None if found is None else found[0]

    def begin_job(self, task: str, arguments: Mapping[str, object], kind: str = TRAIN) -> int:
        """A new job that this process runs; its id. Jobs of ended processes are marked so."""
        with self._noting() as connection:
            db_jobs.interrupt_lost(connection)
            job_id = db_jobs.add(connection, NewJob(kind, IN_PLACE, task, arguments))
            db_jobs.start(connection, job_id)
        return job_id

    def note_job(
        self, job_id: int, progress: JobProgress, point: JobPoint | None = None
    ) -> None:
        """Say how far a job is, with a point of its curves. JobGoneError if it was ended."""
        with self._noting() as connection:
            if not db_jobs.note(connection, job_id, progress):
                raise JobGoneError(CANCELLED)
            if point is not None:
                db_jobs.add_point(connection, job_id, point)

    def beat_job(self, job_id: int) -> bool:
        """Say that this process is at a job; False if somebody else ended it or has it."""
        with self._noting() as connection:
            return db_jobs.beat(connection, job_id)

    def set_job_snapshot(self, job_id: int, snapshot: str) -> None:
        """Note the hash of the labels that a job works on."""
        with self._noting() as connection:
            db_jobs.set_snapshot(connection, job_id, snapshot)

    def set_job_log(self, job_id: int, log: str) -> None:
        """Note where a job's log is."""
        with self._noting() as connection:
            db_jobs.set_log(connection, job_id, log)

    def end_job(
        self,
        job_id: int,
        state: JobState,
        error: str | None = None,
        result: Mapping[str, object] | None = None,
    ) -> bool:
        """Say how a job ended that made no model; False if it had ended before.

        Anybody may cancel a job; the rest is for the process that runs it.
        """
        anyone = state is JobState.CANCELLED
        with self._deciding() as connection:
            return db_jobs.end(
                connection, job_id, state, anyone=anyone, error=error, result=result
            )

    def retry_job(self, job_id: int) -> bool:
        """Put a job back into the queue that was interrupted, or ended without being done."""
        with self._deciding() as connection:
            return db_jobs.try_again(connection, job_id)

    def finish_training(
        self,
        job_id: int,
        new: NewModel,
        result: Mapping[str, object] | None = None,
        *,
        verdict: Mapping[str, object] | None = None,
        promote: bool = False,
        then: NewJob | None = None,
    ) -> Model:
        """Register what a job made, put it to use, say that the job is done: all or nothing.

        verdict: of `nfh_tui.jobs.promotion`, as JSON; without one a model is active where its
        task has no other, else a candidate. promote: whether one that is found better takes
        over. then: a job to be queued if the model is in use. Raises JobGoneError if somebody
        ended the job, StoreError if the name is taken.
        """
        with self._deciding() as connection:
            judged = models.settled(connection, verdict, promote=promote)
            model_id = models.register_trained(connection, new, judged, job_id)
            if result is not None:
                result = {**result, "verdict": judged or None}
            if then is not None and models.in_use(connection, model_id):
                db_jobs.add(connection, then)
            if not db_jobs.end(
                connection,
                job_id,
                JobState.DONE,
                metrics=new.metrics,
                result=result,
                model_id=model_id,
            ):
                raise JobGoneError(CANCELLED)
            found = models.read(connection, model_id)
        if found is None:
            raise StoreError(f"the model {new.name} is gone again")
        return found

    def job(self, job_id: int) -> Job | None:
        """A job by its id, marked as interrupted where its process has ended."""
        with self._readers.connection() as connection:
            found = db_jobs.read(connection, job_id)
            if found is None or not db_jobs.lost(connection, job_id):
                return found
        try:
            with self._noting() as connection:
                db_jobs.interrupt_lost(connection, job_id)
                return db_jobs.read(connection, job_id)
        except (FullError, BusyError):
            return _interrupted(found)

    def job_points(self, job_id: int) -> tuple[JobPoint, ...]:
        """A job's curves, in order."""
        with self._readers.connection() as connection:
            return db_jobs.points(connection, job_id)

    def jobs(self) -> tuple[Job, ...]:
        """All jobs, the newest first; those of ended processes are marked so."""
        with self._readers.connection() as connection:
            found = db_jobs.read_all(connection)
            lost = {job_id for job_id, _ in db_jobs.lost(connection)}
        if not lost:
            return found
        try:
            with self._noting() as connection:
                db_jobs.interrupt_lost(connection)
                return db_jobs.read_all(connection)
        except (FullError, BusyError):
            return tuple(_interrupted(job) if job.id in lost else job for job in found)


def _interrupted(job: Job) -> Job:
    """A job whose process is gone, where the database cannot be written."""
    return replace(job, state=JobState.INTERRUPTED, error=db_jobs.GONE)


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
        with self._readers.connection() as connection:
            found = passages.find(connection, name)
        if found is not None:
            passages.check_type(found, type)
            return found
        with self._deciding() as connection:
            return passages.add(connection, name, type)

    def annotators(self) -> tuple[Annotator, ...]:
        """All annotators, by name."""
        with self._readers.connection() as connection:
            return passages.everybody(connection)

    # --- reading ------------------------------------------------------------------------

    def item(self, anchor_id: int, me: Annotator, role: Role) -> AnchorItem | None:
        """An anchor with all that the screen needs; None if nobody sees it (any more)."""
        with self._readers.connection(one_state=True) as connection:
            return items.read(connection, anchor_id, me, role, self._passages)

    def passages(self, anchor_ids: Sequence[int]) -> Mapping[int, tuple[Passage, Anchor]]:
        """Passage and span of each of these anchors that is visible, by anchor id."""
        with self._readers.connection(one_state=True) as connection:
            return items.read_passages(connection, anchor_ids)

    def queue_ids(
        self, query: Query, me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> Iterator["array[int]"]:
        """The anchors of a query in its order: a small first chunk, then large ones.

        Raises QueryError for what may not be asked in this role (see `query.asked_by`).
        """
        from nfh_db import queue

        with self._readers.connection() as connection:
            asked = asked_by(query, role, me.name)
            yield from queue.queue_ids(connection, asked, me.id, role)

    def queue_count(self, query: Query, me: Annotator, role: Role = Role.ADJUDICATOR) -> int:
        """How many anchors a query finds. Raises QueryError as `queue_ids` does."""
        from nfh_db import queue

        with self._readers.connection() as connection:
            asked = asked_by(query, role, me.name)
            return queue.queue_count(connection, asked, me.id, role)

    def check_models(self, query: Query) -> None:
        """Raise QueryError for an order by a model that there is not."""
        from nfh_db import queue

        if any(sort.model for sort in query.sorts):
            with self._readers.connection() as connection:
                queue.check_models(connection, query)

    def queue_rows(
        self, anchor_ids: Sequence[int], me: Annotator, role: Role = Role.ADJUDICATOR
    ) -> tuple[QueueRow, ...]:
        """Lines of the queue, in the order asked, as this person sees them in this role."""
        from nfh_db import queue

        with self._readers.connection() as connection:
            return queue.queue_rows(connection, anchor_ids, me.id, role)

    def queue_values(
        self, key: str, me: Annotator | None = None, role: Role = Role.ADJUDICATOR
    ) -> tuple[str, ...]:
        """What may follow a key of the query language here, for its completion."""
        from nfh_db import queue

        with self._readers.connection() as connection:
            return queue.queue_values(connection, key, me.id if me else 0, role)

    def views(self, me: Annotator) -> tuple[tuple[str, str], ...]:
        """Name and query of somebody's saved views, by name."""
        with self._readers.connection() as connection:
            return edits.views(connection, me.id)

    def ballots(self, query: Query, me: Annotator | None = None) -> Iterator[Ballot]:
        """Everything said of each anchor of a query, by passage and span, of one moment."""

        with self._readers.connection(one_state=True) as connection:
            yield from items.ballots(connection, query, me.id if me else 0)

    # --- deciding -----------------------------------------------------------------------

    def commit_answer(
        self,
        anchor_id: int,
        me: Annotator,
        role: Role,
        answer: Answer,
        seen: Exposure = Exposure(),  # noqa: B008
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
        with self._readers.connection(one_state=True) as connection:
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
            done = event_log.undo(connection, me, role)
        return self._turned(me, "undo", done)

    def redo(self, me: Annotator, role: Role | None = None) -> Undone | None:
        """Do again what this person undid last; None if nothing is left. ChangedSinceError.

        role: as for `undo`.
        """
        with self._deciding() as connection:
            done = event_log.redo(connection, me, role)
        return self._turned(me, "redo", done)

    # --- noting -------------------------------------------------------------------------

    def save_draft(self, anchor_id: int, me: Annotator, role: Role, body: str | None) -> None:
        """Keep an unfinished answer; None forgets it."""
        with self._noting() as connection:
            edits.save_draft(connection, anchor_id, me.id, role.value, body)

    def save_place(self, me: Annotator, mode: str, place: QueuePosition) -> None:
        """Remember where somebody stands in a mode (browse, annotate, adjudicate)."""
        with self._noting() as connection:
            edits.save_place(connection, me.id, mode, place)

    def place(self, me: Annotator, mode: str) -> QueuePosition:
        """Where somebody stood; an anchor replaced meanwhile gives the one in its place."""
        with self._readers.connection() as connection:
            return edits.place(connection, me.id, mode)

    def save_view(self, me: Annotator, name: str, query: str | None) -> None:
        """Keep a query under a name; None forgets it."""
        with self._noting() as connection:
            edits.save_view(connection, me.id, name, query)

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
        with self._readers.connection() as connection:
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
                predictions.delete_some_identifications(connection, found[0], FORGET_AT_ONCE)
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
        with self._readers.connection() as connection:
            return predictions.known(connection, model_id, anchor_ids)

    def setting(self, name: str, default: str | None = None) -> str | None:
        """A setting's value, or `default`."""
        with self._readers.connection() as connection:
            return passages.read_setting(connection, name, default)

    def set_setting(self, name: str, value: str) -> None:
        """Set a setting."""
        with self._noting() as connection:
            passages.write_setting(connection, name, value)

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
        from nfh_db import import_run

        return import_run.load(
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
        """What an export writes, of one moment; see `nfh_db.items` for the order."""

        with self._readers.connection(one_state=True) as connection:
            yield from items.records(connection, query, me.id if me else 0, layout)

    def count_stale_gold(self) -> int:
        """How many anchors lost their gold with their span; see `nfh_db.items`."""

        with self._readers.connection() as connection:
            return items.count_stale_gold(connection)
