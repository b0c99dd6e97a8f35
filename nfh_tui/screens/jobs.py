"""The screen of jobs and models: their progress, read twice a second, their results, and
actions on them.
"""

from asyncio import sleep
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from nfh_db.errors import QueryError
from nfh_db.jobs import Job, JobState
from nfh_db.models import Model
from nfh_db.query import parse
from nfh_db.system import now
from nfh_models.model_files import PACKAGED
from nfh_tui.actions import Access, Action
from nfh_tui.client import LogMark, by
from nfh_tui.jobs.descriptions import ACTIVE, PREDICT, job_name
from nfh_tui.screens import job_figures
from nfh_tui.screens.base import TWO_PANES, FigurePanes, Handlers, SideScreen, remembered
from nfh_tui.screens.training_form import (
    ALL_GOLD,
    ANY_SPLIT,
    BASES,
    USUAL,
    Choices,
    TrainingForm,
    call_of,
    job_of,
    last_form,
)
from nfh_tui.services.report_process import ReportError, output, report, unwrapped
from nfh_tui.services.reports import ModelComparisonReport, QueuedJob
from nfh_tui.textual_support import start
from nfh_tui.widgets.figure_lines import Line, Target, items, sentence
from nfh_tui.widgets.figure_table import FigureTable
from nfh_tui.widgets.status_bar import Level

LIST, DETAILS = "list", "details"

BETWEEN = 0.5
"""Seconds between two checks for commits."""

ANYWAY = 1.0
"""Seconds after which a running job is read without a commit: a killed job and log output
commit nothing."""

AGAIN = 5.0
"""Seconds between two comparisons of the same models while jobs run."""

STAYS = 0.15
"""Seconds on a model before it is compared."""

LOOKING = "Reading the jobs…"
IDENTIFICATION = "identification"
PREDICTING = "no interval while a job predicts"


OF_A_JOB = "This key is for jobs; the cursor is on a model."
OF_A_MODEL = "This key is for models; the cursor is on a job."
NOTHING_HERE = "There are no jobs and no models yet."
BEGIN = "t starts a training."
FOREIGN = "You did not queue it from here: `nfh-tui jobs run --accept {id}` starts it."
ENDED = "It has already ended."
RUNS, IS_DONE = "It is running.", "It is done. t starts another training."
IN_PLACE = "The command that made it runs it, so ctrl+c there ends it; it is not queued."
IN_USE = "It is already active."
SAYS_NOTHING = "A model of identification predicts no heads."
NOT_STARTED = "It is queued, but no runner could be started: {why}. r tries again."

STILL = "Wait a moment: {what} is still running."

BOTH = "both"
YES, NO = "yes", "no"
JOB_ACTIONS = frozenset({"side.cancel", "side.retry", "side.log"})
MODEL_ACTIONS = frozenset(
    {"side.compare", "side.use", "side.back", "side.predict", "side.card"}
)
GOLD = "state:decided"
OPEN = "state:open,answered,disagree"


