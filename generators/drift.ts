/** Which line of a document a drifted line of output comes from: for a report that names the cause, not the symptom. */
import type { Diagnostic } from './diagnostics.ts'
import { judgedOf } from './emit/judge-names.ts'
import type { Api, Place, Schema } from './ir/model.ts'
import { walk } from './ir/walk.ts'
import type { Drift } from './write.ts'

/** @returns one diagnostic per drifted file, at the spec line behind its first difference. */
export function explainDrift(drift: readonly Drift[], apis: readonly Api[]): Diagnostic[] {
  return drift.map((each) => {
    const hint = 'run `npm run generate` and commit the result; generated files are never edited by hand'
    if (each.kind !== 'changed') {
      return { code: 'drift', severity: 'error', message: `${each.path} ${WHAT[each.kind]}`, hint }
    }
    const line = firstDifference(each)
    const place = spotSource(each, line, apis)
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

/** What a name in output may stand for: a component or an operation, and the named things inside it. */
interface Owner {
  readonly place: Place
  readonly inside: Map<string, Place>
}

/**
 * Reads the wanted output upwards from the drifted line: the first component or operation declared there is the owner,
 * and the nearest of its properties or parameters declared on the way is the spot.
 */
function spotSource(drift: Drift, line: number, apis: readonly Api[]): Place | undefined {
  const api = apis.find((each) => drift.path.includes(each.version)) ?? apis.at(-1)
  if (!api) return undefined
  const owners = ownersOf(api)
  const lines = drift.wanted.split('\n')
  const passed = [...wordsOf(lines[line] ?? '')]
  for (let at = useOf(lines, Math.min(line, lines.length - 1)); at >= 0; at--) {
    const names = declaredOn(lines[at]!)
    const owner = names.map((name) => owners.get(name)).find((each) => each !== undefined)
    if (owner)
      return passed.map((name) => owner.inside.get(name)).find((each) => each !== undefined) ?? owner.place
    passed.push(...names, ...propertiesOn(lines[at]!))
  }
  return mostNamed(passed, owners.values()) ?? api.place
}

/** The first thing named on a line that belongs to nothing, in the component that has most of what is named there. */
function mostNamed(names: readonly string[], owners: Iterable<Owner>): Place | undefined {
  const inside = [...owners].map((owner) => names.flatMap((name) => owner.inside.get(name) ?? []))
  return inside.toSorted((a, b) => b.length - a.length)[0]?.[0]
}

/** A constant with a `$` stands before all that uses it, and means what its first user means. */
function useOf(lines: readonly string[], line: number): number {
  const name = /^const (\w+\$\w+) =/.exec(lines[line] ?? '')?.[1]
  return name === undefined ? line : lines.findIndex((each, index) => index > line && each.includes(name))
}

/** Properties that a line reads: `const v1 = v.title`, `v['odd name']`. */
const propertiesOn = (line: string): string[] =>
  [...line.matchAll(/\bv\d*(?:\.([\w$]+)|\['([^']+)'\])/g)].map((match) => match[1] ?? match[2]!)

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_$[\].-]+/gu) ?? []

/** Names that a line declares: a member, a constant, a type, an operation's `id:`, an HTML anchor. */
function declaredOn(line: string): string[] {
  const anchor = /\sid="([^"]+)"/.exec(line)?.[1]
  if (anchor !== undefined) return [anchor, anchor.slice(anchor.indexOf('-') + 1)]
  const rest = line.replace(
    /^\s*(?:export |declare |const |function |interface |type |id: |<\w+ |)+["']?/,
    '',
  )
  // A judge's own function is called after it, with a `$`.
  return wordsOf(rest)
    .slice(0, 1)
    .map((name) => name.replace(/\$.*$/, ''))
}

function ownersOf(api: Api): Map<string, Owner> {
  const owners = new Map<string, Owner>()
  for (const [name, schema] of [...judgedOf(api).schemas, ...api.schemas])
    owners.set(name, { place: schema.place, inside: namesInside(schema) })
  for (const operation of api.operations) {
    const inside = new Map(operation.parameters.map((parameter) => [parameter.name, parameter.place]))
    owners.set(operation.id, { place: operation.place, inside })
  }
  return owners
}

function namesInside(schema: Schema): Map<string, Place> {
  const names = new Map<string, Place>()
  walk(schema, (each) => {
    if (each.kind === 'object') for (const { name, place } of each.properties) names.set(name, place)
    if (each.kind === 'enum') for (const value of each.values) names.set(String(value), each.place)
  })
  return names
}
