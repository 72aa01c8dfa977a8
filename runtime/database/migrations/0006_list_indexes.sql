-- each environment, concurrently
-- Indexes that hold one list each: what a filter names, then (created, id). A list with several values, or none, merges
-- walks along the same index, so there is no index for every combination. Those of passes are partial: a row stands in
-- the ones of its side only, and no statement that looks for an identifier can take them by mistake.

CREATE INDEX passes_shown ON passes (tenant_id, created, id) WHERE archived_at IS NULL;
-- With what the status depends on: counting reads the index alone.
CREATE INDEX passes_shown_by_status ON passes (tenant_id, status, created, id) INCLUDE (expires_at)
  WHERE archived_at IS NULL;
CREATE INDEX passes_shown_by_template ON passes (tenant_id, template_id, status, created, id) INCLUDE (expires_at)
  WHERE archived_at IS NULL;
CREATE INDEX passes_archived_by_status ON passes (tenant_id, status, created, id) WHERE archived_at IS NOT NULL;
CREATE INDEX passes_archived_by_template ON passes (tenant_id, template_id, status, created, id)
  WHERE archived_at IS NOT NULL;
-- Live passes with an end: for the look at those of everybody whose time is over, and for the lists of one tenant. The
-- conditions say the same in other words, so that neither is taken for the other.
CREATE INDEX passes_ending ON passes (expires_at)
  WHERE status IN ('issued', 'installed', 'active') AND expires_at > '-infinity';
CREATE INDEX passes_ending_by_tenant ON passes (tenant_id, expires_at)
  WHERE status IN ('issued', 'installed', 'active') AND expires_at IS NOT NULL;

CREATE INDEX pass_templates_by_kind ON pass_templates (tenant_id, kind, status, created, id);

CREATE INDEX webhook_endpoints_by_status ON webhook_endpoints (tenant_id, status, created, id);

CREATE INDEX events_by_type ON events (tenant_id, type, created, id);

CREATE INDEX webhook_attempts_by_status ON webhook_attempts (tenant_id, endpoint_id, status, created, id);
CREATE INDEX webhook_attempts_by_event ON webhook_attempts (tenant_id, event_id, endpoint_id, created, id);

CREATE INDEX audit_log_by_action ON audit_log (tenant_id, action, created, id);
CREATE INDEX audit_log_by_actor ON audit_log (tenant_id, actor_id, created, id);
