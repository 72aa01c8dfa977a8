/** What lenses between two versions can name: what the types of both have, and what translations get to. */

import type { Api, ApiOperation } from '../ir/model.ts'
import type { Nameable } from '../propose/draft.ts'
import { lookUp } from '../runtime/explain/references.ts'
import { isSet } from '../translate/parameters.ts'
import { createTransition } from '../translate/transition.ts'

/** @param old in the names of the new document, as far as changes give them. @returns what both documents have. */
export function nameableIn(old: Api, next: Api): Nameable {
  const ids = new Set(old.operations.filter((each) => hasId(old, each)).map(({ id }) => id))
  let sites: ReadonlySet<string> | undefined
  // Types of the old document know these by other names.
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
    isSite(place) {
      sites ??= createTransition(old, next, []).sites
      return sites.has(place) && !renamed.some((each) => place.startsWith(each))
    },
  }
}

/** Types list operations by the ids that the document gives them. */
const hasId = (api: Api, operation: ApiOperation): boolean =>
  written(api, operation).operationId !== undefined

/** An operation as its document has it. */
const written = ({ document }: Api, { place }: ApiOperation) =>
  (lookUp(document, place.pointer) ?? {}) as { readonly operationId?: string; readonly responses?: object }
