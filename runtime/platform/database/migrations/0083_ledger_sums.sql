-- each environment
-- Sums that every number of the service can hold exactly: requests that would exceed them are refused.
ALTER TABLE ledger_accounts ADD CONSTRAINT ledger_accounts_sums
  CHECK (id NOT IN ('network_clearing', 'bank') OR abs(balance) <= 8000000000000000) NOT VALID;
