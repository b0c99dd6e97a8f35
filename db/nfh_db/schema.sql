-- What the migrations build. Written by `python -m nfh_db.schema`.

CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);

CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");

CREATE TABLE act (
        id INTEGER PRIMARY KEY,
        annotator_id INTEGER REFERENCES annotator(id),
        kind TEXT NOT NULL CHECK (kind IN ('do', 'undo', 'redo', 'import', 'settle', 'merge')),
        summary TEXT NOT NULL,
        target INTEGER REFERENCES act(id),
        undone INTEGER NOT NULL DEFAULT 0,
        batch_id INTEGER REFERENCES batch(id),
        acted_at TEXT NOT NULL
    , merged_by INTEGER REFERENCES act(id)) STRICT;

CREATE INDEX act_annotator ON act(annotator_id, undone, id);

CREATE TABLE activation (
        id INTEGER PRIMARY KEY,
        task TEXT NOT NULL CHECK (task IN ('identification', 'resolution')),
        model_id INTEGER NOT NULL REFERENCES model(id),
        before_id INTEGER REFERENCES model(id),
        who TEXT NOT NULL DEFAULT '',
        reason TEXT NOT NULL DEFAULT '',
        job_id INTEGER REFERENCES job(id),
        at TEXT NOT NULL
    ) STRICT;

CREATE TABLE anchor (
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
    ) STRICT;

CREATE INDEX anchor_batch ON anchor(batch_id);

CREATE INDEX anchor_word ON anchor(word COLLATE NOCASE, passage_id, start, stop);

CREATE TABLE annotator (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        type TEXT NOT NULL DEFAULT 'person' CHECK (type IN ('person', 'model', 'rule')),
        created_at TEXT NOT NULL
    , merged_into INTEGER REFERENCES annotator(id), retired_at TEXT) STRICT;

CREATE TABLE answer (
        id INTEGER PRIMARY KEY,
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        role TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator')),
        kind TEXT NOT NULL CHECK (kind IN ('REFERENCE','YEAR','AGE','CURRENCY','PEOPLE','TIME','OTHER','UNKNOWN','NOT_NFH','BROKEN','NFH')),
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
        removed INTEGER NOT NULL DEFAULT 0, in_sheet INTEGER NOT NULL DEFAULT 0, timed INTEGER NOT NULL DEFAULT 1,
        UNIQUE (anchor_id, annotator_id, role)
    ) STRICT;

CREATE INDEX answer_annotator ON answer(annotator_id, anchor_id);

CREATE INDEX answer_batch ON answer(batch_id) WHERE batch_id IS NOT NULL;

CREATE INDEX answer_tag ON answer(rule_tag, answered_at) WHERE rule_tag IS NOT NULL;

CREATE TABLE assignment (
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
    ) STRICT;

CREATE INDEX assignment_annotator ON assignment(annotator_id, state, position);

CREATE INDEX assignment_purpose ON assignment(purpose, run) WHERE purpose <> 'work';

CREATE TABLE batch (
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
    ) STRICT;

CREATE UNIQUE INDEX batch_content
        ON batch(sha256, format, coalesce(annotator_id, 0)) WHERE state = 'ready';

CREATE TABLE difference (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        left_id INTEGER NOT NULL REFERENCES annotator(id),
        right_id INTEGER NOT NULL REFERENCES annotator(id),
        blocking TEXT,
        notes TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (anchor_id, left_id, right_id),
        CHECK (left_id < right_id)
    ) STRICT, WITHOUT ROWID;

CREATE INDEX difference_left ON difference(left_id, blocking, anchor_id);

CREATE INDEX difference_right ON difference(right_id, blocking, anchor_id);

CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        batch_id INTEGER REFERENCES batch(id)
    ) STRICT;

CREATE TABLE doubt (
        anchor_id INTEGER PRIMARY KEY REFERENCES anchor(id),
        job_id INTEGER NOT NULL REFERENCES job(id),
        choice TEXT NOT NULL,
        likely REAL NOT NULL,
        margin REAL NOT NULL
    ) STRICT;

CREATE INDEX doubt_likely ON doubt(likely);

CREATE TABLE draft (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        role TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator')),
        body TEXT NOT NULL,
        drafted_at TEXT NOT NULL,
        PRIMARY KEY (anchor_id, annotator_id, role)
    ) STRICT, WITHOUT ROWID;

