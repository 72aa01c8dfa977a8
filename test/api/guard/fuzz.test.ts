/** Our stages and express-openapi-validator on the same requests: they agree, or the difference is explained. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { versions } from '../../../generated/versions.ts'
import { createVersions } from '../../../runtime/api/routing.ts'
import type { ServiceOperation, ServiceVersion } from '../../../runtime/api/version-table.ts'
import { handlers } from '../../../runtime/process/handlers.ts'
import { EXPLAINED } from './explained.ts'
import { createRandom } from './random.ts'
import { type Case, type Described, describeRequest, makeCase, type RequestDocument } from './requests.ts'
import { checkByStages, checkByValidator, openOther, type Verdict } from './verdicts.ts'

/** For each operation. `npm run fuzz` sets thousands. */
const CASES = Number(process.env.FUZZ_CASES ?? 20)
const SEED = Number(process.env.FUZZ_SEED ?? 20_260_519)

const documents = new Map(versions.map(({ name }) => [name, readDocument(name)]))

function readDocument(version: string): RequestDocument {
  const file = new URL(`../../../generated/${version}/openapi.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as RequestDocument
}

const tables = {
  sandbox: createVersions(versions, handlers, 'sandbox', ''),
  live: createVersions(versions, handlers, 'live', ''),
}

/** What an operation takes in this version, in full: the same text, the same requests. */
function closureOf(version: ServiceVersion, operation: ServiceOperation): string {
  const document = documents.get(version.name)!
  const { parameters, body } = describeRequest(document, operation)
  const described = [parameters.filter(({ name }) => name !== 'Service-Version'), body]
  const seen = new Set<string>()
  const visit = (value: unknown): unknown =>
    JSON.stringify(value, (key, part: unknown) => {
      if (key === 'description' || key === 'examples') return undefined
      if (key !== '$ref' || typeof part !== 'string' || seen.has(part)) return part
      seen.add(part)
      return [part, visit(document.components.schemas[part.slice('#/components/schemas/'.length)])]
    })
  return `${operation.method} ${operation.path} ${String(visit(described))}`
}

/** Each operation of each version, but for those that an earlier version takes in just the same way. */
const subjects = (() => {
  const seen = new Set<string>()
  return versions.flatMap((version) =>
    version.operations.flatMap((operation) => {
      const closure = closureOf(version, operation)
      if (seen.has(closure)) return []
      seen.add(closure)
      return [{ version, operation }]
    }),
  )
})()

const used = new Map<string, number>()
let cases = 0
let accepted = 0

function explain(given: Case, ours: Verdict, theirs: Verdict, described: Described): boolean {
  const found = EXPLAINED.find(({ fits }) => fits({ given, ours, theirs, described }))
  if (found) used.set(found.why, (used.get(found.why) ?? 0) + 1)
  return found !== undefined
}

async function checkBoth(
  version: ServiceVersion,
  operation: ServiceOperation,
  seed: number,
): Promise<unknown[]> {
  const document = documents.get(version.name)!
  const table = tables[operation.extensions.environment ?? 'sandbox']
  const described = describeRequest(document, operation)
  const other = await openOther(document, operation.path, operation.method)
  const random = createRandom(seed)
  const differences: unknown[] = []
  for (let count = 0; count < CASES; count += 1) {
    const given = makeCase(document, operation, described, random)
    const ours = await checkByStages(given, table.find(version.name)!, table)
    const theirs = await checkByValidator(other, given)
    cases += 1
    if (!ours) accepted += 1
    if ((ours === undefined) !== (theirs === undefined) && !explain(given, ours, theirs, described)) {
      differences.push({ given, ours, theirs })
    }
  }
  return differences.slice(0, 3)
}

describe.each(versions)('$name', (version) => {
  const own = subjects.filter((subject) => subject.version === version)
  test.each(own.map(({ operation }) => [operation.id, operation] as const))(
    'the stages of %s judge generated requests as express-openapi-validator does',
    { timeout: 30_000 + CASES * 50 },
    async (id, operation) => {
      const seed =
        SEED ^ [...`${version.name}${id}`].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7)
      expect(await checkBoth(version, operation, seed)).toEqual([])
    },
  )
})

test('the cases are of both kinds, and every explanation is needed', () => {
  console.log(
    `${cases} requests, ${accepted} accepted, for ${subjects.length} operations; differences explained:`,
    used,
  )
  expect(accepted / cases).toBeGreaterThan(0.15)
  expect(accepted / cases).toBeLessThan(0.6)
  // The rare ones need more requests than a usual run has.
  if (CASES < 100) return
  expect(EXPLAINED.filter(({ why }) => !used.has(why)).map(({ why }) => why)).toEqual([])
})
