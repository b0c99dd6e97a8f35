"""Background work of the workbench: jobs, new models, predictions and commits of other
processes; the tour for new users.
"""

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from nfh_db.errors import StoreError
from nfh_db.jobs import TRAIN, Job, JobNow, JobState
from nfh_db.models import Activation
from nfh_db.query import Query
from nfh_db.system import data_folder
from nfh_tui.actions import Mode
from nfh_tui.client import by
from nfh_tui.jobs.descriptions import job_title, short_phase
from nfh_tui.textual_support import PredictorChanged, start
from nfh_tui.widgets.status_bar import TourBox
from nfh_tui.workbench.command_queue import KeyPress
from nfh_tui.workbench.controller import Controller, Handler
from nfh_tui.workbench.display import PANES
from nfh_tui.workbench.session import IdList

if TYPE_CHECKING:
    from nfh_tui.services.predictor_client import PredictorClient
    from nfh_tui.workbench.screen import Workbench


DOES = {"identification": "identifies", "resolution": "resolves"}
KEPT = {"candidate": "kept as a candidate", "rejected": "rejected"}


def job_words(jobs: Sequence[JobNow]) -> str:
    """Summarize active jobs for the status line; empty for none.

    Shows a running job before queued ones, with its phase and progress.
    """
    running = [job for job in jobs if job.state is JobState.RUNNING]
    told = (running or list(jobs))[:1]
    words = "".join(
        f"{job_title(job.kind, job.recipe, job.task)}{_how_far(job)}" for job in told
    )
    more = len(jobs) - len(told)
    return f"{words} +{more}" if more else words


def _how_far(job: JobNow) -> str:
    if job.state is JobState.QUEUED:
        return " waits"
    if job.state is JobState.INTERRUPTED:
        return " interrupted"
    share = f" {min(100, 100 * job.done // job.total)} %" if job.total > 0 else ""
    phase = short_phase(job.phase)
    return f": {phase}{share}" if phase else share or " …"


def taken_over(changes: Iterable[Activation]) -> tuple[str, ...]:
    """Report which models replaced others, and why: one sentence for each.

    A model that replaced the models of both tasks at the same time is reported once. The first
    model of a task is not reported.
    """
    found: dict[tuple[int, str], list[Activation]] = {}
    for one in changes:
        if one.before is not None:
            found.setdefault((one.model_id, one.at), []).append(one)
    return tuple(_taken_over(some) for some in found.values())


def _taken_over(some: Sequence[Activation]) -> str:
    first = some[0]
    does = " and ".join(DOES[one.task] for one in some)
    before = " and ".join(dict.fromkeys(one.before or "" for one in some))
    by = f"activated by {first.who}" if first.who else "activated"
    return f"{first.model} now {does} in place of {before}: {first.reason or by}"


def end_message(job: Job) -> str:
    """Report the end of a job; empty for nothing to report.

    Promotions are reported by `taken_over`.
    """
    recipe = job.arguments.get("recipe")
    what = job_title(job.kind, recipe if isinstance(recipe, str) else "", job.task)
    if job.state is JobState.FAILED:
        return f"Job {job.id} ({what}) failed: {job.error or 'its log may say why'}"
    if job.state is JobState.CANCELLED:
        return f"Job {job.id} ({what}) was cancelled{f' {job.error}' if job.error else ''}"
    if job.state is not JobState.DONE or job.kind != TRAIN:
        return ""
    verdict, model = job.result.get("verdict"), job.result.get("model")
    if not isinstance(verdict, Mapping) or verdict.get("verdict") not in KEPT:
        return ""
    named = model if isinstance(model, str) else f"the model of job {job.id}"
    return f"{named} is {KEPT[str(verdict['verdict'])]}: {verdict.get('reason') or 'no reason'}"


def come_round(jobs: Sequence[int]) -> str:
    """Report that scheduled trainings were queued."""
    numbers = " and ".join(map(str, jobs))
    return f"There are enough new decisions for a training: job {numbers} is queued"


