-- once: control
-- Filters of a list on the dashboard, saved by a member under a name.

CREATE TABLE control.saved_views (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  member_id text COLLATE "C" NOT NULL,
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  -- Path of the list below the environment.
  list text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- The numbers limit the views of a list.
  place smallint NOT NULL CHECK (place BETWEEN 1 AND 20),
  -- Query string without the question mark.
  query text NOT NULL,
  PRIMARY KEY (tenant_id, member_id, environment, list, name),
  UNIQUE (tenant_id, member_id, environment, list, place)
);
