-- each environment
-- When what files of a template's passes show changed last, in whole seconds, and how often. Null stands for the second of
-- "updated".

ALTER TABLE pass_templates ADD COLUMN changed timestamptz(0), ADD COLUMN revision integer NOT NULL DEFAULT 0;
