-- once: control
-- Sanctions lists in the order in which they came into use: everybody is held against the one with the highest number.

CREATE TABLE control.sanctions_lists (
  number integer PRIMARY KEY,
  -- Follows from the list's contents.
  version text NOT NULL,
  -- Machine time.
  since timestamptz(3) NOT NULL
);
