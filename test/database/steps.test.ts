import { expect, test } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { Overtaken } from '../../runtime/database/errors.ts'
import { pipelined } from '../../runtime/database/pipelined.ts'
import { createPool } from '../../runtime/database/pool/pool.ts'
import { inSteps, steppingDatabase } from '../../runtime/database/steps.ts'
import { createTestDatabase } from '../support/database.ts'

const WHOLE = {
  name: 'add',
  text: 'SELECT $1::text AS whole, $2::text, $3::text',
  steps: inSteps('add', 'SELECT $3::text || $1::text || $3::text AS a', 'SELECT $2::text AS b'),
}

test('each step has the values that it names, in its own numbers', () => {
  expect(WHOLE.steps).toEqual([
    { statement: { name: 'add_1', text: 'SELECT $1::text || $2::text || $1::text AS a' }, takes: [2, 0] },
    { statement: { name: 'add_2', text: 'SELECT $1::text AS b' }, takes: [1] },
  ])
})

test('all are sent at once, and the last one answers', async () => {
  const sent: unknown[] = []
  const db: Database = {
    query: async (statement, values) => {
      sent.push([statement.text, values])
      return { rows: [statement.name as never], count: 1 }
    },
  }
  const answer = steppingDatabase(db).query(WHOLE, ['x', 'y', 'z'])
  expect(sent).toEqual([
    ['SELECT $1::text || $2::text || $1::text AS a', ['z', 'x']],
    ['SELECT $1::text AS b', ['y']],
  ])
  expect((await answer).rows).toEqual(['add_2'])
})

test('a pool of a distributed database takes the steps, within one transaction, and tells the first failure', async () => {
  const { url, drop } = await createTestDatabase()
  const settings = { max: 3, prepared: true, applicationName: 'steps' }
  const pools = [false, true].map((distributed) =>
    createPool({ ...settings, distributed, connection: () => ({ connectionString: url }) }),
  )
  try {
    const answers = pools.map((pool) => pool.query(WHOLE, ['x', 'y', 'z']))
    expect((await Promise.all(answers)).map(({ rows }) => Object.keys(rows[0]!)[0])).toEqual(['whole', 'b'])
    const statement = {
      text: 'SELECT 1',
      steps: inSteps(
        undefined,
        'CREATE TABLE made (a integer)',
        'SELECT 1 / $1::integer',
        'SELECT $1::integer',
      ),
    }
    await expect(pools[1]!.query(statement, [0])).rejects.toThrow('division by zero')
    await expect(pools[1]!.query({ text: 'SELECT FROM made' })).rejects.toThrow('does not exist')
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
    await drop()
  }
})

test('a guarded statement that writes null fails as overtaken, in one step or in several', async () => {
  const { url, drop } = await createTestDatabase()
  const text = 'INSERT INTO made (a) VALUES ($1::integer)'
  try {
    for (const distributed of [false, true]) {
      const settings = { max: 1, prepared: true, applicationName: 'steps', distributed }
      const pool = createPool({ ...settings, connection: () => ({ connectionString: url }) })
      const insert = (guarded: boolean, value: number | null) =>
        pool.transaction(async (db) => {
          await db.query({ text: 'CREATE TABLE made (a integer NOT NULL)' })
          const steps = inSteps(undefined, 'SELECT $1::integer', text)
          pipelined(db.query({ text, steps, ...(guarded && { guarded }) }, [value]))
        })
      await expect(insert(true, null)).rejects.toThrow(Overtaken)
      await expect(insert(false, null)).rejects.not.toThrow(Overtaken)
      await pool.end()
    }
  } finally {
    await drop()
  }
})
