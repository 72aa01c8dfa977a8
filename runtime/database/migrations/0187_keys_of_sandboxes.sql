-- once: control
-- Keys of named sandboxes.

-- The space that the key opens; null: the default sandbox, or live.
ALTER TABLE control.keys ADD COLUMN space text COLLATE "C";
