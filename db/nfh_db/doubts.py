"""Doubts: what a model that had not seen an anchor's gold said of it. One an anchor, the last.

The row of an anchor goes when its gold is written, changed or confirmed: what has been looked
at is doubted no more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nfh_db.connection import Connection

UPSERT = """
INSERT INTO doubt (anchor_id, job_id, choice, likely, margin)
VALUES (:anchor, :job, :choice, :likely, :margin)
ON CONFLICT (anchor_id) DO UPDATE SET
    job_id = excluded.job_id, choice = excluded.choice, likely = excluded.likely,
    margin = excluded.margin"""
DELETE = "DELETE FROM doubt WHERE anchor_id = :anchor"
READ = "SELECT anchor_id, choice, likely, margin FROM doubt WHERE anchor_id = :anchor"

TOLD = """
SELECT d.choice, d.likely, d.job_id, coalesce(json_extract(j.arguments, '$.recipe'), '')
FROM doubt AS d LEFT JOIN job AS j ON j.id = d.job_id WHERE d.anchor_id = :anchor"""


@dataclass(frozen=True, slots=True)
class Doubt:
    """choice: what the model chose, as a prediction has it. likely: the probability that it
    gave to gold. margin: how far its choice was ahead of the next."""

    anchor_id: int
    choice: str
    likely: float
    margin: float


@dataclass(frozen=True, slots=True)
class Doubted:
    """What a model that had not seen an item's gold said of it.

    choice: what it chose, as a prediction has it. likely: the probability that it gave to
    gold. job: that asked it; recipe: by which that made it, "" where that is not known.
    """

    choice: str
    likely: float
    job: int
    recipe: str


def save(connection: Connection, job_id: int, found: Sequence[Doubt]) -> None:
    """Keep doubts, in place of earlier ones of the same anchors."""
    connection.executemany(
        UPSERT,
        [
            {
                "anchor": one.anchor_id,
                "job": job_id,
                "choice": one.choice,
                "likely": one.likely,
                "margin": one.margin,
            }
            for one in found
        ],
    )


def read(connection: Connection, anchor_id: int) -> Doubt | None:
    """What is doubted of an anchor's gold; None where nobody asked."""
    row = connection.execute(READ, {"anchor": anchor_id}).fetchone()
    return None if row is None else Doubt(*row)


def told(connection: Connection, anchor_id: int) -> Doubted | None:
    """The same as people are shown it, with where it comes from."""
    row = connection.execute(TOLD, {"anchor": anchor_id}).fetchone()
    if row is None:
        return None
    choice, likely, job, recipe = row
    return Doubted(choice, likely, job, str(recipe))


def forget(connection: Connection, anchor_ids: Iterable[int]) -> None:
    """The gold of these anchors is another: what was said of it is of no use."""
    connection.executemany(DELETE, [{"anchor": anchor_id} for anchor_id in anchor_ids])
