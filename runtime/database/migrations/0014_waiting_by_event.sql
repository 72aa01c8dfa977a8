-- each environment, concurrently
-- A delivery that succeeds by hand ends its schedule: what waits for one event at one endpoint.

CREATE INDEX webhook_waiting_by_event ON webhook_waiting (tenant_id, endpoint_id, event_id);
