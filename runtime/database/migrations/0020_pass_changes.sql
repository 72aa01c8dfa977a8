-- each environment
-- When what the file of a pass shows changed last, in whole seconds, and the template's revision at that time: Last-Modified
-- follows from both and never is the same for two states of a pass. Null stands for the second of "updated".

ALTER TABLE passes ADD COLUMN changed timestamptz(0), ADD COLUMN seen_revision integer NOT NULL DEFAULT 0;
