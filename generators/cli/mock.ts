/** `mock`: serves every version of the family from its documents until it is interrupted. */
import type { LoadedChange } from '../change/load-changes.ts'
import type { Api } from '../ir/model.ts'
import { aborted, integerOf, listen, portOf, versionOf } from './listen.ts'
import { type CommandOutcome, type CommandRun, count, loadFamily } from './run.ts'

export interface MockCommandOptions {
  /** Version of requests that name none. */
  readonly version?: string
  readonly port?: string
  readonly host?: string
  readonly seed?: string
}

const PORT = '4010'

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
  const port = portOf(options.port ?? PORT)
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
  const { base, close } = await listen(toNodeListener(api), port, options.host)
  run.terminal.status?.('')
  for (const line of started(apis, base, version, wire?.versionHeader ?? VERSION_HEADER))
    run.terminal.out(line)
  await aborted(signal)
  await close()
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
