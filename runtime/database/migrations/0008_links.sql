-- each environment
-- Of a pass's link for Google Wallet only what does not follow from the pass is kept: who signed, when, and the signature.
-- Passes from before keep their whole link in google_url, which nothing writes any more.

ALTER TABLE passes ADD COLUMN google_link text, ALTER COLUMN google_url DROP NOT NULL;
