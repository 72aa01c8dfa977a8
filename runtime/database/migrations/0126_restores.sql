-- once: control
-- Timelines of the server on which this database was reconciled with the chain and the bank. A restored database follows a
-- timeline without such a row; its payouts wait until an operator reconciles it.

CREATE TABLE control.restores (
  timeline integer PRIMARY KEY,
  -- Machine time of the last restored change; null if it is unknown.
  restored_to timestamptz(3),
  restored_at timestamptz(3),
  reconciled_at timestamptz(3)
);
INSERT INTO control.restores (timeline, reconciled_at)
VALUES (('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer, now());