SETTING = "tour"
"""Prefix of the setting that records that a person has seen the tour; their name follows."""


@dataclass(frozen=True, slots=True)
class TourStep:
    """A step of the tour."""

    target: str
    """Id of the widget that it explains, with "#"."""
    title: str
    words: str


def steps(mode: Mode, keys: Callable[[str], str]) -> tuple[TourStep, ...]:
    """Return the steps in order. keys: returns the printed keys of an action."""
    if mode is Mode.ANNOTATE:
        right_pane = TourStep(
            "#guide",
            "The guidelines",
            "These are the rules for decisions. Others' answers are hidden, and the model's "
            f"until you have answered. {keys('guide')} shows the evidence here instead.",
        )
    else:
        right_pane = TourStep(
            "#evidence",
            "The evidence",
            "Here are the annotators' and the model's answers. Most items have a proposal "
            f"with its reason. 1–9 adopt an annotator's answer, {keys('adopt.model')} the "
            "model's; alt with the digit also saves it and goes on.",
        )
    return (
        TourStep(
            "#passage-pane",
            "The question",
            "The number between ▸ and ◂ lacks its noun. Which noun is missing? It may be in "
            "the text, or nowhere.",
        ),
        TourStep(
            "#queue",
            "The queue",
            f"{keys('queue.next')} and {keys('queue.previous')} go forward and back, "
            f"{keys('queue.next_undecided')} to the next open item. {keys('query')} shows "
            f"other items. {keys('pane.next')} switches the pane.",
        ),
        right_pane,
        TourStep(
            "#passage-pane",
            "Your answer",
            f"{keys('hint.start')} puts letters on the nouns: type one to mark the head. Or "
            f"choose a class by its key, shown below the passage; {keys('kind.not_nfh')} if "
            "no noun is missing.",
        ),
        TourStep(
            "StatusLine",
            "Saved",
            f"{keys('accept')} saves and goes on; this line says “saved” once it is on disk. "
            f"{keys('undo')} undoes it, even tomorrow.",
        ),
        TourStep(
            "KeyLine",
            "The keys",
            f"{keys('help')} lists all keys, {keys('palette')} finds every action by name, "
            f"and says why one is not available. {keys('out')} goes one step back, "
            f"{keys('quit')} quits: nothing is lost.",
        ),
    )


READING = " (You are reading: {mode} switches to annotating, then to adjudicating.)"


def words_of(step: TourStep, mode: Mode, keys: Callable[[str], str]) -> str:
    """Return the text of a step for this mode."""
    added = step.title == "Your answer" and mode is Mode.BROWSE
    return step.words + (READING.format(mode=keys("mode.next")) if added else "")


NAME = "toured"
"""An empty file in the data folder of who has seen the tour, under whatever names."""


def first_time() -> bool:
    """Return True on the first call for a user of this machine, and record it.

    If the file cannot be written, returns True; then only the database records it.
    """
    path = data_folder() / NAME
    with suppress(OSError):
        if path.exists():
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return True


ON, OUT = frozenset({"enter", "space"}), "escape"
LEARNING = frozenset(
    {"uncertain", "entropy", "conflict", "models", "doubt", "gain", "rare", "nfh"}
)
"""Sort orders that change as predictions are stored."""
BETWEEN = 3.0
"""Minimum seconds between two sorts of the queue."""
READ_IN = 8.0
"""Seconds for which news stays after the first key press that follows it."""
MOST_NEWS = 3
"""Maximum number of news items, newest first."""
NUDGE = 30.0
"""Seconds between two checks whether queued jobs have a runner."""


def learns(query: Query) -> bool:
    """Return True if the order of a query changes as predictions are stored."""
    return any(sort.name in LEARNING for sort in query.sorts)


AFTER_READING = 0.05
"""Seconds between a move and the request for predictions; the items are read first."""
AT_MOST = 0.5
"""Seconds that the predictor may take to end by itself."""


