-- Statements of tokens and grants. Values are always parameters. A change reads `durable`, so that
-- it waits for the disk whatever the settings say: what was revoked must not come back.

-- name: add_token
-- Keep a new token.
WITH durable AS MATERIALIZED (SELECT durable_memory.commit_durably_v1())
INSERT INTO durable_memory.tokens (id, digest, principal, admin)
SELECT $1::text, $2::bytea, $3::text, $4::boolean FROM durable
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
WITH durable AS MATERIALIZED (SELECT durable_memory.commit_durably_v1()), ended AS (
    UPDATE durable_memory.tokens SET revoked_at = clock_timestamp()
    FROM durable
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
WITH durable AS MATERIALIZED (SELECT durable_memory.commit_durably_v1()), given AS (
    INSERT INTO durable_memory.grants AS g (store, principal, permission)
    SELECT s.id, $2, $3 FROM durable, durable_memory.memory_stores s
    WHERE s.id = $1 AND s.incarnation = coalesce($4::bigint, s.incarnation)
    -- A deletion under way is waited for; after it there is nothing to grant.
    FOR KEY SHARE OF s
    ON CONFLICT (store, principal) DO UPDATE
    SET permission = CASE WHEN 'WRITE' IN (g.permission, excluded.permission)
        THEN 'WRITE' ELSE 'READ' END
    RETURNING store
)
SELECT count(*) > 0 AS done FROM given

-- name: revoke
-- Take all that was granted to a principal on one memory store.
WITH durable AS MATERIALIZED (SELECT durable_memory.commit_durably_v1()), taken AS (
    DELETE FROM durable_memory.grants USING durable
    WHERE store = $1 AND principal = $2
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
