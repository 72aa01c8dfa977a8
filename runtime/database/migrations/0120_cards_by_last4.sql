-- each environment, concurrently
-- For the pickers of the dashboard: finds a card by its last four digits.

CREATE INDEX cards_by_last4 ON cards (tenant_id, last4, id);
