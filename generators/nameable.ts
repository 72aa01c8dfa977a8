/** What lenses between two versions can name: what the types of both have, and what translations get to. */
import { createStage } from './emit/translations-stage.ts'
import { lookUp } from './explain/references.ts'
import type { Api, Operation } from './ir/model.ts'
import type { Nameable } from './ir/proposed-change.ts'

/** @returns what both documents have. */
export function nameableIn(old: Api, next: Api): Nameable {
  const ids = new Set(old.operations.filter((each) => hasId(old, each)).map(({ id }) => id))
  let sites: ReadonlySet<string> | undefined
  return {
    schemas: new Set([...next.schemas.keys()].filter((name) => old.schemas.has(name))),
    operations: new Set(
      next.operations.filter((each) => ids.has(each.id) && hasId(next, each)).map(({ id }) => id),
    ),
    isSite(place) {
      sites ??= createStage(old, next, []).sites
      return sites.has(place)
    },
  }
}

/** Types list operations by the ids that the document gives them. */
function hasId({ document }: Api, { id, place }: Operation): boolean {
  const operation = lookUp(document, place.pointer) as { readonly operationId?: unknown } | undefined
  return operation?.operationId === id
}
