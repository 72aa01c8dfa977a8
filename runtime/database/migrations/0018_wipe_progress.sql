-- each environment
-- How far workers are with a wiped space: who goes on where another was killed does not read what is deleted already.

ALTER TABLE wiped_spaces
  -- The table that is being emptied.
  ADD COLUMN emptying text COLLATE "C",
  -- Its rows up to this key are gone; null for none.
  ADD COLUMN emptied_to text COLLATE "C";
