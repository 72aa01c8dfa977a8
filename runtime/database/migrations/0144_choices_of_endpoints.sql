-- each environment
-- What the owner of an endpoint can choose.

ALTER TABLE webhook_endpoints
  -- Signatures of its deliveries: only that of the service, or also those of Standard Webhooks.
  ADD COLUMN signature text CHECK (signature IN ('service', 'standard_webhooks')) NOT NULL DEFAULT 'service',
  -- Whether an event waits for the one before it. Attempts of such an endpoint are planned one at a time.
  ADD COLUMN delivery text CHECK (delivery IN ('unordered', 'fifo')) NOT NULL DEFAULT 'unordered',
  -- Number of the tenant's sequence up to which every event of an ordered endpoint was delivered or skipped. Null: `since`.
  ADD COLUMN settled bigint,
  -- Conditions on properties of events: [{property, equals}]. Null: none.
  ADD COLUMN filters json,
  ADD COLUMN retry_schedule text CHECK (retry_schedule IN ('standard', 'extended')) NOT NULL DEFAULT 'standard';
