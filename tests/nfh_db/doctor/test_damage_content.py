"""What holds the file, texts, answers and gold together: broken, found and named."""

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
    # --- the file
    "an older log mode": damage(
        "PRAGMA journal_mode = DELETE", words="not in write-ahead-log mode", mended=True, file=1
    ),
    "migrations that are not noted": damage(
        "DELETE FROM _sqlite_migrations WHERE id = 14", words="13 migrations are noted", file=1
    ),
    "a value that the table forbids": damage(
        "UPDATE anchor SET state = 'odd' WHERE id = 6",
        words="values: anchor 6 6: it does not hold that state IN ('open', 'answered'",
        values=1,
        summaries=1,
    ),
    "a table of somebody else's": damage(
        "CREATE TABLE bookmark (url TEXT)",
        words="the table bookmark was not made",
        mended=True,
        schema=1,
    ),
    "an index that is missing": damage(
        "DROP INDEX gold_batch", words="the index gold_batch is missing", mended=True, schema=1
    ),
    "a table that was built otherwise": damage(
        "ALTER TABLE setting ADD COLUMN more TEXT", words="setting is not built as", schema=1
    ),
    "a row that is referred to": damage(
        "DELETE FROM guideline",
        "UPDATE answer SET batch_id = 77 WHERE id = 1",
        words="answer 1 None: batch_id refers to a row of batch that is missing",
        references=1,
        log=1,
    ),
    "a head without its answer": damage(
        "INSERT INTO head (answer_id, position) VALUES (999, 0)",
        words="answer_id refers to a row of answer that is missing",
        references=1,
    ),
    # --- passages and anchors
    "a proposed span outside the passage": damage(
        "UPDATE flag SET stop = 99 WHERE start IS NOT NULL",
        words="flags: flag 9, eva, anchor 9: the span [",
        flags=1,
        log=1,
    ),
    "half a proposed span": damage(
        "UPDATE flag SET stop = NULL WHERE start IS NOT NULL",
        words="it does not hold that (start IS NULL) = (stop IS NULL)",
        values=1,
        log=1,
    ),
    "a word outside the text": damage(
        "UPDATE passage_token SET offsets = "
        "CAST(substr(offsets, 1, length(offsets) - 4) || x'ff000000' AS BLOB) "
        "WHERE passage_id = 6",
        words="passage 6 None: token 10 has offsets 43 to 255, but must lie between",
        passages=1,
    ),
    "words that overlap": damage(
        "UPDATE passage_token SET offsets = "
        "CAST(x'0000000009000000' || substr(offsets, 9) AS BLOB) WHERE passage_id = 6",
        words="passage 6 None: token 1 has offsets 4 to 8, but must lie between 9",
        passages=1,
    ),
    "half a word": damage(
        "UPDATE passage_token SET offsets = substr(offsets, 1, 84) WHERE passage_id = 6",
        words="passage 6 None: it has 11 lemmas for 10.5 words",
        passages=1,
        predictions=1,
    ),
    "a lemma too few": damage(
        "UPDATE passage_token SET lemmas = '[\"one\"]' WHERE passage_id = 6",
        words="it has 1 lemmas for 11 words",
        passages=1,
    ),
    "turns that leave a word out": damage(
        "UPDATE passage_token SET turns = '[[0,\"Ann\",0,5]]' WHERE passage_id = 6",
        words="turns cover 5 of 11 tokens",
        passages=1,
    ),
    "turns that are no turns": damage(
        "UPDATE passage_token SET turns = '{]' WHERE passage_id = 6",
        words="passage 6 None: ",
        passages=1,
    ),
    "a passage without words": damage(
        "DELETE FROM passage_token WHERE passage_id = 6",
        words="it has no row in passage_token",
        passages=1,
    ),
    "a text that was changed": damage(
        "UPDATE passage SET text = replace(text, 'cats', 'bats') WHERE id = 6",
        words="passage 6 None: its digest is not that of its content",
        digests=1,
    ),
    "a speaker that was changed": damage(
        "UPDATE passage_token SET turns = replace(turns, 'Ann', 'Bea') WHERE passage_id = 6",
        words="passage 6 None: its digest is not that of its content",
        digests=1,
    ),
    "a text that its index lacks": damage(
        "DELETE FROM passage_text WHERE rowid = 1",
        words="pages: passage_text None None: passages that it lacks: 1",
        mended=True,
        pages=1,
    ),
    "an index of texts with one that is gone": damage(
        "INSERT INTO passage_text (rowid, text) VALUES (999, 'gone')",
        words="pages: passage_text None None: entries without a passage: 1",
        mended=True,
        pages=1,
    ),
    "an index of texts that is damaged": damage(
        "UPDATE passage_text_data SET block = x'00' WHERE id > 10",
        words="passage_text",
        mended=True,
        pages=1,
    ),
    "text that is no UTF-8": damage(
        "UPDATE passage SET text = CAST(x'ff' || CAST(substr(text, 2) AS BLOB) AS TEXT) "
        "WHERE id = 6",
        words="its digest is not that of its content",
        digests=1,
    ),
    "an anchor outside its passage": damage(
        "UPDATE anchor SET start = 30, stop = 31 WHERE id = 6",
        words="anchor 6 6: its span [30, 31) is outside a passage of 11 words",
        anchors=1,
    ),
    "an anchor that says another place": damage(
        "UPDATE anchor SET text_start = 1 WHERE id = 6",
        words="anchor 6 6: it says characters 1 to 16, its words are at 13 to 16",
        anchors=1,
    ),
    "an anchor that says another word": damage(
        "UPDATE anchor SET word = 'two' WHERE id = 6",
        words="anchor 6 6: its word differs from the text",
        anchors=1,
    ),
    "an anchor replaced by one of another passage": damage(
        "UPDATE anchor SET replaced_by = 2 WHERE id = 6",
        words=(
            "anchor 6 6: it is replaced by anchor 2, which is not another anchor of its passage"
        ),
        replaced=1,
        log=1,
    ),
    "anchors that replace each other": damage(
        "UPDATE anchor SET replaced_by = 8 WHERE id = 10",
        words="anchor 8 8: it is replaced by itself",
        replaced=2,
        log=1,
    ),
    # --- answers and gold
    "a Reference without heads": damage(
        "DELETE FROM mention WHERE head_id IN (SELECT id FROM head WHERE answer_id = 1)",
        "DELETE FROM head WHERE answer_id = 1",
        "UPDATE answer SET kind = 'REFERENCE' WHERE id = 1",
        words="heads belong to REFERENCE, which needs at least one",
        answers=1,
        log=1,
    ),
    "a head without a mention": damage(
        "DELETE FROM mention WHERE head_id = (SELECT min(h.id) FROM head AS h "
        "JOIN answer AS w ON w.id = h.answer_id WHERE w.anchor_id = 6)",
        words="6: a head needs at least one mention",
        answers=1,
        log=1,
    ),
    "a mention outside the passage": damage(
        "UPDATE mention SET start = 40, stop = 41, token = 40 WHERE head_id = "
        "(SELECT min(h.id) FROM head AS h JOIN answer AS w ON w.id = h.answer_id "
        "WHERE w.anchor_id = 9)",
        words="9: mention [40, 41) is outside a passage of 11 tokens",
        answers=1,
        log=1,
    ),
    "a head inside the number": damage(
        "UPDATE mention SET start = 3, stop = 4, token = 3 WHERE head_id IN "
        "(SELECT id FROM head WHERE gold_id = 1) AND position = 0",
        words="gold 1 1: head token 3 is part of the anchor",
        gold=1,
        log=1,
    ),
    "heads that are not numbered": damage(
        "UPDATE head SET position = 5 WHERE answer_id = "
        "(SELECT id FROM answer WHERE anchor_id = 3 AND role = 'adjudicator') "
        "AND position = 1",
        words="has position 5, not 1",
        answers=1,
    ),
    "mentions that are not numbered": damage(
        "UPDATE mention SET position = 7 WHERE head_id IN "
        "(SELECT id FROM head WHERE gold_id = 1) AND position = 1",
        words="gold 1 1: a mention of head",
        gold=1,
    ),
    "a kind that there is not": damage(
        "UPDATE gold SET kind = 'MONTH' WHERE anchor_id = 7",
        words="gold 7 7: 'MONTH' is not a valid Kind",
        gold=1,
        log=1,
        values=1,
    ),
    "an answer of another kind": damage(
        "UPDATE answer SET kind = 'TIME' WHERE anchor_id = 5 AND annotator_id = 1",
        words="anchor 5 5: strongest is empty, should be class",
        summaries=1,
        differences=2,
        log=1,
    ),
    # --- what gold counts by
    "imported gold of no import": damage(
        "UPDATE gold SET batch_id = NULL WHERE anchor_id = 1",
        words="gold 1 1: it is imported, but names no import",
        rules=1,
        log=1,
    ),
    "an expert's gold without an answer": damage(
        "UPDATE gold SET answer_id = NULL WHERE anchor_id = 2",
        words="gold 2 2: it is an adjudicator's, but points to no answer",
        rules=1,
    ),
    "an expert's gold of another item": damage(
        "UPDATE gold SET answer_id = 1 WHERE anchor_id = 3",
        words="gold 3 3: it points to answer 1, which is not about this anchor",
        rules=1,
    ),
    "an expert's gold of somebody else": damage(
        "UPDATE gold SET answer_id = (SELECT id FROM answer WHERE anchor_id = 2 "
        "AND role = 'adjudicator' AND annotator_id = (SELECT id FROM annotator "
        "WHERE name = 'eva')) WHERE anchor_id = 2",
        words="which is not the deciding adjudicator's",
        rules=1,
    ),
    "an expert's gold that says something else": damage(
        "UPDATE gold SET relation = 'OR' WHERE anchor_id = 3",
        words="gold 3 3: it differs from answer",
        rules=1,
        differences=1,
        log=1,
    ),
    "an expert's gold whose answer is withdrawn": damage(
        "UPDATE answer SET removed = 1 WHERE anchor_id = 3 AND role = 'adjudicator'",
        words="which was withdrawn",
        rules=1,
        log=1,
    ),
    "settled gold without votes": damage(
        "UPDATE gold SET votes = '' WHERE anchor_id = 5",
        words="gold 5 5: its rule is majority, but it names no votes",
        rules=1,
        log=1,
    ),
    "settled gold of votes that were never given": damage(
        "UPDATE gold SET votes = replace(votes, 'ann3', 'zoe') WHERE anchor_id = 5",
        words="gold 5 5: it was made of a vote of zoe at 2026-01-02T03:04:05.678Z",
        rules=1,
        log=1,
    ),
    "settled gold of votes that are no JSON": damage(
        "UPDATE gold SET votes = '[' WHERE anchor_id = 5",
        words="gold 5 5: the votes it was made of cannot be read",
        rules=1,
        log=1,
    ),
    "settled gold that its rule does not make": damage(
        "UPDATE gold SET kind = 'YEAR' WHERE anchor_id = 5",
        words="gold 5 5: its rule, majority, gives another gold for its votes",
        rules=1,
        summaries=1,
        differences=1,
        log=1,
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_named(assess: Assess, name: str) -> None:
    assess(DAMAGES[name])
