-- each environment
-- The messages of the card network that a transaction consists of, and messages that arrived before it.

-- The network's identifier of the card use; null for simulated uses.
ALTER TABLE card_transactions ADD COLUMN network_id text COLLATE "C";
-- In the order of arrival. Null in rows that an earlier version wrote: their history says the same.
ALTER TABLE card_transactions ADD COLUMN messages json;

-- Messages about card uses that are unknown still. They take effect when the authorization or the clearing arrives.
CREATE TABLE network_waiting (
  tenant_id text COLLATE "C" NOT NULL,
  network_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  card_id text COLLATE "C" NOT NULL,
  message json NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, network_id, message_id)
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE network_waiting ALTER COLUMN tenant_id SET (n_distinct = 20);