CREATE TABLE event (
        id INTEGER PRIMARY KEY,
        act_id INTEGER NOT NULL REFERENCES act(id),
        entity TEXT NOT NULL CHECK (entity IN ('answer', 'gold', 'flag', 'anchor')),
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER REFERENCES annotator(id),
        name TEXT NOT NULL DEFAULT '',
        before TEXT,
        after TEXT
    ) STRICT;

CREATE INDEX event_act ON event(act_id);

CREATE INDEX event_anchor ON event(anchor_id, id);

CREATE TABLE expert_difference (
        anchor_id INTEGER PRIMARY KEY REFERENCES anchor(id),
        blocking TEXT
    ) STRICT;

CREATE TABLE "flag" (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        name TEXT NOT NULL
            CHECK (name IN ('anchor', 'ambiguous', 'guideline', 'skip', 'reject')),
        batch_id INTEGER REFERENCES batch(id),
        flagged_at TEXT NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0, start INTEGER, stop INTEGER CHECK (
        (start IS NULL) = (stop IS NULL)
        AND (start IS NULL OR name = 'anchor' AND start >= 0 AND stop > start)),
        PRIMARY KEY (anchor_id, annotator_id, name)
    ) STRICT, WITHOUT ROWID;

CREATE INDEX flag_name ON flag(name, anchor_id) WHERE removed = 0;

CREATE TABLE "gold" (
        anchor_id INTEGER PRIMARY KEY REFERENCES anchor(id),
        kind TEXT NOT NULL CHECK (kind IN ('REFERENCE','YEAR','AGE','CURRENCY','PEOPLE','TIME','OTHER','UNKNOWN','NOT_NFH','BROKEN','NFH')),
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
    ) STRICT;

CREATE INDEX gold_batch ON gold(batch_id) WHERE batch_id IS NOT NULL;

CREATE INDEX gold_expert ON gold(decided_at) WHERE rule = 'expert' AND removed = 0;

CREATE INDEX gold_kind ON gold(kind) WHERE removed = 0;

CREATE TABLE gold_difference (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        blocking TEXT,
        PRIMARY KEY (anchor_id, annotator_id)
    ) STRICT, WITHOUT ROWID;

CREATE INDEX gold_difference_who ON gold_difference(annotator_id, blocking, anchor_id);

CREATE TABLE guideline (
        id INTEGER PRIMARY KEY,
        version INTEGER NOT NULL UNIQUE,
        body TEXT NOT NULL,
        annotator_id INTEGER REFERENCES annotator(id),
        created_at TEXT NOT NULL
    ) STRICT;

CREATE TABLE head (
        id INTEGER PRIMARY KEY,
        answer_id INTEGER REFERENCES answer(id),
        gold_id INTEGER REFERENCES gold(anchor_id),
        position INTEGER NOT NULL,
        CHECK ((answer_id IS NULL) <> (gold_id IS NULL))
    ) STRICT;

CREATE INDEX head_answer ON head(answer_id, position) WHERE answer_id IS NOT NULL;

CREATE INDEX head_gold ON head(gold_id, position) WHERE gold_id IS NOT NULL;

CREATE TABLE identification (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        model_id INTEGER NOT NULL REFERENCES model(id),
        nfh INTEGER NOT NULL CHECK (nfh IN (0, 1)),
        rule TEXT NOT NULL,
        score REAL,
        weights TEXT NOT NULL DEFAULT '',
        identified_at TEXT NOT NULL,
        PRIMARY KEY (anchor_id, model_id)
    ) STRICT, WITHOUT ROWID;

CREATE INDEX identification_rule ON identification(model_id, nfh, rule);

