-- Finding receipts by age, for the sweep.
-- oldest release: 0.1.0

-- Receipts lie in the order of their times, so an index of ranges of pages is enough: it costs an
-- append nothing, and does not stop its later update from staying on the page.
CREATE INDEX receipts_age ON durable_memory.receipts
USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
