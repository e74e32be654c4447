-- What is committed, counted beside the product's own way to its receipts: by workflow.
SELECT count(*) FROM durable_memory.receipts WHERE workflow_id = ANY($1::text[])
