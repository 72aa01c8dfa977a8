-- each environment
-- Drafts of spending controls with their versions.

CREATE TABLE spending_control_drafts (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- Both are null if the draft is for all cards.
  card_id text COLLATE "C",
  card_program_id text COLLATE "C",
  status text NOT NULL CHECK (status IN ('draft', 'archived')),
  version bigint NOT NULL,
  -- In the form of programs/spending-controls.ts, as those of cards are.
  spending_controls jsonb NOT NULL,
  metadata json NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK (card_id IS NULL OR card_program_id IS NULL)
);
CREATE INDEX spending_control_drafts_by_time ON spending_control_drafts (tenant_id, created, id);
CREATE INDEX spending_control_drafts_by_status ON spending_control_drafts (tenant_id, status, created, id);

CREATE TABLE spending_control_versions (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  draft_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  spending_controls jsonb NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
-- The draft is locked while it gets a version, so its versions have different numbers.
CREATE INDEX spending_control_versions_by_draft ON spending_control_versions (tenant_id, draft_id, created, id);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE spending_control_drafts ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE spending_control_versions ALTER COLUMN tenant_id SET (n_distinct = 20);