class TourController(Controller):
    """Shows the tour to people who are new to the program.

    The tour does not block: enter continues, escape ends it, and other keys keep their meaning.
    """

    def __init__(self, bench: "Workbench", *, wanted: bool) -> None:
        super().__init__(bench)
        self._wanted = wanted
        self._steps: tuple[TourStep, ...] = ()
        self._box = TourBox()

    def handlers(self) -> Mapping[str, Handler]:
        return {"tour": self.start}

    async def start_if_new(self) -> None:
        """Start the tour if this person has not seen it; it starts by itself only once.

        Guests of a server share its data folder: only the database tells them apart.
        """
        # The box would cover the message of an empty queue.
        seen = self.client.read_only or not self.state.keeps_own
        if not self._wanted or self.state.visible_item is None or seen:
            return
        name = f"{SETTING}.{self.state.me.name}"
        if await self.client.read(self.store.settings.read, name) is None:
            await self.client.write(self.store.settings.write, name, "shown")
            if not self.bench.host.is_local or await asyncio.to_thread(first_time):
                await self.start()

    async def start(self) -> None:
        if not self._box.is_attached:
            await self.bench.mount(self._box)
        self._steps = steps(self.state.mode, self._keys_of)
        self._go_to_step(0)

    def _keys_of(self, action_id: str) -> str:
        shown = next((a.shown for a in self.bench.keymap.actions if a.id == action_id), "")
        return shown.split()[0] if shown else "the palette"

    def intercept(self, press: KeyPress) -> bool:
        """Handle the keys that continue or end the tour."""
        if self.state.tour_step is None or press.key not in {*ON, OUT}:
            return False
        self._go_to_step(None if press.key == OUT else self.state.tour_step + 1)
        return True

    def _go_to_step(self, number: int | None) -> None:
        if number is None or number >= len(self._steps):
            self.state.tour_step = None
            self._box.display = False
            self.ui.show_pane("passage")
            return
        self.state.tour_step = number
        step = self._steps[number]
        goes = "enter continues" if number + 1 < len(self._steps) else "enter ends it"
        foot = f"{number + 1} of {len(self._steps)} · {goes} · esc leaves"
        self._box.tell(step.title, words_of(step, self.state.mode, self._keys_of), foot)
        pane = step.target.strip("#").removesuffix("-pane").replace("guide", "evidence")
        if pane in PANES:
            self.ui.show_pane(pane)
        self.bench.call_after_refresh(self.place_box)

    def place_box(self) -> None:
        """Place the box beside the target of the step."""
        if self.state.tour_step is None:
            return
        target = self.bench.query_one(self._steps[self.state.tour_step].target)
        self._box.stand_by(target.region, self.bench.size)


