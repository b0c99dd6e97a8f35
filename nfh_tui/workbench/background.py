"""Background work in the workbench: jobs, new models, predictions and others' writes are
shown and taken in; and the tour for new users."""

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
from nfh_tui.textual_support import PredictorChanged
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
    """The jobs that wait or run, for the line of state; "" for none.

    One that runs goes before those that wait, and is told with what it is at, and how much of
    that is done.
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
    """Which models took over from others, and why: a sentence for each.

    One that took over both tasks at one moment is told once. What came into use where nothing
    was, as in a new database, is no news.
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
    by = f"put to use by {first.who}" if first.who else "put to use"
    return f"{first.model} now {does} in place of {before}: {first.reason or by}"


def ended(job: Job) -> str:
    """What is to be said of a job that has just ended; "" for nothing.

    That a model took over is told by the change itself.
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
    """That trainings were queued since enough was decided."""
    numbers = " and ".join(map(str, jobs))
    return f"Enough is decided for another training: job {numbers} is queued"


SETTING = "tour"
"""Name of the setting that says that a person was shown round; their name follows it."""


@dataclass(frozen=True, slots=True)
class TourStep:
    """One stop. target: the id of the widget that it points at, with "#". title and words."""

    target: str
    title: str
    words: str


def steps(mode: Mode, keys: Callable[[str], str]) -> tuple[TourStep, ...]:
    """The stops in their order. keys: how the keys of an action are printed, by its id."""
    made = [
        TourStep(
            "#passage",
            "The question",
            "Between ▸ and ◂ stands a number without its noun. Which noun is missing? "
            "It may stand in the text, or nowhere.",
        ),
        TourStep(
            "#queue",
            "The queue",
            f"{keys('queue.next')} and {keys('queue.previous')} go on and back, "
            f"{keys('queue.next_undecided')} to the next one that is open. "
            f"{keys('query')} asks for others. {keys('pane.next')} changes the pane.",
        ),
    ]
    if mode is Mode.ANNOTATE:
        made.append(
            TourStep(
                "#guide",
                "The guidelines",
                "The rules to decide by. Others' answers stay hidden, and the model's until "
                f"you have answered. {keys('guide')} shows the evidence here instead.",
            )
        )
    else:
        made.append(
            TourStep(
                "#evidence",
                "The evidence",
                "What annotators and the model say. Most answers come preselected with the "
                f"reason. 1–9 take over an annotator's answer, {keys('adopt.model')} the "
                "model's.",
            )
        )
    return (
        *made,
        TourStep(
            "#passage",
            "Your answer",
            f"{keys('hint.start')} puts letters on the nouns: type one to mark the head. "
            f"Or a class: {keys('kind.age')} age, {keys('kind.year')} year, "
            f"{keys('kind.people')} people; {keys('kind.not_nfh')} where no noun is missing.",
        ),
        TourStep(
            "StatusLine",
            "Saved",
            f"{keys('accept')} saves and goes on; this line says “saved” once it is on disk. "
            f"{keys('undo')} takes it back, also tomorrow.",
        ),
        TourStep(
            "KeyLine",
            "The keys",
            f"{keys('help')} lists them all, {keys('palette')} has every act by name, and "
            f"says why one cannot be done now. {keys('out')} goes one step out, "
            f"{keys('quit')} quits: nothing is lost.",
        ),
    )


READING = " (Here you only read: {mode} changes to annotating, then to adjudicating.)"


def words_of(step: TourStep, mode: Mode, keys: Callable[[str], str]) -> str:
    """What a step says in this mode."""
    added = step.title == "Your answer" and mode is Mode.BROWSE
    return step.words + (READING.format(mode=keys("mode.next")) if added else "")


NAME = "toured"
"""A file of the data folder with one name a line."""


def first_time(me: str) -> bool:
    """True once for each person; from then on they count as shown round.

    Where the file cannot be read or written, the database alone remembers it.
    """
    line = " ".join(me.split())
    try:
        path = data_folder() / NAME
        known = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if line in known:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except (OSError, ValueError):
        return True
    return True


ON, OUT = frozenset({"enter", "space"}), "escape"
LEARNING = frozenset({"uncertain", "entropy", "conflict", "models", "doubt", "rare", "nfh"})
"""Orders that change as models say more."""
BETWEEN = 3.0
"""Seconds at least from one ordering of the queue to the next."""
READ_IN = 8.0
"""Seconds that news stands from the first key after it came: by then it is read."""
MOST_NEWS = 3
"""News kept to be told, the latest first."""
NUDGE = 30.0
"""Seconds between two looks at whether what a training waits for has a process."""


def learns(query: Query) -> bool:
    """True where the order of what a query finds changes as models say more."""
    return any(sort.name in LEARNING for sort in query.sorts)


AFTER_READING = 0.05
"""Seconds after a move until predictions are asked for: by then the items are read."""
AT_MOST = 0.5
"""Seconds that the predictor may take to end by itself."""


class TourController(Controller):
    """Shows round who is new to a database, in under a minute.

    It never stands in the way: enter goes on and escape leaves; other keys do what they always
    do.
    """

    def __init__(self, bench: "Workbench", *, wanted: bool) -> None:
        super().__init__(bench)
        self._wanted = wanted
        self._steps: tuple[TourStep, ...] = ()
        self._box = TourBox()

    def handlers(self) -> Mapping[str, Handler]:
        """From the palette only."""
        return {"tour": self.start}

    async def start_if_new(self) -> None:
        """Show round, once, a person who was never here; it does not come by itself again."""
        # The box would stand over what an empty queue says.
        seen = self.client.read_only or not self.state.keeps_own
        if not self._wanted or self.state.visible_item is None or seen:
            return
        name = f"{SETTING}.{self.state.me.name}"
        if await self.client.read(self.store.settings.read, name) is None:
            await self.client.write(self.store.settings.write, name, "shown")
            if await asyncio.to_thread(first_time, self.state.me.name):
                await self.start()

    async def start(self) -> None:
        """Begin the tour at its first step."""
        if not self._box.is_attached:
            await self.bench.mount(self._box)
        self._steps = steps(self.state.mode, self._keys_of)
        self._go_to_step(0)

    def _keys_of(self, action_id: str) -> str:
        shown = next((a.shown for a in self.bench.keymap.actions if a.id == action_id), "")
        return shown.split()[0] if shown else "the palette"

    def intercept(self, press: KeyPress) -> bool:
        """Take the keys that go on with the tour or leave it."""
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
        goes = "enter goes on" if number + 1 < len(self._steps) else "enter ends it"
        foot = f"{number + 1} of {len(self._steps)} · {goes} · esc leaves"
        self._box.tell(step.title, words_of(step, self.state.mode, self._keys_of), foot)
        if step.target.lstrip("#") in {*PANES, "guide"}:
            pane = step.target.lstrip("#").replace("guide", "evidence")
            self.ui.show_pane(pane)
        self.bench.call_after_refresh(self.place_box)

    def place_box(self) -> None:
        """Put the box beside what the step points at."""
        if self.state.tour_step is None:
            return
        target = self.bench.query_one(self._steps[self.state.tour_step].target)
        self._box.stand_by(target.region, self.bench.size)


class BackgroundController(Controller):
    """Reports what goes on by itself and takes it in while one works.

    Jobs stand in a word on the line of state; a model that takes over is reported in a
    sentence that no key takes away at once; the queue is ordered anew behind the item in hand
    as models come to know more; trainings that are due are queued.
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

    async def begin(self) -> None:
        """Learn how things stand; only what comes after this is news."""
        pulse = await self.client.read(self.store.jobs.background_state, sys.maxsize)
        self._last_change = pulse.last
        self._jobs = {job.id: job for job in pulse.jobs}
        self._refresh_jobs()

    # --- others' writes ---------------------------------------------------------------------

    def look_for_others(self) -> None:
        """Look for what others have written, in the background."""
        self.run_latest(self.notice_others, "others", "what others have written")

    async def notice_others(self) -> None:
        """Draw anew what is in view if anybody has written; the draft stays."""
        lost = await self.client.lost()
        if lost and not self.state.lost_reason:
            self.state.lost_reason = lost
            self.bench.enqueue(lambda: self.bench.rescue.report_lost(lost))
        wrote = await self.client.others_wrote()
        if wrote:
            await self.bench.item.reload_all()
            await self.bench.guidelines.learn()
            self.bench.item.read_ahead()
        await self.follow(others_wrote=wrote)

    async def follow(self, *, others_wrote: bool) -> None:
        """Take in what has happened; to be called about once a second."""
        self._drop_old_news()
        self._order_stale |= others_wrote
        # Each time: a job that dies writes nothing, and what this process itself has written,
        # from another of its screens, is not told of as others' writes are.
        with suppress(StoreError):  # a locked file: looked at again in a second
            await self.hear()
        await self._queue_due_trainings()
        await self._keep_in_order()

    # --- jobs and models --------------------------------------------------------------------

    async def hear(self) -> None:
        """Tell which jobs there are, and what has ended or taken over since."""
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
        """What is to be said of a job that has ended; nothing to who annotates, for figures of
        models are not theirs, nor of what this person cancelled."""
        own = job.state is JobState.CANCELLED and job.error == by(self.state.me.name)
        return "" if own or self.state.mode is Mode.ANNOTATE else ended(job)

    def _refresh_jobs(self) -> None:
        self.ui.set_status(job=job_words(tuple(self._jobs.values())))

    # --- news -------------------------------------------------------------------------------

    def report_news(self, sentence: str) -> None:
        """Tell what nobody here did: it stands until it can have been read.

        While somebody is shown round it waits: it would move what the tour points at.
        """
        if self.state.tour_step is not None:
            self._held = (sentence, *self._held)[:MOST_NEWS]
            return
        self._read_since = None
        self.ui.set_status(news=(sentence, *self.bench.status_line.status.news)[:MOST_NEWS])

    def intercept(self, press: KeyPress) -> bool:
        """Note that somebody is there to read; the key goes on."""
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

    # --- trainings that are due -------------------------------------------------------------

    async def _queue_due_trainings(self) -> None:
        """Queue a training that is due, and see that somebody runs it; not for a reader."""
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
                await self.hear()
        except StoreError:
            return  # a full disk, a locked file: looked at again in a second
        except OSError as error:
            self.report_news(
                f"No runner could be started: {error}. nfh-tui jobs run works the queue"
            )

    async def _queue_what_is_due(self) -> tuple[int, ...]:
        """Queue trainings that are due; what has too little to learn from is looked at again
        once somebody has written."""
        version = await self.client.read(self.store.comparisons.answers_version)
        if version == self._too_few_at:
            return ()
        queued = await self.client.queue_retraining()
        self._too_few_at = None if queued else version
        return queued

    def _nothing_runs(self) -> bool:
        """True where jobs wait and none runs: whoever ran them was ended."""
        states = {job.state for job in self._jobs.values()}
        return bool(states) and JobState.RUNNING not in states

    # --- an order that learns ---------------------------------------------------------------

    async def note_order(self, query: Query) -> None:
        """Note what the order of a query is made of, before its queue is read."""
        if learns(query):
            self._order = await self.client.read(self.store.jobs.orders_version)

    async def _keep_in_order(self) -> None:
        """Order the queue anew if it may stand otherwise by now, every few seconds at most."""
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
        """Order anew what comes after the item in hand; False if somebody moved meanwhile.

        What stands before it, and it itself, keep their places: whoever works from the top
        finds next what is first in the order now.
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
    """The child process that predicts; without it the workbench works as well."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self._predictor: PredictorClient | None = None
        self._identifies = True
        self._is_off = False

    async def start(self) -> None:
        """Have the predictor started, and ask for what the item shown lacks."""
        self._predictor = await self.bench.host.start_predictor(self.bench)
        self.ask()

    async def stop(self) -> None:
        """Stop the child; one that does not listen is killed when the loop ends."""
        predictor, self._predictor = self._predictor, None
        if predictor is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(predictor.stop(), AT_MOST)

    def ask_soon(self) -> None:
        """Ask once the items are read."""
        self.bench.set_timer(AFTER_READING, self.ask)

    def ask(self) -> None:
        """Ask for what the item shown and the ones read ahead still lack."""
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
        """Show a prediction that came while its item is on the screen."""
        if self.state.anchor_id == anchor_id:
            await self.bench.item.reload()
        else:
            self.bench.item.cache.forget(anchor_id)

    async def restart_if_off(self) -> None:
        """Start the child again that was of no use with the model before."""
        if self._predictor is not None and self._is_off:
            await self._predictor.start()

    def report(self, message: PredictorChanged) -> None:
        """Say how the predictor is, and once why it stays off."""
        self.ui.set_status(model=message.words)
        self._is_off = message.off
        self._identifies = not message.aside
        if message.off or message.aside:
            self.ui.notify(message.sentence)
