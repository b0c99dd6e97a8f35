"""Jobs and models as they are now: looked at twice a second, drawn where they have changed."""

from asyncio import sleep
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from nfh_db.clock import now
from nfh_db.errors import QueryError
from nfh_db.jobs import Job, JobState
from nfh_db.models import Model
from nfh_db.query import parse
from nfh_tui.client_jobs import LogMark
from nfh_tui.desk.report import ReportError, report
from nfh_tui.desk.work import start
from nfh_tui.screens.panes import Panes
from nfh_tui.sheets.job_detail import JobView, job_lines
from nfh_tui.sheets.job_words import PREDICT
from nfh_tui.sheets.jobs import (
    JOB_STOP,
    MODEL_STOP,
    Listed,
    job_stop,
    list_lines,
    model_stop,
    tally,
)
from nfh_tui.sheets.line import Line, sentence
from nfh_tui.sheets.model_detail import (
    NO_INTERVAL,
    NOTHING_SAID,
    SIDES,
    Beside,
    beside_query,
    measured,
    model_lines,
    others_of,
)
from nfh_tui.widgets.sheet import Sheet

LIST, DETAILS = "list", "details"

BETWEEN = 0.5
"""Seconds between two looks at whether anybody has written."""

ANYWAY = 1.0
"""Seconds after which a job that runs is read anyway: who dies, or writes to a log, commits
nothing."""

AGAIN = 5.0
"""Seconds until two models are compared anew while jobs go on."""

STAYS = 0.15
"""Seconds on a model until it is compared."""

LOOKING = "Looking at the jobs…"
SMALL = "small"
IDENTIFICATION = "identification"
PREDICTING = "no interval while a job predicts"


