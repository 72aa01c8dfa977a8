-- each environment, concurrently
-- Holds of a tenant whose settlement clock is ahead are found by its own time.
CREATE INDEX card_transactions_expiring_of ON card_transactions (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
