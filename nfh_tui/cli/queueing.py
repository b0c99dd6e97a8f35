"""Work put into the queue of jobs, and a runner started for it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import quoted
from nfh_tui.cli.common import emit, say, sentence, tell

if TYPE_CHECKING:
    from nfh_db.jobs import NewJob
    from nfh_db.store import Store

background_option = click.option(
    "--background",
    is_flag=True,
    help="Queue it as a job and return; `nfh-tui jobs` tells how far it is.",
)


def queued(store: "Store", new: "NewJob", db: Path | None, *, as_json: bool) -> int:
    """Queue a job, start a runner and say so; the job's number.

    db: as the call named it, for the commands that are told. Raises StoreError.
    """
    job_id = store.queue_job(new)
    if as_json:
        emit(_as_json(job_id, new))
    else:
        tell(f"job {job_id} is queued; {command(f'jobs wait {job_id}', db)} follows it")
    start(store, db)
    return job_id


def _as_json(job_id: int, new: "NewJob") -> dict[str, object]:
    told: dict[str, object] = {"id": job_id, "kind": new.kind, "task": new.task or None}
    if "recipe" in new.arguments:
        told["recipe"] = new.arguments["recipe"]
    return told | {"state": "queued"}


def start(store: "Store", db: Path | None, *, waits: bool = False) -> None:
    """Start a runner; where none is started the job stays queued, and that is said.

    waits: the call follows its job, and may be told to work the queue itself.
    """
    from nfh_tui.jobs.starting import HERE, VARIABLE, asked_for, start_runner

    by_hand = f"{command('jobs run', db)} works the queue"
    try:
        if start_runner(store.path) or (waits and asked_for(HERE)):
            return
    except OSError as error:
        say(f"nfh-tui: no runner could be started ({sentence(error)});\n{by_hand}")
        return
    say(f"no runner is started ({VARIABLE}={os.environ.get(VARIABLE)}); {by_hand}")


def command(words: str, db: Path | None) -> str:
    """A command to type, with the database that this call named."""
    where = "" if db is None else f" --db {quoted(str(db))}"
    return f"nfh-tui {words}{where}"
