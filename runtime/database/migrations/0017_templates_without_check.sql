-- each environment
-- Only wipes delete templates, after the passes. No index serves the check of this key, because those by template are of
-- shown or of archived passes: for each template that went, the whole table of passes was read. Whoever issues passes
-- locks their templates.
-- contract: 0009_wipes

ALTER TABLE passes DROP CONSTRAINT passes_tenant_id_template_id_fkey;
