/** Loads what a replay needs of a family. */
import type { Config } from '../generate/config.ts'
import type { TrafficHeaders } from '../replay/exchanges.ts'
import type { ReplayVersions } from '../replay/replayer.ts'
import { type CommandRun, UsageError } from './run.ts'

export interface ReplayCommandOptions {
  readonly from?: string
  readonly to?: string
  /** Header that names the caller. */
  readonly caller?: string
}

export function readingOf({ wire }: Config, { caller }: ReplayCommandOptions): TrafficHeaders {
  return {
    versionHeader: (wire?.versionHeader ?? 'Api-Version').toLowerCase(),
    ...(caller !== undefined && { callerHeader: caller.toLowerCase() }),
  }
}

/**
 * Returns the versions from `--from` to `--to`, and all changes. Documents are not linted, because lint findings do not matter
 * here.
 */
export async function loadVersions(
  { config, report }: CommandRun,
  { from, to }: ReplayCommandOptions,
): Promise<ReplayVersions> {
  const [{ loadDocument }, { buildApi }, { nameVersions }, { loadChanges }] = await Promise.all([
    import('../document/load.ts'),
    import('../ir/build.ts'),
    import('../ir/versions.ts'),
    import('../change/load-changes.ts'),
  ])
  const documents = config.documents.flatMap((file) => loadDocument(file, report, config) ?? [])
  report.finish()
  const apis = nameVersions(
    documents.map((document) => buildApi(document, report, config.strict)),
    report,
  )
  const names = apis.map(({ version }) => version)
  const changes = await loadChanges(config.versions, names, report)
  report.finish()
  const indexOf = (option: string, name: string | undefined) => {
    const index = name === undefined ? -1 : names.indexOf(name)
    if (index < 0) throw new UsageError(`${option}: name one of the versions ${names.join(', ')}`)
    return index
  }
  const [first, last] = [indexOf('--from', from), indexOf('--to', to ?? names.at(-1))]
  if (first >= last) throw new UsageError(`--to must be a later version than ${names[first]}`)
  return { apis: apis.slice(first, last + 1), changes }
}
