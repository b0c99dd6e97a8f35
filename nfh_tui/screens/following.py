"""Following: what goes on by itself is told, and taken in, while one works.

Jobs stand in a word on the line of state; a model that takes over is told in a sentence, which
no key takes away at once; the queue is ordered anew behind the item in hand as models come to
know more; a training that comes round is started.
"""

import sys
from contextlib import suppress
from time import monotonic

from nfh_db.errors import StoreError
from nfh_db.jobs import Job, JobState
from nfh_db.pulse import JobNow
from nfh_db.query import Query
from nfh_tui.actions import Mode
from nfh_tui.client_jobs import by
from nfh_tui.desk.beside import come_round, ended, job_words, taken_over
from nfh_tui.desk.ids import IdList
from nfh_tui.desk.keys import KeyPress
from nfh_tui.desk.nearby import Nearby
from nfh_tui.screens.touring import Touring

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


class Following(Touring):
    """What follows the work beside."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as the tour takes them
        self._jobs: dict[int, JobNow] = {}
        self._last_change = 0
        self._order: tuple[float, ...] = ()
        self._order_stale = False
        self._ordered_at = -BETWEEN
        self._nudged_at = -NUDGE
        self._too_few_at: tuple[int, int] | None = None
        self._read_since: float | None = None
        self._held: tuple[str, ...] = ()

    async def begin_to_follow(self) -> None:
        """Learn how things stand; only what comes after this is news."""
        pulse = await self.client.pulse(sys.maxsize)
        self._last_change = pulse.last
        self._jobs = {job.id: job for job in pulse.jobs}
        self._paint_beside()

    async def follow(self, *, others_wrote: bool) -> None:
        """Take in what has happened; to be called about once a second."""
        self._let_go_of_news()
        self._order_stale |= others_wrote
        # Each time: a job that dies writes nothing, and what this process itself has written,
        # from another of its screens, is not told of as others' writes are.
        with suppress(StoreError):  # a locked file: looked at again in a second
            await self.hear()
        await self._come_round()
        await self._keep_in_order()

    # --- jobs and models ----------------------------------------------------------------

    async def hear(self) -> None:
        """Tell which jobs there are, and what has ended or taken over since."""
        pulse = await self.client.pulse(self._last_change)
        before, self._jobs = self._jobs, {job.id: job for job in pulse.jobs}
        self._last_change = pulse.last
        for sentence in taken_over(pulse.changes):
            self.tell(sentence)
        if pulse.changes:
            await self.models_changed()
        for job_id in sorted(before.keys() - self._jobs.keys()):
            job = await self.client.job(job_id)
            if job is not None and (sentence := self._told_of(job)):
                self.tell(sentence)
        if before != self._jobs:
            self._paint_beside()

    def _told_of(self, job: Job) -> str:
        """What is to be said of a job that has ended; nothing to who annotates, for figures of
        models are not theirs, nor of what this person cancelled."""
        own = job.state is JobState.CANCELLED and job.error == by(self.me.name)
        return "" if own or self.mode is Mode.ANNOTATE else ended(job)

    async def models_changed(self) -> None:
        """Another model is in use: a layer above may have to do something about that."""

    def _paint_beside(self) -> None:
        self.set_status(job=job_words(tuple(self._jobs.values())))

    # --- news ---------------------------------------------------------------------------

    def tell(self, sentence: str) -> None:
        """Tell what nobody here did: it stands until it can have been read.

        While somebody is shown round it waits: it would move what the tour points at.
        """
        if self.tour_step is not None:
            self._held = (sentence, *self._held)[:MOST_NEWS]
            return
        self._read_since = None
        self.set_status(news=(sentence, *self.status_line.status.news)[:MOST_NEWS])

    def wants(self, press: KeyPress) -> bool:
        """Note that somebody is there to read."""
        if self._read_since is None and self.status_line.status.news:
            self._read_since = monotonic()
        return super().wants(press)

    def _let_go_of_news(self) -> None:
        if self._held and self.tour_step is None:
            held, self._held = self._held, ()
            for sentence in reversed(held):
                self.tell(sentence)
        if self._read_since is not None and monotonic() - self._read_since > READ_IN:
            self._read_since = None
            self.set_status(news=())

    # --- trainings that come round ------------------------------------------------------

    async def _come_round(self) -> None:
        """Queue a training that is due, and see that somebody runs it; not for a reader."""
        if self.mode is Mode.BROWSE:
            return
        try:
            found = await self.client.retraining()
            queued = await self._queue_what_is_due() if found.to_do else ()
            if queued:
                self.tell(come_round(queued))
            waits = found.blocked or self._nothing_runs()
            if queued or (waits and monotonic() - self._nudged_at >= NUDGE):
                self._nudged_at = monotonic()
                await self.client.start_runner()
            if queued:
                await self.hear()
        except StoreError:
            return  # a full disk, a locked file: looked at again in a second
        except OSError as error:
            self.tell(f"No runner could be started: {error}. nfh-tui jobs run works the queue")

    async def _queue_what_is_due(self) -> tuple[int, ...]:
        """Queue trainings that are due; what has too little to learn from is looked at again
        once somebody has written."""
        version = await self.client.answers_version()
        if version == self._too_few_at:
            return ()
        queued = await self.client.queue_retraining()
        self._too_few_at = None if queued else version
        return queued

    def _nothing_runs(self) -> bool:
        """True where jobs wait and none runs: whoever ran them was ended."""
        states = {job.state for job in self._jobs.values()}
        return bool(states) and JobState.RUNNING not in states

    # --- an order that learns -----------------------------------------------------------

    async def open_query(
        self,
        query: Query,
        at: int | None = None,
        *,
        insist: bool = False,
        near: Nearby | None = None,
    ) -> None:
        """Show what a query finds, and note what its order was made of."""
        if learns(query):
            self._order = await self.client.orders_version()
        await super().open_query(query, at, insist=insist, near=near)

    async def _keep_in_order(self) -> None:
        """Order the queue anew if it may stand otherwise by now, every few seconds at most."""
        due = monotonic() - self._ordered_at >= BETWEEN
        if not (self._order_stale and due and learns(self.query_now) and self.ids.complete):
            return
        found = await self.client.orders_version()
        if found == self._order:
            self._order_stale = False
        elif await self.reorder():
            self._order, self._order_stale = found, False

    async def reorder(self) -> bool:
        """Order anew what comes after the item in hand; False if somebody moved meanwhile.

        What stands before it, and it itself, keep their places: whoever works from the top
        finds next what is first in the order now.
        """
        ids, query, after = self.ids, self.query_now, self.after_here
        kept = ids.slice(0, after)
        rest = await self.client.reordered(query, self.me, self.role, kept)
        if self.ids is not ids or self.query_now is not query or self.after_here != after:
            return False
        self._ordered_at = monotonic()
        made = IdList()
        made.extend(kept)
        made.extend(rest)
        made.complete = True
        self.ids = made
        self.queue_list.put_ids(made)
        self.paint_status()
        self.read_ahead()
        return True
