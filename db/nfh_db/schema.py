"""The schema of the database: its migrations, and `schema.sql`, which they build.

Text is Unicode. Offsets are code points, token spans are token indices, and ends are exclusive.
Times are UTC in ISO 8601 with milliseconds.
"""

from contextlib import closing
from pathlib import Path

from sqlite_utils import Database, Migrations

from nfh_db.connection import Connection

KINDS = (
    "'REFERENCE','YEAR','AGE','CURRENCY','PEOPLE','TIME','OTHER','UNKNOWN',"
    "'NOT_NFH','BROKEN','NFH'"
)

FIRST_SCHEMA = (
    # People, models and rules.
    """CREATE TABLE annotator (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        type TEXT NOT NULL DEFAULT 'person' CHECK (type IN ('person', 'model', 'rule')),
        created_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE guideline (
        id INTEGER PRIMARY KEY,
        version INTEGER NOT NULL UNIQUE,
        body TEXT NOT NULL,
        annotator_id INTEGER REFERENCES annotator(id),
        created_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE setting (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # One imported file or bulk operation. Rows of a batch in state 'loading' are invisible.
    """CREATE TABLE batch (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        format TEXT NOT NULL,
        split TEXT,
        annotator_id INTEGER REFERENCES annotator(id),
        state TEXT NOT NULL CHECK (state IN ('loading', 'settling', 'ready')),
        pid INTEGER,
        rows INTEGER NOT NULL DEFAULT 0,
        report TEXT NOT NULL DEFAULT '{}',
        created_at TEXT NOT NULL,
        finished_at TEXT
    ) STRICT""",
    """CREATE UNIQUE INDEX batch_content
        ON batch(sha256, format, coalesce(annotator_id, 0)) WHERE state = 'ready'""",
    """CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        batch_id INTEGER REFERENCES batch(id)
    ) STRICT""",
    # digest: the 32 bytes of Passage.digest; as hex text its index would be twice as large.
    """CREATE TABLE passage (
        id INTEGER PRIMARY KEY,
        document_id INTEGER NOT NULL REFERENCES document(id),
        batch_id INTEGER REFERENCES batch(id),
        digest BLOB NOT NULL UNIQUE,
        text TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX passage_document ON passage(document_id)",
    "CREATE INDEX passage_batch ON passage(batch_id)",
    # In a table of its own, so that a search over all texts reads fewer pages.
    # offsets: little-endian uint32 pairs start, end. lemmas, turns: JSON arrays;
    # a turn is [number, speaker or null, first token, token after the last].
    """CREATE TABLE passage_token (
        passage_id INTEGER PRIMARY KEY REFERENCES passage(id),
        offsets BLOB NOT NULL,
        lemmas TEXT NOT NULL,
        turns TEXT NOT NULL,
        tokenizer TEXT NOT NULL
    ) STRICT""",
    # The columns from `state` on are the summary of answers and gold; see answers.py.
    # text_start, text_stop: the anchor's code points. replaced_by: the anchor that corrects it.
    """CREATE TABLE anchor (
        id INTEGER PRIMARY KEY,
        passage_id INTEGER NOT NULL REFERENCES passage(id),
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        text_start INTEGER NOT NULL,
        text_stop INTEGER NOT NULL,
        word TEXT NOT NULL,
        batch_id INTEGER REFERENCES batch(id),
        replaces INTEGER REFERENCES anchor(id),
        replaced_by INTEGER REFERENCES anchor(id),
        removed INTEGER NOT NULL DEFAULT 0,
        state TEXT NOT NULL DEFAULT 'open'
            CHECK (state IN ('open', 'answered', 'disagree', 'decided', 'stale')),
        kind TEXT,
        heads INTEGER NOT NULL DEFAULT 0,
        votes INTEGER NOT NULL DEFAULT 0,
        strongest TEXT,
        blocking TEXT NOT NULL DEFAULT '',
        notes TEXT NOT NULL DEFAULT '',
        pattern TEXT NOT NULL DEFAULT '',
        UNIQUE (passage_id, start, stop),
        CHECK (start >= 0 AND stop > start)
    ) STRICT""",
    # The queue scans anchors in passage order by the UNIQUE index above. This index is for the
    # order by word.
    "CREATE INDEX anchor_word ON anchor(word COLLATE NOCASE, passage_id, start, stop)",
    "CREATE INDEX anchor_batch ON anchor(batch_id)",
    # A row of an imported file, repeated rows included; the `nfh` export is made from it.
    # labels: the row's label as JSON: the `head` list of the released corpus, or its 0 or 1.
    """CREATE TABLE source_row (
        id INTEGER PRIMARY KEY,
        batch_id INTEGER NOT NULL REFERENCES batch(id),
        line INTEGER NOT NULL,
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        split TEXT,
        labels TEXT
    ) STRICT""",
    "CREATE UNIQUE INDEX source_row_line ON source_row(batch_id, line, anchor_id)",
    "CREATE INDEX source_row_anchor ON source_row(anchor_id)",
    "CREATE INDEX source_row_split ON source_row(split, batch_id, anchor_id)",
    # An annotator's or adjudicator's answer. A removed one is kept, with `removed` = 1.
    f"""CREATE TABLE answer (
        id INTEGER PRIMARY KEY,
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        role TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator')),
        kind TEXT NOT NULL CHECK (kind IN ({KINDS})),
        relation TEXT CHECK (relation IN ('AND', 'OR', 'UNSTATED')),
        sort TEXT CHECK (sort IN ('NUMBER', 'CODE', 'MEASURE', 'NOUN')),
        noun TEXT,
        comment TEXT NOT NULL DEFAULT '',
        seconds REAL,
        saw_model INTEGER NOT NULL DEFAULT 0,
        saw_votes INTEGER NOT NULL DEFAULT 0,
        guideline_version INTEGER,
        rule_tag TEXT,
        batch_id INTEGER REFERENCES batch(id),
        answered_at TEXT NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0,
        UNIQUE (anchor_id, annotator_id, role)
    ) STRICT""",
    "CREATE INDEX answer_annotator ON answer(annotator_id, anchor_id)",
    "CREATE INDEX answer_batch ON answer(batch_id) WHERE batch_id IS NOT NULL",
    # The answer that counts. answer_id: the adjudicator's answer, for rule 'expert'.
    f"""CREATE TABLE gold (
        anchor_id INTEGER PRIMARY KEY REFERENCES anchor(id),
        kind TEXT NOT NULL CHECK (kind IN ({KINDS})),
        relation TEXT CHECK (relation IN ('AND', 'OR', 'UNSTATED')),
        sort TEXT CHECK (sort IN ('NUMBER', 'CODE', 'MEASURE', 'NOUN')),
        noun TEXT,
        comment TEXT NOT NULL DEFAULT '',
        rule TEXT NOT NULL CHECK (rule IN ('imported', 'unanimous', 'majority', 'expert')),
        annotator_id INTEGER REFERENCES annotator(id),
        answer_id INTEGER REFERENCES answer(id),
        batch_id INTEGER REFERENCES batch(id),
        decided_at TEXT,
        removed INTEGER NOT NULL DEFAULT 0
    ) STRICT""",
    "CREATE INDEX gold_batch ON gold(batch_id) WHERE batch_id IS NOT NULL",
    # Heads of an answer or of a gold, and the mentions of each head.
    """CREATE TABLE head (
        id INTEGER PRIMARY KEY,
        answer_id INTEGER REFERENCES answer(id),
        gold_id INTEGER REFERENCES gold(anchor_id),
        position INTEGER NOT NULL,
        CHECK ((answer_id IS NULL) <> (gold_id IS NULL))
    ) STRICT""",
    "CREATE INDEX head_answer ON head(answer_id, position) WHERE answer_id IS NOT NULL",
    "CREATE INDEX head_gold ON head(gold_id, position) WHERE gold_id IS NOT NULL",
    """CREATE TABLE mention (
        head_id INTEGER NOT NULL REFERENCES head(id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        token INTEGER NOT NULL,
        origin TEXT NOT NULL CHECK (origin IN ('marked', 'added', 'removed')),
        PRIMARY KEY (head_id, position),
        CHECK (start >= 0 AND start <= token AND token < stop)
    ) STRICT, WITHOUT ROWID""",
    # A person's flag on an anchor; 'skip' postpones it.
    """CREATE TABLE flag (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        name TEXT NOT NULL CHECK (name IN ('anchor', 'ambiguous', 'guideline', 'skip')),
        batch_id INTEGER REFERENCES batch(id),
        flagged_at TEXT NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (anchor_id, annotator_id, name)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX flag_name ON flag(name, anchor_id) WHERE removed = 0",
    """CREATE TABLE assignment (
        id INTEGER PRIMARY KEY,
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        role TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator')),
        purpose TEXT NOT NULL DEFAULT 'work' CHECK (purpose IN ('work', 'check', 'audit')),
        state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'returned')),
        position INTEGER NOT NULL,
        assigned_at TEXT NOT NULL,
        finished_at TEXT,
        UNIQUE (anchor_id, annotator_id, role)
    ) STRICT""",
    "CREATE INDEX assignment_annotator ON assignment(annotator_id, state, position)",
    # The log. One undo takes back one act; its events hold the values before and after.
    """CREATE TABLE act (
        id INTEGER PRIMARY KEY,
        annotator_id INTEGER REFERENCES annotator(id),
        kind TEXT NOT NULL CHECK (kind IN ('do', 'undo', 'redo', 'import', 'settle', 'merge')),
        summary TEXT NOT NULL,
        target INTEGER REFERENCES act(id),
        undone INTEGER NOT NULL DEFAULT 0,
        batch_id INTEGER REFERENCES batch(id),
        acted_at TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX act_annotator ON act(annotator_id, undone, id)",
    """CREATE TABLE event (
        id INTEGER PRIMARY KEY,
        act_id INTEGER NOT NULL REFERENCES act(id),
        entity TEXT NOT NULL CHECK (entity IN ('answer', 'gold', 'flag', 'anchor')),
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER REFERENCES annotator(id),
        name TEXT NOT NULL DEFAULT '',
        before TEXT,
        after TEXT
    ) STRICT""",
    "CREATE INDEX event_act ON event(act_id)",
    "CREATE INDEX event_anchor ON event(anchor_id, id)",
    """CREATE TABLE model (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL CHECK (task IN ('identification', 'resolution', 'both')),
        recipe TEXT NOT NULL,
        version TEXT NOT NULL,
        path TEXT,
        digest TEXT,
        config TEXT NOT NULL DEFAULT '{}',
        metrics TEXT NOT NULL DEFAULT '{}',
        snapshot TEXT,
        state TEXT NOT NULL DEFAULT 'candidate'
            CHECK (state IN ('candidate', 'active', 'retired', 'rejected')),
        created_at TEXT NOT NULL
    ) STRICT""",
    # scores: little-endian float32, the six classes in the order of IMPLICIT_KINDS, then
    # one per token; NaN if it is not a candidate. choice: token index, or class name.
    """CREATE TABLE prediction (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        model_id INTEGER NOT NULL REFERENCES model(id),
        choice TEXT NOT NULL,
        second TEXT,
        margin REAL,
        scores BLOB NOT NULL,
        predicted_at TEXT NOT NULL,
        PRIMARY KEY (anchor_id, model_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX prediction_margin ON prediction(model_id, margin)",
    """CREATE TABLE job (
        id INTEGER PRIMARY KEY,
        task TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN
            ('queued', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
        arguments TEXT NOT NULL DEFAULT '{}',
        version INTEGER NOT NULL DEFAULT 1,
        pid INTEGER,
        pid_started TEXT,
        heartbeat TEXT,
        phase TEXT,
        done INTEGER NOT NULL DEFAULT 0,
        total INTEGER,
        metrics TEXT NOT NULL DEFAULT '{}',
        log TEXT,
        model_id INTEGER REFERENCES model(id),
        error TEXT,
        created_at TEXT NOT NULL,
        started_at TEXT,
        finished_at TEXT
    ) STRICT""",
    "CREATE INDEX job_state ON job(state, id)",
    """CREATE TABLE saved_view (
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        name TEXT NOT NULL,
        query TEXT NOT NULL,
        saved_at TEXT NOT NULL,
        PRIMARY KEY (annotator_id, name)
    ) STRICT, WITHOUT ROWID""",
    # An answer that is not yet committed. body: JSON of the editor's state.
    """CREATE TABLE draft (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        role TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator')),
        body TEXT NOT NULL,
        drafted_at TEXT NOT NULL,
        PRIMARY KEY (anchor_id, annotator_id, role)
    ) STRICT, WITHOUT ROWID""",
    # A person's last position per mode of the workbench. token: the cursor in the passage.
    """CREATE TABLE place (
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        mode TEXT NOT NULL CHECK (mode IN ('browse', 'annotate', 'adjudicate')),
        query TEXT NOT NULL,
        anchor_id INTEGER REFERENCES anchor(id),
        token INTEGER,
        left_at TEXT NOT NULL,
        PRIMARY KEY (annotator_id, mode)
    ) STRICT, WITHOUT ROWID""",
)


# Migrations: the statements of one change each, never edited after a release.
#
# A test compares what they build with `schema.sql`.

migrations = Migrations("nfh")

VOTES_THAT_COUNT = (
    # Name and time of each answer from which a rule made the gold, as JSON; "" for none.
    "ALTER TABLE gold ADD COLUMN votes TEXT NOT NULL DEFAULT ''",
    # The merge that copied an act from another database.
    "ALTER TABLE act ADD COLUMN merged_by INTEGER REFERENCES act(id)",
    # A pair of annotators whose answers differ in anything. blocking: the blocking kind, if
    # any. notes: kinds that never block, each between spaces.
    """CREATE TABLE difference (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        left_id INTEGER NOT NULL REFERENCES annotator(id),
        right_id INTEGER NOT NULL REFERENCES annotator(id),
        blocking TEXT,
        notes TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (anchor_id, left_id, right_id),
        CHECK (left_id < right_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX difference_left ON difference(left_id, blocking, anchor_id)",
    "CREATE INDEX difference_right ON difference(right_id, blocking, anchor_id)",
    # An anchor that two or more adjudicators decided. blocking: the strongest kind in which
    # they differ; NULL if they agree.
    """CREATE TABLE expert_difference (
        anchor_id INTEGER PRIMARY KEY REFERENCES anchor(id),
        blocking TEXT
    ) STRICT""",
    # No release wrote the first table of assignments. Purposes are those of
    # assignments.Purpose. expected: the gold of the time when a check or an audit was drawn, in
    # the form of the log. verdict: how the answer compares with it; NULL before. run: the call
    # that made the assignment, a time.
    "DROP TABLE assignment",
    """CREATE TABLE assignment (
        id INTEGER PRIMARY KEY,
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        role TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator')),
        purpose TEXT NOT NULL DEFAULT 'work'
            CHECK (purpose IN ('work', 'check', 'audit', 'double')),
        state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'returned')),
        position INTEGER NOT NULL,
        expected TEXT,
        verdict TEXT CHECK (verdict IN ('right', 'wrong')),
        stratum TEXT,
        run TEXT NOT NULL,
        assigned_at TEXT NOT NULL,
        finished_at TEXT,
        UNIQUE (anchor_id, annotator_id, role)
    ) STRICT""",
    "CREATE INDEX assignment_annotator ON assignment(annotator_id, state, position)",
    "CREATE INDEX assignment_purpose ON assignment(purpose, run) WHERE purpose <> 'work'",
)

IDENTIFICATION = (
    # Whether an anchor is a fused head, according to a model or the rules. rule: the name of
    # the rule that decided; of a trained model its recipe. score: above 0 for yes; NULL for
    # rules. weights: the most important features, as JSON pairs of feature and weight; "" for
    # none.
    """CREATE TABLE identification (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        model_id INTEGER NOT NULL REFERENCES model(id),
        nfh INTEGER NOT NULL CHECK (nfh IN (0, 1)),
        rule TEXT NOT NULL,
        score REAL,
        weights TEXT NOT NULL DEFAULT '',
        identified_at TEXT NOT NULL,
        PRIMARY KEY (anchor_id, model_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX identification_rule ON identification(model_id, nfh, rule)",
)

FINDING = (
    # The score of the choice, a copy from `scores`, so that queries can use it.
    "ALTER TABLE prediction ADD COLUMN confidence REAL",
    "CREATE INDEX prediction_choice ON prediction(model_id, choice)",
    "CREATE INDEX prediction_confidence ON prediction(model_id, confidence)",
    # How an annotator's answer compares with the gold of an anchor that gold decides.
    # blocking: the blocking kind; NULL if nothing blocks.
    """CREATE TABLE gold_difference (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        blocking TEXT,
        PRIMARY KEY (anchor_id, annotator_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX gold_difference_who ON gold_difference(annotator_id, blocking, anchor_id)",
    # Indexes for precedents, see similar_items.py.
    "CREATE INDEX answer_tag ON answer(rule_tag, answered_at) WHERE rule_tag IS NOT NULL",
    "CREATE INDEX gold_expert ON gold(decided_at) WHERE rule = 'expert' AND removed = 0",
)

JOBS = (
    # The kind of job: train, evaluate, predict, check, import; newer versions may add kinds.
    "ALTER TABLE job ADD COLUMN kind TEXT NOT NULL DEFAULT 'train'",
    "ALTER TABLE job ADD COLUMN asked_by TEXT NOT NULL DEFAULT ''",
    # The job for whose end, successful or not, this one waits.
    "ALTER TABLE job ADD COLUMN after_id INTEGER REFERENCES job(id)",
    # Identifies the boot of the machine and the PID namespace in which `pid` is valid.
    "ALTER TABLE job ADD COLUMN place TEXT",
    "ALTER TABLE job ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0",
    # Hash of the labels that the job uses; it reads them once, at its start.
    "ALTER TABLE job ADD COLUMN snapshot TEXT",
    # The result, as JSON.
    "ALTER TABLE job ADD COLUMN result TEXT NOT NULL DEFAULT '{}'",
    # Jobs of older versions ended with their command and cannot be resumed.
    "UPDATE job SET state = 'failed' WHERE state IN ('queued', 'interrupted')",
    # Training curves: values by name, as JSON, after a number of steps.
    """CREATE TABLE job_point (
        job_id INTEGER NOT NULL REFERENCES job(id),
        number INTEGER NOT NULL,
        done INTEGER NOT NULL,
        metrics TEXT NOT NULL,
        PRIMARY KEY (job_id, number)
    ) STRICT, WITHOUT ROWID""",
    # When a model became the active one of a task, which one it replaced, and why.
    """CREATE TABLE activation (
        id INTEGER PRIMARY KEY,
        task TEXT NOT NULL CHECK (task IN ('identification', 'resolution')),
        model_id INTEGER NOT NULL REFERENCES model(id),
        before_id INTEGER REFERENCES model(id),
        who TEXT NOT NULL DEFAULT '',
        reason TEXT NOT NULL DEFAULT '',
        job_id INTEGER REFERENCES job(id),
        at TEXT NOT NULL
    ) STRICT""",
    # The comparison with the model that was active then, as JSON; '' if there was none.
    "ALTER TABLE model ADD COLUMN verdict TEXT NOT NULL DEFAULT ''",
    # Entropy of the scores, divided by its maximum: 0 to 1. NULL if they are no probabilities.
    "ALTER TABLE prediction ADD COLUMN entropy REAL",
    "CREATE INDEX prediction_entropy ON prediction(model_id, entropy)",
    # The choice of a model that was trained without an anchor's gold, and the probability that
    # it gave to that gold. The row is deleted when the gold changes.
    """CREATE TABLE doubt (
        anchor_id INTEGER PRIMARY KEY REFERENCES anchor(id),
        job_id INTEGER NOT NULL REFERENCES job(id),
        choice TEXT NOT NULL,
        likely REAL NOT NULL,
        margin REAL NOT NULL
    ) STRICT""",
    "CREATE INDEX doubt_likely ON doubt(likely)",
    # Counts gold by kind, for the order that prefers rare kinds.
    "CREATE INDEX gold_kind ON gold(kind) WHERE removed = 0",
    # Passages that are permanently on one side of a split for training. unit: passages of one
    # unit are on the same side.
    """CREATE TABLE side (
        passage_id INTEGER PRIMARY KEY REFERENCES passage(id),
        side TEXT NOT NULL CHECK (side IN ('train', 'dev')),
        unit TEXT NOT NULL,
        dealt_at TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX side_unit ON side(unit)",
)

# Adds the flag `reject`: the annotator refused the task as shown. Other tools distinguish this
# from a skipped task. From this version on, turns may have times. SQLite cannot alter a CHECK,
# so the table is created again and copied.
FORMATS = (
    """CREATE TABLE flag_anew (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        name TEXT NOT NULL
            CHECK (name IN ('anchor', 'ambiguous', 'guideline', 'skip', 'reject')),
        batch_id INTEGER REFERENCES batch(id),
        flagged_at TEXT NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (anchor_id, annotator_id, name)
    ) STRICT, WITHOUT ROWID""",
    "INSERT INTO flag_anew SELECT * FROM flag",
    "DROP TABLE flag",
    "ALTER TABLE flag_anew RENAME TO flag",
    "CREATE INDEX flag_name ON flag(name, anchor_id) WHERE removed = 0",
)

GOLD_INDICES = (
    "CREATE INDEX gold_batch ON gold(batch_id) WHERE batch_id IS NOT NULL",
    "CREATE INDEX gold_expert ON gold(decided_at) WHERE rule = 'expert' AND removed = 0",
    "CREATE INDEX gold_kind ON gold(kind) WHERE removed = 0",
)

# Adds the rule `weighted`; the table is created again for its CHECK, as in FORMATS.
WEIGHTED_VOTES = (
    f"""CREATE TABLE gold_anew (
        anchor_id INTEGER PRIMARY KEY REFERENCES anchor(id),
        kind TEXT NOT NULL CHECK (kind IN ({KINDS})),
        relation TEXT CHECK (relation IN ('AND', 'OR', 'UNSTATED')),
        sort TEXT CHECK (sort IN ('NUMBER', 'CODE', 'MEASURE', 'NOUN')),
        noun TEXT,
        comment TEXT NOT NULL DEFAULT '',
        rule TEXT NOT NULL
            CHECK (rule IN ('imported', 'unanimous', 'majority', 'weighted', 'expert')),
        annotator_id INTEGER REFERENCES annotator(id),
        answer_id INTEGER REFERENCES answer(id),
        batch_id INTEGER REFERENCES batch(id),
        decided_at TEXT,
        removed INTEGER NOT NULL DEFAULT 0,
        votes TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    "INSERT INTO gold_anew SELECT * FROM gold",
    "DROP TABLE gold",
    "ALTER TABLE gold_anew RENAME TO gold",
    *GOLD_INDICES,
)

DATABASE_ID = """INSERT INTO setting (name, value)
VALUES ('database id', lower(hex(randomblob(16)))) ON CONFLICT (name) DO NOTHING"""

JOB_MARKS = (
    # Authenticates the whole job with a secret of the installation that queued it; "" for jobs
    # of older versions, whose origin cannot be checked.
    "ALTER TABLE job ADD COLUMN mark TEXT NOT NULL DEFAULT ''",
    # The mark is valid for this database only, whatever its path.
    DATABASE_ID,
)

# The span that an `anchor` flag proposes: tokens, the end exclusive. Both NULL if the flag only
# reports that the span is wrong.
PROPOSED_SPANS = (
    "ALTER TABLE flag ADD COLUMN start INTEGER",
    """ALTER TABLE flag ADD COLUMN stop INTEGER CHECK (
        (start IS NULL) = (stop IS NULL)
        AND (start IS NULL OR name = 'anchor' AND start >= 0 AND stop > start))""",
)


# Dropped again by TEXT_TRIGRAMS.
WORDS_DIGESTS = (
    "ALTER TABLE passage_token ADD COLUMN words_digest BLOB",
    "CREATE INDEX passage_words ON passage_token(words_digest)",
)

# The trigrams of texts narrow a search to the passages that may hold a text; `passages` fills
# the table. A file without texts needs the digests of words once, and computes them faster than
# each import can keep an index of them.
TEXT_TRIGRAMS = (
    "DROP INDEX passage_words",
    "ALTER TABLE passage_token DROP COLUMN words_digest",
    """CREATE VIRTUAL TABLE passage_text USING fts5(
        text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram')""",
)


# merged_into: who a name of the past stands for, directly. retired_at: since when a person gets
# no work.
PEOPLE = (
    "ALTER TABLE annotator ADD COLUMN merged_into INTEGER REFERENCES annotator(id)",
    "ALTER TABLE annotator ADD COLUMN retired_at TEXT",
)

# Whether answered_at is known: false for an answer of a file without times.
TIMES = ("ALTER TABLE answer ADD COLUMN timed INTEGER NOT NULL DEFAULT 1",)

# The adjudicator decided the item in a review sheet, among many others.
SHEETS = ("ALTER TABLE answer ADD COLUMN in_sheet INTEGER NOT NULL DEFAULT 0",)


# By name, in the order in which they are applied.
MIGRATIONS = {
    "m001_first_schema": FIRST_SCHEMA,
    "m002_votes_that_count": VOTES_THAT_COUNT,
    "m003_identification": IDENTIFICATION,
    "m004_finding": FINDING,
    "m005_jobs": JOBS,
    "m006_formats": FORMATS,
    "m007_job_marks": JOB_MARKS,
    "m008_proposed_spans": PROPOSED_SPANS,
    "m009_words_digests": WORDS_DIGESTS,
    "m010_text_trigrams": TEXT_TRIGRAMS,
    "m011_people": PEOPLE,
    "m012_sheets": SHEETS,
    "m013_weighted_votes": WEIGHTED_VOTES,
    "m014_unknown_times": TIMES,
}


def _register(name: str, statements: tuple[str, ...]) -> None:
    @migrations(name=name)
    def apply(db: Database) -> None:
        for statement in statements:
            db.execute(statement)


for _name, _statements in MIGRATIONS.items():
    _register(_name, _statements)


# `schema.sql`: what the migrations build. New databases are made from it: that takes a tenth
# of the time, and sqlite-utils is not loaded.
#
# Run `python -m nfh_db.schema` after adding a migration.

READ = """
SELECT sql FROM sqlite_schema
WHERE sql IS NOT NULL AND tbl_name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
ORDER BY tbl_name, type DESC, name"""

HEADING = "-- What the migrations build. Written by `python -m nfh_db.schema`."


def text() -> str:
    """Return the statements that make what the migrations make of an empty database."""
    with closing(Connection(":memory:")) as built:
        migrations.apply(Database(built, execute_plugins=False))
        statements = [row[0].strip() for row in built.execute(READ)]
    names = ",\n    ".join(f"('{name}')" for name in MIGRATIONS)
    applied = (
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)\n"
        "SELECT 'nfh', column1, strftime('%Y-%m-%d %H:%M:%f+00:00', 'now') FROM (VALUES\n"
        f"    {names})"
    )
    statements += [applied, DATABASE_ID]
    return f"{HEADING}\n\n" + "\n\n".join(f"{one};" for one in statements) + "\n"


def main() -> None:
    """Write `schema.sql` beside this file."""
    Path(__file__).with_name("schema.sql").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
