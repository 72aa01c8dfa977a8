-- once: control
-- Which form of the console a code was used for: the same form, sent twice, is one use.

-- SHA-256 over the member's form; null: the code was used elsewhere.
ALTER TABLE control.totp_uses ADD COLUMN form_hash bytea;
