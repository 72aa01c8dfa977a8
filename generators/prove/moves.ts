/** The laws of moves: a moved property is restored on the way back. */
import { isDeepStrictEqual } from 'node:util'
import type { Moved } from '../change/change.ts'
import type { Api, Schema } from '../ir/model.ts'
import { take } from '../runtime/paths.ts'
import { applyRewrite } from '../translate/apply.ts'
import type { Direction } from '../translate/model.ts'
import { propertyAt } from '../translate/moves.ts'
import { shapeOf } from '../translate/shape.ts'
import { createStep } from '../translate/step.ts'
import { freeze, type Law } from './law.ts'
import { bothWays, isValid, type Sides, told, valueWay } from './lenses.ts'

/** Returns the laws for objects in which lenses move a property, and for the moved values. */
export function moveLaws(sides: Sides): Law[] {
  return sides.changes.flatMap(({ lenses, file }) =>
    lenses
      .filter((lens) => lens.kind === 'moved')
      .flatMap((lens) => [...objectLaws(sides, lens), ...turnLaws(sides, lens)])
      .map((law) => ({ ...law, file })),
  )
}

function objectLaws(sides: Sides, lens: Moved): Law[] {
  const { old, next, changes, travels, makers } = sides
  const carry = (direction: Direction, component: string, value: unknown): unknown => {
    const step = createStep(direction, old, next, changes)
    const rewrite = step.pair(refTo(old, component), refTo(next, component))
    return applyRewrite(rewrite, freeze(value), { direction, functions: step.functions })
  }
  return lens.schemas.flatMap((component) =>
    travels(component).flatMap((there): Law[] => {
      const back = there === 'up' ? 'down' : 'up'
      const [api, path] = there === 'up' ? [old, lens.from] : [next, lens.to]
      const schema = api.schemas.get(component)
      if (!schema) return []
      return [
        {
          name: `${next.version} moved ${[component, ...path].join('.')} ${there}`,
          values: makers[there]({ ...schema, nullable: false }),
          fits: (value) => isValid(api, schema, value, there),
          check(value) {
            const given = structuredClone(value)
            const [wanted, found] = [
              take(given, path),
              take(carry(back, component, carry(there, component, given)), path),
            ]
            if (lens.loss !== undefined || isDeepStrictEqual(found, wanted)) return undefined
            return {
              code: 'proof-round-trip',
              message: `${told(wanted)} at ${path.join('.')} becomes ${told(found)} after translating it ${there} and back`,
            }
          },
        },
      ]
    }),
  )
}

/** Laws for moves that also convert the value. */
function turnLaws(sides: Sides, lens: Moved): Law[] {
  const { up, down } = lens
  if (!up || !down) return []
  return lens.schemas.flatMap((component) => {
    const at = (api: Api, path: readonly string[]) => {
      const schema = api.schemas.get(component)
      const shape = schema && shapeOf(schema, api, new Set([component]))
      return shape && propertyAt(shape, api, path)
    }
    const [a, b] = [at(sides.old, lens.from), at(sides.next, lens.to)]
    if (!a || !b) return []
    return bothWays(
      `${sides.next.version} moved ${[component, ...lens.from].join('.')} value`,
      lens,
      sides.travels(component),
      valueWay(sides, 'up', a.schema, b.schema, up, true),
      valueWay(sides, 'down', b.schema, a.schema, down, true),
    )
  })
}

const refTo = (api: Api, name: string): Schema => ({
  ...api.schemas.get(name)!,
  nullable: false,
  kind: 'ref',
  name,
})