class BackgroundController(Controller):
    """Reports background work and applies its results.

    The status line shows a running job. A promoted model is reported by a message that stays
    for some time. The rest of the queue is sorted again as predictions arrive. Trainings that
    are due are queued.
    """

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self._jobs: dict[int, JobNow] = {}
        self._last_change = 0
        self._order: tuple[float, ...] = ()
        self._order_stale = False
        self._ordered_at = -BETWEEN
        self._nudged_at = -NUDGE
        self._too_few_at: tuple[int, int] | None = None
        self._read_since: float | None = None
        self._held: tuple[str, ...] = ()
        self._is_checking = False

    async def begin(self) -> None:
        """Read the current state; only later changes are reported."""
        pulse = await self.client.read(self.store.jobs.background_state, sys.maxsize)
        self._last_change = pulse.last
        self._jobs = {job.id: job for job in pulse.jobs}
        self._refresh_jobs()

    # --- commits of other processes ---------------------------------------------------------

    def look_for_others(self) -> None:
        """Check for commits of other processes, in the background.

        Does nothing while the previous check runs: to cancel it would lose what it has found.
        """
        if not self._is_checking:
            self._is_checking = True
            start(self.bench, self._check, group="others", description="changes by others")

    async def _check(self) -> None:
        try:
            await self.notice_others()
        finally:
            self._is_checking = False

    async def notice_others(self) -> None:
        """Redraw what is visible if another process has committed; the draft stays."""
        lost = await self.client.lost()
        if lost and not self.state.lost_reason:
            self.state.lost_reason = lost
            self.bench.enqueue(lambda: self.bench.rescue.report_lost(lost))
        if wrote := await self.client.others_wrote():
            await self.bench.item.reload_all()
            await self.bench.guidelines.learn()
            self.bench.item.read_ahead()
        await self.follow(others_wrote=wrote)

    async def follow(self, *, others_wrote: bool) -> None:
        """Process what has happened; called about once a second. others_wrote: another process
        has committed.
        """
        self._drop_old_news()
        self._order_stale |= others_wrote
        # Jobs are read each time: a job that dies writes nothing, and `others_wrote` does not
        # cover writes of this process from another screen.
        with suppress(StoreError):  # a locked file: tried again after a second
            await self.read_jobs()
        await self._queue_due_trainings()
        await self._keep_in_order()

    # --- jobs and models --------------------------------------------------------------------

    async def read_jobs(self) -> None:
        """Read the jobs; report those that have ended, and models that were replaced."""
        pulse = await self.client.read(self.store.jobs.background_state, self._last_change)
        before, self._jobs = self._jobs, {job.id: job for job in pulse.jobs}
        self._last_change = pulse.last
        for sentence in taken_over(pulse.changes):
            self.report_news(sentence)
        if pulse.changes:
            await self.bench.predictions.restart_if_off()
        for job_id in sorted(before.keys() - self._jobs.keys()):
            job = await self.client.read(self.store.jobs.read, job_id)
            if job is not None and (sentence := self._told_of(job)):
                self.report_news(sentence)
        if before != self._jobs:
            self._refresh_jobs()

    def _told_of(self, job: Job) -> str:
        """Return the report on a job that has ended.

        It is empty for annotators, who must not see figures of models, and for jobs that this
        person cancelled.
        """
        own = job.state is JobState.CANCELLED and job.error == by(self.state.me.name)
        return "" if own or self.state.mode is Mode.ANNOTATE else end_message(job)

    def _refresh_jobs(self) -> None:
        self.ui.set_status(job=job_words(tuple(self._jobs.values())))

    # --- news -------------------------------------------------------------------------------

    def report_news(self, sentence: str) -> None:
        """Show news until you have had time to read it.

        During the tour it waits, because it would move the widgets that the tour explains.
        """
        if self.state.tour_step is not None:
            self._held = (sentence, *self._held)[:MOST_NEWS]
            return
        self._read_since = None
        self.ui.set_status(news=(sentence, *self.bench.status_line.status.news)[:MOST_NEWS])

    def intercept(self, press: KeyPress) -> bool:
        """Record that somebody is present to read the news; does not handle the key."""
        del press
        if self._read_since is None and self.bench.status_line.status.news:
            self._read_since = monotonic()
        return False

    def _drop_old_news(self) -> None:
        if self._held and self.state.tour_step is None:
            held, self._held = self._held, ()
            for sentence in reversed(held):
                self.report_news(sentence)
        if self._read_since is not None and monotonic() - self._read_since > READ_IN:
            self._read_since = None
            self.ui.set_status(news=())

    # --- scheduled trainings ----------------------------------------------------------------

    async def _queue_due_trainings(self) -> None:
        """Queue due trainings and start a runner for them; does nothing for readers."""
        if self.state.mode is Mode.BROWSE or not self.bench.host.queues_trainings:
            return
        try:
            found = await self.client.read(self.store.retraining.schedule)
            queued = await self._queue_what_is_due() if found.to_do else ()
            if queued:
                self.report_news(come_round(queued))
            waits = found.blocked or self._nothing_runs()
            if queued or (waits and monotonic() - self._nudged_at >= NUDGE):
                self._nudged_at = monotonic()
                await self.client.start_runner()
            if queued:
                await self.read_jobs()
        except StoreError:
            return  # a full disk or a locked file: tried again after a second
        except OSError as error:
            self.report_news(
                f"No runner could be started: {error}. nfh-tui jobs run runs the jobs"
            )

    async def _queue_what_is_due(self) -> tuple[int, ...]:
        """Queue due trainings. Those with too little gold are checked again after the next
        commit.
        """
        version = await self.client.read(self.store.comparisons.answers_version)
        if version == self._too_few_at:
            return ()
        queued = await self.client.queue_retraining()
        self._too_few_at = None if queued else version
        return queued

    def _nothing_runs(self) -> bool:
        """Return True if jobs wait and none runs, because their runner was killed."""
        states = {job.state for job in self._jobs.values()}
        return bool(states) and JobState.RUNNING not in states

    # --- sorting by predictions -------------------------------------------------------------

    async def note_order(self, query: Query) -> None:
        """Record the version of the sort keys before the queue of a query is read."""
        if learns(query):
            self._order = await self.client.read(self.store.jobs.orders_version)

    async def _keep_in_order(self) -> None:
        """Sort the queue again if its sort keys may have changed; at most once in BETWEEN
        seconds.
        """
        state = self.state
        due = monotonic() - self._ordered_at >= BETWEEN
        if not (self._order_stale and due and learns(state.query) and state.ids.complete):
            return
        found = await self.client.read(self.store.jobs.orders_version)
        if found == self._order:
            self._order_stale = False
        elif await self.reorder():
            self._order, self._order_stale = found, False

    async def reorder(self) -> bool:
        """Sort the items after the current one again; returns False if you moved in the
        meantime.

        The current item and those before it keep their positions, so the next item is the first
        one in the new order.
        """
        ids, query, after = self.state.ids, self.state.query, self.state.position.next_index
        kept = ids.slice(0, after)
        rest = await self.client.reordered(query, self.state.me, self.state.role, kept)
        if (
            self.state.ids is not ids
            or self.state.query is not query
            or self.state.position.next_index != after
        ):
            return False
        self._ordered_at = monotonic()
        made = IdList()
        made.extend(kept)
        made.extend(rest)
        made.complete = True
        self.state.ids = made
        self.bench.queue_list.put_ids(made)
        self.ui.refresh_status()
        self.bench.item.read_ahead()
        return True


