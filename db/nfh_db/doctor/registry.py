"""All checks, each with the promise that it is about, in the order in which they are made."""

from nfh_db.doctor import (
    answer_checks,
    derived_checks,
    file_checks,
    identification_checks,
    job_checks,
    log_checks,
    other_checks,
    text_checks,
    value_checks,
)
from nfh_db.doctor.finding import Check

BACKUP = "go back to a copy made by `nfh-tui backup`"
COPY = f"copy the file away and {BACKUP}"
AGAIN = "decide the item again in the workbench"
BY_HAND = f"a program other than nfh-tui wrote this: {BACKUP}"

CHECKS: tuple[Check, ...] = (
    Check(
        "sqlite",
        "SQLite is a version that does not damage a file which several programs write.",
        "install pysqlite3 0.6.1 or newer",
        file_checks.sqlite,
        of_file=True,
    ),
    Check(
        "file",
        "The file is a database of this nfh-tui's, in write-ahead-log mode.",
        COPY,
        file_checks.header,
    ),
    Check(
        "pages",
        "Every page can be read, and indexes agree with tables.",
        COPY,
        file_checks.integrity,
        of_file=True,
    ),
    Check(
        "schema",
        "Tables and indexes are those that the migrations build, and there is nothing else.",
        BY_HAND,
        file_checks.schema,
        of_file=True,
    ),
    Check(
        "values",
        "Columns hold only what their table allows.",
        BY_HAND,
        value_checks.values,
    ),
    Check(
        "references",
        "No row refers to a row that is missing.",
        BY_HAND,
        file_checks.references,
    ),
    Check(
        "passages",
        "Words lie inside the text, in order and apart, each with a lemma and in one turn.",
        BY_HAND,
        each=text_checks.passages,
    ),
    Check(
        "digests",
        "A passage is what it was when it was imported.",
        BY_HAND,
        each=text_checks.digests,
    ),
    Check(
        "anchors",
        "An anchor is one or more words of its passage, and says where and which.",
        BY_HAND,
        each=text_checks.spans,
    ),
    Check(
        "replaced",
        "A corrected anchor leads to the one that stands in its place now.",
        BY_HAND,
        each=text_checks.links,
    ),
    Check(
        "answers",
        "Each answer holds together, and its heads lie in the passage and not in the number.",
        f"answer the item again; if it is only this one, that mends it; else {BACKUP}",
        each=answer_checks.answers,
    ),
    Check(
        "gold",
        "Each gold holds together, and its heads lie in the passage and not in the number.",
        AGAIN,
        each=answer_checks.golds,
    ),
    Check(
        "rules",
        "Gold has what it counts by: its import, the expert's answer, or the votes.",
        AGAIN,
        each=answer_checks.rules,
    ),
    Check(
        "flags",
        "A span that somebody proposes lies in the passage, and is not the number's own.",
        BY_HAND,
        each=text_checks.proposals,
    ),
    Check(
        "summaries",
        "What an item's line says is what its answers and its gold say.",
        BY_HAND,
        each=derived_checks.summaries,
    ),
    Check(
        "differences",
        "The differences of two answers that are kept are those that there are.",
        BY_HAND,
        each=derived_checks.differences,
    ),
    Check(
        "assignments",
        "An assignment is done exactly if its person has answered.",
        BY_HAND,
        derived_checks.assignments,
    ),
    Check(
        "events",
        "Everything that the log says can be read.",
        BY_HAND,
        log_checks.events,
    ),
    Check(
        "log",
        "The log, replayed from its beginning, gives the present state.",
        BY_HAND,
        log_checks.replayed,
    ),
    Check(
        "acts",
        "Undo and redo are of acts that there are, and did just the opposite, or the same.",
        BY_HAND,
        log_checks.acts,
    ),
    Check(
        "imports",
        "An import, or an act on many items, is there wholly or not at all.",
        BY_HAND,
        other_checks.imports,
    ),
    Check(
        "sources",
        "The rows that a file came with are kept.",
        BY_HAND,
        other_checks.sources,
    ),
    Check(
        "drafts",
        "What somebody began can be gone on with, and kept queries can be asked.",
        "open the item: the workbench says what it cannot use, and you begin afresh",
        other_checks.drafts,
    ),
    Check(
        "predictions",
        "A prediction has a score for each class and each word.",
        "have the model predict the item again",
        other_checks.predictions,
    ),
    Check(
        "identifications",
        "Each decision of identification names its rule, and its score says the same.",
        "run `nfh-tui identify --again`",
        identification_checks.identifications,
    ),
    Check(
        "jobs",
        "What jobs say of themselves can be read and holds together, and none waits for ever.",
        BY_HAND,
        job_checks.jobs,
    ),
    Check(
        "settings",
        "What models, imports and assignments note can be read.",
        BY_HAND,
        other_checks.notes,
    ),
    Check(
        "leftovers",
        "Nothing is left over of what was taken away.",
        BY_HAND,
        other_checks.leftovers,
    ),
)
