-- each environment
-- The trace of the last change that is not yet sent, as in `events.trace`.

ALTER TABLE wallet_changes ADD COLUMN trace text COLLATE "C";
ALTER TABLE wallet_updates ADD COLUMN trace text COLLATE "C";
