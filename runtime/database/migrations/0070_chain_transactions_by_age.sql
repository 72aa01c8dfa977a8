-- once: control, concurrently
-- Payments that are done with are found by their age.
CREATE INDEX chain_transactions_by_age ON chain_transactions (signed_at);
