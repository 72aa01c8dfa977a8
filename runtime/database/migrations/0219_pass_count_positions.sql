-- each environment
-- How far the pass counts of a tenant go.

ALTER TABLE totals_cursors
  -- The last event that the pass counts include. Null: there are no counts.
  ADD COLUMN passes_sequence bigint,
  -- Machine time from which a worker counts the passes. Null: they are counted.
  ADD COLUMN passes_due timestamptz(3) DEFAULT '-infinity';
