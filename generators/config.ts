/** `dateline.config.json`: which documents make the family, where changes and output live. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Report } from './diagnostics.ts'
import type { ClientConfig } from './emit/client.ts'
import type { WireConfig } from './emit/wire.ts'
import { compare } from './print/file.ts'

export interface Config {
  /** Document files, oldest first, relative to the working directory. */
  readonly documents: readonly string[]
  /** Folder of the hand-written changes, if there is one. */
  readonly versions?: string
  /** JSON Schemas of the allowed `x-` members by kind of node, if they are checked. */
  readonly extensions?: string
  readonly out: string
  readonly emit: readonly Emitter[]
  /** The npm package of the client; without it no client is emitted. */
  readonly client?: ClientConfig
  /** Names on the wire that documents cannot tell apart from others. */
  readonly wire?: WireConfig
  /** Folder that `stub` adds handlers to. */
  readonly handlers?: string
  /**
   * Whether what the toolkit cannot hold, and what breaks a rule of Redocly's, is an error. Without `strict` in the
   * file it is where handlers serve: judges must not judge less than the document says. Elsewhere it is a warning.
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
  'reference',
  'documents',
  'explain',
] as const
export type Emitter = (typeof EMITTERS)[number]

const MEMBERS = ['documents', 'versions', 'extensions', 'out', 'handlers', 'emit', 'client', 'wire', 'strict']

/** @returns the configuration, or undefined after diagnostics that name what is wrong with the file. */
export function readConfig(file: string, report: Report): Config | undefined {
  const complain = (message: string, hint: string) => {
    report.add({ code: 'config-invalid', severity: 'error', message: `${file}: ${message}`, hint })
    return undefined
  }
  let raw: Record<string, unknown>
  try {
    raw = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    return complain((cause as Error).message, 'write a JSON file with `documents` and `out`')
  }
  const unknown = Object.keys(raw).filter((name) => !MEMBERS.includes(name))
  if (unknown.length > 0)
    return complain(`unknown member ${unknown.join(', ')}`, `it takes ${MEMBERS.join(', ')}`)
  const at = (path: unknown) => relative(process.cwd(), resolve(dirname(file), String(path))) || '.'
  if (typeof raw.out !== 'string') return complain('`out` is missing', 'name the folder that output goes to')
  const documents = documentFiles(raw.documents, at)
  if (!documents)
    return complain('`documents` names no document', 'name a folder of documents, or list them oldest first')
  const emit = emittersOf(raw.emit, raw.handlers !== undefined)
  if (!emit) return complain('`emit` names something unknown', `it is a list of ${EMITTERS.join(', ')}`)
  return {
    documents,
    out: at(raw.out),
    emit,
    strict: typeof raw.strict === 'boolean' ? raw.strict : raw.handlers !== undefined,
    ...(raw.versions !== undefined && { versions: at(raw.versions) }),
    ...(raw.extensions !== undefined && { extensions: at(raw.extensions) }),
    ...(raw.handlers !== undefined && { handlers: at(raw.handlers) }),
    ...(raw.client !== undefined && { client: raw.client as ClientConfig }),
    ...(raw.wire !== undefined && { wire: raw.wire as WireConfig }),
  }
}

function documentFiles(documents: unknown, at: (path: unknown) => string): string[] | undefined {
  if (Array.isArray(documents)) return documents.length > 0 ? documents.map(at) : undefined
  const folder = typeof documents === 'string' ? at(documents) : undefined
  if (folder === undefined || !existsSync(folder) || !statSync(folder).isDirectory()) return undefined
  const names = readdirSync(folder).filter(
    (name) => /\.(ya?ml|json)$/.test(name) && !name.endsWith('.schema.json'),
  )
  return names.length > 0 ? names.sort(compareVersions).map((name) => join(folder, name)) : undefined
}

/** What only a runtime with handlers has use for. */
const SERVING: readonly Emitter[] = ['routes', 'handlers', 'translations']

function emittersOf(emit: unknown, served: boolean): readonly Emitter[] | undefined {
  if (emit === undefined) return served ? EMITTERS : EMITTERS.filter((each) => !SERVING.includes(each))
  const known = (name: unknown): name is Emitter => EMITTERS.some((each) => each === name)
  return Array.isArray(emit) && emit.every(known) ? emit : undefined
}

/** Dates sort by themselves; numbers within names sort as numbers, so that v10 comes after v9. */
export function compareVersions(a: string, b: string): number {
  const parts = (name: string) =>
    name.split(/(\d+)/).map((part, index) => (index % 2 ? part.padStart(12, '0') : part))
  return compare(parts(a).join(''), parts(b).join(''))
}
