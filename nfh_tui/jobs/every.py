"""Retraining after every so many decisions: a setting of the database, for each task.

Whoever decides looks now and then whether a training is due (`queue_due`), and starts a runner
for it. Two who look at one time queue one job.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_db.jobs import NewJob
    from nfh_db.retraining import Every
    from nfh_db.store import Store

FEWEST, MOST = 1, 1_000_000


def set_every(store: "Store", number: int, new: "NewJob") -> "Every | None":
    """Have this training queued after every `number` decisions.

    Counted is from when the last training of its task began. It takes the place of what was
    set for its task, which is given back where that was another training. Raises ValueError
    for a number that is none of 1 to 1,000,000, StoreError.
    """
    if not FEWEST <= number <= MOST:
        raise ValueError(f"after every {number} decisions: give {FEWEST} to {MOST:,}")
    before = next((one for one in store.every() if one.task == new.task), None)
    store.set_every(new.task, number, new)
    same = before is None or before.arguments == new.arguments
    return None if same else before


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
    return store.queue_retraining(too_few(store)) if store.retraining().to_do else ()


def too_few(store: "Store") -> dict[str, str]:
    """The tasks whose training is due and would find nothing to learn, each with why.

    Raises StoreError.
    """
    from nfh_db.errors import QueryError
    from nfh_models.errors import ModelsError
    from nfh_tui.jobs.at_hand import check_at_hand

    found = {}
    for one in store.every():
        if one.due and not one.held_by:
            try:
                check_at_hand(store, one.new)
            except (ModelsError, QueryError) as error:
                found[one.task] = str(error)
    return found


def replaced(before: "Every") -> str:
    """That another training comes round no more, in words."""
    recipe = before.arguments.get("recipe")
    named = recipe if isinstance(recipe, str) else before.task
    query = before.arguments.get("query")
    of = f" on {query}" if isinstance(query, str) and query else ""
    return f"in place of {named}{of} after every {before.number:,}"


def told(every: "Every", held: Mapping[str, str] | None = None) -> str:
    """What is set, and how far it has come, in words. held: tasks that wait, with why."""
    recipe = every.arguments.get("recipe")
    what = f"{every.task} ({recipe})" if isinstance(recipe, str) else every.task
    after = "decision" if every.number == 1 else f"{every.number:,} decisions"
    far = f"{every.count:,} so far"
    if not every.own:
        far = (
            "set by somebody else, so nothing is queued from here; set it yourself with retrain"
        )
    if every.due:
        job = every.held_by
        far = f"due, and queued once job {job} has ended" if job else "due now"
        if not job and (why := (held or {}).get(every.task)):
            far = f"due once there is enough to learn from: {why}"
    return f"{what} is retrained after every {after}: {far}"


def all_told(store: "Store") -> tuple[str, ...]:
    """What comes round, and how far each has come, in words. Raises StoreError."""
    held = too_few(store)
    return tuple(told(one, held) for one in store.every())
