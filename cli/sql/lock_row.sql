-- Locks a notebook's file as a writer does: no store lets a caller hold its row.
SELECT id FROM durable_memory.documents
WHERE store = '_notebooks' AND actor = $1 AND session = '' AND path = $2
FOR UPDATE
