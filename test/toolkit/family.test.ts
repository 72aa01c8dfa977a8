/** The family of this repository: what breaks between adjacent versions is what was announced, and nothing else. */
import { beforeAll, describe, expect, test } from 'vitest'
import { loadChanges } from '../../generators/change/load-changes.ts'
import { groupDifferences } from '../../generators/cli/difference-groups.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { emitChangeIndex, missingChanges } from '../../generators/gate/change-index.ts'
import { checkSteps } from '../../generators/gate/gate.ts'
import { type AccountedDifference, claimDifferences, claimSteps } from '../../generators/gate/steps.ts'
import { readConfig } from '../../generators/generate/config.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Api } from '../../generators/ir/model.ts'

const report = createReport()
const config = readConfig('dateline.config.json', report)!
let apis: readonly Api[]
let changes: Awaited<ReturnType<typeof loadChanges>>

beforeAll(async () => {
  apis = config.documents.map((file) => buildApi(loadDocument(file, report)!, report))
  changes = await loadChanges(
    config.versions,
    apis.map((api) => api.version),
    report,
  )
  report.finish()
})

function claimedIn(version: string): readonly AccountedDifference[] {
  const index = apis.findIndex((api) => api.version === version)
  const own = changes.filter((change) => change.version === version)
  return claimDifferences(apis[index - 1]!, apis[index]!, own)
}

/** [code, first place, how many places, the change] */
type Row = readonly [string, string, number, string]

const BREAKING: Readonly<Record<string, readonly Row[]>> = {
  '2025-11-01': [],
  '2026-02-01': [
    ['parameter-required', 'rotateCredentials header Idempotency-Key', 51, 'require-idempotency-key'],
    [
      'header-removed',
      'event pass_template.created header X-Service-Signature',
      54,
      'rename-signature-header',
    ],
    ['type-changed', 'listCardTransactions query category_code', 1, 'return-merchant-category-code'],
    ['type-changed', 'Merchant.category_code', 1, 'return-merchant-category-code'],
    ['type-changed', 'MerchantInput.category_code', 1, 'return-merchant-category-code'],
  ],
  '2026-05-19': [
    ['enum-value-removed', 'DisputeReason', 1, 'rename-customer-dispute'],
    ['enum-value-removed', 'SettlementLineType', 1, 'spell-line-types'],
    ['property-removed', 'SpendingControlsInput.allowed_categories', 1, 'block-categories'],
    ['property-removed', 'SpendingControls.allowed_categories', 1, 'block-categories'],
    ['type-changed', 'Settlement.interchange_amount', 1, 'return-interchange'],
  ],
}

describe.each(Object.entries(BREAKING))('%s', (version, want) => {
  test('the version breaks what was announced, and a change accounts for each', () => {
    const groups = groupDifferences(claimedIn(version)).filter(({ first }) => first.class === 'breaking')
    const rows = groups.map(({ first, places, by }) => [
      first.code,
      places[0],
      places.length,
      by.map((file) => file.replace(/.*\/|\.ts$/g, '')).join(),
    ])
    expect(rows).toEqual(want)
  })

  test('each POST of both versions, and no other, came to need a key', () => {
    const index = apis.findIndex((api) => api.version === version)
    const before = new Set(apis[index - 1]!.operations.map(({ id }) => id))
    const posts = apis[index]!.operations.filter(({ id, method }) => method === 'POST' && before.has(id))
    const required = claimedIn(version)
      .filter(({ difference }) => difference.code === 'parameter-required')
      .flatMap(({ difference }) => difference.uses)
    expect(required).toEqual(version === '2026-02-01' ? posts.map(({ id }) => id) : [])
  })
})

test('the gate lets the family through', () => {
  expect(checkSteps(claimSteps(apis, changes), config)).toEqual([])
})

test('every change that translates a break is missed when it is gone', () => {
  const alone = apis.slice(1).flatMap(({ version }) =>
    claimedIn(version)
      .filter(({ difference, by }) => difference.class === 'breaking' && by.length === 1)
      .map(({ by }) => by[0]!),
  )
  const needed = changes.filter((change) => alone.includes(change))
  expect(needed.map(({ id }) => id)).toEqual([
    'rename-signature-header',
    'require-idempotency-key',
    'return-merchant-category-code',
    'block-categories',
    'rename-customer-dispute',
    'return-interchange',
    'spell-line-types',
  ])
})

test('a draft for a missing change names the file and both lines', () => {
  const rest = changes.filter(({ id }) => id !== 'rename-customer-dispute')
  const [found] = checkSteps(claimSteps(apis, rest), config)
  expect(found).toMatchObject({
    code: 'break-unclaimed',
    severity: 'error',
    place: { file: 'openapi/2026-05-19.yaml', pointer: '/components/schemas/DisputeReason' },
    other: { file: 'openapi/2026-02-01.yaml', pointer: '/components/schemas/DisputeReason' },
    draft: { file: 'versions/2026-05-19/rename-dispute-reason-values.ts' },
  })
  expect(found!.draft!.text).toContain(
    "v.values('DisputeReason', { rename: { customer_dispute: 'customer_complaint' } })",
  )
})

test('a change is missed by name when its file is gone, also one that no document shows', () => {
  const all = claimSteps(apis, changes)
  const index = emitChangeIndex(all).text
  const placeIn = (file: string, pointer: string) => ({ file, line: 1, column: 1, pointer })
  for (const lost of changes) {
    const steps = all.map((step) => ({ ...step, changes: step.changes.filter((change) => change !== lost) }))
    expect(missingChanges(index, steps, placeIn)).toMatchObject([
      {
        code: 'change-missing',
        message: expect.stringContaining(lost.id),
        place: { file: `openapi/${lost.version}.yaml`, pointer: expect.stringContaining('/') },
        other: { pointer: expect.stringContaining('/') },
      },
    ])
  }
})
