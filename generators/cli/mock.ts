/** `mock`: serves every version of the family from its documents until it is interrupted. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Api } from '../ir/model.ts'
import { type CommandOutcome, type CommandRun, count, loadFamily, UsageError } from './run.ts'

export interface MockCommandOptions {
  /** Version of requests that name none. */
  readonly version?: string
  readonly port?: string
  readonly host?: string
  readonly seed?: string
}

const PORT = 4010
const HOST = '127.0.0.1'
const MAX_PORT = 65_535

/**
 * Serves the mock until the signal aborts.
 *
 * @throws DiagnosticsError if the gate reports an error. @throws UsageError if an option or the address is not usable.
 */
export async function mock(
  run: CommandRun,
  options: MockCommandOptions,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const port = integerOf('--port', options.port, PORT, MAX_PORT)
  const seed = integerOf('--seed', options.seed, 1, 2 ** 31)
  const { apis, changes } = await loadServed(run)
  const [{ createMock, VERSION_HEADER }, { toNodeListener }] = await Promise.all([
    import('../mock/mock.ts'),
    import('../server/node.ts'),
  ])
  const { version } = options
  versionOf(apis, version)
  const { wire } = run.config
  const api = createMock(apis, changes, {
    seed,
    ...(wire && { wire }),
    ...(version !== undefined && { defaultVersion: version }),
  })
  const server = createServer(toNodeListener(api))
  const host = options.host ?? HOST
  await listen(server, port, host)
  const { port: bound } = server.address() as AddressInfo
  const base = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  run.terminal.status?.('')
  for (const line of started(apis, base, version, wire?.versionHeader ?? VERSION_HEADER))
    run.terminal.out(line)
  await aborted(signal)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return { lines: [], data: { url: base, versions: apis.map((each) => each.version) } }
}

/**
 * Loads the family and passes the gate.
 *
 * @throws DiagnosticsError if the gate reports an error, because old versions could not be translated.
 */
async function loadServed(
  run: CommandRun,
): Promise<{ readonly apis: readonly Api[]; readonly changes: readonly LoadedChange[] }> {
  const { config, report } = run
  const apis = await loadFamily(run)
  const [{ loadChanges }, { claimSteps }, { checkSteps }] = await Promise.all([
    import('../change/load-changes.ts'),
    import('../gate/steps.ts'),
    import('../gate/gate.ts'),
  ])
  const names = apis.map((api) => api.version)
  const changes = await loadChanges(config.versions, names, report)
  for (const diagnostic of checkSteps(claimSteps(apis, changes), config)) report.add(diagnostic)
  report.finish()
  return { apis, changes }
}

/** Returns the version of this name; the newest one if no name is given. @throws UsageError if there is none. */
export function versionOf(apis: readonly Api[], name: string | undefined): Api {
  const found = name === undefined ? apis.at(-1) : apis.find((api) => api.version === name)
  if (found) return found
  const known = apis.map((api) => api.version).join(', ')
  throw new UsageError(`--version: there is no version ${name}; versions are ${known}`)
}

function integerOf(name: string, text: string | undefined, otherwise: number, most: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new UsageError(`${name} must be an integer from 0 to ${most}, not ${text}`)
  return value
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new UsageError(
              `port ${port} is in use: choose a different one with --port, or 0 for any free port`,
            )
          : new UsageError(`the mock cannot listen on ${host}:${port}: ${error.message}`),
      ),
    )
    server.listen(port, host, resolve)
  })
}

function started(
  apis: readonly Api[],
  base: string,
  version: string | undefined,
  header: string,
): readonly string[] {
  const fallback = version ?? apis.at(-1)!.version
  const shown = apis.at(-1)!.operations.find(({ method, path }) => method === 'GET' && !path.includes('{'))
  return [
    `serving ${count(apis.length, 'version')} at ${base}; requests without a version get ${fallback}`,
    ...apis.map((api) => `  ${api.version}  ${base}/${api.version}, or with ${header}: ${api.version}`),
    `try: curl -H '${header}: ${fallback}' ${base}${shown?.path ?? `/openapi/${fallback}.json`}`,
    'stop with Ctrl+C; records are kept until then',
  ]
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
