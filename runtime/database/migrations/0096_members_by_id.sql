-- once: control, concurrently
-- Operators name a member and no tenant.

CREATE INDEX members_by_id ON members (id);
