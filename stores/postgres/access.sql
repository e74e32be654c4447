-- Statements of tokens and grants. Values are always parameters.

-- name: add_token
-- Keep a new token.
INSERT INTO durable_memory.tokens (id, digest, principal, admin)
VALUES ($1, $2, $3, $4)
RETURNING id

-- name: find_token
-- A token that is not revoked.
SELECT id, digest, principal, admin, created_at, revoked_at
FROM durable_memory.tokens
WHERE id = $1 AND revoked_at IS NULL

-- name: list_tokens
-- All tokens, oldest first.
SELECT id, digest, principal, admin, created_at, revoked_at
FROM durable_memory.tokens
ORDER BY created_at, id

-- name: revoke_token
-- End a token.
WITH ended AS (
    UPDATE durable_memory.tokens SET revoked_at = clock_timestamp()
    WHERE id = $1 AND revoked_at IS NULL
    RETURNING id
)
SELECT count(*) > 0 AS done FROM ended

-- name: signing_key
-- The key that all processes sign page tokens with.
SELECT key FROM durable_memory.signing_keys WHERE name = 'pages'

-- name: access
-- Whether a principal made a memory store, and what it was granted there; no row for no store.
SELECT s.creator = $2 AS creator, g.permission, s.incarnation
FROM durable_memory.memory_stores s
LEFT JOIN durable_memory.grants g ON g.store = s.id AND g.principal = $2
WHERE s.id = $1

-- name: grant
-- Add a grant to a memory store, if there is one; READ leaves a WRITE that was there.
WITH given AS (
    INSERT INTO durable_memory.grants AS g (store, principal, permission)
    SELECT s.id, $2, $3 FROM durable_memory.memory_stores s
    WHERE s.id = $1 AND s.incarnation = coalesce($4::bigint, s.incarnation)
    -- A deletion under way is waited for; after it there is nothing to grant.
    FOR KEY SHARE
    ON CONFLICT (store, principal) DO UPDATE
    SET permission = greatest(g.permission, excluded.permission)
    RETURNING store
)
SELECT count(*) > 0 AS done FROM given

-- name: revoke
-- Take all that was granted to a principal on one memory store.
WITH taken AS (
    DELETE FROM durable_memory.grants WHERE store = $1 AND principal = $2
        AND ($3::bigint IS NULL OR EXISTS (
            SELECT FROM durable_memory.memory_stores m WHERE m.id = $1 AND m.incarnation = $3))
    RETURNING store
)
SELECT count(*) > 0 AS done FROM taken

-- name: list_grants
-- Grants of one memory store, in order of principals.
SELECT principal, permission
FROM durable_memory.grants
WHERE store = $1 AND principal > $2
    AND ($4::bigint IS NULL OR EXISTS (
        SELECT FROM durable_memory.memory_stores m WHERE m.id = $1 AND m.incarnation = $4))
ORDER BY principal
LIMIT $3
