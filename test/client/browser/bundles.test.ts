/** What a bundler makes of the built package: how much one import weighs, and that it runs in a page and in a worker. */
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { versions } from '../../../generated/versions.ts'
import { startChromium } from '../../support/chromium.ts'
import { installClient } from '../installed.ts'

const KILOBYTE = 1000

let project: string
beforeAll(() => {
  project = installClient()
})
afterAll(() => rmSync(project, { recursive: true }))

async function bundle(text: string): Promise<string> {
  writeFileSync(join(project, 'entry.js'), text)
  const made = await rolldown({ input: join(project, 'entry.js'), platform: 'browser' })
  const { output } = await made.generate({ format: 'esm', minify: true })
  return output[0].code
}

const one = (version: string) =>
  `import { createClient } from '@dateline/passes/${version}'; await createClient({ baseUrl: '' }).me.retrieve()`
const newest = versions.at(-1)!.name

test.each(versions.map(({ name }) => name))('one operation of %s weighs at most 14.5 kB', async (version) => {
  const bytes = gzipSync(await bundle(one(version))).length
  expect(bytes).toBeGreaterThan(500)
  expect(bytes).toBeLessThanOrEqual(14.5 * KILOBYTE)
})

test('the README says what each import weighs', async () => {
  const { client } = JSON.parse(readFileSync('dateline.config.json', 'utf8'))
  const programs = {
    '`connect` and one function of one version': `import { connect } from '@dateline/passes/${newest}'; import { getMe } from '@dateline/passes/${newest}/functions'; await getMe(connect({ baseUrl: '' }))`,
    '`createClient` of one version': one(newest),
    '`unwrap` of one version': `import { unwrap } from '@dateline/passes/${newest}'; await unwrap('', {}, '')`,
    '`createClient` of all versions': `import { createClient } from '@dateline/passes'; createClient({ baseUrl: '' }).at('${newest}')`,
    '`unwrap` of all versions': "import { unwrap } from '@dateline/passes'; await unwrap('', {}, '')",
  }
  expect(Object.keys(client.weights)).toEqual(Object.keys(programs))
  const measured: [string, number][] = []
  for (const [what, text] of Object.entries(programs))
    measured.push([what, gzipSync(await bundle(text)).length / KILOBYTE])
  const wrong = measured.filter(([what, kilobytes]) => Math.abs(kilobytes - client.weights[what]) >= 0.3)
  expect(wrong).toEqual([])
})

/** Calls, is refused, and receives; what came of it goes to `report`. */
const PROGRAM = (report: string) => `
import { createClient, NotFoundError, testHeaders, unwrap } from '@dateline/passes/2026-05-19'
const client = createClient({ baseUrl: self.location.origin, apiKey: 'key' })
const me = await client.getMe()
const refused = await client.getPass({ path: { pass_id: 'p' } }).catch((error) => error instanceof NotFoundError)
const body = '{"type":"pass.created"}'
const event = await unwrap(body, new Headers(await testHeaders(body, 'whsec_1')), 'whsec_1')
${report}({ me, refused, type: event.type })
`

async function serve(files: Readonly<Record<string, string>>): Promise<Server> {
  const server = createServer((request, response) => {
    const file = files[request.url ?? '']
    if (file !== undefined) {
      const type = request.url === '/' ? 'text/html' : 'text/javascript'
      response.writeHead(200, { 'Content-Type': type }).end(file)
      return
    }
    const known = request.url === '/v1/me'
    response.writeHead(known ? 200 : 404, { 'Content-Type': 'application/json' })
    response.end(
      known
        ? JSON.stringify({ version: request.headers['service-version'] })
        : JSON.stringify({ error: { type: 'not_found', code: 'not_found', message: 'No.' } }),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

test('the client runs in a page and in a worker', async () => {
  const server = await serve({
    '/': '<!doctype html><script type="module" src="/page.js"></script>',
    '/page.js': await bundle(PROGRAM('window.report = ')),
    '/worker.js': await bundle(PROGRAM('self.postMessage')),
  })
  const browser = await startChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const inPage = await (await page.waitForFunction('window.report')).jsonValue()
    const inWorker = await page.evaluate(
      `new Promise((resolve, reject) => {
         const worker = new Worker('/worker.js', { type: 'module' })
         worker.onmessage = ({ data }) => resolve(data)
         worker.onerror = ({ message }) => reject(new Error(message))
       })`,
    )
    const want = { me: { version: '2026-05-19' }, refused: true, type: 'pass.created' }
    expect([inPage, inWorker]).toEqual([want, want])
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
})
