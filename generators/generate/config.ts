/**
 * Reads `dateline.config.json`, or a module that exports the same members: the documents of the family, and the folders
 * of changes and output.
 */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { importTypeScript } from '../change/load-changes.ts'
import type { Report } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { escapePointer } from '../document/escape-pointer.ts'
import type { RemoteReferences } from '../document/parts.ts'
import { readLocated } from '../document/read-yaml.ts'
import type { ClientConfig } from '../emit/client/config.ts'
import type { WireConfig } from '../emit/wire/wire.ts'
import { MAPPED_TYPES, type TypeMapping } from '../ir/type-mapping.ts'
import { BUILT_EMITTERS, type BuiltEmitter } from '../output/built.ts'
import { findOutputFault, type NamedSources } from '../output/output-folder.ts'
import { compare } from '../print/file.ts'
import { findStubFault, type StubConfig } from '../scaffold/config.ts'

export interface Config {
  /** Document files, oldest first, relative to the working directory. */
  readonly documents: readonly string[]
  /** Folder of the hand-written changes. */
  readonly versions?: string
  /** File with JSON Schemas of the allowed `x-` members by kind of node. Without it, `x-` members are not checked. */
  readonly extensions?: string
  readonly out: string
  /** What is generated. Default: everything, except what needs `handlers` if that is not set. */
  readonly emit: readonly EmitterName[]
  /** Emitters whose files are not committed: the manifest lists their hashes, and `build` creates them. */
  readonly builtWhenNeeded: readonly BuiltEmitter[]
  /** Whether validators are also emitted as Standard Schemas: `<version>/schemas.js`. Needs the emitter `validators`. */
  readonly standardSchemas?: boolean
  /** The npm package of the client. Without it, no client is emitted. */
  readonly client?: ClientConfig
  /** File with the license text, which is copied into the client's package. */
  readonly license?: string
  /** Wire names that the documents cannot identify. */
  readonly wire?: WireConfig
  /** Folder of the hand-written documentation pages. */
  readonly pages?: string
  /**
   * URL, file or command that returns the document of the running service: `freeze` stores it, `check` compares with
   * it.
   */
  readonly source?: string
  /**
   * Types of handlers and clients by format: `"int64": "bigint"`, `"date-time": "Date"` or `"Temporal.Instant"`, `"date":
   * "Temporal.PlainDate"`. Default: as in JSON.
   */
  readonly types?: TypeMapping
  /** Folder that `stub` adds handlers to. */
  readonly handlers?: string
  /** Templates and files that `stub` creates for an operation without a handler. */
  readonly stub?: StubConfig
  /**
   * Folders with copies of what URLs in references return, by the beginning of the URLs. Nothing is downloaded; other
   * URLs are errors.
   */
  readonly remoteReferences?: RemoteReferences
  /** Overlay files (Overlay 1.0), applied to each document, or, with `extends`, to the document that it names. */
  readonly overlays?: readonly string[]
  /**
   * Whether unsupported parts of documents and violated Redocly rules are errors; otherwise they are warnings.
   * Defaults to true if `handlers` is set, because a server must not validate less than its document says.
   */
  readonly strict: boolean
}

/** The members of the configuration file, as it is written. Paths are relative to its folder. */
export type FamilyConfig = Partial<Omit<Config, 'documents' | 'out' | 'overlays'>> & {
  /** A folder of documents, or a list of files, oldest first. */
  readonly documents: string | readonly string[]
  /** A folder of overlays, or a list of files, in the order in which they are applied. */
  readonly overlays?: string | readonly string[]
  /** Folder of the output. dateline also removes files from it that it wrote. */
  readonly out: string
}

/** All emitters. Without `emit`, all are used, except those that need `handlers` if that is not set. */
export const EMITTERS = [
  'types',
  'validators',
  'routes',
  'translations',
  'handlers',
  'client',
  'site',
  'documents',
] as const
export type EmitterName = (typeof EMITTERS)[number]

const MEMBERS = [
  'documents',
  'versions',
  'extensions',
  'out',
  'handlers',
  'stub',
  'emit',
  'builtWhenNeeded',
  'client',
  'wire',
  'pages',
  'license',
  'source',
  'standardSchemas',
  'remoteReferences',
  'overlays',
  'strict',
  'types',
]

const MODULES = ['.ts', '.mjs', '.js']

/** Returns the configuration file, or a module next to it with the same name if only that exists. */
export function findConfig(file: string): string {
  if (basename(file) !== 'dateline.config.json' || existsSync(file)) return file
  const stem = file.slice(0, -'.json'.length)
  return MODULES.map((extension) => stem + extension).find((each) => existsSync(each)) ?? file
}

