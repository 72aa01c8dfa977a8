-- each environment
-- Messages to the holders of passes.

CREATE TABLE pass_messages (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  pass_id text COLLATE "C" NOT NULL,
  pass_message_batch_id text COLLATE "C",
  header text NOT NULL,
  body text NOT NULL,
  translations json NOT NULL,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  status text NOT NULL CHECK (status IN ('queued', 'sent', 'skipped')),
  reason text,
  sent_at timestamptz(3),
  -- When a worker must send the message or, once it is sent, must remove it from the pass. Null if nothing is left to do.
  next_at timestamptz(3),
  -- Whether wallets show the message.
  is_shown boolean NOT NULL DEFAULT false,
  -- Whether Google Wallet must still get the message.
  is_due_at_google boolean NOT NULL DEFAULT false,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX pass_messages_by_time ON pass_messages (tenant_id, created, id);
CREATE INDEX pass_messages_by_pass ON pass_messages (tenant_id, pass_id, created, id);
CREATE INDEX pass_messages_by_batch ON pass_messages (tenant_id, pass_message_batch_id, status, created, id);
CREATE INDEX pass_messages_by_status ON pass_messages (tenant_id, status, created, id);
CREATE INDEX pass_messages_sent ON pass_messages (tenant_id, pass_id, sent_at) WHERE sent_at > '-infinity';
CREATE INDEX pass_messages_due_at_google ON pass_messages (tenant_id, pass_id) WHERE is_due_at_google;
-- Two indexes, so that a large batch does not delay single messages.
CREATE INDEX pass_messages_due ON pass_messages (next_at) WHERE pass_message_batch_id IS NULL AND next_at > '-infinity';
CREATE INDEX pass_messages_due_in_batch ON pass_messages (next_at) WHERE pass_message_batch_id IS NOT NULL AND next_at > '-infinity';

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE pass_messages ALTER COLUMN tenant_id SET (n_distinct = 20);
