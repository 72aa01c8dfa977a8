-- each environment, concurrently
-- For reconciliation, which is of all tenants at once.

CREATE INDEX settlement_lines_by_network_date ON settlement_lines (network_date, tenant_id) WHERE network_date IS NOT NULL;
