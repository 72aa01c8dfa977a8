-- each environment
-- Requests write events only; workers plan the attempts to deliver them, in the order of the tenant's sequence.

-- Who is to be notified: `subscribed` endpoints, `only` the named one, or all enabled `others`, but the named one.
-- Null: the attempts were written together with the event, by a version of the service that still did so.
ALTER TABLE events ADD COLUMN audience text, ADD COLUMN audience_endpoint_id text COLLATE "C";

-- Up to which number of the tenant's sequence attempts have been planned.
-- From the beginning for those that there are: workers pass over events whose attempts were written with them.
ALTER TABLE webhook_senders ADD COLUMN planned bigint NOT NULL DEFAULT 0;

-- Where the sequence ended when the endpoint was made: it gets events with higher numbers. Null: made by a version that
-- did not write it; what was emitted since its creation, then.
ALTER TABLE webhook_endpoints ADD COLUMN since bigint;

-- Of an attempt that the schedule was still to make when it was asked for by hand: when it is due by the schedule, to which
-- it returns when it fails.
ALTER TABLE webhook_ready ADD COLUMN resume_at timestamptz(3);
