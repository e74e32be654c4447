-- The functions that change memory stores and entries.
-- oldest release: 0.1.0
--
-- Errors they raise beside those of 0002: DM006 exists already   DM007 no such store or entry
-- DM008 done in a store that is gone
--
-- They follow `mutate_v1`, whose comment says why each step stands where it does, and add:
--   * the store. A mutation holds its store's advisory lock, shared; `delete_memory_store_v1` takes
--     it alone. So a deletion waits for the mutations under way, and one that comes later sees, in
--     a statement of its own, that the store is gone. A row lock on the store would do the
--     same, but every write of an entry would then write the store's row. Two stores whose names
--     hash alike only wait for each other;
--   * the index. Terms, vector and queue change in the entry's transaction, under its row's lock;
--   * isolation. The statements that look after a wait must see what was waited for. Where a
--     caller's connection is stricter than READ COMMITTED the functions refuse with 40001 before
--     they do anything, and the client repeats the call in a transaction that is not.
-- Locks are taken in the order receipt, store, documents by id, their index rows. `forget` takes
-- several documents, so does storing of vectors, and both by ascending id.

CREATE FUNCTION durable_memory.begin_entry_mutation_v1(p_deadline timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the function needs READ COMMITTED' USING ERRCODE = '40001';
    END IF;
    PERFORM durable_memory.commit_durably_v1();
    IF p_deadline IS NOT NULL THEN
        PERFORM set_config('lock_timeout', least(greatest(ceil(
            extract(epoch FROM p_deadline - clock_timestamp()) * 1000), 1), 2147483647)::text,
            true);
    END IF;
END $$;

-- Claim an operation. Returns NULL when it is new, else its receipt.
CREATE FUNCTION durable_memory.claim_operation_v1(
    p_operation_id text, p_fingerprint text, p_workflow_id text, p_run_id text
) RETURNS durable_memory.receipts
LANGUAGE plpgsql AS $$
DECLARE
    receipt durable_memory.receipts;
BEGIN
    IF p_operation_id IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO durable_memory.receipts (operation_id, fingerprint, workflow_id, run_id)
    VALUES (p_operation_id, p_fingerprint, p_workflow_id, p_run_id)
    ON CONFLICT (operation_id) DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    receipt := durable_memory.receipt_v1(p_operation_id, p_fingerprint);
    IF receipt.abandoned THEN
        RAISE EXCEPTION 'the operation was abandoned' USING ERRCODE = 'DM003';
    END IF;
    RETURN receipt;
END $$;

-- Refuse the receipt of an operation that was applied in a memory store that was deleted since,
-- where the caller works in one that was made in its place: told that it was done, a caller would
-- believe that it is there; done once more, a late retry would bring back what was deleted.
CREATE FUNCTION durable_memory.refuse_earlier_v1(
    p_receipt durable_memory.receipts, p_incarnation bigint
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_receipt.incarnation <> p_incarnation THEN
        RAISE EXCEPTION 'done in a memory store that is gone' USING ERRCODE = 'DM008';
    END IF;
END $$;

CREATE FUNCTION durable_memory.refuse_late_v1(p_deadline timestamptz) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
BEGIN
    IF moment >= p_deadline THEN
        RAISE EXCEPTION 'the deadline has passed' USING ERRCODE = 'DM004';
    END IF;
    RETURN moment;
END $$;

-- Hold a memory store as it is until the end of the transaction; the number is "dmem" in ASCII.
-- p_incarnation is that in which the caller was found to have a right, NULL for any: a store that
-- was deleted and made again is another one's.
CREATE FUNCTION durable_memory.hold_memory_store_v1(p_store text, p_incarnation bigint)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1684890989, hashtext(p_store));
    PERFORM FROM durable_memory.memory_stores s
    WHERE s.id = p_store AND s.incarnation = coalesce(p_incarnation, s.incarnation);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such memory store' USING ERRCODE = 'DM007';
    END IF;
END $$;

-- Delete a memory store with all that is in it, and say whether there was one.
CREATE FUNCTION durable_memory.delete_memory_store_v1(
    p_store text, p_incarnation bigint, OUT existed boolean
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM durable_memory.begin_entry_mutation_v1(NULL);
    PERFORM pg_advisory_xact_lock(1684890989, hashtext(p_store));
    DELETE FROM durable_memory.memory_stores s
    WHERE s.id = p_store AND s.incarnation = coalesce(p_incarnation, s.incarnation);
    existed := FOUND;
    IF NOT existed THEN
        RETURN;
    END IF;
    WITH gone AS (
        DELETE FROM durable_memory.documents d WHERE d.store = p_store RETURNING d.id
    )
    DELETE FROM durable_memory.history h USING gone WHERE h.document_id = gone.id;
    DELETE FROM durable_memory.entry_terms t WHERE t.store = p_store;
    DELETE FROM durable_memory.entry_vectors v WHERE v.store = p_store;
    DELETE FROM durable_memory.entry_embeddings q WHERE q.store = p_store;
END $$;

-- The index follows a document that was written. Of content and description, terms that are NULL
-- stay as they are; p_join tells whether p_terms is added to those of the content or replaces them.
CREATE FUNCTION durable_memory.index_entry_v1(
    p_document_id bigint, p_store text, p_actor text, p_session text, p_path text,
    p_version bigint, p_join boolean,
    p_terms tsvector, p_length integer,
    p_description_terms tsvector, p_description_length integer
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    -- Terms are bounded for each text; a text that grows is bounded here. See MAX_TERMS_PER_TEXT.
    most CONSTANT integer := 20000;
    old durable_memory.entry_terms;
    kept tsvector := '';
    kept_length integer := 0;
BEGIN
    IF p_join OR p_terms IS NULL OR p_description_terms IS NULL THEN
        SELECT * INTO old FROM durable_memory.entry_terms t
        WHERE t.store = p_store AND t.actor = p_actor AND t.session = p_session AND t.path = p_path;
    END IF;
    IF p_description_terms IS NULL THEN
        p_description_terms := coalesce(old.description_terms, '');
        p_description_length := coalesce(old.description_length, 0);
    END IF;
    IF (p_join OR p_terms IS NULL) AND old.document_id IS NOT NULL THEN
        kept := ts_filter(old.terms, '{d}');
        kept_length := old.length - old.description_length;
    END IF;
    IF p_terms IS NOT NULL AND length(kept) < most THEN
        kept := kept || p_terms;
    END IF;
    INSERT INTO durable_memory.entry_terms AS t (
        document_id, store, actor, session, path,
        length, description_length, terms, description_terms)
    VALUES (
        p_document_id, p_store, p_actor, p_session, p_path,
        kept_length + coalesce(p_length, 0) + p_description_length, p_description_length,
        kept || setweight(p_description_terms, 'B'), p_description_terms)
    ON CONFLICT (store, actor, session, path) DO UPDATE
    SET document_id = excluded.document_id,
        length = excluded.length,
        description_length = excluded.description_length,
        terms = excluded.terms,
        description_terms = excluded.description_terms;
    DELETE FROM durable_memory.entry_vectors v
    WHERE v.store = p_store AND v.actor = p_actor AND v.document_id = p_document_id;
    INSERT INTO durable_memory.entry_embeddings (document_id, store, version)
    VALUES (p_document_id, p_store, p_version)
    ON CONFLICT (document_id) DO UPDATE
    SET version = excluded.version, attempts = 0, due_at = clock_timestamp();
END $$;

-- The index lets go of a document that was deleted.
CREATE FUNCTION durable_memory.forget_entry_index_v1(
    p_document_id bigint, p_store text, p_actor text, p_session text, p_path text
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM durable_memory.entry_terms t
    WHERE t.store = p_store AND t.actor = p_actor AND t.session = p_session AND t.path = p_path;
    DELETE FROM durable_memory.entry_vectors v
    WHERE v.store = p_store AND v.actor = p_actor AND v.document_id = p_document_id;
    DELETE FROM durable_memory.entry_embeddings q WHERE q.document_id = p_document_id;
END $$;

-- Change an entry. p_kind is
--   create   make it, if there is none
--   put      make p_content its content; creates
--   append   add p_content as lines at its end; creates
--   update   change what is not NULL, by its id
--   delete   delete it, by its id
-- and p_expected is the version it must have, NULL for any. p_description NULL keeps what is there.
CREATE FUNCTION durable_memory.mutate_entry_v1(
    p_kind text,
    p_store text, p_actor text, p_session text, p_path text, p_entry_id text,
    p_expected bigint, p_content text, p_description text, p_max_chars integer,
    p_source_type text, p_origin text,
    p_terms tsvector, p_length integer,
    p_description_terms tsvector, p_description_length integer,
    p_operation_id text, p_fingerprint text, p_workflow_id text, p_run_id text,
    p_deadline timestamptz, p_incarnation bigint,
    OUT document_id bigint, OUT version bigint, OUT replayed boolean, OUT existed boolean,
    OUT entry_ids text[], OUT actor text, OUT session text, OUT path text,
    OUT content text, OUT description text, OUT created_at timestamptz, OUT updated_at timestamptz
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    by_id CONSTANT boolean := p_kind IN ('update', 'delete');
    deletes CONSTANT boolean := p_kind = 'delete';
    receipt durable_memory.receipts;
    target durable_memory.documents;
    before text;
    at integer := 0;
    removed text := '';
    added text := '';
    after text;
    tail integer;
    moment timestamptz;
    public_id text;
BEGIN
    PERFORM durable_memory.begin_entry_mutation_v1(p_deadline);
    receipt := durable_memory.claim_operation_v1(
        p_operation_id, p_fingerprint, p_workflow_id, p_run_id);
    replayed := receipt.operation_id IS NOT NULL;
    IF replayed THEN
        PERFORM durable_memory.refuse_earlier_v1(receipt, p_incarnation);
        document_id := receipt.document_id;
        version := receipt.version;
        existed := receipt.existed;
        entry_ids := receipt.entry_ids;
        RETURN;
    END IF;
    PERFORM durable_memory.refuse_late_v1(p_deadline);
    PERFORM durable_memory.hold_memory_store_v1(p_store, p_incarnation);

    IF by_id THEN
        -- Read again after a wait: a row that was deleted meanwhile has another id, or none.
        SELECT d.* INTO target FROM durable_memory.documents d
        WHERE d.store = p_store AND d.entry_id = p_entry_id
        FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'no such entry' USING ERRCODE = 'DM007';
        END IF;
    ELSE
        LOOP
            SELECT d.* INTO target FROM durable_memory.documents d
            WHERE d.store = p_store AND d.actor = p_actor AND d.session = p_session
                AND d.path = p_path
            FOR NO KEY UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO durable_memory.documents (store, actor, session, path, spellable, version)
            VALUES (p_store, p_actor, p_session, p_path, false, 0)
            ON CONFLICT (store, actor, session, path) DO NOTHING;
        END LOOP;
    END IF;

    moment := durable_memory.refuse_late_v1(p_deadline);
    existed := target.content IS NOT NULL;
    IF p_expected IS NOT NULL
        AND (CASE WHEN existed THEN target.version END) IS DISTINCT FROM p_expected
    THEN
        RAISE EXCEPTION 'another version' USING ERRCODE = 'DM001';
    END IF;
    IF p_kind = 'create' AND existed THEN
        RAISE EXCEPTION 'the entry exists' USING ERRCODE = 'DM006';
    END IF;

    before := coalesce(target.content, '');
    after := before;
    IF p_kind = 'append' THEN
        at := coalesce(target.chars, 0);
        added := durable_memory.append_addition_v1(before, p_content);
        after := before || added;
        IF length(after) > p_max_chars THEN
            RAISE EXCEPTION 'the document would be too large' USING ERRCODE = 'DM005';
        END IF;
    ELSIF deletes THEN
        removed := before;
        after := '';
    ELSIF p_content IS NOT NULL THEN
        at := durable_memory.shared_prefix_v1(before, p_content);
        removed := substr(before, at + 1);
        added := substr(p_content, at + 1);
        tail := durable_memory.shared_suffix_v1(removed, added);
        removed := left(removed, length(removed) - tail);
        added := left(added, length(added) - tail);
        after := p_content;
    END IF;

    public_id := coalesce(
        CASE WHEN existed THEN target.entry_id END,
        p_entry_id,
        replace(gen_random_uuid()::text, '-', ''));
    UPDATE durable_memory.documents d
    SET content = CASE WHEN NOT deletes THEN after END,
        description = CASE WHEN NOT deletes THEN coalesce(
            p_description, CASE WHEN existed THEN target.description END, '') END,
        version = nextval('durable_memory.versions'),
        chars = CASE WHEN deletes THEN 0 ELSE length(after) END,
        entry_id = CASE WHEN NOT deletes THEN public_id END,
        source_type = p_source_type,
        origin = p_origin,
        created_at = CASE WHEN existed THEN d.created_at ELSE moment END,
        updated_at = moment
    WHERE d.id = target.id
    RETURNING d.version, d.actor, d.session, d.path, d.description, d.created_at
    INTO STRICT target.version, actor, session, path, description, created_at;
    INSERT INTO durable_memory.history (
        document_id, version, existed_before, exists_after, at, removed, added,
        operation_id, workflow_id, run_id, written_at, description, source_type, origin,
        entry_created_at)
    VALUES (
        target.id, target.version, existed, NOT deletes, at, removed, added,
        p_operation_id, p_workflow_id, p_run_id, moment, coalesce(description, ''),
        p_source_type, p_origin, created_at);
    IF deletes THEN
        PERFORM durable_memory.forget_entry_index_v1(target.id, p_store, actor, session, path);
    ELSE
        PERFORM durable_memory.index_entry_v1(
            target.id, p_store, actor, session, path, target.version, p_kind = 'append',
            p_terms, p_length, p_description_terms, p_description_length);
    END IF;

    document_id := target.id;
    version := CASE WHEN NOT deletes THEN target.version END;
    entry_ids := ARRAY[public_id];
    updated_at := moment;
    IF p_kind = 'append' OR p_content IS NULL AND NOT deletes THEN
        content := after; -- what the caller does not know
    END IF;
    IF p_operation_id IS NOT NULL THEN
        UPDATE durable_memory.receipts r
        SET document_id = target.id,
            version = mutate_entry_v1.version,
            existed = mutate_entry_v1.existed,
            entry_ids = mutate_entry_v1.entry_ids,
            incarnation = p_incarnation
        WHERE r.operation_id = p_operation_id;
    END IF;
END $$;

-- Delete every session's entry at one path of one actor.
CREATE FUNCTION durable_memory.forget_entries_v1(
    p_store text, p_actor text, p_path text,
    p_source_type text, p_origin text,
    p_operation_id text, p_fingerprint text, p_workflow_id text, p_run_id text,
    p_deadline timestamptz, p_incarnation bigint,
    OUT version bigint, OUT replayed boolean, OUT existed boolean, OUT entry_ids text[]
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    receipt durable_memory.receipts;
    target durable_memory.documents;
    moment timestamptz;
    drawn bigint;
BEGIN
    PERFORM durable_memory.begin_entry_mutation_v1(p_deadline);
    receipt := durable_memory.claim_operation_v1(
        p_operation_id, p_fingerprint, p_workflow_id, p_run_id);
    replayed := receipt.operation_id IS NOT NULL;
    IF replayed THEN
        PERFORM durable_memory.refuse_earlier_v1(receipt, p_incarnation);
        existed := receipt.existed;
        entry_ids := receipt.entry_ids;
        RETURN;
    END IF;
    PERFORM durable_memory.refuse_late_v1(p_deadline);
    PERFORM durable_memory.hold_memory_store_v1(p_store, p_incarnation);
    entry_ids := '{}';
    -- All of them are locked before the first is changed.
    PERFORM FROM durable_memory.documents d
    WHERE d.store = p_store AND d.actor = p_actor AND d.path = p_path AND d.entry_id IS NOT NULL
    ORDER BY d.id
    FOR NO KEY UPDATE;
    moment := durable_memory.refuse_late_v1(p_deadline);
    FOR target IN
        SELECT d.* FROM durable_memory.documents d
        WHERE d.store = p_store AND d.actor = p_actor AND d.path = p_path
            AND d.entry_id IS NOT NULL
        ORDER BY d.id
        FOR NO KEY UPDATE
    LOOP
        UPDATE durable_memory.documents d
        SET content = NULL, description = NULL, chars = 0, entry_id = NULL,
            version = nextval('durable_memory.versions'),
            source_type = p_source_type, origin = p_origin, updated_at = moment
        WHERE d.id = target.id
        RETURNING d.version INTO STRICT drawn;
        INSERT INTO durable_memory.history (
            document_id, version, existed_before, exists_after, at, removed, added,
            operation_id, workflow_id, run_id, written_at, description, source_type, origin,
            entry_created_at)
        VALUES (
            target.id, drawn, true, false, 0, target.content, '',
            p_operation_id, p_workflow_id, p_run_id, moment, '', p_source_type, p_origin,
            target.created_at);
        PERFORM durable_memory.forget_entry_index_v1(
            target.id, p_store, p_actor, target.session, p_path);
        entry_ids := entry_ids || target.entry_id;
    END LOOP;
    existed := cardinality(entry_ids) > 0;
    IF p_operation_id IS NOT NULL THEN
        UPDATE durable_memory.receipts r
        SET existed = forget_entries_v1.existed,
            entry_ids = forget_entries_v1.entry_ids,
            incarnation = p_incarnation
        WHERE r.operation_id = p_operation_id;
    END IF;
END $$;

-- Take entries that wait for an embedder; a claim that is not kept comes up again, each time later.
-- What waits for a version that its document no longer has is dropped. The rows are locked in one
-- statement and compared in the next: whoever changes a document changes its row here too, so the
-- statement that sees the row sees the document that goes with it.
CREATE FUNCTION durable_memory.claim_embeddings_v1(
    p_limit integer, p_lease interval, p_chars integer
) RETURNS TABLE (document_id bigint, version bigint, path text, content text, description text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    due bigint[];
BEGIN
    PERFORM durable_memory.begin_entry_mutation_v1(NULL);
    due := ARRAY(
        SELECT q.document_id FROM durable_memory.entry_embeddings q
        WHERE q.due_at <= clock_timestamp()
        ORDER BY q.due_at
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED);
    DELETE FROM durable_memory.entry_embeddings q
    WHERE q.document_id = ANY (due) AND NOT EXISTS (
        SELECT FROM durable_memory.documents d
        WHERE d.id = q.document_id AND d.version = q.version AND d.entry_id IS NOT NULL);
    RETURN QUERY
        WITH claimed AS (
            UPDATE durable_memory.entry_embeddings q
            SET due_at = clock_timestamp() + p_lease * power(2, least(q.attempts, 8)),
                attempts = q.attempts + 1
            WHERE q.document_id = ANY (due)
            RETURNING q.document_id
        )
        SELECT d.id, d.version, d.path, left(d.content, p_chars), d.description
        FROM claimed c JOIN durable_memory.documents d ON d.id = c.document_id
        ORDER BY d.id;
END $$;

-- Keep the vectors of those documents that still have the version that was embedded; say of how
-- many. A mutation that is under way is waited for, and then wins.
CREATE FUNCTION durable_memory.store_vectors_v1(
    p_embedder text, p_document_ids bigint[], p_versions bigint[],
    p_signatures text[], p_components text[], OUT stored integer
) LANGUAGE plpgsql AS $$
DECLARE
    given record;
    target durable_memory.documents;
BEGIN
    PERFORM durable_memory.begin_entry_mutation_v1(NULL);
    stored := 0;
    FOR given IN
        SELECT * FROM unnest(p_document_ids, p_versions, p_signatures, p_components)
            AS g (document_id, version, signature, components)
        ORDER BY document_id
    LOOP
        SELECT d.* INTO target FROM durable_memory.documents d
        WHERE d.id = given.document_id AND d.version = given.version AND d.entry_id IS NOT NULL
        FOR SHARE;
        CONTINUE WHEN NOT FOUND;
        INSERT INTO durable_memory.entry_vectors (
            document_id, store, actor, session, path, version, embedder, signature, components)
        VALUES (
            target.id, target.store, target.actor, target.session, target.path, target.version,
            p_embedder, given.signature::varbit, given.components::smallint[])
        ON CONFLICT (store, actor, document_id) DO UPDATE
        SET version = excluded.version, embedder = excluded.embedder,
            signature = excluded.signature, components = excluded.components;
        DELETE FROM durable_memory.entry_embeddings q
        WHERE q.document_id = target.id AND q.version = target.version;
        stored := stored + 1;
    END LOOP;
END $$;
