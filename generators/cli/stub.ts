/** `stub`: which operations have no handler yet, and a beginning for each. */
import { count, loadFamily, type Outcome, type Run, UsageError } from './run.ts'

/** @param listing says what is missing and writes nothing. @throws UsageError without a folder of handlers. */
export async function stub(run: Run, listing: boolean): Promise<Outcome> {
  const { handlers, out, stubs: names } = run.config
  if (handlers === undefined)
    throw new UsageError('name the folder of handlers as `handlers` in the configuration file')
  const apis = await loadFamily(run)
  // ts-morph brings a compiler along: only this command waits for it.
  const [{ addStubs }, { loadChanges }] = await Promise.all([
    import('../scaffold/stub.ts'),
    import('../change/load-changes.ts'),
  ])
  const versions = apis.map((api) => api.version)
  const changes = await loadChanges(run.config.versions, versions, run.report)
  run.report.finish()
  const stubs = addStubs(apis, handlers, out, listing, changes, names)
  const said = listing
    ? `${count(stubs.length, 'operation')} without a handler`
    : `${count(stubs.length, 'stub')} added`
  return {
    lines: [...stubs.map(({ file, operation }) => `${file}: ${operation}`), `${handlers}: ${said}`],
    data: { handlers, [listing ? 'missing' : 'added']: stubs },
  }
}
