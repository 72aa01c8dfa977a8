-- each environment
-- Requests are refused that would take the balance beyond what the documents can show. What workers book never fails by it: the
-- shortfall of a settlement.
-- contract: 0038_ledger

ALTER TABLE ledger_accounts DROP CONSTRAINT IF EXISTS ledger_accounts_bounds;
