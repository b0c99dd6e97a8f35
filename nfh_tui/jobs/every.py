"""Retraining after every so many decisions: a setting of the database, for each task.

Whoever decides looks now and then whether a training is due (`queue_due`), and starts a runner
for it. Two who look at one time queue one job.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_db.jobs import NewJob
    from nfh_db.retraining import Every
    from nfh_db.store import Store

FEWEST, MOST = 1, 1_000_000


def set_every(store: "Store", number: int, new: "NewJob") -> None:
    """Have this training queued after every `number` decisions, counted from now.

    It takes the place of what was set for its task. Raises ValueError for a number that is
    none of 1 to 1,000,000, StoreError.
    """
    if not FEWEST <= number <= MOST:
        raise ValueError(f"after every {number} decisions: give {FEWEST} to {MOST:,}")
    store.set_every(new.task, number, new)


def stop_every(store: "Store", task: str) -> bool:
    """Have a task trained on demand only; False where it was so already. Raises StoreError."""
    wanted = any(one.task == task for one in store.every())
    if wanted:
        store.set_every(task, 0, None)
    return wanted


def queue_due(store: "Store") -> tuple[int, ...]:
    """Queue the trainings that are due; their numbers, mostly none. Raises StoreError.

    It only reads where nothing is due.
    """
    return store.queue_retraining() if store.retraining().to_do else ()


def told(every: "Every") -> str:
    """What is set, and how far it has come, in words."""
    recipe = every.arguments.get("recipe")
    what = f"{every.task} ({recipe})" if isinstance(recipe, str) else every.task
    after = "decision" if every.number == 1 else f"{every.number:,} decisions"
    far = "due now" if every.due else f"{every.count:,} so far"
    return f"{what} is retrained after every {after}: {far}"
