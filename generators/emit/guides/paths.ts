/** Paths to components within request and response bodies. */
import { isJson } from '../../ir/media-type.ts'
import type { Api, ApiContent, Schema } from '../../ir/model.ts'

/** One segment of a path: a property, or the items of a list. */
export interface PathStep {
  /** Undefined for list items. */
  readonly name: string | undefined
  /** Whether the value may be absent. */
  readonly optional: boolean
}

const LONGEST = 6

/**
 * Returns the shortest path from a schema to a component: empty if the schema is the component, undefined if there
 * is no path.
 */
export function pathTo(api: Api, schema: Schema, component: string): readonly PathStep[] | undefined {
  const seen = new Set<string>()
  let level: { at: Schema; path: readonly PathStep[] }[] = [{ at: schema, path: [] }]
  while (level.length > 0) {
    const next: typeof level = []
    for (const { at, path } of level) {
      if (at.kind === 'ref') {
        if (at.name === component) return path
        const target = seen.has(at.name) ? undefined : api.schemas.get(at.name)
        seen.add(at.name)
        if (target) next.unshift({ at: target, path })
      } else if (path.length < LONGEST) {
        next.push(
          ...stepsInto(at).map(({ step, into }) => ({ at: into, path: step ? [...path, step] : path })),
        )
      }
    }
    level = next
  }
  return undefined
}

function stepsInto(schema: Schema): { step?: PathStep; into: Schema }[] {
  if (schema.kind === 'intersection') return schema.members.map((into) => ({ into }))
  if (schema.kind === 'array')
    return [{ step: { name: undefined, optional: schema.items.nullable }, into: schema.items }]
  if (schema.kind !== 'object') return []
  return schema.properties.map(({ name, required, schema: into }) => ({
    step: { name, optional: !required || into.nullable },
    into,
  }))
}

/** Returns a copy of a value with a different value at a path. Creates missing parents. */
export function putAt(value: unknown, path: readonly PathStep[], wanted: unknown): unknown {
  const [step, ...rest] = path
  if (!step) return structuredClone(wanted)
  if (step.name === undefined) return [putAt(Array.isArray(value) ? value[0] : undefined, rest, wanted)]
  const object = isObject(value) ? value : {}
  return { ...object, [step.name]: putAt(object[step.name], rest, wanted) }
}

/** Returns a copy of a value with one more item in the list at a path. */
export function appendAt(value: unknown, path: readonly PathStep[], wanted: unknown): unknown {
  const [step, ...rest] = path
  if (!step || step.name === undefined) return [...(Array.isArray(value) ? value : []), wanted]
  const object = isObject(value) ? value : {}
  return { ...object, [step.name]: appendAt(object[step.name], rest, wanted) }
}

/** Returns the JSON content. */
export const jsonIn = (contents: readonly ApiContent[] = []): ApiContent | undefined =>
  contents.find(({ mediaType }) => isJson(mediaType))

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
