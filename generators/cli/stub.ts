/** `stub`: which operations have no handler yet, and a beginning for those that are wanted. */
import { spawnSync } from 'node:child_process'
import { dirname, relative } from 'node:path'
import { committedOperations } from './committed.ts'
import { type CommandOutcome, type CommandRun, count, loadFamily, UsageError } from './run.ts'

/**
 * @param listing says what is missing and writes nothing.
 * @param wanted ids of operations; none: those that the newest document has and its version at git's HEAD has not.
 * @throws UsageError without a folder of handlers, or without templates where something is to be written.
 */
export async function stub(
  run: CommandRun,
  listing: boolean,
  wanted: readonly string[] = [],
): Promise<CommandOutcome> {
  const { handlers, stub: templates } = run.config
  if (handlers === undefined)
    throw new UsageError('name the folder of handlers as `handlers` in the configuration file')
  if (!listing && templates === undefined)
    throw new UsageError('name templates and files as `stub` in the configuration file, or ask for --list')
  const apis = await loadFamily(run)
  // ts-morph brings a compiler along: only this command waits for it.
  const [{ missingOperations, writeStubs }, { loadChanges }] = await Promise.all([
    import('../scaffold/stub.ts'),
    import('../change/load-changes.ts'),
  ])
  const versions = apis.map((api) => api.version)
  const changes = await loadChanges(run.config.versions, versions, run.report)
  run.report.finish()
  const missing = missingOperations(apis, handlers, changes).map(({ operation }) => operation)
  const unknown = wanted.find((id) => !missing.some((operation) => operation.id === id))
  if (unknown !== undefined) throw new UsageError(`${unknown} is no operation without a handler`)
  if (listing) {
    return {
      lines: [
        ...missing.map(({ id, method, path }) => `${id}: ${method} ${path}`),
        `${handlers}: ${count(missing.length, 'operation')} without a handler`,
      ],
      data: { handlers, missing: missing.map(({ id }) => id) },
    }
  }
  const known = wanted.length > 0 ? undefined : committedOperations(run.config.documents)
  const chosen = missing.filter(({ id }) => (known ? !known.has(id) : wanted.includes(id)))
  const root = relative('', dirname(run.file)) || '.'
  const { operations, written, left } = writeStubs(apis.at(-1)!, chosen, templates!, root, handlers)
  if (written.length > 0 && templates!.format) format(templates!.format, written)
  return {
    lines: [
      ...written.map((file) => `wrote ${file}`),
      ...left.map((file) => `left ${file} as it is`),
      `${count(operations.length, 'stub')} added${operations.length > 0 ? `: ${operations.join(', ')}` : ''}`,
    ],
    data: { handlers, added: operations, written, left },
  }
}

/** @throws UsageError with what the formatter says when it fails. */
function format([program = '', ...rest]: readonly string[], files: readonly string[]): void {
  const done = spawnSync(program, [...rest, ...files], { encoding: 'utf8' })
  if (done.status === 0) return
  const said = done.error?.message ?? `${done.stdout}${done.stderr}`.trim()
  throw new UsageError(`the stubs are written, but \`${program} ${rest.join(' ')}\` refuses them:\n${said}`)
}
