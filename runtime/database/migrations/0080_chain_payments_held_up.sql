-- once: control
-- Payments of any amount, and payments that wait for an operator.

ALTER TABLE control.chain_payments
  -- Base units of the token. `value` is null where a bigint cannot hold them; without units, `value` holds them.
  ADD COLUMN units numeric(38, 0) CHECK (units > 0),
  ALTER COLUMN value DROP NOT NULL,
  -- Machine time since when the payment has a problem that only an operator or a different answer of the node can end.
  ADD COLUMN held_up_since timestamptz(3),
  -- What an operator has decided: retry, paid or failed. The worker follows it and clears it.
  ADD COLUMN decision text CHECK (decision IN ('retry', 'paid', 'failed'));
ALTER TABLE control.chain_signers
  -- Why the account signs nothing new, and since when (machine time).
  ADD COLUMN problem text,
  ADD COLUMN held_up_since timestamptz(3);
