-- each environment
-- Workers skip the spaces in this table. That is also what a tenant needs that moves to or from a different installation, but its
-- rows are kept.

ALTER TABLE wiped_spaces ADD COLUMN is_moving boolean NOT NULL DEFAULT false;
