/**
 * `npm run prove:client`: packs the client as npm would publish it, installs it in a project of its own, and has it checked
 * by publint and arethetypeswrong, compiled by every TypeScript that it is for, under both ways of finding modules, and
 * run by every Node that is maintained, by Bun, by Deno and in a worker. Prints what became of each, and how long an editor
 * takes for its first completions; exits with 1 when one fails.
 *
 * The project is in `node_modules/.cache/client-matrix`: npm installs there what is named here, and nothing else is fetched.
 */
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { type Completion, measureCompletion, NODE_LIBRARY } from './completion.ts'

const CLIENT = resolve('generated/client')
const PROJECT = resolve('node_modules/.cache/client-matrix')
const TYPESCRIPT = ['5.4.5', '5.5.4', '5.6.3', '5.7.3', '5.8.3', '5.9.3', '6.0.3', '7.0.2']
/** Those with tsserver, which editors use. */
const TYPESCRIPT_SERVERS = ['5.9.3', '6.0.3']
const NODE = ['20.20.2', '22.23.3', '24.21.0']
/** Other runtimes, as the packages of their programs for this machine. */
const BUN = `@oven/bun-${process.platform}-${process.arch}`
const DENO = `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`
const WORKERD = `@cloudflare/workerd-${process.platform}-${process.arch === 'x64' ? '64' : process.arch}`
const RUNTIMES = { [BUN]: '1.4.5', [DENO]: '2.9.6', [WORKERD]: '1.20261117.1' }
const TOOLS = { publint: '0.3.25', '@arethetypeswrong/cli': '0.18.5' }
const RESOLUTIONS = { NodeNext: 'NodeNext', ESNext: 'Bundler' }
const STEP_MS = 120_000

/** What a reader writes: a call, a list, a refusal, a delivery, two versions at once. Its last line is what is looked at. */
const PROGRAM = `
import { createClient, NotFoundError, testHeaders, unwrap, type Schemas } from '@dateline/passes/2026-05-19'
import { createClient as createAny } from '@dateline/passes'

const settings = { baseUrl: process.argv[2] ?? '', apiKey: 'key', maxRetries: 0 }
const client = createClient(settings)
const me: Schemas['Me'] = await client.me.retrieve()
const ids: string[] = []
for await (const pass of client.passes.list()) ids.push(pass.id)
const refused = await client.passes.retrieve('p').catch((error: unknown) => error instanceof NotFoundError)
const body = '{"type":"pass.created"}'
const event = await unwrap(body, await testHeaders(body, 'whsec_1'), 'whsec_1')
const oldest = await createAny(settings).at('2025-06-01').me.retrieve()
// @ts-expect-error a version that there is not
const wrong = () => createAny(settings).at('2020-01-01')
console.log(JSON.stringify([me, ids, refused, event.type, oldest, typeof wrong]))
`
const WANT = JSON.stringify([
  { version: '2026-05-19' },
  ['pass_1'],
  true,
  'pass.created',
  { version: '2025-06-01' },
  'function',
])

/** The same package, in a CommonJS program. */
const REQUIRED = `
const { createClient, NotFoundError } = require('@dateline/passes/2026-05-19')
const { getMe } = require('@dateline/passes/2026-05-19/functions')
const { createClient: createAny } = require('@dateline/passes')
createClient({ baseUrl: process.argv[2], apiKey: 'key', maxRetries: 0 }).passes.retrieve('p').catch((error) =>
  console.log(JSON.stringify([error instanceof NotFoundError, typeof getMe, typeof createAny])))
`
const WANT_REQUIRED = JSON.stringify([true, 'function', 'function'])

const run = promisify(execFile)
const program = (path: string) => join(PROJECT, 'node_modules', path)

function install(): string {
  rmSync(PROJECT, { recursive: true, force: true })
  mkdirSync(PROJECT, { recursive: true })
  const npm = (...words: string[]) =>
    execFileSync('npm', words, {
      cwd: PROJECT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 5 * STEP_MS,
    })
  const [packed] = JSON.parse(npm('pack', CLIENT, '--json', '--silent')) as readonly {
    readonly filename: string
  }[]
  writeFileSync(join(PROJECT, 'package.json'), '{ "private": true, "type": "module" }')
  npm(
    'install',
    '--no-audit',
    '--no-fund',
    '--silent',
    join(PROJECT, packed!.filename),
    '@types/node@24.19.2',
    ...Object.entries({ ...TOOLS, ...RUNTIMES }).map(([name, version]) => `${name}@${version}`),
    ...TYPESCRIPT.map((version) => `typescript-${version}@npm:typescript@${version}`),
    ...NODE.map((version) => `node-${version}@npm:node-${process.platform}-${process.arch}@${version}`),
  )
  writeFileSync(join(PROJECT, 'program.ts'), PROGRAM)
  writeFileSync(join(PROJECT, 'program.cjs'), REQUIRED)
  return join(PROJECT, packed!.filename)
}

