-- each environment, concurrently
-- Numbers that are not in the directory, the oldest card first.
CREATE INDEX card_numbers_unlisted ON card_numbers (card_id, tenant_id) WHERE listed IS NOT TRUE;
