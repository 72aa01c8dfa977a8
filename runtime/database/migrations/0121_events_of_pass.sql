-- each environment, concurrently
-- The timeline of a pass on the dashboard: the changes that the pass itself does not record. The first identifier of a pass in an
-- event's text is that of its subject.
CREATE INDEX events_of_pass ON events (tenant_id, (substring(body from '"id":"(pass_[0-9a-z]{26})"')), created, id) WHERE type IN ('pass.installed', 'pass.uninstalled', 'pass.updated');
