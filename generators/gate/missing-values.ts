/** Finds lenses that remove a property from old responses and events although the old version requires it. */
import type { Lens } from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import type { Api, Property } from '../ir/model.ts'
import { directionOf, schemaAt } from '../translate/inline-place.ts'
import { shapeOf } from '../translate/shape.ts'
import { directionsOf } from './examples.ts'

/**
 * Finds required properties that a `drop` lens without `down`, or a `wrapped` lens without `empty`, removes from old responses.
 *
 * @param changes the changes that `next` introduced.
 * @returns findings with the lines of the change and of the property.
 */
export function missingValues(old: Api, next: Api, changes: readonly LoadedChange[]): Diagnostic[] {
  const directions = directionsOf(old, next)
  const isAnswered = (place: string) => {
    const direction = directionOf(next, place)
    return direction === undefined ? directions(place).includes('down') : direction === 'down'
  }
  return changes.flatMap((change) =>
    change.lenses
      .flatMap((lens) => mayLack(lens) ?? [])
      .flatMap(({ schemas, property, how, hint }) =>
        schemas.filter(isAnswered).flatMap((place): Diagnostic[] => {
          const dropped = propertyOf(old, place, property)
          if (!dropped?.required || dropped.writeOnly) return []
          return [
            {
              code: 'translation-incomplete',
              severity: 'error',
              message: `${change.id}: ${old.version} requires ${place}.${property} in responses, but ${how}`,
              place: { file: change.file, line: 1, column: 1, pointer: '' },
              other: dropped.place,
              hint,
            },
          ]
        }),
      ),
  )
}

/** Returns the property that a lens may leave out of old responses. */
function mayLack(lens: Lens) {
  if (lens.kind === 'drop' && lens.down === undefined)
    return {
      schemas: lens.schemas,
      property: lens.property,
      how: 'the lens drops it and supplies no value',
      hint: 'add `down: (object) => …` to compute the old value, or use `v.rename` or `v.replace` if other properties hold it',
    }
  if (lens.kind === 'wrapped' && lens.list === 'new' && lens.empty === undefined)
    return {
      schemas: lens.schemas,
      property: lens.from,
      how: `the lens supplies no value if ${lens.to} is empty`,
      hint: 'add `empty`, the old value for an empty list',
    }
  return undefined
}

function propertyOf(api: Api, place: string, name: string): Property | undefined {
  const schema = schemaAt(api, place)
  return schema && shapeOf(schema, api, new Set([place]))?.properties.get(name)
}
