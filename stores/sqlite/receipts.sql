-- The receipts of operations, in the SQLite store's database and in the file store's journal.

-- name: find
-- The receipt of an operation.
SELECT fingerprint, version, existed, abandoned FROM receipts WHERE operation_id = ?

-- name: keep
-- Write the receipt of an operation.
INSERT INTO receipts (
    operation_id, fingerprint, workflow_id, run_id, version, existed, abandoned, kept_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: older
-- Receipts up to a time, oldest first.
SELECT operation_id, workflow_id, run_id FROM receipts
WHERE kept_at <= ?
ORDER BY kept_at

-- name: drop
-- Forget an operation.
DELETE FROM receipts WHERE operation_id = ?
