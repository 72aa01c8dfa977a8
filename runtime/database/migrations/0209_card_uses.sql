-- each environment, concurrently
-- Earlier uses of a card, by merchant and by country, as card_uses_read in transactions/uses-queries.ts asks for them.

CREATE INDEX card_transactions_by_merchant ON card_transactions (tenant_id, card_id, (coalesce('id:' || (merchant->>'network_id'), 'name:' || (merchant->>'name')) COLLATE "C"), created) WHERE authorized > 0 OR cleared > 0;
CREATE INDEX card_transactions_by_country ON card_transactions (tenant_id, card_id, (merchant->>'country')) WHERE authorized > 0 OR cleared > 0;
