-- each environment, concurrently
-- Holds and resolutions of a part of an hour.
CREATE INDEX ledger_holds_by_time ON ledger_holds (tenant_id, created) INCLUDE (amount);
CREATE INDEX ledger_resolutions_by_time ON ledger_resolutions (tenant_id, created) INCLUDE (hold_id);
