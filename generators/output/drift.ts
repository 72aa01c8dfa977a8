/** Which line of a document a drifted line of output comes from: for a report that names the cause, not the symptom. */
import { createReport, type Diagnostic } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { loadDocument } from '../document/load.ts'
import { readLocated } from '../document/read-yaml.ts'
import type { Api } from '../ir/model.ts'
import { type Owners, ownersOf } from './drift-names.ts'
import { MANIFEST } from './manifest.ts'
import type { Drift } from './write.ts'

/** @returns one diagnostic per drifted file, at the spec line behind its first difference. */
export function explainDrift(drift: readonly Drift[], apis: readonly Api[]): Diagnostic[] {
  // What the manifest lists follows from the files.
  const follows = ({ path, kind }: Drift) => path === MANIFEST && kind === 'changed'
  const isCause = (each: Drift) => !follows(each) && each.kind !== 'outdated'
  const reported = drift.some(isCause) ? drift.filter((each) => !follows(each)) : drift
  return reported.map((each) => {
    const hint = 'run `npm run generate` and commit the result; generated files are never edited by hand'
    if (each.kind === 'outdated') {
      const message = `${each.path} is not what manifest.json lists`
      const rebuild = 'it is not committed; `dateline build` builds it again'
      return { code: 'drift', severity: 'warning', message, hint: rebuild }
    }
    if (each.kind === 'unlisted') {
      const place = apis.find((api) => isOfVersion(each.path, api.version))?.place
      const message = `generated manifest.json lists another text for ${each.path} than this makes`
      return { code: 'drift', severity: 'error', message, hint, ...(place && { place }) }
    }
    if (each.kind !== 'changed') {
      return { code: 'drift', severity: 'error', message: `${each.path} ${WHAT[each.kind]}`, hint }
    }
    const line = firstDifference(each)
    const place = findSource(each, line, apis)
    const wanted = each.wanted.split('\n')[line]?.trim() ?? ''
    return {
      code: 'drift',
      severity: 'error',
      message: `generated ${each.path}:${line + 1} differs from what this makes: ${wanted.slice(0, 120)}`,
      hint,
      ...(place && { place }),
    }
  })
}

const WHAT = {
  missing: 'is missing',
  stale: 'comes from no document any more',
  foreign: 'was not written by dateline, or was edited since',
} as const

function firstDifference(drift: Drift): number {
  const found = drift.found.split('\n')
  const wanted = drift.wanted.split('\n')
  const at = wanted.findIndex((line, index) => line !== found[index])
  return at < 0 ? wanted.length : at
}

/** Files whose text is the toolkit's own, or the configuration's, but for lines that name a version. */
const OF_NO_DOCUMENT =
  /^(?:versions\.ts|events\.ts|extensions\.ts|manifest\.json|client\/(?:[^/]+|src\/wire\.ts|src\/runtime\/.*))$/

/** @returns undefined where the line comes from no document. */
function findSource({ path, wanted }: Drift, line: number, apis: readonly Api[]): SourceLocation | undefined {
  const lines = wanted.split('\n')
  const at = Math.min(line, lines.length - 1)
  if (OF_NO_DOCUMENT.test(path)) return apis.find((api) => names(lines[at]!, api.version))?.place
  if (path === 'changes.json') return sourceOfChange(wanted, at, apis)
  const api = apis.find((each) => isOfVersion(path, each.version)) ?? apis.at(-1)
  if (!api) return undefined
  if (path.endsWith('openapi.json')) return placeIn(api, pointerAt(wanted, at)) ?? api.place
  const owners = ownersOf(api)
  if (path.endsWith('.html')) return sourceOfAnchor(lines, at, owners) ?? api.place
  if (path.endsWith('client/src/errors.ts')) return sourceOfErrors(wanted, owners) ?? api.place
  return sourceOfCode(lines, at, owners) ?? api.place
}

/** In a folder of its own, or a file. */
const isOfVersion = (path: string, version: string): boolean =>
  path.split('/').some((part) => part === version || part.startsWith(`${version}.`))

/** As it is written, or as names of code have it: `version_2030_01_01`. */
function names(line: string, version: string): boolean {
  const inCode = `_${version.replaceAll(/\W/g, '_')}`
  return (line.match(/[\w.-]+/g) ?? []).some((word) => word === version || word.endsWith(inCode))
}

const placeIn = (api: Api, pointer: string): SourceLocation | undefined =>
  loadDocument(api.file, createReport(), false)?.place(pointer)

/** The pointer of what begins last on or before a line of JSON. */
function pointerAt(json: string, line: number): string {
  const end = json.split('\n', line + 1).join('\n').length
  let [last, pointer] = [-1, '']
  for (const [each, offset] of readLocated(json).offsets)
    if (offset <= end && offset > last) [last, pointer] = [offset, each]
  return pointer
}

/** Where the document of the change's version has what the change is about. */
function sourceOfChange(index: string, line: number, apis: readonly Api[]): SourceLocation | undefined {
  const entries = JSON.parse(index) as { readonly version: string; readonly new?: string }[]
  const entry = entries[Number(pointerAt(index, line).split('/')[1] ?? 0)]
  const api = apis.find(({ version }) => version === entry?.version)
  return api && (placeIn(api, entry?.new ?? '') ?? api.place)
}

