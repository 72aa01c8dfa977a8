-- each environment
-- A wipe gives the tenant a new space (`tenant_id` of its rows) and leaves the old one to workers, who delete it in steps.

-- How often the tenant's sandbox was wiped; its space follows from that.
ALTER TABLE control.tenants ADD COLUMN IF NOT EXISTS sandbox_wipes integer NOT NULL DEFAULT 0;

-- The same where every write passes last: one that began in a space that was wiped meanwhile fails here.
ALTER TABLE audit_heads ADD COLUMN wipes integer NOT NULL DEFAULT 0;

-- Spaces that nobody reads or writes any more and that are not empty yet.
CREATE TABLE wiped_spaces (
  tenant_id text COLLATE "C" PRIMARY KEY,
  -- Machine time.
  wiped_at timestamptz(3) NOT NULL
);
