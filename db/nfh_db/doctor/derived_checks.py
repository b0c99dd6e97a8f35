"""What follows from answers and gold, and is kept so that it need not be computed."""

from collections.abc import Iterator

from nfh_db import answers
from nfh_db import differences as pairs
from nfh_db.assignments import verdict_of
from nfh_db.connection import Connection
from nfh_db.doctor.finding import Fault, Repair, Where
from nfh_db.doctor.patient import Patient
from nfh_db.doctor.stretch import UNREADABLE, AnchorRow, Stretch

COLUMNS = ("state", "kind", "heads", "votes", "strongest", "blocking", "notes", "pattern")
ASSIGNMENTS = """
SELECT s.id, s.anchor_id, s.annotator_id, n.name, s.role, s.state, s.expected, s.verdict,
    s.finished_at IS NOT NULL, w.id IS NOT NULL
FROM assignment AS s LEFT JOIN annotator AS n ON n.id = s.annotator_id
LEFT JOIN answer AS w ON w.anchor_id = s.anchor_id AND w.annotator_id = s.annotator_id
    AND w.role = s.role AND w.removed = 0
WHERE (s.state = 'done') <> (w.id IS NOT NULL)
    OR (s.state = 'done') <> (s.finished_at IS NOT NULL)
    OR s.expected IS NOT NULL OR s.verdict IS NOT NULL
ORDER BY s.id"""


def summaries(stretch: Stretch) -> Iterator[Fault]:
    """The summary columns of each anchor that is seen."""
    for anchor in stretch.anchors:
        wanted = stretch.summary_of(anchor) if anchor.live else None
        if wanted is None or wanted.columns() == anchor.summary:
            continue
        told = [
            f"{name} is {_shown(there)}, should be {_shown(should)}"
            for name, there, should in zip(
                COLUMNS, anchor.summary, wanted.columns(), strict=True
            )
            if there != should
        ]
        yield Fault("; ".join(told), Where("anchor", anchor.id, anchor.id), Repair.SUMMARIES)


def _shown(value: object) -> str:
    return "empty" if value in (None, "") else str(value).strip()


def differences(stretch: Stretch) -> Iterator[Fault]:
    """How the answers of each anchor that is seen differ, pair by pair."""
    for anchor in stretch.anchors:
        wanted = stretch.summary_of(anchor) if anchor.live else None
        if wanted is None:
            continue
        people = _people(anchor, stretch)
        for table, there, should in (
            (
                "difference",
                stretch.differences.get(anchor.id, []),
                pairs.pairs(anchor.id, people, wanted.disagreement),
            ),
            (
                "expert_difference",
                stretch.experts.get(anchor.id, []),
                pairs.decided(anchor.id, wanted.experts),
            ),
            (
                "gold_difference",
                stretch.by_gold.get(anchor.id, []),
                pairs.judged(anchor.id, people, wanted.by_gold),
            ),
        ):
            if there != should:
                what = f"its {len(there)} rows are not the {len(should)} that its answers give"
                yield Fault(what, Where(table, None, anchor.id), Repair.SUMMARIES)


def _people(anchor: AnchorRow, stretch: Stretch) -> list[int]:
    rows = stretch.votes_of(anchor)
    return [row.annotator_id for row in rows if row.counts]


def assignments(patient: Patient) -> Iterator[Fault]:
    """Assignments whose state, or verdict, is not what their person's answer makes it."""
    for row in patient.connection.execute(ASSIGNMENTS).fetchall():
        what = _assignment_trouble(patient.connection, *row[1:])
        if what:
            yield Fault(what, Where("assignment", row[0], row[1]), Repair.ASSIGNMENTS)


def _assignment_trouble(
    connection: Connection,
    anchor: int,
    annotator: int,
    name: str | None,
    role: str,
    state: str,
    expected: str | None,
    verdict: str | None,
    finished: bool,
    answered: bool,
) -> str:
    done = state == "done"
    if name is None:
        # That its person is missing is said by another check.
        return ""
    if done != bool(answered):
        return f"it is {state}, but {name} has {'an' if answered else 'no'} answer as {role}"
    if done != bool(finished):
        return f"it is {state}, and says {'' if finished else 'not '}when it was finished"
    should = None
    if done and expected is not None:
        try:
            value = answers.read(connection, anchor, annotator, role)
            should = verdict_of(connection, anchor, value, expected) if value else None
        except UNREADABLE:
            # Said by other checks; nothing was judged by it.
            should = None
    if verdict != should:
        return f"its verdict is {verdict or 'empty'}, should be {should or 'empty'}"
    return ""
