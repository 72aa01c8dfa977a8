/** Finds the document line behind a drifted line of output, so that the report shows the cause. */
import { createReport, type Diagnostic } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { loadDocument, type ReadingOptions } from '../document/load.ts'
import { readLocated } from '../document/read-yaml.ts'
import type { Api } from '../ir/model.ts'
import { type Owners, ownersOf } from './drift-names.ts'
import { MANIFEST } from './manifest.ts'
import type { Drift } from './write.ts'

/** Returns one finding for each drifted file, at the document line behind its first difference. */
export function explainDrift(
  drift: readonly Drift[],
  apis: readonly Api[],
  options: ReadingOptions = { strict: false },
): Diagnostic[] {
  const placeIn: PlaceIn = (api, pointer) => loadDocument(api.file, createReport(), options)?.place(pointer)
  // A changed manifest follows from the changed files, so it is reported only if it is the only drift.
  const follows = ({ path, kind }: Drift) => path === MANIFEST && kind === 'changed'
  const isCause = (each: Drift) => !follows(each) && each.kind !== 'outdated'
  const reported = drift.some(isCause) ? drift.filter((each) => !follows(each)) : drift
  return reported.map((each) => {
    const hint = 'run `dateline generate` and commit the result; do not edit generated files by hand'
    if (each.kind === 'outdated') {
      const message = `${each.path} differs from the hash in manifest.json`
      const rebuild = 'run `dateline build` to rebuild it; the file is not committed'
      return { code: 'drift', severity: 'warning', message, hint: rebuild }
    }
    if (each.kind === 'unlisted') {
      const place = apis.find((api) => isOfVersion(each.path, api.version))?.place
      const message = `generated manifest.json lists a different hash for ${each.path} than these documents give`
      return { code: 'drift', severity: 'error', message, hint, ...(place && { place }) }
    }
    if (each.kind !== 'changed') {
      return { code: 'drift', severity: 'error', message: `${each.path} ${WHAT[each.kind]}`, hint }
    }
    const line = firstDifference(each)
    const place = findSource(each, line, apis, placeIn)
    const wanted = each.wanted.split('\n')[line]?.trim() ?? ''
    return {
      code: 'drift',
      severity: 'error',
      message: `generated ${each.path}:${line + 1} is out of date; expected: ${wanted.slice(0, 120)}`,
      hint,
      ...(place && { place }),
    }
  })
}

const WHAT = {
  missing: 'is missing',
  stale: 'no longer comes from any document',
  foreign: 'was not written by dateline, or was edited since',
} as const

function firstDifference(drift: Drift): number {
  const found = drift.found.split('\n')
  const wanted = drift.wanted.split('\n')
  const at = wanted.findIndex((line, index) => line !== found[index])
  return at < 0 ? wanted.length : at
}

/** Files that depend only on the toolkit or the configuration, except for lines that name a version. */
const OF_NO_DOCUMENT =
  /^(?:versions\.ts|events\.ts|extensions\.ts|manifest\.json|client\/(?:[^/]+|src\/wire\.ts|src\/runtime\/.*))$/

/** Returns undefined if the line does not come from a document. */
function findSource(
  { path, wanted }: Drift,
  line: number,
  apis: readonly Api[],
  placeIn: PlaceIn,
): SourceLocation | undefined {
  const lines = wanted.split('\n')
  const at = Math.min(line, lines.length - 1)
  if (OF_NO_DOCUMENT.test(path)) return apis.find((api) => names(lines[at]!, api.version))?.place
  if (path === 'changes.json') return sourceOfChange(wanted, at, apis, placeIn)
  const api = apis.find((each) => isOfVersion(path, each.version)) ?? apis.at(-1)
  if (!api) return undefined
  if (path.endsWith('openapi.json')) return placeIn(api, pointerAt(wanted, at)) ?? api.place
  const owners = ownersOf(api)
  if (path.endsWith('.html')) return sourceOfAnchor(lines, at, owners) ?? api.place
  if (path.endsWith('client/src/errors.ts')) return sourceOfErrors(wanted, owners) ?? api.place
  return sourceOfCode(lines, at, owners) ?? api.place
}

/** Returns whether a path belongs to a version: a file in the version's folder or a file named after it. */
const isOfVersion = (path: string, version: string): boolean =>
  path.split('/').some((part) => part === version || part.startsWith(`${version}.`))

