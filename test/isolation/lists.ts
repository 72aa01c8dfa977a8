import { current, versions } from '../../generated/versions.ts'
import { handlers } from '../../runtime/process/handlers.ts'

/** Paths of the newest version's lists that have a handler and name no record of another kind. */
export const WRITTEN_LISTS: readonly string[] = versions
  .find(({ name }) => name === current)!
  .operations.filter(
    ({ id, extensions, pathParameters }) =>
      Object.hasOwn(handlers, id) && extensions.pagination === 'cursor' && pathParameters.length === 0,
  )
  .map(({ path }) => path)
