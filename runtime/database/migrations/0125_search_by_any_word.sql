-- each environment, concurrently
-- For the dashboard's search, which 0098 began: words between the first and the last of names, and the last digits of cards.
-- Few names have four words or more, so most of these indexes contain few rows.

CREATE INDEX passes_by_second_word ON passes (tenant_id, (lower(substring(holder_name FROM '^(?:\S+\s+){1}(\S+\s+\S.*)$')) COLLATE "C"))
  WHERE substring(holder_name FROM '^(?:\S+\s+){1}(\S+\s+\S.*)$') IS NOT NULL;
CREATE INDEX passes_by_third_word ON passes (tenant_id, (lower(substring(holder_name FROM '^(?:\S+\s+){2}(\S+\s+\S.*)$')) COLLATE "C"))
  WHERE substring(holder_name FROM '^(?:\S+\s+){2}(\S+\s+\S.*)$') IS NOT NULL;
CREATE INDEX passes_by_fourth_word ON passes (tenant_id, (lower(substring(holder_name FROM '^(?:\S+\s+){3}(\S+\s+\S.*)$')) COLLATE "C"))
  WHERE substring(holder_name FROM '^(?:\S+\s+){3}(\S+\s+\S.*)$') IS NOT NULL;
CREATE INDEX cardholders_by_second_word ON cardholders (tenant_id, (lower(substring(name FROM '^(?:\S+\s+){1}(\S+\s+\S.*)$')) COLLATE "C"))
  WHERE substring(name FROM '^(?:\S+\s+){1}(\S+\s+\S.*)$') IS NOT NULL;
CREATE INDEX cardholders_by_third_word ON cardholders (tenant_id, (lower(substring(name FROM '^(?:\S+\s+){2}(\S+\s+\S.*)$')) COLLATE "C"))
  WHERE substring(name FROM '^(?:\S+\s+){2}(\S+\s+\S.*)$') IS NOT NULL;
CREATE INDEX cardholders_by_fourth_word ON cardholders (tenant_id, (lower(substring(name FROM '^(?:\S+\s+){3}(\S+\s+\S.*)$')) COLLATE "C"))
  WHERE substring(name FROM '^(?:\S+\s+){3}(\S+\s+\S.*)$') IS NOT NULL;
CREATE INDEX cards_by_last4 ON cards (tenant_id, last4, id);
