/** Migrations as they are sent to Citus. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { splitForCitus } from '../../runtime/database/migrate/distributed-statements.ts'
import { MIGRATIONS } from '../../runtime/database/migrate/migration-files.ts'

test('a migration is sent to Citus statement by statement, and checks of new columns on their own', () => {
  const file = `-- each environment
-- Two; and a check.
ALTER TABLE a
  -- One; two.
  ADD COLUMN at timestamptz(3) CHECK (at > to_timestamp(0)) NOT NULL,
  ADD COLUMN b text CHECK (b IN ('c;', 'd''--e'));

DO $$ BEGIN PERFORM 1; END $$;
CREATE TABLE f (g text CHECK (g <> ''))`
  expect(splitForCitus(file).map(({ text, line }) => [line, text.replaceAll(/\s+/g, ' ')])).toEqual([
    [3, 'ALTER TABLE a ADD COLUMN at timestamptz(3) NOT NULL, ADD COLUMN b text'],
    [3, 'ALTER TABLE a ADD CONSTRAINT a_at_check CHECK (at > to_timestamp(0))'],
    [3, `ALTER TABLE a ADD CONSTRAINT a_b_check CHECK (b IN ('c;', 'd''--e'))`],
    [8, 'DO $$ BEGIN PERFORM 1; END $$'],
    [9, `CREATE TABLE f (g text CHECK (g <> ''))`],
  ])
})

test('no migration adds a column to Citus together with its check', () => {
  // Tables of `control` are not distributed, and the files before 0006 run before tables are.
  const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql') && name > '0006')
  const statements = files.flatMap((name) => splitForCitus(readFileSync(join(MIGRATIONS, name), 'utf8')))
  expect(
    statements.filter(
      ({ text }) =>
        /\bADD COLUMN\b[^;]*\b(CHECK|REFERENCES|UNIQUE)\b/.test(text) && !text.includes('control.'),
    ),
  ).toEqual([])
  expect(
    statements.filter(({ text }) => /\bADD CONSTRAINT \w+_check CHECK\b/.test(text)).length,
  ).toBeGreaterThan(5)
})