class Watching(Panes):
    """The list at the left, and at the right all of what one stands on in it."""

    NAME = "Jobs and models"
    PANES = ((LIST, "List"), (DETAILS, "Details"))

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.listed: Listed | None = None
        self.view = JobView()
        self.beside = Beside()
        self.subject = str(self.memory.get("subject", ""))
        self._of = ""
        self._mark: LogMark | None = None
        self._version: int | None = None
        self._read_at = 0.0
        self._looking = self._comparing = False
        self._compared, self._compared_at = "", 0.0
        self._noted = ""
        self._drawn: dict[str, tuple[Line, ...]] = {}
        # Where the cursors stood last time, for as long as no key has moved them.
        kept = self.memory.get("stops")
        self._wanted: dict[str, str] = dict(kept) if isinstance(kept, dict) else {}
        if self.subject:
            self._wanted[LIST] = self.subject
        self._top: dict[str, str] = {}

    # --- reading ------------------------------------------------------------------------

    def read(self) -> None:
        """Begin to look, and go on with it."""
        if self.listed is None:
            self.set_interval(BETWEEN, self._tick)
        self._look(anew=True)

    def _tick(self) -> None:
        if any(map(self._runs, self._jobs)):
            self.paint()
        self._look()

    def _look(self, *, anew: bool = False) -> None:
        """Read if anybody has written; one look at a time."""
        if anew:
            self._version = None
        if not self._looking:
            self._looking = True
            start(self, self._looked, group="watching", description="the jobs")

    async def _looked(self) -> None:
        try:
            version = await self.client.others_version()
            if self._stale(version):
                self._version, self._read_at = version, monotonic()
                await self.read_now()
        finally:
            self._looking = False

    def _stale(self, version: int | None) -> bool:
        if self.listed is None or self._version is None or version != self._version:
            return True
        runs = any(map(self._runs, self._jobs))
        return runs and monotonic() - self._read_at >= ANYWAY

    async def read_now(self) -> None:
        """Read the jobs, the models, and what one stands on."""
        before = self.listed
        jobs, models = await self.client.jobs(), await self.client.models()
        metrics = before.metrics if before is not None else {}
        for model in models:
            if model.recipe == SMALL and model.path is None and model.id not in metrics:
                metrics = {**metrics, model.id: await self.client.packaged_figures()}
        every = before.every if before is not None else bool(self.memory.get("every"))
        rounds = await self.client.trainings_that_come_round()
        self.listed = Listed(jobs, models, metrics, now(), every, rounds)
        if not self.subject:
            self.subject = next((job_stop(job.id) for job in jobs if self._runs(job)), "")
            self._wanted.setdefault(LIST, self.subject)
        self.paint_scope()
        self.paint()
        await self._read_subject()
        self.paint()
        self.paint_titles()
        self.paint_keys()

    async def _read_subject(self) -> None:
        job, model = self.job, self.model
        if job is not None:
            await self._read_job(job)
        elif model is not None and model.task != IDENTIFICATION:
            self._compare_later()

    def _compare_later(self) -> None:
        """Compare anew beside the looking, now and then: counting may take a while."""
        recent = self._compared == self.subject and monotonic() - self._compared_at < AGAIN
        if not self._comparing and not recent:
            start(
                self, self._compare, group="subject", description="two models",
                exclusive=True,
            )  # fmt: skip

    async def _compare(self) -> None:
        model = self.model
        if model is None or model.task == IDENTIFICATION:
            return
        self._comparing = True
        try:
            await self._read_beside(model)
            self._compared, self._compared_at = model_stop(model.id), monotonic()
        finally:
            self._comparing = False

    async def _read_job(self, job: Job) -> None:
        subject = self.subject
        fresh = self._of != subject
        found = await self.client.job_log(job.id, None if fresh else self._mark)
        points = await self.client.job_points(job.id)
        if self.subject != subject:
            return
        log = self.view.log if found is None else found[1]
        self._mark = self._mark if found is None else found[0]
        self.view, self._of = JobView(points, log), subject

    # --- a model beside another ---------------------------------------------------------

    async def _read_beside(self, model: Model) -> None:
        """Count what both have right, one by one, or take what was counted before."""
        subject = self.subject
        known = await self.client.models_with_predictions()
        other = self._other(model, known)
        if other is None or model.id not in dict(known):
            why = "" if other is None else NOTHING_SAID.format(name=model.name)
            self._take(subject, Beside(why=why))
            return
        versions = (
            await self.client.answers_version(),
            await self.client.predictions_version(),
        )
        key = (model.id, other[0], self.base, versions)
        kept = self.kept("beside", key)
        if isinstance(kept, Beside):
            self._take(subject, kept)
            return
        self._take(subject, Beside(other[1], self.base))
        counted = await self._counted(model.name, other[1])
        self._take(subject, counted)
        if counted.counts is not None and self.subject == subject:
            counted = await self._measured(model, other[0], counted)
            self.keep("beside", key, counted)
            self._take(subject, counted)

    def _other(self, model: Model, known: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
        """What stands beside: the model chosen, else the one in use, else the newest."""
        others = others_of(model, known)
        against = self.memory.get("against")
        chosen = against.get(model.id) if isinstance(against, dict) else None
        return next((one for one in others if one[0] == chosen), others[0] if others else None)

    def _take(self, subject: str, beside: Beside) -> None:
        if self.subject == subject and self.beside != beside:
            self.beside = beside
            self.paint()

    async def _counted(self, name: str, other: str) -> Beside:
        counts = {}
        for side in SIDES:
            try:
                query = parse(beside_query(name, other, side, self.base))
                counts[side] = await self.client.queue_count(query, self.me)
            except QueryError as error:
                return Beside(other, self.base, None, f"They cannot be compared: {error}")
        return Beside(other, self.base, counts)

    async def _measured(self, model: Model, other_id: int, counted: Beside) -> Beside:
        """With the interval, which the command works out beside the screen."""
        if not sum((counted.counts or {}).values()):
            return counted
        if any(self._runs(job) and job.kind == PREDICT for job in self._jobs):
            return replace(counted, untold=PREDICTING)
        # As this person: what they have still to decide blind is not counted there, either.
        call = ["models", "compare", str(model.id), str(other_id), "--as", self.me.name]
        if counted.base:
            call += ["--", counted.base]
        try:
            found = await report(call, self.client.store.path)
        except ReportError:
            return replace(counted, untold=NO_INTERVAL)
        return measured(counted, found)

    # --- what one stands on -------------------------------------------------------------

    @property
    def job(self) -> Job | None:
        """The job that one stands on; None on a model."""
        kind, _, number = self.subject.partition(" ")
        if kind != JOB_STOP or self.listed is None:
            return None
        return self.listed.job(int(number))

    @property
    def model(self) -> Model | None:
        """The model that one stands on; None on a job."""
        kind, _, number = self.subject.partition(" ")
        if kind != MODEL_STOP or self.listed is None:
            return None
        return self.listed.model(int(number))

    def on_sheet_moved(self, message: Sheet.Moved) -> None:
        """In the list: show what one stands on now."""
        message.prevent_default()  # else Textual has the ground do its part as well
        said = self.status_line.status.say
        if message.by_hand or said in ("", self._noted):
            # What an act has said stays until a key is pressed, however often this is drawn.
            super().on_sheet_moved(message)
            self._noted = self.status_line.status.say
        self.follow()

    def action_side(self, action_id: str) -> None:
        """An act is about what the list's cursor stands on, however fast keys come."""
        self._wanted.clear()
        self.follow()
        super().action_side(action_id)

    def follow(self) -> None:
        """Show what the list's cursor stands on."""
        stop = self.sheets[LIST].stop
        if stop is not None and stop.act in (JOB_STOP, MODEL_STOP):
            self.stand_on(stop.name)

    def stand_on(self, subject: str) -> None:
        """Show another job or model."""
        if subject == self.subject:
            return
        self.subject = self.memory["subject"] = subject
        self.view, self.beside, self._of = JobView(), Beside(why="Counting…"), ""
        self.paint()
        self.paint_titles()
        self.paint_keys()
        start(
            self, self._read_soon, group="subject", description="what one stands on",
            exclusive=True,
        )  # fmt: skip

    def go_to_line(self, subject: str) -> None:
        """Stand on another line of the list."""
        self._wanted[LIST] = subject
        self._drawn.pop(LIST, None)
        self.paint()
        self._wanted.pop(LIST, None)

    def compare_anew(self) -> None:
        """Compare with the model that was chosen."""
        self.beside, self._compared = Beside(why="Counting…"), ""
        self.paint()
        start(self, self._compare, group="subject", description="two models", exclusive=True)

    def show_more(self) -> None:
        """List all jobs, or the newest only."""
        if self.listed is not None:
            self.listed = replace(self.listed, every=not self.listed.every)
            self.memory["every"] = self.listed.every
            self.paint()

    async def _read_soon(self) -> None:
        if self.model is None:
            await self._read_subject()
            self.paint()
            return
        await sleep(STAYS)
        await self._compare()

    # --- drawing ------------------------------------------------------------------------

    def paint(self) -> None:
        """Draw what has changed; the cursor stays on what it stood on."""
        for name, sheet in self.sheets.items():
            lines = tuple(self.lines(name, self.room(sheet)))
            top = self.subject if name == DETAILS else ""
            moved = self._top.get(name, top) != top
            if lines == self._drawn.get(name) and not moved:
                continue
            self._drawn[name], self._top[name] = lines, top
            sheet.show(lines, f"{top} top" if moved else self._wanted.get(name))
            if name == LIST:
                self.follow()

    def lines(self, pane: str, width: int) -> Sequence[Line]:
        """What a pane shows."""
        listed = self.listed
        if listed is None:
            return sentence(LOOKING, width) if pane == LIST else ()
        listed = replace(listed, now=now())
        if pane == LIST:
            return list_lines(listed, width)
        rows = self.sheets[DETAILS].size.height or self.app.size.height - 4
        if self.job is not None:
            return job_lines(self.job, self.view, listed, width, rows)
        if self.model is not None:
            return model_lines(self.model, self.beside, listed, width)
        return ()

    def paint_scope(self) -> None:
        """How much is under way; of which items two models are compared stands there."""
        self.title_note("" if self.listed is None else tally(self.listed.jobs))

    def pane_note(self, pane: str) -> str:
        """Which job or model it is."""
        if pane != DETAILS:
            return ""
        model = self.model
        return model.name if model is not None else self.subject

    @property
    def _jobs(self) -> Sequence[Job]:
        return () if self.listed is None else self.listed.jobs

    @staticmethod
    def _runs(job: Job) -> bool:
        return job.state is JobState.RUNNING
