-- Who may use the memory service: tokens, grants, and the key that it signs with.
-- oldest release: 0.1.0

-- Tokens are kept as digests. A revoked one stays, so that the list tells what there was.
CREATE TABLE durable_memory.tokens (
    id text COLLATE "C" PRIMARY KEY,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    principal text COLLATE "C" NOT NULL CHECK (octet_length(principal) BETWEEN 1 AND 300),
    admin boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz
);

-- They go with their memory store: one that is made again under the same id has none.
CREATE TABLE durable_memory.grants (
    store text COLLATE "C" NOT NULL
        REFERENCES durable_memory.memory_stores (id) ON DELETE CASCADE,
    principal text COLLATE "C" NOT NULL CHECK (octet_length(principal) BETWEEN 1 AND 300),
    permission text NOT NULL CHECK (permission IN ('READ', 'WRITE')),
    granted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (store, principal)
);

-- Page tokens are signed by one process and read by another. Two random UUIDs are 244 random bits.
CREATE TABLE durable_memory.signing_keys (
    name text COLLATE "C" PRIMARY KEY,
    key bytea NOT NULL
);
INSERT INTO durable_memory.signing_keys (name, key)
VALUES ('pages', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
