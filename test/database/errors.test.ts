import { expect, test } from 'vitest'
import {
  codeOf,
  constraintOf,
  isUnavailable,
  readCancellation,
  tableOf,
} from '../../runtime/database/errors.ts'
import { isSpaceWiped } from '../../runtime/tenants/audit/queries.ts'

const failure = (message: string, parts: object) => Object.assign(new Error(message), parts)

test('a constraint and a table are known by PostgreSQL’s own fields', () => {
  expect(constraintOf(failure('x', { constraint: 'idempotency_answers_pkey' }))).toBe(
    'idempotency_answers_pkey',
  )
  expect(tableOf(failure('x', { table: 'audit_heads' }))).toBe('audit_heads')
  expect(
    [constraintOf(undefined), tableOf('x'), tableOf(failure('no relation', {}))].filter(Boolean),
  ).toEqual([])
})

test('an error that Citus passes on has a message alone, with the number of the shard behind the names', () => {
  const twice = 'duplicate key value violates unique constraint "idempotency_answers_pkey_102097"'
  expect(constraintOf(failure(twice, { code: '23505' }))).toBe('idempotency_answers_pkey')
  const wiped =
    'null value in column "sequence" of relation "audit_heads_102077" violates not-null constraint'
  expect(isSpaceWiped(failure(wiped, { code: '23502' }))).toBe(true)
  expect(isSpaceWiped(failure(wiped.replace('heads', 'log'), { code: '23502' }))).toBe(false)
})

test('a transaction that Citus ends in favour of another is told as a cancellation', () => {
  const canceled = (why: string) =>
    codeOf(readCancellation(failure(`canceling statement due to ${why}`, { code: '57014' })))
  expect([canceled('user request'), canceled('statement timeout')]).toEqual(['40P01', '57014'])
})

test('a worker that is gone is no answer for now', () => {
  const gone = 'connection to the remote node postgres@127.0.0.1:5433 failed'
  expect(isUnavailable(failure(gone, { code: '08006' }))).toBe(true)
  for (const words of [
    'server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally',
    'could not commit transaction for shard 102009 on at least one active node',
    'failure on connection marked as essential: 127.0.0.1:5433',
    'could not find valid entry for shard 102009',
  ]) {
    expect([words, isUnavailable(failure(words, { code: 'XX000' }))]).toEqual([words, true])
  }
  expect(isUnavailable(failure('could not find block 7', { code: 'XX000' }))).toBe(false)
  const missing = (name: string) => failure(`relation "${name}" does not exist`, { code: '42P01' })
  expect(['sandbox.passes_102009', 'sandbox.passes'].map((name) => isUnavailable(missing(name)))).toEqual([
    true,
    false,
  ])
})
