-- Backends of this database that wait for a lock, the longest wait first.
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend'
    AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()
ORDER BY state_change
