/** Finds the operation of a request by its path and method. */
import type { Method } from './contract.ts'

/** A node for one path segment. A literal segment wins over a parameter (OpenAPI 3.1, section 4.8.8). */
interface PathNode<Route> {
  readonly words: Map<string, PathNode<Route>>
  parameter: PathNode<Route> | undefined
  readonly routes: Map<string, Route>
}

/** A path of the version, with its routes for all methods. */
export interface PathMatch<Route> {
  readonly routes: ReadonlyMap<string, Route>
  /** Values of the path parameters, undecoded, in path order. */
  readonly values: readonly string[]
}

interface Routable {
  readonly operation: { readonly path: string; readonly method: Method }
}

export interface PathMatcher<Route> {
  /** Matches a path as sent; segments are decoded separately. Returns undefined if the version has no such path. */
  match(path: string): PathMatch<Route> | undefined
}

export function createMatcher<Route extends Routable>(routes: readonly Route[]): PathMatcher<Route> {
  const root = createNode<Route>()
  for (const route of routes) {
    let node = root
    for (const segment of splitPath(route.operation.path)) node = step(node, segment)
    node.routes.set(route.operation.method, route)
  }
  return {
    match(path) {
      const raw = splitPath(path)
      const segments = path.includes('%') ? decodeSegments(raw) : raw
      if (!segments) return undefined
      const values: string[] = []
      const node = find(root, { raw, segments }, 0, values)
      return node && { routes: node.routes, values }
    },
  }
}

function createNode<Route>(): PathNode<Route> {
  return { words: new Map(), parameter: undefined, routes: new Map() }
}

function step<Route>(node: PathNode<Route>, segment: string): PathNode<Route> {
  if (segment.startsWith('{')) {
    node.parameter ??= createNode()
    return node.parameter
  }
  const next = node.words.get(segment) ?? createNode<Route>()
  node.words.set(segment, next)
  return next
}

export function splitPath(path: string): string[] {
  return path.slice(1).split('/')
}

function decodeSegments(segments: readonly string[]): string[] | undefined {
  try {
    return segments.map(decodeURIComponent)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** The segments of a path, as sent and decoded. */
interface SplitPath {
  readonly raw: readonly string[]
  readonly segments: readonly string[]
}

function find<Route>(
  node: PathNode<Route>,
  path: SplitPath,
  at: number,
  values: string[],
): PathNode<Route> | undefined {
  if (at === path.segments.length) return node.routes.size > 0 ? node : undefined
  const segment = path.segments[at]!
  const word = node.words.get(segment)
  const byWord = word && find(word, path, at + 1, values)
  if (byWord) return byWord
  if (!node.parameter || segment === '') return undefined
  values.push(path.raw[at]!)
  const byParameter = find(node.parameter, path, at + 1, values)
  if (!byParameter) values.pop()
  return byParameter
}
