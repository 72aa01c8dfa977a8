-- each environment
-- The trace in which an event was emitted (W3C Trace Context): `traceparent`, and after a space `tracestate`. Webhook attempts and
-- updates of Google Wallet continue it.

ALTER TABLE events ADD COLUMN trace text COLLATE "C";
