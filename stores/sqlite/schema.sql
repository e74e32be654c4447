-- The SQLite store: files, every step of theirs, and receipts.
--
-- A file is a row of its scope; text compares bytewise. Without content it is a tombstone, which
-- keeps the file's history.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    content TEXT,
    version TEXT NOT NULL,
    -- Whether the memory tools can spell the name: their rule needs Unicode's categories.
    spellable INTEGER NOT NULL,
    UNIQUE (scope, name)
);

-- A step of a file: at `at`, `removed` made way for `added`. Undoing the steps from the newest on
-- rebuilds every version. `step` gives them their order; versions are random, so that a database
-- restored from a backup never gives one out again.
CREATE TABLE history (
    step INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL,
    version TEXT NOT NULL,
    existed_before INTEGER NOT NULL,
    exists_after INTEGER NOT NULL,
    at INTEGER NOT NULL,
    removed TEXT NOT NULL,
    added TEXT NOT NULL,
    operation_id TEXT,
    written_at INTEGER NOT NULL
);

CREATE INDEX history_of_document ON history (document_id, step);
CREATE INDEX history_version ON history (document_id, version);
