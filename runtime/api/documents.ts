import { readFileSync } from 'node:fs'

/** The OpenAPI document of one version. */
export interface ApiDocument {
  /** As served. */
  readonly bytes: Buffer
  /** As an object, parsed when first asked for. */
  parsed(): Readonly<Record<string, unknown>>
}

/** Reads the generated document of a version. */
export function readDocument(version: string): ApiDocument {
  const bytes = readFileSync(new URL(`../../generated/${version}/openapi.json`, import.meta.url))
  let object: Readonly<Record<string, unknown>> | undefined
  return {
    bytes,
    parsed() {
      object ??= JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>
      return object
    },
  }
}
