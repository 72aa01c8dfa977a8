/** Events in the types of a version: told apart by `type`, open to types to come. Versions of clients likewise. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PACKAGE = 'generated/client'

/** Each line that ends in `// wrong` must have an error, and no other line may. */
const USE = `
import { createClient as createAt, type Schemas, testHeaders, type UnlistedType, unwrap, type WebhookError, type WebhookEvent } from '@dateline/passes/2026-05-19'
import { createClient, type Schemas as SchemasAt, unwrap as unwrapAny, type WebhookEvent as EventAt } from '@dateline/passes'
import { unwrap as unwrapOld } from '@dateline/passes/2025-06-01'
import type { IncomingHttpHeaders } from './node-headers.ts'

declare const headers: IncomingHttpHeaders
const event: WebhookEvent = await unwrap('', headers, 'whsec_1')
await unwrap(new Uint8Array(), new Headers(), ['whsec_1', 'whsec_2'], { toleranceSeconds: 10, now: () => 0 })
await unwrap(new ArrayBuffer(0), await testHeaders('', 'whsec_1'), 'whsec_1')
await unwrap({ type: 'pass.created' }, headers, 'whsec_1') // wrong
await unwrap('', undefined, 'whsec_1') // wrong
await unwrap('', headers) // wrong
await unwrap('', headers, 'whsec_1', { tolerance: 10 }) // wrong

event.data.pass // wrong
const id: string = event.id
const type: string = event.type

function act(event: WebhookEvent): string {
  switch (event.type) {
    case 'pass.created':
      return event.data.pass.status
    case 'pass.updated':
      return String(event.previous_attributes.status)
    case 'pass.installed':
      // Open: platforms may join.
      return event.data.pass.platform === 'apple' ? 'Apple' : event.data.pass.platform
    case 'card.transaction.authorized':
      return event.data.card_transaction.id
    case 'cardholder.sanctions.alert':
      return event.data.pass // wrong
    case 'pass.creatde': // wrong
      return ''
    default: {
      const later: string = event.type
      return later
    }
  }
}

if (event.type === 'pass.revoked') {
  const pass: Schemas['Pass'] = event.data.pass
  event.data.card // wrong
  act({ ...event, data: { pass } })
}

/** Not every event of a type that is not listed has what the listed ones have. */
function onlyPasses(event: WebhookEvent) {
  if (event.type !== 'pass.created') return
  const narrow: 'pass.created' = event.type
  return [narrow, event.data.pass]
}

/** When all that is listed is dealt with, something is left, and it can be read. */
type Small = Extract<WebhookEvent, { type: 'pass.created' | 'pass.revoked' }> | Extract<WebhookEvent, { type: UnlistedType }>
declare const small: Small
switch (small.type) {
  case 'pass.created':
  case 'pass.revoked':
    small.data.pass
    break
  default: {
    const rest: readonly [string, string, unknown] = [small.id, small.type, small.data]
    const nothing: never = small // wrong
    const unread: Schemas['Pass'] = small.data.pass // wrong
  }
}

/** Listed events have the same types, and are events of the document too. */
const { data: [first] } = await createAt({ baseUrl: '', apiKey: '' }).events.list()
if (first?.type === 'pass.created') first.data.pass satisfies Schemas['Pass']
const listed: Schemas['Event'] | undefined = first

const old = await unwrapOld('', headers, 'whsec_1')
if (old.type === 'pass.installed') old.data.pass.id
if (old.type === 'card.created') old.id // wrong

const any = await unwrapAny('', headers, 'whsec_1')
any.data.pass // wrong
if (any.type === 'card.created') any.data.card.id
if (any.version === '2025-06-01' && any.type === 'card.created') any.id // wrong
if (any.version === '2026-05-19' && any.type === 'pass.created') any.data.pass satisfies Schemas['Pass']
if (any.version === '2025-06-01' && any.type === 'pass.created') {
  any.data.pass satisfies SchemasAt<'2025-06-01'>['Pass']
}
if (any.version === '2024-06-01') any.id // wrong
const some: EventAt<'2025-06-01' | '2025-11-01'> = any // wrong

const versions = createClient({ baseUrl: '', apiKey: '' })
versions.at('2026-05-19').listCards()
versions.at('2025-06-01').listCards() // wrong
versions.at('2025-06-02') // wrong
for await (const pass of versions.at('2026-02-01').listPasses()) pass.id
for await (const pass of versions.at('2025-11-01').listPasses()) pass.id // wrong
const older: SchemasAt<'2025-11-01'>['Pass'] = await versions.at('2025-11-01').getPass({ path: { pass_id: '' } })

declare const error: WebhookError
switch (error.code) {
  case 'no_match':
  case 'missing_header':
    break
  case 'no_mtach': // wrong
}
export { id, listed, older, onlyPasses, some, type }
`

/** As Node's types declare it. */
const NODE_HEADERS = `
export interface IncomingHttpHeaders {
  [name: string]: string | string[] | undefined
  host?: string | undefined
  'set-cookie'?: string[] | undefined
}
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join('test/client', '.webhooks-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Under the settings that the package is built with. @returns `file:line message` of every error. */
function compile(files: Readonly<Record<string, string>>): string[] {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const settings = ts.readConfigFile(`${PACKAGE}/tsconfig.json`, ts.sys.readFile).config
  const { options } = ts.convertCompilerOptionsFromJson(settings.compilerOptions, PACKAGE)
  const { rootDir: _, outDir: __, ...rest } = options
  const paths = {
    '@dateline/passes': [resolve(PACKAGE, 'src/index.ts')],
    '@dateline/passes/*': [resolve(PACKAGE, 'src/*/index.ts')],
  }
  const program = ts.createProgram(
    Object.keys(files).map((name) => join(folder, name)),
    { ...rest, paths, noEmit: true },
  )
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
    const name = file && relative(folder, file.fileName)
    return `${name}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

test('misuse is an error on its line, and nothing else is', () => {
  const wrong = USE.split('\n').flatMap((line, index) =>
    line.endsWith('// wrong') ? [`use.ts:${index + 1}`] : [],
  )
  const errors = compile({ 'use.ts': USE, 'node-headers.ts': NODE_HEADERS })
  expect([...new Set(errors.map((error) => error.split(' ')[0]))], errors.join('\n')).toEqual(wrong)
  expect(wrong.length).toBeGreaterThan(10)
}, 60_000)
