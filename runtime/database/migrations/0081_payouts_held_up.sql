-- each environment
-- Payouts that a worker cannot read, sign or send wait apart from the others, with the reason.

ALTER TABLE chain_transfers ADD COLUMN problem text;
ALTER TABLE bank_transfers
  -- Machine time since when the bank or the row gives no usable answer.
  ADD COLUMN held_up_since timestamptz(3),
  -- What an operator has decided: paid or failed. The worker follows it and clears it.
  ADD COLUMN decision text CHECK (decision IN ('paid', 'failed'));