class PredictionController(Controller):
    """The predictor process; the workbench works without it as well."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self._predictor: PredictorClient | None = None
        self._identifies = True
        self._is_off = False

    async def start(self) -> None:
        """Start the predictor and request predictions for the current item."""
        self._predictor = await self.bench.host.start_predictor(self.bench)
        self.ask()

    async def stop(self) -> None:
        """Stop the process. It is killed when the event loop ends if it does not respond."""
        predictor, self._predictor = self._predictor, None
        if predictor is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(predictor.stop(), AT_MOST)

    def ask_soon(self) -> None:
        """Request predictions once the items are read."""
        self.bench.set_timer(AFTER_READING, self.ask)

    def ask(self) -> None:
        """Request the missing predictions of the current item and of those read ahead."""
        item, index = self.state.stored_item, self.state.position.index
        if self._predictor is None or item is None:
            return
        nearby = [item.anchor_id, *self.state.ids.slice(index + 1, index + 4)]
        known = [item, *map(self.bench.item.cache.peek, nearby[1:])]
        lacking = [
            anchor_id
            for anchor_id, item in zip(nearby, known, strict=True)
            if item is None
            or item.prediction is None
            or (self._identifies and item.identification is None)
        ]
        if lacking:
            self._predictor.ask(lacking)

    async def show(self, anchor_id: int) -> None:
        """Show a prediction that arrived while its item is shown."""
        if self.state.anchor_id == anchor_id:
            await self.bench.item.reload()
        else:
            self.bench.item.cache.forget(anchor_id)

    async def restart_if_off(self) -> None:
        """Restart a predictor that could not use the previous model."""
        if self._predictor is not None and self._is_off:
            await self._predictor.start()

    def report(self, message: PredictorChanged) -> None:
        """Show the state of the predictor, and once why it stays off."""
        self.ui.set_status(model=message.words)
        self._is_off = message.off
        self._identifies = not message.aside
        if message.off or message.aside:
            self.ui.notify(message.sentence)
