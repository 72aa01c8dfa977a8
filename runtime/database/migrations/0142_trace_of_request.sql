-- each environment
-- The trace of a request, if it was recorded.

ALTER TABLE request_log ADD COLUMN trace_id text COLLATE "C";
