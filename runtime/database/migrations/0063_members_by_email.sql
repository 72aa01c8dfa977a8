-- once: control, concurrently
-- Who signs in names an e-mail address and no tenant.

CREATE INDEX members_by_email ON members (lower(email), created);
