/**
 * Every operation of every version is asked for what is another tenant's, and for what is the tenant's own in the other
 * environment: the answer, and what is asked of the database for it, are those for an object that does not exist.
 */

import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { RECORD_TABLES } from '../../runtime/account/account/wipe-queries.ts'
import type { ServiceOperation } from '../../runtime/api/version-table.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { handlers } from '../../runtime/process/handlers.ts'
import type { RequestDocument } from '../api/guard/requests.ts'
import { openTestDatabase } from '../support/database.ts'
import { useService } from '../support/service.ts'
import { fill, prefixesOf, type Shape, shapesOf } from './foreign.ts'
import { type Ask, MARK, makeNamedOwner, makeOwners, NOT_YET, type Owner, openLine } from './owners.ts'
import { type Recorder, recordStatements } from './recorder.ts'

const ENVIRONMENTS = ['sandbox', 'live'] as const

let recorder: Recorder
let own: Record<Environment, Owner>
let others: Record<Environment, Owner>
/** A named sandbox of the tenant that `own` is. */
let named: Owner
let lines: Record<Environment, Ask>
let before: unknown

const service = useService(async () => {
  recorder = recordStatements(await openTestDatabase({ poolSize: 4 }))
  return { database: recorder.database, guarded: false, keepsTime: true }
})
beforeAll(async () => {
  lines = { sandbox: openLine(service, 'sandbox'), live: openLine(service, 'live') }
  others = await makeOwners(service, current)
  own = await makeOwners(service, current)
  named = await makeNamedOwner(service, own.sandbox, current)
  before = await belongingsOf(others.sandbox.tenantId)
})

const TABLES = [
  ...RECORD_TABLES,
  'promotions',
  'audit_log',
  'idempotency_answers',
  'sandboxes',
  'sandbox_snapshots',
]

/** Rows of a tenant, in both environments. */
async function belongingsOf(tenantId: string): Promise<unknown[]> {
  const found: unknown[] = []
  for (const environment of ENVIRONMENTS) {
    for (const table of TABLES) {
      const text = `SELECT to_json(t) AS row FROM ${environment}.${table} t WHERE tenant_id = $1 ORDER BY created, to_json(t)::text`
      found.push((await recorder.database.control.query({ text }, [tenantId])).rows)
    }
  }
  return found
}

const NOTHING = '00000000000000000000000000'

/** Of nobody; of the same shape. */
function nothing(prefix: string): string {
  return prefix === 'cursor' ? 'QUFBQUFBQUFBQUFBQUFBQWF' : `${prefix}_${NOTHING}`
}

function belonging(owner: Owner, path: string): (prefix: string) => string {
  return (prefix) =>
    (prefix === 'cursor' ? owner.cursors.get(path) : owner.ids.get(prefix)) ?? nothing(prefix)
}

/** Keys of callers and of cards: a process reads them again when what it knows is old, whoever asks. */
const REMEMBERED =
  /^control: SELECT (k\.tenant_id, t\.name, t\.plan|version, sealed, has_own_secret FROM control\.card_keys)/

/** An answer without what differs between any two requests, and what was asked of the database for it. */
async function ask(
  owner: Owner,
  operation: ServiceOperation,
  version: string,
  shape: Shape,
  idOf: (prefix: string) => string,
) {
  const { target, body } = fill({ target: shape.target, body: shape.body ?? null }, idOf)
  const first = recorder.recorded.length
  const { status, text } = await lines[owner.environment](
    owner.secret,
    operation.method,
    target,
    version,
    body === null ? undefined : body,
    owner.sandboxSecret,
  )
  const asked = recorder.recorded
    .slice(first)
    .map(({ role, statement }) => `${role}: ${statement.text}`)
    .filter((each) => !REMEMBERED.test(each))
  const named = prefixesOf(shape).map(idOf)
  const plain = named.reduce((rest, id) => rest.replaceAll(id, '‹id›'), text)
  const answer = plain
    .replaceAll(/req_\w{26}/g, 'req')
    .replaceAll(/challenges\/\w+/g, 'challenge')
    .replaceAll(
      /"(tpl|pass|scan|tok|chd|cprg|card|ctx|dsp|azd|whe|wdla|evt|ppl|wtk|sal|stl)_\w{26}"|"\w+Z"/g,
      '"made"',
    )
  return { status, text, answer: unique(answer), asked }
}

/** Tokens of addresses that are made anew for each object. */
function unique(text: string): string {
  return text.replaceAll(/\/p\/[\w-]{24}/g, '/p/token').replaceAll(/save\/[\w.-]+/g, 'save/jwt')
}

