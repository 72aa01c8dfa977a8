/** Every kind of output, edited by hand: the report names the line of the document that the edited line comes from. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Api } from '../../generators/ir/model.ts'
import { explainDrift } from '../../generators/output/drift.ts'
import type { Drift } from '../../generators/output/write.ts'

let apis: readonly Api[]
beforeAll(() => {
  const report = createReport()
  apis = readdirSync('openapi')
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => buildApi(loadDocument(join('openapi', name), report)!, report, true))
})

/** The first line of an output that has a text, edited. */
function edit(path: string, text: string): Drift {
  const wanted = readFileSync(join('generated', path), 'utf8')
  const lines = wanted.split('\n')
  const at = lines.findIndex((line) => line.includes(text))
  expect(at, `${path}: ${text}`).toBeGreaterThan(-1)
  lines[at] = `${lines[at]} // edited`
  return { path, kind: 'changed', wanted, found: lines.join('\n') }
}

const [OLD, NEW] = ['2025-06-01', '2026-05-19']
const schema = (name: string) => `/components/schemas/${name}`

describe('an edit of', () => {
  test.each([
    [`${OLD}/openapi.json`, '"title": "Wallet', OLD, '/info/title'],
    [`${NEW}/openapi.json`, '"The pass to scan: exactly one', NEW, `${schema('ScanCreate')}/description`],
    [`${OLD}/types.ts`, 'export type operations', OLD, '/info'],
    [`${NEW}/routes.ts`, "id: 'freezeCard'", NEW, '/paths/~1v1~1cards~1{card_id}~1freeze/post'],
    [`${NEW}/events.ts`, "'dispute.submitted'", NEW, '/webhooks/dispute.submitted/post'],
    [`${OLD}/validators.js`, 'RequestId,', OLD, schema('RequestId')],
    [`${OLD}/validators.d.ts`, 'function RequestId', OLD, schema('RequestId')],
    [
      `site/${NEW}/test-settlements.html`,
      "<pre><code>curl 'http://127.0.0.1:4010/v1/test/settlements/simulate_failure'",
      NEW,
      '/paths/~1v1~1test~1settlements~1simulate_failure/post',
    ],
    ['canonical/types.ts', 'listCardholders: Queried', NEW, '/paths/~1v1~1cardholders/get'],
    ['canonical/events.ts', "'dispute.submitted'", NEW, '/webhooks/dispute.submitted/post'],
    ['canonical/handlers.ts', 'export interface DisputesHandlers', NEW, '/paths/~1v1~1disputes/post'],
    ['validators.js', 'function AddressInput$', NEW, schema('AddressInput')],
    ['validators.d.ts', 'function AddressInput(', NEW, schema('AddressInput')],
    ['client/src/2025-11-01/functions.ts', '* List payouts', '2025-11-01', '/paths/~1v1~1payouts/get'],
    [`client/src/${NEW}/functions.ts`, '* `GET /v1/payouts`', NEW, '/paths/~1v1~1payouts/get'],
    [`client/src/${NEW}/types.ts`, 'listPayouts: {', NEW, '/paths/~1v1~1payouts/get'],
    [
      `client/src/${NEW}/types.ts`,
      'billing_email?: string',
      NEW,
      `${schema('BillingUpdate')}/properties/billing_email`,
    ],
    ['client/src/errors.ts', "name = 'RateLimitedError'", NEW, schema('ErrorType')],
    ['client/package.json', `"./${OLD}"`, OLD, '/info'],
    ['versions.ts', `import { version as version_2025_06_01`, OLD, '/info'],
    ['events.ts', `events_2025_06_01`, OLD, '/info'],
    ['translations/2026-02-01.ts', 'export function PassTemplate_down', '2026-02-01', schema('PassTemplate')],
    [
      'translations/2026-02-01.ts',
      'function listPasses_query_up',
      '2026-02-01',
      '/components/parameters/PassStatusFilter',
    ],
    [
      'translations/2026-02-01.ts',
      '/** WebhookEndpointDisabledEvent:',
      '2026-02-01',
      schema('WebhookEndpointDisabledEvent'),
    ],
    ['changes.json', '"id": "add-card-events"', '2025-11-01', schema('EventType')],
    ['manifest.json', `"${OLD}/types.ts"`, OLD, '/info'],
  ])('an edit of generated text is traced: %s at %s', (path, text, version, pointer) => {
    const [{ place, message }] = explainDrift([edit(path, text)], apis) as [
      ReturnType<typeof explainDrift>[0],
    ]
    expect(message).toContain(`generated ${path}:`)
    expect([place?.file, place?.pointer]).toEqual([
      `openapi/${version}.yaml`,
      expect.stringContaining(pointer),
    ])
    const line = readFileSync(place!.file, 'utf8').split('\n')[place!.line - 1]
    expect(line).toContain(pointer.split('/').at(-1)!)
  })

  test.each([
    ['client/src/runtime/clock.ts', 'export'],
    ['client/tsconfig.json', '"declaration"'],
    ['client/GUIDE.md', 'return new Response'],
  ])('%s names no document: the text is the toolkit’s own', (path, text) => {
    expect(explainDrift([edit(path, text)], apis)).toEqual([
      expect.not.objectContaining({ place: expect.anything() }),
    ])
  })
})

test('the manifest is not named beside the files that it follows from', () => {
  const drift = [edit('manifest.json', OLD), edit('versions.ts', 'export')]
  expect(explainDrift(drift, apis).map(({ message }) => message)).toEqual([
    expect.stringContaining('generated versions.ts:'),
  ])
})
