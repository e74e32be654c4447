-- Statements of memory stores, entries, their search and their vectors. Values are always
-- parameters. Each names the store, and the actor where the operation has one. Those that end with
-- an incarnation find nothing in a store that was deleted and made again since; NULL is any.

-- name: create_memory_store
-- Make a memory store, if there is none of that id; a row of NULL when there is.
WITH durable AS MATERIALIZED (SELECT durable_memory.commit_durably_v1()), made AS (
    INSERT INTO durable_memory.memory_stores (id, description, creator)
    SELECT $1::text, $2::text, $3::text FROM durable
    ON CONFLICT (id) DO NOTHING
    RETURNING id, description, creator, created_at, updated_at
)
SELECT made.* FROM (VALUES (true)) AS one (row) LEFT JOIN made ON true

-- name: get_memory_store
-- A memory store.
SELECT id, description, creator, created_at, updated_at
FROM durable_memory.memory_stores
WHERE id = $1 AND incarnation = coalesce($2::bigint, incarnation)

-- name: list_memory_stores
-- Memory stores behind an id.
SELECT id, description, creator, created_at, updated_at
FROM durable_memory.memory_stores
WHERE id > $1
ORDER BY id
LIMIT $2

-- name: update_memory_store
-- Change what can be changed of a memory store; a row of NULL when there is none.
WITH durable AS MATERIALIZED (SELECT durable_memory.commit_durably_v1()), changed AS (
    UPDATE durable_memory.memory_stores
    SET description = $2, updated_at = clock_timestamp()
    FROM durable
    WHERE id = $1 AND incarnation = coalesce($3::bigint, incarnation)
    RETURNING id, description, creator, created_at, updated_at
)
SELECT changed.* FROM (VALUES (true)) AS one (row) LEFT JOIN changed ON true

-- name: delete_memory_store
-- Delete a memory store with all that is in it.
SELECT existed FROM durable_memory.delete_memory_store_v1($1, $2)

-- name: mutate_entry
-- Change an entry.
SELECT *
FROM durable_memory.mutate_entry_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text::tsvector, $14,
    $15::text::tsvector, $16, $17, $18, $19, $20, $21, $22)

-- name: forget_entries
-- Delete every session's entry at one path of one actor.
SELECT *
FROM durable_memory.forget_entries_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: get_entry_operation
-- The receipt of an operation.
SELECT fingerprint, document_id, version, true AS replayed, existed, abandoned, entry_ids
FROM durable_memory.receipts
WHERE operation_id = $1

-- name: get_entry
-- An entry by its id.
SELECT store, entry_id, actor, session, path, version,
    CASE WHEN $3 THEN content END AS content,
    description, source_type, origin, created_at, updated_at
FROM durable_memory.documents
WHERE store = $1 AND entry_id = $2
    AND ($4::bigint IS NULL OR EXISTS (
        SELECT FROM durable_memory.memory_stores m WHERE m.id = $1 AND m.incarnation = $4))

-- name: find_entry
-- An entry by its key.
SELECT store, entry_id, actor, session, path, version,
    CASE WHEN $5 THEN content END AS content,
    description, source_type, origin, created_at, updated_at
FROM durable_memory.documents
WHERE store = $1 AND actor = $2 AND session = $3 AND path = $4 AND entry_id IS NOT NULL
    AND ($6::bigint IS NULL OR EXISTS (
        SELECT FROM durable_memory.memory_stores m WHERE m.id = $1 AND m.incarnation = $6))

-- name: list_entries
-- Entries of an actor behind a place in the order of path and session. $3 is a path, $4 and $5 the
-- range of what lies below it: bytewise, that comes after the path itself, though not at once.
-- $6 is a session, $7 and $8 the place, $9 how many, $10 whether with contents.
SELECT store, entry_id, actor, session, path, version,
    CASE WHEN $10 THEN content END AS content,
    description, source_type, origin, created_at, updated_at
FROM (
    (
        SELECT d.*
        FROM durable_memory.documents d
        WHERE store = $1 AND actor = $2 AND entry_id IS NOT NULL
            AND path = $3 AND ($6::text IS NULL OR session = $6)
            AND (path, session) > ($7, $8)
        ORDER BY path, session
        LIMIT $9
    )
    UNION ALL
    (
        SELECT d.*
        FROM durable_memory.documents d
        WHERE store = $1 AND actor = $2 AND entry_id IS NOT NULL
            AND path >= $4 AND path < $5 AND ($6::text IS NULL OR session = $6)
            AND (path, session) > ($7, $8)
        ORDER BY path, session
        LIMIT $9
    )
) AS found
WHERE ($11::bigint IS NULL OR EXISTS (
        SELECT FROM durable_memory.memory_stores m WHERE m.id = $1 AND m.incarnation = $11))
