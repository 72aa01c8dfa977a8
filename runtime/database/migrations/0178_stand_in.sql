-- each environment
-- Up to which amount authorizations are approved while an endpoint is away, and why the default action was applied to each.

ALTER TABLE authorization_endpoints ADD COLUMN default_max_amount bigint CHECK (default_max_amount >= 0);
ALTER TABLE authorization_decisions ADD COLUMN default_max_amount bigint;
ALTER TABLE authorization_decisions ADD COLUMN stand_in_reason text
  CHECK (stand_in_reason IN ('timed_out', 'connection_failed', 'bad_status', 'bad_answer', 'interrupted'));