CREATE TABLE job (
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
    , kind TEXT NOT NULL DEFAULT 'train', asked_by TEXT NOT NULL DEFAULT '', after_id INTEGER REFERENCES job(id), place TEXT, attempts INTEGER NOT NULL DEFAULT 0, snapshot TEXT, result TEXT NOT NULL DEFAULT '{}', mark TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX job_state ON job(state, id);

CREATE TABLE job_point (
        job_id INTEGER NOT NULL REFERENCES job(id),
        number INTEGER NOT NULL,
        done INTEGER NOT NULL,
        metrics TEXT NOT NULL,
        PRIMARY KEY (job_id, number)
    ) STRICT, WITHOUT ROWID;

CREATE TABLE mention (
        head_id INTEGER NOT NULL REFERENCES head(id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        token INTEGER NOT NULL,
        origin TEXT NOT NULL CHECK (origin IN ('marked', 'added', 'removed')),
        PRIMARY KEY (head_id, position),
        CHECK (start >= 0 AND start <= token AND token < stop)
    ) STRICT, WITHOUT ROWID;

CREATE TABLE model (
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
    , verdict TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE passage (
        id INTEGER PRIMARY KEY,
        document_id INTEGER NOT NULL REFERENCES document(id),
        batch_id INTEGER REFERENCES batch(id),
        digest BLOB NOT NULL UNIQUE,
        text TEXT NOT NULL
    ) STRICT;

CREATE INDEX passage_batch ON passage(batch_id);

CREATE INDEX passage_document ON passage(document_id);

CREATE VIRTUAL TABLE passage_text USING fts5(
        text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram');

CREATE TABLE passage_token (
        passage_id INTEGER PRIMARY KEY REFERENCES passage(id),
        offsets BLOB NOT NULL,
        lemmas TEXT NOT NULL,
        turns TEXT NOT NULL,
        tokenizer TEXT NOT NULL
    ) STRICT;

CREATE TABLE place (
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        mode TEXT NOT NULL CHECK (mode IN ('browse', 'annotate', 'adjudicate')),
        query TEXT NOT NULL,
        anchor_id INTEGER REFERENCES anchor(id),
        token INTEGER,
        left_at TEXT NOT NULL,
        PRIMARY KEY (annotator_id, mode)
    ) STRICT, WITHOUT ROWID;

CREATE TABLE prediction (
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        model_id INTEGER NOT NULL REFERENCES model(id),
        choice TEXT NOT NULL,
        second TEXT,
        margin REAL,
        scores BLOB NOT NULL,
        predicted_at TEXT NOT NULL, confidence REAL, entropy REAL,
        PRIMARY KEY (anchor_id, model_id)
    ) STRICT, WITHOUT ROWID;

CREATE INDEX prediction_choice ON prediction(model_id, choice);

CREATE INDEX prediction_confidence ON prediction(model_id, confidence);

CREATE INDEX prediction_entropy ON prediction(model_id, entropy);

CREATE INDEX prediction_margin ON prediction(model_id, margin);

CREATE TABLE saved_view (
        annotator_id INTEGER NOT NULL REFERENCES annotator(id),
        name TEXT NOT NULL,
        query TEXT NOT NULL,
        saved_at TEXT NOT NULL,
        PRIMARY KEY (annotator_id, name)
    ) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

CREATE TABLE side (
        passage_id INTEGER PRIMARY KEY REFERENCES passage(id),
        side TEXT NOT NULL CHECK (side IN ('train', 'dev')),
        unit TEXT NOT NULL,
        dealt_at TEXT NOT NULL
    ) STRICT;

CREATE INDEX side_unit ON side(unit);

CREATE TABLE source_row (
        id INTEGER PRIMARY KEY,
        batch_id INTEGER NOT NULL REFERENCES batch(id),
        line INTEGER NOT NULL,
        anchor_id INTEGER NOT NULL REFERENCES anchor(id),
        split TEXT,
        labels TEXT
    ) STRICT;

CREATE INDEX source_row_anchor ON source_row(anchor_id);

CREATE UNIQUE INDEX source_row_line ON source_row(batch_id, line, anchor_id);

CREATE INDEX source_row_split ON source_row(split, batch_id, anchor_id);

INSERT INTO _sqlite_migrations (migration_set, name, applied_at)
SELECT 'nfh', column1, strftime('%Y-%m-%d %H:%M:%f+00:00', 'now') FROM (VALUES
    ('m001_first_schema'),
    ('m002_votes_that_count'),
    ('m003_identification'),
    ('m004_finding'),
    ('m005_jobs'),
    ('m006_formats'),
    ('m007_job_marks'),
    ('m008_proposed_spans'),
    ('m009_words_digests'),
    ('m010_text_trigrams'),
    ('m011_people'),
    ('m012_sheets'),
    ('m013_weighted_votes'),
    ('m014_unknown_times'));

INSERT INTO setting (name, value)
VALUES ('database id', lower(hex(randomblob(16)))) ON CONFLICT (name) DO NOTHING;
