/** Locations of inline objects, written as differences are located: `getBook 200.authors[]`. */

import type { DeclaredLocation } from '../diff/difference.ts'
import { targetOf } from '../diff/position.ts'
import { translatedContent } from '../ir/bodies.ts'
import { isForm, isJson } from '../ir/media-type.ts'
import type { Api, ApiContent, Schema } from '../ir/model.ts'
import type { Direction } from './model.ts'
import { shapeOf } from './shape.ts'

const STEP = /\.?([\p{L}\p{N}_$-]+)|\[("(?:[^"\\]|\\.)*")\]|(\[\]|\{\}|\|\d+)/uy

/** Splits a path into property names, `[]`, `{}` and `|0`. Returns undefined for a path with other steps. */
export function stepsOf(path: string): readonly string[] | undefined {
  const steps: string[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < path.length) {
    const match = STEP.exec(path)
    if (!match) return undefined
    const [, name, quoted, other] = match
    steps.push(name ?? other ?? (JSON.parse(quoted!) as string))
  }
  return steps
}

/** Locations that lenses can target: components, bodies, responses and events. */
export type SiteLocation = Extract<DeclaredLocation, { kind: 'schema' | 'body' | 'response' | 'event' }>

export function isSite(at: DeclaredLocation): at is SiteLocation {
  return at.kind === 'schema' || at.kind === 'body' || at.kind === 'response' || at.kind === 'event'
}

/** Returns the schema at a lens target: a component, or a location inside a component, body, response or event. */
export function schemaAt(api: Api, place: string): Schema | undefined {
  const [root, path] = rootOf(api, place) ?? []
  const steps = path === undefined ? undefined : stepsOf(path)
  return root && steps?.reduce<Schema | undefined>((at, step) => at && stepInto(api, at, step), root)
}

/**
 * Returns the direction in which values at a location are translated; undefined for a location in a component,
 * which may be used in both.
 */
export function directionOf(api: Api, place: string): Direction | undefined {
  if (componentIn(api, place) !== undefined) return undefined
  return api.operations.some(({ id }) => startsAt(place, `${id} body`)) ? 'up' : 'down'
}

const startsAt = (place: string, root: string): boolean =>
  place.startsWith(root) && /^$|^[.[{|]/.test(place.slice(root.length))

/** Returns the component of a location: the longest component name that it starts with. */
function componentIn(api: Api, place: string): string | undefined {
  const found = [...api.schemas.keys()].filter((name) => startsAt(place, name))
  return found.sort((a, b) => b.length - a.length)[0]
}

function rootOf(api: Api, place: string): readonly [Schema | undefined, string] | undefined {
  const component = componentIn(api, place)
  if (component !== undefined) return [api.schemas.get(component), place.slice(component.length)]
  const found = rootsOf(api).find(([root]) => startsAt(place, root))
  return found && [found[1], place.slice(found[0].length)]
}

function rootsOf(api: Api): (readonly [string, Schema | undefined])[] {
  const read = (contents: readonly ApiContent[] = []) =>
    contents.find(({ mediaType }) => isJson(mediaType) || isForm(mediaType))?.schema
  return [
    ...api.operations.flatMap(({ id, body, responses }) => [
      [`${id} body`, read(body?.contents)] as const,
      ...responses.map((each) => [`${id} ${each.status}`, translatedContent(each)?.schema] as const),
    ]),
    ...api.events.map(({ name, payload }) => [`event ${name}`, payload?.schema] as const),
  ]
}

function stepInto(api: Api, schema: Schema, step: string): Schema | undefined {
  const target = targetOf(api, schema)
  if (step.startsWith('|')) return target.kind === 'union' ? target.members[Number(step.slice(1))] : undefined
  if (step === '[]') return target.kind === 'array' ? target.items : undefined
  const shape = shapeOf(target, api, new Set())
  return step === '{}' ? shape?.rest : shape?.properties.get(step)?.schema
}
