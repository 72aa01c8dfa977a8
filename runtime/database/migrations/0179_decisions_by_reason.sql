-- each environment, concurrently
-- Decisions are listed by the reason for the default action.

CREATE INDEX authorization_decisions_by_reason ON authorization_decisions (tenant_id, stand_in_reason, created, id);
