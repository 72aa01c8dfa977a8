/** Bodies that are not JSON. */

type Encoded = { readonly body: unknown; readonly bodySerializer?: (body: unknown) => unknown }

/** @param media the body's media type; absent for JSON. @returns what openapi-fetch needs to send it. */
export function encodeBody(body: unknown, media: string | undefined): Encoded {
  if (media === undefined) return { body }
  return { body, bodySerializer: () => serialize(body, media) }
}

export function isMultipart(media: string): boolean {
  return media.startsWith('multipart/')
}

function serialize(body: unknown, media: string): unknown {
  if (media === 'application/x-www-form-urlencoded') return new URLSearchParams(pairs(body))
  if (isMultipart(media)) return multipart(body)
  return body
}

function pairs(body: unknown): [string, string][] {
  return members(body).map(([name, value]) => [name, String(value)])
}

function multipart(body: unknown): FormData {
  const form = new FormData()
  for (const [name, value] of members(body)) form.append(name, value instanceof Blob ? value : String(value))
  return form
}

/** A list is sent as its name repeated, an absent value not at all. */
function members(body: unknown): [string, unknown][] {
  return Object.entries(body ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined)
      .map((each): [string, unknown] => [name, each]),
  )
}
