/**
 * Builds the model from the documents, and emits files in memory from the model. The gate runs in between
 * (cli/generate.ts).
 */
import { readFileSync } from 'node:fs'
import { hashOf, openCache, toolkitHash } from '../cache/cache.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Report } from '../diagnostics/diagnostic.ts'
import { reportProblems } from '../document/lint.ts'
import { type LoadedDocument, loadDocument } from '../document/load.ts'
import { shareEqual } from '../document/share.ts'
import { emitClient } from '../emit/client/client.ts'
import { noteUnwritten } from '../emit/client/unwritten.ts'
import { printDocument, printDocumentIndex } from '../emit/documents/documents.ts'
import { emitEvents } from '../emit/events/events.ts'
import { emitChangelog } from '../emit/guides/module.ts'
import { emitHandlers } from '../emit/handlers/handlers.ts'
import { emitRecords } from '../emit/handlers/records.ts'
import { emitRoutes } from '../emit/routes/routes.ts'
import { emitSite, type SiteSettings } from '../emit/site/site.ts'
import { emitTranslations, type Translations } from '../emit/translations/translations.ts'
import { emitTypes, type PrintedTypes, prepareTypes, printTypes } from '../emit/types/types.ts'
import { emitStandardSchemas } from '../emit/validators/standard-schemas.ts'
import { emitValidators } from '../emit/validators/validators.ts'
import { wireOf } from '../emit/wire/wire.ts'
import { buildApi } from '../ir/build.ts'
import type { Api, OutputFile } from '../ir/model.ts'
import { servedApi } from '../ir/served.ts'
import { checkStability } from '../ir/stability.ts'
import { readStreams } from '../ir/streams.ts'
import { nameVersions } from '../ir/versions.ts'
import { compare } from '../print/file.ts'
import type { Config, EmitterName } from './config.ts'
import { checkExtensions, readExtensionRules } from './extensions.ts'
import { siteSettings } from './site-settings.ts'
import { createTasks } from './tasks.ts'

/** The server view of each loaded version, from which server code is generated. */
const servedApis = new WeakMap<Api, () => Api>()

/** Returns the server view of a loaded version. */
export const servedOf = (api: Api): Api => servedApis.get(api)?.() ?? api

/** Document hash of each loaded version. */
const hashes = new WeakMap<Api, string>()

/** Reads and validates the documents, oldest first. Adds problems to the report. */
export async function loadApis(config: Config, report: Report): Promise<Api[]> {
  const documents = loadDocuments(config, report)
  const tasks = createTasks(openCache(), documents)
  // Only the newest document can still be edited. Redocly fails on unresolvable and circular references, so its
  // problems are read only after `buildApi` has checked those.
  const newest = documents.at(-1)
  const problems = newest && tasks.lint(newest)
  problems?.catch(() => undefined)
  const typed = config.emit.includes('types') || config.emit.includes('client')
  // Requested before `buildApi`, because a thread generates them meanwhile.
  const texts = typed ? documents.map((document) => tasks.types(readStreams(document))) : []
  for (const text of texts) text.catch(() => undefined)
  const built = documents.map((document) => buildApi(document, report, config.strict))
  const named = nameVersions(built, report)
  const apis = config.types ? named.map((api) => ({ ...api, types: config.types! })) : named
  for (const [index, document] of documents.entries()) {
    const api = apis[index]!
    hashes.set(api, document.hash)
    servedApis.set(api, () => servedApi(api, document))
    if (typed)
      prepareTypes(api, (types) => (types ? tasks.types(readStreams(document), types) : texts[index]!))
  }
  for (const api of apis) checkStability(api, report)
  checkExtensions(apis, readExtensionRules(config.extensions), report)
  if (newest && problems && !report.diagnostics.some((each) => /^(document|ref)-/.test(each.code)))
    reportProblems(await problems, newest, report, config.strict)
  return apis
}

function loadDocuments(config: Config, report: Report): LoadedDocument[] {
  const loaded: LoadedDocument[] = []
  for (const file of config.documents) {
    const document = loadDocument(file, report, config)
    if (document) loaded.push({ ...document, json: shareEqual(loaded.at(-1)?.json, document.json) })
  }
  return loaded
}

/** Emits the configured output, sorted by path. */
export async function emitAll(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  config: Config,
  report: Report,
): Promise<OutputFile[]> {
  const served = config.emit.some((name) => name === 'routes' || name === 'translations')
  const translations: Translations = served
    ? emitTranslations(apis, changes, report, config.out)
    : { files: [], bindings: new Map() }
  const { client, wire } = config
  let known: Api[] | undefined
  const serving = (): Api[] => (known ??= apis.map(servedOf))
  let types: PrintedTypes = { json: new Map(), mapped: new Map() }
  const emitters: Record<EmitterName, () => readonly OutputFile[]> = {
    types: () => emitTypes(apis, types, client !== undefined, changes),
    validators: () => [
      ...emitValidators(serving()),
      ...(config.standardSchemas ? emitStandardSchemas(serving()) : []),
    ],
    routes: () =>
      emitRoutes(serving(), translations.bindings, report, readExtensionRules(config.extensions), changes),
    translations: () => [
      ...translations.files,
      ...emitEvents(apis, changes, translations.bindings),
      ...emitChangelog(apis, changes, { wire: wireOf(wire ?? {}), client: client?.package.name }),
    ],
    handlers: () => [...emitHandlers(serving(), changes), ...emitRecords(serving().at(-1)!)],
    client: () => {
      if (!client) return []
      noteUnwritten(apis, report)
      const license = config.license === undefined ? undefined : readFileSync(config.license, 'utf8')
      return emitClient(apis, types.mapped, client, wire, report, changes, license)
    },
    site: () => emitCachedSite(apis, { ...siteSettings(config), changes }),
    documents: () => [...apis.map(printDocument), ...printDocumentIndex(apis)],
  }
  const needsTypes = (name: EmitterName) => name === 'types' || name === 'client'
  // A worker thread generates types at the same time.
  const files = config.emit
    .filter((name) => !needsTypes(name))
    .flatMap((name) => emitters[name]().map(packed))
  if (config.emit.some(needsTypes)) types = await printTypes(apis)
  files.push(...config.emit.filter(needsTypes).flatMap((name) => emitters[name]().map(packed)))
  return files.sort((a, b) => compare(a.path, b.path))
}

/** Stores text as UTF-8, which takes half the memory or less if the text has a character beyond Latin-1. */
function packed({ path, text }: OutputFile): OutputFile {
  const bytes = Buffer.from(text)
  return {
    path,
    get text() {
      return bytes.toString()
    },
  }
}

/** Emits the site, cached by the hash of all documents, because each page describes differences to other versions. */
export function emitCachedSite(apis: readonly Api[], settings: SiteSettings): readonly OutputFile[] {
  const documents = apis.map((api) => hashes.get(api))
  if (documents.includes(undefined)) return emitSite(apis, settings)
  const cache = openCache()
  const key = `site-${hashOf(toolkitHash(), JSON.stringify([documents, settings], withFunctions))}`
  const known = cache.read(key)
  if (known !== undefined) return JSON.parse(known) as OutputFile[]
  const files = emitSite(apis, settings)
  const length = files.reduce((sum, { text }) => sum + text.length, 0)
  if (length < MAX_CACHED) cache.write(key, JSON.stringify(files))
  return files
}

/** Characters of the largest site that is cached. A string of V8 has at most 512 million. */
const MAX_CACHED = 100_000_000

/** Includes the source of lens functions in the hash. */
const withFunctions = (_name: string, value: unknown): unknown =>
  typeof value === 'function' ? String(value) : value
