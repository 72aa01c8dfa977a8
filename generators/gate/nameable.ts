/**
 * Determines the declarations that lenses between two versions can name: those that exist in the types of both versions
 * and that translations reach.
 */

import { FORMAT_CHECKS } from '../ir/formats.ts'
import type { Api, ApiOperation, Schema } from '../ir/model.ts'
import type { Nameable } from '../propose/draft.ts'
import { lookUp } from '../runtime/explain/references.ts'
import { explain } from '../runtime/explain.ts'
import { schemaAt } from '../translate/inline-place.ts'
import { isSet } from '../translate/parameters.ts'
import { shapeOf } from '../translate/shape.ts'
import { createTransition } from '../translate/transition.ts'

/** Returns whether an object, or a member of its unions, has a property. */
function hasProperty(schema: Schema, name: string, api: Api, owners: ReadonlySet<string>): boolean {
  const shape = shapeOf(schema, api, owners)
  if (!shape) return false
  return (
    shape.properties.has(name) ||
    shape.unions.some(({ members }) => members.some((each) => hasProperty(each, name, api, shape.owners)))
  )
}

/**
 * Returns what both documents have.
 *
 * @param old the old API under the names of the new document.
 */
export function nameableIn(old: Api, next: Api): Nameable {
  const ids = new Set(old.operations.filter((each) => hasId(old, each)).map(({ id }) => id))
  let sites: ReadonlySet<string> | undefined
  // The types of the old document have these under different names.
  const renamed = old.operations.flatMap((operation) => {
    const { operationId, responses } = written(old, operation)
    if (operationId !== operation.id) return [`${operation.id} `]
    return operation.responses.flatMap(({ status }) =>
      Object.hasOwn(responses ?? {}, status) ? [] : [`${operation.id} ${status}`],
    )
  })
  return {
    schemas: new Set([...next.schemas.keys()].filter((name) => old.schemas.has(name))),
    operations: new Set(
      next.operations.filter((each) => ids.has(each.id) && hasId(next, each)).map(({ id }) => id),
    ),
    filters: new Set(
      old.operations.flatMap(({ id, parameters }) =>
        parameters.filter(isSet).map(({ name }) => `${id} ${name}`),
      ),
    ),
    isInMember(place, property) {
      const schema = schemaAt(next, place)
      return schema !== undefined && hasProperty(schema, property, next, new Set())
    },
    fits: (value, pointer) => explain(next.document, pointer, value, FORMAT_CHECKS, 1).length === 0,
    isSite(place) {
      sites ??= createTransition(old, next, []).sites
      return sites.has(place) && !renamed.some((each) => place.startsWith(each))
    },
  }
}

/** The generated types list operations by the ids in the document. */
const hasId = (api: Api, operation: ApiOperation): boolean =>
  written(api, operation).operationId !== undefined

/** Returns an operation as its document writes it. */
const written = ({ document }: Api, { place }: ApiOperation) =>
  (lookUp(document, place.pointer) ?? {}) as { readonly operationId?: string; readonly responses?: object }
