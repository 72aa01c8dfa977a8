-- each environment
-- A new sandbox that is a copy starts with a snapshot of the sandbox that it is copied from, and that snapshot is restored.

-- The sandbox that the snapshot is taken of; null: the sandbox that it belongs to.
ALTER TABLE sandbox_snapshots ADD COLUMN source_id text COLLATE "C";