ORDER BY path, session
LIMIT $9

-- name: entry_history
-- Steps of an entry, newest first; one row without a step when there is the entry and none.
SELECT h.version, h.operation_id, h.workflow_id, h.written_at, h.existed_before, h.exists_after,
    h.at, h.removed, h.added, h.description, h.source_type, h.origin
FROM durable_memory.documents d
LEFT JOIN durable_memory.history h ON h.document_id = d.id AND h.version < $3
WHERE d.store = $1 AND d.entry_id = $2
    AND ($5::bigint IS NULL OR EXISTS (
        SELECT FROM durable_memory.memory_stores m WHERE m.id = $1 AND m.incarnation = $5))
ORDER BY h.version DESC
LIMIT $4

-- name: entry_steps_since
-- An entry and its steps down to a version, newest first, by its id: those below $4, at most $5.
SELECT d.store, d.entry_id, d.actor, d.session, d.path, h.entry_created_at AS created_at,
    h.version, h.operation_id, h.workflow_id, h.written_at,
    h.existed_before, h.exists_after, h.at, h.removed, h.added, h.description, h.source_type,
    h.origin, CASE WHEN h.version = d.version THEN d.content END AS current
FROM durable_memory.documents d
JOIN durable_memory.history h ON h.document_id = d.id
WHERE d.store = $1 AND d.entry_id = $2 AND h.version >= $3 AND h.version < $4
    AND ($6::bigint IS NULL OR EXISTS (
        SELECT FROM durable_memory.memory_stores m WHERE m.id = $1 AND m.incarnation = $6))
    -- Of a version that it never had, no step is read.
    AND EXISTS (
        SELECT FROM durable_memory.history e WHERE e.document_id = d.id AND e.version = $3)
ORDER BY h.version DESC
LIMIT $5

-- name: document_steps_since
-- The same by the document that a receipt names, whether it is an entry now or not.
SELECT d.store, d.entry_id, d.actor, d.session, d.path, h.entry_created_at AS created_at,
    h.version, h.operation_id, h.workflow_id, h.written_at,
    h.existed_before, h.exists_after, h.at, h.removed, h.added, h.description, h.source_type,
    h.origin, CASE WHEN h.version = d.version THEN d.content END AS current
FROM durable_memory.documents d
JOIN durable_memory.history h ON h.document_id = d.id
WHERE d.id = $1 AND h.version >= $2 AND h.version < $3
ORDER BY h.version DESC
LIMIT $4

