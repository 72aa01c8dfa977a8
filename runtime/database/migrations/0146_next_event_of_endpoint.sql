-- each environment, concurrently
-- For the search for ordered endpoints that can get their next event.

CREATE INDEX webhook_endpoints_fifo ON webhook_endpoints (tenant_id) WHERE delivery = 'fifo';
