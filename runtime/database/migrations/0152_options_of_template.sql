-- each environment
-- Optional content of templates: languages and what only some wallets show (`PassOptions`). A node of an older release
-- does not write the column, so its updates keep what is stored.

ALTER TABLE pass_templates ADD COLUMN options json NOT NULL DEFAULT '{}';
