/** Properties that stand elsewhere in the other version: objects on the way to them come and go with them. */
import type { Moved } from '../change/change.ts'
import type { Api, Property } from '../ir/model.ts'
import { schemaAt } from './inline-place.ts'
import { type LensAt, lensesOn, type TranslationStep, type ValueMove } from './model.ts'
import { type ObjectShape, shapeOf } from './shape.ts'

/** @returns the property at a path of names, through references and intersections. */
export function propertyAt(shape: ObjectShape, api: Api, path: readonly string[]): Property | undefined {
  const [name, ...rest] = path
  const property = name === undefined ? undefined : shape.properties.get(name)
  if (!property || rest.length === 0) return property
  const inner = shapeOf(property.schema, api, new Set())
  return inner && propertyAt(inner, api, rest)
}

/** Two objects that stand for each other, and where. */
export interface Objects {
  readonly step: TranslationStep
  readonly old: ObjectShape
  readonly next: ObjectShape
  readonly at: string | undefined
}

/** @returns what moves between two objects in the direction of the step. */
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

/** Objects on the way that the one side must have and the other does not know. */
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

/** @returns the names of objects that are gone, once everything has moved out of them. */
export function goneWith(moves: readonly ValueMove[], to: ObjectShape): ReadonlySet<string> {
  const names = moves.flatMap(({ source: [first, ...rest] }) =>
    first !== undefined && rest.length > 0 && !to.properties.has(first) ? [first] : [],
  )
  return new Set(names)
}

/** @returns for each moved lens where it leads nowhere, and what is lost beside what it moves. */
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
