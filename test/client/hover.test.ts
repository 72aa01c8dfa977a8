/** What an editor shows: the language service's quick info about names in programs that use generated code. */
import { resolve } from 'node:path'
import ts from 'typescript'
import { beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'

/** The compiler's options of this repository, which programs of readers and of the service have too. */
const OPTIONS = ts.parseJsonConfigFileContent(
  ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
  ts.sys,
  '.',
).options

/** Each `/*name*\/` marks the identifier after it. */
const PROGRAMS = {
  'client.ts': `
import { createPass } from '../../generated/client/src/${current}/functions.ts'
import { createClient, type ServiceConnection } from '../../generated/client/src/${current}/index.ts'
declare const connection: ServiceConnection
const client = createClient({ baseUrl: '', apiKey: '' })
export const /*answer*/pass = await /*function*/createPass(connection, { template_id: '' })
export const updated = await client.passes./*update*/update('', { /*member*/fields: {} })
export const found = await client./*resource*/passes./*retrieve*/retrieve('')
export const /*page*/page = await client.passes./*list*/list({ /*filter*/limit: 1 })
for await (const /*item*/each of client.passes.list()) each./*property*/holder
await client.test.cards./*nested*/simulateAuthorization({ card_id: '', amount: 1, merchant: { name: '', category_code: '' } })
client./*flat*/getPass({ path: { pass_id: '' } })
`,
  'server.ts': `
import type { PassesHandlers } from '../../generated/canonical/handlers.ts'
import { /*validator*/PassCreate as isPassCreate } from '../../generated/${current}/validators.js'
export const handlers: Pick<PassesHandlers<null>, 'createPass' | 'listPasses' | 'getPass'> = {
  createPass: async (_context, { /*handlerBody*/body }) => { throw body },
  listPasses: async (_context, { /*handlerQuery*/query }) => { throw query },
  getPass: async (_context, { path }) => {
    const received: unknown = path
    if (isPassCreate(received)) throw /*narrowed*/received
    throw path
  },
}
export const /*handlerAnswer*/reply = (await handlers.getPass(null, { path: { pass_id: '' } })).body
`,
} as const

type Program = keyof typeof PROGRAMS

const paths = new Map(
  Object.keys(PROGRAMS).map((name) => [resolve('test/client', `hovered-${name}`), name as Program]),
)
let service: ts.LanguageService

beforeAll(() => {
  service = ts.createLanguageService({
    getCompilationSettings: () => OPTIONS,
    getScriptFileNames: () => [...paths.keys()],
    getScriptVersion: () => '1',
    getScriptSnapshot(file) {
      const name = paths.get(file)
      const text = name ? PROGRAMS[name] : ts.sys.readFile(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => process.cwd(),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (file) => paths.has(file) || ts.sys.fileExists(file),
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  })
}, 60_000)

const pathOf = (program: Program): string => [...paths].find(([, name]) => name === program)![0]

/** The first line of what an editor shows at the mark. */
function hover(program: Program, mark: string): string {
  const tag = `/*${mark}*/`
  const at = PROGRAMS[program].indexOf(tag)
  expect(at).toBeGreaterThan(-1)
  const info = service.getQuickInfoAtPosition(pathOf(program), at + tag.length)
  return ts.displayPartsToString(info?.displayParts)
}

test.each(Object.keys(PROGRAMS) as Program[])('%s compiles', (program) => {
  const found = service.getSemanticDiagnostics(pathOf(program))
  expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([])
})

const ROWS: readonly (readonly [Program, string, string])[] = [
  ['client.ts', 'answer', 'const pass: Pass'],
  [
    'client.ts',
    'function',
    '(alias) createPass(connection: ServiceConnection, params: PassCreate, options?: RequestOptions): Call<Pass>',
  ],
  ['client.ts', 'resource', '(property) Resources.passes: PassesResource'],
  [
    'client.ts',
    'update',
    '(method) PassesResource.update(passId: string, params: PassUpdateParams, options?: RequestOptions): Call<Pass>',
  ],
  [
    'client.ts',
    'retrieve',
    '(method) PassesResource.retrieve(passId: string, options?: RequestOptions): Call<Pass>',
  ],
  [
    'client.ts',
    'list',
    '(method) PassesResource.list(params?: PassListParams, options?: RequestOptions): ListCall<PassList, Pass>',
  ],
  [
    'client.ts',
    'nested',
    '(method) TestCardsResource.simulateAuthorization(params: TestCardSimulateAuthorizationParams, options?: RequestOptions): Call<CardTransaction>',
  ],
  ['client.ts', 'page', 'const page: PassList'],
  ['client.ts', 'filter', '(property) limit?: number'],
  ['client.ts', 'item', 'const each: Pass'],
  ['client.ts', 'property', '(property) holder: Holder'],
  ['server.ts', 'handlerBody', '(parameter) body: PassCreate'],
  ['server.ts', 'handlerQuery', '(parameter) query: ListPassesQuery'],
  ['server.ts', 'handlerAnswer', 'const reply: Pass'],
  ['server.ts', 'narrowed', 'const received: PassCreate'],
  ['server.ts', 'validator', 'function PassCreate(value: unknown): value is PassCreate'],
]

test.each(ROWS)('In %s, hovering over the %s shows the name of its type', (program, mark, shown) => {
  expect(hover(program, mark).split('\n')).toContain(shown)
})