class JobsScreen(SideScreen):
    """The list in the left pane, and details of the selected job or model in the right one."""

    NAME = "Jobs and models"
    PANES = ((LIST, "List"), (DETAILS, "Details"))
    HORIZONTAL_BREAKPOINTS = TWO_PANES

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as a side screen takes them
        self.listed: job_figures.Listed | None = None
        self.view = job_figures.JobView()
        self.beside = job_figures.ModelComparisonRow()
        self.subject = str(self.memory.get("subject", ""))
        self.panes: JobPanes = JobPanes(self)
        self.reader = JobWatch(self)
        self.job_actions = JobActions(self)
        self.model_actions = ModelActions(self)

    def handlers(self) -> Handlers:
        """Actions that change jobs and models."""
        return {
            **super().handlers(),
            "side.close": self.step_out,
            "side.cancel": self.job_actions.cancel,
            "side.retry": self.job_actions.retry,
            "side.log": self.job_actions.show_log,
            "side.train": self.job_actions.train,
            "side.use": self.model_actions.use,
            "side.back": self.model_actions.go_back,
            "side.predict": self.model_actions.predict,
            "side.compare": self.model_actions.compare,
            "side.card": self.model_actions.show_card,
        }

    def read(self) -> None:
        """Start reading regularly."""
        self.reader.begin()

    # --- the selected entry -------------------------------------------------------------

    @property
    def job(self) -> Job | None:
        """The selected job; None if a model is selected."""
        return next(
            (one for one in self.jobs if job_figures.job_stop(one.id) == self.subject), None
        )

    @property
    def model(self) -> Model | None:
        """The selected model; None if a job is selected."""
        models = () if self.listed is None else self.listed.models
        return next(
            (one for one in models if job_figures.model_stop(one.id) == self.subject), None
        )

    @property
    def jobs(self) -> Sequence[Job]:
        """The listed jobs."""
        return () if self.listed is None else self.listed.jobs

    def action_side(self, action_id: str) -> None:
        """Run an action on the entry under the list's cursor, however fast the keys come."""
        self.panes.wanted.clear()
        self.follow()
        super().action_side(action_id)

    def follow(self) -> None:
        """Show the entry under the list's cursor."""
        stop = self.panes.sheets[LIST].stop
        if stop is not None and stop.act in (job_figures.JOB_STOP, job_figures.MODEL_STOP):
            self.stand_on(stop.name)

    def stand_on(self, subject: str) -> None:
        """Show another job or model."""
        if subject == self.subject:
            return
        self.subject = self.memory["subject"] = subject
        self.view, self.beside = (
            job_figures.JobView(),
            job_figures.ModelComparisonRow(why="Counting…"),
        )
        self.reader.forget()
        self.panes.refresh()
        self.panes.refresh_titles()
        self.refresh_keys()
        start(
            self, self.reader.read_soon, group="subject", description="what the cursor is on",
            exclusive=True,
        )  # fmt: skip

    def go_to_line(self, subject: str) -> None:
        """Select another line of the list."""
        self.panes.wanted[LIST] = subject
        self.panes.drawn.pop(LIST, None)
        self.panes.refresh()
        self.panes.wanted.pop(LIST, None)

    def show_more(self) -> None:
        """List all jobs, or only the newest ones."""
        if self.listed is not None:
            self.listed = replace(self.listed, every=not self.listed.every)
            self.memory["every"] = self.listed.every
            self.panes.refresh()

    # --- drawing ------------------------------------------------------------------------

    def lines(self, pane: str, width: int) -> Sequence[Line]:
        if (listed := self.listed) is None:
            return sentence(LOOKING, width) if pane == LIST else ()
        listed = replace(listed, now=now())
        if pane == LIST:
            return job_figures.list_lines(listed, width)
        rows = self.panes.sheets[DETAILS].size.height or self.app.size.height - 4
        if self.job is not None:
            return job_figures.job_lines(self.job, self.view, listed, width, rows)
        if self.model is not None:
            return job_figures.model_lines(self.model, self.beside, listed, width)
        return ()

    def refresh_scope(self) -> None:
        """Show the number of active jobs; a comparison names its items itself."""
        self.title_note("" if self.listed is None else job_figures.tally(self.listed.jobs))

    def pane_note(self, pane: str) -> str:
        """Return the name of the job or model."""
        if pane != DETAILS:
            return ""
        model = self.model
        return model.name if model is not None else self.subject

    # --- reasons ------------------------------------------------------------------------

    def why_not(self, action: Action) -> str:
        """Add the reasons that depend on the job or model."""
        if action.id in JOB_ACTIONS | MODEL_ACTIONS:
            if self.job is None and self.model is None:
                begin = f" {BEGIN}" if self.access >= Access.ADMIN else ""
                return f"{NOTHING_HERE}{begin}"
            of_job = action.id in JOB_ACTIONS
            return self._why_not_job(action.id) if of_job else self._why_not_model(action.id)
        return super().why_not(action)

    def _why_not_job(self, act: str) -> str:
        if (job := self.job) is None:
            return OF_A_JOB
        if act == "side.cancel" and job.state.ended:
            return ENDED
        if act == "side.retry" and job.state in (JobState.RUNNING, JobState.DONE):
            return RUNS if job.state is JobState.RUNNING else IS_DONE
        if act == "side.retry" and job.foreign:
            return FOREIGN.format(id=job.id)
        if act == "side.retry" and job.version < 2:
            return IN_PLACE
        return ""

    def _why_not_model(self, act: str) -> str:
        if (model := self.model) is None:
            return OF_A_MODEL
        if act == "side.use" and model.state == ACTIVE:
            return IN_USE
        if act in ("side.predict", "side.compare") and model.task == "identification":
            return SAYS_NOTHING
        return ""

    def footer_actions(self) -> Sequence[Action]:
        """Return the footer actions; those on a job or model only if they are available."""
        own = JOB_ACTIONS | MODEL_ACTIONS
        return [act for act in self.own_actions() if act.id not in own or not self.reason(act)]

    # --- opening ------------------------------------------------------------------------

    def chosen(self, stop: Target) -> None:
        """React to enter: go to the details or a model, or show a log or a card."""
        if stop.act in (job_figures.JOB_STOP, job_figures.MODEL_STOP):
            self.panes.show(DETAILS)
        elif stop.act == job_figures.OLDER_STOP:
            self.show_more()
        elif stop.act == job_figures.LOG_STOP:
            self.runner.act(self.job_actions.show_log, group="side.log")
        elif stop.act == job_figures.CARD_STOP:
            self.model_actions.show_card()
        elif stop.act.startswith(job_figures.GO_STOP):
            self.go_to_line(stop.act.removeprefix(f"{job_figures.GO_STOP} "))

    def step_out(self) -> None:
        """Return from the details to the list if only one of them fits, else to the
        workbench.
        """
        if self.panes.pane == DETAILS and self.has_class("-one-pane"):
            self.panes.show(LIST)
        else:
            self.dismiss(None)


