-- Memory stores, their entries, and the index that search reads.
-- oldest release: 0.1.0
--
-- An entry is a document: versions, history and receipts are those of notebooks. What an entry has
-- beside a file is added here, and is NULL for files.

CREATE TABLE durable_memory.memory_stores (
    id text COLLATE "C" PRIMARY KEY CHECK (octet_length(id) BETWEEN 3 AND 56),
    description text NOT NULL DEFAULT '',
    creator text COLLATE "C" NOT NULL CHECK (octet_length(creator) <= 1000),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Another one for whoever makes a store of this id after it was deleted.
    incarnation bigint NOT NULL DEFAULT nextval('durable_memory.versions')
);

ALTER TABLE durable_memory.documents
    -- NULL for files, and for tombstones: a deleted entry's id finds nothing, and what is made in
    -- its place gets another one.
    ADD COLUMN entry_id text COLLATE "C" CHECK (octet_length(entry_id) BETWEEN 1 AND 64),
    ADD COLUMN source_type text COLLATE "C",
    ADD COLUMN origin text COLLATE "C" CHECK (octet_length(origin) <= 1000);
CREATE UNIQUE INDEX documents_entry_id
    ON durable_memory.documents (store, entry_id) WHERE entry_id IS NOT NULL;
-- The order of lists: across sessions, a prefix is a range of it.
CREATE INDEX documents_entry_path
    ON durable_memory.documents (store, actor, path, session) WHERE entry_id IS NOT NULL;

ALTER TABLE durable_memory.history
    ADD COLUMN description text COLLATE "C",
    ADD COLUMN source_type text COLLATE "C",
    ADD COLUMN origin text COLLATE "C",
    -- When the entry was made that this step belongs to: its key may since have another.
    ADD COLUMN entry_created_at timestamptz;

ALTER TABLE durable_memory.receipts
    ADD COLUMN entry_ids text[] COLLATE "C",
    -- Of the memory store in which it was applied, where the caller works in one.
    ADD COLUMN incarnation bigint;

-- What an entry is found by; there is a row if and only if there is the entry. Terms come from the
-- client (`notebook/terms.py`); a term has as many positions as it has occurrences, which is what
-- the database's own ranking can count. Those of the content stand first, those of the description
-- behind them with the weight B, so that either can be taken out and the other kept. One row for an
-- entry and no index on terms: a search reads the actor's rows, and does not slow down by the
-- entries of others. docs/decisions/0013-entry-index.md has what a table of (term, document) costs.
CREATE TABLE durable_memory.entry_terms (
    document_id bigint NOT NULL,
    store text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    length integer NOT NULL,
    -- The description's share of it, and its terms as they were given.
    description_length integer NOT NULL,
    terms tsvector NOT NULL,
    description_terms tsvector NOT NULL,
    PRIMARY KEY (store, actor, session, path) INCLUDE (length)
);

-- The meaning of an entry's text, as one embedder sees it. A mutation deletes it, and it is put
-- back only under the row lock of a document that still has the version that was embedded, so
-- what is here is never stale. Components are scaled to 32,767; the signature has their signs.
CREATE TABLE durable_memory.entry_vectors (
    document_id bigint NOT NULL,
    store text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    embedder text COLLATE "C" NOT NULL CHECK (octet_length(embedder) <= 200),
    signature bit varying NOT NULL,
    components smallint[] NOT NULL,
    PRIMARY KEY (store, actor, document_id)
);

-- Entries that wait for an embedder, whether there is one or not: one row each.
CREATE TABLE durable_memory.entry_embeddings (
    document_id bigint PRIMARY KEY,
    store text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    -- Not before; a claim moves it on, so that work of a worker that died comes up again.
    due_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 80);
CREATE INDEX entry_embeddings_due ON durable_memory.entry_embeddings (due_at);
