/** Where a request names its version: in a header, in the path, in the query, or wherever a function of the service looks. */

/** A request with its path and query, as resolvers see it. */
export interface RequestTarget {
  readonly request: Request
  /** Without the base path of the API, undecoded. */
  readonly path: string
  /** Without the question mark, undecoded. */
  readonly search: string
}

/** A version, and the path and query without its name. */
export interface ResolvedVersion {
  /** Undefined: the request names none, and gets the default version. */
  readonly version: string | undefined
  readonly path?: string
  readonly search?: string
}

/** Finds the version that a request names, or that its caller is pinned to. */
export interface VersionResolver {
  (
    target: RequestTarget,
  ): string | undefined | ResolvedVersion | Promise<string | undefined | ResolvedVersion>
  /** The request header that decides. Answers name it in `Vary` and repeat the version in it. */
  readonly header?: string
}

/**
 * Reads the version from a request header.
 *
 * @example resolveVersion: fromHeader('Library-Version')
 */
export const fromHeader = (name: string): VersionResolver =>
  Object.assign(({ request }: RequestTarget) => request.headers.get(name) ?? undefined, { header: name })

/** Reads the version from a query parameter, which operations do not see. */
export const fromQuery =
  (name: string): VersionResolver =>
  ({ search }) => {
    const parts = search.split('&')
    const found = parts.find((part) => part.startsWith(`${name}=`))
    if (found === undefined) return undefined
    return {
      version: new URLSearchParams(found).get(name)!,
      search: parts.filter((part) => part !== found).join('&'),
    }
  }

/** Reads the version from the first segment of the path: `/2030-01-01/books`. A path without one gets the default version. */
export const fromPath =
  (): VersionResolver =>
  ({ path }) => {
    const [, version, rest] = /^\/(\d{4}-\d{2}-\d{2})(\/.*)?$/.exec(path) ?? []
    return version === undefined ? undefined : { version, path: rest ?? '/' }
  }