-- name: search_entries
-- Entries of one actor, best first, by the formula in `notebook/relevance.py`.
-- $1 store, $2 actor, $3 terms, $4 their weights, $5 session, $6 path, $7 and $8 the range below
-- it, $9 k1, $10 b, $11 embedder (NULL for none), $12 signature and $13 components of the query,
-- $14 entries compared exactly, $15 weight of words beside meaning, $16 matches, $17 whether with
-- contents, $18 incarnation, $19 occurrences of a term that are counted.
WITH asked AS MATERIALIZED (
    SELECT term, weight, ('''' || term || '''')::tsquery AS query
    FROM unnest($3::text[], $4::float8[]) AS t (term, weight)
), totals AS MATERIALIZED (
    SELECT count(*) AS entries, greatest(avg(length)::float8, 1) AS mean_length
    FROM durable_memory.entry_terms
    WHERE store = $1 AND actor = $2
), hits AS MATERIALIZED (
    -- ts_rank of a term that occurs n times is the sum of 1/i^2 up to n over that up to infinity;
    -- what is missing to 1 gives n back.
    SELECT t.document_id, t.length, a.term,
        least($19::float8, round(
            1 / (1.64493406685 * greatest(1 - ts_rank('{1,1,1,1}', t.terms, a.query), 0.01)) - 0.5
        )) AS occurrences,
        ($5::text IS NULL OR t.session = $5)
            AND (t.path = $6 OR t.path >= $7 AND t.path < $8) AS admitted
    FROM (
        -- One test for each entry first, since most entries have none of the terms.
        SELECT * FROM durable_memory.entry_terms
        WHERE store = $1 AND actor = $2
            AND terms @@ (SELECT string_agg(query::text, '|')::tsquery FROM asked)
        OFFSET 0
    ) AS t CROSS JOIN LATERAL (
        -- Entry by entry: the other way round, all entries are kept for each term, on disk.
        SELECT term, query FROM asked WHERE t.terms @@ query OFFSET 0
    ) AS a
), rarities AS MATERIALIZED (
    SELECT a.term, a.weight * ln(1 + (entries - count(h.term) + 0.5) / (count(h.term) + 0.5))
            AS rarity
    FROM asked a CROSS JOIN totals LEFT JOIN hits h USING (term)
    GROUP BY a.term, a.weight, entries
), worded AS MATERIALIZED (
    SELECT document_id,
        sum(rarity * occurrences / (occurrences
            + $9::float8 * (1 - $10::float8 + $10::float8 * length / mean_length)))
            / (SELECT greatest(sum(rarity), 1e-9) FROM rarities) AS words
    FROM hits JOIN rarities USING (term) CROSS JOIN totals
    WHERE admitted
    GROUP BY document_id
), near AS MATERIALIZED (
    SELECT v.document_id
    FROM durable_memory.entry_vectors v
    WHERE $11::text IS NOT NULL
        AND v.store = $1 AND v.actor = $2 AND v.embedder = $11
        AND length(v.signature) = length($12::text)
        AND ($5::text IS NULL OR v.session = $5)
        AND (v.path = $6 OR v.path >= $7 AND v.path < $8)
    ORDER BY bit_count(v.signature # $12::text::varbit), v.document_id
    LIMIT $14
), candidates AS (
    (
        SELECT document_id FROM worded ORDER BY words DESC, document_id
        LIMIT greatest($14::integer, $16)
    )
    UNION
    SELECT document_id FROM near
), scored AS MATERIALIZED (
    SELECT document_id,
        round((CASE
            WHEN $11::text IS NULL THEN coalesce(words, 0)
            ELSE $15::float8 * coalesce(words, 0) + coalesce(meaning, 0)
        END)::numeric, 6)::float8 AS score
    FROM candidates
    LEFT JOIN worded USING (document_id)
    LEFT JOIN LATERAL (
        SELECT sum(stored * asked) / 1073676289.0::float8 AS meaning
        FROM (
            SELECT unnest(v.components)::integer AS stored,
                unnest($13::smallint[])::integer AS asked
            FROM durable_memory.entry_vectors v
            WHERE $11::text IS NOT NULL
                AND v.store = $1 AND v.actor = $2 AND v.document_id = candidates.document_id
                AND v.embedder = $11 AND cardinality(v.components) = cardinality($13::smallint[])
        ) AS pairs
    ) AS compared ON true
)
SELECT s.score, d.store, d.entry_id, d.actor, d.session, d.path, d.version,
    CASE WHEN $17 THEN d.content END AS content,
    d.description, d.source_type, d.origin, d.created_at, d.updated_at
FROM scored s
JOIN durable_memory.documents d ON d.id = s.document_id
WHERE s.score > 0 AND d.store = $1 AND d.actor = $2 AND d.entry_id IS NOT NULL
    AND ($18::bigint IS NULL OR EXISTS (
        SELECT FROM durable_memory.memory_stores m WHERE m.id = $1 AND m.incarnation = $18))
ORDER BY s.score DESC, d.path, d.session
LIMIT $16

-- name: claim_embeddings
-- Take entries that wait for an embedder.
SELECT document_id, version, path, content, description
FROM durable_memory.claim_embeddings_v1($1, $2, $3)

-- name: store_vectors
-- Keep the vectors of those entries that still are what was embedded.
SELECT stored FROM durable_memory.store_vectors_v1($1, $2, $3, $4, $5)

-- name: queue_embeddings
-- Of a page of entries behind a document, queue those whose vector is missing or another
-- embedder's; `next` is where the next page begins, NULL on the last.
WITH page AS MATERIALIZED (
    SELECT id, store, actor, version
    FROM durable_memory.documents
    WHERE id > $2 AND entry_id IS NOT NULL
    ORDER BY id
    LIMIT $3
), queued AS (
    INSERT INTO durable_memory.entry_embeddings (document_id, store, version)
    SELECT id, store, version FROM page p
    WHERE NOT EXISTS (
            SELECT FROM durable_memory.entry_vectors v
            WHERE v.store = p.store AND v.actor = p.actor AND v.document_id = p.id
                AND v.embedder = $1)
        AND NOT EXISTS (
            SELECT FROM durable_memory.entry_embeddings q WHERE q.document_id = p.id)
    ON CONFLICT (document_id) DO NOTHING
    RETURNING document_id
)
SELECT (SELECT count(*) FROM queued)::integer AS queued,
    CASE WHEN count(*) = $3 THEN max(id) END AS next
FROM page
