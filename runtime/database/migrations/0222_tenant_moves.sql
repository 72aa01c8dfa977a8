-- once: control
-- Tenants that move between installations, as each of the two sees them.

CREATE TABLE control.tenant_moves (
  -- A tenant that arrives has no other rows yet.
  tenant_id text COLLATE "C" PRIMARY KEY,
  -- The source: copying (open), fenced (no writes), moved (closed). The target: arriving (closed), arrived (open).
  state text NOT NULL CHECK (state IN ('copying', 'fenced', 'moved', 'arriving', 'arrived')),
  -- The run of the command that acts now. Steps of an earlier run fail.
  run uuid NOT NULL,
  -- Whether the tenant was here before it arrived. If the move is given up, it is again one that has moved away.
  returns boolean NOT NULL DEFAULT false,
  -- Where callers find the account, for the answers of the source.
  hint text,
  -- The run that found source and target the same. Only this target may open the tenant that has left the source.
  left_by uuid,
  -- What a fence takes away from the spaces: the source restores it, or the target opens them with it.
  kept json,
  updated timestamptz(3) NOT NULL
);
