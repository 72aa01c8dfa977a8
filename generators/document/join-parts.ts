/** Reads the files that a document refers to, and joins them with it. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { dump } from 'js-yaml'
import type { Report } from '../diagnostics/diagnostic.ts'
import { indexReferences, lookUp } from '../runtime/explain/references.ts'
import {
  type Bundle,
  bundle,
  type DocumentPart,
  type OpenPart,
  type Origin,
  originIn,
  originsOf,
} from './bundle.ts'
import { findExcess } from './excess.ts'
import { createLocator, LazyPlace, type Locator, type Position } from './locate.ts'
import { applyOverlay } from './overlay.ts'
import { addressesIn, fileOf, type RemoteReferences } from './parts.ts'
import { readText } from './read-text.ts'
import type { ReferenceFault } from './references.ts'

/** The document before its files are joined. Its JSON is modified. */
interface Alone {
  readonly file: string
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

export interface JoinedDocument {
  /** SHA-256 in hexadecimal of all texts. */
  readonly hash: string
  readonly origins: ReadonlyMap<string, Origin>
  /** Faults of references by the node that holds each. They are in the report. */
  readonly faults: ReadonlyMap<object, ReferenceFault>
  /** Whether all files could be read. */
  readonly isWhole: boolean
  locate(origin: Origin): Position
}

/** Returns the text of a file, or undefined if there is none. */
export type ReadPart = (file: string) => string | undefined

const fromDisk: ReadPart = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

export interface JoinOptions {
  readonly remoteReferences?: RemoteReferences | undefined
  /** Overlay files, in the order in which they are applied. */
  readonly overlays?: readonly string[] | undefined
}

/**
 * Joins the files of a document, and applies overlays to the result.
 *
 * @returns undefined if there is nothing to join: no other file, no overlay, and no media types in `components`.
 */
export function joinParts(
  document: Alone,
  report: Report,
  { remoteReferences = {}, overlays = [] }: JoinOptions = {},
  readFile: ReadPart = fromDisk,
): JoinedDocument | undefined {
  const { file, text, json } = document
  const addresses = addressesIn(text)
  if (addresses.size + overlays.length === 0 && !hasMediaTypes(json)) return undefined
  const root: DocumentPart = { file, text, json }
  const opener = openFiles(root, report, remoteReferences, readFile)
  const locators = new Map<DocumentPart, Locator>()
  const locate = ({ part, pointer }: Origin): Position => {
    const locator = locators.get(part) ?? createLocator(part.text)
    locators.set(part, locator)
    return locator.ofPointer(pointer)
  }
  const { grafts, faults } = bundle(root, internalTo(json), opener.open, addresses)
  const further = new Set<string>()
  for (const overlay of overlays) {
    const part = opener.open(relative(dirname(file), overlay), root)
    if ('code' in part) continue
    for (const each of applyOverlay({ part: root, grafts }, part, report, locate)) further.add(each)
  }
  const added = further.size > 0 ? bundle(root, internalTo(json), opener.open, further) : NOTHING
  for (const [holder, members] of added.grafts)
    grafts.set(holder, new Map([...(grafts.get(holder) ?? []), ...members]))
  const isWhole = opener.broken.size === 0
  // Cycles, which the caller reports, would not end here.
  const origins: ReadonlyMap<string, Origin> =
    isWhole && !findExcess(json) ? originsOf({ json, grafts }) : new Map()
  const known = new Map([...added.faults, ...faults])
  for (const { origin, ...fault } of known.values()) {
    const pointer = `${origin.pointer}/$ref`
    const at = (origin.part === root ? originIn(origins, pointer) : undefined) ?? {
      part: origin.part,
      pointer,
    }
    const place = new LazyPlace(at.part.file, at.pointer, () => locate(at))
    if (!opener.broken.has(fault.message)) report.add({ ...fault, severity: 'error', place })
  }
  return { hash: hashOf(root, opener.parts()), origins, faults: known, isWhole, locate }
}

const hasMediaTypes = ({ components }: Alone['json']): boolean =>
  typeof components === 'object' && components !== null && Object.hasOwn(components, 'mediaTypes')

const NOTHING: Pick<Bundle, 'grafts' | 'faults'> = { grafts: new Map(), faults: new Map() }

/** Returns whether a reference leads to the document itself, for example by the `$id` of a schema. */
function internalTo(json: Alone['json']): (node: object, ref: string) => boolean {
  const references = indexReferences(json, String(json.openapi).startsWith('3.0'))
  return (node, ref) => {
    const pointer = references.pointerOf(node, ref)
    return pointer !== undefined && lookUp(json, pointer) !== undefined
  }
}

function openFiles(root: DocumentPart, report: Report, remote: RemoteReferences, readFile: ReadPart) {
  const opened = new Map<string, DocumentPart | ReferenceFault>([[root.file, root]])
  const broken = new Set<string>()
  const read = (file: string): DocumentPart | ReferenceFault => {
    const missing: ReferenceFault = {
      code: 'ref-missing',
      message: `${file} does not exist`,
      hint: 'correct the path: it starts from the folder of the file that holds the reference',
    }
    const text = readFile(file)
    if (text === undefined) return missing
    if (!/\.(?:ya?ml|json)$/.test(file)) return { file, text, json: text }
    const json = readText(file, text, report)?.json
    const excess = typeof json === 'object' && json !== null ? findExcess(json) : undefined
    if (json !== undefined && !excess) return { file, text, json }
    if (excess) {
      const { pointer, message } = excess
      const place = new LazyPlace(file, pointer, () => createLocator(text).ofPointer(pointer))
      const hint = 'use references to components instead'
      report.add({ code: 'document-excess', severity: 'error', place, message, hint })
    }
    const fault = { ...missing, message: `${file} cannot be read` }
    broken.add(fault.message)
    return fault
  }
  const open: OpenPart = (address, from) => {
    if (address === (root.json as { $self?: unknown }).$self) return root
    const file = fileOf(address, from.file, root.file, remote)
    if (typeof file !== 'string') return file
    const part = opened.get(file) ?? read(file)
    opened.set(file, part)
    return part
  }
  const parts = () => [...opened.values()].filter((each) => 'text' in each && each !== root) as DocumentPart[]
  return { open, broken, parts }
}

/** File names are part of the hash, because components are named after them. */
function hashOf(root: DocumentPart, parts: readonly DocumentPart[]): string {
  const hash = createHash('sha256').update(root.text)
  for (const { file, text } of parts.toSorted((a, b) => (a.file < b.file ? -1 : 1)))
    hash.update(`\0${file}\0${text}`)
  return hash.digest('hex')
}

/**
 * Returns a document of several files as one text, in the notation of its file; a text without references to other files
 * as it is.
 *
 * @returns undefined, after reporting errors, if a file cannot be read or a reference is unresolvable.
 */
export function joinedText(
  file: string,
  text: string,
  report: Report,
  remoteReferences?: RemoteReferences,
): string | undefined {
  const json = readText(file, text, report)?.json
  if (typeof json !== 'object' || json === null) return undefined
  const joined = joinParts({ file, text, json: json as Alone['json'] }, report, { remoteReferences })
  if (!joined) return text
  if (!joined.isWhole || joined.faults.size > 0) return undefined
  return /^\s*\{/.test(text)
    ? `${JSON.stringify(json, null, 2)}\n`
    : dump(json, { noRefs: true, lineWidth: -1 })
}
