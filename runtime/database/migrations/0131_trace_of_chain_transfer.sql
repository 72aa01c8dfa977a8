-- each environment
-- The trace in which a payout was created, as in `events.trace`.

ALTER TABLE chain_transfers ADD COLUMN trace text COLLATE "C";
