/** Lenses that leave old answers and events without a property that the old version requires. */
import type { Drop } from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import type { Api, Property } from '../ir/model.ts'
import { directionOf, schemaAt } from '../translate/inline-place.ts'
import { shapeOf } from '../translate/shape.ts'
import { directionsOf } from './examples.ts'

/**
 * @param changes those that `next` introduced.
 * @returns each required property that a `drop` lens without `down` takes out of old answers, with both lines.
 */
export function missingValues(old: Api, next: Api, changes: readonly LoadedChange[]): Diagnostic[] {
  const directions = directionsOf(old, next)
  const isAnswered = (place: string) => {
    const direction = directionOf(next, place)
    return direction === undefined ? directions(place).includes('down') : direction === 'down'
  }
  return changes.flatMap((change) =>
    change.lenses
      .filter((lens): lens is Drop => lens.kind === 'drop' && lens.down === undefined)
      .flatMap(({ schemas, property }) =>
        schemas.filter(isAnswered).flatMap((place): Diagnostic[] => {
          const dropped = propertyOf(old, place, property)
          if (!dropped?.required || dropped.writeOnly) return []
          return [
            {
              code: 'translation-incomplete',
              severity: 'error',
              message: `${change.id}: ${old.version} requires ${place}.${property} in answers, and the lens drops it without a value`,
              place: { file: change.file, line: 1, column: 1, pointer: '' },
              other: dropped.place,
              hint: 'give the lens `down: (object) => …`, which makes the old value; or write `v.rename` or `v.replace` if other properties hold it',
            },
          ]
        }),
      ),
  )
}

function propertyOf(api: Api, place: string, name: string): Property | undefined {
  const schema = schemaAt(api, place)
  return schema && shapeOf(schema, api, new Set([place]))?.properties.get(name)
}
