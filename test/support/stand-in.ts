/**
 * Replaces Citus in a PostgreSQL without it: a function and a catalog with the names of Citus record the calls, and
 * reject what Citus rejects.
 */
export const STAND_IN = `
  CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY, partkey text, colocation serial, rows bigint);
  CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text,
      distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default') RETURNS void LANGUAGE plpgsql AS $$
  DECLARE many bigint;
  BEGIN
    IF EXISTS (SELECT FROM pg_constraint f WHERE f.conrelid = table_name AND f.contype = 'f'
                  AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = f.confrelid)) THEN
      RAISE 'referenced table must be a distributed table';
    END IF;
    EXECUTE format('SELECT count(*) FROM %s', table_name) INTO many;
    INSERT INTO pg_dist_partition (logicalrelid, partkey, rows) VALUES (table_name, distribution_column, many);
    IF colocate_with <> 'none' THEN
      UPDATE pg_dist_partition d SET colocation = g.colocation FROM pg_dist_partition g
       WHERE d.logicalrelid = table_name AND g.logicalrelid = colocate_with::regclass;
    END IF;
  END $$;
  CREATE FUNCTION citus_add_local_table_to_metadata(table_name regclass) RETURNS void LANGUAGE sql AS
    'INSERT INTO pg_dist_partition (logicalrelid, rows) VALUES (table_name, 0)'`
