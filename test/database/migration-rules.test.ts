/** Files from 0006 on are applied while the version before serves. */
import { describe, expect, test } from 'vitest'
import { readMigrations } from '../../runtime/database/migrate/migration-files.ts'
import { faultsOf } from './migration-rules.ts'

const files = readMigrations()

test.each(files.filter(({ name }) => name >= '0006'))('$name leaves the old version alone', (file) => {
  expect(faultsOf(file, files)).toEqual([])
})

const check = (text: string, each = true) =>
  faultsOf({ name: '0012_new', text, each }, [{ name: '0007_before' }])

describe('the rules', () => {
  test.each([
    'ALTER TABLE passes DROP COLUMN google_url',
    'ALTER TABLE passes RENAME COLUMN fields TO values',
    'ALTER TABLE passes RENAME TO cards',
    'ALTER TABLE passes ALTER COLUMN status TYPE integer',
    'ALTER TABLE passes ALTER COLUMN status SET NOT NULL',
    'DROP TABLE trial_usage',
    'ALTER TABLE passes ADD COLUMN a text NOT NULL',
    'ALTER TABLE passes ADD COLUMN a timestamptz NOT NULL DEFAULT clock_timestamp()',
    'ALTER TABLE passes ADD COLUMN a uuid DEFAULT gen_random_uuid()',
    'ALTER TABLE passes ADD COLUMN a bigserial',
    'ALTER TABLE passes ADD COLUMN a text GENERATED ALWAYS AS (lower(status)) STORED',
    "ALTER TABLE passes ADD CONSTRAINT c CHECK (status <> 'x')",
    'ALTER TABLE passes ADD FOREIGN KEY (tenant_id, id) REFERENCES others (tenant_id, id)',
    'ALTER TABLE passes ADD CONSTRAINT c UNIQUE (tenant_id, page_token)',
    'CREATE INDEX i ON passes (tenant_id)',
    'CREATE UNIQUE INDEX i ON passes (tenant_id, page_token)',
    "UPDATE passes SET status = 'issued'",
    'DELETE FROM passes',
    'ALTER TABLE passes ALTER COLUMN tenant_id SET (n_distinct = 20)',
    '-- contract: 0013_later\nALTER TABLE passes DROP COLUMN google_url',
  ])('the rules of migrations refuse %s', (statement) => {
    expect(check(`-- each environment\n-- Words.\n${statement};\n`)).toHaveLength(1)
  })

  test.each([
    'ALTER TABLE passes ADD COLUMN a text',
    "ALTER TABLE passes ADD COLUMN a text NOT NULL DEFAULT 'x', ADD COLUMN b integer NOT NULL DEFAULT 0",
    "ALTER TABLE passes ADD COLUMN a text CHECK (a IN ('x', 'y'))",
    "ALTER TABLE passes ADD CONSTRAINT c CHECK (status <> 'x') NOT VALID",
    'ALTER TABLE passes VALIDATE CONSTRAINT c',
    'CREATE TABLE things (tenant_id text, id text);\nCREATE INDEX i ON things (tenant_id);\nALTER TABLE things ADD CHECK (id > $$$$)',
    'ALTER TABLE webhook_attempts SET (fillfactor = 50)',
    'CREATE TABLE things (tenant_id text);\nALTER TABLE things ALTER COLUMN tenant_id SET (n_distinct = 20)',
    '-- contract: 0007_before\nALTER TABLE passes DROP COLUMN google_url',
  ])('the rules of migrations let %s pass', (statement) => {
    expect(check(`-- each environment\n-- Words.\n${statement};\n`)).toEqual([])
  })

  test('let an index of the few rows of control be built in a transaction', () => {
    expect(check('-- once: control\nCREATE INDEX i ON control.keys (tenant_id);\n', false)).toEqual([])
  })
})
