-- Statements of the SQLite store. Values are always parameters.

-- name: document
-- A file, or its tombstone.
SELECT id, content, version FROM documents WHERE scope = ? AND name = ?

-- name: read
-- The beginning of a file; one character more shows that there is more.
SELECT substr(content, 1, ?) AS content, version
FROM documents
WHERE scope = ? AND name = ? AND content IS NOT NULL

-- name: create
-- Make the row of a new file.
INSERT INTO documents (scope, name, content, version, spellable) VALUES (?, ?, ?, ?, ?)
RETURNING id

-- name: update
-- Give a file another content.
UPDATE documents SET content = ?, version = ? WHERE id = ? RETURNING id

-- name: append_step
-- Note a step of a file's history.
INSERT INTO history (
    document_id, version, existed_before, exists_after, at, removed, added, operation_id,
    written_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: list_own
-- Files directly in a scope.
SELECT scope, name FROM documents
WHERE scope = ? AND content IS NOT NULL
ORDER BY name
LIMIT ?

-- name: list_nested
-- Files of the scopes in a range.
SELECT scope, name FROM documents
WHERE scope >= ? AND scope < ? AND content IS NOT NULL
ORDER BY scope, name
LIMIT ?

-- name: tail
-- The end of a file, with one character more to show that there is more.
SELECT substr(content, -?) AS tail FROM documents
WHERE scope = ? AND name = ? AND content IS NOT NULL

-- name: names
-- Names in a scope that the memory tools can spell, but for one.
SELECT name FROM documents
WHERE scope = ? AND name <> ? AND spellable AND content IS NOT NULL
ORDER BY name
LIMIT ?

-- name: contents
-- The beginnings of a scope's files that the memory tools can spell.
SELECT name, version, substr(content, 1, ?) AS content FROM documents
WHERE scope = ? AND spellable AND content IS NOT NULL
ORDER BY name
LIMIT ?

-- name: step_of
-- The place of a version in a file's history.
SELECT h.step FROM documents d JOIN history h ON h.document_id = d.id
WHERE d.scope = ? AND d.name = ? AND h.version = ?

-- name: history
-- Steps of a file before a place, newest first.
SELECT h.version, h.operation_id, h.written_at, h.existed_before, h.exists_after,
    h.at, h.removed, h.added
FROM documents d JOIN history h ON h.document_id = d.id
WHERE d.scope = ? AND d.name = ? AND h.step < ?
ORDER BY h.step DESC
LIMIT ?

-- name: steps_since
-- Steps of a file from a place on, newest first.
SELECT h.version, h.operation_id, h.written_at, h.existed_before, h.exists_after,
    h.at, h.removed, h.added
FROM documents d JOIN history h ON h.document_id = d.id
WHERE d.scope = ? AND d.name = ? AND h.step >= ?
ORDER BY h.step DESC
