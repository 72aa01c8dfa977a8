-- each environment
-- What reconciliation with the network needs to know of lines that a clearing or a refund wrote. Null on older lines.

ALTER TABLE settlement_lines
  -- Older lines have the one rate.
  ADD COLUMN interchange_category text COLLATE "C",
  -- Cents, on the card_transaction line of a clearing: the interchange that the clearing earned. Its interchange line can
  -- differ by what earlier refunds return of it.
  ADD COLUMN interchange_earned bigint,
  -- The network's business day.
  ADD COLUMN network_date date;
