-- each environment
-- Every write ends in the row of its tenant, so the row says which spaces of named sandboxes may be written to. A write in a space
-- that was wiped or deleted meanwhile fails there.

ALTER TABLE audit_heads ADD COLUMN open_spaces text[] NOT NULL DEFAULT '{}';
