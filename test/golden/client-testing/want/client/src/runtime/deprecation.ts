/** A notice that the version in use will be switched off. */
export interface Deprecation {
  readonly version: string
  /** The start of the deprecation (`Deprecation`, RFC 9745). */
  readonly since: Date | undefined
  /** The time at which the version is switched off (`Sunset`, RFC 8594). */
  readonly sunset: Date | undefined
  /** Links to more information (`Link`, RFC 8288), with the relation names of the service. */
  readonly links: readonly { readonly rel: string; readonly href: string }[]
}

/** Reads the notice from response headers. @returns undefined if there is none. */
export function readDeprecation(version: string, headers: Headers): Deprecation | undefined {
  const deprecation = headers.get('Deprecation')
  const sunset = headers.get('Sunset')
  if (deprecation === null && sunset === null) return undefined
  const seconds = /^@(-?\d+)$/.exec(deprecation?.trim() ?? '')?.[1]
  return {
    version,
    since: seconds === undefined ? undefined : new Date(Number(seconds) * 1000),
    sunset: validDate(sunset),
    links: readLinks(headers.get('Link') ?? ''),
  }
}

function validDate(text: string | null): Date | undefined {
  const date = new Date(text ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : date
}

function readLinks(header: string): Deprecation['links'] {
  return [...header.matchAll(/<([^>]*)>([^,]*)/g)].flatMap(([, href, parameters]) => {
    const rel = /;\s*rel="?([^";]+)"?/i.exec(parameters ?? '')?.[1]
    return href && rel ? [{ rel, href }] : []
  })
}
