-- each environment, concurrently
-- A use of a card is one transaction and a token of the network one wallet token, however many messages arrive at once.

CREATE UNIQUE INDEX card_transactions_by_network ON card_transactions (tenant_id, network_id) WHERE network_id IS NOT NULL;
CREATE UNIQUE INDEX wallet_tokens_by_network ON wallet_tokens (tenant_id, network_reference)
  WHERE network_reference IS NOT NULL;
