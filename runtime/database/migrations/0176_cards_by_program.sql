-- each environment, concurrently
-- For promotions of spending controls, which lock the cards of a program and look up versions of a draft.

CREATE INDEX cards_by_program ON cards (tenant_id, card_program_id, id) WHERE card_program_id IS NOT NULL;
CREATE INDEX spending_control_versions_by_number ON spending_control_versions (tenant_id, draft_id, version);
