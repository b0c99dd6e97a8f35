"""What follows from others, the log, imports and the rest: broken, found and mended."""

from collections.abc import Callable
from typing import Any

import pytest

Damage = dict[str, Any]
Assess = Callable[[Damage], None]


def damage(*statements: str, words: str, mended: bool = False, **found: int) -> Damage:
    """Statements that break something, what each check then finds, and words of a finding.

    found: the number of findings by check. mended: a repair takes all of them away.
    """
    return {"statements": statements, "found": found, "words": words, "mended": mended}


DAMAGES = {
    # --- what follows from others
    "a summary that is out of date": damage(
        "UPDATE anchor SET state = 'open', votes = 0, kind = 'AGE' WHERE id = 6",
        words="anchor 6 6: state is open, should be disagree; "
        "kind is AGE, should be empty; votes is 0, should be 2",
        mended=True,
        summaries=1,
    ),
    "stale that was forgotten": damage(
        "UPDATE anchor SET state = 'open' WHERE id = 10",
        words="anchor 10 10: state is open, should be stale",
        mended=True,
        summaries=1,
    ),
    "differences that are missing": damage(
        "DELETE FROM difference WHERE anchor_id = 4",
        words="difference None 4: its 0 rows are not the 2 that its answers give",
        mended=True,
        differences=1,
    ),
    "a difference that is another": damage(
        "UPDATE difference SET blocking = 'scope' WHERE anchor_id = 6",
        words="difference None 6: its 1 rows are not the 1",
        mended=True,
        differences=1,
    ),
    "experts' difference that is missing": damage(
        "DELETE FROM expert_difference",
        words="expert_difference None 2: its 0 rows are not the 1",
        mended=True,
        differences=1,
    ),
    "an assignment that is done and not answered": damage(
        "INSERT INTO assignment (id, anchor_id, annotator_id, role, state, position, run, "
        "assigned_at, finished_at) VALUES (70, 1, 1, 'annotator', 'done', 1, 'x', 'x', 'x')",
        words="assignment 70 1: it is done, but ann1 has no answer as annotator",
        mended=True,
        assignments=1,
    ),
    "an assignment that is answered and not done": damage(
        "INSERT INTO assignment (id, anchor_id, annotator_id, role, state, position, run, "
        "assigned_at) VALUES (70, 2, 1, 'annotator', 'open', 1, 'x', 'x')",
        words="assignment 70 2: it is open, but ann1 has an answer as annotator",
        mended=True,
        assignments=1,
    ),
    "an assignment that is open and finished": damage(
        "INSERT INTO assignment (id, anchor_id, annotator_id, role, state, position, run, "
        "assigned_at, finished_at) VALUES (70, 1, 1, 'annotator', 'open', 1, 'x', 'x', 'x')",
        words="assignment 70 1: it is open, and says when it was finished",
        mended=True,
        assignments=1,
    ),
    "a check that was judged wrongly": damage(
        "INSERT INTO assignment (id, anchor_id, annotator_id, role, purpose, state, position, "
        "run, assigned_at, finished_at, expected, verdict) VALUES (70, 2, 1, 'annotator', "
        "'check', 'done', 1, 'x', 'x', '2026-01-02T03:04:05.678Z', "
        '\'{"kind":"AGE","rule":"imported"}\', \'wrong\')',
        words="assignment 70 2: its verdict is wrong, should be right",
        mended=True,
        assignments=1,
    ),
    "a verdict of nothing": damage(
        "INSERT INTO assignment (id, anchor_id, annotator_id, role, state, position, run, "
        "assigned_at, verdict) VALUES (70, 1, 1, 'annotator', 'open', 1, 'x', 'x', 'right')",
        words="assignment 70 1: its verdict is right, should be empty",
        mended=True,
        assignments=1,
    ),
    "a person who is missing": damage(
        "INSERT INTO assignment (id, anchor_id, annotator_id, role, state, position, run, "
        "assigned_at) VALUES (70, 2, 1, 'annotator', 'open', 1, 'x', 'x')",
        "DELETE FROM annotator WHERE id = 1",
        words="assignment 70 None: annotator_id refers to a row of annotator that is missing",
        references=22,
        rules=2,
        log=5,
    ),
    "a verdict on what nothing was expected of": damage(
        "INSERT INTO assignment (id, anchor_id, annotator_id, role, state, position, run, "
        "assigned_at, finished_at, verdict) VALUES (70, 2, 1, 'annotator', 'done', 1, 'x', "
        "'x', 'x', 'right')",
        words="assignment 70 2: its verdict is right, should be empty",
        mended=True,
        assignments=1,
    ),
    "an expected gold that is none": damage(
        "INSERT INTO assignment (id, anchor_id, annotator_id, role, purpose, state, position, "
        "run, assigned_at, finished_at, expected) VALUES (70, 2, 1, 'annotator', "
        "'check', 'done', 1, 'x', 'x', '2026-01-02T03:04:05.678Z', '{\"kind\":5}')",
        words="assignment 70 2: the gold that it expects cannot be read: found a whole number",
        settings=1,
    ),
    # --- the log
    "an event that is missing": damage(
        "DELETE FROM event WHERE entity = 'gold' AND anchor_id = 1",
        words="gold 1 1: the gold exists, but no event of the log made it",
        log=1,
    ),
    "an event in the middle that is missing": damage(
        "DELETE FROM event WHERE anchor_id = 2 AND entity = 'gold' AND after LIKE '%\"eva\"%'",
        words="2: it finds the gold YEAR, but the log left it as nothing",
        log=1,
    ),
    "an answer that is missing": damage(
        "DELETE FROM mention WHERE head_id IN (SELECT h.id FROM head AS h "
        "JOIN answer AS w ON w.id = h.answer_id WHERE w.anchor_id = 9 AND w.annotator_id = 1)",
        "DELETE FROM head WHERE answer_id IN "
        "(SELECT id FROM answer WHERE anchor_id = 9 AND annotator_id = 1)",
        "DELETE FROM answer WHERE anchor_id = 9 AND annotator_id = 1",
        words="9: ann1's answer is missing: the log left it as REFERENCE",
        differences=1,
        log=1,
        summaries=1,
    ),
    "a flag that nobody set": damage(
        "INSERT INTO flag (anchor_id, annotator_id, name, flagged_at) "
        "VALUES (6, 1, 'ambiguous', '2026')",
        words="6: ann1's flag ambiguous exists, but no event of the log made it",
        log=1,
    ),
    "an answer with another time": damage(
        "UPDATE answer SET answered_at = '2027' WHERE anchor_id = 6 AND annotator_id = "
        "(SELECT id FROM annotator WHERE name = 'bob')",
        words="6: bob's answer is not as the log left it: they differ in at",
        log=1,
    ),
    "an event that cannot be read": damage(
        "UPDATE event SET after = '{\"kind\":' WHERE id = 1",
        words="event 1 1: a value of it cannot be read",
        events=1,
        log=1,
    ),
    "an event that says nothing": damage(
        "UPDATE event SET before = NULL, after = NULL WHERE entity = 'flag' AND anchor_id = 1",
        words="1: it has neither a value before nor a value after",
        events=1,
        log=1,
    ),
    "an event of nobody's answer": damage(
        "UPDATE event SET annotator_id = NULL WHERE id = "
        "(SELECT min(id) FROM event WHERE anchor_id = 9)",
        words="9: whose answer it is about is missing",
        events=1,
        log=2,
    ),
    "an act that is marked as undone": damage(
        "UPDATE act SET undone = 1 WHERE summary = 'gold AGE'",
        words="it is marked as undone, but no act undid it",
        acts=1,
    ),
    "an act that is not marked as undone": damage(
        "UPDATE act SET undone = 0 WHERE undone = 1",
        words="it is marked as not undone, but the last act about it has undone it",
        acts=1,
    ),
    "an undo of nothing": damage(
        "UPDATE act SET target = NULL WHERE kind = 'undo' AND target = "
        "(SELECT max(target) FROM act WHERE kind = 'undo')",
        words="it is of kind undo, but names no act",
        acts=2,
    ),
    "an undo that did something else": damage(
        "UPDATE event SET anchor_id = 1 WHERE act_id = "
        "(SELECT max(id) FROM act WHERE kind = 'redo')",
        words="1: it is part of the redo of act",
        acts=1,
        log=2,
    ),
    "an act without events": damage(
        "INSERT INTO act (annotator_id, kind, summary, acted_at) "
        "VALUES (1, 'do', 'answer AGE', '2026')",
        words="“answer AGE” has no events",
        acts=1,
    ),
    "an import without its batch": damage(
        "UPDATE act SET batch_id = NULL WHERE kind = 'import'",
        words="it is of kind import, but names no batch",
        acts=1,
    ),
    # --- the rest
    "an import that was killed": damage(
        "INSERT INTO batch (id, name, sha256, format, state, pid, report, created_at) VALUES "
        "(90, 'killed.jsonl', 'b', 'gold', 'loading', 999999999, '{}', '2026')",
        "INSERT INTO document (id, name, batch_id) VALUES (90, 'killed.jsonl', 90)",
        words="batch 90 None: killed.jsonl was being read when its process 999999999 ended",
        mended=True,
        imports=1,
    ),
    "an import whose work cannot be read": damage(
        "INSERT INTO batch (id, name, sha256, format, state, pid, report, created_at) VALUES "
        "(90, 'killed.jsonl', 'b', 'gold', 'loading', 999999999, '[]', '2026')",
        words="batch 90 None: its remaining work cannot be read",
        imports=1,
    ),
    "a source row that is missing": damage(
        "DELETE FROM source_row WHERE anchor_id = 6",
        words="some.jsonl came with 9 rows, 8 are kept",
        sources=1,
    ),
    "labels that are no JSON": damage(
        "UPDATE source_row SET labels = '[AGE' WHERE anchor_id = 6",
        words="6: its labels cannot be read",
        sources=1,
    ),
    "a draft that is no JSON": damage(
        "UPDATE draft SET body = '{'",
        words="draft 10, ",
        drafts=1,
    ),
    "a view that cannot be asked": damage(
        "UPDATE saved_view SET query = 'class:MONTH'",
        words="mine None: its query cannot be understood",
        drafts=1,
    ),
    "a score too few": damage(
        "UPDATE prediction SET scores = substr(scores, 5)",
        words="6: it has 16 scores for 6 classes and 11 words",
        predictions=1,
    ),
    "a choice that is none": damage(
        "UPDATE prediction SET choice = '11'",
        words="6: its choice '11' is neither a class nor a word",
        predictions=1,
    ),
    "a decision without a rule": damage(
        "UPDATE identification SET rule = ' ' WHERE anchor_id = 1",
        words="identification 1, 2 1: the rule that decided has no name",
        identifications=1,
    ),
    "a score that says otherwise": damage(
        "UPDATE identification SET nfh = 0 WHERE anchor_id = 6",
        words="identification 6, 2 6: its score 0.5 contradicts the decision",
        identifications=1,
    ),
    "weights that cannot be read": damage(
        "UPDATE identification SET weights = '[[1]]' WHERE anchor_id = 6",
        words="6: its weights cannot be read",
        identifications=1,
    ),
    "an infinite score": damage(
        "UPDATE identification SET score = 9e999 WHERE anchor_id = 6",
        words="6: its score is infinite",
        identifications=1,
    ),
    "a decision of a model of another task": damage(
        "UPDATE identification SET model_id = 1",
        words="identification 1, 1 1: it is of a model whose task is resolution",
        identifications=2,
    ),
    "a decision about nothing": damage(
        "UPDATE identification SET anchor_id = 999 WHERE anchor_id = 6",
        words="identification",
        references=1,
    ),
    "a model that cannot be read": damage(
        "UPDATE model SET config = 'x' WHERE id = 1", words="model 1 None: JSON", settings=1
    ),
    "a document without passages": damage(
        "INSERT INTO document (id, name) VALUES (90, 'gone.txt')",
        words="document 90 None: gone.txt holds no passage",
        leftovers=1,
    ),
    "an anchor that nobody made": damage(
        "INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word, "
        "removed) VALUES (90, 6, 0, 1, 0, 3, 'the', 1)",
        words="anchor 90 90: neither an import nor a person made it",
        leftovers=1,
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_named(assess: Assess, name: str) -> None:
    assess(DAMAGES[name])
