-- each environment
-- When the holder turned messages off; null if they are on.

ALTER TABLE passes ADD COLUMN messages_opted_out_at timestamptz(3);
