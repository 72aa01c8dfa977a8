-- each environment, concurrently
-- For the dashboard's search: what a tenant has whose name, last word of a name or e-mail address begins with a text. In the
-- order of bytes, so that a beginning is a range. Webhook endpoints need none: a tenant has few.

CREATE INDEX cardholders_by_name ON cardholders (tenant_id, (lower(name) COLLATE "C"));
CREATE INDEX cardholders_by_last_word ON cardholders (tenant_id, (lower(substring(name FROM '\S+$')) COLLATE "C"));
CREATE INDEX cardholders_by_email ON cardholders (tenant_id, (lower(email) COLLATE "C")) WHERE email IS NOT NULL;

CREATE INDEX passes_by_holder_name ON passes (tenant_id, (lower(holder_name) COLLATE "C")) WHERE holder_name IS NOT NULL;
CREATE INDEX passes_by_holder_last_word ON passes (tenant_id, (lower(substring(holder_name FROM '\S+$')) COLLATE "C"))
  WHERE holder_name IS NOT NULL;
CREATE INDEX passes_by_holder_email ON passes (tenant_id, (lower(holder_email) COLLATE "C"))
  WHERE holder_email IS NOT NULL;

CREATE INDEX pass_templates_by_name ON pass_templates (tenant_id, (lower(name) COLLATE "C"));
CREATE INDEX card_programs_by_name ON card_programs (tenant_id, (lower(name) COLLATE "C"));
