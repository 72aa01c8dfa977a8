/** Reads the preferences `code` and `example` from the `Prefer` header (RFC 7240), as Prism defines them. */

export interface MockPreference {
  /** Status of the response, in the caller's version. */
  readonly code?: number
  /** Name of an example of the response. */
  readonly example?: string
}

/** Returns the preferences of a header; other preferences are ignored. */
export function readPreference(header: string | null): MockPreference {
  const named = new Map(
    [...(header ?? '').matchAll(/([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s,;]+))/g)].map(
      ([, name, quoted, bare]) => [name!.toLowerCase(), quoted ?? bare!] as const,
    ),
  )
  const [code, example] = [named.get('code'), named.get('example')]
  return {
    ...(code !== undefined && /^[1-5]\d\d$/.test(code) && { code: Number(code) }),
    ...(example !== undefined && { example }),
  }
}
