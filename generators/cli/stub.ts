/** `stub`: lists operations without a handler, and creates handler stubs. */
import { spawnSync } from 'node:child_process'
import { dirname, relative } from 'node:path'
import { committedOperations } from './committed.ts'
import { type CommandOutcome, type CommandRun, count, loadFamily, UsageError } from './run.ts'

/**
 * Creates handler stubs.
 *
 * @param listing lists missing handlers and writes nothing.
 * @param wanted operation ids; if empty, operations of the newest document that are not in the document at git's
 *   HEAD.
 * @throws UsageError if the configuration has no folder of handlers, or no templates.
 */
export async function stub(
  run: CommandRun,
  listing: boolean,
  wanted: readonly string[] = [],
): Promise<CommandOutcome> {
  const { handlers, stub: templates } = run.config
  if (handlers === undefined)
    throw new UsageError('`handlers` is missing: set it to the folder of handlers in the configuration file')
  if (!listing && templates === undefined)
    throw new UsageError(
      '`stub` is missing: set templates and files in the configuration file, or use --list',
    )
  const apis = await loadFamily(run)
  const [{ missingOperations }, { loadChanges }] = await Promise.all([
    import('../scaffold/handled.ts'),
    import('../change/load-changes.ts'),
  ])
  const versions = apis.map((api) => api.version)
  const changes = await loadChanges(run.config.versions, versions, run.report)
  run.report.finish()
  const missing = missingOperations(apis, handlers, changes).map(({ operation }) => operation)
  const unknown = wanted.find((id) => !missing.some((operation) => operation.id === id))
  if (unknown !== undefined)
    throw new UsageError(`${unknown} is not an operation without a handler: run \`dateline stub --list\``)
  if (listing) {
    return {
      lines: [
        ...missing.map(({ id, method, path }) => `${id}: ${method} ${path}`),
        `${handlers}: ${count(missing.length, 'operation')} without a handler`,
      ],
      data: { handlers, missing: missing.map(({ id }) => id) },
    }
  }
  const known =
    wanted.length > 0 ? undefined : committedOperations(run.config.documents, run.config.remoteReferences)
  const chosen = missing.filter(({ id }) => (known ? !known.has(id) : wanted.includes(id)))
  const root = relative('', dirname(run.file)) || '.'
  const { writeStubs } = await importStubs()
  const { operations, written, left } = writeStubs(apis.at(-1)!, chosen, templates!, root, handlers)
  if (written.length > 0 && templates!.format) format(templates!.format, written)
  return {
    lines: [
      ...written.map((file) => `wrote ${file}`),
      ...left.map((file) => `kept ${file}, which already exists`),
      `${count(operations.length, 'stub')} added${operations.length > 0 ? `: ${operations.join(', ')}` : ''}`,
    ],
    data: { handlers, added: operations, written, left },
  }
}

/** @throws UsageError if ts-morph is missing, an optional peer that only writing stubs uses. */
async function importStubs() {
  try {
    return await import('../scaffold/stub.ts')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new UsageError('ts-morph is not installed: run `npm install --save-dev ts-morph@28.0.0`')
  }
}

/** @throws UsageError with the formatter's output if it fails. */
function format([program = '', ...rest]: readonly string[], files: readonly string[]): void {
  const done = spawnSync(program, [...rest, ...files], { encoding: 'utf8' })
  if (done.status === 0) return
  const said = done.error?.message ?? `${done.stdout}${done.stderr}`.trim()
  throw new UsageError(`the stubs were written, but \`${program} ${rest.join(' ')}\` failed:\n${said}`)
}
