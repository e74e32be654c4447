-- Statements of the store. Values are always parameters.

-- name: mutate
-- Change a document.
SELECT version, replayed, existed
FROM durable_memory.mutate_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)

-- name: settle
-- Close the case of an operation.
SELECT version, replayed, existed, abandoned
FROM durable_memory.settle_v1($1, $2, $3, $4, $5)

-- name: get_operation
-- The receipt of an operation.
SELECT fingerprint, version, true AS replayed, existed, abandoned
FROM durable_memory.receipts
WHERE operation_id = $1

-- name: read
-- The beginning of a document.
SELECT left(content, $5) AS content, version, chars > $5 AS truncated
FROM durable_memory.documents
WHERE store = $1 AND actor = $2 AND session = $3 AND path = $4 AND content IS NOT NULL

-- name: read_for_edit
-- The receipt of an operation and the beginning of a document, in one row; both may be missing.
SELECT
    receipt.fingerprint, receipt.version, true AS replayed, receipt.existed, receipt.abandoned,
    document.content, document.version AS document_version
FROM (VALUES (true)) AS one (row)
LEFT JOIN durable_memory.receipts receipt ON receipt.operation_id = $6
LEFT JOIN LATERAL (
    SELECT left(content, $5) AS content, version
    FROM durable_memory.documents
    WHERE store = $1 AND actor = $2 AND session = $3 AND path = $4 AND content IS NOT NULL
) AS document ON receipt.operation_id IS NULL

-- name: list_paths
-- Documents directly below a prefix, then those nested below it: $2 is the scope of the prefix,
-- $3 and $4 are the range of the scopes below it. Bytewise, a scope comes before all that begin
-- with it.
SELECT actor, path
FROM (
    (
        SELECT actor, path
        FROM durable_memory.documents
        WHERE store = $1 AND actor = $2 AND session = '' AND content IS NOT NULL
        ORDER BY actor, session, path
        LIMIT $5
    )
    UNION ALL
    (
        SELECT actor, path
        FROM durable_memory.documents
        WHERE store = $1 AND actor >= $3 AND actor < $4 AND session = '' AND content IS NOT NULL
        ORDER BY actor, session, path
        LIMIT $5
    )
) AS found
ORDER BY actor, path
LIMIT $5

-- name: view
-- The tail of the main file of a scope, and the names beside it.
SELECT
    substr(main.content, greatest(main.chars - $4, 0) + 1) AS tail,
    coalesce(main.chars > $4, false) AS tail_truncated,
    ARRAY(
        SELECT path
        FROM durable_memory.documents
        WHERE store = $1 AND actor = $2 AND session = '' AND path <> $3
            AND spellable AND content IS NOT NULL
        ORDER BY path
        LIMIT $5
    ) AS names
FROM (VALUES (true)) AS one (row)
LEFT JOIN durable_memory.documents main
    ON main.store = $1 AND main.actor = $2 AND main.session = '' AND main.path = $3

-- name: history
-- Steps of a document, newest first.
SELECT h.version, h.operation_id, h.written_at, h.existed_before, h.exists_after,
    h.at, h.removed, h.added
FROM durable_memory.documents d
JOIN durable_memory.history h ON h.document_id = d.id
WHERE d.store = $1 AND d.actor = $2 AND d.session = $3 AND d.path = $4 AND h.version < $5
ORDER BY h.version DESC
LIMIT $6

-- name: steps_since
-- The current content and the steps of a document down to a version, newest first: those below
-- $6, at most $7.
SELECT h.version, h.operation_id, h.written_at, h.existed_before, h.exists_after,
    h.at, h.removed, h.added,
    CASE WHEN h.version = d.version THEN d.content END AS current
FROM durable_memory.documents d
JOIN durable_memory.history h ON h.document_id = d.id
WHERE d.store = $1 AND d.actor = $2 AND d.session = $3 AND d.path = $4 AND h.version >= $5
    AND h.version < $6
ORDER BY h.version DESC
LIMIT $7

-- name: sweep_receipts
-- Forget receipts at least as old as $1, but for those of the runs in $2 (workflow ids) and $3 (run
-- ids, empty for every run), at most $4. Rows that others hold are passed over.
WITH old AS MATERIALIZED (
    SELECT operation_id
    FROM durable_memory.receipts r
    WHERE created_at <= clock_timestamp() - $1::interval
        AND NOT (workflow_id <> '' AND EXISTS (
            SELECT FROM unnest($2::text[], $3::text[]) AS kept (workflow_id, run_id)
            WHERE kept.workflow_id = r.workflow_id AND kept.run_id IN ('', r.run_id)))
    LIMIT $4
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM durable_memory.receipts
    WHERE operation_id IN (SELECT operation_id FROM old)
    RETURNING operation_id
)
SELECT count(*)::integer AS swept FROM gone

