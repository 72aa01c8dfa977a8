-- each environment
-- What the owner of an endpoint can choose.

ALTER TABLE webhook_endpoints
  -- Signatures of its deliveries: only that of the service, or also those of Standard Webhooks.
  ADD COLUMN signature text NOT NULL DEFAULT 'service' CHECK (signature IN ('service', 'standard_webhooks'));