/** Reads a configuration in JSON or a module, like `readConfig`. */
export async function loadConfig(file: string, report: Report): Promise<Config | undefined> {
  if (!MODULES.some((extension) => file.endsWith(extension))) return readConfig(file, report)
  try {
    const { default: exported } = (await importTypeScript(resolve(file))) as { default?: unknown }
    return readConfig(file, report, { exported })
  } catch (cause) {
    const message = `${file} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`
    const hint = 'export the configuration: `export default defineConfig({ documents: …, out: … })`'
    report.add({ code: 'config-invalid', severity: 'error', message, hint })
    return undefined
  }
}

/**
 * Returns the configuration, or undefined after reporting errors in the file.
 *
 * @param module the default export, if the file is a module.
 */
export function readConfig(
  file: string,
  report: Report,
  module?: { readonly exported: unknown },
): Config | undefined {
  let text: string
  let raw: unknown
  try {
    text = readFileSync(file, 'utf8')
    raw = module ? module.exported : JSON.parse(text)
  } catch (cause) {
    const message = `${file}: ${(cause as Error).message}`
    const hint = 'write a JSON file with `documents` and `out`'
    report.add({ code: 'config-invalid', severity: 'error', message, hint })
    return undefined
  }
  const complain = (member: string, message: string, hint: string) => {
    const place = placeOf(file, text, member)
    report.add({ code: 'config-invalid', severity: 'error', place, message, hint })
    return undefined
  }
  if (!isObject(raw))
    return complain('', 'the configuration is not an object', 'write `{ "documents": …, "out": … }`')
  const unknown = Object.keys(raw).filter((name) => !MEMBERS.includes(name))
  if (unknown.length > 0)
    return complain(
      unknown[0]!,
      `unknown member ${unknown.join(', ')}`,
      `known members are ${MEMBERS.join(', ')}`,
    )
  for (const [type, names] of Object.entries(TYPES)) {
    const wrong = names.find((name) => raw[name] !== undefined && typeOf(raw[name]) !== type)
    if (wrong) return complain(wrong, `\`${wrong}\` is not of type ${type}`, `use type ${type}, or remove it`)
  }
  const at = (path: unknown) => relative(process.cwd(), resolve(dirname(file), String(path))) || '.'
  if (raw.out === undefined) return complain('', '`out` is missing', 'set it to the output folder')
  const documents = documentFiles(raw.documents, at)
  if (!documents)
    return complain(
      'documents',
      '`documents` is missing or names no files',
      'set it to a folder of documents, or to a list of files, oldest first',
    )
  const overlays = raw.overlays === undefined ? [] : documentFiles(raw.overlays, at)
  if (!overlays?.every((each) => existsSync(each)))
    return complain(
      'overlays',
      '`overlays` names no files, or files that do not exist',
      'set it to a folder of overlays, or to a list of files, in the order in which they are applied',
    )
  const emit = emittersOf(raw.emit, raw.handlers !== undefined)
  if (!emit) return complain('emit', '`emit` is not a list of known emitters', `use ${EMITTERS.join(', ')}`)
  const builtWhenNeeded = builtEmittersOf(raw.builtWhenNeeded, emit)
  if (!builtWhenNeeded)
    return complain(
      'builtWhenNeeded',
      '`builtWhenNeeded` names an emitter that is not emitted or cannot be built separately',
      `use ${BUILT_EMITTERS.join(', ')}`,
    )
  const typesFault = raw.types === undefined ? undefined : findTypesFault(raw.types as object)
  if (typesFault !== undefined)
    return complain('types', typesFault, 'write `"types": { "int64": "bigint", "date-time": "Date" }`')
  if (raw.standardSchemas === true && !emit.includes('validators'))
    return complain(
      'standardSchemas',
      '`standardSchemas` needs the validators, which `emit` does not list',
      "add 'validators' to `emit`, or remove the member",
    )
  const client = raw.client as ClientConfig | undefined
  if (client && (!isObject(client.package) || typeof client.package.name !== 'string'))
    return complain(
      'client',
      '`client` does not name a package',
      'write `"client": { "package": { "name": …, "version": … } }`',
    )
  const stubFault = raw.stub === undefined ? undefined : findStubFault(raw.stub)
  if (stubFault !== undefined)
    return complain(
      'stub',
      stubFault,
      'write `"stub": { "templates": …, "files": [{ "template": …, "file": … }] }`',
    )
  const config: Config = {
    documents,
    out: at(raw.out),
    emit,
    builtWhenNeeded,
    strict: typeof raw.strict === 'boolean' ? raw.strict : raw.handlers !== undefined,
    ...(raw.versions !== undefined && { versions: at(raw.versions) }),
    ...(raw.extensions !== undefined && { extensions: at(raw.extensions) }),
    ...(raw.handlers !== undefined && { handlers: at(raw.handlers) }),
    ...(raw.pages !== undefined && { pages: at(raw.pages) }),
    ...(raw.license !== undefined && { license: at(raw.license) }),
    ...(client && { client }),
    ...(raw.types !== undefined && { types: raw.types as TypeMapping }),
    ...(raw.source !== undefined && { source: String(raw.source) }),
    ...(raw.standardSchemas === true && { standardSchemas: true }),
    ...(overlays.length > 0 && { overlays }),
    ...(raw.remoteReferences !== undefined && {
      remoteReferences: foldersOf(raw.remoteReferences as object, at),
    }),
    ...(raw.stub !== undefined && { stub: raw.stub as StubConfig }),
    ...(raw.wire !== undefined && { wire: raw.wire as WireConfig }),
  }
  for (const name of ['extensions', 'pages', 'license'] as const) {
    const path = config[name]
    if (path !== undefined && !existsSync(path))
      return complain(
        name,
        `\`${name}\` names ${path}, which does not exist`,
        'correct the path or remove the member',
      )
  }
  const fault = findOutputFault(config.out, sourcesOf(config, file), config.versions)
  if (fault === undefined) return config
  return complain('out', fault, 'set `out` to a dedicated folder: dateline also removes files that it wrote')
}

