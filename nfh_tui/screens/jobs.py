"""The screen of jobs and models: what is under way, what came of it, and what to do with it."""

from collections.abc import Sequence

from nfh_db.clock import now
from nfh_db.jobs import JobState
from nfh_db.query import parse
from nfh_tui.actions import Access, Action
from nfh_tui.desk.report import output, report, unbroken
from nfh_tui.desk.training_form import (
    ALL_GOLD,
    ANY_SPLIT,
    USUAL,
    WARM,
    Choices,
    Form,
    call_of,
    job_of,
    last_form,
)
from nfh_tui.screens.jobs_watching import DETAILS, LIST, Watching
from nfh_tui.sheets.job_detail import GO_STOP, LOG_STOP, log_parts, no_log
from nfh_tui.sheets.job_words import ACTIVE, job_name
from nfh_tui.sheets.jobs import JOB_STOP, MODEL_STOP, OLDER_STOP, in_order
from nfh_tui.sheets.line import Stop, items
from nfh_tui.sheets.model_detail import CARD_STOP, others_of, why_missing
from nfh_tui.widgets.status_line import Tone

OF_A_JOB = "This is about a job; you stand on a model."
OF_A_MODEL = "This is about a model; you stand on a job."
NOTHING_HERE = "There is no job and no model here yet."
BEGIN = "t starts a training."
FOREIGN = "You did not queue it from here: `nfh-tui jobs run --accept {id}` starts it."
ENDED = "It has ended already."
RUNS, IS_DONE = "It is running.", "It is done. t starts another training."
IN_PLACE = "The command that asked for it runs it, so ctrl+c there ends it; it is not queued."
IN_USE = "It is in use already."
SAYS_NOTHING = "A model that tells whether a number is one predicts nothing of heads."
NOT_STARTED = "It is queued, but no runner could be started: {why}. r tries once more."

STILL = "One thing at a time: {what} goes on."

BOTH = "both"
YES, NO = "yes", "no"
JOB_ACTS = frozenset({"side.cancel", "side.retry", "side.log"})
MODEL_ACTS = frozenset({"side.compare", "side.use", "side.back", "side.predict", "side.card"})
GOLD = "state:decided"
OPEN = "state:open,answered,disagree"


