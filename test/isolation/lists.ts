import { current, versions } from '../../generated/versions.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { handlers } from '../../runtime/process/handlers.ts'

/** Paths of the newest version's lists in an environment that have a handler and name no record of another kind. */
export function writtenLists(environment: Environment): readonly string[] {
  const { operations } = versions.find(({ name }) => name === current)!
  return operations
    .filter(
      ({ id, extensions, pathParameters }) =>
        Object.hasOwn(handlers, id) &&
        extensions.pagination === 'cursor' &&
        (extensions.environment ?? environment) === environment &&
        pathParameters.length === 0,
    )
    .map(({ path }) => path)
}
