-- each environment
-- Order by key: an ordered endpoint can get the events of one object one at a time, and those of different objects at the same time.

ALTER TABLE webhook_endpoints
  ADD COLUMN fifo_key text CHECK (fifo_key IN ('endpoint', 'object')) NOT NULL DEFAULT 'endpoint';

-- Events that an endpoint with the key `object` still has to get. `settled` of the endpoint is the last event that was read into this
-- table.
CREATE TABLE webhook_held_events (
  tenant_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  -- The object that the event is about. Empty: an event about something without an id.
  key text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  -- held: an earlier event of the key goes first. queued: the first of its key, which has an attempt. skipped: given up.
  state text NOT NULL CHECK (state IN ('held', 'queued', 'skipped')),
  PRIMARY KEY (tenant_id, key, endpoint_id, sequence)
);
CREATE UNIQUE INDEX webhook_held_events_first ON webhook_held_events (tenant_id, endpoint_id, event_id) WHERE state <> 'held';

-- Events that block an ordered endpoint, or a key of it, and were announced by an event.
CREATE TABLE webhook_blocks (
  tenant_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  -- Null: the endpoint as a whole.
  key text COLLATE "C",
  since timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, endpoint_id, event_id)
);