class JobPanes(FigurePanes):
    """Panes that redraw only what has changed, because they are refreshed twice a second."""

    def __init__(self, screen: JobsScreen) -> None:
        super().__init__(screen)
        self.jobs_screen = screen
        self.drawn: dict[str, tuple[Line, ...]] = {}
        self.top: dict[str, str] = {}
        # The last positions of the cursors, used until a key moves them.
        stops = screen.memory.get("stops")
        self.wanted: dict[str, str] = dict(stops) if isinstance(stops, dict) else {}
        if screen.subject:
            self.wanted[LIST] = screen.subject
        self._noted = ""

    def refresh(self) -> None:
        """Redraw what has changed; the cursor stays on its stop."""
        for name, sheet in self.sheets.items():
            lines = tuple(self.screen.lines(name, self.room(sheet)))
            top = self.jobs_screen.subject if name == DETAILS else ""
            moved = self.top.get(name, top) != top
            if lines == self.drawn.get(name) and not moved:
                continue
            self.drawn[name], self.top[name] = lines, top
            sheet.show(lines, f"{top} top" if moved else self.wanted.get(name))
            if name == LIST:
                self.jobs_screen.follow()

    def moved(self, message: FigureTable.Moved) -> None:
        """Describe the selected stop; in the list, show its job or model."""
        said = self.screen.status_line.status.say
        if message.by_hand or said in ("", self._noted):
            # The message of an action stays until a key is pressed, even if the pane is
            # redrawn.
            super().moved(message)
            self._noted = self.screen.status_line.status.say
        self.jobs_screen.follow()


class ScreenPart:
    """A part of the screen, which reads and writes."""

    def __init__(self, screen: JobsScreen) -> None:
        self._screen = screen
        self.client, self.store, self.me = screen.client, screen.store, screen.me


