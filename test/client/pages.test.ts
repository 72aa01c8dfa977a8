/** What the pages show in TypeScript compiles in a project that has installed the built package, and nothing else of ours. */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileIn, installClient } from './installed.ts'

const PAGES = ['README.md', 'generated/client/README.md', 'generated/client/GUIDE.md']

/** What a reader has at hand, under the names that the pages give it; most of it from blocks further up. */
const AT_HAND = `
declare const baseUrl: string, apiKey: string, secret: string, body: string, request: { headers: Headers }
declare const client: import('@dateline/passes/2026-05-19').Client
declare const createClient: typeof import('@dateline/passes/2026-05-19').createClient
declare function receive(request: Request): Promise<Response>
`

const blocks = PAGES.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text = '']) => ({
    page,
    text,
  })),
)
const nameOf = (index: number) => `block-${index}.ts`
const blockWith = (text: string) => blocks.findIndex((each) => each.text.includes(text))

let project: string
let errors: ReadonlyMap<string, readonly string[]>
beforeAll(() => {
  project = installClient()
  const wrong = blocks[blockWith('passes.create(')]!.text.replace('passes.create(', 'passes.creat(')
  const files = blocks.map(({ text }, index) => [nameOf(index), `${text}\nexport {}\n`])
  errors = compileIn(project, { 'at-hand.d.ts': AT_HAND, ...Object.fromEntries(files), 'wrong.ts': wrong })
}, 120_000)
afterAll(() => rmSync(project, { recursive: true }))

test('there are blocks on each page', () => {
  expect(new Set(blocks.map(({ page }) => page))).toEqual(new Set(PAGES))
})

test.each(blocks.map((block, index) => ({ ...block, index })))(
  'the TypeScript of $page compiles: $text',
  ({ index }) => {
    expect(errors.get(nameOf(index)) ?? []).toEqual([])
  },
)

test('a call that there is not does not compile, and nothing else fails to', () => {
  expect([...errors]).toEqual([['wrong.ts', [expect.stringContaining("Property 'creat' does not exist")]]])
})

/** Runs in a process of its own, as the reader's program would. */
const RECEIVERS = (hono: string, express: string, fastify: string, route: string) => `
import { once } from 'node:events'
import { testHeaders } from '@dateline/passes/2026-05-19'

globalThis.secret = 'whsec_of_the_page'
console.log = () => {}
const { receive } = await import('./${route}')
globalThis.receive = receive
const [hono, express, fastify] = (await Promise.all(['./${hono}', './${express}', './${fastify}'].map((each) => import(each)))).map((each) => each.default)
const listening = express.listen(0, '127.0.0.1')
await once(listening, 'listening')
const address = \`http://127.0.0.1:\${listening.address().port}/webhooks\`
const body = JSON.stringify({ type: 'pass.created', data: {} })
const answers = {}
for (const [name, headers] of Object.entries({
  signed: await testHeaders(body, secret),
  forged: await testHeaders(body, 'whsec_of_another'),
})) {
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }
  answers[name] = [
    (await receive(new Request('http://localhost/webhooks', init))).status,
    (await hono.request('/webhooks', init)).status,
    (await fetch(address, init)).status,
    (await fastify.inject({ url: '/webhooks', ...init })).statusCode,
  ]
}
listening.close()
process.stdout.write(JSON.stringify(answers))
`

test('the receivers take what is signed and refuse what is not, in each framework', () => {
  const file = (text: string) => nameOf(blockWith(text))
  const frameworks = [file("from 'hono'"), file("from 'express'"), file("from 'fastify'")] as const
  const program = RECEIVERS(...frameworks, file('export async function receive'))
  writeFileSync(join(project, 'receivers.mjs'), program)
  const printed = execFileSync(process.execPath, ['receivers.mjs'], {
    cwd: project,
    encoding: 'utf8',
    timeout: 30_000,
  })
  expect(JSON.parse(printed)).toEqual({ signed: [204, 204, 204, 204], forged: [400, 400, 400, 400] })
})
