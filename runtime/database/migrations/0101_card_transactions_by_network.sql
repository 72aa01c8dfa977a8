-- each environment, concurrently
-- A use of a card is one transaction, however many messages arrive about it at once.

CREATE UNIQUE INDEX card_transactions_by_network ON card_transactions (tenant_id, network_id) WHERE network_id IS NOT NULL;
