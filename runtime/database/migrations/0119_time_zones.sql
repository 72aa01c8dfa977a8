-- once: control
-- The IANA time zone in which the dashboard shows times to a member. Null until the member chooses one.

ALTER TABLE control.members ADD COLUMN time_zone text COLLATE "C";
