/** `build`: builds output files that are not committed, if they are missing or differ from the manifest. */
import { join } from 'node:path'
import { loadChanges } from '../change/load-changes.ts'
import { createReport, type Diagnostic, DiagnosticsError } from '../diagnostics/diagnostic.ts'
import { loadDocument } from '../document/load.ts'
import { printDocument } from '../emit/documents/documents.ts'
import { emitSite } from '../emit/site/site.ts'
import type { Config } from '../generate/config.ts'
import { siteSettings } from '../generate/site-settings.ts'
import { buildApi } from '../ir/build.ts'
import type { Api, OutputFile } from '../ir/model.ts'
import { nameVersions } from '../ir/versions.ts'
import { type BuiltEmitter, builtBy, findUnbuilt, readManifest } from '../output/built.ts'
import { MANIFEST, type Manifest, manifestOf } from '../output/manifest.ts'
import { writeBuilt } from '../output/write.ts'
import { type CommandOutcome, type CommandRun, count, UsageError } from './run.ts'

const GENERATE = 'run `dateline generate` and commit the result'

/**
 * Builds the files of these emitters. Loads only the documents and these emitters, because a service waits for the
 * build at its first start.
 *
 * @param names emitters; if empty, all in `builtWhenNeeded`.
 * @throws DiagnosticsError, before writing anything, if the documents give other texts than the manifest lists.
 */
export async function build(
  { config, terminal }: CommandRun,
  names: readonly string[] = [],
): Promise<CommandOutcome> {
  const { out, builtWhenNeeded } = config
  const unknown = names.find((name) => !builtWhenNeeded.some((each) => each === name))
  if (unknown !== undefined)
    throw new UsageError(
      `${unknown} is not in \`builtWhenNeeded\`: expected one of ${builtWhenNeeded.join(', ')}`,
    )
  const wanted = builtWhenNeeded.filter((each) => names.length === 0 || names.includes(each))
  const unbuilt = findUnbuilt(out, wanted)
  if (!unbuilt) {
    const message = `${join(out, MANIFEST)} is missing: nothing has been generated yet`
    throw new DiagnosticsError([{ code: 'drift', severity: 'error', message, hint: GENERATE }])
  }
  if (unbuilt.length > 0) {
    terminal.status?.(`building ${count(unbuilt.length, 'file')}`)
    const apis = readFamily(config)
    const files = await printFiles(apis, config, unbuilt)
    const wrong = findWrong(unbuilt, files, readManifest(out) ?? new Map(), apis)
    if (wrong.length > 0) throw new DiagnosticsError(wrong)
    writeBuilt(out, files)
  }
  return {
    lines: [...unbuilt.map((path) => `built ${path}`), `${out}: ${count(unbuilt.length, 'file')} built`],
    data: { out, built: unbuilt },
  }
}

/** Loads the documents. Drops warnings, which `generate` already printed. */
function readFamily(config: Config): Api[] {
  const report = createReport()
  const loaded = config.documents.flatMap((file) => loadDocument(file, report, config) ?? [])
  report.finish()
  const apis = nameVersions(
    loaded.map((document) => buildApi(document, report, config.strict)),
    report,
  )
  report.finish()
  return apis
}

async function printFiles(
  apis: readonly Api[],
  config: Config,
  unbuilt: readonly string[],
): Promise<OutputFile[]> {
  const wanted = new Set(unbuilt)
  const wants = (emitter: BuiltEmitter) => unbuilt.some((path) => builtBy(path, [emitter]) !== undefined)
  const readChanges = async () => {
    const report = createReport()
    const dates = apis.map(({ version }) => version)
    const changes = await loadChanges(config.versions, dates, report)
    report.finish()
    return changes
  }
  return [
    ...(wants('documents') ? apis.map(printDocument) : []),
    ...(wants('site') ? emitSite(apis, { ...siteSettings(config), changes: await readChanges() }) : []),
  ].filter(({ path }) => wanted.has(path))
}

/**
 * Reports files that differ from the manifest: the documents were edited, or a different toolkit version wrote the
 * output.
 */
function findWrong(
  wanted: readonly string[],
  files: readonly OutputFile[],
  manifest: Manifest,
  apis: readonly Api[],
): Diagnostic[] {
  const made = manifestOf(files)
  return wanted
    .filter((path) => !manifest.get(path)?.some((hash) => made.get(path)?.includes(hash)))
    .map((path) => {
      const place = apis.find(({ version }) => path.startsWith(`${version}/`))?.place
      const message = `${path} would differ from ${MANIFEST}: the documents were edited after the last \`dateline generate\``
      return { code: 'drift', severity: 'error', message, hint: GENERATE, ...(place && { place }) }
    })
}
