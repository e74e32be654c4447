-- Statements of the file store's journal. Values are always parameters.

-- name: version
-- The version of a file, and the state it stands for.
SELECT version, digest, modified FROM files WHERE path = ?

-- name: set_version
-- Give a file in a state its version.
INSERT INTO files (path, version, digest, modified) VALUES (?, ?, ?, ?)
ON CONFLICT (path) DO UPDATE
SET version = excluded.version, digest = excluded.digest, modified = excluded.modified

-- name: drop_version
-- Forget the version of a file that is gone.
DELETE FROM files WHERE path = ?

-- name: prepare
-- Note what is about to be done.
INSERT INTO prepared (
    path, version, digest, modified, before_digest, before_modified,
    operation_id, fingerprint, workflow_id, run_id, deadline)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: prepared
-- All that is about to be done.
SELECT * FROM prepared

-- name: prepared_of_path
-- What is about to be done to a file.
SELECT * FROM prepared WHERE path = ?

-- name: prepared_of_operation
-- What is about to be done for an operation.
SELECT * FROM prepared WHERE operation_id = ?

-- name: drop_prepared
-- Note that nothing is about to be done to a file any more.
DELETE FROM prepared WHERE path = ?
