-- The functions that change documents: one call is one transaction and one round trip.
-- oldest release: 0.1.0
--
-- Errors they raise, translated in `errors.py`:
--   DM001 another version   DM002 operation reused   DM003 operation abandoned
--   DM004 deadline passed   DM005 too large
--
-- A name ends in the version of the function: replacing one in place cannot change what it
-- returns, and the workers of the release before go on calling theirs.

-- The length of the longest beginning that two texts share, by bisection: a comparison of two
-- texts is one memcmp, while a loop over characters would cost their product.
CREATE FUNCTION durable_memory.shared_prefix_v1(p_left text, p_right text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    low integer := 0;
    high integer := least(length(p_left), length(p_right));
    middle integer;
BEGIN
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF starts_with(p_left, left(p_right, middle)) THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;

-- The length of the longest ending that two texts share.
CREATE FUNCTION durable_memory.shared_suffix_v1(p_left text, p_right text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    low integer := 0;
    high integer := least(length(p_left), length(p_right));
    middle integer;
BEGIN
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF right(p_left, middle) = right(p_right, middle) THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;

-- The line ending at the first newline of a text, NULL for none.
CREATE FUNCTION durable_memory.newline_style_v1(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    first integer := strpos(p_text, E'\n');
BEGIN
    RETURN CASE
        WHEN first = 0 THEN NULL
        WHEN first > 1 AND substr(p_text, first - 1, 1) = E'\r' THEN E'\r\n'
        ELSE E'\n'
    END;
END $$;

-- What an append adds to a text (NULL for none): the twin of `append_addition` in
-- `notebook/edits.py`, which states the rule.
CREATE FUNCTION durable_memory.append_addition_v1(p_current text, p_content text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    newline text := coalesce(
        durable_memory.newline_style_v1(p_current),
        durable_memory.newline_style_v1(p_content),
        E'\n');
    body text := rtrim(p_content, E'\r\n') || newline;
BEGIN
    IF p_current IS NULL OR p_current = '' THEN
        RETURN body;
    END IF;
    -- The last byte: right() would count the characters of the whole text, twice.
    IF get_byte(convert_to(p_current, 'UTF8'), octet_length(p_current) - 1) = 10 THEN
        RETURN body;
    END IF;
    RETURN newline || body;
END $$;

-- Have the commit wait for the disk. Where a role, a database or a pool sets synchronous_commit to
-- off, a writer would be told of a change that the server may lose in a crash, while its workflow
-- has recorded it. A stricter setting stays.
CREATE FUNCTION durable_memory.commit_durably_v1() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END $$;

-- The receipt of an operation whose claim found one.
CREATE FUNCTION durable_memory.receipt_v1(p_operation_id text, p_fingerprint text)
RETURNS durable_memory.receipts
LANGUAGE plpgsql AS $$
DECLARE
    receipt durable_memory.receipts;
BEGIN
    SELECT * INTO STRICT receipt FROM durable_memory.receipts r
    WHERE r.operation_id = p_operation_id;
    IF receipt.fingerprint <> p_fingerprint THEN
        RAISE EXCEPTION 'the operation was reused' USING ERRCODE = 'DM002';
    END IF;
    RETURN receipt;
END $$;

-- Change a document. p_kind is
--   append   add p_content as lines at the end; creates
--   remove   delete, whatever the version is
--   write    make p_content the whole content, if the version is p_expected; creates
--   splice   put p_content in the place of p_length characters at p_at, if the version is
--            p_expected; creates
--   delete   delete, if it is p_expected
-- where p_expected NULL is the version of no document. To delete what does not exist is no error:
-- it gets its receipt, and no tombstone.
--
-- It is one function since the order of its steps is what makes it right, and a call of another
-- one costs as much as a step. What holds if it stops anywhere:
--   1. lock_timeout is set from the deadline, so that a backend does not wait on after it;
--   2. the receipt is inserted. A second arrival of the operation waits here for the first, then
--      reads its receipt in a new statement, which under READ COMMITTED sees it. settle waits
--      here too;
--   3. the document's row is locked. A missing document is inserted as a tombstone first, so that
--      two creators wait for each other on the unique key;
--   4. the clock is compared with the deadline, after the last wait: a writer that its workflow
--      has given up must not land behind a newer write. now() would not do, it is the time before
--      the waits. The error rolls the receipt back with everything. It is compared before the row
--      is locked too, so that a late call is told so and does not wait;
--   5. the version is drawn in the UPDATE. Whoever draws it holds the row, so the versions and the
--      history of one document have one order;
--   6. history is appended, the receipt completed, and the end of the statement commits.
-- A crash, a lost connection or an error before the commit leaves nothing; after it, everything.
-- Each transaction takes one receipt and then one row, so two of them cannot deadlock.
-- Under REPEATABLE READ and stricter, waiting for a row that then changes raises 40001 in place of
-- reading it again; the client repeats the call under READ COMMITTED.
CREATE FUNCTION durable_memory.mutate_v1(
    p_kind text,
    p_store text, p_actor text, p_session text, p_path text, p_spellable boolean,
    p_expected bigint, p_content text, p_at integer, p_length integer, p_max_chars integer,
    p_operation_id text, p_fingerprint text, p_workflow_id text, p_run_id text,
    p_deadline timestamptz,
    OUT version bigint, OUT replayed boolean, OUT existed boolean
) LANGUAGE plpgsql AS $$
DECLARE
    deletes CONSTANT boolean := p_kind IN ('remove', 'delete');
    receipt durable_memory.receipts;
    found_id bigint;
    found_version bigint;
    before text;
    before_chars integer;
    at integer := 0;
    removed text := '';
    added text := '';
    after text;
    tail integer;
    moment timestamptz;
BEGIN
    PERFORM durable_memory.commit_durably_v1();
    IF p_deadline IS NOT NULL THEN
        PERFORM set_config('lock_timeout', least(greatest(ceil(
            extract(epoch FROM p_deadline - clock_timestamp()) * 1000), 1), 2147483647)::text,
            true);
    END IF;

    replayed := false;
    IF p_operation_id IS NOT NULL THEN
        INSERT INTO durable_memory.receipts (operation_id, fingerprint, workflow_id, run_id)
        VALUES (p_operation_id, p_fingerprint, p_workflow_id, p_run_id)
        ON CONFLICT (operation_id) DO NOTHING;
        IF NOT FOUND THEN
            receipt := durable_memory.receipt_v1(p_operation_id, p_fingerprint);
            IF receipt.abandoned THEN
                RAISE EXCEPTION 'the operation was abandoned' USING ERRCODE = 'DM003';
            END IF;
            version := receipt.version;
            replayed := true;
            existed := receipt.existed;
            RETURN;
        END IF;
    END IF;
    IF clock_timestamp() >= p_deadline THEN
        RAISE EXCEPTION 'the deadline has passed' USING ERRCODE = 'DM004';
    END IF;

    LOOP
        -- Joined to nothing, a large text is unpacked once, here, and not at each use.
        SELECT d.id, d.version, d.content || '', d.chars
        INTO found_id, found_version, before, before_chars
        FROM durable_memory.documents d
        WHERE d.store = p_store AND d.actor = p_actor AND d.session = p_session AND d.path = p_path
        FOR NO KEY UPDATE;
        EXIT WHEN FOUND OR deletes;
        INSERT INTO durable_memory.documents (store, actor, session, path, spellable, version)
        VALUES (p_store, p_actor, p_session, p_path, p_spellable, 0)
        ON CONFLICT (store, actor, session, path) DO NOTHING;
    END LOOP;

    moment := clock_timestamp();
    IF moment >= p_deadline THEN
        RAISE EXCEPTION 'the deadline has passed' USING ERRCODE = 'DM004';
    END IF;
    existed := before IS NOT NULL;
    IF p_kind IN ('write', 'splice', 'delete')
        AND (CASE WHEN existed THEN found_version END) IS DISTINCT FROM p_expected
    THEN
        RAISE EXCEPTION 'another version' USING ERRCODE = 'DM001';
    END IF;
    IF deletes AND NOT existed THEN
        RETURN;
    END IF;

    before := coalesce(before, '');
    IF p_kind = 'append' THEN
        at := before_chars;
        added := durable_memory.append_addition_v1(before, p_content);
        after := before || added;
        IF before_chars + length(added) > p_max_chars THEN
            RAISE EXCEPTION 'the document would be too large' USING ERRCODE = 'DM005';
        END IF;
    ELSIF p_kind = 'splice' THEN
        at := p_at;
        removed := substr(before, at + 1, p_length);
        added := p_content;
        after := left(before, at) || added || substr(before, at + p_length + 1);
    ELSIF p_kind = 'write' THEN
        at := durable_memory.shared_prefix_v1(before, p_content);
        removed := substr(before, at + 1);
        added := substr(p_content, at + 1);
        tail := durable_memory.shared_suffix_v1(removed, added);
        removed := left(removed, length(removed) - tail);
        added := left(added, length(added) - tail);
        after := p_content;
    ELSE
        removed := before;
    END IF;

    UPDATE durable_memory.documents d
    SET content = after,
        version = nextval('durable_memory.versions'),
        chars = before_chars - length(removed) + length(added),
        created_at = CASE WHEN existed THEN d.created_at ELSE moment END,
        updated_at = moment
    WHERE d.store = p_store AND d.actor = p_actor AND d.session = p_session AND d.path = p_path
    RETURNING d.version INTO STRICT found_version;
    INSERT INTO durable_memory.history (
        document_id, version, existed_before, exists_after, at, removed, added,
        operation_id, workflow_id, run_id, written_at)
    VALUES (
        found_id, found_version, existed, NOT deletes, at, removed, added,
        p_operation_id, p_workflow_id, p_run_id, moment);
    IF NOT deletes THEN
        version := found_version;
    END IF;
    IF p_operation_id IS NOT NULL THEN
        UPDATE durable_memory.receipts r
        SET document_id = found_id, version = mutate_v1.version, existed = mutate_v1.existed
        WHERE r.operation_id = p_operation_id;
    END IF;
END $$;

-- Close the case of an operation: its receipt, or from now on one that says it is abandoned.
-- The insert waits for an attempt that is being applied. If that commits, its receipt is the
-- answer; if it rolls back, the insert succeeds, and whoever comes later finds it.
CREATE FUNCTION durable_memory.settle_v1(
    p_operation_id text, p_fingerprint text, p_workflow_id text, p_run_id text,
    p_wait_ms integer,
    OUT version bigint, OUT replayed boolean, OUT existed boolean, OUT abandoned boolean
) LANGUAGE plpgsql AS $$
DECLARE
    receipt durable_memory.receipts;
BEGIN
    PERFORM durable_memory.commit_durably_v1();
    PERFORM set_config('lock_timeout', p_wait_ms::text, true);
    INSERT INTO durable_memory.receipts (
        operation_id, fingerprint, workflow_id, run_id, abandoned)
    VALUES (p_operation_id, p_fingerprint, p_workflow_id, p_run_id, true)
    ON CONFLICT (operation_id) DO NOTHING;
    replayed := NOT FOUND;
    receipt := durable_memory.receipt_v1(p_operation_id, p_fingerprint);
    version := receipt.version;
    existed := receipt.existed;
    abandoned := receipt.abandoned;
END $$;
