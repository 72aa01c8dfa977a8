/**
 * Names of operations as methods of resources: `POST /v1/books` is `books.create`, and `POST /v1/books/{id}/lend`
 * is `books.lend`. `x-resource` and `x-method` in the document replace either part.
 */
import type { Api, ApiOperation } from './model.ts'
import { camelCase, snakeCase } from './naming.ts'

export interface ResourceMethod {
  /** Names of the resource, outermost first: `['test', 'books']`. */
  readonly resource: readonly string[]
  readonly method: string
}

/** Methods that have another name than the verb of the operation id. */
const VERBS: Readonly<Record<string, string>> = { get: 'retrieve', put: 'replace' }
/** Methods by HTTP method, for operation ids that do not begin with a verb. */
const BY_METHOD: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'replace',
  PATCH: 'update',
  DELETE: 'delete',
}

const known = new WeakMap<Api, ReadonlyMap<string, ResourceMethod>>()

/** Returns the method of each operation, by operation id. No two operations have the same method. */
export function resourceMethods(api: Api): ReadonlyMap<string, ResourceMethod> {
  const found = known.get(api) ?? nameAll(api)
  known.set(api, found)
  return found
}

function nameAll(api: Api): ReadonlyMap<string, ResourceMethod> {
  const prefix = commonPrefix(api.operations)
  const wanted = api.operations.map((operation) => [operation, nameOf(operation, prefix)] as const)
  const counts = new Map<string, number>()
  const keyOf = ({ resource, method }: ResourceMethod) => [...resource, method].join('.')
  for (const [, name] of wanted) counts.set(keyOf(name), (counts.get(keyOf(name)) ?? 0) + 1)
  // A resource hides a method of the same name, and of several equal names, none is better than the others.
  const resources = new Set(
    wanted.flatMap(([, { resource }]) => resource.map((_, at) => resource.slice(0, at + 1).join('.'))),
  )
  return new Map(
    wanted.map(([operation, name]) => {
      const key = keyOf(name)
      const isTaken = (counts.get(key) ?? 0) > 1 || resources.has(key)
      return [operation.id, isTaken ? { ...name, method: camelCase(operation.id) } : name]
    }),
  )
}

function nameOf(operation: ApiOperation, prefix: number): ResourceMethod {
  const segments = operation.path.split('/').filter(Boolean).slice(prefix)
  const literals = segments.filter((each) => !each.includes('{')).map((each) => camelCase(snakeCase(each)))
  const last = segments.at(-1)
  const verb = verbOf(operation, literals)
  const isAction =
    literals.length > 1 &&
    last !== undefined &&
    !last.includes('{') &&
    snakeCase(last).split('_').includes(verb)
  const resource = isAction ? literals.slice(0, -1) : literals
  const method = isAction ? literals.at(-1)! : (VERBS[verb] ?? verb)
  const { 'x-resource': ownResource, 'x-method': ownMethod } = operation.extensions
  return {
    resource:
      typeof ownResource === 'string'
        ? ownResource.split('.')
        : resource.length > 0
          ? resource
          : [camelCase(operation.tag)],
    method: typeof ownMethod === 'string' ? ownMethod : method,
  }
}

/** Returns the first word of the operation id, or a verb for the HTTP method if that word names the resource. */
function verbOf({ id, tag, method, path, extensions }: ApiOperation, literals: readonly string[]): string {
  const [first = '', ...more] = snakeCase(id).split('_')
  const nouns = new Set([tag, literals[0] ?? ''].flatMap((each) => snakeCase(each).split('_')))
  if (more.length > 0 && /^[a-z]+$/.test(first) && !nouns.has(first)) return first
  if (method !== 'GET') return BY_METHOD[method] ?? method.toLowerCase()
  return path.endsWith('}') || extensions['x-pagination'] === undefined ? 'get' : 'list'
}

/** Returns the number of literal segments with which all paths begin, such as 1 for `/v1`. */
function commonPrefix(operations: readonly ApiOperation[]): number {
  const [first = [], ...others] = operations.map(({ path }) => path.split('/').filter(Boolean))
  let length = 0
  while (/^v\d/.test(first[length] ?? '') && others.every((each) => each[length] === first[length]))
    length += 1
  return length
}