/** Returns whether a line names the version, literally or in an identifier: `version_2030_01_01`. */
function names(line: string, version: string): boolean {
  const inCode = `_${version.replaceAll(/\W/g, '_')}`
  return (line.match(/[\w.-]+/g) ?? []).some((word) => word === version || word.endsWith(inCode))
}

/** Returns the location of a pointer in the document of a version. */
type PlaceIn = (api: Api, pointer: string) => SourceLocation | undefined

/** Returns the pointer of the last value that begins on or before a line of JSON. */
function pointerAt(json: string, line: number): string {
  const end = json.split('\n', line + 1).join('\n').length
  let [last, pointer] = [-1, '']
  for (const [each, offset] of readLocated(json).offsets)
    if (offset <= end && offset > last) [last, pointer] = [offset, each]
  return pointer
}

/** Returns the location, in the document of the change's version, that the change affects. */
function sourceOfChange(
  index: string,
  line: number,
  apis: readonly Api[],
  placeIn: PlaceIn,
): SourceLocation | undefined {
  const entries = JSON.parse(index) as { readonly version: string; readonly new?: string }[]
  const entry = entries[Number(pointerAt(index, line).split('/')[1] ?? 0)]
  const api = apis.find(({ version }) => version === entry?.version)
  return api && (placeIn(api, entry?.new ?? '') ?? api.place)
}

/** Returns the location of the enumeration of error types, each of which has a class. */
function sourceOfErrors(text: string, owners: Owners): SourceLocation | undefined {
  return mostNamed(
    [...text.matchAll(/ type: '([^']+)'/g)].map(([, type = '']) => type),
    owners,
  )
}

/**
 * Returns the location that the nearest anchor around or above a line refers to: an operation, a schema or a
 * member.
 */
function sourceOfAnchor(lines: readonly string[], line: number, owners: Owners): SourceLocation | undefined {
  let closed = 0
  for (let at = line; at >= 0; at--) {
    const each = lines[at]!
    const opens = count(each, OPENS)
    // An element that closes before the line does not enclose it.
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
 * Reads code from the drifted line outwards. The first enclosing line that declares a component, an operation or an
 * event is the owner; the source is the nearest of its members named on the way. A line without an owner is a
 * heading: then the source is the first owner inside its block.
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
    // A closing bracket has the same indentation as its opening line.
    if (isAround) depth = indentOf(each) + Number(/^\s*[\])}]/.test(each))
  }
  return SHARED.test(lines[line]!) ? mostNamed(passed, owners) : firstInside(lines, start, owners)
}

/** Returns the first named member of the component that has most of the given names. */
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

/** Skips comments: a comment belongs to the code below it. */
function behindComment(lines: readonly string[], line: number): number {
  let at = line
  while (at < lines.length - 1 && isComment(lines[at]!)) at++
  return at
}

/** A constant that several components share. */
const SHARED = /^const (\w+\$\w+) =/

/** A shared constant is declared above its users, so its source is that of its first user. */
function useOf(lines: readonly string[], line: number): number {
  const name = SHARED.exec(lines[line] ?? '')?.[1]
  const used = name === undefined ? -1 : lines.findIndex((each, index) => index > line && each.includes(name))
  return used < 0 ? line : used
}

/** Returns the properties that a line reads: `const v1 = v.title`, `v['odd name']`. */
const propertiesOn = (line: string): string[] =>
  [...line.matchAll(/[\w$](?:\.([\w$]+)|\['([^']+)'\])/g)].map((match) => match[1] ?? match[2]!)

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_$[\].-]+/gu) ?? []

/** Returns the names that a line declares: a member, a constant, a type, an operation's `id:`, a path. */
function declaredOn(line: string): string[] {
  const path = /^\s*["'](\/[^"']*)["']/.exec(line)?.[1]
  if (path !== undefined) return [path]
  const rest = line.replace(
    /^\s*(?:export |declare |const |function |interface |type |id: |readonly )*["']?/,
    '',
  )
  // Functions of a component have its name as prefix: `Book$pages`, `Book_down_2030_01_01`.
  return wordsOf(rest)
    .slice(0, 1)
    .flatMap((name) => [
      name,
      name.replace(/\$.*$/, ''),
      name.replace(/_(?:query_)?(?:down|up|fromCanonical|toCanonical)(?:_.*)?$/, ''),
    ])
}
