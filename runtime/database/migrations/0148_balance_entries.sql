-- each environment, concurrently
-- Entries of the balances that the API lists, by kind and by what caused them. The expressions are those of the list.
CREATE INDEX ledger_entries_by_kind ON ledger_entries (tenant_id, account_id, ((CASE left(cause, 3)
  WHEN 'ctx' THEN CASE WHEN amount < 0 THEN 'card_transaction' ELSE 'card_refund' END
  WHEN 'len' THEN 'funding'
  WHEN 'po_' THEN CASE WHEN amount < 0 THEN 'payout' ELSE 'payout_reversal' END
  ELSE CASE split_part(cause, '/', 2) WHEN 'interchange' THEN 'interchange' WHEN 'network_fees' THEN 'network_fee'
    WHEN 'disputes' THEN 'dispute' WHEN 'shortfall' THEN 'settlement_shortfall' ELSE 'adjustment' END
  END) COLLATE "C"), version) WHERE account_id IN ('program_funds', 'settlement_payable');
CREATE INDEX ledger_entries_by_source ON ledger_entries (tenant_id, account_id, split_part(cause, '/', 1), version)
  WHERE account_id IN ('program_funds', 'settlement_payable');
