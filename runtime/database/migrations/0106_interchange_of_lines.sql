-- each environment
-- The interchange category of lines that a clearing or a refund wrote. Null on older lines, which have the one rate.

ALTER TABLE settlement_lines
  ADD COLUMN interchange_category text COLLATE "C",
  -- Cents, on the card_transaction line of a clearing: the interchange that the clearing earned. Its interchange line can
  -- differ by what earlier refunds return of it.
  ADD COLUMN interchange_earned bigint;
