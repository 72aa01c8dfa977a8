-- each environment
-- The trace in which a payout was created, as in `events.trace`.

ALTER TABLE bank_transfers ADD COLUMN trace text COLLATE "C";