const documents = new Map(
  versions.map(({ name }) => [
    name,
    JSON.parse(
      readFileSync(new URL(`../../generated/${name}/openapi.json`, import.meta.url), 'utf8'),
    ) as RequestDocument,
  ]),
)

let asked = 0

/** Where the operation is, and whose things are asked for there. */
function* situations({
  extensions,
}: ServiceOperation): Generator<{ caller: Owner; foreign: Owner; whose: string }> {
  for (const environment of ENVIRONMENTS) {
    if (extensions.environment !== undefined && extensions.environment !== environment) continue
    const other = environment === 'sandbox' ? 'live' : 'sandbox'
    yield {
      caller: own[environment],
      foreign: others[environment],
      whose: `another tenant's, ${environment}`,
    }
    yield { caller: own[environment], foreign: own[other], whose: `its own of ${other}` }
    if (environment === 'live') continue
    yield { caller: own.sandbox, foreign: named, whose: 'its own of a named sandbox' }
    yield { caller: named, foreign: own.sandbox, whose: 'of the default sandbox, in a named one' }
  }
}

describe.each(versions)('$name', ({ name, operations }) => {
  const document = documents.get(name)!
  const subjects = operations
    .map((operation) => ({ operation, shapes: shapesOf(document, operation) }))
    .filter(({ shapes }) => shapes.length > 0)

  test.each(subjects.map(({ operation, shapes }) => [operation.id, operation, shapes] as const))(
    '%s shows nothing of another tenant',
    async (_id, operation, shapes) => {
      for (const { caller, foreign, whose } of situations(operation)) {
        for (const shape of shapes) {
          // The one way from the sandbox to live: whoever has both keys names what is to be copied.
          if (operation.id === 'createPromotion' && foreign === own.sandbox) continue
          const about = `${whose}: ${shape.place}`
          const theirs = await ask(caller, operation, name, shape, belonging(foreign, operation.path))
          const absent = await ask(caller, operation, name, shape, nothing)
          asked += 1
          expect([about, theirs.status, theirs.answer]).toEqual([about, absent.status, absent.answer])
          expect([about, theirs.asked]).toEqual([about, absent.asked])
          expect(theirs.text).not.toContain(MARK)
          if (shape.place === 'path' && Object.hasOwn(handlers, operation.id))
            expect([about, theirs.status]).toEqual([about, operation.extensions.factor ? 403 : 404])
        }
      }
    },
  )
})

test('nothing of the others has changed', async () => {
  expect(await belongingsOf(others.sandbox.tenantId)).toEqual(before)
  console.log(`${asked} times asked for what is somebody else's`)
})

test('an object of one’s own is found by the same requests', async () => {
  const found: Record<string, number> = {}
  for (const { name, operations } of versions) {
    for (const operation of operations.filter(
      ({ id, method }) => Object.hasOwn(handlers, id) && method !== 'DELETE',
    )) {
      for (const shape of shapesOf(documents.get(name)!, operation)) {
        if (shape.place === 'body') continue
        const owner = own[operation.extensions.environment ?? 'sandbox']
        const { status, text } = await ask(owner, operation, name, shape, belonging(owner, operation.path))
        const isThere = status < 300 || status === 409 || status === 422 || operation.extensions.factor
        expect([operation.id, shape.place, isThere]).toEqual([operation.id, shape.place, true])
        if (text.includes(MARK)) found[operation.id] = (found[operation.id] ?? 0) + 1
      }
    }
  }
  expect(Object.keys(found)).toEqual(expect.arrayContaining(['getPass', 'listPasses', 'getPassTemplate']))
})

test('an object that is not made yet has no operation that would make it', () => {
  const known = new Set([
    ...own.sandbox.ids.keys(),
    ...own.live.ids.keys(),
    ...NOT_YET,
    'cursor',
    'aud',
    'unknown',
  ])
  const named = versions.flatMap(({ name, operations }) =>
    operations.flatMap((operation) => shapesOf(documents.get(name)!, operation).flatMap(prefixesOf)),
  )
  const unknown = new Set(named.filter((prefix) => !known.has(prefix)))
  expect([...unknown].map((prefix) => `test/isolation/owners.ts: makeOwner makes no ${prefix}_…`)).toEqual([])
  const waiting = versions.flatMap(({ name, operations }) =>
    operations
      .filter(({ id, pathParameters }) => Object.hasOwn(handlers, id) && pathParameters.length > 0)
      .flatMap((operation) => shapesOf(documents.get(name)!, operation).flatMap(prefixesOf)),
  )
  expect(waiting.filter((prefix) => NOT_YET.includes(prefix))).toEqual([])
})
