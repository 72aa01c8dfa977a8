-- each environment, concurrently
-- A settlement's sums of rare types are read from the index alone: the other types follow from its totals.
CREATE INDEX settlement_lines_rare ON settlement_lines (tenant_id, settlement_id, type) INCLUDE (amount)
  WHERE type IN ('card_refund', 'dispute', 'dispute_reversal', 'adjustment');
