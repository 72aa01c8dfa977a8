/** `dateline.config.json`: which documents make the family, where changes and output live. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Report } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { escapePointer } from '../document/escape-pointer.ts'
import { readLocated } from '../document/read-yaml.ts'
import type { ClientConfig } from '../emit/client/config.ts'
import type { WireConfig } from '../emit/wire/wire.ts'
import { BUILT_EMITTERS, type BuiltEmitter } from '../output/built.ts'
import { findOutputFault, type NamedSources } from '../output/output-folder.ts'
import { compare } from '../print/file.ts'
import { findStubFault, type StubConfig } from '../scaffold/config.ts'

export interface Config {
  /** Document files, oldest first, relative to the working directory. */
  readonly documents: readonly string[]
  /** Folder of the hand-written changes, if there is one. */
  readonly versions?: string
  /** JSON Schemas of the allowed `x-` members by kind of node, if they are checked. */
  readonly extensions?: string
  readonly out: string
  readonly emit: readonly EmitterName[]
  /** Emitters whose files the repository does not hold: the manifest lists their hashes, and `build` makes them. */
  readonly builtWhenNeeded: readonly BuiltEmitter[]
  /** The npm package of the client; without it no client is emitted. */
  readonly client?: ClientConfig
  /** Names on the wire that documents cannot tell apart from others. */
  readonly wire?: WireConfig
  /** Folder of the pages that people write for the documentation. */
  readonly pages?: string
  /** URL, file or command that gives the document of the running service: `freeze` stores it, `check` compares with it. */
  readonly source?: string
  /** Folder that `stub` adds handlers to. */
  readonly handlers?: string
  /** What `stub` makes of an operation without a handler. */
  readonly stub?: StubConfig
  /**
   * Whether what the toolkit cannot hold, and what breaks a rule of Redocly's, is an error. Without `strict` in the
   * file it is where handlers serve: checks must not check less than the document says. Elsewhere it is a warning.
   */
  readonly strict: boolean
}

/** What can be emitted; unless `emit` names a part all of it, but what serves only where `handlers` are named. */
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
  'source',
  'strict',
]

/** @returns the configuration, or undefined after diagnostics that name what is wrong with the file. */
export function readConfig(file: string, report: Report): Config | undefined {
  let text: string
  let raw: unknown
  try {
    text = readFileSync(file, 'utf8')
    raw = JSON.parse(text)
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
    return complain('', 'the configuration is no object', 'write `{ "documents": …, "out": … }`')
  const unknown = Object.keys(raw).filter((name) => !MEMBERS.includes(name))
  if (unknown.length > 0)
    return complain(unknown[0]!, `unknown member ${unknown.join(', ')}`, `it takes ${MEMBERS.join(', ')}`)
  for (const [type, names] of Object.entries(TYPES)) {
    const wrong = names.find((name) => raw[name] !== undefined && typeOf(raw[name]) !== type)
    if (wrong) return complain(wrong, `\`${wrong}\` is no ${type}`, `write a ${type}, or leave it out`)
  }
  const at = (path: unknown) => relative(process.cwd(), resolve(dirname(file), String(path))) || '.'
  if (raw.out === undefined) return complain('', '`out` is missing', 'name the folder that output goes to')
  const documents = documentFiles(raw.documents, at)
  if (!documents)
    return complain(
      'documents',
      '`documents` names no document',
      'name a folder of documents, or list them oldest first',
    )
  const emit = emittersOf(raw.emit, raw.handlers !== undefined)
  if (!emit)
    return complain('emit', '`emit` names something unknown', `it is a list of ${EMITTERS.join(', ')}`)
  const builtWhenNeeded = builtEmittersOf(raw.builtWhenNeeded, emit)
  if (!builtWhenNeeded)
    return complain(
      'builtWhenNeeded',
      '`builtWhenNeeded` names what is not emitted, or cannot be built alone',
      `it is a list of ${BUILT_EMITTERS.join(', ')}`,
    )
  const client = raw.client as ClientConfig | undefined
  if (client && (!isObject(client.package) || typeof client.package.name !== 'string'))
    return complain(
      'client',
      '`client` names no package',
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
    ...(client && { client }),
    ...(raw.source !== undefined && { source: String(raw.source) }),
    ...(raw.stub !== undefined && { stub: raw.stub as StubConfig }),
    ...(raw.wire !== undefined && { wire: raw.wire as WireConfig }),
  }
  for (const name of ['extensions', 'pages'] as const) {
    const path = config[name]
    if (path !== undefined && !existsSync(path))
      return complain(
        name,
        `\`${name}\` names ${path}, which does not exist`,
        'correct the path, or leave it out',
      )
  }
  const fault = findOutputFault(config.out, sourcesOf(config, file), config.versions)
  if (fault === undefined) return config
  return complain('out', fault, 'name a folder of its own: what dateline writes it also removes')
}

const TYPES: Readonly<Record<string, readonly string[]>> = {
  string: ['out', 'versions', 'extensions', 'handlers', 'pages', 'source'],
  boolean: ['strict'],
  object: ['client', 'wire', 'stub'],
}

const isObject = (value: unknown): value is Record<string, unknown> => typeOf(value) === 'object'

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value

/** Where a member of the configuration stands. */
function placeOf(file: string, text: string, member: string): SourceLocation {
  const pointer = member === '' ? '' : `/${escapePointer(member)}`
  const before = text.slice(0, readLocated(text).offsets.get(pointer) ?? 0).split('\n')
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

/** What only a runtime with handlers has use for. */
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

/** Dates sort by themselves; numbers within names sort as numbers, so that v10 comes after v9. */
export function compareVersions(a: string, b: string): number {
  const parts = (name: string) =>
    name.split(/(\d+)/).map((part, index) => (index % 2 ? part.padStart(12, '0') : part))
  return compare(parts(a).join(''), parts(b).join(''))
}
