-- The file store's journal. The files are the content; this is what they cannot say themselves.

-- The version of a file, and the state of the file that it stands for. A file in another state was
-- changed outside, and has a version of its own.
CREATE TABLE files (
    path TEXT NOT NULL PRIMARY KEY,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    modified INTEGER NOT NULL
) WITHOUT ROWID;

-- A mutation between being decided and being noted as done: the state it was planned on, the state
-- it makes (none for a deletion), and its receipt.
CREATE TABLE prepared (
    path TEXT NOT NULL PRIMARY KEY,
    version TEXT,
    digest TEXT,
    modified INTEGER,
    before_digest TEXT,
    before_modified INTEGER,
    operation_id TEXT,
    fingerprint TEXT,
    workflow_id TEXT,
    run_id TEXT,
    deadline INTEGER
) WITHOUT ROWID;