class JobWatch(ScreenPart):
    """Reads the jobs and models, and compares two models, while the screen is open."""

    def __init__(self, screen: JobsScreen) -> None:
        super().__init__(screen)
        self._of = ""
        self._mark: LogMark | None = None
        self._version: int | None = None
        self._read_at = 0.0
        self._looking = self._comparing = False
        self._compared, self._compared_at = "", 0.0

    def begin(self) -> None:
        """Start reading regularly."""
        if self._screen.listed is None:
            self._screen.set_interval(BETWEEN, self._tick)
        self._look(anew=True)

    def _tick(self) -> None:
        if any(map(_runs, self._screen.jobs)):
            self._screen.panes.refresh()
        self._look()

    def _look(self, *, anew: bool = False) -> None:
        """Read if anybody has committed; one read at a time."""
        if anew:
            self._version = None
        if not self._looking:
            self._looking = True
            start(self._screen, self._looked, group="watching", description="the jobs")

    async def _looked(self) -> None:
        try:
            version = await self.client.read(self.store.others_version)
            if self._stale(version):
                self._version, self._read_at = version, monotonic()
                await self.read_now()
        finally:
            self._looking = False

    def _stale(self, version: int | None) -> bool:
        if self._screen.listed is None or self._version is None or version != self._version:
            return True
        runs = any(map(_runs, self._screen.jobs))
        return runs and monotonic() - self._read_at >= ANYWAY

    async def read_now(self) -> None:
        """Read the jobs, the models, and the details of the selected one."""
        before = self._screen.listed
        jobs = await self.client.read(self.store.jobs.all)
        models = await self.client.read(self.store.models.all)
        metrics = before.metrics if before is not None else {}
        for model in models:
            if model.recipe in PACKAGED and model.path is None and model.id not in metrics:
                found = await self.client.packaged_figures(model.recipe)
                metrics = {**metrics, model.id: found}
        every = before.every if before is not None else bool(self._screen.memory.get("every"))
        rounds = await self.client.trainings_that_come_round()
        self._screen.listed = job_figures.Listed(jobs, models, metrics, now(), every, rounds)
        if not self._screen.subject:
            self._screen.subject = next(
                (job_figures.job_stop(job.id) for job in jobs if _runs(job)), ""
            )
            self._screen.panes.wanted.setdefault(LIST, self._screen.subject)
        self._screen.refresh_scope()
        self._screen.panes.refresh()
        await self._read_subject()
        self._screen.panes.refresh()
        self._screen.panes.refresh_titles()
        self._screen.refresh_keys()

    async def _read_subject(self) -> None:
        job, model = self._screen.job, self._screen.model
        if job is not None:
            await self._read_job(job)
        elif model is not None and model.task != IDENTIFICATION:
            self._compare_later()

    async def _read_job(self, job: Job) -> None:
        subject = self._screen.subject
        fresh = self._of != subject
        found = await self.client.job_log(job.id, None if fresh else self._mark)
        points = await self.client.read(self.store.jobs.points, job.id)
        if self._screen.subject != subject:
            return
        log = self._screen.view.log if found is None else found[1]
        self._mark = self._mark if found is None else found[0]
        self._screen.view, self._of = job_figures.JobView(points, log), subject

    async def read_soon(self) -> None:
        if self._screen.model is None:
            await self._read_subject()
            self._screen.panes.refresh()
            return
        await sleep(STAYS)
        await self._compare()

    def _compare_later(self) -> None:
        """Repeat the comparison in the background from time to time, because counting may be
        slow.
        """
        screen = self._screen
        recent = self._compared == screen.subject and monotonic() - self._compared_at < AGAIN
        if not self._comparing and not recent:
            start(
                screen, self._compare, group="subject", description="two models",
                exclusive=True,
            )  # fmt: skip

    async def _compare(self) -> None:
        model = self._screen.model
        if model is None or model.task == IDENTIFICATION:
            return
        self._comparing = True
        try:
            await self._read_beside(model)
            self._compared, self._compared_at = job_figures.model_stop(model.id), monotonic()
        finally:
            self._comparing = False

    def compare_anew(self) -> None:
        """Repeat the comparison with the chosen model."""
        screen = self._screen
        screen.beside, self._compared = job_figures.ModelComparisonRow(why="Counting…"), ""
        screen.panes.refresh()
        start(screen, self._compare, group="subject", description="two models", exclusive=True)

    async def _read_beside(self, model: Model) -> None:
        """Count the items by which model is correct, or use earlier counts."""
        subject = self._screen.subject
        known = await self.client.read(self.store.comparisons.models)
        other = self._other(model, known)
        if other is None or model.id not in dict(known):
            why = "" if other is None else job_figures.NOTHING_SAID.format(name=model.name)
            self._take(subject, job_figures.ModelComparisonRow(why=why))
            return
        versions = (
            await self.client.read(self.store.comparisons.answers_version),
            await self.client.read(self.store.comparisons.predictions_version),
        )
        key = (model.id, other[0], self._screen.base, versions)
        kept = remembered(self._screen.memory, "beside", key)
        if isinstance(kept, job_figures.ModelComparisonRow):
            self._take(subject, kept)
            return
        self._take(subject, job_figures.ModelComparisonRow(other[1], self._screen.base))
        counted = await self._counted(model.name, other[1])
        self._take(subject, counted)
        if counted.counts is not None and self._screen.subject == subject:
            counted = await self._measured(model, other[0], counted)
            self._screen.memory["beside"] = (key, counted)
            self._take(subject, counted)

    def _other(self, model: Model, known: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
        """Return the other model: the chosen one, else the active one, else the newest one."""
        others = job_figures.others_of(model, known)
        against = self._screen.memory.get("against")
        chosen = against.get(model.id) if isinstance(against, dict) else None
        return next((one for one in others if one[0] == chosen), others[0] if others else None)

    def _take(self, subject: str, beside: job_figures.ModelComparisonRow) -> None:
        if self._screen.subject == subject and self._screen.beside != beside:
            self._screen.beside = beside
            self._screen.panes.refresh()

    async def _counted(self, name: str, other: str) -> job_figures.ModelComparisonRow:
        counts = {}
        for side in job_figures.SIDES:
            try:
                query = parse(job_figures.beside_query(name, other, side, self._screen.base))
                counts[side] = await self.client.read(self.store.queue.count, query, self.me)
            except QueryError as error:
                return job_figures.ModelComparisonRow(
                    other, self._screen.base, None, f"They cannot be compared: {error}"
                )
        return job_figures.ModelComparisonRow(other, self._screen.base, counts)

    async def _measured(
        self, model: Model, other_id: int, counted: job_figures.ModelComparisonRow
    ) -> job_figures.ModelComparisonRow:
        """Return the comparison with its interval, which the command computes."""
        if not sum((counted.counts or {}).values()):
            return counted
        if any(_runs(job) and job.kind == PREDICT for job in self._screen.jobs):
            return replace(counted, untold=PREDICTING)
        # With this person's name: items that they must decide blind are left out there as well.
        call = ["models", "compare", str(model.id), str(other_id), "--as", self.me.name]
        if counted.base:
            call += ["--", counted.base]
        try:
            found = await report(call, self.store.path, ModelComparisonReport)
        except ReportError:
            return replace(counted, untold=job_figures.NO_INTERVAL)
        return replace(counted, report=found)

    def forget(self) -> None:
        """Discard the state of the previous job or model."""
        self._of = ""


class JobActions(ScreenPart):
    """Actions on jobs, and the start of trainings."""

    async def cancel(self) -> None:
        """Cancel a job after a question."""
        screen = self._screen
        job, listed = screen.job, screen.listed
        if job is None or listed is None:
            return
        name = f"job {job.id}, {job_name(listed.names, job)}"
        runs = job.state is JobState.RUNNING
        faint = "it stops at its next step; r starts it again" if runs else "r puts it back"
        options = [("Cancel it", faint, YES), ("Let it run", "", NO)]
        if await screen.choose_from(f"Cancel {name}?", options) != YES:
            return
        who = by(self.me.name)
        done = await self.client.write(self.store.jobs.end, job.id, JobState.CANCELLED, who)
        await screen.reader.read_now()
        screen.say(
            f"{name} is cancelled" if done else f"{name} had already ended",
            Level.DONE if done else Level.PLAIN,
        )

    async def retry(self) -> None:
        """Queue a job again; for a queued job, start a runner."""
        if (job := self._screen.job) is None:
            return
        waits = job.state is JobState.QUEUED
        if waits or await self.client.write(self.store.jobs.retry, job.id):
            words = "waits for its turn" if waits else "is in the queue again"
            await self.queued(f"job {job.id} {words}")
        else:
            self._screen.refuse(f"Job {job.id} has changed since then.")
            await self._screen.reader.read_now()

    async def queued(self, words: str) -> None:
        """Start a runner for queued jobs and report it; without one they stay queued."""
        try:
            await self.client.start_runner()
            self._screen.say(words, Level.DONE)
        except OSError as error:
            self._screen.refuse(NOT_STARTED.format(why=error))
        await self._screen.reader.read_now()

    async def show_log(self) -> None:
        """Show the log of a job."""
        screen = self._screen
        if (job := screen.job) is None:
            return
        found = await self.client.job_log(job.id)
        at = now()
        parts = [
            job_figures.log_parts(line, at) for line in (found[1] if found is not None else ())
        ]
        lines = [" ".join(filter(None, pair)) for pair in parts]
        screen.show_text(
            f"Log of job {job.id}", "\n".join(lines) or job_figures.no_log(job), end=True
        )

    async def train(self) -> None:
        """Ask for a training and queue it."""
        screen = self._screen
        from nfh_tui.screens.dialogs import TrainingDialog

        begun = screen.memory.get("form")
        form = begun if isinstance(begun, TrainingForm) else None
        form = form or last_form(await self.client.read(self.store.jobs.all)) or TrainingForm()
        queries = list(dict.fromkeys([ALL_GOLD, screen.query_now or ALL_GOLD, form.query]))
        bases = list(dict.fromkeys([USUAL, *self._bases(), form.base]))
        there = await self.client.read(self.store.queue.values, "split", self.me, screen.role)
        splits = list(dict.fromkeys([ANY_SPLIT, *there, form.split]))
        choices = Choices(bases, queries, splits)
        dialog = TrainingDialog(form, choices, self._gold_of, self._call)
        if (chosen := await screen.app.push_screen_wait(dialog)) is None:
            # Typed values are kept for the next time, chosen ones are not.
            typed = dialog.form.settings != form.settings
            screen.memory["form"] = dialog.form if typed else None
            return
        screen.memory["form"] = None
        if (job_id := dialog.job_id) is None:
            new = job_of(chosen, self.me.name)
            await self.client.check_training(new)
            job_id = await self.client.write(self.store.jobs.add, new)
        await self.queued(f"job {job_id} trains {chosen.recipe}; you can continue to work")
        screen.panes.show(LIST)
        screen.go_to_line(f"{job_figures.JOB_STOP} {job_id}")

    async def _call(self, form: TrainingForm) -> int:
        """Queue a training by the command, which validates it; returns the job's id."""
        self.client.require(Access.ADMIN)
        call = [*call_of(form), "--as", self.me.name]
        return (await report(call, self.store.path, QueuedJob)).id

    def _bases(self) -> list[str]:
        """Return the models from which a training may start, the active one first."""
        models = () if self._screen.listed is None else self._screen.listed.models
        warm = [model for model in models if model.recipe in BASES]
        warm.sort(key=lambda model: (model.state != ACTIVE, -model.id))
        return [model.name for model in warm]

    async def _gold_of(self, query: str) -> str:
        """Describe the number of items with gold of a query."""
        n = await self.client.read(
            self.store.queue.count, parse(f"{query} {GOLD}".strip()), self.me
        )
        return f"{items(n)} with gold"


class ModelActions(ScreenPart):
    """Actions on models."""

    _under_way = ""

    def use(self) -> None:
        """Activate a model by `models activate`, which checks it first."""
        screen = self._screen
        if screen.model is not None:
            self._command(f"trying {screen.model.name}", "activate", str(screen.model.id))

    async def go_back(self) -> None:
        """Reactivate the previous model in the tasks of the selected one."""
        if (model := self._screen.model) is None:
            return
        tasks = [] if model.task == BOTH else [model.task]
        where = f" in {model.task}" if tasks else ""
        options = [("Go back", "to the previous model", YES), ("Stay", "", NO)]
        if await self._screen.choose_from(f"Go back{where}?", options) == YES:
            self._command("going back", "back", *tasks)

    def _command(self, busy: str, *arguments: str) -> None:
        """Run a command of `nfh-tui models` in the background and show its message."""
        screen = self._screen

        async def run() -> None:
            try:
                self.client.require(Access.ADMIN)
                call = ["models", *arguments, "--as", self.me.name]
                said = await output(call, self.store.path)
            finally:
                self._under_way = ""
                screen.set_status(busy="")
                await screen.reader.read_now()
            screen.say(said.strip().splitlines()[-1] if said.strip() else "done", Level.DONE)

        if self._under_way:
            screen.refuse(STILL.format(what=self._under_way))
            return
        self._under_way = busy
        screen.set_status(busy=f"{busy}…", say="")
        screen.runner.work(run, group="command")

    async def predict(self) -> None:
        """Queue a prediction job for a model."""
        screen = self._screen
        if (model := screen.model) is None:
            return
        offered = [("gold", GOLD), ("what is undecided", OPEN), ("everything", "")]
        if screen.query_now:
            offered.insert(0, ("the queue's query", screen.query_now))
        options = []
        for words, query in offered:
            n = await self.client.read(self.store.queue.count, parse(query), self.me)
            options.append((words, f"{items(n)}  {query}", query))
        title = f"Which items should {model.name} predict?"
        if (chosen := await screen.choose_from(title, options)) is None:
            return
        from nfh_tui.jobs.tasks import prediction_asked

        new = prediction_asked(chosen, model=model.name, asked_by=self.me.name)
        job_id = await self.client.write(self.store.jobs.add, new)
        await screen.job_actions.queued(f"job {job_id} has {model.name} predict")

    async def compare(self) -> None:
        """Choose the model for the comparison."""
        screen = self._screen
        if (model := screen.model) is None:
            return
        others = job_figures.others_of(
            model, await self.client.read(self.store.comparisons.models)
        )
        if not others:
            screen.refuse("No other model has answered any item; p on a model predicts.")
            return
        options = [(name, self._told(id_), str(id_)) for id_, name in others]
        known = {model.id, *(id_ for id_, _ in others)}
        options += [
            (one.name, job_figures.why_missing(one), "")
            for one in job_figures.in_order(
                screen.listed.models if screen.listed is not None else ()
            )
            if one.id not in known
        ]
        chosen = await screen.choose_from(f"Compare {model.name} with", options)
        if chosen is None:
            return
        if not chosen:
            screen.refuse("It cannot be compared: the list says why.")
            return
        against = screen.memory.setdefault("against", {})
        if isinstance(against, dict):
            against[model.id] = int(chosen)
        screen.panes.show(DETAILS)
        screen.reader.compare_anew()

    def _told(self, model_id: int) -> str:
        model = None if self._screen.listed is None else self._screen.listed.model(model_id)
        if model is None:
            return ""
        told = (model.recipe if model.recipe != model.name else "", model.state)
        return ", ".join(filter(None, told))

    def show_card(self) -> None:
        """Show a model's card; keys keep their usual meaning while it is read."""
        if (model := self._screen.model) is None:
            return

        async def read() -> None:
            call = ["models", "show", str(model.id)]
            try:
                text = await output(call, self.store.path)
            finally:
                self._screen.set_status(busy="")
            if self._screen.is_current:
                self._screen.show_text(f"Model {model.name}", unwrapped(text))

        self._screen.set_status(busy="reading the card…")
        self._screen.runner.work(read, group="card")


def _runs(job: Job) -> bool:
    return job.state is JobState.RUNNING