class JobsScreen(Watching):
    """Jobs and models, and what changes them."""

    _under_way = ""

    # --- reasons ------------------------------------------------------------------------

    def why_not(self, action: Action) -> str:
        """As the ground says, and what a job or model is not ready for."""
        if action.id in JOB_ACTS | MODEL_ACTS:
            if self.job is None and self.model is None:
                return (
                    f"{NOTHING_HERE} {BEGIN}" if self.access >= Access.ADMIN else NOTHING_HERE
                )
            why = self._why_not_job(action.id) if action.id in JOB_ACTS else ""
            return why or (self._why_not_model(action.id) if action.id in MODEL_ACTS else "")
        return super().why_not(action)

    def _why_not_job(self, act: str) -> str:
        job = self.job
        if job is None:
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
        model = self.model
        if model is None:
            return OF_A_MODEL
        if act == "side.use" and model.state == ACTIVE:
            return IN_USE
        if act in ("side.predict", "side.compare") and model.task == "identification":
            return SAYS_NOTHING
        return ""

    def foot_acts(self) -> Sequence[Action]:
        """Of the acts about a job or a model those that do something now."""
        own = JOB_ACTS | MODEL_ACTS
        return [act for act in self.acts() if act.id not in own or not self.reason(act)]

    # --- jobs ---------------------------------------------------------------------------

    async def do_side_cancel(self) -> None:
        """Stop a job, asked once."""
        job, listed = self.job, self.listed
        if job is None or listed is None:
            return
        name = f"job {job.id}, {job_name(listed.names, job)}"
        runs = job.state is JobState.RUNNING
        faint = "it stops at its next step; r begins it again" if runs else "r brings it back"
        options = [("Cancel it", faint, YES), ("Leave it", "", NO)]
        if await self.choose_from(f"Cancel {name}?", options) != YES:
            return
        done = await self.client.cancel_job(job.id, self.me.name)
        await self.read_now()
        self.say(
            f"{name} is cancelled" if done else f"{name} had ended already",
            Tone.DONE if done else Tone.PLAIN,
        )

    async def do_side_retry(self) -> None:
        """Put a job back into the queue; of one that waits, start a runner."""
        job = self.job
        if job is None:
            return
        waits = job.state is JobState.QUEUED
        if waits or await self.client.retry_job(job.id):
            words = "waits for its turn" if waits else "is in the queue again"
            await self._queued(f"job {job.id} {words}")
        else:
            self.refuse(f"Job {job.id} has changed meanwhile.")
            await self.read_now()

    async def _queued(self, words: str) -> None:
        """Start a runner for what waits, and say so; without one the job stays queued."""
        try:
            await self.client.start_runner()
            self.say(words, Tone.DONE)
        except OSError as error:
            self.refuse(NOT_STARTED.format(why=error))
        await self.read_now()

    async def do_side_log(self) -> None:
        """Show the log of a job."""
        job = self.job
        if job is None:
            return
        found = await self.client.job_log(job.id)
        at = now()
        parts = [log_parts(line, at) for line in (found[1] if found is not None else ())]
        lines = [" ".join(filter(None, pair)) for pair in parts]
        self.show_text(f"Log of job {job.id}", "\n".join(lines) or no_log(job), end=True)

    # --- a training ---------------------------------------------------------------------

    async def do_side_train(self) -> None:
        """Ask what to train, and start it."""
        from nfh_tui.screens.training_dialog import TrainingDialog

        form = self._begun() or last_form(await self.client.jobs()) or Form()
        queries = [ALL_GOLD, *([self.query_now] if self.query_now else [])]
        if form.query not in queries:
            queries.append(form.query)
        bases = [USUAL, *self._bases()]
        if form.base not in bases:
            bases.append(form.base)
        there = await self.client.queue_values("split", self.me, self.role)
        splits = list(dict.fromkeys([ANY_SPLIT, *there, form.split]))
        choices = Choices(bases, queries, splits)
        dialog = TrainingDialog(form, choices, self._gold_of, self._call)
        chosen = await self.app.push_screen_wait(dialog)
        if chosen is None:
            # What was typed is there again the next time; what was only chosen is not.
            typed = dialog.form.settings != form.settings
            self.memory["form"] = dialog.form if typed else None
            return
        self.memory["form"] = None
        job_id = dialog.job_id
        if job_id is None:
            new = job_of(chosen, self.me.name)
            await self.client.check_training(new)
            job_id = await self.client.queue_job(new)
        await self._queued(f"job {job_id} trains {chosen.recipe}; go on with your work")
        self.show_pane(LIST)
        self.go_to_line(f"{JOB_STOP} {job_id}")

    def _begun(self) -> Form | None:
        begun = self.memory.get("form")
        return begun if isinstance(begun, Form) else None

    async def _call(self, form: Form) -> int:
        """Have the command queue a training, if all of it is right; the job's number."""
        self.client.require(Access.ADMIN)
        call = [*call_of(form), "--as", self.me.name]
        queued = await report(call, self.client.store.path)
        return int(queued["id"])

    def _bases(self) -> list[str]:
        """Models that a training may start from, the one in use first."""
        models = () if self.listed is None else self.listed.models
        warm = [model for model in models if model.recipe in WARM]
        warm.sort(key=lambda model: (model.state != ACTIVE, -model.id))
        return [model.name for model in warm]

    async def _gold_of(self, query: str) -> str:
        """How many items with gold a query finds, in words."""
        n = await self.client.queue_count(parse(f"{query} {GOLD}".strip()), self.me)
        return f"{items(n)} with gold"

    # --- models -------------------------------------------------------------------------

    def do_side_use(self) -> None:
        """Make a model the one that its task uses, after `models activate` has tried it."""
        if self.model is not None:
            self._command(f"trying {self.model.name}", "activate", str(self.model.id))

    async def do_side_back(self) -> None:
        """Use the model again that was in use before, in the task of the one stood on."""
        model = self.model
        if model is None:
            return
        tasks = [] if model.task == BOTH else [model.task]
        where = f" in {model.task}" if tasks else ""
        options = [("Go back", "to the model that was in use before", YES), ("Stay", "", NO)]
        if await self.choose_from(f"Go back{where}?", options) == YES:
            self._command("going back", "back", *tasks)

    def _command(self, busy: str, *arguments: str) -> None:
        """Have a command of `nfh-tui models` run beside the screen, and say what it says."""

        async def run() -> None:
            try:
                self.client.require(Access.ADMIN)
                call = ["models", *arguments, "--as", self.me.name]
                said = await output(call, self.client.store.path)
            finally:
                self._under_way = ""
                self.set_status(busy="")
                await self.read_now()
            self.say(said.strip().splitlines()[-1] if said.strip() else "done", Tone.DONE)

        if self._under_way:
            self.refuse(STILL.format(what=self._under_way))
            return
        self._under_way = busy
        self.set_status(busy=f"{busy}…", say="")
        self.work(run, group="command")

    async def do_side_predict(self) -> None:
        """Have a model answer items, as a job."""
        model = self.model
        if model is None:
            return
        offered = [("gold", GOLD), ("what is undecided", OPEN), ("everything", "")]
        if self.query_now:
            offered.insert(0, ("the queue's query", self.query_now))
        options = []
        for words, query in offered:
            n = await self.client.queue_count(parse(query), self.me)
            options.append((words, f"{items(n)}  {query}", query))
        title = f"Of which items shall {model.name} predict?"
        chosen = await self.choose_from(title, options)
        if chosen is None:
            return
        from nfh_tui.jobs.predict_all import asked

        new = asked(chosen, model=model.name, asked_by=self.me.name)
        job_id = await self.client.queue_job(new)
        await self._queued(f"job {job_id} has {model.name} predict")

    async def do_side_compare(self) -> None:
        """Choose the model that stands beside this one."""
        model = self.model
        if model is None:
            return
        others = others_of(model, await self.client.models_with_predictions())
        if not others:
            self.refuse("No other model has answered any item; p on one has it predict.")
            return
        options = [(name, self._told(id_), str(id_)) for id_, name in others]
        known = {model.id, *(id_ for id_, _ in others)}
        options += [
            (one.name, why_missing(one), "")
            for one in in_order(self.listed.models if self.listed is not None else ())
            if one.id not in known
        ]
        chosen = await self.choose_from(f"Compare {model.name} with", options)
        if chosen is None:
            return
        if not chosen:
            self.refuse("It cannot be compared: the list says why.")
            return
        against = self.memory.setdefault("against", {})
        if isinstance(against, dict):
            against[model.id] = int(chosen)
        self.show_pane(DETAILS)
        self.compare_anew()

    def _told(self, model_id: int) -> str:
        model = None if self.listed is None else self.listed.model(model_id)
        if model is None:
            return ""
        told = (model.recipe if model.recipe != model.name else "", model.state)
        return ", ".join(filter(None, told))

    def do_side_card(self) -> None:
        """Show a model's card; keys that come before it is read do what they always do."""
        model = self.model
        if model is None:
            return

        async def read() -> None:
            call = ["models", "show", str(model.id)]
            try:
                text = await output(call, self.client.store.path)
            finally:
                self.set_status(busy="")
            if self.is_current:
                self.show_text(f"Model {model.name}", unbroken(text))

        self.set_status(busy="reading the card…")
        self.work(read, group="card")

    # --- opening ------------------------------------------------------------------------

    def chosen(self, stop: Stop) -> None:
        """Go to the details, to a model, or read a log or a card."""
        if stop.act in (JOB_STOP, MODEL_STOP):
            self.show_pane(DETAILS)
        elif stop.act == OLDER_STOP:
            self.show_more()
        elif stop.act == LOG_STOP:
            self.act(self.do_side_log, group="side.log")
        elif stop.act == CARD_STOP:
            self.do_side_card()
        elif stop.act.startswith(GO_STOP):
            self.go_to_line(stop.act.removeprefix(f"{GO_STOP} "))

    def do_side_close(self) -> None:
        """From the details to the list where only one of them fits; else to the workbench."""
        if self.pane == DETAILS and self.has_class("-one-pane"):
            self.show_pane(LIST)
        else:
            super().do_side_close()
