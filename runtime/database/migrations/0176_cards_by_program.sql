-- each environment, concurrently
-- For promotions of spending controls, which lock the cards of a program.

CREATE INDEX cards_by_program ON cards (tenant_id, card_program_id, id) WHERE card_program_id IS NOT NULL;
