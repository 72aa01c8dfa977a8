-- once: control
-- Under which origins callers reach the deployment's listeners, for processes that do not have these themselves.

CREATE TABLE control.addresses (
  listener text PRIMARY KEY CHECK (listener IN ('sandbox', 'live', 'console')),
  base_url text NOT NULL,
  -- By a setting. Otherwise where the process that serves everything listens, which gives way to settings.
  declared boolean NOT NULL
);
