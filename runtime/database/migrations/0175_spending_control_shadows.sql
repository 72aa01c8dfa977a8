-- each environment
-- What shadows of drafts have found, and what promotions of drafts have replaced. The flips of a shadow are in
-- spending_control_flips; their backtest_id is the shadow.

-- A row is written only while its card is locked, so authorizations of different cards do not wait for each other.
CREATE TABLE spending_control_shadow_totals (
  tenant_id text COLLATE "C" NOT NULL,
  -- The draft and its version: scd_…/2
  shadow text COLLATE "C" NOT NULL,
  card_id text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('same', 'approved_to_declined', 'declined_to_approved', 'fixed')),
  -- The reason of the decline, or what held the decision fixed; otherwise empty.
  code text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  -- Cents.
  amount bigint NOT NULL,
  PRIMARY KEY (tenant_id, shadow, card_id, outcome, code)
);

-- What a promotion that has not been rolled back replaced.
CREATE TABLE spending_control_replacements (
  tenant_id text COLLATE "C" NOT NULL,
  draft_id text COLLATE "C" NOT NULL,
  -- A card or a card program.
  target_id text COLLATE "C" NOT NULL,
  -- The version of the draft that keeps the replaced controls.
  version bigint NOT NULL,
  PRIMARY KEY (tenant_id, draft_id, target_id)
);

ALTER TABLE spending_control_versions ADD COLUMN origin text CHECK (origin IN ('replaced', 'restored'));

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE spending_control_shadow_totals ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE spending_control_replacements ALTER COLUMN tenant_id SET (n_distinct = 20);