/** The enumeration of the types that errors have: each has a class. */
function sourceOfErrors(text: string, owners: Owners): SourceLocation | undefined {
  return mostNamed(
    [...text.matchAll(/ type: '([^']+)'/g)].map(([, type = '']) => type),
    owners,
  )
}

/** The nearest anchor around or above a line that means something in the document: an operation, a schema, what they have. */
function sourceOfAnchor(lines: readonly string[], line: number, owners: Owners): SourceLocation | undefined {
  let closed = 0
  for (let at = line; at >= 0; at--) {
    const each = lines[at]!
    const opens = count(each, OPENS)
    // What has ended before the line is not around it.
    closed += at === line ? 0 : count(each, CLOSES) - opens
    const isOver = at < line && opens > 0 && closed >= 0
    closed = Math.max(closed, 0)
    if (isOver || closed > 0) continue
    for (const [, anchor = ''] of each.matchAll(/\sid="([^"]+)"/g)) {
      const name = anchor.replace(/^[a-z]+-/, '')
      const [owner = '', ...inside] = name.split('.')
      const whole = owners.get(anchor) ?? owners.get(name)
      if (whole) return whole.place
      const of = owners.get(owner)
      if (of) return of.inside.get(inside.at(-1) ?? '') ?? of.place
    }
  }
  return undefined
}

const OPENS = /<(?:li|details)\b/g
const CLOSES = /<\/(?:li|details)>/g

const count = (text: string, of: RegExp): number => text.match(of)?.length ?? 0

/**
 * Reads code from the drifted line outwards: the first line around it that declares a component, an operation or an event
 * is the owner, and the nearest of its members named on the way is the source. What stands around nothing of the kind is a
 * heading: then the first one inside it.
 */
function sourceOfCode(lines: readonly string[], line: number, owners: Owners): SourceLocation | undefined {
  const start = useOf(lines, behindComment(lines, line))
  const passed = [...wordsOf(lines[line]!), ...wordsOf(lines[start]!)]
  let depth = indentOf(lines[start]!) + 1
  for (let at = start; at >= 0 && depth > 0; at--) {
    const each = lines[at]!
    if (each.trim() === '' || isComment(each)) continue
    const isAround = indentOf(each) < depth
    if (isAround || /^\s*id: /.test(each)) {
      const declared = declaredOn(each)
      const owner = declared.map((name) => owners.get(name)).find((found) => found !== undefined)
      if (owner) return passed.map((name) => owner.inside.get(name)).find((found) => found) ?? owner.place
      passed.push(...declared)
    }
    passed.push(...propertiesOn(each))
    // What closes a block stands as far out as what opens it.
    if (isAround) depth = indentOf(each) + Number(/^\s*[\])}]/.test(each))
  }
  return SHARED.test(lines[line]!) ? mostNamed(passed, owners) : firstInside(lines, start, owners)
}

/** The first thing named on a line that nothing uses, in the component that has most of what is named there. */
function mostNamed(names: readonly string[], owners: Owners): SourceLocation | undefined {
  const inside = [...owners.values()].map((owner) => names.flatMap((name) => owner.inside.get(name) ?? []))
  return inside.toSorted((a, b) => b.length - a.length)[0]?.[0]
}

function firstInside(lines: readonly string[], heading: number, owners: Owners): SourceLocation | undefined {
  for (let at = heading + 1; at < lines.length && /^(?:\s|$)/.test(lines[at]!); at++) {
    for (const name of declaredOn(lines[at]!)) {
      const owner = owners.get(name)
      if (owner) return owner.place
    }
  }
  return undefined
}

const indentOf = (line: string): number => line.length - line.trimStart().length

const isComment = (line: string): boolean => /^\s*(?:\/\*\*|\*|\/\/)/.test(line)

/** A comment belongs to what follows it. */
function behindComment(lines: readonly string[], line: number): number {
  let at = line
  while (at < lines.length - 1 && isComment(lines[at]!)) at++
  return at
}

/** A constant that components share. */
const SHARED = /^const (\w+\$\w+) =/

/** It stands before all that uses it, and means what its first user means. */
function useOf(lines: readonly string[], line: number): number {
  const name = SHARED.exec(lines[line] ?? '')?.[1]
  const used = name === undefined ? -1 : lines.findIndex((each, index) => index > line && each.includes(name))
  return used < 0 ? line : used
}

/** Properties that a line reads: `const title = value.title`, `value['odd name']`. */
const propertiesOn = (line: string): string[] =>
  [...line.matchAll(/[\w$](?:\.([\w$]+)|\['([^']+)'\])/g)].map((match) => match[1] ?? match[2]!)

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_$[\].-]+/gu) ?? []

/** Names that a line declares: a member, a constant, a type, an operation's `id:`, a path. */
function declaredOn(line: string): string[] {
  const path = /^\s*["'](\/[^"']*)["']/.exec(line)?.[1]
  if (path !== undefined) return [path]
  const rest = line.replace(
    /^\s*(?:export |declare |const |function |interface |type |id: |readonly )*["']?/,
    '',
  )
  // Functions that belong to a component are called after it: `Book$pages`, `Book_down_2030_01_01`.
  return wordsOf(rest)
    .slice(0, 1)
    .flatMap((name) => [
      name,
      name.replace(/\$.*$/, ''),
      name.replace(/_(?:query_)?(?:down|up|fromCanonical|toCanonical)(?:_.*)?$/, ''),
    ])
}