const TYPES: Readonly<Record<string, readonly string[]>> = {
  string: ['out', 'versions', 'extensions', 'handlers', 'pages', 'license', 'source'],
  boolean: ['standardSchemas', 'strict'],
  object: ['client', 'wire', 'stub', 'types', 'remoteReferences'],
}

const isObject = (value: unknown): value is Record<string, unknown> => typeOf(value) === 'object'

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value

/** Returns the location of a member in the configuration file. */
function placeOf(file: string, text: string, member: string): SourceLocation {
  const pointer = member === '' ? '' : `/${escapePointer(member)}`
  const offset = file.endsWith('.json')
    ? readLocated(text).offsets.get(pointer)
    : text.search(new RegExp(`(?<![\\w.])${member || 'export default'}\\b`))
  const before = text.slice(0, Math.max(offset ?? 0, 0)).split('\n')
  return { file, line: before.length, column: before.at(-1)!.length + 1, pointer }
}

function sourcesOf({ documents, versions, extensions, handlers }: Config, file: string): NamedSources {
  return [
    ['the configuration', file],
    ...documents.map((document): NamedSources[number] => ['the document', document]),
    ...(versions === undefined ? [] : [['`versions`', versions] as const]),
    ...(extensions === undefined ? [] : [['`extensions`', extensions] as const]),
    ...(handlers === undefined ? [] : [['`handlers`', handlers] as const]),
  ]
}

function findTypesFault(types: object): string | undefined {
  for (const [format, type] of Object.entries(types)) {
    if (!Object.hasOwn(MAPPED_TYPES, format))
      return `\`types\` names the format ${format}: expected ${Object.keys(MAPPED_TYPES).join(', ')}`
    const known: readonly string[] = MAPPED_TYPES[format as keyof TypeMapping]
    if (!known.includes(type)) return `the type of ${format} is ${type}: expected ${known.join(' or ')}`
  }
  return undefined
}

function documentFiles(documents: unknown, at: (path: unknown) => string): string[] | undefined {
  if (Array.isArray(documents))
    return documents.length > 0 && documents.every((each) => typeof each === 'string')
      ? documents.map(at)
      : undefined
  const folder = typeof documents === 'string' ? at(documents) : undefined
  if (folder === undefined || !existsSync(folder) || !statSync(folder).isDirectory()) return undefined
  const names = readdirSync(folder).filter(
    (name) => /\.(ya?ml|json)$/.test(name) && !name.endsWith('.schema.json'),
  )
  return names.length > 0 ? names.sort(compareVersions).map((name) => join(folder, name)) : undefined
}

const foldersOf = (remote: object, at: (path: unknown) => string): RemoteReferences =>
  Object.fromEntries(Object.entries(remote).map(([url, folder]) => [url, at(folder)]))

/** Emitters whose output only a server with handlers uses. */
const SERVING: readonly EmitterName[] = ['routes', 'handlers', 'translations']

function emittersOf(emit: unknown, served: boolean): readonly EmitterName[] | undefined {
  if (emit === undefined) return served ? EMITTERS : EMITTERS.filter((each) => !SERVING.includes(each))
  const known = (name: unknown): name is EmitterName => EMITTERS.some((each) => each === name)
  return Array.isArray(emit) && emit.every(known) ? emit : undefined
}

function builtEmittersOf(names: unknown, emit: readonly EmitterName[]): readonly BuiltEmitter[] | undefined {
  if (names === undefined) return []
  const known = (name: unknown): name is BuiltEmitter =>
    emit.some((each) => each === name) && BUILT_EMITTERS.some((each) => each === name)
  return Array.isArray(names) && names.every(known) ? names : undefined
}

/**
 * Compares version names. Numbers in names compare by value, so `v10` sorts after `v9`, and dates sort chronologically.
 */
export function compareVersions(a: string, b: string): number {
  const parts = (name: string) =>
    name.split(/(\d+)/).map((part, index) => (index % 2 ? part.padStart(12, '0') : part))
  return compare(parts(a).join(''), parts(b).join(''))
}
