-- Documents, their history, receipts.
-- oldest release: 0.1.0
--
-- One table serves notebooks and entries: a notebook file is a document of the store `_notebooks`
-- whose actor is the scope's key. Identity is (store, actor, session, path), '' for no session.
-- Every part is bounded in bytes, since a key that does not fit a page of the index is an error
-- that only some data shows. Keys compare bytewise, so that a prefix is a range on the primary key.

-- The schema may have been made by whoever owns the database, for a role that may not.
DO $$ BEGIN
    IF to_regnamespace('durable_memory') IS NULL THEN
        CREATE SCHEMA durable_memory;
    END IF;
END $$;

-- One row: which migrations were applied, and the oldest release that still works with them.
CREATE TABLE durable_memory.meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    schema_version integer NOT NULL,
    oldest_release text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE SEQUENCE durable_memory.versions AS bigint;

CREATE TABLE durable_memory.documents (
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    store text COLLATE "C" NOT NULL CHECK (octet_length(store) BETWEEN 1 AND 64),
    actor text COLLATE "C" NOT NULL CHECK (octet_length(actor) BETWEEN 1 AND 1000),
    session text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(session) <= 500),
    path text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 1000),
    -- NULL is a tombstone: it makes delete and re-create of one document wait for each other.
    content text COLLATE "C",
    description text COLLATE "C",
    version bigint NOT NULL,
    -- The length of content. As octet_length() does not unpack a stored value, the two tell
    -- whether it is ASCII without reading it.
    chars integer NOT NULL DEFAULT 0,
    -- Whether the memory tools can spell the name: their rule needs Unicode's categories.
    spellable boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (store, actor, session, path)
) WITH (fillfactor = 85);

-- Stored as it is: packing 60 KB for each append would take five times as long as all the rest.
ALTER TABLE durable_memory.documents ALTER COLUMN content SET STORAGE EXTERNAL;

-- A step of a document: at `at`, `removed` made way for `added`. Undoing the steps from the
-- newest on rebuilds every version. There is no foreign key: rows are written only by functions
-- that hold the document's row lock, and the check would cost each append another lock.
CREATE TABLE durable_memory.history (
    document_id bigint NOT NULL,
    version bigint NOT NULL,
    existed_before boolean NOT NULL,
    exists_after boolean NOT NULL,
    at integer NOT NULL,
    removed text COLLATE "C" NOT NULL,
    added text COLLATE "C" NOT NULL,
    operation_id text COLLATE "C",
    workflow_id text COLLATE "C" NOT NULL DEFAULT '',
    run_id text COLLATE "C" NOT NULL DEFAULT '',
    written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (document_id, version)
);

-- What an operation did. Inserted before the change, completed after it, in one transaction: a
-- receipt that another transaction can see is complete. An abandoned one has no document.
CREATE TABLE durable_memory.receipts (
    operation_id text COLLATE "C" PRIMARY KEY CHECK (octet_length(operation_id) BETWEEN 1 AND 1000),
    fingerprint text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL DEFAULT '',
    run_id text COLLATE "C" NOT NULL DEFAULT '',
    document_id bigint,
    version bigint,
    existed boolean NOT NULL DEFAULT false,
    abandoned boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 90);