-- name: server
-- What kind of server and database this is.
SELECT current_setting('server_version_num')::integer AS version,
    current_setting('server_encoding') AS encoding

-- name: has_state
-- Whether the schema was ever migrated.
SELECT to_regclass('durable_memory.meta') IS NOT NULL AS found

-- name: state
-- Which migrations were applied, and whom they serve.
SELECT schema_version, oldest_release FROM durable_memory.meta

-- name: set_state
-- Note that a migration was applied.
INSERT INTO durable_memory.meta (schema_version, oldest_release)
VALUES ($1, $2)
ON CONFLICT (one) DO UPDATE
SET schema_version = excluded.schema_version,
    oldest_release = excluded.oldest_release,
    changed_at = clock_timestamp()

-- name: bound_migration
-- Bound the waits of a migration, and nothing else about it.
SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', '0', true)

-- name: lock_schema
-- Take turns with other migrators until the end of the transaction.
SELECT pg_advisory_xact_lock($1)

-- name: search
-- Files of a scope that hold any of the terms, best first, by the formula in
-- `notebook/scoring.py`, each with the piece of its text around a match. At least one row, without
-- a path when nothing matches.
-- $1 store, $2 scope, $3 terms, $4 the terms as whole words, $5 files looked at, $6 characters of a
-- file looked at, $7 weight of names, $8 most terms, $9 matches shown, $10 characters shown
WITH listed AS MATERIALIZED (
    SELECT path, chars, row_number() OVER (ORDER BY path) <= $5 AS looked_at
    FROM durable_memory.documents
    WHERE store = $1 AND actor = $2 AND session = '' AND spellable AND content IS NOT NULL
    ORDER BY path
    LIMIT $5 + 1
), totals AS (
    SELECT count(*) FILTER (WHERE looked_at) AS files,
        count(*) > $5 OR coalesce(bool_or(chars > $6) FILTER (WHERE looked_at), false) AS cut
    FROM listed
), counted AS MATERIALIZED (
    SELECT path, place,
        (sum(whole * weight))::float8 AS whole,
        (sum((total - whole) * weight))::float8 AS part
    FROM listed
    JOIN durable_memory.documents d USING (path)
    CROSS JOIN LATERAL (
        SELECT 1 AS weight, c.*
        FROM durable_memory.count_terms_v1(durable_memory.fold_v1(left(d.content, $6)), $3, $4) c
        UNION ALL
        SELECT $7 AS weight, n.*
        FROM durable_memory.count_terms_v1(
            durable_memory.fold_v1(regexp_replace(path, '\.md$', '')), $3, $4) n
    ) AS counts
    WHERE looked_at AND d.store = $1 AND d.actor = $2 AND d.session = ''
    GROUP BY path, place
), rarities AS (
    SELECT place, ln(1 + (files - count(*) + 0.5::float8) / (count(*) + 0.5::float8)) AS rarity
    FROM counted CROSS JOIN totals
    GROUP BY place, files
), scored AS (
    SELECT path,
        round((count(*)::float8 / cardinality($3::text[]) * sum(
            rarity * CASE
                WHEN whole > 0 THEN 1 - 1 / ($8 * (whole + 1))
                ELSE 0.5 - 1 / ($8 * (part + 1))
            END ORDER BY place))::numeric, 9)::float8 AS score
    FROM counted JOIN rarities USING (place)
    GROUP BY path
), best AS (
    SELECT path, score FROM scored ORDER BY score DESC, path LIMIT $9
)
SELECT totals.files, totals.cut, (SELECT count(*) FROM scored) AS matched,
    best.path, best.score, piece.passage, piece.cut_before, piece.cut_after
FROM totals
LEFT JOIN best ON true
LEFT JOIN durable_memory.documents d
    ON d.store = $1 AND d.actor = $2 AND d.session = '' AND d.path = best.path
LEFT JOIN LATERAL durable_memory.passage_v1(left(d.content, $6), $3, $4, $10) AS piece ON true
ORDER BY best.score DESC, best.path
