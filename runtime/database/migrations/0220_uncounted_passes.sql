-- each environment, concurrently
-- The tenants whose passes a worker must count.

CREATE INDEX totals_cursors_uncounted ON totals_cursors (tenant_id) WHERE passes_due IS NOT NULL;