/** Answers as the service would, to what the program asks. */
async function serve(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(({ url = '', headers }, response) => {
    const body = url.startsWith('/v1/me')
      ? { version: headers['service-version'] }
      : url === '/v1/passes'
        ? { data: [{ id: 'pass_1' }], has_more: false, next_cursor: null }
        : { error: { type: 'not_found', code: 'not_found', message: 'No.' } }
    response.writeHead('error' in body ? 404 : 200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close().closeAllConnections(),
  }
}

function compile(version: string, module: string, resolution: string): Promise<unknown> {
  const name = `${version}-${resolution}`
  const compilerOptions = {
    strict: true,
    target: 'ES2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
    types: ['node'],
    module,
    moduleResolution: resolution,
    rootDir: '.',
    outDir: `out-${name}`,
  }
  const config = join(PROJECT, `tsconfig.${name}.json`)
  writeFileSync(config, JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  const compiler = program(`typescript-${version}/bin/tsc`)
  return run(process.execPath, [compiler, '-p', config], { cwd: PROJECT, timeout: STEP_MS })
}

const runOn = (version: string, file: string, url: string, want: string) =>
  runWith(program(`node-${version}/bin/node`), [file, url], want)

async function runWith(runtime: string, words: readonly string[], want: string): Promise<void> {
  const { stdout } = await run(runtime, words, { cwd: PROJECT, timeout: STEP_MS })
  if (stdout.trim() !== want) throw new Error(`wanted ${want}\nprinted ${stdout}`)
}

/** Bundles the program as a worker of workerd, whose tests exit with 1 when they throw. */
async function runInWorker(url: string): Promise<void> {
  const lines = PROGRAM.split('\n')
  const body = lines.filter((line) => !line.startsWith('import ')).join('\n')
  const worker = `export default { async test(_: unknown, env: { url: string }) {
const process = { argv: ['', '', env.url] }
${body}
} }`
  writeFileSync(
    join(PROJECT, 'worker.ts'),
    [...lines.filter((line) => line.startsWith('import ')), worker].join('\n'),
  )
  const made = await rolldown({ input: join(PROJECT, 'worker.ts'), platform: 'browser' })
  await made.write({ file: join(PROJECT, 'worker.js'), format: 'esm' })
  writeFileSync(
    join(PROJECT, 'worker.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [
  (name = "main", worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2026-01-01",
    bindings = [(name = "url", text = ${JSON.stringify(url)})], globalOutbound = "network")),
  (name = "network", network = (allow = ["private", "local"])),
]);`,
  )
  await runWith(program(`${WORKERD}/bin/workerd`), ['test', 'worker.capnp'], WANT)
}

/** Prints the figures of an editor, which depend on the machine. */
async function measureEditor(version: string): Promise<void> {
  const shown = ({ durationMs, processorMs }: Completion) =>
    `${Math.round(durationMs)} ms (${processorMs} ms of processor time)`
  for (const [library, options] of Object.entries({
    'for Node': NODE_LIBRARY,
    'with the default library': {},
  })) {
    const { client, none } = await measureCompletion(PROJECT, `typescript-${version}`, options)
    console.log(`        first completions ${library}: ${shown(client)}; without the client: ${shown(none)}`)
    if (!client.names.includes('create')) throw new Error(`completed ${client.names.join()}`)
  }
}

async function step(what: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    console.log(`ok      ${what}`)
    return true
  } catch (cause) {
    const { stdout = '', message } = cause as Error & { readonly stdout?: string }
    console.log(`FAILED  ${what}\n${stdout}${message}`)
    return false
  }
}

const tarball = install()
const server = await serve()
const results: boolean[] = []
results.push(
  await step('publint', () =>
    run(program('.bin/publint'), ['run', tarball, '--strict'], { timeout: STEP_MS }),
  ),
)
const attw = [tarball, '--profile', 'node16', '--no-emoji', '--format', 'ascii']
results.push(await step('arethetypeswrong', () => run(program('.bin/attw'), attw, { timeout: STEP_MS })))
for (const version of TYPESCRIPT)
  for (const [module, resolution] of Object.entries(RESOLUTIONS))
    results.push(
      await step(`TypeScript ${version}, ${resolution}`, () => compile(version, module, resolution)),
    )
const compiled = `out-${TYPESCRIPT.at(-1)}-NodeNext/program.js`
for (const version of NODE)
  results.push(
    await step(`Node ${version}`, () => runOn(version, compiled, server.url, WANT)),
    await step(`Node ${version}, CommonJS`, () => runOn(version, 'program.cjs', server.url, WANT_REQUIRED)),
  )
const deno = ['run', '--no-lock', '--allow-net', '--allow-read', '--allow-env', compiled, server.url]
results.push(
  await step(`Bun ${RUNTIMES[BUN]}`, () => runWith(program(`${BUN}/bin/bun`), [compiled, server.url], WANT)),
  await step(`Deno ${RUNTIMES[DENO]}`, () => runWith(program(`${DENO}/deno`), deno, WANT)),
  await step(`workerd ${RUNTIMES[WORKERD]}`, () => runInWorker(server.url)),
)
for (const version of TYPESCRIPT_SERVERS)
  results.push(await step(`completions of TypeScript ${version}`, () => measureEditor(version)))
server.close()
process.exitCode = results.every(Boolean) ? 0 : 1
