-- What an operation did, or that it never will do anything. `kept_at` is in microseconds since
-- 1970 by the clock of the process that wrote it.
CREATE TABLE receipts (
    operation_id TEXT NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    version TEXT,
    existed INTEGER NOT NULL,
    abandoned INTEGER NOT NULL,
    kept_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX receipts_age ON receipts (kept_at);
