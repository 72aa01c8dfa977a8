-- each environment
-- The trace in which a payout was created, as in 0083.

ALTER TABLE chain_transfers ADD COLUMN trace text COLLATE "C";
