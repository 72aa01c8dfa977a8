/** Moves properties between objects. Enclosing objects are created and removed as needed. */
import type { Moved } from '../change/change.ts'
import type { Api, Property } from '../ir/model.ts'
import { schemaAt } from './inline-place.ts'
import { type LensAt, lensesOn, type TranslationStep, type ValueMove } from './model.ts'
import { type ObjectShape, shapeOf } from './shape.ts'

/** Returns the property at a path of names, through references and intersections. */
export function propertyAt(shape: ObjectShape, api: Api, path: readonly string[]): Property | undefined {
  const [name, ...rest] = path
  const property = name === undefined ? undefined : shape.properties.get(name)
  if (!property || rest.length === 0) return property
  const inner = shapeOf(property.schema, api, new Set())
  return inner && propertyAt(inner, api, rest)
}

/** Two corresponding objects and their location. */
export interface Objects {
  readonly step: TranslationStep
  readonly old: ObjectShape
  readonly next: ObjectShape
  readonly at: string | undefined
}

/** Returns the moves between two objects, in the direction of the step. */
export function movesOf({ step, old, next, at }: Objects): ValueMove[] {
  const owners = new Set([...old.owners, ...next.owners, ...(at === undefined ? [] : [at])])
  const moved = lensesOn(step, owners).filter((each): each is LensAt<Moved> => each.lens.kind === 'moved')
  return moved.flatMap((by) => {
    const { lens } = by
    const [before, after] = [propertyAt(old, step.old, lens.from), propertyAt(next, step.next, lens.to)]
    if (!before || !after) return []
    const down = step.direction === 'down'
    const [source, target] = down ? [lens.to, lens.from] : [lens.from, lens.to]
    if (lens.up) step.byHand.add((down ? after : before).schema.place.pointer)
    return {
      source,
      target,
      nullable: (down ? after : before).schema.nullable,
      rewrite: lens.up ? { kind: 'turn', by, nullish: false } : step.pair(before.schema, after.schema),
      change: by.change,
      made: madeOnWay(step, target, down ? [next, old] : [old, next]),
    } satisfies ValueMove
  })
}

/** Returns the enclosing objects that the target requires and the source does not have. */
function madeOnWay(
  { direction, old, next }: TranslationStep,
  target: readonly string[],
  [from, to]: readonly [ObjectShape, ObjectShape],
): (readonly string[])[] {
  const [fromApi, toApi] = direction === 'down' ? [next, old] : [old, next]
  return target
    .slice(0, -1)
    .map((_, index) => target.slice(0, index + 1))
    .filter((path) => propertyAt(to, toApi, path)?.required && !propertyAt(from, fromApi, path))
}

/** Returns the names of source objects that are removed because their properties moved out. */
export function goneWith(moves: readonly ValueMove[], to: ObjectShape): ReadonlySet<string> {
  const names = moves.flatMap(({ source: [first, ...rest] }) =>
    first !== undefined && rest.length > 0 && !to.properties.has(first) ? [first] : [],
  )
  return new Set(names)
}

/** Returns, for a move, its nonexistent paths and the properties that are lost with a removed object. */
export function faultsOfMove(
  { schemas, from, to }: Moved,
  all: readonly Moved[],
  old: Api,
  next: Api,
): { readonly astray: string[]; readonly lost: string[] } {
  const astray: string[] = []
  const lost: string[] = []
  for (const component of schemas) {
    const shapeIn = (api: Api) => {
      const schema = schemaAt(api, component)
      return schema && shapeOf(schema, api, new Set([component]))
    }
    const [before, after] = [shapeIn(old), shapeIn(next)]
    if (!before || !propertyAt(before, old, from)) astray.push([component, ...from].join('.'))
    if (!after || !propertyAt(after, next, to)) astray.push([component, ...to].join('.'))
    const taken = all.filter((lens) => lens.schemas.includes(component)).map((lens) => lens.from.join('\n'))
    for (const [index] of from.slice(0, -1).entries()) {
      const path = from.slice(0, index + 1)
      const container = before && propertyAt(before, old, path)
      if (!container || !after || propertyAt(after, next, path)) continue
      const names = shapeOf(container.schema, old, new Set())?.properties.keys() ?? []
      for (const name of names) {
        const inner = [...path, name].join('\n')
        if (!taken.some((each) => each === inner || each.startsWith(`${inner}\n`)))
          lost.push([component, ...path, name].join('.'))
      }
    }
  }
  return { astray, lost }
}
